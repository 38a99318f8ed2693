/* embed.c - a program that watches itself: which hash chains of its own table are walked most?
 *
 *     cc embed.c $(pkg-config --cflags --libs riffle) -o embed && ./embed */
#include <riffle/riffle.h>
#include <stdio.h>

enum { BATCH = 256, KEYS = 200000, CHAINS = 1009 };

static int give_up(const struct rf_error *error)
{
    fprintf(stderr, "embed: %s\n", error->message);
    return 1;
}

int main(void)
{
    struct rf_error error = {""};
    struct rf_profiler *profiler;
    struct rf_profile *profile;
    struct rf_tuple batch[BATCH];
    if (rf_profiler_open(&profiler, "exact", NULL, &error) != RF_OK)
        return give_up(&error);
    for (uint64_t key = 0, n = 0; key < KEYS; key++) {
        batch[n++] = (struct rf_tuple){key * key % CHAINS, 0}; /* <which chain, unused> */
        if (n < BATCH && key + 1 < KEYS)
            continue;
        if (rf_profiler_feed(profiler, &(struct rf_tuples){batch, NULL, n}, &error) != RF_OK)
            return give_up(&error);
        n = 0;
    }
    if (rf_profiler_profile(profiler, &profile, &error) != RF_OK)
        return give_up(&error);
    printf("%llu walks, %zu chains\n", (unsigned long long)profile->consumed, profile->n_items);
    for (size_t i = 0; i < 3 && i < profile->n_items; i++)
        printf("chain %4llu: %llu walks\n", (unsigned long long)profile->items[i].a,
               (unsigned long long)profile->items[i].count);
    rf_profile_free(profile);
    rf_profiler_close(profiler);
    return 0;
}
