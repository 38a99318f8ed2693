/* notes.c - what a run says of profiles that are not of all events, or not as they began. */
#include "collect/notes.h"
#include "base/error.h"
#include "profile/profile.h"
#include <string.h>

enum { SELECTOR_TEXT = 512 };

/* The same sentence as of an engine that has reached its ceiling. */
rf_status rf_notes_refuse_more(const struct rf_engine *engine, struct rf_error *why)
{
    char text[SELECTOR_TEXT];
    rf_engine_print(engine, text, sizeof text);
    text[strcspn(text, "(")] = '\0';
    return rf_fail(why, RF_ENOMEM,
                   "engine '%s': there was no memory for a larger profile at event %llu; what was "
                   "counted before stands",
                   text, (unsigned long long)rf_engine_events(engine));
}

/* The profile says from which of its events on it is blind, the run says why. */
rf_status rf_notes_blindness(struct rf_run *run, struct rf_profile *profile,
                             const struct rf_error *why)
{
    char text[sizeof why->message + SELECTOR_TEXT];
    rf_format(text, sizeof text, "%s%s%s", profile->selector,
              profile->selector[0] != '\0' ? ": " : "", why->message);
    rf_status status = rf_profile_add_figure(profile, "blind-from", (double)profile->consumed);
    return status == RF_OK ? rf_run_add_note(run, "blind", text) : status;
}

/* The engine has gone over from exact counts to bounds (auto.c). */
rf_status rf_notes_change(struct rf_run *run, const struct rf_profile *profile)
{
    char text[SELECTOR_TEXT + 128];
    double until = rf_profile_figure(profile, "exact-until", -1);
    if (until < 0)
        return RF_OK;
    rf_format(text, sizeof text,
              "%s%sexact up to event %llu, where its memory was full; multihash from there on",
              profile->selector, profile->selector[0] != '\0' ? ": " : "",
              (unsigned long long)until);
    return rf_run_add_note(run, "bounded", text);
}

/* No profile is of all events then. */
rf_status rf_notes_starvation(struct rf_run *run)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < run->n_profiles && status == RF_OK; i++)
        if (rf_profile_figure(run->profiles[i], "blind-from", -1) < 0)
            status = rf_profile_add_figure(run->profiles[i], "blind-from",
                                           (double)run->profiles[i]->consumed);
    return status;
}
