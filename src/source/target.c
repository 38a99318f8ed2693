/* target.c - can this program be profiled, and if not, why? target_kind.h decides. */
#include "source/target.h"
#include "event/input.h"
#include <riffle/probe.h>
#include "base/error.h"
#include <elf.h>
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

int rf_probe_find(char *path, size_t size, const char *name)
{
    const char *list = getenv("PATH");
    if (strchr(name, '/') != NULL)
        return rf_format(path, size, "%s", name) < size && is_program(path);
    for (size_t n; list != NULL && *list != '\0'; list += n + (list[n] == ':')) {
        n = strcspn(list, ":");
        if (n > 0 && rf_format(path, size, "%.*s/%s", (int)n, list, name) < size &&
            is_program(path))
            return 1;
    }
    return 0;
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
    ssize_t n = fd >= 0 ? rf_input_read(fd, file->head, sizeof file->head) : 0;
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
    [RF_TARGET_DAMAGED] = {"damaged", "is a damaged program: its headers make no sense, or a part "
                                      "of the file is missing"},
    [RF_TARGET_NO_INTERPRETER] = {"without its loader",
                                  "cannot run: the loader that it names is not there"},
};

/* ---- the program itself ---- */

static bool is_elf(const struct rf_target_file *file)
{
    return file->n >= 4 && memcmp(file->head, ELFMAG, SELFMAG) == 0;
}

static bool has_good_header(const Elf64_Ehdr *header)
{
    return header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
           (header->e_type == ET_EXEC || header->e_type == ET_DYN) &&
           header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum > 0;
}

static bool lies_inside(const Elf64_Phdr *segment, uint64_t size)
{
    return segment->p_offset <= size && segment->p_filesz <= size - segment->p_offset;
}

/* Can the loader that a program names be read? */
static bool has_interpreter(int fd, const Elf64_Phdr *segment)
{
    char path[4096] = "";
    if (segment->p_filesz == 0 || segment->p_filesz > sizeof path)
        return false;
    ssize_t n = rf_input_at(fd, path, segment->p_filesz, (off_t)segment->p_offset);
    return n == (ssize_t)segment->p_filesz && path[n - 1] == '\0' && access(path, R_OK) == 0;
}

/* Check the segments: all lie inside the file, and at least one is loaded. */
static enum rf_target_kind judge_segments(int fd, const Elf64_Ehdr *header, uint64_t size)
{
    bool loads = false;
    enum rf_target_kind kind = RF_TARGET_FINE;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        uint64_t at = header->e_phoff + i * sizeof segment;
        if (at < header->e_phoff || at > size ||
            rf_input_at(fd, &segment, sizeof segment, (off_t)at) != sizeof segment)
            return RF_TARGET_DAMAGED;
        if (segment.p_type != PT_LOAD && segment.p_type != PT_INTERP)
            continue;
        if (!lies_inside(&segment, size))
            return RF_TARGET_DAMAGED;
        loads |= segment.p_type == PT_LOAD;
        if (segment.p_type == PT_INTERP && !has_interpreter(fd, &segment))
            kind = RF_TARGET_NO_INTERPRETER;
    }
    return loads ? kind : RF_TARGET_DAMAGED;
}

/* A program for this machine by its first bytes: is the rest there, too? */
static enum rf_target_kind judge_elf(const char *path)
{
    Elf64_Ehdr header;
    struct stat status;
    enum rf_target_kind kind = RF_TARGET_DAMAGED;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return RF_TARGET_UNREADABLE;
    if (rf_input_at(fd, &header, sizeof header, 0) == sizeof header && has_good_header(&header) &&
        fstat(fd, &status) == 0)
        kind = judge_segments(fd, &header, (uint64_t)status.st_size);
    close(fd);
    return kind;
}

const char *rf_target_kind_name(enum rf_target_kind kind)
{
    return kinds[kind < RF_TARGET_KINDS ? kind : RF_TARGET_FINE].name;
}

rf_status rf_target_check(const char *name, struct rf_error *error)
{
    struct rf_target_file file;
    if (!rf_probe_find(file.path, sizeof file.path, name))
        return RF_OK;
    enum rf_target_kind kind = rf_target_kind(&file, look);
    if (kind == RF_TARGET_FINE && is_elf(&file))
        kind = judge_elf(file.path);
    if (kind == RF_TARGET_FINE && file.path[0] != '\0' && !is_program(file.path))
        return rf_fail(error, RF_ENOTSUP, "'%s' cannot run: its interpreter '%s' is no program",
                       name, file.path);
    if (kind == RF_TARGET_FINE)
        return RF_OK;
    return rf_fail(error, RF_ENOTSUP, "'%s' %s", file.path, kinds[kind].sentence);
}
