/* cache.c - set-associative LRU caches in a row, by tags alone.
 *
 * What it is for: a source that sees addresses but no hardware (the probe) asks it which loads
 * missed, so that `load miss>=1 -> pc,value` works anywhere. The simulated core times with the same
 * model.
 *
 *     line = addr / bytes of a line          set = line mod sets
 *
 *     set:  tags    [ line | line | ... ]    a line stays in its way until another one replaces it
 *           order   0x...5213                way 3 is the most recent, then 1, then 2, ...
 *
 * The order of use of a set is a permutation of its ways, packed as nibbles into one word, so that
 * a move to the front is a few shifts and there is no clock, no counter and no branch to predict. Most
 * accesses are to the most recent line of a set, and one comparison is enough for them. A tag is the whole line
 * number; an empty way holds a number no line has.
 *
 * Guarantee: exactly LRU. It misses the same levels as a plain list of lines per set
 *  (tests/reference/cache.h).
 * Memory: for each set 8 bytes x (1 + ways, rounded up to 8 or 16), and a header: 153 KB for the
 * default shape.
 *
 * What is modelled: both loads and stores bring a line in (write-allocate). A level is asked only for what
 * missed in the level before it. Lines evicted from a lower level stay in the upper one (neither
 * inclusive nor exclusive). Cannot: time, prefetching, write-back traffic, other cores, physical
 * addresses (indexes are virtual addresses). */
#include "cache/cache.h"
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

#define EMPTY UINT64_MAX /* lines are at least two bytes, so no line has this number */

/* ---- shapes ---- */

static bool is_power_of_two(uint64_t x)
{
    return x != 0 && (x & (x - 1)) == 0;
}

/* The next number before a '/' or the end; false where there is none. */
static bool read_number(const char **text, const char *end, uint64_t *number)
{
    const char *from = *text;
    while (*text < end && **text != '/')
        (*text)++;
    if (rf_units_count(from, (size_t)(*text - from), number) != RF_OK)
        return false;
    if (*text < end)
        (*text)++;
    return true;
}

static rf_status check_level(const struct rf_cache_shape *shape, unsigned i, struct rf_error *error)
{
    const struct rf_cache_level *level = &shape->levels[i];
    if (level->ways == 0 || level->ways > RF_CACHE_WAYS_MAX)
        return rf_fail(error, RF_EINVAL, "cache l%u: ways must be between 1 and %u", i + 1,
                       (unsigned)RF_CACHE_WAYS_MAX);
    if (!is_power_of_two(level->line) || level->line < 4 || level->line > 4096)
        return rf_fail(error, RF_EINVAL,
                       "cache l%u: a line must be a power of two between 4 and 4096 bytes", i + 1);
    uint64_t way = level->size / level->ways;
    if (level->size % level->ways != 0 || !is_power_of_two(way) || way < level->line)
        return rf_fail(error, RF_EINVAL,
                       "cache l%u: size must be ways x line x a power of two, got %llu", i + 1,
                       (unsigned long long)level->size);
    if (level->size > UINT64_C(1) << 32)
        return rf_fail(error, RF_EINVAL, "cache l%u: size must be at most 4Gi", i + 1);
    if (i > 0 && level->line < shape->levels[i - 1].line)
        return rf_fail(error, RF_EINVAL, "cache l%u: its lines are shorter than those of l%u",
                       i + 1, i);
    return RF_OK;
}

/* text..end is `l1=32Ki/8/64`. */
static rf_status parse_level(struct rf_cache_shape *shape, const char *text, const char *end,
                             struct rf_error *error)
{
    unsigned i = shape->n_levels;
    uint64_t ways, line;
    if (i == RF_CACHE_LEVELS_MAX)
        return rf_fail(error, RF_EINVAL, "cache: more than %u levels",
                       (unsigned)RF_CACHE_LEVELS_MAX);
    struct rf_cache_level *level = &shape->levels[i];
    if (end - text < 3 || text[0] != 'l' || text[1] != (char)('1' + i) || text[2] != '=')
        return rf_fail(error, RF_EINVAL, "cache: expected 'l%u=SIZE/WAYS/LINE', got '%.*s'", i + 1,
                       (int)(end - text), text);
    const char *at = text + 3;
    if (!read_number(&at, end, &level->size) || !read_number(&at, end, &ways) ||
        !read_number(&at, end, &line) || at != end || end[-1] == '/' || ways > UINT32_MAX ||
        line > UINT32_MAX)
        return rf_fail(error, RF_EINVAL, "cache l%u: expected SIZE/WAYS/LINE, got '%.*s'", i + 1,
                       (int)(end - text - 3), text + 3);
    level->ways = (uint32_t)ways;
    level->line = (uint32_t)line;
    shape->n_levels++;
    return check_level(shape, i, error);
}

rf_status rf_cache_parse(struct rf_cache_shape *shape, const char *text, struct rf_error *error)
{
    const char *at = text != NULL ? text : RF_CACHE_STANDARD;
    memset(shape, 0, sizeof *shape);
    for (;;) {
        const char *end = at;
        while (*end != '\0' && *end != ',')
            end++;
        rf_status status = parse_level(shape, at, end, error);
        if (status != RF_OK || *end == '\0')
            return status;
        at = end + 1;
    }
}

/* Sizes read best in Ki and Mi; rf_units_print_count knows counts of events only. */
static size_t print_size(char *text, size_t size, uint64_t bytes)
{
    if (bytes % (1 << 20) == 0)
        return rf_format(text, size, "%lluMi", (unsigned long long)(bytes >> 20));
    if (bytes % (1 << 10) == 0)
        return rf_format(text, size, "%lluKi", (unsigned long long)(bytes >> 10));
    return rf_format(text, size, "%llu", (unsigned long long)bytes);
}

size_t rf_cache_print(const struct rf_cache_shape *shape, char *text, size_t size)
{
    char whole[RF_CACHE_LEVELS_MAX * 64];
    size_t n = 0;
    for (unsigned i = 0; i < shape->n_levels; i++) {
        const struct rf_cache_level *level = &shape->levels[i];
        char bytes[RF_UNITS_MAX];
        print_size(bytes, sizeof bytes, level->size);
        n += rf_format(whole + n, sizeof whole - n, "%sl%u=%s/%u/%u", i > 0 ? "," : "", i + 1,
                       bytes, level->ways, level->line);
    }
    return rf_format(text, size, "%.*s", (int)n, whole);
}

/* ---- the block ---- */

enum { ALIGNMENT = 64 };

static size_t header_size(void)
{
    return (sizeof(struct rf_cache) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t sets_of(const struct rf_cache_level *level)
{
    return (size_t)(level->size / level->line / level->ways);
}

static uint32_t room_of(const struct rf_cache_level *level)
{
    return level->ways <= 8 ? 8 : 16;
}

size_t rf_cache_size(const struct rf_cache_shape *shape)
{
    size_t size = header_size();
    for (unsigned i = 0; i < shape->n_levels; i++)
        size += sets_of(&shape->levels[i]) * (room_of(&shape->levels[i]) + 1) * sizeof(uint64_t);
    return size;
}

struct rf_cache *rf_cache_init(void *block, const struct rf_cache_shape *shape)
{
    struct rf_cache *cache = block;
    uint64_t *words = (uint64_t *)((char *)block + header_size());
    memset(cache, 0, sizeof *cache);
    for (unsigned i = 0; i < shape->n_levels; i++) {
        const struct rf_cache_level *wanted = &shape->levels[i];
        struct rf_cache_tags *level = &cache->own[i];
        level->ways = wanted->ways;
        level->room = room_of(wanted);
        level->line_shift = (uint32_t)__builtin_ctz(wanted->line);
        level->set_mask = sets_of(wanted) - 1;
        level->tags = words;
        level->order = words + sets_of(wanted) * level->room;
        cache->levels[i] = level;
        words = level->order + sets_of(wanted);
    }
    cache->n_levels = cache->n_own = shape->n_levels;
    cache->block_size = rf_cache_size(shape);
    rf_cache_flush(cache);
    return cache;
}

rf_status rf_cache_open(struct rf_cache **cache, const char *text, const struct rf_alloc *alloc,
                        struct rf_error *error)
{
    struct rf_cache_shape shape;
    rf_status status = rf_cache_parse(&shape, text, error);
    if (status != RF_OK)
        return status;
    alloc = rf_alloc_or_standard(alloc);
    void *raw = rf_alloc_get(alloc, rf_cache_size(&shape) + ALIGNMENT);
    if (raw == NULL)
        return rf_fail(error, RF_ENOMEM, "cache: no memory for its %zu bytes of tags",
                       rf_cache_size(&shape));
    uintptr_t aligned = ((uintptr_t)raw + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
    *cache = rf_cache_init((void *)aligned, &shape);
    (*cache)->raw = raw;
    (*cache)->alloc = *alloc;
    return RF_OK;
}

void rf_cache_close(struct rf_cache *cache)
{
    if (cache == NULL || cache->raw == NULL)
        return;
    struct rf_alloc alloc = cache->alloc;
    rf_alloc_free(&alloc, cache->raw, cache->block_size + ALIGNMENT);
}

static void empty(struct rf_cache_tags *level)
{
    size_t n_sets = level->set_mask + 1;
    for (size_t i = 0; i < n_sets * level->room; i++)
        level->tags[i] = EMPTY;
    for (size_t i = 0; i < n_sets; i++)
        level->order[i] = 0xfedcba9876543210u;
}

void rf_cache_flush(struct rf_cache *cache)
{
    for (unsigned i = 0; i < cache->n_own; i++)
        empty(&cache->own[i]);
}

rf_status rf_cache_join(struct rf_cache *cache, struct rf_cache *other)
{
    if (other->n_levels < 2 || cache->n_levels != cache->n_own)
        return RF_EINVAL;
    if (other->levels[1]->line_shift < cache->levels[cache->n_levels - 1]->line_shift ||
        cache->n_own + other->n_levels - 1 > 2 * RF_CACHE_LEVELS_MAX)
        return RF_EINVAL;
    for (unsigned i = 1; i < other->n_levels; i++)
        cache->levels[cache->n_levels++] = other->levels[i];
    return RF_OK;
}

/* ---- accesses ---- */

/* Which of 8 ways holds the line, as a mask of two bits per way. All are compared: there is no branch to
 * predict. */
#ifdef __SSE2__
static inline unsigned find8(const uint64_t *tags, uint64_t line)
{
    const __m128i *pairs = (const __m128i *)(const void *)tags,
                  wanted = _mm_set1_epi64x((long long)line);
    __m128i same[4];
    for (int i = 0; i < 4; i++)
        same[i] = _mm_cmpeq_epi32(_mm_load_si128(pairs + i), wanted); /* both halves of a tag */
    unsigned halves = (unsigned)_mm_movemask_epi8(
        _mm_packs_epi16(_mm_packs_epi32(same[0], same[1]), _mm_packs_epi32(same[2], same[3])));
    return halves & halves >> 1 & 0x5555;
}
#else
static inline unsigned find8(const uint64_t *tags, uint64_t line)
{
    unsigned found = 0;
    for (unsigned i = 0; i < 8; i++)
        found |= (unsigned)(tags[i] == line) << 2 * i;
    return found;
}
#endif

/* The way that holds the line; `room` or more where none does. */
static inline unsigned find(const uint64_t *tags, uint64_t line, unsigned room)
{
    uint64_t found = find8(tags, line);
    if (room > 8)
        found |= (uint64_t)find8(tags + 8, line) << 16;
    return (unsigned)__builtin_ctzll(found | UINT64_C(1) << 32) / 2;
}

/* Move a way to the front of the order. Its place is the one nibble that is 0 after the xor. */
static inline uint64_t to_front(uint64_t order, uint64_t way)
{
    const uint64_t ones = 0x1111111111111111u;
    uint64_t marked = order ^ way * ones;
    unsigned at = (unsigned)__builtin_ctzll((marked - ones) & ~marked & 8 * ones) & ~3u;
    uint64_t moved = UINT64_MAX >> (60 - at);
    return (order & ~moved) | (order << 4 & moved) | way;
}

/* Is the line there? It then becomes the most recent of its set. */
static inline bool touch(struct rf_cache_tags *level, uint64_t line)
{
    uint64_t set = line & level->set_mask;
    uint64_t *tags = level->tags + set * level->room;
    uint64_t order = level->order[set];
    if (tags[order & 15] == line)
        return true;
    uint64_t way = find(tags, line, level->room);
    bool hit = way < level->room;
    if (!hit) {
        way = order >> 4 * (level->ways - 1) & 15;
        tags[way] = line;
    }
    level->order[set] = to_front(order, way);
    return hit;
}

/* An access within one line, from level `from` downwards. */
static unsigned descend(struct rf_cache *cache, uint64_t addr, unsigned from)
{
    unsigned missed = from;
    while (missed < cache->n_levels &&
           !touch(cache->levels[missed], addr >> cache->levels[missed]->line_shift))
        missed++;
    return missed;
}

static void count(struct rf_cache *cache, unsigned missed, enum rf_cache_use use)
{
    for (unsigned i = 0; i <= missed && i < cache->n_levels; i++) {
        cache->levels[i]->stats.accesses[use]++;
        cache->levels[i]->stats.misses[use] += i < missed;
    }
}

/* An access that crosses lines touches each of them; the result is the most levels that one of them missed. */
static unsigned access_lines(struct rf_cache *cache, uint64_t addr, uint64_t lines)
{
    unsigned shift = cache->levels[0]->line_shift;
    unsigned worst = 0;
    for (uint64_t i = 0; i < lines; i++) {
        unsigned missed = descend(cache, addr + (i << shift), 0);
        worst = missed > worst ? missed : worst;
    }
    return worst;
}

static inline unsigned access_one(struct rf_cache *cache, uint64_t addr, uint64_t bytes,
                                  enum rf_cache_use use)
{
    struct rf_cache_tags *first = cache->levels[0];
    uint64_t inside = addr & ((UINT64_C(1) << first->line_shift) - 1);
    uint64_t lines = (inside + bytes + (bytes == 0) - 1) >> first->line_shift;
    if (__builtin_expect(lines == 0, 1)) {
        if (touch(first, addr >> first->line_shift)) {
            first->stats.accesses[use]++;
            return 0;
        }
        unsigned missed = descend(cache, addr, 1);
        count(cache, missed, use);
        return missed;
    }
    unsigned missed = access_lines(cache, addr, lines + 1);
    count(cache, missed, use);
    return missed;
}

unsigned rf_cache_access(struct rf_cache *cache, uint64_t addr, unsigned bytes,
                         enum rf_cache_use use)
{
    return access_one(cache, addr, bytes, use);
}

void rf_cache_fill(struct rf_cache *cache, struct rf_record *records, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct rf_record *record = &records[i];
        if (record->kind != RF_CLASS_LOAD && record->kind != RF_CLASS_STORE)
            continue;
        enum rf_cache_use use = record->kind == RF_CLASS_LOAD ? RF_CACHE_LOAD : RF_CACHE_STORE;
        record->miss = (uint8_t)access_one(cache, record->addr, (record->width + 7u) / 8, use);
    }
}

struct rf_cache_stats rf_cache_stats(const struct rf_cache *cache, unsigned level)
{
    if (level < cache->n_levels)
        return cache->levels[level]->stats;
    return (struct rf_cache_stats){{0, 0}, {0, 0}};
}
