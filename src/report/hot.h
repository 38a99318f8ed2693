/* hot.h - the hot ranges of a profile, for the forms that show them: tree.c, heat.c. */
#ifndef RF_REPORT_HOT_H
#define RF_REPORT_HOT_H

#include <riffle/range.h>
#include "report/report.h"

/* One hot range: a node of the tree, and how many hot ranges enclose it. */
struct rf_report_hot_range {
    const struct rf_range_node *node;
    unsigned depth;
};

struct rf_report_hot {
    struct rf_range_tree tree;
    double threshold; /* as asked for, or higher, so that at most setup->items ranges are hot */
    struct rf_report_hot_range *ranges; /* outer ones first */
    size_t n;
    const struct rf_profile *profile;
    struct rf_words words;
    struct rf_symbols *symbols; /* NULL: no names */
};

/* How a form draws the hot ranges of one profile, below the head. */
typedef rf_status rf_report_hot_draw(FILE *out, const struct rf_profile *profile,
                                     const struct rf_report_hot *hot);
enum rf_report_hot_wants { RF_REPORT_HOT_RANGES, RF_REPORT_HOT_RECTANGLES };

/* Every profile of the run: a head (command, engine, events, threshold), then what `draw` draws.
 * RF_ENOTSUP for a profile of another kind than the form wants. */
rf_status rf_report_hot_write_run(FILE *out, const struct rf_run *run,
                                  const struct rf_report_setup *setup,
                                  enum rf_report_hot_wants wants, rf_report_hot_draw *draw,
                                  struct rf_error *error);

double rf_report_hot_share(const struct rf_report_hot *hot, uint64_t count); /* in percent */

/* What a range of words covers, by name; empty where nothing is known. */
void rf_report_hot_name(const struct rf_report_hot *hot, enum rf_meaning kind, uint64_t lo,
                        uint64_t hi, char *text, size_t size);

#endif
