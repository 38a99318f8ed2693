/* rap.h - range-adaptive profiles inside a program of your own, as their paper offers them.
 *
 *     struct rf_rap *rap;
 *     rf_rap_init(&rap, 2, "eps=1%, bits=32", NULL, &error);    two profiles: code and addresses, say
 *     rf_rap_add_points(rap, pc, 1, 0);
 *     rf_rap_add_points(rap, address, 1, 1);
 *     rf_rap_query(rap, 0, 0x1000, 0x1fff, &answer);            at any time
 *     rf_rap_finalize(rap, 0, &sink);                           every range; feeding may go on
 *     rf_rap_free(rap);
 *
 * Mysore et al., section 3.2. The options are those of the engine `rap` (riffle engines rap; its page
 * is doc/engines/rap.md); with key=both points are pairs. Everything is allocated by rf_rap_init, whose
 * memory rf_rap_memory tells; adding points allocates nothing and does not fail. One thread at a time. */
#ifndef RIFFLE_RAP_H
#define RIFFLE_RAP_H

#include <riffle/alloc.h>
#include <riffle/item.h>
#include <riffle/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_rap;

/* `profiles` of them at once, all with the same options; "" or NULL: the standard ones. */
rf_status rf_rap_init(struct rf_rap **rap, size_t profiles, const char *options,
                      const struct rf_alloc *alloc, struct rf_error *error);

/* Count an event of the profile `count` times. Profiles are numbered from 0. */
void rf_rap_add_points(struct rf_rap *rap, uint64_t identifier, uint64_t count, size_t profile);
/* The same where points are pairs (key=both). */
void rf_rap_add_pairs(struct rf_rap *rap, uint64_t a, uint64_t b, uint64_t count, size_t profile);

/* lower <= events in the range <= upper, upper - lower at most eps times `events` (doc/engines/rap.md
 * says when). */
struct rf_rap_answer {
    uint64_t lower, upper;
    uint64_t events; /* of the profile, in all */
};
/* Both ends are in. */
void rf_rap_query(const struct rf_rap *rap, size_t profile, uint64_t lo, uint64_t hi,
                  struct rf_rap_answer *answer);
void rf_rap_query_pairs(const struct rf_rap *rap, size_t profile, uint64_t a, uint64_t a_hi,
                        uint64_t b, uint64_t b_hi, struct rf_rap_answer *answer);

/* Every range of the profile that has a count, as items (item.h), then figures, then the summary. */
rf_status rf_rap_finalize(const struct rf_rap *rap, size_t profile, const struct rf_sink *sink);

size_t rf_rap_memory(const struct rf_rap *rap); /* bytes, of all profiles */
void rf_rap_free(struct rf_rap *rap);           /* NULL is fine */

/* What the engine costs as hardware at 0.18 um, by the parts of the paper (section 3.4) scaled to this many
 * entries of that width; src/engine/rap/cost.c says how. */
enum { RF_RAP_PARTS = 6 };
struct rf_rap_part {
    const char *name;
    double area_mm2, delay_ns, energy_nj;
};
struct rf_rap_cost {
    struct rf_rap_part parts[RF_RAP_PARTS];
    double area_mm2, energy_nj; /* sums */
    double delay_ns;            /* of the slowest part: the clock */
};
void rf_rap_cost(struct rf_rap_cost *cost, uint64_t entries, unsigned key_bits,
                 unsigned counter_bits);

#ifdef __cplusplus
}
#endif
#endif
