/* heat.c - the hot rectangles of a profile as a table of shades: a downwards, b across.
 *
 *              A    B    C
 *       31.0%  .    @    .    deflate, longest_match (gzip)
 *        2.2%       :         0x401000..0x401fff
 *
 *     A  0x7ffc000..0x7ffcfff  [stack]
 *
 * Mysore et al., figure 13, for a terminal: the axes are as sparse as address spaces. Therefore each row is
 * the range of a of some hot rectangle, each column a range of b, in order. A field is shaded by the count of
 * the hot rectangle of that row and column, without the hot ones inside it. */
#include "report/hot.h"
#include "base/alloc.h"
#include "base/order.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct span {
    uint64_t lo, hi;
};

static int by_place(const void *left, const void *right)
{
    const struct span *x = left, *y = right;
    return rf_order_two(x->lo, y->lo, y->hi, x->hi);
}

/* Sort, and drop duplicates. */
static size_t settle(struct span *spans, size_t n)
{
    if (n > 0)
        qsort(spans, n, sizeof *spans, by_place);
    return rf_unique(spans, n, sizeof *spans, by_place);
}

struct grid {
    struct span *rows, *columns; /* room for as many as there are hot rectangles */
    size_t n_rows, n_columns;
};

static void make_grid(struct grid *grid, const struct rf_report_hot *hot)
{
    for (size_t i = 0; i < hot->n; i++) {
        const struct rf_range_box *box = &hot->ranges[i].node->box;
        grid->rows[i] = (struct span){box->a, box->a_hi};
        grid->columns[i] = (struct span){box->b, box->b_hi};
    }
    grid->n_rows = settle(grid->rows, hot->n);
    grid->n_columns = settle(grid->columns, hot->n);
}

static uint64_t weight_at(const struct rf_report_hot *hot, struct span row, struct span column)
{
    for (size_t i = 0; i < hot->n; i++) {
        const struct rf_range_box *box = &hot->ranges[i].node->box;
        if (box->a == row.lo && box->a_hi == row.hi && box->b == column.lo &&
            box->b_hi == column.hi)
            return hot->ranges[i].node->weight;
    }
    return 0;
}

/* Darker by the share of the heaviest. */
static const char *shade(uint64_t weight, uint64_t heaviest)
{
    static const char *const shades[] = {"..", "::", "--", "==", "++", "**", "##", "%%", "@@"};
    enum { SHADES = sizeof shades / sizeof *shades };
    if (weight == 0)
        return "  ";
    size_t i = (size_t)((double)weight / (double)heaviest * SHADES);
    return shades[i < SHADES ? i : SHADES - 1];
}

/* A, B, ..., Z, AA, AB, ... */
static const char *letter(char text[8], size_t i)
{
    char *p = text + 7;
    *p = '\0';
    for (i++; i > 0 && p > text; i /= 26)
        *--p = (char)('A' + --i % 26);
    return p;
}

static void write_span(FILE *out, const struct rf_report_hot *hot, enum rf_meaning kind,
                       const struct rf_word *word, struct span span)
{
    char name[RF_REPORT_TEXT_MAX], range[2 * RF_REPORT_NUMBER_MAX];
    rf_report_hot_name(hot, kind, span.lo, span.hi, name, sizeof name);
    rf_view_print_range(range, sizeof range, word, span.lo, span.hi);
    fprintf(out, "%s%s%s\n", range, name[0] != '\0' ? "  " : "", name);
}

static void write_grid(FILE *out, const struct rf_report_hot *hot, const struct grid *grid)
{
    char name[8];
    uint64_t heaviest = 0;
    for (size_t i = 0; i < hot->n; i++)
        if (hot->ranges[i].node->weight > heaviest)
            heaviest = hot->ranges[i].node->weight;
    fputs("       ", out);
    for (size_t k = 0; k < grid->n_columns; k++)
        fprintf(out, " %3s", letter(name, k));
    fputc('\n', out);
    for (size_t i = 0; i < grid->n_rows; i++) {
        uint64_t sum = 0;
        for (size_t k = 0; k < grid->n_columns; k++)
            sum += weight_at(hot, grid->rows[i], grid->columns[k]);
        fprintf(out, "%6.2f%%", rf_report_hot_share(hot, sum));
        for (size_t k = 0; k < grid->n_columns; k++)
            fprintf(out, "  %s", shade(weight_at(hot, grid->rows[i], grid->columns[k]), heaviest));
        fputs("   ", out);
        write_span(out, hot, hot->words.a.meaning, &hot->words.a, grid->rows[i]);
    }
    fputc('\n', out);
    for (size_t k = 0; k < grid->n_columns; k++) {
        fprintf(out, "%4s  ", letter(name, k));
        write_span(out, hot, hot->words.b.meaning, &hot->words.b, grid->columns[k]);
    }
    fprintf(out, "\n  @@ is %.2f%%\n", rf_report_hot_share(hot, heaviest));
}

static rf_status draw(FILE *out, const struct rf_profile *profile, const struct rf_report_hot *hot)
{
    rf_status status = RF_OK;
    size_t size = (hot->n + 1) * sizeof(struct span);
    const struct rf_alloc *alloc = &profile->alloc;
    struct grid grid = {rf_alloc_get(alloc, size), rf_alloc_get(alloc, size), 0, 0};
    if (grid.rows == NULL || grid.columns == NULL) {
        status = RF_ENOMEM;
    } else {
        make_grid(&grid, hot);
        write_grid(out, hot, &grid);
    }
    rf_alloc_free(alloc, grid.rows, size);
    rf_alloc_free(alloc, grid.columns, size);
    return status;
}

static rf_status write_run(FILE *out, const struct rf_run *run, const struct rf_report_setup *setup,
                           struct rf_error *error)
{
    return rf_report_hot_write_run(out, run, setup, RF_REPORT_HOT_RECTANGLES, draw, error);
}

const struct rf_report_form rf_report_heat = {
    .name = "heat",
    .brief = "hot rectangles as a table of shades",
    .needs = "rectangles (engine rap, key=both)",
    .write = write_run,
};
