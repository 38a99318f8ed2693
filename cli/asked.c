/* asked.c - does a run have what --function, --module and --thread name?
 *
 *     saved or recorded     refused, before anything is printed
 *     just run              said, beside the report: the program keeps its own exit status */
#include "plan.h"
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static rf_status missing(struct rf_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static rf_status missing(struct rf_error *error, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(error->message, sizeof error->message, format, list);
    va_end(list);
    return RF_EINVAL;
}

static rf_status find_functions(struct rf_symbols *symbols, const char *const *names,
                                struct rf_error *error)
{
    for (; *names != NULL; names++) {
        if (cli_has_function(symbols, *names))
            continue;
        const char *nearest = rf_symbols_nearest(symbols, *names);
        return missing(error, "no function '%s' in the modules of this run%s%s%s", *names,
                       nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                       nearest != NULL ? "'?" : "");
    }
    return RF_OK;
}

bool cli_has_module(const struct rf_module *modules, size_t n, const char *name)
{
    if (name[0] == '[') /* [heap], [vdso]: a name of riffle's own, which no list has */
        return true;
    for (size_t i = 0; i < n; i++) {
        const char *slash = strrchr(modules[i].path, '/');
        if (strcmp(modules[i].path, name) == 0 || (slash != NULL && strcmp(slash + 1, name) == 0))
            return true;
    }
    return false;
}

static rf_status find_modules(const struct rf_run *run, const char *const *names,
                              struct rf_error *error)
{
    for (; *names != NULL; names++)
        if (!cli_has_module(run->modules, run->n_modules, *names))
            return missing(error, "no module '%s' in this run", *names);
    return RF_OK;
}

static bool has_item(const struct rf_profile *profile, bool is_a, uint64_t thread)
{
    for (size_t i = 0; i < profile->n_items; i++)
        if ((is_a ? profile->items[i].a : profile->items[i].b) == thread)
            return true;
    return false;
}

/* Is it in some profile, or does none tell threads apart? */
static bool has_thread(const struct rf_run *run, uint64_t thread)
{
    bool is_told = false;
    for (size_t i = 0; i < run->n_profiles; i++) {
        struct rf_selector selector;
        const struct rf_profile *profile = run->profiles[i];
        if (rf_profile_selector(profile, &selector) != RF_OK)
            continue;
        bool is_a = selector.project_a == RF_FIELD_THREAD;
        if (!is_a && selector.project_b != RF_FIELD_THREAD)
            continue;
        if (profile->shape != RF_SHAPE_TUPLE || has_item(profile, is_a, thread))
            return true;
        is_told = true;
    }
    return !is_told;
}

static bool is_empty(const struct rf_run *run)
{
    for (size_t i = 0; i < run->n_profiles; i++)
        if (run->profiles[i]->consumed > 0)
            return false;
    return run->n_profiles > 0;
}

rf_status cli_find_asked(const struct rf_run *run, const struct cli_report *report,
                         const struct rf_view_setup *view, struct rf_error *error)
{
    rf_status status = RF_OK;
    if (view->symbols != NULL)
        status = find_functions(view->symbols, report->functions, error);
    if (status == RF_OK && view->symbols != NULL)
        status = find_modules(run, report->modules, error);
    if (status == RF_OK && view->thread != NULL && !has_thread(run, *view->thread))
        return missing(error, "no event of thread %" PRIu64 " was found in this run",
                       *view->thread);
    if (status == RF_OK && report->counted_thread != NULL && is_empty(run))
        return missing(error, "no event of thread %s was found in this run",
                       report->counted_thread);
    return status;
}
