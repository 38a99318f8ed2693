/* course.h - what of a profile's productions the probe can run, and in which bursts. */
#ifndef RF_DISE_COURSE_H
#define RF_DISE_COURSE_H

#include "dise/production.h"
#include <riffle/probe.h>

/* "own.hps:4:1: WHAT", RF_EINVAL. */
rf_status rf_dise_fail_at(const struct rf_dise_program *program, const struct rf_dise_place *place,
                          const char *what, struct rf_error *error);
/* "own.hps:4:1: WHAT; riffle sim can", RF_EINVAL. */
rf_status rf_dise_refuse(const struct rf_dise_program *program, const struct rf_dise_place *place,
                         const char *what, struct rf_error *error);

/* Where the first production with a control stands, or the first of the profile. */
const struct rf_dise_place *rf_dise_first_place(const struct rf_dise_program *program,
                                                unsigned profile);

enum rf_dise_side { RF_DISE_CONTROL_SIDE, RF_DISE_REPLACEMENT_SIDE };

/* Is it a production of this profile that has such a part? */
bool rf_dise_takes_part(const struct rf_dise_production *production, unsigned profile,
                        enum rf_dise_side part);

/* The bursts of a profile, by running its counters. Refuses with its place what the probe cannot run. */
rf_status rf_dise_find_bursts(const struct rf_dise_program *program, unsigned profile,
                              struct rf_probe_bursts *bursts, struct rf_error *error);

#endif
