/* aside.c - what a question is not about, as one row.
 *
 *     by line: code without line data, which would be a row per function
 *     indirect calls by instruction: stubs of the PLT, which jump where the linker said
 *
 * Without such a row the shares of the others would not add up to all. */
#include "view/view.h"
#include <string.h>

static uint64_t plus(uint64_t left, uint64_t right)
{
    return left > UINT64_MAX - right ? UINT64_MAX : left + right;
}

static bool is_stub(const struct rf_place_name *name)
{
    static const char end[] = "@plt";
    const size_t n = strlen(name->function);
    return n >= sizeof end && strcmp(name->function + n - (sizeof end - 1), end) == 0;
}

bool rf_view_asks_calls(const struct rf_view_work *work)
{
    return work->view->by == RF_BY_PC && work->words.indirect && work->which == 0;
}

/* What the row is, if it belongs aside; NULL: it does not. */
static const char *kind_of(const struct rf_view_work *work, const struct rf_row *row)
{
    struct rf_place_name name;
    if (work->view->by == RF_BY_LINE) {
        rf_view_lookup(work, row->word, &name);
        return rf_view_innermost(&name).line == 0 ? "(no line data)" : NULL;
    }
    if (!rf_view_asks_calls(work))
        return NULL;
    rf_view_lookup(work, row->word, &name);
    return is_stub(&name) ? "(stubs of the PLT)" : NULL;
}

void rf_view_set_aside(struct rf_view_work *work)
{
    struct rf_rows *rows = &work->rows;
    struct rf_row *aside = &work->aside;
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        const struct rf_row *row = &rows->at[i];
        const char *kind = kind_of(work, row);
        if (kind == NULL) {
            rows->at[n++] = *row;
            continue;
        }
        aside->aside = kind;
        aside->count = plus(aside->count, row->count);
        aside->lower = plus(aside->lower, row->lower);
        aside->upper = plus(aside->upper, row->upper);
    }
    rows->n = n;
}
