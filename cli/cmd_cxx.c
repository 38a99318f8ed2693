/* cmd_cxx.c - riffle c++: compile C++ with hooks. */
#include "compile.h"

static int run(const struct cli_call *call)
{
    return cli_compile(call, "RIFFLE_CXX", "c++");
}

const struct cli_action cli_action_cxx = {
    .arguments = {"ARGUMENT...", 0, CLI_ANY_NUMBER},
    .only_arguments = true,
    .run = run,
};
