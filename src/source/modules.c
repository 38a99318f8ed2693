/* modules.c - which files were mapped where, and when.
 *
 *     event 0                                              now
 *     |---- /usr/bin/gzip 0x108000..0x11d000 ----------------->
 *     |------- libz.so mapped |xxxxxx unmapped|----- again ---->       two entries
 *
 * Many processes may have an entry mapped: a child has what its parent had at the fork. The entry lasts until none of
 * them has it any more.
 *
 * Cannot: say which of two processes an address belongs to when they have different files at the same place. The ids of
 * the processes are kept. */
#include "source/modules.h"
#include "base/alloc.h"
#include "base/error.h"
#include <stdbool.h>
#include <string.h>

void rf_modules_init(struct rf_modules *modules, const struct rf_alloc *alloc)
{
    *modules = (struct rf_modules){.alloc = alloc};
}

void rf_modules_free(struct rf_modules *modules)
{
    for (size_t i = 0; i < modules->n; i++)
        rf_alloc_free(modules->alloc, modules->list[i].path, strlen(modules->list[i].path) + 1);
    rf_alloc_free(modules->alloc, modules->list, modules->room * sizeof *modules->list);
    rf_alloc_free(modules->alloc, modules->holders,
                  modules->holders_room * sizeof *modules->holders);
    modules->list = NULL;
    modules->holders = NULL;
    modules->n = modules->room = modules->holders_room = 0;
}

/* The index of an entry that is not over; n: there is none. */
static size_t find(const struct rf_modules *modules, const struct rf_module *module)
{
    for (size_t i = modules->n; i-- > 0;) { /* the last one is the likeliest */
        const struct rf_module *known = &modules->list[i];
        if (known->to_event == UINT64_MAX && known->start == module->start &&
            known->end == module->end && known->offset == module->offset &&
            strcmp(known->path, module->path) == 0)
            return i;
    }
    return modules->n;
}

/* The array with room for at least n + 1; NULL: no memory, and it is as it was. */
static void *make_room(const struct rf_alloc *alloc, void *array, size_t n, size_t *room,
                       size_t element)
{
    size_t more = *room == 0 ? 32 : *room * 2;
    if (n < *room)
        return array;
    if (!rf_alloc_array(alloc, &array, *room, more, element))
        return NULL;
    *room = more;
    return array;
}

static bool append(struct rf_modules *modules, const struct rf_module *module)
{
    size_t length = strlen(module->path) + 1;
    void *list =
        make_room(modules->alloc, modules->list, modules->n, &modules->room, sizeof *modules->list);
    modules->list = list != NULL ? list : modules->list;
    void *holders = make_room(modules->alloc, modules->holders, modules->n, &modules->holders_room,
                              sizeof *modules->holders);
    modules->holders = holders != NULL ? holders : modules->holders;
    char *path = list != NULL && holders != NULL ? rf_alloc_get(modules->alloc, length) : NULL;
    if (path == NULL)
        return false;
    memcpy(path, module->path, length);
    modules->holders[modules->n] = 0;
    modules->list[modules->n] = *module;
    modules->list[modules->n++].path = path;
    return true;
}

/* ---- who has it ---- */

static bool has(const struct rf_mapped *mapped, size_t i)
{
    return i / 64 < mapped->words && (mapped->bits[i / 64] >> i % 64 & 1);
}

static bool hold(struct rf_modules *modules, struct rf_mapped *mapped, size_t i)
{
    size_t words = i / 64 + 1;
    void *bits = mapped->bits;
    if (has(mapped, i))
        return true;
    if (words > mapped->words) {
        if (!rf_alloc_array(modules->alloc, &bits, mapped->words, words, sizeof *mapped->bits))
            return false;
        mapped->bits = bits;
        memset(mapped->bits + mapped->words, 0, (words - mapped->words) * sizeof *mapped->bits);
        mapped->words = words;
    }
    mapped->bits[i / 64] |= (uint64_t)1 << i % 64;
    modules->holders[i]++;
    return true;
}

rf_status rf_modules_map(struct rf_modules *modules, struct rf_mapped *mapped,
                         const struct rf_module *module, struct rf_error *error)
{
    size_t i = find(modules, module);
    if (i == RF_MODULES_MAX) {
        modules->n_left_out++;
        return RF_OK;
    }
    if ((i == modules->n && !append(modules, module)) || !hold(modules, mapped, i))
        return rf_fail(error, RF_ENOMEM, "no memory for the list of modules");
    return RF_OK;
}

void rf_modules_unmap(struct rf_modules *modules, struct rf_mapped *mapped, uint64_t start,
                      uint64_t end, uint64_t event)
{
    for (size_t i = 0; i < modules->n && i < mapped->words * 64; i++) {
        struct rf_module *known = &modules->list[i];
        if (!has(mapped, i) || known->start < start || known->end > end)
            continue;
        mapped->bits[i / 64] &= ~((uint64_t)1 << i % 64);
        if (--modules->holders[i] == 0)
            known->to_event = event;
    }
}

rf_status rf_modules_inherit(struct rf_modules *modules, struct rf_mapped *child,
                             const struct rf_mapped *parent)
{
    *child = (struct rf_mapped){NULL, 0};
    for (size_t i = parent->words * 64; i-- > 0;) /* from the last, so that room is made once */
        if (has(parent, i) && !hold(modules, child, i))
            return RF_ENOMEM;
    return RF_OK;
}

void rf_modules_leave(struct rf_modules *modules, struct rf_mapped *mapped, uint64_t event)
{
    rf_modules_unmap(modules, mapped, 0, UINT64_MAX, event);
    rf_alloc_free(modules->alloc, mapped->bits, mapped->words * sizeof *mapped->bits);
    *mapped = (struct rf_mapped){NULL, 0};
}
