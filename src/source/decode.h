/* decode.h - from the words of a piece to tuples or records: it handles messages and expands paths.
 *
 *     [DEFINE][path][value][path]..  --->  lane 0 of the process:  tuples of selector 0
 *                                          lane 1:                 tuples of selector 1      or records
 *
 * The source hands out the lanes. Each process that is kept apart has lanes of its own; all others share
 * those of the last one. One thread at a time. */
#ifndef RF_SOURCE_DECODE_H
#define RF_SOURCE_DECODE_H

#include "source/front.h"
#include "source/processes.h"
#include "source/source.h"

enum {
    RF_DECODE_SELECTORS_MAX = 32,
    RF_DECODE_LANES_MAX = 512, /* selectors times processes that are kept apart */
    RF_DECODE_COUNTED = 4096,  /* tuples with counts of a lane */
};

struct rf_decode_lane {
    struct rf_tuple *tuples;
    size_t n;
    struct rf_front *front;   /* can merge repeats; NULL: this lane does not */
    struct rf_front *merging; /* the front while it does, else NULL */
    bool has_counts;          /* the tuples have counts, which are the front's */
    unsigned batches_off;     /* until merging is tried again */
    struct rf_tuple *
        counted; /* merged (entries.c) or from counters (counters.c), each with its count; NULL: none */
    uint64_t *counts;
    size_t n_counted;
    struct rf_tuple *single; /* the same, of one event each: without counts engines are faster */
    size_t n_single;
    uint64_t total; /* handed out */
    uint64_t lost, lost_told;
    uint32_t *ends; /* of bursts, in tuples; NULL where nothing is skipped */
    size_t n_ends;
    double *weights; /* of the same bursts: intervals that an interval of it stands for */
    double weight;   /* of the last burst */
    bool open;       /* events of a burst that is not over were handed out */
    uint64_t *skips; /* as in rf_batch */
    uint64_t bursts, bursts_told;
    uint64_t skipped, skipped_told;
    uint64_t left_out; /* of the skipped ones: events of profiles that were switched off */
};

struct rf_decode {
    const struct rf_alloc *alloc;
    struct rf_processes *processes;
    struct rf_selector selectors[RF_DECODE_SELECTORS_MAX];
    void (*mapped)(void *context, const struct rf_module *module); /* as in rf_probe_setup */
    rf_selector_resolve resolve;
    void *resolve_context;
    size_t n_selectors;
    uint32_t counted; /* 1 << selector: what is static comes from counters */
    uint32_t merged;  /* 1 << selector: repeats are merged into counts */
    bool records;     /* instead of tuples */
    bool lossy;       /* the probe may drop events; otherwise it never reports a loss */
    bool bursts;      /* the program is sampled in bursts */
    double
        first_weight[RF_DECODE_SELECTORS_MAX]; /* of bursts, as far as one knows before the first */
    uint8_t groups[RF_WORD_CLASSES]; /* classes that are counted together while they are skipped */
    size_t n_groups;
    bool
        some_off; /* profiles are in bursts at different times: events of those that are not come, too */
    bool patterns;  /* what is skipped is counted by selector, not by group */
    size_t n_apart; /* processes with lanes of their own; the last takes what comes after it, too */
    struct rf_piece piece;
    size_t at; /* words of it that are decoded */
    struct rf_decode_lane lanes[RF_DECODE_LANES_MAX];
    size_t n_lanes;
    struct rf_record *record_buffer;
    size_t n_records;
    uint32_t *record_ends; /* as in rf_batch; NULL where nothing is skipped */
    double *record_weights;
    uint64_t (*record_skips)[RF_CLASS_COUNT];
    size_t n_record_ends;
    uint64_t record_bursts, record_bursts_told;
    uint64_t lost[RF_WORD_CLASSES];
    uint64_t n_bursts, skipped;
    uint64_t derived;                /* events whose words were computed from others */
    bool uncounted;                  /* something was skipped that nobody counted */
    const struct rf_process *before; /* whose words were decoded last */
};

/* What a message says that was skipped of a group. */
static inline uint64_t rf_decode_skips(struct rf_decode *decode, uint64_t word)
{
    decode->uncounted |= word == RF_WORD_UNCOUNTED;
    return word != RF_WORD_UNCOUNTED ? word : 0;
}

/* Put classes that every selector takes together into one group, so that there are few counters. */
size_t rf_decode_groups(const struct rf_selector *selectors, size_t n,
                        uint8_t groups[RF_WORD_CLASSES]);

/* Are there events behind the last end, handed out or not? */
bool rf_decode_is_open(const struct rf_decode_lane *lane);

/* For records: each of these classes is a group. */
size_t rf_decode_classes(uint32_t classes, uint8_t groups[RF_WORD_CLASSES]);

/* Make the buffers. The caller first sets the members of the struct that stand above them. */
rf_status rf_decode_init(struct rf_decode *decode, struct rf_error *error);
void rf_decode_free(struct rf_decode *decode);

/* The first lane of the process; its lanes have buffers. */
size_t rf_decode_lane(const struct rf_decode *decode, const struct rf_process *process);
rf_status rf_decode_make_lanes(struct rf_decode *decode, const struct rf_process *process,
                               struct rf_error *error);
/* A process can write any number of events to the ring; can it have made them? */
bool rf_decode_is_credible(const struct rf_decode *decode, uint64_t events);

/* Decode until the piece is used up or a buffer is full. */
rf_status rf_decode_run(struct rf_decode *decode, bool *full, struct rf_error *error);

/* messages.c: a whole message of n words. */
rf_status rf_decode_message(struct rf_decode *decode, const uint64_t *words, size_t n,
                            struct rf_error *error);
/* There is a gap in these lanes (1 << selector) of the process between what is there and what comes next. */
void rf_decode_end_strings(struct rf_decode *decode, uint64_t which);
/* Some profiles are between bursts: what came for them since `before` is skipped. */
void rf_decode_skip_others(struct rf_decode *decode, struct rf_decode_lane *lanes,
                           const size_t *before);

/* merge.c: n tuples were written behind those of the lane. Each is one event. */
void rf_decode_append(struct rf_decode_lane *lane, size_t n);
/* As rf_decode_run's loop over paths, for processes with lanes that merge. */
bool rf_decode_merges(const struct rf_decode *decode);
bool rf_decode_merge(struct rf_decode *decode);
/* A batch of this many tuples, which stand for this many events, has gone out. The lane may have the next one already. */
void rf_decode_begin_batch(struct rf_decode_lane *lane, size_t tuples, uint64_t events);

/* Nothing more will be decoded: hand over what is still being merged. The lanes must be empty. */
void rf_decode_finish(struct rf_decode *decode);

/* Room for tuples with counts. */
bool rf_decode_make_counted(struct rf_decode *decode, struct rf_decode_lane *lane);

/* entries.c: as rf_decode_run, for entries of the table of merged events up to the first word that is none. Those that are
 * whole and make sense are used. */
rf_status rf_decode_entries(struct rf_decode *decode, bool *full, struct rf_error *error);

#endif
