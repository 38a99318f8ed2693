/* mpi_module.c - riffle-mpi.so: messages between ranks, by MPI.
 *
 * A message is its length and then its bytes, in pieces that fit an int.
 *
 * MPI itself waits for ever for a rank that is gone, where mpirun was told to leave the others alone (--enable-recovery). So
 * nothing here blocks: each step is begun, and looked at until it is done, the time is over, or the other rank has ended. For
 * the last, each rank tells all above and below it in the tree at the beginning which process it is (life.h). Ranks of other
 * machines cannot be looked at; for them there is the time alone. MPI_Init and MPI_Finalize do block: the first until the time
 * is over, the last for a short while, where a rank has ended that was not missed. */
#include "life.h"
#include "ranks.h"
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

extern const struct cli_mpi riffle_mpi;

enum { TAG_LENGTH = 1, TAG_BYTES = 2, TAG_END = 3, TAG_LIFE = 4, TAG_CALL = 5, PIECE = 1 << 30 };

static const double LOOK_EACH = 0.25, LAST_WORDS = 1, BEGIN_LEAST = 60, BEGIN_MOST = 600,
                    END_MOST = 20; /* seconds */

/* ---- who is there ---- */

static struct cli_life own;    /* sent without waiting, so it has to stay */
static struct cli_life *lives; /* of each rank, as it told; all 0: it has not yet */

static void send_aside(int to, const void *bytes, int n, int tag)
{
    MPI_Request request;
    if (MPI_Isend(bytes, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request) == MPI_SUCCESS)
        MPI_Request_free(&request);
}

/* In the tree, where the rank above another one is the same without its lowest bit. Rank 0 is above all. */
static int is_above(int rank, int other)
{
    while (other > rank)
        other &= other - 1;
    return other == rank;
}

/* Do two ranks tell each other who they are? Those that may have to wait for each other do. */
static int is_known(int rank, int other)
{
    return rank != other && (is_above(rank, other) || is_above(other, rank));
}

static int all_came(int rank, int size)
{
    int there = 1;
    for (int other = 0; other < size && there; other++)
        if (is_known(rank, other) &&
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
    lives = calloc((size_t)size, sizeof *lives);
    for (int to = 0; to < size; to++)
        if (is_known(rank, to))
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

/* Where a rank dies in MPI_Init, the others would wait there for ever. It may take some time, but not any. */
static int begin_in(double seconds)
{
    double least = seconds < BEGIN_LEAST ? BEGIN_LEAST : seconds;
    signal(SIGALRM, give_up);
    alarm((unsigned)(seconds < 0 ? BEGIN_MOST : least));
    int status = MPI_Init(NULL, NULL);
    alarm(0);
    signal(SIGALRM, SIG_DFL);
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
    long pause;      /* nanoseconds: short at first, so that a long wait costs no processor */
    int heeds_calls; /* it is over when a rank above calls, too */
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

/* NULL: it has not told. */
static const struct cli_life *life_of(int peer)
{
    int there = 0;
    if (lives == NULL || lives[peer].pid != 0)
        return lives != NULL ? &lives[peer] : NULL;
    if (MPI_Iprobe(peer, TAG_LIFE, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
        !there ||
        MPI_Recv(&lives[peer], sizeof *lives, MPI_BYTE, peer, TAG_LIFE, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return NULL;
    return &lives[peer];
}

static int has_ended(int peer)
{
    const struct cli_life *life = life_of(peer);
    return life != NULL && cli_life_ended(life);
}

/* Who calls; -1: nobody. */
static int caller(void)
{
    MPI_Status status;
    int there = 0;
    if (MPI_Iprobe(MPI_ANY_SOURCE, TAG_CALL, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS)
        return -1;
    return there ? status.MPI_SOURCE : -1;
}

/* A pause. 0: it is not worth waiting any longer. */
static int wait_on(struct waiting *wait)
{
    double t = now();
    if ((wait->until >= 0 && t >= wait->until) || (wait->left > 0 && t >= wait->left))
        return 0;
    if (wait->heeds_calls && caller() >= 0)
        return 0;
    if (wait->left == 0 && t >= wait->next) {
        wait->left = has_ended(wait->peer) ? now() + LAST_WORDS : 0;
        wait->next = t + LOOK_EACH;
    }
    nanosleep(&(struct timespec){0, wait->pause}, NULL);
    wait->pause = wait->pause < 1000000 ? wait->pause * 2 : wait->pause;
    return 1;
}

static int await_message(struct waiting *wait, int tag)
{
    for (int there = 0;;) {
        if (MPI_Iprobe(wait->peer, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return 1;
        if (there)
            return 0;
        if (!wait_on(wait))
            return 1;
    }
}

/* Until a step with another rank is done. One that is given up keeps its memory: MPI may still use it. */
static int finish(MPI_Request *request, struct waiting *wait)
{
    for (int done = 0;;) {
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return 1;
        if (done)
            return 0;
        if (!wait_on(wait))
            return 1;
    }
}

/* ---- messages ---- */

static int send_piece(int to, const void *bytes, int n, int tag, double seconds)
{
    MPI_Request request;
    struct waiting wait = wait_for(to, seconds);
    wait.heeds_calls = 1; /* whoever calls has given up the rank that this is sent to */
    return MPI_Isend(bytes, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request) != MPI_SUCCESS ||
           finish(&request, &wait) != 0;
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
    struct waiting coming = wait_for(from, seconds), taking = coming;
    return await_message(&coming, tag) != 0 ||
           MPI_Irecv(bytes, n, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request) != MPI_SUCCESS ||
           finish(&request, &taking) != 0;
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

/* ---- a rank between two others is lost ---- */

/* What it had came from ranks below it, and those still hold theirs. */
static int call(int rank)
{
    static const char nothing;
    if (has_ended(rank))
        return 1;
    send_aside(rank, &nothing, 0, TAG_CALL);
    return 0;
}

static enum cli_mpi_word hear(double seconds, int *by)
{
    static int alone;
    struct waiting wait = wait_for(0, seconds);
    wait.heeds_calls = 1;
    if (await_message(&wait, TAG_END) == 0 &&
        receive_piece(0, &alone, sizeof alone, TAG_END, seconds) == 0)
        return alone ? CLI_MPI_ALONE : CLI_MPI_TOGETHER;
    *by = caller();
    if (*by < 0 || MPI_Recv(NULL, 0, MPI_BYTE, *by, TAG_CALL, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
                       MPI_SUCCESS)
        return CLI_MPI_NO_WORD;
    return CLI_MPI_CALLED;
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

/* A rank may end when all others have what they need of it. Then MPI_Finalize would wait for it for ever, and nothing is left to do. */
static void leave_at_once(int signal)
{
    (void)signal;
    _exit(0);
}

static void finalize(void)
{
    signal(SIGALRM, leave_at_once);
    alarm((unsigned)END_MOST);
    MPI_Finalize();
    alarm(0);
}

/* MPI_Finalize would wait for ranks that are gone, and mpirun --enable-recovery may not heed MPI_Abort. */
static void end(int alone)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        tell_end(alone);
    if (alone)
        MPI_Abort(MPI_COMM_WORLD, alone);
    else
        finalize();
}

const struct cli_mpi riffle_mpi = {begin, send_bytes, receive, call, hear, end};
