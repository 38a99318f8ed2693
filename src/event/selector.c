/* selector.c - what a parsed selector does: run over records, take addresses for names, print itself.
 *
 *     records --128 at a time--> keep[] = is it one of the classes?
 *                                keep[] &= lo <= field <= hi            once for each condition; of a
 *                                                                       name, once for each place
 *                                keep[] &= weight > 0                   where there is one
 *                                out[n] = <a, b>, n += keep[]           both fields
 *
 * Every step is one loop over one column without branches. Which field it reads is decided once per 128
 * records. Every comparison is the same instruction sequence, field - lo <= hi - lo in unsigned
 * arithmetic. Memory: 4 KiB on the stack. */
#include "event/selector.h"
#include "event/field.h"
#include "base/error.h"
#include "base/text.h"
#include <stdbool.h>
#include <string.h>

static const struct rf_selector_preset presets[] = {
    {"values", "load -> pc,value", "what each load loads", NULL},
    {"edges", "branch,jump -> pc,target", "which way branches and jumps go", NULL},
    {"calls", "call -> pc,target", "who calls whom", NULL},
    {"call-pairs", "call -> pc,target", "the same: hot call pairs", NULL},
    {"methods", "call -> target", "how often each function is called", NULL},
    {"addresses", "load,store -> pc,addr", "what memory each access touches", NULL},
    {"streams", "load,store -> pc,addr", "sequences of accesses that repeat, by their engine",
     "streams"},
    {"code", "insn -> pc", "which instructions are executed", NULL},
    {"invariance", "load -> pc,value", "which loads load one value", NULL},
    {"bias", "branch -> pc,taken", "how often each branch is taken", NULL},
    {"zero-loads", "load value==0 -> pc,addr", "where loads find zero", NULL},
    {"narrow", "alu width<=16 -> pc", "results that would fit 16 bits", NULL},
    {"misses", "load miss>=1 -> pc,addr", "which loads miss the first cache, and in which data",
     NULL},
    {"miss-values", "load miss>=1 -> pc,value", "what is loaded by misses of the first cache",
     NULL},
    {"types", "call indirect==1 -> pc,target", "what indirect calls reach: receivers' types", NULL},
    {"silent-stores", "store silent==1 -> pc,addr", "stores that write what is there already",
     NULL},
    {"stacks", "frame -> pc,context", "who called what runs, by samples of the call stack",
     "exact"},
    {"mispredicts", "branch,jump,call,return mispredicted==1 -> pc,target",
     "which branches the core guesses wrong", NULL},
    {"cycles", "insn -> pc * cycles", "where the core spends its cycles", NULL},
    {"stalls", "insn cycles>=2 -> pc * cycles", "which instructions the core waits for", NULL},
    {NULL, NULL, NULL, NULL},
};

const struct rf_selector_preset *rf_selector_presets(void)
{
    return presets;
}

int rf_selector_is_symbol(char c, char next)
{
    if (c == '.')
        return next != '.';
    return (rf_text_is_word(c) && c != '-') || c == ':' || c == '$' || c == '@' || c == '~';
}

/* --- running --------------------------------------------------------------------------------- */

rf_status rf_selector_recorded(const struct rf_selector *selector, struct rf_error *error)
{
    static const struct {
        unsigned field;
        const char *program;
    } found[] = {{RF_FIELD_WRITER, "dependences.uc"},
                 {RF_FIELD_DISTANCE, "dependences.uc"},
                 {RF_FIELD_SET, "conflicts.uc"}};
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        if ((selector->fields >> found[i].field & 1) != 0)
            return rf_fail(error, RF_EINVAL,
                           "selector: no record has a '%s'; '--coproc %s' finds it without -p",
                           rf_field_info(found[i].field)->name, found[i].program);
    return RF_OK;
}

enum { CHUNK = 128 };

#define RF_FIELD(ID, name, classes, meaning, word, late, value, brief)                             \
    static void column_##ID(const struct rf_record *records, size_t n, uint64_t *column)           \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            const struct rf_record *r = &records[i];                                               \
            column[i] = value;                                                                     \
        }                                                                                          \
    }
#include <riffle/fields.def>

static void column_none(const struct rf_record *records, size_t n, uint64_t *column)
{
    (void)records;
    memset(column, 0, n * sizeof *column);
}

static void (*const columns[RF_FIELD_COUNT])(const struct rf_record *, size_t, uint64_t *) = {
    [RF_FIELD_NONE] = column_none,
#define RF_FIELD(ID, name, classes, meaning, word, late, value, brief)                             \
    [RF_FIELD_##ID] = column_##ID,
#include <riffle/fields.def>
};

static void keep_classes(uint32_t classes, const struct rf_record *records, size_t n, uint8_t *keep)
{
    for (size_t i = 0; i < n; i++)
        keep[i] = (uint8_t)((uint64_t)classes >> (records[i].kind & 63) & 1);
}

static void keep_condition(const struct rf_condition *condition, const uint64_t *column, size_t n,
                           uint8_t *keep)
{
    uint64_t lo = condition->lo.value, span = condition->hi.value - lo;
    uint8_t negate = condition->negate;
    for (size_t i = 0; i < n; i++)
        keep[i] &= (uint8_t)((column[i] - lo <= span) ^ negate);
}

/* A condition with names: in any of its spans. */
static void keep_spans(const struct rf_selector *selector, size_t i, const uint64_t *column,
                       size_t n, uint8_t *keep)
{
    uint8_t inside[CHUNK] = {0}, negate = selector->conditions[i].negate;
    for (size_t k = 0; k < selector->n_spans; k++) {
        uint64_t lo = selector->spans[k].lo, span = selector->spans[k].hi - lo;
        if (selector->spans[k].condition == i)
            for (size_t r = 0; r < n; r++)
                inside[r] |= (uint8_t)(column[r] - lo <= span);
    }
    for (size_t r = 0; r < n; r++)
        keep[r] &= (uint8_t)(inside[r] ^ negate);
}

static void keep_wanted(const struct rf_selector *selector, const struct rf_record *records,
                        size_t n, uint8_t *keep)
{
    uint64_t a[CHUNK];
    keep_classes(selector->classes, records, n, keep);
    for (size_t i = 0; i < selector->n_conditions; i++) {
        columns[selector->conditions[i].field](records, n, a);
        if (rf_selector_has_name(&selector->conditions[i]))
            keep_spans(selector, i, a, n, keep);
        else
            keep_condition(&selector->conditions[i], a, n, keep);
    }
}

/* The weights of those that are kept; one without any weight is not. */
static void keep_weighty(const struct rf_selector *selector, const struct rf_record *records,
                         size_t n, uint8_t *keep, uint64_t *counts)
{
    uint64_t weight[CHUNK];
    size_t kept = 0;
    columns[selector->weight](records, n, weight);
    for (size_t i = 0; i < n; i++) {
        keep[i] &= weight[i] > 0;
        counts[kept] = weight[i];
        kept += keep[i];
    }
}

static size_t run_chunk(const struct rf_selector *selector, const struct rf_record *records,
                        size_t n, struct rf_tuple *out, uint64_t *counts)
{
    uint64_t a[CHUNK], b[CHUNK];
    uint8_t keep[CHUNK];
    keep_wanted(selector, records, n, keep);
    if (counts != NULL)
        keep_weighty(selector, records, n, keep, counts);
    columns[selector->project_a](records, n, a);
    columns[selector->project_b](records, n, b);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        out[kept] = (struct rf_tuple){a[i], b[i]};
        kept += keep[i];
    }
    return kept;
}

size_t rf_selector_run(const struct rf_selector *selector, const struct rf_record *records,
                       size_t n, struct rf_tuple *out)
{
    size_t kept = 0;
    for (size_t at = 0; at < n; at += CHUNK)
        kept +=
            run_chunk(selector, records + at, n - at < CHUNK ? n - at : CHUNK, out + kept, NULL);
    return kept;
}

size_t rf_selector_weigh(const struct rf_selector *selector, const struct rf_record *records,
                         size_t n, struct rf_tuple *out, uint64_t *counts)
{
    size_t kept = 0;
    for (size_t at = 0; at < n; at += CHUNK)
        kept += run_chunk(selector, records + at, n - at < CHUNK ? n - at : CHUNK, out + kept,
                          counts + kept);
    return kept;
}

/* --- names to addresses ---------------------------------------------------------------------- */

enum { PLACES_MAX = RF_SELECTOR_SPANS_MAX };

/* Who is asked, and whether all must be known. */
struct binding {
    struct rf_selector *selector;
    rf_selector_resolve resolve;
    void *context;
    bool final;
    struct rf_error *error;
};

/* The addresses that a place stands for, without its offset: one 0 where it is a number. */
static rf_status find_places(const struct binding *binding, unsigned field,
                             const struct rf_place *place, uint64_t *addresses, size_t *n)
{
    addresses[0] = 0;
    *n = place->symbol[0] == '\0'
             ? 1
             : binding->resolve(binding->context, field, place->symbol, addresses, PLACES_MAX);
    if (*n == 0 && binding->final)
        return rf_fail(binding->error, RF_EINVAL, "selector: no symbol is called '%s'",
                       place->symbol);
    if (*n > PLACES_MAX)
        return rf_fail(binding->error, RF_EINVAL,
                       "selector: '%s' is at %zu places, and %d are the most", place->symbol, *n,
                       PLACES_MAX);
    return RF_OK;
}

static rf_status add_span(const struct binding *binding, struct rf_selector_span span)
{
    struct rf_selector *selector = binding->selector;
    if (span.lo > span.hi)
        return rf_fail(binding->error, RF_EINVAL,
                       "selector: the condition on %s can never hold: 0x%llx..0x%llx",
                       rf_field_name(selector->conditions[span.condition].field),
                       (unsigned long long)span.lo, (unsigned long long)span.hi);
    for (size_t i = 0; i < selector->n_spans; i++)
        if (selector->spans[i].condition == span.condition && selector->spans[i].lo == span.lo &&
            selector->spans[i].hi == span.hi)
            return RF_OK;
    if (selector->n_spans == RF_SELECTOR_SPANS_MAX)
        return rf_fail(binding->error, RF_EINVAL, "selector: its names have more than %d places",
                       RF_SELECTOR_SPANS_MAX);
    selector->spans[selector->n_spans++] = span;
    return RF_OK;
}

static size_t count_spans(const struct rf_selector *selector, size_t i)
{
    size_t n = 0;
    for (size_t k = 0; k < selector->n_spans; k++)
        n += selector->spans[k].condition == i;
    return n;
}

/* Ends that are named differently: one place each. */
static rf_status bind_ends(const struct binding *binding, uint8_t i)
{
    const struct rf_condition *c = &binding->selector->conditions[i];
    uint64_t lo[PLACES_MAX], hi[PLACES_MAX];
    size_t n_lo = 0, n_hi = 0;
    if (count_spans(binding->selector, i) > 0)
        return RF_OK;
    rf_status status = find_places(binding, c->field, &c->lo, lo, &n_lo);
    if (status == RF_OK)
        status = find_places(binding, c->field, &c->hi, hi, &n_hi);
    if (status != RF_OK || n_lo == 0 || n_hi == 0)
        return status;
    if (binding->final && (n_lo > 1 || n_hi > 1))
        return rf_fail(binding->error, RF_EINVAL,
                       "selector: '%s' may be any of %zu symbols; give an address",
                       n_lo > 1 ? c->lo.symbol : c->hi.symbol, n_lo > 1 ? n_lo : n_hi);
    return add_span(binding,
                    (struct rf_selector_span){lo[0] + c->lo.value, hi[0] + c->hi.value, i});
}

/* Both ends have the same name: a span at each of its places. */
static rf_status bind_name(const struct binding *binding, uint8_t i)
{
    const struct rf_condition *c = &binding->selector->conditions[i];
    uint64_t places[PLACES_MAX];
    size_t n = 0;
    rf_status status = find_places(binding, c->field, &c->lo, places, &n);
    for (size_t k = 0; k < n && status == RF_OK; k++)
        status = add_span(binding, (struct rf_selector_span){places[k] + c->lo.value,
                                                             places[k] + c->hi.value, i});
    return status;
}

/* A condition with one span is as good as written with numbers. */
static void settle(struct rf_selector *selector, size_t i)
{
    struct rf_condition *c = &selector->conditions[i];
    const struct rf_selector_span *last = &selector->spans[selector->n_spans - 1];
    if (count_spans(selector, i) != 1 || last->condition != i)
        return;
    c->lo = (struct rf_place){.value = last->lo};
    c->hi = (struct rf_place){.value = last->hi};
    selector->n_spans--;
}

static rf_status bind_all(const struct binding *binding)
{
    struct rf_selector *selector = binding->selector;
    rf_status status = RF_OK;
    for (uint8_t i = 0; i < selector->n_conditions && status == RF_OK; i++) {
        const struct rf_condition *c = &selector->conditions[i];
        if (!rf_selector_has_name(c))
            continue;
        status =
            strcmp(c->lo.symbol, c->hi.symbol) == 0 ? bind_name(binding, i) : bind_ends(binding, i);
        if (status == RF_OK && binding->final)
            settle(selector, i);
    }
    return status;
}

rf_status rf_selector_bind(struct rf_selector *selector, rf_selector_resolve resolve, void *context,
                           struct rf_error *error)
{
    struct rf_selector bound = *selector;
    const struct binding binding = {&bound, resolve, context, true, error};
    rf_status status = bind_all(&binding);
    if (status != RF_OK)
        return status;
    bound.unbound = 0;
    *selector = bound;
    return RF_OK;
}

rf_status rf_selector_bind_more(struct rf_selector *selector, rf_selector_resolve resolve,
                                void *context, struct rf_error *error)
{
    const struct binding binding = {selector, resolve, context, false, error};
    return bind_all(&binding);
}

/* --- printing -------------------------------------------------------------------------------- */

static void put(struct rf_text_out *out, const char *text)
{
    rf_text_add(out, "%s", text);
}

static void put_number(struct rf_text_out *out, uint64_t n)
{
    char text[32];
    rf_format(text, sizeof text, n < 4096 ? "%llu" : "0x%llx", (unsigned long long)n);
    put(out, text);
}

static bool needs_quotes(const char *symbol)
{
    if (symbol[0] >= '0' && symbol[0] <= '9')
        return true;
    for (const char *p = symbol; *p != '\0'; p++)
        if (!rf_selector_is_symbol(*p, p[1]))
            return true;
    return false;
}

/* `more` is added because comparisons are stored as closed ranges, while some are written with an open end. */
static void put_place(struct rf_text_out *out, const struct rf_place *place, uint64_t more)
{
    uint64_t value = place->value + more;
    if (place->symbol[0] == '\0') {
        put_number(out, value);
        return;
    }
    const char *quote = needs_quotes(place->symbol) ? "'" : "";
    put(out, quote);
    put(out, place->symbol);
    put(out, quote);
    if (value != 0) {
        put(out, "+");
        put_number(out, value);
    }
}

static void put_condition(struct rf_text_out *out, const struct rf_condition *c)
{
    bool one = c->lo.value == c->hi.value && strcmp(c->lo.symbol, c->hi.symbol) == 0;
    bool from_zero = c->lo.value == 0 && c->lo.symbol[0] == '\0';
    bool to_end = c->hi.value == UINT64_MAX && c->hi.symbol[0] == '\0';
    put(out, " ");
    put(out, rf_field_name(c->field));
    if (one && !c->is_range) {
        put(out, c->negate ? "!=" : "==");
        put_place(out, &c->lo, 0);
    } else if (to_end) {
        put(out, ">=");
        put_place(out, &c->lo, 0);
    } else if (from_zero && !c->is_range) {
        put(out, c->hi.symbol[0] == '\0' ? "<=" : "<");
        put_place(out, &c->hi, c->hi.symbol[0] != '\0');
    } else {
        put(out, " in ");
        put_place(out, &c->lo, 0);
        put(out, "..");
        put_place(out, &c->hi, 1);
    }
}

static void put_classes(struct rf_text_out *out, uint32_t classes)
{
    if (classes == RF_SET_ANY) {
        put(out, "any");
        return;
    }
    const char *comma = "";
    for (unsigned kind = 0; kind < RF_CLASS_COUNT; kind++)
        if (classes >> kind & 1) {
            put(out, comma);
            put(out, rf_class_name(kind));
            comma = ",";
        }
}

size_t rf_selector_print(const struct rf_selector *selector, char *text, size_t size)
{
    struct rf_text_out out = {text, size, 0};
    put_classes(&out, selector->classes);
    for (size_t i = 0; i < selector->n_conditions; i++)
        put_condition(&out, &selector->conditions[i]);
    put(&out, " -> ");
    put(&out, rf_field_name(selector->project_a));
    if (selector->project_b != RF_FIELD_NONE) {
        put(&out, ",");
        put(&out, rf_field_name(selector->project_b));
    }
    if (selector->weight != RF_FIELD_NONE) {
        put(&out, " * ");
        put(&out, rf_field_name(selector->weight));
    }
    return out.n;
}
