/* totals.c - the totals beside each profile of a saved run, as text: reports use them and do not show them.
 *
 *     totals FILE
 *
 * For each profile that has totals: a line with its selector, that of the totals, whether they are a companion and the
 * events of both; then a line per pc and its total. */
#include <inttypes.h>
#include <riffle/riffle.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct rf_run *run;
    struct rf_error error = {""};
    if (argc != 2 || rf_run_load(&run, argv[1], NULL, &error) != RF_OK) {
        fprintf(stderr, "totals: %s\n", error.message);
        return 1;
    }
    for (size_t i = 0; i < run->n_profiles; i++) {
        const struct rf_profile *profile = run->profiles[i];
        const struct rf_profile *totals = rf_run_totals(run, profile);
        if (totals == NULL || rf_profile_is_companion(profile))
            continue;
        printf("%s;%s;%d;%" PRIu64 ";%" PRIu64 ";%" PRIu64 "\n", profile->selector,
               totals->selector, rf_profile_is_companion(totals), profile->produced,
               totals->produced, totals->consumed + totals->lost);
        for (size_t k = 0; k < totals->n_items; k++)
            printf("0x%" PRIx64 " %" PRIu64 "\n", totals->items[k].a, totals->items[k].count);
    }
    rf_run_free(run);
    return 0;
}
