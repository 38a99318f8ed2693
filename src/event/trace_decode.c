/* trace_decode.c - a block's columns back into events; trace_encode.c has the layout.
 *
 * No byte is trusted. Lengths are checked where they are used, the number of keys before the first key is
 * read, the sizes of groups against their sum. Only one check comes afterwards: that each key occurs as
 * often as its size says. Until then an event may be read from behind its group. That is harmless, because every column
 * has room for twice the events: a group begins below n, and at most n events are read from it.
 *
 * Memory: 64 bytes per event for records, 16 to 32 for tuples, allocated when first needed. */
#include "event/trace.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include <string.h>

enum { FIXED = 8 };

struct key {
    uint64_t word;
    uint32_t at;  /* where its next event stands in the columns */
    uint32_t end; /* where the events of the next key begin */
};

struct rf_trace_decoder {
    struct rf_alloc alloc;
    size_t events, keys_max;
    struct key *keys;
    uint64_t *words; /* first those of keys, then the sizes of their groups */
    uint64_t *columns[RF_TRACE_COLUMNS_MAX];
};

struct rf_trace_decoder *rf_trace_decoder_new(size_t events, const struct rf_alloc *alloc)
{
    alloc = rf_alloc_or_standard(alloc);
    struct rf_trace_decoder *d = rf_alloc_zeroed(alloc, sizeof *d);
    if (d == NULL)
        return NULL;
    d->alloc = *alloc;
    d->events = events;
    d->keys_max = events / RF_TRACE_EVENTS_PER_KEY + 1;
    d->keys = rf_alloc_get(alloc, d->keys_max * sizeof *d->keys);
    d->words = rf_alloc_get(alloc, events * sizeof *d->words);
    if (d->keys == NULL || d->words == NULL) {
        rf_trace_decoder_free(d);
        return NULL;
    }
    return d;
}

void rf_trace_decoder_free(struct rf_trace_decoder *d)
{
    if (d == NULL)
        return;
    for (size_t i = 0; i < RF_TRACE_COLUMNS_MAX; i++)
        rf_alloc_free(&d->alloc, d->columns[i], 2 * d->events * sizeof *d->columns[i]);
    rf_alloc_free(&d->alloc, d->keys, d->keys_max * sizeof *d->keys);
    rf_alloc_free(&d->alloc, d->words, d->events * sizeof *d->words);
    rf_alloc_free(&d->alloc, d, sizeof *d);
}

static bool get_columns(struct rf_trace_decoder *d, size_t n_columns)
{
    size_t size = 2 * d->events * sizeof *d->columns[0];
    for (size_t i = 0; i < n_columns; i++) {
        if (d->columns[i] != NULL)
            continue;
        d->columns[i] = rf_alloc_zeroed(&d->alloc, size);
        if (d->columns[i] == NULL)
            return false;
    }
    return true;
}

/* Words and sizes of the keys; false unless the sizes add up to n. */
static bool decode_keys(struct rf_trace_decoder *d, struct rf_column_in *in, size_t n_keys,
                        size_t n)
{
    uint64_t end = 0;
    if (!rf_column_decode(in, d->words, n_keys))
        return false;
    for (size_t k = 0; k < n_keys; k++)
        d->keys[k].word = d->words[k];
    if (!rf_column_decode(in, d->words, n_keys))
        return false;
    for (size_t k = 0; k < n_keys; k++) {
        d->keys[k].at = (uint32_t)end;
        if (d->words[k] == 0 || d->words[k] > n - end)
            return false;
        end += d->words[k];
        d->keys[k].end = (uint32_t)end;
    }
    return end == n;
}

static bool decode_grouped(struct rf_trace_decoder *d, struct rf_column_in *in, size_t n_keys,
                           uint64_t *column)
{
    for (size_t k = 0; k < n_keys; k++) {
        uint32_t begin = d->keys[k].at;
        if (!rf_column_decode(in, column + begin, d->keys[k].end - begin))
            return false;
    }
    return true;
}

static bool index_is_sound(const unsigned char *index, size_t n, size_t n_keys)
{
    unsigned most = 0;
    if (n_keys <= RF_TRACE_NARROW_KEYS) {
        for (size_t i = 0; i < n; i++)
            most = index[i] > most ? index[i] : most;
    } else {
        for (size_t i = 0; i < n; i++) {
            unsigned key = index[2 * i] | (unsigned)index[2 * i + 1] << 8;
            most = key > most ? key : most;
        }
    }
    return most < n_keys;
}

/* The next event's key. */
#define NARROW(i) index[i]
#define WIDE(i)   ((size_t)index[2 * (i)] | (size_t)index[2 * (i) + 1] << 8)

#define ASSEMBLE(number, event)                                                                    \
    for (size_t i = 0; i < n; i++) {                                                               \
        struct key *key = &d->keys[number(i)];                                                     \
        size_t at = key->at++;                                                                     \
        event;                                                                                     \
    }

static void assemble_tuples(struct rf_trace_decoder *d, const struct rf_trace_events *events,
                            const unsigned char *index, size_t n_keys)
{
    const uint64_t *b = d->columns[0], *count = d->columns[1];
    struct rf_tuple *tuples = events->tuples;
    uint64_t *counts = events->counts;
    size_t n = events->n;
    if (counts != NULL && n_keys <= RF_TRACE_NARROW_KEYS)
        ASSEMBLE(NARROW, (tuples[i] = (struct rf_tuple){key->word, b[at]}, counts[i] = count[at]))
    else if (counts != NULL)
        ASSEMBLE(WIDE, (tuples[i] = (struct rf_tuple){key->word, b[at]}, counts[i] = count[at]))
    else if (n_keys <= RF_TRACE_NARROW_KEYS)
        ASSEMBLE(NARROW, (tuples[i] = (struct rf_tuple){key->word, b[at]}))
    else
        ASSEMBLE(WIDE, (tuples[i] = (struct rf_tuple){key->word, b[at]}))
}

static inline struct rf_record record_of(const struct rf_trace_decoder *d, uint64_t pc, size_t at)
{
    uint64_t shape = d->columns[0][at];
    return (struct rf_record){
        .pc = pc,
#define RF_FIELD_WORD(ID, member, letter)                                                          \
    .member = d->columns[RF_COLUMN_##ID - RF_COLUMN_SHAPE][at],
#define RF_FIELD_PART(member, type, shift) .member = (type)(shape >> (shift)),
#include <riffle/fields.def>
    };
}

static void assemble_records(struct rf_trace_decoder *d, const struct rf_trace_events *events,
                             const unsigned char *index, size_t n_keys)
{
    struct rf_record *records = events->records;
    size_t n = events->n;
    if (n_keys <= RF_TRACE_NARROW_KEYS)
        ASSEMBLE(NARROW, records[i] = record_of(d, key->word, at))
    else
        ASSEMBLE(WIDE, records[i] = record_of(d, key->word, at))
}

static bool keys_are_used_up(const struct rf_trace_decoder *d, size_t n_keys)
{
    for (size_t k = 0; k < n_keys; k++)
        if (d->keys[k].at != d->keys[k].end)
            return false;
    return true;
}

static bool decode_by_keys(struct rf_trace_decoder *d, const struct rf_trace_events *events,
                           struct rf_column_in *in, const unsigned char *index, size_t n_keys)
{
    enum rf_trace_column columns[RF_TRACE_COLUMNS_MAX];
    size_t n_columns = rf_trace_columns(events, columns);
    if (!index_is_sound(index, events->n, n_keys) || !decode_keys(d, in, n_keys, events->n))
        return false;
    for (size_t i = 0; i < n_columns; i++)
        if (!decode_grouped(d, in, n_keys, d->columns[i]))
            return false;
    if (events->kind == RF_TRACE_TUPLES)
        assemble_tuples(d, events, index, n_keys);
    else
        assemble_records(d, events, index, n_keys);
    return keys_are_used_up(d, n_keys);
}

static bool decode_flat(struct rf_trace_decoder *d, const struct rf_trace_events *events,
                        struct rf_column_in *in)
{
    enum rf_trace_column columns[RF_TRACE_COLUMNS_MAX];
    size_t n = events->n, n_columns = rf_trace_columns(events, columns);
    if (!rf_column_decode(in, d->words, n))
        return false;
    for (size_t i = 0; i < n_columns; i++)
        if (!rf_column_decode(in, d->columns[i], n))
            return false;
    if (events->kind == RF_TRACE_RECORDS)
        for (size_t i = 0; i < n; i++)
            events->records[i] = record_of(d, d->words[i], i);
    else
        for (size_t i = 0; i < n; i++)
            events->tuples[i] = (struct rf_tuple){d->words[i], d->columns[0][i]};
    if (events->kind == RF_TRACE_TUPLES && events->counts != NULL)
        memcpy(events->counts, d->columns[1], n * sizeof *events->counts);
    return true;
}

/* A record must have a class that exists. */
static bool kinds_are_sound(const struct rf_trace_events *events)
{
    unsigned most = 0;
    if (events->kind == RF_TRACE_RECORDS)
        for (size_t i = 0; i < events->n; i++)
            most = events->records[i].kind > most ? events->records[i].kind : most;
    return most < RF_CLASS_COUNT;
}

rf_status rf_trace_decode(struct rf_trace_decoder *d, const struct rf_trace_events *events,
                          const unsigned char *raw, size_t n_raw)
{
    enum rf_trace_column columns[RF_TRACE_COLUMNS_MAX];
    if (n_raw < FIXED || events->n == 0 || events->n > d->events)
        return RF_EDAMAGED;
    if (!get_columns(d, rf_trace_columns(events, columns)))
        return RF_ENOMEM;
    size_t n_keys = rf_load32(raw), n_meta = rf_load32(raw + 4);
    size_t n_index = n_keys == 0 ? 0 : n_keys <= RF_TRACE_NARROW_KEYS ? events->n : 2 * events->n;
    if (n_keys >= d->keys_max || n_index > n_raw - FIXED || n_meta > n_raw - FIXED - n_index)
        return RF_EDAMAGED;
    const unsigned char *index = raw + FIXED, *meta = index + n_index;
    struct rf_column_in in = {meta, meta + n_meta, meta + n_meta, raw + n_raw};
    bool sound =
        n_keys == 0 ? decode_flat(d, events, &in) : decode_by_keys(d, events, &in, index, n_keys);
    sound = sound && in.meta == in.meta_end && in.data == in.data_end && kinds_are_sound(events);
    return sound ? RF_OK : RF_EDAMAGED;
}
