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

static rf_status invariance(double *values, const struct rf_profile *perfect,
                            const struct rf_profile *measured,
                            const struct cli_measure_setup *setup, struct rf_error *error)
{
    struct rf_measure_invariance measure;
    rf_status status = rf_measure_invariance(&measure, perfect, measured, &setup->filter, error);
    if (status != RF_OK)
        return status;
    values[0] = measure.error;
    values[1] = measure.unseen;
    values[2] = measure.covered;
    return RF_OK;
}

static rf_status overlap(double *values, const struct rf_profile *perfect,
                         const struct rf_profile *measured, const struct cli_measure_setup *setup,
                         struct rf_error *error)
{
    return rf_measure_overlap(values, perfect, measured, setup->top, error);
}

/* Over all values that make --tuple-share of their pc, whatever share the other values have. */
static rf_status rms(double *values, const struct rf_profile *perfect,
                     const struct rf_profile *measured, const struct cli_measure_setup *setup,
                     struct rf_error *error)
{
    struct rf_measure_invariance measure;
    struct rf_invariance_filter filter = setup->filter;
    filter.pc_share = 0;
    rf_status status = rf_measure_invariance(&measure, perfect, measured, &filter, error);
    if (status != RF_OK)
        return status;
    values[0] = measure.rms;
    values[1] = measure.unseen;
    values[2] = measure.covered;
    return RF_OK;
}

const struct cli_measure cli_measures[] = {
    {"interval",
     "tuples above --threshold, interval by interval",
     {"error", "false_pos", "false_neg", "neutral_pos", "neutral_neg", NULL},
     interval},
    {"invariance", "shares of values at each pc", {"error", "unseen", "covered", NULL}, invariance},
    {"overlap",
     "the shares that both have, of the members that make --top",
     {"overlap", NULL},
     overlap},
    {"rms", "the same, root mean square", {"rms", "unseen", "covered", NULL}, rms},
    {NULL, NULL, {NULL}, NULL},
};

const char *cli_words_measures(size_t i)
{
    return cli_measures[i].name;
}
