/* coproc.h - the parts of the co-processor put together, for those who drive it: natively (coproc.c) and
 * beside the simulated core (attach.c).
 *
 *     record -> filter -> sample buffer -> processor -> interrupt -> window -> handler -> window
 *
 * Times are cycles of the host. */
#ifndef RF_COPROC_COPROC_H
#define RF_COPROC_COPROC_H

#include "coproc/filter.h"
#include "coproc/host.h"
#include "coproc/processor.h"
#include <riffle/coproc.h>

enum { RF_HOST_LETS = RF_WINDOW_LETS };

/* A handler: its function, what it wants of a program, and what its table tells. */
struct rf_host_kind {
    const char *name;
    unsigned guest; /* its number in the code for the simulated core */
    void (*serve)(struct rf_window *window, struct rf_table *table);
    const char *roles[RF_WINDOW_ROLES]; /* in the order of the window; NULL behind the last */
    unsigned roles_needed;              /* this many of them must be there */
    const char *second;                 /* the role with the second word of a tuple */
    unsigned slot_roles; /* the first this many are parts of the slots that are looked through */
    struct {
        const char
            *name; /* of a .let; "@turn" is the number of an index register, ":top" the address
                           * of a label */
        uint32_t standard;
        uint32_t most;    /* 0: all that 32 bits hold */
    } lets[RF_HOST_LETS]; /* NULL behind the last */
    size_t entry_size;
    rf_status (*report)(const struct rf_coproc *coproc, const struct rf_sink *sink);
    bool totals_in_bounds;                                    /* as <riffle/invariance.h> has it */
    uint64_t (*recorded)(struct rf_table *table);             /* samples that the table knows of */
    bool (*is_sound)(struct rf_table *table, uint32_t slots); /* sound.c */
};
extern const struct rf_host_kind *const rf_host_kinds[]; /* closed by NULL */

struct rf_coproc_options {
    uint64_t size;   /* 0 half, 1 base, 2 double */
    uint64_t clock;  /* host cycles per cycle of its own */
    uint64_t pace;   /* host cycles from record to record, natively; 0: the core waits for room */
    uint64_t buffer; /* bytes of the sample buffer */
    uint64_t table;  /* entries of the handler's table */
    uint64_t enter;  /* cost model: cycles of an interrupt, */
    uint64_t scan, fold; /* of each slot that is looked at, of each that goes into the table */
};

struct rf_coproc_counts {
    uint64_t events;    /* records of the classes */
    uint64_t masked;    /* of these, switched off by the table of bits; */
    uint64_t elsewhere; /* in another part of the program */
    uint64_t samples, drops;
    uint64_t again;              /* samples of the upper halves of loads that are known */
    uint64_t interrupts, quiets; /* that the program asked for; looks of the host by itself */
    uint64_t folded, scanned;    /* slots */
    uint64_t overhead;           /* host cycles in handlers */
    uint64_t last_events, last_samples; /* when the handler ran last */
};

struct rf_coproc {
    struct rf_alloc alloc;
    struct rf_coproc_options options;
    struct rf_program program;
    struct rf_processor *processor;
    struct rf_filter filter;
    const struct rf_host_kind *kind;
    struct rf_window *window;
    struct rf_table *table;
    size_t table_bytes;
    struct rf_coproc_counts counts;
    uint32_t
        quiet; /* events without an interrupt until the handler looks, as the program has it; 0: never */
    uint64_t look; /* the same, as the handler wants it now */
    bool upper;    /* the upper half of `value` is sampled */
    bool rests;    /* the profile is complete */
    bool halted;   /* until the handler is over */
    bool hopeless; /* no sample ever came to an end: nothing is sampled any more */
    bool waits;    /* the core waits for the processor: what is tagged is run at once */
    struct attachment *attachment; /* to a simulated core; NULL: records are fed */

    struct rf_record *buffer; /* the sample buffer, a ring */
    uint32_t buffer_size, buffer_first, buffer_n;
    uint64_t now, free_at; /* when the processor is free again */

    char *source;
    size_t source_bytes;
    char text[1024], selector[RF_PROFILE_MAX];
    uint32_t high[4096]; /* upper halves of code addresses, by bits 31..20; see rf_coproc_widen */
};

/* A record of the program; `now` never goes back. An interrupt that it leads to sets `halted`: the caller has the
 * handler run. */
void rf_coproc_offer(struct rf_coproc *coproc, const struct rf_record *record, uint64_t now);
/* Run what is in the buffer up to now. */
void rf_coproc_advance(struct rf_coproc *coproc, uint64_t now);

/* Around a handler: put the state into the window; take what it wrote. */
void rf_coproc_show(struct rf_coproc *coproc, enum rf_reason reason);
uint32_t rf_coproc_slots(const struct rf_coproc *coproc); /* that a handler looks through */
void rf_coproc_take(struct rf_coproc *coproc);
/* What the handler's visit costs by the model. */
uint64_t rf_coproc_price(const struct rf_coproc *coproc);
/* All of it, with the handler's native function and the cost model. Returns the cycles. */
uint64_t rf_coproc_serve(struct rf_coproc *coproc, enum rf_reason reason);

/* The core waits: what is tagged is run at once, until the handler is due. Returns how many of the records that took. */
size_t rf_coproc_run_until_due(struct rf_coproc *coproc, const struct rf_record *records, size_t n);
/* rf_coproc_feed for a core that waits. */
void rf_coproc_feed_natively(struct rf_coproc *coproc, const struct rf_record *records, size_t n);

/* Nobody called for long, and the handler wants to look. */
bool rf_coproc_is_quiet(const struct rf_coproc *coproc);

/* attach.c: take over what the handler on the simulated core knows. Fails if the program has damaged it. */
rf_status rf_coproc_collect(struct rf_coproc *coproc, struct rf_error *error);

/* sound.c: nothing in the table leads out of it. `entries` is right. */
bool rf_sound_fold(struct rf_table *table, uint32_t slots);
bool rf_sound_values(struct rf_table *table, uint32_t slots);

/* fit.c: finds the selector, and refuses by line what fits neither the handler nor the profile. */
rf_status rf_coproc_check(struct rf_coproc *coproc, const char *path, struct rf_error *error);

/* open.c */
rf_status rf_coproc_read(struct rf_coproc *coproc, const char *text, struct rf_error *error);
/* Bytes of one sample in the buffer: the bits that fields are cut from, and 4 for the class. */
uint32_t rf_coproc_sample_bytes(const struct rf_program *program);

#endif
