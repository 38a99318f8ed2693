/* forms.c - the forms there are, and the words they share. */
#include "report/report.h"
#include "base/error.h"
#include <string.h>

static const struct rf_report_form *const forms[] = {&rf_report_text,
                                                     &rf_report_csv,
                                                     &rf_report_json,
                                                     &rf_report_tree,
                                                     &rf_report_heat,
                                                     &rf_report_html,
                                                     NULL};

const struct rf_report_form *const *rf_report_forms(void)
{
    return forms;
}

const struct rf_report_form *rf_report_find(const char *name)
{
    for (size_t i = 0; forms[i] != NULL; i++)
        if (strcmp(forms[i]->name, name) == 0)
            return forms[i];
    return NULL;
}

/* In a view by process, one profile stands for those of all processes. */
static bool is_repeated(const struct rf_run *run, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(run->profiles[k]->selector, run->profiles[i]->selector) == 0 &&
            strcmp(run->profiles[k]->engine, run->profiles[i]->engine) == 0)
            return rf_profile_figure(run->profiles[i], "process", 0) > 0;
    return false;
}

bool rf_report_shows(const struct rf_run *run, size_t i, const struct rf_report_setup *setup)
{
    if (rf_profile_is_companion(run->profiles[i]))
        return false;
    return setup->view.by != RF_BY_PROCESS || !is_repeated(run, i);
}

rf_status rf_report_tables(const struct rf_profile *profile, const struct rf_report_setup *setup,
                           size_t *n, struct rf_error *error)
{
    *n = 1;
    if (!setup->per_interval || profile->n_intervals_seen == 0)
        return RF_OK;
    *n = profile->n_intervals;
    if (profile->n_intervals > 0)
        return RF_OK;
    return rf_fail(
        error, RF_ENOTSUP,
        "this profile was made without its intervals; give --per-interval to run, sim or "
        "replay, too");
}

bool rf_report_answers(const struct rf_run *run, size_t i, const struct rf_report_setup *setup)
{
    struct rf_error why = {""};
    return rf_report_shows(run, i, setup) &&
           rf_view_check(run->profiles[i], &setup->view, &why) == RF_OK;
}

rf_status rf_report_check(const struct rf_run *run, const struct rf_report_setup *setup,
                          struct rf_error *error)
{
    size_t tables, n = 0, first = run->n_profiles;
    for (size_t i = 0; i < run->n_profiles; i++) {
        if (!rf_report_shows(run, i, setup))
            continue;
        first = first < i ? first : i;
        if (!rf_report_answers(run, i, setup))
            continue;
        n++;
        rf_status status = rf_report_tables(run->profiles[i], setup, &tables, error);
        if (status != RF_OK)
            return status;
    }
    return n > 0 || first == run->n_profiles
               ? RF_OK
               : rf_view_check(run->profiles[first], &setup->view, error);
}

rf_status rf_report_view(struct rf_view *view, const struct rf_run *run,
                         const struct rf_profile *profile, const struct rf_report_setup *setup,
                         enum rf_view_by standard, const size_t *interval, struct rf_error *error)
{
    struct rf_view_setup question = setup->view;
    question.interval = interval;
    question.by = question.by != RF_BY_STANDARD ? question.by : standard;
    return rf_view_open(view, run, profile, &question, error);
}

rf_status rf_report_each(const struct rf_report_page *page, const char *between, size_t most,
                         rf_report_profile *write)
{
    rf_status status = RF_OK;
    size_t n = 0;
    for (size_t i = 0; i < page->run->n_profiles && n < most && status == RF_OK; i++)
        if (rf_report_answers(page->run, i, page->setup)) {
            fputs(n++ > 0 ? between : "", page->out);
            status = write(page, page->run->profiles[i]);
        }
    return status;
}

rf_status rf_report_end(FILE *out)
{
    return fflush(out) != 0 || ferror(out) ? RF_EIO : RF_OK;
}

const char *rf_report_shape(unsigned shape)
{
    static const char *const names[] = {"tuple", "range-a", "range-b", "rectangle", "stream"};
    return shape < sizeof names / sizeof *names ? names[shape] : "unknown";
}

const char *rf_report_bound(unsigned bound)
{
    static const char *const names[] = {"exact", "hard", "confidence", "estimate"};
    return bound < sizeof names / sizeof *names ? names[bound] : "unknown";
}
