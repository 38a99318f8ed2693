/* pages.c - the memory of another process, page by page, for one burst.
 *
 * A page is copied when it is first touched (process_vm_readv, about a microsecond) and serves until the burst is over. What
 * the burst writes goes into the copy. The process's own memory is never written.
 *
 * Memory: 64 pages; a burst that touches more ends there. */
#include "attach/pages.h"
#include "base/alloc.h"
#include <string.h>
#include <sys/uio.h>

enum { PAGES = 64, HEADS = 128, NONE = 255 };

struct rf_pages {
    struct rf_alloc alloc;
    pid_t pid;
    size_t n, last; /* `last` was used last, and is likely the next */
    uint64_t address[PAGES];
    uint8_t next[PAGES], heads[HEADS]; /* by hash */
    unsigned char bytes[PAGES][RF_PAGE];
};

rf_status rf_pages_open(struct rf_pages **opened, const struct rf_alloc *given)
{
    const struct rf_alloc *alloc = rf_alloc_or_standard(given);
    struct rf_pages *pages = *opened = rf_alloc_zeroed(alloc, sizeof *pages);
    if (pages == NULL)
        return RF_ENOMEM;
    pages->alloc = *alloc;
    rf_pages_begin(pages, 0);
    return RF_OK;
}

void rf_pages_close(struct rf_pages *pages)
{
    if (pages != NULL)
        rf_alloc_free(&pages->alloc, pages, sizeof *pages);
}

void rf_pages_begin(struct rf_pages *pages, pid_t pid)
{
    pages->pid = pid;
    pages->n = pages->last = 0;
    memset(pages->heads, NONE, sizeof pages->heads);
}

static size_t head_of(uint64_t page)
{
    return (size_t)((page / RF_PAGE * UINT64_C(0x9e3779b97f4a7c15)) >> 57);
}

static unsigned char *copy_page(struct rf_pages *pages, uint64_t page)
{
    const size_t i = pages->n, head = head_of(page);
    if (i == PAGES)
        return NULL;
    struct iovec ours = {pages->bytes[i], RF_PAGE}, theirs = {(void *)(uintptr_t)page, RF_PAGE};
    if (process_vm_readv(pages->pid, &ours, 1, &theirs, 1, 0) != RF_PAGE)
        return NULL;
    pages->address[i] = page;
    pages->next[i] = pages->heads[head];
    pages->heads[head] = (uint8_t)i;
    pages->n++;
    pages->last = i;
    return pages->bytes[i];
}

/* The copy of a page; NULL: it cannot be had. */
static unsigned char *find_page(struct rf_pages *pages, uint64_t page)
{
    if (pages->n > 0 && pages->address[pages->last] == page)
        return pages->bytes[pages->last];
    for (size_t i = pages->heads[head_of(page)]; i != NONE; i = pages->next[i])
        if (pages->address[i] == page) {
            pages->last = i;
            return pages->bytes[i];
        }
    return copy_page(pages, page);
}

/* Bytes from the address to the end of its page, of n. */
static size_t within(uint64_t address, size_t n)
{
    size_t left = RF_PAGE - address % RF_PAGE;
    return n < left ? n : left;
}

size_t rf_pages_read_some(struct rf_pages *pages, uint64_t address, void *bytes, size_t most)
{
    size_t done = 0;
    while (done < most) {
        uint64_t at = address + done;
        size_t n = within(at, most - done);
        const unsigned char *page = find_page(pages, at - at % RF_PAGE);
        if (page == NULL)
            break;
        memcpy((unsigned char *)bytes + done, page + at % RF_PAGE, n);
        done += n;
    }
    return done;
}

bool rf_pages_read(struct rf_pages *pages, uint64_t address, void *bytes, size_t n)
{
    return rf_pages_read_some(pages, address, bytes, n) == n;
}

bool rf_pages_write(struct rf_pages *pages, uint64_t address, const void *bytes, size_t n)
{
    for (size_t done = 0, piece; done < n; done += piece) {
        uint64_t at = address + done;
        piece = within(at, n - done);
        unsigned char *page = find_page(pages, at - at % RF_PAGE);
        if (page == NULL)
            return false;
        memcpy(page + at % RF_PAGE, (const unsigned char *)bytes + done, piece);
    }
    return true;
}
