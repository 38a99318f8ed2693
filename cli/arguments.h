/* arguments.h - the command line of a compiler, as a list that grows. */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

/* Begin with {NULL, 0, 0}; NULL is behind the last word. What is added is copied; false: no memory. */
struct cli_arguments {
    char **words;
    size_t n, room;
};
bool cli_arguments_add(struct cli_arguments *list, const char *word);
bool cli_arguments_add_all(struct cli_arguments *list, const char *const *words);
/* What a compiler is called with: the words of a file in the place of @FILE, short names of options in the place of long ones. */
bool cli_arguments_take(struct cli_arguments *list, size_t n, char *const *words);
void cli_arguments_free(struct cli_arguments *list);

/* Is the next word the value of this option? */
bool cli_argument_takes_next(const char *word);
bool cli_argument_is_one_of(const char *word, const char *const *words);
bool cli_argument_begins_as_one_of(const char *word, const char *const *beginnings);

/* What is behind the last slash. */
const char *cli_argument_last_part(const char *path);
/* All that the file has, for free; NULL: it cannot be read. */
char *cli_argument_read(const char *path);

#endif
