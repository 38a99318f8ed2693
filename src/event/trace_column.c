/* trace_column.c - a list of words in few bytes that cost little to read back.
 *
 * Three ways, whichever is smallest; byte-wise, so that zstd behind it sees its repetitions:
 *
 *     offset      base, then each value - base in w bytes, w = 0 (all alike) to 8
 *     step        first value, least step, then each step - least in w bytes; w = 0 is a plain stride
 *     dictionary  up to 256 different values, then one byte each
 *
 *     meta:  [ way | w << 4 ] [ base or number of values ] [ least step or values ]        data: bytes
 *
 * Steps are also used where they are no shorter but mostly equal (a loop over an array), because the bytes
 * then repeat. All arithmetic is modulo 2^64, so that every list of words can be written.
 *
 * Bound: meta 17 bytes per list, and 7 more bytes per value for a dictionary, which is only taken where data
 * shrinks by as much; so n values need at most 17 + 8 n bytes in all. */
#include "event/trace.h"
#include "base/bytes.h"

enum way { OFFSET, STEP, DICTIONARY, WAYS };

enum { DICTIONARY_MAX = 256, SLOTS = 1024, DICTIONARY_LEAST = 16 };

/* What one pass over the values finds. */
struct shape {
    uint64_t min, max;
    int64_t step_min, step_max;
    size_t steady; /* steps equal to the step before */
};

static unsigned bytes_for(uint64_t range)
{
    return range == 0 ? 0 : 8 - (unsigned)__builtin_clzll(range) / 8;
}

static struct shape look(const uint64_t *values, size_t n)
{
    struct shape shape = {values[0], values[0], INT64_MAX, INT64_MIN, 0};
    int64_t last = 0;
    for (size_t i = 1; i < n; i++) {
        uint64_t value = values[i];
        int64_t step = (int64_t)(value - values[i - 1]);
        shape.min = value < shape.min ? value : shape.min;
        shape.max = value > shape.max ? value : shape.max;
        shape.step_min = step < shape.step_min ? step : shape.step_min;
        shape.step_max = step > shape.step_max ? step : shape.step_max;
        shape.steady += step == last;
        last = step;
    }
    return shape;
}

static void put_meta(struct rf_column_out *out, uint64_t word)
{
    rf_store64(out->meta, word);
    out->meta += 8;
}

static void put_data(struct rf_column_out *out, uint64_t word, unsigned width)
{
    rf_store64(out->data, word);
    out->data += width;
}

static void encode_offset(struct rf_column_out *out, const uint64_t *values, size_t n,
                          const struct shape *shape, unsigned width)
{
    *out->meta++ = (unsigned char)(OFFSET | width << 4);
    put_meta(out, shape->min);
    if (width > 0)
        for (size_t i = 0; i < n; i++)
            put_data(out, values[i] - shape->min, width);
}

static void encode_step(struct rf_column_out *out, const uint64_t *values, size_t n,
                        const struct shape *shape, unsigned width)
{
    *out->meta++ = (unsigned char)(STEP | width << 4);
    put_meta(out, values[0]);
    put_meta(out, (uint64_t)shape->step_min);
    if (width > 0)
        for (size_t i = 1; i < n; i++)
            put_data(out, values[i] - values[i - 1] - (uint64_t)shape->step_min, width);
}

/* The distinct values, and a hash table of their numbers. */
struct dictionary {
    uint16_t slots[SLOTS]; /* 1 + number, 0: free */
    uint64_t values[DICTIONARY_MAX];
    size_t n;
};

static size_t dictionary_find(struct dictionary *dictionary, uint64_t value)
{
    size_t slot = value * 0x9e3779b97f4a7c15u >> 54;
    while (dictionary->slots[slot] != 0 && dictionary->values[dictionary->slots[slot] - 1] != value)
        slot = (slot + 1) % SLOTS;
    return slot;
}

/* Write as a dictionary if that is less than `most` bytes; otherwise nothing is written. */
static bool encode_dictionary(struct rf_column_out *out, const uint64_t *values, size_t n,
                              size_t most)
{
    struct dictionary dictionary = {.n = 0};
    for (size_t i = 0; i < n; i++) {
        size_t slot = dictionary_find(&dictionary, values[i]);
        if (dictionary.slots[slot] == 0) {
            if (dictionary.n == DICTIONARY_MAX || 8 * (dictionary.n + 1) + n >= most)
                return false;
            dictionary.values[dictionary.n++] = values[i];
            dictionary.slots[slot] = (uint16_t)dictionary.n;
        }
        out->data[i] = (unsigned char)(dictionary.slots[slot] - 1);
    }
    out->data += n;
    *out->meta++ = DICTIONARY;
    *out->meta++ = (unsigned char)(dictionary.n - 1);
    for (size_t i = 0; i < dictionary.n; i++)
        put_meta(out, dictionary.values[i]);
    return true;
}

void rf_column_encode(struct rf_column_out *out, const uint64_t *values, size_t n)
{
    struct shape shape = look(values, n);
    unsigned offset = bytes_for(shape.max - shape.min);
    unsigned step = n < 3 ? 9 : bytes_for((uint64_t)shape.step_max - (uint64_t)shape.step_min);
    bool steady = step <= offset && 2 * shape.steady > n;
    unsigned least = step < offset ? step : offset;
    if (!steady && least > 1 && n >= DICTIONARY_LEAST &&
        encode_dictionary(out, values, n, n * (size_t)least))
        return;
    if (step < offset || (steady && offset > 0))
        encode_step(out, values, n, &shape, step);
    else
        encode_offset(out, values, n, &shape, offset);
}

static inline void decode_offset(uint64_t *values, size_t n, const unsigned char *data,
                                 uint64_t base, unsigned width)
{
    uint64_t mask = width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * width) - 1;
    for (size_t i = 0; i < n; i++)
        values[i] = base + (rf_load64(data + i * width) & mask);
}

/* The same with the width known: the compiler makes vectors of most. */
static void decode_offsets(uint64_t *values, size_t n, const unsigned char *data, uint64_t base,
                           unsigned width)
{
    switch (width) {
    case 0:
        for (size_t i = 0; i < n; i++)
            values[i] = base;
        break;
    case 1:
        for (size_t i = 0; i < n; i++)
            values[i] = base + data[i];
        break;
    case 2:
        decode_offset(values, n, data, base, 2);
        break;
    case 4:
        decode_offset(values, n, data, base, 4);
        break;
    case 8:
        decode_offset(values, n, data, base, 8);
        break;
    default:
        decode_offset(values, n, data, base, width);
        break;
    }
}

static bool take_meta(struct rf_column_in *in, uint64_t *word)
{
    if (in->meta_end - in->meta < 8)
        return false;
    *word = rf_load64(in->meta);
    in->meta += 8;
    return true;
}

static const unsigned char *take_data(struct rf_column_in *in, size_t n)
{
    const unsigned char *data = in->data;
    if ((size_t)(in->data_end - in->data) < n)
        return NULL;
    in->data += n;
    return data;
}

static bool decode_step(struct rf_column_in *in, uint64_t *values, size_t n, unsigned width)
{
    uint64_t first, least;
    if (!take_meta(in, &first) || !take_meta(in, &least))
        return false;
    const unsigned char *data = take_data(in, (n - 1) * width);
    if (data == NULL)
        return false;
    decode_offsets(values + 1, n - 1, data, least, width);
    values[0] = first;
    for (size_t i = 1; i < n; i++)
        values[i] += values[i - 1];
    return true;
}

static bool decode_dictionary(struct rf_column_in *in, uint64_t *values, size_t n)
{
    uint64_t dictionary[DICTIONARY_MAX];
    if (in->meta == in->meta_end)
        return false;
    size_t size = (size_t)*in->meta++ + 1;
    for (size_t i = 0; i < size; i++)
        if (!take_meta(in, &dictionary[i]))
            return false;
    const unsigned char *data = take_data(in, n);
    if (data == NULL)
        return false;
    unsigned char most = 0;
    for (size_t i = 0; i < n; i++)
        most = data[i] > most ? data[i] : most;
    if (most >= size)
        return false;
    for (size_t i = 0; i < n; i++)
        values[i] = dictionary[data[i]];
    return true;
}

bool rf_column_decode(struct rf_column_in *in, uint64_t *values, size_t n)
{
    if (in->meta == in->meta_end || n == 0)
        return false;
    unsigned way = *in->meta & 15, width = *in->meta >> 4;
    in->meta++;
    if (way >= WAYS || width > 8)
        return false;
    if (way == DICTIONARY)
        return decode_dictionary(in, values, n);
    if (way == STEP)
        return decode_step(in, values, n, width);
    uint64_t base;
    const unsigned char *data = take_data(in, n * width);
    if (data == NULL || !take_meta(in, &base))
        return false;
    decode_offsets(values, n, data, base, width);
    return true;
}
