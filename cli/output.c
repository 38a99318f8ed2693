/* output.c - can a file be written later? Checked before anything runs, so that an hour of profiling does not
 * end in "no such folder".
 *
 * Files are written under a temporary name beside the wanted one, so the folder must be writable. An existing
 * file that is not regular (a pipe, a device) is written in place. The answer is a good guess, not a promise:
 * a disk may still fill up. */
#include "plan.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0, or the reason why no file can be created in the folder of `path`. */
static int folder_reason(const char *path)
{
    const char *slash = strrchr(path, '/');
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
    if (left == NULL || right == NULL)
        return false;
    if (strcmp(left, right) == 0)
        return true;
    return stat(left, &one) == 0 && stat(right, &other) == 0 && S_ISREG(one.st_mode) &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}
