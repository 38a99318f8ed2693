/* judge.h - how engines are judged: the error of what they found, and their speed. For compare. */
#ifndef CLI_JUDGE_H
#define CLI_JUDGE_H

#include "command.h"
#include <stdbool.h>

/* measures.c: how far from the truth; one row per measure. */
enum { CLI_MEASURE_COLUMNS_MAX = 8 };
struct cli_measure_setup {
    double threshold;
    struct rf_invariance_filter filter;
    double top;
};
struct cli_measure {
    const char *name;
    const char *brief;
    const char *columns[CLI_MEASURE_COLUMNS_MAX + 1]; /* shares, closed by NULL */
    rf_status (*run)(double *values, const struct rf_profile *perfect,
                     const struct rf_profile *measured, const struct cli_measure_setup *setup,
                     struct rf_error *error);
};
extern const struct cli_measure cli_measures[]; /* closed by a NULL name */
extern cli_words cli_words_measures;

/* saved.c: two profile files, in one of compare's forms. Returns the exit status. */
int cli_compare_saved(char *const paths[2], const struct cli_measure *measure,
                      const struct cli_measure_setup *setup, const char *form);

/* named.c: two runs of different programs have nothing but names in common. In the profile that is made, each address is
 * replaced by a number for its function. RF_EINVAL: it has no names. rf_profile_free frees it. */
bool cli_named_needed(const struct rf_run *first, const struct rf_run *second);
rf_status cli_named(struct rf_profile **made, const struct rf_run *run,
                    const struct rf_profile *profile, struct rf_error *error);

/* timing.c: the speed of each engine by itself, without source and selectors. */
struct cli_timing;
rf_status cli_timing_new(struct cli_timing **timing, const struct rf_lane *lanes, size_t n,
                         const struct rf_engine_setup *setup, struct rf_error *error);
/* As rf_collect_setup.tap. It takes only the tuples of lane 0; all engines get those. */
void cli_timing_tap(void *timing, size_t lane, const struct rf_tuples *tuples);
double cli_timing_speed(struct cli_timing *timing, size_t i); /* tuples per second; 0: too few */
void cli_timing_free(struct cli_timing *timing);              /* NULL is fine */

/* curve.c: the error of engines and co-processors as a stream goes on. */
struct cli_curve;
struct cli_curve_setup {
    const struct rf_lane *lanes; /* whose engines are judged */
    size_t n_lanes;
    struct rf_coproc *const *coprocs; /* judged after the engines; only cli_curve_run feeds them */
    size_t n_coprocs;
    uint64_t every; /* events between two points */
    uint64_t seed;
    struct rf_invariance_filter filter;
    bool rms; /* root of the mean square over all pcs, instead of the mean */
};
rf_status cli_curve_new(struct cli_curve **curve, const struct cli_curve_setup *setup,
                        struct rf_error *error);
void cli_curve_tap(void *curve, size_t lane, const struct rf_tuples *tuples); /* as timing's */
/* Does the work of a collector and of the tap: all co-processors and engines get the source's records, in step. A NULL
 * selector means the values of loads. */
rf_status cli_curve_run(struct cli_curve *curve, struct rf_source *source, const char *selector,
                        uint64_t skip, uint64_t limit, struct rf_error *error);
rf_status cli_curve_end(struct cli_curve *curve, struct rf_error *error); /* the last point */
void cli_curve_free(struct cli_curve *curve);                             /* NULL is fine */

#endif
