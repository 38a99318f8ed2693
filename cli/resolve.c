/* resolve.c - names in selectors, looked up in the files of a program before it is profiled.
 *
 *     -p 'load pc in spread..spread+0x40 -> addr'      a trace of rank: spread is at 0x109210
 *
 * A name stands for the address where its function begins; one that was inlined everywhere begins at each of its copies.
 * No file is read before the first name is asked for. What goes to a function may also go to a stub of it, malloc@plt,
 * or to the copy for this processor; a pc is in the function itself. Of a program that runs the files are asked one
 * after the other, as they are mapped. */
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
    *program = (struct cli_program){.is_whole = true};
    rf_status status = rf_run_new(&program->run, NULL, NULL);
    return status == RF_OK ? cli_add_modules(program->run, source) : status;
}

void cli_program_mapped(void *context, const struct rf_module *module)
{
    struct cli_program *program = context;
    cli_program_close(program);
    *program = (struct cli_program){.run = NULL};
    struct rf_module copy = *module;
    copy.build_id = (char *)"";
    if (rf_run_new(&program->run, NULL, NULL) == RF_OK)
        rf_run_add_module(program->run, &copy);
}

/* One more address than there is room for counts, too. */
struct places {
    uint64_t *addresses;
    size_t max, n;
};

static void add_place(struct places *places, uint64_t address)
{
    for (size_t i = 0; i < places->n && i < places->max; i++)
        if (places->addresses[i] == address)
            return;
    if (places->n < places->max)
        places->addresses[places->n] = address;
    places->n++;
}

enum { FOUND_MAX = 256 };

typedef rf_status find_ranges(struct rf_symbols *symbols, const char *name,
                              struct rf_symbol_range *ranges, size_t max, size_t *n);

/* Of what fits the name; only what bears the very name, where `strict` is set and something does. */
static void add_places(struct places *places, struct rf_symbols *symbols, find_ranges *find,
                       const char *name, bool strict)
{
    static struct rf_symbol_range ranges[FOUND_MAX];
    size_t n = 0, exact = 0;
    if (find(symbols, name, ranges, FOUND_MAX, &n) != RF_OK)
        return;
    for (size_t i = 0; i < n && i < FOUND_MAX; i++)
        exact += strcmp(ranges[i].function, name) == 0;
    for (size_t i = 0; i < n && i < FOUND_MAX; i++)
        if (!strict || exact == 0 || strcmp(ranges[i].function, name) == 0)
            add_place(places, ranges[i].lo);
    places->n += n > FOUND_MAX ? n - FOUND_MAX : 0;
}

/* Nothing was found that a call can go to: say so of a function that was inlined. */
static void explain(struct cli_program *program, const char *name)
{
    size_t n = 0;
    if (!program->is_whole || program->explained ||
        rf_symbols_find_inlined(program->symbols, name, NULL, 0, &n) != RF_OK)
        return;
    program->explained = n > 0;
    if (n > 0)
        cli_fail(CLI_OK,
                 "'%s' was inlined wherever it was called, so no call goes to it; "
                 "'insn pc==%s -> pc' counts where its copies begin",
                 name, name);
}

size_t cli_resolve(void *context, unsigned field, const char *symbol, uint64_t *addresses,
                   size_t max)
{
    struct cli_program *program = context;
    struct places places = {addresses, max, 0};
    bool is_target = field == RF_FIELD_TARGET;
    if (program->symbols == NULL && program->run != NULL)
        rf_symbols_open(&program->symbols, program->run, NULL, NULL);
    if (program->symbols == NULL)
        return 0;
    add_places(&places, program->symbols, rf_symbols_find, symbol, !is_target);
    if (is_target)
        add_places(&places, program->symbols, rf_symbols_find_stubs, symbol, false);
    else if (places.n == 0)
        add_places(&places, program->symbols, rf_symbols_find_inlined, symbol, true);
    if (is_target && places.n == 0)
        explain(program, symbol);
    return places.n;
}

void cli_program_close(struct cli_program *program)
{
    rf_symbols_close(program->symbols);
    rf_run_free(program->run);
}
