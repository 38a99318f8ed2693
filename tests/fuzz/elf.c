/* Any bytes as an ELF file with debug information, through our reader of it: symbols, then what is known of their addresses,
 * the lines of the first function, and copies of it that were inlined. What the reader writes makes sense to whom it is for.
 * Then through those that read headers and notes alone: which build it is, whether it can be profiled, whether it has hooks.
 *
 * In use, the reader runs in a child with limits (src/symbol/child.c); here it has none, so that each crash is found. The
 * others never have any. */
#include "fuzz.h"
#include "source/target.h"
#include "symbol/symbol.h"
#include <riffle/probe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINKS_MAX = 8 };

static int file_of(const char *name, const uint8_t *bytes, size_t n)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    PROMISE(fd >= 0 && (n == 0 || write(fd, bytes, n) == (ssize_t)n));
    return fd;
}

/* What was written so far is for this file. */
static void decode(struct rf_wire *wire, struct rf_file *file, struct rf_arena *arena)
{
    rf_status status;
    rf_wire_flush(wire);
    off_t n = lseek(wire->fd, 0, SEEK_END);
    uint8_t *bytes = malloc((size_t)n + 1);
    PROMISE(n >= 0 && bytes != NULL && pread(wire->fd, bytes, (size_t)n, 0) == (ssize_t)n);
    PROMISE(ftruncate(wire->fd, 0) == 0 && lseek(wire->fd, 0, SEEK_SET) == 0);
    rf_wire_decode(file, arena, bytes, (size_t)n, &status);
    PROMISE(status == RF_OK && !wire->failed);
    rf_symbol_table_sort(file);
    rf_symbol_table_sort_spots(file);
    free(bytes);
}

/* The functions that the file says it has, and places where it has none. */
static size_t choose_links(const struct rf_file *file, uint64_t *links)
{
    size_t n = 0;
    links[n++] = 0;
    links[n++] = UINT64_MAX;
    for (size_t i = 0; i < file->symbols.n && n < LINKS_MAX; i++) {
        links[n++] = file->symbols.at[i].lo;
        PROMISE(strlen(file->symbols.at[i].name) <= RF_WIRE_TEXT_MAX);
    }
    return n;
}

static void ask(const char *path, struct rf_wire *wire, struct rf_file *file,
                struct rf_arena *arena)
{
    uint64_t links[LINKS_MAX];
    void *kept = NULL;
    struct rf_job job = {
        .path = path, .build_id = "", .debug_path = "", .depth = RF_JOB_BARE, .table = true};
    rf_reader_run(&job, wire, &kept);
    decode(wire, file, arena);
    job.table = false;
    job.links = links;
    job.n_links = choose_links(file, links);
    if (file->symbols.n > 0) {
        job.lines_lo = file->symbols.at[0].lo;
        job.lines_hi = file->symbols.at[0].hi;
        job.inlined = file->symbols.at[0].name;
    }
    rf_reader_run(&job, wire, &kept);
    decode(wire, file, arena);
    rf_reader_end(kept);
}

static void ask_headers(const char *path)
{
    char build_id[129];
    struct rf_error error = {""};
    size_t n = rf_symbols_build_id(path, build_id, sizeof build_id);
    PROMISE(n == strlen(build_id));
    PROMISE(rf_target_check(path, &error) == RF_OK || error.message[0] != '\0');
    rf_probe_has_hooks(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static struct rf_wire wire;
    const struct rf_alloc *alloc = rf_alloc_or_standard(NULL);
    struct rf_arena arena = {alloc, NULL};
    struct rf_file file = {.path = "", .name = "", .build_id = ""};
    char path[32];
    int in = file_of("elf", bytes, n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", in);
    wire.fd = file_of("wire", NULL, 0);
    wire.n = 0;
    wire.failed = false;
    ask(path, &wire, &file, &arena);
    ask_headers(path);
    close(wire.fd);
    close(in);
    rf_file_release(&file, alloc);
    rf_arena_release(&arena);
    return 0;
}
