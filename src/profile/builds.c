/* builds.c - whether two runs were of the same builds.
 *
 * Two files at the same address are the same build where their build ids are equal. If one has no build id, the path
 * decides: another path is another build; with the same path nobody can tell. The same file that lies elsewhere, so that
 * an address of both means two places of it, counts as another build.
 *
 * A file from outside may list a great many modules, so nothing here compares each with each. Modules of both runs
 * are looked at in the order of their addresses. Each meets four modules of the other run that began before it:
 *
 *     1  the one that reaches furthest
 *     2  the one that reaches furthest of those that are unlike 1
 *     3  the one that reaches furthest of those without a build id
 *     4  the one that reaches furthest of those without a build id that are unlike 3
 *
 *     run      |--- a ---|      |------ b ------|
 *     other         |--- c ---|      |- d -|
 *                   c meets a        d meets b
 *
 * "Unlike" means another build id, or another path, by what is asked, or the same elsewhere. If any module overlaps this one and is unlike it,
 * then 1 or 2 is; if any without a build id is, then 3 or 4 is. An empty module overlaps nothing. */
#include "profile/builds.h"
#include "profile/profile.h"
#include "profile/twins.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/order.h"
#include <string.h>

enum { BUILD_ID_SHOWN = 12 };

int rf_module_compare(const void *left, const void *right)
{
    const struct rf_module *x = left, *y = right;
    int order = rf_order(x->process, y->process);
    order = order != 0 ? order : rf_order(x->start, y->start);
    order = order != 0 ? order : rf_order(x->end, y->end);
    order = order != 0 ? order : rf_order(x->offset, y->offset);
    order = order != 0 ? order : strcmp(x->path, y->path);
    return order != 0 ? order : strcmp(x->build_id, y->build_id);
}

/* What two modules that lie alike must have in common to be alike: their build id or their path. */
typedef const char *(*module_key)(const struct rf_module *module);

/* The module that reaches furthest, and of those that are unlike it the one that reaches furthest. */
struct reach {
    const struct rf_module *furthest, *unlike;
};

/* The modules of one run that a later one of the other run meets. */
struct front {
    struct reach all, without_id;
};

struct pair {
    const struct rf_module *here, *there;
};

/* What is looked for: modules of the kind `takes` that overlap and pass `test`. */
struct question {
    bool (*takes)(const struct rf_module *module);
    bool (*test)(const struct rf_module *x, const struct rf_module *y);
    module_key key;
};

static const char *id_of(const struct rf_module *module)
{
    return module->build_id;
}

static const char *path_of(const struct rf_module *module)
{
    return module->path;
}

static bool has_id(const struct rf_module *module)
{
    return module->build_id[0] != '\0';
}

/* Does an address that both have mean the same place in their files? */
static bool lie_alike(const struct rf_module *x, const struct rf_module *y)
{
    return x->start - x->offset == y->start - y->offset;
}

static bool reaches_further(const struct rf_module *module, const struct rf_module *than)
{
    return than == NULL || module->end > than->end;
}

static void extend(struct reach *reach, const struct rf_module *module, module_key key)
{
    const struct rf_module *before = reach->furthest;
    bool alike =
        before == NULL || (strcmp(key(before), key(module)) == 0 && lie_alike(before, module));
    if (reaches_further(module, before)) {
        reach->furthest = module;
        reach->unlike = alike ? reach->unlike : before;
    } else if (!alike && reaches_further(module, reach->unlike)) {
        reach->unlike = module;
    }
}

static void advance(struct front *front, const struct rf_module *module, module_key key)
{
    extend(&front->all, module, key);
    if (!has_id(module))
        extend(&front->without_id, module, key);
}

/* One of the modules that `module` meets, overlaps and gives a pair with; NULL: none. */
static const struct rf_module *meet(const struct front *front, const struct rf_module *module,
                                    const struct question *question)
{
    const struct rf_module *met[] = {front->all.furthest, front->all.unlike,
                                     front->without_id.furthest, front->without_id.unlike};
    for (size_t i = 0; i < sizeof met / sizeof *met; i++)
        if (met[i] != NULL && met[i]->end > module->start && question->test(met[i], module))
            return met[i];
    return NULL;
}

static struct pair find_pair(const struct rf_twins *twins, const struct question *question)
{
    static const struct front empty = {{NULL, NULL}, {NULL, NULL}};
    struct front fronts[2] = {empty, empty};
    uint32_t process = 0;
    for (size_t i = 0; i < twins->n; i++) {
        const struct rf_module *module = twins->twins[i].element;
        bool there = twins->twins[i].there;
        if (module->start >= module->end || !question->takes(module))
            continue;
        if (module->process != process)
            fronts[0] = fronts[1] = empty;
        process = module->process;
        const struct rf_module *met = meet(&fronts[!there], module, question);
        if (met != NULL)
            return there ? (struct pair){met, module} : (struct pair){module, met};
        advance(&fronts[there], module, question->key);
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
    if (strcmp(x->path, y->path) == 0 && strcmp(x->build_id, y->build_id) == 0)
        return rf_fail(error, RF_EINVAL,
                       "%s lies at 0x%llx in one and at 0x%llx in the other: their addresses "
                       "cannot be compared",
                       x->path, (unsigned long long)x->start, (unsigned long long)y->start);
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

static bool ids_differ(const struct rf_module *x, const struct rf_module *y)
{
    return strcmp(x->build_id, y->build_id) != 0 || !lie_alike(x, y);
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

static bool only_paths_tell(const struct rf_module *x, const struct rf_module *y)
{
    return lack_id(x, y) && (strcmp(x->path, y->path) != 0 || !lie_alike(x, y));
}

rf_status rf_run_same_builds(const struct rf_run *run, const struct rf_run *other,
                             struct rf_error *error)
{
    static const struct question questions[] = {{has_id, ids_differ, id_of},
                                                {is_file, only_paths_tell, path_of}};
    struct rf_twins twins;
    if (sort_modules(&twins, run, other) != RF_OK)
        return rf_fail(error, RF_ENOMEM, "no memory to compare the modules");
    const struct rf_twins unlike = drop_shared(&twins);
    struct pair pair = find_pair(&unlike, &questions[0]);
    if (pair.here == NULL)
        pair = find_pair(&unlike, &questions[1]);
    rf_twins_free(&twins, &run->alloc);
    return pair.here == NULL ? RF_OK : tell_clash(pair.here, pair.there, error);
}

rf_status rf_run_unproven_build(const struct rf_run *run, const struct rf_run *other,
                                const char **path)
{
    static const struct question question = {is_file, lack_id, path_of};
    struct rf_twins twins;
    *path = NULL;
    if (sort_modules(&twins, run, other) != RF_OK)
        return RF_ENOMEM;
    const struct pair pair = find_pair(&twins, &question);
    rf_twins_free(&twins, &run->alloc);
    if (pair.here != NULL)
        *path = has_id(pair.here) ? pair.there->path : pair.here->path;
    return RF_OK;
}
