/* cmd_trace.c - riffle trace: inspect streams in files, convert between their forms. */
#include "plan.h"
#include "stream.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    uint64_t items;
    const char *selector;
    const char *to;
};

static const struct cli_option options[] = {
    {CLI_COUNT, 'n', "items", "N", "10", .brief = "head: how many events; 0: all",
     .offset = offsetof(struct settings, items)},
    {CLI_TEXT, 'p', "profile", "SELECTOR", .words = cli_words_selectors,
     .brief = "convert: make tuples of records by this selector",
     .offset = offsetof(struct settings, selector)},
    {CLI_CHOICE, 0, "to", "FORM", .words = cli_words_stream_forms,
     .brief = "convert: the form, whatever OUT is called", .offset = offsetof(struct settings, to)},
    {.type = CLI_END},
};

static void print_text(const char *label, const char *text)
{
    printf("%-10s", label);
    rf_write_readable(stdout, text);
    putchar('\n');
}

static void print_info(const char *path, const struct rf_trace_info *info)
{
    print_text("file", path);
    printf("kind      %s\n", info->kind == RF_TRACE_RECORDS ? "records" : "tuples");
    printf("format    %u, by riffle ", info->version);
    rf_write_readable(stdout, info->riffle_version);
    putchar('\n');
    if (info->command[0] != '\0')
        print_text("command", info->command);
    if (info->selector[0] != '\0')
        print_text("selector", info->selector);
    printf("events    %llu\n", (unsigned long long)info->events);
    printf("blocks    %llu\n", (unsigned long long)info->blocks);
    if (info->gaps > 0)
        printf("gaps      %llu\n", (unsigned long long)info->gaps);
    if (info->modules > 0)
        printf("modules   %llu\n", (unsigned long long)info->modules);
    double each = info->events > 0 ? (double)info->bytes / (double)info->events : 0;
    printf("bytes     %llu, %.2f per event\n", (unsigned long long)info->bytes, each);
    printf("complete  %s\n", info->complete ? "yes" : "no");
}

static int show_info(const struct cli_call *call)
{
    struct rf_trace_info info;
    struct rf_error error = {""};
    const char *path = call->arguments[1];
    rf_status status = rf_trace_inspect(path, &info, &error);
    if (status == RF_OK || status == RF_EDAMAGED)
        print_info(path, &info);
    if (status != RF_OK)
        return cli_fail_status(status, &error);
    if (!info.complete)
        return cli_fail(CLI_DAMAGED, "%s: the end is missing or does not match the rest", path);
    return CLI_OK;
}

/* Every field that a selector can read; addresses and values in hexadecimal. */
static void print_record(const struct rf_record *record)
{
    printf("%-6s", rf_class_name(record->kind));
    for (unsigned field = 1; field < RF_FIELD_COUNT; field++) {
        const struct rf_field_info *info = rf_field_info(field);
        uint64_t number = rf_field_of(record, field);
        if (number == 0 && field != RF_FIELD_PC) /* a class that lacks it, or simply 0 */
            continue;
        bool hex = info->meaning != RF_MEANS_NUMBER || field == RF_FIELD_VALUE;
        printf(hex ? " %s=0x%" PRIx64 : " %s=%" PRIu64, info->name, number);
    }
    putchar('\n');
}

static void print_event(const struct rf_batch *batch, size_t i)
{
    char line[CLI_LINE_MAX];
    if (batch->records != NULL) {
        print_record(&batch->records[i]);
        return;
    }
    uint64_t count = batch->tuples.counts != NULL ? batch->tuples.counts[i] : 1;
    char *end = cli_line(line, batch->tuples.tuples[i], count);
    fwrite(line, 1, (size_t)(end - line), stdout);
}

static int print_head(struct rf_source *source, uint64_t left)
{
    struct rf_error error = {""};
    while (left > 0 && !cli_stdout_closed()) {
        struct rf_batch batch;
        rf_status status = rf_source_next(source, &batch, &error);
        if (status != RF_OK)
            return cli_fail_status(status, &error);
        if (batch.n == 0)
            break;
        for (size_t i = 0; i < batch.n && left > 0; i++, left--)
            print_event(&batch, i);
    }
    return CLI_OK;
}

static int show_head(const struct cli_call *call)
{
    const struct settings *settings = call->settings;
    struct rf_error error = {""};
    struct rf_source *source;
    rf_status opened = rf_source_open(&source, call->arguments[1], NULL, &error);
    if (opened != RF_OK)
        return cli_fail_status(opened, &error);
    int status = print_head(source, settings->items != 0 ? settings->items : UINT64_MAX);
    rf_source_close(source);
    return status;
}

static int convert_source(const struct cli_call *call, struct rf_source *source,
                          const struct rf_selector *selector, const char *command)
{
    const struct settings *settings = call->settings;
    struct rf_trace_info info = {.selector = ""};
    rf_source_header(source, &info); /* text has none, and no selector */
    if (selector != NULL)
        rf_selector_print(selector, info.selector, sizeof info.selector);
    struct cli_stream_setup setup = {.path = call->arguments[2],
                                     .form = settings->to,
                                     .command = command,
                                     .selector = info.selector};
    return cli_stream_copy(&setup, source, selector);
}

static int convert_with(const struct cli_call *call, const struct rf_selector *selector,
                        const char *command)
{
    struct rf_error error = {""};
    struct rf_source *source;
    rf_status opened = rf_source_open(&source, call->arguments[1], NULL, &error);
    if (opened != RF_OK)
        return cli_fail_status(opened, &error);
    int status = convert_source(call, source, selector, command);
    rf_source_close(source);
    return status;
}

static int convert(const struct cli_call *call)
{
    const struct settings *settings = call->settings;
    struct rf_error error = {""};
    struct rf_selector selector;
    if (settings->selector != NULL) {
        rf_status status = rf_selector_parse(&selector, settings->selector, &error);
        if (status == RF_OK)
            status = rf_selector_recorded(&selector, &error);
        if (status == RF_OK && selector.unbound)
            return cli_fail(CLI_USAGE, "trace: the selector names a symbol, and there is no "
                                       "program to look it up in");
        if (status != RF_OK) {
            cli_fail_status(status, &error);
            return CLI_USAGE;
        }
    }
    char *command = cli_command_text(call);
    if (command == NULL)
        return CLI_FAILED;
    int status = convert_with(call, settings->selector != NULL ? &selector : NULL, command);
    free(command);
    return status;
}

static const struct {
    const char *name;
    size_t arguments;
    int (*run)(const struct cli_call *call);
} actions[] = {{"info", 2, show_info}, {"head", 2, show_head}, {"convert", 3, convert}};

enum { ACTIONS = sizeof actions / sizeof *actions };

static const char *action_names(size_t i)
{
    return i < ACTIONS ? actions[i].name : NULL;
}

static int run(const struct cli_call *call)
{
    for (size_t i = 0; i < ACTIONS; i++)
        if (strcmp(call->arguments[0], actions[i].name) == 0) {
            if (call->n_arguments != actions[i].arguments)
                return cli_fail(CLI_USAGE, "trace: %s wants %s", actions[i].name,
                                actions[i].arguments == 3 ? "IN and OUT" : "one FILE");
            return actions[i].run(call);
        }
    const char *nearest = cli_nearest(call->arguments[0], action_names);
    return cli_fail(CLI_USAGE, "trace: no action '%s'; %s%s%s", call->arguments[0],
                    nearest != NULL ? "did you mean '" : "it is info, head or convert",
                    nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

const struct cli_action cli_action_trace = {
    .arguments = {"info FILE | head FILE | convert IN OUT", 2, 3},
    .settings = {options, sizeof(struct settings)},
    .words = action_names,
    .run = run,
};
