/* hosts.c - the handlers there are, and what their tables tell. */
#include "coproc/coproc.h"
#include "coproc/estimate.h"
#include <riffle/selector.h>

/* Which words of a tuple are addresses of code. */
static void code_words(const struct rf_coproc *coproc, bool *a, bool *b)
{
    struct rf_selector selector;
    *a = *b = false;
    if (rf_selector_parse(&selector, coproc->selector, NULL) != RF_OK)
        return;
    const struct rf_field_info *first = rf_field_info(selector.project_a);
    const struct rf_field_info *second = rf_field_info(selector.project_b);
    *a = first != NULL && first->meaning == RF_MEANS_CODE;
    *b = second != NULL && second->meaning == RF_MEANS_CODE;
}

/* Of an address of code a program may have told the lower half alone. */
static uint64_t whole_word(const struct rf_coproc *coproc, uint64_t word, bool code)
{
    return word >> 32 == 0 && code ? rf_coproc_widen(coproc, (uint32_t)word) : word;
}

/* A slot's count is true: not where a program estimates, nor where it keeps what it saw (a call stack) and some of
 * that was dropped. */
static bool is_sure(const struct rf_coproc *coproc)
{
    const struct rf_program *program = &coproc->program;
    return rf_program_let(program, "estimate", 0) == 0 &&
           (rf_program_let(program, "keep", 0) == 0 || coproc->counts.drops == 0);
}

/* Of a tuple that the samples had n times, it had at least n: more were dropped or replaced. */
static rf_status report_fold(const struct rf_coproc *coproc, const struct rf_sink *sink)
{
    const struct rf_fold_entry *entries = (const struct rf_fold_entry *)(coproc->table + 1);
    uint64_t taken = coproc->counts.samples - coproc->counts.drops;
    bool a_code, b_code, sure = is_sure(coproc);
    rf_status status = RF_OK;
    code_words(coproc, &a_code, &b_code);
    for (uint32_t i = 0; i < coproc->table->entries && status == RF_OK; i++) {
        const struct rf_fold_entry *entry = &entries[i];
        if (entry->count == 0)
            continue;
        struct rf_item item = {.a = whole_word(coproc, entry->a, a_code),
                               .b = whole_word(coproc, entry->b, b_code),
                               .count = entry->count,
                               .lower = sure ? entry->count : 0,
                               .upper = taken > entry->count ? taken : entry->count};
        item.a_hi = item.a;
        item.b_hi = item.b;
        status = sink->item(sink->context, &item);
    }
    return status;
}

static uint64_t recorded_fold(struct rf_table *table)
{
    const struct rf_fold_entry *entries = (const struct rf_fold_entry *)(table + 1);
    uint64_t samples = 0;
    for (uint32_t i = 0; i < table->entries; i++)
        samples += entries[i].count;
    return samples;
}

static const struct rf_host_kind fold = {
    .name = "fold",
    .guest = 0,
    .serve = rf_host_fold,
    .roles = {"a", "count", "b", "a_high", "b_high"},
    .roles_needed = 2,
    .second = "b",
    .slot_roles = 5,
    .lets = {{"least", 1, 0}, {"keep", 0, 1}},
    .entry_size = sizeof(struct rf_fold_entry),
    .report = report_fold,
    .recorded = recorded_fold,
    .is_sound = rf_sound_fold,
};

/* Each one that was looked at stands for this many; together they are no more than there were. */
static void scale(struct rf_item *item, uint64_t by, uint64_t most)
{
    uint64_t *const counts[] = {&item->count, &item->lower, &item->upper};
    for (size_t i = 0; i < 3; i++)
        if (__builtin_mul_overflow(*counts[i], by, counts[i]) || *counts[i] > most)
            *counts[i] = most;
}

/* Bounds count samples. A value had at least its hits, and at most all samples but the hits of others. If the second pass
 * saw its upper half vary it may have had none. If another upper half comes too rarely for that pass, the lower bound
 * is that of both. */
static rf_status report_load(const struct rf_coproc *coproc, const struct rf_values_entry *entry,
                             const struct rf_sink *sink)
{
    uint64_t taken = coproc->counts.samples - coproc->counts.drops;
    uint64_t one_of = rf_program_let(&coproc->program, "one_of", 1);
    rf_status status = RF_OK;
    for (uint32_t v = 0; v < entry->n && status == RF_OK; v++) {
        const struct rf_values_value *value = &entry->values[v];
        double whole = rf_values_estimate(entry, v) * rf_values_upper_share(value);
        struct rf_item item = {.a = rf_coproc_widen(coproc, entry->pc),
                               .b = (uint64_t)value->upper << 32 | value->value,
                               .count = (uint64_t)(whole + 0.5),
                               .upper = rf_values_most(entry, v)};
        item.lower = value->same == value->seen ? value->hits : 0;
        item.count = item.count > item.lower ? item.count : item.lower;
        scale(&item, one_of, taken);
        item.a_hi = item.a;
        item.b_hi = item.b;
        status = sink->item(sink->context, &item);
    }
    return status;
}

static rf_status report_values(const struct rf_coproc *coproc, const struct rf_sink *sink)
{
    const struct rf_values_entry *entries = rf_values_entries(coproc->table);
    rf_status status = RF_OK;
    for (uint32_t i = 0; i < coproc->table->used && status == RF_OK; i++)
        status = report_load(coproc, &entries[i], sink);
    return status;
}

static uint64_t recorded_values(struct rf_table *table)
{
    const struct rf_values_entry *entries = rf_values_entries(table);
    uint64_t samples = 0;
    for (uint32_t i = 0; i < table->used; i++)
        samples += entries[i].total;
    return samples;
}

static const struct rf_host_kind values = {
    .name = "values",
    .guest = 1,
    .serve = rf_host_values,
    .roles = {"pc", "value", "hits", "misses", "total", "wanted", "lower", "upper", "seen", "same"},
    .slot_roles = 5,
    .roles_needed = 5,
    .second = "value",
    .lets = {{"high", 95, 101},
             {"low", 10, 101},
             {"enough", 64, 0},
             {"times", 4, 0},
             {"worth", 30, 101},
             {"@dropped", 0, 0},
             {"@left", 0, 0},
             {":upper", RF_WINDOW_AS_DECLARED, 0},
             {"age", 0, RF_WAIT_MOST},
             {"glance", 0, RF_WAIT_MOST},
             {"second", 10000, RF_WAIT_MOST},
             {"least", 1, 0},
             {"@reach", RF_WINDOW_INDEXES, 0}},
    .entry_size = sizeof(uint32_t) + sizeof(struct rf_values_entry),
    .report = report_values,
    .totals_in_bounds = true,
    .recorded = recorded_values,
    .is_sound = rf_sound_values,
};

const struct rf_host_kind *const rf_host_kinds[] = {&fold, &values, NULL};
