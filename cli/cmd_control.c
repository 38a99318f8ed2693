/* cmd_control.c - riffle control: change the sampling of a program while it runs. */
#include "bursts.h"
#include <riffle/control.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is ---- */

static double frequency_of(const struct rf_probe_bursts *bursts)
{
    return (double)bursts->burst / ((double)bursts->burst + (double)bursts->sparsity);
}

/* With several sets of bursts, each stands in front of its profiles. */
static void show(const struct rf_control_state *state)
{
    for (size_t i = 0; i < state->n_bursts; i++) {
        const struct rf_probe_bursts *bursts = &state->bursts[i];
        if (bursts->burst == RF_PROBE_FOREVER)
            printf("burst      all\n");
        else
            printf("burst      %u\nfrequency  1/%.6g\n", bursts->burst, 1 / frequency_of(bursts));
        if (bursts->phases)
            printf("phases     1/%.6g\n", 1 + (double)bursts->new_sparsity / bursts->burst);
        for (size_t k = 0; k < state->n_profiles; k++)
            if ((bursts->profiles >> k & 1) != 0)
                printf("%-10s %s\n", state->profiles[k].off ? "off" : "on",
                       state->profiles[k].selector);
    }
}

/* ---- what is to be ---- */

static int set_frequency(struct rf_probe_bursts *bursts, double frequency)
{
    uint64_t sparsity = cli_sparsity(bursts->burst, frequency);
    if ((double)sparsity > CLI_SPARSITY_MAX)
        return cli_fail(CLI_USAGE, "control: bursts would be too far apart");
    bursts->sparsity = sparsity;
    return CLI_OK;
}

static int change_frequency(struct rf_probe_bursts *bursts, const char *value)
{
    double frequency;
    if (!cli_frequency(value, &frequency))
        return cli_fail(
            CLI_USAGE,
            "control: frequency must be more than 0 and at most 1, such as 1/100, got '%s'", value);
    return set_frequency(bursts, frequency);
}

/* The frequency stays. */
static int change_burst(struct rf_probe_bursts *bursts, const char *value)
{
    char *end;
    double frequency = frequency_of(bursts);
    unsigned long long burst = strtoull(value, &end, 10);
    if (end == value || *end != '\0' || burst == 0 || burst > CLI_BURST_MAX)
        return cli_fail(CLI_USAGE, "control: burst must be a number of intervals, got '%s'", value);
    bursts->burst = (uint32_t)burst;
    return set_frequency(bursts, frequency);
}

/* In those bursts that have some of these profiles. */
static int change_bursts(struct rf_control_state *state, uint32_t profiles, const char *name,
                         const char *value)
{
    int status = CLI_OK;
    for (size_t i = 0; i < state->n_bursts && status == CLI_OK; i++)
        if ((state->bursts[i].profiles & profiles) != 0)
            status = strcmp(name, "burst") == 0 ? change_burst(&state->bursts[i], value)
                                                : change_frequency(&state->bursts[i], value);
    return status;
}

/* A profile by its -p, or by a text that means the same. */
static struct rf_control_profile *find_profile(struct rf_control_state *state, const char *name)
{
    struct rf_selector selector;
    struct rf_error ignored;
    char text[512];
    if (rf_selector_parse(&selector, name, &ignored) != RF_OK)
        return NULL;
    rf_selector_print(&selector, text, sizeof text);
    text[RF_CONTROL_TEXT - 1] = '\0';
    for (size_t i = 0; i < state->n_profiles; i++)
        if (strcmp(state->profiles[i].selector, text) == 0)
            return &state->profiles[i];
    return NULL;
}

static int change_profile(struct rf_control_state *state, const char *name, const char *value)
{
    struct rf_control_profile *profile = find_profile(state, name);
    if (profile == NULL)
        return cli_fail(CLI_USAGE,
                        "control: '%s' is neither frequency nor burst nor a profile of that run",
                        name);
    if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
        return cli_fail(CLI_USAGE, "control: %s can be on or off, got '%s'", name, value);
    profile->off = strcmp(value, "off") == 0;
    return CLI_OK;
}

static bool is_of_bursts(const char *name)
{
    return strcmp(name, "frequency") == 0 || strcmp(name, "burst") == 0;
}

/* NAME=VALUE; a selector may have a '=' of its own, so it is the last one that counts. SELECTOR.frequency and
 * SELECTOR.burst are of that profile's bursts. */
static int change(struct rf_control_state *state, char *text)
{
    char *sign = strrchr(text, '=');
    if (sign == NULL)
        return cli_fail(CLI_USAGE, "control: expected NAME=VALUE, got '%s'", text);
    *sign = '\0';
    if (is_of_bursts(text))
        return change_bursts(state, UINT32_MAX, text, sign + 1);
    char *dot = strrchr(text, '.');
    if (dot == NULL || !is_of_bursts(dot + 1))
        return change_profile(state, text, sign + 1);
    *dot = '\0';
    const struct rf_control_profile *profile = find_profile(state, text);
    if (profile == NULL)
        return cli_fail(CLI_USAGE, "control: '%s' is no profile of that run", text);
    return change_bursts(state, UINT32_C(1) << (profile - state->profiles), dot + 1, sign + 1);
}

static int change_all(struct rf_control *control, const struct cli_call *call)
{
    struct rf_control_state state;
    int status = CLI_OK;
    rf_control_get(control, &state);
    if (call->n_arguments == 1)
        show(&state);
    for (size_t i = 1; i < call->n_arguments && status == CLI_OK; i++)
        status = change(&state, call->arguments[i]);
    if (status == CLI_OK && call->n_arguments > 1)
        rf_control_set(control, &state);
    return status;
}

static int run(const struct cli_call *call)
{
    char *end;
    struct rf_error error = {""};
    struct rf_control *control;
    long pid = strtol(call->arguments[0], &end, 10);
    if (end == call->arguments[0] || *end != '\0' || pid <= 0)
        return cli_fail(CLI_USAGE, "control: '%s' is not a process number", call->arguments[0]);
    rf_status opened = rf_control_open(&control, pid, &error);
    if (opened != RF_OK)
        return cli_fail_status(opened, &error);
    int status = change_all(control, call);
    rf_control_close(control);
    return status;
}

const struct cli_action cli_action_control = {
    .arguments = {"PID [NAME=VALUE...]", 1, CLI_ANY_NUMBER},
    .run = run,
};
