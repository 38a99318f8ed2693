/* builds.c - whether two runs were of the same builds.
 *
 * A file from outside may list a great many modules, so nothing here compares each with each. Modules of both runs
 * are looked at in the order of their addresses. Each meets three modules of the other run that began before it:
 *
 *     1  the one that reaches furthest
 *     2  the one that reaches furthest of those with another build id than 1
 *     3  the one that reaches furthest of those without a build id
 *
 *     run      |--- a ---|      |------ b ------|
 *     other         |--- c ---|      |- d -|
 *                   c meets a        d meets b
 *
 * If any module overlaps this one and has another build id, then 1 or 2 does; if any has no build id, then 3 does.
 * An empty module overlaps nothing. */
#include "profile/builds.h"
#include "profile/profile.h"
#include "profile/twins.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

enum { BUILD_ID_SHOWN = 12 };

static int compare_numbers(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

int rf_module_compare(const void *left, const void *right)
{
    const struct rf_module *x = left, *y = right;
    int order = compare_numbers(x->process, y->process);
    order = order != 0 ? order : compare_numbers(x->start, y->start);
    order = order != 0 ? order : compare_numbers(x->end, y->end);
    order = order != 0 ? order : compare_numbers(x->offset, y->offset);
    order = order != 0 ? order : strcmp(x->path, y->path);
    return order != 0 ? order : strcmp(x->build_id, y->build_id);
}

/* The modules of one run that a later one of the other run meets. */
struct front {
    const struct rf_module *furthest, *other_build, *without_id;
};

struct pair {
    const struct rf_module *here, *there;
};

static bool has_id(const struct rf_module *module)
{
    return module->build_id[0] != '\0';
}

static bool reaches_further(const struct rf_module *module, const struct rf_module *than)
{
    return than == NULL || module->end > than->end;
}

static void advance(struct front *front, const struct rf_module *module)
{
    const struct rf_module *before = front->furthest;
    bool same_id = before == NULL || strcmp(before->build_id, module->build_id) == 0;
    if (!has_id(module) && reaches_further(module, front->without_id))
        front->without_id = module;
    if (reaches_further(module, before)) {
        front->furthest = module;
        front->other_build = same_id ? front->other_build : before;
    } else if (!same_id && reaches_further(module, front->other_build)) {
        front->other_build = module;
    }
}

typedef bool (*pair_test)(const struct rf_module *x, const struct rf_module *y);

/* One of the modules that `module` meets, overlaps and gives a pair with; NULL: none. */
static const struct rf_module *meet(const struct front *front, const struct rf_module *module,
                                    pair_test test)
{
    const struct rf_module *met[] = {front->furthest, front->other_build, front->without_id};
    for (size_t i = 0; i < sizeof met / sizeof *met; i++)
        if (met[i] != NULL && met[i]->end > module->start && test(met[i], module))
            return met[i];
    return NULL;
}

/* Of the modules that `takes` says yes to, the first pair that overlaps and passes `test`. */
static struct pair find_pair(const struct rf_twins *twins, bool (*takes)(const struct rf_module *),
                             pair_test test)
{
    struct front fronts[2] = {{NULL, NULL, NULL}, {NULL, NULL, NULL}};
    uint32_t process = 0;
    for (size_t i = 0; i < twins->n; i++) {
        const struct rf_module *module = twins->twins[i].element;
        bool there = twins->twins[i].there;
        if (module->start >= module->end || !takes(module))
            continue;
        if (module->process != process)
            fronts[0] = fronts[1] = (struct front){NULL, NULL, NULL};
        process = module->process;
        const struct rf_module *met = meet(&fronts[!there], module, test);
        if (met != NULL)
            return there ? (struct pair){met, module} : (struct pair){module, met};
        advance(&fronts[there], module);
    }
    return (struct pair){NULL, NULL};
}

/* The modules that only one run has. Two that both runs mapped at the same place, one after the other, are no
 * difference. The list shrinks in its own memory. */
static struct rf_twins drop_shared(const struct rf_twins *twins)
{
    struct rf_twins kept = *twins;
    kept.n = 0;
    for (size_t i = 0, end; i < twins->n; i = end) {
        end = rf_twins_end(twins, i);
        if (twins->twins[i].there == twins->twins[end - 1].there)
            kept.twins[kept.n++] = twins->twins[i];
    }
    return kept;
}

static rf_status tell_clash(const struct rf_module *x, const struct rf_module *y,
                            struct rf_error *error)
{
    const uint64_t start = x->start > y->start ? x->start : y->start;
    if (strcmp(x->path, y->path) == 0)
        return rf_fail(error, RF_EINVAL,
                       "%s is of two builds, %.*s and %.*s: their addresses cannot be compared",
                       x->path, BUILD_ID_SHOWN, x->build_id, BUILD_ID_SHOWN, y->build_id);
    return rf_fail(
        error, RF_EINVAL,
        "at 0x%llx there is %s in one and %s in the other: their addresses cannot be compared",
        (unsigned long long)start, x->path, y->path);
}

static rf_status sort_modules(struct rf_twins *twins, const struct rf_run *run,
                              const struct rf_run *other)
{
    const struct rf_twins_list here = {run->modules, run->n_modules};
    const struct rf_twins_list there = {other->modules, other->n_modules};
    return rf_twins_make(twins, &run->alloc, here, there, sizeof *run->modules, rf_module_compare);
}

static bool differ(const struct rf_module *x, const struct rf_module *y)
{
    return strcmp(x->build_id, y->build_id) != 0;
}

rf_status rf_run_same_builds(const struct rf_run *run, const struct rf_run *other,
                             struct rf_error *error)
{
    struct rf_twins twins;
    if (sort_modules(&twins, run, other) != RF_OK)
        return rf_fail(error, RF_ENOMEM, "no memory to compare the modules");
    const struct rf_twins unlike = drop_shared(&twins);
    const struct pair pair = find_pair(&unlike, has_id, differ);
    rf_twins_free(&twins, &run->alloc);
    return pair.here == NULL ? RF_OK : tell_clash(pair.here, pair.there, error);
}

/* Names in brackets are no files: [heap], [vdso]. */
static bool is_file(const struct rf_module *module)
{
    return module->path[0] != '[';
}

static bool lack_id(const struct rf_module *x, const struct rf_module *y)
{
    return !has_id(x) || !has_id(y);
}

rf_status rf_run_unproven_build(const struct rf_run *run, const struct rf_run *other,
                                const char **path)
{
    struct rf_twins twins;
    *path = NULL;
    if (sort_modules(&twins, run, other) != RF_OK)
        return RF_ENOMEM;
    const struct pair pair = find_pair(&twins, is_file, lack_id);
    rf_twins_free(&twins, &run->alloc);
    if (pair.here != NULL)
        *path = has_id(pair.here) ? pair.there->path : pair.here->path;
    return RF_OK;
}
