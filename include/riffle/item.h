/* item.h - one thing that an engine found.
 *
 * An item is a box in the space of tuples, a <= x <= a_hi and b <= y <= b_hi, with a count: a
 * tuple is a box of one point, a range leaves the other word free (0 to all ones). The true count
 * lies between lower and upper; enum rf_bound says how firmly. */
#ifndef RIFFLE_ITEM_H
#define RIFFLE_ITEM_H

#include <stdint.h>
#include <riffle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rf_shape {
    RF_SHAPE_TUPLE,   /* points <a, b> */
    RF_SHAPE_RANGE_A, /* a..a_hi, any b; nested: a count leaves out those of the ranges inside it,
                       * lower and upper are of the whole range, inner ones included */
    RF_SHAPE_RANGE_B,
    RF_SHAPE_RECTANGLE,
    RF_SHAPE_STREAM, /* not a box: <a, b> at one position of a sequence that repeats. a_hi is the sequence's
                      * number, b_hi its length and the position. A sequence of n is n items; they have the
                      * same count, the occurrences of the sequence, and no event is counted in two of them */
};

/* Are the items single tuples, and not boxes? */
int rf_shape_has_tuples(unsigned shape);

enum rf_bound {
    RF_BOUND_EXACT,      /* lower = count = upper */
    RF_BOUND_HARD,       /* always lower <= true count <= upper */
    RF_BOUND_CONFIDENCE, /* so in a share `confidence` of all cases */
    RF_BOUND_ESTIMATE, /* nothing is promised: counts are of samples, or made from them. lower and upper are for
                          * those who measure (invariance.h); no report shows them */
};

struct rf_item {
    uint64_t a, b;
    uint64_t a_hi, b_hi;
    uint64_t count, lower, upper;
    uint64_t intervals; /* in how many intervals it was found; 0 where there are none */
};

/* b_hi of RF_SHAPE_STREAM, and back. Positions count from 0. */
uint64_t rf_stream_place(uint32_t length, uint32_t position);
uint32_t rf_stream_length(const struct rf_item *item);
uint32_t rf_stream_position(const struct rf_item *item);

/* A figure that one kind of engine has and others do not: "messages", "interrupts", "nodes-max". It
 * is of all that the engine has seen, however the stream is cut. Where profiles are merged, "...-max"
 * takes the larger, "...-mean" and "...-share" are weighted by events, all others add up. */
struct rf_figure {
    char name[32]; /* terminated */
    double value;
};

/* What holds for all items of one report. */
struct rf_summary {
    uint64_t events;       /* that the report is over */
    uint64_t absent_upper; /* most events of an item that is not listed */
    uint64_t repeats;      /* this many intervals in a row are alike; 0 and 1: just this one */
    double confidence;     /* of RF_BOUND_CONFIDENCE, 0.95 say */
    uint8_t shape;         /* enum rf_shape */
    uint8_t bound;         /* enum rf_bound */
};

/* Where an engine puts what it found. `item` is called for each, in any order, then `end` once.
 * Anything but RF_OK stops the report and is handed back. */
struct rf_sink {
    rf_status (*item)(void *context, const struct rf_item *item);
    rf_status (*figure)(void *context, const struct rf_figure *figure); /* may be NULL */
    rf_status (*end)(void *context, const struct rf_summary *summary);
    void *context;
};

#ifdef __cplusplus
}
#endif
#endif
