/* trace_modules.c - the files that were mapped while a stream was recorded, as a .rft file keeps them.
 *
 *     lengths of path and build id | process | 0 | start | end | offset | from | to | path 0 build id 0
 *     4 each                         4         4   8 each                              56 bytes before
 *
 * They are known only when the program is over, so they stand behind the events, in front of the index,
 * framed like a block. Both texts end in a zero of their own: decoded modules point into one copy of
 * the bytes, and a list costs two allocations however long it is.
 *
 * Guarantee: what decodes has texts that end inside the copy, and start <= end, from <= to. Lengths are
 * compared with the bytes that are left before anything is used. Limit: 4 MiB. */
#include "event/trace.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include <string.h>

enum { PATH_AT, ID_AT = 4, PROCESS_AT = 8, RESERVED_AT = 12, WORDS_AT = 16, WORDS = 5 };

static size_t length(const char *text)
{
    return text != NULL ? strlen(text) : 0;
}

size_t rf_trace_module_size(const struct rf_module *module)
{
    size_t path = length(module->path), id = length(module->build_id);
    if (path > RF_TRACE_MODULES_BYTES || id > RF_TRACE_MODULES_BYTES)
        return SIZE_MAX;
    return RF_TRACE_MODULE_FIXED + path + id + 2;
}

void rf_trace_module_write(const struct rf_module *module, unsigned char *bytes)
{
    size_t path = length(module->path), id = length(module->build_id);
    const uint64_t words[WORDS] = {module->start, module->end, module->offset, module->from_event,
                                   module->to_event};
    unsigned char *text = bytes + RF_TRACE_MODULE_FIXED;
    rf_store32(bytes + PATH_AT, (uint32_t)path);
    rf_store32(bytes + ID_AT, (uint32_t)id);
    rf_store32(bytes + PROCESS_AT, module->process);
    rf_store32(bytes + RESERVED_AT, 0);
    for (size_t i = 0; i < WORDS; i++)
        rf_store64(bytes + WORDS_AT + 8 * i, words[i]);
    memcpy(text, path > 0 ? module->path : "", path + 1);
    memcpy(text + path + 1, id > 0 ? module->build_id : "", id + 1);
}

/* A text of n bytes without a zero, and the zero that ends it. */
static bool is_text(const char *text, size_t n)
{
    return memchr(text, '\0', n + 1) == text + n;
}

/* One module from the front of `left` bytes. Returns how many it takes, 0: nonsense. */
static size_t read_module(struct rf_module *module, char *bytes, size_t left)
{
    if (left < RF_TRACE_MODULE_FIXED + 2)
        return 0;
    size_t path = rf_load32(bytes + PATH_AT), id = rf_load32(bytes + ID_AT);
    size_t room = left - RF_TRACE_MODULE_FIXED - 2;
    if (path > room || id > room - path || rf_load32(bytes + RESERVED_AT) != 0)
        return 0;
    char *text = bytes + RF_TRACE_MODULE_FIXED;
    *module = (struct rf_module){.path = text,
                                 .build_id = text + path + 1,
                                 .process = rf_load32(bytes + PROCESS_AT),
                                 .start = rf_load64(bytes + WORDS_AT),
                                 .end = rf_load64(bytes + WORDS_AT + 8),
                                 .offset = rf_load64(bytes + WORDS_AT + 16),
                                 .from_event = rf_load64(bytes + WORDS_AT + 24),
                                 .to_event = rf_load64(bytes + WORDS_AT + 32)};
    if (!is_text(module->path, path) || !is_text(module->build_id, id) ||
        module->start > module->end || module->from_event > module->to_event)
        return 0;
    return RF_TRACE_MODULE_FIXED + path + id + 2;
}

static bool read_all(struct rf_trace_modules *modules)
{
    size_t at = 0;
    for (size_t i = 0; i < modules->n; i++) {
        size_t n = read_module(&modules->list[i], modules->bytes + at, modules->n_bytes - at);
        if (n == 0)
            return false;
        at += n;
    }
    return at == modules->n_bytes;
}

rf_status rf_trace_modules_read(struct rf_trace_modules *modules, const unsigned char *bytes,
                                size_t n_bytes, size_t n, const struct rf_alloc *alloc)
{
    *modules = (struct rf_trace_modules){.n = n, .n_bytes = n_bytes};
    if (n == 0 || n > n_bytes / RF_TRACE_MODULE_FIXED) {
        modules->n = modules->n_bytes = 0;
        return RF_EDAMAGED;
    }
    modules->bytes = rf_alloc_get(alloc, n_bytes);
    modules->list = rf_alloc_get(alloc, n * sizeof *modules->list);
    rf_status status = modules->bytes != NULL && modules->list != NULL ? RF_OK : RF_ENOMEM;
    if (status == RF_OK) {
        memcpy(modules->bytes, bytes, n_bytes);
        status = read_all(modules) ? RF_OK : RF_EDAMAGED;
    }
    if (status != RF_OK)
        rf_trace_modules_free(modules, alloc);
    return status;
}

void rf_trace_modules_free(struct rf_trace_modules *modules, const struct rf_alloc *alloc)
{
    rf_alloc_free(alloc, modules->bytes, modules->n_bytes);
    rf_alloc_free(alloc, modules->list, modules->n * sizeof *modules->list);
    *modules = (struct rf_trace_modules){.n = 0};
}
