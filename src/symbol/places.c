/* places.c - function, file, line and inlined functions of addresses, by DWARF. Runs in the child.
 *
 *     address -> unit of compilation -> line program -> file:line of the innermost code
 *                                    -> scopes       -> inlined f, inlined g, function h
 *
 * libdw finds the unit by .debug_aranges. Some compilers write none, so where that fails the ranges
 * of all units are listed once and searched. An inlined function knows where it was called; the place
 * in the function that it was inlined into is that call. Scopes are found by scopes.c. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/order.h"
#include "symbol/reader.h"

enum {
    PATH_MAX_HERE = 1024,
    CALL_DISCRIMINATOR = 0x2136 /* DW_AT_GNU_discriminator, which dwarf.h lacks */
};

/* ---- units without .debug_aranges ---- */

struct unit_range {
    uint64_t lo, hi;
    Dwarf_Die unit;
    Dwarf_Addr bias;
};

struct units {
    struct unit_range *at;
    size_t n, room;
    bool listed;
};

static int by_lo(const void *left, const void *right)
{
    const struct unit_range *l = left, *r = right;
    return rf_order(l->lo, r->lo);
}

static void list_units(struct rf_reader *reader, struct units *units)
{
    Dwarf_Addr bias = 0;
    units->listed = true;
    for (Dwarf_Die *unit = NULL;
         (unit = dwfl_module_nextcu(reader->module, unit, &bias)) != NULL;) {
        Dwarf_Addr base, lo, hi;
        ptrdiff_t at = 0;
        while ((at = dwarf_ranges(unit, at, &base, &lo, &hi)) > 0) {
            const struct unit_range range = {lo + bias, hi + bias, *unit, bias};
            if (lo < hi && !rf_list_add(&rf_alloc_standard, units, range))
                return;
        }
    }
    if (units->n > 0)
        qsort(units->at, units->n, sizeof *units->at, by_lo);
}

static bool begins_up_to(const void *list, size_t i, uint64_t key)
{
    return ((const struct unit_range *)list)[i].lo <= key;
}

static Dwarf_Die *find_unit(struct rf_reader *reader, struct units *units, uint64_t address,
                            Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(reader->module, address, bias);
    if (unit != NULL)
        return unit;
    if (!units->listed)
        list_units(reader, units);
    size_t lo = rf_search(units->at, units->n, address, begins_up_to);
    if (lo == 0 || units->at[lo - 1].hi <= address)
        return NULL;
    *bias = units->at[lo - 1].bias;
    return &units->at[lo - 1].unit;
}

/* ---- one address ---- */

/* What is kept from one address to the next, and texts of one answer. */
struct rf_places {
    struct units units;
    struct rf_functions functions;
    struct texts {
        char name[RF_WIRE_TEXT_MAX], linkage[RF_WIRE_TEXT_MAX], parameters[RF_WIRE_TEXT_MAX];
        char file[PATH_MAX_HERE];
    } texts[RF_SCOPES_MAX]; /* innermost first */
};

void rf_reader_name(Dwarf_Die *die, char *name, char *linkage, char *parameters)
{
    Dwarf_Attribute attribute;
    const char *text = NULL;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) != NULL ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute) != NULL)
        text = dwarf_formstring(&attribute);
    if (text == NULL)
        text = dwarf_diename(die);
    rf_symbol_split(text != NULL ? text : "", name, parameters);
    rf_format(linkage, RF_WIRE_TEXT_MAX, "%s", text != NULL ? text : "");
}

/* A file name as the line program has it; relative ones from where the compiler ran. */
static void full_path(Dwarf_Die *unit, const char *file, char *path, size_t size)
{
    Dwarf_Attribute attribute;
    const char *folder = NULL;
    if (file != NULL && file[0] != '/' && dwarf_attr(unit, DW_AT_comp_dir, &attribute) != NULL)
        folder = dwarf_formstring(&attribute);
    if (file != NULL && strncmp(file, "./", 2) == 0 && folder != NULL)
        file += 2;
    rf_format(path, size, "%s%s%s", folder != NULL ? folder : "", folder != NULL ? "/" : "",
              file != NULL ? file : "");
}

static uint32_t number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    if (dwarf_attr(die, name, &attribute) == NULL || dwarf_formudata(&attribute, &number) != 0)
        return 0;
    return number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* Where an inlined function was called. */
static void call_place(Dwarf_Die *unit, Dwarf_Die *die, char *path, struct rf_frame *frame)
{
    Dwarf_Files *files = NULL;
    size_t n = 0;
    uint32_t file = number_of(die, DW_AT_call_file);
    frame->line = number_of(die, DW_AT_call_line);
    frame->discriminator = number_of(die, CALL_DISCRIMINATOR);
    path[0] = '\0';
    if (dwarf_getsrcfiles(unit, &files, &n) == 0 && file < n)
        full_path(unit, dwarf_filesrc(files, file, NULL, NULL), path, PATH_MAX_HERE);
}

static uint32_t first_line(Dwarf_Die *die)
{
    int line = 0;
    return dwarf_decl_line(die, &line) == 0 && line > 0 ? (uint32_t)line : 0;
}

/* Innermost first: inlined functions, then the function itself. The place in the first is that of
 * the line program; the place in each further one is where the one before was called. */
static void fill_frames(Dwarf_Die *unit, Dwarf_Die *scopes, size_t n, struct rf_frame *frames,
                        struct rf_places *places)
{
    for (size_t k = 0; k < n; k++) {
        Dwarf_Die *scope = &scopes[n - 1 - k];
        struct texts *texts = &places->texts[k];
        rf_reader_name(scope, texts->name, texts->linkage, texts->parameters);
        frames[k].function = texts->name;
        frames[k].linkage = texts->linkage;
        frames[k].parameters = texts->parameters;
        frames[k].start = first_line(scope);
        if (k + 1 == n)
            break;
        frames[k + 1].file = places->texts[k + 1].file;
        call_place(unit, scope, places->texts[k + 1].file, &frames[k + 1]);
    }
}

static void find_scopes(Dwarf_Die *unit, Dwarf_Addr address, struct rf_frame *frames,
                        struct rf_spot *spot, struct rf_places *places)
{
    Dwarf_Die scopes[RF_SCOPES_MAX];
    Dwarf_Addr lo, hi;
    size_t n = rf_scopes_find(&places->functions, unit, address, scopes);
    if (n == 0)
        return;
    fill_frames(unit, scopes, n, frames, places);
    spot->n_inlined = (uint32_t)n - 1;
    if (dwarf_lowpc(&scopes[0], &lo) == 0 && dwarf_highpc(&scopes[0], &hi) == 0 && lo < hi)
        spot->lo = lo, spot->hi = hi;
}

static void find_line(Dwarf_Die *unit, Dwarf_Addr address, struct rf_frame *frame, char *path)
{
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    int number = 0;
    if (line == NULL || dwarf_lineno(line, &number) != 0 || number <= 0)
        return;
    full_path(unit, dwarf_linesrc(line, NULL, NULL), path, PATH_MAX_HERE);
    frame->file = path;
    frame->line = (uint32_t)number;
    unsigned discriminator = 0;
    if (dwarf_linediscriminator(line, &discriminator) == 0)
        frame->discriminator = discriminator;
}

static void send_spot(struct rf_reader *reader, uint64_t link, struct rf_places *places)
{
    struct rf_frame frames[RF_SCOPES_MAX];
    struct rf_spot spot = {.link = link, .inlined = frames};
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = find_unit(reader, &places->units, link, &bias);
    for (size_t i = 0; i < RF_SCOPES_MAX; i++)
        frames[i] = rf_frame_unknown;
    if (unit != NULL) {
        find_line(unit, link - bias, &frames[0], places->texts[0].file);
        find_scopes(unit, link - bias, frames, &spot, places);
        spot.lo += spot.hi > 0 ? bias : 0;
        spot.hi += spot.hi > 0 ? bias : 0;
        if (spot.hi < spot.lo)
            spot.lo = spot.hi = 0;
    }
    spot.own = frames[spot.n_inlined];
    rf_wire_spot(reader->wire, &spot);
    rf_wire_flush(reader->wire); /* a crash at the next address must not lose this one */
}

static struct rf_places *places_of(struct rf_reader *reader)
{
    if (reader->places == NULL)
        reader->places = calloc(1, sizeof *reader->places);
    return reader->places;
}

void rf_reader_forget(struct rf_reader *reader)
{
    if (reader->places == NULL)
        return;
    rf_list_free(&rf_alloc_standard, &reader->places->units);
    rf_list_free(&rf_alloc_standard, &reader->places->functions);
    free(reader->places);
}

void rf_reader_spots(struct rf_reader *reader)
{
    struct rf_places *places = reader->job->n_links > 0 ? places_of(reader) : NULL;
    for (size_t i = 0; i < reader->job->n_links && places != NULL; i++)
        send_spot(reader, reader->job->links[i], places);
}

/* ---- the lines of a range ---- */

static void send_lines_of(struct rf_reader *reader, Dwarf_Die *unit, Dwarf_Addr bias)
{
    Dwarf_Lines *lines = NULL;
    size_t n = 0;
    if (dwarf_getsrclines(unit, &lines, &n) != 0)
        return;
    for (size_t i = 0; i < n; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        Dwarf_Addr address;
        int number = 0;
        char path[PATH_MAX_HERE];
        if (dwarf_lineaddr(line, &address) != 0 || address + bias < reader->job->lines_lo ||
            address + bias >= reader->job->lines_hi || dwarf_lineno(line, &number) != 0 ||
            number <= 0)
            continue;
        full_path(unit, dwarf_linesrc(line, NULL, NULL), path, sizeof path);
        const struct rf_symbol_line row = {address + bias, path, (uint32_t)number};
        rf_wire_line(reader->wire, &row);
    }
}

/* Where the function at the start of the range is declared, as a line of its first address. */
static void send_declaration(struct rf_reader *reader, Dwarf_Die *unit, Dwarf_Addr bias)
{
    struct rf_functions functions = {.unit = NULL};
    Dwarf_Die scopes[RF_SCOPES_MAX];
    char path[PATH_MAX_HERE];
    int number = 0;
    size_t n = rf_scopes_find(&functions, unit, reader->job->lines_lo - bias, scopes);
    if (n > 0 && dwarf_decl_line(&scopes[0], &number) == 0 && number > 0) {
        full_path(unit, dwarf_decl_file(&scopes[0]), path, sizeof path);
        const struct rf_symbol_line row = {reader->job->lines_lo, path, (uint32_t)number};
        rf_wire_line(reader->wire, &row);
    }
    rf_list_free(&rf_alloc_standard, &functions);
}

void rf_reader_lines(struct rf_reader *reader)
{
    Dwarf_Addr bias = 0;
    struct rf_places *places =
        reader->job->lines_lo < reader->job->lines_hi ? places_of(reader) : NULL;
    if (places == NULL)
        return;
    Dwarf_Die *unit = find_unit(reader, &places->units, reader->job->lines_lo, &bias);
    if (unit != NULL) {
        send_declaration(reader, unit, bias);
        send_lines_of(reader, unit, bias);
    }
}
