/* loop.h - a stream like the load values of a program. */
#ifndef RF_SOURCE_LOOP_H
#define RF_SOURCE_LOOP_H

#include <riffle/alloc.h>
#include <riffle/event.h>
#include <riffle/status.h>

struct rf_loop;

/* A static program with about `keys` distinct tuples, its hot nests exchanged every `phase` events. */
rf_status rf_loop_new(struct rf_loop **loop, uint64_t keys, uint64_t phase, uint64_t seed,
                      const struct rf_alloc *alloc, struct rf_error *error);
void rf_loop_free(struct rf_loop *loop); /* NULL is fine */

/* Write the next tuples to `out`, which has room for `room` of them, at least RF_LOOP_ROOM_MIN. Returns how
 * many were written, at least one. The stream does not depend on how it is cut into calls. */
size_t rf_loop_run(struct rf_loop *loop, struct rf_tuple *out, size_t room);

/* The largest piece that is written at once: one block of a nest, some trips. */
enum { RF_LOOP_ROOM_MIN = 2048 };

#endif
