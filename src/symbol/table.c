/* table.c - the symbols of one file in order of address, and searches in them.
 *
 * Symbols overlap (aliases, an entry inside a function), so each also knows how far any symbol up to
 * it reaches: a search walks back from the last one that starts at or before the address and stops
 * where nothing earlier can reach it. A symbol without a size goes on to the next one, at most to the
 * end of its section. Of several at one address the most familiar name comes first. */
#include <stdlib.h>
#include <string.h>
#include "base/order.h"
#include "symbol/symbol.h"

static int by_address(const void *left, const void *right)
{
    const struct rf_symbol *l = left, *r = right;
    if (l->lo != r->lo)
        return l->lo < r->lo ? -1 : 1;
    if (l->rank != r->rank)
        return l->rank < r->rank ? -1 : 1;
    return strcmp(l->name, r->name);
}

const struct rf_section *rf_symbol_table_section(const struct rf_file *file, uint64_t link)
{
    for (size_t i = 0; i < file->sections.n; i++)
        if (link - file->sections.at[i].link < file->sections.at[i].size)
            return &file->sections.at[i];
    return NULL;
}

/* Where a symbol without a size ends: `next` is where the next one begins. */
static uint64_t end_of(const struct rf_file *file, const struct rf_symbol *symbol, uint64_t next)
{
    const struct rf_section *section = rf_symbol_table_section(file, symbol->lo);
    if (section == NULL || symbol->kind != RF_SYMBOL_FUNCTION)
        return symbol->lo;
    uint64_t end = section->link + section->size;
    return next < end ? next : end;
}

/* Leave out functions without a name that lie in one that has one: its cold part, or a piece of hand-written code. */
static void drop_nameless(struct rf_file *file)
{
    struct rf_symbol *symbols = file->symbols.at;
    uint64_t reach = 0;
    size_t n = 0;
    for (size_t i = 0; i < file->symbols.n; i++) {
        bool is_nameless = symbols[i].rank == RF_RANK_NAMELESS;
        if (is_nameless && (symbols[i].lo < reach || (n > 0 && symbols[n - 1].lo == symbols[i].lo)))
            continue;
        if (!is_nameless && symbols[i].kind == RF_SYMBOL_FUNCTION && symbols[i].hi > reach)
            reach = symbols[i].hi;
        symbols[n++] = symbols[i];
    }
    file->symbols.n = n;
}

void rf_symbol_table_sort(struct rf_file *file)
{
    struct rf_symbol *symbols = file->symbols.at;
    if (file->symbols.n == 0)
        return;
    qsort(symbols, file->symbols.n, sizeof *symbols, by_address);
    drop_nameless(file);
    size_t n = file->symbols.n;
    uint64_t next = UINT64_MAX;
    for (size_t i = n; i-- > 0;) {
        if (i + 1 < n && symbols[i + 1].lo != symbols[i].lo)
            next = symbols[i + 1].lo;
        if (symbols[i].hi == symbols[i].lo)
            symbols[i].hi = end_of(file, &symbols[i], next);
    }
    uint64_t reach = 0;
    for (size_t i = 0; i < n; i++)
        symbols[i].reach = reach = symbols[i].hi > reach ? symbols[i].hi : reach;
}

static bool begins_up_to(const void *list, size_t i, uint64_t key)
{
    return ((const struct rf_symbol *)list)[i].lo <= key;
}

const struct rf_symbol *rf_symbol_table_at(const struct rf_file *file, uint64_t link)
{
    const struct rf_symbol *symbols = file->symbols.at, *best = NULL;
    for (size_t i = rf_search(symbols, file->symbols.n, link, begins_up_to); i-- > 0;) {
        if (best != NULL && symbols[i].lo != best->lo)
            break;
        if (symbols[i].reach <= link)
            break;
        if (symbols[i].hi > link)
            best = &symbols[i]; /* the first of those at one address is the one to show */
    }
    return best;
}

/* How well a segment fits a mapping of `size` bytes from `offset`, which are whole pages; 0: not at all. Two
 * segments can share a page of the file, which is then mapped twice. */
static unsigned fit(const struct rf_segment *segment, uint64_t offset, uint64_t size)
{
    const uint64_t page = 4096;
    uint64_t from = segment->offset & ~(page - 1);
    uint64_t bytes = segment->offset - from + segment->file_size;
    if (offset < from || offset - from >= bytes)
        return 0;
    if (offset > from) /* a mapping that was split, behind its first part */
        return 1;
    return (bytes + page - 1) / page == size / page ? 3 : 2;
}

const struct rf_segment *rf_symbol_table_segment(const struct rf_file *file, uint64_t offset,
                                                 uint64_t size)
{
    const struct rf_segment *best = NULL;
    unsigned best_fit = 0;
    for (size_t i = 0; i < file->segments.n; i++) {
        unsigned how = fit(&file->segments.at[i], offset, size);
        if (how > best_fit) {
            best = &file->segments.at[i];
            best_fit = how;
        }
    }
    return best;
}

bool rf_symbol_table_holds(const struct rf_file *file, uint64_t link)
{
    for (size_t i = 0; i < file->segments.n; i++)
        if (link - file->segments.at[i].link < file->segments.at[i].memory_size)
            return true;
    return false;
}

static int by_link(const void *left, const void *right)
{
    const struct rf_spot *l = left, *r = right;
    return rf_order(l->link, r->link);
}

void rf_symbol_table_sort_spots(struct rf_file *file)
{
    if (file->spots.n > 0)
        qsort(file->spots.at, file->spots.n, sizeof *file->spots.at, by_link);
}

const struct rf_spot *rf_symbol_table_spot(const struct rf_file *file, uint64_t link)
{
    struct rf_spot key = {.link = link};
    if (file->spots.n == 0)
        return NULL;
    return bsearch(&key, file->spots.at, file->spots.n, sizeof key, by_link);
}
