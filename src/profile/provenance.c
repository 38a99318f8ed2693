/* provenance.c - where a merged run came from: commands, modules and notes of all its parts.
 *
 * Modules are all kept: they are the same in runs of the same build. Commands and notes differ from run to run ("seconds",
 * "stream"). To keep what a merge holds from growing with the number of runs, commands are listed up to COMMAND_MAX bytes
 * and notes of one name up to NOTES_MAX, but for what is missing. The note "runs" says how many runs were merged.
 *
 * A file from outside may hold a great many modules and notes: what both runs have is found by sorting (twins.c). */
#include "profile/builds.h"
#include "profile/profile.h"
#include "profile/twins.h"
#include "base/alloc.h"
#include "base/error.h"
#include <stdlib.h>
#include <string.h>

enum { COMMAND_MAX = 1000, NOTES_MAX = 8 };

static const char others[] = "and others";

/* ---- commands ---- */

/* Is the command one of a list "sort a; sort b"? */
static bool is_listed(const char *list, const char *command)
{
    size_t n = strlen(command);
    for (const char *at = list; (at = strstr(at, command)) != NULL; at++) {
        bool begins = at == list || (at - list >= 2 && memcmp(at - 2, "; ", 2) == 0);
        if (begins && (at[n] == '\0' || (at[n] == ';' && at[n + 1] == ' ')))
            return true;
    }
    return false;
}

static rf_status append_command(struct rf_run *run, const char *command)
{
    const char *between = run->command[0] != '\0' ? "; " : "";
    size_t size = strlen(run->command) + strlen(between) + strlen(command) + 1;
    char *both = rf_alloc_get(&run->alloc, size);
    if (both == NULL)
        return RF_ENOMEM;
    rf_format(both, size, "%s%s%s", run->command, between, command);
    rf_profile_free_text(&run->alloc, run->command);
    run->command = both;
    return RF_OK;
}

/* "sort a; sort b"; the same command is named once, and a long list ends. */
static rf_status add_command(struct rf_run *run, const char *command)
{
    size_t here = strlen(run->command);
    if (command[0] == '\0' || is_listed(run->command, command))
        return RF_OK;
    if (here == 0 || here + strlen(command) <= COMMAND_MAX)
        return append_command(run, command);
    return is_listed(run->command, others) ? RF_OK : append_command(run, others);
}

/* ---- modules and notes ---- */

/* A list of both runs. `mark` says which elements of the other run are added to this one. */
struct joined {
    struct rf_twins_list here, there;
    size_t size; /* of an element */
    int (*compare)(const void *, const void *);
    void (*mark)(const struct rf_twins *twins, bool *fresh);
    rf_status (*add)(struct rf_run *run, const struct rf_run *other, size_t i);
};

static rf_status mark_fresh(const struct rf_alloc *alloc, const struct joined *lists, bool *fresh)
{
    struct rf_twins twins;
    rf_status status =
        rf_twins_make(&twins, alloc, lists->here, lists->there, lists->size, lists->compare);
    if (status != RF_OK)
        return status;
    lists->mark(&twins, fresh);
    rf_twins_free(&twins, alloc);
    return RF_OK;
}

static rf_status add_fresh(struct rf_run *run, const struct rf_run *other,
                           const struct joined *lists)
{
    const size_t n = lists->there.n;
    bool *fresh = rf_alloc_zeroed(&run->alloc, n + 1);
    rf_status status = fresh != NULL ? mark_fresh(&run->alloc, lists, fresh) : RF_ENOMEM;
    for (size_t i = 0; i < n && status == RF_OK; i++)
        if (fresh[i])
            status = lists->add(run, other, i);
    rf_alloc_free(&run->alloc, fresh, n + 1);
    return status;
}

static rf_status add_module(struct rf_run *run, const struct rf_run *other, size_t i)
{
    return rf_run_add_module(run, &other->modules[i]);
}

static int compare_notes(const void *left, const void *right)
{
    const struct rf_note *x = left, *y = right;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : strcmp(x->text, y->text);
}

static const char *name_of(const struct rf_twins *twins, size_t i)
{
    return ((const struct rf_note *)twins->twins[i].element)->name;
}

/* Notes of one name stand together, from `first` on. */
static size_t end_of_name(const struct rf_twins *twins, size_t first, size_t *n_here)
{
    size_t end = first;
    for (*n_here = 0; end < twins->n && strcmp(name_of(twins, first), name_of(twins, end)) == 0;
         end++)
        *n_here += !twins->twins[end].there;
    return end;
}

/* Does a note stay that there are `n` of already? What is missing is always said. The number of runs is set at the end. */
static bool stays(const char *name, size_t n)
{
    return strcmp(name, RF_NOTE_MISSING) == 0 || (n < NOTES_MAX && strcmp(name, RF_NOTE_RUNS) != 0);
}

/* Those that this run lacks, up to a number per name. */
static void mark_notes(const struct rf_twins *twins, bool *fresh)
{
    rf_twins_mark_fresh(twins, fresh);
    for (size_t i = 0, end, n; i < twins->n; i = end) {
        end = end_of_name(twins, i, &n);
        for (size_t k = i; k < end; k++) {
            const struct rf_twin *twin = &twins->twins[k];
            if (!twin->there || !fresh[twin->i])
                continue;
            fresh[twin->i] = stays(name_of(twins, k), n);
            n += fresh[twin->i];
        }
    }
}

static rf_status add_note(struct rf_run *run, const struct rf_run *other, size_t i)
{
    return rf_run_add_note(run, other->notes[i].name, other->notes[i].text);
}

rf_status rf_run_add_provenance(struct rf_run *run, const struct rf_run *other)
{
    const struct joined modules = {{run->modules, run->n_modules},
                                   {other->modules, other->n_modules},
                                   sizeof *run->modules,
                                   rf_module_compare,
                                   rf_twins_mark_fresh,
                                   add_module};
    const struct joined notes = {{run->notes, run->n_notes},
                                 {other->notes, other->n_notes},
                                 sizeof *run->notes,
                                 compare_notes,
                                 mark_notes,
                                 add_note};
    rf_status status = add_command(run, other->command);
    if (status == RF_OK)
        status = add_fresh(run, other, &modules);
    return status == RF_OK ? add_fresh(run, other, &notes) : status;
}

/* ---- how many ---- */

uint64_t rf_run_count_runs(const struct rf_run *run)
{
    const char *noted = rf_run_note(run, RF_NOTE_RUNS);
    uint64_t n = noted != NULL ? strtoull(noted, NULL, 10) : 1;
    return n > 0 && n < UINT32_MAX ? n : 1; /* a file from outside may say anything */
}

rf_status rf_run_set_runs(struct rf_run *run, uint64_t n)
{
    char text[24];
    rf_format(text, sizeof text, "%llu", (unsigned long long)n);
    for (size_t i = 0; i < run->n_notes; i++)
        if (strcmp(run->notes[i].name, RF_NOTE_RUNS) == 0)
            return rf_profile_set_text(&run->alloc, &run->notes[i].text, text) ? RF_OK : RF_ENOMEM;
    return rf_run_add_note(run, RF_NOTE_RUNS, text);
}
