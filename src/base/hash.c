/* hash.c - the papers' hash as steps and as tables made from those steps. */
#include "base/hash.h"
#include "base/random.h"

static uint64_t randomize(const struct rf_hash_paper *hash, uint64_t word)
{
    uint64_t result = 0;
    for (unsigned i = 0; i < 8; i++)
        result |= (uint64_t)hash->randomize[word >> 8 * i & 255] << 8 * i;
    return result;
}

static uint64_t flip(uint64_t word)
{
    return __builtin_bswap64(word);
}

uint32_t rf_hash_paper_steps(const struct rf_hash_paper *hash, struct rf_tuple t)
{
    return rf_xorfold(flip(randomize(hash, t.a)) ^ randomize(hash, t.b), hash->bits);
}

void rf_hash_paper_init(struct rf_hash_paper *hash, unsigned bits, uint64_t seed)
{
    struct rf_random random;
    rf_random_seed(&random, seed);
    hash->bits = bits;
    for (unsigned i = 0; i < 256; i++)
        hash->randomize[i] = (uint8_t)i;
    /* A permutation: two values of a byte never collide before the fold. */
    for (unsigned i = 255; i > 0; i--) {
        unsigned k = (unsigned)rf_random_below(&random, i + 1);
        uint8_t swap = hash->randomize[i];
        hash->randomize[i] = hash->randomize[k];
        hash->randomize[k] = swap;
    }
    for (unsigned i = 0; i < 8; i++)
        for (unsigned value = 0; value < 256; value++) {
            uint64_t mapped = (uint64_t)hash->randomize[value];
            hash->byte[i][value] = rf_xorfold(flip(mapped << 8 * i), bits);
            hash->byte[8 + i][value] = rf_xorfold(mapped << 8 * i, bits);
        }
}

struct rf_hash_key rf_hash_secret(const void *object)
{
    struct rf_hash_key key;
    uint64_t state = (uint64_t)(uintptr_t)object << 32 ^ (uint64_t)(uintptr_t)&key;
    state ^= rf_splitmix(&state) ^ (uint64_t)(uintptr_t)&rf_hash_secret;
    key.a = rf_splitmix(&state);
    key.b = rf_splitmix(&state);
    return key;
}
