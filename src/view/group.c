/* group.c - items put together by function, line, file, instruction, value, target, region, thread.
 *
 *     items  --by word-->  spots: one per pc, value, ...  --by name-->  rows
 *
 * Bounds. Let L be the sum of the lower bounds of all listed items, and l that of the group's. Items outside the
 * group have at least L - l events, so the group has at most events - (L - l): all that is not listed may be its.
 *
 * Totals. Where the run has the exact count of each pc, groups of instructions are sums of those, and exact. The hottest
 * instruction is there even if the engine kept none of its values. For a group of values v the totals give a better
 * upper bound: of each pc at most
 *
 *     min(upper of <pc, v>, its lower + r)   where it is listed        r = total of the pc - lower bounds there
 *     min(absent_upper, r)                   where it is not
 *
 * Samples. The bounds of a group's items, added up, are far too wide. Where they come from bursts, the profile says how
 * many independent events these are worth at worst ("clusters", profile/bursts.c). The group's bounds are those of a
 * proportion of that many events (Wilson), where they are narrower.
 *
 * Cannot: ranges and streams have no groups. */
#include "view/view.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/keyed.h"
#include <math.h>
#include <stdlib.h>

/* What tells groups apart. */
struct key {
    const char *path, *name;
    uint64_t number;
};

/* All items with one word. */
struct spot {
    uint64_t word;
    uint64_t count, lower, upper;
    uint64_t listed; /* sum of the lower bounds of its items */
    uint64_t listed_upper;
    uint64_t highest; /* of their upper bounds */
    uint64_t beyond;  /* the most that one of them may have above its lower bound */
    const struct rf_item *top;
    size_t kinds;
    struct key key;
};

struct spots {
    struct spot *at;
    size_t n, room;
};

bool rf_view_is_by_code(enum rf_view_by by)
{
    return by == RF_BY_FUNCTION || by == RF_BY_LINE || by == RF_BY_MODULE || by == RF_BY_PC;
}

/* Targets of calls are functions already; those of branches are put together. */
static bool has_names(const struct rf_view_work *work)
{
    enum rf_view_by by = work->view->by;
    bool targets = by == RF_BY_TARGET && work->setup->symbols != NULL && !work->words.calls;
    return targets || by == RF_BY_FUNCTION || by == RF_BY_LINE || by == RF_BY_MODULE ||
           by == RF_BY_REGION;
}

static uint64_t minus(uint64_t from, uint64_t what)
{
    return from > what ? from - what : 0;
}

static uint64_t plus(uint64_t left, uint64_t right)
{
    return left > UINT64_MAX - right ? UINT64_MAX : left + right;
}

static uint64_t least(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

static uint64_t most(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

/* ---- spots ---- */

/* By the word that they are grouped by. */
static int by_member(const void *left, const void *right)
{
    const struct rf_keyed *l = left, *r = right;
    const struct rf_item *x = l->what, *y = r->what;
    if (l->key != r->key)
        return l->key < r->key ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

/* The items of a profile come heaviest first, and stay so; others (of streams) do not. */
static void sort_members(struct rf_keyed *members, struct rf_keyed *room, size_t n)
{
    bool falls = true;
    for (size_t i = 1; i < n; i++)
        falls &= ((const struct rf_item *)members[i].what)->count <=
                 ((const struct rf_item *)members[i - 1].what)->count;
    if (falls)
        rf_keyed_sort(members, room, n);
    else
        qsort(members, n, sizeof *members, by_member);
}

static int by_spot(const void *left, const void *right)
{
    const struct spot *l = left, *r = right;
    return (l->word > r->word) - (l->word < r->word);
}

static uint64_t word_of(const struct rf_view_work *work, const struct rf_item *item)
{
    uint64_t word = rf_view_word_of(work, item);
    return work->view->by == RF_BY_PROCESS ? word - rf_view_address(word) : word;
}

/* Members come in order of their words, the heaviest of each first. */
static rf_status fold_members(const struct rf_view_work *work, struct spots *spots,
                              const struct rf_keyed *members, size_t n)
{
    const struct rf_alloc *alloc = &work->view->alloc;
    for (size_t i = 0; i < n; i++) {
        const struct rf_item *item = members[i].what;
        bool is_next = i == 0 || members[i].key != members[i - 1].key;
        const struct spot next = {.word = members[i].key, .top = item};
        if (is_next && !rf_list_add(alloc, spots, next))
            return RF_ENOMEM;
        struct spot *spot = &spots->at[spots->n - 1];
        spot->count = plus(spot->count, item->count);
        spot->lower = plus(spot->lower, item->lower);
        spot->upper = plus(spot->upper, item->upper);
        spot->highest = most(spot->highest, item->upper);
        spot->beyond = most(spot->beyond, item->upper - item->lower);
        spot->kinds += work->table.merged != NULL ? item->intervals : 1;
    }
    for (size_t i = 0; i < spots->n; i++)
        spots->at[i].listed = spots->at[i].lower, spots->at[i].listed_upper = spots->at[i].upper;
    return RF_OK;
}

static rf_status make_spots(const struct rf_view_work *work, const struct rf_item *items, size_t n,
                            struct spots *spots)
{
    const struct rf_alloc *alloc = &work->view->alloc;
    size_t kept = 0, size = 2 * n * sizeof(struct rf_keyed);
    struct rf_keyed *members = n > 0 ? rf_alloc_get(alloc, size) : NULL;
    if (members == NULL)
        return n > 0 ? RF_ENOMEM : RF_OK;
    for (size_t i = 0; i < n; i++)
        if (rf_view_keeps(work, &items[i]))
            members[kept++] = (struct rf_keyed){word_of(work, &items[i]), &items[i]};
    sort_members(members, members + n, kept);
    rf_status status = fold_members(work, spots, members, kept);
    rf_alloc_free(alloc, members, size);
    return status;
}

static struct spot *find_spot(const struct spots *spots, size_t n, uint64_t word)
{
    const struct spot key = {.word = word};
    return n > 0 ? bsearch(&key, spots->at, n, sizeof key, by_spot) : NULL;
}

/* Counts from the totals; instructions of which no item is listed are added. */
static rf_status take_totals(const struct rf_view_work *work, struct spots *spots)
{
    const struct rf_profile *totals = work->totals;
    const size_t before = spots->n;
    for (size_t i = 0; i < totals->n_items; i++) {
        const struct rf_item *total = &totals->items[i];
        struct spot *spot = find_spot(spots, before, total->a);
        if (spot != NULL)
            spot->count = spot->lower = spot->upper = total->count;
        else if (rf_view_keeps_code(work, total->a) &&
                 !rf_list_add(&work->view->alloc, spots,
                              (struct spot){.word = total->a,
                                            .count = total->count,
                                            .lower = total->count,
                                            .upper = total->count}))
            return RF_ENOMEM;
    }
    qsort(spots->at, spots->n, sizeof *spots->at, by_spot);
    return RF_OK;
}

/* ---- bounds ---- */

static uint64_t sum_lower(const struct rf_view_table *table)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < table->n; i++)
        sum = plus(sum, table->items[i].lower);
    return sum;
}

/* Events that the totals have and no item: any group may have lost them. */
static uint64_t missed(const struct rf_view_work *work)
{
    return work->totals != NULL ? work->table.profile->lost : 0;
}

/* Is every item of the word listed, if any is? */
static bool is_whole(const struct rf_view_work *work)
{
    enum rf_view_by by = work->view->by;
    bool alone = work->words.b.name[0] == '\0' && !has_names(work);
    return alone &&
           (by == RF_BY_PC || by == RF_BY_VALUE || by == RF_BY_TARGET || by == RF_BY_THREAD);
}

/* One end of Wilson's interval for the share p of n independent events, 95%: sign -1 or +1. */
static double wilson(double p, double n, double sign)
{
    const double z = 1.959963984540054;
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    double share = (p + z * z / (2 * n) + sign * half) / (1 + z * z / n);
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

static void narrow(struct spot *spot, uint64_t events, double clusters)
{
    double all = (double)events, p = (double)spot->count / all;
    if (clusters < 2 || spot->count > events)
        return;
    uint64_t lower = (uint64_t)floor(wilson(p, clusters, -1) * all);
    uint64_t upper = (uint64_t)ceil(wilson(p, clusters, 1) * all);
    spot->lower = most(spot->lower, least(lower, spot->count));
    spot->upper = least(spot->upper, most(upper, spot->count));
}

static void bound_rows(const struct rf_view_work *work, struct spots *spots)
{
    const double clusters = rf_profile_figure(work->table.profile, "clusters", 0);
    const uint64_t events = work->table.events, all = sum_lower(&work->table);
    const uint64_t lost = missed(work);
    bool estimates = work->table.profile->bound == RF_BOUND_CONFIDENCE;
    bool whole = is_whole(work) || (work->table.profile->bound == RF_BOUND_EXACT &&
                                    work->table.absent_upper == 0); /* nothing is unlisted */
    for (size_t i = 0; i < spots->n; i++) {
        struct spot *spot = &spots->at[i];
        uint64_t open = minus(plus(events, lost), minus(all, spot->lower));
        spot->upper = estimates || whole ? plus(least(spot->upper, events), lost) : open;
        spot->count = least(spot->count, spot->upper);
        if (estimates && events > 0)
            narrow(spot, events, clusters);
    }
}

/* What of a pc's total is not accounted for by its listed items. */
struct open_end {
    uint64_t pc, left, lost;
};

static int by_pc(const void *left, const void *right)
{
    const struct open_end *l = left, *r = right;
    return (l->pc > r->pc) - (l->pc < r->pc);
}

static struct open_end *find_end(struct open_end *ends, size_t n, uint64_t pc)
{
    const struct open_end key = {pc, 0, 0};
    return n > 0 ? bsearch(&key, ends, n, sizeof key, by_pc) : NULL;
}

static void fill_ends(const struct rf_view_work *work, struct open_end *ends)
{
    const size_t n = work->totals->n_items;
    for (size_t i = 0; i < n; i++)
        ends[i] = (struct open_end){work->totals->items[i].a, work->totals->items[i].count, 0};
    qsort(ends, n, sizeof *ends, by_pc);
    for (size_t i = 0; i < work->table.n; i++) {
        struct open_end *end = find_end(ends, n, work->table.items[i].a);
        if (end != NULL)
            end->left = minus(end->left, work->table.items[i].lower);
    }
}

/* The upper bounds of groups of values, targets, ... from the totals of each pc; see above. */
static rf_status bound_by_totals(const struct rf_view_work *work, struct spots *spots)
{
    const size_t n = work->totals->n_items, size = (n + 1) * sizeof(struct open_end);
    const uint64_t absent = plus(work->table.absent_upper, work->table.profile->lost);
    struct open_end *ends = rf_alloc_get(&work->view->alloc, size);
    uint64_t unlisted = 0;
    if (ends == NULL)
        return RF_ENOMEM;
    fill_ends(work, ends);
    for (size_t i = 0; i < n; i++)
        unlisted = plus(unlisted, least(absent, ends[i].left));
    for (size_t i = 0; i < spots->n; i++)
        spots->at[i].upper = unlisted;
    for (size_t i = 0; i < work->table.n; i++) {
        const struct rf_item *item = &work->table.items[i];
        const struct open_end *end = find_end(ends, n, item->a);
        struct spot *spot = find_spot(spots, spots->n, word_of(work, item));
        if (spot == NULL || end == NULL)
            continue;
        uint64_t most =
            least(plus(item->upper, work->table.profile->lost), plus(item->lower, end->left));
        spot->upper = minus(plus(spot->upper, most), least(absent, end->left));
    }
    for (size_t i = 0; i < spots->n; i++)
        spots->at[i].count = least(spots->at[i].count, spots->at[i].upper);
    rf_alloc_free(&work->view->alloc, ends, size);
    return RF_OK;
}

/* ---- keys ---- */

static struct key key_of_function(const struct rf_place_name *name)
{
    uint64_t begin = name->begin != 0 ? name->begin : UINT64_MAX;
    if (name->function[0] != '\0')
        begin = name->link - name->offset;
    return (struct key){name->path, name->function, begin};
}

static struct key key_of_line(const struct rf_place_name *name)
{
    const struct rf_frame frame = rf_view_innermost(name);
    if (frame.line == 0)
        return key_of_function(name);
    return (struct key){"", frame.file, frame.line};
}

/* Code without a function is told apart by its address. */
static struct key key_of_target(const struct rf_place_name *name, uint64_t word)
{
    bool known = name->function[0] != '\0' || name->begin != 0;
    return known ? key_of_function(name) : (struct key){"", "", word};
}

static struct key key_of(const struct rf_view_work *work, uint64_t word)
{
    struct rf_place_name name;
    rf_view_lookup(work, word, &name);
    switch (work->view->by) {
    case RF_BY_FUNCTION:
        return key_of_function(&name);
    case RF_BY_LINE:
        return key_of_line(&name);
    case RF_BY_TARGET:
        return key_of_target(&name, word);
    case RF_BY_MODULE:
        return (struct key){name.path, "", 0};
    case RF_BY_REGION:
        return (struct key){name.path, name.function[0] != '\0' ? name.function : name.section, 0};
    default:
        return (struct key){"", "", word};
    }
}

static int by_key(const void *left, const void *right)
{
    const struct key *l = &((const struct spot *)left)->key,
                     *r = &((const struct spot *)right)->key;
    if (l->number != r->number)
        return l->number < r->number ? -1 : 1;
    int order = l->path != r->path ? strcmp(l->path, r->path) : 0;
    if (order == 0 && l->name != r->name)
        order = strcmp(l->name, r->name);
    return order;
}

/* Read the names of all items' instructions, and of the words that are grouped by name, in one go. */
rf_status rf_view_prepare_items(const struct rf_view_work *work)
{
    const size_t n = work->table.n, more = work->totals != NULL ? work->totals->n_items : 0;
    bool filters = work->setup->functions != NULL || work->setup->modules != NULL;
    bool wanted = filters || has_names(work) || rf_view_asks_calls(work);
    if (work->setup->symbols == NULL || n + more == 0 || !wanted)
        return RF_OK;
    const size_t size = (2 * n + more) * sizeof(uint64_t);
    uint64_t *words = rf_alloc_get(&work->view->alloc, size);
    size_t k = 0;
    int pc = rf_view_find_word(&work->words, RF_FIELD_PC);
    if (words == NULL)
        return RF_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct rf_item *item = &work->table.items[i];
        if (has_names(work) || rf_view_asks_calls(work))
            words[k++] = rf_view_word_of(work, item);
        if (filters && pc >= 0)
            words[k++] = pc == 0 ? item->a : item->b;
    }
    for (size_t i = 0; i < more; i++)
        words[k++] = work->totals->items[i].a;
    rf_status status = rf_view_prepare(work, words, k);
    rf_alloc_free(&work->view->alloc, words, size);
    return status;
}

/* Spots with the same key become one; the heaviest stands for all of them. */
static void merge_spots(const struct rf_view_work *work, struct spots *spots)
{
    size_t n = 0;
    uint64_t heaviest = 0;
    for (size_t i = 0; i < spots->n; i++)
        spots->at[i].key = key_of(work, spots->at[i].word);
    if (spots->n > 0)
        qsort(spots->at, spots->n, sizeof *spots->at, by_key);
    for (size_t i = 0; i < spots->n; i++) {
        const struct spot *next = &spots->at[i];
        if (n == 0 || by_key(&spots->at[n - 1], next) != 0) {
            heaviest = next->count;
            spots->at[n++] = *next;
            continue;
        }
        struct spot *spot = &spots->at[n - 1];
        if (next->count > heaviest) {
            heaviest = next->count;
            spot->word = next->word;
        }
        spot->count = plus(spot->count, next->count);
        spot->lower = plus(spot->lower, next->lower);
        spot->upper = plus(spot->upper, next->upper);
    }
    spots->n = n;
}

/* ---- rows ---- */

static bool takes_totals(const struct rf_view_work *work)
{
    return work->totals != NULL && work->words.by_pc && work->which == 0 &&
           rf_view_is_by_code(work->view->by);
}

#define RARE 0.01 /* of an instruction's events */

/* Is the most frequent value one that is not listed, for all that is known, and all are rare? */
static bool is_lost_in_others(const struct spot *spot, uint64_t absent)
{
    return spot->top != NULL && spot->top->lower < absent &&
           (double)most(spot->highest, absent) < RARE * (double)spot->upper;
}

/* Of an instruction whose total is known, what its listed values do not account for belongs to values that are not
 * listed. None of them has more than absent_upper events, so there are at least that many of them. */
static void count_unlisted(const struct rf_view_work *work, const struct spot *spot,
                           struct rf_row *row)
{
    const uint64_t lost = work->table.profile->lost, absent = work->table.absent_upper;
    const uint64_t left = minus(minus(spot->lower, spot->listed_upper), lost);
    const uint64_t highest = plus(most(spot->highest, absent), lost);
    if (work->table.profile->bound != RF_BOUND_HARD || absent == 0 || left == 0)
        return;
    row->kinds += left / absent + (left % absent != 0);
    if (rf_view_asks_data(work))
        return; /* addresses may all be rare and lie in one region */
    if (is_lost_in_others(spot, plus(absent, lost)))
        row->item = NULL;
    if (row->item == NULL)
        row->high = (double)least(highest, spot->upper) / (double)spot->upper;
}

/* The share of the most frequent item among the events of its instruction. */
static void measure_top(const struct rf_view_work *work, const struct spot *spot,
                        struct rf_row *row)
{
    const struct rf_item *top = spot->top;
    if (takes_totals(work))
        count_unlisted(work, spot, row);
    if (row->item == NULL || spot->upper == 0)
        return;
    uint64_t others = minus(spot->listed, top->lower);
    uint64_t upper =
        work->totals != NULL ? plus(top->upper, work->table.profile->lost) : top->upper;
    upper = least(upper, minus(spot->upper, others));
    uint64_t all = spot->lower == spot->upper ? spot->lower : plus(upper, others);
    row->low = (double)top->lower / (double)spot->upper;
    row->high = all > 0 ? (double)upper / (double)all : 1;
    row->high = row->high > 1 ? 1 : row->high;
}

static rf_status add_rows(struct rf_view_work *work, const struct spots *spots)
{
    for (size_t i = 0; i < spots->n; i++) {
        const struct spot *spot = &spots->at[i];
        struct rf_row row = {.word = spot->word,
                             .count = spot->count,
                             .lower = spot->lower,
                             .upper = spot->upper,
                             .item = work->view->by == RF_BY_PC ? spot->top : NULL,
                             .kinds = spot->kinds,
                             .more = spot->listed != spot->upper};
        if (work->view->by == RF_BY_PC)
            measure_top(work, spot, &row);
        if (!rf_view_add_row(work, &row))
            return RF_ENOMEM;
    }
    return RF_OK;
}

/* Where bounds hold how often each pc was sampled (invariance.h), that is what its row counts. */
static void take_samples(const struct rf_view_work *work, struct spots *spots)
{
    bool known = rf_profile_figure(work->table.profile, "totals-in-bounds", 0) != 0;
    for (size_t i = 0; known && work->which == 0 && i < spots->n; i++)
        spots->at[i].count = plus(spots->at[i].lower, spots->at[i].beyond);
}

/* Every process has the sum of its instructions' totals. */
static rf_status group_processes(struct rf_view_work *work, struct spots *spots)
{
    work->view->bound = RF_BOUND_EXACT;
    return make_spots(work, work->totals->items, work->totals->n_items, spots);
}

/* Make the spots, count them, and put them together. */
static rf_status group(struct rf_view_work *work, struct spots *spots)
{
    if (work->view->by == RF_BY_PROCESS && work->totals != NULL && work->words.by_pc)
        return group_processes(work, spots);
    rf_status status = make_spots(work, work->table.items, work->table.n, spots);
    if (status == RF_OK && takes_totals(work)) {
        status = take_totals(work, spots);
        work->view->bound = RF_BOUND_EXACT;
    }
    if (status == RF_OK && rf_view_estimates(work->view))
        take_samples(work, spots);
    if (status == RF_OK && has_names(work))
        merge_spots(work, spots);
    if (status != RF_OK || takes_totals(work) || rf_view_estimates(work->view))
        return status;
    if (missed(work) > 0 && work->view->bound == RF_BOUND_EXACT)
        work->view->bound = RF_BOUND_HARD;
    if (work->view->bound == RF_BOUND_HARD && work->totals != NULL && work->words.by_pc &&
        !has_names(work))
        return bound_by_totals(work, spots);
    bound_rows(work, spots);
    return RF_OK;
}

rf_status rf_view_make_groups(struct rf_view_work *work)
{
    struct spots spots = {NULL, 0, 0};
    if (work->table.profile->shape != RF_SHAPE_TUPLE)
        return rf_fail(work->error, RF_ENOTSUP, "ranges and streams cannot be grouped by %s",
                       rf_view_by_name(work->view->by));
    rf_status status = rf_view_prepare_items(work);
    if (status == RF_OK)
        status = rf_view_merge_data(work);
    if (status == RF_OK)
        status = group(work, &spots);
    if (status == RF_OK)
        status = add_rows(work, &spots);
    rf_list_free(&work->view->alloc, &spots);
    return status;
}
