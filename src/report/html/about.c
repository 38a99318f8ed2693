/* about.c - the run: what was counted, what is worth a look, and how it was counted. */
#include "report/html/html.h"
#include <inttypes.h>
#include <riffle/engine.h>
#include <string.h>

/* ---- totals ---- */

static bool is_told(const struct rf_run *run, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (run->profiles[k]->consumed == run->profiles[i]->consumed &&
            strcmp(rf_view_noun(run->profiles[k], 2), rf_view_noun(run->profiles[i], 2)) == 0)
            return true;
    return false;
}

static void write_total(struct rf_html *html, const char *number, const char *label)
{
    rf_html_open(html, NULL, '[');
    rf_html_text(html, NULL, number);
    rf_html_text(html, NULL, label);
    rf_html_close(html, ']');
}

/* "0.82, 0.45 of its processor" */
static void write_seconds(struct rf_html *html)
{
    char number[RF_REPORT_NUMBER_MAX];
    const char *seconds = rf_run_note(html->run, "seconds");
    size_t n = seconds != NULL ? strspn(seconds, "0123456789.") : 0;
    if (n == 0 || n >= sizeof number)
        return;
    snprintf(number, sizeof number, "%.*s", (int)n, seconds);
    write_total(html, number, "seconds");
}

static void write_totals(struct rf_html *html)
{
    const struct rf_run *run = html->run;
    uint64_t lost = 0;
    char number[RF_REPORT_NUMBER_MAX];
    rf_html_open(html, "totals", '[');
    for (size_t i = 0; i < run->n_profiles; i++) {
        const struct rf_profile *profile = run->profiles[i];
        if (!rf_report_shows(run, i, html->setup) || is_told(run, i))
            continue;
        lost += profile->lost;
        write_total(html, rf_report_short(number, profile->consumed),
                    rf_view_noun(profile, profile->consumed));
    }
    if (lost > 0)
        write_total(html, rf_report_short(number, lost), "lost");
    write_seconds(html);
    rf_html_close(html, ']');
}

static void tell(void *context, const char *sentence, const char *place)
{
    write_total(context, sentence, place);
}

static rf_status write_findings(struct rf_html *html)
{
    rf_status status = RF_OK;
    rf_html_open(html, "findings", '[');
    if (html->setup->view.symbols != NULL)
        status = rf_report_each_finding(html->run, html->setup, tell, html, html->error);
    rf_html_close(html, ']');
    return status;
}

rf_status rf_html_about(struct rf_html *html)
{
    const char *program = rf_run_note(html->run, RF_NOTE_PROGRAM);
    const char *slash = program != NULL ? strrchr(program, '/') : NULL;
    rf_html_text(html, "title", slash != NULL ? slash + 1 : program != NULL ? program : "Riffle");
    rf_html_text(html, "command", html->run->command);
    rf_html_text(html, "version", html->run->version);
    write_totals(html);
    return write_findings(html);
}

/* ---- how it was counted ---- */

static void write_fact(struct rf_html *html, const char *label, const char *text)
{
    if (text[0] != '\0')
        write_total(html, label, text);
}

static void write_number(struct rf_html *html, const char *label, uint64_t number)
{
    char text[RF_REPORT_NUMBER_MAX];
    write_total(html, label, rf_report_group(text, number));
}

static void write_run_facts(struct rf_html *html)
{
    const struct rf_run *run = html->run;
    rf_html_open(html, NULL, '[');
    write_fact(html, "command", run->command);
    write_fact(html, "riffle", run->version);
    for (size_t i = 0; i < run->n_notes; i++)
        write_fact(html, run->notes[i].name, run->notes[i].text);
    for (size_t i = 0; html->setup->view.symbols != NULL; i++) {
        const char *problem = rf_symbols_problem(html->setup->view.symbols, i);
        if (problem == NULL)
            break;
        write_fact(html, "names", problem);
    }
    rf_html_close(html, ']');
}

static void write_profile_facts(struct rf_html *html, const struct rf_profile *profile)
{
    char engine[RF_REPORT_TEXT_MAX], group[RF_REPORT_TEXT_MAX];
    size_t n = rf_engine_shorten(profile->engine, engine, sizeof engine);
    rf_html_open(html, NULL, '[');
    write_fact(html, "profile", rf_html_group(html, profile, group, sizeof group));
    write_fact(html, "engine", n < sizeof engine ? engine : profile->engine);
    write_fact(html, "bounds", rf_report_bound(profile->bound));
    write_number(html, "produced", profile->produced);
    write_number(html, "consumed", profile->consumed);
    write_number(html, "lost", profile->lost);
    write_number(html, "items", profile->n_items);
    write_number(html, "not listed, at most", profile->absent_upper);
    write_number(html, "bytes of memory", profile->memory);
    if (profile->n_intervals_seen > 0)
        write_number(html, "intervals", profile->n_intervals_seen);
    write_number(html, "seed", profile->seed);
    rf_html_close(html, ']');
}

static void write_modules(struct rf_html *html)
{
    char text[64];
    rf_html_open(html, NULL, '[');
    for (size_t i = 0; i < html->run->n_modules; i++) {
        const struct rf_module *module = &html->run->modules[i];
        snprintf(text, sizeof text, "0x%" PRIx64 "..0x%" PRIx64, rf_view_address(module->start),
                 rf_view_address(module->end) - 1);
        write_total(html, text, module->path);
    }
    rf_html_close(html, ']');
}

rf_status rf_html_details(struct rf_html *html)
{
    rf_html_panel(html, "facts", "how it was counted", "details");
    rf_html_open(html, "lists", '[');
    write_run_facts(html);
    for (size_t i = 0; i < html->run->n_profiles; i++)
        if (rf_report_shows(html->run, i, html->setup))
            write_profile_facts(html, html->run->profiles[i]);
    write_modules(html);
    rf_html_close(html, ']');
    rf_html_close(html, '}');
    return RF_OK;
}
