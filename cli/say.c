/* say.c - messages on stderr, and the end of stdout. */
#include "say.h"
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MESSAGE_MAX = 8192 }; /* the longest path there is, and a sentence */

int cli_fail(int exit_status, const char *format, ...)
{
    char message[MESSAGE_MAX], readable[MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    rf_text_readable(readable, sizeof readable, message);
    fflush(stdout);
    cli_progress_end();
    fprintf(stderr, "riffle: %s\n", readable);
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

int cli_fail_unused(rf_status status, const struct rf_error *error)
{
    int exit_status = cli_fail_status(status, error);
    return exit_status == CLI_DAMAGED ? CLI_FAILED : exit_status;
}

int cli_fail_parsed(rf_status status, const struct rf_error *error)
{
    cli_fail_status(status, error);
    return status == RF_EINVAL ? CLI_USAGE : CLI_FAILED;
}

int cli_fail_program(const char *command, const char *program)
{
    struct stat status;
    if (strchr(program, '/') == NULL || stat(program, &status) != 0)
        return cli_fail(CLI_NO_PROGRAM, "%s: '%s': no such program", command, program);
    return cli_fail(CLI_NOT_EXECUTABLE, "%s: '%s': %s", command, program,
                    S_ISDIR(status.st_mode) ? "is a folder" : "may not be executed");
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

static int stdout_reason; /* errno of the write that failed, where it was noticed at once */

bool cli_stdout_closed(void)
{
    if (ferror(stdout) != 0 && stdout_reason == 0)
        stdout_reason = errno;
    return ferror(stdout) != 0;
}

/* A pipe without a reader is in an error state. */
static bool is_unread(int fd)
{
    struct pollfd pipe = {.fd = fd};
    return poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR) != 0;
}

bool cli_reader_gone(void)
{
    return stdout_reason == EPIPE || is_unread(STDOUT_FILENO);
}

bool cli_listener_gone(void)
{
    return is_unread(STDERR_FILENO);
}

bool cli_stdout_failed(void)
{
    errno = 0;
    if (fflush(stdout) != 0)
        stdout_reason = errno;
    return (stdout_reason != 0 || ferror(stdout) != 0) && !cli_reader_gone();
}

int cli_finish(int exit_status)
{
    if (!cli_stdout_failed())
        return exit_status;
    const char *reason = stdout_reason != 0 ? strerror(stdout_reason) : "cannot write";
    int status = cli_fail(CLI_FAILED, "standard output: %s", reason);
    return exit_status != CLI_OK ? exit_status : status;
}
