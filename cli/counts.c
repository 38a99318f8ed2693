/* counts.c - which profiles of a run are counted where they happen, instead of being streamed.
 *
 *     code: insn -> pc          all of it is known when the code is translated: counted
 *     calls: call -> pc,target  direct calls are counted, targets of indirect ones streamed
 *     values: load -> pc,value  streamed
 *
 * Counters tell how often, not in which order. They serve engines to which order does not matter, and runs that are
 * not cut. */
#include "plan.h"
#include <string.h>

const struct cli_option cli_options_counts[] = {
    {CLI_FLAG, 0, "stream", .brief = "stream all events, also those that could be counted",
     .text = "What is the same whenever an instruction runs (its address, a direct target, the way "
             "that a branch goes) is counted inside the program for engines to which order does "
             "not matter (exact), which is several times faster. The profile is the same either "
             "way. --skip, --limit, --interval, --per-interval, --record, misses and bursts stream "
             "by themselves."},
    {.type = CLI_END},
};

/* Fields that are known when the code is translated, but for targets of indirect transfers. */
static bool is_static(const struct rf_selector *selector)
{
    uint32_t known = 1u << RF_FIELD_PC | 1u << RF_FIELD_TARGET | 1u << RF_FIELD_SIZE |
                     1u << RF_FIELD_TAKEN | 1u << RF_FIELD_INDIRECT;
    if (!(selector->classes >> RF_CLASS_ALU & 1))
        known |= 1u << RF_FIELD_WIDTH;
    bool samples = selector->classes >> RF_CLASS_FRAME & 1;
    return (selector->fields & ~known) == 0 && !samples;
}

/* Does something need every event in its place? */
static bool is_cut(const struct cli_plan *plan)
{
    const struct cli_cut *cut = &plan->asked->cut;
    return cut->skip + cut->limit + cut->interval > 0 || plan->asked->report.per_interval ||
           plan->asked->record != NULL || plan->records;
}

static bool is_given(const struct cli_call *call, const char *name)
{
    for (size_t i = 0; i < call->n_given; i++)
        if (cli_is(&call->given[i], name))
            return true;
    return false;
}

void cli_counts_exactly(struct cli_plan *plan, const struct cli_call *call, bool all)
{
    const char *standard = cli_standard(call->command, "engine");
    if (is_given(call, "engine") || (!all && is_cut(plan)))
        return;
    for (size_t i = 0; i < plan->lanes.n; i++) {
        struct rf_lane *lane = &plan->lanes.lanes[i];
        bool counts = all || is_static(&plan->selectors[lane->stream]);
        if (counts && strcmp(lane->engine, standard) == 0)
            lane->engine = "exact";
    }
}

static bool takes_any_order(const char *text)
{
    struct rf_engine_info info;
    struct rf_engine *engine;
    if (rf_engine_describe(text, &info, NULL) != RF_OK || !info.any_order ||
        rf_engine_open(&engine, text, NULL, NULL) != RF_OK)
        return false;
    bool is_whole = rf_engine_interval(engine) == 0;
    rf_engine_close(engine);
    return is_whole;
}

uint32_t cli_counts_any_order(const struct cli_plan *plan)
{
    uint32_t selectors = is_cut(plan) ? 0 : ~UINT32_C(0);
    for (size_t i = 0; i < plan->lanes.n && selectors != 0; i++) {
        const struct rf_lane *lane = &plan->lanes.lanes[i];
        if (!takes_any_order(lane->engine))
            selectors &= ~(UINT32_C(1) << lane->stream % plan->n_selectors);
    }
    return selectors;
}
