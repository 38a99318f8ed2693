/* filter.c - only what happened in some functions, files or one thread. */
#include "view/view.h"
#include "base/error.h"
#include "base/name_match.h"
#include <stdlib.h>
#include <string.h>

/* "function at 0x1234", as reports write it. */
static bool begins_at(uint64_t begin, const char *wanted)
{
    static const char before[] = "function at 0x";
    return begin != 0 && strncmp(wanted, before, sizeof before - 1) == 0 &&
           strtoull(wanted + sizeof before - 1, NULL, 16) == begin;
}

static bool fits_function(const struct rf_place_name *name, const char *wanted)
{
    char readable[1024];
    if (rf_symbols_full_name(wanted, readable, sizeof readable) < sizeof readable)
        wanted = readable;
    if (begins_at(name->begin, wanted))
        return true;
    if (rf_name_match_apart(wanted, name->function, name->parameters) != RF_NAME_DIFFERS)
        return true;
    for (size_t i = 0; i < name->n_inlined; i++)
        if (rf_name_match_apart(wanted, name->inlined[i].function, name->inlined[i].parameters) !=
            RF_NAME_DIFFERS)
            return true;
    return false;
}

static bool fits_module(const struct rf_place_name *name, const char *wanted)
{
    return strcmp(name->module, wanted) == 0 || strcmp(name->path, wanted) == 0;
}

typedef bool fits(const struct rf_place_name *name, const char *wanted);

static bool fits_any(const struct rf_place_name *name, const char *const *wanted, fits *fit)
{
    for (; wanted != NULL && *wanted != NULL; wanted++)
        if (fit(name, *wanted))
            return true;
    return false;
}

static bool has_any(const char *const *wanted)
{
    return wanted != NULL && *wanted != NULL;
}

bool rf_view_keeps_code(const struct rf_view_work *work, uint64_t pc)
{
    const char *const *functions = work->setup->functions;
    const char *const *modules = work->setup->modules;
    struct rf_place_name name;
    if (!has_any(functions) && !has_any(modules))
        return true;
    rf_view_lookup(work, pc, &name);
    return (!has_any(functions) || fits_any(&name, functions, fits_function)) &&
           (!has_any(modules) || fits_any(&name, modules, fits_module));
}

bool rf_view_keeps(const struct rf_view_work *work, const struct rf_item *item)
{
    int thread = rf_view_find_word(&work->words, RF_FIELD_THREAD);
    int pc = rf_view_find_word(&work->words, RF_FIELD_PC);
    if (work->setup->thread != NULL && (thread == 0 ? item->a : item->b) != *work->setup->thread)
        return false;
    return pc < 0 || rf_view_keeps_code(work, pc == 0 ? item->a : item->b);
}

rf_status rf_view_check_filter(const struct rf_view_work *work)
{
    const struct rf_view_setup *setup = work->setup;
    bool by_name = has_any(setup->functions) || has_any(setup->modules);
    if (setup->thread != NULL && rf_view_find_word(&work->words, RF_FIELD_THREAD) < 0)
        return rf_fail(work->error, RF_ENOTSUP,
                       "'%s' does not tell threads apart; 'insn -> thread,pc' does",
                       work->table.profile->selector);
    if (by_name && setup->symbols == NULL)
        return rf_fail(work->error, RF_ENOTSUP, "this run has no names to choose by");
    if (by_name && rf_view_find_word(&work->words, RF_FIELD_PC) < 0)
        return rf_fail(work->error, RF_ENOTSUP, "'%s' does not tell which function it was in",
                       work->table.profile->selector);
    return RF_OK;
}
