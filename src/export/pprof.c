/* pprof.c - the profile.proto of pprof, compressed by gzip where zlib is there.
 *
 *     sample types   one per profile by pc ("Ir", "loads"), one for samples of the stack;
 *                    of a profile with bounds also "loads_lower" and "loads_upper"
 *     sample         locations, the innermost first; a number per type; label value="0x0" where items have one
 *     location       an address with its lines: functions inlined there, then the function itself
 *
 * The items of an instruction come with their labels. What the profile counted there beyond them is one more sample
 * without a label, so that sums by place are right. A call has two locations, callee and caller. Labels are texts: pprof
 * drops a number that is 0. */
#include "export/export.h"
#include "export/gzip.h"
#include "export/protobuf.h"
#include "base/order.h"
#include <riffle/report.h>
#include <riffle/text.h>
#include <stdlib.h>

enum { TYPES_MAX = 96 };
enum {
    PROFILE_TYPE = 1,
    PROFILE_SAMPLE,
    PROFILE_MAPPING,
    PROFILE_LOCATION,
    PROFILE_FUNCTION,
    PROFILE_TEXT,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT
};

struct known { /* a location or a function */
    uint64_t key;
    uint32_t id; /* 0: a free place */
};

/* By hash; kept half empty. */
struct table {
    struct known *at;
    size_t n, room;
};

struct pprof {
    const struct rf_export *export;
    struct rf_export_texts texts;
    struct table locations, functions;
    struct rf_protobuf file, message, inner, packed;
    size_t first_type[TYPES_MAX]; /* of each profile */
    size_t n_types;
    char text[RF_EXPORT_TEXT_MAX];
};

/* ---- tables ---- */

static struct known *find(const struct table *table, uint64_t key)
{
    for (uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 20;; at++) {
        struct known *known = &table->at[at & (table->room - 1)];
        if (known->id == 0 || known->key == key)
            return known;
    }
}

static bool grow(struct table *table, const struct rf_alloc *alloc)
{
    struct table larger = {.n = table->n, .room = table->room == 0 ? 256 : 2 * table->room};
    larger.at = rf_alloc_zeroed(alloc, larger.room * sizeof *larger.at);
    if (larger.at == NULL)
        return false;
    for (size_t i = 0; i < table->room; i++)
        if (table->at[i].id != 0)
            *find(&larger, table->at[i].key) = table->at[i];
    rf_alloc_free(alloc, table->at, table->room * sizeof *table->at);
    *table = larger;
    return true;
}

/* The number of a key; *is_new where it was not there yet. 0: no memory. */
static uint32_t number_of(struct pprof *pprof, struct table *table, uint64_t key, bool *is_new)
{
    *is_new = false;
    if (2 * (table->n + 1) > table->room && !grow(table, &pprof->export->alloc)) {
        pprof->file.failed = true;
        return 0;
    }
    struct known *known = find(table, key);
    if (known->id == 0) {
        *is_new = true;
        *known = (struct known){key, (uint32_t)++table->n};
    }
    return known->id;
}

static uint32_t text_of(struct pprof *pprof, const char *text)
{
    uint32_t number = 0;
    if (rf_export_text(&pprof->texts, text, &number) != RF_OK)
        pprof->file.failed = true;
    return number;
}

static uint32_t readable_of(struct pprof *pprof, const char *text)
{
    rf_text_readable(pprof->text, sizeof pprof->text, text);
    return text_of(pprof, pprof->text);
}

/* ---- places ---- */

static uint32_t function_of(struct pprof *pprof, uint32_t name, const char *file)
{
    uint32_t path = readable_of(pprof, file);
    bool is_new;
    uint32_t id = number_of(pprof, &pprof->functions, (uint64_t)name << 32 | path, &is_new);
    if (is_new) {
        rf_protobuf_number(&pprof->packed, 1, id);
        rf_protobuf_number(&pprof->packed, 2, name);
        rf_protobuf_number(&pprof->packed, 3, name);
        rf_protobuf_number(&pprof->packed, 4, path);
        rf_protobuf_message(&pprof->file, PROFILE_FUNCTION, &pprof->packed);
    }
    return id;
}

static void put_line(struct pprof *pprof, uint32_t name, const char *file, uint32_t line)
{
    uint32_t function = function_of(pprof, name, file);
    rf_protobuf_number(&pprof->inner, 1, function);
    rf_protobuf_number(&pprof->inner, 2, line);
    rf_protobuf_message(&pprof->message, 4, &pprof->inner);
}

/* The number of the module at an address, from 1; 0: there is none. */
static size_t mapping_of(const struct rf_run *run, uint64_t word)
{
    for (size_t i = 0; i < run->n_modules; i++)
        if (word >= run->modules[i].start && word < run->modules[i].end)
            return i + 1;
    return 0;
}

static uint32_t location_of(struct pprof *pprof, uint64_t word)
{
    struct rf_export_place place;
    bool is_new;
    uint32_t id = number_of(pprof, &pprof->locations, word, &is_new);
    if (!is_new)
        return id;
    rf_export_find_place(pprof->export, word, &place);
    rf_protobuf_number(&pprof->message, 1, id);
    rf_protobuf_number(&pprof->message, 2, mapping_of(pprof->export->run, word));
    rf_protobuf_number(&pprof->message, 3, place.address);
    for (size_t i = 0; i < place.name.n_inlined; i++) {
        const struct rf_frame *frame = &place.name.inlined[i];
        put_line(pprof, readable_of(pprof, frame->function), frame->file, frame->line);
    }
    rf_export_function(&place, pprof->text);
    put_line(pprof, text_of(pprof, pprof->text), place.name.file, place.name.line);
    rf_protobuf_message(&pprof->file, PROFILE_LOCATION, &pprof->message);
    return id;
}

/* ---- samples ---- */

struct sample {
    const uint32_t *locations; /* the innermost first */
    size_t n;
    size_t type;
    bool bounded; /* three numbers in place of one */
    uint64_t numbers[3];
    uint32_t key, label; /* texts; 0: none */
};

static void put_sample(struct pprof *pprof, const struct sample *sample)
{
    size_t numbers = sample->bounded ? 3 : 1;
    for (size_t i = 0; i < sample->n; i++)
        rf_protobuf_varint(&pprof->packed, sample->locations[i]);
    rf_protobuf_message(&pprof->message, 1, &pprof->packed);
    for (size_t i = 0; i < pprof->n_types; i++)
        rf_protobuf_varint(&pprof->packed,
                           i - sample->type < numbers ? sample->numbers[i - sample->type] : 0);
    rf_protobuf_message(&pprof->message, 2, &pprof->packed);
    if (sample->key != 0) {
        rf_protobuf_number(&pprof->packed, 1, sample->key);
        rf_protobuf_number(&pprof->packed, 2, sample->label);
        rf_protobuf_message(&pprof->message, 3, &pprof->packed);
    }
    rf_protobuf_message(&pprof->file, PROFILE_SAMPLE, &pprof->message);
}

/* One profile by pc, while its samples are written. */
struct counts {
    size_t type;
    bool bounded;
    bool calls;
    const struct rf_word *word;   /* that labels are of; its name is empty where there is none */
    const struct rf_item **items; /* by pc */
    size_t n, at;
};

static void put_item(struct pprof *pprof, const struct counts *counts, const struct rf_item *item)
{
    char label[RF_VIEW_NUMBER_MAX];
    uint32_t locations[2] = {location_of(pprof, counts->calls ? item->b : item->a),
                             counts->calls ? location_of(pprof, item->a) : 0};
    struct sample sample = {.locations = locations,
                            .n = counts->calls ? 2 : 1,
                            .type = counts->type,
                            .bounded = counts->bounded,
                            .numbers = {item->count, item->lower, item->upper}};
    if (!counts->calls) {
        rf_view_print_word(label, sizeof label, counts->word, item->b);
        sample.key = text_of(pprof, counts->word->name);
        sample.label = text_of(pprof, label);
    }
    put_sample(pprof, &sample);
}

static uint64_t minus(uint64_t left, uint64_t right)
{
    return left > right ? left - right : 0;
}

/* The items of an instruction, then what is left of it. */
static void put_site(struct pprof *pprof, struct counts *counts, const struct rf_export_site *site)
{
    struct rf_export_site rest = *site;
    while (counts->at < counts->n && counts->items[counts->at]->a < site->word)
        counts->at++;
    for (; counts->at < counts->n && counts->items[counts->at]->a == site->word; counts->at++) {
        const struct rf_item *item = counts->items[counts->at];
        put_item(pprof, counts, item);
        rest.count = minus(rest.count, item->count);
        rest.lower = minus(rest.lower, item->lower);
        rest.upper = minus(rest.upper, item->upper);
    }
    uint32_t location = location_of(pprof, site->word);
    const struct sample sample = {.locations = &location,
                                  .n = 1,
                                  .type = counts->type,
                                  .bounded = counts->bounded,
                                  .numbers = {rest.count, rest.lower, rest.upper}};
    if (rest.count > 0 || (counts->bounded && rest.upper > 0))
        put_sample(pprof, &sample);
}

static int by_pc(const void *left, const void *right)
{
    const struct rf_item *l = *(const struct rf_item *const *)left;
    const struct rf_item *r = *(const struct rf_item *const *)right;
    return rf_order_two(l->a, r->a, l->b, r->b);
}

static rf_status put_counts(struct pprof *pprof, const struct rf_profile *profile, size_t type)
{
    const struct rf_alloc *alloc = &pprof->export->alloc;
    struct rf_words words;
    struct rf_export_sites sites;
    rf_view_words(&words, profile);
    struct counts counts = {.type = type,
                            .bounded = profile->bound != RF_BOUND_EXACT,
                            .calls = words.calls && words.b.field == RF_FIELD_TARGET,
                            .word = &words.b};
    size_t size = profile->n_items * sizeof *counts.items;
    rf_status status = rf_export_sites_open(&sites, pprof->export, profile);
    if (status != RF_OK)
        return status;
    if (words.b.name[0] != '\0' && size > 0) {
        if ((counts.items = rf_alloc_get(alloc, size)) == NULL)
            status = RF_ENOMEM;
        else if (counts.calls)
            status = rf_export_prepare_items(pprof->export, profile, RF_EXPORT_B);
    }
    if (counts.items != NULL) {
        for (; counts.n < profile->n_items; counts.n++)
            counts.items[counts.n] = &profile->items[counts.n];
        qsort(counts.items, counts.n, sizeof *counts.items, by_pc);
    }
    for (size_t i = 0; i < sites.n && status == RF_OK; i++)
        put_site(pprof, &counts, &sites.at[i]);
    rf_alloc_free(alloc, counts.items, size);
    rf_export_sites_close(&sites, pprof->export);
    return status;
}

/* Samples of the stack, while they are written. */
struct stacks {
    struct pprof *pprof;
    size_t type;
};

static rf_status put_stack(void *context, const struct rf_export_stack *stack)
{
    const struct stacks *stacks = context;
    uint32_t locations[RF_EXPORT_DEPTH_MAX];
    for (size_t i = 0; i < stack->n; i++)
        locations[stack->n - 1 - i] = location_of(stacks->pprof, stack->words[i]);
    put_sample(stacks->pprof, &(struct sample){.locations = locations,
                                               .n = stack->n,
                                               .type = stacks->type,
                                               .numbers = {stack->samples}});
    return RF_OK;
}

/* ---- the file ---- */

static bool takes(const struct rf_profile *profile)
{
    return rf_export_is_by_pc(profile) || rf_export_is_stacks(profile);
}

static void put_type(struct pprof *pprof, const char *name)
{
    rf_protobuf_number(&pprof->message, 1, text_of(pprof, name));
    rf_protobuf_number(&pprof->message, 2, text_of(pprof, "count"));
    rf_protobuf_message(&pprof->file, PROFILE_TYPE, &pprof->message);
    pprof->n_types++;
}

static void put_types(struct pprof *pprof)
{
    const struct rf_run *run = pprof->export->run;
    for (size_t i = 0; i < run->n_profiles && pprof->n_types + 3 < TYPES_MAX; i++) {
        char name[RF_EXPORT_NAME_MAX + 8];
        bool stacks = rf_export_is_stacks(run->profiles[i]);
        pprof->first_type[i < TYPES_MAX ? i : 0] = pprof->n_types;
        if (!takes(run->profiles[i]) || i >= TYPES_MAX)
            continue;
        rf_export_event(pprof->export, i, name);
        put_type(pprof, stacks ? "samples" : name);
        if (run->profiles[i]->bound == RF_BOUND_EXACT || stacks)
            continue;
        size_t n = strlen(name);
        rf_format(name + n, sizeof name - n, "_lower");
        put_type(pprof, name);
        rf_format(name + n, sizeof name - n, "_upper");
        put_type(pprof, name);
    }
}

static void put_mappings(struct pprof *pprof)
{
    const struct rf_run *run = pprof->export->run;
    for (size_t i = 0; i < run->n_modules; i++) {
        const struct rf_module *module = &run->modules[i];
        const uint64_t numbers[] = {
            i + 1,
            rf_view_address(module->start),
            rf_view_address(module->start) + module->end - module->start,
            module->offset,
            readable_of(pprof, module->path),
            readable_of(pprof, module->build_id != NULL ? module->build_id : "")};
        for (unsigned field = 1; field <= 6; field++)
            rf_protobuf_number(&pprof->message, field, numbers[field - 1]);
        for (unsigned field = 7; field <= 10;
             field++) /* names are here already: do not look for them */
            rf_protobuf_number(&pprof->message, field, pprof->export->setup->symbols != NULL);
        rf_protobuf_message(&pprof->file, PROFILE_MAPPING, &pprof->message);
    }
}

static void put_comments(struct pprof *pprof)
{
    const struct rf_run *run = pprof->export->run;
    rf_protobuf_number(&pprof->file, PROFILE_COMMENT, readable_of(pprof, run->command));
    for (size_t i = 0; i < run->n_profiles; i++)
        if (takes(run->profiles[i])) {
            char text[1024];
            rf_format(text, sizeof text, "%s, by %s", run->profiles[i]->selector,
                      run->profiles[i]->engine);
            rf_protobuf_number(&pprof->file, PROFILE_COMMENT, readable_of(pprof, text));
        }
}

static rf_status put_profiles(struct pprof *pprof)
{
    const struct rf_run *run = pprof->export->run;
    rf_status status = RF_OK;
    for (size_t i = 0; i < run->n_profiles && i < TYPES_MAX && status == RF_OK; i++) {
        struct stacks stacks = {pprof, pprof->first_type[i]};
        if (rf_export_is_stacks(run->profiles[i]))
            status = rf_export_stacks(pprof->export, run->profiles[i], put_stack, &stacks);
        else if (rf_export_is_by_pc(run->profiles[i]))
            status = put_counts(pprof, run->profiles[i], pprof->first_type[i]);
    }
    return status;
}

static rf_status write_all(struct pprof *pprof)
{
    rf_status status = rf_export_texts_open(&pprof->texts, &pprof->export->alloc);
    if (status != RF_OK)
        return status;
    put_types(pprof);
    if (pprof->n_types == 0)
        return rf_fail(pprof->export->error, RF_ENOTSUP,
                       "pprof is made of places in code, and no profile of this file has any; run "
                       "with -p code or -p stacks");
    rf_protobuf_number(&pprof->file, PROFILE_DEFAULT,
                       1); /* the first text behind "" names the first type */
    put_mappings(pprof);
    put_comments(pprof);
    status = put_profiles(pprof);
    for (uint32_t i = 0; i < pprof->texts.n; i++)
        rf_protobuf_bytes(&pprof->file, PROFILE_TEXT, pprof->texts.at[i],
                          strlen(pprof->texts.at[i]));
    if (status == RF_OK && pprof->file.failed)
        status = RF_ENOMEM;
    return status == RF_OK ? rf_gzip_write(pprof->export->out, pprof->file.at, pprof->file.n)
                           : status;
}

static void free_pprof(struct pprof *pprof)
{
    const struct rf_alloc alloc = pprof->export->alloc;
    struct rf_protobuf *const buffers[] = {&pprof->file, &pprof->message, &pprof->inner,
                                           &pprof->packed};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        rf_protobuf_free(buffers[i]);
    rf_alloc_free(&alloc, pprof->locations.at, pprof->locations.room * sizeof(struct known));
    rf_alloc_free(&alloc, pprof->functions.at, pprof->functions.room * sizeof(struct known));
    rf_export_texts_close(&pprof->texts);
}

static rf_status write_pprof(const struct rf_export *export, void *state)
{
    struct pprof *pprof = state;
    pprof->export = export;
    pprof->file.alloc = pprof->message.alloc = pprof->inner.alloc = pprof->packed.alloc =
        &export->alloc;
    rf_export_tell_left_out(export, takes);
    rf_status status = write_all(pprof);
    free_pprof(pprof);
    return status;
}

const struct rf_export_maker rf_export_pprof = {sizeof(struct pprof), write_pprof};
