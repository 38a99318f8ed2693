/* Range-adaptive profiles of a program by itself: where its time goes and which table slots it touches.
 *
 * Two profiles at once. A hash table is filled with skewed keys; profile 0 is over the keys, profile 1
 * over the slots. Both are asked while the program runs. */
#include <inttypes.h>
#include <stdio.h>
#include <riffle/rap.h>

enum { KEYS, SLOTS, PROFILES };

static rf_status print_range(void *context, const struct rf_item *item)
{
    const uint64_t *events = context;
    if (item->lower * 20 > *events)
        printf("    %5" PRIu64 "..%-5" PRIu64 " %5.1f%% .. %5.1f%%\n", item->a, item->a_hi,
               100 * (double)item->lower / (double)*events,
               100 * (double)item->upper / (double)*events);
    return RF_OK;
}

static rf_status ended(void *context, const struct rf_summary *summary)
{
    (void)context;
    (void)summary;
    return RF_OK;
}

static void work(struct rf_rap *rap, uint32_t steps)
{
    uint32_t random = 1;
    for (uint32_t i = 0; i < steps; i++) {
        random = random * 1664525 + 1013904223;
        uint32_t key = (random >> 16) & (random >> 24 | 0x0f); /* small keys are frequent */
        rf_rap_add_points(rap, key, 1, KEYS);
        rf_rap_add_points(rap, key * 2654435761u >> 20, 1, SLOTS);
    }
}

int main(void)
{
    struct rf_rap *rap;
    struct rf_error error = {""};
    if (rf_rap_init(&rap, PROFILES, "eps=2%, bits=16, nodes=2000", NULL, &error) != RF_OK) {
        fprintf(stderr, "rap: %s\n", error.message);
        return 1;
    }
    for (int i = 0; i < 3; i++) {
        struct rf_rap_answer answer;
        work(rap, 100000);
        rf_rap_query(rap, KEYS, 0, 15, &answer);
        printf("after %" PRIu64 " events %" PRIu64 " to %" PRIu64 " keys are below 16\n",
               answer.events, answer.lower, answer.upper);
    }
    uint64_t events = 300000;
    struct rf_sink sink = {print_range, NULL, ended, &events};
    printf("keys, ranges above 5%%, share of all events within:\n");
    rf_rap_finalize(rap, KEYS, &sink);
    printf("slots:\n");
    rf_rap_finalize(rap, SLOTS, &sink);
    printf("%zu bytes\n", rf_rap_memory(rap));
    rf_rap_free(rap);
    return 0;
}
