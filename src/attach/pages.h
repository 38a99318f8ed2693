/* pages.h - the memory of another process as a copy: read where it is needed, written here alone.
 *
 *     rf_pages_begin(pages, pid);                      a new burst: what was copied is forgotten
 *     rf_pages_read(pages, address, bytes, n);         false: it cannot be read
 *     rf_pages_write(pages, address, bytes, n);        into the copy */
#ifndef RF_ATTACH_PAGES_H
#define RF_ATTACH_PAGES_H

#include <riffle/alloc.h>
#include <riffle/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct rf_pages;

enum { RF_PAGE = 4096 };

rf_status rf_pages_open(struct rf_pages **pages, const struct rf_alloc *alloc);
void rf_pages_close(struct rf_pages *pages); /* NULL is fine */
void rf_pages_begin(struct rf_pages *pages, pid_t pid);

/* At most RF_PAGE bytes. */
bool rf_pages_read(struct rf_pages *pages, uint64_t address, void *bytes, size_t n);
bool rf_pages_write(struct rf_pages *pages, uint64_t address, const void *bytes, size_t n);

/* Up to `most` bytes that can be read there, as they are in the copy; they may end with a page. */
size_t rf_pages_read_some(struct rf_pages *pages, uint64_t address, void *bytes, size_t most);

#endif
