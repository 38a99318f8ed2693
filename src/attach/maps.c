/* maps.c - what a process has mapped, read again where an unknown piece of code shows up.
 *
 *     7f3a0c000000-7f3a0c028000 r-xp 00028000 08:01 1234   /usr/lib/libc.so.6
 *
 * Files, [heap], [stack] and [vdso] become modules. A file that lies where another one was takes its place from the current
 * event on. */
#include "attach/maps.h"
#include "base/alloc.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rf_maps_init(struct rf_maps *maps, const struct rf_alloc *alloc)
{
    memset(maps, 0, sizeof *maps);
    rf_modules_init(&maps->modules, rf_alloc_or_standard(alloc));
    maps->read_at = -1;
}

void rf_maps_free(struct rf_maps *maps)
{
    const struct rf_alloc *alloc = maps->modules.alloc;
    rf_alloc_free(alloc, maps->code, maps->room * sizeof *maps->code);
    rf_modules_leave(&maps->modules, &maps->mapped, 0);
    rf_modules_free(&maps->modules);
}

static bool add_code(struct rf_maps *maps, uint64_t start, uint64_t end)
{
    if (maps->n_code > 0 && maps->code[maps->n_code - 1].end == start) {
        maps->code[maps->n_code - 1].end = end;
        return true;
    }
    if (maps->n_code == maps->room &&
        !rf_list_double(maps->modules.alloc, (void **)&maps->code, &maps->room, sizeof *maps->code))
        return false;
    maps->code[maps->n_code].start = start;
    maps->code[maps->n_code++].end = end;
    return true;
}

static bool is_listed(const struct rf_maps *maps, const struct rf_module *module)
{
    for (size_t i = 0; i < maps->modules.n; i++) {
        const struct rf_module *known = &maps->modules.list[i];
        if (known->to_event == UINT64_MAX && known->start == module->start &&
            known->end == module->end && known->offset == module->offset &&
            strcmp(known->path, module->path) == 0)
            return true;
    }
    return false;
}

static rf_status take(struct rf_maps *maps, const struct rf_module *module, bool executable)
{
    if (executable && !add_code(maps, module->start, module->end))
        return RF_ENOMEM;
    if ((module->path[0] != '/' && module->path[0] != '[') || is_listed(maps, module))
        return RF_OK;
    rf_modules_unmap(&maps->modules, &maps->mapped, module->start, module->end, module->from_event);
    return rf_modules_map(&maps->modules, &maps->mapped, module, NULL);
}

static rf_status take_line(struct rf_maps *maps, char *line, uint64_t event)
{
    struct rf_module module = {.from_event = event, .to_event = UINT64_MAX};
    char rights[8];
    int path_at = 0;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &module.start,
               &module.end, rights, &module.offset, &path_at) < 4 ||
        path_at == 0)
        return RF_OK;
    module.path = line + path_at;
    return take(maps, &module, strchr(rights, 'x') != NULL);
}

rf_status rf_maps_read(struct rf_maps *maps, pid_t pid, uint64_t event, bool anew, double now)
{
    char path[64], *line = NULL;
    size_t room = 0;
    rf_status status = RF_OK;
    maps->read_at = now;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return RF_OK; /* it is over */
    if (anew)
        rf_modules_leave(&maps->modules, &maps->mapped, event);
    maps->n_code = 0;
    while (status == RF_OK && getline(&line, &room, file) >= 0)
        status = take_line(maps, line, event);
    free(line);
    fclose(file);
    return status;
}

bool rf_maps_has_code(const struct rf_maps *maps, uint64_t address)
{
    size_t low = 0, high = maps->n_code;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (address < maps->code[middle].start)
            high = middle;
        else if (address >= maps->code[middle].end)
            low = middle + 1;
        else
            return true;
    }
    return false;
}
