/* details.c - how a run was counted: command, engines with their options, events, bounds, figures. */
#include "report/report.h"
#include <assert.h>
#include <inttypes.h>
#include <riffle/engine.h>
#include <riffle/overhead.h>
#include <riffle/text.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = RF_REPORT_NUMBER_MAX, LABEL = 12 };

static const char *bytes(char text[NUMBER_MAX], uint64_t n)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)n;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1024;
    snprintf(text, NUMBER_MAX, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text;
}

/* A label and its text, on as many lines as it takes. */
void rf_report_outside(FILE *out, const struct rf_report_setup *setup, const char *label,
                       const char *text)
{
    char readable[RF_REPORT_TEXT_MAX];
    int length = (int)rf_text_readable(NULL, 0, label);
    fputs(setup->colour ? "\033[1m" : "", out);
    rf_write_readable(out, label);
    fputs(setup->colour ? "\033[0m" : "", out);
    fprintf(out, "%*s", length < LABEL ? LABEL - length : 1, "");
    if (rf_text_readable(readable, sizeof readable, text) >= sizeof readable)
        rf_report_cut(readable, rf_text_width(readable) - 1);
    rf_report_paragraph(out, setup, length < LABEL ? LABEL : (size_t)length + 1, readable);
}

void rf_report_fact(FILE *out, const struct rf_report_setup *setup, const char *label,
                    const char *format, ...)
{
    char text[1024];
    va_list arguments;
    assert(format != NULL);
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rf_report_outside(out, setup, label, text);
}

void rf_report_note(FILE *out, const struct rf_report_setup *setup, const struct rf_note *note)
{
    char number[NUMBER_MAX];
    size_t n = strlen(note->text);
    if (n > 3 && n < 19 && strspn(note->text, "0123456789") == n && note->text[0] != '0')
        rf_report_fact(out, setup, note->name, "%s",
                       rf_report_group(number, strtoull(note->text, NULL, 10)));
    else
        rf_report_outside(out, setup, note->name, note->text);
}

void rf_report_run_details(FILE *out, const struct rf_run *run, const struct rf_report_setup *setup)
{
    if (run->command[0] != '\0')
        rf_report_outside(out, setup, "command", run->command);
    for (size_t i = 0; i < run->n_notes; i++)
        if (strncmp(run->notes[i].name, "thread-", strlen("thread-")) != 0)
            rf_report_note(out, setup, &run->notes[i]);
}

static void write_engine(FILE *out, const struct rf_profile *profile,
                         const struct rf_report_setup *setup)
{
    char memory[NUMBER_MAX], storage[NUMBER_MAX];
    char engine[RF_REPORT_TEXT_MAX], text[RF_REPORT_TEXT_MAX];
    size_t n = rf_engine_shorten(profile->engine, engine, sizeof engine / 2);
    snprintf(text, sizeof text, "%.*s, seed %" PRIu64, RF_REPORT_TEXT_MAX / 2,
             n < sizeof engine / 2 ? engine : profile->engine, profile->seed);
    rf_report_outside(out, setup, "engine", text);
    if (profile->bits > 0)
        rf_report_fact(out, setup, "memory", "%s; as hardware %s of storage",
                       bytes(memory, profile->memory), bytes(storage, (profile->bits + 7) / 8));
    else
        rf_report_fact(out, setup, "memory", "%s", bytes(memory, profile->memory));
}

/* The engine looks for tuples with a share of an interval, but the stream was shorter than half an interval. */
bool rf_report_is_short(const struct rf_profile *profile)
{
    return profile->bound != RF_BOUND_EXACT && 2 * profile->consumed < profile->interval_length;
}

static void write_events(FILE *out, const struct rf_profile *profile,
                         const struct rf_report_setup *setup)
{
    char produced[NUMBER_MAX], consumed[NUMBER_MAX], lost[NUMBER_MAX], least[NUMBER_MAX];
    double shortest = rf_profile_figure(profile, RF_FIGURE_LEAST, 0);
    bool mixed = shortest > 0 && shortest < (double)profile->interval_length;
    rf_report_fact(out, setup, "events", "%s produced, %s consumed, %s lost",
                   rf_report_group(produced, profile->produced),
                   rf_report_group(consumed, profile->consumed),
                   rf_report_group(lost, profile->lost));
    if (profile->n_intervals_seen > 0 && profile->interval_length == 0)
        rf_report_fact(out, setup, "intervals", "%s, each as long as the engine had room",
                       rf_report_group(consumed, profile->n_intervals_seen));
    else if (profile->n_intervals_seen > 0)
        rf_report_fact(out, setup, "intervals", "%s of %s%s%s events%s",
                       rf_report_group(consumed, profile->n_intervals_seen),
                       mixed ? rf_report_group(least, (uint64_t)shortest) : "", mixed ? " to " : "",
                       rf_report_group(lost, profile->interval_length),
                       rf_report_is_short(profile)
                           ? ", not full: -e exact or a smaller --interval finds more"
                           : "");
}

const char *rf_report_exact_of(const struct rf_run *run, const struct rf_profile *profile)
{
    if (rf_run_note(run, "not-told") != NULL)
        return "of what was told ";
    bool blind = profile->lost > 0 || rf_profile_figure(profile, "blind-from", -1) >= 0;
    return blind ? "of what was consumed " : "";
}

static void write_bounds(FILE *out, const struct rf_run *run, const struct rf_profile *profile,
                         const struct rf_report_setup *setup)
{
    char absent[NUMBER_MAX];
    if (rf_report_is_sampled(profile))
        rf_report_fact(out, setup, "bounds", "of the co-processor's samples, not of all events");
    else if (profile->bound == RF_BOUND_EXACT && profile->absent_upper == 0)
        rf_report_fact(out, setup, "bounds", "none needed: the counts %sare exact",
                       rf_report_exact_of(run, profile));
    else if (profile->bound == RF_BOUND_CONFIDENCE)
        rf_report_fact(out, setup, "bounds",
                       "hold for %.4g%% of all items; one that is not listed has at most %s",
                       100 * profile->confidence, rf_report_group(absent, profile->absent_upper));
    else
        rf_report_fact(out, setup, "bounds", "always hold; what is not listed has at most %s",
                       rf_report_group(absent, profile->absent_upper));
}

static void write_figures(FILE *out, const struct rf_profile *profile,
                          const struct rf_report_setup *setup)
{
    char number[NUMBER_MAX];
    for (size_t i = 0; i < profile->n_figures; i++) {
        double value = profile->figures[i].value;
        bool whole = value >= 0 && value < 1e15 && value == (double)(uint64_t)value;
        if (whole)
            rf_report_fact(out, setup, profile->figures[i].name, "%s",
                           rf_report_group(number, (uint64_t)value));
        else
            rf_report_fact(out, setup, profile->figures[i].name, "%.6g", value);
    }
}

/* What the messages of a profiler in hardware would cost, where the run knows its cycles. */
static void write_overhead(FILE *out, const struct rf_run *run, const struct rf_profile *profile,
                           const struct rf_report_setup *setup)
{
    static const double cpi = 1; /* stated, not measured */
    struct rf_overhead overhead;
    char number[NUMBER_MAX];
    if (rf_overhead(&overhead, run, profile, cpi) != RF_OK)
        return;
    if (overhead.instructions > 0)
        rf_report_fact(out, setup, "overhead", "%.2f%% of %s instructions, taken at one per cycle",
                       100 * overhead.share, rf_report_group(number, overhead.instructions));
    else
        rf_report_fact(out, setup, "overhead", "%.2f%% of %s cycles of the simulated core",
                       100 * overhead.share,
                       rf_report_group(number, (uint64_t)overhead.cycles_in_all));
}

void rf_report_profile_details(FILE *out, const struct rf_run *run,
                               const struct rf_profile *profile,
                               const struct rf_report_setup *setup)
{
    if (profile->selector[0] != '\0')
        rf_report_outside(out, setup, "profile", profile->selector);
    write_engine(out, profile, setup);
    write_events(out, profile, setup);
    write_bounds(out, run, profile, setup);
    write_figures(out, profile, setup);
    write_overhead(out, run, profile, setup);
}
