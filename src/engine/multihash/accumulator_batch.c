/* accumulator_batch.c - looking up a batch of tuples, by what the processor has.
 *
 *     portable    one by one                                        everywhere
 *     avx2        4 at once
 *     avx512      8 at once (F, BW, DQ, VL, VBMI2: from Ice Lake and Zen 4 on)
 *
 * The wide ways are a straight line for each vector of tuples, without a branch:
 *
 *     hash        the 128-bit product from four of 32 x 32 bits
 *     bucket      a load for each; its 8 words against the tag; the largest that matches
 *     tuple       a load for each, at that slot; equal: found
 *
 * A matching tag of another tuple leaves a doubt, and so does a full bucket. Doubts are kept as bits and
 * resolved one by one at the end of the batch, by rf_accumulator_search. They are rare, but too frequent for
 * a branch per vector to be predicted. */
#include "engine/multihash/accumulator_batch.h"
#include "engine/ahead.h"
#include "base/hash.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Enter a tuple into the lists, without a branch. */
static ALWAYS_INLINE void list(struct rf_accumulator_batch *batch, size_t i, uint64_t hash,
                               size_t *found, size_t *absent)
{
    uint16_t slot = batch->slot[i];
    batch->found[*found] = slot;
    batch->absent[*absent] = (uint16_t)i;
    batch->hash[*absent] = hash;
    *found += slot != RF_ACCUMULATOR_ABSENT;
    *absent += slot == RF_ACCUMULATOR_ABSENT;
}

/* Tuples from `first` on, behind what is in the lists. */
static ALWAYS_INLINE void find_from(const struct rf_accumulator *accumulator,
                                    struct rf_hash_key key, const struct rf_tuple *tuples,
                                    size_t first, size_t n, struct rf_accumulator_batch *batch)
{
    struct rf_accumulator_view view = rf_accumulator_view(accumulator);
    size_t found = batch->n_found, absent = batch->n_absent;
    for (size_t i = first; i < n; i++) {
        rf_ahead(&tuples[i]);
        uint64_t hash = rf_hash_multiply(tuples[i], key);
        batch->slot[i] = (uint16_t)rf_accumulator_find_by(view, accumulator, tuples[i], hash);
        list(batch, i, hash, &found, &absent);
    }
    batch->n_found = found;
    batch->n_absent = absent;
}

static void portable(const struct rf_accumulator *accumulator, struct rf_hash_key key,
                     const struct rf_tuple *tuples, size_t n, struct rf_accumulator_batch *batch)
{
    batch->n_found = batch->n_absent = 0;
    find_from(accumulator, key, tuples, 0, n, batch);
}

#if defined __x86_64__
#include <immintrin.h>

/* What a vector way leaves behind: slots are in the batch; hashes and doubts of every tuple here. */
struct looked {
    uint64_t hash[RF_ACCUMULATOR_BATCH];
    uint64_t doubts[RF_ACCUMULATOR_BATCH / 64];
};

static void search_doubts(const struct rf_accumulator *accumulator, const struct rf_tuple *tuples,
                          const struct looked *looked, struct rf_accumulator_batch *batch)
{
    for (size_t k = 0; k < RF_ACCUMULATOR_BATCH / 64; k++)
        for (uint64_t left = looked->doubts[k]; left != 0; left &= left - 1) {
            size_t i = 64 * k + (size_t)__builtin_ctzll(left);
            batch->slot[i] =
                (uint16_t)rf_accumulator_search(accumulator, tuples[i], looked->hash[i]);
        }
}

/* ---- four at once ---- */

static ALWAYS_INLINE void list_looked(struct rf_accumulator_batch *batch, const uint64_t *hash,
                                      size_t n)
{
    size_t found = 0, absent = 0;
    for (size_t i = 0; i < n; i++)
        list(batch, i, hash[i], &found, &absent);
    batch->n_found = found;
    batch->n_absent = absent;
}

#define AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

/* The words a and b of 4 tuples. */
struct four {
    __m256i a, b;
};

AVX2 static ALWAYS_INLINE struct four load_four(const struct rf_tuple *tuples)
{
    __m256i low = _mm256_loadu_si256((const void *)tuples);
    __m256i high = _mm256_loadu_si256((const void *)(tuples + 2));
    return (struct four){_mm256_permute4x64_epi64(_mm256_unpacklo_epi64(low, high), 0xd8),
                         _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(low, high), 0xd8)};
}

AVX2 static ALWAYS_INLINE __m256i all_four(uint64_t word)
{
    return _mm256_set1_epi64x((long long)word);
}

/* The lower 64 bits of a product. */
AVX2 static ALWAYS_INLINE __m256i multiply_four(__m256i x, uint64_t y)
{
    __m256i cross = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), all_four(y)),
                                     _mm256_mul_epu32(x, all_four(y >> 32)));
    return _mm256_add_epi64(_mm256_mul_epu32(x, all_four(y)), _mm256_slli_epi64(cross, 32));
}

/* rf_hash_multiply. A product takes the lower halves of its factors and never sees the upper ones. */
AVX2 static ALWAYS_INLINE __m256i hash_four(struct four t, struct rf_hash_key key)
{
    __m256i x = _mm256_xor_si256(t.a, all_four(key.a));
    __m256i y = _mm256_xor_si256(_mm256_srli_epi64(t.b, 32), all_four(key.b));
    __m256i x_high = _mm256_srli_epi64(x, 32);
    __m256i y_high = _mm256_xor_si256(t.b, all_four(key.b >> 32));
    __m256i bottom = _mm256_mul_epu32(x, y);
    __m256i middle = _mm256_add_epi64(_mm256_mul_epu32(x, y_high), _mm256_srli_epi64(bottom, 32));
    __m256i second = _mm256_add_epi64(_mm256_mul_epu32(x_high, y),
                                      _mm256_and_si256(middle, all_four(0xffffffff)));
    __m256i high = _mm256_add_epi64(
        _mm256_mul_epu32(x_high, y_high),
        _mm256_add_epi64(_mm256_srli_epi64(middle, 32), _mm256_srli_epi64(second, 32)));
    __m256i low = _mm256_blend_epi32(bottom, _mm256_slli_epi64(second, 32), 0xaa);
    return multiply_four(_mm256_xor_si256(_mm256_xor_si256(low, high), t.b), RF_HASH_MULTIPLY_C);
}

/* Words that have the tag; the others become 0. */
AVX2 static ALWAYS_INLINE __m256i match_four(__m256i words, __m256i tag, __m256i tag_mask)
{
    __m256i differs = _mm256_and_si256(_mm256_xor_si256(words, tag), tag_mask);
    return _mm256_and_si256(words, _mm256_cmpeq_epi16(differs, _mm256_setzero_si256()));
}

AVX2 static ALWAYS_INLINE __m256i gather_four(const void *base, __m256i index)
{
    return _mm256_i64gather_epi64(base, index, 8);
}

/* Slots, and a bit for each that wants a search. */
AVX2 static ALWAYS_INLINE __m256i find_four(const struct rf_accumulator *accumulator, struct four t,
                                            __m256i hash, unsigned *doubts)
{
    const __m256i tag_bytes = _mm256_set1_epi64x(0x0302030203020302);
    const __m256i upper = _mm256_setr_epi64x(0, 0x0808080808080808, 0, 0x0808080808080808);
    const __m256i tag_mask = _mm256_set1_epi16((short)~accumulator->slot_mask);
    const __m256i zero = _mm256_setzero_si256();
    __m256i bucket = _mm256_srli_epi64(
        _mm256_mul_epu32(_mm256_srli_epi64(hash, 32), all_four(accumulator->buckets)), 32);
    bucket = _mm256_add_epi64(bucket, bucket);
    __m256i low = gather_four(accumulator->index, bucket);
    __m256i high = gather_four(accumulator->index + 4, bucket);
    __m256i tag = _mm256_shuffle_epi8(hash, _mm256_or_si256(tag_bytes, upper));
    __m256i match =
        _mm256_max_epu16(match_four(low, tag, tag_mask), match_four(high, tag, tag_mask));
    match = _mm256_max_epu16(match, _mm256_srli_epi64(match, 32));
    match = _mm256_max_epu16(match, _mm256_srli_epi64(match, 16));
    __m256i slot = _mm256_and_si256(match, all_four(accumulator->slot_mask));
    __m256i at = _mm256_add_epi64(slot, slot);
    __m256i is =
        _mm256_and_si256(_mm256_cmpeq_epi64(t.a, gather_four(&accumulator->tuples[0].a, at)),
                         _mm256_cmpeq_epi64(t.b, gather_four(&accumulator->tuples[0].b, at)));
    is = _mm256_andnot_si256(_mm256_cmpeq_epi64(slot, zero), is); /* the dummy is nobody */
    __m256i unsure =
        _mm256_or_si256(slot, _mm256_srli_epi64(high, 48)); /* a match; a full bucket */
    __m256i sure = _mm256_or_si256(is, _mm256_cmpeq_epi64(unsure, zero));
    *doubts = ~(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(sure)) & 15;
    return _mm256_and_si256(slot, is);
}

AVX2 static ALWAYS_INLINE void store_slots(uint16_t *out, __m256i slot)
{
    __m128i low = _mm256_castsi256_si128(slot), high = _mm256_extracti128_si256(slot, 1);
    __m128i words = _mm_packus_epi32(_mm_packus_epi32(low, high), _mm_setzero_si128());
    _mm_storel_epi64((void *)out, words);
}

AVX2 static void avx2(const struct rf_accumulator *accumulator, struct rf_hash_key key,
                      const struct rf_tuple *tuples, size_t n, struct rf_accumulator_batch *batch)
{
    struct looked looked;
    memset(looked.doubts, 0, sizeof looked.doubts);
    size_t whole = n & ~(size_t)3;
    for (size_t i = 0; i < whole; i += 4) {
        unsigned doubts;
        rf_ahead(tuples + i);
        struct four t = load_four(tuples + i);
        __m256i hash = hash_four(t, key);
        store_slots(batch->slot + i, find_four(accumulator, t, hash, &doubts));
        _mm256_storeu_si256((void *)(looked.hash + i), hash);
        looked.doubts[i / 64] |= (uint64_t)doubts << i % 64;
    }
    search_doubts(accumulator, tuples, &looked, batch);
    list_looked(batch, looked.hash, whole);
    find_from(accumulator, key, tuples, whole, n, batch);
}

/* ---- eight at once ---- */

#define AVX512                                                                                     \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi,bmi2,popcnt")))

/* The words a and b of 8 tuples. */
struct eight {
    __m512i a, b;
};

AVX512 static ALWAYS_INLINE struct eight split(__m512i low, __m512i high)
{
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    return (struct eight){_mm512_permutex2var_epi64(low, even, high),
                          _mm512_permutex2var_epi64(low, odd, high)};
}

AVX512 static ALWAYS_INLINE struct eight load_eight(const struct rf_tuple *tuples)
{
    return split(_mm512_loadu_si512(tuples), _mm512_loadu_si512(tuples + 4));
}

AVX512 static ALWAYS_INLINE __m512i load_rows(const __m128i *rows, const uint64_t n[4])
{
    __m512i four = _mm512_castsi128_si512(_mm_loadu_si128(&rows[n[0]]));
    four = _mm512_inserti64x2(four, _mm_loadu_si128(&rows[n[1]]), 1);
    four = _mm512_inserti64x2(four, _mm_loadu_si128(&rows[n[2]]), 2);
    return _mm512_inserti64x2(four, _mm_loadu_si128(&rows[n[3]]), 3);
}

/* Rows of 16 bytes, by their numbers. Gathers need two elements for each row, and are slower on Zen 4, which has them in
 * microcode. */
AVX512 static ALWAYS_INLINE struct eight load_eight_at(const void *rows, __m512i numbers)
{
    uint64_t n[8];
    _mm512_storeu_si512(n, numbers);
    return split(load_rows(rows, n), load_rows(rows, n + 4));
}

AVX512 static ALWAYS_INLINE __m512i all(uint64_t word)
{
    return _mm512_set1_epi64((long long)word);
}

/* rf_hash_multiply. A product takes the lower halves of its factors and never sees the upper ones. */
AVX512 static ALWAYS_INLINE __m512i hash_eight(struct eight t, struct rf_hash_key key)
{
    __m512i x = _mm512_xor_si512(t.a, all(key.a));
    __m512i y = _mm512_xor_si512(_mm512_srli_epi64(t.b, 32), all(key.b));
    __m512i x_high = _mm512_srli_epi64(x, 32);
    __m512i y_high = _mm512_xor_si512(t.b, all(key.b >> 32));
    __m512i bottom = _mm512_mul_epu32(x, y);
    __m512i middle = _mm512_add_epi64(_mm512_mul_epu32(x, y_high), _mm512_srli_epi64(bottom, 32));
    __m512i second =
        _mm512_add_epi64(_mm512_mul_epu32(x_high, y), _mm512_and_si512(middle, all(0xffffffff)));
    __m512i high = _mm512_add_epi64(
        _mm512_mul_epu32(x_high, y_high),
        _mm512_add_epi64(_mm512_srli_epi64(middle, 32), _mm512_srli_epi64(second, 32)));
    __m512i low = _mm512_mask_shuffle_epi32(bottom, 0xaaaa, second, _MM_PERM_CCAA);
    return _mm512_mullo_epi64(_mm512_xor_si512(_mm512_xor_si512(low, high), t.b),
                              all(RF_HASH_MULTIPLY_C));
}

/* What a vector of tuples leaves: slots, and the lanes that want a search. */
struct answer {
    __m512i slot;
    __mmask8 doubt;
};

AVX512 static ALWAYS_INLINE struct answer find_eight(const struct rf_accumulator *accumulator,
                                                     struct eight t, __m512i hash)
{
    const __m512i tag_bytes = _mm512_set4_epi32(0x0b0a0b0a, 0x0b0a0b0a, 0x03020302, 0x03020302);
    const __m512i slot_mask = all(accumulator->slot_mask);
    const __m512i tag_mask = _mm512_set1_epi16((short)~accumulator->slot_mask);
    __m512i bucket = _mm512_srli_epi64(
        _mm512_mul_epu32(_mm512_srli_epi64(hash, 32), all(accumulator->buckets)), 32);
    struct eight tags = load_eight_at(accumulator->index, bucket);
    __m512i low = tags.a, high = tags.b;
    __m512i tag = _mm512_shuffle_epi8(hash, tag_bytes);
    __mmask32 has_low = _mm512_testn_epi16_mask(_mm512_xor_si512(low, tag), tag_mask);
    __mmask32 has_high = _mm512_testn_epi16_mask(_mm512_xor_si512(high, tag), tag_mask);
    __m512i match = _mm512_maskz_mov_epi16(has_low, low);
    match = _mm512_mask_max_epu16(match, has_high, match, high);
    match = _mm512_max_epu16(match, _mm512_srli_epi64(match, 32));
    match = _mm512_max_epu16(match, _mm512_srli_epi64(match, 16));
    __m512i slot = _mm512_and_si512(match, slot_mask);
    struct eight there = load_eight_at(accumulator->tuples, slot);
    __mmask8 is = _mm512_test_epi64_mask(slot, slot); /* the dummy is nobody, not even <0, 0> */
    is = _mm512_mask_cmpeq_epi64_mask(is, t.a, there.a);
    is = _mm512_mask_cmpeq_epi64_mask(is, t.b, there.b);
    __m512i unsure =
        _mm512_or_si512(slot, _mm512_srli_epi64(high, 48)); /* a match; a full bucket */
    return (struct answer){_mm512_maskz_mov_epi64(is, slot),
                           _mm512_mask_test_epi64_mask((__mmask8)~is, unsure, unsure)};
}

/* The lists of the first n tuples, 8 at a time; `hash` has a hash for each. */
AVX512 static void list_eights(struct rf_accumulator_batch *batch, const uint64_t *hash, size_t n)
{
    __m128i number = _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7);
    size_t found = 0, absent = 0;
    for (size_t i = 0; i < n; i += 8) {
        __m128i slot = _mm_loadu_si128((const void *)(batch->slot + i));
        __mmask8 is = _mm_test_epi16_mask(slot, slot), is_not = (__mmask8)~is;
        __m512i hashes = _mm512_maskz_compress_epi64(is_not, _mm512_loadu_si512(hash + i));
        _mm_storeu_si128((void *)(batch->found + found), _mm_maskz_compress_epi16(is, slot));
        _mm_storeu_si128((void *)(batch->absent + absent),
                         _mm_maskz_compress_epi16(is_not, number));
        _mm512_storeu_si512(batch->hash + absent, hashes);
        found += (size_t)_mm_popcnt_u32(is);
        absent += 8 - (size_t)_mm_popcnt_u32(is);
        number = _mm_add_epi16(number, _mm_set1_epi16(8));
    }
    batch->n_found = found;
    batch->n_absent = absent;
}

AVX512 static void avx512(const struct rf_accumulator *accumulator, struct rf_hash_key key,
                          const struct rf_tuple *tuples, size_t n,
                          struct rf_accumulator_batch *batch)
{
    struct looked looked;
    memset(looked.doubts, 0, sizeof looked.doubts);
    size_t whole = n & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8) {
        rf_ahead(tuples + i);
        rf_ahead(tuples + i + RF_AHEAD_LINE);
        struct eight t = load_eight(tuples + i);
        __m512i hash = hash_eight(t, key);
        struct answer answer = find_eight(accumulator, t, hash);
        _mm512_storeu_si512(looked.hash + i, hash);
        _mm_storeu_si128((void *)(batch->slot + i), _mm512_cvtepi64_epi16(answer.slot));
        looked.doubts[i / 64] |= (uint64_t)answer.doubt << i % 64;
    }
    search_doubts(accumulator, tuples, &looked, batch);
    list_eights(batch, looked.hash, whole);
    find_from(accumulator, key, tuples, whole, n, batch);
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi2");
}
#endif

/* Slowest first. A processor that has one of them has those before it, too. */
rf_accumulator_find_batch *rf_accumulator_way(size_t i)
{
#if defined __x86_64__
    if (i == 1 && has_avx2())
        return avx2;
    if (i == 2 && has_avx512())
        return avx512;
#endif
    return i == 0 ? portable : NULL;
}
