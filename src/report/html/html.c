/* html.c - the report as one page for a browser, in one file that needs no other.
 *
 *     head: a policy that forbids everything but the one style and the one script below, by their hashes
 *     <script type="application/json">  the data; see data.c for what keeps it inside
 *     <script>                          draws the panels; names only ever become text nodes
 *
 * Rows are the heaviest ROWS of each table, more where more are asked for: a page must open quickly however long a profile
 * is, and says how many it leaves out. */
#include "report/html/html.h"

static void write_style(FILE *out)
{
    fputs("<style>", out);
    fputs(rf_html_style, out);
    fputs("</style>\n", out);
}

static void write_title(FILE *out, const char *title)
{
    fputs("<title>", out);
    for (; *title != '\0'; title++)
        if (*title == '<' || *title == '&' || (unsigned char)*title < ' ')
            fputc(' ', out);
        else
            fputc(*title, out);
    fputs("</title>\n", out);
}

void rf_html_begin(struct rf_html *html, const char *title)
{
    FILE *out = html->out;
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", out);
    fprintf(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n", rf_html_policy);
    fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n",
          out);
    write_title(out, title);
    write_style(out);
    fputs("</head>\n<body>\n<noscript>This page draws its data with a script.</noscript>\n"
          "<script type=\"application/json\" id=\"data\">\n",
          out);
    html->comma = false;
    rf_html_open(html, NULL, '{');
}

rf_status rf_html_end(struct rf_html *html)
{
    rf_html_close(html, '}');
    fputs("\n</script>\n<script>", html->out);
    fputs(rf_html_script, html->out);
    fputs("</script>\n</body>\n</html>\n", html->out);
    return rf_report_end(html->out);
}

static rf_status write_profile(struct rf_html *html, const struct rf_profile *profile)
{
    rf_status status = rf_html_tables(html, profile);
    if (status == RF_OK)
        status = rf_html_trees(html, profile);
    if (status == RF_OK)
        status = rf_html_maps(html, profile);
    return status == RF_OK ? rf_html_intervals(html, profile) : status;
}

static rf_status write_panels(struct rf_html *html)
{
    rf_status status = RF_OK;
    rf_html_open(html, "panels", '[');
    for (size_t i = 0; i < html->run->n_profiles && status == RF_OK; i++)
        if (rf_report_shows(html->run, i, html->setup))
            status = write_profile(html, html->run->profiles[i]);
    if (status == RF_OK)
        status = rf_html_sources(html);
    if (status == RF_OK)
        status = rf_html_details(html);
    rf_html_close(html, ']');
    return status;
}

static rf_status write_run(FILE *out, const struct rf_run *run, const struct rf_report_setup *asked,
                           struct rf_error *error)
{
    struct rf_report_setup setup = *asked;
    struct rf_html html = {.out = out, .run = run, .setup = &setup, .error = error};
    setup.view.sources = 1;
    setup.width = 0;
    setup.colour = 0;
    rf_html_begin(&html, "Riffle");
    rf_status status = rf_html_about(&html);
    if (status == RF_OK)
        status = write_panels(&html);
    rf_status end = rf_html_end(&html);
    return status != RF_OK ? status : end;
}

const struct rf_report_form rf_report_html = {
    .name = "html",
    .brief = "a page for a browser, in one file that needs no network",
    .write = write_run,
};
