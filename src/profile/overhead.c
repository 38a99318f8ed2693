/* overhead.c - the cycles of messages over the cycles of the run; riffle/overhead.h explains both. */
#include <riffle/overhead.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static uint64_t number_of(const char *note)
{
    return note != NULL ? strtoull(note, NULL, 10) : 0;
}

/* The selector takes all instructions: any fields, no conditions. */
static bool counts_instructions(const struct rf_profile *profile)
{
    struct rf_selector selector;
    return strstr(profile->selector, "insn") != NULL &&
           rf_profile_selector(profile, &selector) == RF_OK && selector.n_conditions == 0 &&
           selector.classes == 1u << RF_CLASS_INSN;
}

static uint64_t count_instructions(const struct rf_run *run)
{
    uint64_t noted = number_of(rf_run_note(run, "instructions"));
    for (size_t i = 0; noted == 0 && i < run->n_profiles; i++)
        if (counts_instructions(run->profiles[i]))
            noted = run->profiles[i]->produced;
    return noted;
}

static double figure_of(const struct rf_profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->n_figures; i++)
        if (strcmp(profile->figures[i].name, name) == 0)
            return profile->figures[i].value;
    return -1;
}

rf_status rf_overhead(struct rf_overhead *overhead, const struct rf_run *run,
                      const struct rf_profile *profile, double cpi)
{
    *overhead = (struct rf_overhead){.cycles = figure_of(profile, "overhead-cycles")};
    if (!(overhead->cycles >= 0))
        return RF_ENOTSUP; /* before all profiles are asked */
    overhead->cycles_in_all = (double)number_of(rf_run_note(run, "cycles"));
    if (overhead->cycles_in_all == 0) {
        overhead->instructions = count_instructions(run);
        overhead->cycles_in_all = (double)overhead->instructions * cpi;
    }
    if (!(overhead->cycles_in_all > 0))
        return RF_ENOTSUP;
    overhead->share = overhead->cycles / overhead->cycles_in_all;
    return RF_OK;
}
