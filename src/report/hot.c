/* hot.c - the hot ranges of a profile with their names; what tree.c and heat.c share. */
#include "report/hot.h"
#include "base/alloc.h"
#include <inttypes.h>
#include <riffle/engine.h>
#include <riffle/text.h>

enum { HOT_PERCENT_STANDARD = 2 };

/* Raise the threshold until the hot ranges are few enough to be shown. */
static rf_status make_tree(struct rf_report_hot *hot, const struct rf_profile *profile,
                           uint64_t most)
{
    for (;;) {
        rf_status status = rf_range_tree_make(&hot->tree, profile, hot->threshold);
        if (status != RF_OK || most == 0 || hot->tree.n_hot <= most || hot->threshold >= 1)
            return status;
        rf_range_tree_free(&hot->tree);
        hot->threshold *= 1.25;
    }
}

static unsigned hot_depth(const struct rf_range_tree *tree, const struct rf_range_node *node)
{
    unsigned depth = 0;
    for (size_t i = node->parent; i != SIZE_MAX; i = tree->nodes[i].parent)
        depth += tree->nodes[i].hot != 0;
    return depth;
}

static void list_hot(struct rf_report_hot *hot)
{
    for (size_t i = 0; i < hot->tree.n; i++) {
        const struct rf_range_node *node = &hot->tree.nodes[i];
        if (!node->hot)
            continue;
        hot->ranges[hot->n++] = (struct rf_report_hot_range){node, hot_depth(&hot->tree, node)};
    }
}

static void close_hot(struct rf_report_hot *hot)
{
    const struct rf_alloc *alloc = &hot->tree.alloc;
    size_t n = hot->tree.n_hot;
    rf_alloc_free(alloc, hot->ranges, n * sizeof *hot->ranges);
    rf_range_tree_free(&hot->tree);
}

static rf_status open_hot(struct rf_report_hot *hot, const struct rf_profile *profile,
                          const struct rf_report_setup *setup)
{
    *hot = (struct rf_report_hot){.threshold =
                                      setup->hot > 0 ? setup->hot : HOT_PERCENT_STANDARD / 100.0,
                                  .profile = profile,
                                  .symbols = setup->view.symbols};
    rf_view_words(&hot->words, profile);
    rf_status status = make_tree(hot, profile, setup->view.rows);
    if (status != RF_OK)
        return status;
    size_t n = hot->tree.n_hot;
    hot->ranges = n > 0 ? rf_alloc_get(&hot->tree.alloc, n * sizeof *hot->ranges) : NULL;
    if (n > 0 && hot->ranges == NULL) {
        close_hot(hot);
        return RF_ENOMEM;
    }
    list_hot(hot);
    return RF_OK;
}

double rf_report_hot_share(const struct rf_report_hot *hot, uint64_t count)
{
    return hot->tree.events > 0 ? 100 * (double)count / (double)hot->tree.events : 0;
}

void rf_report_hot_name(const struct rf_report_hot *hot, enum rf_meaning kind, uint64_t lo,
                        uint64_t hi, char *text, size_t size)
{
    text[0] = '\0';
    if (kind == RF_MEANS_NUMBER || hot->symbols == NULL)
        return;
    char name[RF_REPORT_TEXT_MAX];
    rf_symbols_name_range(hot->symbols, lo, hi, name, sizeof name);
    rf_text_readable(text, size, name);
}

static void write_text(FILE *out, const char *label, const char *text)
{
    fprintf(out, "%-12s", label);
    rf_write_readable(out, text);
    fputc('\n', out);
}

static void write_head(FILE *out, const struct rf_run *run, const struct rf_profile *profile,
                       const struct rf_report_hot *hot)
{
    if (run->command[0] != '\0')
        write_text(out, "command", run->command);
    if (profile->selector[0] != '\0')
        write_text(out, "profile", profile->selector);
    char engine[RF_REPORT_TEXT_MAX];
    size_t n = rf_engine_shorten(profile->engine, engine, sizeof engine);
    write_text(out, "engine", n < sizeof engine ? engine : profile->engine);
    fprintf(out, "%-12s%" PRIu64 "\n", "events", profile->consumed);
    fprintf(out, "%-12s%zu of %zu ranges, each above %.4g%% without hot ones inside it\n\n", "hot",
            hot->n, hot->tree.n, 100 * hot->threshold);
}

static bool fits(const struct rf_profile *profile, enum rf_report_hot_wants wants)
{
    return wants == RF_REPORT_HOT_RECTANGLES ? profile->shape == RF_SHAPE_RECTANGLE
                                             : !rf_shape_has_tuples(profile->shape);
}

rf_status rf_report_hot_write_run(FILE *out, const struct rf_run *run,
                                  const struct rf_report_setup *setup,
                                  enum rf_report_hot_wants wants, rf_report_hot_draw *draw,
                                  struct rf_error *error)
{
    size_t n = 0;
    (void)error;
    for (size_t i = 0; i < run->n_profiles; i++) {
        struct rf_report_hot hot;
        const struct rf_profile *profile = run->profiles[i];
        if (rf_profile_is_companion(profile))
            continue;
        rf_status status = fits(profile, wants) ? open_hot(&hot, profile, setup) : RF_ENOTSUP;
        if (status != RF_OK)
            return status;
        fputs(n++ > 0 ? "\n" : "", out);
        write_head(out, run, profile, &hot);
        status = draw(out, profile, &hot);
        close_hot(&hot);
        if (status != RF_OK)
            return status;
    }
    return rf_report_end(out);
}
