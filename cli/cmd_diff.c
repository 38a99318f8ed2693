/* cmd_diff.c - riffle diff: what changed between two saved runs.
 *
 * As with diff(1), the status tells an answer from trouble: 1 is the answer that --fail-above asks for, 2 is trouble. */
#include "plan.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TROUBLE = 2, SIDES = 2, PER_PROFILE = 3 };

struct settings {
    const char *format, *by, *html;
    uint64_t items;
    double fail_above;
    int no_names;
};

static const char *words_forms(size_t i)
{
    static const char *const forms[] = {"text", "csv", "json", "html", NULL};
    return forms[i];
}

static const char *words_by(size_t i)
{
    static const char *const ways[] = {"function", "line",   "module", "pc", "value",
                                       "target",   "region", "item",   NULL};
    return ways[i];
}

static const struct cli_option options[] = {
    {CLI_CHOICE, 'f', "format", "FORM", "text", .words = words_forms, .brief = "how to print it",
     .offset = offsetof(struct settings, format)},
    {CLI_CHOICE, 'b', "by", "WHAT", .words = words_by, .brief = "what a row is",
     .text = "Without it, functions; items, where there are no names.",
     .offset = offsetof(struct settings, by)},
    {CLI_COUNT, 'n', "items", "N", "20", .brief = "show the N largest changes; 0: all",
     .offset = offsetof(struct settings, items)},
    {CLI_SHARE, 0, "fail-above", "SHARE", "0",
     .brief = "end with status 1 where something grew by more; 0: never",
     .text =
         "SHARE is of all old events. Status 1 means that all of it, or one row, grew by more than "
         "that, wherever the true counts lie between their bounds.",
     .offset = offsetof(struct settings, fail_above)},
    {CLI_FILE, 0, "html", "FILE", .brief = "also write it into FILE as a page for a browser",
     .text = "A new file is for its owner alone.", .offset = offsetof(struct settings, html)},
    {CLI_FLAG, 0, "no-names", .brief = "do not read the files that ran",
     .offset = offsetof(struct settings, no_names)},
    {.type = CLI_END},
};

struct comparison {
    const struct settings *settings;
    struct rf_run *runs[SIDES];
    struct rf_symbols *symbols[SIDES];
    struct rf_diff
        *diffs; /* at most PER_PROFILE of each profile: for the text, and two for a page */
    size_t n;
    size_t n_text; /* the first ones; those behind them are for a page */
};

/* ---- both runs ---- */

static rf_status load(struct comparison *c, char **paths, struct rf_error *error)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < SIDES && status == RF_OK; i++) {
        status = cli_load(&c->runs[i], paths[i], error);
        if (status == RF_OK && !c->settings->no_names && c->runs[i]->n_modules > 0)
            status = rf_symbols_open(&c->symbols[i], c->runs[i], NULL, error);
    }
    return status;
}

static void release(struct comparison *c)
{
    for (size_t i = 0; i < c->n; i++)
        rf_diff_close(&c->diffs[i]);
    free(c->diffs);
    for (size_t i = 0; i < SIDES; i++) {
        rf_symbols_close(c->symbols[i]);
        rf_run_free(c->runs[i]);
    }
}

/* ---- which profiles, by what ---- */

/* The profile of the second run that is compared with the i-th of the first. Where several have the same selector, the first
 * goes with the first, the second with the second. */
static const struct rf_profile *partner(const struct comparison *c, size_t i)
{
    size_t before = 0;
    const char *selector = c->runs[0]->profiles[i]->selector;
    for (size_t k = 0; k < i; k++)
        before += strcmp(c->runs[0]->profiles[k]->selector, selector) == 0;
    for (size_t k = 0; k < c->runs[1]->n_profiles; k++)
        if (strcmp(c->runs[1]->profiles[k]->selector, selector) == 0 && before-- == 0)
            return c->runs[1]->profiles[k];
    return NULL;
}

static rf_status compare_by(struct comparison *c, size_t i, enum rf_view_by by,
                            struct rf_error *error)
{
    const struct rf_diff_side before = {c->runs[0], c->runs[0]->profiles[i], c->symbols[0]};
    const struct rf_diff_side after = {c->runs[1], partner(c, i), c->symbols[1]};
    rf_status status = rf_diff_open(&c->diffs[c->n], &before, &after, by, error);
    c->n += status == RF_OK;
    return status;
}

static bool wants_page(const struct comparison *c)
{
    return strcmp(c->settings->format, "html") == 0 || c->settings->html != NULL;
}

enum extent { FOR_TEXT, FOR_PAGE };

static rf_status compare_one(struct comparison *c, size_t i, enum extent extent,
                             struct rf_error *error)
{
    const struct rf_profile *profile = c->runs[0]->profiles[i];
    bool named = c->symbols[0] != NULL && c->symbols[1] != NULL;
    if (c->settings->by != NULL) {
        enum rf_view_by by = (enum rf_view_by)rf_view_by_find(c->settings->by);
        return rf_view_knows(profile, by) ? compare_by(c, i, by, error) : RF_OK;
    }
    if (!named || !rf_view_knows(profile, RF_BY_FUNCTION))
        return compare_by(c, i, RF_BY_ITEM, error);
    rf_status status = compare_by(c, i, RF_BY_FUNCTION, error);
    if (status == RF_OK && extent == FOR_PAGE && rf_view_knows(profile, RF_BY_LINE))
        status = compare_by(c, i, RF_BY_LINE, error);
    return status;
}

/* In a text, the first profile of the default report is enough: it tells where the instructions go. */
static bool is_enough(const struct comparison *c, enum extent extent)
{
    return c->n > 0 && extent == FOR_TEXT && c->settings->by == NULL &&
           rf_run_note(c->runs[0], RF_NOTE_OVERVIEW) != NULL;
}

static rf_status compare_all(struct comparison *c, enum extent extent, struct rf_error *error)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < c->runs[0]->n_profiles && status == RF_OK && !is_enough(c, extent); i++)
        if (!rf_profile_is_companion(c->runs[0]->profiles[i]) && partner(c, i) != NULL)
            status = compare_one(c, i, extent, error);
    return status;
}

static rf_status compare(struct comparison *c, struct rf_error *error)
{
    c->diffs = calloc(PER_PROFILE * c->runs[0]->n_profiles + 1, sizeof *c->diffs);
    if (c->diffs == NULL)
        return RF_ENOMEM;
    rf_status status = compare_all(c, FOR_TEXT, error);
    c->n_text = c->n;
    if (status == RF_OK && wants_page(c))
        status = compare_all(c, FOR_PAGE, error);
    if (status == RF_OK && c->n == 0) {
        snprintf(error->message, sizeof error->message,
                 "the two files have no profile in common that tells what is asked for");
        return RF_EINVAL;
    }
    return status;
}

/* ---- the answer ---- */

static rf_status write_page(const struct comparison *c, FILE *out,
                            const struct rf_report_setup *setup)
{
    const struct rf_run *const runs[SIDES] = {c->runs[0], c->runs[1]};
    return rf_report_diff(out, "html", c->diffs + c->n_text, c->n - c->n_text, runs, setup);
}

static rf_status write_html(const struct comparison *c, const struct rf_report_setup *setup,
                            struct rf_error *error)
{
    struct cli_output output;
    rf_status status = cli_output_open(&output, c->settings->html, error);
    if (status != RF_OK)
        return status;
    return cli_output_close(&output, write_page(c, output.out, setup), error);
}

static rf_status print(const struct comparison *c, struct rf_error *error)
{
    const struct rf_run *const runs[SIDES] = {c->runs[0], c->runs[1]};
    const struct rf_report_setup setup = {.view.rows = c->settings->items,
                                          .width = cli_width(stdout)};
    rf_status status = RF_OK;
    if (c->settings->html != NULL)
        status = write_html(c, &setup, error);
    if (status == RF_OK && strcmp(c->settings->format, "html") == 0)
        status = write_page(c, stdout, &setup);
    else if (status == RF_OK)
        status = rf_report_diff(stdout, c->settings->format, c->diffs, c->n_text, runs, &setup);
    return cli_stdout_closed() ? RF_OK : status;
}

static int judge(const struct comparison *c)
{
    double most = 0;
    for (size_t i = 0; i < c->n_text; i++) {
        double growth = rf_diff_growth(&c->diffs[i]);
        most = growth > most ? growth : most;
    }
    if (c->settings->fail_above <= 0 || most <= c->settings->fail_above)
        return CLI_OK;
    return cli_fail(CLI_FAILED, "something grew by %.1f%% of all old events, more than %.4g%%",
                    100 * most, 100 * c->settings->fail_above);
}

static int run(const struct cli_call *call)
{
    static struct comparison c;
    struct rf_error error = {""};
    c.settings = call->settings;
    if (c.settings->html != NULL && strcmp(c.settings->html, "-") == 0)
        return cli_fail(TROUBLE, "--html needs a file; --format html writes to the output");
    if (cli_check_output(c.settings->html) != CLI_OK)
        return TROUBLE;
    for (size_t i = 0; i < call->n_arguments; i++)
        if (cli_same_file(c.settings->html, call->arguments[i]))
            return cli_fail(TROUBLE, "diff: the page would overwrite '%s'", call->arguments[i]);
    rf_status status = load(&c, call->arguments, &error);
    cli_busy("comparing");
    if (status == RF_OK)
        status = compare(&c, &error);
    cli_busy_end();
    if (status == RF_OK)
        status = print(&c, &error);
    int result = status == RF_OK ? judge(&c) : TROUBLE;
    if (status != RF_OK)
        cli_fail_unused(status, &error);
    else if (cli_stdout_failed()) /* cli_finish has the word for it */
        result = TROUBLE;
    release(&c);
    return result;
}

const struct cli_action cli_action_diff = {
    .arguments = {"OLD NEW", 2, 2},
    .settings = {options, sizeof(struct settings)},
    .trouble = TROUBLE,
    .run = run,
};
