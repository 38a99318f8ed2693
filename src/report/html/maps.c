/* maps.c - events as shades in a plane: one word of the tuples by the other, or a word by time.
 *
 * Mysore et al., figure 13. Both axes are cut where the heat is (axis.c). The count of a rectangle is spread evenly over
 * its area; what falls between the bins, from rectangles much wider than the heat, is not drawn, and the page says how much
 * that is. Time is the order of intervals, where the profile kept them. */
#include "report/html/html.h"
#include "base/alloc.h"
#include <string.h>

enum { ROWS = 64, COLUMNS = RF_HTML_BINS_MAX, POINTS = 100000, CANDIDATES = 40 };

struct map {
    const struct rf_profile *profile;
    struct rf_words words;
    struct rf_html_axis down, across;
    double *cells; /* row by row */
    size_t n_columns;
    double placed;
};

static bool get_cells(struct map *map, size_t rows)
{
    map->cells =
        rf_alloc_zeroed(&map->profile->alloc, (rows + 1) * map->n_columns * sizeof *map->cells);
    return map->cells != NULL;
}

static void free_cells(struct map *map, size_t rows)
{
    rf_alloc_free(&map->profile->alloc, map->cells,
                  (rows + 1) * map->n_columns * sizeof *map->cells);
}

/* [row, column, count, ...]; less than half an event is nothing. */
static void write_cells(struct rf_html *html, const struct map *map, size_t rows)
{
    rf_html_open(html, "cells", '[');
    for (size_t row = 0; row < rows; row++)
        for (size_t k = 0; k < map->n_columns; k++) {
            double count = map->cells[row * map->n_columns + k];
            if (count < 0.5)
                continue;
            rf_html_count(html, NULL, row);
            rf_html_count(html, NULL, k);
            rf_html_real(html, NULL, count);
        }
    rf_html_close(html, ']');
}

/* "0x10..0x1f" and what it covers. */
static void write_bins(struct rf_html *html, const char *name, const struct rf_html_axis *axis,
                       const struct rf_word *word)
{
    struct rf_symbols *symbols = html->setup->view.symbols;
    rf_html_open(html, name, '[');
    for (size_t i = 0; i < axis->n; i++) {
        char range[2 * RF_VIEW_NUMBER_MAX], covers[RF_REPORT_TEXT_MAX] = "";
        const struct rf_html_span *bin = &axis->bins[i];
        if (bin->lo == bin->hi)
            rf_view_print_word(range, sizeof range, word, bin->lo);
        else
            rf_view_print_range(range, sizeof range, word, bin->lo, bin->hi);
        if (symbols != NULL && word->meaning != RF_MEANS_NUMBER)
            rf_symbols_name_range(symbols, bin->lo, bin->hi, covers, sizeof covers);
        rf_html_open(html, NULL, '[');
        rf_html_text(html, NULL, range);
        rf_html_text(html, NULL, covers);
        rf_html_close(html, ']');
    }
    rf_html_close(html, ']');
}

static void open_map(struct rf_html *html, const struct map *map, const char *title)
{
    char group[RF_REPORT_TEXT_MAX];
    const struct rf_profile *profile = map->profile;
    rf_html_panel(html, "map", rf_html_group(html, profile, group, sizeof group), title);
    rf_html_text(html, "unit", rf_view_noun(profile, 2));
    rf_html_count(html, "events", profile->consumed);
}

/* ---- one word by the other ---- */

static size_t n_points(const struct rf_profile *profile)
{
    return profile->n_items < POINTS ? profile->n_items : POINTS;
}

static bool make_axes(struct map *map)
{
    const struct rf_profile *profile = map->profile;
    size_t n = n_points(profile), size = (n + 1) * sizeof(struct rf_html_span);
    struct rf_html_span *spans = rf_alloc_get(&profile->alloc, size);
    if (spans == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        spans[i] = (struct rf_html_span){profile->items[i].a, profile->items[i].a_hi,
                                         (double)profile->items[i].count};
    rf_html_axis_make(&map->down, spans, n, ROWS);
    for (size_t i = 0; i < n; i++)
        spans[i] = (struct rf_html_span){profile->items[i].b, profile->items[i].b_hi,
                                         (double)profile->items[i].count};
    rf_html_axis_make(&map->across, spans, n, COLUMNS);
    rf_alloc_free(&profile->alloc, spans, size);
    map->n_columns = map->across.n;
    return true;
}

static void place(struct map *map, const struct rf_item *item)
{
    size_t rows, columns;
    size_t row = rf_html_axis_find(&map->down, item->a, item->a_hi, &rows);
    size_t column = rf_html_axis_find(&map->across, item->b, item->b_hi, &columns);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k++) {
            double part = rf_html_axis_part(&map->down, row + i, item->a, item->a_hi) *
                          rf_html_axis_part(&map->across, column + k, item->b, item->b_hi);
            map->cells[(row + i) * map->n_columns + column + k] += part * (double)item->count;
            map->placed += part * (double)item->count;
        }
}

static void write_plane(struct rf_html *html, const struct map *map)
{
    const struct rf_profile *profile = map->profile;
    double events = profile->consumed > 0 ? (double)profile->consumed : 1;
    open_map(html, map, "heat map");
    rf_html_text(html, "down", map->words.a.name);
    rf_html_text(html, "across", map->words.b.name);
    if (map->placed < 0.999 * events)
        rf_html_format(html, "note",
                       "%.1f%% of all %s are drawn; the rest lies in %s that are not listed or "
                       "much wider than the heat.",
                       100 * map->placed / events, rf_view_noun(profile, 2),
                       profile->shape == RF_SHAPE_TUPLE ? "items" : "rectangles");
    write_bins(html, "rows", &map->down, &map->words.a);
    write_bins(html, "columns", &map->across, &map->words.b);
    write_cells(html, map, map->down.n);
    rf_html_close(html, '}');
}

static bool is_plane(const struct map *map)
{
    const struct rf_word *b = &map->words.b;
    if (map->profile->n_items < 2 || b->name[0] == '\0')
        return false;
    if (map->profile->shape == RF_SHAPE_RECTANGLE)
        return true;
    return map->profile->shape == RF_SHAPE_TUPLE && !rf_view_is_decimal(b) &&
           b->field != RF_FIELD_CONTEXT && b->field != RF_FIELD_TAKEN;
}

rf_status rf_html_maps(struct rf_html *html, const struct rf_profile *profile)
{
    struct map map = {.profile = profile};
    rf_view_words(&map.words, profile);
    if (!is_plane(&map))
        return RF_OK;
    if (!make_axes(&map))
        return RF_ENOMEM;
    if (map.down.n < 2 && map.across.n < 2)
        return RF_OK;
    if (!get_cells(&map, map.down.n))
        return RF_ENOMEM;
    for (size_t i = 0; i < n_points(profile); i++)
        place(&map, &profile->items[i]);
    write_plane(html, &map);
    free_cells(&map, map.down.n);
    return RF_OK;
}

/* ---- a word by time ---- */

static size_t column_of(const struct map *map, size_t interval)
{
    return interval * map->n_columns / map->profile->n_intervals;
}

static void write_time(struct rf_html *html, const struct map *map)
{
    const struct rf_profile *profile = map->profile;
    rf_html_text(html, "across", "interval");
    rf_html_open(html, "columns", '[');
    for (size_t k = 0; k < map->n_columns; k++) {
        size_t first = (k * profile->n_intervals + map->n_columns - 1) / map->n_columns;
        size_t end = ((k + 1) * profile->n_intervals + map->n_columns - 1) / map->n_columns;
        rf_html_open(html, NULL, '[');
        if (end - first > 1)
            rf_html_format(html, NULL, "%zu-%zu", first, end - 1);
        else
            rf_html_format(html, NULL, "%zu", first);
        rf_html_text(html, NULL, "");
        rf_html_close(html, ']');
    }
    rf_html_close(html, ']');
}

/* The word to follow: data, else code, else whatever ranges are of. 0 for a, 1 for b. */
static int followed(const struct map *map)
{
    const struct rf_words *words = &map->words;
    if (map->profile->shape == RF_SHAPE_RANGE_A || words->b.name[0] == '\0')
        return 0;
    if (map->profile->shape == RF_SHAPE_RANGE_B || words->b.meaning == RF_MEANS_DATA)
        return 1;
    return words->a.meaning == RF_MEANS_NUMBER && words->b.meaning != RF_MEANS_NUMBER;
}

static struct rf_html_span span_of(const struct rf_item *item, int word)
{
    return (struct rf_html_span){word == 0 ? item->a : item->b, word == 0 ? item->a_hi : item->b_hi,
                                 (double)item->count};
}

static bool make_time_axis(struct map *map, int word)
{
    const struct rf_profile *profile = map->profile;
    size_t n = profile->n_interval_items, size = (n + 1) * sizeof(struct rf_html_span);
    struct rf_html_span *spans = rf_alloc_get(&profile->alloc, size);
    if (spans == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        spans[i] = span_of(&profile->interval_items[i], word);
    rf_html_axis_make(&map->down, spans, n, ROWS);
    rf_alloc_free(&profile->alloc, spans, size);
    return true;
}

static void place_in_time(struct map *map, size_t interval, int word)
{
    const struct rf_interval *at = &map->profile->intervals[interval];
    for (size_t i = at->first; i < at->first + at->n; i++) {
        size_t n;
        const struct rf_html_span span = span_of(&map->profile->interval_items[i], word);
        size_t row = rf_html_axis_find(&map->down, span.lo, span.hi, &n);
        for (size_t k = 0; k < n; k++)
            map->cells[(row + k) * map->n_columns + column_of(map, interval)] +=
                span.weight * rf_html_axis_part(&map->down, row + k, span.lo, span.hi);
    }
}

static rf_status write_over_time(struct rf_html *html, struct map *map)
{
    int word = followed(map);
    const struct rf_word *named = word == 0 ? &map->words.a : &map->words.b;
    if (!make_time_axis(map, word))
        return RF_ENOMEM;
    if (map->down.n < 2)
        return RF_OK;
    if (!get_cells(map, map->down.n))
        return RF_ENOMEM;
    for (size_t i = 0; i < map->profile->n_intervals; i++)
        place_in_time(map, i, word);
    open_map(html, map, "over time");
    rf_html_text(html, "down", named->name);
    write_bins(html, "rows", &map->down, named);
    write_time(html, map);
    write_cells(html, map, map->down.n);
    rf_html_close(html, '}');
    free_cells(map, map->down.n);
    return RF_OK;
}

/* ---- candidates over intervals ---- */

/* What a row is called: its words and its place. */
static void label(const struct rf_view *view, size_t row, char *text, size_t size)
{
    char cell[RF_REPORT_TEXT_MAX];
    size_t used = 0;
    text[0] = '\0';
    for (unsigned id = RF_COLUMN_A; id < RF_COLUMN_COUNT_OF; id++) {
        const struct rf_view_column *column = rf_view_column(view, id);
        if (column == NULL || (column->shown & RF_FOR_PEOPLE) == 0)
            continue;
        rf_report_cell(cell, sizeof cell, view, column, rf_view_cell(view, row, id), true);
        if (cell[0] != '\0' && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? "  " : "", cell);
    }
}

static bool is_row(const struct rf_view *view, size_t row, const struct rf_item *item)
{
    const struct rf_view_cell *a = rf_view_cell(view, row, RF_COLUMN_A);
    const struct rf_view_cell *b = rf_view_cell(view, row, RF_COLUMN_B);
    return (a == NULL || a->number == item->a) && (b == NULL || b->number == item->b);
}

static void place_candidates(struct map *map, const struct rf_view *view, size_t interval)
{
    const struct rf_interval *at = &map->profile->intervals[interval];
    for (size_t i = at->first; i < at->first + at->n; i++) {
        struct rf_item item = rf_view_shown_item(&map->words, &map->profile->interval_items[i]);
        for (size_t row = 0; row < view->n_rows; row++)
            if (is_row(view, row, &item)) {
                map->cells[row * map->n_columns + column_of(map, interval)] += (double)item.count;
                break;
            }
    }
}

static void write_candidates(struct rf_html *html, struct map *map, const struct rf_view *view)
{
    char text[RF_REPORT_TEXT_MAX];
    open_map(html, map, "candidates");
    rf_html_text(html, "down", "candidate");
    if (view->n_rows < view->n_found)
        rf_html_heaviest(html, view->n_rows, view->n_found, "candidates");
    rf_html_open(html, "rows", '[');
    for (size_t row = 0; row < view->n_rows; row++) {
        label(view, row, text, sizeof text);
        rf_html_open(html, NULL, '[');
        rf_html_text(html, NULL, text);
        rf_html_text(html, NULL, "");
        rf_html_close(html, ']');
    }
    rf_html_close(html, ']');
    write_time(html, map);
    write_cells(html, map, view->n_rows);
    rf_html_close(html, '}');
}

static rf_status write_candidate_panel(struct rf_html *html, struct map *map)
{
    struct rf_view view;
    struct rf_view_setup setup = html->setup->view;
    setup.by = RF_BY_ITEM;
    setup.rows = CANDIDATES;
    rf_status status = rf_view_open(&view, html->run, map->profile, &setup, html->error);
    if (status != RF_OK)
        return status;
    if (view.n_rows > 0 && get_cells(map, view.n_rows)) {
        for (size_t i = 0; i < map->profile->n_intervals; i++)
            place_candidates(map, &view, i);
        write_candidates(html, map, &view);
        free_cells(map, view.n_rows);
    } else if (view.n_rows > 0) {
        status = RF_ENOMEM;
    }
    rf_view_close(&view);
    return status;
}

rf_status rf_html_intervals(struct rf_html *html, const struct rf_profile *profile)
{
    struct map map = {.profile = profile, .n_columns = profile->n_intervals};
    rf_view_words(&map.words, profile);
    if (profile->n_intervals < 2 || profile->n_interval_items == 0)
        return RF_OK;
    map.n_columns = map.n_columns < 2 * COLUMNS ? map.n_columns : 2 * COLUMNS;
    rf_status status = write_over_time(html, &map);
    if (status == RF_OK && profile->shape == RF_SHAPE_TUPLE)
        status = write_candidate_panel(html, &map);
    return status;
}
