/* aside.c - what a question is not about, as one row.
 *
 *     by line: code without line data, which would be a row per function
 *     indirect calls by instruction: stubs of the PLT and calls through the GOT, which go where the linker said
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

/* The file behind an address, open at the place; NULL: it cannot be had. */
static FILE *open_code(const struct rf_run *run, uint64_t address)
{
    const struct rf_module *module = NULL;
    for (size_t i = 0; i < run->n_modules && module == NULL; i++)
        if (address >= run->modules[i].start && address < run->modules[i].end)
            module = &run->modules[i];
    FILE *file = module != NULL ? rf_view_open_source(module->path) : NULL;
    uint64_t at = file != NULL ? address - module->start + module->offset : 0;
    if (file == NULL || (at <= INT64_MAX && fseeko(file, (off_t)at, SEEK_SET) == 0))
        return file;
    fclose(file);
    return NULL;
}

/* `call *slot(%rip)` where the slot is in the global offset table. A file that is not what ran has no names, so the slot has
 * no section. */
static bool is_linked(const struct rf_view_work *work, uint64_t word)
{
    enum { BYTES = 6 };
    uint8_t code[BYTES] = {0};
    struct rf_place_name slot;
    FILE *file = open_code(work->view->run, rf_view_address(word));
    size_t n = file != NULL ? fread(code, 1, BYTES, file) : 0;
    if (file != NULL)
        fclose(file);
    if (n < BYTES || code[0] != 0xff || code[1] != 0x15)
        return false;
    uint32_t distance =
        code[2] | (uint32_t)code[3] << 8 | (uint32_t)code[4] << 16 | (uint32_t)code[5] << 24;
    rf_view_lookup(work, word + BYTES + (uint64_t)(int64_t)(int32_t)distance, &slot);
    return strncmp(slot.section, ".got", 4) == 0;
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
    return is_stub(&name) || is_linked(work, row->word) ? "(where the linker said)" : NULL;
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
