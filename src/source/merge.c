/* merge.c - paths into lanes whose repeats are merged (front.h).
 *
 * A front costs 3 ns per event and saves the engine those that it merges, 5 to 10 ns each. So it pays where
 * nearly all are merged: perl, python3 and compilers, of whose loads 87 to 95% are. gzip and bzip2, of whose loads a quarter
 * goes out again, are faster without. Each lane finds out by itself: a batch that went out with too few events per
 * tuple ends the merging, and some millions of events later it is tried again. The profile is the same either way. */
#include "source/legible.h"

enum {
    EVENTS_PER_TUPLE = 6, /* at least, or it does not pay */
    BATCHES_OFF = 256,    /* until it is tried again */
};

void rf_decode_append(struct rf_decode_lane *lane, size_t n)
{
    for (size_t i = 0; lane->has_counts && i < n; i++)
        lane->front->counts[lane->n + i] = 1;
    lane->n += n;
}

static bool is_full(const struct rf_decode *decode, const struct rf_decode_lane *lanes)
{
    for (size_t i = 0; i < decode->n_selectors; i++)
        if (lanes[i].n >= RF_SOURCE_BATCH)
            return true;
    return false;
}

/* What is no step is not merged: each tuple goes out at once. */
static void merge_others(const struct rf_process *process, const struct rf_book_path *path,
                         const uint64_t *words, struct rf_decode_lane *lanes)
{
    struct rf_tuple *next[RF_DECODE_SELECTORS_MAX];
    size_t n = process->book.shelf->n_selectors;
    for (size_t i = 0; i < n; i++)
        next[i] = lanes[i].tuples + lanes[i].n;
    rf_book_expand_others(&process->book, path, words, process->thread, next);
    for (size_t i = 0; i < n; i++)
        rf_decode_append(&lanes[i], (size_t)(next[i] - lanes[i].tuples) - lanes[i].n);
}

/* The steps of one run of the path, into the lanes or their fronts. */
static inline void merge_steps(const struct rf_book_path *path, const uint64_t *words,
                               struct rf_decode_lane *lanes)
{
    const struct rf_book_step *step = path->steps;
    for (unsigned left = path->n_steps; left > 0; left--, step++) {
        struct rf_decode_lane *lane = &lanes[step->lane];
        struct rf_tuple tuple = rf_book_tuple(step, words);
        if (lane->merging != NULL)
            lane->n = rf_front_put(lane->merging, tuple, lane->tuples, lane->n);
        else
            lane->tuples[lane->n++] = tuple;
    }
}

/* The same where there is one lane, which has a front: all that changes stays in registers. */
static inline size_t merge_all(const struct rf_book_path *path, const uint64_t *words,
                               struct rf_front *front, struct rf_tuple *tuples, size_t n)
{
    const struct rf_book_step *step = path->steps;
    for (unsigned left = path->n_steps; left > 0; left--, step++)
        n = rf_front_put(front, rf_book_tuple(step, words), tuples, n);
    return n;
}

/* Merge paths of one lane, as long as they are whole, are all steps and the lane is not full. */
static void merge_alone(struct rf_decode *decode, struct rf_decode_lane *lane)
{
    const struct rf_legible view = rf_legible_of(decode);
    struct rf_front *front = lane->merging;
    struct rf_tuple *tuples = lane->tuples;
    size_t at = decode->at, n = lane->n;
    const struct rf_book_path *path = rf_legible_path(&view, at), *following;
    while (n < RF_SOURCE_BATCH && path != NULL && path->pieces == NULL) {
        const uint64_t *words = view.words + at;
        at += 1 + (size_t)path->words;
        following = rf_legible_path(&view, at);
        if (following != NULL)
            __builtin_prefetch(&following->steps[2]);
        n = merge_all(path, words, front, tuples, n);
        path = following;
    }
    decode->at = at;
    lane->n = n;
}

bool rf_decode_merge(struct rf_decode *decode)
{
    const struct rf_process *process = decode->piece.process;
    struct rf_decode_lane *lanes = &decode->lanes[rf_decode_lane(decode, decode->piece.process)];
    const struct rf_book_path *path;
    const struct rf_legible view = rf_legible_of(decode);
    for (;;) {
        if (decode->n_selectors == 1 && lanes->merging != NULL)
            merge_alone(decode, lanes);
        path = rf_legible_path(&view, decode->at);
        if (path == NULL || is_full(decode, lanes))
            return is_full(decode, lanes); /* messages fill lanes, too: samples of stacks */
        merge_steps(path, view.words + decode->at, lanes);
        if (path->pieces != NULL)
            merge_others(process, path, view.words + decode->at, lanes);
        decode->at += 1 + (size_t)path->words;
    }
}

bool rf_decode_merges(const struct rf_decode *decode)
{
    const struct rf_decode_lane *lanes =
        &decode->lanes[rf_decode_lane(decode, decode->piece.process)];
    for (size_t i = 0; decode->merged != 0 && i < decode->n_selectors; i++)
        if (lanes[i].merging != NULL)
            return true;
    return false;
}

static void empty(struct rf_decode_lane *lane)
{
    lane->n = rf_front_empty(lane->front, lane->tuples);
    lane->has_counts = lane->merging != NULL || lane->n > 0;
}

void rf_decode_begin_batch(struct rf_decode_lane *lane, size_t tuples, uint64_t events)
{
    bool was_merging = lane->merging != NULL;
    lane->n = lane->n_ends = 0;
    lane->has_counts = was_merging;
    if (lane->front == NULL)
        return;
    if (was_merging && tuples >= RF_SOURCE_BATCH && events < tuples * EVENTS_PER_TUPLE) {
        lane->merging = NULL;
        lane->batches_off = BATCHES_OFF;
        empty(lane);
    } else if (!was_merging && --lane->batches_off == 0) {
        lane->merging = lane->front;
        lane->has_counts = true;
    }
}

void rf_decode_finish(struct rf_decode *decode)
{
    for (size_t i = 0; i < decode->n_lanes; i++)
        if (decode->lanes[i].merging != NULL)
            empty(&decode->lanes[i]);
}
