/* say.c - what goes to stderr, and how stdout ends. */
#include "cli.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>

int cli_fail(int exit_status, const char *format, ...)
{
    va_list arguments;
    fflush(stdout);
    cli_progress_end();
    fputs("riffle: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return exit_status;
}

static int exit_of(rf_status status)
{
    switch (status) {
    case RF_OK:
        return CLI_OK;
    case RF_EDAMAGED:
        return CLI_DAMAGED;
    case RF_ESTOPPED:
        return CLI_INTERRUPTED;
    default:
        return CLI_FAILED;
    }
}

int cli_fail_status(rf_status status, const struct rf_error *error)
{
    const char *sentence = error->message[0] != '\0' ? error->message : rf_status_text(status);
    return cli_fail(exit_of(status), "%s", sentence);
}

enum { NEAR_ENOUGH = 3 };

const char *cli_nearest(const char *word, cli_words *words)
{
    const char *nearest = NULL;
    unsigned best = NEAR_ENOUGH + 1;
    for (size_t i = 0; words(i) != NULL; i++) {
        unsigned distance = rf_text_distance(word, words(i));
        if (distance < best && distance < strlen(words(i))) {
            best = distance;
            nearest = words(i);
        }
    }
    return nearest;
}

bool cli_stdout_closed(void)
{
    return ferror(stdout) != 0;
}

int cli_finish(int exit_status)
{
    errno = 0;
    bool failed = fflush(stdout) != 0 || ferror(stdout) != 0;
    if (!failed || errno == EPIPE)
        return exit_status;
    const char *reason = errno != 0 ? strerror(errno) : "input or output failed";
    int status = cli_fail(CLI_FAILED, "standard output: %s", reason);
    return exit_status != CLI_OK ? exit_status : status;
}
