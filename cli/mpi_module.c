/* mpi_module.c - riffle-mpi.so: messages between ranks, by MPI.
 *
 * A message is its length and then its bytes, in pieces that fit an int. */
#include "ranks.h"
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

extern const struct cli_mpi riffle_mpi;

enum { TAG_LENGTH = 1, TAG_BYTES = 2, TAG_END = 3, PIECE = 1 << 30 };

static int begin(int *rank, int *size)
{
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    return 0;
}

static int send_bytes(int to, const void *bytes, size_t n)
{
    uint64_t length = n;
    if (MPI_Send(&length, 1, MPI_UINT64_T, to, TAG_LENGTH, MPI_COMM_WORLD) != MPI_SUCCESS)
        return 1;
    for (size_t done = 0; done < n; done += PIECE) {
        int piece = n - done < PIECE ? (int)(n - done) : PIECE;
        if (MPI_Send((const char *)bytes + done, piece, MPI_BYTE, to, TAG_BYTES, MPI_COMM_WORLD) !=
            MPI_SUCCESS)
            return 1;
    }
    return 0;
}

static double now(void)
{
    return MPI_Wtime();
}

/* Looks often at first and then less often, so that a long wait costs no processor. */
static int wait_for(int from, int tag, double seconds)
{
    double until = now() + seconds;
    long pause = 1000;
    for (int there = 0;;) {
        if (MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return 1;
        if (there)
            return 0;
        if (seconds >= 0 && now() >= until)
            return 1;
        nanosleep(&(struct timespec){0, pause}, NULL);
        pause = pause < 1000000 ? pause * 2 : pause;
    }
}

static int receive_bytes(int from, char *bytes, size_t n, double seconds)
{
    for (size_t done = 0; done < n; done += PIECE) {
        int piece = n - done < PIECE ? (int)(n - done) : PIECE;
        if (wait_for(from, TAG_BYTES, seconds) != 0 ||
            MPI_Recv(bytes + done, piece, MPI_BYTE, from, TAG_BYTES, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return 1;
    }
    return 0;
}

static int receive(int from, double seconds, void **bytes, size_t *n)
{
    uint64_t length = 0;
    *bytes = NULL;
    *n = 0;
    if (wait_for(from, TAG_LENGTH, seconds) != 0 ||
        MPI_Recv(&length, 1, MPI_UINT64_T, from, TAG_LENGTH, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
        return 1;
    void *room = malloc((size_t)length + 1);
    if (room == NULL || receive_bytes(from, room, (size_t)length, seconds) != 0) {
        free(room);
        return 1;
    }
    *bytes = room;
    *n = (size_t)length;
    return 0;
}

/* Rank 0 tells the others how to leave. Those that are gone hear nothing, so nothing is waited for. */
static void tell_end(int alone)
{
    static int told;
    int size = 0;
    told = alone;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int rank = 1; rank < size; rank++) {
        MPI_Request request;
        if (MPI_Isend(&told, 1, MPI_INT, rank, TAG_END, MPI_COMM_WORLD, &request) == MPI_SUCCESS)
            MPI_Request_free(&request);
    }
}

/* Until then MPI_Finalize would wait for ranks that are gone, and mpirun --enable-recovery may not heed MPI_Abort. */
static int hear_end(void)
{
    int alone = 1;
    if (wait_for(0, TAG_END, -1) != 0 ||
        MPI_Recv(&alone, 1, MPI_INT, 0, TAG_END, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return 1;
    return alone;
}

static void end(int alone)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        tell_end(alone);
    else if (!alone && hear_end())
        _exit(0);
    if (alone)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Finalize();
}

const struct cli_mpi riffle_mpi = {begin, send_bytes, receive, end};
