/* ranges.c - names to addresses, and ranges of addresses to names. */
#include <string.h>
#include "base/error.h"
#include "base/name_match.h"
#include "base/text.h"
#include "symbol/names.h"

/* ---- by name ---- */

struct found {
    struct rf_symbol_range *ranges;
    size_t max, n;
};

static void add_range(struct found *found, const struct rf_symbol_range *range)
{
    for (size_t i = 0; i < found->n && i < found->max; i++)
        if (found->ranges[i].lo == range->lo && found->ranges[i].process == range->process)
            return;
    if (found->n < found->max)
        found->ranges[found->n] = *range;
    found->n++;
}

/* Where one symbol of a file is mapped: a row of the run that holds its first byte. */
static void add_mappings(const struct rf_symbols *symbols, size_t f, const struct rf_symbol *symbol,
                         struct found *found)
{
    for (size_t i = 0; i < symbols->run->n_modules; i++) {
        const struct rf_module *row = &symbols->run->modules[i];
        uint64_t bias;
        if (symbols->file_of[i] != f || !rf_names_bias(&symbols->files.at[f], row, &bias))
            continue;
        uint64_t lo = symbol->lo + bias;
        const struct rf_symbol_range range = {.lo = lo,
                                              .hi = lo + (symbol->hi - symbol->lo),
                                              .link = symbol->lo,
                                              .process = row->process,
                                              .function = symbol->name,
                                              .path = row->path,
                                              .is_inlined = symbol->kind == RF_SYMBOL_INLINED};
        if (lo >= row->start && lo < row->end)
            add_range(found, &range);
    }
}

enum wanted { FUNCTIONS, STUBS, INLINED };

/* The name of a stub without "@plt"; false: it is none. */
static bool name_behind_stub(const char *symbol, char *name, size_t size)
{
    static const char mark[] = "@plt";
    size_t n = strlen(symbol), m = sizeof mark - 1;
    if (n <= m || n - m >= size || strcmp(symbol + n - m, mark) != 0)
        return false;
    memcpy(name, symbol, n - m);
    name[n - m] = '\0';
    return true;
}

static enum rf_name_fit fit_of(const struct rf_symbol *symbol, const char *name, enum wanted wanted)
{
    char behind[RF_WIRE_TEXT_MAX];
    if (symbol->kind == RF_SYMBOL_OBJECT)
        return RF_NAME_DIFFERS;
    if (wanted == STUBS && !name_behind_stub(symbol->name, behind, sizeof behind))
        return RF_NAME_DIFFERS;
    enum rf_name_fit fit = rf_name_match(name, wanted == STUBS ? behind : symbol->name);
    return fit == RF_NAME_CLONE ? RF_NAME_WHOLE : fit; /* a copy is the function, too */
}

/* The symbols of a file among which `wanted` is looked for. */
static const struct rf_symbol *list_of(const struct rf_file *file, enum wanted wanted, size_t *n)
{
    *n = wanted == INLINED ? file->inlined.n : file->symbols.n;
    return wanted == INLINED ? file->inlined.at : file->symbols.at;
}

/* How well the name fits the symbol that it fits best. */
static enum rf_name_fit best_fit(const struct rf_symbols *symbols, const char *name,
                                 enum wanted wanted)
{
    enum rf_name_fit best = RF_NAME_DIFFERS;
    for (size_t f = 0; f < symbols->files.n; f++) {
        size_t n;
        const struct rf_symbol *list = list_of(&symbols->files.at[f], wanted, &n);
        for (size_t i = 0; i < n; i++) {
            enum rf_name_fit fit = fit_of(&list[i], name, wanted);
            best = fit > best ? fit : best;
        }
    }
    return best;
}

/* A reader that dies on the way leaves the copies that it told before. */
static rf_status read_inlined(struct rf_symbols *symbols, struct rf_file *file, const char *name)
{
    char death[128];
    rf_status status = RF_OK;
    struct rf_job job = rf_names_job(symbols, file);
    job.inlined = name;
    file->inlined.n = 0;
    if (!file->dead)
        rf_names_ask(symbols, file, &job, death, &status);
    return status;
}

static rf_status find(struct rf_symbols *symbols, const char *name, enum wanted wanted,
                      struct found *found)
{
    char readable[RF_WIRE_TEXT_MAX];
    rf_status status = RF_OK;
    rf_symbols_demangle(name, readable, sizeof readable);
    for (size_t f = 0; f < symbols->files.n && status == RF_OK; f++) {
        status = rf_names_read_table(symbols, &symbols->files.at[f]);
        if (status == RF_OK && wanted == INLINED)
            status = read_inlined(symbols, &symbols->files.at[f], readable);
    }
    enum rf_name_fit best = best_fit(symbols, readable, wanted);
    for (size_t f = 0; f < symbols->files.n && best != RF_NAME_DIFFERS; f++) {
        size_t n;
        const struct rf_symbol *list = list_of(&symbols->files.at[f], wanted, &n);
        for (size_t i = 0; i < n; i++)
            if (fit_of(&list[i], readable, wanted) == best)
                add_mappings(symbols, f, &list[i], found);
    }
    return status;
}

static rf_status find_ranges(struct rf_symbols *symbols, const char *name, enum wanted wanted,
                             struct rf_symbol_range *ranges, size_t max, size_t *n)
{
    struct found found = {ranges, max, 0};
    rf_status status = find(symbols, name, wanted, &found);
    *n = found.n;
    return status;
}

rf_status rf_symbols_find(struct rf_symbols *symbols, const char *name,
                          struct rf_symbol_range *ranges, size_t max, size_t *n)
{
    return find_ranges(symbols, name, FUNCTIONS, ranges, max, n);
}

rf_status rf_symbols_find_stubs(struct rf_symbols *symbols, const char *name,
                                struct rf_symbol_range *ranges, size_t max, size_t *n)
{
    return find_ranges(symbols, name, STUBS, ranges, max, n);
}

rf_status rf_symbols_find_inlined(struct rf_symbols *symbols, const char *name,
                                  struct rf_symbol_range *ranges, size_t max, size_t *n)
{
    return find_ranges(symbols, name, INLINED, ranges, max, n);
}

static const char *last_part(const char *name)
{
    return rf_name_behind((struct rf_name_piece){name, name + strlen(name)}, ':');
}

const char *rf_symbols_nearest(struct rf_symbols *symbols, const char *name)
{
    const char *nearest = NULL;
    unsigned least = (unsigned)(rf_text_length(name) / 3) + 1;
    for (size_t f = 0; f < symbols->files.n; f++) {
        struct rf_file *file = &symbols->files.at[f];
        if (rf_names_read_table(symbols, file) != RF_OK)
            return NULL;
        for (size_t i = 0; i < file->symbols.n; i++) {
            unsigned far = rf_text_distance(last_part(file->symbols.at[i].name), name);
            if (file->symbols.at[i].kind == RF_SYMBOL_FUNCTION && far < least &&
                file->symbols.at[i].rank != RF_RANK_NAMELESS) {
                least = far;
                nearest = file->symbols.at[i].name;
            }
        }
    }
    return nearest;
}

/* ---- by range ---- */

enum { NAMES_MAX = 3 };

/* Different names in the order they come, the first few kept. */
struct names {
    const char *at[NAMES_MAX];
    size_t n;
};

static void add_name(struct names *names, const char *name)
{
    for (size_t i = 0; i < names->n && i < NAMES_MAX; i++)
        if (strcmp(names->at[i], name) == 0)
            return;
    if (names->n < NAMES_MAX)
        names->at[names->n] = name;
    names->n++;
}

/* "a, b, c and 4 more" */
static size_t print_names(const struct names *names, char *text, size_t size)
{
    size_t n = 0;
    if (size > 0)
        text[0] = '\0';
    for (size_t i = 0; i < names->n && i < NAMES_MAX; i++) {
        size_t used = n < size ? n : size;
        n += rf_format(text + used, size - used, "%s%s", i > 0 ? ", " : "", names->at[i]);
    }
    size_t used = n < size ? n : size;
    if (names->n > NAMES_MAX)
        n += rf_format(text + used, size - used, " and %zu more", names->n - NAMES_MAX);
    return n;
}

/* The symbols of one kind that lo..hi (link addresses, both in) touches. */
static void symbols_in(const struct rf_file *file, enum rf_symbol_kind kind, uint64_t lo,
                       uint64_t hi, struct names *names)
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
        add_name(names, symbol->name);
        last = symbol->lo;
    }
}

static void sections_in(const struct rf_file *file, uint64_t lo, uint64_t hi, struct names *names)
{
    for (size_t i = 0; i < file->sections.n; i++) {
        const struct rf_section *section = &file->sections.at[i];
        if (section->size > 0 && section->link <= hi && section->link + section->size > lo)
            add_name(names, section->name);
    }
}

static size_t name_in_file(const struct rf_file *file, uint64_t lo, uint64_t hi, char *text,
                           size_t size)
{
    char list[512];
    struct names functions = {.n = 0}, objects = {.n = 0}, sections = {.n = 0};
    symbols_in(file, RF_SYMBOL_FUNCTION, lo, hi, &functions);
    symbols_in(file, RF_SYMBOL_OBJECT, lo, hi, &objects);
    sections_in(file, lo, hi, &sections);
    const struct names *best = functions.n > 0 ? &functions : &objects;
    if (best->n == 0 || (best == &objects && best->n > NAMES_MAX)) {
        print_names(&sections, list, sizeof list);
        return rf_format(text, size, "%s%s%s", list, sections.n > 0 ? " of " : "", file->name);
    }
    print_names(best, list, sizeof list);
    return rf_format(text, size, "%s (%s)", list, file->name);
}

/* Rows that the range touches, by name of module. */
static void rows_in(struct rf_symbols *symbols, uint64_t lo, uint64_t hi, struct names *names)
{
    for (size_t i = 0; i < symbols->run->n_modules; i++) {
        const struct rf_module *row = &symbols->run->modules[i];
        if (row->start <= hi && row->end > lo)
            add_name(names, symbols->file_of[i] == NO_FILE
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
    struct names modules = {.n = 0};
    struct where from, to;
    if (size > 0)
        text[0] = '\0';
    rows_in(symbols, lo, hi, &modules);
    if (modules.n > 1)
        return print_names(&modules, text, size);
    if (modules.n == 1)
        first_overlap(symbols, &lo, &hi);
    if (rf_names_where(symbols, lo, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &from) != RF_OK ||
        rf_names_where(symbols, hi, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &to) != RF_OK)
        return 0;
    if (from.file == NULL || from.file != to.file)
        return modules.n == 1 ? print_names(&modules, text, size) : 0;
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
