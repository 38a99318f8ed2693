/* cmd_cores.c - riffle cores: which simulated cores there are, and every parameter of one. */
#include "plan.h"
#include <string.h>

static void list(void)
{
    for (const struct rf_machine_core *core = rf_machine_cores(); core->name != NULL; core++)
        printf("%-12s %s\n", core->name, core->brief);
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

const struct cli_command cli_command_cores = {
    .name = "cores",
    .brief = "list the simulated cores; show one with every parameter",
    .arguments = {"[CORE]", 0, 1},
    .text =
        "A core is written as a name and what differs from it, key=value with commas between. "
        "Shown, it has every key and its value: sizes in bytes (a cache as size/ways/bytes of a "
        "line), widths in instructions per cycle, the rest in cycles or entries. doc/MACHINE.md "
        "tells what each does.",
    .examples = "    riffle cores\n"
                "    riffle cores hps\n"
                "    riffle cores coproc,rob=128,dcache=16Ki/2/64",
    .words = cli_words_cores,
    .list = list,
    .show = show,
};
