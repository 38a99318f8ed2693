/* trace_file.h - small traces for tests: make one, take a file apart, read whatever is whole. */
#ifndef RF_TESTS_TRACE_FILE_H
#define RF_TESTS_TRACE_FILE_H

#include "event/trace.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <riffle/gen.h>
#include <riffle/source.h>
#include <riffle/trace.h>

/* A folder of its own for every test program. */
struct folder {
    char path[64], file[96];
};

__attribute__((unused)) static struct folder folder_make(void)
{
    struct folder folder;
    strcpy(folder.path, "/tmp/riffle-trace-XXXXXX");
    if (mkdtemp(folder.path) == NULL)
        abort();
    snprintf(folder.file, sizeof folder.file, "%s/t.rft", folder.path);
    return folder;
}

/* Fails, and so fails the test, when anything but `file` was left behind. */
__attribute__((unused)) static int folder_remove(const struct folder *folder)
{
    unlink(folder->file);
    return rmdir(folder->path);
}

/* n tuples of a synthetic stream. */
__attribute__((unused)) static struct rf_tuple *make_stream(const char *kind, uint64_t keys,
                                                            size_t n)
{
    struct rf_tuple *tuples = malloc((n + 1) * sizeof *tuples);
    struct rf_gen gen = {.kind = kind, .events = n, .keys = keys, .seed = 1};
    struct rf_source *source;
    struct rf_batch batch;
    size_t at = 0;
    if (rf_source_open_gen(&source, &gen, NULL, NULL) != RF_OK)
        abort();
    while (rf_source_next(source, &batch, NULL) == RF_OK && batch.n > 0) {
        memcpy(tuples + at, batch.tuples.tuples, batch.n * sizeof *tuples);
        at += batch.n;
    }
    rf_source_close(source);
    return tuples;
}

/* Two files that were mapped: what write_trace writes knows them. */
static const struct rf_module trace_modules[] = {
    {(char *)"/bin/one", (char *)"c0ffee", 1, 0x400000, 0x401000, 0x1000, 0, UINT64_MAX},
    {(char *)"[heap]", NULL, 7, 0x7000, 0x8000, 0, 5, 90},
};
enum { N_TRACE_MODULES = sizeof trace_modules / sizeof *trace_modules };

static rf_status write_modules(struct rf_trace_writer *writer, struct rf_error *error)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < N_TRACE_MODULES && status == RF_OK; i++)
        status = rf_trace_add_module(writer, &trace_modules[i], error);
    return status;
}

__attribute__((unused)) static rf_status write_trace(const char *path,
                                                     const struct rf_tuples *tuples,
                                                     const struct rf_alloc *alloc,
                                                     struct rf_error *error)
{
    struct rf_trace_writer *writer;
    rf_status status =
        rf_trace_create(&writer, path, RF_TRACE_TUPLES, "a command", "values", alloc, error);
    if (status != RF_OK)
        return status;
    status = rf_trace_write_tuples(writer, tuples, error);
    if (status == RF_OK)
        status = write_modules(writer, error);
    if (status != RF_OK) {
        rf_trace_abandon(writer);
        return status;
    }
    return rf_trace_finish(writer, error);
}

/* A whole file in memory. */
struct image {
    unsigned char *bytes;
    size_t n;
};

__attribute__((unused)) static struct image image_load(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) != 0)
        abort();
    struct image image = {malloc((size_t)status.st_size + 1), (size_t)status.st_size};
    if (read(fd, image.bytes, image.n) != (ssize_t)image.n)
        abort();
    close(fd);
    return image;
}

__attribute__((unused)) static void image_store(const char *path, const unsigned char *bytes,
                                                size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
        abort();
    close(fd);
}

/* Where each block of a sound file begins and ends. */
struct layout {
    size_t n;
    size_t begin[64], end[64];
    uint64_t first[64], events[64];
};

__attribute__((unused)) static struct layout layout_of(const struct image *image)
{
    struct layout layout = {.n = 0};
    size_t at = rf_trace_header_size(image->bytes);
    struct rf_trace_head head;
    while (at + RF_TRACE_HEAD_SIZE <= image->n && layout.n < 64 &&
           rf_trace_head_read(&head, image->bytes + at) && head.kind <= RF_TRACE_RECORDS) {
        layout.begin[layout.n] = at;
        at += RF_TRACE_HEAD_SIZE + head.stored;
        layout.end[layout.n] = at;
        layout.first[layout.n] = head.first;
        layout.events[layout.n++] = head.events;
    }
    return layout;
}

#endif
