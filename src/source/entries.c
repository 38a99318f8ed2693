/* entries.c - merged events become tuples with counts. probe_words.h has the table that entries come from.
 *
 *     [ site 7 | 12 times ][ 0x2a ]   --book-->   lane 0:  <0x401020, 0x2a> 12 times
 *
 * Entries come through the ring, and at the end of a process from its table. Nearly all of them make one tuple for one
 * lane. */
#include "source/legible.h"
#include "base/alloc.h"
#include "base/error.h"

bool rf_decode_make_counted(struct rf_decode *decode, struct rf_decode_lane *lane)
{
    if (lane->counted == NULL)
        lane->counted = rf_alloc_get(decode->alloc, RF_DECODE_COUNTED * sizeof *lane->counted);
    if (lane->counts == NULL)
        lane->counts = rf_alloc_get(decode->alloc, RF_DECODE_COUNTED * sizeof *lane->counts);
    if (lane->single == NULL)
        lane->single = rf_alloc_get(decode->alloc, RF_DECODE_COUNTED * sizeof *lane->single);
    return lane->counted != NULL && lane->counts != NULL && lane->single != NULL;
}

static bool make_room(struct rf_decode *decode, struct rf_decode_lane *lanes)
{
    bool made = true;
    for (size_t i = 0; i < decode->n_selectors; i++)
        made &= rf_decode_make_counted(decode, &lanes[i]);
    return made;
}

static bool is_full(const struct rf_decode *decode, const struct rf_decode_lane *lanes)
{
    for (size_t i = 0; i < decode->n_selectors; i++)
        if (lanes[i].n_counted == RF_DECODE_COUNTED)
            return true;
    return false;
}

/* An entry for several lanes, or with conditions on its word: each lane gets one tuple at most. */
static void expand(const struct rf_decode *decode, const struct rf_book_path *path,
                   const uint64_t *words, struct rf_decode_lane *lanes)
{
    const struct rf_process *process = decode->piece.process;
    struct rf_tuple *next[RF_DECODE_SELECTORS_MAX];
    for (size_t i = 0; i < decode->n_selectors; i++)
        next[i] = lanes[i].counted + lanes[i].n_counted;
    rf_book_expand(&process->book, path, words, process->thread, next);
    for (size_t i = 0; i < decode->n_selectors; i++) {
        lanes[i].counts[lanes[i].n_counted] = rf_entry_count(words[0]);
        lanes[i].n_counted = (size_t)(next[i] - lanes[i].counted);
    }
}

/* False: a lane is full, and nothing was done. */
static inline bool take(const struct rf_decode *decode, const struct rf_book_site *site,
                        const uint64_t *words, struct rf_decode_lane *lanes)
{
    struct rf_decode_lane *lane = &lanes[site->step.lane];
    size_t n = lane->n_counted;
    if (__builtin_expect(site->path != NULL, 0)) {
        if (is_full(decode, lanes))
            return false;
        expand(decode, site->path, words, lanes);
        return true;
    }
    if (n == RF_DECODE_COUNTED || lane->n_single == RF_DECODE_COUNTED)
        return false;
    uint32_t count = rf_entry_count(words[0]), is_single = count == 1;
    lane->counted[n] = lane->single[lane->n_single] = rf_book_tuple(&site->step, words);
    lane->counts[n] = count;
    lane->n_single += is_single; /* no predictor could guess it */
    lane->n_counted = n + !is_single;
    return true;
}

rf_status rf_decode_entries(struct rf_decode *decode, bool *full, struct rf_error *error)
{
    enum { AHEAD = 16 }; /* words */
    struct rf_process *process = decode->piece.process;
    struct rf_decode_lane *lanes = &decode->lanes[rf_decode_lane(decode, process)];
    const struct rf_legible view = rf_legible_of(decode);
    const struct rf_book *book = &process->book;
    size_t at = decode->at, end = view.end;
    *full = false;
    if (decode->records || at + 2 > end || !rf_book_has(book, view.words[at]))
        return RF_OK;
    if (!make_room(decode, lanes))
        return rf_fail(error, RF_ENOMEM, "no memory for the collector");
    for (; at + 2 <= end && rf_book_has(book, view.words[at]); at += 2) {
        const uint64_t *words = view.words + at;
        uint32_t later = at + AHEAD < end ? rf_entry_site(words[AHEAD]) : 0;
        if (later < book->n_sites)
            __builtin_prefetch(&book->sites[later]);
        uint32_t site = rf_entry_site(words[0]);
        *full = site < book->n_sites && !take(decode, &book->sites[site], words, lanes);
        if (*full)
            break;
    }
    decode->at = at;
    return RF_OK;
}
