/* handlers.c - the handlers that call() can name, as code of the simulated core.
 *
 * A handler gets T.PC, and where the instruction goes or what it accesses. It writes both to a buffer. When the buffer is
 * full, the machine drains it, which costs cycles of its own (dise_drain).
 *
 *     table:  | bytes of data | the buffer | entry of the first handler | of the second | ...
 *
 * All of that is offsets from the table, which the linker script puts first. */
#include "dise/guest/handlers.h"

typedef unsigned long word;

static struct rf_dise_buffer buffer;
extern char data_begins[], data_ends[];

static inline void put_down(word pc, word other)
{
    word n = buffer.n;
    buffer.entries[n].pc = pc;
    buffer.entries[n].word = other;
    buffer.n = n + 1;
}

#define HANDLER(id, selector, what)                                                                \
    void id(word pc, word other);                                                                  \
    void id(word pc, word other)                                                                   \
    {                                                                                              \
        put_down(pc, other);                                                                       \
    }
#include "dise/handlers.def"
#undef HANDLER

__attribute__((section(".table"), used)) static const void *const table[] = {
    data_begins,
    data_ends,
    &buffer,
#define HANDLER(id, selector, what) (const void *)id,
#include "dise/handlers.def"
#undef HANDLER
};
