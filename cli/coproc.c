/* coproc.c - --coproc: from the command line to co-processors. */
#include "coproc.h"
#include <stdlib.h>
#include <string.h>

const char *cli_words_programs(size_t i)
{
    return rf_coproc_programs()[i].name;
}

const struct cli_option cli_options_coproc[] = {
    {CLI_LIST, 0, "coproc", "FILE", .words = cli_words_programs,
     .brief = "a co-processor that runs this microcode on the records; may be repeated, but not in "
              "sim",
     .text =
         "A file of microcode, or the name of a program that comes with riffle ('riffle coproc' "
         "lists them), with options behind it: 'values.uc(size=half, clock=1/2)'. Without -p and "
         "-e it is alone."},
    {.type = CLI_END},
};

int cli_coprocs_refuse_cut(const struct cli_call *call, uint64_t interval)
{
    if (interval == 0 || !cli_coprocs_alone(call))
        return CLI_OK;
    return cli_fail(CLI_USAGE, "-i cuts the streams of engines; a co-processor has no intervals");
}

int cli_coprocs_refuse_thread(const struct cli_coprocs *coprocs, const char *thread)
{
    if (coprocs->n == 0 || thread == NULL)
        return CLI_OK;
    return cli_fail(CLI_USAGE, "--thread is for engines; a co-processor sees all threads");
}

void cli_coprocs_warn(const struct cli_coprocs *coprocs, bool places, uint64_t processes)
{
    if (coprocs->n > 0 && processes > 1)
        cli_fail(CLI_OK, "run: a co-processor knows 32 bits of an address: instructions of several "
                         "processes may fall together under one name; --no-follow watches the "
                         "first process alone");
    for (size_t i = 0; places && i < coprocs->n; i++) {
        const struct rf_coproc *coproc = coprocs->coprocs[i];
        if (rf_coproc_let(coproc, "keep", 0) != 0 && rf_coproc_let(coproc, "estimate", 0) == 0)
            cli_fail(CLI_OK,
                     "run: %s sees nothing outside --range, --function and --module: what it keeps "
                     "of calls, stores or misses has gaps",
                     rf_coproc_text(coproc));
    }
}

static bool reads_misses(const struct rf_coproc *coproc)
{
    struct rf_selector wants;
    rf_coproc_wants(coproc, &wants);
    return (wants.fields & 1u << RF_FIELD_MISS) != 0;
}

static void tell_cache(const struct rf_coproc *coproc, const struct rf_cache_shape *shape,
                       bool assumed)
{
    const struct rf_cache_level *first = &shape->levels[0];
    const char *name = rf_coproc_text(coproc);
    int length = (int)strcspn(name, "(");
    uint64_t sets = first->size / first->ways / first->line, own = rf_coproc_let(coproc, "sets", 0);
    char text[200];
    rf_cache_print(shape, text, sizeof text);
    if (assumed)
        cli_fail(CLI_OK, "%.*s: which accesses miss is computed for %s; --cache chooses others",
                 length, name, text);
    if (own != 0 && own != sets)
        cli_fail(CLI_OK,
                 "%.*s: these caches have %llu sets, the program has %llu: "
                 "'%.*s(sets=%llu)' names them right",
                 length, name, (unsigned long long)sets, (unsigned long long)own, length, name,
                 (unsigned long long)sets);
}

void cli_coprocs_tell_cache(const struct cli_coprocs *coprocs, const char *shape, bool assumed)
{
    struct rf_cache_shape parsed;
    struct rf_error ignored;
    if (shape == NULL || rf_cache_parse(&parsed, shape, &ignored) != RF_OK)
        return;
    for (size_t i = 0; i < coprocs->n; i++)
        if (reads_misses(coprocs->coprocs[i]))
            tell_cache(coprocs->coprocs[i], &parsed, assumed);
}

void cli_coprocs_progress(void *context, const struct rf_collect_progress *progress)
{
    struct cli_coprocs *coprocs = context;
    for (size_t i = 0; i < coprocs->n && !coprocs->told; i++) {
        unsigned line;
        const char *name = rf_coproc_text(coprocs->coprocs[i]);
        if (rf_coproc_overruns(coprocs->coprocs[i], &line) == 0)
            continue;
        cli_fail(CLI_OK,
                 "%.*s: line %u: a sample did not come to an end in %d cycles and was given up",
                 (int)strcspn(name, "("), name, line, RF_COPROC_CYCLES);
        coprocs->told = true;
    }
    if (coprocs->alone)
        cli_progress(NULL, progress);
}

int cli_coprocs_refuse_others(const struct cli_coprocs *coprocs, const char *selector)
{
    struct rf_selector wanted;
    struct rf_error error = {""};
    char text[256];
    rf_status status = rf_selector_parse(&wanted, selector, &error);
    if (status != RF_OK)
        return cli_fail_parsed(status, &error);
    rf_selector_print(&wanted, text, sizeof text);
    for (size_t i = 0; i < coprocs->n; i++)
        if (strcmp(rf_coproc_selector(coprocs->coprocs[i]), text) != 0)
            return cli_fail(CLI_USAGE, "compare: %s counts '%s', and the truth is '%s'",
                            rf_coproc_text(coprocs->coprocs[i]),
                            rf_coproc_selector(coprocs->coprocs[i]), text);
    return CLI_OK;
}

int cli_coprocs_open(struct cli_coprocs *coprocs, const struct cli_call *call, uint64_t seed)
{
    const struct rf_coproc_setup setup = {.seed = seed};
    *coprocs = (struct cli_coprocs){.coprocs = calloc(call->n_given + 1, sizeof *coprocs->coprocs)};
    if (coprocs->coprocs == NULL)
        return cli_fail(CLI_FAILED, "no memory for the command line");
    for (size_t i = 0; i < call->n_given; i++) {
        struct rf_error error = {""};
        struct rf_coproc **coproc = &coprocs->coprocs[coprocs->n];
        if (!cli_is(&call->given[i], "coproc"))
            continue;
        rf_status status = rf_coproc_open(coproc, call->given[i].value, &setup, &error);
        if (status != RF_OK)
            return cli_fail_parsed(status, &error);
        coprocs->n++;
    }
    return CLI_OK;
}

void cli_coprocs_close(struct cli_coprocs *coprocs)
{
    for (size_t i = 0; i < coprocs->n; i++)
        rf_coproc_close(coprocs->coprocs[i]);
    free(coprocs->coprocs);
    *coprocs = (struct cli_coprocs){.n = 0};
}

bool cli_coprocs_alone(const struct cli_call *call)
{
    bool asked = false;
    for (size_t i = 0; i < call->n_given; i++) {
        if (cli_is(&call->given[i], "engine") || cli_is(&call->given[i], "profile"))
            return false;
        asked = asked || cli_is(&call->given[i], "coproc");
    }
    return asked;
}
