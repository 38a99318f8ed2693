/* cmd_compare.c - riffle compare: engines side by side over one stream, judged by the exact profile.
 *
 *     source -> lane 0: exact, the truth        -> perfect  --+
 *            -> lane 1, 2, ...: the engines     -> measured --+--> measure
 *            -> tap: a copy of each engine, timed alone (timing.c)
 *
 * With --every all are judged as the stream goes on (curve.c), and that is all.                     */
#include "judge.h"
#include "plan.h"
#include <stdlib.h>
#include <string.h>

struct settings {
    struct cli_cut cut;
    const char *selector;
    const char *measure;
    const char *format;
    double threshold;
    struct rf_invariance_filter filter;
    double top;
    uint64_t every;
    int per_interval;
};

static const char *forms(size_t i)
{
    static const char *const names[] = {"text", "csv", "json", NULL};
    return names[i];
}

static const struct cli_option options[] = {
    {CLI_LIST, 'e', "engine", "ENGINE", .words = cli_words_engines,
     .brief = "an engine to judge; may be repeated"},
    {.type = CLI_GROUP, .group = cli_options_coproc},
    {CLI_TEXT, 'p', "profile", "SELECTOR", .words = cli_words_selectors,
     .brief = "what to count, of a stream of records",
     .offset = offsetof(struct settings, selector)},
    {CLI_CHOICE, 'm', "measure", "MEASURE", "interval", .words = cli_words_measures,
     .brief = "how to judge",
     .text =
         "interval (Narayanasamy et al.): over the tuples that make at least the threshold's "
         "share of an interval in the perfect or in the measured profile, the sum of the "
         "differences over the sum of the perfect counts, averaged over the intervals. Its "
         "parts: false_pos, a candidate only in the measured profile; false_neg, only in the "
         "perfect one; neutral_pos, in both and counted too high; neutral_neg, too low.\n\n"
         "invariance (Sastry et al.): the share that each value has among the executions of its "
         "pc, over the values that an optimizer would use: the mean of the differences between "
         "perfect and measured share, weighted by the perfect counts. unseen is the part of it "
         "that the measured profile does not have at all, covered the part of the stream that "
         "is looked at; --executions, --tuple-share and --pc-share say which that is.\n\n"
         "overlap (Mousa and Krintz): of each profile the heaviest members that make --top of it, "
         "each with its share of these, and over all of them the sum of the smaller of both "
         "shares: 100% for equal profiles, 0% for profiles that have nothing in common.\n\n"
         "rms (Zilles and Sohi): the same with the root of the mean square of the differences, "
         "over "
         "all values that make --tuple-share of a pc that executes --executions times.",
     .offset = offsetof(struct settings, measure)},
    {CLI_SHARE, 't', "threshold", "SHARE", "0.1%",
     .brief = "a candidate has at least this share of an interval",
     .offset = offsetof(struct settings, threshold)},
    {CLI_SHARE, 0, "top", "SHARE", "90%",
     .brief = "overlap: members that make this share of a profile",
     .offset = offsetof(struct settings, top)},
    {CLI_COUNT, 0, "executions", "N", "1000",
     .brief = "invariance: pcs that execute at least N times",
     .offset = offsetof(struct settings, filter.executions)},
    {CLI_SHARE, 0, "tuple-share", "SHARE", "10%",
     .brief = "invariance: tuples that make this share of their pc",
     .offset = offsetof(struct settings, filter.tuple_share)},
    {CLI_SHARE, 0, "pc-share", "SHARE", "40%",
     .brief = "invariance: pcs of whose events such tuples make this share",
     .offset = offsetof(struct settings, filter.pc_share)},
    {CLI_COUNT, 0, "every", "N", "0", .brief = "invariance, rms: the error every N events, as CSV",
     .text = "A row per engine or co-processor, every N events and at the end. The truth is that "
             "of the "
             "events so far; of a co-processor counts what its host knows by then. overhead is the "
             "number "
             "of host cycles that its handlers took so far, by the cost model.",
     .offset = offsetof(struct settings, every)},
    {CLI_FLAG, 0, "per-interval", .brief = "interval: the error of every interval, as CSV",
     .offset = offsetof(struct settings, per_interval)},
    {.type = CLI_GROUP, .group = cli_options_interval, .offset = offsetof(struct settings, cut)},
    {.type = CLI_GROUP, .group = cli_options_window, .offset = offsetof(struct settings, cut)},
    {CLI_CHOICE, 'f', "format", "FORM", "text", .words = forms, .brief = "how to print it",
     .offset = offsetof(struct settings, format)},
    {.type = CLI_END},
};

struct row {
    const struct rf_profile *profile;
    double speed; /* tuples per second */
    double values[CLI_MEASURE_COLUMNS_MAX];
};

struct table {
    const struct settings *settings;
    const struct cli_measure *measure;
    const struct rf_run *run;
    uint64_t interval;
    struct row *rows;
    size_t n;
};

/* Everything that one comparison holds; run frees it. */
struct comparison {
    const struct cli_call *call;
    const struct settings *settings;
    struct rf_lane *lanes; /* [0] is the truth */
    size_t n_lanes;
    struct cli_coprocs coprocs; /* judged behind the engines */
    uint64_t interval;
    struct cli_timing *timing;
    struct cli_curve *curve;
    struct rf_source *source;
    struct rf_run *run;
    struct row *rows;
    char *command;
};

static const struct cli_measure *find_measure(const char *name)
{
    const struct cli_measure *measure = cli_measures;
    while (strcmp(measure->name, name) != 0)
        measure++;
    return measure;
}

/* ---- printing ---- */

/* "0.1%", "2.35e-05%": three digits are enough for people. */
static void put_share(double share)
{
    char text[32];
    snprintf(text, sizeof text, share == 0 ? "0%%" : "%.3g%%", 100 * share);
    printf("  %11s", text);
}

/* Options other than the defaults; csv and json have all. */
static void put_engine(const char *engine)
{
    char text[512];
    size_t n = rf_engine_shorten(engine, text, sizeof text);
    fputs("  ", stdout);
    rf_write_readable(stdout, n < sizeof text ? text : engine);
    putchar('\n');
}

static void print_text(const struct table *table)
{
    const struct rf_profile *perfect = table->run->profiles[0];
    char interval[RF_UNITS_MAX] = "all", threshold[RF_UNITS_MAX];
    if (table->interval > 0)
        rf_units_print_count(interval, sizeof interval, table->interval);
    rf_units_print_share(threshold, sizeof threshold, table->settings->threshold);
    printf("%llu events, %zu distinct tuples; measure %s, threshold %s, interval %s\n\n",
           (unsigned long long)perfect->consumed, perfect->n_items, table->measure->name, threshold,
           interval);
    printf("%12s  %10s  %10s", "memory", "bits", "M tuples/s");
    for (const char *const *c = table->measure->columns; *c != NULL; c++)
        printf("  %11s", *c);
    puts("  engine");
    for (size_t i = 0; i < table->n; i++) {
        const struct row *row = &table->rows[i];
        printf("%12llu", (unsigned long long)row->profile->memory);
        if (row->profile->bits > 0)
            printf("  %10llu", (unsigned long long)row->profile->bits);
        else
            printf("  %10s", "-");
        if (row->speed > 0)
            printf("  %10.1f", row->speed * 1e-6);
        else
            printf("  %10s", "-");
        for (size_t k = 0; table->measure->columns[k] != NULL; k++)
            put_share(row->values[k]);
        put_engine(row->profile->engine);
    }
    puts("\nSpeed is that of the engine's feed alone, timed on a copy of it, 64 Ki tuples per "
         "turn.");
}

static void print_csv(const struct table *table)
{
    fputs("memory,bits,tuples_per_second", stdout);
    for (const char *const *c = table->measure->columns; *c != NULL; c++)
        printf(",%s", *c);
    puts(",engine");
    for (size_t i = 0; i < table->n; i++) {
        const struct row *row = &table->rows[i];
        printf("%llu,%llu,%.0f", (unsigned long long)row->profile->memory,
               (unsigned long long)row->profile->bits, row->speed);
        for (size_t k = 0; table->measure->columns[k] != NULL; k++)
            printf(",%.17g", row->values[k]);
        putchar(',');
        rf_write_csv(stdout, row->profile->engine);
        putchar('\n');
    }
}

static void print_json(const struct table *table)
{
    const struct rf_profile *perfect = table->run->profiles[0];
    fputs("{\"schema\": 1, \"command\": ", stdout);
    rf_write_json(stdout, table->run->command);
    printf(", \"version\": \"%s\", \"measure\": \"%s\", \"threshold\": %.17g, \"interval\": %llu, "
           "\"events\": %llu, \"distinct\": %zu,\n \"engines\": [",
           RIFFLE_VERSION, table->measure->name, table->settings->threshold,
           (unsigned long long)table->interval, (unsigned long long)perfect->consumed,
           perfect->n_items);
    for (size_t i = 0; i < table->n; i++) {
        const struct row *row = &table->rows[i];
        fputs(i > 0 ? ",\n  {\"engine\": " : "\n  {\"engine\": ", stdout);
        rf_write_json(stdout, row->profile->engine);
        printf(", \"memory\": %llu, \"bits\": %llu, \"tuples_per_second\": %.0f",
               (unsigned long long)row->profile->memory, (unsigned long long)row->profile->bits,
               row->speed);
        for (size_t k = 0; table->measure->columns[k] != NULL; k++)
            printf(", \"%s\": %.17g", table->measure->columns[k], row->values[k]);
        putchar('}');
    }
    puts("\n]}");
}

/* One line for each interval and engine. */
static int print_intervals(struct comparison *c)
{
    const struct rf_profile *perfect = c->run->profiles[0];
    struct rf_error error = {""};
    puts("interval,error,false_pos,false_neg,neutral_pos,neutral_neg,engine");
    for (size_t i = 0; i < perfect->n_intervals; i++)
        for (size_t k = 1; k < c->n_lanes; k++) {
            struct rf_measure_interval m;
            rf_status status = rf_measure_one_interval(&m, perfect, c->run->profiles[k], i,
                                                       c->settings->threshold, &error);
            if (status != RF_OK)
                return cli_fail_status(status, &error);
            printf("%zu,%.17g,%.17g,%.17g,%.17g,%.17g,", i, m.error, m.false_positive,
                   m.false_negative, m.neutral_positive, m.neutral_negative);
            rf_write_csv(stdout, c->run->profiles[k]->engine);
            putchar('\n');
        }
    return CLI_OK;
}

static int print(struct comparison *c)
{
    if (c->settings->per_interval)
        return print_intervals(c);
    struct table table = {c->settings, find_measure(c->settings->measure),
                          c->run,      c->interval,
                          c->rows,     c->run->n_profiles - 1};
    struct cli_measure_setup setup = {.threshold = c->settings->threshold,
                                      .filter = c->settings->filter,
                                      .top = c->settings->top};
    struct rf_error error = {""};
    for (size_t i = 0; i < table.n; i++) {
        struct row *row = &c->rows[i];
        row->profile = c->run->profiles[i + 1];
        row->speed = i + 1 < c->n_lanes ? cli_timing_speed(c->timing, i) : 0;
        rf_status status =
            table.measure->run(row->values, c->run->profiles[0], row->profile, &setup, &error);
        if (status != RF_OK)
            return cli_fail_status(status, &error);
    }
    if (strcmp(c->settings->format, "csv") == 0)
        print_csv(&table);
    else if (strcmp(c->settings->format, "json") == 0)
        print_json(&table);
    else
        print_text(&table);
    return CLI_OK;
}

/* ---- running ---- */

static int check_interval(struct comparison *c, const char *engine, uint64_t interval)
{
    char own[RF_UNITS_MAX], other[RF_UNITS_MAX];
    if (c->interval == 0)
        c->interval = interval;
    if (interval == 0 || interval == c->interval)
        return CLI_OK;
    rf_units_print_count(own, sizeof own, interval);
    rf_units_print_count(other, sizeof other, c->interval);
    return cli_fail(CLI_USAGE,
                    "compare: engine '%s' has intervals of %s events, not %s; all must have the "
                    "same: set --interval",
                    engine, own, other);
}

/* The interval is what --interval says, for every engine, or what they cut by themselves. */
static int find_interval(struct comparison *c)
{
    const struct rf_engine_setup setup = {.interval = c->settings->cut.interval};
    c->interval = setup.interval;
    for (size_t i = 1; i < c->n_lanes; i++) {
        struct rf_error error = {""};
        struct rf_engine *engine;
        rf_status status = rf_engine_open(&engine, c->lanes[i].engine, &setup, &error);
        if (status != RF_OK)
            return cli_fail_parsed(status, &error);
        uint64_t interval = rf_engine_interval(engine);
        rf_engine_close(engine);
        int agreed = check_interval(c, c->lanes[i].engine, interval);
        if (agreed != CLI_OK)
            return agreed;
    }
    return CLI_OK;
}

/* Before anything is printed. */
static int check_selector(const char *text)
{
    struct rf_selector selector;
    struct rf_error error = {""};
    rf_status status = rf_selector_parse(&selector, text, &error);
    if (status == RF_OK)
        status = rf_selector_recorded(&selector, &error);
    if (status != RF_OK)
        return cli_fail_parsed(status, &error);
    if (selector.unbound)
        return cli_fail(CLI_FAILED, "the selector names a symbol, and there is no program to look "
                                    "it up in");
    return CLI_OK;
}

static int make_lanes(struct comparison *c)
{
    size_t n = c->call->n_given;
    if (n == 0)
        return cli_fail(CLI_USAGE, "compare: at least one engine (-e) is needed");
    c->lanes = calloc(n + 1, sizeof *c->lanes);
    c->rows = calloc(n + 1, sizeof *c->rows);
    if (c->lanes == NULL || c->rows == NULL)
        return cli_fail(CLI_FAILED, "no memory for %zu engines", n);
    c->command = cli_command_text(c->call);
    if (c->command == NULL)
        return CLI_FAILED;
    c->lanes[0] = (struct rf_lane){c->settings->selector, "exact", 0, 0};
    c->n_lanes = 1;
    for (size_t i = 0; i < n; i++)
        if (cli_is(&c->call->given[i], "engine"))
            c->lanes[c->n_lanes++] =
                (struct rf_lane){c->settings->selector, c->call->given[i].value, 0, 0};
    int status = cli_coprocs_open(&c->coprocs, c->call, c->settings->cut.seed);
    if (status == CLI_OK && c->settings->selector != NULL)
        status = check_selector(c->settings->selector);
    if (status == CLI_OK && c->settings->selector != NULL)
        status = cli_coprocs_refuse_others(&c->coprocs, c->settings->selector);
    return status == CLI_OK ? find_interval(c) : status;
}

static rf_status open_tap(struct comparison *c, struct rf_error *error)
{
    const struct rf_engine_setup alone = {.seed = c->settings->cut.seed, .interval = c->interval};
    const struct cli_curve_setup curve = {.lanes = c->lanes + 1,
                                          .n_lanes = c->n_lanes - 1,
                                          .coprocs = c->coprocs.coprocs,
                                          .n_coprocs = c->coprocs.n,
                                          .every = c->settings->every,
                                          .seed = alone.seed,
                                          .filter = c->settings->filter,
                                          .rms = strcmp(c->settings->measure, "rms") == 0};
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): run frees what the comparison holds */
    return c->settings->every > 0
               ? cli_curve_new(&c->curve, &curve, error)
               : cli_timing_new(&c->timing, c->lanes + 1, c->n_lanes - 1, &alone, error);
}

static int open_parts(struct comparison *c)
{
    struct rf_error error = {""};
    if (c->settings->every > 0 && strcmp(c->settings->measure, "invariance") != 0 &&
        strcmp(c->settings->measure, "rms") != 0)
        return cli_fail(CLI_USAGE, "compare: --every is for -m invariance and -m rms");
    if (c->coprocs.n > 0 && c->settings->per_interval)
        return cli_fail(CLI_USAGE, "compare: --coproc does not work with --per-interval");
    if (c->settings->per_interval && strcmp(c->settings->measure, "interval") != 0)
        return cli_fail(CLI_USAGE, "compare: --per-interval is for -m interval");
    rf_status status = open_tap(c, &error);
    if (status == RF_OK)
        status = rf_source_open(&c->source, c->call->arguments[0], NULL, &error);
    return status == RF_OK ? CLI_OK : cli_fail_status(status, &error);
}

static int end_curve(struct comparison *c, rf_status status, const struct rf_error *error)
{
    struct rf_error why = {""};
    rf_status drawn = cli_curve_end(c->curve, &why);
    if (status != RF_OK)
        return cli_fail_status(status, error);
    return drawn == RF_OK ? CLI_OK : cli_fail_status(drawn, &why);
}

/* Co-processors and engines in step. */
static int draw(struct comparison *c)
{
    const struct cli_cut *cut = &c->settings->cut;
    struct rf_error error = {""};
    rf_status status =
        cli_curve_run(c->curve, c->source, c->settings->selector, cut->skip, cut->limit, &error);
    return end_curve(c, status, &error);
}

static int collect(struct comparison *c)
{
    const struct cli_cut *cut = &c->settings->cut;
    struct rf_error error = {""};
    struct rf_collect_setup setup = {.lanes = c->lanes,
                                     .n_lanes = c->n_lanes,
                                     .coprocs = c->coprocs.coprocs,
                                     .n_coprocs = c->coprocs.n,
                                     .command = c->command,
                                     .seed = cut->seed,
                                     .interval = c->interval,
                                     .keep_intervals = 1,
                                     .skip = cut->skip,
                                     .limit = cut->limit,
                                     .stop = cli_catch_interrupt(),
                                     .progress = cli_progress,
                                     .tap = cli_timing_tap,
                                     .tap_context = c->timing};
    if (c->curve != NULL) {
        setup.lanes++; /* one lane is enough to hear the stream */
        setup.n_lanes = 1;
        setup.tap = cli_curve_tap;
        setup.tap_context = c->curve;
    }
    rf_status status = rf_collect(&c->run, c->source, &setup, &error);
    cli_progress_end();
    if (c->curve != NULL)
        return end_curve(c, status, &error);
    bool usable = status == RF_OK || status == RF_EDAMAGED || status == RF_ESTOPPED;
    int printed = usable && c->run != NULL ? print(c) : CLI_OK;
    return status != RF_OK ? cli_fail_status(status, &error) : printed;
}

static int run_saved(const struct cli_call *call)
{
    const struct settings *settings = call->settings;
    const struct cli_measure_setup setup = {settings->threshold, settings->filter, settings->top};
    if (call->n_given > 0 || settings->selector != NULL || settings->every > 0 ||
        settings->per_interval)
        return cli_fail(CLI_USAGE, "compare: two saved profiles need no engine and no selector");
    return cli_compare_saved(call->arguments, find_measure(settings->measure), &setup,
                             settings->format);
}

static int run(const struct cli_call *call)
{
    if (call->n_arguments == 2)
        return run_saved(call);
    struct comparison c = {.call = call, .settings = call->settings};
    int status = make_lanes(&c);
    if (status == CLI_OK)
        status = open_parts(&c);
    if (status == CLI_OK)
        status = c.curve != NULL && c.coprocs.n > 0 ? draw(&c) : collect(&c);
    rf_run_free(c.run);
    rf_source_close(c.source);
    cli_timing_free(c.timing);
    cli_coprocs_close(&c.coprocs);
    cli_curve_free(c.curve);
    free(c.command);
    free(c.rows);
    free(c.lanes);
    return status;
}

const struct cli_action cli_action_compare = {
    .arguments = {"FILE|- | FIRST.rfp SECOND.rfp", 1, 2},
    .settings = {options, sizeof(struct settings)},
    .run = run,
};
