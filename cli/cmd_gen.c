/* cmd_gen.c - riffle gen: a seeded synthetic stream. */
#include "stream.h"
#include <stdlib.h>

struct settings {
    uint64_t events, keys, phase, seed;
    double skew;
    const char *output;
    const char *to;
};

static const struct cli_option options[] = {
    {CLI_COUNT, 'N', "events", "N", "1M", .brief = "how long the stream is",
     .offset = offsetof(struct settings, events)},
    {CLI_COUNT, 'k', "keys", "N", "1M", .brief = "distinct tuples to draw from",
     .offset = offsetof(struct settings, keys)},
    {CLI_NUMBER, 's', "skew", "X", "1.0", .brief = "exponent of zipf, phases and drift",
     .text = "Key number k comes with a probability proportional to 1 / k^X; of drift, hot key "
             "number k.",
     .offset = offsetof(struct settings, skew)},
    {CLI_COUNT, 0, "phase", "N", "1M", .brief = "events until phases and drift exchange keys",
     .offset = offsetof(struct settings, phase)},
    {CLI_COUNT, 0, "seed", "N", "0", .brief = "the same seed gives the same stream, everywhere",
     .offset = offsetof(struct settings, seed)},
    {CLI_FILE, 'o', "output", "FILE", "-",
     .brief = "the file to write; a trace where its name ends in .rft",
     .offset = offsetof(struct settings, output)},
    {CLI_CHOICE, 0, "to", "FORM", .words = cli_words_stream_forms,
     .brief = "the form, whatever the name ends in", .offset = offsetof(struct settings, to)},
    {.type = CLI_END},
};

static const char *kinds(size_t i)
{
    static const char *const names[] = {"zipf", "uniform", "phases", "drift", "loop", NULL};
    return names[i];
}

static int copy(const struct cli_call *call, struct rf_source *source, const char *command)
{
    const struct settings *settings = call->settings;
    struct cli_stream_setup setup = {
        .path = settings->output, .form = settings->to, .command = command};
    return cli_stream_copy(&setup, source, NULL);
}

static int run(const struct cli_call *call)
{
    const struct settings *settings = call->settings;
    struct rf_error error = {""};
    struct rf_source *source;
    struct rf_gen gen = {.kind = call->arguments[0],
                         .events = settings->events,
                         .keys = settings->keys,
                         .skew = settings->skew,
                         .phase = settings->phase,
                         .seed = settings->seed};
    rf_status opened = rf_source_open_gen(&source, &gen, NULL, &error);
    if (opened != RF_OK)
        return cli_fail_parsed(opened, &error);
    char *command = cli_command_text(call);
    int status = command != NULL ? copy(call, source, command) : CLI_FAILED;
    free(command);
    rf_source_close(source);
    return status;
}

const struct cli_action cli_action_gen = {
    .arguments = {"zipf|uniform|phases|drift|loop", 1, 1},
    .settings = {options, sizeof(struct settings)},
    .words = kinds,
    .run = run,
};
