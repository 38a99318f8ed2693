/* kinds.c - which profiles add up, and what the engine of a sum is called.
 *
 * Profiles of the same selector, engine and process add up. Those of multihash do so whatever its options are: a count and
 * its bounds are statements about a stream of events, and they add up however they were found. Then the sum has an engine
 * that nobody ran:
 *
 *     multihash(tables=2, interval=1M, threshold=1%)
 *     multihash(tables=2, interval=10K, threshold=1%)   ->   multihash(tables=2, interval=mixed, threshold=1%)
 *
 * A run may have several profiles of multihash with one selector. Those are of the same events, so that only those of equal
 * options are added to each other's; where both runs have one of them, there is no doubt.
 *
 * What both runs have is found by sorting (twins.c), as a file from outside may hold a great many profiles. */
#include "profile/kinds.h"
#include "profile/profile.h"
#include "profile/twins.h"
#include "base/alloc.h"
#include <string.h>

static const char any_options[] = "multihash", mixed[] = "mixed";

/* ---- pairs ---- */

static int compare_numbers(double x, double y)
{
    return (x > y) - (x < y);
}

static int compare_streams(const struct rf_profile *x, const struct rf_profile *y)
{
    int order = (int)x->shape - (int)y->shape;
    order = order != 0 ? order : strcmp(x->selector, y->selector);
    return order != 0 ? order
                      : compare_numbers(rf_profile_figure(x, "process", 0),
                                        rf_profile_figure(y, "process", 0));
}

/* 0: they are of one kind. Intervals may be of any length: engines choose it themselves (auto), and bounds of sums do not
 * depend on it. */
static int compare_kinds(const void *left, const void *right)
{
    const struct rf_profile *x = *(struct rf_profile *const *)left;
    const struct rf_profile *y = *(struct rf_profile *const *)right;
    int order = compare_streams(x, y);
    return order != 0 ? order : strcmp(x->engine, y->engine);
}

static bool takes_any_options(const char *engine)
{
    size_t n = strlen(any_options);
    return strncmp(engine, any_options, n) == 0 && (engine[n] == '\0' || engine[n] == '(');
}

/* The same, whatever the options of multihash are. */
static int compare_families(const void *left, const void *right)
{
    const struct rf_profile *x = *(struct rf_profile *const *)left;
    const struct rf_profile *y = *(struct rf_profile *const *)right;
    int order = compare_streams(x, y);
    bool any_x = takes_any_options(x->engine), any_y = takes_any_options(y->engine);
    order = order != 0 ? order : (int)any_x - (int)any_y;
    return order != 0 || any_x ? order : strcmp(x->engine, y->engine);
}

/* Partners within one kind: the first goes with the first of the other run, and so on. */
static void pair_in_order(const struct rf_twin *twins, size_t n, size_t *partners)
{
    size_t n_here = 0;
    while (n_here < n && !twins[n_here].there)
        n_here++;
    for (size_t k = n_here; k < n; k++)
        partners[twins[k].i] = k - n_here < n_here ? twins[k - n_here].i : RF_KINDS_ALONE;
}

/* Partners within one family: where each run has one. */
static void pair_single(const struct rf_twin *twins, size_t n, size_t *partners)
{
    if (n == 2 && !twins[0].there && twins[1].there)
        partners[twins[1].i] = twins[0].i;
}

static rf_status pair_by(const struct rf_run *run, const struct rf_run *other,
                         int (*compare)(const void *, const void *),
                         void (*pair)(const struct rf_twin *, size_t, size_t *), size_t *partners)
{
    struct rf_twins twins;
    const struct rf_twins_list here = {run->profiles, run->n_profiles};
    const struct rf_twins_list there = {other->profiles, other->n_profiles};
    rf_status status =
        rf_twins_make(&twins, &run->alloc, here, there, sizeof *run->profiles, compare);
    if (status != RF_OK)
        return status;
    for (size_t i = 0, end; i < twins.n; i = end) {
        end = rf_twins_end(&twins, i);
        pair(twins.twins + i, end - i, partners);
    }
    rf_twins_free(&twins, &run->alloc);
    return RF_OK;
}

rf_status rf_kinds_pair(const struct rf_run *run, const struct rf_run *other, size_t *partners)
{
    rf_status status = pair_by(run, other, compare_kinds, pair_in_order, partners);
    return status == RF_OK ? pair_by(run, other, compare_families, pair_single, partners) : status;
}

/* ---- the engine's text ---- */

/* One "name=value" of a text; it ends before ", " or ")". */
struct option {
    const char *text;
    size_t name, length; /* without and with "=value" */
};

/* The option at `at`; none at the end of the text. */
static struct option option_at(const char *at)
{
    size_t length = strcspn(at, ",)"), name = 0;
    while (name < length && at[name] != '=')
        name++;
    return (struct option){at, name, length};
}

/* Where the options begin. */
static const char *options_of(const char *engine)
{
    const char *open = strchr(engine, '(');
    return open != NULL ? open + 1 : engine + strlen(engine);
}

static const char *next_option(const struct option *option)
{
    return option->text + option->length + strspn(option->text + option->length, ", ");
}

static bool same_name(const struct option *x, const struct option *y)
{
    return x->name == y->name && memcmp(x->text, y->text, x->name) == 0;
}

static bool same_option(const struct option *x, const struct option *y)
{
    return x->length == y->length && memcmp(x->text, y->text, x->length) == 0;
}

/* Both texts have the same options in the same order, as those of one version of riffle do. */
static bool same_names(const char *x, const char *y)
{
    struct option left = option_at(options_of(x)), right = option_at(options_of(y));
    while (left.length > 0 && same_name(&left, &right)) {
        left = option_at(next_option(&left));
        right = option_at(next_option(&right));
    }
    return left.length == 0 && right.length == 0;
}

static char *append(char *at, const char *text, size_t n)
{
    memcpy(at, text, n);
    return at + n;
}

/* Each option of x, but that those y has otherwise are mixed. */
static void write_options(char *at, const char *x, const char *y)
{
    struct option left = option_at(options_of(x)), right = option_at(options_of(y));
    at = append(at, x, (size_t)(left.text - x));
    while (left.length > 0) {
        bool same = same_option(&left, &right);
        at = append(at, left.text, same ? left.length : left.name);
        at = same ? at : append(append(at, "=", 1), mixed, strlen(mixed));
        left = option_at(next_option(&left));
        right = option_at(next_option(&right));
        at = left.length > 0 ? append(at, ", ", 2) : at;
    }
    *append(at, ")", 1) = '\0';
}

char *rf_kinds_engine(const struct rf_alloc *alloc, const char *x, const char *y)
{
    static const char unknown[] = "multihash(mixed)";
    if (strcmp(x, y) == 0)
        return rf_profile_text(alloc, x, strlen(x));
    if (strchr(x, '(') == NULL || strchr(y, '(') == NULL || !same_names(x, y))
        return rf_profile_text(alloc, unknown, strlen(unknown));
    /* An option has at least one letter of its own, and gets at most "=mixed" and a separator. */
    size_t size = strlen(x) * (strlen(mixed) + 4) + 2;
    char *room = rf_alloc_get(alloc, size);
    if (room == NULL)
        return NULL;
    write_options(room, x, y);
    char *text = rf_profile_text(alloc, room, strlen(room));
    rf_alloc_free(alloc, room, size);
    return text;
}
