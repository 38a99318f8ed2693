/* Any bytes as the answer of the child that reads files: used as far as they make sense. */
#include "fuzz.h"
#include <string.h>
#include "symbol/symbol.h"

static void ask(const struct rf_file *file, uint64_t link)
{
    const struct rf_symbol *symbol = rf_symbol_table_at(file, link);
    const struct rf_spot *spot = rf_symbol_table_spot(file, link);
    PROMISE(symbol == NULL || (symbol->lo <= link && link < symbol->hi));
    PROMISE(symbol == NULL || strlen(symbol->name) <= RF_WIRE_TEXT_MAX);
    PROMISE(spot == NULL || spot->link == link);
    for (uint32_t i = 0; spot != NULL && i < spot->n_inlined; i++)
        PROMISE(strlen(spot->inlined[i].function) <= RF_WIRE_TEXT_MAX);
    rf_symbol_table_holds(file, link);
    rf_symbol_table_segment(file, link, link);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const struct rf_alloc *alloc = rf_alloc_or_standard(NULL);
    struct rf_arena arena = {alloc, NULL};
    struct rf_file file = {.path = "", .name = "", .build_id = ""};
    rf_status status;
    rf_wire_decode(&file, &arena, bytes, n, &status);
    PROMISE(status == RF_OK);
    rf_symbol_table_sort(&file);
    rf_symbol_table_sort_spots(&file);
    for (size_t i = 0; i < file.symbols.n; i++) {
        ask(&file, file.symbols.at[i].lo);
        ask(&file, file.symbols.at[i].hi);
    }
    for (size_t i = 0; i < file.spots.n; i++)
        ask(&file, file.spots.at[i].link);
    rf_file_release(&file, alloc);
    rf_arena_release(&arena);
    return 0;
}
