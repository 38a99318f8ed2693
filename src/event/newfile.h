/* newfile.h - a file that appears whole under its name, or not at all.
 *
 * Written in the same folder without a name, or under a temporary one where the file system needs it, readable by its owner
 * alone; renamed by finish. "-" is standard output, a link to a descriptor (/dev/stdout) what is open there; a pipe, /dev/null
 * or another existing file that is not a plain one is written in place. */
#ifndef RF_EVENT_NEWFILE_H
#define RF_EVENT_NEWFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <riffle/alloc.h>
#include <riffle/status.h>

struct rf_newfile {
    struct rf_alloc alloc;
    int fd;           /* -1: it is not open */
    char *path;       /* what finish names it */
    char *temporary;  /* NULL where it is written in place */
    size_t room;      /* bytes of both names */
    bool is_nameless; /* the temporary name is not in use yet */
    uint64_t written;
};

rf_status rf_newfile_create(struct rf_newfile *file, const char *path, const struct rf_alloc *alloc,
                            struct rf_error *error);
rf_status rf_newfile_write(struct rf_newfile *file, const void *bytes, size_t n,
                           struct rf_error *error);
/* Neither leaves anything to release. A finish that fails leaves no file. */
rf_status rf_newfile_finish(struct rf_newfile *file, struct rf_error *error);
void rf_newfile_abandon(struct rf_newfile *file);

#endif
