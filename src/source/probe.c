/* probe.c - the source that runs a program under the probe.
 *
 *     program + probe --ring--> [process: book, thread] --decode--> one lane per selector --> batches
 *     its child + probe --ring--> [process: book, thread] --^
 *
 * processes.c keeps track of the processes in the ring and fetches their words; decode.c turns words into
 * tuples. This file hands out the lanes, the fullest first, and reports how the program ended.
 *
 * Guarantee: every event that the probe committed is handed out once or counted as lost; when all processes
 * end normally, the probes' own counts are compared with ours. */
#include "source/probe.h"
#include "source/decode.h"
#include "source/counters.h"
#include "event/selector.h"
#include "base/alloc.h"
#include "base/error.h"
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

enum { NO_LANE = RF_DECODE_LANES_MAX };

struct probe {
    struct rf_source base;
    struct rf_processes processes;
    struct rf_decode decode;
    size_t handed_out; /* a lane whose buffer the caller may still read, or NO_LANE */
    uint64_t handed_out_events;
    uint64_t events; /* handed out so far */
    bool wakes;      /* say so when nothing comes */
    rf_status damage;
    struct rf_error damage_error;
};

static struct probe *probe_of(const struct rf_source *source)
{
    return (struct probe *)(uintptr_t)source;
}

/* ---- batches ---- */

static uint64_t sum(const uint64_t *counts)
{
    uint64_t all = 0;
    for (size_t kind = 0; kind < RF_WORD_CLASSES; kind++)
        all += counts[kind];
    return all;
}

static uint64_t count_events(struct probe *probe, struct rf_decode_lane *lane,
                             const struct rf_tuples *tuples)
{
    uint64_t events = tuples->counts == NULL ? tuples->n : 0;
    for (size_t k = 0; tuples->counts != NULL && k < tuples->n; k++)
        events += tuples->counts[k];
    lane->total += events;
    probe->events += events;
    return events;
}

static void hand_out_lane(struct probe *probe, size_t i, struct rf_batch *batch)
{
    struct rf_decode_lane *lane = &probe->decode.lanes[i];
    const uint64_t *counts = lane->has_counts ? lane->front->counts : NULL;
    batch->tuples = (struct rf_tuples){lane->tuples, counts, lane->n};
    batch->n = lane->n;
    batch->stream = (uint32_t)i;
    batch->lost = lane->lost - lane->lost_told;
    lane->lost_told = lane->lost;
    batch->ends = lane->ends;
    batch->n_ends = lane->n_ends;
    batch->weights = lane->weights;
    lane->open = rf_decode_is_open(lane);
    batch->bursts = lane->bursts - lane->bursts_told;
    lane->bursts_told = lane->bursts;
    batch->skipped = lane->skipped - lane->skipped_told;
    batch->skips = lane->skips;
    batch->uncounted = probe->decode.uncounted;
    lane->skipped_told = lane->skipped;
    probe->handed_out_events = count_events(probe, lane, &batch->tuples);
    probe->handed_out = i;
}

static void hand_out_counted(struct probe *probe, size_t i, struct rf_batch *batch)
{
    struct rf_decode_lane *lane = &probe->decode.lanes[i];
    batch->tuples = (struct rf_tuples){lane->counted, lane->counts, lane->n_counted};
    batch->n = lane->n_counted;
    batch->stream = (uint32_t)i;
    count_events(probe, lane, &batch->tuples);
    lane->n_counted = 0;
}

static void hand_out_single(struct probe *probe, size_t i, struct rf_batch *batch)
{
    struct rf_decode_lane *lane = &probe->decode.lanes[i];
    batch->tuples = (struct rf_tuples){lane->single, NULL, lane->n_single};
    batch->n = lane->n_single;
    batch->stream = (uint32_t)i;
    count_events(probe, lane, &batch->tuples);
    lane->n_single = 0;
}

/* What was skipped in all rows of a batch of records. */
static uint64_t sum_rows(const struct rf_decode *decode)
{
    uint64_t all = 0;
    for (size_t i = 0; i <= decode->n_record_ends; i++)
        for (size_t kind = 0; kind < RF_CLASS_COUNT; kind++)
            all += decode->record_skips[i][kind];
    return all;
}

static void hand_out_gaps(struct rf_decode *decode, struct rf_batch *batch)
{
    batch->ends = decode->record_ends;
    batch->n_ends = decode->n_record_ends;
    batch->weights = decode->record_weights;
    batch->skips = decode->record_skips[0];
    batch->skipped = sum_rows(decode);
    batch->uncounted = decode->uncounted;
    batch->bursts = decode->record_bursts - decode->record_bursts_told;
    decode->record_bursts_told = decode->record_bursts;
}

/* The caller is done with what it was given. */
static void take_back(struct probe *probe)
{
    struct rf_decode *decode = &probe->decode;
    if (decode->records && decode->bursts && probe->handed_out != NO_LANE) {
        decode->n_record_ends = 0;
        memset(decode->record_skips[0], 0, sizeof decode->record_skips[0]);
    } else if (probe->handed_out != NO_LANE) {
        struct rf_decode_lane *lane = &decode->lanes[probe->handed_out];
        rf_decode_begin_batch(lane, lane->n, probe->handed_out_events);
        if (lane->skips != NULL)
            lane->skips[0] = 0;
    }
    probe->handed_out = NO_LANE;
}

static void hand_out_records(struct probe *probe, struct rf_batch *batch)
{
    uint64_t lost = sum(probe->decode.lost);
    if (probe->decode.bursts)
        hand_out_gaps(&probe->decode, batch);
    probe->handed_out = 0;
    batch->records = probe->decode.record_buffer;
    batch->n = probe->decode.n_records;
    batch->lost = lost - probe->decode.lanes[0].lost_told;
    probe->decode.lanes[0].lost_told = lost;
    probe->events += probe->decode.n_records;
    probe->decode.lanes[0].total += probe->decode.n_records;
    probe->decode.n_records = 0;
}

static bool has_more(const struct rf_decode_lane *lane)
{
    return lane->lost != lane->lost_told || lane->skipped != lane->skipped_told ||
           lane->bursts != lane->bursts_told;
}

/* Losses and skips that no batch has reported yet. */
static bool hand_out_losses(struct probe *probe, struct rf_batch *batch)
{
    for (size_t i = 0; !probe->decode.records && i < probe->decode.n_lanes; i++)
        if (has_more(&probe->decode.lanes[i])) {
            hand_out_lane(probe, i, batch);
            return true;
        }
    if (probe->decode.records)
        hand_out_records(probe, batch);
    return batch->lost + batch->skipped + batch->bursts > 0;
}

static size_t most_of(const struct rf_decode_lane *lane)
{
    size_t n = lane->n_counted > lane->n_single ? lane->n_counted : lane->n_single;
    return lane->n > n ? lane->n : n;
}

static size_t fullest_lane(const struct rf_decode *decode)
{
    size_t fullest = 0;
    for (size_t i = 1; i < decode->n_lanes; i++)
        if (most_of(&decode->lanes[i]) > most_of(&decode->lanes[fullest]))
            fullest = i;
    return fullest;
}

/* Hand out the fullest buffer; false when all are empty. */
static bool hand_out(struct probe *probe, struct rf_batch *batch)
{
    if (probe->decode.records) {
        if (probe->decode.n_records > 0)
            hand_out_records(probe, batch);
        return batch->n > 0;
    }
    size_t i = fullest_lane(&probe->decode);
    const struct rf_decode_lane *lane = &probe->decode.lanes[i];
    if (lane->n > 0 && lane->n == most_of(lane))
        hand_out_lane(probe, i, batch);
    else if (lane->n_single > 0 && lane->n_single == most_of(lane))
        hand_out_single(probe, i, batch);
    else if (lane->n_counted > 0)
        hand_out_counted(probe, i, batch);
    return batch->n > 0;
}

/* At the end: the counters of processes that still run. */
static void tally_rest(struct probe *probe)
{
    bool full;
    if (rf_counters_rest(&probe->decode, &full, &probe->damage_error) != RF_OK)
        probe->damage = RF_EDAMAGED;
}

/* The batch that was handed out is done with. True: its lane has another one already. */
static bool hand_out_next(struct probe *probe, struct rf_batch *batch)
{
    size_t i = probe->handed_out;
    take_back(probe);
    if (i == NO_LANE || probe->decode.records || probe->decode.lanes[i].n == 0)
        return false;
    hand_out_lane(probe, i, batch);
    return true;
}

static rf_status next(struct rf_source *source, struct rf_batch *batch, struct rf_error *error)
{
    struct probe *probe = probe_of(source);
    if (hand_out_next(probe, batch))
        return RF_OK;
    for (bool full = false, idle = false; probe->damage == RF_OK;) {
        probe->damage = rf_decode_run(&probe->decode, &full, &probe->damage_error);
        if (full || probe->damage != RF_OK)
            break;
        rf_processes_finish(&probe->decode.piece, probe->decode.at);
        probe->decode.at = 0;
        if (idle && hand_out(probe, batch))
            return RF_OK;
        batch->idle = idle && probe->wakes && !rf_processes_are_over(&probe->processes);
        if (batch->idle)
            return RF_OK;
        if (rf_processes_are_over(&probe->processes)) {
            if (rf_processes_fetch_tables(&probe->processes, &probe->decode.piece))
                continue;
            break;
        }
        probe->damage = rf_processes_fetch(&probe->processes, &probe->decode.piece, &idle,
                                           &probe->damage_error);
    }
    if (hand_out(probe, batch))
        return RF_OK;
    tally_rest(probe);
    rf_decode_finish(&probe->decode);
    if (hand_out(probe, batch) || hand_out_losses(probe, batch))
        return RF_OK;
    if (probe->damage != RF_OK && error != NULL)
        *error = probe->damage_error;
    return probe->damage;
}

/* ---- ends ---- */

static void close_probe(struct rf_source *source)
{
    struct probe *probe = probe_of(source);
    const struct rf_alloc alloc = source->alloc;
    rf_processes_free(&probe->processes);
    rf_decode_free(&probe->decode);
    rf_alloc_free(&alloc, probe, sizeof *probe);
}

static void progress(const struct rf_source *source, uint64_t *done, uint64_t *total)
{
    *done = probe_of(source)->events;
    *total = 0;
}

static rf_status modules(struct rf_source *source, const struct rf_module **modules, size_t *n)
{
    const struct probe *probe = probe_of(source);
    *modules = probe->processes.modules.list;
    *n = probe->processes.modules.n;
    return RF_OK;
}

static rf_status counted(struct rf_source *source, rf_source_tell tell, void *context,
                         struct rf_error *error)
{
    return rf_counters_peek(&probe_of(source)->decode, tell, context, error);
}

static const struct rf_source_ops probe_ops = {.name = "probe",
                                               .next = next,
                                               .progress = progress,
                                               .modules = modules,
                                               .counted = counted,
                                               .close = close_probe};

static rf_status check_setup(const struct rf_probe_setup *setup, struct rf_error *error)
{
    if (setup->n_selectors == 0 || setup->n_selectors > RF_DECODE_SELECTORS_MAX)
        return rf_fail(error, RF_EINVAL, "between 1 and %d selectors can run at once, not %zu",
                       RF_DECODE_SELECTORS_MAX, setup->n_selectors);
    if (setup->processes_apart > RF_DECODE_LANES_MAX / setup->n_selectors)
        return rf_fail(error, RF_EINVAL, "at most %zu processes can be kept apart, not %zu",
                       RF_DECODE_LANES_MAX / setup->n_selectors, setup->processes_apart);
    if (setup->n_patterns > 0 &&
        (setup->n_patterns > RF_PROBE_PATTERNS_MAX || setup->n_selectors > RF_PROBE_PROFILES_MAX))
        return rf_fail(error, RF_EINVAL,
                       "at most %d patterns and %d profiles of productions at once",
                       RF_PROBE_PATTERNS_MAX, RF_PROBE_PROFILES_MAX);
    if (rf_probe_clocks(setup) > 1 && setup->n_patterns == 0)
        return rf_fail(error, RF_EINVAL, "several sets of bursts at once need patterns");
    if (setup->n_patterns > 0 && setup->records && setup->n_selectors > 1)
        return rf_fail(error, RF_EINVAL,
                       "records of several profiles of productions cannot be told apart");
    for (size_t i = 0; i < setup->n_selectors; i++)
        if (setup->bursts[0].burst > 0 && !setup->records && setup->selectors[i].n_conditions > 0)
            return rf_fail(error, RF_EINVAL,
                           "in bursts, selectors with conditions need records: what was skipped is "
                           "counted without them");
    if (setup->processes_apart > 1 && setup->records)
        return rf_fail(error, RF_EINVAL, "records of several processes are not kept apart");
    return RF_OK;
}

/* How much an interval of the selector's first burst stands for. */
static double first_weight(const struct rf_probe_setup *setup, size_t selector)
{
    for (size_t i = 0; i < rf_probe_clocks(setup); i++) {
        const struct rf_probe_bursts *bursts = &setup->bursts[i];
        uint64_t sparsity = bursts->phases ? bursts->new_sparsity : bursts->sparsity;
        if ((bursts->profiles == 0 || (bursts->profiles >> selector & 1) != 0) &&
            sparsity != UINT64_MAX)
            return 1 + (double)sparsity / bursts->burst;
    }
    return 1;
}

static void take_setup(struct probe *probe, const struct rf_probe_setup *setup)
{
    struct rf_decode *decode = &probe->decode;
    memcpy(decode->selectors, setup->selectors, setup->n_selectors * sizeof decode->selectors[0]);
    decode->n_selectors = setup->n_selectors;
    decode->mapped = setup->mapped;
    decode->resolve = setup->resolve;
    decode->resolve_context = setup->resolve_context;
    decode->alloc = &probe->base.alloc;
    decode->processes = &probe->processes;
    decode->counted = setup->hooks ? 0 : rf_counters_selectors(setup);
    probe->processes.hooks = setup->hooks != 0;
    bool as_they_are = setup->records || setup->bursts[0].burst > 0 || setup->n_patterns > 0;
    decode->merged = as_they_are ? 0 : setup->any_order;
    decode->records = setup->records != 0;
    decode->lossy = setup->lossy != 0;
    decode->bursts = setup->bursts[0].burst > 0;
    decode->some_off = rf_probe_clocks(setup) > 1;
    for (size_t i = 0; i < setup->n_selectors; i++)
        decode->first_weight[i] = first_weight(setup, i);
    decode->n_groups = rf_probe_groups(setup, decode->groups);
    decode->patterns = setup->n_patterns > 0;
    if (decode->patterns)
        decode->n_groups = setup->n_selectors;
    decode->n_apart = setup->processes_apart > 1 ? setup->processes_apart : 1;
    probe->processes.n_groups = decode->bursts ? decode->n_groups : 0;
    probe->processes.stop = setup->stop;
    probe->processes.events = &probe->events;
    probe->handed_out = NO_LANE;
    probe->wakes = setup->wakes != 0;
}

/* The producers read it, and `riffle control` changes it (control.c). */
static void tell_bursts(struct rf_ring_bursts *shared, const struct rf_probe_setup *setup)
{
    char text[512];
    shared->n_profiles = (uint32_t)setup->n_selectors;
    for (size_t i = 0; i < setup->n_selectors; i++) {
        rf_selector_print(&setup->selectors[i], text, sizeof text);
        rf_format(shared->profiles[i], RF_RING_TEXT, "%s", text);
    }
    rf_ring_change_bursts(shared, setup->bursts, rf_probe_clocks(setup));
}

rf_status rf_probe_open_idle(struct rf_source **source, const struct rf_probe_setup *setup,
                             struct rf_error *error)
{
    rf_status status = check_setup(setup, error);
    if (status != RF_OK)
        return status;
    struct probe *probe = rf_source_new(&probe_ops, sizeof *probe, setup->alloc);
    if (probe == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for the collector");
    take_setup(probe, setup);
    const struct rf_processes_setup processes = {.counted = probe->decode.counted,
                                                 .slots = setup->slots};
    status = rf_processes_init(&probe->processes, probe->decode.selectors, setup->n_selectors,
                               &processes, &probe->base.alloc, error);
    probe->processes.shelf.keep_records = probe->decode.records;
    if (status == RF_OK)
        tell_bursts(&probe->processes.ring.control->bursts, setup);
    if (status == RF_OK)
        status = rf_decode_init(&probe->decode, error);
    if (status != RF_OK) {
        close_probe(&probe->base);
        return status;
    }
    *source = &probe->base;
    return RF_OK;
}

struct rf_ring *rf_probe_ring(struct rf_source *source)
{
    return &probe_of(source)->processes.ring;
}

rf_status rf_source_open_probe(struct rf_source **source, const struct rf_probe_setup *setup,
                               struct rf_error *error)
{
    if (setup->argv == NULL || setup->argv[0] == NULL)
        return rf_fail(error, RF_EINVAL, "there is no program to run");
    rf_status status = rf_spawn_check_files(error);
    if (status == RF_OK)
        status = rf_probe_open_idle(source, setup, error);
    if (status != RF_OK)
        return status;
    struct probe *probe = probe_of(*source);
    status = rf_spawn_start(&probe->processes.spawn, setup, probe->processes.ring.fd, error);
    if (status != RF_OK) {
        close_probe(*source);
        *source = NULL;
    }
    return status;
}

/* The events that a process says it produced must equal those handed out plus those lost. Selectors with
 * conditions, and patterns, leave events out, so only selectors without either can be checked. */
static bool lanes_add_up(const struct rf_decode *decode, const uint64_t *produced)
{
    for (size_t i = 0; i < decode->n_selectors; i++) {
        const struct rf_selector *selector = &decode->selectors[i];
        uint64_t left = 0;
        for (size_t kind = 0; kind < RF_WORD_CLASSES; kind++)
            left += selector->classes >> kind & 1 ? produced[kind] : 0;
        for (size_t j = i; j < decode->n_lanes; j += decode->n_selectors)
            left -= decode->lanes[j].total + decode->lanes[j].lost + decode->lanes[j].left_out;
        if (selector->n_conditions == 0 && !decode->patterns && left != 0)
            return false;
    }
    return true;
}

static bool verify(const struct probe *probe)
{
    const struct rf_decode *decode = &probe->decode;
    const uint64_t *produced = probe->processes.produced;
    if (probe->processes.n_killed > 0 || probe->damage != RF_OK)
        return false;
    return decode->records ? sum(produced) == decode->lanes[0].total + sum(decode->lost)
                           : lanes_add_up(decode, produced);
}

/* "/usr/bin/su (setuid), ./old (32-bit, 3 times)" */
static void name_unprofiled(const struct rf_processes *processes, char *text, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < processes->n_unprofiled && n < size; i++) {
        const struct rf_unprofiled *known = &processes->unprofiled[i];
        n += rf_format(text + n, size - n, "%s%s (%s", i > 0 ? ", " : "", known->path,
                       rf_target_kind_name(known->kind));
        if (known->times > 1 && n < size)
            n += rf_format(text + n, size - n, ", %llu times", (unsigned long long)known->times);
        n += n < size ? rf_format(text + n, size - n, ")") : 0;
    }
    if (processes->unnamed > 0 && n < size)
        rf_format(text + n, size - n, " and %llu more", (unsigned long long)processes->unnamed);
}

/* "1 sh (812), 2 gzip (813)", the number in parentheses being the process id. */
static void name_processes(const struct rf_processes *processes, char *text, size_t size)
{
    size_t n = 0,
           told = processes->n < RF_PROCESSES_TOLD_MAX ? processes->n : RF_PROCESSES_TOLD_MAX;
    for (size_t i = 0; i < told && n < size; i++)
        n += rf_format(text + n, size - n, "%s%zu %s (%lu)", i > 0 ? ", " : "", i + 1,
                       processes->told[i].program, (unsigned long)processes->told[i].pid);
    if (processes->n > told && n < size)
        rf_format(text + n, size - n, " and %llu more", (unsigned long long)(processes->n - told));
}

static void name_threads(const struct rf_processes *processes, char *text, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < processes->n_named && n < size; i++)
        n += rf_format(text + n, size - n, "%s%u %s", i > 0 ? ", " : "",
                       (unsigned)processes->named[i].number, processes->named[i].name);
}

static bool is_nowhere(const struct rf_selector *selector, unsigned i)
{
    bool nowhere = rf_selector_has_name(&selector->conditions[i]);
    for (unsigned k = 0; k < selector->n_spans; k++)
        nowhere &= selector->spans[k].condition != i;
    return nowhere;
}

/* Names in selectors that no file had. */
static void name_nowhere(const struct rf_decode *decode, char *text, size_t size)
{
    size_t n = 0;
    for (size_t s = 0; s < decode->n_selectors; s++)
        for (unsigned i = 0; i < decode->selectors[s].n_conditions && n < size; i++) {
            const struct rf_condition *c = &decode->selectors[s].conditions[i];
            if (is_nowhere(&decode->selectors[s], i))
                n += rf_format(text + n, size - n, "%s%s", n > 0 ? ", " : "",
                               c->lo.symbol[0] != '\0' ? c->lo.symbol : c->hi.symbol);
        }
}

rf_status rf_probe_wait(struct rf_source *source, struct rf_probe_outcome *outcome,
                        struct rf_error *error)
{
    struct probe *probe = probe_of(source);
    memset(outcome, 0, sizeof *outcome);
    if (source->ops != &probe_ops)
        return rf_fail(error, RF_EINVAL, "this source runs no program");
    struct rf_spawn *spawn = &probe->processes.spawn;
    rf_ring_detach(&probe->processes.ring);
    rf_spawn_ended(spawn, true);
    bool signalled = WIFSIGNALED(spawn->status);
    /* A program with hooks is seen at its first event, which need not come. */
    bool unseen = probe->processes.hooks && probe->processes.n == 0;
    *outcome = (struct rf_probe_outcome){
        .ended = 1,
        .hooks = probe->processes.hooks,
        .exit_status = signalled ? 0 : WEXITSTATUS(spawn->status),
        .signal = signalled ? WTERMSIG(spawn->status) : 0,
        .wall_seconds = spawn->wall_seconds,
        .cpu_seconds = spawn->cpu_seconds,
        .processes = probe->processes.n + unseen,
        .unfollowed = probe->processes.ring.control->unfollowed,
        .untold = probe->processes.ring.control->untold,
        .killed = probe->processes.n_killed,
        .events = probe->events,
        .lost = sum(probe->decode.lost),
        .bursts = probe->decode.n_bursts,
        .skipped = probe->decode.skipped,
        .derived = probe->decode.derived,
        .uncounted = probe->decode.uncounted,
        .changes = probe->processes.ring.control->bursts.changes -
                   (probe->processes.ring.control->bursts.changes > 0), /* the first is ours */
        .off = probe->processes.ring.control->bursts.off,
        .verified = verify(probe),
    };
    rf_ring_read_bursts(&probe->processes.ring.control->bursts, outcome->last_bursts);
    outcome->threads = probe->processes.n_threads;
    for (size_t i = 0; i < probe->processes.n_named; i++) {
        outcome->named_threads[i].number = probe->processes.named[i].number;
        memcpy(outcome->named_threads[i].name, probe->processes.named[i].name, RF_WORD_NAME_BYTES);
    }
    outcome->n_named_threads = probe->processes.n_named;
    name_threads(&probe->processes, outcome->thread_names, sizeof outcome->thread_names);
    name_processes(&probe->processes, outcome->programs, sizeof outcome->programs);
    name_nowhere(&probe->decode, outcome->nowhere, sizeof outcome->nowhere);
    name_unprofiled(&probe->processes, outcome->unprofiled, sizeof outcome->unprofiled);
    outcome->gave_up = rf_valgrind_log_explain(&spawn->log, outcome->processes > 0,
                                               outcome->trouble, sizeof outcome->trouble);
    return RF_OK;
}

int rf_probe_signal(const struct rf_source *source, int signal)
{
    const struct rf_spawn *spawn = &probe_of(source)->processes.spawn;
    if (source->ops != &probe_ops || spawn->pid <= 0 || spawn->ended)
        return 0;
    return kill(spawn->pid, signal) == 0;
}
