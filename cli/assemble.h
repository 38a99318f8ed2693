/* assemble.h - riffle in place of the assembler, for compilers that riffle cc starts. */
#ifndef CLI_ASSEMBLE_H
#define CLI_ASSEMBLE_H

#include <stdbool.h>

/* A folder with an assembler that makes two copies of functions with hooks, for -B; "": it cannot be made. */
struct cli_assembler {
    char folder[512];
};
void cli_assembler_make(struct cli_assembler *assembler);
void cli_assembler_remove(const struct cli_assembler *assembler);

/* Was this program started as that assembler? */
bool cli_is_assembler(const char *name);
int cli_assemble(int argc, char **argv);

/* For temporary files: TMPDIR, where files can be made in it, or /tmp; as compilers choose it. */
const char *cli_temporary_folder(void);

#endif
