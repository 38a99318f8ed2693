/* decode.c - the words of one piece as tuples or records, and the buffers for those. probe_words.h has the format.
 *
 * The inner loop is expand_paths: it runs path after path as long as they are whole and no lane is full; between two runs
 * of paths there is a message (messages.c). Every word comes from memory that the profiled program can write. Therefore
 * path numbers are checked against the book's bounds and lengths against the rest of the piece. Anything else ends the
 * stream as damaged. */
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
    rf_alloc_free(decode->alloc, lane->single, RF_DECODE_COUNTED * sizeof *lane->single);
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
    struct rf_decode_lane *lanes = &decode->lanes[rf_decode_lane(decode, decode->piece.process)];
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
        rf_decode_skip_others(decode, lanes, before);
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
        rf_decode_end_strings(decode, UINT64_MAX);
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
        status = rf_decode_message(decode, words, length, error);
        if (status != RF_OK)
            return status;
        decode->at += length;
    }
    return status;
}
