/* ranks.h - the ranks of an MPI job: messages between them, and what `riffle run` does under mpirun.
 *
 * libmpi is not part of the program: whoever has none, or does not need it, never loads it. The module riffle-mpi.so
 * (mpi_module.c) stands between the two and has one table of functions. */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include <stddef.h>

struct cli_mpi {
    int (*begin)(int *rank, int *size); /* 0: done */
    /* A message of any length. 0: done. */
    int (*send)(int to, const void *bytes, size_t n);
    /* The next message from a rank, in memory that the caller frees. 0: done; 1: none came within these seconds, or it was
     * cut off; below 0: wait for ever. */
    int (*receive)(int from, double seconds, void **bytes, size_t *n);
    /* Leave. `alone`: others are gone, so do not wait for them. */
    void (*end)(int alone);
};

#define CLI_MPI_TABLE "riffle_mpi" /* its name in the module */

/* What launchers of MPI jobs tell each process. False: it is not part of a job. */
int cli_ranks_find(int *rank, int *size);

#endif
