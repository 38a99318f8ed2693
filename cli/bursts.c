/* bursts.c - how often a program is sampled, as text: --burst 100 --frequency 1/1000. */
#include "bursts.h"
#include <riffle/text.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct cli_option cli_options_bursts[] = {
    {CLI_TEXT, 0, "burst", "N",
     .brief = "sample N intervals in a row, then skip until the next burst; 0: sample all",
     .text = "Without --burst and --frequency all is sampled, too. A sampling interval ends with a "
             "call or a backward branch. Skipped events are "
             "counted, and the profile's counts are scaled up by their number; each count has a "
             "confidence interval, from the differences between bursts. Short bursts suit calls "
             "and methods, long ones suit streams of references. --skip and --limit count events "
             "that are sampled; a record keeps the gaps for replay.",
     .offset = offsetof(struct cli_bursts, burst)},
    {CLI_TEXT, 0, "frequency", "F", .brief = "share of the intervals that is sampled: 1/1000, 0.1%",
     .text = "Without --burst, bursts are one interval long. Without --frequency, one interval in "
             "a thousand is sampled.",
     .offset = offsetof(struct cli_bursts, frequency)},
    {CLI_TEXT, 0, "phases", "F",
     .brief = "share of the intervals that is sampled while the program does what is new: 1/100",
     .text =
         "What is new is told by where sampled intervals end, a window of 64 intervals and 16 "
         "bursts "
         "at a time: a phase is new in the first four windows that are like it. Known phases are "
         "sampled at --frequency. Each burst counts for its own part of the program, so counts and "
         "confidence intervals stay right. At the same overhead the profile of a whole run "
         "becomes no better by it, mostly a little worse (lab/hps); phases that are short or just "
         "begin are seen better.",
     .offset = offsetof(struct cli_bursts, phases)},
    {CLI_FLAG, 0, "regular", .brief = "space bursts evenly, not at random with that mean distance",
     .text = "An even distance that is in step with a loop of the program samples parts of it too "
             "often, and the confidence intervals do not show it. Without this, distances are "
             "random, by --seed.",
     .offset = offsetof(struct cli_bursts, regular)},
    {.type = CLI_END},
};

bool cli_frequency(const char *text, double *frequency)
{
    char *end;
    double value = strtod(text, &end), divisor = 1;
    if (end == text)
        return false;
    if (*end == '/') {
        const char *behind = end + 1;
        divisor = strtod(behind, &end);
        if (end == behind)
            return false;
    } else if (*end == '%') {
        divisor = 100;
        end++;
    }
    *frequency = value / divisor;
    return *end == '\0' && *frequency > 0 && *frequency <= 1;
}

uint64_t cli_sparsity(uint64_t burst, double frequency)
{
    return (uint64_t)llround((double)burst * (1 / frequency - 1));
}

/* --phases, where there is one. */
static int take_phases(struct rf_probe_bursts *bursts, const char *text)
{
    double frequency;
    if (text == NULL)
        return CLI_OK;
    if (bursts->burst == 0)
        return cli_fail(CLI_USAGE, "--phases goes with --burst or --frequency");
    if (!cli_frequency(text, &frequency) ||
        cli_sparsity(bursts->burst, frequency) > bursts->sparsity)
        return cli_fail(
            CLI_USAGE,
            "--phases must be at least --frequency and at most 1, such as 1/100, got '%s'", text);
    bursts->phases = true;
    bursts->new_sparsity = cli_sparsity(bursts->burst, frequency);
    return CLI_OK;
}

/* 0 where all is to be sampled. */
static int take_length(uint64_t *burst, const struct cli_bursts *asked)
{
    *burst = asked->frequency != NULL ? 1 : 0;
    if (asked->burst == NULL)
        return CLI_OK;
    if (rf_units_count(asked->burst, strlen(asked->burst), burst) != RF_OK)
        return cli_fail(CLI_USAGE, "--burst must be a number of intervals, got '%s'", asked->burst);
    if (*burst == 0 && asked->frequency != NULL)
        return cli_fail(CLI_USAGE, "--burst 0 samples all, so --frequency cannot go with it");
    return CLI_OK;
}

int cli_bursts_take(struct rf_probe_bursts *bursts, const struct cli_bursts *asked, uint64_t seed)
{
    const char *text = asked->frequency != NULL ? asked->frequency : "1/1000";
    uint64_t burst;
    double frequency;
    *bursts = (struct rf_probe_bursts){.seed = seed, .regular = asked->regular};
    int status = take_length(&burst, asked);
    if (status != CLI_OK || burst == 0)
        return status != CLI_OK ? status : take_phases(bursts, asked->phases);
    if (!cli_frequency(text, &frequency))
        return cli_fail(CLI_USAGE,
                        "--frequency must be more than 0 and at most 1, such as 1/1000, got '%s'",
                        text);
    if (burst > CLI_BURST_MAX || (double)burst / frequency > CLI_SPARSITY_MAX)
        return cli_fail(CLI_USAGE, "--burst %llu at --frequency %s puts bursts too far apart",
                        (unsigned long long)burst, text);
    bursts->burst = (uint32_t)burst;
    bursts->sparsity = bursts->first = cli_sparsity(burst, frequency);
    return take_phases(bursts, asked->phases);
}

bool cli_bursts_need_records(const struct cli_plan *plan)
{
    for (size_t i = 0; i < plan->n_selectors; i++)
        if (plan->selectors[i].n_conditions > 0)
            return true;
    return false;
}

/* "1 intervals, 99 intervals apart on average" */
static void describe(char *text, size_t size, const struct rf_probe_bursts *bursts)
{
    char length[32] = "all";
    if (bursts->burst != RF_PROBE_FOREVER)
        snprintf(length, sizeof length, "%u", bursts->burst);
    if (bursts->sparsity == UINT64_MAX)
        snprintf(text, size, "%s intervals, once, behind the first %llu", length,
                 (unsigned long long)bursts->first);
    else
        snprintf(text, size, "%s intervals, %llu intervals apart%s", length,
                 (unsigned long long)bursts->sparsity, bursts->regular ? "" : " on average");
    size_t n = strlen(text);
    if (bursts->phases)
        snprintf(text + n, size - n, ", %llu while new", (unsigned long long)bursts->new_sparsity);
}

rf_status cli_bursts_warn(struct rf_run *run, const char *name, enum cli_in_step why)
{
    const char *what = why == CLI_EQUAL ? "at equal distances" : "close to each other";
    return cli_note(run, "bursts", "%s%s%s: a loop in step with them is counted wrongly, beyond +-",
                    name, name[0] != '\0' ? " " : "", what);
}

/* Above 1/4, bursts of several intervals fall into step with some loops in spite of random distances (doc/HPS.md). */
static bool is_close(const struct rf_probe_bursts *bursts)
{
    return bursts->burst > 1 && bursts->sparsity < UINT64_C(3) * bursts->burst;
}

static rf_status warn_in_step(struct rf_run *run, const struct rf_probe_bursts *bursts)
{
    if (bursts->sparsity == 0 || bursts->sparsity == UINT64_MAX)
        return RF_OK;
    if (bursts->regular)
        return cli_bursts_warn(run, "", CLI_EQUAL);
    return is_close(bursts) ? cli_bursts_warn(run, "", CLI_CLOSE) : RF_OK;
}

static bool is_as_asked(const struct rf_probe_bursts *asked, const struct rf_probe_bursts *last)
{
    return asked->burst == last->burst && asked->sparsity == last->sparsity;
}

/* "; off: load -> pc" */
static void list_off(char *text, size_t size, uint32_t off, const struct cli_plan *plan)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < plan->n_selectors && i < 32 && used < size; i++) {
        char name[512];
        if ((off >> i & 1) == 0)
            continue;
        rf_selector_print(&plan->selectors[i], name, sizeof name);
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s", used == 0 ? "; off: " : "; ", name);
    }
}

/* What riffle control has made of them. */
static rf_status note_changes(struct rf_run *run, const struct rf_probe_bursts *asked,
                              const struct rf_probe_outcome *outcome, const struct cli_plan *plan)
{
    char text[128], off[600];
    list_off(off, sizeof off, outcome->off, plan);
    rf_status status =
        cli_note(run, "bursts", "changed by riffle control, %llu time%s%s",
                 (unsigned long long)outcome->changes, outcome->changes == 1 ? "" : "s", off);
    for (size_t i = 0; i < RF_PROBE_CLOCKS_MAX && asked[i].burst > 0 && status == RF_OK; i++) {
        if (is_as_asked(&asked[i], &outcome->last_bursts[i]))
            continue;
        describe(text, sizeof text, &outcome->last_bursts[i]);
        status = cli_note(run, "bursts", "in the end of %s", text);
        if (status == RF_OK)
            status = warn_in_step(run, &outcome->last_bursts[i]);
    }
    return status;
}

rf_status cli_bursts_note(struct rf_run *run, const struct rf_probe_bursts *asked,
                          const struct rf_probe_outcome *outcome, const struct cli_plan *plan)
{
    char text[128];
    rf_status status = RF_OK;
    const char *warning = plan->cache != NULL
                              ? "; the caches see the bursts alone, short ones show too many misses"
                              : "";
    const struct cli_cut *cut = &plan->asked->cut;
    bool alone = asked[0].burst > 0 && asked[1].burst == 0 && cut->skip == 0 && cut->limit == 0;
    for (size_t i = 0; i < RF_PROBE_CLOCKS_MAX && asked[i].burst > 0 && status == RF_OK; i++) {
        describe(text, sizeof text, &asked[i]);
        status = !alone ? cli_note(run, "bursts", "of %s%s", text, warning)
                 : outcome->uncounted
                     ? cli_note(run, "bursts", "%llu of %s; what was skipped was not counted%s",
                                (unsigned long long)outcome->bursts, text, warning)
                     : cli_note(run, "bursts", "%llu of %s; %llu events skipped%s",
                                (unsigned long long)outcome->bursts, text,
                                (unsigned long long)outcome->skipped, warning);
        if (status == RF_OK)
            status = warn_in_step(run, &asked[i]);
    }
    if (status == RF_OK && outcome->changes > 0)
        status = note_changes(run, asked, outcome, plan);
    return status;
}
