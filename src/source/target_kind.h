/* target_kind.h - can Valgrind run this program? riffle asks it for the target, the probe for what a child
 * becomes by exec.
 *
 *     setuid, setgid, capabilities   only the system can start it with its rights
 *     32 bits, another machine       the probe is for 64-bit x86
 *     may not be read                Valgrind loads a program by reading it
 *     damaged, no dynamic linker     the system would not start it, either
 *
 * A script is judged by its interpreter. The caller brings a function that reads a file's properties, because
 * the probe has no C library. This file is MIT licensed and shared with the probe. */
#ifndef RF_SOURCE_TARGET_KIND_H
#define RF_SOURCE_TARGET_KIND_H

#include <stdint.h>

enum rf_target_kind {
    RF_TARGET_FINE, /* or not there, or no program: let exec say so */
    RF_TARGET_SETUID,
    RF_TARGET_SETGID,
    RF_TARGET_CAPABLE,
    RF_TARGET_32_BIT,
    RF_TARGET_RISCV,
    RF_TARGET_FOREIGN,
    RF_TARGET_UNREADABLE,
    RF_TARGET_DAMAGED, /* these two are found only by riffle, in the target */
    RF_TARGET_NO_INTERPRETER,
    RF_TARGET_KINDS,
};

enum { RF_TARGET_HEAD = 256, RF_TARGET_SCRIPTS_MAX = 5 };

/* What the system says of a file. */
struct rf_target_file {
    char path[4096];
    uint32_t mode;
    int is_there, is_readable, has_capabilities;
    unsigned char head[RF_TARGET_HEAD];
    uint32_t n; /* bytes of the head */
};

/* Fills in everything but the path. */
typedef void rf_target_look(struct rf_target_file *file);

static inline enum rf_target_kind rf_target_kind_of_elf(const unsigned char *head)
{
    enum { CLASS = 4, CLASS_32 = 1, MACHINE = 18, X86_64 = 62, I386 = 3, RISCV = 243 };
    unsigned machine = head[MACHINE] | (unsigned)head[MACHINE + 1] << 8;
    if (machine == RISCV)
        return RF_TARGET_RISCV;
    if (machine != X86_64 && machine != I386)
        return RF_TARGET_FOREIGN;
    return head[CLASS] == CLASS_32 ? RF_TARGET_32_BIT : RF_TARGET_FINE;
}

/* The interpreter of a script takes the place of the path; 0: it is no script. */
static inline int rf_target_follow_script(struct rf_target_file *file)
{
    uint32_t at = 2, to = 0;
    if (file->n < 3 || file->head[0] != '#' || file->head[1] != '!')
        return 0;
    while (at < file->n && (file->head[at] == ' ' || file->head[at] == '\t'))
        at++;
    for (; at < file->n && file->head[at] > ' '; at++)
        file->path[to++] = (char)file->head[at];
    file->path[to] = '\0';
    return to > 0;
}

/* file->path is the program. Afterwards it is the path of the last interpreter. */
static inline enum rf_target_kind rf_target_kind(struct rf_target_file *file, rf_target_look *look)
{
    for (int i = 0; i < RF_TARGET_SCRIPTS_MAX; i++) {
        look(file);
        if (!file->is_there)
            return RF_TARGET_FINE;
        if (file->mode & 04000)
            return RF_TARGET_SETUID;
        if ((file->mode & 02010) == 02010)
            return RF_TARGET_SETGID;
        if (file->has_capabilities)
            return RF_TARGET_CAPABLE;
        if (!file->is_readable)
            return RF_TARGET_UNREADABLE;
        if (file->n >= 20 && file->head[0] == 0x7f && file->head[1] == 'E' &&
            file->head[2] == 'L' && file->head[3] == 'F')
            return rf_target_kind_of_elf(file->head);
        if (!rf_target_follow_script(file))
            break;
    }
    return RF_TARGET_FINE;
}

#endif
