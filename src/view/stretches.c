/* stretches.c - neighbouring instructions that run about equally often, as one row.
 *
 *     0x10  500,000                                   0x10..0x1d  2.1 M
 *     0x13  500,000    in one function, none more than
 *     0x1a  501,000    twice as often as another      0x21            9
 *     0x1d  600,000
 *     0x21        9
 *
 * Where there are no lines, that is what comes next to them: a block, or a small loop. Neighbours are at most as far
 * apart as an instruction is long, so nothing that did not run lies between them. Counts and bounds are sums. */
#include "view/view.h"
#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

enum { INSTRUCTION_MAX = 15 }; /* bytes, on x86 */

static int by_word(const void *left, const void *right)
{
    const struct rf_row *l = left, *r = right;
    return (l->word > r->word) - (l->word < r->word);
}

static bool share_function(const struct rf_view_work *work, uint64_t left, uint64_t right)
{
    struct rf_place_name l, r;
    rf_view_lookup(work, left, &l);
    rf_view_lookup(work, right, &r);
    return strcmp(l.path, r.path) == 0 && strcmp(l.function, r.function) == 0 && l.begin == r.begin;
}

static rf_status prepare(const struct rf_view_work *work)
{
    const size_t n = work->rows.n, size = n * sizeof(uint64_t);
    uint64_t *words = n > 0 ? rf_alloc_get(&work->view->alloc, size) : NULL;
    if (words == NULL)
        return n > 0 ? RF_ENOMEM : RF_OK;
    for (size_t i = 0; i < n; i++)
        words[i] = work->rows.at[i].word;
    rf_status status = rf_view_prepare(work, words, n);
    rf_alloc_free(&work->view->alloc, words, size);
    return status;
}

/* A stretch that grows, and the rarest and the most frequent of its instructions. */
struct stretch {
    struct rf_row *row;
    uint64_t low, high;
};

static bool fits(const struct rf_view_work *work, const struct stretch *stretch,
                 const struct rf_row *next)
{
    const uint64_t n = next->count;
    return next->word - stretch->row->last <= INSTRUCTION_MAX && n / 2 <= stretch->low &&
           stretch->high / 2 <= n && share_function(work, stretch->row->last, next->word);
}

/* No sum is more than all events. */
static uint64_t sum(uint64_t left, uint64_t right, uint64_t events)
{
    return left < events && right < events - left ? left + right : events;
}

static void extend(struct stretch *stretch, const struct rf_row *next, uint64_t events)
{
    struct rf_row *row = stretch->row;
    row->last = next->word;
    row->upper = sum(row->upper, next->upper, events);
    row->lower = sum(row->lower, next->lower, row->upper);
    row->count = sum(row->count, next->count, row->upper);
    row->item = NULL; /* there is no one value of several instructions */
    row->low = row->high = 0;
    stretch->low = next->count < stretch->low ? next->count : stretch->low;
    stretch->high = next->count > stretch->high ? next->count : stretch->high;
}

rf_status rf_view_make_stretches(struct rf_view_work *work)
{
    struct rf_rows *rows = &work->rows;
    struct stretch stretch = {NULL, 0, 0};
    const uint64_t events = work->totals != NULL ? work->totals->consumed : work->table.events;
    size_t n = 0;
    rf_status status = prepare(work);
    if (status != RF_OK || rows->n == 0)
        return status;
    qsort(rows->at, rows->n, sizeof *rows->at, by_word);
    for (size_t i = 0; i < rows->n; i++) {
        const struct rf_row next = rows->at[i];
        if (n > 0 && fits(work, &stretch, &next)) {
            extend(&stretch, &next, events);
            continue;
        }
        rows->at[n] = next;
        rows->at[n].last = next.word;
        stretch = (struct stretch){&rows->at[n++], next.count, next.count};
    }
    rows->n = n;
    work->view->stretches = 1;
    return RF_OK;
}
