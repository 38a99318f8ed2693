/* stratified.h - the samplers and the tagged machine of "Rapid Profiling via Stratified Sampling", written
 * down as the paper says it and no faster: one event at a time, no shared parts, no tricks.
 *
 * Shared with the shipped engine, since there is nothing to transcribe in them: the random generator,
 * how a part's seed comes from the engine's (seed + i * golden ratio for the i-th part of the text), and
 * the paper's table of random bytes. */
#ifndef RF_TESTS_REFERENCE_STRATIFIED_H
#define RF_TESTS_REFERENCE_STRATIFIED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <riffle/event.h>
#include "base/hash.h"
#include "base/random.h"

struct ref_message {
    uint64_t a, b, count;
};

/* What is built: a sampler letter, with or without C, in n substreams, with k entries behind it. */
struct ref_setup {
    char sampler;    /* 'P', 'R', 'D', 'T' tagged, 'A' the table alone */
    bool counted;    /* C */
    uint32_t rate;   /* r */
    uint32_t strata; /* n, 0: not split */
    uint32_t table;  /* k, 0: none */
    bool paper_hash;
    uint64_t seed;
    uint32_t ways, entries, tag, hit, miss, evict, replace; /* tagged */
};

enum { REF_EMPTY, REF_VALID, REF_EVICT };

struct ref_entry {
    int state;
    uint64_t tag, hit, miss;
};

struct ref_row {
    struct ref_message message;
    uint64_t last_use; /* 0: free */
};

struct ref {
    struct ref_setup setup;
    unsigned index_bits;
    uint64_t multiply_a, multiply_b;
    struct rf_hash_paper paper;
    struct rf_random random;
    uint64_t *phase; /* P: events since the last sample; D: events to go */
    uint64_t *since; /* C */
    struct ref_entry *entries;
    struct ref_row *rows;
    uint64_t clock;
    struct ref_message *out;
    size_t n_out, room;
};

static uint64_t ref_part_seed(uint64_t seed, uint64_t i)
{
    return seed + i * UINT64_C(0x9e3779b97f4a7c15);
}

static void ref_open(struct ref *ref, const struct ref_setup *setup)
{
    memset(ref, 0, sizeof *ref);
    ref->setup = *setup;
    uint32_t n = setup->strata > 0 ? setup->strata : 1;
    uint32_t indexed = setup->sampler == 'T' ? setup->entries / setup->ways : n;
    while (1u << ref->index_bits < indexed)
        ref->index_bits++;
    struct rf_random keys;
    rf_random_seed(&keys, setup->seed);
    ref->multiply_a = rf_random_next(&keys) | 1;
    ref->multiply_b = rf_random_next(&keys) | 1;
    if (ref->index_bits > 0)
        rf_hash_paper_init(&ref->paper, ref->index_bits, setup->seed);
    unsigned sampler_at = (setup->strata > 0 ? 1u : 0u) + (setup->counted ? 1u : 0u);
    rf_random_seed(&ref->random, ref_part_seed(setup->seed, sampler_at));
    ref->phase = calloc(n, sizeof *ref->phase);
    ref->since = calloc(n, sizeof *ref->since);
    for (uint32_t i = 0; setup->sampler == 'D' && i < n; i++)
        ref->phase[i] = 1 + rf_random_below(&ref->random, 2 * (uint64_t)setup->rate);
    ref->entries = calloc(setup->entries + 1, sizeof *ref->entries);
    ref->rows = calloc(setup->table + 1, sizeof *ref->rows);
}

static void ref_close(struct ref *ref)
{
    free(ref->phase);
    free(ref->since);
    free(ref->entries);
    free(ref->rows);
    free(ref->out);
}

static uint32_t ref_index(const struct ref *ref, struct rf_tuple t)
{
    if (ref->index_bits == 0)
        return 0;
    if (ref->setup.paper_hash)
        return rf_hash_paper_steps(&ref->paper, t);
    return (uint32_t)((t.a * ref->multiply_a + t.b * ref->multiply_b) >> (64 - ref->index_bits));
}

static void ref_to_software(struct ref *ref, struct ref_message message)
{
    if (ref->n_out == ref->room) {
        ref->room = ref->room * 2 + 64;
        ref->out = realloc(ref->out, ref->room * sizeof *ref->out);
    }
    ref->out[ref->n_out++] = message;
}

/* Section 3.4: a hit adds up; a miss takes a free row or that of the least recently used. */
static void ref_table(struct ref *ref, struct ref_message message)
{
    struct ref_row *oldest = &ref->rows[0];
    for (uint32_t i = 0; i < ref->setup.table; i++) {
        struct ref_row *row = &ref->rows[i];
        if (row->last_use != 0 && row->message.a == message.a && row->message.b == message.b) {
            row->message.count += message.count;
            row->last_use = ++ref->clock;
            return;
        }
        if (row->last_use < oldest->last_use)
            oldest = row;
    }
    if (oldest->last_use != 0)
        ref_to_software(ref, oldest->message);
    oldest->message = message;
    oldest->last_use = ++ref->clock;
}

static void ref_message(struct ref *ref, struct rf_tuple t, uint64_t count)
{
    struct ref_message message = {t.a, t.b, count};
    if (ref->setup.table > 0)
        ref_table(ref, message);
    else
        ref_to_software(ref, message);
}

/* Section 4.1, transition by transition. */
static void ref_tagged(struct ref *ref, struct rf_tuple t)
{
    const struct ref_setup *s = &ref->setup;
    struct ref_entry *set = &ref->entries[ref_index(ref, t) * s->ways], *e = NULL;
    uint64_t tag = rf_xorfold(t.a ^ t.b, s->tag), full = UINT64_C(1) << s->hit;
    for (uint32_t i = 0; e == NULL && i < s->ways; i++)
        if (set[i].state != REF_EMPTY && set[i].tag == tag)
            e = &set[i];
    bool match = e != NULL;
    for (int wanted = 0; e == NULL; wanted++) { /* an Empty entry, then Evict, then Valid */
        static const int order[] = {REF_EMPTY, REF_EVICT, REF_VALID};
        for (uint32_t i = 0; i < s->ways; i++)
            if (set[i].state == order[wanted] && (e == NULL || set[i].hit < e->hit))
                e = &set[i];
    }
    if (e->state == REF_EMPTY) { /* E1: what the hit counter has stays */
        e->state = REF_VALID;
        e->tag = tag;
        e->hit++;
    } else if (e->state == REF_VALID && match) {
        e->hit++;             /* E3 */
        if (e->hit >= full) { /* E2 */
            ref_message(ref, t, e->hit);
            e->state = REF_EMPTY;
            e->hit = 0;
        }
    } else if (e->state == REF_VALID) { /* E4 */
        e->state = REF_EVICT;
        e->miss = 1;
    } else if (match) {
        e->hit++;                 /* E6a */
        if (e->hit >= s->evict) { /* E6 */
            ref_message(ref, t, e->hit);
            e->state = REF_EMPTY;
            e->hit = e->miss;
            e->miss = 0;
        }
    } else if (e->miss < s->replace) { /* E5a */
        e->miss++;
    } else { /* E5 */
        e->state = REF_VALID;
        e->tag = tag;
        e->hit += e->miss + 1;
        e->miss = 0;
        if (e->hit >= full) { /* and E2 */
            ref_message(ref, t, e->hit);
            e->state = REF_EMPTY;
            e->hit = 0;
        }
    }
}

/* Does the sampler of substream i select this event? */
static bool ref_selects(struct ref *ref, uint32_t i)
{
    uint32_t rate = ref->setup.rate;
    switch (ref->setup.sampler) {
    case 'P':
        if (++ref->phase[i] < rate)
            return false;
        ref->phase[i] = 0;
        return true;
    case 'R':
        return rf_random_below(&ref->random, rate) == 0;
    default:
        if (--ref->phase[i] > 0)
            return false;
        ref->phase[i] = 1 + rf_random_below(&ref->random, 2 * (uint64_t)rate);
        return true;
    }
}

static void ref_event(struct ref *ref, struct rf_tuple t)
{
    if (ref->setup.sampler == 'T') {
        ref_tagged(ref, t);
        return;
    }
    if (ref->setup.sampler == 'A') {
        ref_message(ref, t, 1);
        return;
    }
    uint32_t i = ref->setup.strata > 0 ? ref_index(ref, t) : 0;
    ref->since[i]++;
    if (!ref_selects(ref, i))
        return;
    ref_message(ref, t, ref->setup.counted ? ref->since[i] : ref->setup.rate);
    ref->since[i] = 0;
}

#endif
