/* ranks.h - the ranks of an MPI job: messages between them, and what `riffle run` does under mpirun.
 *
 * libmpi is not part of the program: whoever has none, or does not need it, never loads it. The module riffle-mpi.so
 * (mpi_module.c) stands between the two and has one table of functions. */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include <stddef.h>

/* What a rank hears that has sent all it has. */
enum cli_mpi_word {
    CLI_MPI_TOGETHER, /* from rank 0: all is well, all leave */
    CLI_MPI_ALONE, /* from rank 0: some are gone, and it has what there is; the caller exits without further ado */
    CLI_MPI_CALLED,  /* from a rank above: send it to me, the one between us is gone */
    CLI_MPI_NO_WORD, /* rank 0 is gone, or said nothing in time: the caller exits, too */
};

/* `seconds`: how long another rank is waited for; below 0: for ever. A rank of this machine that has ended is not waited for. */
struct cli_mpi {
    /* 0: done. Where other ranks are gone before they have begun, it ends the process in this time (a minute at least), or in
     * ten minutes where there is no time. */
    int (*begin)(int *rank, int *size, double seconds);
    /* A message of any length. 0: done; 1: it could not be sent in time, or another rank called. */
    int (*send)(int to, double seconds, const void *bytes, size_t n);
    /* The next message from a rank, in memory that the caller frees. 0: done; 1: none came in time, or it was cut off. */
    int (*receive)(int from, double seconds, void **bytes, size_t *n);
    /* Ask a rank below to send here what it has. 1: it has ended. */
    int (*call)(int rank);
    /* Not for rank 0. `by`: who has called. */
    enum cli_mpi_word (*hear)(double seconds, int *by);
    /* Leave, of rank 0 with a word to all others. `alone`: 0, or the status of the job where some are gone: then nobody is
     * waited for, and the caller exits. */
    void (*end)(int alone);
};

#define CLI_MPI_TABLE "riffle_mpi" /* its name in the module */

/* What launchers of MPI jobs tell each process. False: it is not part of a job. */
int cli_ranks_find(int *rank, int *size);

/* The module beside riffle, or where it was built or installed. Returns the exit status; where it cannot be loaded, that was said. */
int cli_ranks_load(const struct cli_mpi **mpi);

#endif
