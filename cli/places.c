/* places.c - --function, --module and --range of riffle run, and whether the program has the functions that are named.
 *
 *     static program     its file tells before it runs: refused (known.c)
 *     dynamic program    may map any file while it runs: known when it has ended
 *
 * A function is its own code, and every copy of it that was inlined. */
#include "places.h"
#include <stdlib.h>
#include <string.h>

const struct cli_option cli_options_traced[] = {
    {CLI_LIST, 0, "function", "NAME",
     .brief = "only instructions of this function; may be repeated",
     .text =
         "As reports write it, mangled, or the last part of a C++ name; ::area is no part of a "
         "longer name. With parameters, as in area(int), it means that overload alone. * stands "
         "for any text, ? for one character; behind a type, as in area(int*), the * is a pointer. "
         "What the compiler made of it "
         "(find_match.constprop.0 of find_match) is part of it, and so is every copy that was "
         "inlined into another function, where there is debug information; what it calls is "
         "not. Of inlined C++ functions the probe knows the last part of the name only, so "
         "Shape::area and area(int) mean every area that was inlined, and Shape::* none of them. A "
         "name that no file has makes the run fail; a static program is not even started."},
    {CLI_LIST, 0, "module", "NAME",
     .brief = "only instructions of this file: a path, or its last part; may be repeated"},
    {CLI_LIST, 0, "range", "LOW..HIGH",
     .brief = "only instructions at these addresses, the end excluded; may be repeated"},
    {.type = CLI_END},
};

/* ---- what is asked ---- */

static bool parse_range(struct rf_probe_range *range, const char *text)
{
    char *end;
    range->low = strtoull(text, &end, 0);
    if (end == text || strncmp(end, "..", 2) != 0)
        return false;
    const char *high = end + 2;
    range->high = strtoull(high, &end, 0);
    return end != high && *end == '\0' && range->low < range->high;
}

static bool is_stub(const char *name)
{
    static const char mark[] = "@plt";
    size_t n = strlen(name), m = sizeof mark - 1;
    return n >= m && strcmp(name + n - m, mark) == 0;
}

/* The probe knows functions by their demangled names, and stubs by no name. */
static int take_function(struct cli_places *places, const struct cli_call *call,
                         const struct cli_given *given)
{
    if (is_stub(given->value))
        return cli_fail(CLI_USAGE,
                        "run: --function '%s': stubs cannot be chosen while the program runs; "
                        "'riffle report --function' of a saved profile can choose them",
                        given->value);
    int status = cli_take_name(call, places->functions, given);
    size_t i = 0;
    while (places->functions[i] != NULL && places->functions[i] != given->value)
        i++;
    if (status == CLI_OK &&
        rf_symbols_full_name(given->value, places->readable[i], sizeof places->readable[i]) <
            sizeof places->readable[i])
        places->functions[i] = places->readable[i];
    return status;
}

static int take_range(struct cli_places *places, const struct cli_given *given)
{
    size_t n = 0;
    while (places->ranges[n].high != 0)
        n++;
    if (n == CLI_PLACES_MAX)
        return cli_fail(CLI_USAGE, "run: --range may be given at most %d times", CLI_PLACES_MAX);
    if (!parse_range(&places->ranges[n], given->value))
        return cli_fail(CLI_USAGE, "run: --range must look like 0x401000..0x402000, got '%s'",
                        given->value);
    return CLI_OK;
}

int cli_places_take(struct cli_places *places, const struct cli_call *call)
{
    int status = CLI_OK;
    *places = (struct cli_places){.functions = {NULL}};
    for (size_t i = 0; i < call->n_given && status == CLI_OK; i++) {
        const struct cli_given *given = &call->given[i];
        if (cli_is(given, "function"))
            status = take_function(places, call, given);
        else if (cli_is(given, "module"))
            status = cli_take_name(call, places->modules, given);
        else if (cli_is(given, "range"))
            status = take_range(places, given);
    }
    return status;
}

bool cli_places_any(const struct cli_places *places)
{
    return places->functions[0] != NULL || places->modules[0] != NULL ||
           places->ranges[0].high != 0;
}

/* ---- before the run ---- */

/* The ends of a condition, as far as they are names. */
static size_t names_of(const struct rf_condition *condition, const char *names[3])
{
    size_t n = 0;
    if (condition->lo.symbol[0] != '\0')
        names[n++] = condition->lo.symbol;
    if (condition->hi.symbol[0] != '\0')
        names[n++] = condition->hi.symbol;
    names[n] = NULL;
    return n;
}

static int check_selector(const struct rf_selector *selector, const char *program)
{
    int status = CLI_OK;
    for (unsigned i = 0; i < selector->n_conditions && status == CLI_OK; i++) {
        const char *names[3];
        names_of(&selector->conditions[i], names);
        status = cli_check_functions(program, names);
    }
    return status;
}

int cli_places_check(const struct cli_places *places, const struct cli_plan *plan,
                     const char *program)
{
    const char *asked = plan->asked->report.annotate;
    const char *const annotated[] = {asked != NULL && asked[0] != '\0' ? asked : NULL, NULL};
    int status = cli_check_functions(program, places->functions);
    if (status == CLI_OK)
        status = cli_check_functions(program, annotated);
    for (size_t i = 0; i < plan->n_selectors && status == CLI_OK; i++)
        status = check_selector(&plan->selectors[i], program);
    return status;
}

/* ---- behind it ---- */

int cli_places_check_names(struct rf_source *source, const char *const *names, size_t max,
                           const char *whose)
{
    struct cli_program program = {.run = NULL};
    uint64_t address;
    int status = CLI_OK;
    bool is_open = names[0] != NULL && cli_program_open(&program, source) == RF_OK;
    for (size_t i = 0; is_open && i < max && names[i] != NULL; i++)
        if (cli_resolve(&program, RF_FIELD_PC, names[i], &address, 1) == 0) {
            const char *nearest =
                program.symbols != NULL ? rf_symbols_nearest(program.symbols, names[i]) : NULL;
            status = cli_fail(CLI_FAILED,
                              "run: no file that was mapped has the function '%s' of %s%s%s%s",
                              names[i], whose, nearest != NULL ? "; did you mean '" : "",
                              nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
        }
    cli_program_close(&program);
    return status;
}

void cli_places_explain(const struct cli_plan *plan, struct rf_source *source)
{
    struct cli_program program = {.run = NULL};
    const char *names[3];
    uint64_t address;
    if (cli_program_open(&program, source) == RF_OK)
        for (size_t i = 0; i < plan->n_selectors; i++)
            for (unsigned k = 0; k < plan->selectors[i].n_conditions; k++) {
                const struct rf_condition *condition = &plan->selectors[i].conditions[k];
                for (size_t n = names_of(condition, names); n-- > 0;)
                    cli_resolve(&program, condition->field, names[n], &address, 1);
            }
    cli_program_close(&program);
}

bool cli_places_miss_modules(const struct cli_places *places, struct rf_source *source)
{
    size_t n;
    bool found = false;
    const struct rf_module *modules;
    if (rf_source_modules(source, &modules, &n) != RF_OK)
        return false;
    for (size_t i = 0; places->modules[i] != NULL; i++)
        if (!cli_has_module(modules, n, places->modules[i])) {
            cli_fail(CLI_OK, "run: no file that was mapped is '%s' of --module",
                     places->modules[i]);
            found = true;
        }
    return found;
}

int cli_places_check_mapped(const struct cli_places *places, struct rf_source *source)
{
    return cli_places_check_names(source, places->functions, CLI_PLACES_MAX, "--function");
}
