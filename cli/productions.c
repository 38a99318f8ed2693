/* productions.c - --productions and --set. */
#include "productions.h"
#include <stdlib.h>
#include <string.h>

const struct cli_option cli_options_productions[] = {
    {CLI_LIST, 0, "productions", "FILE",
     .brief = "sample in bursts by the productions of FILE; may be repeated",
     .text = "Each file is one profile, in place of -p: what it looks for when an instruction is "
             "decoded, and the handler that is told. Without -e the engine is exact. Counts stand "
             "for all events, with bounds that "
             "hold for 95 of 100 of them. 'riffle help productions' has the language, doc/HPS.md "
             "teaches it, lab/hps has files to begin with."},
    {CLI_LIST, 0, "set", "REGISTER=VALUE",
     .brief = "another value for a private register of the productions; may be repeated",
     .text =
         "Such as sampleFreq=max-999, or hot-method.burstLength=max-9 for one of several files. "
         "With @N behind it, the register changes when the program has run N instructions: "
         "sampleFreq=max-99@10M. With @new behind it, that is the value while the program does "
         "what "
         "it has done little or never before: sampleFreq=max-99@new."},
    {.type = CLI_END},
};

static bool has_any(const struct cli_call *call, const char *name)
{
    for (size_t i = 0; i < call->n_given; i++)
        if (cli_is(&call->given[i], name))
            return true;
    return false;
}

/* Take each option of this name, in their order. */
static rf_status
take_each(struct rf_productions *productions, const struct cli_call *call, const char *name,
          rf_status (*take)(struct rf_productions *, const char *, struct rf_error *),
          struct rf_error *error)
{
    rf_status status = RF_OK;
    for (size_t i = 0; status == RF_OK && i < call->n_given; i++)
        if (cli_is(&call->given[i], name))
            status = take(productions, call->given[i].value, error);
    return status;
}

static int check(const struct cli_call *call)
{
    bool given = has_any(call, "productions");
    if (!given && has_any(call, "set"))
        return cli_fail(CLI_USAGE, "%s: --set goes with --productions", call->command->name);
    if (given && has_any(call, "profile"))
        return cli_fail(CLI_USAGE, "%s: productions say what to profile; leave out -p",
                        call->command->name);
    return CLI_OK;
}

/* Of the simulated program, whose file is known before it runs. */
static size_t resolve(void *context, const char *name, uint64_t *address)
{
    return cli_resolve(context, RF_FIELD_PC, name, address, 1);
}

int cli_productions_take(struct rf_productions **productions, const struct cli_call *call,
                         enum cli_where where)
{
    struct rf_error error = {""};
    *productions = NULL;
    int wrong = check(call);
    if (wrong != CLI_OK || !has_any(call, "productions"))
        return wrong;
    if (rf_productions_open(productions, NULL) != RF_OK)
        return cli_fail(CLI_FAILED, "no memory for productions");
    struct cli_program program = {.run = NULL};
    if (where == CLI_NATIVE)
        rf_productions_resolve_later(*productions);
    else if (cli_program_static(&program, call->arguments[0]))
        rf_productions_resolve(*productions, resolve, &program);
    rf_status status = take_each(*productions, call, "productions", rf_productions_read, &error);
    rf_productions_resolve(*productions, NULL, NULL);
    cli_program_close(&program);
    if (status == RF_OK)
        status = take_each(*productions, call, "set", rf_productions_set, &error);
    if (status == RF_OK)
        return CLI_OK;
    rf_productions_close(*productions);
    *productions = NULL;
    return cli_fail_parsed(status, &error);
}

bool cli_productions_given(const struct cli_call *call)
{
    return has_any(call, "productions") || !has_any(call, "profile");
}

/* --phases: the distance between bursts while what the program does is new. */
static rf_status set_new(struct rf_productions *productions, const struct rf_probe_bursts *bursts,
                         struct rf_error *error)
{
    char text[64];
    snprintf(text, sizeof text, "sampleFreq=max%c%llu@new", bursts->regular ? '-' : '~',
             (unsigned long long)bursts->new_sparsity);
    return rf_productions_set(productions, text, error);
}

/* --burst and --frequency in a core: the sampling framework for each -p. */
int cli_productions_sample(struct rf_productions **productions, const struct cli_call *call,
                           const struct cli_bursts *asked, uint64_t seed)
{
    struct rf_error error = {""};
    struct rf_probe_bursts bursts;
    rf_status status = RF_OK;
    int wrong = cli_bursts_take(&bursts, asked, seed);
    *productions = NULL;
    if (wrong != CLI_OK || bursts.burst == 0)
        return wrong;
    if (rf_productions_open(productions, NULL) != RF_OK)
        return cli_fail(CLI_FAILED, "no memory for productions");
    if (!has_any(call, "profile"))
        status = rf_productions_sample(*productions, "calls", &bursts, &error);
    for (size_t i = 0; i < call->n_given && status == RF_OK; i++)
        if (cli_is(&call->given[i], "profile"))
            status = rf_productions_sample(*productions, call->given[i].value, &bursts, &error);
    if (status == RF_OK && bursts.phases)
        status = set_new(*productions, &bursts, &error);
    rf_productions_seed(*productions, seed);
    if (status == RF_OK)
        return CLI_OK;
    rf_productions_close(*productions);
    *productions = NULL;
    return cli_fail(CLI_USAGE, "%s: --burst: %s", call->command->name, error.message);
}

int cli_productions_select(struct cli_call *with, const struct cli_call *call,
                           const struct rf_productions *productions,
                           const struct rf_productions_native *native)
{
    bool any = false;
    size_t n = call->n_given, profiles = rf_productions_count(productions);
    struct cli_given *given = calloc(n + 2 + profiles, sizeof *given);
    *with = *call;
    if (given == NULL)
        return cli_fail(CLI_FAILED, "no memory for the command line");
    if (n > 0)
        memcpy(given, call->given, n * sizeof *given);
    if (!has_any(call, "engine"))
        given[n++] = (struct cli_given){.name = "engine", .value = "exact"};
    for (size_t i = 0; i < profiles; i++) {
        const char *selector =
            native != NULL ? native->selector[i] : rf_productions_selector(productions, i);
        any |= selector != NULL;
        if (selector != NULL)
            given[n++] = (struct cli_given){.name = "profile", .value = selector};
    }
    if (!any) /* then it is for what it costs: a profile without events */
        given[n++] = (struct cli_given){.name = "profile", .value = "calls"};
    with->given = given;
    with->n_given = n;
    return CLI_OK;
}

/* Is the frequency above 1/4, with bursts of several intervals? By chance it comes out a little higher or lower. */
static bool is_close(const struct rf_productions_outcome *outcome)
{
    return outcome->random && outcome->bursts > 1 && outcome->in_bursts > outcome->bursts &&
           outcome->in_bursts < outcome->intervals &&
           (double)outcome->in_bursts > 0.29 * (double)outcome->intervals;
}

rf_status cli_productions_note(struct rf_run *run, const struct rf_productions *productions,
                               const struct rf_source *source)
{
    rf_status status = RF_OK;
    for (size_t i = 0; status == RF_OK && i < rf_productions_count(productions); i++) {
        struct rf_productions_outcome outcome;
        char name[64], phases[32] = "";
        rf_productions_outcome(source, i, &outcome);
        if (outcome.phases > 0)
            snprintf(phases, sizeof phases, "; %llu phases", (unsigned long long)outcome.phases);
        status =
            cli_note(run, rf_productions_name(productions, i, name, sizeof name),
                     "%llu bursts with %llu of %llu intervals; %llu events sampled, %llu "
                     "skipped%s",
                     (unsigned long long)outcome.bursts, (unsigned long long)outcome.in_bursts,
                     (unsigned long long)outcome.intervals, (unsigned long long)outcome.sampled,
                     (unsigned long long)outcome.skipped, phases);
        if (status == RF_OK && outcome.skipped > 0 && outcome.sampled > 0 && !outcome.random)
            status = cli_bursts_warn(run, name, CLI_EQUAL);
        else if (status == RF_OK && is_close(&outcome))
            status = cli_bursts_warn(run, name, CLI_CLOSE);
    }
    return status;
}
