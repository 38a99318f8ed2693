/* The HTML form: its data can hold any bytes, its axes end where the heat ends, no failure is lost. */
#include "report/html/html.h"
#include "failing.h"
#include "test.h"

/* ---- data ---- */

static char written[1 << 17];

static const char *text_as_data(const char *text)
{
    struct rf_html html = {.out = fmemopen(written, sizeof written, "w")};
    rf_html_text(&html, NULL, text);
    fclose(html.out);
    return written;
}

TEST(texts_cannot_end_the_data)
{
    static const struct {
        const char *text, *data;
    } cases[] = {
        {"spread", "\"spread\""},
        {"</script>", "\"\\u003c/script\\u003e\""},
        {"a\"b\\c&'", "\"a\\u0022b\\u005cc\\u0026\\u0027\""},
        {"\x1b[1m", "\"\\u005cx1b[1m\""},
        {"\xff\xc3\xa9", "\"\\u005cxff\xc3\xa9\""},
        {"\xe2\x80\xa8", "\"\\u005cu2028\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(text_as_data(cases[i].text), cases[i].data);
}

/* ---- axes ---- */

TEST(bins_end_where_spans_end)
{
    struct rf_html_span spans[] = {{0x7000, 0x7000, 5}, {16, 19, 4}, {20, 23, 6}, {16, 19, 2}};
    struct rf_html_axis axis;
    rf_html_axis_make(&axis, spans, 4, 2);
    CHECK_EQ(axis.n, 2);
    CHECK_EQ(axis.bins[0].lo, 16);
    CHECK_EQ(axis.bins[0].hi, 23);
    CHECK_EQ(axis.bins[1].lo, 0x7000);
    CHECK_EQ((uint64_t)axis.bins[0].weight, 12);
}

TEST(inner_spans_count)
{
    struct rf_html_span spans[] = {{0, UINT64_MAX, 100}, {8, 15, 3}, {12, 13, 1}, {64, 127, 2}};
    struct rf_html_axis axis;
    rf_html_axis_make(&axis, spans, 4, 10);
    CHECK_EQ(axis.n, 2);
    CHECK_EQ(axis.bins[0].lo, 12);
    CHECK_EQ(axis.bins[1].hi, 127);
}

TEST(a_span_is_shared_by_the_bins_it_touches)
{
    struct rf_html_span spans[] = {{0, 3, 1}, {4, 7, 1}};
    struct rf_html_axis axis;
    size_t n;
    rf_html_axis_make(&axis, spans, 2, 4);
    CHECK_EQ(rf_html_axis_find(&axis, 2, 9, &n), 0);
    CHECK_EQ(n, 2);
    CHECK_EQ((uint64_t)(1000 * rf_html_axis_part(&axis, 0, 2, 9)), 250);
    CHECK_EQ((uint64_t)(1000 * rf_html_axis_part(&axis, 1, 2, 9)), 500);
    CHECK_EQ(rf_html_axis_find(&axis, 8, 9, &n), 2);
    CHECK_EQ(n, 0);
}

TEST(many_points_fit_few_bins)
{
    static struct rf_html_span spans[10000];
    struct rf_html_axis axis;
    for (size_t i = 0; i < 10000; i++)
        spans[i] = (struct rf_html_span){i * i, i * i, (double)(i % 7)};
    rf_html_axis_make(&axis, spans, 10000, 1000);
    CHECK_EQ(axis.n, RF_HTML_BINS_MAX);
    for (size_t i = 1; i < axis.n; i++)
        CHECK(axis.bins[i].lo > axis.bins[i - 1].hi);
    rf_html_axis_make(&axis, spans, 0, 10);
    CHECK_EQ(axis.n, 0);
}

/* ---- the page ---- */

static struct rf_item tuples[] = {{0x10, 1, 0x10, 1, 50, 40, 60, 2},
                                  {0x20, 2, 0x20, 2, 9, 9, 9, 1}};
static struct rf_item per_interval[] = {{0x10, 1, 0x10, 1, 30, 30, 30, 1},
                                        {0x10, 1, 0x10, 1, 20, 10, 30, 1},
                                        {0x20, 2, 0x20, 2, 9, 9, 9, 1}};
static struct rf_interval intervals[] = {{50, 1, 0, 1}, {50, 1, 1, 2}};
static struct rf_item boxes[] = {{0, 0, 255, 255, 50, 50, 60, 0},
                                 {16, 16, 31, 31, 40, 40, 45, 0},
                                 {64, 16, 127, 31, 10, 10, 10, 0}};

static rf_status write_page(FILE *out, unsigned shape, const struct rf_alloc *alloc)
{
    bool points = shape == RF_SHAPE_TUPLE;
    struct rf_profile profile = {.alloc = *alloc,
                                 .selector = (char *)"",
                                 .engine = (char *)"multihash",
                                 .shape = (uint8_t)shape,
                                 .bound = RF_BOUND_HARD,
                                 .produced = 100,
                                 .consumed = 100,
                                 .items = points ? tuples : boxes,
                                 .n_items = points ? 2 : 3,
                                 .interval_length = 50,
                                 .n_intervals_seen = points ? 2 : 0,
                                 .intervals = intervals,
                                 .n_intervals = points ? 2 : 0,
                                 .interval_items = per_interval,
                                 .n_interval_items = points ? 3 : 0};
    struct rf_profile *profiles = &profile;
    struct rf_run run = {.command = (char *)"</script><b>",
                         .version = (char *)"0",
                         .profiles = &profiles,
                         .n_profiles = 1};
    return rf_report_find("html")->write(out, &run, &(struct rf_report_setup){.view.rows = 20},
                                         NULL);
}

static size_t times(const char *part)
{
    size_t n = 0;
    for (const char *at = written; (at = strstr(at, part)) != NULL; at++)
        n++;
    return n;
}

TEST(a_page_has_what_the_profile_has)
{
    static const struct {
        unsigned shape;
        const char *parts[5];
    } cases[] = {{RF_SHAPE_TUPLE,
                  {"\"title\":\"items\"", "\"heat map\"", "\"over time\"", "\"candidates\""}},
                 {RF_SHAPE_RECTANGLE, {"\"title\":\"items\"", "\"range tree\"", "\"heat map\""}}};
    for (size_t i = 0; i < 2; i++) {
        struct failing failing = {.fail_at = 0};
        struct rf_alloc alloc = failing_alloc(&failing);
        FILE *out = fmemopen(written, sizeof written, "w");
        CHECK_EQ(write_page(out, cases[i].shape, &alloc), RF_OK);
        fclose(out);
        for (size_t k = 0; cases[i].parts[k] != NULL; k++)
            CHECK_EQ(times(cases[i].parts[k]), 1);
        CHECK_EQ(times("<script"), 2);
        CHECK_EQ(times("</script"), 2);
        CHECK_EQ(failing.held, 0);
    }
}

TEST(whichever_allocation_fails)
{
    for (unsigned shape = RF_SHAPE_TUPLE; shape <= RF_SHAPE_RECTANGLE; shape += 3) {
        rf_status status = RF_ENOMEM;
        uint64_t n = 0;
        while (status == RF_ENOMEM && n < 300) {
            struct failing failing = {.fail_at = ++n};
            struct rf_alloc alloc = failing_alloc(&failing);
            FILE *out = fmemopen(written, sizeof written, "w");
            status = write_page(out, shape, &alloc);
            fclose(out);
            CHECK_EQ(failing.held, 0);
        }
        CHECK_EQ(status, RF_OK);
        CHECK(n > 4);
    }
}

TEST(a_full_disk_is_told)
{
    struct failing failing = {.fail_at = 0};
    struct rf_alloc alloc = failing_alloc(&failing);
    FILE *out = fopen("/dev/full", "w");
    REQUIRE(out != NULL);
    CHECK_EQ(write_page(out, RF_SHAPE_TUPLE, &alloc), RF_EIO);
    fclose(out);
}

TEST_MAIN()
