/* cmd_query.c - riffle query: how many events a range holds, from a profile file. */
#include "plan.h"
#include <inttypes.h>
#include <string.h>

struct settings {
    int csv;
};

static const struct cli_option options[] = {
    {CLI_FLAG, 0, "csv", .brief = "as CSV: a_lo,a_hi,b_lo,b_hi,lower,upper,events",
     .offset = offsetof(struct settings, csv)},
    {.type = CLI_END},
};

struct asker {
    const struct rf_run *run;
    struct rf_symbols *symbols; /* opened when the first name comes */
};

static int find_symbol(struct asker *asker, const char *name, uint64_t *address)
{
    struct rf_error error = {""};
    struct rf_symbol_range found;
    size_t n = 0;
    if (asker->symbols == NULL) {
        rf_status status = rf_symbols_open(&asker->symbols, asker->run, NULL, &error);
        if (status != RF_OK)
            return cli_fail_status(status, &error);
    }
    rf_symbols_find(asker->symbols, name, &found, 1, &n);
    if (n == 0)
        rf_symbols_find_inlined(asker->symbols, name, &found, 1, &n);
    if (n == 0) {
        const char *nearest = rf_symbols_nearest(asker->symbols, name);
        if (nearest != NULL)
            return cli_fail(CLI_FAILED, "no function '%s' ran; did you mean '%s'?", name, nearest);
        return cli_fail(CLI_FAILED, "'%s' is neither a number nor a function that ran", name);
    }
    cli_say_meanings(asker->symbols, name, false, "the first is taken");
    *address = found.lo;
    return CLI_OK;
}

/* number | function [ "+" number ] */
static int read_place(struct asker *asker, const char *text, size_t n, uint64_t *place)
{
    char name[256];
    uint64_t offset = 0;
    if (rf_units_count(text, n, place) == RF_OK)
        return CLI_OK;
    const char *plus = memchr(text, '+', n);
    size_t length = plus != NULL ? (size_t)(plus - text) : n;
    if (plus != NULL && rf_units_count(plus + 1, n - length - 1, &offset) != RF_OK)
        return cli_fail(CLI_USAGE, "'%.*s' has no number after its '+'", (int)n, text);
    if (length == 0 || length >= sizeof name)
        return cli_fail(CLI_USAGE, "a range is LOW..HIGH, both ends included, got '%s'", text);
    memcpy(name, text, length);
    name[length] = '\0';
    int result = find_symbol(asker, name, place);
    *place += offset;
    return result;
}

static int read_range(struct asker *asker, const char *text, uint64_t *lo, uint64_t *hi)
{
    const char *dots = strstr(text, "..");
    if (dots == NULL)
        return cli_fail(CLI_USAGE, "a range is LOW..HIGH, both ends included, got '%s'", text);
    int result = read_place(asker, text, (size_t)(dots - text), lo);
    if (result == CLI_OK)
        result = read_place(asker, dots + 2, strlen(dots + 2), hi);
    if (result == CLI_OK && *lo > *hi)
        return cli_fail(CLI_USAGE, "the range '%s' ends before it begins", text);
    return result;
}

/* One range applies to the profile's word; with two, the first applies to a, the second to b. */
static struct rf_range_box box_for(const struct rf_profile *profile, const uint64_t ends[4],
                                   size_t n)
{
    if (n == 1 && profile->shape == RF_SHAPE_RANGE_B)
        return (struct rf_range_box){0, UINT64_MAX, ends[0], ends[1]};
    return (struct rf_range_box){ends[0], ends[1], n == 2 ? ends[2] : 0,
                                 n == 2 ? ends[3] : UINT64_MAX};
}

static void print_csv(const struct rf_range_box *box, const struct rf_range_answer *answer)
{
    printf("0x%" PRIx64 ",0x%" PRIx64 ",0x%" PRIx64 ",0x%" PRIx64 ",%" PRIu64 ",%" PRIu64
           ",%" PRIu64 "\n",
           box->a, box->a_hi, box->b, box->b_hi, answer->lower, answer->upper, answer->events);
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

static void print_text(const struct rf_profile *profile, const struct rf_range_answer *answer)
{
    rf_write_readable(stdout, profile->selector);
    fputs(profile->selector[0] != '\0' ? " by " : "", stdout);
    rf_write_readable(stdout, profile->engine);
    putchar('\n');
    printf("  at least %12" PRIu64 "  %6.2f%%\n", answer->lower,
           percent(answer->lower, answer->events));
    printf("  at most  %12" PRIu64 "  %6.2f%%\n", answer->upper,
           percent(answer->upper, answer->events));
    printf("  of       %12" PRIu64 "  events\n", answer->events);
}

static void answer_all(const struct rf_run *run, const uint64_t ends[4], size_t n, int csv)
{
    cli_busy_end();
    if (csv)
        puts("a_lo,a_hi,b_lo,b_hi,lower,upper,events");
    for (size_t i = 0; i < run->n_profiles; i++) {
        if (rf_profile_is_companion(run->profiles[i]))
            continue;
        struct rf_range_box box = box_for(run->profiles[i], ends, n);
        struct rf_range_answer answer;
        rf_range_query(run->profiles[i], &box, &answer);
        if (csv)
            print_csv(&box, &answer);
        else
            print_text(run->profiles[i], &answer);
    }
}

static int run(const struct cli_call *call)
{
    const struct settings *settings = call->settings;
    struct rf_error error = {""};
    struct rf_run *loaded;
    rf_status status = cli_load(&loaded, call->arguments[0], &error);
    if (status != RF_OK)
        return cli_fail_unused(status, &error);
    struct asker asker = {loaded, NULL};
    uint64_t ends[4] = {0, UINT64_MAX, 0, UINT64_MAX};
    int result = CLI_OK;
    for (size_t i = 1; result == CLI_OK && i < call->n_arguments; i++)
        result = read_range(&asker, call->arguments[i], &ends[2 * i - 2], &ends[2 * i - 1]);
    if (result == CLI_OK)
        answer_all(loaded, ends, call->n_arguments - 1, settings->csv);
    rf_symbols_close(asker.symbols);
    rf_run_free(loaded);
    return result;
}

const struct cli_action cli_action_query = {
    .arguments = {"FILE LOW..HIGH [LOW..HIGH]", 2, 3},
    .settings = {options, sizeof(struct settings)},
    .run = run,
};
