/* loader.h - load a static RV64 Linux ELF into the guest's memory and make the stack that a C library expects. */
#ifndef RF_MACHINE_LOADER_H
#define RF_MACHINE_LOADER_H

#include "machine/core/core.h"
#include <riffle/module.h>
#include <riffle/status.h>

enum { RF_LOADER_SEGMENTS = 8 };

struct rf_loader_program {
    uint64_t entry;
    uint64_t headers, n_headers; /* where the program headers are in memory, for auxv */
    uint64_t end;                /* behind the last segment: where brk begins */
    struct rf_module code[RF_LOADER_SEGMENTS]; /* executable segments; without a path */
    size_t n_code;
};

/* Copy the segments in and set their rights. Nothing in the file is trusted. */
rf_status rf_loader_load(struct rf_memory *memory, struct rf_loader_program *program,
                         const void *file, size_t size, const char *name, struct rf_error *error);

/* The initial stack: strings, auxv, environment, arguments; sets sp and pc. Both lists end with NULL.
 * AT_RANDOM is the same sixteen bytes every time. */
rf_status rf_loader_start(struct rf_core *core, const struct rf_loader_program *program,
                          const char *const *arguments, const char *const *environment,
                          struct rf_error *error);

#endif
