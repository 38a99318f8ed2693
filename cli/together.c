/* together.c - `mpirun -n N riffle run -o FILE -- PROGRAM`: one profile of all ranks.
 *
 *     rank 0   FILE.rank-0 --+
 *     rank 1   FILE.rank-1 --+--> FILE, by rank 0
 *     rank 2   FILE.rank-2 --+
 *
 * The program is the MPI process of its rank, so riffle around it cannot be one, too: ranks meet in the folder of FILE, which all
 * must see. A file appears whole or not at all, and notes which job it is of. Rank 0 comes last: it waits for the others, for a
 * while, and names those that left nothing. The files of the ranks stay: they are the view of each. */
#include "together.h"
#include "ranks.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOTE_JOB "mpi-job"

enum { TICK_MS = 20 };

static void name_file(const struct cli_together *together, int rank, char *path, size_t size)
{
    snprintf(path, size, "%s.rank-%d", together->whole, rank);
}

/* Files of an earlier job: of this rank and, of rank 0, those behind the last rank, as far as they follow each other. */
static void clear(const struct cli_together *together)
{
    char path[PATH_MAX];
    unlink(together->own);
    for (int rank = together->size; together->rank == 0; rank++) {
        name_file(together, rank, path, sizeof path);
        if (unlink(path) != 0)
            return;
    }
}

void cli_together_take(struct cli_together *together, struct cli_profiling *profiling,
                       uint64_t wait)
{
    static const char *const jobs[] = {"PMIX_NAMESPACE", "PMI_JOBID"};
    *together = (struct cli_together){.size = 1, .whole = profiling->output, .wait = wait};
    int rank, size;
    if (profiling->output == NULL || strcmp(profiling->output, "-") == 0 ||
        !cli_ranks_find(&rank, &size) || size < 2)
        return;
    together->rank = rank;
    together->size = size;
    together->job = "";
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        if (together->job[0] == '\0' && getenv(jobs[i]) != NULL)
            together->job = getenv(jobs[i]);
    name_file(together, rank, together->own, sizeof together->own);
    clear(together);
    together->quiet = profiling->quiet;
    profiling->output = together->own;
    profiling->quiet = 1;
}

rf_status cli_together_note(const struct cli_together *together, struct rf_run *run,
                            const struct rf_probe_outcome *outcome)
{
    char name[32], host[256] = "?";
    if (together->size < 2)
        return RF_OK;
    gethostname(host, sizeof host - 1);
    snprintf(name, sizeof name, "rank-%d", together->rank);
    rf_status status = cli_note(
        run, name, "%llu events, %.2f s, %s %d, on %s", (unsigned long long)outcome->events,
        outcome->wall_seconds, outcome->signal != 0 ? "killed by signal" : "exit status",
        outcome->signal != 0 ? outcome->signal : outcome->exit_status, host);
    return status == RF_OK ? rf_run_add_note(run, NOTE_JOB, together->job) : status;
}

/* ---- rank 0 ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool is_ours(const struct cli_together *together, const struct rf_run *run)
{
    const char *job = rf_run_note(run, NOTE_JOB);
    return job != NULL && strcmp(job, together->job) == 0;
}

/* The run of a rank; NULL: it left none until then. */
static struct rf_run *wait_for(const struct cli_together *together, int rank, double until)
{
    char path[PATH_MAX];
    struct rf_run *run;
    struct rf_error ignored;
    name_file(together, rank, path, sizeof path);
    for (;;) {
        if (access(path, R_OK) == 0 && rf_run_load(&run, path, NULL, &ignored) == RF_OK) {
            if (is_ours(together, run))
                return run;
            rf_run_free(run);
        }
        if (now() >= until)
            return NULL;
        nanosleep(&(struct timespec){0, TICK_MS * 1000000}, NULL);
    }
}

static void tell_missing(struct rf_run *sum, int rank, const char *why)
{
    cli_note(sum, RF_NOTE_MISSING, "rank %d: %s", rank, why);
    cli_fail(CLI_OK, "run: rank %d: %s; the profile is of the others", rank, why);
}

/* False: it is not in the sum. */
static bool add_rank(const struct cli_together *together, struct rf_run *sum, int rank,
                     double until)
{
    struct rf_error error = {""};
    struct rf_run *run = wait_for(together, rank, until);
    bool added = run != NULL && rf_run_same_builds(sum, run, &error) == RF_OK &&
                 rf_run_add_part(sum, run, &error) == RF_OK;
    if (run == NULL)
        tell_missing(sum, rank, "left no profile");
    else if (!added)
        tell_missing(sum, rank, error.message);
    rf_run_free(run);
    return added;
}

int cli_together_gather(const struct cli_together *together, const struct cli_report *report)
{
    struct rf_error error = {""};
    struct rf_run *sum;
    struct cli_report shown = *report;
    if (together->size < 2 || together->rank != 0)
        return CLI_OK;
    rf_status status = rf_run_load(&sum, together->own, NULL, &error);
    if (status != RF_OK)
        return cli_fail_status(status, &error);
    double until = now() + (double)together->wait;
    bool whole = true;
    for (int rank = 1; rank < together->size; rank++)
        whole = add_rank(together, sum, rank, until) && whole;
    shown.to_stderr = 1;
    shown.silent = together->quiet;
    int delivered = cli_deliver(sum, RF_OK, &error, together->whole, &shown);
    return delivered == CLI_OK && !whole ? CLI_OF_PROGRAM + CLI_DAMAGED : delivered;
}
