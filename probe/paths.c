/* SPDX-License-Identifier: GPL-2.0-or-later */
/* paths.c - how many events the words of a chunk stand for, as far as the producer itself must know it.
 *
 *     [path 7][word][word] [message ...] [path 9] ...       ->  the number of events per class
 *
 * Paths are numbered as blocks are translated. Their numbers and dynamic words stand in chunks, between messages. Events
 * of classes that have counters (count.c) need not be counted here.
 *
 * Others can write into a chunk. So each word is read once and checked, and where one makes no sense, the rest of the
 * chunk counts nothing. */
#include "probe.h"

static Bool has_uncounted; /* some blocks have no counters */
static struct path_totals *paths;
static UInt n_paths, room_paths;
struct guard {
    UShort word;
    UChar kind;
};
static struct guard *guards;
static UInt n_guards, room_guards;

UInt path_next(void)
{
    return n_paths;
}

void path_add(const struct path_totals *totals)
{
    paths = ring_grow(paths, n_paths, &room_paths, sizeof *paths);
    paths[n_paths++] = *totals;
    has_uncounted |= !totals->is_counted;
}

UInt path_add_guard(UShort word, UChar kind)
{
    guards = ring_grow(guards, n_guards, &room_guards, sizeof *guards);
    guards[n_guards] = (struct guard){word, kind};
    return n_guards++;
}

ULong path_read(const ULong *at)
{
    return *(const volatile ULong *)at;
}

/* Words of what begins with this one; 0: that is nothing that we wrote. */
static UInt length_of(ULong word)
{
    if (word & RF_WORD_MESSAGE)
        return (UInt)word;
    if (rf_entry_is_one(word))
        return 2;
    return word < n_paths ? 1u + paths[word].words : 0;
}

const ULong *path_skip(ULong word, const ULong *at, const ULong *end)
{
    UInt n = length_of(word);
    return n == 0 || n > (ULong)(end - at) ? end : at + n;
}

_Static_assert(RF_WORD_CLASSES == 8, "the counts of a path by class are the bytes of one word");

/* Sums of eight classes at once. The counts of a path are the bytes of one word. Even and odd bytes are added up
 * apart, in fields of 16 bits, which are emptied before they can overflow. */
struct sums {
    ULong even, odd;
    UInt n;
};

enum { SUMS_MAX = 255 };
static const ULong even_bytes = 0x00ff00ff00ff00ffULL;

static void empty(struct sums *sums, ULong *totals)
{
    for (UInt i = 0; i < RF_WORD_CLASSES / 2; i++) {
        totals[2 * i] += sums->even >> 16 * i & 0xffff;
        totals[2 * i + 1] += sums->odd >> 16 * i & 0xffff;
    }
    *sums = (struct sums){0, 0, 0};
}

static void count_guards(ULong *totals, const struct path_totals *path, const ULong *at, ULong mask)
{
    for (UInt i = 0; i < path->n_guards; i++) {
        const struct guard *guard = &guards[path->guards + i];
        totals[guard->kind] += at[1 + guard->word] != 0 && (mask >> 8 * guard->kind & 1);
    }
}

static const ULong all_classes = ~0ULL;

/* A mask with one byte per class, as in the counts of a path: 0xff for classes that have no counters. */
static ULong uncounted_classes(void)
{
    ULong mask = all_classes;
    for (UInt kind = 0; kind < RF_WORD_CLASSES; kind++)
        if (probe_options.want[kind] & WANT_COUNT)
            mask &= ~(0xffULL << 8 * kind);
    return mask;
}

void path_count(ULong *totals, const ULong *at, const ULong *end, enum path_classes classes)
{
    ULong of_counted = classes == PATH_ALL ? all_classes : uncounted_classes();
    struct sums sums = {0, 0, 0};
    for (const ULong *next; at < end; at = next) {
        ULong word = path_read(at);
        next = path_skip(word, at, end);
        /* what is merged has counters */
        if ((word & RF_WORD_MESSAGE) || rf_entry_is_one(word) || word >= n_paths ||
            (ULong)(next - at) <= paths[word].words)
            continue;
        const struct path_totals *path = &paths[word];
        ULong mask = path->is_counted ? of_counted : all_classes;
        sums.even += path->events.word & mask & even_bytes;
        sums.odd += (path->events.word & mask) >> 8 & even_bytes;
        if (++sums.n == SUMS_MAX)
            empty(&sums, totals);
        if (path->n_guards > 0)
            count_guards(totals, path, at, mask);
    }
    empty(&sums, totals);
}

Bool path_some_uncounted(void)
{
    for (UInt kind = 0; kind < RF_WORD_CLASSES; kind++)
        has_uncounted |= probe_options.want[kind] != 0 && !(probe_options.want[kind] & WANT_COUNT);
    return has_uncounted;
}
