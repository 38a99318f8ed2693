/* mpi_module.c - riffle-mpi.so: messages between ranks, by MPI.
 *
 * A message is its length and then its bytes, in pieces that fit an int.
 *
 * MPI itself waits for ever for a rank that is gone, where mpirun was told to leave the others alone (--enable-recovery). So
 * nothing here blocks: each step is begun, and looked at until it is done, the time is over, or the other rank has ended. For
 * the last, each rank tells its neighbours in the tree at the beginning which process it is (life.h), and rank 0 tells all.
 * Ranks of other machines cannot be looked at; for them there is the time alone. */
#include "life.h"
#include "ranks.h"
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

extern const struct cli_mpi riffle_mpi;

enum { TAG_LENGTH = 1, TAG_BYTES = 2, TAG_END = 3, TAG_LIFE = 4, PIECE = 1 << 30 };

static const double LOOK_EACH = 0.25, LAST_WORDS = 1, BEGIN_LEAST = 60; /* seconds */

/* ---- who is there ---- */

static struct cli_life own; /* sent without waiting, so it has to stay */

static void send_aside(int to, const void *bytes, int n, int tag)
{
    MPI_Request request;
    if (MPI_Isend(bytes, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request) == MPI_SUCCESS)
        MPI_Request_free(&request);
}

/* Do two ranks tell each other who they are? Neighbours in the tree do, and rank 0 does with all. */
static int is_known(int rank, int size, int other)
{
    if (rank == 0 || other == 0)
        return rank != other;
    if ((rank & (rank - 1)) == other || (other & (other - 1)) == rank)
        return other < size;
    return 0;
}

static int all_came(int rank, int size)
{
    int there = 1;
    for (int other = 0; other < size && there; other++)
        if (is_known(rank, size, other) &&
            MPI_Iprobe(other, TAG_LIFE, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return 0;
    return there;
}

/* MPI sends and takes only while it is called, and by TCP it has to connect first. So the work begins when all have heard of
 * each other, or after a short while: who has not heard of a rank cannot see that it has ended. */
static void introduce(int rank, int size)
{
    const struct timespec pause = {0, 1000000};
    double until = MPI_Wtime() + LAST_WORDS;
    own = cli_life_own();
    for (int to = 0; to < size; to++)
        if (is_known(rank, size, to))
            send_aside(to, &own, sizeof own, TAG_LIFE);
    while (!all_came(rank, size) && MPI_Wtime() < until)
        nanosleep(&pause, NULL);
}

static void give_up(int signal)
{
    static const char text[] =
        "riffle: mpi: a rank is gone or does not begin: there is no result\n";
    (void)signal;
    _exit(write(STDERR_FILENO, text, sizeof text - 1) < 0 ? 2 : 1);
}

/* Where a rank dies in MPI_Init, the others wait there for ever. MPI_Init itself may take some time. */
static int begin_in(double seconds)
{
    unsigned limit = seconds < BEGIN_LEAST ? (unsigned)BEGIN_LEAST : (unsigned)seconds;
    if (seconds >= 0) {
        signal(SIGALRM, give_up);
        alarm(limit);
    }
    int status = MPI_Init(NULL, NULL);
    if (seconds >= 0) {
        alarm(0);
        signal(SIGALRM, SIG_DFL);
    }
    return status;
}

static int begin(int *rank, int *size, double seconds)
{
    if (begin_in(seconds) != MPI_SUCCESS)
        return 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    introduce(*rank, *size);
    return 0;
}

/* ---- waiting ---- */

/* For something that another rank has to do. */
struct waiting {
    int peer;
    double until; /* below 0: there is no end */
    double next;  /* look whether it lives */
    double
        left; /* after its end what it said before may still come, until then; 0: it has not ended */
    long pause; /* nanoseconds: short at first, so that a long wait costs no processor */
};

static double now(void)
{
    return MPI_Wtime();
}

static struct waiting wait_for(int peer, double seconds)
{
    double begun = now();
    return (struct waiting){.peer = peer,
                            .until = seconds < 0 ? -1 : begun + seconds,
                            .next = begun + LOOK_EACH,
                            .pause = 1000};
}

/* Whom a rank waits for changes, but never back: one place is enough. */
static const struct cli_life *life_of(int peer)
{
    static struct cli_life life;
    static int of = -1;
    int there = 0;
    if (of == peer)
        return &life;
    if (MPI_Iprobe(peer, TAG_LIFE, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
        !there ||
        MPI_Recv(&life, sizeof life, MPI_BYTE, peer, TAG_LIFE, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
        return NULL;
    of = peer;
    return &life;
}

static int has_ended(int peer)
{
    const struct cli_life *life = life_of(peer);
    return life != NULL && cli_life_ended(life);
}

/* A pause. 0: it is not worth waiting any longer. */
static int wait_on(struct waiting *wait)
{
    double t = now();
    if ((wait->until >= 0 && t >= wait->until) || (wait->left > 0 && t >= wait->left))
        return 0;
    if (wait->left == 0 && t >= wait->next) {
        wait->left = has_ended(wait->peer) ? now() + LAST_WORDS : 0;
        wait->next = t + LOOK_EACH;
    }
    nanosleep(&(struct timespec){0, wait->pause}, NULL);
    wait->pause = wait->pause < 1000000 ? wait->pause * 2 : wait->pause;
    return 1;
}

static int await_message(int from, int tag, double seconds)
{
    struct waiting wait = wait_for(from, seconds);
    for (int there = 0;;) {
        if (MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return 1;
        if (there)
            return 0;
        if (!wait_on(&wait))
            return 1;
    }
}

/* Until a step with another rank is done. One that is given up keeps its memory: MPI may still use it. */
static int finish(MPI_Request *request, int peer, double seconds)
{
    struct waiting wait = wait_for(peer, seconds);
    for (int done = 0;;) {
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return 1;
        if (done)
            return 0;
        if (!wait_on(&wait))
            return 1;
    }
}

/* ---- messages ---- */

static int send_piece(int to, const void *bytes, int n, int tag, double seconds)
{
    MPI_Request request;
    return MPI_Isend(bytes, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request) != MPI_SUCCESS ||
           finish(&request, to, seconds) != 0;
}

static int send_bytes(int to, double seconds, const void *bytes, size_t n)
{
    static uint64_t length;
    length = n;
    if (send_piece(to, &length, sizeof length, TAG_LENGTH, seconds) != 0)
        return 1;
    for (size_t done = 0; done < n; done += PIECE) {
        int piece = n - done < PIECE ? (int)(n - done) : PIECE;
        if (send_piece(to, (const char *)bytes + done, piece, TAG_BYTES, seconds) != 0)
            return 1;
    }
    return 0;
}

static int receive_piece(int from, void *bytes, int n, int tag, double seconds)
{
    MPI_Request request;
    return await_message(from, tag, seconds) != 0 ||
           MPI_Irecv(bytes, n, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request) != MPI_SUCCESS ||
           finish(&request, from, seconds) != 0;
}

static int receive_bytes(int from, char *bytes, size_t n, double seconds)
{
    for (size_t done = 0; done < n; done += PIECE) {
        int piece = n - done < PIECE ? (int)(n - done) : PIECE;
        if (receive_piece(from, bytes + done, piece, TAG_BYTES, seconds) != 0)
            return 1;
    }
    return 0;
}

/* What was cut off is not freed: the rest may still be written there. */
static int receive(int from, double seconds, void **bytes, size_t *n)
{
    static uint64_t length;
    *bytes = NULL;
    *n = 0;
    if (receive_piece(from, &length, sizeof length, TAG_LENGTH, seconds) != 0)
        return 1;
    void *room = malloc((size_t)length + 1);
    if (room == NULL || receive_bytes(from, room, (size_t)length, seconds) != 0)
        return 1;
    *bytes = room;
    *n = (size_t)length;
    return 0;
}

/* ---- the end ---- */

/* Rank 0 tells the others how to leave. Those that are gone hear nothing, so nothing is waited for. */
static void tell_end(int alone)
{
    static int told;
    int size = 0;
    told = alone;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int rank = 1; rank < size; rank++)
        send_aside(rank, &told, sizeof told, TAG_END);
}

/* Until then MPI_Finalize would wait for ranks that are gone, and mpirun --enable-recovery may not heed MPI_Abort. */
static enum cli_mpi_end hear_end(double seconds)
{
    static int alone;
    if (receive_piece(0, &alone, sizeof alone, TAG_END, seconds) != 0)
        return CLI_MPI_NO_WORD;
    return alone ? CLI_MPI_ALONE : CLI_MPI_TOGETHER;
}

static enum cli_mpi_end end(int alone, double seconds)
{
    int rank = 0;
    enum cli_mpi_end how = alone ? CLI_MPI_ALONE : CLI_MPI_TOGETHER;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        tell_end(alone);
    else if (!alone)
        how = hear_end(seconds);
    if (alone)
        MPI_Abort(MPI_COMM_WORLD, alone);
    if (how == CLI_MPI_TOGETHER)
        MPI_Finalize();
    return how;
}

const struct cli_mpi riffle_mpi = {begin, send_bytes, receive, end};
