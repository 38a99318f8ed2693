/* make_hostile.c - a profile whose every text a terminal would obey: make-hostile IN OUT [but-selectors]
 *
 * Riffle itself writes no such selectors or engines; a file that somebody sends may have them. */
#include <riffle/profile.h>
#include <stdio.h>
#include <string.h>

/* Clears a terminal; breaks lines, CSV, JSON and HTML; a C1 control, bytes that are no UTF-8, and a change of direction. */
#define EVIL "\033[2J\r\n\",;\\'</script>\302\233\377\342\200\256"

static int add(const struct rf_alloc *alloc, char **text)
{
    size_t n = *text != NULL ? strlen(*text) : 0;
    char *made = alloc->resize(alloc->context, *text, *text != NULL ? n + 1 : 0, n + sizeof EVIL);
    if (made == NULL)
        return 0;
    memcpy(made + n, EVIL, sizeof EVIL);
    *text = made;
    return 1;
}

static int spoil_profile(struct rf_profile *profile, int but_selectors)
{
    return (but_selectors || add(&profile->alloc, &profile->selector)) &&
           add(&profile->alloc, &profile->engine) &&
           rf_profile_add_figure(profile, "figure" EVIL, 1) == RF_OK;
}

static int spoil(struct rf_run *run, int but_selectors)
{
    const struct rf_module module = {.path = (char *)"/nosuch/file" EVIL,
                                     .build_id = (char *)"1" EVIL,
                                     .start = 0x401000,
                                     .end = 0x402000};
    int good = add(&run->alloc, &run->command) && add(&run->alloc, &run->version) &&
               rf_run_add_module(run, &module) == RF_OK &&
               rf_run_add_note(run, "note" EVIL, "text" EVIL) == RF_OK;
    for (size_t i = 0; i < run->n_profiles && good; i++)
        good = spoil_profile(run->profiles[i], but_selectors);
    for (size_t i = 0; i < run->n_notes && good; i++)
        good = add(&run->alloc, &run->notes[i].text);
    return good;
}

int main(int argc, char **argv)
{
    struct rf_run *run = NULL;
    struct rf_error error = {"make-hostile IN OUT [but-selectors]"};
    int good = (argc == 3 || argc == 4) && rf_run_load(&run, argv[1], NULL, &error) == RF_OK &&
               spoil(run, argc == 4) && rf_run_save(run, argv[2], &error) == RF_OK;
    rf_run_free(run);
    if (!good)
        fprintf(stderr, "make-hostile: %s\n", error.message);
    return !good;
}
