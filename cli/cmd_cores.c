/* cmd_cores.c - riffle cores: which simulated cores there are, and every parameter of one. */
#include "plan.h"
#include <string.h>

static void list(void)
{
    for (const struct rf_machine_core *core = rf_machine_cores(); core->name != NULL; core++)
        cli_put_row((const int[]){0, 13}, (const char *const[]){core->name, core->brief}, 2);
}

/* The text of a core is a list of key=value, separated by commas. */
static int show(const char *core)
{
    char text[1024];
    struct rf_error error = {""};
    if (rf_machine_core_print(core, text, sizeof text, &error) != RF_OK)
        return cli_fail(CLI_USAGE, "%s", error.message);
    for (char *rest = text, *word; (word = strsep(&rest, ",")) != NULL;) {
        char *value = strchr(word, '=');
        printf("%-16.*s %s\n", (int)(value - word), word, value + 1);
    }
    return CLI_OK;
}

const struct cli_action cli_action_cores = {
    .arguments = {"[CORE]", 0, 1},
    .words = cli_words_cores,
    .list = list,
    .show = show,
};
