/* associative.c - keeping the chains of the associative array. */
#include "coproc/associative.h"
#include <string.h>

/* Layout of the block: valid | keys | next | heads, two chains per entry. */
size_t rf_associative_size(uint32_t words)
{
    size_t bits = (words + 63) / 64 * sizeof(uint64_t);
    return bits + words * sizeof(uint32_t) + 3 * words * sizeof(uint16_t);
}

void rf_associative_init(struct rf_associative *array, uint32_t words, void *block)
{
    array->words = words;
    array->shift = 31 - (unsigned)__builtin_ctz(words);
    array->valid = block;
    array->keys = (uint32_t *)(array->valid + (words + 63) / 64);
    array->next = (uint16_t *)(array->keys + words);
    array->heads = array->next + words;
    memset(array->keys, 0, words * sizeof *array->keys);
    rf_associative_clear_all(array);
}

void rf_associative_clear_all(struct rf_associative *array)
{
    memset(array->valid, 0, (array->words + 63) / 64 * sizeof *array->valid);
    memset(array->heads, 0xff, 2 * array->words * sizeof *array->heads);
}

uint32_t rf_associative_free(const struct rf_associative *array, uint32_t from, uint32_t end)
{
    for (uint32_t e = from; e < end;) {
        uint64_t gaps = ~array->valid[e / 64] >> e % 64;
        if (gaps != 0) {
            e += (uint32_t)__builtin_ctzll(gaps);
            return e < end ? e : RF_ASSOCIATIVE_END;
        }
        e = (e / 64 + 1) * 64;
    }
    return RF_ASSOCIATIVE_END;
}

void rf_associative_clear(struct rf_associative *array, uint32_t entry)
{
    if (!rf_associative_valid(array, entry))
        return;
    uint16_t *link = rf_associative_head(array, array->keys[entry]);
    while (*link != entry)
        link = &array->next[*link];
    *link = array->next[entry];
    array->valid[entry / 64] &= ~(UINT64_C(1) << entry % 64);
}

void rf_associative_write(struct rf_associative *array, uint32_t entry, uint32_t key)
{
    rf_associative_clear(array, entry);
    uint16_t *head = rf_associative_head(array, key);
    array->keys[entry] = key;
    array->next[entry] = *head;
    *head = (uint16_t)entry;
    array->valid[entry / 64] |= UINT64_C(1) << entry % 64;
}
