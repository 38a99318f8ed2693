/* place.c - names for the words of a profile: functions, lines, objects.
 *
 * The selector tells which word is what: pc and target are places in code, addr is one in
 * data, everything else is a number. An item then has one place or two:
 *
 *     load -> pc,value      hash (hash.c:12)                    where the load is
 *     call -> pc,target     main (main.c:7) -> hash             who calls whom
 *     load -> pc,addr       hash (hash.c:12) at table+0x40      which data it reads
 *     a range of pc         hash, find and 3 more (prog)        what it covers
 *
 * Names come from files that may hold anything; rf_text_readable makes them fit for a terminal. */
#include "report/place.h"
#include "base/alloc.h"
#include <riffle/text.h>
#include <stdlib.h>
#include <string.h>

void rf_places_open(struct rf_places *places, const struct rf_profile *profile,
                    const struct rf_report_setup *setup)
{
    *places = (struct rf_places){.symbols = setup->symbols, .profile = profile};
    rf_report_table_columns(&places->columns, profile);
    if (profile->shape != RF_SHAPE_RANGE_B)
        places->a = places->columns.a.meaning;
    if (profile->shape != RF_SHAPE_RANGE_A)
        places->b = places->columns.b.meaning;
}

bool rf_places_any(const struct rf_places *places)
{
    return places->symbols != NULL &&
           (places->a != RF_MEANS_NUMBER || places->b != RF_MEANS_NUMBER);
}

/* ---- headings ---- */

const char *rf_places_heading(const struct rf_places *places)
{
    if (!rf_shape_has_tuples(places->profile->shape))
        return "covers";
    if (places->a == RF_MEANS_CODE && places->b == RF_MEANS_CODE)
        return places->columns.calls ? "caller -> callee" : "from -> to";
    if (places->a == RF_MEANS_CODE && places->b == RF_MEANS_DATA)
        return "place at data";
    return places->a == RF_MEANS_DATA || places->b == RF_MEANS_DATA ? "data" : "place";
}

/* ---- names ---- */

/* One address; a number where nothing is known about it. */
static void name_address(struct rf_symbols *symbols, uint64_t address, char *text, size_t size)
{
    struct rf_place_name name;
    rf_symbols_lookup(symbols, address, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &name);
    if (rf_place_print(&name, text, size) == 0)
        snprintf(text, size, "0x%llx", (unsigned long long)rf_report_address(address));
}

/* The entry of a called function needs no line. */
static void name_callee(struct rf_symbols *symbols, uint64_t address, char *text, size_t size)
{
    struct rf_place_name name;
    rf_symbols_lookup(symbols, address, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &name);
    if (name.function[0] != '\0' && name.offset == 0)
        snprintf(text, size, "%s", name.function);
    else
        name_address(symbols, address, text, size);
}

static void name_tuple(const struct rf_places *places, const struct rf_item *item, char *text,
                       size_t size)
{
    char a[RF_REPORT_WORD_MAX] = "", b[RF_REPORT_WORD_MAX] = "";
    if (places->a != RF_MEANS_NUMBER)
        name_address(places->symbols, item->a, a, sizeof a);
    if (places->b == RF_MEANS_CODE && places->columns.calls)
        name_callee(places->symbols, item->b, b, sizeof b);
    else if (places->b != RF_MEANS_NUMBER)
        name_address(places->symbols, item->b, b, sizeof b);
    const char *between = a[0] == '\0' || b[0] == '\0' ? ""
                          : places->b == RF_MEANS_DATA ? " at "
                                                       : " -> ";
    snprintf(text, size, "%s%s%s", a, between, b);
}

static void name_box(const struct rf_places *places, const struct rf_item *item, char *text,
                     size_t size)
{
    char a[RF_REPORT_WORD_MAX] = "", b[RF_REPORT_WORD_MAX] = "";
    if (places->a != RF_MEANS_NUMBER)
        rf_symbols_name_range(places->symbols, item->a, item->a_hi, a, sizeof a);
    if (places->b != RF_MEANS_NUMBER)
        rf_symbols_name_range(places->symbols, item->b, item->b_hi, b, sizeof b);
    snprintf(text, size, "%s%s%s", a, a[0] != '\0' && b[0] != '\0' ? " x " : "", b);
}

void rf_places_name(const struct rf_places *places, const struct rf_item *item, char *text,
                    size_t size)
{
    char name[RF_REPORT_WORD_MAX];
    if (rf_shape_has_tuples(places->profile->shape))
        name_tuple(places, item, name, sizeof name);
    else
        name_box(places, item, name, sizeof name);
    rf_text_readable(text, size, name);
}

/* ---- all at once ---- */

static size_t list_addresses(const struct rf_places *places, const struct rf_report_table *table,
                             uint64_t *addresses)
{
    size_t n = 0;
    for (size_t i = 0; i < table->shown; i++) {
        if (places->a != RF_MEANS_NUMBER)
            addresses[n++] = table->items[i].a;
        if (places->b != RF_MEANS_NUMBER)
            addresses[n++] = table->items[i].b;
    }
    return n;
}

static rf_status read_symbols(const struct rf_places *places, const struct rf_report_table *table)
{
    const struct rf_alloc *alloc = &places->profile->alloc;
    size_t size = 2 * table->shown * sizeof(uint64_t);
    uint64_t *addresses = rf_alloc_get(alloc, size);
    if (addresses == NULL)
        return RF_ENOMEM;
    size_t n = list_addresses(places, table, addresses);
    rf_status status = rf_symbols_prepare(places->symbols, addresses, n);
    rf_alloc_free(alloc, addresses, size);
    return status;
}

/* ---- the share of one place ---- */

bool rf_places_has_parts(const struct rf_places *places)
{
    return rf_places_any(places) && places->profile->shape == RF_SHAPE_TUPLE &&
           places->columns.by_pc && places->columns.b.name[0] != '\0';
}

static int by_a(const void *left, const void *right)
{
    const struct rf_place_sum *l = left, *r = right;
    return (l->a > r->a) - (l->a < r->a);
}

/* What all items of one a add up to, in order of a. */
static rf_status add_up(struct rf_places *places, const struct rf_report_table *table)
{
    size_t size = table->n * sizeof *places->sums;
    struct rf_place_sum *sums = rf_alloc_get(&places->profile->alloc, size);
    if (sums == NULL)
        return RF_ENOMEM;
    for (size_t i = 0; i < table->n; i++)
        sums[i] = (struct rf_place_sum){table->items[i].a, table->items[i].count};
    qsort(sums, table->n, sizeof *sums, by_a);
    size_t n = 0;
    for (size_t i = 0; i < table->n; i++) {
        if (n > 0 && sums[n - 1].a == sums[i].a)
            sums[n - 1].count += sums[i].count;
        else
            sums[n++] = sums[i];
    }
    places->sums = sums;
    places->n_sums = n;
    places->room = table->n;
    return RF_OK;
}

double rf_places_part(const struct rf_places *places, const struct rf_item *item)
{
    const struct rf_place_sum key = {item->a, 0};
    const struct rf_place_sum *sum =
        places->n_sums > 0 ? bsearch(&key, places->sums, places->n_sums, sizeof key, by_a) : NULL;
    return sum != NULL && sum->count > 0 ? 100 * (double)item->count / (double)sum->count : 0;
}

rf_status rf_places_prepare(struct rf_places *places, const struct rf_report_table *table)
{
    if (!rf_places_any(places) || !rf_shape_has_tuples(places->profile->shape) || table->shown == 0)
        return RF_OK;
    rf_status status = read_symbols(places, table);
    if (status == RF_OK && rf_places_has_parts(places))
        status = add_up(places, table);
    return status;
}

void rf_places_close(struct rf_places *places)
{
    rf_alloc_free(&places->profile->alloc, places->sums, places->room * sizeof *places->sums);
}
