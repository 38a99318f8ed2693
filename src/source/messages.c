/* messages.c - what the words of a piece say besides events: definitions, threads, files, bursts, losses, the end.
 *
 * Every word comes from memory that the profiled program can write. Therefore lengths are checked against the least that a
 * message of its type has, texts against the rest of the message, and numbers of events against what a processor can
 * make. Anything else ends the stream as damaged. */
#include "source/decode.h"
#include "base/error.h"
#include <string.h>

/* No processor makes more events than this per second. */
static const double events_a_second_max = 1e11;

bool rf_decode_is_credible(const struct rf_decode *decode, uint64_t events)
{
    double seconds = rf_spawn_clock() - decode->processes->spawn.started;
    return (double)events <= events_a_second_max * (1 + seconds);
}

static bool are_losses(const struct rf_decode *decode, const uint64_t *lost)
{
    for (size_t kind = 0; kind < RF_WORD_CLASSES; kind++)
        if (lost[kind] > UINT64_MAX - decode->lost[kind] ||
            !rf_decode_is_credible(decode, decode->lost[kind] + lost[kind]))
            return false;
    return decode->lossy;
}

/* What is counted is not lost: where losses may happen, only selectors without dynamic words are counted. */
static void see_lost(struct rf_decode *decode, const uint64_t *words)
{
    struct rf_decode_lane *lanes = &decode->lanes[rf_decode_lane(decode, decode->piece.process)];
    for (size_t kind = 0; kind < RF_WORD_CLASSES; kind++) {
        decode->lost[kind] += words[1 + kind];
        for (size_t i = 0; i < decode->n_selectors; i++)
            if ((decode->selectors[i].classes >> kind & 1) && !(decode->counted >> i & 1))
                lanes[i].lost += words[1 + kind];
    }
}

bool rf_decode_is_open(const struct rf_decode_lane *lane)
{
    return lane->n_ends > 0 ? lane->n > lane->ends[lane->n_ends - 1] : lane->open || lane->n > 0;
}

static void end_records(struct rf_decode *decode)
{
    size_t n = decode->n_record_ends;
    if (decode->n_records > (n > 0 ? decode->record_ends[n - 1] : 0)) {
        decode->record_weights[n] = decode->lanes[0].weight;
        decode->record_ends[decode->n_record_ends++] = (uint32_t)decode->n_records;
        memset(decode->record_skips[n + 1], 0, sizeof decode->record_skips[0]);
    }
}

void rf_decode_end_strings(struct rf_decode *decode, uint64_t which)
{
    struct rf_decode_lane *lanes = &decode->lanes[rf_decode_lane(decode, decode->piece.process)];
    if (decode->bursts && decode->records)
        end_records(decode);
    for (size_t i = 0; decode->bursts && !decode->records && i < decode->n_selectors; i++)
        if ((which >> i & 1) != 0 && rf_decode_is_open(&lanes[i])) {
            lanes[i].weights[lanes[i].n_ends] = lanes[i].weight;
            lanes[i].ends[lanes[i].n_ends++] = (uint32_t)lanes[i].n;
            lanes[i].skips[lanes[i].n_ends] = 0;
        }
}

static void skip_in(struct rf_decode_lane *lane, uint64_t events)
{
    lane->skipped += events;
    lane->skips[lane->n_ends] += events; /* told of with the end that comes next */
}

/* Some profiles are switched off for now (control.c): their events of the burst count as skipped. */
static void leave_out(struct rf_decode *decode, uint64_t which)
{
    struct rf_decode_lane *lanes = &decode->lanes[rf_decode_lane(decode, decode->piece.process)];
    uint32_t off = __atomic_load_n(&decode->processes->ring.control->bursts.off, __ATOMIC_RELAXED);
    for (size_t i = 0; off != 0 && !decode->records && i < decode->n_selectors; i++) {
        if (!((off & which) >> i & 1))
            continue;
        size_t begin = lanes[i].n_ends > 0 ? lanes[i].ends[lanes[i].n_ends - 1] : 0;
        skip_in(&lanes[i], lanes[i].n - begin);
        lanes[i].left_out += lanes[i].n - begin;
        lanes[i].n = begin;
    }
}

/* A selector's classes have all of a group or none of it. */
static bool counts_for(const struct rf_decode *decode, size_t group, size_t selector)
{
    return decode->patterns ? group == selector
                            : (decode->selectors[selector].classes & decode->groups[group]) != 0;
}

/* Of records each class is a group. */
static void skip_records(struct rf_decode *decode, const uint64_t *skipped, uint64_t bursts)
{
    for (size_t group = 0; group < decode->n_groups; group++)
        decode->record_skips[decode->n_record_ends][__builtin_ctz(decode->groups[group])] +=
            rf_decode_skips(decode, skipped[group]);
    decode->record_bursts += bursts;
}

/* What these lanes tell, up to here, stands for this much. */
static void weigh(struct rf_decode *decode, uint64_t which, uint64_t weight)
{
    struct rf_decode_lane *lanes = &decode->lanes[rf_decode_lane(decode, decode->piece.process)];
    for (size_t i = 0; i < decode->n_selectors; i++)
        if ((which >> i & 1) != 0)
            lanes[i].weight = (double)weight / RF_WORD_WEIGHT_ONE;
}

/* words[1] says whose bursts are over; a message of bursts ends with their weight. */
static rf_status see_skipped(struct rf_decode *decode, const uint64_t *words, size_t n,
                             uint64_t bursts, struct rf_error *error)
{
    struct rf_process *process = decode->piece.process;
    struct rf_decode_lane *lanes = &decode->lanes[rf_decode_lane(decode, decode->piece.process)];
    if (!decode->bursts || n != 2 + decode->n_groups + bursts)
        return rf_processes_damaged(error);
    if (decode->records)
        skip_records(decode, words + 2, bursts);
    for (size_t i = 0; !decode->records && i < decode->n_selectors; i++) {
        lanes[i].bursts += (words[1] >> i & 1) != 0 ? bursts : 0;
        for (size_t group = 0; group < decode->n_groups; group++)
            if (counts_for(decode, group, i))
                skip_in(&lanes[i], rf_decode_skips(decode, words[2 + group]));
    }
    for (size_t group = 0; group < decode->n_groups; group++) {
        uint64_t skipped = rf_decode_skips(decode, words[2 + group]);
        decode->skipped += skipped;
        process->skipped[group] += skipped;
    }
    decode->n_bursts += bursts;
    if (bursts > 0)
        weigh(decode, words[1], words[n - 1]);
    leave_out(decode, words[1]);
    rf_decode_end_strings(decode, words[1]);
    return RF_OK;
}

void rf_decode_skip_others(struct rf_decode *decode, struct rf_decode_lane *lanes,
                           const size_t *before)
{
    for (size_t i = 0; i < decode->n_selectors; i++) {
        uint64_t n = lanes[i].n - before[i];
        if ((decode->piece.process->on >> i & 1) != 0)
            continue;
        skip_in(&lanes[i], n);
        decode->skipped += n;
        lanes[i].n = before[i];
    }
}

static void see_end(struct rf_process *process, const uint64_t *words)
{
    process->told_end = true;
    memcpy(process->produced, words + 1, sizeof process->produced);
}

/* Names in selectors may mean something in this file. What was defined before it was mapped stays as it is: code
 * names no place outside of its own file, but for words, which are looked at when they come. */
static rf_status bind_names(struct rf_decode *decode, const struct rf_module *module,
                            struct rf_error *error)
{
    rf_status status = RF_OK;
    if (decode->resolve == NULL || module->path[0] == '[')
        return RF_OK;
    decode->mapped(decode->resolve_context, module);
    for (size_t i = 0; i < decode->n_selectors && status == RF_OK; i++)
        if (decode->selectors[i].unbound)
            status = rf_selector_bind_more(&decode->selectors[i], decode->resolve,
                                           decode->resolve_context, error);
    return status;
}

static rf_status see_module(struct rf_decode *decode, const uint64_t *words, size_t n,
                            struct rf_error *error)
{
    const char *path = (const char *)(words + 4);
    if (memchr(path, '\0', (n - 4) * 8) == NULL)
        return rf_processes_damaged(error);
    const struct rf_module module = {
        .path = (char *)(uintptr_t)path, .start = words[1], .end = words[2], .offset = words[3]};
    const struct rf_modules *known = &decode->processes->modules;
    size_t before = known->n;
    rf_status status = rf_processes_map(decode->processes, decode->piece.process, &module, error);
    return status == RF_OK && known->n > before ? bind_names(decode, &known->list[before], error)
                                                : status;
}

static rf_status see_unprofiled(struct rf_decode *decode, const uint64_t *words, size_t n,
                                struct rf_error *error)
{
    const char *path = (const char *)(words + 2);
    if (memchr(path, '\0', (n - 2) * 8) == NULL || words[1] == 0 || words[1] >= RF_TARGET_KINDS)
        return rf_processes_damaged(error);
    rf_processes_unprofiled(decode->processes, (enum rf_target_kind)words[1], path);
    return RF_OK;
}

/* The outermost frame is the last word. */
static void make_frames(const uint64_t *words, size_t n, uint16_t thread, struct rf_record *out)
{
    uint64_t context = 0;
    for (size_t i = 0; i < n; i++) {
        out[i] = (struct rf_record){
            .kind = RF_CLASS_FRAME, .pc = words[n - 1 - i], .value = context, .thread = thread};
        context = rf_context_below(context, out[i].pc);
    }
}

/* A message comes only when no lane and no buffer of records is full (rf_decode_run), so there is room. */
static rf_status see_stack(struct rf_decode *decode, const uint64_t *words, size_t n,
                           struct rf_error *error)
{
    struct rf_record frames[RF_WORD_FRAMES_MAX];
    struct rf_decode_lane *lanes = &decode->lanes[rf_decode_lane(decode, decode->piece.process)];
    size_t depth = n - 1;
    if (depth > RF_WORD_FRAMES_MAX)
        return rf_processes_damaged(error);
    make_frames(words + 1, depth, decode->piece.process->thread, frames);
    if (decode->records) {
        memcpy(decode->record_buffer + decode->n_records, frames, depth * sizeof *frames);
        decode->n_records += depth;
    }
    for (size_t i = 0; !decode->records && i < decode->n_selectors; i++)
        if (decode->selectors[i].classes >> RF_CLASS_FRAME & 1)
            rf_decode_append(&lanes[i], rf_selector_run(&decode->selectors[i], frames, depth,
                                                        lanes[i].tuples + lanes[i].n));
    return RF_OK;
}

static size_t least_length(unsigned type)
{
    static const uint8_t least[] = {
        [RF_WORD_DEFINE] = 4,
        [RF_WORD_THREAD] = 2,
        [RF_WORD_MODULE] = 5,
        [RF_WORD_UNMAP] = 3,
        [RF_WORD_FORK] = 3,
        [RF_WORD_LOST] = 1 + RF_WORD_CLASSES,
        [RF_WORD_END] = 1 + RF_WORD_CLASSES,
        [RF_WORD_GOES_ON] = 1,
        [RF_WORD_UNPROFILED] = 3,
        [RF_WORD_BURST] = 4,
        [RF_WORD_SKIPPED] = 3,
        [RF_WORD_ON] = 2,
        [RF_WORD_NAME] = 2 + RF_WORD_NAME_BYTES / 8,
        [RF_WORD_STACK] = 2,
    };
    return type < sizeof least ? least[type] : 0;
}

rf_status rf_decode_message(struct rf_decode *decode, const uint64_t *words, size_t n,
                            struct rf_error *error)
{
    struct rf_process *process = decode->piece.process;
    unsigned type = (unsigned)(words[0] >> 32 & 0x7fffffff);
    size_t least = least_length(type);
    if (least == 0 || n < least)
        return rf_processes_damaged(error);
    switch (type) {
    case RF_WORD_DEFINE:
        return rf_book_define(&process->book, words, n, error);
    case RF_WORD_THREAD:
        rf_decode_end_strings(decode, UINT64_MAX);
        return rf_processes_switch(decode->processes, process, words[1], error);
    case RF_WORD_BURST:
        return see_skipped(decode, words, n, 1, error);
    case RF_WORD_SKIPPED:
        return see_skipped(decode, words, n, 0, error);
    case RF_WORD_ON:
        process->on = words[1];
        return RF_OK;
    case RF_WORD_NAME:
        return rf_processes_name(decode->processes, process, words[1], (const char *)(words + 2),
                                 error);
    case RF_WORD_STACK:
        return see_stack(decode, words, n, error);
    case RF_WORD_MODULE:
        return see_module(decode, words, n, error);
    case RF_WORD_UNMAP:
        rf_processes_unmap(decode->processes, process, words[1], words[2]);
        return RF_OK;
    case RF_WORD_FORK:
        return rf_processes_fork(decode->processes, process, (uint32_t)words[1], words[2], error);
    case RF_WORD_LOST:
        if (!are_losses(decode, words + 1))
            return rf_processes_damaged(error);
        see_lost(decode, words);
        return RF_OK;
    case RF_WORD_GOES_ON:
        process->told_end = false;
        return RF_OK;
    case RF_WORD_UNPROFILED:
        return see_unprofiled(decode, words, n, error);
    default:
        see_end(process, words);
        return RF_OK;
    }
}
