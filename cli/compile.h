/* compile.h - riffle cc and riffle c++: a compiler that adds hooks. */
#ifndef CLI_COMPILE_H
#define CLI_COMPILE_H

#include "command.h"

/* Run a program to its end; its status with CLI_OF_PROGRAM. */
int cli_run_words(char **words);
/* Run the compiler that the environment's `variable` names, else `standard`, with these arguments and hooks. */
int cli_compile(const struct cli_call *call, const char *variable, const char *standard);

#endif
