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
 * next. Events in = counts out + hits and misses held. (`drop` starts both from nothing, to see what that
 * costs: the paper found it less accurate almost always.) Memory: 8 bytes per entry; in hardware hit + miss +
 * tag bits and one for the state (Evict is a miss counter that is not 0).
 * Departures, where the paper is silent: a hit counter is full at 2^hit, as a sampler of that rate is. A
 * miss in a set goes to an entry in Evict before one in Valid, then to the fewest hits. A replacement
 * whose counts fill the counter reports the newcomer at once (E5, then E2).
 * Cannot: tell tuples apart that share set and tag; counts given to a newcomer were never its own. */
#include "engine/stratified/part.h"
#include <string.h>

/* An entry is one word, so that one load and one store are all it takes:
 *
 *     63 state 56 | 55 hit 24 | 23 miss 16 | 15 tag 0          Empty has a tag that no tuple has    */
enum state { IN_EMPTY, IN_EVICT, IN_VALID };

#define H        (UINT64_C(0xffffffff) << 24)
#define M        (UINT64_C(0xff) << 16)
#define T        UINT64_C(0xffff)
#define ONE_HIT  (UINT64_C(1) << 24)
#define ONE_MISS (UINT64_C(1) << 16)
#define EMPTY    UINT64_C(0xffff)
#define EVICT    ((uint64_t)IN_EVICT << 56)
#define VALID    ((uint64_t)IN_VALID << 56)

_Static_assert(1 << RF_TAGGED_TAG_MAX <= T, "Empty has a tag that no tuple has");
_Static_assert(1 << RF_TAGGED_MISS_MAX <= M >> 16, "a miss counter fits its field");
_Static_assert(UINT64_C(2) << RF_TAGGED_HIT_MAX <= H >> 24,
               "two merged hit counters fit the field");

/* entry' = what is kept of it + misses that become hits + constants + the newcomer's tag */
struct transition {
    _Alignas(64) const char *name; /* a row is a line of cache */
    uint64_t keep;
    uint64_t misses_to_hits;
    uint64_t add;
    uint64_t new_tag;
    uint64_t report; /* 1: hit + 1 goes out; 2: hit + miss + 1 */
};

/* The guard that picks a row: 0 not yet, 1 yes. In Evict a miss has a third: replace, and full. */
enum { NOT_YET, YES, YES_AND_FULL, GUARDS = 4 };
enum { OTHER, MATCH };

/* clang-format off */
static const struct transition transitions[3][2][GUARDS] = {
    /*                                              keeps      misses   then               new  reports
     *                                                         to hits                     tag         */
    [IN_EMPTY] = {[OTHER] = {[NOT_YET]      = {"E1",  H,         0, ONE_HIT  + VALID,       T,   0}}},

    [IN_VALID] = {/* is the hit counter full? */
                  [MATCH] = {[NOT_YET]      = {"E3",  H | T,     0, ONE_HIT  + VALID,       0,   0},
                             [YES]          = {"E2",  0,         0, EMPTY,                  0,   1}},
                  [OTHER] = {[NOT_YET]      = {"E4",  H | T,     0, ONE_MISS + EVICT,       0,   0}}},

    [IN_EVICT] = {/* ShouldEvict? */
                  [MATCH] = {[NOT_YET]      = {"E6a", H | M | T, 0, ONE_HIT  + EVICT,       0,   0},
                             [YES]          = {"E6",  0,         M, EMPTY,                  0,   1}},
                  /* ShouldReplace? */
                  [OTHER] = {[NOT_YET]      = {"E5a", H | M | T, 0, ONE_MISS + EVICT,       0,   0},
                             [YES]          = {"E5",  H,         M, ONE_HIT  + VALID,       T,   0},
                             [YES_AND_FULL] = {"E5, E2", 0,      0, EMPTY,                  0,   2}}},
};
/* clang-format on */

/* With `drop`: the rows in which an entry goes to another tuple. Too many misses first, enough hits second. */
static const struct transition dropping[2] = {
    [OTHER] = {"E5", 0, 0, ONE_HIT + VALID, T, 0},
    [MATCH] = {"E6", 0, 0, EMPTY, 0, 1},
};

static uint64_t hits_of(uint64_t entry)
{
    return entry >> 24 & 0xffffffff;
}

static uint64_t misses_of(uint64_t entry)
{
    return entry >> 16 & 0xff;
}

static unsigned state_of(uint64_t entry)
{
    return (unsigned)(entry >> 56);
}

static bool is_match(uint64_t entry, uint64_t tag)
{
    return (entry & T) == tag;
}

/* ShouldEvict, ShouldReplace and a full hit counter: what a counter is held against, by state and match.
 * Where nothing is asked the limit is never reached. */
struct limits {
    uint64_t of[3][2];
    uint64_t full;
    bool drop;
};

static struct limits limits_of(const struct rf_tagged_setup *setup)
{
    uint64_t full = UINT64_C(1) << setup->hit, never = UINT64_MAX;
    return (struct limits){
        .of = {[IN_EMPTY] = {never, never},
               [IN_VALID] = {[OTHER] = never, [MATCH] = full},
               [IN_EVICT] = {[OTHER] = setup->replace, [MATCH] = setup->evict}},
        .full = full,
        .drop = setup->drop != 0,
    };
}

/* Without branches: no processor could predict them. */
static inline const struct transition *transition_of(const struct limits *limits, uint64_t entry,
                                                     bool match)
{
    uint64_t hits = hits_of(entry) + 1, misses = misses_of(entry);
    unsigned state = state_of(entry);
    unsigned reached = (match ? hits : misses) >= limits->of[state][match];
    unsigned full = hits + misses >= limits->full;
    if (__builtin_expect(limits->drop && reached && state == IN_EVICT, 0))
        return &dropping[match];
    return &transitions[state][match][reached + (reached & full & !match)];
}

/* Whom a tuple goes to when nothing matches: Empty first, then Evict, then the fewest hits. */
static uint64_t rank(uint64_t entry)
{
    return entry >> 24;
}

static inline uint64_t *choose(uint64_t *set, uint64_t ways, uint64_t tag)
{
    uint64_t chosen = 0, best = is_match(set[0], tag) ? 0 : rank(set[0]) + 1;
    for (uint64_t i = 1; i < ways; i++) {
        uint64_t own = is_match(set[i], tag) ? 0 : rank(set[i]) + 1;
        bool better = own < best;
        chosen = better ? i : chosen;
        best = better ? own : best;
    }
    return &set[chosen];
}

/* One event at its entry. Returns the count to report, 0: none. */
static inline uint64_t event(const struct limits *limits, uint64_t *place, uint64_t tag)
{
    uint64_t entry = *place;
    const struct transition *t = transition_of(limits, entry, is_match(entry, tag));
    *place = (entry & t->keep) + ((entry & t->misses_to_hits) << 8) + t->add + (tag & t->new_tag);
    if (__builtin_expect(t->report == 0, 1))
        return 0;
    return hits_of(entry) + 1 + (t->report == 2 ? misses_of(entry) : 0);
}

/* --- the paper's two ways ---
 *
 * Most events only add to their entry: E3, E4, E5a, E6a, which lose nothing and give no new tag. What they
 * add follows from the table; the rest goes through it. Both entries of a set are written back, the one
 * that stays too: so the place of every store is known before anything is looked up, and the next event,
 * mostly in another set, need not wait to see whether it is its own. */
struct gains {
    uint64_t counter[3 * 2]; /* by state and match: which counter is asked, where it stands */
    uint64_t limit[3 * 2];   /* it has to stay below that */
    uint64_t add[3 * 2];
};

static struct gains gains_of(const struct limits *limits)
{
    struct gains gains = {.limit = {0}}; /* nothing stays below: Empty goes through the table */
    for (unsigned state = IN_EVICT; state <= IN_VALID; state++)
        for (unsigned match = OTHER; match <= MATCH; match++) {
            unsigned i = state * 2 + match;
            uint64_t one = match ? ONE_HIT : ONE_MISS;
            uint64_t limit =
                limits->of[state][match] - match; /* this hit counts, this miss not yet */
            gains.counter[i] = match ? H : M;
            gains.limit[i] = limit < UINT64_MAX / one ? limit * one : UINT64_MAX;
            gains.add[i] = transitions[state][match][NOT_YET].add - ((uint64_t)state << 56);
        }
    return gains;
}

/* One event in its set. Returns the count to report, 0: none. Arithmetic replaces branches that could not be
 * predicted. */
static inline uint64_t event_of_two(const struct limits *limits, const struct gains *gains,
                                    uint64_t *set, uint64_t tag)
{
    uint64_t first = set[0], second = set[1], count = 0;
    uint64_t first_matches = is_match(first, tag), second_matches = is_match(second, tag);
    uint64_t second_is_less = rank(second) < rank(first);
    uint64_t in_second = 0 - ((second_matches | second_is_less) & (first_matches ^ 1));
    uint64_t entry = first ^ ((first ^ second) & in_second);
    uint64_t i = state_of(entry) * 2 + (first_matches | second_matches), add = gains->add[i];
    if (__builtin_expect((entry & gains->counter[i]) >= gains->limit[i], 0)) {
        uint64_t changed = entry;
        count = event(limits, &changed, tag);
        add = changed - entry;
    }
    set[0] = first + (add & ~in_second);
    set[1] = second + (add & in_second);
    return count;
}

static bool take(struct rf_part *part, void *cell, struct rf_message *message)
{
    const struct limits limits = limits_of(&part->tagged);
    uint64_t tag, ways = part->tagged.ways;
    part->stratum.tags(&message->tuple, 1, (unsigned)part->tagged.tag, &tag);
    uint32_t set = rf_stratum_of(&part->stratum, message->tuple);
    message->count = event(&limits, choose((uint64_t *)cell + set * ways, ways, tag), tag);
    message->samples = 1;
    return message->count != 0;
}

size_t rf_tagged_take_batch(const struct rf_part *part, void *cell, const struct rf_tuple *tuples,
                            size_t n, struct rf_message *out)
{
    const struct limits limits = limits_of(&part->tagged);
    const struct gains gains = gains_of(&limits);
    uint64_t ways = part->tagged.ways, tag[RF_PART_BATCH], *entries = cell;
    uint32_t set[RF_PART_BATCH];
    size_t n_out = 0;
    part->stratum.batch(&part->stratum, tuples, n, set);
    part->stratum.tags(tuples, n, (unsigned)part->tagged.tag, tag);
    for (size_t i = 0; i < n; i++) {
        uint64_t *own = entries + set[i] * ways;
        uint64_t count = ways == 2 ? event_of_two(&limits, &gains, own, tag[i])
                                   : event(&limits, choose(own, ways, tag[i]), tag[i]);
        if (__builtin_expect(count != 0, 0))
            out[n_out++] = (struct rf_message){tuples[i], count, 1};
    }
    return n_out;
}

/* The same event up to `times` times in its set: as many as only add hits, or one. Returns how many that
 * was; *count is what the last of them reports, 0: nothing. */
static uint64_t same_events(const struct limits *limits, uint64_t *set, uint64_t ways, uint64_t tag,
                            uint64_t times, uint64_t *count)
{
    uint64_t *place = choose(set, ways, tag), entry = *place;
    uint64_t limit = limits->of[state_of(entry)][MATCH], hits = hits_of(entry) + 1;
    *count = 0;
    if (is_match(entry, tag) && hits < limit) {
        uint64_t n = limit - hits < times ? limit - hits : times;
        *place += n * ONE_HIT;
        return n;
    }
    *count = event(limits, place, tag);
    return 1;
}

/* Once a set is after a message as it was after the one before, it goes on like that. */
static void take_run(struct rf_part *part, void *cell, const struct rf_part_run *run,
                     const struct rf_way *way)
{
    const struct limits limits = limits_of(&part->tagged);
    uint64_t tag, ways = part->tagged.ways, before[RF_TAGGED_WAYS_MAX], left_before = 0, count;
    part->stratum.tags(&run->message.tuple, 1, (unsigned)part->tagged.tag, &tag);
    uint64_t *set = (uint64_t *)cell + rf_stratum_of(&part->stratum, run->message.tuple) * ways;
    for (uint64_t left = run->times; left > 0;) {
        left -= same_events(&limits, set, ways, tag, left, &count);
        if (count == 0)
            continue;
        struct rf_part_run out = {{run->message.tuple, count, 1}, 1};
        if (left_before != 0 && memcmp(before, set, ways * sizeof *set) == 0) {
            uint64_t period = left_before - left;
            out.times += left / period;
            left %= period;
        }
        left_before = left;
        memcpy(before, set, ways * sizeof *set);
        rf_chain_take_run(way, &out);
    }
}

static void start(struct rf_part *part, void *cell)
{
    for (uint64_t i = 0; i < part->tagged.entries; i++)
        ((uint64_t *)cell)[i] = EMPTY;
}

static size_t cell_size(const struct rf_part *part)
{
    return part->tagged.entries * sizeof(uint64_t);
}

static uint64_t pending_in(const uint64_t *entries, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += hits_of(entries[i]) + misses_of(entries[i]);
    return sum;
}

static uint64_t pending(const struct rf_part *part, const void *cell)
{
    return pending_in(cell, part->tagged.entries);
}

static uint64_t pending_of(const struct rf_part *part, const void *cell, uint32_t set)
{
    uint64_t ways = part->tagged.ways;
    return pending_in((const uint64_t *)cell + set * ways, ways);
}

/* Counts of a tuple that has to go are its successor's, as in E5; misses become hits of the entry that
 * stays. */
static uint64_t merged(uint64_t entry, uint64_t other)
{
    uint64_t keep = state_of(entry) == IN_EMPTY ? other : entry;
    uint64_t hits = pending_in(&entry, 1) + pending_in(&other, 1);
    if (state_of(keep) == IN_EMPTY)
        return EMPTY + (hits << 24);
    return VALID + (hits << 24) + (keep & T);
}

static void merge(const struct rf_part *part, void *cell, const void *other)
{
    for (uint64_t i = 0; i < part->tagged.entries; i++)
        ((uint64_t *)cell)[i] = merged(((uint64_t *)cell)[i], ((const uint64_t *)other)[i]);
}

const struct rf_part_ops rf_part_tagged = {
    .letter = 'T',
    .cell_size = cell_size,
    .start = start,
    .take = take,
    .take_run = take_run,
    .pending = pending,
    .pending_of = pending_of,
    .merge = merge,
};
