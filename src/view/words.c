/* words.c - what the two words of an item are, and how they are written. */
#include "view/view.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct rf_word word_of(unsigned field)
{
    const struct rf_field_info *info = rf_field_info(field);
    return info != NULL ? (struct rf_word){info->name, field, info->meaning}
                        : (struct rf_word){"", RF_FIELD_NONE, RF_MEANS_NUMBER};
}

static bool is_indirect(const struct rf_selector *selector)
{
    for (unsigned i = 0; i < selector->n_conditions; i++)
        if (selector->conditions[i].field == RF_FIELD_INDIRECT &&
            selector->conditions[i].lo.value == 1 && !selector->conditions[i].negate)
            return true;
    return false;
}

void rf_view_words(struct rf_words *words, const struct rf_profile *profile)
{
    struct rf_selector selector;
    *words = (struct rf_words){.a = {"a", RF_FIELD_NONE, RF_MEANS_NUMBER},
                               .b = {"b", RF_FIELD_NONE, RF_MEANS_NUMBER}};
    if (rf_profile_selector(profile, &selector) != RF_OK)
        return;
    words->a = word_of(selector.project_a);
    words->b = word_of(selector.project_b);
    words->by_pc = selector.project_a == RF_FIELD_PC;
    words->calls = selector.classes == 1u << RF_CLASS_CALL;
    words->indirect = words->calls && is_indirect(&selector);
}

int rf_view_find_word(const struct rf_words *words, unsigned field)
{
    if (words->a.field == field)
        return 0;
    return words->b.field == field ? 1 : -1;
}

/* Programs started by exec are told apart by a number in the upper bits of code addresses. */
uint64_t rf_view_address(uint64_t word)
{
    enum { SPACE_SHIFT = 48, SPACES_MAX = 255 };
    uint64_t space = word >> SPACE_SHIFT;
    return space <= SPACES_MAX ? word & ((UINT64_C(1) << SPACE_SHIFT) - 1) : word;
}

bool rf_view_is_decimal(const struct rf_word *word)
{
    return word->field == RF_FIELD_THREAD || word->field == RF_FIELD_DISTANCE ||
           word->field == RF_FIELD_SET;
}

size_t rf_view_print_word(char *text, size_t size, const struct rf_word *word, uint64_t value)
{
    if (word->meaning == RF_MEANS_CODE)
        value = rf_view_address(value);
    return (size_t)snprintf(text, size, rf_view_is_decimal(word) ? "%" PRIu64 : "0x%" PRIx64,
                            value);
}

/* Of a range inside one program. */
static void untag(const struct rf_word *word, uint64_t *lo, uint64_t *hi)
{
    if (word->meaning != RF_MEANS_CODE || *lo - rf_view_address(*lo) != *hi - rf_view_address(*hi))
        return;
    *lo = rf_view_address(*lo);
    *hi = rf_view_address(*hi);
}

size_t rf_view_print_range(char *text, size_t size, const struct rf_word *word, uint64_t lo,
                           uint64_t hi)
{
    untag(word, &lo, &hi);
    return (size_t)snprintf(
        text, size,
        rf_view_is_decimal(word) ? "%" PRIu64 "..%" PRIu64 : "0x%" PRIx64 "..0x%" PRIx64, lo, hi);
}

struct rf_item rf_view_shown_item(const struct rf_words *words, const struct rf_item *item)
{
    struct rf_item shown = *item;
    untag(&words->a, &shown.a, &shown.a_hi);
    untag(&words->b, &shown.b, &shown.b_hi);
    return shown;
}

/* ---- nouns ---- */

struct noun {
    uint32_t classes;
    const char *one, *many;
};

enum {
    LOADS = 1u << RF_CLASS_LOAD,
    STORES = 1u << RF_CLASS_STORE,
    CALLS = 1u << RF_CLASS_CALL,
    BRANCHES = 1u << RF_CLASS_BRANCH,
    JUMPS = 1u << RF_CLASS_JUMP
};

static const struct noun nouns[] = {
    {LOADS, "load", "loads"},
    {STORES, "store", "stores"},
    {LOADS | STORES, "access", "accesses"},
    {BRANCHES, "branch", "branches"},
    {JUMPS, "jump", "jumps"},
    {BRANCHES | JUMPS, "branch", "branches and jumps"},
    {CALLS, "call", "calls"},
    {1u << RF_CLASS_RETURN, "return", "returns"},
    {1u << RF_CLASS_ALU, "result", "results"},
    {1u << RF_CLASS_INSN, "instruction", "instructions"},
    {1u << RF_CLASS_FRAME, "frame", "frames"},
};

/* Of events that were chosen by what became of them, all have that in common, and shares are of those. */
static const struct {
    unsigned field;
    const char *one, *many;
} chosen[] = {
    {RF_FIELD_MISPREDICTED, "mispredict", "mispredicts"},
    {RF_FIELD_SILENT, "silent store", "silent stores"},
    {RF_FIELD_MISS, "missing load", "misses"},
};

static const char *noun_by_condition(const struct rf_selector *selector, uint64_t n)
{
    for (unsigned i = 0; i < selector->n_conditions; i++)
        for (size_t k = 0; k < sizeof chosen / sizeof *chosen; k++) {
            const struct rf_condition *condition = &selector->conditions[i];
            bool fits = condition->field == chosen[k].field && condition->lo.value > 0 &&
                        !condition->negate &&
                        (chosen[k].field != RF_FIELD_MISS || selector->classes == LOADS);
            if (fits)
                return n == 1 ? chosen[k].one : chosen[k].many;
        }
    return NULL;
}

/* Cycles of those instructions alone that the core waited for. */
static bool counts_stalls(const struct rf_selector *selector)
{
    for (unsigned i = 0; i < selector->n_conditions; i++) {
        const struct rf_condition *condition = &selector->conditions[i];
        if (condition->field == RF_FIELD_CYCLES && condition->lo.value > 1 && !condition->negate)
            return selector->weight == RF_FIELD_CYCLES;
    }
    return false;
}

const char *rf_view_noun(const struct rf_profile *profile, uint64_t n)
{
    struct rf_selector selector;
    if (rf_profile_selector(profile, &selector) != RF_OK)
        return n == 1 ? "event" : "events";
    if (counts_stalls(&selector))
        return n == 1 ? "stall cycle" : "stall cycles";
    if (selector.weight != RF_FIELD_NONE)
        return rf_field_info(selector.weight)->name;
    const char *noun = noun_by_condition(&selector, n);
    if (noun != NULL)
        return noun;
    if (selector.classes == CALLS && is_indirect(&selector))
        return n == 1 ? "indirect call" : "indirect calls";
    for (size_t i = 0; i < sizeof nouns / sizeof *nouns; i++)
        if (nouns[i].classes == selector.classes)
            return n == 1 ? nouns[i].one : nouns[i].many;
    return n == 1 ? "event" : "events";
}
