/* lanes.c - from -p and -e on the command line to the lanes of a collector.
 *
 *     -e A -e B -p values -p edges -e C   ->   values: A, B    edges: C
 *
 *     -p values -p edges -e C             ->   values: C       edges: C
 *     -p edges+calls -e A                 ->   edges, calls: both through one A
 *
 * A preset may have an engine of its own (streams), which goes before the default.
 *
 * An engine serves the selector before it. A selector that has none of its own gets those before the
 * first selector; else those of the next selector that has some; else the default. Without any
 * selector the engines get the stream as it is. */
#include "plan.h"
#include <stdlib.h>
#include <string.h>

const struct cli_option cli_options_lanes[] = {
    {CLI_LIST, 'e', "engine", "ENGINE", .words = cli_words_engines,
     .brief = "the engine that counts; may be repeated",
     .text = "A name, or a name with options: multihash(tables=4, threshold=0.1%). An engine "
             "serves the selector (-p) before it. A selector that has no engine of its own gets "
             "those before the first -p, else those of the next selector that has some. 'riffle "
             "engines' lists them."},
    {CLI_LIST, 'p', "profile", "SELECTOR", .words = cli_words_selectors,
     .brief = "what to count; may be repeated",
     .text = "A preset's name such as values, edges or calls, or a selector: "
             "'load value==0 -> pc,addr'. 'riffle selectors' lists presets and fields. Each "
             "selector gets the engines that follow it. A stream of tuples has nothing to "
             "select."},
    {.type = CLI_END},
};

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

/* The number of presets that `text` joins by '+'; 1 for any other selector. */
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

/* What -p and -e say, with the defaults where they say nothing. */
struct wish {
    bool is_engine;
    const char *value;
};

struct wishes {
    struct wish *at;
    size_t n;
    const char *standard; /* engine */
    uint64_t stack_period;
};

/* The engine of a preset that has one of its own. */
static const char *engine_of(const char *selector, const char *standard)
{
    const struct rf_selector_preset *preset = rf_selector_presets();
    while (selector != NULL && preset->name != NULL && strcmp(preset->name, selector) != 0)
        preset++;
    bool has = selector != NULL && preset->name != NULL && preset->engine != NULL;
    return has ? preset->engine : standard;
}

/* Presets that are joined share the engine, each with a stream of its own. */
static void add(struct cli_lanes *lanes, const struct wishes *wishes, const char *selector,
                const char *engine, uint32_t stream)
{
    uint32_t n = selector != NULL ? count_joined(selector) : 1;
    for (uint32_t i = 0; i < n; i++) {
        const char *own = selector != NULL && n > 1 ? preset_at(selector) : selector;
        const char *counts = engine == wishes->standard ? engine_of(own, engine) : engine;
        lanes->lanes[lanes->n++] = (struct rf_lane){own, counts, stream + i, i > 0};
        if (n > 1)
            selector += strcspn(selector, "+") + 1;
    }
}

static void add_wish(struct wishes *wishes, bool is_engine, const char *value)
{
    wishes->at[wishes->n++] = (struct wish){is_engine, value};
}

/* `stacks=N` is the selector `stacks` and a period. */
static const char *take_period(struct wishes *wishes, const char *value)
{
    static const char prefix[] = "stacks=";
    const char *number = value + sizeof prefix - 1;
    uint64_t period;
    if (strncmp(value, prefix, sizeof prefix - 1) != 0 ||
        rf_units_count(number, strlen(number), &period) != RF_OK || period == 0)
        return value;
    wishes->stack_period = period;
    return "stacks";
}

static size_t count_given(const struct cli_call *call, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < call->n_given; i++)
        n += cli_is(&call->given[i], name);
    return n;
}

/* The default selectors stand in one text, with ", " between them. */
static void add_default_selectors(struct wishes *wishes, char *rest)
{
    for (char *word; (word = strsep(&rest, ",")) != NULL;)
        add_wish(wishes, false, word + strspn(word, " "));
}

static bool make_wishes(struct wishes *wishes, const struct cli_call *call,
                        enum cli_selecting selecting, char *standard)
{
    size_t most = call->n_given + (standard != NULL ? strlen(standard) : 0) + 2;
    *wishes = (struct wishes){.at = calloc(most, sizeof *wishes->at),
                              .standard = cli_standard(call->command, "engine")};
    if (wishes->at == NULL || standard == NULL)
        return false;
    if (count_given(call, "engine") == 0)
        add_wish(wishes, true, wishes->standard);
    for (size_t i = 0; i < call->n_given; i++) {
        const struct cli_given *given = &call->given[i];
        if (cli_is(given, "engine"))
            add_wish(wishes, true, given->value);
        else if (cli_is(given, "profile"))
            add_wish(wishes, false, take_period(wishes, given->value));
    }
    if (selecting == CLI_SELECT_ALWAYS && count_given(call, "profile") == 0)
        add_default_selectors(wishes, standard);
    return true;
}

static bool is_engine(const struct wishes *wishes, size_t i)
{
    return i < wishes->n && wishes->at[i].is_engine;
}

/* The engines from number i on, up to the next selector. Returns how many. */
static size_t add_engines(struct cli_lanes *lanes, const struct wishes *wishes, size_t i,
                          const char *selector, uint32_t stream)
{
    size_t n = 0;
    for (; is_engine(wishes, i + n); n++)
        add(lanes, wishes, selector, wishes->at[i + n].value, stream);
    return n;
}

/* A selector without engines of its own; the next wish, number i, is a selector or the end. */
static void add_shared(struct cli_lanes *lanes, const struct wishes *wishes, size_t i,
                       const char *selector, uint32_t stream)
{
    while (i < wishes->n && !is_engine(wishes, i))
        i++;
    if (add_engines(lanes, wishes, 0, selector, stream) == 0 &&
        add_engines(lanes, wishes, i, selector, stream) == 0)
        add(lanes, wishes, selector, wishes->standard, stream);
}

static void fill(struct cli_lanes *lanes, const struct wishes *wishes)
{
    uint32_t stream = 0;
    size_t i = 0;
    while (is_engine(wishes, i))
        i++;
    if (i == wishes->n)
        add_shared(lanes, wishes, i, NULL, 0);
    while (i < wishes->n) {
        const char *selector = wishes->at[i++].value;
        size_t own = add_engines(lanes, wishes, i, selector, stream);
        if (own == 0)
            add_shared(lanes, wishes, i, selector, stream);
        i += own;
        stream += count_joined(selector);
    }
}

static rf_status check_lane(const struct rf_lane *lane, struct rf_error *error)
{
    struct rf_selector selector;
    struct rf_engine *engine;
    rf_status status =
        lane->selector != NULL ? rf_selector_parse(&selector, lane->selector, error) : RF_OK;
    if (status == RF_OK && lane->selector != NULL)
        status = rf_selector_recorded(&selector, error);
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
        if (status != RF_OK)
            return cli_fail_parsed(status, &error);
    }
    return CLI_OK;
}

/* Room for every engine with every preset that the command line names. There cannot be more lanes. */
static bool make_room(struct cli_lanes *lanes, const struct wishes *wishes)
{
    size_t joined = 1;
    for (size_t i = 0; i < wishes->n; i++)
        joined += count_joined(wishes->at[i].value);
    lanes->lanes = calloc((wishes->n + 1) * joined, sizeof *lanes->lanes);
    return lanes->lanes != NULL;
}

int cli_lanes_make(struct cli_lanes *lanes, const struct cli_call *call,
                   enum cli_selecting selecting, const char *standard)
{
    struct wishes wishes;
    int status = CLI_OK;
    *lanes = (struct cli_lanes){.n = 0};
    if (selecting == CLI_SELECT_NOTHING)
        return CLI_OK;
    *lanes = (struct cli_lanes){
        .text = strdup(standard != NULL ? standard : cli_standard(call->command, "profile"))};
    if (make_wishes(&wishes, call, selecting, lanes->text) && make_room(lanes, &wishes))
        fill(lanes, &wishes);
    else
        status = cli_fail(CLI_FAILED, "no memory for %zu engines", call->n_given);
    lanes->stack_period = wishes.stack_period;
    free(wishes.at);
    if (status == CLI_OK)
        status = check(lanes);
    if (status != CLI_OK)
        cli_lanes_free(lanes);
    return status;
}

/* The selector of a lane, with one more condition. */
static rf_status add_thread(struct rf_lane *lane, char **text, uint64_t thread,
                            struct rf_error *error)
{
    enum { SIZE = 8 * 1024 };
    struct rf_selector selector;
    rf_status status = rf_selector_parse(&selector, lane->selector, error);
    if (status != RF_OK)
        return status;
    char plain[SIZE];
    rf_selector_print(&selector, plain, sizeof plain);
    const char *arrow = strstr(plain, " -> ");
    *text = malloc(SIZE);
    if (*text == NULL || arrow == NULL)
        return RF_ENOMEM;
    snprintf(*text, SIZE, "%.*s thread==%llu%s", (int)(arrow - plain), plain,
             (unsigned long long)thread, arrow);
    lane->selector = *text;
    return rf_selector_parse(&selector, *text, error);
}

int cli_lanes_of_thread(struct cli_lanes *lanes, const char *text)
{
    uint64_t thread;
    struct rf_error error = {""};
    rf_status status = RF_OK;
    if (text == NULL)
        return CLI_OK;
    if (cli_parse_thread(&thread, text) != CLI_OK)
        return CLI_USAGE;
    lanes->texts = calloc(lanes->n + 1, sizeof *lanes->texts);
    if (lanes->texts == NULL)
        return cli_fail(CLI_FAILED, "no memory for %zu selectors", lanes->n);
    for (size_t i = 0; i < lanes->n && status == RF_OK; i++) {
        if (lanes->lanes[i].selector == NULL)
            return cli_fail(CLI_USAGE, "a stream of tuples does not tell threads apart");
        status = add_thread(&lanes->lanes[i], &lanes->texts[i], thread, &error);
    }
    return status == RF_OK ? CLI_OK : cli_fail_parsed(status, &error);
}

void cli_lanes_free(struct cli_lanes *lanes)
{
    for (char **text = lanes->texts; text != NULL && *text != NULL; text++)
        free(*text);
    free(lanes->texts);
    free(lanes->lanes);
    free(lanes->text);
    *lanes = (struct cli_lanes){.n = 0};
}

bool cli_lanes_adopt(struct rf_lane *lanes, size_t n, struct rf_source *source,
                     struct rf_trace_info *info)
{
    bool known = rf_source_header(source, info) == RF_OK && info->kind == RF_TRACE_TUPLES &&
                 info->selector[0] != '\0';
    for (size_t i = 0; i < n; i++)
        known = known && lanes[i].selector == NULL;
    for (size_t i = 0; known && i < n; i++)
        lanes[i].selector = info->selector;
    return known;
}

/* A tree of stacks needs every frame of it; other engines keep the heavy ones, or ranges of them. */
bool cli_lanes_lose_stacks(const struct rf_lane *lanes, size_t n, struct rf_error *error)
{
    for (size_t i = 0; i < n; i++) {
        struct rf_engine_info info;
        struct rf_selector selector;
        if (lanes[i].selector == NULL ||
            rf_selector_parse(&selector, lanes[i].selector, NULL) != RF_OK ||
            selector.project_b != RF_FIELD_CONTEXT ||
            rf_engine_describe(lanes[i].engine, &info, NULL) != RF_OK ||
            strcmp(info.name, "exact") == 0 || strcmp(info.name, "auto") == 0)
            continue;
        snprintf(error->message, sizeof error->message,
                 "stacks are counted by the engine exact, not by %s", info.name);
        return true;
    }
    return false;
}

int cli_lanes_refuse_stacks(const struct cli_lanes *lanes, const char *command)
{
    struct rf_error error;
    return cli_lanes_lose_stacks(lanes->lanes, lanes->n, &error)
               ? cli_fail(CLI_USAGE, "%s: %s", command, error.message)
               : CLI_OK;
}
