/* maps.h - the files that a process has mapped, from /proc/PID/maps. */
#ifndef RF_ATTACH_MAPS_H
#define RF_ATTACH_MAPS_H

#include "source/modules.h"
#include <stdbool.h>
#include <sys/types.h>

struct rf_maps {
    struct rf_modules modules;
    struct rf_mapped mapped;
    struct {
        uint64_t start, end;
    } * code; /* that can be executed, in order, whatever it is from */
    size_t n_code, room;
    double read_at;
};

void rf_maps_init(struct rf_maps *maps, const struct rf_alloc *alloc);
void rf_maps_free(struct rf_maps *maps);

/* Read what is mapped now, from this event on. `anew`: another program, nothing of the last one is there any more. */
rf_status rf_maps_read(struct rf_maps *maps, pid_t pid, uint64_t event, bool anew, double now);
bool rf_maps_has_code(const struct rf_maps *maps, uint64_t address);

#endif
