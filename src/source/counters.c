/* counters.c - counters become tuples with counts. probe_words.h says what counters count.
 *
 *     counter   0    1    2    3   ..        the book's list of block 0:
 *               10   7    0    3             <0x40, 0>    counter[0]                = 10 times
 *               paths 0 and 1 are block 0    <0x44, 0x80> counter[0] - counter[1]   =  3 times
 *                                            site 7       word v: counter[900 + v] times, v up to 255
 *
 * A process's counters are handed out once: when it is over, or, while it still runs, when the collector ends. Before
 * that, rf_counters_peek shows what they say so far. They lie in memory that the profiled program can write. An index is
 * within the array, because the book has checked it; a number of events that no processor can have made is damage. */
#include "source/counters.h"
#include "source/hooks_decode.h"
#include "base/alloc.h"
#include "base/error.h"
#include "event/field.h"

/* ---- what can be counted ---- */

static bool reads(const struct rf_selector *selector, unsigned field)
{
    return selector->fields >> field & 1;
}

/* Does every event have static words alone, as far as the selector reads them? */
static bool is_static(const struct rf_selector *selector)
{
    for (unsigned kind = 0; kind < RF_CLASS_COUNT; kind++)
        for (unsigned field = 1; field < RF_FIELD_COUNT; field++)
            if ((selector->classes >> kind & 1) && reads(selector, field) &&
                rf_field_needs(field, kind) != RF_FIELD_WORD_NONE)
                return false;
    return true;
}

/* A counter does not tell threads and misses apart; frames are samples. A result's width is known where its value
 * is. */
static bool is_countable(const struct rf_selector *selector)
{
    for (unsigned kind = 0; kind < RF_CLASS_COUNT; kind++)
        for (unsigned field = 1; field < RF_FIELD_COUNT; field++)
            if ((selector->classes >> kind & 1) && reads(selector, field) &&
                field != RF_FIELD_WIDTH && rf_field_is_late(field, kind))
                return false;
    return selector->weight == RF_FIELD_NONE && selector->classes >> RF_WORD_CLASSES == 0;
}

uint32_t rf_counters_selectors(const struct rf_probe_setup *setup)
{
    uint32_t counted = 0;
    if (setup->records || setup->bursts[0].burst > 0 || setup->n_patterns > 0)
        return 0;
    for (size_t i = 0; i < setup->n_selectors; i++) {
        const struct rf_selector *selector = &setup->selectors[i];
        bool can = is_countable(selector) && (!setup->lossy || is_static(selector));
        counted |= (uint32_t)can << i;
    }
    return counted & setup->any_order;
}

/* ---- reading ---- */

static uint64_t read_counter(const uint64_t *counters, uint32_t number)
{
    return number != RF_BOOK_NO_COUNTER ? __atomic_load_n(&counters[number], __ATOMIC_ACQUIRE) : 0;
}

/* A running program raises `plus` before `minus`, so that one is read last. */
static uint64_t read_count(const uint64_t *counters, const struct rf_book_count *count)
{
    uint64_t minus = read_counter(counters, count->minus);
    uint64_t plus = read_counter(counters, count->plus);
    return plus - minus;
}

/* One tuple to a lane of the process. */
static rf_status put(struct rf_decode *decode, const struct rf_process *process, size_t number,
                     struct rf_tuple tuple, uint64_t times, struct rf_error *error)
{
    struct rf_decode_lane *lane = &decode->lanes[rf_decode_lane(decode, process) + number];
    if (!rf_decode_is_credible(decode, times))
        return rf_processes_damaged(error);
    if (!rf_decode_make_counted(decode, lane))
        return rf_fail(error, RF_ENOMEM, "no memory for the collector");
    lane->counted[lane->n_counted] = tuple;
    lane->counts[lane->n_counted++] = times;
    return RF_OK;
}

static bool is_full(const struct rf_decode *decode, const struct rf_process *process, size_t lane)
{
    return decode->lanes[rf_decode_lane(decode, process) + lane].n_counted == RF_DECODE_COUNTED;
}

/* What the lanes of a process make of one word of a site, or of the one that it hangs on: a tuple each, or none. */
struct shares {
    struct rf_tuple tuples[RF_DECODE_SELECTORS_MAX];
    struct rf_tuple *next[RF_DECODE_SELECTORS_MAX]; /* behind it */
};

static bool has_share(const struct shares *shares, size_t lane)
{
    return shares->next[lane] != &shares->tuples[lane];
}

static void share(const struct rf_process *process, const struct rf_book_site *site, uint64_t word,
                  struct shares *shares)
{
    const struct rf_book *book = &process->book;
    const uint64_t words[2] = {0,
                               site->is_derived ? rf_derive(&site->more->derivation, word) : word};
    for (size_t i = 0; i < book->shelf->n_selectors; i++)
        shares->next[i] = &shares->tuples[i];
    if (site->is_path)
        rf_book_expand(book, site->more->path, words, process->thread, shares->next);
    else
        *shares->next[site->lane]++ = rf_book_site_tuple(site, words[1]);
}

/* One word of one site, which occurred this many times. False: a lane is full, and nothing was done. */
static bool tally_share(struct rf_decode *decode, const struct rf_process *process,
                        const struct rf_book_site *site, uint64_t times, rf_status *status,
                        struct rf_error *error)
{
    struct shares shares;
    share(process, site, process->tally_word, &shares);
    for (size_t i = 0; i < decode->n_selectors; i++)
        if (has_share(&shares, i) && is_full(decode, process, i))
            return false;
    for (size_t i = 0; i < decode->n_selectors && *status == RF_OK; i++)
        if (has_share(&shares, i))
            *status = put(decode, process, i, shares.tuples[i], times, error);
    return true;
}

/* The same of a site and those that hang on it, from process->tally_site on. */
static bool tally_word(struct rf_decode *decode, struct rf_process *process, uint32_t first,
                       uint64_t times, rf_status *status, struct rf_error *error)
{
    uint32_t number = process->tally_site != 0 ? process->tally_site : first;
    do {
        const struct rf_book_site *site = &process->book.sites[number];
        process->tally_site = number;
        if (!tally_share(decode, process, site, times, status, error))
            return false;
        decode->derived += site->is_derived ? times : 0;
        number = site->next;
    } while (number != 0 && *status == RF_OK);
    process->tally_site = 0;
    return true;
}

/* All words of a site, from process->tally_word on. */
static rf_status tally_site(struct rf_decode *decode, struct rf_process *process,
                            const uint64_t *counters, const struct rf_book_count *count, bool *full,
                            struct rf_error *error)
{
    rf_status status = RF_OK;
    if (count->site >= process->book.n_sites)
        return RF_OK;
    for (; process->tally_word < RF_WORD_VALUES && status == RF_OK; process->tally_word++) {
        uint64_t times = read_counter(counters, count->plus + process->tally_word);
        *full = times > 0 && !tally_word(decode, process, count->site, times, &status, error);
        if (*full)
            return RF_OK;
    }
    process->tally_word = 0;
    return status;
}

static rf_status tally_tuple(struct rf_decode *decode, const struct rf_process *process,
                             const uint64_t *counters, const struct rf_book_count *count,
                             bool *full, struct rf_error *error)
{
    *full = is_full(decode, process, count->lane);
    uint64_t times = *full ? 0 : read_count(counters, count);
    return times > 0 ? put(decode, process, count->lane, count->tuple, times, error) : RF_OK;
}

/* What one block counts, from process->tally_count on. */
static rf_status tally_path(struct rf_decode *decode, struct rf_process *process,
                            const uint64_t *counters, bool *full, struct rf_error *error)
{
    const struct rf_book_path *path = process->book.paths[process->tally_path];
    rf_status status = RF_OK;
    for (; process->tally_count < path->n_counts && status == RF_OK; process->tally_count++) {
        const struct rf_book_count *count = &path->counts[process->tally_count];
        status = count->site != RF_BOOK_NO_SITE
                     ? tally_site(decode, process, counters, count, full, error)
                     : tally_tuple(decode, process, counters, count, full, error);
        if (*full)
            return RF_OK;
    }
    return status;
}

rf_status rf_counters_process(struct rf_decode *decode, struct rf_process *process, bool *full,
                              struct rf_error *error)
{
    const uint64_t *counters = rf_ring_counters(&decode->processes->ring, &process->reader);
    rf_status status = rf_decode_make_lanes(decode, process, error);
    *full = false;
    if (process->reader.family != 0 && status == RF_OK)
        return rf_hooks_tally(decode, process, full, error);
    while (counters != NULL && process->tally_path < process->book.n_paths && status == RF_OK) {
        status = tally_path(decode, process, counters, full, error);
        if (*full)
            return RF_OK;
        process->tally_path++;
        process->tally_count = 0;
    }
    process->tallied = true;
    return status;
}

rf_status rf_counters_rest(struct rf_decode *decode, bool *full, struct rf_error *error)
{
    rf_status status = RF_OK;
    *full = false;
    for (size_t i = 0; i < decode->processes->n_slots && !*full && status == RF_OK; i++) {
        struct rf_process *process = &decode->processes->list[i];
        if (process->used && process->has_book && !process->tallied)
            status = rf_counters_process(decode, process, full, error);
    }
    return status;
}

/* ---- while a process runs ---- */

enum { PEEK = 256 };

/* Tuples of one lane, told together. */
struct peek {
    rf_source_tell tell;
    void *context;
    uint32_t lane;
    size_t n;
    struct rf_tuple tuples[PEEK];
    uint64_t counts[PEEK];
};

static rf_status tell_all(struct peek *peek, struct rf_error *error)
{
    const struct rf_tuples tuples = {peek->tuples, peek->counts, peek->n};
    rf_status status = peek->n > 0 ? peek->tell(peek->context, peek->lane, &tuples, error) : RF_OK;
    peek->n = 0;
    return status;
}

static rf_status peek_at(struct peek *peek, uint32_t lane, const struct rf_tuple *tuple,
                         uint64_t times, struct rf_error *error)
{
    rf_status status =
        peek->n == PEEK || (peek->n > 0 && peek->lane != lane) ? tell_all(peek, error) : RF_OK;
    peek->lane = lane;
    peek->tuples[peek->n] = *tuple;
    peek->counts[peek->n++] = times;
    return status;
}

/* One word of a site and those that hang on it. */
static rf_status peek_at_word(const struct rf_decode *decode, const struct rf_process *process,
                              uint32_t number, uint32_t word, uint64_t times, struct peek *peek,
                              struct rf_error *error)
{
    struct shares shares;
    uint32_t first = (uint32_t)rf_decode_lane(decode, process);
    rf_status status = RF_OK;
    do {
        const struct rf_book_site *site = &process->book.sites[number];
        share(process, site, word, &shares);
        for (uint32_t i = 0; i < decode->n_selectors && status == RF_OK; i++)
            if (has_share(&shares, i))
                status = peek_at(peek, first + i, &shares.tuples[i], times, error);
        number = site->next;
    } while (number != 0 && status == RF_OK);
    return status;
}

static rf_status peek_at_site(const struct rf_decode *decode, const struct rf_process *process,
                              const uint64_t *counters, const struct rf_book_count *count,
                              struct peek *peek, struct rf_error *error)
{
    const struct rf_book_path *under_way = process->book.paths[process->tally_path];
    bool is_under_way = count == &under_way->counts[process->tally_count];
    uint32_t word = is_under_way ? process->tally_word : 0;
    uint32_t site = is_under_way && process->tally_site != 0 ? process->tally_site : count->site;
    rf_status status = RF_OK;
    for (; count->site < process->book.n_sites && word < RF_WORD_VALUES; word++) {
        uint64_t times = read_counter(counters, count->plus + word);
        if (times != 0 && rf_decode_is_credible(decode, times) && status == RF_OK)
            status = peek_at_word(decode, process, site, word, times, peek, error);
        site = count->site;
    }
    return status;
}

static rf_status peek_at_tuple(const struct rf_decode *decode, const struct rf_process *process,
                               const uint64_t *counters, const struct rf_book_count *count,
                               struct peek *peek, struct rf_error *error)
{
    uint64_t times = read_count(counters, count);
    uint32_t lane = (uint32_t)rf_decode_lane(decode, process) + count->lane;
    return times > 0 && rf_decode_is_credible(decode, times)
               ? peek_at(peek, lane, &count->tuple, times, error)
               : RF_OK;
}

static rf_status peek_process(const struct rf_decode *decode, const struct rf_process *process,
                              struct peek *peek, struct rf_error *error)
{
    const uint64_t *counters = rf_ring_counters(&decode->processes->ring, &process->reader);
    rf_status status = RF_OK;
    size_t k = process->tally_count; /* what is before was handed out */
    for (size_t i = process->tally_path; counters != NULL && i < process->book.n_paths;
         i++, k = 0) {
        const struct rf_book_path *path = process->book.paths[i];
        for (; k < path->n_counts && status == RF_OK; k++) {
            const struct rf_book_count *count = &path->counts[k];
            status = count->site != RF_BOOK_NO_SITE
                         ? peek_at_site(decode, process, counters, count, peek, error)
                         : peek_at_tuple(decode, process, counters, count, peek, error);
        }
    }
    return status;
}

rf_status rf_counters_peek(const struct rf_decode *decode, rf_source_tell tell, void *context,
                           struct rf_error *error)
{
    struct peek peek = {.tell = tell, .context = context};
    rf_status status = RF_OK;
    for (size_t i = 0; i < decode->processes->n_slots && status == RF_OK; i++) {
        const struct rf_process *process = &decode->processes->list[i];
        if (process->used && process->has_book && !process->tallied && process->reader.family == 0)
            status = peek_process(decode, process, &peek, error);
    }
    return status == RF_OK ? tell_all(&peek, error) : status;
}
