/* hooks_decode.c - from the words of hooks to tuples with counts.
 *
 *     [path 7 | 41 more << 32][value 5]     ->     lane 0: <pc of path 7, 5> 42 times
 *
 * A slot of hooks has the paths of one thread. Each path is one event, and the hooks have merged what was the same, so
 * what comes here has counts: each lane has a front for them (front.h), which merges what several threads tell. Most words come in
 * pockets, many of one path. What was merged last, or lies in pockets, is never told: when the process is over, it is read where the hooks kept it (ring_layout.h).
 *
 * The program can write to all of it. A path number is checked against the book, a length against the piece, and a count
 * against what a processor can have done. */
#include "source/hooks_decode.h"
#include "source/legible.h"
#include "base/error.h"
#include <string.h>

bool rf_hooks_decode_is_for(const struct rf_decode *decode, const struct rf_process *process)
{
    const struct rf_decode_lane *lanes = &decode->lanes[rf_decode_lane(decode, process)];
    if (process->reader.family == 0 || decode->records)
        return false;
    for (size_t i = 0; i < decode->n_selectors; i++)
        if (lanes[i].front == NULL)
            return false;
    return true;
}

static bool is_full(const struct rf_decode *decode, const struct rf_decode_lane *lanes)
{
    for (size_t i = 0; i < decode->n_selectors; i++)
        if (lanes[i].n >= RF_SOURCE_BATCH)
            return true;
    return false;
}

/* One tuple, `times` times. */
static void put(struct rf_decode_lane *lane, struct rf_tuple tuple, uint64_t times)
{
    if (lane->merging != NULL) {
        lane->n = rf_front_add(lane->merging, tuple, times, lane->tuples, lane->n);
        return;
    }
    for (size_t i = 0; !lane->has_counts && i < lane->n; i++)
        lane->front->counts[i] = 1;
    lane->has_counts = true;
    lane->front->counts[lane->n] = times;
    lane->tuples[lane->n++] = tuple;
}

/* What is no step: through a room of its own. */
static void put_others(const struct rf_process *process, const struct rf_book_path *path,
                       const uint64_t *words, uint64_t times, struct rf_decode_lane *lanes)
{
    struct rf_tuple tuples[RF_DECODE_SELECTORS_MAX], *next[RF_DECODE_SELECTORS_MAX];
    size_t n = process->book.shelf->n_selectors;
    for (size_t i = 0; i < n; i++)
        next[i] = &tuples[i];
    rf_book_expand_others(&process->book, path, words, process->thread, next);
    for (size_t i = 0; i < n; i++)
        if (next[i] != &tuples[i])
            put(&lanes[i], tuples[i], times);
}

static void put_path(const struct rf_process *process, const struct rf_book_path *path,
                     const uint64_t *words, uint64_t times, struct rf_decode_lane *lanes)
{
    for (unsigned i = 0; i < path->n_steps; i++)
        put(&lanes[path->steps[i].lane], rf_book_tuple(&path->steps[i], words), times);
    if (path->pieces != NULL)
        put_others(process, path, words, times, lanes);
}

/* The path that a word names; NULL: it names none that hooks have. Theirs are single events. */
static const struct rf_book_path *path_of(const struct rf_book *book, uint64_t word)
{
    uint32_t number = (uint32_t)word;
    if ((word & RF_WORD_MESSAGE) != 0 || number >= book->n_paths)
        return NULL;
    return book->paths[number]->n_records == 1 ? book->paths[number] : NULL;
}

/* ---- pockets ---- */

static bool is_pocket(uint64_t word)
{
    return (word & RF_WORD_MESSAGE) != 0 && (word >> 32 & 0x7fffffff) == RF_WORD_POCKET;
}

/* Words of a step, one after the other. What does not change comes to one tuple. */
static void put_step(struct rf_decode_lane *lane, const struct rf_book_step *step,
                     const uint64_t *words, size_t n)
{
    const uint64_t a = step->a, b = step->b, mask = rf_book_masks[step->bits];
    if (step->word == 0 || step->bits == 0) {
        put(lane, rf_book_tuple(step, (const uint64_t[2]){0, 0}), n);
    } else if (lane->merging != NULL) {
        size_t at = lane->n;
        for (size_t i = 0; i < n; i++)
            at = rf_front_put(lane->merging, (struct rf_tuple){a, b + (words[i] & mask)},
                              lane->tuples, at);
        lane->n = at;
    } else {
        struct rf_tuple *to = lane->tuples + lane->n;
        for (size_t i = 0; i < n; i++)
            to[i] = (struct rf_tuple){a, b + (words[i] & mask)};
        rf_decode_append(lane, n);
    }
}

/* n words of one path, which has one that changes. */
static void put_words(const struct rf_process *process, const struct rf_book_path *path,
                      const uint64_t *words, size_t n, struct rf_decode_lane *lanes)
{
    for (unsigned i = 0; i < path->n_steps; i++)
        put_step(&lanes[path->steps[i].lane], &path->steps[i], words, n);
    for (size_t i = 0; path->pieces != NULL && i < n; i++)
        put_others(process, path, (const uint64_t[2]){0, words[i]}, 1, lanes);
}

/* The words of a message: numbers of so many bits each, behind one that means nothing, with the bits that all have. */
static void unpack(uint64_t *words, const uint64_t *from, unsigned bits, uint64_t base)
{
    for (unsigned i = 0; i < RF_RING_POCKET_WORDS; i++)
        words[i] = base | (bits == 8    ? ((const uint8_t *)from)[i + 1]
                           : bits == 16 ? ((const uint16_t *)from)[i + 1]
                           : bits == 32 ? ((const uint32_t *)from)[i + 1]
                                        : from[i + 1]);
}

/* A message of n words; false: it makes no sense. */
static bool put_pocket(struct rf_process *process, const uint64_t *message, size_t n,
                       struct rf_decode_lane *lanes)
{
    uint64_t words[RF_RING_POCKET_WORDS];
    unsigned bits = (unsigned)(message[1] >> 32);
    const struct rf_book_path *path = path_of(&process->book, (uint32_t)message[1]);
    bool is_one = bits == 0 || bits == 8 || bits == 16 || bits == 32 || bits == 64;
    if (!is_one || n != RF_WORD_POCKET_HEAD + bits || path == NULL || path->words != 1)
        return false;
    process->produced[RF_WORD_LOAD] += RF_RING_POCKET_WORDS;
    if (bits == 0) {
        put_path(process, path, message + 1, RF_RING_POCKET_WORDS, lanes);
        return true;
    }
    unpack(words, message + RF_WORD_POCKET_HEAD, bits, message[2]);
    put_words(process, path, words, RF_RING_POCKET_WORDS, lanes);
    return true;
}

rf_status rf_hooks_decode(struct rf_decode *decode, bool *full, struct rf_error *error)
{
    struct rf_process *process = decode->piece.process;
    struct rf_decode_lane *lanes = &decode->lanes[rf_decode_lane(decode, process)];
    const struct rf_legible view = rf_legible_of(decode);
    while (decode->at < view.end && !(*full = is_full(decode, lanes))) {
        const uint64_t *words = view.words + decode->at;
        if (is_pocket(words[0])) {
            size_t n = (uint32_t)words[0];
            if (n > view.end - decode->at)
                return RF_OK;
            if (n < RF_WORD_POCKET_HEAD || !put_pocket(process, words, n, lanes))
                return rf_processes_damaged(error);
            decode->at += n;
            continue;
        }
        const struct rf_book_path *path = path_of(&process->book, words[0]);
        if (path == NULL || 1 + (size_t)path->words > view.end - decode->at)
            return RF_OK;
        uint64_t times = (words[0] >> 32) + 1;
        if (times > 1 && !rf_decode_is_credible(decode, times))
            return rf_processes_damaged(error);
        put_path(process, path, words, times, lanes);
        decode->at += 1 + (size_t)path->words;
    }
    return RF_OK;
}

/* Add the count of a place or of a word. Callers read each field once, because the program may still change it. */
static rf_status tally(struct rf_decode *decode, const struct rf_process *process, uint32_t number,
                       uint64_t word, uint64_t times, struct rf_error *error)
{
    const uint64_t words[] = {number, word};
    const struct rf_book_path *path = path_of(&process->book, words[0]);
    if (times == 0 || path == NULL || path->words > 1)
        return RF_OK;
    if (!rf_decode_is_credible(decode, times))
        return rf_processes_damaged(error);
    put_path(process, path, words, times, &decode->lanes[rf_decode_lane(decode, process)]);
    return RF_OK;
}

static rf_status tally_place(struct rf_decode *decode, const struct rf_process *process,
                             const struct rf_ring_place *place, struct rf_error *error)
{
    uint64_t times = __atomic_load_n(&place->count, __ATOMIC_ACQUIRE);
    uint32_t path = __atomic_load_n(&place->path, __ATOMIC_ACQUIRE);
    return tally(decode, process, path, 0, times, error);
}

/* A word that was merged is counted as produced where it leaves the table; this one never left it. */
static rf_status tally_word(struct rf_decode *decode, struct rf_process *process,
                            const struct rf_ring_word *entry, struct rf_error *error)
{
    uint64_t times = __atomic_load_n(&entry->count, __ATOMIC_ACQUIRE);
    uint32_t path = __atomic_load_n(&entry->path, __ATOMIC_ACQUIRE);
    uint64_t word = __atomic_load_n(&entry->word, __ATOMIC_ACQUIRE);
    uint32_t kind = __atomic_load_n(&entry->kind, __ATOMIC_ACQUIRE);
    if (kind < RF_WORD_CLASSES)
        process->produced[kind] += times;
    return tally(decode, process, path, word, times, error);
}

/* The same of the words in a pocket, which are loads. */
static rf_status tally_pocket(struct rf_decode *decode, struct rf_process *process,
                              const struct rf_ring_pocket *pocket, struct rf_error *error)
{
    uint64_t words[RF_RING_POCKET_WORDS];
    uint32_t fill = __atomic_load_n(&pocket->fill, __ATOMIC_ACQUIRE);
    uint32_t number = __atomic_load_n(&pocket->path, __ATOMIC_ACQUIRE);
    const struct rf_book_path *path = path_of(&process->book, number);
    if (fill <= 8 || fill > RF_RING_POCKET || path == NULL || path->words != 1)
        return RF_OK;
    size_t n = fill / 8 - 1;
    if (!rf_decode_is_credible(decode, n))
        return rf_processes_damaged(error);
    memcpy(words, pocket->words, n * 8);
    process->produced[RF_WORD_LOAD] += n;
    put_words(process, path, words, n, &decode->lanes[rf_decode_lane(decode, process)]);
    return RF_OK;
}

/* First all places, then all words, then all pockets. */
rf_status rf_hooks_tally(struct rf_decode *decode, struct rf_process *process, bool *full,
                         struct rf_error *error)
{
    size_t n, n_pockets;
    const struct rf_ring_place *places =
        rf_ring_places(&decode->processes->ring, &process->reader, &n);
    const struct rf_ring_word *words = rf_ring_words(&decode->processes->ring, &process->reader);
    const struct rf_ring_pocket *pockets =
        rf_ring_pockets(&decode->processes->ring, &process->reader, &n_pockets);
    const struct rf_decode_lane *lanes = &decode->lanes[rf_decode_lane(decode, process)];
    bool any = places != NULL && words != NULL && rf_hooks_decode_is_for(decode, process);
    size_t end = any ? n + RF_RING_WORDS + n_pockets : 0;
    rf_status status = RF_OK;
    for (; process->tally_path < end && status == RF_OK; process->tally_path++) {
        size_t i = process->tally_path;
        *full = is_full(decode, lanes);
        if (*full)
            return RF_OK;
        status = i < n ? tally_place(decode, process, &places[i], error)
                 : i < n + RF_RING_WORDS
                     ? tally_word(decode, process, &words[i - n], error)
                     : tally_pocket(decode, process, &pockets[i - n - RF_RING_WORDS], error);
    }
    process->tallied = true;
    return status;
}
