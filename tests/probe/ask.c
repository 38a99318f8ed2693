/* ask.c - what a running `riffle run` has counted by now, as text.
 *
 *     ask PID SELECTOR
 *
 * A line per item of the profile of that selector: its two words and its count, in decimal. */
#include <inttypes.h>
#include <riffle/riffle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRIES = 6000 };

static struct rf_run *wait_for_answer(struct rf_live *live, struct rf_error *error)
{
    const struct timespec pause = {0, 10 * 1000 * 1000};
    struct rf_run *run = NULL;
    rf_live_ask(live);
    for (int i = 0; i < TRIES && run == NULL && !rf_live_is_over(live); i++) {
        nanosleep(&pause, NULL);
        if (rf_live_take(live, &run, error) != RF_OK)
            return NULL;
    }
    return run;
}

static void print_items(const struct rf_profile *profile)
{
    for (size_t i = 0; i < profile->n_items; i++)
        printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", profile->items[i].a, profile->items[i].b,
               profile->items[i].count);
}

int main(int argc, char **argv)
{
    struct rf_live *live;
    struct rf_error error = {""};
    if (argc != 3 || rf_live_watch(&live, strtol(argv[1], NULL, 10), &error) != RF_OK) {
        fprintf(stderr, "ask: %s\n", error.message);
        return 1;
    }
    struct rf_run *run = wait_for_answer(live, &error);
    for (size_t i = 0; run != NULL && i < run->n_profiles; i++)
        if (strcmp(run->profiles[i]->selector, argv[2]) == 0)
            print_items(run->profiles[i]);
    if (run == NULL)
        fprintf(stderr, "ask: no answer: %s\n", error.message);
    rf_run_free(run);
    rf_live_close(live);
    return run == NULL;
}
