/* decode.c - the words of one piece: messages and paths. probe_words.h has the format.
 *
 * The inner loop is expand_paths: it runs path after path as long as they are whole and no lane is full. Every
 * word comes from memory that the profiled program can write. Therefore path numbers are checked against the
 * book's bounds and lengths against the rest of the piece. Anything else ends the stream as damaged. */
#include "source/decode.h"
#include "source/counters.h"
#include "source/hooks_decode.h"
#include "source/legible.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

/* One end more than events: that of a burst whose events were handed out. */
enum { LANE_ROOM = RF_SOURCE_BATCH + RF_WORD_EVENTS_MAX, ENDS_ROOM = LANE_ROOM + 1 };
_Static_assert((int)RF_FRONT_ENTRIES <= (int)LANE_ROOM && (int)LANE_ROOM <= (int)RF_FRONT_ROOM,
               "a lane has room for all that a front holds, and counts for all that a lane holds");

_Static_assert((int)RF_WORD_FRAMES_MAX <= (int)RF_WORD_EVENTS_MAX,
               "a sample of the stack fits a lane that is not full");

#define SAME(word, event)                                                                          \
    _Static_assert((int)(word) == (int)(event), "the probe's numbers are ours")
SAME(RF_WORD_LOAD, RF_CLASS_LOAD);
SAME(RF_WORD_STORE, RF_CLASS_STORE);
SAME(RF_WORD_BRANCH, RF_CLASS_BRANCH);
SAME(RF_WORD_JUMP, RF_CLASS_JUMP);
SAME(RF_WORD_CALL, RF_CLASS_CALL);
SAME(RF_WORD_RETURN, RF_CLASS_RETURN);
SAME(RF_WORD_ALU, RF_CLASS_ALU);
SAME(RF_WORD_INSN, RF_CLASS_INSN);
SAME(RF_WORD_CLASSES, RF_CLASS_FRAME); /* which is not for the probe to tell */
SAME(RF_WORD_TAKEN, RF_RECORD_TAKEN);
SAME(RF_WORD_INDIRECT, RF_RECORD_INDIRECT);

/* ---- buffers ---- */

static void free_lane(const struct rf_decode *decode, const struct rf_decode_lane *lane)
{
    rf_alloc_free(decode->alloc, lane->tuples, LANE_ROOM * sizeof *lane->tuples);
    rf_alloc_free(decode->alloc, lane->ends, ENDS_ROOM * sizeof *lane->ends);
    rf_alloc_free(decode->alloc, lane->weights, ENDS_ROOM * sizeof *lane->weights);
    rf_alloc_free(decode->alloc, lane->skips, (ENDS_ROOM + 1) * sizeof *lane->skips);
    rf_alloc_free(decode->alloc, lane->front, sizeof *lane->front);
    rf_alloc_free(decode->alloc, lane->counted, RF_DECODE_COUNTED * sizeof *lane->counted);
    rf_alloc_free(decode->alloc, lane->counts, RF_DECODE_COUNTED * sizeof *lane->counts);
}

/* This many lanes have buffers. */
static bool get_lanes(struct rf_decode *decode, size_t n)
{
    for (; !decode->records && decode->n_lanes < n; decode->n_lanes++) {
        struct rf_decode_lane *lane = &decode->lanes[decode->n_lanes];
        lane->tuples = rf_alloc_get(decode->alloc, LANE_ROOM * sizeof(struct rf_tuple));
        if (decode->bursts) {
            lane->ends = rf_alloc_get(decode->alloc, ENDS_ROOM * sizeof *lane->ends);
            lane->weights = rf_alloc_get(decode->alloc, ENDS_ROOM * sizeof *lane->weights);
            lane->skips = rf_alloc_zeroed(decode->alloc, (ENDS_ROOM + 1) * sizeof *lane->skips);
        }
        if (lane->tuples != NULL && (decode->merged >> decode->n_lanes % decode->n_selectors & 1))
            lane->front = rf_alloc_zeroed(decode->alloc, sizeof *lane->front); /* or do without */
        lane->merging = lane->front;
        lane->has_counts = lane->front != NULL;
        lane->weight = decode->first_weight[decode->n_lanes % decode->n_selectors];
        if (lane->tuples == NULL ||
            (decode->bursts &&
             (lane->ends == NULL || lane->weights == NULL || lane->skips == NULL))) {
            free_lane(decode, lane);
            return false;
        }
    }
    return true;
}

bool rf_decode_make_counted(struct rf_decode *decode, struct rf_decode_lane *lane)
{
    if (lane->counted == NULL)
        lane->counted = rf_alloc_get(decode->alloc, RF_DECODE_COUNTED * sizeof *lane->counted);
    if (lane->counts == NULL)
        lane->counts = rf_alloc_get(decode->alloc, RF_DECODE_COUNTED * sizeof *lane->counts);
    return lane->counted != NULL && lane->counts != NULL;
}

static uint32_t takers(const struct rf_selector *selectors, size_t n, unsigned kind)
{
    uint32_t mask = 0;
    for (size_t i = 0; i < n; i++)
        mask |= (uint32_t)(selectors[i].classes >> kind & 1) << i;
    return mask;
}

size_t rf_decode_classes(uint32_t classes, uint8_t groups[RF_WORD_CLASSES])
{
    size_t n = 0;
    for (unsigned kind = 0; kind < RF_WORD_CLASSES; kind++)
        if ((classes >> kind & 1) != 0)
            groups[n++] = (uint8_t)(1u << kind);
    return n;
}

size_t rf_decode_groups(const struct rf_selector *selectors, size_t n,
                        uint8_t groups[RF_WORD_CLASSES])
{
    uint32_t masks[RF_WORD_CLASSES] = {0};
    size_t n_groups = 0;
    for (unsigned kind = 0; kind < RF_WORD_CLASSES; kind++) {
        uint32_t mask = takers(selectors, n, kind);
        size_t i = 0;
        while (i < n_groups && masks[i] != mask)
            i++;
        if (mask == 0)
            continue;
        if (i == n_groups) {
            masks[n_groups] = mask;
            groups[n_groups++] = 0;
        }
        groups[i] |= (uint8_t)(1u << kind);
    }
    return n_groups;
}

rf_status rf_decode_init(struct rf_decode *decode, struct rf_error *error)
{
    const struct rf_alloc *alloc = decode->alloc;
    decode->piece.words = rf_alloc_get(alloc, RF_PROCESSES_WORDS * sizeof(uint64_t));
    if (decode->records)
        decode->record_buffer = rf_alloc_get(alloc, LANE_ROOM * sizeof(struct rf_record));
    if (decode->records && decode->bursts) {
        decode->lanes[0].weight = decode->first_weight[0];
        decode->record_ends = rf_alloc_get(alloc, LANE_ROOM * sizeof *decode->record_ends);
        decode->record_weights = rf_alloc_get(alloc, LANE_ROOM * sizeof *decode->record_weights);
        decode->record_skips =
            rf_alloc_zeroed(alloc, (LANE_ROOM + 1) * sizeof *decode->record_skips);
        if (decode->record_ends == NULL || decode->record_weights == NULL ||
            decode->record_skips == NULL)
            return rf_fail(error, RF_ENOMEM, "no memory for the collector");
    }
    if (decode->piece.words == NULL || (decode->records && decode->record_buffer == NULL) ||
        !get_lanes(decode, decode->n_selectors))
        return rf_fail(error, RF_ENOMEM, "no memory for the collector");
    return RF_OK;
}

void rf_decode_free(struct rf_decode *decode)
{
    const struct rf_alloc *alloc = decode->alloc;
    for (size_t i = 0; i < decode->n_lanes; i++)
        free_lane(decode, &decode->lanes[i]);
    rf_alloc_free(alloc, decode->record_ends, LANE_ROOM * sizeof *decode->record_ends);
    rf_alloc_free(alloc, decode->record_weights, LANE_ROOM * sizeof *decode->record_weights);
    rf_alloc_free(alloc, decode->record_skips, (LANE_ROOM + 1) * sizeof *decode->record_skips);
    rf_alloc_free(alloc, decode->record_buffer, LANE_ROOM * sizeof(struct rf_record));
    rf_alloc_free(alloc, decode->piece.words, RF_PROCESSES_WORDS * sizeof(uint64_t));
}

size_t rf_decode_lane(const struct rf_decode *decode, const struct rf_process *process)
{
    uint64_t number = process->number;
    return (number < decode->n_apart ? number : decode->n_apart - 1) * decode->n_selectors;
}

rf_status rf_decode_make_lanes(struct rf_decode *decode, const struct rf_process *process,
                               struct rf_error *error)
{
    if (!get_lanes(decode, rf_decode_lane(decode, process) + decode->n_selectors))
        return rf_fail(error, RF_ENOMEM, "no memory for another process");
    return RF_OK;
}

static size_t first_lane(const struct rf_decode *decode)
{
    return rf_decode_lane(decode, decode->piece.process);
}

/* ---- messages ---- */

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
    struct rf_decode_lane *lanes = &decode->lanes[first_lane(decode)];
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

/* There is a gap in these lanes (1 << selector) of the process between what is there and what comes next. */
static void end_strings(struct rf_decode *decode, uint64_t which)
{
    struct rf_decode_lane *lanes = &decode->lanes[first_lane(decode)];
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
    struct rf_decode_lane *lanes = &decode->lanes[first_lane(decode)];
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
            skipped[group];
    decode->record_bursts += bursts;
}

/* What these lanes tell, up to here, stands for so much. */
static void weigh(struct rf_decode *decode, uint64_t which, uint64_t weight)
{
    struct rf_decode_lane *lanes = &decode->lanes[first_lane(decode)];
    for (size_t i = 0; i < decode->n_selectors; i++)
        if ((which >> i & 1) != 0)
            lanes[i].weight = (double)weight / RF_WORD_WEIGHT_ONE;
}

/* words[1] says whose bursts are over; a message of bursts ends with their weight. */
static rf_status see_skipped(struct rf_decode *decode, const uint64_t *words, size_t n,
                             uint64_t bursts, struct rf_error *error)
{
    struct rf_process *process = decode->piece.process;
    struct rf_decode_lane *lanes = &decode->lanes[first_lane(decode)];
    if (!decode->bursts || n != 2 + decode->n_groups + bursts)
        return rf_processes_damaged(error);
    if (decode->records)
        skip_records(decode, words + 2, bursts);
    for (size_t i = 0; !decode->records && i < decode->n_selectors; i++) {
        lanes[i].bursts += (words[1] >> i & 1) != 0 ? bursts : 0;
        for (size_t group = 0; group < decode->n_groups; group++)
            if (counts_for(decode, group, i))
                skip_in(&lanes[i], words[2 + group]);
    }
    for (size_t group = 0; group < decode->n_groups; group++) {
        decode->skipped += words[2 + group];
        process->skipped[group] += words[2 + group];
    }
    decode->n_bursts += bursts;
    if (bursts > 0)
        weigh(decode, words[1], words[n - 1]);
    leave_out(decode, words[1]);
    end_strings(decode, words[1]);
    return RF_OK;
}

/* Some profiles are between bursts: what came for them since `before` is skipped. */
static void skip_others(struct rf_decode *decode, struct rf_decode_lane *lanes,
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
    struct rf_decode_lane *lanes = &decode->lanes[first_lane(decode)];
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
        [RF_WORD_FORK] = 2,
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

static rf_status see_message(struct rf_decode *decode, const uint64_t *words, size_t n,
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
        end_strings(decode, UINT64_MAX);
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
        return rf_processes_fork(decode->processes, process, (uint32_t)words[1], error);
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

/* ---- paths ---- */

/* The length of the message or path that begins with this word; 0: it makes no sense. */
static size_t length_of(const struct rf_book *book, uint64_t word, bool merged)
{
    if (word < book->n_paths)
        return 1 + (size_t)book->paths[word]->words;
    if (merged && !(word & RF_WORD_MESSAGE) && (uint32_t)word < book->n_paths)
        return 1 + (size_t)book->paths[(uint32_t)word]->words;
    if (!merged && rf_book_has(book, word))
        return 2;
    if (!(word & RF_WORD_MESSAGE) || (uint32_t)word > RF_WORD_MESSAGE_MAX)
        return 0;
    return (uint32_t)word;
}

/* How many more tuples fit into every lane of the process. */
static size_t lanes_room(const struct rf_decode *decode, const struct rf_decode_lane *lanes,
                         struct rf_tuple *const *next)
{
    size_t fullest = 0;
    for (size_t i = 0; i < decode->n_selectors; i++) {
        size_t n = (size_t)(next[i] - lanes[i].tuples);
        fullest = n > fullest ? n : fullest;
    }
    return fullest < RF_SOURCE_BATCH ? RF_SOURCE_BATCH - fullest : 0;
}

/* Expand paths as long as they are whole and no lane is full. The fill of the lanes is checked only when one
 * of them could be full. */
static bool expand_paths(struct rf_decode *decode)
{
    const struct rf_process *process = decode->piece.process;
    struct rf_decode_lane *lanes = &decode->lanes[first_lane(decode)];
    struct rf_tuple *next[RF_DECODE_SELECTORS_MAX];
    const struct rf_book_path *path, *following;
    size_t before[RF_DECODE_SELECTORS_MAX];
    for (size_t i = 0; i < decode->n_selectors; i++)
        next[i] = lanes[i].tuples + (before[i] = lanes[i].n);
    size_t room = lanes_room(decode, lanes, next), at = decode->at;
    const struct rf_legible view = rf_legible_of(decode);
    path = rf_legible_path(&view, at);
    while (room > 0 && path != NULL) {
        const uint64_t *words = view.words + at;
        at += 1 + (size_t)path->words;
        following = rf_legible_path(&view, at);
        if (following != NULL) /* its steps are fetched while this one is expanded */
            __builtin_prefetch(&following->steps[2]);
        rf_book_expand(&process->book, path, words, process->thread, next);
        room = path->most < room ? room - path->most : lanes_room(decode, lanes, next);
        path = following;
    }
    decode->at = at;
    for (size_t i = 0; i < decode->n_selectors; i++)
        lanes[i].n = (size_t)(next[i] - lanes[i].tuples);
    if (decode->some_off)
        skip_others(decode, lanes, before);
    return room == 0;
}

/* The same for records. */
static bool record_paths(struct rf_decode *decode)
{
    const struct rf_book_path *path;
    const struct rf_legible view = rf_legible_of(decode);
    while (decode->n_records < RF_SOURCE_BATCH &&
           (path = rf_legible_path(&view, decode->at)) != NULL) {
        decode->n_records +=
            rf_book_records(path, decode->piece.words + decode->at, decode->piece.process->thread,
                            decode->record_buffer + decode->n_records);
        decode->at += 1 + (size_t)path->words;
    }
    return decode->n_records >= RF_SOURCE_BATCH;
}

static bool decode_paths(struct rf_decode *decode)
{
    if (decode->records)
        return record_paths(decode);
    return rf_decode_merges(decode) ? rf_decode_merge(decode) : expand_paths(decode);
}

rf_status rf_decode_run(struct rf_decode *decode, bool *full, struct rf_error *error)
{
    struct rf_piece *piece = &decode->piece;
    *full = false;
    if (piece->process == NULL) /* there is no piece */
        return RF_OK;
    rf_status status = rf_decode_make_lanes(decode, piece->process, error);
    if (status != RF_OK)
        return status;
    if (piece->process != decode->before)
        end_strings(decode, UINT64_MAX);
    decode->before = piece->process;
    if (piece->tally)
        return rf_counters_process(decode, piece->process, full, error);
    bool is_merged = rf_hooks_decode_is_for(decode, piece->process);
    while (decode->at < piece->n) {
        if (is_merged)
            status = rf_hooks_decode(decode, full, error);
        else
            *full = decode_paths(decode);
        size_t before = decode->at;
        if (!is_merged && !*full)
            status = rf_decode_entries(decode, full, error);
        if (status != RF_OK || *full || decode->at == piece->n)
            break;
        if (decode->at > before)
            continue;
        const uint64_t *words = piece->words + decode->at;
        size_t left = piece->n - decode->at,
               length = length_of(&piece->process->book, words[0], is_merged);
        bool unfinished = length == 0 || length > left;
        if (unfinished && piece->whole)
            return rf_processes_damaged(error);
        if (unfinished || (length == left && !piece->whole && !piece->last)) {
            piece->n = decode->at;
            break;
        }
        status = see_message(decode, words, length, error);
        if (status != RF_OK)
            return status;
        decode->at += length;
    }
    return status;
}
