/* counts.c - which profiles of a run are counted where they happen, instead of being streamed.
 *
 *     code: insn -> pc          all of it is known when the code is translated: counted
 *     calls: call -> pc,target  direct calls are counted, targets of indirect ones streamed
 *     values: load -> pc,value  streamed
 *
 * Counters tell how often, not in which order. They serve engines to which order does not matter, and runs that are
 * not cut into intervals.
 *
 * An engine may not keep everything that is streamed to it. So each profile of a pc and another field gets a companion:
 * exact totals per pc, from counters. `load -> pc` stands beside `load -> pc,value`. A selector with a condition on a
 * changing field (value==0) has no companion: its totals cannot be counted where they happen. An exact engine needs no
 * companion: its profile has the totals.
 *
 * Where no engine is asked for, those that are left with the default share its ceiling. */
#include "plan.h"
#include <stdlib.h>
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

/* Fields that are known when the code is translated. The target of an indirect transfer is an exception. */
static bool is_known(const struct rf_selector *selector, uint32_t fields)
{
    uint32_t known = 1u << RF_FIELD_PC | 1u << RF_FIELD_TARGET | 1u << RF_FIELD_SIZE |
                     1u << RF_FIELD_TAKEN | 1u << RF_FIELD_INDIRECT;
    if (!(selector->classes >> RF_CLASS_ALU & 1))
        known |= 1u << RF_FIELD_WIDTH;
    bool samples = selector->classes >> RF_CLASS_FRAME & 1;
    return (fields & ~known) == 0 && !samples;
}

static bool is_static(const struct rf_selector *selector)
{
    return is_known(selector, selector->fields);
}

/* Does something need the order of events? */
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

enum { MEGABYTE = 1 << 20 };

/* May it grow with what the program computes? What is static has no more tuples than the program has code. */
static bool may_grow(const struct cli_plan *plan, const struct rf_lane *lane, const char *standard)
{
    return strcmp(lane->engine, standard) == 0 && !is_static(&plan->selectors[lane->stream]);
}

/* Such profiles share the ceiling of one: what a run may take does not grow with what it is asked. */
static void share_ceiling(struct cli_plan *plan, const char *standard)
{
    struct rf_engine_info info;
    const struct rf_option *ceiling = NULL;
    uint64_t bytes, n = 0;
    for (size_t i = 0; i < plan->lanes.n; i++)
        n += may_grow(plan, &plan->lanes.lanes[i], standard);
    if (n > 1 && rf_engine_describe(standard, &info, NULL) == RF_OK)
        ceiling = rf_option_find(info.options, "ceiling", strlen("ceiling"));
    if (ceiling == NULL ||
        rf_units_count(ceiling->standard, strlen(ceiling->standard), &bytes) != RF_OK)
        return;
    uint64_t each = bytes / n > MEGABYTE ? bytes / n / MEGABYTE * MEGABYTE : bytes / n;
    snprintf(plan->sharing, sizeof plan->sharing, "%s(ceiling=%llu)", standard,
             (unsigned long long)each);
    for (size_t i = 0; i < plan->lanes.n; i++)
        if (may_grow(plan, &plan->lanes.lanes[i], standard))
            plan->lanes.lanes[i].engine = plan->sharing;
}

static void count_exactly(struct cli_plan *plan, const char *standard, bool all)
{
    for (size_t i = 0; i < plan->lanes.n; i++) {
        struct rf_lane *lane = &plan->lanes.lanes[i];
        bool counts = all || is_static(&plan->selectors[lane->stream]);
        if (counts && strcmp(lane->engine, standard) == 0)
            lane->engine = "exact";
    }
}

void cli_counts_engines(struct cli_plan *plan, const struct cli_call *call, bool all)
{
    const char *standard = cli_standard(call->command, "engine");
    if (is_given(call, "engine"))
        return;
    if (all || !is_cut(plan))
        count_exactly(plan, standard, all);
    share_ceiling(plan, standard);
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

/* ---- companions ---- */

/* Are the conditions known when the code is translated? That on a target is not: some transfers are indirect. */
static bool has_known_conditions(const struct rf_selector *selector)
{
    uint32_t fields = 0;
    for (unsigned i = 0; i < selector->n_conditions; i++)
        fields |= 1u << selector->conditions[i].field;
    return !(fields >> RF_FIELD_TARGET & 1) && is_known(selector, fields);
}

/* Does the selector have an engine that may drop events? */
static bool is_bounded(const struct cli_plan *plan, uint32_t stream)
{
    for (size_t i = 0; i < plan->lanes.n; i++) {
        struct rf_engine_info info;
        const struct rf_lane *lane = &plan->lanes.lanes[i];
        if (lane->stream == stream && rf_engine_describe(lane->engine, &info, NULL) == RF_OK &&
            strcmp(info.name, "exact") != 0)
            return true;
    }
    return false;
}

static bool needs_companion(const struct cli_plan *plan, uint32_t stream)
{
    const struct rf_selector *selector = &plan->selectors[stream];
    return selector->project_a == RF_FIELD_PC && selector->project_b != RF_FIELD_NONE &&
           selector->weight == RF_FIELD_NONE && has_known_conditions(selector) &&
           is_bounded(plan, stream);
}

/* Is there a selector like this one already, by its text? */
static bool is_there(const struct cli_plan *plan, const char *text)
{
    char other[CLI_COMPANION_TEXT];
    for (size_t i = 0; i < plan->n_selectors; i++) {
        rf_selector_print(&plan->selectors[i], other, sizeof other);
        if (strcmp(other, text) == 0)
            return true;
    }
    return false;
}

static void add_companion(struct cli_plan *plan, const struct rf_selector *of)
{
    char *text = plan->companions[plan->n_selectors];
    struct rf_selector totals = *of;
    totals.project_b = RF_FIELD_NONE;
    size_t n = rf_selector_print(&totals, text, CLI_COMPANION_TEXT);
    if (n >= CLI_COMPANION_TEXT || is_there(plan, text) ||
        rf_selector_parse(&plan->selectors[plan->n_selectors], text, NULL) != RF_OK)
        return;
    plan->lanes.lanes[plan->lanes.n++] = (struct rf_lane){
        .selector = text, .engine = "exact", .stream = (uint32_t)plan->n_selectors++};
}

int cli_counts_companions(struct cli_plan *plan)
{
    size_t asked = plan->n_selectors, most = plan->lanes.n + asked;
    if (is_cut(plan) || plan->lanes.n == 0)
        return CLI_OK;
    struct rf_lane *lanes = realloc(plan->lanes.lanes, most * sizeof *lanes);
    if (lanes == NULL)
        return cli_fail(CLI_FAILED, "no memory for %zu engines", most);
    plan->lanes.lanes = lanes;
    for (uint32_t i = 0; i < asked && plan->n_selectors < CLI_SELECTORS_MAX; i++)
        if (needs_companion(plan, i))
            add_companion(plan, &plan->selectors[i]);
    return CLI_OK;
}

/* A companion's text stands in the plan. */
static bool is_companion(const struct cli_plan *plan, const struct rf_lane *lane)
{
    for (size_t i = 0; i < CLI_SELECTORS_MAX; i++)
        if (lane->selector == plan->companions[i])
            return true;
    return false;
}

rf_status cli_counts_label(const struct cli_plan *plan, struct rf_run *run)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < plan->lanes.n && i < run->n_profiles && status == RF_OK; i++)
        if (is_companion(plan, &plan->lanes.lanes[i]))
            status = rf_profile_add_figure(run->profiles[i], RF_FIGURE_COMPANION, 1);
    return status;
}
