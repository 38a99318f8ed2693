/* protobuf.h - messages of protocol buffers, written field by field into memory.
 *
 * A failed allocation is remembered: look at `failed` once, at the end. */
#ifndef RF_EXPORT_PROTOBUF_H
#define RF_EXPORT_PROTOBUF_H

#include "base/alloc.h"

struct rf_protobuf {
    const struct rf_alloc *alloc;
    unsigned char *at;
    size_t n, room;
    bool failed;
};

static inline void rf_protobuf_put(struct rf_protobuf *to, const void *bytes, size_t n)
{
    if (to->n + n > to->room && !to->failed) {
        size_t room = 2 * (to->n + n) + 256;
        void *at = to->at;
        to->failed = !rf_alloc_array(to->alloc, &at, to->room, room, 1);
        if (!to->failed) {
            to->at = at;
            to->room = room;
        }
    }
    if (to->failed || n == 0)
        return;
    memcpy(to->at + to->n, bytes, n);
    to->n += n;
}

static inline void rf_protobuf_varint(struct rf_protobuf *to, uint64_t value)
{
    unsigned char bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (unsigned char)(value | 0x80);
    bytes[n++] = (unsigned char)value;
    rf_protobuf_put(to, bytes, n);
}

/* A number; 0 is the default and need not be written. */
static inline void rf_protobuf_number(struct rf_protobuf *to, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    rf_protobuf_varint(to, field << 3);
    rf_protobuf_varint(to, value);
}

/* A text, or a message that was written into a buffer of its own. */
static inline void rf_protobuf_bytes(struct rf_protobuf *to, unsigned field, const void *bytes,
                                     size_t n)
{
    rf_protobuf_varint(to, field << 3 | 2);
    rf_protobuf_varint(to, n);
    rf_protobuf_put(to, bytes, n);
}

/* The same for a message, which is emptied. */
static inline void rf_protobuf_message(struct rf_protobuf *to, unsigned field,
                                       struct rf_protobuf *message)
{
    rf_protobuf_bytes(to, field, message->at, message->n);
    to->failed |= message->failed;
    message->n = 0;
}

static inline void rf_protobuf_free(struct rf_protobuf *buffer)
{
    rf_alloc_free(buffer->alloc, buffer->at, buffer->room);
}

#endif
