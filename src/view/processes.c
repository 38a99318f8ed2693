/* processes.c - one row per process, or per program where processes were counted together.
 *
 * Profiles of single processes carry the figure "process", and the run has one profile per process and selector.
 * Otherwise only programs can be told apart, by the number that exec leaves in code addresses. */
#include "view/view.h"
#include <string.h>

static bool is_alike(const struct rf_profile *left, const struct rf_profile *right)
{
    return strcmp(left->selector, right->selector) == 0 && strcmp(left->engine, right->engine) == 0;
}

static rf_status add_profile(struct rf_view_work *work, const struct rf_profile *profile)
{
    uint64_t n = profile->consumed;
    const struct rf_row row = {.word = (uint64_t)rf_profile_figure(profile, "process", 0),
                               .count = n,
                               .lower = n,
                               .upper = n};
    work->table.events += profile->consumed;
    return rf_view_add_row(work, &row) ? RF_OK : RF_ENOMEM;
}

rf_status rf_view_make_processes(struct rf_view_work *work)
{
    const struct rf_run *run = work->view->run;
    const struct rf_profile *asked = work->table.profile;
    rf_status status = RF_OK;
    if (rf_profile_figure(asked, "process", 0) == 0)
        return rf_view_make_groups(work);
    work->table.events = 0;
    work->totals = NULL; /* they are of one process; rows are shares of all */
    for (size_t i = 0; i < run->n_profiles && status == RF_OK; i++)
        if (is_alike(run->profiles[i], asked))
            status = add_profile(work, run->profiles[i]);
    work->view->bound = RF_BOUND_EXACT;
    return status;
}
