/* trees.c - what is nested, for flame and icicle graphs: functions with what they call, ranges with those inside them.
 *
 * A node is never heavier than its parent, so that leaving out the light ones leaves a tree. */
#include "report/html/html.h"
#include "base/alloc.h"
#include <riffle/range.h>

enum { NODES = 8000, NAMED = 2000 };

/* [parent, count, self, lower, upper, name, more] */
struct node {
    size_t parent; /* SIZE_MAX: none */
    uint64_t count, self, lower, upper;
    const char *name, *more;
};

static void write_node(struct rf_html *html, const struct node *node)
{
    rf_html_open(html, NULL, '[');
    if (node->parent == SIZE_MAX)
        rf_html_text(html, NULL, "");
    else
        rf_html_count(html, NULL, node->parent);
    rf_html_count(html, NULL, node->count);
    rf_html_count(html, NULL, node->self);
    rf_html_count(html, NULL, node->lower);
    rf_html_count(html, NULL, node->upper);
    rf_html_text(html, NULL, node->name);
    rf_html_text(html, NULL, node->more);
    rf_html_close(html, ']');
}

static void open_tree(struct rf_html *html, const struct rf_profile *profile, const char *title,
                      const char *unit, uint64_t events)
{
    char group[RF_REPORT_TEXT_MAX];
    rf_html_panel(html, "tree", rf_html_group(html, profile, group, sizeof group), title);
    rf_html_text(html, "unit", unit);
    rf_html_count(html, "events", events);
}

/* ---- stacks ---- */

static uint64_t number(const struct rf_view *view, size_t row, enum rf_column_id id)
{
    const struct rf_view_cell *cell = rf_view_cell(view, row, id);
    return cell != NULL ? cell->number : 0;
}

/* Rows come parents first, each with its depth. */
static void write_stacks(struct rf_html *html, const struct rf_view *view, size_t *above)
{
    rf_html_open(html, "nodes", '[');
    for (size_t row = 0; row < view->n_rows; row++) {
        uint64_t depth = number(view, row, RF_COLUMN_DEPTH);
        depth = depth < row ? depth : row;
        above[depth] = row;
        const struct node node = {.parent = depth > 0 ? above[depth - 1] : SIZE_MAX,
                                  .count = number(view, row, RF_COLUMN_COUNT),
                                  .self = number(view, row, RF_COLUMN_SELF_COUNT),
                                  .lower = number(view, row, RF_COLUMN_LOWER),
                                  .upper = number(view, row, RF_COLUMN_UPPER),
                                  .name = rf_view_cell(view, row, RF_COLUMN_FUNCTION)->text,
                                  .more = rf_view_cell(view, row, RF_COLUMN_MODULE)->text};
        write_node(html, &node);
    }
    rf_html_close(html, ']');
}

static rf_status write_stack_panel(struct rf_html *html, const struct rf_profile *profile,
                                   enum rf_view_by by, const char *title)
{
    struct rf_view view;
    struct rf_view_setup setup = html->setup->view;
    setup.by = by;
    setup.rows = NODES;
    rf_status status = rf_view_open(&view, html->run, profile, &setup, html->error);
    if (status != RF_OK)
        return status;
    size_t size = (view.n_rows + 1) * sizeof(size_t);
    size_t *above = rf_alloc_get(&view.alloc, size);
    if (above != NULL) {
        open_tree(html, profile, title, "samples", view.events);
        rf_html_text(html, "style", "flame");
        if (view.n_found > view.n_rows)
            rf_html_heaviest(html, view.n_rows, view.n_found, "nodes");
        write_stacks(html, &view, above);
        rf_html_close(html, '}');
    }
    status = above != NULL ? RF_OK : RF_ENOMEM;
    rf_alloc_free(&view.alloc, above, size);
    rf_view_close(&view);
    return status;
}

/* ---- ranges ---- */

static void print_box(char *text, size_t size, const struct rf_profile *profile,
                      const struct rf_range_box *box)
{
    struct rf_words words;
    char a[2 * RF_VIEW_NUMBER_MAX] = "", b[2 * RF_VIEW_NUMBER_MAX] = "";
    rf_view_words(&words, profile);
    if (profile->shape != RF_SHAPE_RANGE_B)
        rf_view_print_range(a, sizeof a, &words.a, box->a, box->a_hi);
    if (profile->shape != RF_SHAPE_RANGE_A)
        rf_view_print_range(b, sizeof b, &words.b, box->b, box->b_hi);
    snprintf(text, size, "%s%s%s", a, a[0] != '\0' && b[0] != '\0' ? " x " : "", b);
}

static void name_word(const struct rf_html *html, enum rf_meaning meaning, uint64_t lo, uint64_t hi,
                      char *text, size_t size)
{
    text[0] = '\0';
    if (meaning != RF_MEANS_NUMBER && html->setup->view.symbols != NULL)
        rf_symbols_name_range(html->setup->view.symbols, lo, hi, text, size);
}

static void name_box(const struct rf_html *html, const struct rf_profile *profile,
                     const struct rf_range_box *box, char *text, size_t size)
{
    struct rf_words words;
    char a[RF_REPORT_TEXT_MAX / 2] = "", b[RF_REPORT_TEXT_MAX / 2] = "";
    rf_view_words(&words, profile);
    if (profile->shape != RF_SHAPE_RANGE_B)
        name_word(html, words.a.meaning, box->a, box->a_hi, a, sizeof a);
    if (profile->shape != RF_SHAPE_RANGE_A)
        name_word(html, words.b.meaning, box->b, box->b_hi, b, sizeof b);
    snprintf(text, size, "%s%s%s", a, a[0] != '\0' && b[0] != '\0' ? " x " : "", b);
}

/* The least total that is shown, so that at most `most` nodes are. */
static uint64_t least_shown(const struct rf_range_tree *tree, size_t most)
{
    for (uint64_t least = 1;; least *= 2) {
        size_t n = 0;
        for (size_t i = 0; i < tree->n; i++)
            n += tree->nodes[i].total >= least;
        if (n <= most || least > UINT64_MAX / 2)
            return least;
    }
}

static void write_ranges(struct rf_html *html, const struct rf_profile *profile,
                         const struct rf_range_tree *tree, size_t *places)
{
    char box[RF_REPORT_TEXT_MAX], name[RF_REPORT_TEXT_MAX];
    uint64_t least = least_shown(tree, NODES), least_named = least_shown(tree, NAMED);
    size_t n = 0;
    rf_html_open(html, "nodes", '[');
    for (size_t i = 0; i < tree->n; i++) {
        const struct rf_range_node *node = &tree->nodes[i];
        if (node->total < least)
            continue;
        name[0] = '\0';
        print_box(box, sizeof box, profile, &node->box);
        if (node->total >= least_named)
            name_box(html, profile, &node->box, name, sizeof name);
        const struct rf_item *item =
            node->item != SIZE_MAX ? &profile->items[node->item] : &(struct rf_item){.count = 0};
        places[i] = n++;
        write_node(html, &(struct node){node->parent != SIZE_MAX ? places[node->parent] : SIZE_MAX,
                                        node->total, node->count,
                                        item->lower > 0 ? item->lower : node->total,
                                        item->upper > 0 ? item->upper : node->total, box, name});
    }
    rf_html_close(html, ']');
    if (n < tree->n)
        rf_html_heaviest(html, n, tree->n, "ranges");
}

static rf_status write_range_panel(struct rf_html *html, const struct rf_profile *profile)
{
    struct rf_range_tree tree;
    rf_status status = rf_range_tree_make(&tree, profile, 1);
    if (status != RF_OK)
        return status;
    size_t size = (tree.n + 1) * sizeof(size_t);
    size_t *places = rf_alloc_get(&tree.alloc, size);
    if (places != NULL) {
        open_tree(html, profile, "range tree", rf_view_noun(profile, 2), tree.events);
        rf_html_text(html, "style", "icicle");
        write_ranges(html, profile, &tree, places);
        rf_html_close(html, '}');
    }
    rf_alloc_free(&tree.alloc, places, size);
    rf_range_tree_free(&tree);
    return places != NULL ? RF_OK : RF_ENOMEM;
}

rf_status rf_html_trees(struct rf_html *html, const struct rf_profile *profile)
{
    if (profile->n_items == 0)
        return RF_OK;
    if (!rf_shape_has_tuples(profile->shape))
        return write_range_panel(html, profile);
    if (html->setup->view.symbols == NULL || !rf_view_knows(profile, RF_BY_STACK))
        return RF_OK;
    rf_status status = write_stack_panel(html, profile, RF_BY_STACK, "stacks");
    return status == RF_OK ? write_stack_panel(html, profile, RF_BY_CALLER, "callers") : status;
}
