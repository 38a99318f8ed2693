/* lz.c - an LZ77 compressor with hash chains and lazy matching, and its decompressor.
 *
 *     token   literals (4 bits) | match length - 4 (4 bits), each followed by bytes of 255 when it is full
 *     then    the literals, then the distance in two bytes
 *
 * Compresses text made of words that follow each other by chance, takes it apart again and compares. */
#include "workload.h"

enum {
    HASH_BITS = 15,
    WINDOW = 1 << 16,
    MATCH_MIN = 4,
    CHAIN_MAX = 48,
    WORDS = 600,
    TEXT = 96 << 10
};

struct compressor {
    const uint8_t *text;
    size_t n;
    uint8_t *out;
    size_t used;
    int32_t head[1 << HASH_BITS];
    int32_t *before; /* the last earlier place with the same hash */
};

static uint32_t hash_at(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word * 2654435761u >> (32 - HASH_BITS);
}

static void insert(struct compressor *c, size_t at)
{
    if (at + MATCH_MIN > c->n)
        return;
    uint32_t hash = hash_at(c->text + at);
    c->before[at] = c->head[hash];
    c->head[hash] = (int32_t)at;
}

static size_t match_length(const struct compressor *c, size_t a, size_t b)
{
    size_t n = 0;
    while (b + n < c->n && c->text[a + n] == c->text[b + n])
        n++;
    return n;
}

/* The longest earlier string like the one at `at`; its distance through *distance. */
static size_t find_match(const struct compressor *c, size_t at, size_t *distance)
{
    size_t best = 0;
    if (at + MATCH_MIN > c->n)
        return 0;
    int32_t place = c->head[hash_at(c->text + at)];
    for (int tries = CHAIN_MAX; place >= 0 && tries > 0; tries--, place = c->before[place]) {
        size_t from = (size_t)place;
        if (at - from >= WINDOW)
            break;
        if (at + best < c->n && c->text[from + best] != c->text[at + best])
            continue;
        size_t n = match_length(c, from, at);
        if (n > best) {
            best = n;
            *distance = at - from;
        }
    }
    return best >= MATCH_MIN ? best : 0;
}

static void put_length(struct compressor *c, size_t n)
{
    for (; n >= 255; n -= 255)
        c->out[c->used++] = 255;
    c->out[c->used++] = (uint8_t)n;
}

static void put(struct compressor *c, size_t from, size_t literals, size_t length, size_t distance)
{
    size_t extra = length > 0 ? length - MATCH_MIN : 0;
    c->out[c->used++] = (uint8_t)((literals < 15 ? literals : 15) << 4 | (extra < 15 ? extra : 15));
    if (literals >= 15)
        put_length(c, literals - 15);
    memcpy(c->out + c->used, c->text + from, literals);
    c->used += literals;
    if (length == 0)
        return;
    c->out[c->used++] = (uint8_t)distance;
    c->out[c->used++] = (uint8_t)(distance >> 8);
    if (extra >= 15)
        put_length(c, extra - 15);
}

static size_t compress(struct compressor *c)
{
    size_t at = 0, literals_from = 0;
    while (at < c->n) {
        size_t distance = 0, later = 0;
        size_t length = find_match(c, at, &distance);
        insert(c, at);
        if (length > 0 && find_match(c, at + 1, &later) > length + 1)
            length = 0; /* a literal now gives a longer match next */
        if (length == 0) {
            at++;
            continue;
        }
        put(c, literals_from, at - literals_from, length, distance);
        for (size_t i = 1; i < length; i++)
            insert(c, at + i);
        at += length;
        literals_from = at;
    }
    put(c, literals_from, at - literals_from, 0, 0);
    return c->used;
}

static size_t take_length(const uint8_t **in, size_t n)
{
    uint8_t more = 255;
    if (n < 15)
        return n;
    while (more == 255) {
        more = *(*in)++;
        n += more;
    }
    return n;
}

static size_t decompress(uint8_t *out, const uint8_t *in, size_t n)
{
    uint8_t *to = out;
    const uint8_t *end = in + n;
    while (in < end) {
        uint8_t token = *in++;
        size_t literals = take_length(&in, token >> 4);
        memcpy(to, in, literals);
        to += literals;
        in += literals;
        if (in >= end)
            break;
        size_t distance = (size_t)in[0] | (size_t)in[1] << 8;
        in += 2;
        for (size_t length = take_length(&in, token & 15) + MATCH_MIN; length > 0; length--, to++)
            *to = *(to - distance);
    }
    return (size_t)(to - out);
}

/* Words of a made-up language. A few others often follow each word. */
static void write_text(uint8_t *text, size_t n, uint64_t *seed)
{
    static char words[WORDS][12];
    uint32_t word = 0;
    for (size_t i = 0; i < WORDS; i++)
        for (size_t k = 0, length = 2 + workload_below(seed, 8); k < length; k++)
            words[i][k] = (char)("etaoinshrdlucmfw"[workload_below(seed, 16)]);
    for (size_t at = 0; at < n;) {
        size_t length = strlen(words[word]);
        for (size_t k = 0; k < length && at < n; k++)
            text[at++] = (uint8_t)words[word][k];
        if (at < n)
            text[at++] = workload_below(seed, 12) == 0 ? '\n' : ' ';
        uint32_t chance = workload_below(seed, 4);
        word = chance < 3 ? (word * 7 + chance * 31 + 1) % WORDS : workload_below(seed, WORDS);
    }
}

int main(int argc, char **argv)
{
    size_t n = (size_t)TEXT * workload_size(argc, argv);
    uint64_t seed = 12345;
    uint8_t *text = workload_memory(n + 8, 1), *again = workload_memory(n + 8, 1);
    struct compressor *c = workload_memory(1, sizeof *c);
    write_text(text, n, &seed);
    c->text = text;
    c->n = n;
    c->out = workload_memory(n + n / 128 + 64, 1);
    c->before = workload_memory(n, sizeof *c->before);
    memset(c->head, 0xff, sizeof c->head);
    size_t small = compress(c);
    size_t back = decompress(again, c->out, small);
    printf("lz: %zu bytes to %zu, checksum %016llx, %s\n", n, small,
           (unsigned long long)workload_checksum(0, c->out, small),
           back == n && memcmp(text, again, n) == 0 ? "and back" : "LOST");
    free(c->before);
    free(c->out);
    free(c);
    free(again);
    free(text);
    return 0;
}
