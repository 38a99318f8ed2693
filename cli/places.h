/* places.h - which instructions of a program riffle run counts: --function, --module, --range. */
#ifndef CLI_PLACES_H
#define CLI_PLACES_H

#include <riffle/probe.h>
#include "plan.h"

/* Lists are closed by NULL, or by a range that is empty. */
struct cli_places {
    const char *functions[CLI_PLACES_MAX + 1], *modules[CLI_PLACES_MAX + 1];
    struct rf_probe_range ranges[CLI_PLACES_MAX + 1];
    char readable[CLI_PLACES_MAX][512]; /* functions that were given mangled */
};
extern const struct cli_option cli_options_traced[];

/* CLI_OK, or an error was printed. */
int cli_places_take(struct cli_places *places, const struct cli_call *call);
bool cli_places_any(const struct cli_places *places);

/* Before the program runs: refuse functions that it cannot have, of --function, --annotate and selectors. */
int cli_places_check(const struct cli_places *places, const struct cli_plan *plan,
                     const char *program);
/* When it has run: say why a selector names what is nowhere, where that is known. */
void cli_places_explain(const struct cli_plan *plan, struct rf_source *source);
/* When it has run, and nothing was counted in the places: CLI_FAILED where no file that was mapped has a function. */
int cli_places_check_mapped(const struct cli_places *places, struct rf_source *source);
/* When it has run: say which of --module was not mapped; false: all were. */
bool cli_places_miss_modules(const struct cli_places *places, struct rf_source *source);
/* cli_places_check_mapped for any list of functions with at most `max` names; `whose` they are. */
int cli_places_check_names(struct rf_source *source, const char *const *names, size_t max,
                           const char *whose);

#endif
