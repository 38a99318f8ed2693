/* data.c - the data of the page, as JSON inside a script element that is never run.
 *
 * HTML ends such an element at "</script" and may be confused by "<!--": no '<', '>' or '&' is written as itself. Control
 * characters, invisible ones and what is no UTF-8 become visible escapes, so that no name can hide or reorder text. */
#include "report/html/html.h"
#include <inttypes.h>
#include <math.h>
#include <riffle/engine.h>
#include <riffle/text.h>
#include <stdarg.h>
#include <string.h>

static void write_piece(FILE *out, const char *piece)
{
    for (; *piece != '\0'; piece++)
        if (strchr("\"\\<>&'", *piece) != NULL)
            fprintf(out, "\\u%04x", (unsigned)*piece);
        else
            fputc(*piece, out);
}

static void write_text(FILE *out, const char *text)
{
    char piece[RF_TEXT_PIECE];
    fputc('"', out);
    for (size_t left = strlen(text), n; left > 0; left -= n, text += n) {
        n = rf_text_piece(piece, text, left);
        write_piece(out, piece);
    }
    fputc('"', out);
}

/* Whatever comes next: a comma, a name. */
static void begin(struct rf_html *html, const char *name)
{
    fputs(html->comma ? "," : "", html->out);
    if (name != NULL)
        fprintf(html->out, "\"%s\":", name);
    html->comma = true;
}

void rf_html_open(struct rf_html *html, const char *name, char bracket)
{
    begin(html, name);
    fputs(name == NULL ? "\n" : "", html->out);
    fputc(bracket, html->out);
    html->comma = false;
}

void rf_html_close(struct rf_html *html, char bracket)
{
    fputc(bracket, html->out);
    html->comma = true;
}

void rf_html_text(struct rf_html *html, const char *name, const char *text)
{
    begin(html, name);
    write_text(html->out, text);
}

void rf_html_format(struct rf_html *html, const char *name, const char *format, ...)
{
    char text[RF_REPORT_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rf_html_text(html, name, text);
}

void rf_html_count(struct rf_html *html, const char *name, uint64_t count)
{
    begin(html, name);
    fprintf(html->out, "%" PRIu64, count);
}

/* With a point in every locale. */
static void write_real(FILE *out, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.6g", isfinite(value) ? value : 0.0);
    char *comma = strchr(text, ',');
    if (comma != NULL)
        *comma = '.';
    fputs(text, out);
}

void rf_html_real(struct rf_html *html, const char *name, double value)
{
    begin(html, name);
    write_real(html->out, value);
}

void rf_html_share(struct rf_html *html, const struct rf_view_cell *cell)
{
    begin(html, NULL);
    if (cell->low >= cell->high) {
        write_real(html->out, cell->share);
        return;
    }
    fputc('[', html->out);
    write_real(html->out, cell->share);
    fputc(',', html->out);
    write_real(html->out, cell->low);
    fputc(',', html->out);
    write_real(html->out, cell->high);
    fputc(']', html->out);
}

void rf_html_heaviest(struct rf_html *html, uint64_t shown, uint64_t found, const char *what)
{
    char some[RF_REPORT_NUMBER_MAX], all[RF_REPORT_NUMBER_MAX];
    rf_html_format(html, "note", "The %s heaviest of %s %s are shown.",
                   rf_report_group(some, shown), rf_report_group(all, found), what);
}

void rf_html_panel(struct rf_html *html, const char *kind, const char *group, const char *title)
{
    rf_html_open(html, NULL, '{');
    rf_html_text(html, "kind", kind);
    rf_html_text(html, "group", group);
    rf_html_text(html, "title", title);
}

static bool has_rival(const struct rf_html *html, const struct rf_profile *profile)
{
    for (size_t i = 0; i < html->run->n_profiles; i++)
        if (html->run->profiles[i] != profile && rf_report_shows(html->run, i, html->setup) &&
            strcmp(html->run->profiles[i]->selector, profile->selector) == 0)
            return true;
    return false;
}

const char *rf_html_group(const struct rf_html *html, const struct rf_profile *profile, char *text,
                          size_t size)
{
    char engine[RF_REPORT_TEXT_MAX / 2];
    double process = rf_profile_figure(profile, "process", 0);
    const char *selector = profile->selector[0] != '\0' ? profile->selector : "tuples";
    if (!has_rival(html, profile))
        snprintf(text, size, "%s", selector);
    else if (process > 0)
        snprintf(text, size, "%s, process %.0f", selector, process);
    else {
        rf_engine_shorten(profile->engine, engine, sizeof engine);
        snprintf(text, size, "%s, %s", selector, engine);
    }
    return text;
}
