/* shim.c - preloaded into the program: fails its n-th allocation or its n-th write, counts leaks.
 *
 *     RIFFLE_FAULT=alloc:7         the 7th malloc, calloc, realloc or strdup returns NULL
 *     RIFFLE_FAULT=write:2         the 2nd write, pwrite, fsync, fdatasync, ftruncate, linkat or rename
 *                                  fails with ENOSPC
 *     RIFFLE_FAULT_REPORT=FILE     gets "calls N failed 0|1 leaks N" when the program ends
 *
 * Children that start no other program count on from where their parent was, each for itself. A leak is a block that is still
 * there at the end of the program itself and was asked for by it or a library of ours; the C library keeps a few for itself (the
 * buffer of stdout), and what a child has goes with it. Its own inner writes, those of
 * stdio, do not pass here: a full stdout is tested with /dev/full instead. What a simulated program writes to the
 * descriptors 1 and 2 does not count either. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *ptr, size_t size);
void __libc_free(void *ptr);

enum mode { MODE_NONE, MODE_ALLOC, MODE_WRITE };
enum { LIVE_SLOTS = 1 << 16 };

static enum mode mode;
static unsigned long fail_at, calls;
static int ready;
static char report[4096];
static int failed_here, *failed = &failed_here; /* in the program or a child of it: they share it */

/* Blocks that are there, by address, with who asked; open addressing, 1 = was freed. */
static struct {
    uintptr_t block, caller;
} live[LIVE_SLOTS];

__attribute__((constructor)) static void start(void)
{
    const char *fault = getenv("RIFFLE_FAULT");
    if (fault != NULL && strncmp(fault, "alloc:", 6) == 0)
        mode = MODE_ALLOC;
    else if (fault != NULL && strncmp(fault, "write:", 6) == 0)
        mode = MODE_WRITE;
    if (mode != MODE_NONE)
        fail_at = strtoul(fault + 6, NULL, 10);
    const char *path = getenv("RIFFLE_FAULT_REPORT");
    snprintf(report, sizeof report, "%s", path != NULL ? path : "");
    unsetenv("LD_PRELOAD"); /* a program that this one runs is left alone */
    unsetenv("RIFFLE_FAULT");
    unsetenv("RIFFLE_FAULT_REPORT");
    void *shared =
        mmap(NULL, sizeof *failed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    failed = shared != MAP_FAILED ? shared : &failed_here;
    calls = 0;
    ready = 1;
}

/* Counts one call of `kind`; true when this is the one to fail. */
static int strikes(enum mode kind)
{
    if (!ready || kind != mode || ++calls != fail_at)
        return 0;
    *failed = 1;
    errno = kind == MODE_ALLOC ? ENOMEM : ENOSPC;
    return 1;
}

static size_t slot_of(uintptr_t block)
{
    return (size_t)(block >> 4) * 0x9e3779b1u % LIVE_SLOTS;
}

static void *enter(void *block, void *caller)
{
    if (block == NULL || !ready)
        return block;
    for (size_t i = slot_of((uintptr_t)block);; i = (i + 1) % LIVE_SLOTS)
        if (live[i].block <= 1) {
            live[i].block = (uintptr_t)block;
            live[i].caller = (uintptr_t)caller;
            return block;
        }
}

static void leave(void *block)
{
    for (size_t i = slot_of((uintptr_t)block); live[i].block != 0; i = (i + 1) % LIVE_SLOTS)
        if (live[i].block == (uintptr_t)block) {
            live[i].block = 1;
            return;
        }
}

void *malloc(size_t size)
{
    return strikes(MODE_ALLOC) ? NULL : enter(__libc_malloc(size), __builtin_return_address(0));
}

void *calloc(size_t n, size_t size)
{
    return strikes(MODE_ALLOC) ? NULL : enter(__libc_calloc(n, size), __builtin_return_address(0));
}

void *realloc(void *ptr, size_t size)
{
    if (strikes(MODE_ALLOC))
        return NULL;
    void *block = __libc_realloc(ptr, size);
    if (block != NULL && ptr != NULL)
        leave(ptr);
    return enter(block, __builtin_return_address(0));
}

char *strdup(const char *text)
{
    if (strikes(MODE_ALLOC))
        return NULL;
    char *copy = enter(__libc_malloc(strlen(text) + 1), __builtin_return_address(0));
    return copy != NULL ? strcpy(copy, text) : NULL;
}

void free(void *ptr)
{
    if (ptr != NULL)
        leave(ptr);
    __libc_free(ptr);
}

/* The C library's own function of that name. */
#define REAL(name, type) ((type)(uintptr_t)dlsym(RTLD_NEXT, name))

ssize_t write(int fd, const void *bytes, size_t n)
{
    if (fd > STDERR_FILENO && strikes(MODE_WRITE))
        return -1;
    return REAL("write", ssize_t(*)(int, const void *, size_t))(fd, bytes, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
    if (strikes(MODE_WRITE))
        return -1;
    return REAL("pwrite", ssize_t(*)(int, const void *, size_t, off_t))(fd, bytes, n, offset);
}

int fsync(int fd)
{
    return strikes(MODE_WRITE) ? -1 : REAL("fsync", int (*)(int))(fd);
}

int fdatasync(int fd)
{
    return strikes(MODE_WRITE) ? -1 : REAL("fdatasync", int (*)(int))(fd);
}

int ftruncate(int fd, off_t size)
{
    return strikes(MODE_WRITE) ? -1 : REAL("ftruncate", int (*)(int, off_t))(fd, size);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    if (strikes(MODE_WRITE))
        return -1;
    return REAL("linkat", int (*)(int, const char *, int, const char *, int))(from_folder, from,
                                                                              to_folder, to, flags);
}

int rename(const char *from, const char *to)
{
    if (strikes(MODE_WRITE))
        return -1;
    return REAL("rename", int (*)(const char *, const char *))(from, to);
}

static int is_ours(uintptr_t caller)
{
    Dl_info info;
    if (dladdr((void *)caller, &info) == 0 || info.dli_fname == NULL)
        return 1;
    const char *slash = strrchr(info.dli_fname, '/');
    const char *name = slash != NULL ? slash + 1 : info.dli_fname;
    return strncmp(name, "libc.so", 7) != 0 && strncmp(name, "ld-linux", 8) != 0;
}

__attribute__((destructor)) static void end(void)
{
    int leaks = 0;
    ready = 0;
    mode = MODE_NONE;
    for (size_t i = 0; i < LIVE_SLOTS; i++)
        leaks += live[i].block > 1 && is_ours(live[i].caller);
    int fd = report[0] != '\0' ? open(report, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (fd >= 0) {
        dprintf(fd, "calls %lu failed %d leaks %d\n", calls, *failed, leaks);
        close(fd);
    }
}
