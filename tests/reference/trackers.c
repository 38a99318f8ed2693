/* trackers.c - one tracker per program of the co-processor, over maps that grow. */
#include "reference/trackers.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* --- a map from <a, b> to two numbers -------------------------------------------------------------- */

struct entry {
    uint64_t a, b, x, y;
    bool used;
};

struct map {
    struct entry *entries;
    size_t size, n;
};

static struct entry *place(const struct map *map, uint64_t a, uint64_t b)
{
    uint64_t h = (a * UINT64_C(0x9e3779b97f4a7c15) ^ b) * UINT64_C(0xd6e8feb86659fd93);
    for (size_t i = h >> 20;; i++) {
        struct entry *entry = &map->entries[i & (map->size - 1)];
        if (!entry->used || (entry->a == a && entry->b == b))
            return entry;
    }
}

static void grow(struct map *map)
{
    struct map larger = {.size = map->size == 0 ? 1024 : map->size * 2, .n = map->n};
    larger.entries = calloc(larger.size, sizeof *larger.entries);
    if (larger.entries == NULL)
        abort();
    for (size_t i = 0; i < map->size; i++)
        if (map->entries[i].used)
            *place(&larger, map->entries[i].a, map->entries[i].b) = map->entries[i];
    free(map->entries);
    *map = larger;
}

/* A new one is all 0. */
static struct entry *get(struct map *map, uint64_t a, uint64_t b)
{
    if (map->n * 2 >= map->size)
        grow(map);
    struct entry *entry = place(map, a, b);
    if (!entry->used) {
        *entry = (struct entry){.a = a, .b = b, .used = true};
        map->n++;
    }
    return entry;
}

/* NULL: it is not there. */
static const struct entry *look(const struct map *map, uint64_t a, uint64_t b)
{
    const struct entry *entry = map->size > 0 ? place(map, a, b) : NULL;
    return entry != NULL && entry->used ? entry : NULL;
}

/* --- trackers -------------------------------------------------------------------------------------- */

struct tracker {
    void (*record)(struct tracker *tracker, const struct rf_record *record);
    struct tracker_rules rules;
    struct map counts;
    uint64_t events;
    struct map places; /* bytes, words or blocks: who was there last (x), and when (y) */
    uint64_t now;      /* stores or misses so far */
    struct map nodes;  /* <node, pc of a call> to the node that is called (x) */
    struct map ids;    /* the number of a call stack to its node (x) */
    struct {
        uint64_t node;
        uint32_t id;
    } * stack, at;
    uint64_t depth, room, collisions;
};

static void count(struct tracker *tracker, uint64_t a, uint64_t b)
{
    get(&tracker->counts, a, b)->x++;
    tracker->events++;
}

static void record_load(struct tracker *tracker, const struct rf_record *r)
{
    if (r->kind == RF_CLASS_LOAD)
        count(tracker, r->pc, 0);
}

static void record_edge(struct tracker *tracker, const struct rf_record *r)
{
    bool jumps = r->kind == RF_CLASS_JUMP || r->kind == RF_CLASS_CALL;
    if (r->kind == RF_CLASS_BRANCH || (jumps && (r->flags & RF_RECORD_INDIRECT) != 0))
        count(tracker, r->pc, r->target);
}

/* --- call stacks */

/* As contexts.uc numbers them. */
static uint32_t mix(uint32_t context, uint32_t pc)
{
    uint32_t h = (context + pc) * 257u;
    h *= 65537u;
    return h ^ h >> 4;
}

static void push(struct tracker *tracker, const struct rf_record *r)
{
    if (tracker->depth == tracker->room) {
        tracker->room = tracker->room * 2 + 64;
        tracker->stack = realloc(tracker->stack, tracker->room * sizeof *tracker->stack);
        if (tracker->stack == NULL)
            abort();
    }
    tracker->stack[tracker->depth++] = tracker->at;
    if (tracker->rules.depth != 0 && tracker->depth > tracker->rules.depth)
        return;
    struct entry *node = get(&tracker->nodes, tracker->at.node, r->pc);
    bool is_new = node->x == 0;
    node->x = is_new ? tracker->nodes.n : node->x;
    tracker->at.node = node->x;
    tracker->at.id = mix(tracker->at.id, (uint32_t)r->pc);
    struct entry *id = get(&tracker->ids, tracker->at.id, 0);
    tracker->collisions += is_new && (id->x != 0 || tracker->at.id == 0);
    id->x = tracker->at.node;
}

static void record_context(struct tracker *tracker, const struct rf_record *r)
{
    bool call = r->kind == RF_CLASS_CALL;
    if (r->kind == RF_CLASS_RETURN && tracker->depth > 0)
        tracker->at = tracker->stack[--tracker->depth];
    if (call || (r->kind == RF_CLASS_LOAD && r->miss >= tracker->rules.level))
        count(tracker, r->pc, tracker->at.id);
    if (call)
        push(tracker, r);
}

/* --- memory */

/* 32 bits of the address are looked at. */
static uint64_t first_place(const struct tracker *tracker, const struct rf_record *r)
{
    return tracker->rules.bytes ? r->addr : (uint32_t)(r->addr >> tracker->rules.grain);
}

static unsigned n_places(const struct tracker *tracker, const struct rf_record *r)
{
    return tracker->rules.bytes ? (r->width + 7u) / 8 : 1;
}

static void record_store(struct tracker *tracker, const struct rf_record *r)
{
    for (unsigned i = 0; i < n_places(tracker, r); i++) {
        struct entry *byte = get(&tracker->places, first_place(tracker, r) + i, 0);
        byte->x = r->pc;
        byte->y = tracker->now;
    }
    tracker->now++;
}

/* The last of the stores to what it reads. */
static void record_dependence(struct tracker *tracker, const struct rf_record *r)
{
    const struct entry *last = NULL;
    uint64_t between, class = 0;
    if (r->kind == RF_CLASS_STORE)
        record_store(tracker, r);
    if (r->kind != RF_CLASS_LOAD)
        return;
    for (unsigned i = 0; i < n_places(tracker, r); i++) {
        const struct entry *byte = look(&tracker->places, first_place(tracker, r) + i, 0);
        if (byte != NULL && (last == NULL || byte->y > last->y))
            last = byte;
    }
    if (last == NULL)
        return;
    between = tracker->now - last->y - 1;
    if (tracker->rules.ring != 0 && between >= tracker->rules.ring)
        return;
    for (; between != 0; between >>= 1)
        class ++;
    count(tracker, r->pc, class << 32 | (uint32_t)last->x);
}

static void record_conflict(struct tracker *tracker, const struct rf_record *r)
{
    if (r->kind > RF_CLASS_STORE || r->miss == 0)
        return;
    uint64_t block = r->addr / 64;
    struct entry *before = get(&tracker->places, block, 0);
    bool seen = before->x != 0;
    uint64_t since = tracker->now - before->y;
    before->x = 1;
    before->y = tracker->now++;
    if (seen && (tracker->rules.ring == 0 || since <= tracker->rules.ring))
        count(tracker, r->pc, block * 64);
}

static const struct {
    const char *name;
    void (*record)(struct tracker *tracker, const struct rf_record *record);
} programs[] = {
    {"loads", record_load},         {"edges", record_edge},
    {"contexts", record_context},   {"dependences", record_dependence},
    {"conflicts", record_conflict},
};

struct tracker *tracker_new(const char *program, const struct tracker_rules *rules)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strcmp(programs[i].name, program) == 0) {
            struct tracker *tracker = calloc(1, sizeof *tracker);
            if (tracker == NULL)
                abort();
            tracker->record = programs[i].record;
            tracker->rules = *rules;
            return tracker;
        }
    return NULL;
}

void tracker_free(struct tracker *tracker)
{
    free(tracker->counts.entries);
    free(tracker->places.entries);
    free(tracker->nodes.entries);
    free(tracker->ids.entries);
    free(tracker->stack);
    free(tracker);
}

void tracker_record(struct tracker *tracker, const struct rf_record *record)
{
    tracker->record(tracker, record);
}

uint64_t tracker_count(const struct tracker *tracker, uint64_t a, uint64_t b)
{
    const struct entry *entry = look(&tracker->counts, a, b);
    return entry != NULL ? entry->x : 0;
}

size_t tracker_tuples(const struct tracker *tracker)
{
    return tracker->counts.n;
}

uint64_t tracker_collisions(const struct tracker *tracker)
{
    return tracker->collisions;
}

/* --- comparison ------------------------------------------------------------------------------------ */

struct tracker_error tracker_compare(const struct tracker *tracker, const struct rf_item *items,
                                     size_t n)
{
    struct tracker_error error = {.events = tracker->events, .tuples = tracker->counts.n};
    uint64_t wrong = tracker->events, hot = tracker->events / 1000;
    for (size_t i = 0; i < tracker->counts.size; i++)
        error.hot += tracker->counts.entries[i].used && tracker->counts.entries[i].x >= hot;
    for (size_t i = 0; i < n; i++) {
        uint64_t truth = tracker_count(tracker, items[i].a, items[i].b), found = items[i].count;
        error.hot_found += truth > 0 && truth >= hot;
        error.above += found > truth;
        wrong -= truth; /* what is not listed is wrong by all of it */
        wrong += found > truth ? found - truth : truth - found;
    }
    error.weighted = tracker->events > 0 ? (double)wrong / (double)tracker->events : 0;
    return error;
}
