/* copies.h - two copies of each function that has hooks, in assembler text: one with them, one without.
 *
 *     char *better = cli_copies(text, n, &size);       NULL: nothing was changed, or there is no memory; else free() it */
#ifndef CLI_COPIES_H
#define CLI_COPIES_H

#include <stddef.h>

/* x86-64 in AT&T syntax, as gcc and clang write it. `text` has no NUL in its n bytes. */
char *cli_copies(const char *text, size_t n, size_t *size);

#endif
