/* beside.h - the files that compilers write beside an object, where riffle cc makes it in a temporary folder. */
#ifndef CLI_BESIDE_H
#define CLI_BESIDE_H

#include "arguments.h"

/* The options by which they come where the plain compiler puts them in one step from sources to a program; false: no memory. */
bool cli_beside_add(struct cli_arguments *list, const struct cli_arguments *asked,
                    const char *source, bool clang);

/* An option about dependency files (-MMD, -MF FILE and their like). */
bool cli_beside_is_dependency(const char *word);
/* Is the name of the dependency file the same for all sources, so that the last one's stays? */
bool cli_beside_shares_dependencies(const struct cli_arguments *asked);

#endif
