/* handlers.c - where the handlers begin in the code that runs on the simulated core.
 *
 * The code begins with a table of offsets, in the order of rf_host_kinds; behind it are host_fold.c and
 * host_values.c, compiled for that core as they are. */
#include "coproc/host.h"

__attribute__((section(".table"), used)) static const void *const table[] = {
    (const void *)rf_host_fold,
    (const void *)rf_host_values,
};
