/* grown.h - a text that grows at its end.
 *
 *     struct cli_grown text = {.at = NULL};
 *     cli_grown_say(&text, "%d lines\n", 12);
 *     if (text.failed) ...                        there was no memory: the text is not whole
 *     free(text.at);                              text.n bytes, without an end */
#ifndef CLI_GROWN_H
#define CLI_GROWN_H

#include "say.h"

struct cli_grown {
    char *at;
    size_t n, room;
    bool failed;
};

void cli_grown_put(struct cli_grown *text, const char *at, size_t n);
void cli_grown_say(struct cli_grown *text, const char *format, ...) CLI_PRINTF(2, 3);

#endif
