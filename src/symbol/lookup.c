/* lookup.c - an address to its name, many at a time or one, and the name as text. */
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/order.h"
#include "base/text.h"
#include "symbol/names.h"

/* ---- many ---- */

/* An address that needs debug information of a file. */
struct wanted {
    struct rf_file *file;
    uint64_t link;
};

static int by_file(const void *left, const void *right)
{
    const struct wanted *l = left, *r = right;
    return rf_order_two((uintptr_t)l->file, (uintptr_t)r->file, l->link, r->link);
}

static bool needs_spot(const struct where *where)
{
    return where->file != NULL && where->linked && !where->file->dead &&
           rf_symbol_table_spot(where->file, where->link) == NULL;
}

/* Read the spots of one file's link addresses, sorted. `links` has room for all. */
static rf_status read_group(struct rf_symbols *symbols, const struct wanted *wanted, size_t n,
                            uint64_t *links)
{
    size_t n_links = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || wanted[i].link != wanted[i - 1].link)
            links[n_links++] = wanted[i].link;
    return rf_names_read_spots(symbols, wanted[0].file, links, n_links);
}

static rf_status read_groups(struct rf_symbols *symbols, struct wanted *wanted, size_t n)
{
    rf_status status = RF_OK;
    uint64_t *links = rf_alloc_get(&symbols->alloc, n * sizeof *links);
    if (links == NULL)
        return RF_ENOMEM;
    qsort(wanted, n, sizeof *wanted, by_file);
    for (size_t from = 0, to; from < n && status == RF_OK; from = to) {
        for (to = from; to < n && wanted[to].file == wanted[from].file;)
            to++;
        status = read_group(symbols, wanted + from, to - from, links);
    }
    rf_alloc_free(&symbols->alloc, links, n * sizeof *links);
    return status;
}

rf_status rf_symbols_prepare(struct rf_symbols *symbols, const uint64_t *addresses, size_t n)
{
    rf_status status = RF_OK;
    size_t n_wanted = 0;
    if (n == 0)
        return RF_OK;
    struct wanted *wanted = rf_alloc_get(&symbols->alloc, n * sizeof *wanted);
    if (wanted == NULL)
        return RF_ENOMEM;
    for (size_t i = 0; i < n && status != RF_ENOMEM; i++) {
        struct where where;
        status = rf_names_where(symbols, addresses[i], RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME,
                                &where);
        if (status == RF_OK && needs_spot(&where))
            wanted[n_wanted++] = (struct wanted){where.file, where.link};
    }
    if (status != RF_ENOMEM)
        status = n_wanted > 0 ? read_groups(symbols, wanted, n_wanted) : RF_OK;
    rf_alloc_free(&symbols->alloc, wanted, n * sizeof *wanted);
    return status;
}

/* ---- one ---- */

static const struct rf_place_name nothing = {.module = "",
                                             .other = "",
                                             .path = "",
                                             .function = "",
                                             .section = "",
                                             .file = "",
                                             .linkage = "",
                                             .parameters = ""};

/* Symbols first: linkers and debuggers agree on them. */
static void name_function(struct rf_place_name *name, const struct where *where,
                          const struct rf_spot *spot)
{
    const struct rf_symbol *symbol = rf_symbol_table_at(where->file, where->link);
    bool is_nameless = symbol != NULL && symbol->rank == RF_RANK_NAMELESS;
    if (symbol != NULL && !is_nameless) {
        name->function = symbol->name;
        name->parameters = symbol->parameters;
        name->offset = where->link - symbol->lo;
    } else if (spot != NULL && spot->own.function[0] != '\0') {
        name->function = spot->own.function;
        name->parameters = spot->own.parameters;
        name->offset = where->link - spot->lo < spot->hi - spot->lo ? where->link - spot->lo : 0;
    } else if (is_nameless) {
        name->begin = symbol->lo;
    }
}

static void fill_name(struct rf_place_name *name, const struct where *where)
{
    const struct rf_section *section = rf_symbol_table_section(where->file, where->link);
    const struct rf_spot *spot = rf_symbol_table_spot(where->file, where->link);
    name->offset = name->link = where->link;
    if (section != NULL && where->linked) {
        name->section = section->name;
        name->is_code = section->executable;
    }
    if (spot != NULL) {
        name->file = spot->own.file;
        name->line = spot->own.line;
        name->start = spot->own.start;
        name->discriminator = spot->own.discriminator;
        name->linkage = spot->own.linkage;
        name->inlined = spot->inlined;
        name->n_inlined = spot->n_inlined;
    }
    if (where->linked)
        name_function(name, where, spot);
}

/* Only code is worth starting a child for debug information. */
static bool is_code(const struct where *where)
{
    const struct rf_section *section = rf_symbol_table_section(where->file, where->link);
    return section == NULL || section->executable;
}

rf_status rf_symbols_lookup(struct rf_symbols *symbols, uint64_t address, uint32_t process,
                            uint64_t when, struct rf_place_name *name)
{
    struct where where;
    *name = nothing;
    if (symbols == NULL)
        return RF_EINVAL;
    rf_status status = rf_names_where(symbols, address, process, when, &where);
    if (status != RF_OK)
        return status;
    const struct rf_module *module = &symbols->run->modules[where.row];
    name->module = name->path = module->path;
    if (where.file == NULL) {
        name->module = rf_names_kind(symbols, where.row);
        name->offset = address - module->start;
        return RF_OK;
    }
    name->module = where.file->name;
    if (where.other != NO_ROW)
        name->other = symbols->files.at[symbols->file_of[where.other]].name;
    if (needs_spot(&where) && is_code(&where))
        status = rf_names_read_spots(symbols, where.file, &where.link, 1);
    fill_name(name, &where);
    return status;
}

enum { KIND_MAX = 512 };
static const char mapped[] = "[mapped by ";

/* A run has the address of the call that mapped memory: "[mapped by 0x1234]". */
static size_t print_mapped(struct rf_symbols *symbols, const char *path, char text[KIND_MAX])
{
    char place[KIND_MAX - sizeof mapped - 1];
    struct rf_place_name name;
    uint64_t site = strtoull(path + sizeof mapped - 1, NULL, 16);
    rf_symbols_lookup(symbols, site, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &name);
    name.n_inlined = 0; /* what is inlined there only hands it on */
    if (rf_place_print(&name, place, sizeof place) == 0)
        return 0;
    return rf_format(text, KIND_MAX, "%s%s]", mapped, place);
}

const char *rf_names_kind(struct rf_symbols *symbols, size_t row)
{
    const char *path = symbols->run->modules[row].path, **kind = &symbols->kind_of[row];
    char text[KIND_MAX];
    size_t n = 0;
    if (*kind != NULL)
        return *kind;
    *kind = path; /* and no way in here again, should the call lie in the memory itself */
    if (path[1] == '/')
        n = rf_format(text, sizeof text, "[file %s", rf_text_last_part(path));
    else if (strncmp(path, mapped, sizeof mapped - 1) == 0)
        n = print_mapped(symbols, path, text);
    const char *kept = n > 0 && n < sizeof text ? rf_arena_text(&symbols->arena, text, n) : NULL;
    *kind = kept != NULL ? kept : path;
    return *kind;
}

struct rf_frame rf_place_frame(const struct rf_place_name *name)
{
    return (struct rf_frame){.function = name->function,
                             .file = name->file,
                             .line = name->line,
                             .start = name->start,
                             .discriminator = name->discriminator,
                             .linkage = name->linkage,
                             .parameters = name->parameters};
}

/* ---- as text ---- */

static void add_offset(struct rf_text_out *text, uint64_t offset)
{
    if (offset != 0)
        rf_text_add(text, "+0x%llx", (unsigned long long)offset);
}

static void add_function(struct rf_text_out *text, const struct rf_place_name *name)
{
    for (size_t i = 0; i < name->n_inlined; i++) {
        const struct rf_frame *frame = &name->inlined[i];
        rf_text_add(text, "%s", frame->function);
        if (frame->line != 0)
            rf_text_add(text, " (%s:%u)", rf_text_last_part(frame->file), frame->line);
        rf_text_add(text, " in ");
    }
    rf_text_add(text, "%s", name->function);
    if (name->line != 0) {
        rf_text_add(text, " (%s:%u)", rf_text_last_part(name->file), name->line);
        return;
    }
    add_offset(text, name->offset);
    if (name->is_code)
        rf_text_add(text, " (%s)", name->module);
    else
        rf_text_add(text, " (%s of %s)", name->section, name->module);
}

size_t rf_place_print(const struct rf_place_name *name, char *place, size_t size)
{
    struct rf_text_out text = {place, size, 0};
    if (size > 0)
        place[0] = '\0';
    if (name->function[0] != '\0')
        add_function(&text, name);
    else if (name->module[0] == '[')
        rf_text_add(&text, "%s", name->module);
    else if (name->module[0] != '\0')
        rf_text_add(&text, "%s+0x%llx", name->module, (unsigned long long)name->offset);
    if (name->function[0] == '\0' && name->section[0] != '\0' && !name->is_code)
        rf_text_add(&text, " (%s)", name->section);
    if (name->other[0] != '\0')
        rf_text_add(&text, ", or in %s", name->other);
    return text.n;
}
