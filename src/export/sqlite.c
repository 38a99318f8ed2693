/* sqlite.c - the whole run as a database: tables with indices, and a view per question.
 *
 *     run, notes, modules, profiles, figures      where it came from
 *     items(profile, a, b, a_hi, b_hi, count, lower, upper)
 *     places(word, address, function, file, line, module)      every code address of an item
 *     sites(profile, word, count, lower, upper)                by instruction, with exact totals
 *     stacks(profile, stack, depth, word, samples)             each stack, frame by frame
 *
 *     by_function, by_line, by_value, calls, hot_stacks        questions, as views
 *
 * Nothing is left out. Words of 64 bits are stored as SQLite's signed integers; printf('0x%x', a) shows them as people
 * write them. The database is made in memory and written in one piece. */
#include "export/export.h"
#include <riffle/text.h>
#include <sqlite3.h>
#include <stdlib.h>

static const char schema[] =
    "CREATE TABLE run(command TEXT, version TEXT);"
    "CREATE TABLE notes(name TEXT, text TEXT);"
    "CREATE TABLE modules(path TEXT, build_id TEXT, process INTEGER, start INTEGER, end INTEGER,"
    " offset INTEGER);"
    "CREATE TABLE profiles(profile INTEGER PRIMARY KEY, selector TEXT, engine TEXT, a_name TEXT,"
    " b_name TEXT, shape INTEGER, bound TEXT, confidence REAL, produced INTEGER, consumed INTEGER,"
    " lost INTEGER, absent_upper INTEGER, companion INTEGER);"
    "CREATE TABLE figures(profile INTEGER, name TEXT, value REAL);"
    "CREATE TABLE items(profile INTEGER, a INTEGER, b INTEGER, a_hi INTEGER, b_hi INTEGER,"
    " count INTEGER, lower INTEGER, upper INTEGER, intervals INTEGER);"
    "CREATE TABLE places(word INTEGER PRIMARY KEY, address INTEGER, function TEXT, file TEXT,"
    " line INTEGER, module TEXT, inlined_into TEXT);"
    "CREATE TABLE sites(profile INTEGER, word INTEGER, count INTEGER, lower INTEGER,"
    " upper INTEGER);"
    "CREATE TABLE stacks(profile INTEGER, stack INTEGER, depth INTEGER, word INTEGER,"
    " samples INTEGER);";

/* Made when the tables are full. */
static const char views[] =
    "CREATE INDEX items_a ON items(profile, a);"
    "CREATE INDEX items_b ON items(profile, b);"
    "CREATE INDEX items_count ON items(profile, count);"
    "CREATE INDEX sites_word ON sites(profile, word);"
    "CREATE INDEX places_function ON places(function);"
    "CREATE INDEX places_line ON places(file, line);"
    "CREATE INDEX stacks_stack ON stacks(profile, stack, depth);"
    "CREATE VIEW by_function AS SELECT profile, selector, coalesce(inlined_into, function) AS"
    " function, module, sum(count) AS count, sum(lower) AS lower, sum(upper) AS upper FROM sites"
    " JOIN places USING(word) JOIN profiles USING(profile) GROUP BY profile, 3, module"
    " ORDER BY profile, count DESC;"
    "CREATE VIEW by_line AS SELECT profile, selector, file, line, function, sum(count) AS count,"
    " sum(lower) AS lower, sum(upper) AS upper FROM sites JOIN places USING(word) JOIN profiles"
    " USING(profile) WHERE line > 0 GROUP BY profile, file, line ORDER BY profile, count DESC;"
    "CREATE VIEW by_value AS SELECT profile, selector, b AS value, sum(count) AS count,"
    " sum(lower) AS lower, sum(upper) AS upper FROM items JOIN profiles USING(profile)"
    " WHERE b_name = 'value' GROUP BY profile, b ORDER BY profile, count DESC;"
    "CREATE VIEW calls AS SELECT profile, caller.function AS caller, caller.file AS file,"
    " caller.line AS line, callee.function AS callee, sum(count) AS count FROM items JOIN profiles"
    " USING(profile) JOIN places caller ON caller.word = a JOIN places callee ON callee.word = b"
    " WHERE b_name = 'target' AND selector LIKE 'call %' GROUP BY profile, a, callee.function"
    " ORDER BY profile, count DESC;"
    "CREATE VIEW hot_stacks AS SELECT profile, stack, samples, group_concat(function, ';') AS"
    " frames FROM (SELECT profile, stack, depth, samples, function FROM stacks JOIN places"
    " USING(word) ORDER BY profile, stack, depth) GROUP BY profile, stack ORDER BY samples DESC;";

struct base {
    const struct rf_export *export;
    sqlite3 *db;
    size_t profile; /* that is being written */
    sqlite3_int64 stack;
    sqlite3_stmt *stacks, *places;
    char text[RF_EXPORT_TEXT_MAX];
};

static rf_status fail(const struct base *base)
{
    int code = sqlite3_errcode(base->db);
    if (code == SQLITE_NOMEM)
        return RF_ENOMEM;
    return rf_fail(base->export->error, RF_EIO, "SQLite: %s", sqlite3_errmsg(base->db));
}

static rf_status execute(const struct base *base, const char *text)
{
    return sqlite3_exec(base->db, text, NULL, NULL, NULL) == SQLITE_OK ? RF_OK : fail(base);
}

/* The next parameter of a row that is being filled. Bytes that are no UTF-8 are stored as they would be shown. */
static void bind_text(struct base *base, sqlite3_stmt *row, int i, const char *text)
{
    rf_text_readable(base->text, sizeof base->text, text != NULL ? text : "");
    sqlite3_bind_text(row, i, base->text, -1, SQLITE_TRANSIENT);
}

static void bind_numbers(sqlite3_stmt *row, int first, const uint64_t *numbers, int n)
{
    for (int i = 0; i < n; i++)
        sqlite3_bind_int64(row, first + i, (sqlite3_int64)numbers[i]);
}

static rf_status insert(const struct base *base, sqlite3_stmt *row)
{
    int code = sqlite3_step(row);
    sqlite3_reset(row);
    return code == SQLITE_DONE ? RF_OK : fail(base);
}

/* "INSERT INTO items VALUES(?,?,...)" */
static rf_status prepare(const struct base *base, const char *table, int columns,
                         sqlite3_stmt **row)
{
    char text[160];
    size_t n = rf_format(text, sizeof text, "INSERT OR IGNORE INTO %s VALUES(?", table);
    for (int i = 1; i < columns; i++)
        n += rf_format(text + n, sizeof text - n, ",?");
    rf_format(text + n, sizeof text - n, ")");
    return sqlite3_prepare_v2(base->db, text, -1, row, NULL) == SQLITE_OK ? RF_OK : fail(base);
}

/* ---- where it came from ---- */

/* Row i of `of` into a statement's parameters. */
typedef void bind_row(struct base *base, sqlite3_stmt *row, const void *of, size_t i);

static rf_status put_rows(struct base *base, const char *table, int columns, bind_row *bind,
                          const void *of, size_t n)
{
    sqlite3_stmt *row = NULL;
    rf_status status = prepare(base, table, columns, &row);
    for (size_t i = 0; i < n && status == RF_OK; i++) {
        bind(base, row, of, i);
        status = insert(base, row);
    }
    sqlite3_finalize(row);
    return status;
}

static void bind_note(struct base *base, sqlite3_stmt *row, const void *of, size_t i)
{
    const struct rf_note *note = (const struct rf_note *)of + i;
    bind_text(base, row, 1, note->name);
    bind_text(base, row, 2, note->text);
}

static rf_status put_notes(struct base *base)
{
    const struct rf_run *run = base->export->run;
    const struct rf_note about = {run->command, run->version};
    rf_status status = put_rows(base, "run", 2, bind_note, &about, 1);
    return status == RF_OK ? put_rows(base, "notes", 2, bind_note, run->notes, run->n_notes)
                           : status;
}

static void bind_module(struct base *base, sqlite3_stmt *row, const void *of, size_t i)
{
    const struct rf_module *module = (const struct rf_module *)of + i;
    const uint64_t numbers[] = {module->process, module->start, module->end, module->offset};
    bind_text(base, row, 1, module->path);
    bind_text(base, row, 2, module->build_id);
    bind_numbers(row, 3, numbers, 4);
}

static rf_status put_modules(struct base *base)
{
    const struct rf_run *run = base->export->run;
    return put_rows(base, "modules", 6, bind_module, run->modules, run->n_modules);
}

static void bind_figure(struct base *base, sqlite3_stmt *row, const void *of, size_t i)
{
    const struct rf_figure *figure = (const struct rf_figure *)of + i;
    sqlite3_bind_int64(row, 1, (sqlite3_int64)base->profile);
    bind_text(base, row, 2, figure->name);
    sqlite3_bind_double(row, 3, figure->value);
}

static rf_status put_figures(struct base *base, const struct rf_profile *profile)
{
    return put_rows(base, "figures", 3, bind_figure, profile->figures, profile->n_figures);
}

/* ---- profiles ---- */

static void bind_profile(struct base *base, sqlite3_stmt *row, const void *of, size_t i)
{
    static const char *const bounds[] = {"exact", "hard", "confidence"};
    const struct rf_profile *profile = (const struct rf_profile *)of + i;
    const uint64_t totals[] = {profile->produced, profile->consumed, profile->lost,
                               profile->absent_upper, (uint64_t)rf_profile_is_companion(profile)};
    struct rf_words words;
    rf_view_words(&words, profile);
    sqlite3_bind_int64(row, 1, (sqlite3_int64)base->profile);
    bind_text(base, row, 2, profile->selector);
    bind_text(base, row, 3, profile->engine);
    bind_text(base, row, 4, words.a.name);
    bind_text(base, row, 5, words.b.name);
    sqlite3_bind_int64(row, 6, profile->shape);
    bind_text(base, row, 7, profile->bound < 3 ? bounds[profile->bound] : "unknown");
    sqlite3_bind_double(row, 8, profile->confidence);
    bind_numbers(row, 9, totals, 5);
}

static rf_status put_profile(struct base *base, const struct rf_profile *profile)
{
    return put_rows(base, "profiles", 13, bind_profile, profile, 1);
}

static void bind_item(struct base *base, sqlite3_stmt *row, const void *of, size_t i)
{
    const struct rf_item *item = (const struct rf_item *)of + i;
    const uint64_t numbers[] = {base->profile, item->a,     item->b,     item->a_hi,     item->b_hi,
                                item->count,   item->lower, item->upper, item->intervals};
    bind_numbers(row, 1, numbers, 9);
}

static rf_status put_items(struct base *base, const struct rf_profile *profile)
{
    return put_rows(base, "items", 9, bind_item, profile->items, profile->n_items);
}

static rf_status put_place(struct base *base, uint64_t word)
{
    struct rf_export_place place;
    rf_export_find_place(base->export, word, &place);
    const struct rf_frame frame = rf_export_innermost(&place);
    const uint64_t numbers[] = {word, place.address};
    bind_numbers(base->places, 1, numbers, 2);
    if (place.name.n_inlined > 0) {
        bind_text(base, base->places, 3, frame.function);
    } else {
        rf_export_function(&place, base->text);
        sqlite3_bind_text(base->places, 3, base->text, -1, SQLITE_TRANSIENT);
    }
    bind_text(base, base->places, 4, frame.file);
    sqlite3_bind_int64(base->places, 5, frame.line);
    bind_text(base, base->places, 6, place.name.module);
    sqlite3_bind_null(base->places, 7);
    if (place.name.n_inlined > 0)
        bind_text(base, base->places, 7, place.name.function);
    return insert(base, base->places);
}

/* The places of one word of all items. */
static rf_status put_places(struct base *base, const struct rf_profile *profile, bool of_b)
{
    const struct rf_alloc *alloc = &base->export->alloc;
    size_t n = profile->n_items, size = n * sizeof(uint64_t);
    uint64_t *words = n > 0 ? rf_alloc_get(alloc, size) : NULL;
    if (words == NULL)
        return n > 0 ? RF_ENOMEM : RF_OK;
    for (size_t i = 0; i < n; i++)
        words[i] = of_b ? profile->items[i].b : profile->items[i].a;
    rf_status status = rf_export_prepare(base->export, words, n);
    for (size_t i = 0; i < n && status == RF_OK; i++)
        status = put_place(base, words[i]);
    rf_alloc_free(alloc, words, size);
    return status;
}

static rf_status put_sites(struct base *base, const struct rf_profile *profile)
{
    struct rf_export_sites sites;
    sqlite3_stmt *row = NULL;
    rf_status status = rf_export_sites_open(&sites, base->export, profile);
    if (status == RF_OK)
        status = prepare(base, "sites", 5, &row);
    for (size_t i = 0; i < sites.n && status == RF_OK; i++) {
        const struct rf_export_site *site = &sites.at[i];
        const uint64_t numbers[] = {base->profile, site->word, site->count, site->lower,
                                    site->upper};
        bind_numbers(row, 1, numbers, 5);
        status = insert(base, row);
        if (status == RF_OK)
            status = put_place(base, site->word);
    }
    sqlite3_finalize(row);
    rf_export_sites_close(&sites, base->export);
    return status;
}

static rf_status put_stack(void *context, const struct rf_export_stack *stack)
{
    struct base *base = context;
    rf_status status = RF_OK;
    base->stack++;
    for (size_t i = 0; i < stack->n && status == RF_OK; i++) {
        const uint64_t numbers[] = {base->profile, (uint64_t)base->stack, i, stack->words[i],
                                    stack->samples};
        bind_numbers(base->stacks, 1, numbers, 5);
        status = insert(base, base->stacks);
    }
    return status;
}

static rf_status put_all_of(struct base *base, const struct rf_profile *profile)
{
    struct rf_words words;
    rf_view_words(&words, profile);
    bool tuples = profile->shape == RF_SHAPE_TUPLE;
    rf_status status = put_profile(base, profile);
    if (status == RF_OK)
        status = put_figures(base, profile);
    if (status == RF_OK)
        status = put_items(base, profile);
    if (status == RF_OK && tuples && words.a.meaning == RF_MEANS_CODE)
        status = put_places(base, profile, false);
    if (status == RF_OK && tuples && words.b.meaning == RF_MEANS_CODE)
        status = put_places(base, profile, true);
    if (status == RF_OK && rf_export_is_by_pc(profile))
        status = put_sites(base, profile);
    if (status == RF_OK && rf_export_is_stacks(profile))
        status = rf_export_stacks(base->export, profile, put_stack, base);
    return status;
}

/* ---- the file ---- */

static rf_status fill(struct base *base)
{
    const struct rf_run *run = base->export->run;
    rf_status status = execute(base, schema);
    if (status == RF_OK)
        status = execute(base, "BEGIN");
    if (status == RF_OK)
        status = prepare(base, "stacks", 5, &base->stacks);
    if (status == RF_OK)
        status = prepare(base, "places", 7, &base->places);
    if (status == RF_OK)
        status = put_notes(base);
    if (status == RF_OK)
        status = put_modules(base);
    for (base->profile = 1; base->profile <= run->n_profiles && status == RF_OK; base->profile++)
        status = put_all_of(base, run->profiles[base->profile - 1]);
    if (status == RF_OK)
        status = execute(base, views);
    return status == RF_OK ? execute(base, "COMMIT") : status;
}

static rf_status write_image(const struct base *base)
{
    sqlite3_int64 n = 0;
    unsigned char *image = sqlite3_serialize(base->db, "main", &n, 0);
    if (image == NULL)
        return RF_ENOMEM;
    fwrite(image, 1, (size_t)n, base->export->out);
    sqlite3_free(image);
    return RF_OK;
}

static rf_status write_sqlite(const struct rf_export *export, void *state)
{
    struct base *base = state;
    base->export = export;
    rf_status status = RF_ENOMEM;
    if (sqlite3_open(":memory:", &base->db) == SQLITE_OK)
        status = fill(base);
    sqlite3_finalize(base->stacks);
    sqlite3_finalize(base->places);
    if (status == RF_OK)
        status = write_image(base);
    sqlite3_close(base->db);
    return status;
}

const struct rf_export_maker rf_export_sqlite = {sizeof(struct base), write_sqlite};
