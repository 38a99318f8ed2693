/* tagged.c - the stratified table with partial tags: fewer tuples share a counter, more messages.
 *
 * Sastry, Bodik, Smith, section 4 and figure 6.
 *
 *     tuple -> hash -> set of `ways` entries, xorfold(a ^ b) -> tag of a few bits
 *     entry = { state, tag, hit counter, miss counter }
 *
 *                      E1                       E4: miss              E5a: miss, not too many
 *         [ Empty ] ---------> [ Valid ] ----------------> [ Evict ]  E6a: match, not enough hits
 *             ^  ^   E2: full      |  ^    E5: too many misses |  |   (both stay)
 *             |  +------<message>--+  +------------------------+  |
 *             |          E3: match, not full (stays)              |
 *             +---------------<message>-- E6: match, enough hits -+
 *
 * An entry knows its tuple by hash and tag alone, so it can be reported only when that tuple comes by
 * again: Evict is waiting for it. Enough hits (ShouldEvict) is `evict`, too many misses (ShouldReplace)
 * is `replace`.
 *
 * Guarantee: no count is ever dropped. Every event adds one to a hit or a miss counter or to the message
 * it sets off; E5 hands hit + miss over to the new tuple, E6 leaves the misses as hits for whoever comes
 * next. Events in = counts out + hits and misses held. Memory: 8 bytes an entry; in hardware hit + miss +
 * tag bits and one for the state (Evict is a miss counter that is not 0).
 * Departures, where the paper is silent: a hit counter is full at 2^hit, as a sampler of that rate is. A
 * miss in a set goes to an entry in Evict before one in Valid, then to the fewest hits. A replacement
 * whose counts fill the counter reports the newcomer at once (E5, then E2).
 * Cannot: tell tuples apart that share set and tag; counts given to a newcomer were never its own. */
#include "engine/part.h"

enum state { EMPTY, VALID, EVICT };

struct entry {
    uint32_t hit;
    uint16_t tag;
    uint8_t miss;
    uint8_t state;
};

/* What one event does to an entry: the new counters are sums of the old ones and 1. */
struct transition {
    const char *name;
    uint8_t next;
    uint8_t hit_from_hit, hit_from_miss, hit_plus; /* hit'  = sum of what is 1 here */
    uint8_t miss_from_miss, miss_plus;             /* miss' = likewise */
    uint8_t new_tag;                               /* the entry is the newcomer's now */
    uint8_t report; /* message: hit + 1 or, with a new tag, all of it */
};

/* The guard that picks a row: 0 not yet, 1 yes. In Evict a miss has a third: replace, and full. */
enum { NOT_YET, YES, YES_AND_FULL, GUARDS };

/* clang-format off */
static const struct transition transitions[3][2][GUARDS] = {
    /*                            next   hit' = hit miss +1  miss' = miss +1  tag report */
    [EMPTY] = {[0] = {[NOT_YET] = {"E1",  VALID,      1,  0,   1,         0,   0,   1,  0}},
               [1] = {[NOT_YET] = {"E1",  VALID,      1,  0,   1,         0,   0,   1,  0}}},
    [VALID] = {/* match: is the hit counter full? */
               [1] = {[NOT_YET] = {"E3",  VALID,      1,  0,   1,         0,   0,   0,  0},
                      [YES]     = {"E2",  EMPTY,      0,  0,   0,         0,   0,   0,  1}},
               [0] = {[NOT_YET] = {"E4",  EVICT,      1,  0,   0,         0,   1,   0,  0}}},
    [EVICT] = {/* match: ShouldEvict? */
               [1] = {[NOT_YET] = {"E6a", EVICT,      1,  0,   1,         1,   0,   0,  0},
                      [YES]     = {"E6",  EMPTY,      0,  1,   0,         0,   0,   0,  1}},
               /* miss: ShouldReplace? */
               [0] = {[NOT_YET] = {"E5a", EVICT,      1,  0,   0,         1,   1,   0,  0},
                      [YES]     = {"E5",  VALID,      1,  1,   1,         0,   0,   1,  0},
                      [YES_AND_FULL] = {"E5 E2", EMPTY, 0, 0,  0,         0,   0,   1,  1}}},
};
/* clang-format on */

static bool should_evict(const struct rf_tagged_setup *setup, const struct entry *entry)
{
    return entry->hit + 1 >= setup->evict;
}

static bool should_replace(const struct rf_tagged_setup *setup, const struct entry *entry)
{
    return entry->miss >= setup->replace;
}

static bool is_full(const struct rf_tagged_setup *setup, uint64_t hits)
{
    return hits >> setup->hit != 0;
}

static unsigned guard(const struct rf_tagged_setup *setup, const struct entry *entry, bool match)
{
    if (entry->state == VALID)
        return match && is_full(setup, (uint64_t)entry->hit + 1) ? YES : NOT_YET;
    if (entry->state == EMPTY)
        return NOT_YET;
    if (match)
        return should_evict(setup, entry) ? YES : NOT_YET;
    if (!should_replace(setup, entry))
        return NOT_YET;
    return is_full(setup, (uint64_t)entry->hit + entry->miss + 1) ? YES_AND_FULL : YES;
}

/* One event at the entry that it belongs to. */
static bool step(const struct rf_tagged_setup *setup, struct entry *entry, uint16_t tag, bool match,
                 struct rf_message *message)
{
    const struct transition *t = &transitions[entry->state][match][guard(setup, entry, match)];
    uint32_t hit = entry->hit, miss = entry->miss;
    entry->hit = hit * t->hit_from_hit + miss * t->hit_from_miss + t->hit_plus;
    entry->miss = (uint8_t)(miss * t->miss_from_miss + t->miss_plus);
    entry->tag = t->new_tag ? tag : entry->tag;
    entry->state = t->next;
    if (!t->report)
        return false;
    message->count = (uint64_t)hit + 1 + (t->new_tag ? miss : 0);
    message->samples = 1;
    return true;
}

/* xorfold by halves: bits * 2^k bits for falling k, so that two pieces are left each time. */
static uint16_t tag_of(struct rf_tuple t, unsigned bits)
{
    uint64_t word = t.a ^ t.b;
    unsigned width = bits;
    while (width * 2 < 64)
        width *= 2;
    for (; width >= bits; width /= 2)
        word = (word >> width) ^ (word & ((UINT64_C(1) << width) - 1));
    return (uint16_t)word;
}

static bool is_match(const struct entry *entry, uint16_t tag)
{
    return entry->state != EMPTY && entry->tag == tag;
}

/* Whom to take when nothing matches: Empty first, then Evict, then the fewest hits. */
static uint64_t worth(const struct entry *entry)
{
    static const uint8_t rank[] = {[EMPTY] = 0, [EVICT] = 1, [VALID] = 2};
    return (uint64_t)rank[entry->state] << 32 | entry->hit;
}

static struct entry *choose(struct entry *set, uint64_t ways, uint16_t tag)
{
    struct entry *chosen = set;
    for (struct entry *entry = set; entry < set + ways; entry++) {
        if (is_match(entry, tag))
            return entry;
        if (worth(entry) < worth(chosen))
            chosen = entry;
    }
    return chosen;
}

bool rf_tagged_take_at(const struct rf_part *part, void *cell, uint32_t set,
                       struct rf_message *message)
{
    const struct rf_tagged_setup *setup = &part->tagged;
    uint16_t tag = tag_of(message->tuple, (unsigned)setup->tag);
    struct entry *entry = choose((struct entry *)cell + set * setup->ways, setup->ways, tag);
    return step(setup, entry, tag, is_match(entry, tag), message);
}

static bool take(struct rf_part *part, void *cell, struct rf_message *message)
{
    return rf_tagged_take_at(part, cell, rf_stratum_of(&part->stratum, message->tuple), message);
}

static size_t cell_size(const struct rf_part *part)
{
    return part->tagged.entries * sizeof(struct entry);
}

static uint64_t pending_in(const struct entry *entries, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += (uint64_t)entries[i].hit + entries[i].miss;
    return sum;
}

static uint64_t pending(const struct rf_part *part, const void *cell)
{
    return pending_in(cell, part->tagged.entries);
}

static uint64_t pending_of(const struct rf_part *part, const void *cell, uint32_t set)
{
    uint64_t ways = part->tagged.ways;
    return pending_in((const struct entry *)cell + set * ways, ways);
}

/* Counts of a tuple that has to go are its successor's, as in E5. */
static void merge_entry(struct entry *entry, const struct entry *other)
{
    uint32_t hit = entry->hit + other->hit, miss = other->miss;
    if (entry->state == EMPTY)
        *entry = *other;
    else if (other->state != EMPTY && other->tag == entry->tag)
        miss += entry->miss;
    else
        hit += other->miss, miss = entry->miss;
    entry->miss = miss > UINT8_MAX ? UINT8_MAX : (uint8_t)miss;
    entry->hit = hit + (miss - entry->miss);
    if (entry->state != EMPTY)
        entry->state = entry->miss > 0 ? EVICT : VALID;
}

static void merge(const struct rf_part *part, void *cell, const void *other)
{
    for (uint64_t i = 0; i < part->tagged.entries; i++)
        merge_entry((struct entry *)cell + i, (const struct entry *)other + i);
}

const struct rf_part_ops rf_part_tagged = {
    .letter = 'T',
    .cell_size = cell_size,
    .take = take,
    .pending = pending,
    .pending_of = pending_of,
    .merge = merge,
};
