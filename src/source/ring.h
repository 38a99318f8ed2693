/* ring.h - the collector's side of the shared memory: make it, watch its slots, take what is there.
 *
 *     rf_ring_open(&ring, 0, counted, &error);           ring.fd is inherited by the target
 *     while (...) {
 *         uint32_t bell = rf_ring_bell(&ring);
 *         if (rf_ring_holder(&ring, slot) != 0) rf_ring_attach(&ring, slot, &reader);
 *         rf_ring_read(&ring, &reader, RF_RING_WHOLE, words, &n, &whole);
 *         rf_ring_wait(&ring, bell, 100);                when no slot had anything
 *     }
 *     rf_ring_close(&ring);
 *
 * Nothing read from the shared memory is used as an index or a length before it is checked.
 * One thread at a time. */
#ifndef RF_SOURCE_RING_H
#define RF_SOURCE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <riffle/status.h>
#include "source/ring_layout.h"

struct rf_ring {
    int fd;
    uint8_t *memory; /* all of the file */
    uint64_t size;   /* its length in bytes */
    uint32_t slots;  /* as asked for, or fewer where the size of files is limited */
    bool is_counted; /* it has counters */
    struct rf_ring_control *control;
};

/* One slot being read. Everything in here is the collector's own. */
struct rf_ring_reader {
    uint32_t slot;
    uint32_t pid, process, parent, fork;
    uint32_t family; /* not 0: of hooks */
    uint64_t base;
    uint32_t tail;  /* chunks given back */
    uint32_t taken; /* bytes of the next chunk that were read before it was full */
};

enum rf_ring_how {
    RF_RING_WHOLE, /* published chunks only */
    RF_RING_PART,  /* also what stands in the chunk being filled; its last message may change yet */
    RF_RING_REST,  /* the producer is dead: everything that it committed */
};

/* With counters if they are wanted and there is room for them. `slots` 0: RF_RING_SLOTS. */
rf_status rf_ring_open(struct rf_ring *ring, uint32_t slots, bool counted, struct rf_error *error);
void rf_ring_close(struct rf_ring *ring);

/* The number of the process that holds the slot; 0: none does, or it is not ready yet. */
uint32_t rf_ring_holder(const struct rf_ring *ring, uint32_t slot);
void rf_ring_attach(const struct rf_ring *ring, uint32_t slot, struct rf_ring_reader *reader);
bool rf_ring_is_done(const struct rf_ring *ring, const struct rf_ring_reader *reader);

/* Copy the next words, at most a chunk of them, into `words` (RF_RING_CHUNK bytes). *n is 0 when there
 * are none; *whole tells that the chunk was complete and has been given back. Otherwise the caller
 * says with rf_ring_advance how many of them it could use. RF_EDAMAGED: the counters make no sense. */
rf_status rf_ring_read(struct rf_ring *ring, struct rf_ring_reader *reader, enum rf_ring_how how,
                       uint64_t *words, size_t *n, bool *whole);
/* Chunks published so far. */
uint32_t rf_ring_head(const struct rf_ring *ring, const struct rf_ring_reader *reader);
void rf_ring_advance(struct rf_ring_reader *reader, size_t n);

/* The counters of the slot, RF_RING_COUNTERS of them, which the producer may change at any time; NULL: none. */
const uint64_t *rf_ring_counters(const struct rf_ring *ring, const struct rf_ring_reader *reader);
/* What is left of merged events (probe_words.h); `stage` and `n_notes` make sense or are 0. False: nothing. */
struct rf_remains {
    const uint64_t *table; /* RF_RING_TABLE entries of two words */
    const uint64_t *notes; /* RF_RING_NOTES_ROOM of two words */
    uint32_t n_notes;
    uint64_t stage;
};
bool rf_ring_remains(const struct rf_ring *ring, const struct rf_ring_reader *reader,
                     struct rf_remains *remains);

/* Of a slot of hooks: its table of places, with the size, the RF_RING_WORDS words that it has merged, and its pockets, with how many it
 * has begun; NULL: none. And what it says it produced, by class. */
const struct rf_ring_place *rf_ring_places(const struct rf_ring *ring,
                                           const struct rf_ring_reader *reader, size_t *n);
const struct rf_ring_word *rf_ring_words(const struct rf_ring *ring,
                                         const struct rf_ring_reader *reader);
const struct rf_ring_pocket *rf_ring_pockets(const struct rf_ring *ring,
                                             const struct rf_ring_reader *reader, size_t *n);
uint64_t rf_ring_count_produced(const struct rf_ring *ring, const struct rf_ring_reader *reader,
                                unsigned kind);

/* Does this process have the ring mapped? */
bool rf_ring_is_mapped_by(const struct rf_ring *ring, pid_t pid);

/* The slot is free again. The producer must be gone or detached. */
void rf_ring_release(struct rf_ring *ring, const struct rf_ring_reader *reader);

/* Sleep until a producer rings or this many milliseconds have passed. `bell` is the value of rf_ring_bell
 * before the slots were read, so that nothing is missed in between. */
uint32_t rf_ring_bell(const struct rf_ring *ring);
void rf_ring_wait(struct rf_ring *ring, uint32_t bell, unsigned milliseconds);

/* Set how the program is sampled from now on. The producers see it at the end of a burst, or within milliseconds. */
struct rf_probe_bursts;
void rf_ring_change_bursts(struct rf_ring_bursts *shared, const struct rf_probe_bursts *bursts,
                           size_t n);
/* How it is sampled now; how many sets there are. `bursts` has room for RF_RING_CLOCKS. */
size_t rf_ring_read_bursts(const struct rf_ring_bursts *shared, struct rf_probe_bursts *bursts);
/* Events of a group that the process has skipped, by its own count. */
uint64_t rf_ring_count_skipped(const struct rf_ring *ring, const struct rf_ring_reader *reader,
                               unsigned group);

/* From now on producers keep nothing; those that wait run on. */
void rf_ring_detach(struct rf_ring *ring);

#endif
