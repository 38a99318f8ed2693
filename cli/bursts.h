/* bursts.h - how often a program is sampled: options of run, words of control. */
#ifndef CLI_BURSTS_H
#define CLI_BURSTS_H

#include <riffle/probe.h>
#include "plan.h"

struct cli_bursts {
    const char *burst;     /* NULL: not said */
    const char *frequency; /* NULL: not said */
    const char *phases;    /* NULL: not said */
    int regular;
};
extern const struct cli_option cli_options_bursts[];

enum { CLI_BURST_MAX = 1 << 30 };
#define CLI_SPARSITY_MAX 1e10

bool cli_frequency(const char *text, double *frequency);
uint64_t cli_sparsity(uint64_t burst, double frequency);
/* CLI_OK, or an error was printed. burst is 0 when neither option was given. */
int cli_bursts_take(struct rf_probe_bursts *bursts, const struct cli_bursts *asked, uint64_t seed);
/* Between bursts events are counted by class, without conditions. So those are looked at later, in records, where it is
 * known how many events of a burst they left out. */
bool cli_bursts_need_records(const struct cli_plan *plan);
/* A loop may be in step with bursts at equal distances, and with long ones close to each other, which random distances
 * hardly move. The bounds are then too narrow, and the report says so. `name`: of which profile. */
enum cli_in_step { CLI_EQUAL, CLI_CLOSE };
rf_status cli_bursts_warn(struct rf_run *run, const char *name, enum cli_in_step why);
/* How the program was sampled. Of several sets, and with --skip or --limit, the profiles say how many bursts each had. */
rf_status cli_bursts_note(struct rf_run *run, const struct rf_probe_bursts *asked,
                          const struct rf_probe_outcome *outcome, const struct cli_plan *plan);

#endif
