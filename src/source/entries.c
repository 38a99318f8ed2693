/* entries.c - merged events become tuples with counts. probe_words.h has the table that entries come from.
 *
 *     [ site 7 | 12 times ][ 0x2a ]   --book-->   lane 0:  <0x401020, 0x2a> 12 times
 *
 * Entries come through the ring, and at the end of a process from its table. Nearly all events make one tuple for one
 * lane. An entry brings its own event and those that are derived from it. */
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

/* Entries go through in groups. Each makes at most so many tuples for a lane. */
enum { GROUP = 32, ROOM = RF_DECODE_COUNTED - GROUP * (RF_DERIVED_MAX + 1) };
_Static_assert(2 * (int)ROOM > (int)RF_DECODE_COUNTED, "most of a buffer is used");

static inline bool is_full(const struct rf_decode_lane *lane)
{
    return lane->n_counted > ROOM || lane->n_single > ROOM;
}

static bool some_are_full(const struct rf_decode *decode, const struct rf_decode_lane *lanes)
{
    for (size_t i = 0; i < decode->n_selectors; i++)
        if (is_full(&lanes[i]))
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

/* One event that was merged, or follows from one. */
static inline void take(const struct rf_decode *decode, const struct rf_book_site *site,
                        const uint64_t *words, struct rf_decode_lane *lanes)
{
    struct rf_decode_lane *lane = &lanes[site->step.lane];
    if (__builtin_expect(site->path != NULL, 0)) {
        expand(decode, site->path, words, lanes);
        return;
    }
    size_t n = lane->n_counted;
    uint32_t count = rf_entry_count(words[0]), is_single = count == 1;
    lane->counted[n] = lane->single[lane->n_single] = rf_book_tuple(&site->step, words);
    lane->counts[n] = count;
    lane->n_single += is_single; /* no predictor could guess it */
    lane->n_counted = n + !is_single;
}

/* Sites that hang on those of a group, and whose words they follow from. Nor could it guess how many hang on each. So they
 * are listed, taken together, and what hangs on them in turn is listed in their place. */
struct hanging {
    uint32_t site;
    uint32_t entry; /* its first word */
};

static inline size_t list(struct hanging *hanging, size_t n, const struct rf_book *book,
                          uint32_t site, uint32_t entry)
{
    __builtin_prefetch(&book->sites[site]);
    hanging[n] = (struct hanging){site, entry};
    return n + (site != 0);
}

static void take_hanging(const struct rf_decode *decode, const uint64_t *words,
                         struct hanging *hanging, size_t n, struct rf_decode_lane *lanes)
{
    const struct rf_book *book = &decode->piece.process->book;
    for (size_t more; n > 0; n = more) {
        more = 0;
        for (size_t i = 0; i < n; i++) {
            const struct rf_book_site *site = &book->sites[hanging[i].site];
            const uint64_t *entry = words + hanging[i].entry;
            const uint64_t derived[2] = {entry[0], rf_derive(&site->derivation, entry[1])};
            take(decode, site, derived, lanes);
            more = list(hanging, more, book, site->next, hanging[i].entry);
        }
    }
}

/* Returns how many words were used: those of a group, or up to the first that is no entry. */
static size_t take_group(const struct rf_decode *decode, const uint64_t *words, size_t n,
                         struct rf_decode_lane *lanes)
{
    enum { AHEAD = 16 }; /* words */
    const struct rf_book *book = &decode->piece.process->book;
    struct hanging hanging[GROUP];
    size_t n_hanging = 0, at = 0;
    for (; at + 2 <= n && at < 2 * (size_t)GROUP && rf_book_has(book, words[at]); at += 2) {
        uint32_t site = rf_entry_site(words[at]);
        uint32_t later = at + AHEAD < n ? rf_entry_site(words[at + AHEAD]) : 0;
        if (later < book->n_sites)
            __builtin_prefetch(&book->sites[later]);
        if (site >= book->n_sites)
            continue;
        take(decode, &book->sites[site], words + at, lanes);
        n_hanging = list(hanging, n_hanging, book, book->sites[site].next, (uint32_t)at);
    }
    take_hanging(decode, words, hanging, n_hanging, lanes);
    return at;
}

rf_status rf_decode_entries(struct rf_decode *decode, bool *full, struct rf_error *error)
{
    const struct rf_process *process = decode->piece.process;
    struct rf_decode_lane *lanes = &decode->lanes[rf_decode_lane(decode, process)];
    const struct rf_legible view = rf_legible_of(decode);
    size_t taken = 1;
    *full = false;
    if (decode->records || decode->at + 2 > view.end ||
        !rf_book_has(&process->book, view.words[decode->at]))
        return RF_OK;
    if (!make_room(decode, lanes))
        return rf_fail(error, RF_ENOMEM, "no memory for the collector");
    while (!(*full = some_are_full(decode, lanes)) && taken > 0) {
        taken = take_group(decode, view.words + decode->at, view.end - decode->at, lanes);
        decode->at += taken;
    }
    return RF_OK;
}
