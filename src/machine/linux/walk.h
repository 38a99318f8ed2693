/* walk.h - from a name that the guest gives to the file of the host that it means.
 *
 *     struct rf_place place;
 *     int64_t status = rf_walk(system, fd, address, RF_WALK_FOLLOW, &place);
 *     if (status == 0)
 *         ... place.object, or place.name in place.folder ...
 *     rf_place_close(&place);                                     after a failure, too
 *
 * No name leads out of the guest's root, and none leads to a file of a process: see walk.c. */
#ifndef RF_MACHINE_WALK_H
#define RF_MACHINE_WALK_H

#include "machine/linux/system.h"

enum { RF_PLACE_NAME = 256, RF_WALK_PATH = 4096 };

/* The descriptors are of the kind that can be asked about a file and walked from, but not read (O_PATH). */
struct rf_place {
    int folder;               /* where the last part of the name stands */
    int object;               /* what it names; -1: nothing has that name */
    char name[RF_PLACE_NAME]; /* the last part; "." and ".." are possible */
    bool slash;               /* it ended in a slash, so it means a folder */
};

/* What to do with a symbolic link at the end of the name. */
enum rf_walk_end { RF_WALK_FOLLOW, RF_WALK_KEEP };

/* 0 or a negative error number. `fd` is the guest's: the folder that a relative name starts from. */
int64_t rf_walk(const struct rf_system *system, uint64_t fd, uint64_t address, enum rf_walk_end end,
                struct rf_place *place);
void rf_place_close(const struct rf_place *place);

/* Does the file belong to a process of the host (procfs)? Where that cannot be told: yes. */
bool rf_walk_is_process_file(int host);

#endif
