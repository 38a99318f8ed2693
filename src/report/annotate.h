/* annotate.h - what annotate.c (source) and disassembly.c share: counts by line or by address. */
#ifndef RF_REPORT_ANNOTATE_H
#define RF_REPORT_ANNOTATE_H

#include "report/place.h"

/* How often something was counted at a key: a line, or a link address. */
struct rf_hit {
    uint64_t key;
    uint64_t word; /* the other word of the tuple */
    uint64_t count;
};

/* The hits of one function in one profile, by key and word. */
struct rf_hits {
    const struct rf_profile *profile;
    struct rf_places places;
    struct rf_hit *at;
    size_t n, room;
    uint64_t total;
    bool on_terminal; /* long names are cut, with a mark */
};

/* What is printed in front of a line: its count and its most frequent word. */
void rf_hits_write_head(FILE *out, const struct rf_hits *hits, const char *key,
                        const char *text_heading);
void rf_hits_write(FILE *out, const struct rf_hits *hits, uint64_t key);

/* The instructions of a range by objdump, each after its hits (by link address). RF_ENOTSUP: there is no
 * objdump, or it prints nothing for the range. */
rf_status rf_disassembly_write(FILE *out, const struct rf_hits *hits,
                               const struct rf_symbol_range *range);

/* A line of foreign text: tabs become spaces, the rest is made safe for a terminal. */
void rf_annotate_text(FILE *out, const char *text);

#endif
