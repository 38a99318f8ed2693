/* place.h - names for the words of a profile's items, for text.c and json.c. */
#ifndef RF_REPORT_PLACE_H
#define RF_REPORT_PLACE_H

#include <riffle/symbol.h>
#include "report/report.h"

/* The sum over all items with one a. */
struct rf_place_sum {
    uint64_t a, count;
};

struct rf_places {
    struct rf_symbols *symbols; /* NULL: no names */
    const struct rf_profile *profile;
    struct rf_columns columns;
    enum rf_meaning a, b;
    struct rf_place_sum *sums;
    size_t n_sums, room;
};

void rf_places_open(struct rf_places *places, const struct rf_profile *profile,
                    const struct rf_report_setup *setup);
bool rf_places_any(const struct rf_places *places); /* there is something to name */

/* Read the symbols of all shown items in one go, and sum up the items of each pc. */
rf_status rf_places_prepare(struct rf_places *places, const struct rf_report_table *table);
void rf_places_close(struct rf_places *places);

const char *rf_places_heading(const struct rf_places *places);
/* Terminated, cut to `size`; fit for a terminal. */
void rf_places_name(const struct rf_places *places, const struct rf_item *item, char *text,
                    size_t size);

/* Does an item have a share of its pc? If so, that share in percent. */
bool rf_places_has_parts(const struct rf_places *places);
double rf_places_part(const struct rf_places *places, const struct rf_item *item);

#endif
