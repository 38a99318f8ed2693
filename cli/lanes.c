/* lanes.c - from -p and -e on the command line to the lanes of a collector.
 *
 *     -e A -e B -p values -p edges -e C   ->   values: A, B    edges: C
 *
 *     -p edges+calls -e A                 ->   edges, calls: both through one A
 *
 * An engine serves the selector before it. Those before the first selector serve every selector that
 * has none of its own, or, without any selector, the stream as it is. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>

static const char standard_engine[] = "exact";

const char *cli_words_cores(size_t i)
{
    return rf_machine_cores()[i].name;
}

const char *cli_words_engines(size_t i)
{
    struct rf_engine_info info;
    return rf_engine_list(i, &info) == RF_OK ? info.name : NULL;
}

const char *cli_words_selectors(size_t i)
{
    return rf_selector_presets()[i].name;
}

static bool is(const struct cli_given *given, char letter)
{
    return given->option->letter == letter;
}

/* The preset that `text` begins with, up to its end or a '+'; NULL: none. */
static const char *preset_at(const char *text)
{
    size_t n = strcspn(text, "+");
    for (const struct rf_selector_preset *preset = rf_selector_presets(); preset->name != NULL;
         preset++)
        if (strlen(preset->name) == n && memcmp(preset->name, text, n) == 0)
            return preset->name;
    return NULL;
}

/* How many presets with '+' between them `text` is; 1 for any other selector. */
static uint32_t count_joined(const char *text)
{
    for (uint32_t n = 1;; n++) {
        size_t length = strcspn(text, "+");
        if (preset_at(text) == NULL)
            return 1;
        if (text[length] == '\0')
            return n;
        text += length + 1;
    }
}

/* Presets that are joined share the engine, each with a stream of its own. */
static void add(struct cli_lanes *lanes, const char *selector, const char *engine, uint32_t stream)
{
    uint32_t n = selector != NULL ? count_joined(selector) : 1;
    for (uint32_t i = 0; i < n; i++) {
        const char *own = selector != NULL && n > 1 ? preset_at(selector) : selector;
        lanes->lanes[lanes->n++] = (struct rf_lane){own, engine, stream + i, i > 0};
        if (n > 1)
            selector += strcspn(selector, "+") + 1;
    }
}

/* The engines in front of the first selector, or the standard one. */
static void add_shared(struct cli_lanes *lanes, const struct cli_call *call, const char *selector,
                       uint32_t stream)
{
    size_t i = 0;
    for (; i < call->n_given && is(&call->given[i], 'e'); i++)
        add(lanes, selector, call->given[i].value, stream);
    if (i == 0)
        add(lanes, selector, standard_engine, stream);
}

static void fill(struct cli_lanes *lanes, const struct cli_call *call)
{
    uint32_t stream = 0;
    size_t i = 0;
    while (i < call->n_given && is(&call->given[i], 'e'))
        i++;
    if (i == call->n_given)
        add_shared(lanes, call, NULL, 0);
    while (i < call->n_given) {
        const char *selector = call->given[i++].value;
        if (i == call->n_given || !is(&call->given[i], 'e'))
            add_shared(lanes, call, selector, stream);
        for (; i < call->n_given && is(&call->given[i], 'e'); i++)
            add(lanes, selector, call->given[i].value, stream);
        stream += count_joined(selector);
    }
}

static rf_status check_lane(const struct rf_lane *lane, struct rf_error *error)
{
    struct rf_selector selector;
    struct rf_engine *engine;
    rf_status status =
        lane->selector != NULL ? rf_selector_parse(&selector, lane->selector, error) : RF_OK;
    if (status != RF_OK)
        return status;
    status = rf_engine_open(&engine, lane->engine, NULL, error);
    rf_engine_close(engine);
    return status;
}

static int check(const struct cli_lanes *lanes)
{
    for (size_t i = 0; i < lanes->n; i++) {
        struct rf_error error = {""};
        rf_status status = check_lane(&lanes->lanes[i], &error);
        if (status != RF_OK) {
            cli_fail_status(status, &error);
            return status == RF_EINVAL ? CLI_USAGE : CLI_FAILED;
        }
    }
    return CLI_OK;
}

int cli_lanes_make(struct cli_lanes *lanes, const struct cli_call *call)
{
    size_t joined = 1; /* all presets of the command line, at the very most */
    for (size_t i = 0; i < call->n_given; i++)
        joined += count_joined(call->given[i].value);
    size_t most = (call->n_given + 1) * joined;
    *lanes = (struct cli_lanes){calloc(most, sizeof *lanes->lanes), 0};
    if (lanes->lanes == NULL)
        return cli_fail(CLI_FAILED, "no memory for %zu engines", call->n_given);
    fill(lanes, call);
    int status = check(lanes);
    if (status != CLI_OK)
        cli_lanes_free(lanes);
    return status;
}

void cli_lanes_free(struct cli_lanes *lanes)
{
    free(lanes->lanes);
    *lanes = (struct cli_lanes){NULL, 0};
}

static bool is_plain(const char *word)
{
    size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                            "_-./=:,+%@");
    return n > 0 && word[n] == '\0';
}

/* A word as a shell would read it back. Returns the end of what was written. */
static char *put_word(char *out, const char *word)
{
    if (is_plain(word))
        return stpcpy(out, word);
    *out++ = '\'';
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            out = stpcpy(out, "'\\''");
        else
            *out++ = *word;
    }
    return stpcpy(out, "'");
}

char *cli_command_text(const struct cli_call *call)
{
    size_t size = sizeof "riffle";
    for (int i = 1; i < call->argc; i++)
        size += 4 * strlen(call->argv[i]) + 3;
    char *text = malloc(size);
    if (text == NULL)
        return NULL;
    char *end = stpcpy(text, "riffle");
    for (int i = 1; i < call->argc; i++) {
        *end++ = ' ';
        end = put_word(end, call->argv[i]);
    }
    return text;
}
