/* associative.c - A k: a table of k counters, each with its whole tuple, that adds up messages.
 *
 * Sastry, Bodik, Smith, section 3.4. Behind a sampler it is a second level of compression that loses
 * nothing; alone it is the lossless compressor that the paper starts from.
 *
 *     message -> in the table?  yes: add its count                    -> nothing comes out
 *                               no, room left: keep it                -> nothing comes out
 *                               no, full: takes the place of the one
 *                               that was used longest ago             -> that one comes out
 *
 *     cell:  header | k entries { message, links } | buckets
 *            entries hang in a bucket by hash and in a list by use; link 0 is the end, i + 1 entry i
 *
 * Guarantee: counts in = counts out + counts held. Memory: 48 bytes per entry and 4 to 8 for its bucket;
 * in hardware 128 bits of tuple and 31 of count, or as many as the option `counter` says. An entry whose count would
 * not fit any more goes out first; a message that never fits passes by. Departure: the paper does not say which entry is replaced;
 * here it is the least recently used. */
#include "engine/stratified/part.h"
#include <string.h>

struct entry {
    struct rf_message message;
    uint32_t same_bucket;
    uint32_t newer, older;
    uint32_t reserved;
};

struct table {
    uint32_t used;
    uint32_t newest, oldest;
    uint32_t reserved;
    struct entry entries[];
};

static uint32_t bucket_count(uint32_t k)
{
    uint32_t n = 1;
    while (n < k)
        n *= 2;
    return n;
}

static size_t cell_size(const struct rf_part *part)
{
    size_t size = sizeof(struct table) + part->n * sizeof(struct entry) +
                  bucket_count(part->n) * sizeof(uint32_t);
    return (size + 7) & ~(size_t)7;
}

static uint32_t *bucket_of(const struct rf_part *part, struct table *table, struct rf_tuple t)
{
    uint32_t *buckets = (uint32_t *)(table->entries + part->n);
    return &buckets[rf_hash_multiply(t, part->key) >> 32 & (bucket_count(part->n) - 1)];
}

static struct entry *find(const struct rf_part *part, struct table *table, struct rf_tuple t)
{
    for (uint32_t i = *bucket_of(part, table, t); i != 0;) {
        struct entry *entry = &table->entries[i - 1];
        if (entry->message.tuple.a == t.a && entry->message.tuple.b == t.b)
            return entry;
        i = entry->same_bucket;
    }
    return NULL;
}

static uint32_t link_to(const struct table *table, const struct entry *entry)
{
    return (uint32_t)(entry - table->entries) + 1;
}

static void leave_order(struct table *table, struct entry *entry)
{
    *(entry->newer != 0 ? &table->entries[entry->newer - 1].older : &table->newest) = entry->older;
    *(entry->older != 0 ? &table->entries[entry->older - 1].newer : &table->oldest) = entry->newer;
}

static void become_newest(struct table *table, struct entry *entry)
{
    entry->newer = 0;
    entry->older = table->newest;
    uint32_t link = link_to(table, entry);
    *(table->newest != 0 ? &table->entries[table->newest - 1].newer : &table->oldest) = link;
    table->newest = link;
}

static void leave_bucket(const struct rf_part *part, struct table *table, struct entry *entry)
{
    uint32_t *link = bucket_of(part, table, entry->message.tuple);
    while (*link != link_to(table, entry))
        link = &table->entries[*link - 1].same_bucket;
    *link = entry->same_bucket;
}

static void fill(const struct rf_part *part, struct table *table, struct entry *entry,
                 const struct rf_message *message)
{
    uint32_t *bucket = bucket_of(part, table, message->tuple);
    entry->message = *message;
    entry->same_bucket = *bucket;
    *bucket = link_to(table, entry);
    become_newest(table, entry);
}

static void exchange(struct rf_message *x, struct rf_message *y)
{
    struct rf_message swap = *x;
    *x = *y;
    *y = swap;
}

static bool add(struct table *table, struct entry *entry, struct rf_message *message,
                uint64_t count_max)
{
    leave_order(table, entry);
    become_newest(table, entry);
    if (entry->message.count + message->count > count_max) {
        exchange(&entry->message, message);
        return true;
    }
    entry->message.count += message->count;
    entry->message.samples += message->samples;
    return false;
}

static bool take(struct rf_part *part, void *cell, struct rf_message *message)
{
    struct table *table = cell;
    if (message->count > part->count_max)
        return true;
    struct entry *entry = find(part, table, message->tuple);
    if (entry != NULL)
        return add(table, entry, message, part->count_max);
    if (table->used < part->n) {
        fill(part, table, &table->entries[table->used++], message);
        return false;
    }
    entry = &table->entries[table->oldest - 1];
    struct rf_message replaced = entry->message;
    leave_bucket(part, table, entry);
    leave_order(table, entry);
    fill(part, table, entry, message);
    *message = replaced;
    return true;
}

static struct rf_part_run sum_of(const struct rf_message *message, uint64_t n, uint64_t times)
{
    return (struct rf_part_run){{message->tuple, n * message->count, n * message->samples}, times};
}

/* As long as it fits an entry adds up; then it goes out and starts again. */
static void take_run(struct rf_part *part, void *cell, const struct rf_part_run *run,
                     const struct rf_way *way)
{
    struct table *table = cell;
    struct rf_part_run out = {run->message, 1};
    uint64_t left = run->times - 1, count_max = part->count_max;
    if (run->message.count > count_max) {
        rf_chain_take_run(way, run);
        return;
    }
    if (take(part, cell, &out.message))
        rf_chain_take_run(way, &out);
    struct rf_message *held = &find(part, table, run->message.tuple)->message;
    uint64_t per = count_max / run->message.count;
    uint64_t fits = (count_max - held->count) / run->message.count;
    if (left > fits) {
        out = (struct rf_part_run){*held, 1};
        out.message.count += fits * run->message.count;
        out.message.samples += fits * run->message.samples;
        rf_chain_take_run(way, &out);
        left -= fits;
        uint64_t whole = (left - 1) / per;
        out = sum_of(&run->message, per, whole);
        rf_chain_take_run(way, &out);
        left -= whole * per;
        *held = (struct rf_message){run->message.tuple, 0, 0};
    }
    held->count += left * run->message.count;
    held->samples += left * run->message.samples;
}

static void visit(const struct rf_part *part, const void *cell, rf_message_visit *visitor,
                  void *context)
{
    (void)part;
    const struct table *table = cell;
    for (uint32_t i = 0; i < table->used; i++)
        visitor(context, &table->entries[i].message);
}

static void forget(struct rf_part *part, void *cell)
{
    memset(cell, 0, cell_size(part));
}

const struct rf_part_ops rf_part_table = {
    .letter = 'A',
    .cell_size = cell_size,
    .take = take,
    .take_run = take_run,
    .visit = visit,
    .forget = forget,
};
