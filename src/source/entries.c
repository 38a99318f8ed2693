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

/* Where the next tuple of a lane goes: those of one event each stand by themselves. */
struct pens {
    struct rf_tuple *to[2]; /* with a count; of one event */
    uint64_t *count;
};

static void lift(const struct rf_decode_lane *lane, struct pens *pens)
{
    *pens = (struct pens){{lane->counted + lane->n_counted, lane->single + lane->n_single},
                          lane->counts + lane->n_counted};
}

static void put_down(struct rf_decode_lane *lane, const struct pens *pens)
{
    lane->n_counted = (size_t)(pens->to[0] - lane->counted);
    lane->n_single = (size_t)(pens->to[1] - lane->single);
}

static bool some_are_full(const struct rf_decode *decode, const struct rf_decode_lane *lanes,
                          const struct pens *pens)
{
    for (size_t i = 0; i < decode->n_selectors; i++)
        if (pens[i].to[0] > lanes[i].counted + ROOM || pens[i].to[1] > lanes[i].single + ROOM)
            return true;
    return false;
}

/* An entry for several lanes, or with conditions on its word: each lane gets one tuple at most. */
static void expand(const struct rf_decode *decode, const struct rf_book_path *path,
                   const uint64_t *words, struct pens *pens)
{
    const struct rf_process *process = decode->piece.process;
    struct rf_tuple *next[RF_DECODE_SELECTORS_MAX];
    for (size_t i = 0; i < decode->n_selectors; i++)
        next[i] = pens[i].to[0];
    rf_book_expand(&process->book, path, words, process->thread, next);
    for (size_t i = 0; i < decode->n_selectors; i++) {
        *pens[i].count = rf_entry_count(words[0]);
        pens[i].count += next[i] - pens[i].to[0];
        pens[i].to[0] = next[i];
    }
}

/* One event that was merged, or follows from one. No predictor could guess whether it is a single one. */
static inline void take(const struct rf_decode *decode, const struct rf_book_site *site,
                        uint64_t key, uint64_t word, struct pens *pens)
{
    struct pens *pen = &pens[site->lane];
    if (__builtin_expect(site->is_path, 0)) {
        expand(decode, site->more->path, (const uint64_t[2]){key, word}, pens);
        return;
    }
    uint32_t count = rf_entry_count(key), is_single = count == 1;
    *pen->to[is_single]++ = rf_book_site_tuple(site, word);
    *pen->count = count;
    pen->count += !is_single;
}

/* Sites that hang on those of a group, and whose words they follow from. No predictor could guess how many hang on each, either. So they
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

static void take_hanging(struct rf_decode *decode, const uint64_t *words, struct hanging *hanging,
                         size_t n, struct pens *pens)
{
    const struct rf_book *book = &decode->piece.process->book;
    uint64_t derived = 0;
    for (size_t more; n > 0; n = more) {
        more = 0;
        for (size_t i = 0; i < n; i++) {
            const struct rf_book_site *site = &book->sites[hanging[i].site];
            const uint64_t *entry = words + hanging[i].entry;
            take(decode, site, entry[0], rf_derive(&site->more->derivation, entry[1]), pens);
            more = list(hanging, more, book, site->next, hanging[i].entry);
            derived += rf_entry_count(entry[0]);
        }
    }
    decode->derived += derived;
}

/* Returns how many words were used: those of a group, or up to the first that is no entry. */
static size_t take_group(struct rf_decode *decode, const uint64_t *words, size_t n,
                         struct pens *pens)
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
        take(decode, &book->sites[site], words[at], words[at + 1], pens);
        n_hanging = list(hanging, n_hanging, book, book->sites[site].next, (uint32_t)at);
    }
    take_hanging(decode, words, hanging, n_hanging, pens);
    return at;
}

rf_status rf_decode_entries(struct rf_decode *decode, bool *full, struct rf_error *error)
{
    const struct rf_process *process = decode->piece.process;
    struct rf_decode_lane *lanes = &decode->lanes[rf_decode_lane(decode, process)];
    const struct rf_legible view = rf_legible_of(decode);
    struct pens pens[RF_DECODE_SELECTORS_MAX];
    size_t taken = 1;
    *full = false;
    if (decode->records || decode->at + 2 > view.end ||
        !rf_book_has(&process->book, view.words[decode->at]))
        return RF_OK;
    if (!make_room(decode, lanes))
        return rf_fail(error, RF_ENOMEM, "no memory for the collector");
    for (size_t i = 0; i < decode->n_selectors; i++)
        lift(&lanes[i], &pens[i]);
    while (!(*full = some_are_full(decode, lanes, pens)) && taken > 0) {
        taken = take_group(decode, view.words + decode->at, view.end - decode->at, pens);
        decode->at += taken;
    }
    for (size_t i = 0; i < decode->n_selectors; i++)
        put_down(&lanes[i], &pens[i]);
    return RF_OK;
}
