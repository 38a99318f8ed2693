/* productions.h - --productions and --set, for the commands that run a program. */
#ifndef CLI_PRODUCTIONS_H
#define CLI_PRODUCTIONS_H

#include "bursts.h"
#include <riffle/productions.h>

extern const struct cli_option cli_options_productions[];

/* The files and values that were given; *productions is NULL when no file was. CLI_OK, or told why not. */
enum cli_where { CLI_NATIVE, CLI_SIMULATED };
int cli_productions_take(struct rf_productions **productions, const struct cli_call *call,
                         enum cli_where where);

/* The same without files, where --burst or --frequency was given: -p says what to sample. */
int cli_productions_sample(struct rf_productions **productions, const struct cli_call *call,
                           const struct cli_bursts *asked, uint64_t seed);

/* Do productions say what is selected? Otherwise -p does. */
bool cli_productions_given(const struct cli_call *call);

/* The call as if -p were given for what the productions tell, to the probe where `native` is not NULL; its `given` is to be freed. CLI_OK, or told why not. */
int cli_productions_select(struct cli_call *with, const struct cli_call *call,
                           const struct rf_productions *productions,
                           const struct rf_productions_native *native);

rf_status cli_productions_note(struct rf_run *run, const struct rf_productions *productions,
                               const struct rf_source *source);

#endif
