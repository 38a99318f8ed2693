/* find.c - names to addresses: the functions that a written name means. base/name_match.h has the rule. */
#include <string.h>
#include "base/error.h"
#include "base/name_match.h"
#include "base/text.h"
#include "symbol/names.h"

enum { MEANINGS_MAX = 256 }; /* further ones are not told */

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
                                              .parameters = symbol->parameters,
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
    enum rf_name_fit fit = wanted == STUBS
                               ? rf_name_match(name, behind)
                               : rf_name_match_apart(name, symbol->name, symbol->parameters);
    return fit == RF_NAME_CLONE ? RF_NAME_WHOLE : fit; /* a copy is the function, too */
}

/* The symbols of a file among which `wanted` is looked for. */
static const struct rf_symbol *list_of(const struct rf_file *file, enum wanted wanted, size_t *n)
{
    *n = wanted == INLINED ? file->inlined.n : file->symbols.n;
    return wanted == INLINED ? file->inlined.at : file->symbols.at;
}

/* What the name fits this well. */
static void add_fitting(const struct rf_symbols *symbols, const char *name, enum wanted wanted,
                        enum rf_name_fit fit, struct found *found)
{
    for (size_t f = 0; f < symbols->files.n; f++) {
        size_t n;
        const struct rf_symbol *list = list_of(&symbols->files.at[f], wanted, &n);
        for (size_t i = 0; i < n; i++)
            if (fit_of(&list[i], name, wanted) == fit)
                add_mappings(symbols, f, &list[i], found);
    }
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
    rf_symbols_full_name(name, readable, sizeof readable);
    for (size_t f = 0; f < symbols->files.n && status == RF_OK; f++) {
        status = rf_names_read_table(symbols, &symbols->files.at[f]);
        if (status == RF_OK && wanted == INLINED)
            status = read_inlined(symbols, &symbols->files.at[f], readable);
    }
    static const enum rf_name_fit best_first[] = {RF_NAME_WHOLE, RF_NAME_TEMPLATE,
                                                  RF_NAME_LAST_PART};
    for (size_t i = 0; i < sizeof best_first / sizeof *best_first; i++)
        add_fitting(symbols, readable, wanted, best_first[i], found);
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

/* ---- what it means ---- */

/* The name that tells functions apart: without what tells copies of one apart, with parameters. */
static const char *meaning_of(struct rf_symbols *symbols, struct rf_name_piece wanted,
                              const struct rf_symbol_range *range)
{
    char text[2 * RF_WIRE_TEXT_MAX];
    struct rf_name_piece name = rf_name_uncloned(rf_name_piece(range->function));
    if (rf_name_is_variant(wanted, name))
        name = wanted;
    size_t n = rf_format(text, sizeof text, "%.*s%s", (int)(name.end - name.at), name.at,
                         range->parameters);
    return rf_arena_text(&symbols->arena, text, n < sizeof text ? n : sizeof text - 1);
}

static bool is_among(const char *text, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(texts[i], text) == 0)
            return true;
    return false;
}

size_t rf_symbols_meanings(struct rf_symbols *symbols, const char *name, int exact, char *text,
                           size_t size)
{
    struct rf_symbol_range ranges[MEANINGS_MAX];
    const char *meanings[MEANINGS_MAX];
    struct rf_names names = {.n = 0};
    size_t n = 0, found = 0;
    const struct rf_name_piece pattern = rf_name_piece(name), wanted = rf_name_plain(pattern);
    if (size > 0)
        text[0] = '\0';
    if (rf_name_is_pattern(pattern) || wanted.end != pattern.end ||
        rf_symbols_find(symbols, name, ranges, MEANINGS_MAX, &n) != RF_OK)
        return 0;
    for (size_t i = 0; i < n && i < MEANINGS_MAX; i++) {
        const char *meaning = meaning_of(symbols, wanted, &ranges[i]);
        if (meaning == NULL || is_among(meaning, meanings, found) ||
            (exact && strcmp(ranges[i].function, name) != 0))
            continue;
        meanings[found++] = meaning;
        rf_names_add(&names, meaning);
    }
    rf_names_print(&names, text, size);
    return found;
}

/* ---- names that nearly fit ---- */

static const char *last_part(const char *name)
{
    return rf_name_behind(rf_name_piece(name), ':');
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
            if (file->symbols.at[i].kind == RF_SYMBOL_FUNCTION && far > 0 && far < least &&
                file->symbols.at[i].rank != RF_RANK_NAMELESS) {
                least = far;
                nearest = file->symbols.at[i].name;
            }
        }
    }
    return nearest;
}
