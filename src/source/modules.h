/* modules.h - which files were mapped where, and when. */
#ifndef RF_SOURCE_MODULES_H
#define RF_SOURCE_MODULES_H

#include <riffle/alloc.h>
#include <riffle/module.h>
#include <riffle/status.h>

/* Limit of the list. Modules beyond it are left out, and their addresses get no names. */
enum { RF_MODULES_MAX = 65536 };

struct rf_modules {
    const struct rf_alloc *alloc;
    struct rf_module *list;
    size_t n, room;
    uint64_t n_left_out;
};

void rf_modules_init(struct rf_modules *modules, const struct rf_alloc *alloc);
void rf_modules_free(struct rf_modules *modules);
/* Copies. The same file at the same place, as in many children of one parent, is kept once. */
rf_status rf_modules_map(struct rf_modules *modules, const struct rf_module *module,
                         struct rf_error *error);
void rf_modules_unmap(struct rf_modules *modules, uint32_t process, uint64_t start, uint64_t end,
                      uint64_t event);

#endif
