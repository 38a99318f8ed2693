/* inplace.h - what hooks usually do, in place of their calls, in assembler text.
 *
 *     char *better = cli_inplace(text, n, &size);      NULL: nothing was changed, or there is no memory; else free() it */
#ifndef CLI_INPLACE_H
#define CLI_INPLACE_H

#include <stddef.h>

/* x86-64 in AT&T syntax, as gcc and clang write it, for a program: no library can have it. */
char *cli_inplace(const char *text, size_t n, size_t *size);

#endif
