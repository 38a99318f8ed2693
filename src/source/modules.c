/* modules.c - which files were mapped where, and when.
 *
 *     event 0                                              now
 *     |---- /usr/bin/gzip 0x108000..0x11d000 ----------------->
 *     |------- libz.so mapped |xxxxxx unmapped|----- again ---->       two entries
 *
 * Cannot: say which of two processes an address belongs to when they have different files at the same place. The ids of
 * the processes are kept. */
#include "source/modules.h"
#include "base/alloc.h"
#include "base/error.h"
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
    modules->list = NULL;
    modules->n = modules->room = 0;
}

static struct rf_module *find(const struct rf_modules *modules, const struct rf_module *module)
{
    for (size_t i = modules->n; i-- > 0;) { /* the last one is the likeliest */
        struct rf_module *known = &modules->list[i];
        if (known->to_event == UINT64_MAX && known->start == module->start &&
            known->end == module->end && known->offset == module->offset &&
            strcmp(known->path, module->path) == 0)
            return known;
    }
    return NULL;
}

rf_status rf_modules_map(struct rf_modules *modules, const struct rf_module *module,
                         struct rf_error *error)
{
    if (find(modules, module) != NULL)
        return RF_OK;
    if (modules->n == RF_MODULES_MAX) {
        modules->n_left_out++;
        return RF_OK;
    }
    if (modules->n == modules->room) {
        size_t room = modules->room == 0 ? 32 : modules->room * 2;
        void *list = modules->list;
        if (!rf_alloc_array(modules->alloc, &list, modules->room, room, sizeof *modules->list))
            return rf_fail(error, RF_ENOMEM, "no memory for the list of modules");
        modules->list = list;
        modules->room = room;
    }
    size_t length = strlen(module->path) + 1;
    char *path = rf_alloc_get(modules->alloc, length);
    if (path == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for the list of modules");
    memcpy(path, module->path, length);
    modules->list[modules->n] = *module;
    modules->list[modules->n++].path = path;
    return RF_OK;
}

void rf_modules_unmap(struct rf_modules *modules, uint32_t process, uint64_t start, uint64_t end,
                      uint64_t event)
{
    for (size_t i = 0; i < modules->n; i++) {
        struct rf_module *known = &modules->list[i];
        if (known->process == process && known->to_event == UINT64_MAX && start <= known->start &&
            known->end <= end)
            known->to_event = event;
    }
}
