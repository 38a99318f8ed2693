/* html.h - inside of the HTML form: the page, and the parts that write its data.
 *
 *     html.c     the page: policy, style, data, script           data.c     the writer of the data, one JSON object
 *     tables.c   rows of views                                   trees.c    stacks, nested ranges
 *     maps.c     two words, or a word and time, as shades        axis.c     an axis that shows where the heat is
 *     sources.c  lines with their numbers                        about.c    the run: totals, findings, how it was counted
 *     page.css, *.js   how it looks and what it does; built into the program by tools/embed.py
 *
 * The data is a list of panels. A panel has a `kind` that a file of the same name draws: table.js, tree.js, map.js,
 * source.js, facts.js. The script knows nothing of profiles; `riffle diff` uses the same page. */
#ifndef RF_REPORT_HTML_HTML_H
#define RF_REPORT_HTML_HTML_H

#include "report/report.h"

/* ---- data.c ---- */

/* Where the data goes. A name is NULL inside an array. */
struct rf_html {
    FILE *out;
    const struct rf_run *run;
    const struct rf_report_setup *setup;
    struct rf_error *error;
    bool comma; /* something stands before, in the same brackets */
};

void rf_html_open(struct rf_html *html, const char *name, char bracket);
void rf_html_close(struct rf_html *html, char bracket);
/* Text that others wrote: readable as on a terminal, and without anything that HTML could take for its own. */
void rf_html_text(struct rf_html *html, const char *name, const char *text);
void rf_html_format(struct rf_html *html, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void rf_html_count(struct rf_html *html, const char *name, uint64_t count);
void rf_html_real(struct rf_html *html, const char *name, double value);
/* A share: a number, or [share, low, high] where it is not exact. */
void rf_html_share(struct rf_html *html, const struct rf_view_cell *cell);
/* The note of a panel that leaves something out: "The 5,000 heaviest of 1,000,000 nodes are shown." */
void rf_html_heaviest(struct rf_html *html, uint64_t shown, uint64_t found, const char *what);
/* Open a panel; rf_html_close(html, '}') ends it. The group is what the list of panels has it below. */
void rf_html_panel(struct rf_html *html, const char *kind, const char *group, const char *title);
/* What the panels of a profile stand below: its selector, and its engine where another one has the same selector. */
const char *rf_html_group(const struct rf_html *html, const struct rf_profile *profile, char *text,
                          size_t size);

/* ---- html.c: the page around the data ---- */

void rf_html_begin(struct rf_html *html, const char *title);
rf_status rf_html_end(struct rf_html *html);
extern const char rf_html_style[], rf_html_script[], rf_html_policy[]; /* made by tools/embed.py */

/* ---- the parts; each writes panels, or nothing where the profile has nothing of the kind ---- */

rf_status rf_html_about(struct rf_html *html);   /* of the run, before the panels */
rf_status rf_html_details(struct rf_html *html); /* the last panel */
rf_status rf_html_tables(struct rf_html *html, const struct rf_profile *profile);
rf_status rf_html_trees(struct rf_html *html, const struct rf_profile *profile);
rf_status rf_html_maps(struct rf_html *html, const struct rf_profile *profile);
rf_status rf_html_intervals(struct rf_html *html, const struct rf_profile *profile);
rf_status rf_html_sources(struct rf_html *html);
/* changes.c: a page on what changed between two runs. */
rf_status rf_html_changes(struct rf_html *html, const struct rf_diff *diffs, size_t n,
                          const struct rf_run *const runs[2]);
/* A view as a panel of rows. */
void rf_html_view(struct rf_html *html, const struct rf_view *view, const char *title);

/* ---- axis.c ---- */

/* Places on an axis with what happened there; both ends in. */
struct rf_html_span {
    uint64_t lo, hi;
    double weight;
};

enum { RF_HTML_BINS_MAX = 96 };
struct rf_html_axis {
    struct rf_html_span
        bins[RF_HTML_BINS_MAX]; /* in order, apart; cold stretches between are left out */
    size_t n;
};

/* Cut the axis into at most `most` bins of about the same heat. Of spans inside others, the inner ones count. `spans` is
 * sorted and changed. */
void rf_html_axis_make(struct rf_html_axis *axis, struct rf_html_span *spans, size_t n,
                       size_t most);
/* The bins that lo..hi touches: the first, and how many. */
size_t rf_html_axis_find(const struct rf_html_axis *axis, uint64_t lo, uint64_t hi, size_t *n);
/* How much of lo..hi lies in a bin, 0 to 1. */
double rf_html_axis_part(const struct rf_html_axis *axis, size_t bin, uint64_t lo, uint64_t hi);

#endif
