/* axis.c - an axis for words as sparse as addresses: bins of about the same heat, cold stretches left out.
 *
 *     spans   |--| |        |-|                                  ||||
 *     bins    [1 ] 2        [3]                                  [4 ][5]
 *
 * The heaviest bin is cut until there are enough: at its widest gap if that is a quarter of it or more, else where half of
 * its heat lies on either side. Bins end where their spans end, so that nothing cold is in them.
 * Cost: a sort, and a pass over the spans of a bin for each cut. */
#include "report/html/html.h"
#include "base/order.h"
#include <stdlib.h>

static int by_place(const void *left, const void *right)
{
    const struct rf_html_span *l = left, *r = right;
    return rf_order_two(l->lo, r->lo, r->hi, l->hi);
}

/* Sort, add up equal ones, keep the inner ones. */
static size_t settle(struct rf_html_span *spans, size_t n)
{
    size_t kept = 0;
    if (n > 0)
        qsort(spans, n, sizeof *spans, by_place);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && by_place(&spans[kept - 1], &spans[i]) == 0) {
            spans[kept - 1].weight += spans[i].weight;
            continue;
        }
        while (kept > 0 && spans[kept - 1].hi >= spans[i].lo)
            kept--;
        spans[kept++] = spans[i];
    }
    return kept;
}

/* Consecutive spans. */
struct piece {
    size_t first, end;
    double weight;
};

static size_t widest_gap(const struct rf_html_span *spans, const struct piece *piece)
{
    size_t best = 0;
    uint64_t widest = 0, extent = spans[piece->end - 1].hi - spans[piece->first].lo;
    for (size_t i = piece->first + 1; i < piece->end; i++)
        if (spans[i].lo - spans[i - 1].hi > widest) {
            widest = spans[i].lo - spans[i - 1].hi;
            best = i;
        }
    return widest >= extent / 4 && widest > 1 ? best : 0;
}

static size_t middle(const struct rf_html_span *spans, const struct piece *piece)
{
    double sum = 0;
    size_t i = piece->first;
    for (; i + 1 < piece->end && sum + spans[i].weight / 2 < piece->weight / 2; i++)
        sum += spans[i].weight;
    return i > piece->first ? i : i + 1;
}

static double weigh(const struct rf_html_span *spans, size_t first, size_t end)
{
    double sum = 0;
    for (size_t i = first; i < end; i++)
        sum += spans[i].weight;
    return sum;
}

/* Cut the heaviest piece that can be cut; false: none can. */
static bool cut(const struct rf_html_span *spans, struct piece *pieces, size_t n)
{
    struct piece *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (pieces[i].end - pieces[i].first > 1 &&
            (best == NULL || pieces[i].weight > best->weight))
            best = &pieces[i];
    if (best == NULL)
        return false;
    size_t at = widest_gap(spans, best);
    at = at > 0 ? at : middle(spans, best);
    double left = weigh(spans, best->first, at);
    pieces[n] = (struct piece){at, best->end, best->weight - left};
    *best = (struct piece){best->first, at, left};
    return true;
}

void rf_html_axis_make(struct rf_html_axis *axis, struct rf_html_span *spans, size_t n, size_t most)
{
    struct piece pieces[RF_HTML_BINS_MAX];
    size_t n_pieces = 1;
    n = settle(spans, n);
    axis->n = 0;
    if (n == 0)
        return;
    most = most < RF_HTML_BINS_MAX ? most : RF_HTML_BINS_MAX;
    pieces[0] = (struct piece){0, n, weigh(spans, 0, n)};
    while (n_pieces < most && cut(spans, pieces, n_pieces))
        n_pieces++;
    for (size_t i = 0; i < n_pieces; i++)
        axis->bins[axis->n++] = (struct rf_html_span){
            spans[pieces[i].first].lo, spans[pieces[i].end - 1].hi, pieces[i].weight};
    qsort(axis->bins, axis->n, sizeof *axis->bins, by_place);
}

static bool ends_before(const void *bins, size_t i, uint64_t lo)
{
    return ((const struct rf_html_span *)bins)[i].hi < lo;
}

size_t rf_html_axis_find(const struct rf_html_axis *axis, uint64_t lo, uint64_t hi, size_t *n)
{
    size_t low = rf_search(axis->bins, axis->n, lo, ends_before);
    for (*n = 0; low + *n < axis->n && axis->bins[low + *n].lo <= hi;)
        ++*n;
    return low;
}

double rf_html_axis_part(const struct rf_html_axis *axis, size_t bin, uint64_t lo, uint64_t hi)
{
    const struct rf_html_span *at = &axis->bins[bin];
    uint64_t from = lo > at->lo ? lo : at->lo, to = hi < at->hi ? hi : at->hi;
    if (lo == hi)
        return 1;
    return ((double)(to - from) + 1) / ((double)(hi - lo) + 1);
}
