/* output.c - files of reports, pages and exports: whole or not at all, and for their owner alone.
 *
 * A file is written under a temporary name beside the wanted one, which it replaces when it is whole. An
 * existing file that is not regular (a pipe, a device) is written in place, and so is what a link to a descriptor
 * (/dev/stdout, /dev/fd/3) means, whatever it is. Other links are replaced, not followed. A file that replaces one of its
 * owner's keeps the mode of that.
 *
 * Whether that will be possible is checked before anything runs, so that an hour of profiling does not end in
 * "no such folder". The answer is a good guess, not a promise: a disk may still fill up. */
#include "plan.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0, or the reason why no file can be created in the folder of `path`, under that name and a temporary one. */
static int folder_reason(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t n = strlen(slash != NULL ? slash + 1 : path);
    if (path[0] == '\0')
        return ENOENT;
    if (n + strlen(".XXXXXX") > NAME_MAX)
        return ENAMETOOLONG;
    if (slash == NULL)
        return access(".", W_OK | X_OK) == 0 ? 0 : errno;
    char *folder = strndup(path, (size_t)(slash - path) + 1);
    if (folder == NULL)
        return ENOMEM;
    int reason = access(folder, W_OK | X_OK) == 0 ? 0 : errno;
    free(folder);
    return reason;
}

int cli_check_output(const char *path)
{
    struct stat status;
    int reason = 0;
    if (path == NULL || strcmp(path, "-") == 0)
        return CLI_OK;
    if (rf_descriptor_of(path) >= 0)
        return CLI_OK;
    if (stat(path, &status) != 0 || S_ISREG(status.st_mode))
        reason = folder_reason(path);
    else if (S_ISDIR(status.st_mode))
        reason = EISDIR;
    else if (access(path, W_OK) != 0)
        reason = errno;
    return reason == 0 ? CLI_OK
                       : cli_fail(CLI_FAILED, "%s: cannot create: %s", path, strerror(reason));
}

bool cli_same_file(const char *left, const char *right)
{
    struct stat one, other;
    if (left == NULL || right == NULL || strcmp(left, "-") == 0)
        return false;
    if (stat(left, &one) != 0 || stat(right, &other) != 0)
        return strcmp(left, right) == 0;
    return S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* ---- writing ---- */

static rf_status cannot_write(const struct cli_output *output, struct rf_error *error)
{
    snprintf(error->message, sizeof error->message, "%s: cannot write: %s", output->path,
             strerror(errno));
    return RF_EIO;
}

/* Duplicates have one offset: what others wrote there stays, and so does O_APPEND. */
static FILE *open_descriptor(int descriptor)
{
    int fd = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (fd >= 0 && out == NULL)
        close(fd);
    return out;
}

/* ---- what a signal must not leave behind ---- */

enum { BESIDE_MAX = 2 }; /* a report and its page */
static const char *volatile beside[BESIDE_MAX];
static pid_t
    beside_owner; /* readers of symbols are forked off, and may end by a signal of their own */

void cli_output_die(int number)
{
    for (size_t i = 0; i < BESIDE_MAX && getpid() == beside_owner; i++)
        if (beside[i] != NULL)
            unlink(beside[i]);
    signal(number, SIG_DFL);
    raise(number);
}

static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/* Signals that are ignored, or that somebody attends to, do not end us. */
static void remember(const char *temporary)
{
    beside_owner = getpid();
    beside[beside[0] != NULL] = temporary;
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        struct sigaction action;
        if (sigaction(deadly[i], NULL, &action) != 0 || action.sa_handler != SIG_DFL)
            continue;
        action = (struct sigaction){.sa_handler = cli_output_die};
        sigaction(deadly[i], &action, NULL);
    }
}

void cli_output_forget(const char *temporary)
{
    for (size_t i = 0; i < BESIDE_MAX; i++)
        if (beside[i] == temporary)
            beside[i] = NULL;
}

/* Signals wait until the file is known that they have to remove. */
int cli_output_create(char *temporary)
{
    sigset_t held, before;
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        sigaddset(&held, deadly[i]);
    sigprocmask(SIG_BLOCK, &held, &before);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd >= 0)
        remember(temporary);
    int reason = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return fd;
}

/* Somebody else's file says nothing about who may read ours; nor does a link, which is replaced. */
void cli_output_keep_mode(int fd, const char *path)
{
    struct stat old, new;
    if (lstat(path, &old) == 0 && S_ISREG(old.st_mode) && fstat(fd, &new) == 0 &&
        old.st_uid == new.st_uid && old.st_gid == new.st_gid)
        (void)!fchmod(fd, old.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO));
}

static void open_beside(struct cli_output *output)
{
    int fd = cli_output_create(output->temporary);
    output->out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (output->out != NULL)
        cli_output_keep_mode(fd, output->path);
    if (fd >= 0 && output->out == NULL) { /* no memory for its buffer */
        int reason = errno;
        close(fd);
        unlink(output->temporary);
        cli_output_forget(output->temporary);
        errno = reason;
    }
}

rf_status cli_output_open(struct cli_output *output, const char *path, struct rf_error *error)
{
    struct stat about;
    *output = (struct cli_output){.path = path};
    if (strcmp(path, "-") == 0) {
        output->out = stdout;
        return RF_OK;
    }
    int descriptor = rf_descriptor_of(path);
    if (descriptor >= 0)
        output->out = open_descriptor(descriptor);
    else if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        output->out = fopen(path, "we");
    else if (asprintf(&output->temporary, "%s.XXXXXX", path) >= 0)
        open_beside(output);
    else
        output->temporary = NULL;
    if (output->out != NULL)
        return RF_OK;
    free(output->temporary);
    return cannot_write(output, error);
}

rf_status cli_output_close(struct cli_output *output, rf_status status, struct rf_error *error)
{
    if (status == RF_EIO && error->message[0] == '\0')
        cannot_write(output, error);
    bool good = output->out == stdout || fclose(output->out) == 0;
    if (status == RF_OK && good && output->temporary != NULL)
        good = rename(output->temporary, output->path) == 0;
    if (status == RF_OK && !good)
        status = cannot_write(output, error);
    if (status != RF_OK && output->temporary != NULL)
        unlink(output->temporary);
    cli_output_forget(output->temporary);
    free(output->temporary);
    return status;
}
