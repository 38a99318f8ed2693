/* notes.h - what a run says of profiles that are not of all events, or not as they began. */
#ifndef RF_COLLECT_NOTES_H
#define RF_COLLECT_NOTES_H

#include <riffle/engine.h>
#include <riffle/profile.h>

/* RF_ENOMEM, and the sentence of an engine for whose profile there would be no memory. */
rf_status rf_notes_refuse_more(const struct rf_engine *engine, struct rf_error *why);

rf_status rf_notes_blindness(struct rf_run *run, struct rf_profile *profile,
                             const struct rf_error *why);
rf_status rf_notes_change(struct rf_run *run, const struct rf_profile *profile);

/* The source had no memory to go on: nobody knows how many events are missing. */
rf_status rf_notes_starvation(struct rf_run *run);

#endif
