/* main.c - the program: find the command, run it. */
#include "assemble.h"
#include "command.h"
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int unknown(const char *name)
{
    const char *kind = name[0] == '-' ? "option" : "command";
    const char *nearest = name[0] == '-' ? NULL : cli_nearest(name, cli_words_commands);
    if (nearest != NULL)
        return cli_fail(CLI_USAGE, "no command '%s'; did you mean '%s'?", name, nearest);
    return cli_fail(CLI_USAGE, "no %s '%s'; 'riffle help' lists the commands", kind, name);
}

/* Names and lines are built in large buffers on the stack. */
static bool has_stack(void)
{
    enum { LEAST = 1 << 20 };
    struct rlimit limit;
    return getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= LEAST;
}

static int dispatch(int argc, char **argv)
{
    if (!has_stack())
        return cli_fail(CLI_OWN_FAILURE, "a stack of 1 MiB is needed, and 'ulimit -s' allows less");
    if (argc < 2)
        return cli_fail(CLI_USAGE, "no command given; 'riffle help' lists them");
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0) {
        cli_version();
        return CLI_OK;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    const struct cli_command *command = cli_find(name);
    return command != NULL ? cli_run(command, argc, argv) : unknown(name);
}

/* A file that we open must not take the place of a standard stream that is closed: what we print would go into it.
 * This holds the place. Reads and writes fail with EBADF, as before, and a program that we start finds it closed. */
static bool hold_streams(void)
{
    bool good = true;
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        int held = open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
        good = good && held == fd;
    }
    return good;
}

static void outlive(int number)
{
    (void)number;
}

/* A write then fails, with EPIPE (which is quiet: see cli_finish) or with EFBIG. A handler instead of
 * SIG_IGN, because a program that we start inherits ignored signals, but no handlers. */
static void outlive_writes(void)
{
    static const int signals[] = {SIGPIPE, SIGXFSZ};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction action;
        if (sigaction(signals[i], NULL, &action) != 0 || action.sa_handler == SIG_IGN)
            continue;
        action = (struct sigaction){.sa_flags = SA_RESTART};
        action.sa_handler = outlive;
        sigaction(signals[i], &action, NULL);
    }
}

int main(int argc, char **argv)
{
    if (!hold_streams())
        return CLI_FAILED;
    cli_progress_begin();
    outlive_writes();
    if (cli_is_assembler(argv[0]))
        return cli_finish(cli_assemble(argc, argv));
    return cli_finish(dispatch(argc, argv));
}
