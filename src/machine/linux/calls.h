/* calls.h - the system calls: one function each, which system.c finds by number.
 *
 * A call gets its arguments unchecked, as the guest's registers hold them. It answers as Linux does: a result
 * or a negative error number. */
#ifndef RF_MACHINE_CALLS_H
#define RF_MACHINE_CALLS_H

#include "machine/linux/system.h"

typedef int64_t rf_call(struct rf_system *system, const uint64_t *a);

/* The host's memory behind a guest buffer; NULL: not allowed. An empty buffer is always allowed. */
static inline void *rf_call_buffer(const struct rf_system *system, uint64_t address,
                                   uint64_t length, unsigned rights)
{
    const struct rf_memory *memory = &system->core->memory;
    if (length == 0)
        return memory->bytes;
    return rf_memory_allows(memory, address, length, rights) ? memory->bytes + address : NULL;
}

/* The host's descriptor, -1: no such file. */
static inline int rf_call_file(const struct rf_system *system, uint64_t fd)
{
    return fd < RF_SYSTEM_FILES ? system->file[fd] : -1;
}

/* system.c */
rf_call rf_call_getrandom;
/* call_file.c */
rf_call rf_call_openat, rf_call_close, rf_call_read, rf_call_write, rf_call_pread, rf_call_pwrite,
    rf_call_readv, rf_call_writev, rf_call_lseek, rf_call_ftruncate, rf_call_fsync, rf_call_dup,
    rf_call_dup3, rf_call_fcntl, rf_call_ioctl, rf_call_fchmod, rf_call_getdents;
/* call_path.c, which has openat, too */
rf_call rf_call_fstat, rf_call_newfstatat, rf_call_faccessat, rf_call_faccessat2,
    rf_call_readlinkat, rf_call_unlinkat, rf_call_mkdirat, rf_call_renameat, rf_call_getcwd,
    rf_call_fchmodat;
/* call_memory.c */
rf_call rf_call_brk, rf_call_mmap, rf_call_munmap, rf_call_mprotect, rf_call_mremap,
    rf_call_madvise;

/* call_signal.c, and signals.c: sigreturn */
rf_call rf_call_sigaction, rf_call_sigprocmask, rf_call_sigpending, rf_call_sigaltstack,
    rf_call_kill, rf_call_tkill, rf_call_tgkill, rf_call_sigreturn;

/* call_file.c: a new number for a file of the host, lowest first; -errno when host is negative. */
int64_t rf_call_add_file(struct rf_system *system, int host, uint64_t from);

#endif
