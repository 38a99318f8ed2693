/* saved.c - riffle compare FIRST.rfp SECOND.rfp: two saved runs, profile by profile.
 *
 * Profiles of the same selector are compared, in their order; the first file is the truth. Of two different programs,
 * overlap is that of names (named.c). */
#include "judge.h"
#include <string.h>

/* Two profiles and their measure. */
struct pair {
    const struct rf_profile *perfect, *measured;
    double values[CLI_MEASURE_COLUMNS_MAX];
};

/* The next profile with that selector, from number *i on; NULL: there is none. */
static const struct rf_profile *find(const struct rf_run *run, const char *selector, size_t *i)
{
    for (; *i < run->n_profiles; ++*i)
        if (strcmp(run->profiles[*i]->selector, selector) == 0)
            return run->profiles[(*i)++];
    return NULL;
}

static void print_head(const struct cli_measure *measure, const char *form)
{
    bool csv = strcmp(form, "csv") == 0;
    if (strcmp(form, "json") == 0) {
        printf("{\"schema\": 1, \"measure\": \"%s\", \"profiles\": [", measure->name);
        return;
    }
    for (const char *const *c = measure->columns; *c != NULL; c++)
        printf(csv ? "%s," : "  %11s", *c);
    puts(csv ? "profile,first,second" : "  profile");
}

static void print_text(const struct pair *pair, const struct cli_measure *measure)
{
    char text[32];
    for (size_t k = 0; measure->columns[k] != NULL; k++) {
        snprintf(text, sizeof text, pair->values[k] == 0 ? "0%%" : "%.3g%%", 100 * pair->values[k]);
        printf("  %11s", text);
    }
    const char *selector = pair->perfect->selector;
    fputs("  ", stdout);
    rf_write_readable(stdout, selector[0] != '\0' ? selector : "tuples");
    putchar('\n');
}

static void print_csv(const struct pair *pair, const struct cli_measure *measure)
{
    const char *const texts[] = {pair->perfect->selector, pair->perfect->engine,
                                 pair->measured->engine};
    for (size_t k = 0; measure->columns[k] != NULL; k++)
        printf("%.17g,", pair->values[k]);
    for (size_t k = 0; k < 3; k++) {
        rf_write_csv(stdout, texts[k]);
        putchar(k < 2 ? ',' : '\n');
    }
}

static void print_json(const struct pair *pair, const struct cli_measure *measure, bool is_first)
{
    fputs(is_first ? "\n  {\"profile\": " : ",\n  {\"profile\": ", stdout);
    rf_write_json(stdout, pair->perfect->selector);
    fputs(", \"first\": ", stdout);
    rf_write_json(stdout, pair->perfect->engine);
    fputs(", \"second\": ", stdout);
    rf_write_json(stdout, pair->measured->engine);
    for (size_t k = 0; measure->columns[k] != NULL; k++)
        printf(", \"%s\": %.17g", measure->columns[k], pair->values[k]);
    putchar('}');
}

static void print(const struct pair *pair, const struct cli_measure *measure, const char *form,
                  bool is_first)
{
    if (is_first)
        print_head(measure, form);
    if (strcmp(form, "csv") == 0)
        print_csv(pair, measure);
    else if (strcmp(form, "json") == 0)
        print_json(pair, measure, is_first);
    else
        print_text(pair, measure);
}

static bool is_sampled(const struct rf_profile *profile)
{
    return rf_profile_figure(profile, "sampled-share", -1) >= 0;
}

/* Overlap asks both alike, and goes by names. The other measures take the first for the truth, address by address. */
static int check(const struct pair *pair, const struct rf_run *first, const struct rf_run *second,
                 const struct cli_measure *measure)
{
    const char *why = NULL;
    if (strcmp(measure->name, "overlap") == 0)
        return CLI_OK;
    if (cli_named_needed(first, second))
        why = "the two files are of different programs; -m overlap compares their functions";
    else if (is_sampled(pair->perfect))
        why = "the first file is the truth, and a co-processor's samples are none; -m overlap "
              "takes both alike";
    else if (is_sampled(pair->measured) && strcmp(measure->name, "interval") == 0)
        why = "a co-processor counts samples; -m rms, -m invariance and -m overlap take them";
    return why == NULL ? CLI_OK : cli_fail(CLI_FAILED, "compare: %s", why);
}

/* As they are, or by names where the two runs are of different programs. */
static rf_status judge(struct pair *pair, const struct rf_run *first, const struct rf_run *second,
                       const struct cli_measure *measure, const struct cli_measure_setup *setup,
                       struct rf_error *error)
{
    struct rf_profile *named[2] = {NULL, NULL};
    if (strcmp(measure->name, "overlap") != 0 || !cli_named_needed(first, second))
        return measure->run(pair->values, pair->perfect, pair->measured, setup, error);
    rf_status status = cli_named(&named[0], first, pair->perfect, error);
    if (status == RF_OK)
        status = cli_named(&named[1], second, pair->measured, error);
    if (status == RF_OK)
        status = measure->run(pair->values, named[0], named[1], setup, error);
    rf_profile_free(named[0]);
    rf_profile_free(named[1]);
    return status;
}

static int compare(const struct rf_run *first, const struct rf_run *second,
                   const struct cli_measure *measure, const struct cli_measure_setup *setup,
                   const char *form)
{
    struct rf_error error = {""};
    size_t n = 0;
    for (size_t i = 0; i < first->n_profiles; i++) {
        const char *selector = first->profiles[i]->selector;
        struct pair pair = {.perfect = first->profiles[i]};
        if (rf_profile_is_companion(pair.perfect))
            continue;
        size_t before = 0, from = 0;
        for (size_t k = 0; k < i;
             k++) /* the second profile of a selector is compared with the second one there */
            before += strcmp(first->profiles[k]->selector, selector) == 0;
        for (size_t k = 0; k <= before; k++)
            pair.measured = find(second, selector, &from);
        if (pair.measured == NULL)
            continue;
        if (check(&pair, first, second, measure) != CLI_OK)
            return CLI_FAILED;
        cli_busy("comparing");
        rf_status status = judge(&pair, first, second, measure, setup, &error);
        if (status != RF_OK)
            return cli_fail_status(status, &error);
        cli_busy_end();
        print(&pair, measure, form, n++ == 0);
    }
    if (n == 0)
        return cli_fail(CLI_FAILED, "compare: the two files have no profile of the same selector");
    if (strcmp(form, "json") == 0)
        puts("\n]}");
    return CLI_OK;
}

int cli_compare_saved(char *const paths[2], const struct cli_measure *measure,
                      const struct cli_measure_setup *setup, const char *form)
{
    struct rf_run *runs[2] = {NULL, NULL};
    struct rf_error error = {""};
    rf_status status = RF_OK;
    for (size_t i = 0; i < 2 && status == RF_OK; i++)
        status = cli_load(&runs[i], paths[i], &error);
    int result = status == RF_OK ? compare(runs[0], runs[1], measure, setup, form)
                                 : cli_fail_status(status, &error);
    rf_run_free(runs[0]);
    rf_run_free(runs[1]);
    return result;
}
