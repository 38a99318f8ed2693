/* symbols.c - the names of a run's addresses: from module to file to symbol.
 *
 *     address --rows of the run--> module, offset in its file --segments--> link address
 *             --symbols, sections--> function + offset        --libdw-->    file:line, inlined
 *
 * A file is read when it is first asked for: once for its table (segments, sections, symbols), then
 * in batches for addresses. Answers are kept, empty ones too, so that nothing is asked twice. If a child dies
 * on an address, another one is asked for the rest. If it dies on the table, another one reads it without
 * separate debug files. If that fails too, the module gives addresses only.
 *
 * Memory: what the run's files have in symbols (about 60 bytes and the name each) and answers. */
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "symbol/names.h"

enum { DEATHS_MAX = 4 };

/* ---- opening ---- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static bool is_file(const struct rf_module *module)
{
    return module->path[0] != '\0' && module->path[0] != '[';
}

static bool same_file(const struct rf_file *file, const struct rf_module *module)
{
    return strcmp(file->path, module->path) == 0 && strcmp(file->build_id, module->build_id) == 0;
}

/* Give every row of the run its file. */
static bool list_files(struct rf_symbols *symbols)
{
    const struct rf_run *run = symbols->run;
    for (size_t i = 0; i < run->n_modules; i++) {
        const struct rf_module *module = &run->modules[i];
        size_t f = 0;
        if (!is_file(module)) {
            symbols->file_of[i] = NO_FILE;
            continue;
        }
        while (f < symbols->files.n && !same_file(&symbols->files.at[f], module))
            f++;
        if (f == symbols->files.n) {
            if (!rf_list_grow(&symbols->alloc, &symbols->files))
                return false;
            symbols->files.at[symbols->files.n++] =
                (struct rf_file){.path = module->path,
                                 .name = last_part(module->path),
                                 .build_id = module->build_id};
        }
        symbols->file_of[i] = f;
    }
    return true;
}

/* The last event of the run, as far as the modules tell: a module that stayed mapped has no end of its own. */
static uint64_t last_event(const struct rf_run *run)
{
    uint64_t last = 0;
    for (size_t i = 0; i < run->n_modules; i++) {
        const struct rf_module *module = &run->modules[i];
        last = module->from_event > last ? module->from_event : last;
        last = module->to_event != UINT64_MAX && module->to_event > last ? module->to_event : last;
    }
    for (size_t i = 0; i < run->n_profiles; i++)
        last = run->profiles[i]->produced > last ? run->profiles[i]->produced : last;
    return last;
}

static void take_setup(struct rf_symbols *symbols, const struct rf_symbols_setup *setup)
{
    static const struct rf_symbols_setup none;
    setup = setup != NULL ? setup : &none;
    symbols->alloc = *rf_alloc_or_standard(setup->alloc);
    symbols->arena.alloc = &symbols->alloc;
    symbols->debug_path = setup->debug_path != NULL ? setup->debug_path : "/usr/lib/debug";
    symbols->limits.seconds = setup->seconds_max != 0 ? setup->seconds_max : 30;
    symbols->limits.memory = setup->memory_max != 0 ? setup->memory_max : UINT64_C(2) << 30;
}

rf_status rf_symbols_open(struct rf_symbols **opened, const struct rf_run *run,
                          const struct rf_symbols_setup *setup, struct rf_error *error)
{
    const struct rf_alloc *alloc = rf_alloc_or_standard(setup != NULL ? setup->alloc : NULL);
    struct rf_symbols *symbols = rf_alloc_zeroed(alloc, sizeof *symbols);
    if (symbols == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for symbols");
    symbols->run = run;
    symbols->last_event = last_event(run);
    take_setup(symbols, setup);
    if (run->n_modules > 0) {
        symbols->file_of = rf_alloc_get(alloc, run->n_modules * sizeof *symbols->file_of);
        symbols->kind_of = rf_alloc_zeroed(alloc, run->n_modules * sizeof *symbols->kind_of);
    }
    bool enough = symbols->file_of != NULL && symbols->kind_of != NULL;
    if ((run->n_modules > 0 && !enough) || !list_files(symbols)) {
        rf_symbols_close(symbols);
        return rf_fail(error, RF_ENOMEM, "no memory for the symbols of %zu modules",
                       run->n_modules);
    }
    *opened = symbols;
    return RF_OK;
}

void rf_symbols_close(struct rf_symbols *symbols)
{
    if (symbols == NULL)
        return;
    for (size_t i = 0; i < symbols->files.n; i++) {
        rf_child_end(&symbols->files.at[i].child);
        rf_file_release(&symbols->files.at[i], &symbols->alloc);
    }
    rf_alloc_free(&symbols->alloc, symbols->files.at,
                  symbols->files.room * sizeof *symbols->files.at);
    rf_alloc_free(&symbols->alloc, symbols->file_of,
                  symbols->run->n_modules * sizeof *symbols->file_of);
    rf_alloc_free(&symbols->alloc, symbols->kind_of,
                  symbols->run->n_modules * sizeof *symbols->kind_of);
    rf_arena_release(&symbols->arena);
    rf_alloc_free(&symbols->alloc, symbols, sizeof *symbols);
}

const char *rf_symbols_problem(const struct rf_symbols *symbols, size_t i)
{
    for (size_t f = 0; f < symbols->files.n; f++)
        if (symbols->files.at[f].problem != NULL && i-- == 0)
            return symbols->files.at[f].problem;
    return NULL;
}

/* ---- reading files ---- */

/* "gzip: it cannot be opened: ...; its places are shown as addresses" */
static void note_problem(struct rf_symbols *symbols, struct rf_file *file, const char *what,
                         const char *effect)
{
    char sentence[512];
    size_t n = rf_format(sentence, sizeof sentence, "%s: %s; %s", file->path, what, effect);
    const char *kept =
        rf_arena_text(&symbols->arena, sentence, n < sizeof sentence ? n : sizeof sentence - 1);
    file->problem = kept != NULL ? kept : "no memory for a sentence on what went wrong";
}

struct rf_job rf_names_job(const struct rf_symbols *symbols, const struct rf_file *file)
{
    return (struct rf_job){
        .path = file->path,
        .build_id = file->build_id,
        .debug_path = symbols->debug_path,
        .depth = file->bare ? RF_JOB_BARE : RF_JOB_FULL,
    };
}

/* A run may have hundreds of files: not all of their readers are kept. */
static void make_room(struct rf_symbols *symbols)
{
    enum { READERS_MAX = 8 };
    size_t n = 0, first = 0;
    for (size_t i = symbols->files.n; i-- > 0;)
        if (symbols->files.at[i].child.pid != 0) {
            first = i;
            n++;
        }
    if (n >= READERS_MAX)
        rf_child_end(&symbols->files.at[first].child);
}

unsigned rf_names_ask(struct rf_symbols *symbols, struct rf_file *file, const struct rf_job *job,
                      char death[128], rf_status *status)
{
    if (file->child.pid == 0)
        make_room(symbols);
    return rf_child_run(file, job, &symbols->limits, &symbols->arena, death, status);
}

static void forget_table(struct rf_file *file)
{
    file->segments.n = file->sections.n = file->symbols.n = 0;
}

rf_status rf_names_read_table(struct rf_symbols *symbols, struct rf_file *file)
{
    char death[128] = "";
    rf_status status = RF_OK;
    unsigned ends = 0;
    if (file->table_read)
        return RF_OK;
    for (int bare = 0; bare < 2 && !(ends & RF_WIRE_TABLE_WHOLE) && status == RF_OK; bare++) {
        if (file->problem != NULL)
            break;
        file->bare = bare != 0;
        forget_table(file);
        struct rf_job job = rf_names_job(symbols, file);
        job.table = true;
        ends = rf_names_ask(symbols, file, &job, death, &status);
    }
    file->table_read = true;
    if (!(ends & RF_WIRE_TABLE_WHOLE))
        forget_table(file);
    file->dead = !(ends & RF_WIRE_TABLE_WHOLE) || file->problem != NULL;
    rf_symbol_table_sort(file);
    if (file->problem != NULL)
        note_problem(symbols, file, file->problem, "its places are shown as addresses");
    else if (file->dead)
        note_problem(symbols, file, death[0] != '\0' ? death : "it is damaged",
                     "its places are shown as addresses");
    return status;
}

static rf_status add_empty_spot(struct rf_symbols *symbols, struct rf_file *file, uint64_t link)
{
    const struct rf_spot spot = {.link = link, .own = rf_frame_unknown};
    return rf_list_add(&symbols->alloc, &file->spots, spot) ? RF_OK : RF_ENOMEM;
}

/* Did the child answer what it was asked, in the order it was asked? */
static bool answered(const struct rf_file *file, size_t first, const uint64_t *links, size_t n)
{
    if (file->spots.n - first > n)
        return false;
    for (size_t i = first; i < file->spots.n; i++)
        if (file->spots.at[i].link != links[i - first])
            return false;
    return true;
}

/* Run one child. Afterwards *done links have an answer; a link that killed the child has an empty one. */
static rf_status read_once(struct rf_symbols *symbols, struct rf_file *file, const uint64_t *links,
                           size_t n, size_t *done)
{
    char death[128];
    rf_status status;
    size_t first = file->spots.n;
    struct rf_job job = rf_names_job(symbols, file);
    job.links = links;
    job.n_links = n;
    rf_names_ask(symbols, file, &job, death, &status);
    if (!answered(file, first, links, n))
        file->spots.n = first;
    *done = file->spots.n - first;
    if (*done < n && status == RF_OK) {
        status = add_empty_spot(symbols, file, links[(*done)++]);
        note_problem(symbols, file, death[0] != '\0' ? death : "it is damaged",
                     "some of its lines are missing");
    }
    return status;
}

rf_status rf_names_read_spots(struct rf_symbols *symbols, struct rf_file *file,
                              const uint64_t *links, size_t n)
{
    rf_status status = RF_OK;
    size_t done = 0;
    for (int deaths = 0; done < n && deaths < DEATHS_MAX && status == RF_OK; deaths++) {
        size_t more = 0;
        status = read_once(symbols, file, links + done, n - done, &more);
        done += more;
    }
    for (; done < n && status == RF_OK; done++)
        status = add_empty_spot(symbols, file, links[done]);
    rf_symbol_table_sort_spots(file);
    return status;
}

/* ---- which module ---- */

static bool was_there(const struct rf_module *module, uint32_t process, uint64_t when)
{
    if (process != RF_SYMBOLS_ANY_PROCESS && module->process != process)
        return false;
    return when == RF_SYMBOLS_ANY_TIME || (when >= module->from_event && when <= module->to_event);
}

/* A second file at an address counts if it was mapped for at least a twentieth of the first one's time. */
enum { CANDIDATES_MAX = 64, OTHER_PART = 20 };

/* The rows that cover an address; past CANDIDATES_MAX the rest is left out. */
static size_t list_rows(const struct rf_symbols *symbols, uint64_t address, uint32_t process,
                        uint64_t when, size_t rows[CANDIDATES_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < symbols->run->n_modules && n < CANDIDATES_MAX; i++) {
        const struct rf_module *module = &symbols->run->modules[i];
        if (address >= module->start && address < module->end && was_there(module, process, when))
            rows[n++] = i;
    }
    return n;
}

/* The same file at the same place, in several processes or again and again. */
static bool same_place(const struct rf_symbols *symbols, size_t l, size_t r)
{
    const struct rf_module *left = &symbols->run->modules[l], *right = &symbols->run->modules[r];
    if (symbols->file_of[l] == NO_FILE)
        return strcmp(left->path, right->path) == 0;
    return symbols->file_of[l] == symbols->file_of[r] &&
           left->start - left->offset == right->start - right->offset;
}

/* How long a row's file was mapped, in events of the run, over all such rows. A file goes before a kind of
 * memory. */
static double weight_of(const struct rf_symbols *symbols, size_t row, const size_t *rows, size_t n)
{
    const double memory = 1e-30;
    double weight = 1;
    for (size_t i = 0; i < n; i++) {
        const struct rf_module *module = &symbols->run->modules[rows[i]];
        uint64_t to = module->to_event != UINT64_MAX ? module->to_event : symbols->last_event;
        if (same_place(symbols, row, rows[i]) && to > module->from_event)
            weight += (double)(to - module->from_event);
    }
    return symbols->file_of[row] == NO_FILE ? memory * weight : weight;
}

size_t rf_names_row(const struct rf_symbols *symbols, uint64_t address, uint32_t process,
                    uint64_t when, size_t *other)
{
    size_t rows[CANDIDATES_MAX], best = 0;
    size_t n = list_rows(symbols, address, process, when, rows);
    *other = NO_ROW;
    if (n == 0)
        return NO_ROW;
    for (size_t i = 1; i < n; i++)
        if (weight_of(symbols, rows[i], rows, n) > weight_of(symbols, rows[best], rows, n))
            best = i;
    double least = weight_of(symbols, rows[best], rows, n) / OTHER_PART;
    for (size_t i = 0; i < n; i++)
        if (symbols->file_of[rows[i]] != NO_FILE && !same_place(symbols, rows[best], rows[i]) &&
            weight_of(symbols, rows[i], rows, n) > least)
            *other = rows[i];
    return rows[best];
}

bool rf_names_bias(const struct rf_file *file, const struct rf_module *module, uint64_t *bias)
{
    const struct rf_segment *segment =
        rf_symbol_table_segment(file, module->offset, module->end - module->start);
    if (segment != NULL)
        *bias = module->start - module->offset + segment->offset - segment->link;
    return segment != NULL;
}

/* Is the address in the image of the file that this row maps? Then `link` is where the file has it. */
static bool is_in_image(struct rf_symbols *symbols, size_t row, uint64_t address, uint64_t *link)
{
    struct rf_file *file = &symbols->files.at[symbols->file_of[row]];
    uint64_t bias;
    if (rf_names_read_table(symbols, file) != RF_OK ||
        !rf_names_bias(file, &symbols->run->modules[row], &bias))
        return false;
    *link = address - bias;
    return rf_symbol_table_holds(file, *link);
}

/* Data may be mapped before or after its file's code without a row, and zeroed data without a name. Take the nearest
 * row of a file below, if the file's image reaches that far, or above, if it begins there. */
static size_t row_of_image(struct rf_symbols *symbols, uint64_t address, uint32_t process,
                           uint64_t when, uint64_t *link)
{
    size_t below = NO_ROW, above = NO_ROW;
    const struct rf_module *modules = symbols->run->modules;
    for (size_t i = 0; i < symbols->run->n_modules; i++) {
        if (!is_file(&modules[i]) || !was_there(&modules[i], process, when))
            continue;
        if (modules[i].end <= address && (below == NO_ROW || modules[i].end > modules[below].end))
            below = i;
        if (modules[i].start > address &&
            (above == NO_ROW || modules[i].start < modules[above].start))
            above = i;
    }
    if (below != NO_ROW && is_in_image(symbols, below, address, link))
        return below;
    return above != NO_ROW && is_in_image(symbols, above, address, link) ? above : NO_ROW;
}

rf_status rf_names_where(struct rf_symbols *symbols, uint64_t address, uint32_t process,
                         uint64_t when, struct where *where)
{
    *where = (struct where){.file = NULL};
    where->row = rf_names_row(symbols, address, process, when, &where->other);
    if (where->row == NO_ROW || symbols->file_of[where->row] == NO_FILE) {
        size_t row = row_of_image(symbols, address, process, when, &where->link);
        if (row != NO_ROW) {
            where->row = row;
            where->file = &symbols->files.at[symbols->file_of[row]];
            where->linked = true;
        }
        return where->row != NO_ROW ? RF_OK : RF_EINVAL;
    }
    const struct rf_module *module = &symbols->run->modules[where->row];
    where->file = &symbols->files.at[symbols->file_of[where->row]];
    rf_status status = rf_names_read_table(symbols, where->file);
    uint64_t bias;
    where->linked = rf_names_bias(where->file, module, &bias);
    where->link = where->linked ? address - bias : address - module->start + module->offset;
    return status;
}
