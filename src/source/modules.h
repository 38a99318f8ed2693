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
    uint32_t *holders; /* how many processes have it mapped now; by index of the list */
    size_t n, room, holders_room;
    uint64_t n_left_out;
};

/* Which of them a process has mapped: one bit per index. Zeroed it has none. */
struct rf_mapped {
    uint64_t *bits;
    size_t words;
};

void rf_modules_init(struct rf_modules *modules, const struct rf_alloc *alloc);
void rf_modules_free(struct rf_modules *modules);
/* Copies. The same file at the same place, as in many children of one parent, is kept once. */
rf_status rf_modules_map(struct rf_modules *modules, struct rf_mapped *mapped,
                         const struct rf_module *module, struct rf_error *error);
/* A module is over when the last process that had it mapped unmaps it. */
void rf_modules_unmap(struct rf_modules *modules, struct rf_mapped *mapped, uint64_t start,
                      uint64_t end, uint64_t event);
/* A fork: the child, which has none yet, has what its parent has. RF_OK, RF_ENOMEM. */
rf_status rf_modules_inherit(struct rf_modules *modules, struct rf_mapped *child,
                             const struct rf_mapped *parent);
/* The process ends: it unmaps all. */
void rf_modules_leave(struct rf_modules *modules, struct rf_mapped *mapped, uint64_t event);

#endif
