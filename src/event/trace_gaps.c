/* trace_gaps.c - where events are missing in a stream that was told in bursts.
 *
 *     offset   0   4         8        16
 *              at  bursts    weight   skipped: one number for tuples, 16 for records, one per class
 *
 * Those of a block stand behind it, packed. */
#include "event/trace.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include <math.h>
#include <string.h>

enum { FIXED = 16, CLASSES = 16 };
_Static_assert((int)RF_CLASS_COUNT <= (int)CLASSES, "the format has room for more classes");

static size_t columns(enum rf_trace_kind kind)
{
    return kind == RF_TRACE_RECORDS ? CLASSES : 1;
}

size_t rf_trace_gap_size(enum rf_trace_kind kind)
{
    return FIXED + 8 * columns(kind);
}

static bool reserve(struct rf_trace_gaps *gaps, size_t n, const struct rf_alloc *alloc)
{
    void *list = gaps->list;
    size_t room = 2 * gaps->room + 64 > n ? 2 * gaps->room + 64 : n;
    if (n <= gaps->room)
        return true;
    if (!rf_alloc_array(alloc, &list, gaps->room, room, sizeof *gaps->list))
        return false;
    gaps->list = list;
    gaps->room = room;
    return true;
}

/* Two at one place: at most one of them ends a burst that has events. */
static void join(struct rf_trace_gap *gap, const struct rf_trace_gap *more)
{
    gap->bursts += more->bursts;
    gap->weight = gap->weight > 0 ? gap->weight : more->weight;
    for (size_t i = 0; i < RF_CLASS_COUNT; i++)
        gap->skipped[i] += more->skipped[i];
}

bool rf_trace_gaps_add(struct rf_trace_gaps *gaps, uint32_t at, const struct rf_trace_gap *gap,
                       const struct rf_alloc *alloc)
{
    if (gaps->n > 0 && gaps->list[gaps->n - 1].at == at) {
        join(&gaps->list[gaps->n - 1].gap, gap);
        return true;
    }
    if (!reserve(gaps, gaps->n + 1, alloc))
        return false;
    gaps->list[gaps->n++] = (struct rf_trace_place){at, *gap};
    return true;
}

void rf_trace_gaps_free(struct rf_trace_gaps *gaps, const struct rf_alloc *alloc)
{
    rf_alloc_free(alloc, gaps->list, gaps->room * sizeof *gaps->list);
}

void rf_trace_gap_write(const struct rf_trace_place *place, enum rf_trace_kind kind,
                        unsigned char *bytes)
{
    uint64_t weight;
    memcpy(&weight, &place->gap.weight, sizeof weight);
    rf_store32(bytes, place->at);
    rf_store32(bytes + 4, place->gap.bursts);
    rf_store64(bytes + 8, weight);
    for (size_t i = 0; i < columns(kind); i++)
        rf_store64(bytes + FIXED + 8 * i, i < RF_CLASS_COUNT ? place->gap.skipped[i] : 0);
}

static bool read_one(struct rf_trace_place *place, enum rf_trace_kind kind,
                     const unsigned char *bytes)
{
    uint64_t weight = rf_load64(bytes + 8), all = 0;
    *place = (struct rf_trace_place){.at = rf_load32(bytes), .gap.bursts = rf_load32(bytes + 4)};
    memcpy(&place->gap.weight, &weight, sizeof weight);
    bool sound = isfinite(place->gap.weight) && place->gap.weight >= 0;
    for (size_t i = 0; i < columns(kind); i++) {
        uint64_t skipped = rf_load64(bytes + FIXED + 8 * i);
        sound &= skipped <= RF_EVENTS_MAX - all && (i < RF_CLASS_COUNT || skipped == 0);
        all += skipped;
        if (i < RF_CLASS_COUNT)
            place->gap.skipped[i] = skipped;
    }
    return sound;
}

rf_status rf_trace_gaps_read(struct rf_trace_gaps *gaps, enum rf_trace_kind kind,
                             const unsigned char *bytes, size_t n, uint32_t events,
                             const struct rf_alloc *alloc)
{
    gaps->n = 0;
    if (!reserve(gaps, n, alloc))
        return RF_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        struct rf_trace_place *place = &gaps->list[i];
        if (!read_one(place, kind, bytes + i * rf_trace_gap_size(kind)) || place->at > events ||
            (i > 0 && place->at <= place[-1].at))
            return RF_EDAMAGED;
    }
    gaps->n = n;
    return RF_OK;
}
