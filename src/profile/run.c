/* run.c - what one command did: its profiles, the files mapped into the program, notes. */
#include "profile/profile.h"
#include "base/alloc.h"
#include <string.h>

rf_status rf_run_new(struct rf_run **made, const char *command, const struct rf_alloc *alloc)
{
    *made = NULL;
    alloc = rf_alloc_or_standard(alloc);
    struct rf_run *run = rf_alloc_zeroed(alloc, sizeof *run);
    if (run == NULL)
        return RF_ENOMEM;
    run->alloc = *alloc;
    command = command != NULL ? command : "";
    run->command = rf_profile_text(alloc, command, strlen(command));
    run->version = rf_profile_text(alloc, RIFFLE_VERSION, strlen(RIFFLE_VERSION));
    if (run->command == NULL || run->version == NULL) {
        rf_run_free(run);
        return RF_ENOMEM;
    }
    *made = run;
    return RF_OK;
}

static void free_module(const struct rf_alloc *alloc, const struct rf_module *module)
{
    rf_profile_free_text(alloc, module->path);
    rf_profile_free_text(alloc, module->build_id);
}

static void free_note(const struct rf_alloc *alloc, const struct rf_note *note)
{
    rf_profile_free_text(alloc, note->name);
    rf_profile_free_text(alloc, note->text);
}

/* How many elements an array holds. One that others made has no room beyond its n. */
static size_t held(size_t n, size_t room)
{
    return room > n ? room : n;
}

/* Room for one more. An array doubles when it is full, so that n additions copy no more than 2 n elements. */
static bool make_room(const struct rf_alloc *alloc, void **array, size_t n, size_t *room,
                      size_t element)
{
    size_t now = held(n, *room), more = now < 4 ? 4 : 2 * now;
    if (n < now)
        return true;
    if (more < now || !rf_alloc_array(alloc, array, now, more, element))
        return false;
    *room = more;
    return true;
}

void rf_run_free(struct rf_run *run)
{
    if (run == NULL)
        return;
    rf_profile_free_text(&run->alloc, run->command);
    rf_profile_free_text(&run->alloc, run->version);
    for (size_t i = 0; i < run->n_profiles; i++)
        rf_profile_free(run->profiles[i]);
    for (size_t i = 0; i < run->n_modules; i++)
        free_module(&run->alloc, &run->modules[i]);
    for (size_t i = 0; i < run->n_notes; i++)
        free_note(&run->alloc, &run->notes[i]);
    rf_alloc_free(&run->alloc, run->profiles,
                  held(run->n_profiles, run->room.profiles) * sizeof *run->profiles);
    rf_alloc_free(&run->alloc, run->modules,
                  held(run->n_modules, run->room.modules) * sizeof *run->modules);
    rf_alloc_free(&run->alloc, run->notes,
                  held(run->n_notes, run->room.notes) * sizeof *run->notes);
    rf_alloc_free(&run->alloc, run, sizeof *run);
}

/* One more element of a list of the run; false: no memory. */
#define ADD(run, list, element)                                                                    \
    (make_room(&(run)->alloc, (void **)&(run)->list, (run)->n_##list, &(run)->room.list,           \
               sizeof *(run)->list) &&                                                             \
     ((run)->list[(run)->n_##list++] = (element), true))

rf_status rf_run_add_profile(struct rf_run *run, struct rf_profile *profile)
{
    return ADD(run, profiles, profile) ? RF_OK : RF_ENOMEM;
}

/* Move those that stay into `kept`, free the others. */
static void part_profiles(const struct rf_run *run, struct rf_profile **kept, rf_run_keep keep,
                          void *context)
{
    for (size_t i = 0; i < run->n_profiles; i++)
        if (keep(context, i, run->profiles[i]))
            *kept++ = run->profiles[i];
        else
            rf_profile_free(run->profiles[i]);
}

rf_status rf_run_filter(struct rf_run *run, rf_run_keep keep, void *context)
{
    size_t n = 0;
    void *kept = NULL;
    for (size_t i = 0; i < run->n_profiles; i++)
        n += keep(context, i, run->profiles[i]) != 0;
    if (!rf_alloc_array(&run->alloc, &kept, 0, n, sizeof *run->profiles))
        return RF_ENOMEM;
    part_profiles(run, kept, keep, context);
    rf_alloc_free(&run->alloc, run->profiles,
                  held(run->n_profiles, run->room.profiles) * sizeof *run->profiles);
    run->profiles = kept;
    run->n_profiles = run->room.profiles = n;
    return RF_OK;
}

static const char *or_empty(const char *text)
{
    return text != NULL ? text : "";
}

rf_status rf_run_add_module(struct rf_run *run, const struct rf_module *module)
{
    struct rf_module copy = *module;
    const char *path = or_empty(module->path), *build_id = or_empty(module->build_id);
    copy.path = rf_profile_text(&run->alloc, path, strlen(path));
    copy.build_id = rf_profile_text(&run->alloc, build_id, strlen(build_id));
    if (copy.path != NULL && copy.build_id != NULL && ADD(run, modules, copy))
        return RF_OK;
    free_module(&run->alloc, &copy);
    return RF_ENOMEM;
}

rf_status rf_run_add_note(struct rf_run *run, const char *name, const char *text)
{
    struct rf_note copy = {rf_profile_text(&run->alloc, name, strlen(name)),
                           rf_profile_text(&run->alloc, text, strlen(text))};
    if (copy.name != NULL && copy.text != NULL && ADD(run, notes, copy))
        return RF_OK;
    free_note(&run->alloc, &copy);
    return RF_ENOMEM;
}

void rf_run_drop_notes(struct rf_run *run, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < run->n_notes; i++)
        if (strcmp(run->notes[i].name, name) == 0)
            free_note(&run->alloc, &run->notes[i]);
        else
            run->notes[kept++] = run->notes[i];
    run->n_notes = kept;
}

const char *rf_run_note(const struct rf_run *run, const char *name)
{
    for (size_t i = 0; i < run->n_notes; i++)
        if (strcmp(run->notes[i].name, name) == 0)
            return run->notes[i].text;
    return NULL;
}

enum {
    SELECTOR_MAX = 8 * 1024
}; /* the text of a selector with all the conditions and names it may have */

/* The selector's text with the projection `pc`; empty where the selector is not understood. */
static void print_totals(const struct rf_profile *profile, char text[SELECTOR_MAX])
{
    struct rf_selector selector;
    text[0] = '\0';
    if (rf_profile_selector(profile, &selector) != RF_OK)
        return;
    selector.project_a = RF_FIELD_PC;
    selector.project_b = RF_FIELD_NONE;
    rf_selector_print(&selector, text, SELECTOR_MAX);
}

static bool same_process(const struct rf_profile *left, const struct rf_profile *right)
{
    return rf_profile_figure(left, "process", 0) == rf_profile_figure(right, "process", 0);
}

const struct rf_profile *rf_run_totals(const struct rf_run *run, const struct rf_profile *profile)
{
    char text[SELECTOR_MAX];
    print_totals(profile, text);
    for (size_t i = 0; i < run->n_profiles && text[0] != '\0'; i++) {
        const struct rf_profile *other = run->profiles[i];
        if (other != profile && other->bound == RF_BOUND_EXACT && other->shape == RF_SHAPE_TUPLE &&
            same_process(other, profile) && strcmp(other->selector, text) == 0)
            return other;
    }
    return NULL;
}
