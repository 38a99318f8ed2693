/* cmd_cc.c - riffle cc: compile C with hooks. */
#include "compile.h"

static int run(const struct cli_call *call)
{
    return cli_compile(call, "RIFFLE_CC", "cc");
}

const struct cli_action cli_action_cc = {
    .arguments = {"ARGUMENT...", 0, CLI_ANY_NUMBER},
    .only_arguments = true,
    .run = run,
};
