/* cmd_engines.c - riffle engines: list them, or show one with its options and memory. */
#include "plan.h"
#include <string.h>

/* A name, and a text from `column` on. */
static void put_named(const char *name, int column, const char *text)
{
    cli_put_row((const int[]){0, column}, (const char *const[]){name, text}, 2);
}

static void list(void)
{
    struct rf_engine_info info;
    for (size_t i = 0; rf_engine_list(i, &info) == RF_OK; i++)
        put_named(info.name, 13, info.brief);
}

static void print_memory(const struct rf_engine *engine, const struct rf_engine_info *info)
{
    printf("memory   %zu bytes%s\n", rf_engine_memory(engine),
           info->grows ? " at first; it grows with the distinct tuples" : "");
    uint64_t bits = rf_engine_bits(engine);
    if (bits > 0)
        printf("hardware %llu bits (%.1f KiB)\n", (unsigned long long)bits,
               (double)bits / 8 / 1024);
}

static void print_option(const struct rf_option *option)
{
    char brief[400];
    const char *choices = option->choices != NULL ? option->choices : "";
    snprintf(brief, sizeof brief, choices[0] != '\0' ? "%s (%s)" : "%s", option->brief, choices);
    cli_put_row((const int[]){2, 19, 29},
                (const char *const[]){option->name, option->standard, brief}, 3);
}

static void print_options(const struct rf_engine_info *info)
{
    if (info->options == NULL || info->options->type == RF_OPTION_END)
        return;
    puts("\noptions");
    for (const struct rf_option *o = info->options; o->type != RF_OPTION_END; o++)
        print_option(o);
}

/* The registered engine whose name the full text begins with. The text of an engine with a notation of its
 * own may not begin with its name; then there is only the text. */
static bool find_info(const char *text, struct rf_engine_info *info)
{
    size_t n = strcspn(text, "( ");
    for (size_t i = 0; rf_engine_list(i, info) == RF_OK; i++)
        if (strlen(info->name) == n && memcmp(info->name, text, n) == 0)
            return true;
    return false;
}

static void print_head(const struct rf_engine_info *info)
{
    int column = printf("%s -", info->name);
    cli_put_words(stdout, info->brief, strlen(info->brief),
                  (struct cli_margins){0, column, cli_width(stdout)});
    putchar('\n');
}

static int show(const char *text)
{
    struct rf_engine *engine;
    struct rf_error error = {""};
    struct rf_engine_info info = {0};
    rf_status status = rf_engine_open(&engine, text, NULL, &error);
    if (status != RF_OK)
        return cli_fail_parsed(status, &error);
    char full[1024];
    rf_engine_print(engine, full, sizeof full);
    bool known = find_info(text, &info) || find_info(full, &info);
    if (known)
        print_head(&info);
    put_named("engine", 9, full);
    print_memory(engine, &info);
    if (known && info.merging != NULL)
        put_named("merging", 9, info.merging);
    if (known)
        print_options(&info);
    rf_engine_close(engine);
    return CLI_OK;
}

const struct cli_action cli_action_engines = {
    .arguments = {"[ENGINE]", 0, 1},
    .words = cli_words_engines,
    .list = list,
    .show = show,
};
