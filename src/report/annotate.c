/* annotate.c - which functions are shown with their source: those of a name, or the hottest ones. sheet.c shows one. */
#include "report/annotate.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/name_match.h"
#include "base/order.h"
#include "view/view.h"
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS_MAX = 16, HOTTEST = 3 };

bool rf_annotate_counts(const struct rf_profile *profile)
{
    struct rf_words words;
    rf_view_words(&words, profile);
    return profile->shape == RF_SHAPE_TUPLE && words.by_pc && !rf_profile_is_companion(profile);
}

static rf_status no_function(const struct rf_annotate_page *page, const char *function,
                             struct rf_error *error)
{
    const char *nearest = rf_symbols_nearest(page->symbols, function);
    const char *problem = rf_symbols_problem(page->symbols, 0);
    if (page->run->n_modules == 0)
        return rf_fail(error, RF_EINVAL,
                       "function '%s': this run names no modules to look for it in", function);
    if (nearest != NULL)
        return rf_fail(error, RF_EINVAL, "no function '%s' ran; did you mean '%s'?", function,
                       nearest);
    return rf_fail(error, RF_EINVAL, "no function '%s' in the modules of this run%s%s", function,
                   problem != NULL ? "; " : "", problem != NULL ? problem : "");
}

/* ---- which functions ---- */

struct candidate {
    struct rf_symbol_range range;
    uint64_t count; /* of all profiles by pc */
};

struct candidates {
    struct candidate *at;
    size_t n, room;
};

static int by_place(const void *left, const void *right)
{
    const struct candidate *l = left, *r = right;
    return rf_order(l->range.lo, r->range.lo);
}

static int by_count(const void *left, const void *right)
{
    const struct candidate *l = left, *r = right;
    if (l->count != r->count)
        return l->count < r->count ? 1 : -1;
    return by_place(left, right);
}

/* Sorted by address. A function that several processes have at one address is listed once. */
static void settle(struct candidates *found)
{
    qsort(found->at, found->n, sizeof *found->at, by_place);
    found->n = rf_unique(found->at, found->n, sizeof *found->at, by_place);
}

static bool begins_up_to(const void *list, size_t i, uint64_t key)
{
    return ((const struct candidate *)list)[i].range.lo <= key;
}

static struct candidate *candidate_at(const struct candidates *found, uint64_t pc)
{
    size_t lo = rf_search(found->at, found->n, pc, begins_up_to);
    return lo > 0 && pc < found->at[lo - 1].range.hi ? &found->at[lo - 1] : NULL;
}

static void count_candidates(const struct rf_annotate_page *page, struct candidates *found)
{
    for (size_t i = 0; i < page->run->n_profiles; i++) {
        const struct rf_profile *profile = page->run->profiles[i];
        for (size_t k = 0; rf_annotate_counts(profile) && k < profile->n_items; k++) {
            struct candidate *candidate = candidate_at(found, profile->items[k].a);
            if (candidate != NULL)
                candidate->count += profile->items[k].count;
        }
    }
}

typedef rf_status find_ranges(struct rf_symbols *symbols, const char *name,
                              struct rf_symbol_range *ranges, size_t max, size_t *n);

static rf_status list_candidates(const struct rf_annotate_page *page, const char *function,
                                 find_ranges *find, struct candidates *found)
{
    *found = (struct candidates){.at = NULL};
    rf_status status = find(page->symbols, function, NULL, 0, &found->room);
    if (status != RF_OK || found->room == 0)
        return status;
    size_t size = found->room * sizeof(struct rf_symbol_range);
    struct rf_symbol_range *ranges = rf_alloc_get(page->alloc, size);
    found->at = rf_alloc_get(page->alloc, found->room * sizeof *found->at);
    if (ranges == NULL || found->at == NULL)
        status = RF_ENOMEM;
    else
        status = find(page->symbols, function, ranges, found->room, &found->n);
    if (found->n > found->room)
        found->n = found->room;
    for (size_t i = 0; status == RF_OK && i < found->n; i++)
        found->at[i] = (struct candidate){ranges[i], 0};
    rf_alloc_free(page->alloc, ranges, size);
    return status;
}

/* ---- copies that were inlined ---- */

static int by_function(const void *left, const void *right)
{
    const struct candidate *l = left, *r = right;
    int order = strcmp(l->range.function, r->range.function);
    if (order == 0)
        order = strcmp(l->range.parameters, r->range.parameters);
    return order != 0 ? order : strcmp(l->range.path, r->range.path);
}

/* Read the names of all instructions, in one go. */
static rf_status prepare_all(const struct rf_annotate_page *page, const struct rf_profile *profile)
{
    size_t size = profile->n_items * sizeof(uint64_t);
    uint64_t *addresses = size > 0 ? rf_alloc_get(page->alloc, size) : NULL;
    if (addresses == NULL)
        return size > 0 ? RF_ENOMEM : RF_OK;
    for (size_t i = 0; i < profile->n_items; i++)
        addresses[i] = profile->items[i].a;
    rf_status status = rf_symbols_prepare(page->symbols, addresses, profile->n_items);
    rf_alloc_free(page->alloc, addresses, size);
    return status;
}

static bool fits(const char *written, const char *function, const char *parameters)
{
    return rf_name_match_apart(written, function, parameters) != RF_NAME_DIFFERS;
}

/* All copies of a function are one candidate, behind the first `own` ones. */
static bool add_copy(const struct rf_annotate_page *page, struct candidates *found, size_t own,
                     const struct candidate *copy)
{
    for (size_t i = own; i < found->n; i++)
        if (by_function(&found->at[i], copy) == 0) {
            found->at[i].count += copy->count;
            return true;
        }
    return rf_list_add(page->alloc, found, *copy);
}

/* Of functions that were inlined into one another, the outermost counts; in a function's own code none does. */
static bool add_item(const struct rf_annotate_page *page, const char *function,
                     const struct rf_item *item, struct candidates *found, size_t own)
{
    struct rf_place_name name;
    rf_symbols_lookup(page->symbols, item->a, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &name);
    if (name.n_inlined == 0 || fits(function, name.function, name.parameters))
        return true;
    for (size_t i = name.n_inlined; i-- > 0;) {
        const struct rf_frame *frame = &name.inlined[i];
        const struct candidate copy = {.range = {.lo = item->a,
                                                 .function = frame->function,
                                                 .parameters = frame->parameters,
                                                 .path = name.path,
                                                 .is_inlined = 1},
                                       .count = item->count};
        if (fits(function, frame->function, frame->parameters))
            return add_copy(page, found, own, &copy);
    }
    return true;
}

/* The copies that ran. */
static rf_status add_copies(const struct rf_annotate_page *page, const char *function,
                            struct candidates *found)
{
    rf_status status = RF_OK;
    size_t own = found->n;
    for (size_t i = 0; i < page->run->n_profiles && status == RF_OK; i++) {
        const struct rf_profile *profile = page->run->profiles[i];
        if (!rf_annotate_counts(profile))
            continue;
        status = prepare_all(page, profile);
        for (size_t k = 0; k < profile->n_items && status == RF_OK; k++)
            if (!add_item(page, function, &profile->items[k], found, own))
                status = RF_ENOMEM;
    }
    return status;
}

/* Copies that did not run. */
static rf_status list_copies(const struct rf_annotate_page *page, const char *function,
                             struct candidates *found)
{
    rf_status status = list_candidates(page, function, rf_symbols_find_inlined, found);
    if (status == RF_OK && found->n > 0) {
        qsort(found->at, found->n, sizeof *found->at, by_function);
        found->n = rf_unique(found->at, found->n, sizeof *found->at, by_function);
    }
    return status;
}

enum copies { COPIES_TOO, COPIES_ELSE /* where no function has code of its own */ };

/* The functions that the name means, the one with the most counts first. */
static rf_status find_candidates(const struct rf_annotate_page *page, const char *function,
                                 enum copies copies, struct candidates *found)
{
    char readable[RF_REPORT_TEXT_MAX];
    if (rf_symbols_full_name(function, readable, sizeof readable) < sizeof readable)
        function = readable;
    rf_status status = list_candidates(page, function, rf_symbols_find, found);
    if (status == RF_OK && found->n > 0) {
        settle(found);
        count_candidates(page, found);
    }
    if (status == RF_OK && (found->n == 0 || copies == COPIES_TOO))
        status = add_copies(page, function, found);
    if (status == RF_OK && found->n == 0) {
        rf_list_free(page->alloc, found);
        status = list_copies(page, function, found);
    }
    if (status == RF_OK && found->n > 0)
        qsort(found->at, found->n, sizeof *found->at, by_count);
    return status;
}

static bool look_alike(const char *left, const char *right, unsigned kept)
{
    char l[RF_VIEW_TEXT_MAX], r[RF_VIEW_TEXT_MAX];
    snprintf(l, sizeof l, "%s", left);
    snprintf(r, sizeof r, "%s", right);
    rf_view_shorten_to(l, kept);
    rf_view_shorten_to(r, kept);
    return strcmp(l, r) == 0;
}

/* How much of a name must stay, `kept` at least, to tell it from the other; functions of one name have parameters. */
static unsigned keep_apart(const char *name, const char *other, unsigned kept)
{
    enum { DEEPEST = 6 };
    if (strcmp(name, other) == 0)
        return RF_VIEW_WHOLE;
    while (kept <= DEEPEST && look_alike(name, other, kept))
        kept++;
    return kept <= DEEPEST ? kept : RF_VIEW_WHOLE;
}

/* The page for one of the candidates, whose head tells it from the others that are shown. */
static struct rf_annotate_page page_for(const struct rf_annotate_page *page,
                                        const struct candidates *found, size_t which)
{
    struct rf_annotate_page one = *page;
    const struct rf_symbol_range *range = &found->at[which].range;
    for (size_t i = 0; i < found->n && i < FUNCTIONS_MAX; i++) {
        const struct rf_symbol_range *other = &found->at[i].range;
        bool shown = i != which && (i == 0 || found->at[i].count > 0);
        bool same = strcmp(range->function, other->function) == 0 &&
                    strcmp(range->parameters, other->parameters) == 0;
        if (shown && !same)
            one.kept = keep_apart(range->function, other->function, one.kept);
    }
    return one;
}

/* Those with counts, or the first where none has any. */
static rf_status write_candidates(const struct rf_annotate_page *page,
                                  const struct candidates *found, size_t *written)
{
    rf_status status = RF_OK;
    size_t shown = 0;
    for (; status == RF_OK && shown < found->n && shown < FUNCTIONS_MAX; shown++) {
        if (shown > 0 && found->at[shown].count == 0)
            return RF_OK;
        const struct rf_annotate_page one = page_for(page, found, shown);
        status = rf_annotate_function(&one, &found->at[shown].range, written);
    }
    size_t left = 0;
    while (shown + left < found->n && found->at[shown + left].count > 0)
        left++;
    if (status == RF_OK && left > 0)
        fprintf(page->out, "\n%zu more functions fit the name and have fewer events\n", left);
    return status;
}

static rf_status write_named(const struct rf_annotate_page *page, const char *function,
                             size_t *written, struct rf_error *error)
{
    struct candidates found;
    rf_status status = find_candidates(page, function, COPIES_TOO, &found);
    bool none = status == RF_OK && found.n == 0;
    if (status == RF_OK)
        status = write_candidates(page, &found, written);
    rf_list_free(page->alloc, &found);
    return none ? no_function(page, function, error) : status;
}

/* The profile whose functions are the hottest: the first by pc, which is that of all instructions where there is one. */
static const struct rf_profile *main_profile(const struct rf_run *run)
{
    const struct rf_profile *first = NULL;
    for (size_t i = 0; i < run->n_profiles; i++) {
        const struct rf_profile *profile = run->profiles[i];
        if (rf_annotate_counts(profile) &&
            (first == NULL || strcmp(profile->selector, "insn -> pc") == 0))
            first = profile;
    }
    return first;
}

/* The hottest one of the functions that a report writes so; others fit the name, too. */
static const struct rf_symbol_range *pick(const struct candidates *found, const char *name)
{
    for (size_t i = 0; i < found->n; i++)
        if (strcmp(found->at[i].range.function, name) == 0)
            return &found->at[i].range;
    return &found->at[0].range;
}

static rf_status visit(const struct rf_annotate_page *page, const char *name, rf_annotate_visit *to,
                       void *context)
{
    struct candidates found;
    if (name[0] == '(')
        return RF_OK; /* it has no name */
    rf_status status = find_candidates(page, name, COPIES_ELSE, &found);
    if (status == RF_OK && found.n > 0)
        status = to(context, page, pick(&found, name));
    rf_list_free(page->alloc, &found);
    return status;
}

rf_status rf_annotate_hottest(const struct rf_annotate_page *page, size_t most,
                              rf_annotate_visit *to, void *context, struct rf_error *error)
{
    struct rf_view view;
    struct rf_view_setup question = page->setup->view;
    const struct rf_profile *profile = main_profile(page->run);
    if (profile == NULL)
        return RF_OK;
    question.by = RF_BY_FUNCTION;
    question.rows = most;
    question.share_min = question.share_min > 0 ? question.share_min : 0.01;
    question.full_names = 1;
    rf_status status = rf_view_open(&view, page->run, profile, &question, error);
    for (size_t row = 0; status == RF_OK && row < view.n_rows; row++) {
        const char *name = rf_view_cell(&view, row, RF_COLUMN_FUNCTION)->text;
        struct rf_annotate_page one = *page;
        for (size_t i = 0; i < view.n_rows; i++)
            if (i != row)
                one.kept =
                    keep_apart(name, rf_view_cell(&view, i, RF_COLUMN_FUNCTION)->text, one.kept);
        status = visit(&one, name, to, context);
    }
    rf_view_close(&view);
    return status;
}

static rf_status write_one(void *context, const struct rf_annotate_page *page,
                           const struct rf_symbol_range *range)
{
    return rf_annotate_function(page, range, context);
}

rf_status rf_report_annotate(FILE *out, const struct rf_run *run,
                             const struct rf_report_setup *setup, const char *function,
                             struct rf_error *error)
{
    const struct rf_annotate_page page = {.out = out,
                                          .run = run,
                                          .symbols = setup->view.symbols,
                                          .alloc = &run->alloc,
                                          .setup = setup};
    size_t written = 0;
    if (setup->view.symbols == NULL)
        return rf_fail(error, RF_EINVAL,
                       "a function can be annotated only by name, and this profile has no names");
    if (main_profile(run) == NULL && run->n_modules > 0)
        return rf_fail(error, RF_EINVAL,
                       "no profile of this run is by pc, so there are no counts per line");
    rf_status status = function != NULL
                           ? write_named(&page, function, &written, error)
                           : rf_annotate_hottest(&page, HOTTEST, write_one, &written, error);
    if (status == RF_EINVAL)
        return status;
    rf_status end = rf_report_end(out);
    return status != RF_OK ? rf_fail(error, status, "%s", rf_status_text(status)) : end;
}
