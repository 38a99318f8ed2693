/* ranges.c - ranges of addresses to names and to lines of source. */
#include <string.h>
#include "base/error.h"
#include "base/text.h"
#include "symbol/names.h"

/* ---- names ---- */

void rf_names_add(struct rf_names *names, const char *name)
{
    for (size_t i = 0; i < names->n && i < RF_NAMES_MAX; i++)
        if (strcmp(names->at[i], name) == 0)
            return;
    if (names->n < RF_NAMES_MAX)
        names->at[names->n] = name;
    names->n++;
}

size_t rf_names_print(const struct rf_names *names, char *list, size_t size)
{
    struct rf_text_out text = {list, size, 0};
    if (size > 0)
        list[0] = '\0';
    for (size_t i = 0; i < names->n && i < RF_NAMES_MAX; i++)
        rf_text_add(&text, "%s%s", i > 0 ? ", " : "", names->at[i]);
    if (names->n > RF_NAMES_MAX)
        rf_text_add(&text, " and %zu more", names->n - RF_NAMES_MAX);
    return text.n;
}

/* The symbols of one kind that lo..hi (link addresses, both in) touches. */
static void symbols_in(const struct rf_file *file, enum rf_symbol_kind kind, uint64_t lo,
                       uint64_t hi, struct rf_names *names)
{
    uint64_t last =
        UINT64_MAX; /* where the last one began: of several at one address the first counts */
    for (size_t i = 0; i < file->symbols.n; i++) {
        const struct rf_symbol *symbol = &file->symbols.at[i];
        if (symbol->lo > hi)
            return;
        if (symbol->kind != kind || symbol->hi <= lo || symbol->lo == last ||
            symbol->rank == RF_RANK_NAMELESS)
            continue;
        rf_names_add(names, symbol->name);
        last = symbol->lo;
    }
}

static void sections_in(const struct rf_file *file, uint64_t lo, uint64_t hi,
                        struct rf_names *names)
{
    for (size_t i = 0; i < file->sections.n; i++) {
        const struct rf_section *section = &file->sections.at[i];
        if (section->size > 0 && section->link <= hi && section->link + section->size > lo)
            rf_names_add(names, section->name);
    }
}

static size_t name_in_file(const struct rf_file *file, uint64_t lo, uint64_t hi, char *text,
                           size_t size)
{
    char list[512];
    struct rf_names functions = {.n = 0}, objects = {.n = 0}, sections = {.n = 0};
    symbols_in(file, RF_SYMBOL_FUNCTION, lo, hi, &functions);
    symbols_in(file, RF_SYMBOL_OBJECT, lo, hi, &objects);
    sections_in(file, lo, hi, &sections);
    const struct rf_names *best = functions.n > 0 ? &functions : &objects;
    if (best->n == 0 || (best == &objects && best->n > RF_NAMES_MAX)) {
        rf_names_print(&sections, list, sizeof list);
        return rf_format(text, size, "%s%s%s", list, sections.n > 0 ? " of " : "", file->name);
    }
    rf_names_print(best, list, sizeof list);
    return rf_format(text, size, "%s (%s)", list, file->name);
}

/* Rows that the range touches, by name of module. */
static void rows_in(struct rf_symbols *symbols, uint64_t lo, uint64_t hi, struct rf_names *names)
{
    for (size_t i = 0; i < symbols->run->n_modules; i++) {
        const struct rf_module *row = &symbols->run->modules[i];
        if (row->start <= hi && row->end > lo)
            rf_names_add(names, symbols->file_of[i] == NO_FILE
                                    ? rf_names_kind(symbols, i)
                                    : symbols->files.at[symbols->file_of[i]].name);
    }
}

/* The lowest address of lo..hi that lies in a row, and the highest of that row. */
static bool first_overlap(const struct rf_symbols *symbols, uint64_t *lo, uint64_t *hi)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < symbols->run->n_modules; i++) {
        const struct rf_module *row = &symbols->run->modules[i];
        if (row->start > *hi || row->end <= *lo)
            continue;
        first = row->start < first ? row->start : first;
        last = row->end - 1 > last ? row->end - 1 : last;
    }
    if (last == 0)
        return false;
    *lo = first > *lo ? first : *lo;
    *hi = last < *hi ? last : *hi;
    return true;
}

size_t rf_symbols_name_range(struct rf_symbols *symbols, uint64_t lo, uint64_t hi, char *text,
                             size_t size)
{
    struct rf_names modules = {.n = 0};
    struct where from, to;
    if (size > 0)
        text[0] = '\0';
    rows_in(symbols, lo, hi, &modules);
    if (modules.n > 1)
        return rf_names_print(&modules, text, size);
    if (modules.n == 1)
        first_overlap(symbols, &lo, &hi);
    rf_names_where(symbols, lo, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &from);
    rf_names_where(symbols, hi, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &to);
    if (from.file == NULL || from.file != to.file) { /* rows lack data, whose file may end inside */
        if (from.file != NULL)
            rf_names_add(&modules, from.file->name);
        if (to.file != NULL)
            rf_names_add(&modules, to.file->name);
        return rf_names_print(&modules, text, size);
    }
    if (!from.linked || !to.linked || from.link > to.link)
        return rf_format(text, size, "%s", from.file->name);
    return name_in_file(from.file, from.link, to.link, text, size);
}

/* ---- lines ---- */

rf_status rf_symbols_lines(struct rf_symbols *symbols, uint64_t lo, uint64_t hi,
                           const struct rf_symbol_line **lines, size_t *n)
{
    struct where where;
    char death[128];
    *n = 0;
    *lines = NULL;
    rf_status status =
        rf_names_where(symbols, lo, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &where);
    if (status != RF_OK || where.file == NULL || !where.linked || where.file->dead || hi <= lo)
        return status;
    struct rf_job job = rf_names_job(symbols, where.file);
    job.lines_lo = where.link;
    job.lines_hi = where.link + (hi - lo);
    where.file->lines.n = 0;
    rf_names_ask(symbols, where.file, &job, death, &status);
    for (size_t i = 0; i < where.file->lines.n; i++)
        where.file->lines.at[i].address += lo - where.link;
    *lines = where.file->lines.at;
    *n = where.file->lines.n;
    return status;
}
