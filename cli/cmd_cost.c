/* cmd_cost.c - riffle cost: what the hardware of range-adaptive profiling takes. */
#include "command.h"

struct settings {
    uint64_t entries, key, counter;
    int csv;
};

static const struct cli_option options[] = {
    {CLI_COUNT, 'n', "entries", "N", "4096", .brief = "how many ranges the ternary memory can hold",
     .offset = offsetof(struct settings, entries)},
    {CLI_COUNT, 0, "key-bits", "N", "36", .brief = "the bits of an entry's key",
     .offset = offsetof(struct settings, key)},
    {CLI_COUNT, 0, "counter-bits", "N", "32", .brief = "the bits of a counter",
     .offset = offsetof(struct settings, counter)},
    {CLI_FLAG, 0, "csv", .brief = "as CSV: part,area_mm2,delay_ns,energy_nj",
     .offset = offsetof(struct settings, csv)},
    {.type = CLI_END},
};

static void print_row(const char *name, double area, double delay, double energy, int csv)
{
    if (csv)
        printf("%s,%.6g,%.6g,%.6g\n", name, area, delay, energy);
    else
        printf("%-18s %10.4f %10.3f %10.5f\n", name, area, delay, energy);
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    struct rf_rap_cost cost = {0};
    if (s->entries < 2 || s->entries > 1u << 24 || s->key < 8 || s->key > 128 || s->counter < 8 ||
        s->counter > 64)
        return cli_fail(CLI_USAGE, "cost: entries are 2 to 16Mi, a key has 8 to 128 bits, a "
                                   "counter 8 to 64");
    rf_rap_cost(&cost, s->entries, (unsigned)s->key, (unsigned)s->counter);
    if (s->csv)
        puts("part,area_mm2,delay_ns,energy_nj");
    else
        printf("%-18s %10s %10s %10s\n", "part, 0.18 um", "area/mm2", "delay/ns", "energy/nJ");
    for (int i = 0; i < RF_RAP_PARTS; i++)
        print_row(cost.parts[i].name, cost.parts[i].area_mm2, cost.parts[i].delay_ns,
                  cost.parts[i].energy_nj, s->csv);
    print_row("whole engine", cost.area_mm2, cost.delay_ns, cost.energy_nj, s->csv);
    return CLI_OK;
}

const struct cli_action cli_action_cost = {
    .arguments = {"", 0, 0},
    .settings = {options, sizeof(struct settings)},
    .run = run,
};
