/* tree.c - the hot ranges of a profile as an indented tree, outer ranges above inner ones.
 *
 *     hot         3 of 214 ranges, each above 2% without hot ones inside it
 *
 *       share  with inner
 *       1.20%     100.00%  0x0..0xffffffffffffffff
 *      16.70%      30.30%    0x0..0xfe
 *      13.60%      13.60%      0x0..0xe
 *
 * `share` is the range's share without the hot ranges inside it, so that the column adds up to the share of
 * all hot ranges; Mysore et al., figure 7. */
#include "report/hot.h"
#include <inttypes.h>
#include <string.h>

/* "0x10..0x1f", in two dimensions "0x10..0x1f x 0x0..0xf". */
static int print_box(char *text, size_t size, const struct rf_report_hot *hot,
                     const struct rf_range_box *box)
{
    enum rf_shape shape = hot->profile->shape;
    size_t n = 0;
    if (shape != RF_SHAPE_RANGE_B)
        n += rf_view_print_range(text, size, &hot->words.a, box->a, box->a_hi);
    if (shape != RF_SHAPE_RANGE_A && shape != RF_SHAPE_RANGE_B)
        n += (size_t)snprintf(text + n, size - n, " x ");
    if (shape != RF_SHAPE_RANGE_A)
        n += rf_view_print_range(text + n, size - n, &hot->words.b, box->b, box->b_hi);
    return (int)n;
}

/* What a range covers, in both dimensions. */
static void print_place(char *text, size_t size, const struct rf_report_hot *hot,
                        const struct rf_range_box *box)
{
    enum rf_shape shape = hot->profile->shape;
    char a[RF_REPORT_TEXT_MAX / 2] = "", b[RF_REPORT_TEXT_MAX / 2] = "";
    if (shape != RF_SHAPE_RANGE_B)
        rf_report_hot_name(hot, hot->words.a.meaning, box->a, box->a_hi, a, sizeof a);
    if (shape != RF_SHAPE_RANGE_A)
        rf_report_hot_name(hot, hot->words.b.meaning, box->b, box->b_hi, b, sizeof b);
    snprintf(text, size, "%s%s%s", a, a[0] != '\0' && b[0] != '\0' ? " x " : "", b);
}

static int indent_of(const struct rf_report_hot *hot, size_t i)
{
    return 2 * (int)hot->ranges[i].depth;
}

static int widest(const struct rf_report_hot *hot)
{
    char text[RF_REPORT_TEXT_MAX];
    int width = 0;
    for (size_t i = 0; i < hot->n; i++) {
        int own = indent_of(hot, i) + print_box(text, sizeof text, hot, &hot->ranges[i].node->box);
        width = own > width ? own : width;
    }
    return width;
}

static void write_range(FILE *out, const struct rf_report_hot *hot, size_t i, int width)
{
    char box[RF_REPORT_TEXT_MAX], place[RF_REPORT_TEXT_MAX + 8];
    const struct rf_range_node *node = hot->ranges[i].node;
    int indent = indent_of(hot, i);
    print_box(box, sizeof box, hot, &node->box);
    print_place(place, sizeof place, hot, &node->box);
    fprintf(out, "%6.2f%%  %9.2f%%  %*s", rf_report_hot_share(hot, node->weight),
            rf_report_hot_share(hot, node->total), indent, "");
    if (place[0] != '\0')
        fprintf(out, "%-*s  %s\n", width - indent, box, place);
    else
        fprintf(out, "%s\n", box);
}

static rf_status draw(FILE *out, const struct rf_profile *profile, const struct rf_report_hot *hot)
{
    int width = widest(hot);
    (void)profile;
    fputs("  share  with inner\n", out);
    for (size_t i = 0; i < hot->n && !ferror(out); i++)
        write_range(out, hot, i, width);
    return RF_OK;
}

static rf_status write_run(FILE *out, const struct rf_run *run, const struct rf_report_setup *setup,
                           struct rf_error *error)
{
    return rf_report_hot_write_run(out, run, setup, RF_REPORT_HOT_RANGES, draw, error);
}

const struct rf_report_form rf_report_tree = {
    .name = "tree",
    .brief = "hot ranges, indented, with their shares",
    .needs = "ranges (engine rap)",
    .write = write_run,
};
