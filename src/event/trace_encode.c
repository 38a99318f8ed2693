/* trace_encode.c - the events of a block as columns.
 *
 * A program runs the same instructions again and again, and the events of one instruction resemble each
 *  other. Therefore the events of a block are sorted by key (a; for records pc and class), and each column of
 * each key is written by itself. The order is kept as the number of each event's key:
 *
 *     <10,5> <20,7> <10,5> <20,8>   ->   index 0 1 0 1    keys 10 20    sizes 2 2    b: 5 5 | 7 8
 *
 * The index of a loop repeats, which is what zstd is good at; the lists are mostly constant, steps, or
 * of few different values, which is what trace_column.c is good at. Reading back is one load per column for
 * each event, from where its key stands.
 *
 * With more than one key per eight events this does not pay. n_groups is then 0, and each column is one list
 * in the order of events, beginning with the key's.
 *
 *     payload:  u32 n_groups | u32 bytes of meta | index, 1 or 2 bytes per event | meta | data
 *     columns:  grouped: keys, sizes, then each column group by group     tuples:  (a) b [count]
 *               flat:    every column                                     records: (pc) shape addr value target
 *     shape:    class | flags << 8 | miss << 16 | width << 24 | thread << 40
 *
 * Bound: 2 bytes for the index, 8 per column, 17 per column and key, with keys at most an eighth of the events:
 * under 53 bytes per event (rf_trace_raw_max says 64). Memory: about 90 bytes per event. */
#include "event/trace.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/hash.h"
#include <string.h>

enum { FIXED = 8 };

struct key {
    uint64_t word;
    uint32_t kind;
    uint32_t size; /* events; then where the next one goes */
};

struct rf_trace_encoder {
    struct rf_alloc alloc;
    size_t events;
    size_t keys_max, n_keys, n_slots;
    uint64_t multiplier; /* of the hash: odd, and a secret */
    struct key *keys;
    uint16_t *slots;    /* 1 + number of a key, by its hash; 0: free */
    uint16_t *index;    /* key of each event */
    uint32_t *position; /* where each event stands in the columns */
    uint64_t *flat;     /* a column in the order of events */
    uint64_t *grouped;  /* the same by keys */
    unsigned char *data;
};

size_t rf_trace_columns(const struct rf_trace_events *events,
                        enum rf_trace_column columns[RF_TRACE_COLUMNS_MAX])
{
    if (events->kind == RF_TRACE_RECORDS) {
        for (unsigned i = 0; i < RF_TRACE_COLUMNS_MAX; i++)
            columns[i] = (enum rf_trace_column)(RF_COLUMN_SHAPE + i);
        return RF_TRACE_COLUMNS_MAX;
    }
    columns[0] = RF_COLUMN_B;
    columns[1] = RF_COLUMN_COUNT;
    return events->counts != NULL ? 2 : 1;
}

struct rf_trace_encoder *rf_trace_encoder_new(size_t events, const struct rf_alloc *alloc)
{
    alloc = rf_alloc_or_standard(alloc);
    struct rf_trace_encoder *e = rf_alloc_zeroed(alloc, sizeof *e);
    if (e == NULL)
        return NULL;
    e->alloc = *alloc;
    e->events = events;
    e->keys_max = events / RF_TRACE_EVENTS_PER_KEY + 1;
    for (e->n_slots = 16; e->n_slots < 4 * e->keys_max;)
        e->n_slots *= 2;
    e->multiplier = rf_hash_secret(e).a | 1;
    e->keys = rf_alloc_get(alloc, e->keys_max * sizeof *e->keys);
    e->slots = rf_alloc_get(alloc, e->n_slots * sizeof *e->slots);
    e->index = rf_alloc_get(alloc, events * sizeof *e->index);
    e->position = rf_alloc_get(alloc, events * sizeof *e->position);
    e->flat = rf_alloc_get(alloc, events * sizeof *e->flat);
    e->grouped = rf_alloc_get(alloc, events * sizeof *e->grouped);
    e->data = rf_alloc_get(alloc, rf_trace_raw_max(events));
    if (e->keys == NULL || e->slots == NULL || e->index == NULL || e->position == NULL ||
        e->flat == NULL || e->grouped == NULL || e->data == NULL) {
        rf_trace_encoder_free(e);
        return NULL;
    }
    return e;
}

void rf_trace_encoder_free(struct rf_trace_encoder *e)
{
    if (e == NULL)
        return;
    rf_alloc_free(&e->alloc, e->keys, e->keys_max * sizeof *e->keys);
    rf_alloc_free(&e->alloc, e->slots, e->n_slots * sizeof *e->slots);
    rf_alloc_free(&e->alloc, e->index, e->events * sizeof *e->index);
    rf_alloc_free(&e->alloc, e->position, e->events * sizeof *e->position);
    rf_alloc_free(&e->alloc, e->flat, e->events * sizeof *e->flat);
    rf_alloc_free(&e->alloc, e->grouped, e->events * sizeof *e->grouped);
    rf_alloc_free(&e->alloc, e->data, rf_trace_raw_max(e->events));
    rf_alloc_free(&e->alloc, e, sizeof *e);
}

/* The number of a key, new or known. */
static size_t number_of(struct rf_trace_encoder *e, uint64_t word, uint32_t kind)
{
    size_t slot = ((word + kind) * e->multiplier >> 32) & (e->n_slots - 1);
    for (; e->slots[slot] != 0; slot = (slot + 1) & (e->n_slots - 1)) {
        const struct key *key = &e->keys[e->slots[slot] - 1];
        if (key->word == word && key->kind == kind)
            return e->slots[slot] - 1u;
    }
    e->keys[e->n_keys] = (struct key){word, kind, 0};
    e->slots[slot] = (uint16_t)(e->n_keys + 1);
    return e->n_keys++;
}

/* Number the keys; false when there are too many of them. */
static bool find_keys(struct rf_trace_encoder *e, const struct rf_trace_events *events)
{
    size_t most = events->n / RF_TRACE_EVENTS_PER_KEY;
    bool tuples = events->kind == RF_TRACE_TUPLES;
    e->n_keys = 0;
    memset(e->slots, 0, e->n_slots * sizeof *e->slots);
    for (size_t i = 0; i < events->n; i++) {
        size_t key = tuples ? number_of(e, events->tuples[i].a, 0)
                            : number_of(e, events->records[i].pc, events->records[i].kind);
        if (e->n_keys > most)
            return false;
        e->index[i] = (uint16_t)key;
        e->keys[key].size++;
    }
    return true;
}

static uint64_t shape_of(const struct rf_record *record)
{
    uint64_t shape = 0;
#define RF_FIELD_PART(member, type, shift) shape |= (uint64_t)record->member << (shift);
#include <riffle/fields.def>
    return shape;
}

#define FILL(expression)                                                                           \
    for (size_t i = 0; i < n; i++)                                                                 \
    flat[i] = (expression)

static void fill_column(uint64_t *flat, const struct rf_trace_events *events,
                        enum rf_trace_column column)
{
    const struct rf_tuple *tuples = events->tuples;
    const struct rf_record *records = events->records;
    size_t n = events->n;
    switch (column) {
    case RF_COLUMN_KEY:
        if (events->kind == RF_TRACE_TUPLES)
            FILL(tuples[i].a);
        else
            FILL(records[i].pc);
        break;
    case RF_COLUMN_B:
        FILL(tuples[i].b);
        break;
    case RF_COLUMN_COUNT:
        FILL(events->counts[i]);
        break;
    case RF_COLUMN_SHAPE:
        FILL(shape_of(&records[i]));
        break;
#define RF_FIELD_WORD(ID, member, letter)                                                          \
    case RF_COLUMN_##ID:                                                                           \
        FILL(records[i].member);                                                                   \
        break;
#include <riffle/fields.def>
    case RF_COLUMNS:
        break;
    }
}

/* The keys and their sizes as columns; sizes turn into where each key's events begin. */
static void encode_keys(struct rf_trace_encoder *e, struct rf_column_out *out)
{
    for (size_t k = 0; k < e->n_keys; k++)
        e->flat[k] = e->keys[k].word;
    rf_column_encode(out, e->flat, e->n_keys);
    for (size_t k = 0; k < e->n_keys; k++)
        e->flat[k] = e->keys[k].size;
    rf_column_encode(out, e->flat, e->n_keys);
}

static void find_positions(struct rf_trace_encoder *e, size_t n)
{
    uint32_t begin = 0;
    for (size_t k = 0; k < e->n_keys; k++) {
        uint32_t size = e->keys[k].size;
        e->keys[k].size = begin;
        begin += size;
    }
    for (size_t i = 0; i < n; i++)
        e->position[i] = e->keys[e->index[i]].size++;
}

static void encode_grouped(struct rf_trace_encoder *e, const struct rf_trace_events *events,
                           enum rf_trace_column column, struct rf_column_out *out)
{
    fill_column(e->flat, events, column);
    for (size_t i = 0; i < events->n; i++)
        e->grouped[e->position[i]] = e->flat[i];
    uint32_t begin = 0;
    for (size_t k = 0; k < e->n_keys; k++) { /* size has become the end */
        rf_column_encode(out, e->grouped + begin, e->keys[k].size - begin);
        begin = e->keys[k].size;
    }
}

static unsigned char *write_index(const struct rf_trace_encoder *e, size_t n, unsigned char *p)
{
    bool narrow = e->n_keys <= RF_TRACE_NARROW_KEYS;
    for (size_t i = 0; i < n; i++) {
        *p++ = (unsigned char)e->index[i];
        if (!narrow)
            *p++ = (unsigned char)(e->index[i] >> 8);
    }
    return p;
}

size_t rf_trace_encode(struct rf_trace_encoder *e, const struct rf_trace_events *events,
                       unsigned char *raw)
{
    enum rf_trace_column columns[RF_TRACE_COLUMNS_MAX];
    size_t n_columns = rf_trace_columns(events, columns);
    struct rf_column_out out = {raw + FIXED, e->data};
    bool grouped = find_keys(e, events);
    if (grouped) {
        out.meta = write_index(e, events->n, out.meta);
    } else {
        e->n_keys = 0;
    }
    unsigned char *meta = out.meta;
    if (grouped) {
        encode_keys(e, &out);
        find_positions(e, events->n);
    } else {
        fill_column(e->flat, events, RF_COLUMN_KEY);
        rf_column_encode(&out, e->flat, events->n);
    }
    for (size_t i = 0; i < n_columns; i++) {
        if (grouped) {
            encode_grouped(e, events, columns[i], &out);
        } else {
            fill_column(e->flat, events, columns[i]);
            rf_column_encode(&out, e->flat, events->n);
        }
    }
    rf_store32(raw, (uint32_t)e->n_keys);
    rf_store32(raw + 4, (uint32_t)(out.meta - meta));
    size_t n_data = (size_t)(out.data - e->data);
    memcpy(out.meta, e->data, n_data);
    return (size_t)(out.meta - raw) + n_data;
}
