/* resolve.c - names in selectors, looked up in the files of a program that is yet to be profiled.
 *
 *     -p 'load pc in spread..spread+0x40 -> addr'      a trace of rank: spread is at 0x109210
 *
 * No file is read before the first name is asked for. A name that several functions have is refused. */
#include "plan.h"

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

int cli_resolve(void *context, const char *symbol, uint64_t *address)
{
    struct cli_program *program = context;
    struct rf_symbol_range range;
    size_t n = 0;
    if (program->symbols == NULL)
        rf_symbols_open(&program->symbols, program->run, NULL, NULL);
    if (program->symbols == NULL ||
        rf_symbols_find(program->symbols, symbol, &range, 1, &n) != RF_OK || n == 0)
        return -1;
    *address = range.lo;
    return n == 1 ? 0 : (int)n;
}

void cli_program_close(struct cli_program *program)
{
    rf_symbols_close(program->symbols);
    rf_run_free(program->run);
}
