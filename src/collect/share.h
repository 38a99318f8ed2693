/* share.h - several lanes through one engine, told apart by a tag.
 *
 * Sastry, Bodik, Smith, section 2.1: the compressor does not interpret its tuples, so one compressor serves
 * several profiles at once; the selector marks which profile a tuple belongs to. Here the mark is the top
 * byte of <a>. In every preset <a> is an address, and addresses on 64-bit machines leave that byte unused.
 * The engine hashes the mark, too, so that equal tuples of two lanes stay apart. At the end the common
 * profile is split by mark. */
#ifndef RF_COLLECT_SHARE_H
#define RF_COLLECT_SHARE_H

#include <stddef.h>
#include <riffle/event.h>
#include <riffle/profile.h>
#include <riffle/profiler.h>

enum { RF_SHARE_SHIFT = 56, RF_SHARE_MAX = 256 };

/* What one lane of a shared engine had. */
struct rf_share {
    unsigned tag;
    const char *selector; /* canonical */
    uint64_t produced;    /* the tally says how many of these were consumed; the rest was lost */
};

/* Counts how many events of each lane the shared engine consumed, in all and per interval. */
struct rf_share_tally;

struct rf_share_tally *rf_share_tally_new(int keep_intervals, const struct rf_alloc *alloc);
void rf_share_tally_free(struct rf_share_tally *tally); /* NULL is fine */

/* Add a lane, before anything is fed, and get its tag. RF_EINVAL: there are RF_SHARE_MAX already. */
rf_status rf_share_join(struct rf_share_tally *tally, unsigned *tag);

/* Mark n tuples, from `in` to `out`. */
void rf_share_mark(struct rf_tuple *out, const struct rf_tuple *in, size_t n, unsigned tag);

/* Feed marked tuples, as rf_profiler_feed does, and count them. */
rf_status rf_share_feed(struct rf_share_tally *tally, struct rf_profiler *profiler,
                        const struct rf_tuples *tuples, struct rf_error *error);

/* The part of `all` that has the tag, as a profile of its own without the marks; figures, memory and bits are
 * those of the engine that all of them shared, and the figure "sharing" says how many they are. */
rf_status rf_share_take(struct rf_profile **part, const struct rf_profile *all,
                        const struct rf_share_tally *tally, const struct rf_share *share);

#endif
