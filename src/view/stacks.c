/* stacks.c - samples of the call stack as trees of functions.
 *
 *     items <pc, context>  --children by context-->  frames of one function below the same callers become one node
 *
 *     stack      100.0%    0.0%  main                    from the outermost function down: with callees, self
 *                 99.9%    0.1%    rank_pages
 *     function    99.8%   99.8%  spread                  each function once, however often it is on the stack
 *     caller      99.8%          spread                  who called it, and who called them
 *                 99.8%            rank_pages
 *
 * A function that calls itself is one node: recursion would be a tree as deep as the stack. Shares are estimates from
 * samples: their bounds are those of a proportion, 95%.
 *
 * A profile is hostile input. Contexts are hashes, and whoever makes them up can build chains of any length: a chain ends
 * at DEPTH_MAX, and a frame belongs to one node only. Memory: 100 bytes per item. */
#include "view/view.h"
#include "base/alloc.h"
#include "base/order.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 300, TOP_CALLED = 3 };
#define NOBODY UINT32_MAX

struct frame {
    const struct rf_item *item;
    uint32_t function;
    bool used;
};

struct node {
    uint32_t parent, function; /* node 0 is above all */
    uint32_t next;             /* with the same hash; later: does it hang on node 0? */
    uint64_t word;             /* an address in the function: where most samples are */
    uint64_t heaviest;
    uint64_t count, self;
};

struct tree {
    struct node *at;
    uint32_t n;
    uint32_t *heads; /* of nodes by hash */
};

/* Where a node is shown. */
struct place {
    uint32_t parent, node;
    uint64_t count, word;
};

struct stacks {
    struct rf_view_work *work;
    struct frame *frames; /* in order of their contexts */
    size_t n, room;       /* a power of two above the number of items, and of nodes */
    uint32_t *names;      /* by hash: the frame whose function has that name, + 1 */
    struct tree tree, callers;
    struct place *order; /* nodes by parent, the heaviest first */
};

/* ---- memory ---- */

static bool get_tree(const struct stacks *stacks, struct tree *tree)
{
    const struct rf_alloc *alloc = &stacks->work->view->alloc;
    tree->at = rf_alloc_get(alloc, (stacks->room + 1) * sizeof *tree->at);
    tree->heads = rf_alloc_zeroed(alloc, stacks->room * sizeof *tree->heads);
    if (tree->at == NULL || tree->heads == NULL)
        return false;
    tree->at[0] = (struct node){.function = NOBODY};
    tree->n = 1;
    return true;
}

static void free_tree(const struct stacks *stacks, struct tree *tree)
{
    const struct rf_alloc *alloc = &stacks->work->view->alloc;
    rf_alloc_free(alloc, tree->at, (stacks->room + 1) * sizeof *tree->at);
    rf_alloc_free(alloc, tree->heads, stacks->room * sizeof *tree->heads);
}

static rf_status get_room(struct stacks *stacks)
{
    const struct rf_alloc *alloc = &stacks->work->view->alloc;
    stacks->n = stacks->work->table.n;
    for (stacks->room = 16; stacks->room < 2 * stacks->n; stacks->room *= 2)
        ;
    stacks->frames = rf_alloc_zeroed(alloc, stacks->room * sizeof *stacks->frames);
    stacks->names = rf_alloc_zeroed(alloc, stacks->room * sizeof *stacks->names);
    stacks->order = rf_alloc_zeroed(alloc, (stacks->room + 1) * sizeof *stacks->order);
    bool good = stacks->frames != NULL && stacks->names != NULL && stacks->order != NULL;
    return good && get_tree(stacks, &stacks->tree) && get_tree(stacks, &stacks->callers)
               ? RF_OK
               : RF_ENOMEM;
}

static void free_room(struct stacks *stacks)
{
    const struct rf_alloc *alloc = &stacks->work->view->alloc;
    rf_alloc_free(alloc, stacks->frames, stacks->room * sizeof *stacks->frames);
    rf_alloc_free(alloc, stacks->names, stacks->room * sizeof *stacks->names);
    rf_alloc_free(alloc, stacks->order, (stacks->room + 1) * sizeof *stacks->order);
    free_tree(stacks, &stacks->tree);
    free_tree(stacks, &stacks->callers);
}

/* ---- functions ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

static bool same_function(const struct stacks *stacks, uint64_t left, uint64_t right)
{
    struct rf_place_name l, r;
    rf_view_lookup(stacks->work, left, &l);
    rf_view_lookup(stacks->work, right, &r);
    return strcmp(l.function, r.function) == 0 && strcmp(l.path, r.path) == 0 && l.begin == r.begin;
}

/* The number of the frame that stands for the function at this address: the first that was seen. */
static uint32_t find_function(struct stacks *stacks, uint32_t frame)
{
    uint64_t word = stacks->frames[frame].item->a;
    struct rf_place_name name;
    rf_view_lookup(stacks->work, word, &name);
    uint64_t at = hash_text(hash_text(UINT64_C(0xcbf29ce484222325), name.function), name.path);
    at += name.begin * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    for (;; at++) {
        uint32_t *place = &stacks->names[at & (stacks->room - 1)];
        if (*place == 0)
            *place = frame + 1;
        if (*place == frame + 1 || same_function(stacks, stacks->frames[*place - 1].item->a, word))
            return *place - 1;
    }
}

static int by_context(const void *left, const void *right)
{
    const struct rf_item *l = ((const struct frame *)left)->item;
    const struct rf_item *r = ((const struct frame *)right)->item;
    return rf_order_two(l->b, r->b, l->a, r->a);
}

static void fill_frames(struct stacks *stacks)
{
    for (size_t i = 0; i < stacks->n; i++)
        stacks->frames[i].item = &stacks->work->table.items[i];
    qsort(stacks->frames, stacks->n, sizeof *stacks->frames, by_context);
    for (uint32_t i = 0; i < stacks->n; i++)
        stacks->frames[i].function = find_function(stacks, i);
}

/* ---- trees ---- */

/* The child of a node that is this function, made now if need be. */
static uint32_t get_child(const struct stacks *stacks, struct tree *tree, uint32_t parent,
                          uint32_t function)
{
    uint64_t hash = ((uint64_t)parent << 32 | function) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t *head = &tree->heads[hash >> 32 & (stacks->room - 1)];
    for (uint32_t i = *head; i != 0; i = tree->at[i].next)
        if (tree->at[i].parent == parent && tree->at[i].function == function)
            return i;
    if (tree->n > stacks->room) /* more than there are items: of callers only */
        return parent;
    tree->at[tree->n] = (struct node){.parent = parent, .function = function, .next = *head};
    return *head = tree->n++;
}

static void count(struct node *node, uint64_t word, uint64_t samples)
{
    node->count += samples;
    if (samples > node->heaviest || node->heaviest == 0) {
        node->heaviest = samples;
        node->word = word;
    }
}

static bool frame_before(const void *list, size_t i, uint64_t key)
{
    return ((const struct frame *)list)[i].item->b < key;
}

static size_t first_of(const struct stacks *stacks, uint64_t context)
{
    return rf_search(stacks->frames, stacks->n, context, frame_before);
}

/* The frames that a frame called. */
struct below {
    uint64_t context, samples;
    size_t first, end;
};

static struct below find_below(const struct stacks *stacks, uint64_t context)
{
    struct below below = {.context = context, .first = first_of(stacks, context)};
    for (below.end = below.first;
         below.end < stacks->n && stacks->frames[below.end].item->b == context; below.end++)
        below.samples += stacks->frames[below.end].item->count;
    return below;
}

static void add_frames(struct stacks *stacks, const struct below *below, uint32_t parent,
                       unsigned depth)
{
    struct tree *tree = &stacks->tree;
    for (size_t i = below->first; i < below->end && depth < DEPTH_MAX; i++) {
        struct frame *frame = &stacks->frames[i];
        const struct rf_item *item = frame->item;
        bool recursive = tree->at[parent].function == frame->function;
        if (frame->used)
            continue;
        frame->used = true;
        uint32_t node = recursive ? parent : get_child(stacks, tree, parent, frame->function);
        if (!recursive)
            count(&tree->at[node], item->a, item->count);
        const struct below next = find_below(stacks, rf_context_below(item->b, item->a));
        tree->at[node].self += item->count > next.samples ? item->count - next.samples : 0;
        add_frames(stacks, &next, node, depth + 1);
    }
}

/* Is the function on the stack above the node already? */
static bool is_inner(const struct tree *tree, uint32_t node)
{
    uint32_t function = tree->at[node].function;
    for (uint32_t i = tree->at[node].parent; i != 0; i = tree->at[i].parent)
        if (tree->at[i].function == function)
            return true;
    return false;
}

/* Nodes that are shown as roots: with a filter, those of the functions it names; the outermost only. */
static bool is_wanted(const struct stacks *stacks, uint32_t node)
{
    return rf_view_keeps_code(stacks->work, stacks->tree.at[node].word) &&
           !is_inner(&stacks->tree, node);
}

/* Turn the way to the node around: the function first, then who called it. */
static void add_callers(struct stacks *stacks, uint32_t node)
{
    const struct tree *tree = &stacks->tree;
    uint64_t samples = tree->at[node].count;
    uint32_t to = 0;
    for (uint32_t i = node; i != 0; i = tree->at[i].parent) {
        to = get_child(stacks, &stacks->callers, to, tree->at[i].function);
        if (to != 0)
            count(&stacks->callers.at[to], tree->at[i].word, samples);
    }
}

/* ---- rows ---- */

static int by_parent(const void *left, const void *right)
{
    const struct place *l = left, *r = right;
    if (l->parent != r->parent)
        return l->parent < r->parent ? -1 : 1;
    if (l->count != r->count)
        return l->count > r->count ? -1 : 1;
    return (l->word > r->word) - (l->word < r->word);
}

static int by_count(const void *left, const void *right)
{
    const uint64_t l = ((const struct place *)left)->count;
    const uint64_t r = ((const struct place *)right)->count;
    return (l < r) - (l > r);
}

/* The least count that is shown, if only `rows` are: a node is never heavier than its parent, so parents of shown
 * nodes are shown. */
static uint64_t least_shown(const struct stacks *stacks, uint32_t n, uint64_t rows)
{
    if (rows == 0 || n <= rows)
        return 0;
    qsort(stacks->order, n, sizeof *stacks->order, by_count);
    return stacks->order[rows - 1].count;
}

/* The interval that has the true number with 95%: Wilson's, which does not end at a share of 0 or 1. */
void rf_view_bound_samples(uint64_t samples, uint64_t of, uint64_t *lower, uint64_t *upper)
{
    const double z2 = 1.96 * 1.96, n = (double)(of > 0 ? of : 1), share = (double)samples / n;
    double middle = (share + z2 / (2 * n)) / (1 + z2 / n);
    double half = sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n);
    double low = floor(n * (middle - half)), high = ceil(n * (middle + half));
    *lower = low > 0 ? (uint64_t)low : 0;
    *upper = high < n ? (uint64_t)high : of;
}

static bool add_row(const struct stacks *stacks, const struct node *node, unsigned depth)
{
    struct rf_row row = {
        .word = node->word, .count = node->count, .self = node->self, .depth = depth};
    rf_view_bound_samples(node->count, stacks->work->table.events, &row.lower, &row.upper);
    return rf_view_add_row(stacks->work, &row);
}

/* What is shown of a tree: nodes with at least this many samples, below the wanted ones. */
struct shown {
    const struct tree *tree;
    uint32_t n; /* places in `order` */
    uint64_t least;
};

static bool child_before(const void *list, size_t i, uint64_t key)
{
    return ((const struct place *)list)[i].parent < key;
}

static uint32_t first_child(const struct stacks *stacks, const struct shown *shown, uint32_t parent)
{
    return (uint32_t)rf_search(stacks->order, shown->n, parent, child_before);
}

static rf_status add_branch(const struct stacks *stacks, const struct shown *shown, uint32_t parent,
                            unsigned depth)
{
    rf_status status = RF_OK;
    for (uint32_t i = first_child(stacks, shown, parent);
         i < shown->n && stacks->order[i].parent == parent && status == RF_OK; i++) {
        const struct node *node = &shown->tree->at[stacks->order[i].node];
        uint64_t rows = stacks->work->setup->rows;
        bool ties = rows > 0 && stacks->work->rows.n >= rows;
        if (node->count < shown->least || (ties && node->count == shown->least))
            continue;
        status = add_row(stacks, node, depth) ? RF_OK : RF_ENOMEM;
        if (status == RF_OK)
            status = add_branch(stacks, shown, stacks->order[i].node, depth + 1);
    }
    return status;
}

/* The places of a tree in `order`: all nodes that hang on node 0. Parents come before their children. */
static rf_status add_tree(struct stacks *stacks, struct tree *tree)
{
    struct shown shown = {.tree = tree};
    tree->at[0].next = true;
    for (uint32_t i = 1; i < tree->n; i++) {
        struct node *node = &tree->at[i];
        node->next = node->parent != NOBODY && tree->at[node->parent].next;
        if (node->next)
            stacks->order[shown.n++] = (struct place){node->parent, i, node->count, node->word};
    }
    shown.least = least_shown(stacks, shown.n, stacks->work->setup->rows);
    qsort(stacks->order, shown.n, sizeof *stacks->order, by_parent);
    return add_branch(stacks, &shown, 0, 0);
}

/* Functions as a tree of one level. */
static void flatten(struct stacks *stacks)
{
    struct tree *flat = &stacks->callers;
    for (uint32_t i = 1; i < stacks->tree.n; i++) {
        const struct node *node = &stacks->tree.at[i];
        if (!rf_view_keeps_code(stacks->work, node->word))
            continue;
        struct node *function = &flat->at[get_child(stacks, flat, 0, node->function)];
        function->self += node->self;
        if (!is_inner(&stacks->tree, i))
            count(function, node->word, node->count);
    }
}

static bool has_filter(const struct stacks *stacks)
{
    const struct rf_view_setup *setup = stacks->work->setup;
    return (setup->functions != NULL && setup->functions[0] != NULL) ||
           (setup->modules != NULL && setup->modules[0] != NULL);
}

/* Without a filter, callers are asked of the functions that are most often on top of the stack. */
static uint64_t least_self(const struct stacks *stacks)
{
    uint64_t best[TOP_CALLED] = {0};
    for (uint32_t i = 1; i < stacks->callers.n; i++) {
        uint64_t self = stacks->callers.at[i].self;
        for (unsigned k = 0; k < TOP_CALLED; k++)
            if (self > best[k]) {
                uint64_t next = best[k];
                best[k] = self;
                self = next;
            }
    }
    return best[TOP_CALLED - 1] > 0 ? best[TOP_CALLED - 1] : 1;
}

static rf_status add_caller_rows(struct stacks *stacks)
{
    flatten(stacks);
    uint64_t least = has_filter(stacks) ? 0 : least_self(stacks);
    struct tree functions = stacks->callers, *callers = &stacks->callers;
    *callers = (struct tree){.n = 0};
    bool good = get_tree(stacks, callers);
    for (uint32_t i = 1; good && i < stacks->tree.n; i++) {
        uint32_t function = get_child(stacks, &functions, 0, stacks->tree.at[i].function);
        if (functions.at[function].self >= least && is_wanted(stacks, i))
            add_callers(stacks, i);
    }
    free_tree(stacks, &functions);
    return good ? add_tree(stacks, callers) : RF_ENOMEM;
}

/* With a filter, the tree begins at the functions that it names. */
static rf_status add_stack_rows(struct stacks *stacks)
{
    struct tree *tree = &stacks->tree;
    bool filter = has_filter(stacks);
    for (uint32_t i = 1; filter && i < tree->n; i++) /* all, before any node is moved */
        stacks->order[i].count = is_wanted(stacks, i);
    for (uint32_t i = 1; filter && i < tree->n; i++)
        if (stacks->order[i].count != 0)
            tree->at[i].parent = 0;
        else if (tree->at[i].parent == 0)
            tree->at[i].parent = NOBODY;
    return add_tree(stacks, tree);
}

static rf_status add_rows(struct stacks *stacks)
{
    const struct below roots = find_below(stacks, 0);
    add_frames(stacks, &roots, 0, 0);
    stacks->work->table.events = roots.samples;
    switch (stacks->work->view->by) {
    case RF_BY_FUNCTION:
        flatten(stacks);
        return add_tree(stacks, &stacks->callers);
    case RF_BY_CALLER:
        return add_caller_rows(stacks);
    default:
        return add_stack_rows(stacks);
    }
}

bool rf_view_has_stacks(const struct rf_words *words)
{
    return words->a.field == RF_FIELD_PC && words->b.field == RF_FIELD_CONTEXT;
}

rf_status rf_view_make_stacks(struct rf_view_work *work)
{
    struct stacks stacks = {.work = work};
    uint64_t *words = NULL;
    size_t size = work->table.n * sizeof *words;
    rf_status status = get_room(&stacks);
    if (status == RF_OK && size > 0 && (words = rf_alloc_get(&work->view->alloc, size)) == NULL)
        status = RF_ENOMEM;
    for (size_t i = 0; status == RF_OK && i < work->table.n; i++)
        words[i] = work->table.items[i].a;
    if (status == RF_OK)
        status = rf_view_prepare(work, words, work->table.n);
    if (status == RF_OK) {
        fill_frames(&stacks);
        status = add_rows(&stacks);
    }
    if (!rf_view_estimates(work->view))
        work->view->bound = RF_BOUND_CONFIDENCE;
    rf_alloc_free(&work->view->alloc, words, size);
    free_room(&stacks);
    return status;
}

/* The frames that were on top of the stack, with how often. */
static size_t list_tops(struct stacks *stacks, struct rf_item *tops)
{
    size_t n = 0;
    for (size_t i = 0; i < stacks->n; i++)
        stacks->frames[i].item = &stacks->work->table.items[i];
    qsort(stacks->frames, stacks->n, sizeof *stacks->frames, by_context);
    for (size_t i = 0; i < stacks->n; i++) {
        const struct rf_item *item = stacks->frames[i].item;
        uint64_t below = find_below(stacks, rf_context_below(item->b, item->a)).samples;
        tops[n] = *item;
        tops[n].count = tops[n].lower = tops[n].upper =
            item->count > below ? item->count - below : 0;
        n += tops[n].count > 0;
    }
    stacks->work->table.events = find_below(stacks, 0).samples;
    return n;
}

/* Lines and modules by what they did themselves; with callees, all would be main's. */
rf_status rf_view_make_self(struct rf_view_work *work)
{
    struct stacks stacks = {.work = work};
    struct rf_view_table whole = work->table;
    const size_t size = (whole.n + 1) * sizeof(struct rf_item);
    struct rf_item *tops = rf_alloc_get(&work->view->alloc, size);
    rf_status status = tops != NULL ? get_room(&stacks) : RF_ENOMEM;
    if (status == RF_OK) {
        work->table.n = list_tops(&stacks, tops);
        work->table.items = tops;
        status = rf_view_make_groups(work);
    }
    for (size_t i = 0; status == RF_OK && i < work->rows.n; i++)
        rf_view_bound_samples(work->rows.at[i].count, work->table.events, &work->rows.at[i].lower,
                              &work->rows.at[i].upper);
    work->view->bound = RF_BOUND_CONFIDENCE;
    work->table.items = whole.items;
    work->table.n = whole.n;
    free_room(&stacks);
    rf_alloc_free(&work->view->alloc, tops, size);
    return status;
}
