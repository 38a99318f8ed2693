/* outcome.c - how a program that was run under the probe ended, as notes of its run. */
#include "outcome.h"
#include <string.h>

static rf_status note_processes(struct rf_run *run, const struct rf_probe_outcome *outcome,
                                unsigned apart)
{
    unsigned long long n = outcome->processes;
    rf_status status = RF_OK;
    if (apart > 0 && n > apart)
        status =
            cli_note(run, "processes", "%llu: %s; process %u is that one and all %llu after it", n,
                     outcome->programs, apart, n - apart);
    else if (n > 1)
        status = cli_note(run, "processes", "%llu: %s", n, outcome->programs);
    if (status == RF_OK && outcome->unfollowed > 0)
        status = cli_note(run, "not-followed", "%llu %s", (unsigned long long)outcome->unfollowed,
                          outcome->hooks ? "processes or threads" : "processes");
    if (status == RF_OK && outcome->untold > 0)
        status = cli_note(
            run, "not-told",
            "%llu events, for which the ring had no slot, or the slot no room for their place",
            (unsigned long long)outcome->untold);
    if (status == RF_OK && outcome->threads > outcome->processes)
        status = cli_note(run, "threads", "%llu%s%s", (unsigned long long)outcome->threads,
                          outcome->thread_names[0] != '\0' ? "; " : "", outcome->thread_names);
    for (size_t i = 0; i < outcome->n_named_threads && status == RF_OK; i++) {
        char name[32];
        snprintf(name, sizeof name, "thread-%u", (unsigned)outcome->named_threads[i].number);
        status = cli_note(run, name, "%s", outcome->named_threads[i].name);
    }
    if (status == RF_OK && outcome->unprofiled[0] != '\0')
        status = cli_note(run, "unprofiled", "%s", outcome->unprofiled);
    return status;
}

/* Companions count events of others once more, and nobody asked for them. */
static uint64_t events_asked(const struct rf_run *run, uint64_t events)
{
    for (size_t i = 0; i < run->n_profiles; i++) {
        const struct rf_profile *profile = run->profiles[i];
        uint64_t again = rf_profile_is_companion(profile) ? profile->consumed : 0;
        events -= again < events ? again : events;
    }
    return events;
}

/* Where processes were killed, nobody knows what they had produced. */
static const char *how_verified(const struct rf_probe_outcome *outcome)
{
    if (outcome->verified)
        return "; produced = consumed + lost";
    return outcome->ended && outcome->killed == 0 ? "; produced is not consumed + lost" : "";
}

static rf_status note_end(struct rf_run *run, const struct rf_probe_outcome *outcome)
{
    rf_status status = RF_OK;
    const uint64_t events = events_asked(run, outcome->events);
    if (outcome->signal != 0)
        status = cli_note(run, "killed", "by signal %d (%s); counted up to its last block",
                          outcome->signal, strsignal(outcome->signal));
    else
        status = cli_note(run, "exit-status", "%d", outcome->exit_status);
    if (status == RF_OK)
        status = cli_note(run, "seconds", "%.2f, %.2f of its processor", outcome->wall_seconds,
                          outcome->cpu_seconds);
    if (status == RF_OK)
        status = cli_note(run, "stream", "%llu events, %.1f M per second, %llu lost on the way%s",
                          (unsigned long long)events,
                          (double)events * 1e-6 / (outcome->wall_seconds + 1e-9),
                          (unsigned long long)outcome->lost, how_verified(outcome));
    if (status == RF_OK && outcome->derived > 0)
        status = cli_note(run, "derived", "%llu of them, from words of others",
                          (unsigned long long)outcome->derived);
    return status;
}

rf_status cli_outcome_note(struct rf_run *run, const struct rf_probe_outcome *outcome,
                           unsigned apart)
{
    rf_status status = note_end(run, outcome);
    return status == RF_OK ? note_processes(run, outcome, apart) : status;
}

/* Did the process of a profile exist? The first one did. */
static int was_there(void *n_single, size_t i, const struct rf_profile *profile)
{
    return profile->produced > 0 || i < *(const size_t *)n_single;
}

rf_status cli_outcome_label(struct rf_run *run, size_t n_single)
{
    rf_status status = RF_OK;
    if (n_single == 0)
        return RF_OK;
    for (size_t i = 0; i < run->n_profiles && status == RF_OK; i++) {
        size_t number = i / n_single + 1;
        status = rf_profile_add_figure(run->profiles[i], "process", (double)number);
    }
    return status == RF_OK ? rf_run_filter(run, was_there, &n_single) : status;
}
