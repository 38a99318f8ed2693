/* cmd_mpi.c - riffle mpi: shards of traces, profiled by the ranks of an MPI job and merged in a tree.
 *
 *     rank 0   shards 0 1 --+                        step 1: 1 -> 0, 3 -> 2
 *     rank 1   shards 2 3 --+--+                     step 2: 2 -> 0
 *     rank 2   shards 4 5 --+  |
 *     rank 3   shards 6 7 --+--+--> rank 0 reports
 *
 * Where there are fewer shards than ranks, each rank has a piece of each shard. Rank 0 decides for all which that is, before anybody
 * reads (pieces.h), and knows in the end how many events of the pieces have come.
 *
 * A rank has neighbouring shards, and a sum stands for neighbouring ranks, so everything is merged in the order of the shards.
 * Messages are runs as files hold them, behind a head with what they cost. Nothing that a rank cannot do ends the others: it
 * is noted ("missing"), and the note travels with the rest. Each rank holds what it sent until rank 0 has the sum. So where one is
 * lost, the rank that waits for it calls those below it, and they send again, to the caller:
 *
 *     rank 2 is lost, before or after it had the sum of 3:   0 calls 3, 3 -> 0; only the shards 4 5 are missing
 *
 * Rank 0 then ends the job when it has saved the rest, and tells the others to leave: they would wait for that rank for ever,
 * and must not end the job before. Where rank 0 is lost, each of the others says so and leaves. */
#include "pieces.h"
#include "ranks.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NAMES_SIZE = 800 }; /* room for the names of a lost rank's shards */

struct settings {
    struct cli_report report;
    struct cli_cut cut;
    const char *output;
    int any_build, timing;
    uint64_t wait;
};

static const struct cli_default standard[] = {
    {"engine", "exact"},
    {"profile", "values"},
    {NULL, NULL},
};

static const struct cli_option options[] = {
    {.type = CLI_GROUP, .group = cli_options_lanes, .defaults = standard},
    {.type = CLI_GROUP, .group = cli_options_report, .offset = offsetof(struct settings, report)},
    {.type = CLI_GROUP, .group = cli_options_interval, .offset = offsetof(struct settings, cut)},
    {CLI_FILE, 'o', "output", "FILE", .brief = "also save the profiles, for report and merge",
     .text = "Rank 0 writes it. By custom the name ends in .rfp.",
     .offset = offsetof(struct settings, output)},
    {CLI_FLAG, 0, "any-build", .brief = "merge shards of different builds, too",
     .text = "Without it, a shard of another build than the one before it is left out and named.",
     .offset = offsetof(struct settings, any_build)},
    {CLI_FLAG, 0, "timing", .brief = "print what reading, merging and messages cost",
     .text = "Work and merging are seconds of the processors of all ranks; the critical path is "
             "the longest chain of both.",
     .offset = offsetof(struct settings, timing)},
    {CLI_COUNT, 0, "wait", "SECONDS", "0",
     .brief = "how long to wait for another rank when one's own work is done; 0: for ever",
     .text =
         "So long per step of the tree, and as long again for what a lost rank leaves behind: rank "
         "0 of 4 waits three times as long for rank 2, which may wait for rank 3. "
         "A rank that does not come in time is named in the result, with its shards, and so is one "
         "of the same machine that has ended. Other ranks wait for rank 0 as long as the whole "
         "tree may take: four times SECONDS for 2 ranks, six times for 4, eight times for 8. "
         "All wait as long for each other when the job begins, and a minute at least. mpirun ends "
         "all ranks when one dies, unless it is told not to (Open "
         "MPI: --enable-recovery).",
     .offset = offsetof(struct settings, wait)},
    {.type = CLI_END},
};

/* What a sum has cost so far; the head of a message. */
struct costs {
    double work, merging; /* seconds of the processor, of all ranks */
    double path;          /* the longest chain of work and merges */
    double messages, bytes, largest;
    double lost; /* ranks that did not come */
    double read; /* events of pieces that are in the sum */
};

/* This rank. */
struct rank {
    const struct cli_call *call;
    const struct settings *settings;
    const struct cli_mpi *mpi; /* NULL: there is one rank alone */
    int number, size;
    struct cli_lanes lanes;
    char *command;
    struct rf_run *run; /* what was counted so far; never NULL while it works */
    struct costs costs;
    /* Its piece of each shard; NULL: there are none, or rank 0 did not say which. */
    struct cli_piece *pieces;
    bool dealt;             /* of rank 0: the others know theirs */
    double promised;        /* of rank 0: events of the pieces of all */
    double begun;           /* when its own work was done; it waits for others from then on */
    enum cli_mpi_word word; /* what rank 0 said in the end */
    bool broken;            /* it cannot even send nothing */
};

/* ---- the job ---- */

/* Of a step one for the rank and one for what it leaves behind, if it is lost; and a step more for the way back. */
static int most_waits(const struct rank *rank)
{
    int waits = 2;
    for (int step = 1; step < rank->size; step *= 2)
        waits += 2;
    return waits;
}

/* Seconds in which the whole tree must be through; below 0: there is no limit. */
static double longest(const struct rank *rank)
{
    return rank->settings->wait == 0 ? -1 : most_waits(rank) * (double)rank->settings->wait;
}

static int join_job(struct rank *rank)
{
    if (rank->size == 1)
        return CLI_OK;
    if (cli_ranks_load(&rank->mpi) != CLI_OK)
        return CLI_FAILED;
    if (rank->mpi->begin(&rank->number, &rank->size, longest(rank)) != 0)
        return cli_fail(CLI_FAILED, "mpi: MPI cannot be started");
    return CLI_OK;
}

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Of this processor: what a rank costs, whatever else the machine does. Waiting is not in it. */
static double seconds(void)
{
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

/* A rank may wait for another one below it, so each step is waited for longer than the one before. */
static double patience(const struct rank *rank, int waits)
{
    double left = rank->begun + (double)rank->settings->wait * waits - seconds_of(CLOCK_MONOTONIC);
    return rank->settings->wait == 0 ? -1 : left > 0 ? left : 0;
}

/* ---- shards ---- */

static void note_missing(struct rank *rank, const char *what, const char *why)
{
    bool named = strncmp(what, why, strlen(what)) == 0; /* the sentence says of what it is */
    cli_note(rank->run, RF_NOTE_MISSING, "%s%s%s", named ? "" : what, named ? "" : ": ", why);
}

static rf_status collect(struct rank *rank, struct rf_source *source, struct rf_run **run,
                         struct rf_error *error)
{
    const struct settings *settings = rank->settings;
    struct rf_trace_info info;
    struct cli_program program;
    struct rf_lane *lanes = calloc(rank->lanes.n + 1, sizeof *lanes);
    *run = NULL;
    if (lanes == NULL || cli_program_open(&program, source) != RF_OK) {
        free(lanes);
        return RF_ENOMEM;
    }
    memcpy(lanes, rank->lanes.lanes, rank->lanes.n * sizeof *lanes);
    bool selected = cli_lanes_adopt(lanes, rank->lanes.n, source, &info);
    struct rf_collect_setup setup = {.selected = selected,
                                     .resolve = program.run->n_modules > 0 ? cli_resolve : NULL,
                                     .resolve_context = &program,
                                     .lanes = lanes,
                                     .n_lanes = rank->lanes.n,
                                     .command = rank->command,
                                     .seed = settings->cut.seed,
                                     .interval = settings->cut.interval,
                                     .keep_intervals = settings->report.per_interval};
    rf_status status = cli_lanes_lose_stacks(lanes, rank->lanes.n, error)
                           ? RF_EINVAL
                           : rf_collect(run, source, &setup, error);
    cli_program_close(&program);
    free(lanes);
    if (*run != NULL && cli_add_modules(*run, source) != RF_OK)
        status = RF_ENOMEM;
    return status;
}

static rf_status add(struct rank *rank, const struct rf_run *run, struct rf_error *error)
{
    rf_status status =
        rank->settings->any_build ? RF_OK : rf_run_same_builds(rank->run, run, error);
    return status == RF_OK ? rf_run_add_part(rank->run, run, error) : status;
}

/* `piece`: NULL, where it is all of the shard. */
static void note_shard(struct rank *rank, const char *path, const struct cli_piece *piece,
                       const char *why)
{
    char text[sizeof(struct rf_error) + 64];
    snprintf(text, sizeof text, "%s (rank %d, piece %d of %d)", why, rank->number, rank->number + 1,
             rank->size);
    note_missing(rank, path, piece != NULL ? text : why);
}

static rf_status open_shard(const struct rank *rank, const char *path,
                            const struct cli_piece *piece, struct rf_source **source,
                            struct rf_error *error)
{
    *source = NULL;
    if (piece == NULL)
        return rf_source_open(source, path, NULL, error);
    return cli_piece_open(source, path, piece, (size_t)rank->number, (size_t)rank->size, error);
}

static uint64_t events_read(struct rf_source *source)
{
    struct rf_trace_info info;
    return rf_source_header(source, &info) == RF_OK ? info.events : 0;
}

/* The whole shard, or a piece of it. A source says itself what it could not read, and so what is missing of a piece. */
static void take_shard(struct rank *rank, const char *path, const struct cli_piece *piece)
{
    struct rf_error error = {""};
    struct rf_source *source;
    struct rf_run *run = NULL;
    uint64_t read = 0;
    rf_status status = open_shard(rank, path, piece, &source, &error);
    if (status == RF_OK) {
        status = collect(rank, source, &run, &error);
        read = piece != NULL ? events_read(source) : 0;
    }
    rf_source_close(source);
    if (status != RF_OK)
        note_shard(rank, path, piece,
                   error.message[0] != '\0' ? error.message : rf_status_text(status));
    error.message[0] = '\0';
    if (run != NULL)
        rf_run_drop_notes(run, "incomplete"); /* the same sentence as the one that is noted */
    if (run != NULL && add(rank, run, &error) != RF_OK)
        note_shard(rank, path, piece, error.message);
    else if (run != NULL)
        rank->costs.read += (double)read;
    rf_run_free(run);
}

/* Which shards a rank has: neighbours. */
struct dealt {
    size_t begin, end;
};

/* Are there fewer shards than ranks? Then every rank has a piece of each. */
static bool is_cut(const struct rank *rank)
{
    return rank->call->n_arguments < (size_t)rank->size;
}

static struct dealt deal(const struct rank *rank, int number)
{
    size_t n = rank->call->n_arguments, size = (size_t)rank->size, i = (size_t)number;
    return is_cut(rank) ? (struct dealt){0, n} : (struct dealt){n * i / size, n * (i + 1) / size};
}

/* To each rank its own; nothing, where there is no table or no result to come. Nobody is missed here: who is gone will be, in the tree. */
static void deal_pieces(struct rank *rank, const struct cli_piece *table)
{
    size_t n = rank->call->n_arguments, bytes = table != NULL ? n * sizeof *table : 0;
    rank->dealt = true;
    for (int to = 1; to < rank->size; to++)
        rank->mpi->send(to, patience(rank, 1), table != NULL ? table + n * (size_t)to : table,
                        bytes);
}

/* What MPI could not send at once it may still hold, so the table stays. */
static void decide(struct rank *rank)
{
    size_t n = rank->call->n_arguments, size = (size_t)rank->size;
    double begun = seconds();
    rank->pieces = cli_pieces_decide(rank->call->arguments, n, size);
    for (size_t i = 0; rank->pieces != NULL && i < n * size; i++)
        rank->promised += rank->pieces[i].whole ? 0 : (double)rank->pieces[i].is.events;
    rank->costs.work = seconds() - begun;
    deal_pieces(rank, rank->pieces);
}

static void agree(struct rank *rank)
{
    void *pieces = NULL;
    size_t n = 0;
    rank->begun = seconds_of(CLOCK_MONOTONIC);
    if (rank->number == 0) {
        decide(rank);
        return;
    }
    if (rank->mpi->receive(0, patience(rank, most_waits(rank)), &pieces, &n) == 0 &&
        n == rank->call->n_arguments * sizeof *rank->pieces)
        rank->pieces = pieces;
    else
        free(pieces);
}

static void take_piece(struct rank *rank, size_t i)
{
    const char *path = rank->call->arguments[i];
    const struct cli_piece *piece = rank->pieces != NULL ? &rank->pieces[i] : NULL;
    if (piece == NULL)
        note_missing(rank, path, "rank 0 did not say which piece of it is whose");
    else if (!piece->whole)
        take_shard(rank, path, piece);
    else if (rank->number == 0)
        take_shard(rank, path, NULL);
}

static void take_shards(struct rank *rank)
{
    struct dealt own = deal(rank, rank->number);
    if (is_cut(rank))
        agree(rank);
    double begun = seconds();
    for (size_t i = own.begin; i < own.end; i++)
        if (is_cut(rank))
            take_piece(rank, i);
        else
            take_shard(rank, rank->call->arguments[i], NULL);
    rank->costs.work += seconds() - begun;
    rank->costs.path = rank->costs.work;
}

/* ---- the tree ---- */

/* 0: done. Where it fails, the rank is gone, or gives nobody an answer: another one will call. */
static int send_to(struct rank *rank, int to, const void *bytes, size_t n)
{
    double wait = patience(rank, most_waits(rank));
    rank->costs.messages++;
    rank->costs.bytes += (double)n;
    rank->costs.largest = (double)n > rank->costs.largest ? (double)n : rank->costs.largest;
    return rank->mpi->send(to, wait, &rank->costs, sizeof rank->costs) != 0 ||
           rank->mpi->send(to, wait, bytes, n) != 0;
}

/* To the rank above, and to any that calls, until rank 0 has it all. What cannot be packed is sent as nothing, since somebody
 * waits for it. */
static void offer(struct rank *rank, int to)
{
    struct rf_error error = {""};
    int unsent = 0;
    void *bytes;
    size_t n;
    if (rf_run_pack(rank->run, &bytes, &n, &error) != RF_OK)
        cli_fail(CLI_OK, "mpi: rank %d: %s", rank->number, error.message);
    do {
        unsent += send_to(rank, to, bytes, n);
        rank->word = rank->mpi->hear(patience(rank, most_waits(rank)), &to);
    } while (rank->word == CLI_MPI_CALLED);
    if (unsent == 0) /* what was not sent MPI may still hold */
        rf_run_free_packed(rank->run, bytes, n);
}

static void add_costs(struct costs *sum, const struct costs *child, double spent)
{
    sum->work += child->work;
    sum->merging += child->merging + spent;
    sum->path = (child->path > sum->path ? child->path : sum->path) + spent;
    sum->messages += child->messages;
    sum->lost += child->lost;
    sum->read += child->read;
    sum->bytes += child->bytes;
    sum->largest = child->largest > sum->largest ? child->largest : sum->largest;
}

/* Rank `from` stands for itself and all up to `last`. */
static void leave_out(struct rank *rank, int from, int last, const char *why)
{
    char who[64], names[NAMES_SIZE], what[NAMES_SIZE + 128];
    if (from == last)
        snprintf(who, sizeof who, "rank %d", from);
    else
        snprintf(who, sizeof who, "ranks %d to %d", from, last);
    size_t begin = deal(rank, from).begin, end = deal(rank, last).end;
    cli_pieces_name(rank->call->arguments + begin, end - begin, names, sizeof names);
    snprintf(what, sizeof what, "%s, with %s%s", who, is_cut(rank) ? "its pieces of " : "", names);
    note_missing(rank, what, why);
}

/* False: it is gone, or did not answer in time. */
static bool receive_from(struct rank *rank, int from, int last, double wait)
{
    struct rf_error error = {""};
    struct rf_run *run = NULL;
    void *head = NULL, *bytes = NULL;
    size_t n_head, n;
    bool came = rank->mpi->receive(from, wait, &head, &n_head) == 0 &&
                n_head == sizeof(struct costs) && rank->mpi->receive(from, wait, &bytes, &n) == 0;
    if (came) {
        double begun = seconds();
        if (rf_run_decode(&run, bytes, n, NULL, &error) != RF_OK ||
            add(rank, run, &error) != RF_OK) {
            leave_out(rank, from, last, error.message);
            ((struct costs *)head)->read = 0;
        }
        add_costs(&rank->costs, head, seconds() - begun);
    }
    rf_run_free(run);
    free(head);
    free(bytes);
    return came;
}

static int smaller(int x, int y)
{
    return x < y ? x : y;
}

/* Rank `lost` stood for all up to `last`. All that it took from are called at once, then heard one by one. */
static void take_left(struct rank *rank, int lost, int last, int waits)
{
    bool gone[CHAR_BIT * sizeof(int)] = {false};
    rank->costs.lost++;
    leave_out(rank, lost, lost, "did not answer");
    for (int step = 1, i = 0; lost + step <= last; step *= 2, i++)
        gone[i] = rank->mpi->call(lost + step) != 0;
    for (int step = 1, i = 0; lost + step <= last; step *= 2, i++) {
        int from = lost + step, end = smaller(from + step - 1, last);
        if (gone[i] || !receive_from(rank, from, end, patience(rank, waits)))
            take_left(rank, from, end, waits);
    }
}

/* Rank 0 has it all in the end. */
static void reduce(struct rank *rank)
{
    rank->begun = seconds_of(CLOCK_MONOTONIC);
    for (int step = 1, waits = 1; step < rank->size; step *= 2, waits += 2) {
        int from = rank->number + step, last = smaller(from + step, rank->size) - 1;
        if (rank->number % (2 * step) != 0) {
            offer(rank, rank->number - step);
            return;
        }
        if (from < rank->size && !receive_from(rank, from, last, patience(rank, waits)))
            take_left(rank, from, last, waits + 1);
    }
}

/* ---- the result ---- */

static void print_costs(const struct rank *rank)
{
    const struct costs *c = &rank->costs;
    fprintf(
        stderr,
        "ranks %d, work %.3f s, merging %.3f s, critical path %.3f s, messages %.0f, bytes %.0f, "
        "largest %.0f\n",
        rank->size, c->work, c->merging, c->path, c->messages, c->bytes, c->largest);
}

static int tell_missing(const struct rf_run *run)
{
    size_t n = 0;
    for (size_t i = 0; i < run->n_notes; i++)
        if (strcmp(run->notes[i].name, RF_NOTE_MISSING) == 0) {
            cli_fail(CLI_OK, "mpi: missing: %s", run->notes[i].text);
            n++;
        }
    return n > 0 ? CLI_DAMAGED : CLI_OK;
}

static bool is_empty(const struct rf_run *run)
{
    for (size_t i = 0; i < run->n_profiles; i++)
        if (run->profiles[i]->consumed > 0)
            return false;
    return true;
}

/* Pieces that were lost are named already, but whatever the reason: nobody shall take a part for the whole. */
static void check_pieces(struct rank *rank)
{
    if (rank->costs.read != rank->promised)
        cli_note(rank->run, RF_NOTE_MISSING, "%.0f of %.0f events in pieces of traces were read",
                 rank->costs.read, rank->promised);
}

/* Nothing at all takes no file's place. */
static int deliver(struct rank *rank)
{
    struct rf_error error = {""};
    check_pieces(rank);
    int missing = tell_missing(rank->run);
    if (rank->settings->timing)
        print_costs(rank);
    if (missing != CLI_OK && is_empty(rank->run))
        return cli_fail(CLI_FAILED, "mpi: no shard could be used, so there is no result");
    struct rf_run *run = rank->run;
    rank->run = NULL;
    int status = cli_deliver(run, RF_OK, &error, rank->settings->output, &rank->settings->report);
    return status != CLI_OK ? status : missing;
}

static int work(struct rank *rank)
{
    if (rf_run_new(&rank->run, rank->command, NULL) != RF_OK) {
        rank->broken = true;
        return cli_fail(CLI_FAILED, "mpi: rank %d: no memory", rank->number);
    }
    take_shards(rank);
    reduce(rank);
    int status = rank->number == 0 ? deliver(rank) : CLI_OK;
    rf_run_free(rank->run);
    return status;
}

/* Rank 0 writes: the others may be on machines that do not have that folder. So it looks when the job has begun: MPI_Init of the
 * others would wait for it for ever. */
static int check_output(struct rank *rank)
{
    int status = rank->number == 0 ? cli_check_output(rank->settings->output) : CLI_OK;
    rank->broken = status != CLI_OK;
    return status;
}

static int check_files(const struct rank *rank)
{
    const struct settings *settings = rank->settings;
    if (cli_same_file(settings->output, settings->report.html))
        return cli_fail(CLI_USAGE, "mpi: --output and --html are the same file");
    for (size_t i = 0; i < rank->call->n_arguments; i++) {
        const char *shard = rank->call->arguments[i];
        if (cli_same_file(settings->output, shard))
            return cli_fail(CLI_USAGE, "mpi: the profile would overwrite its own stream");
        if (rank->size > 1 && rank->call->n_arguments > 1 && strcmp(shard, "-") == 0)
            return cli_fail(CLI_USAGE, "mpi: standard input comes to one rank alone: name files");
    }
    return CLI_OK;
}

/* Where ranks are gone, MPI_Finalize would wait for them for ever: the others exit at once. */
static void leave(struct rank *rank, int status)
{
    bool alone = rank->broken || (rank->number == 0 && rank->costs.lost > 0);
    if (rank->number == 0 && is_cut(rank) && !rank->dealt)
        deal_pieces(rank, NULL); /* they wait for it */
    if (rank->word == CLI_MPI_ALONE)
        _exit(CLI_OK);
    if (rank->word == CLI_MPI_NO_WORD)
        _exit(cli_fail(CLI_FAILED,
                       "mpi: rank %d: rank 0 is gone or says nothing: there is no result",
                       rank->number));
    rank->mpi->end(alone ? status : CLI_OK);
    if (alone)
        _exit(status);
}

static int run(const struct cli_call *call)
{
    struct settings *settings = call->settings;
    struct rank rank = {.call = call, .settings = settings};
    int status = cli_report_take(&settings->report, call);
    if (!cli_ranks_find(&rank.number, &rank.size))
        rank.number = 0, rank.size = 1;
    if (status == CLI_OK)
        status = check_files(&rank);
    if (status == CLI_OK)
        status = cli_lanes_make(&rank.lanes, call, CLI_SELECT_ASKED, NULL);
    if (status == CLI_OK)
        status = cli_lanes_refuse_stacks(&rank.lanes, call->command->name);
    if (status == CLI_OK)
        status = cli_rehearse(&rank.lanes, &settings->cut, NULL, &settings->report);
    if (status == CLI_OK && (rank.command = cli_command_text(call)) == NULL)
        status = CLI_FAILED;
    if (status == CLI_OK)
        status = join_job(&rank);
    if (status == CLI_OK)
        status = check_output(&rank);
    if (status == CLI_OK)
        status = work(&rank);
    if (rank.mpi != NULL)
        leave(&rank, status);
    cli_lanes_free(&rank.lanes);
    free(rank.command);
    return status;
}

const struct cli_action cli_action_mpi = {
    .arguments = {"SHARD...", 1, CLI_ANY_NUMBER},
    .settings = {options, sizeof(struct settings)},
    .run = run,
};
