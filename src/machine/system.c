/* system.c - system calls, one small function each, found through a table of their numbers. */
#include "machine/system.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, SECONDS_AT_START = 1000000000 };

typedef int64_t call(struct rf_system *system, const uint64_t *a);

static int64_t result_of(ssize_t result)
{
    return result < 0 ? -errno : result;
}

/* The host's memory behind a guest buffer, or NULL. An empty buffer is somewhere. */
static void *buffer(const struct rf_system *system, uint64_t address, uint64_t length,
                    unsigned rights)
{
    const struct rf_memory *memory = &system->core->memory;
    if (length == 0)
        return memory->bytes;
    return rf_memory_allows(memory, address, length, rights) ? memory->bytes + address : NULL;
}

/* --- files ------------------------------------------------------------------------------------ */

static int host_file(const struct rf_system *system, uint64_t fd)
{
    return fd < RF_SYSTEM_FILES ? system->file[fd] : -1;
}

static int64_t add_file(struct rf_system *system, int host)
{
    if (host < 0)
        return -errno;
    for (int fd = 0; fd < RF_SYSTEM_FILES; fd++)
        if (system->file[fd] < 0) {
            system->file[fd] = host;
            return fd;
        }
    close(host);
    return -EMFILE;
}

/* A guest path as the host's; absolute ones below the root. */
static bool host_path(const struct rf_system *system, uint64_t address, char path[PATH_SIZE])
{
    char guest[PATH_SIZE];
    if (!rf_memory_string(&system->core->memory, address, guest, sizeof guest))
        return false;
    const char *root = guest[0] == '/' ? system->root : "";
    return snprintf(path, PATH_SIZE, "%s%s", root, guest) < PATH_SIZE;
}

static int host_directory(const struct rf_system *system, uint64_t fd)
{
    return (int32_t)fd == AT_FDCWD ? AT_FDCWD : host_file(system, fd);
}

static int64_t call_openat(struct rf_system *system, const uint64_t *a)
{
    char path[PATH_SIZE];
    if (!host_path(system, a[1], path))
        return -EFAULT;
    return add_file(
        system, openat(host_directory(system, a[0]), path, (int)a[2] | O_CLOEXEC, (mode_t)a[3]));
}

static int64_t call_close(struct rf_system *system, const uint64_t *a)
{
    int host = host_file(system, a[0]);
    if (host < 0)
        return -EBADF;
    system->file[a[0]] = -1;
    return host <= 2 ? 0 : result_of(close(host));
}

static int64_t call_read(struct rf_system *system, const uint64_t *a)
{
    void *bytes = buffer(system, a[1], a[2], RF_WRITE);
    return bytes == NULL ? -EFAULT : result_of(read(host_file(system, a[0]), bytes, a[2]));
}

static int64_t call_write(struct rf_system *system, const uint64_t *a)
{
    const void *bytes = buffer(system, a[1], a[2], RF_READ);
    return bytes == NULL ? -EFAULT : result_of(write(host_file(system, a[0]), bytes, a[2]));
}

static int64_t call_pread(struct rf_system *system, const uint64_t *a)
{
    void *bytes = buffer(system, a[1], a[2], RF_WRITE);
    return bytes == NULL ? -EFAULT
                         : result_of(pread(host_file(system, a[0]), bytes, a[2], (off_t)a[3]));
}

static int64_t call_pwrite(struct rf_system *system, const uint64_t *a)
{
    const void *bytes = buffer(system, a[1], a[2], RF_READ);
    return bytes == NULL ? -EFAULT
                         : result_of(pwrite(host_file(system, a[0]), bytes, a[2], (off_t)a[3]));
}

/* readv and writev as a row of single calls. */
static int64_t each_piece(struct rf_system *system, const uint64_t *a, call *one)
{
    int64_t total = 0;
    const uint64_t *pieces = buffer(system, a[1], a[2] < 1024 ? a[2] * 16 : 0, RF_READ);
    if (pieces == NULL || a[2] >= 1024)
        return -EFAULT;
    for (uint64_t i = 0; i < a[2]; i++) {
        const uint64_t single[3] = {a[0], pieces[2 * i], pieces[2 * i + 1]};
        int64_t n = single[2] != 0 ? one(system, single) : 0;
        if (n < 0)
            return total > 0 ? total : n;
        total += n;
        if ((uint64_t)n < single[2])
            break;
    }
    return total;
}

static int64_t call_readv(struct rf_system *system, const uint64_t *a)
{
    return each_piece(system, a, call_read);
}

static int64_t call_writev(struct rf_system *system, const uint64_t *a)
{
    return each_piece(system, a, call_write);
}

static int64_t call_lseek(struct rf_system *system, const uint64_t *a)
{
    return result_of(lseek(host_file(system, a[0]), (off_t)a[1], (int)a[2]));
}

static int64_t call_ftruncate(struct rf_system *system, const uint64_t *a)
{
    return result_of(ftruncate(host_file(system, a[0]), (off_t)a[1]));
}

static int64_t call_fsync(struct rf_system *system, const uint64_t *a)
{
    return result_of(fsync(host_file(system, a[0])));
}

static int64_t call_dup(struct rf_system *system, const uint64_t *a)
{
    return add_file(system, dup(host_file(system, a[0])));
}

static int64_t call_fcntl(struct rf_system *system, const uint64_t *a)
{
    int host = host_file(system, a[0]);
    if (host < 0)
        return -EBADF;
    switch (a[1]) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return call_dup(system, a);
    case F_GETFL:
        return result_of(fcntl(host, F_GETFL));
    case F_GETFD:
    case F_SETFD:
    case F_SETFL:
    case F_SETLK: /* nobody else is there */
    case F_SETLKW:
        return 0;
    default:
        return -EINVAL;
    }
}

/* Nothing is a terminal: what a program prints must not depend on where it is run. */
static int64_t call_ioctl(struct rf_system *system, const uint64_t *a)
{
    return host_file(system, a[0]) < 0 ? -EBADF : -ENOTTY;
}

/* struct stat of RISC-V Linux. Times are left out: they would differ from run to run. */
static int64_t put_stat(struct rf_system *system, uint64_t address, const struct stat *host)
{
    uint8_t *to = buffer(system, address, 128, RF_WRITE);
    if (to == NULL)
        return -EFAULT;
    const uint64_t wide[] = {host->st_dev, host->st_ino};
    const uint32_t narrow[] = {host->st_mode, (uint32_t)host->st_nlink, 1000, 1000};
    const uint64_t size = (uint64_t)host->st_size, blocks = (uint64_t)host->st_blocks;
    const uint32_t block_size = 4096;
    memset(to, 0, 128);
    memcpy(to, wide, 16);
    memcpy(to + 16, narrow, 16);
    memcpy(to + 48, &size, 8);
    memcpy(to + 56, &block_size, 4);
    memcpy(to + 64, &blocks, 8);
    return 0;
}

static int64_t call_fstat(struct rf_system *system, const uint64_t *a)
{
    struct stat host;
    if (fstat(host_file(system, a[0]), &host) != 0)
        return -errno;
    return put_stat(system, a[1], &host);
}

static int64_t call_newfstatat(struct rf_system *system, const uint64_t *a)
{
    char path[PATH_SIZE];
    struct stat host;
    if (!host_path(system, a[1], path))
        return -EFAULT;
    if (path[0] == '\0')
        return call_fstat(system, (const uint64_t[]){a[0], a[2]});
    int flags = (int)a[3] & AT_SYMLINK_NOFOLLOW;
    if (fstatat(host_directory(system, a[0]), path, &host, flags) != 0)
        return -errno;
    return put_stat(system, a[2], &host);
}

static int64_t call_faccessat(struct rf_system *system, const uint64_t *a)
{
    char path[PATH_SIZE];
    if (!host_path(system, a[1], path))
        return -EFAULT;
    return result_of(faccessat(host_directory(system, a[0]), path, (int)a[2], 0));
}

static int64_t call_readlinkat(struct rf_system *system, const uint64_t *a)
{
    char path[PATH_SIZE];
    void *bytes = buffer(system, a[2], a[3], RF_WRITE);
    if (bytes == NULL || !host_path(system, a[1], path))
        return -EFAULT;
    if (strncmp(path, "/proc/self", 10) == 0)
        return -ENOENT; /* that would be us, not the guest */
    return result_of(readlinkat(host_directory(system, a[0]), path, bytes, a[3]));
}

static int64_t call_unlinkat(struct rf_system *system, const uint64_t *a)
{
    char path[PATH_SIZE];
    if (!host_path(system, a[1], path))
        return -EFAULT;
    return result_of(unlinkat(host_directory(system, a[0]), path, (int)a[2]));
}

static int64_t call_mkdirat(struct rf_system *system, const uint64_t *a)
{
    char path[PATH_SIZE];
    if (!host_path(system, a[1], path))
        return -EFAULT;
    return result_of(mkdirat(host_directory(system, a[0]), path, (mode_t)a[2]));
}

static int64_t call_renameat(struct rf_system *system, const uint64_t *a)
{
    char from[PATH_SIZE], to[PATH_SIZE];
    if (!host_path(system, a[1], from) || !host_path(system, a[3], to))
        return -EFAULT;
    return result_of(
        renameat(host_directory(system, a[0]), from, host_directory(system, a[2]), to));
}

static int64_t call_getcwd(struct rf_system *system, const uint64_t *a)
{
    char *to = buffer(system, a[0], a[1], RF_WRITE);
    if (to == NULL)
        return -EFAULT;
    return getcwd(to, a[1]) == NULL ? -errno : (int64_t)strlen(to) + 1;
}

/* --- memory ----------------------------------------------------------------------------------- */

static uint64_t page_up(uint64_t address)
{
    return (address + RF_PAGE - 1) & ~(uint64_t)(RF_PAGE - 1);
}

static int64_t call_brk(struct rf_system *system, const uint64_t *a)
{
    struct rf_memory *memory = &system->core->memory;
    uint64_t old = page_up(system->brk), wanted = page_up(a[0]);
    if (a[0] < system->brk_start || wanted > system->mmap_from)
        return (int64_t)system->brk;
    if (wanted > old && !rf_memory_map(memory, old, wanted - old, RF_READ | RF_WRITE))
        return (int64_t)system->brk;
    if (wanted < old)
        rf_memory_unmap(memory, wanted, old - wanted);
    system->brk = a[0];
    return (int64_t)system->brk;
}

static unsigned rights_of(uint64_t protection)
{
    return (unsigned)protection & (RF_READ | RF_WRITE | RF_EXECUTE); /* the same three bits */
}

/* Read a file into fresh pages: private and shared mappings look the same to one process. */
static bool fill_from_file(struct rf_system *system, uint64_t address, const uint64_t *a)
{
    uint8_t *to = system->core->memory.bytes + address;
    uint64_t done = 0;
    while (done < a[1]) {
        ssize_t n = pread(host_file(system, a[4]), to + done, a[1] - done, (off_t)(a[5] + done));
        if (n < 0)
            return false;
        if (n == 0)
            break;
        done += (uint64_t)n;
    }
    return true;
}

enum { GUEST_MAP_FIXED = 0x10, GUEST_MAP_ANONYMOUS = 0x20 };

static int64_t call_mmap(struct rf_system *system, const uint64_t *a)
{
    struct rf_memory *memory = &system->core->memory;
    bool fixed = (a[3] & GUEST_MAP_FIXED) != 0;
    if (a[1] == 0 || a[1] > memory->size || (fixed && (a[0] & (RF_PAGE - 1)) != 0))
        return -EINVAL;
    uint64_t at = fixed ? a[0] : rf_memory_find_free(memory, system->mmap_from, a[1]);
    if (at == 0 || (fixed && !rf_memory_unmap(memory, at, a[1])))
        return -ENOMEM;
    if (!rf_memory_map(memory, at, a[1], rights_of(a[2]) | 8)) /* 8: taken, whatever its rights */
        return -ENOMEM;
    if ((a[3] & GUEST_MAP_ANONYMOUS) == 0 && !fill_from_file(system, at, a)) {
        int why = errno;
        rf_memory_unmap(memory, at, a[1]);
        return -why;
    }
    rf_core_flush(system->core);
    return (int64_t)at;
}

static int64_t call_munmap(struct rf_system *system, const uint64_t *a)
{
    rf_core_flush(system->core);
    return rf_memory_unmap(&system->core->memory, a[0], a[1]) ? 0 : -EINVAL;
}

static int64_t call_mprotect(struct rf_system *system, const uint64_t *a)
{
    rf_core_flush(system->core);
    return rf_memory_map(&system->core->memory, a[0], a[1], rights_of(a[2]) | 8) ? 0 : -ENOMEM;
}

/* Always moves when it grows: simple, and programs may not rely on less. */
static int64_t call_mremap(struct rf_system *system, const uint64_t *a)
{
    struct rf_memory *memory = &system->core->memory;
    uint64_t old = page_up(a[1]), wanted = page_up(a[2]);
    if (!rf_memory_allows(memory, a[0], old, RF_READ))
        return -EFAULT;
    if (wanted <= old) {
        if (wanted < old)
            rf_memory_unmap(memory, a[0] + wanted, old - wanted);
        return (int64_t)a[0];
    }
    uint64_t at = rf_memory_find_free(memory, system->mmap_from, wanted);
    if (at == 0 || (a[3] & 1) == 0)
        return -ENOMEM;
    rf_memory_map(memory, at, wanted, RF_READ | RF_WRITE);
    memcpy(memory->bytes + at, memory->bytes + a[0], old);
    rf_memory_unmap(memory, a[0], old);
    return (int64_t)at;
}

/* --- time, identity and the rest -------------------------------------------------------------- */

static bool put_words(struct rf_system *system, uint64_t address, const uint64_t *words, size_t n)
{
    void *to = buffer(system, address, n * sizeof *words, RF_WRITE);
    if (to != NULL)
        memcpy(to, words, n * sizeof *words);
    return to != NULL;
}

/* A nanosecond an instruction, from a fixed second on. */
static int64_t call_clock_gettime(struct rf_system *system, const uint64_t *a)
{
    uint64_t now = system->core->instructions;
    const uint64_t time[2] = {SECONDS_AT_START + now / 1000000000, now % 1000000000};
    return put_words(system, a[1], time, 2) ? 0 : -EFAULT;
}

static int64_t call_gettimeofday(struct rf_system *system, const uint64_t *a)
{
    uint64_t now = system->core->instructions / 1000;
    const uint64_t time[2] = {SECONDS_AT_START + now / 1000000, now % 1000000};
    return put_words(system, a[0], time, 2) ? 0 : -EFAULT;
}

static int64_t call_times(struct rf_system *system, const uint64_t *a)
{
    uint64_t ticks = system->core->instructions / 10000000;
    const uint64_t times[4] = {ticks, 0, 0, 0};
    return put_words(system, a[0], times, 4) ? (int64_t)ticks : -EFAULT;
}

static int64_t call_getrusage(struct rf_system *system, const uint64_t *a)
{
    uint64_t now = system->core->instructions / 1000;
    const uint64_t usage[18] = {now / 1000000, now % 1000000};
    return put_words(system, a[1], usage, 18) ? 0 : -EFAULT;
}

static int64_t call_sysinfo(struct rf_system *system, const uint64_t *a)
{
    const uint64_t info[14] = {0, 0, 0, 0, 1 << 30, 1 << 29, 0, 0, 0, 0, 1, 0, 0, 1};
    return put_words(system, a[0], info, 14) ? 0 : -EFAULT;
}

static int64_t call_getrandom(struct rf_system *system, const uint64_t *a)
{
    uint8_t *to = buffer(system, a[0], a[1], RF_WRITE);
    if (to == NULL)
        return -EFAULT;
    for (uint64_t i = 0; i < a[1]; i++)
        to[i] = (uint8_t)rf_random_next(&system->random);
    return (int64_t)a[1];
}

static int64_t call_prlimit(struct rf_system *system, const uint64_t *a)
{
    const uint64_t stack[2] = {8 << 20, UINT64_MAX};
    return a[3] == 0 || put_words(system, a[3], stack, 2) ? 0 : -EFAULT;
}

static int64_t call_uname(struct rf_system *system, const uint64_t *a)
{
    static const char *const names[6] = {"Linux", "riffle", "6.1.0", "#1", "riscv64", ""};
    char *to = buffer(system, a[0], sizeof names / sizeof *names * 65, RF_WRITE);
    if (to == NULL)
        return -EFAULT;
    memset(to, 0, 6 * 65);
    for (size_t i = 0; i < 6; i++)
        memcpy(to + i * 65, names[i], strlen(names[i]));
    return 0;
}

static int64_t call_exit(struct rf_system *system, const uint64_t *a)
{
    system->exited = true;
    system->exit_status = (int)(a[0] & 255);
    return 0;
}

/* abort() and raise() come here: end as a shell would tell it. */
static int64_t call_kill(struct rf_system *system, const uint64_t *a)
{
    system->exited = true;
    system->exit_status = 128 + (int)(a[1] & 127);
    return 0;
}

static int64_t call_tgkill(struct rf_system *system, const uint64_t *a)
{
    return call_kill(system, a + 1);
}

static int64_t call_id(struct rf_system *system, const uint64_t *a)
{
    (void)system;
    (void)a;
    return 1000;
}

/* Things that can be accepted and need nothing done in a process alone. */
static int64_t call_nothing(struct rf_system *system, const uint64_t *a)
{
    (void)system;
    (void)a;
    return 0;
}

static const struct {
    unsigned number;
    call *run;
} calls[] = {
    {17,  call_getcwd       },
    {23,  call_dup          },
    {25,  call_fcntl        },
    {29,  call_ioctl        },
    {34,  call_mkdirat      },
    {35,  call_unlinkat     },
    {38,  call_renameat     },
    {46,  call_ftruncate    },
    {48,  call_faccessat    },
    {56,  call_openat       },
    {57,  call_close        },
    {62,  call_lseek        },
    {63,  call_read         },
    {64,  call_write        },
    {65,  call_readv        },
    {66,  call_writev       },
    {67,  call_pread        },
    {68,  call_pwrite       },
    {78,  call_readlinkat   },
    {79,  call_newfstatat   },
    {80,  call_fstat        },
    {82,  call_fsync        },
    {83,  call_fsync        },
    {93,  call_exit         },
    {94,  call_exit         },
    {96,  call_id           }, /* set_tid_address */
    {98,  call_nothing      }, /* futex: no other thread */
    {99,  call_nothing      }, /* set_robust_list */
    {101, call_nothing      }, /* nanosleep */
    {113, call_clock_gettime},
    {115, call_nothing      }, /* clock_nanosleep */
    {124, call_nothing      }, /* sched_yield */
    {129, call_kill         },
    {130, call_kill         },
    {131, call_tgkill       },
    {132, call_nothing      }, /* sigaltstack */
    {134, call_nothing      }, /* rt_sigaction */
    {135, call_nothing      }, /* rt_sigprocmask */
    {153, call_times        },
    {160, call_uname        },
    {165, call_getrusage    },
    {166, call_nothing      }, /* umask */
    {169, call_gettimeofday },
    {172, call_id           },
    {173, call_id           },
    {174, call_id           },
    {175, call_id           },
    {176, call_id           },
    {177, call_id           },
    {178, call_id           },
    {179, call_sysinfo      },
    {214, call_brk          },
    {215, call_munmap       },
    {216, call_mremap       },
    {222, call_mmap         },
    {226, call_mprotect     },
    {233, call_nothing      }, /* madvise */
    {261, call_prlimit      },
    {276, call_renameat     },
    {278, call_getrandom    },
};

void rf_system_open(struct rf_system *system, struct rf_core *core, uint64_t brk, const char *root)
{
    memset(system, 0, sizeof *system);
    system->core = core;
    system->root = root;
    system->brk_start = system->brk = page_up(brk);
    system->mmap_from = 0x60000000;
    for (int fd = 0; fd < RF_SYSTEM_FILES; fd++)
        system->file[fd] = fd <= 2 ? fd : -1;
    rf_random_seed(&system->random, 1);
}

void rf_system_close(struct rf_system *system)
{
    for (int fd = 0; fd < RF_SYSTEM_FILES; fd++)
        if (system->file[fd] > 2)
            close(system->file[fd]);
}

static void note_unknown(struct rf_system *system, unsigned number)
{
    for (size_t i = 0; i < system->n_unknown; i++)
        if (system->unknown[i] == number)
            return;
    if (system->n_unknown < RF_SYSTEM_UNKNOWN_MAX)
        system->unknown[system->n_unknown++] = number;
}

void rf_system_call(struct rf_system *system)
{
    struct rf_core *core = system->core;
    uint64_t number = core->x[17];
    int64_t result = -ENOSYS;
    bool known = false;
    for (size_t i = 0; i < sizeof calls / sizeof *calls && !known; i++)
        if (calls[i].number == number) {
            result = calls[i].run(system, &core->x[10]);
            known = true;
        }
    if (!known)
        note_unknown(system, (unsigned)number);
    core->x[10] = (uint64_t)result;
    core->pc += 4;
    core->instructions++;
    core->stop = RF_STOP_NONE;
}
