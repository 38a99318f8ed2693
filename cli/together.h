/* together.h - `riffle run` as a rank of an MPI job: each rank saves a profile, rank 0 the sum of all. */
#ifndef CLI_TOGETHER_H
#define CLI_TOGETHER_H

#include <limits.h>
#include "plan.h"

struct cli_together {
    int rank, size;    /* size 1: this is no job, or nothing is saved */
    const char *whole; /* where the sum goes */
    char own[PATH_MAX];
    const char *job; /* its name, so that files of another one are not taken for this one's */
    int quiet;
    uint64_t wait; /* seconds for the others */
};

/* With -o FILE, this rank's profile goes to FILE.rank-N, and its report is not printed. */
void cli_together_take(struct cli_together *together, struct cli_profiling *profiling,
                       uint64_t wait);
/* Which rank this is, and what it did. */
rf_status cli_together_note(const struct cli_together *together, struct rf_run *run,
                            const struct rf_probe_outcome *outcome);
/* Rank 0 merges the profiles of all, saves and prints the sum, and names those that are missing. CLI_OK, or told;
 * CLI_OF_PROGRAM + CLI_DAMAGED: some are missing, which is how riffle ends where the program ended well. */
int cli_together_gather(const struct cli_together *together, const struct cli_report *report);

#endif
