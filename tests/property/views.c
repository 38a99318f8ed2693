/* Groups of bounded items: whatever was not listed, the truth lies within the bounds of every row.
 *
 * The truth is a random set of tuples <pc, value>. A profile of it lists some of them, with bounds that hold, and says how
 * many events the largest of the others has. Sometimes the exact totals of each pc are beside it, also of events that were
 * lost on the way to the engine. The same tuples are also told as <pc, addr> and <pc, target>: then a value stands for an
 * address in one of the modules, and groups of several words meet. As <pc, thread>, a value is a thread. */
#include "base/random.h"
#include "test.h"
#include <riffle/view.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PCS = 24, VALUES = 12, MODULES = 4, PC_BASE = 0x1000, PC_STEP = 8 };

static uint64_t truth[PCS][VALUES], missed[PCS][VALUES]; /* missed: lost on the way to the engine */
static size_t
    without_top; /* rows of which no value is listed, but the share of the most frequent one is bounded */
static struct rf_item items[PCS * VALUES], moved[PCS * VALUES], sums[PCS];
static const char *const module_names[MODULES] = {"[one]", "[two]", "[three]", "[four]"};

struct trial {
    struct rf_profile profile, totals;
    struct rf_profile *profiles[2];
    struct rf_module modules[MODULES];
    struct rf_run run;
};

static uint64_t below(struct rf_random *random, uint64_t n)
{
    return rf_random_next(random) % n;
}

static uint64_t pc_of(size_t i)
{
    return PC_BASE + PC_STEP * i;
}

/* One of four has tuples that are equally frequent, one of each pc with value 0: bounds of what is not listed are reached. */
static void make_truth(struct rf_random *random)
{
    uint64_t all = below(random, 4) == 0 ? 1 + below(random, 40) : 0, loses = below(random, 3);
    for (size_t i = 0; i < PCS; i++)
        for (size_t k = 0; k < VALUES; k++) {
            uint64_t n = all > 0 ? all : below(random, 1 << below(random, 12));
            truth[i][k] = below(random, 3) == 0 || (all > 0 && k == 0) ? n : 0;
            missed[i][k] = loses == 0 && below(random, 9) == 0 ? below(random, truth[i][k] + 1) : 0;
        }
    size_t i = below(random, PCS), k = below(random, VALUES);
    if (loses == 1) /* those of one tuple: all that is lost may be one value's */
        missed[i][k] = below(random, truth[i][k] + 1);
}

/* Looser than exact, in both directions, by a random amount. */
static struct rf_item loosen(struct rf_random *random, struct rf_item item, uint64_t events)
{
    uint64_t room = events - item.count;
    item.lower -= below(random, item.count / 4 + 1);
    item.upper += room > 0 ? below(random, (room < 50 ? room : 50) + 1) : 0;
    item.count = item.lower + below(random, item.upper - item.lower + 1);
    return item;
}

static uint64_t sum_of(uint64_t counts[PCS][VALUES])
{
    uint64_t sum = 0;
    for (size_t i = 0; i < PCS; i++)
        for (size_t k = 0; k < VALUES; k++)
            sum += counts[i][k];
    return sum;
}

/* List each tuple with a chance, heavy ones rather. */
static void make_profile(struct trial *trial, struct rf_random *random, bool with_totals)
{
    struct rf_profile *profile = &trial->profile;
    bool exact = below(random, 5) == 0;
    if (!with_totals) /* else what is lost is known */
        memset(missed, 0, sizeof missed);
    uint64_t produced = sum_of(truth), events = produced - sum_of(missed);
    uint64_t threshold = below(random, 200);
    bool tight = exact || below(random, 4) == 0;
    *profile = (struct rf_profile){.selector = (char *)"load -> pc,value",
                                   .engine = (char *)"some",
                                   .bound = exact ? RF_BOUND_EXACT : RF_BOUND_HARD,
                                   .produced = produced,
                                   .consumed = events,
                                   .lost = produced - events,
                                   .items = items};
    for (size_t i = 0; i < PCS; i++)
        for (size_t k = 0; k < VALUES; k++) {
            uint64_t n = truth[i][k] - missed[i][k], pc = pc_of(i);
            bool listed = n > 0 && (exact || n > threshold || below(random, 8) == 0);
            struct rf_item item = {pc, k, pc, k, n, n, n, 0};
            if (listed)
                items[profile->n_items++] = tight ? item : loosen(random, item, events);
            else if (n > profile->absent_upper)
                profile->absent_upper = n + below(random, 10);
        }
}

static void make_totals(struct trial *trial)
{
    trial->totals = (struct rf_profile){.selector = (char *)"load -> pc",
                                        .engine = (char *)"exact",
                                        .produced = trial->profile.produced,
                                        .consumed = trial->profile.produced,
                                        .items = sums,
                                        .n_items = PCS};
    for (size_t i = 0; i < PCS; i++) {
        uint64_t n = 0, pc = pc_of(i);
        for (size_t k = 0; k < VALUES; k++)
            n += truth[i][k];
        sums[i] = (struct rf_item){pc, 0, pc, 0, n, n, n, 0};
    }
}

static void make_trial(struct trial *trial, struct rf_random *random)
{
    bool with_totals = below(random, 2) == 0;
    make_truth(random);
    make_profile(trial, random, with_totals);
    make_totals(trial);
    trial->profiles[0] = &trial->profile;
    trial->profiles[1] = &trial->totals;
    for (size_t i = 0; i < MODULES; i++)
        trial->modules[i] = (struct rf_module){.path = (char *)module_names[i],
                                               .build_id = (char *)"",
                                               .start = pc_of(i * PCS / MODULES),
                                               .end = pc_of((i + 1) * PCS / MODULES),
                                               .to_event = UINT64_MAX};
    trial->run = (struct rf_run){.command = (char *)"",
                                 .version = (char *)"",
                                 .profiles = trial->profiles,
                                 .n_profiles = with_totals ? 2 : 1,
                                 .modules = trial->modules,
                                 .n_modules = MODULES};
}

/* ---- the truth of a row ---- */

static size_t module_of(size_t i)
{
    return i / (PCS / MODULES);
}

/* The address that a value stands for is that of this pc. */
static size_t pc_for(size_t value)
{
    return value * (PCS / VALUES);
}

/* "[two]+0x8..0x18": does the stretch hold the i-th pc? */
static bool is_in_stretch(const struct rf_view *view, size_t row, size_t i)
{
    uint64_t first = rf_view_cell(view, row, RF_COLUMN_A)->number, last = first;
    const char *dots = strstr(rf_view_cell(view, row, RF_COLUMN_PLACE)->text, "..");
    if (dots != NULL)
        last = pc_of(module_of((first - PC_BASE) / PC_STEP) * PCS / MODULES) +
               strtoull(dots + 2, NULL, 16);
    return pc_of(i) >= first && pc_of(i) <= last;
}

static bool is_mine(const struct rf_view *view, size_t row, size_t i, size_t k)
{
    switch (view->by) {
    case RF_BY_ITEM:
        return rf_view_cell(view, row, RF_COLUMN_A)->number == pc_of(i) &&
               rf_view_cell(view, row, RF_COLUMN_B)->number == k;
    case RF_BY_VALUE:
        return rf_view_cell(view, row, RF_COLUMN_A)->number == k;
    case RF_BY_THREAD:
        return rf_view_cell(view, row, RF_COLUMN_NUMBER)->number == k;
    case RF_BY_PROCESS: /* there is one */
        return true;
    case RF_BY_TARGET:
        return rf_view_cell(view, row, RF_COLUMN_A)->number == pc_of(pc_for(k));
    case RF_BY_PC:
        return is_in_stretch(view, row, i);
    case RF_BY_REGION:
        return strcmp(rf_view_cell(view, row, RF_COLUMN_NAME)->text,
                      module_names[module_of(pc_for(k))]) == 0;
    case RF_BY_LINE: /* there is no line */
        return strcmp(rf_view_cell(view, row, RF_COLUMN_PLACE)->text, "(no line data)") == 0;
    default:
        return strcmp(rf_view_cell(view, row, RF_COLUMN_MODULE)->text,
                      module_names[module_of(i)]) == 0;
    }
}

/* What was asked for: all, or one thread. */
static const uint64_t *only;

/* Groups are of all events where the totals are used; items are of those that the engine got. */
static uint64_t true_count(const struct rf_view *view, size_t row)
{
    const bool of_consumed = view->by == RF_BY_ITEM || view->events != sum_of(truth);
    uint64_t sum = 0;
    for (size_t i = 0; i < PCS; i++)
        for (size_t k = 0; k < VALUES; k++)
            if (is_mine(view, row, i, k) && (only == NULL || *only == k))
                sum += truth[i][k] - (of_consumed ? missed[i][k] : 0);
    return sum;
}

static uint64_t number(const struct rf_view *view, size_t row, enum rf_column_id id)
{
    return rf_view_cell(view, row, id)->number;
}

/* Events of the i-th pc in the region of an address. */
static uint64_t in_region(size_t i, uint64_t address)
{
    size_t region = module_of((size_t)(address - PC_BASE) / PC_STEP);
    uint64_t sum = 0;
    for (size_t k = 0; k < VALUES; k++)
        sum += module_of(pc_for(k)) == region ? truth[i][k] : 0;
    return sum;
}

/* How many values the i-th pc has. */
static void check_kinds(const struct rf_view *view, size_t row, size_t i)
{
    size_t kinds = 0;
    for (size_t k = 0; k < VALUES; k++)
        kinds += truth[i][k] > 0;
    const struct rf_view_cell *seen = rf_view_cell(view, row, RF_COLUMN_KINDS);
    CHECK(seen->is_least ? seen->number <= kinds : seen->number == kinds);
}

/* The share of the top value, as it really is. Where none is listed, that of the most frequent one. */
static void check_top(const struct rf_view *view, size_t row, uint64_t all)
{
    uint64_t upper = number(view, row, RF_COLUMN_UPPER);
    const struct rf_view_cell *share = rf_view_cell(view, row, RF_COLUMN_TOP_SHARE);
    const struct rf_view_cell *top = rf_view_cell(view, row, RF_COLUMN_TOP);
    size_t i = (size_t)(number(view, row, RF_COLUMN_A) - PC_BASE) / PC_STEP, best = 0;
    check_kinds(view, row, i);
    if (share->is_empty || all == 0)
        return;
    for (size_t k = 0; k < VALUES; k++)
        best = truth[i][k] > truth[i][best] ? k : best;
    uint64_t n = top->is_empty || top->number < VALUES
                     ? truth[i][top->is_empty ? best : top->number]
                     : in_region(i, top->number);
    double part = (double)n / (double)all;
    CHECK(share->low <= part + 1e-12 && part <= share->high + 1e-12);
    CHECK(share->low <= share->share && share->share <= share->high);
    CHECK(top->is_empty || number(view, row, RF_COLUMN_TOP_COUNT) <= upper);
    CHECK(top->is_empty || number(view, row, RF_COLUMN_TOP_UPPER) <= upper);
    CHECK(top->is_empty || number(view, row, RF_COLUMN_TOP_UPPER) >= n);
    without_top += top->is_empty;
}

static void check_rows(const struct rf_view *view, bool whole)
{
    uint64_t shown = 0, events = sum_of(truth);
    for (size_t row = 0; row < view->n_rows; row++) {
        uint64_t all = true_count(view, row), count = number(view, row, RF_COLUMN_COUNT);
        uint64_t lower = number(view, row, RF_COLUMN_LOWER);
        uint64_t upper = number(view, row, RF_COLUMN_UPPER);
        CHECK(lower <= all && all <= upper);
        CHECK(lower <= count && count <= upper);
        CHECK(!whole || lower == upper);
        if (view->by == RF_BY_PC && !view->stretches && only == NULL)
            check_top(view, row, all);
        shown += all;
    }
    CHECK(only != NULL || events - shown <= view->rest_upper);
    CHECK(view->events == events || (only != NULL && view->events == events - sum_of(missed)));
}

/* A way to ask, of tuples whose second word is that. */
static const struct way {
    enum rf_view_by by;
    const char *selector, *totals;
    bool by_pc, stretches, one_thread;
} ways[] = {
    {RF_BY_ITEM, "load -> pc,value", "load -> pc", false, false, false},
    {RF_BY_VALUE, "load -> pc,value", "load -> pc", false, false, false},
    {RF_BY_PC, "load -> pc,value", "load -> pc", true, false, false},
    {RF_BY_PC, "load -> pc,value", "load -> pc", true, true, false},
    {RF_BY_PC, "load -> pc,addr", "load -> pc", true, false, false},
    {RF_BY_FUNCTION, "load -> pc,value", "load -> pc", true, false, false},
    {RF_BY_MODULE, "load -> pc,value", "load -> pc", true, false, false},
    {RF_BY_LINE, "load -> pc,value", "load -> pc", true, false, false},
    {RF_BY_REGION, "load -> pc,addr", "load -> pc", false, false, false},
    {RF_BY_TARGET, "branch,jump -> pc,target", "branch,jump -> pc", false, false, false},
    {RF_BY_PROCESS, "load -> pc,value", "load -> pc", true, false, false},
    {RF_BY_THREAD, "load -> pc,thread", "load -> pc", false, false, false},
    {RF_BY_PC, "load -> pc,thread", "load -> pc", false, false, true},
    {RF_BY_MODULE, "load -> pc,thread", "load -> pc", false, false, true},
};

static void tell_as(struct trial *trial, const struct way *way)
{
    bool moves = strstr(way->selector, "addr") != NULL || way->by == RF_BY_TARGET;
    for (size_t i = 0; i < trial->profile.n_items; i++) {
        moved[i] = items[i];
        moved[i].b = moved[i].b_hi = pc_of(pc_for((size_t)items[i].b));
    }
    trial->profile.items = moves ? moved : items;
    trial->profile.selector = (char *)way->selector;
    trial->totals.selector = (char *)way->totals;
}

TEST(bounds_of_groups_hold)
{
    struct rf_random random;
    rf_random_seed(&random, test_seed(1));
    for (int n = 0; n < test_rounds(1500, 20000) && test_failures == 0; n++) {
        struct trial trial;
        const uint64_t thread = below(&random, VALUES);
        make_trial(&trial, &random);
        struct rf_symbols *symbols;
        REQUIRE(rf_symbols_open(&symbols, &trial.run, NULL, NULL) == RF_OK);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            struct rf_view view;
            only = ways[i].one_thread ? &thread : NULL;
            const struct rf_view_setup setup = {.by = ways[i].by,
                                                .thread = only,
                                                .stretches = ways[i].stretches,
                                                .rows = below(&random, 2) == 0 ? 0 : 5,
                                                .symbols = symbols};
            tell_as(&trial, &ways[i]);
            REQUIRE(rf_view_open(&view, &trial.run, &trial.profile, &setup, NULL) == RF_OK);
            check_rows(&view,
                       (trial.run.n_profiles == 2 && ways[i].by_pc) ||
                           (trial.profile.bound == RF_BOUND_EXACT && trial.profile.lost == 0));
            rf_view_close(&view);
        }
        rf_symbols_close(symbols);
    }
    CHECK(without_top > 0);
}

TEST_MAIN()
