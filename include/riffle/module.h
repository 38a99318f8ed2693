/* module.h - a file that was mapped into a program for a while: where names of addresses come from. */
#ifndef RIFFLE_MODULE_H
#define RIFFLE_MODULE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_module {
    char *path;                    /* "[heap]" and "[stack]" are no files */
    char *build_id;                /* hex, or "code-" and a checksum; "" or NULL when unknown */
    uint32_t process;              /* its number, from 1; 0: the run has only one */
    uint64_t start, end;           /* addresses; `end` is the first behind it */
    uint64_t offset;               /* of `start` in the file */
    uint64_t from_event, to_event; /* when it was there; UINT64_MAX: to the end */
};

#ifdef __cplusplus
}
#endif
#endif
