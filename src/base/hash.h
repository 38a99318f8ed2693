/* hash.h - from a tuple to a table index, two ways.
 *
 * The papers' function (Sastry et al., section 4.1; Narayanasamy et al. use the same):
 *
 *     xorfold(flip(randomize(a)) ^ randomize(b), bits)
 *
 * randomize maps each byte through a table of 256 random bytes, flip reverses the order of the
 * bytes, xorfold cuts the word into pieces of `bits` bits and xors them. Every step is linear over
 * xor and works byte by byte, so the whole function is the xor of 16 table look-ups, one for each
 * byte of the tuple: rf_hash_paper does that. Tests compare it with the steps written out,
 * rf_hash_paper_steps.
 *
 * The modern one is a multiply and fold of both words, a fraction of the cost. Different seeds give
 * independent functions of both kinds.
 *
 * Whoever knows the function can make tuples that all collide, for example by making one factor 0. Therefore
 * both factors of the modern one are keyed. A key comes from a seed where results depend on the hash
 * (seeds below 2^32 key one factor only: they can be guessed anyway, and the experiments were recorded with
 * them); where results do not, as in tables that only find things, the key is a secret. */
#ifndef RF_BASE_HASH_H
#define RF_BASE_HASH_H

#include <stdint.h>
#include <riffle/event.h>

struct rf_hash_paper {
    uint8_t randomize[256];
    unsigned bits;          /* of the result, 1..32 */
    uint32_t byte[16][256]; /* [0..7] of a, [8..15] of b, folded already */
};

void rf_hash_paper_init(struct rf_hash_paper *hash, unsigned bits, uint64_t seed);

static inline uint32_t rf_hash_paper(const struct rf_hash_paper *hash, struct rf_tuple t)
{
    uint32_t h = 0;
    for (unsigned i = 0; i < 8; i++)
        h ^= hash->byte[i][t.a >> 8 * i & 255] ^ hash->byte[8 + i][t.b >> 8 * i & 255];
    return h;
}

uint32_t rf_hash_paper_steps(const struct rf_hash_paper *hash, struct rf_tuple t);

/* Cut into pieces of `bits` bits (1..32), xor them together. */
static inline uint32_t rf_xorfold(uint64_t word, unsigned bits)
{
    uint64_t folded = 0;
    for (; word != 0; word >>= bits)
        folded ^= word & ((UINT64_C(1) << bits) - 1);
    return (uint32_t)folded;
}

#define RF_HASH_MULTIPLY_A UINT64_C(0x9e3779b97f4a7c15)
#define RF_HASH_MULTIPLY_B UINT64_C(0xd6e8feb86659fd93)
#define RF_HASH_MULTIPLY_C UINT64_C(0xd1342543de82ef95)

/* What the two words of a tuple are combined with. */
struct rf_hash_key {
    uint64_t a, b;
};

static inline struct rf_hash_key rf_hash_key(uint64_t seed)
{
    return (struct rf_hash_key){seed ^ RF_HASH_MULTIPLY_A,
                                (seed >> 32) * RF_HASH_MULTIPLY_C ^ RF_HASH_MULTIPLY_B};
}

/* A key that the author of the input cannot know: it is derived from the address of `object`, which differs
 * from run to run. No result may depend on it. */
struct rf_hash_key rf_hash_secret(const void *object);

/* 64 well-mixed bits. Take an index from the top: (h >> (64 - bits)). */
static inline uint64_t rf_hash_multiply(struct rf_tuple t, struct rf_hash_key key)
{
    unsigned __int128 product =
        (unsigned __int128)(t.a ^ key.a) * ((t.b << 32 | t.b >> 32) ^ key.b);
    uint64_t h = (uint64_t)product ^ (uint64_t)(product >> 64) ^ t.b;
    return h * RF_HASH_MULTIPLY_C;
}

#endif
