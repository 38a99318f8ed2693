/* text.c - a page for people: a line on the run, then a table per profile, the answer first.
 *
 *     rank   43.3 M loads   0.66 s
 *
 *     loads      count  values  top value  of this load  place
 *     49.9%     21.6 M     64+  0                 98.7%  rank.c:44 spread
 *
 * How it was counted (command, engines, seeds, bounds) comes with --details. Texts from outside may hold anything
 * and go through rf_text_readable. */
#include "report/report.h"
#include <riffle/text.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a person must know besides the rows ---- */

static void write_problems(FILE *out, const struct rf_report_setup *setup)
{
    const char *problem;
    for (size_t i = 0; setup->view.symbols != NULL; i++) {
        problem = rf_symbols_problem(setup->view.symbols, i);
        if (problem == NULL)
            return;
        fputs(i == 0 ? "\n" : "", out);
        rf_report_outside(out, setup, "names", problem);
    }
}

/* Who reads files of strangers should know how. */
static void write_fence(FILE *out, const struct rf_report_setup *setup)
{
    if (setup->view.symbols != NULL && !rf_symbols_fenced())
        rf_report_outside(out, setup, "fence",
                          "none: this system has no filter of system calls (seccomp), so limits on "
                          "memory and time are all that holds the reader of names");
}

static bool has_ranges(const struct rf_view *view)
{
    for (size_t i = 0; i < view->n_cells; i++)
        if (view->cells[i].low < view->cells[i].high)
            return true;
    return false;
}

/* What makes the counts of a co-processor too small or too large. */
static void write_troubles(FILE *out, const struct rf_profile *profile,
                           const struct rf_report_setup *setup)
{
    char room[RF_REPORT_NUMBER_MAX];
    double refused = rf_profile_figure(profile, "table-refused", 0);
    double overruns = rf_profile_figure(profile, "overruns", 0);
    double taken =
        rf_profile_figure(profile, "samples", 0) - rf_profile_figure(profile, "drops", 0);
    if ((double)profile->consumed > 1.1 * taken)
        rf_report_sentence(out, setup,
                           "The counts are %s in all, more than the samples: the program counts "
                           "some twice.",
                           rf_report_group(room, profile->consumed));
    if (refused > 0)
        rf_report_sentence(out, setup,
                           "The host's table was full and refused %s slots: table=N makes it "
                           "larger.",
                           rf_report_group(room, (uint64_t)refused));
    if (overruns > 0)
        rf_report_sentence(out, setup,
                           "%s samples ran too long and were given up: the program has a loop.",
                           rf_report_group(room, (uint64_t)overruns));
}

/* What a co-processor took: its counts and bounds are of these, not of all that ran. */
static void write_samples(FILE *out, const struct rf_profile *profile,
                          const struct rf_report_setup *setup)
{
    static const char *const names[] = {"samples", "class-events",    "drops",
                                        "looks",   "overhead-cycles", "interrupts"};
    char room[6][RF_REPORT_NUMBER_MAX], looks[80] = "";
    const char *text[6];
    for (size_t i = 0; i < 6; i++)
        text[i] = rf_report_group(room[i], (uint64_t)rf_profile_figure(profile, names[i], 0));
    if (rf_profile_figure(profile, "class-events", 0) == 0) {
        rf_report_sentence(out, setup,
                           "The stream has none of the events that the program samples: %s.",
                           profile->selector);
        return;
    }
    if (rf_profile_figure(profile, "looks", 0) > 0)
        snprintf(looks, sizeof looks, ", %s of them timed by the host", text[3]);
    rf_report_sentence(out, setup,
                       "Counts are estimates from samples: %s of %s events, %s dropped.", text[0],
                       text[1], text[2]);
    rf_report_sentence(out, setup,
                       "%s interrupt%s%s; %s cycles of overhead; %.1f%% of the events covered.",
                       text[5], strcmp(text[5], "1") == 0 ? "" : "s", looks, text[4],
                       100 * rf_profile_figure(profile, "covered-share", 0));
    write_troubles(out, profile, setup);
}

/* Ranges are bounds: say so once, and what may be missing. */
static void write_bounds(FILE *out, const struct rf_profile *profile, const struct rf_view *view,
                         const struct rf_report_setup *setup)
{
    char absent[RF_REPORT_NUMBER_MAX], holds[64] = "What";
    if (rf_report_is_sampled(profile)) {
        write_samples(out, profile, setup);
        return;
    }
    if (profile->bound == RF_BOUND_EXACT && profile->absent_upper == 0)
        return;
    if (rf_report_is_short(profile))
        rf_report_sentence(out, setup,
                           "The stream is shorter than half an interval: -e exact or a smaller "
                           "--interval finds more.");
    if (has_ranges(view) && profile->bound == RF_BOUND_CONFIDENCE)
        snprintf(holds, sizeof holds, "+- holds for %.4g%% of all rows; what",
                 100 * profile->confidence);
    else if (has_ranges(view))
        snprintf(holds, sizeof holds, "Ranges hold always; what");
    rf_report_sentence(out, setup, "%s is not listed has at most %s %s.", holds,
                       rf_report_group(absent, profile->absent_upper),
                       rf_view_noun(view->profile, profile->absent_upper));
}

/* ---- tables ---- */

static bool is_overview(const struct rf_run *run)
{
    return rf_run_note(run, RF_NOTE_OVERVIEW) != NULL;
}

static rf_status write_table(const struct rf_report_page *page, const struct rf_profile *profile,
                             const size_t *interval)
{
    FILE *out = page->out;
    const struct rf_report_setup *setup = page->setup;
    struct rf_view view;
    char number[RF_REPORT_NUMBER_MAX], events[RF_REPORT_NUMBER_MAX];
    rf_status status =
        rf_report_view(&view, page->run, profile, setup, RF_BY_STANDARD, interval, page->error);
    if (status != RF_OK)
        return status;
    if (interval != NULL)
        fprintf(out, "\ninterval %s, %s event%s\n", rf_report_group(number, *interval),
                rf_report_group(events, view.events), view.events == 1 ? "" : "s");
    if (view.n_rows == 0)
        fprintf(out, " nothing was found\n");
    status = rf_report_rows(out, &view, setup, RF_REPORT_LINES);
    if (view.by == RF_BY_PROCESS && rf_view_column(&view, RF_COLUMN_NUMBER) == NULL)
        rf_report_sentence(out, setup,
                           "Processes of one program were counted together; run --by process and "
                           "run --per-process keep them apart.");
    if (interval == NULL && (view.n_rows > 0 || rf_report_is_sampled(profile)))
        write_bounds(out, profile, &view, setup);
    rf_view_close(&view);
    return status;
}

static size_t count_shown(const struct rf_run *run, const struct rf_report_setup *setup)
{
    size_t n = 0;
    if (is_overview(run) && setup->view.by != RF_BY_STANDARD)
        return 1;
    for (size_t i = 0; i < run->n_profiles; i++)
        n += rf_report_shows(run, i, setup);
    return n;
}

/* "load -> pc,value, process 2", where there are several. */
static void write_title(FILE *out, const struct rf_run *run, const struct rf_profile *profile,
                        const struct rf_report_setup *setup)
{
    double process = rf_profile_figure(profile, "process", 0);
    if (count_shown(run, setup) > 1) {
        fputc('\n', out);
        rf_write_readable(out, profile->selector[0] != '\0' ? profile->selector : profile->engine);
        if (process > 0 && setup->view.by != RF_BY_PROCESS)
            fprintf(out, ", process %.0f", process);
        fputc('\n', out);
    }
    if (!setup->per_interval) /* each interval has a heading */
        fputc('\n', out);
}

static rf_status write_profile(const struct rf_report_page *page, const struct rf_profile *profile)
{
    size_t n;
    rf_status status = rf_report_tables(profile, page->setup, &n, page->error);
    if (status != RF_OK)
        return status;
    write_title(page->out, page->run, profile, page->setup);
    for (size_t i = 0; i < n && status == RF_OK; i++)
        status = write_table(page, profile, page->setup->per_interval ? &i : NULL);
    return status;
}

/* How it was counted comes last. */
static void write_details(FILE *out, const struct rf_run *run, const struct rf_report_setup *setup)
{
    fputc('\n', out);
    rf_report_run_details(out, run, setup);
    write_fence(out, setup);
    for (size_t i = 0; i < run->n_profiles; i++) {
        if (rf_profile_is_companion(run->profiles[i]))
            continue;
        fputc('\n', out);
        rf_report_profile_details(out, run, run->profiles[i], setup);
    }
}

/* ---- the page ---- */

/* The first screen is made of tuples; of ranges and streams there are tables. */
static bool has_tuples(const struct rf_run *run)
{
    for (size_t i = 0; i < run->n_profiles; i++)
        if (run->profiles[i]->shape != RF_SHAPE_TUPLE)
            return false;
    return true;
}

static bool wants_overview(const struct rf_run *run, const struct rf_report_setup *setup)
{
    return is_overview(run) && has_tuples(run) && setup->view.by == RF_BY_STANDARD &&
           !setup->per_interval && setup->view.symbols != NULL;
}

/* The first screen is of engines; what co-processors found comes below. */
static rf_status write_sampled(const struct rf_report_page *page)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < page->run->n_profiles && status == RF_OK; i++)
        if (rf_report_is_sampled(page->run->profiles[i]))
            status = write_profile(page, page->run->profiles[i]);
    return status;
}

/* Of several profiles, those are shown that know what is asked for; of those of the default report, the first one. */
static rf_status write_tables(const struct rf_report_page *page)
{
    bool is_one = is_overview(page->run) && page->setup->view.by != RF_BY_STANDARD;
    rf_report_run_line(page->out, page->run, page->setup, SIZE_MAX);
    return rf_report_each(page, "", is_one ? 1 : SIZE_MAX, write_profile);
}

static rf_status write_run(FILE *out, const struct rf_run *run, const struct rf_report_setup *asked,
                           struct rf_error *error)
{
    struct rf_report_setup setup = *asked;
    const struct rf_report_page page = {out, run, &setup, error};
    rf_status status = rf_report_check(run, &setup, error);
    setup.view.sources = 1;
    if (status == RF_OK && wants_overview(run, &setup)) {
        status = rf_report_overview(out, run, &setup, error);
        if (status == RF_OK)
            status = write_sampled(&page);
    } else if (status == RF_OK) {
        status = write_tables(&page);
    }
    if (status != RF_OK)
        return status;
    write_problems(out, &setup);
    if (setup.details)
        write_details(out, run, &setup);
    return rf_report_end(out);
}

const struct rf_report_form rf_report_text = {
    .name = "text",
    .brief = "a page for people",
    .write = write_run,
};
