/* measures.c - the measures of compare, one row each. */
#include "judge.h"

static rf_status interval(double *values, const struct rf_profile *perfect,
                          const struct rf_profile *measured, const struct cli_measure_setup *setup,
                          struct rf_error *error)
{
    struct rf_measure_interval measure;
    rf_status status = rf_measure_interval(&measure, perfect, measured, setup->threshold, error);
    if (status != RF_OK)
        return status;
    values[0] = measure.error;
    values[1] = measure.false_positive;
    values[2] = measure.false_negative;
    values[3] = measure.neutral_positive;
    values[4] = measure.neutral_negative;
    return RF_OK;
}

/* What both measures of invariance tell besides their own number. */
static rf_status measure_invariance(struct rf_measure_invariance *measure, double *values,
                                    const struct rf_profile *const profiles[2],
                                    const struct rf_invariance_filter *filter,
                                    struct rf_error *error)
{
    rf_status status = rf_measure_invariance(measure, profiles[0], profiles[1], filter, error);
    values[1] = status == RF_OK ? measure->unseen : 0;
    values[2] = status == RF_OK ? measure->covered : 0;
    return status;
}

static rf_status invariance(double *values, const struct rf_profile *perfect,
                            const struct rf_profile *measured,
                            const struct cli_measure_setup *setup, struct rf_error *error)
{
    struct rf_measure_invariance measure = {0};
    const struct rf_profile *const profiles[2] = {perfect, measured};
    rf_status status = measure_invariance(&measure, values, profiles, &setup->filter, error);
    values[0] = measure.error;
    return status;
}

static rf_status overlap(double *values, const struct rf_profile *perfect,
                         const struct rf_profile *measured, const struct cli_measure_setup *setup,
                         struct rf_error *error)
{
    return rf_measure_overlap(values, perfect, measured, setup->top, error);
}

/* Over every value that makes up --tuple-share of its pc, however rare the pc is. */
static rf_status rms(double *values, const struct rf_profile *perfect,
                     const struct rf_profile *measured, const struct cli_measure_setup *setup,
                     struct rf_error *error)
{
    struct rf_measure_invariance measure = {0};
    const struct rf_profile *const profiles[2] = {perfect, measured};
    struct rf_invariance_filter filter = setup->filter;
    filter.pc_share = 0;
    rf_status status = measure_invariance(&measure, values, profiles, &filter, error);
    values[0] = measure.rms;
    return status;
}

const struct cli_measure cli_measures[] = {
    {"interval",
     "tuples above --threshold, interval by interval",
     {"error", "false_pos", "false_neg", "neutral_pos", "neutral_neg", NULL},
     interval},
    {"invariance", "shares of values at each pc", {"error", "unseen", "covered", NULL}, invariance},
    {"overlap",
     "the shares that both agree on, over the members that make up --top",
     {"overlap", NULL},
     overlap},
    {"rms",
     "shares of values at each pc, as the root mean square",
     {"rms", "unseen", "covered", NULL},
     rms},
    {NULL, NULL, {NULL}, NULL},
};

const char *cli_words_measures(size_t i)
{
    return cli_measures[i].name;
}
