/* resolve.c - names in selectors, looked up in the files of a program that is yet to be profiled.
 *
 *     -p 'load pc in spread..spread+0x40 -> addr'      a trace of rank: spread is at 0x109210
 *
 * No file is read before the first name is asked for. A name that several functions have is refused. */
#include "plan.h"
#include <string.h>

rf_status cli_add_modules(struct rf_run *run, struct rf_source *source)
{
    size_t n;
    const struct rf_module *modules;
    rf_status status = rf_source_modules(source, &modules, &n);
    for (size_t i = 0; status == RF_OK && i < n; i++)
        status = rf_run_add_module(run, &modules[i]);
    return status;
}

rf_status cli_program_open(struct cli_program *program, struct rf_source *source)
{
    program->symbols = NULL;
    rf_status status = rf_run_new(&program->run, NULL, NULL);
    return status == RF_OK ? cli_add_modules(program->run, source) : status;
}

enum { FOUND_MAX = 64 };

/* Of several functions the one that bears the very name, where it is alone. */
static size_t find_one(struct rf_symbols *symbols, const char *name, uint64_t *address)
{
    struct rf_symbol_range ranges[FOUND_MAX];
    size_t n = 0, exact = 0;
    if (rf_symbols_find(symbols, name, ranges, FOUND_MAX, &n) != RF_OK || n == 0)
        return 0;
    *address = ranges[0].lo;
    for (size_t i = 0; n > 1 && i < n && i < FOUND_MAX; i++)
        if (strcmp(ranges[i].function, name) == 0 && exact++ == 0)
            *address = ranges[i].lo;
    return exact == 1 ? 1 : n;
}

int cli_resolve(void *context, const char *symbol, uint64_t *address)
{
    struct cli_program *program = context;
    if (program->symbols == NULL)
        rf_symbols_open(&program->symbols, program->run, NULL, NULL);
    size_t n = program->symbols != NULL ? find_one(program->symbols, symbol, address) : 0;
    return n == 0 ? -1 : n == 1 ? 0 : (int)n;
}

void cli_program_close(struct cli_program *program)
{
    rf_symbols_close(program->symbols);
    rf_run_free(program->run);
}
