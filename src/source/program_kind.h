/* program_kind.h - can Valgrind run this program? Asked by riffle of the target, by the probe of what a child becomes.
 *
 *     setuid, setgid, capabilities   only the system can start it with its rights
 *     32 bits, another machine       the probe is for 64-bit x86
 *     may not be read                Valgrind loads a program by reading it
 *
 * A script is what its interpreter is. The caller brings a function that looks at a file, for the probe has no C
 * library. This file is MIT licensed and shared with the probe. */
#ifndef RF_SOURCE_PROGRAM_KIND_H
#define RF_SOURCE_PROGRAM_KIND_H

#include <stdint.h>

enum rf_program_kind {
    RF_PROGRAM_FINE, /* or not there, or no program: let exec say so */
    RF_PROGRAM_SETUID,
    RF_PROGRAM_SETGID,
    RF_PROGRAM_CAPABLE,
    RF_PROGRAM_32_BIT,
    RF_PROGRAM_RISCV,
    RF_PROGRAM_FOREIGN,
    RF_PROGRAM_UNREADABLE,
    RF_PROGRAM_KINDS,
};

enum { RF_PROGRAM_HEAD = 256, RF_PROGRAM_SCRIPTS_MAX = 5 };

/* What the system says of a file. */
struct rf_program_file {
    char path[4096];
    uint32_t mode;
    int is_there, is_readable, has_capabilities;
    unsigned char head[RF_PROGRAM_HEAD];
    uint32_t n; /* bytes of the head */
};

/* Fills in everything but the path. */
typedef void rf_program_look(struct rf_program_file *file);

static inline enum rf_program_kind rf_program_kind_of_elf(const unsigned char *head)
{
    enum { CLASS = 4, CLASS_32 = 1, MACHINE = 18, X86_64 = 62, I386 = 3, RISCV = 243 };
    unsigned machine = head[MACHINE] | (unsigned)head[MACHINE + 1] << 8;
    if (machine == RISCV)
        return RF_PROGRAM_RISCV;
    if (machine != X86_64 && machine != I386)
        return RF_PROGRAM_FOREIGN;
    return head[CLASS] == CLASS_32 ? RF_PROGRAM_32_BIT : RF_PROGRAM_FINE;
}

/* The interpreter of a script takes the place of the path; 0: it is no script. */
static inline int rf_program_follow_script(struct rf_program_file *file)
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

/* file->path is the program; it is that of the last interpreter afterwards. */
static inline enum rf_program_kind rf_program_kind(struct rf_program_file *file,
                                                   rf_program_look *look)
{
    for (int i = 0; i < RF_PROGRAM_SCRIPTS_MAX; i++) {
        look(file);
        if (!file->is_there)
            return RF_PROGRAM_FINE;
        if (file->mode & 04000)
            return RF_PROGRAM_SETUID;
        if ((file->mode & 02010) == 02010)
            return RF_PROGRAM_SETGID;
        if (file->has_capabilities)
            return RF_PROGRAM_CAPABLE;
        if (!file->is_readable)
            return RF_PROGRAM_UNREADABLE;
        if (file->n >= 20 && file->head[0] == 0x7f && file->head[1] == 'E' &&
            file->head[2] == 'L' && file->head[3] == 'F')
            return rf_program_kind_of_elf(file->head);
        if (!rf_program_follow_script(file))
            break;
    }
    return RF_PROGRAM_FINE;
}

#endif
