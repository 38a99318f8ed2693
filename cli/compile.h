/* compile.h - riffle cc and riffle c++: a compiler that adds hooks. */
#ifndef CLI_COMPILE_H
#define CLI_COMPILE_H

#include "command.h"

/* started.c: run a program to its end; its status with CLI_OF_PROGRAM. Between begin and end signals are passed on to it;
 * end dies of one that came. */
void cli_started_begin(void);
int cli_run_words(char **words);
void cli_started_end(void);
/* Run the compiler that the environment's `variable` names, else `standard`, with these arguments and hooks. */
int cli_compile(const struct cli_call *call, const char *variable, const char *standard);

/* What the environment asks for: two copies of each function (copies.h); code in place of calls (inplace.h). */
bool cli_asks_copies(void);
bool cli_asks_inplace(void);

#endif
