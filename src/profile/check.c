/* check.c - whether the numbers of a profile agree with each other.
 *
 * Everything else in the library takes these for granted; a file from outside has to show them.
 *
 *     1  produced = consumed + lost
 *     2  lower <= upper <= events, for every item and every interval; so no sum overflows
 *     3  absent_upper <= events
 *     4  items stand heaviest first
 *     5  an interval's items lie within the list, and intervals have no more events than the whole */
#include "profile/file.h"
#include "profile/fold.h"
#include "profile/profile.h"

static const char *check_items(const struct rf_item *items, size_t n, uint64_t events)
{
    for (size_t i = 0; i < n; i++)
        if (items[i].lower > items[i].upper || items[i].upper > events)
            return "an item's bounds cross or exceed the events";
    for (size_t i = 1; i < n; i++)
        if (rf_items_order(&items[i], &items[i - 1]) < 0)
            return "items are not in order";
    return NULL;
}

static const char *check_intervals(const struct rf_profile *profile)
{
    uint64_t events = 0;
    for (size_t i = 0; i < profile->n_intervals; i++) {
        const struct rf_interval *interval = &profile->intervals[i];
        if (interval->first > profile->n_interval_items ||
            interval->n > profile->n_interval_items - interval->first)
            return "an interval's items are not there";
        if (interval->absent_upper > interval->events ||
            interval->events > profile->consumed - events)
            return "an interval's events do not add up";
        events += interval->events;
        const char *wrong =
            check_items(rf_profile_interval_items(profile, i), interval->n, interval->events);
        if (wrong != NULL)
            return wrong;
    }
    return NULL;
}

const char *rf_profile_contradiction(const struct rf_profile *profile)
{
    uint64_t sum;
    if (__builtin_add_overflow(profile->consumed, profile->lost, &sum) || sum != profile->produced)
        return "produced is not consumed and lost";
    if (profile->shape > RF_SHAPE_RECTANGLE || profile->bound > RF_BOUND_CONFIDENCE)
        return "an unknown kind of item or bound";
    if (!(profile->confidence >= 0 && profile->confidence <= 1))
        return "a confidence that is no share";
    if (profile->absent_upper > profile->consumed)
        return "what is absent exceeds the events";
    const char *wrong = check_items(profile->items, profile->n_items, profile->consumed);
    return wrong != NULL ? wrong : check_intervals(profile);
}
