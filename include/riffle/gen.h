/* gen.h - seeded synthetic streams, the same bytes for the same parameters on every machine.
 *
 *     zipf     key k of `keys` with probability proportional to 1 / k^skew
 *     uniform  every key alike
 *     phases   zipf over a set of keys that is exchanged every `phase` events
 *     drift    two of five events are one of 20 to 400 hot tuples, the k-th with a weight of 1 / k^skew, which are
 *              exchanged every `phase` events; the rest are uniform over `keys` others
 *     loop     like the load values of a program: nested loops over static instructions, each with
 *              a few favourite values, strides and noise; what benchmarks call "program-like".
 *              Hot loops are exchanged every `phase` events; `keys` is about met
 *
 * zipf, uniform and phases make exactly `keys` possible tuples (phases: in each phase). */
#ifndef RIFFLE_GEN_H
#define RIFFLE_GEN_H

#include <riffle/source.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_gen {
    const char *kind; /* "zipf", "uniform", "phases", "drift", "loop" */
    uint64_t events;
    uint64_t keys;  /* distinct tuples to draw from, at most 2^40; 0: 1M */
    double skew;    /* of zipf, phases and drift, at most 10; 0: 1.0 */
    uint64_t phase; /* events; 0: 1M */
    uint64_t seed;
};

rf_status rf_source_open_gen(struct rf_source **source, const struct rf_gen *gen,
                             const struct rf_alloc *alloc, struct rf_error *error);

#ifdef __cplusplus
}
#endif
#endif
