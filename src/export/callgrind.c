/* callgrind.c - costs by line and calls with their inclusive cost, in callgrind's format, version 1.
 *
 *     events: Ir loads samples            one per profile by instruction, and the samples of the stack
 *     ob=(1) /tmp/rank
 *     fl=(2) rank.c
 *     fn=(3) spread
 *     44 97200000 21600000 124            line, costs
 *     fi=(4) list.h                       code that was inlined from another file
 *     cob=(1) cfi=(2) cfn=(5) main        a call: its callee, how often, inclusive cost
 *     calls=60 38
 *     61 ...
 *
 * Self costs are those of the profiles. The inclusive cost of a call is known in samples of the stack; as Ir it is
 * estimated from them (the share of the samples, of all instructions), which the file says in a desc: line. Other events
 * have no inclusive cost. How often a call ran comes from a profile of calls; a call that only stacks have seen ran at
 * least once, and callgrind_annotate takes the cost of calls=0 for the caller's own.
 *
 * Names are always written with numbers, "(3) spread", so that a name that begins with a parenthesis is none. */
#include "export/export.h"
#include <inttypes.h>
#include <riffle/text.h>
#include <riffle/view.h>
#include <stdlib.h>

enum { EVENTS_MAX = 32, SAMPLES = 1 << 20 };

enum kind { OBJECT = 1, SOURCE_FILE = 2, FUNCTION = 4 };

/* A function in a file in an object. */
struct who {
    uint32_t object, file, function; /* numbers of texts */
};

/* A cost, or a call, at a line of a function. */
struct entry {
    struct who who;
    uint32_t file, line; /* where the code is from */
    bool is_call;
    struct who callee;
    uint32_t callee_line;
    uint32_t event; /* of a cost */
    uint64_t count; /* the cost; of a call, how often */
    uint64_t samples;
};

struct entries {
    struct entry *at;
    size_t n, room;
};

struct callgrind {
    const struct rf_export *export;
    struct rf_export_texts texts;
    unsigned char *
        named; /* texts that were written once as enum kind, a bit each: every kind counts for itself */
    struct entries entries;
    size_t profiles[EVENTS_MAX]; /* of the run, by event; SAMPLES: the stack */
    uint32_t n_events;
    uint64_t totals[EVENTS_MAX];
    uint64_t stack_samples;
    struct who last;
    uint32_t last_file;
    char text[RF_EXPORT_TEXT_MAX];
};

/* ---- collecting ---- */

static rf_status add(struct callgrind *grind, const struct entry *entry)
{
    struct entries *entries = &grind->entries;
    if (!rf_list_grow(&grind->export->alloc, entries))
        return RF_ENOMEM;
    entries->at[entries->n++] = *entry;
    return RF_OK;
}

static rf_status number_path(struct callgrind *grind, const char *path, uint32_t *number)
{
    rf_text_readable(grind->text, sizeof grind->text, path[0] != '\0' ? path : "???");
    return rf_export_text(&grind->texts, grind->text, number);
}

/* The function of a place and its first line. Its file is that of its first instruction, however much was inlined. */
static rf_status find_who(struct callgrind *grind, const struct rf_export_place *place,
                          struct who *who, uint32_t *line)
{
    struct rf_export_place entry;
    rf_export_function(place, grind->text);
    rf_status status = rf_export_text(&grind->texts, grind->text, &who->function);
    rf_export_find_place(grind->export, place->entry, &entry);
    *line = entry.name.line;
    if (status == RF_OK)
        status = number_path(grind, place->name.path, &who->object);
    if (status == RF_OK)
        status = number_path(grind, entry.name.file, &who->file);
    return status;
}

/* An entry for a place, not yet a cost or a call. */
static rf_status begin_entry(struct callgrind *grind, uint64_t word, struct entry *entry)
{
    struct rf_export_place place;
    uint32_t first_line;
    *entry = (struct entry){.count = 0};
    rf_export_find_place(grind->export, word, &place);
    rf_status status = find_who(grind, &place, &entry->who, &first_line);
    const struct rf_frame frame = rf_export_innermost(&place);
    entry->line = frame.line;
    return status == RF_OK ? number_path(grind, frame.file, &entry->file) : status;
}

static rf_status add_sites(struct callgrind *grind, const struct rf_profile *profile)
{
    struct rf_export_sites sites;
    rf_status status = rf_export_sites_open(&sites, grind->export, profile);
    bool exact = sites.bound == RF_BOUND_EXACT;
    for (size_t i = 0; i < sites.n && status == RF_OK; i++) {
        struct entry entry;
        status = begin_entry(grind, sites.at[i].word, &entry);
        entry.event = grind->n_events;
        entry.count = sites.at[i].count;
        grind->totals[grind->n_events] += entry.count;
        if (status == RF_OK)
            status = add(grind, &entry);
    }
    if (status == RF_OK && !exact)
        rf_export_tell(grind->export, "callgrind has no bounds: of '%s' only the counts are there",
                       profile->selector);
    rf_export_sites_close(&sites, grind->export);
    return status;
}

static rf_status add_call(struct callgrind *grind, uint64_t from, uint64_t to, uint64_t count,
                          uint64_t samples)
{
    struct entry entry;
    struct rf_export_place callee;
    rf_status status = begin_entry(grind, from, &entry);
    rf_export_find_place(grind->export, to, &callee);
    if (status == RF_OK)
        status = find_who(grind, &callee, &entry.callee, &entry.callee_line);
    entry.is_call = true;
    entry.count = count;
    entry.samples = samples;
    return status == RF_OK ? add(grind, &entry) : status;
}

static rf_status add_calls(struct callgrind *grind, const struct rf_profile *profile)
{
    const struct rf_alloc *alloc = &grind->export->alloc;
    size_t size = 2 * profile->n_items * sizeof(uint64_t);
    uint64_t *words = size > 0 ? rf_alloc_get(alloc, size) : NULL;
    if (words == NULL)
        return size > 0 ? RF_ENOMEM : RF_OK;
    for (size_t i = 0; i < profile->n_items; i++) {
        words[2 * i] = profile->items[i].a;
        words[2 * i + 1] = profile->items[i].b;
    }
    rf_status status = rf_export_prepare(grind->export, words, 2 * profile->n_items);
    rf_alloc_free(alloc, words, size);
    for (size_t i = 0; i < profile->n_items && status == RF_OK; i++)
        status =
            add_call(grind, profile->items[i].a, profile->items[i].b, profile->items[i].count, 0);
    return status;
}

/* Is this call, by entry of the callee, already on the stack further out? Then it is counted there. */
static bool is_inner(const struct callgrind *grind, const struct rf_export_stack *stack, size_t i)
{
    struct rf_export_place callee, other;
    rf_export_find_place(grind->export, stack->words[i + 1], &callee);
    for (size_t k = 0; k < i; k++) {
        rf_export_find_place(grind->export, stack->words[k + 1], &other);
        if (stack->words[k] == stack->words[i] && other.entry == callee.entry)
            return true;
    }
    return false;
}

static rf_status add_stack(void *context, const struct rf_export_stack *stack)
{
    struct callgrind *grind = context;
    struct entry entry;
    rf_status status = begin_entry(grind, stack->words[stack->n - 1], &entry);
    entry.event = grind->n_events;
    entry.count = stack->samples;
    grind->totals[grind->n_events] += stack->samples;
    if (status == RF_OK)
        status = add(grind, &entry);
    for (size_t i = 0; i + 1 < stack->n && status == RF_OK; i++)
        if (!is_inner(grind, stack, i))
            status = add_call(grind, stack->words[i], stack->words[i + 1], 0, stack->samples);
    return status;
}

static rf_status add_profile(struct callgrind *grind, size_t i)
{
    const struct rf_profile *profile = grind->export->run->profiles[i];
    bool stacks = rf_export_is_stacks(profile);
    if (rf_export_is_calls(profile))
        return add_calls(grind, profile);
    if ((!stacks && !rf_export_is_by_pc(profile)) || grind->n_events == EVENTS_MAX ||
        (stacks && profile != rf_export_stacks_of(grind->export)))
        return RF_OK;
    grind->profiles[grind->n_events] = stacks ? SAMPLES : i;
    rf_status status = stacks ? rf_export_stacks(grind->export, profile, add_stack, grind)
                              : add_sites(grind, profile);
    if (stacks)
        grind->stack_samples = grind->totals[grind->n_events];
    grind->n_events++;
    return status;
}

/* ---- order ---- */

static int compare(uint32_t left, uint32_t right)
{
    return (left > right) - (left < right);
}

static int compare_who(const struct who *left, const struct who *right)
{
    int order = compare(left->object, right->object);
    order = order != 0 ? order : compare(left->file, right->file);
    return order != 0 ? order : compare(left->function, right->function);
}

/* By function, file and line, costs before calls: entries that are one line of the file compare as equal. */
static int by_place(const void *left, const void *right)
{
    const struct entry *l = left, *r = right;
    int order = compare_who(&l->who, &r->who);
    order = order != 0 ? order : compare(l->is_call, r->is_call);
    order = order != 0 ? order : compare(l->file, r->file);
    order = order != 0 ? order : compare(l->line, r->line);
    return order != 0 ? order : compare_who(&l->callee, &r->callee);
}

/* ---- writing ---- */

/* "fn=(3) spread", and "fn=(3)" from the second time on. */
static void write_name(struct callgrind *grind, const char *key, enum kind kind, uint32_t text)
{
    fprintf(grind->export->out, "%s=(%" PRIu32 ")", key, text);
    if ((grind->named[text] & kind) == 0)
        fprintf(grind->export->out, " %s", grind->texts.at[text]);
    grind->named[text] |= (unsigned char)kind;
    fputc('\n', grind->export->out);
}

static void write_place(struct callgrind *grind, const struct entry *entry, bool first)
{
    bool new_function = first || compare_who(&grind->last, &entry->who) != 0;
    if (new_function) {
        fputc('\n', grind->export->out);
        write_name(grind, "ob", OBJECT, entry->who.object);
        write_name(grind, "fl", SOURCE_FILE, entry->who.file);
        write_name(grind, "fn", FUNCTION, entry->who.function);
        grind->last_file = entry->who.file;
    }
    if (entry->file != grind->last_file)
        write_name(grind, entry->file == entry->who.file ? "fe" : "fi", SOURCE_FILE, entry->file);
    grind->last = entry->who;
    grind->last_file = entry->file;
}

static void write_costs(const struct callgrind *grind, uint32_t line, const uint64_t *costs)
{
    fprintf(grind->export->out, "%" PRIu32, line);
    for (uint32_t i = 0; i < grind->n_events; i++)
        fprintf(grind->export->out, " %" PRIu64, costs[i]);
    fputc('\n', grind->export->out);
}

/* All costs of one line: entries first..end-1. */
static void write_line(struct callgrind *grind, size_t first, size_t end)
{
    uint64_t costs[EVENTS_MAX] = {0};
    for (size_t i = first; i < end; i++)
        costs[grind->entries.at[i].event] += grind->entries.at[i].count;
    write_costs(grind, grind->entries.at[first].line, costs);
}

static bool is_ir(const struct callgrind *grind, uint32_t event)
{
    char name[RF_EXPORT_NAME_MAX];
    if (grind->profiles[event] == SAMPLES)
        return false;
    rf_export_event(grind->export, grind->profiles[event], name);
    return strcmp(name, "Ir") == 0;
}

static void write_call(struct callgrind *grind, size_t first, size_t end)
{
    const struct entry *entry = &grind->entries.at[first];
    uint64_t costs[EVENTS_MAX] = {0}, count = 0, samples = 0;
    for (size_t i = first; i < end; i++) {
        count += grind->entries.at[i].count;
        samples += grind->entries.at[i].samples;
    }
    for (uint32_t i = 0; i < grind->n_events; i++)
        if (grind->profiles[i] == SAMPLES)
            costs[i] = samples;
        else if (grind->stack_samples > 0 && is_ir(grind, i))
            costs[i] = (uint64_t)((double)grind->totals[i] * (double)samples /
                                  (double)grind->stack_samples);
    write_name(grind, "cob", OBJECT, entry->callee.object);
    write_name(grind, "cfi", SOURCE_FILE, entry->callee.file);
    write_name(grind, "cfn", FUNCTION, entry->callee.function);
    fprintf(grind->export->out, "calls=%" PRIu64 " %" PRIu32 "\n", count > 0 ? count : 1,
            entry->callee_line);
    write_costs(grind, entry->line, costs);
}

static void write_entries(struct callgrind *grind)
{
    const struct entries *entries = &grind->entries;
    for (size_t first = 0, end; first < entries->n && !ferror(grind->export->out); first = end) {
        for (end = first + 1;
             end < entries->n && by_place(&entries->at[first], &entries->at[end]) == 0;)
            end++;
        write_place(grind, &entries->at[first], first == 0);
        if (entries->at[first].is_call)
            write_call(grind, first, end);
        else
            write_line(grind, first, end);
    }
}

static void write_events(struct callgrind *grind)
{
    FILE *out = grind->export->out;
    char name[RF_EXPORT_NAME_MAX];
    fputs("events:", out);
    for (uint32_t i = 0; i < grind->n_events; i++) {
        if (grind->profiles[i] == SAMPLES)
            rf_format(name, sizeof name, "samples");
        else
            rf_export_event(grind->export, grind->profiles[i], name);
        fprintf(out, " %s", name);
    }
    fputs("\nsummary:", out);
    for (uint32_t i = 0; i < grind->n_events; i++)
        fprintf(out, " %" PRIu64, grind->totals[i]);
    fputc('\n', out);
}

static void write_head(struct callgrind *grind)
{
    FILE *out = grind->export->out;
    fputs("# callgrind format\nversion: 1\ncreator: riffle " RIFFLE_VERSION "\n", out);
    rf_text_readable(grind->text, sizeof grind->text, grind->export->run->command);
    fprintf(out, "cmd: %s\npart: 1\n", grind->text);
    for (uint32_t i = 0; i < grind->n_events; i++) {
        if (grind->profiles[i] == SAMPLES)
            continue;
        const struct rf_profile *profile = grind->export->run->profiles[grind->profiles[i]];
        rf_text_readable(grind->text, sizeof grind->text, profile->selector);
        fprintf(out, "desc: Event %" PRIu32 ": %s, by ", i + 1, grind->text);
        rf_text_readable(grind->text, sizeof grind->text, profile->engine);
        fprintf(out, "%s\n", grind->text);
    }
    if (grind->stack_samples > 0)
        fprintf(out,
                "desc: Inclusive: estimated from %" PRIu64 " samples of the call stack; of Ir and "
                "samples only\n",
                grind->stack_samples);
    fputs("positions: line\n", out);
    write_events(grind);
}

static rf_status collect(struct callgrind *grind)
{
    const struct rf_run *run = grind->export->run;
    rf_status status = rf_export_texts_open(&grind->texts, &grind->export->alloc);
    for (size_t i = 0; i < run->n_profiles && status == RF_OK; i++)
        status = add_profile(grind, i);
    if (status == RF_OK && grind->n_events == 0)
        return rf_fail(grind->export->error, RF_ENOTSUP,
                       "callgrind has costs of lines, and no profile of this file is by pc; run "
                       "with -p code");
    if (status == RF_OK && grind->stack_samples == 0)
        rf_export_tell(grind->export,
                       "without -p stacks, calls have no inclusive cost in this file");
    return status;
}

static bool takes(const struct rf_profile *profile)
{
    return rf_export_is_by_pc(profile) || rf_export_is_stacks(profile);
}

static rf_status write_all(struct callgrind *grind)
{
    rf_status status = collect(grind);
    if (status != RF_OK)
        return status;
    grind->named = rf_alloc_zeroed(&grind->export->alloc, grind->texts.n);
    if (grind->named == NULL)
        return RF_ENOMEM;
    if (grind->entries.n > 0)
        qsort(grind->entries.at, grind->entries.n, sizeof *grind->entries.at, by_place);
    write_head(grind);
    write_entries(grind);
    rf_alloc_free(&grind->export->alloc, grind->named, grind->texts.n);
    return RF_OK;
}

static rf_status write_callgrind(const struct rf_export *export, void *state)
{
    struct callgrind *grind = state;
    grind->export = export;
    rf_export_tell_left_out(export, takes);
    rf_status status = write_all(grind);
    rf_alloc_free(&export->alloc, grind->entries.at, grind->entries.room * sizeof(struct entry));
    rf_export_texts_close(&grind->texts);
    return status;
}

const struct rf_export_maker rf_export_callgrind = {sizeof(struct callgrind), write_callgrind};
