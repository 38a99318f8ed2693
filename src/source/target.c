/* target.c - the program that is to be profiled: can it be, and why not? target_kind.h decides. */
#include "source/target.h"
#include "base/error.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

bool rf_target_find(char *path, size_t size, const char *name)
{
    const char *list = getenv("PATH");
    if (strchr(name, '/') != NULL)
        return rf_format(path, size, "%s", name) < size && is_program(path);
    for (size_t n; list != NULL && *list != '\0'; list += n + (list[n] == ':')) {
        n = strcspn(list, ":");
        if (n > 0 && rf_format(path, size, "%.*s/%s", (int)n, list, name) < size &&
            is_program(path))
            return true;
    }
    return false;
}

static void look(struct rf_target_file *file)
{
    struct stat status;
    file->n = 0;
    file->is_there = stat(file->path, &status) == 0 && S_ISREG(status.st_mode);
    if (!file->is_there)
        return;
    file->mode = status.st_mode;
    file->has_capabilities = getxattr(file->path, "security.capability", NULL, 0) > 0;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    file->is_readable = fd >= 0;
    ssize_t n = fd >= 0 ? read(fd, file->head, sizeof file->head) : 0;
    file->n = n > 0 ? (uint32_t)n : 0;
    if (fd >= 0)
        close(fd);
}

static const struct {
    const char *name, *sentence;
} kinds[RF_TARGET_KINDS] = {
    [RF_TARGET_FINE] = {"", ""},
    [RF_TARGET_SETUID] = {"setuid", "is setuid: only the system can start it with its rights, "
                                    "so it cannot be profiled"},
    [RF_TARGET_SETGID] = {"setgid", "is setgid: only the system can start it with its rights, "
                                    "so it cannot be profiled"},
    [RF_TARGET_CAPABLE] = {"with capabilities", "has file capabilities: only the system can start "
                                                "it with its rights, so it cannot be profiled"},
    [RF_TARGET_32_BIT] = {"32-bit", "is a 32-bit program; only 64-bit ones can be profiled"},
    [RF_TARGET_RISCV] = {"RISC-V", "is a RISC-V program; 'riffle sim' runs and profiles it"},
    [RF_TARGET_FOREIGN] = {"of another machine", "is a program of another machine; 'riffle run' "
                                                 "is for x86-64, 'riffle sim' for RISC-V"},
    [RF_TARGET_UNREADABLE] = {"unreadable", "may be executed but not read, so it cannot be "
                                            "profiled"},
};

const char *rf_target_kind_name(enum rf_target_kind kind)
{
    return kinds[kind < RF_TARGET_KINDS ? kind : RF_TARGET_FINE].name;
}

rf_status rf_target_check(const char *name, struct rf_error *error)
{
    struct rf_target_file file;
    if (!rf_target_find(file.path, sizeof file.path, name))
        return RF_OK;
    enum rf_target_kind kind = rf_target_kind(&file, look);
    if (kind == RF_TARGET_FINE)
        return RF_OK;
    return rf_fail(error, RF_ENOTSUP, "'%s' %s", file.path, kinds[kind].sentence);
}
