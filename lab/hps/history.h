/* history.h - what a program did, as far as sampling sees it: its events and references in their order.
 *
 *     events       0        1        2        3            calls and backward branches
 *     references     0 1 2    3 4                5 6        loads and stores
 *     before[]     0        3        5        5            references before each event
 *
 * A sampler is plain counters over the events (lab/hps/sampling.hps), so with all of it in memory any burst,
 * frequency and phase is a few strides over arrays. One run of the program serves all of them. */
#ifndef LAB_HPS_HISTORY_H
#define LAB_HPS_HISTORY_H

#include <riffle/riffle.h>
#include <stdbool.h>

/* What an event was: where, and where to. A branch's target is the one it names, taken or not. */
struct member {
    uint64_t pc, target;
    bool is_call;
    uint64_t method; /* where the function begins that the target lies in */
};

/* A static instruction that was executed. */
struct site;

struct history {
    struct member *members;
    size_t n_members, members_room;
    uint32_t *events; /* numbers of members */
    uint32_t *before;
    size_t n_events, events_room;
    uint32_t *pcs; /* of references: static programs lie below 4 GiB */
    uint64_t *addresses;
    size_t n_references, references_room;
    uint64_t instructions, branches, calls;

    /* while it runs */
    struct rf_source *source;
    const uint64_t *registers;
    struct site *sites;
    size_t n_sites, sites_room;
    uint32_t *slots; /* 1 + number of a member, by <pc, target> */
    unsigned bits;
};

/* Run a program on the functional core to its end, or for `limit` instructions (0: none). */
void history_run(struct history *history, const char *const *argv, uint64_t limit);
/* The events of a trace of records, calls and edges: no references. A backward branch that is never taken
 * in it is not known for one. */
void history_read(struct history *history, const char *path);
void history_free(struct history *history);

__attribute__((noreturn)) void die(const char *what);

/* At least n elements of `size` bytes; `room` grows with it. */
void *grown(void *array, size_t *room, size_t n, size_t size);

#endif
