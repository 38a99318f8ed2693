/* stratum.c - strata of whole batches of tuples, by what the processor has.
 *
 *     portable    plain C                                     everywhere
 *     avx2        4 tuples at once; 64-bit products from three 32-bit ones
 *     avx512      8 tuples at once (F and DQ)
 *     vbmi        the paper's hash: 64 bytes through the table of 256 at once (AVX-512 VBMI)
 *
 * The processor is asked once, when an engine is opened. All ways give the same numbers. */
#include "engine/stratified/stratum.h"
#include "base/random.h"
#include "engine/ahead.h"
#include <string.h>

static void portable(const struct rf_stratum *stratum, const struct rf_tuple *tuples, size_t n,
                     uint32_t *index)
{
    uint64_t multiply_a = stratum->multiply_a, multiply_b = stratum->multiply_b;
    unsigned shift = 64 - stratum->bits;
    for (size_t i = 0; i < n; i++) {
        rf_ahead(&tuples[i]);
        index[i] = (uint32_t)((tuples[i].a * multiply_a + tuples[i].b * multiply_b) >> shift);
    }
}

static void portable_paper(const struct rf_stratum *stratum, const struct rf_tuple *tuples,
                           size_t n, uint32_t *index)
{
    for (size_t i = 0; i < n; i++) {
        rf_ahead(&tuples[i]);
        index[i] = rf_hash_paper(stratum->paper, tuples[i]);
    }
}

/* Vectors of the compiler: one instruction where the processor has such, several where not. */
enum { VECTOR = 8 };
typedef uint64_t words __attribute__((vector_size(VECTOR * sizeof(uint64_t))));

/* xorfold by halves: bits * 2^k bits for falling k, so that two pieces are left each time. */
static inline __attribute__((always_inline)) void fold(const struct rf_tuple *tuples, size_t n,
                                                       unsigned bits, uint64_t *tags)
{
    unsigned widest = bits;
    while (widest * 2 < 64)
        widest *= 2;
    for (size_t i = 0; i < n; i++)
        tags[i] = tuples[i].a ^ tuples[i].b;
    size_t i = 0;
    for (; i + VECTOR <= n; i += VECTOR) {
        words x;
        memcpy(&x, tags + i, sizeof x);
        for (unsigned width = widest; width >= bits; width /= 2)
            x = (x >> width) ^ (x & ((UINT64_C(1) << width) - 1));
        memcpy(tags + i, &x, sizeof x);
    }
    for (; i < n; i++)
        for (unsigned width = widest; width >= bits; width /= 2)
            tags[i] = (tags[i] >> width) ^ (tags[i] & ((UINT64_C(1) << width) - 1));
}

static void portable_tags(const struct rf_tuple *tuples, size_t n, unsigned bits, uint64_t *tags)
{
    fold(tuples, n, bits, tags);
}

#if defined __x86_64__
#include <immintrin.h>

__attribute__((target("avx2"))) static void avx2_tags(const struct rf_tuple *tuples, size_t n,
                                                      unsigned bits, uint64_t *tags)
{
    fold(tuples, n, bits, tags);
}

__attribute__((target("avx512f"))) static void avx512_tags(const struct rf_tuple *tuples, size_t n,
                                                           unsigned bits, uint64_t *tags)
{
    fold(tuples, n, bits, tags);
}

__attribute__((target("avx2"))) static inline __m256i multiply_64(__m256i x, __m256i y)
{
    __m256i low = _mm256_mul_epu32(x, y);
    __m256i cross = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), y),
                                     _mm256_mul_epu32(x, _mm256_srli_epi64(y, 32)));
    return _mm256_add_epi64(low, _mm256_slli_epi64(cross, 32));
}

/* Two tuples per vector; a pair of vectors is added up crosswise and put back into order. */
__attribute__((target("avx2"))) static void
avx2(const struct rf_stratum *stratum, const struct rf_tuple *tuples, size_t n, uint32_t *index)
{
    const __m256i multiply =
        _mm256_setr_epi64x((long long)stratum->multiply_a, (long long)stratum->multiply_b,
                           (long long)stratum->multiply_a, (long long)stratum->multiply_b);
    const __m128i shift = _mm_cvtsi32_si128((int)(64 - stratum->bits));
    const __m256i order = _mm256_setr_epi32(0, 4, 2, 6, 0, 4, 2, 6);
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        rf_ahead(&tuples[i]);
        __m256i x = multiply_64(_mm256_loadu_si256((const void *)(tuples + i)), multiply);
        __m256i y = multiply_64(_mm256_loadu_si256((const void *)(tuples + i + 2)), multiply);
        __m256i sum = _mm256_add_epi64(_mm256_unpacklo_epi64(x, y), _mm256_unpackhi_epi64(x, y));
        __m256i packed = _mm256_permutevar8x32_epi32(_mm256_srl_epi64(sum, shift), order);
        _mm_storeu_si128((void *)(index + i), _mm256_castsi256_si128(packed));
    }
    portable(stratum, tuples + i, n - i, index + i);
}

__attribute__((target("avx512f,avx512dq"))) static void
avx512(const struct rf_stratum *stratum, const struct rf_tuple *tuples, size_t n, uint32_t *index)
{
    const __m512i multiply = _mm512_broadcast_i64x2(
        _mm_set_epi64x((long long)stratum->multiply_b, (long long)stratum->multiply_a));
    const __m128i shift = _mm_cvtsi32_si128((int)(64 - stratum->bits));
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        rf_ahead(&tuples[i]);
        rf_ahead(&tuples[i + RF_AHEAD_LINE]);
        __m512i x = _mm512_mullo_epi64(_mm512_loadu_si512(tuples + i), multiply);
        __m512i y = _mm512_mullo_epi64(_mm512_loadu_si512(tuples + i + 4), multiply);
        __m512i sum = _mm512_add_epi64(_mm512_unpacklo_epi64(x, y), _mm512_unpackhi_epi64(x, y));
        sum = _mm512_permutexvar_epi64(order, _mm512_srl_epi64(sum, shift));
        _mm256_storeu_si256((void *)(index + i), _mm512_cvtepi64_epi32(sum));
    }
    portable(stratum, tuples + i, n - i, index + i);
}

/* Four tuples per vector: every byte through the table, a's bytes reversed, the two words of a tuple
 * xored into both of its lanes. */
__attribute__((target("avx512f,avx512bw,avx512vbmi"))) static inline __m512i
randomized(__m512i x, const __m512i table[4])
{
    __m512i low = _mm512_permutex2var_epi8(table[0], x, table[1]);
    __m512i high = _mm512_permutex2var_epi8(table[2], x, table[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high);
}

__attribute__((target("avx512f,avx512bw,avx512vbmi"))) static void
vbmi(const struct rf_stratum *stratum, const struct rf_tuple *tuples, size_t n, uint32_t *index)
{
    __m512i table[4];
    for (int k = 0; k < 4; k++)
        table[k] = _mm512_loadu_si512(stratum->paper->randomize + 64 * k);
    const __m512i flip_a =
        _mm512_broadcast_i32x4(_mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 8, 9, 10, 11, 12, 13, 14, 15));
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    const __m512i mask = _mm512_set1_epi64((1LL << stratum->bits) - 1);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        rf_ahead(&tuples[i]);
        rf_ahead(&tuples[i + RF_AHEAD_LINE]);
        __m512i x = randomized(_mm512_loadu_si512(tuples + i), table);
        __m512i y = randomized(_mm512_loadu_si512(tuples + i + 4), table);
        x = _mm512_shuffle_epi8(x, flip_a);
        y = _mm512_shuffle_epi8(y, flip_a);
        __m512i word = _mm512_xor_si512(_mm512_unpacklo_epi64(x, y), _mm512_unpackhi_epi64(x, y));
        __m512i folded = word;
        for (unsigned bits = stratum->bits; bits < 64; bits += stratum->bits)
            folded = _mm512_xor_si512(folded, _mm512_srl_epi64(word, _mm_cvtsi32_si128((int)bits)));
        folded = _mm512_permutexvar_epi64(order, _mm512_and_si512(folded, mask));
        _mm256_storeu_si256((void *)(index + i), _mm512_cvtepi64_epi32(folded));
    }
    portable_paper(stratum, tuples + i, n - i, index + i);
}

static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

static int has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}

static int has_vbmi(void)
{
    return has_avx512() && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vbmi");
}
#endif

/* Slowest first; `has` NULL: always. */
static const struct {
    struct rf_stratum_way way;
    int (*has)(void);
} ways[] = {
    {{"portable", RF_STRATUM_MIX, portable}, NULL},
    {{"portable", RF_STRATUM_PAPER, portable_paper}, NULL},
#if defined __x86_64__
    {{"avx2", RF_STRATUM_MIX, avx2}, has_avx2},
    {{"avx512", RF_STRATUM_MIX, avx512}, has_avx512},
    {{"vbmi", RF_STRATUM_PAPER, vbmi}, has_vbmi},
#endif
};

rf_stratum_tags *rf_stratum_tags_way(size_t i)
{
#if defined __x86_64__
    if (i == 1 && has_avx2())
        return avx2_tags;
    if (i == 2 && has_avx2() && has_avx512())
        return avx512_tags;
#endif
    return i == 0 ? portable_tags : NULL;
}

const struct rf_stratum_way *rf_stratum_way(size_t i)
{
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
        if ((ways[k].has == NULL || ways[k].has()) && i-- == 0)
            return &ways[k].way;
    return NULL;
}

void rf_stratum_init(struct rf_stratum *stratum, enum rf_stratum_kind kind, unsigned bits,
                     uint64_t seed, struct rf_hash_paper *paper)
{
    struct rf_random random;
    rf_random_seed(&random, seed);
    stratum->kind = kind;
    stratum->bits = bits;
    stratum->multiply_a = rf_random_next(&random) | 1;
    stratum->multiply_b = rf_random_next(&random) | 1;
    stratum->paper = paper;
    const struct rf_stratum_way *way;
    for (size_t i = 0; (way = rf_stratum_way(i)) != NULL; i++)
        if (way->kind == kind)
            stratum->batch = way->batch;
    for (size_t i = 0; rf_stratum_tags_way(i) != NULL; i++)
        stratum->tags = rf_stratum_tags_way(i);
    if (kind == RF_STRATUM_PAPER)
        rf_hash_paper_init(paper, bits, seed);
}
