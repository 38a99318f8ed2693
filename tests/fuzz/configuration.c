/* Any bytes as the user's configuration file, for the command that the first byte names: taken, or refused with a sentence. The
 * command itself does not run: it is asked for its help. */
#include "fuzz.h"
#include "command.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static void remove_file(void)
{
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
}

/* A folder of our own; and nothing is printed. */
static void prepare(void)
{
    char folder[] = "/tmp/riffle-fuzz-XXXXXX";
    PROMISE(mkdtemp(folder) != NULL);
    setenv("XDG_CONFIG_HOME", folder, 1);
    snprintf(path, sizeof path, "%s/riffle", folder);
    atexit(remove_file);
    stderr = fopen("/dev/null", "w");
    stdout = fopen("/dev/null", "w");
    PROMISE(stderr != NULL && stdout != NULL);
}

/* Of those that have options; the others hand all words to another program. */
static const struct cli_command *choose(size_t i)
{
    size_t n = 0;
    while (cli_commands[n].name != NULL)
        n++;
    const struct cli_command *command = &cli_commands[i % n];
    return command->action->only_arguments ? cli_find("report") : command;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (path[0] == '\0')
        prepare();
    const struct cli_command *command = choose(n > 0 ? bytes[0] : 0);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    PROMISE(fd >= 0 && (n < 2 || write(fd, bytes + 1, n - 1) == (ssize_t)n - 1));
    close(fd);
    char help[] = "--help", program[] = "riffle";
    char *words[] = {program, (char *)command->name, help, NULL};
    int status = cli_run(command, 3, words);
    PROMISE(status == CLI_OK || status == CLI_USAGE || status == CLI_OWN_FAILURE);
    return 0;
}
