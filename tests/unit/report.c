/* Reports of profiles written by hand: every byte of every form. */
#include "report/report.h"
#include "failing.h"
#include "test.h"

static struct rf_item tuples[] = {
    {0x401136, 0x0, 0x401136, 0x0, 1240000, 1239000, 1240000, 2},
    {0x40113d, 0x1, 0x40113d, 0x1, 31000, 31000, 31400, 1},
    {0x40113d, 0xff, 0x40113d, 0xff, 31000, 30900, 31000, 1},
};
static struct rf_item interval_items[] = {
    {0x401136, 0x0, 0x401136, 0x0, 640000, 639500, 640000, 1},
    {0x401136, 0x0, 0x401136, 0x0, 600000, 599500, 600000, 1},
    {0x40113d, 0x1, 0x40113d, 0x1, 31000, 31000, 31400, 1},
};
static struct rf_interval intervals[] = {
    {5000000, 100, 0, 1},
    {5000000, 200, 1, 2},
};
static struct rf_figure figures[] = {
    {"messages", 12345},
    {"nodes-mean", 2.5},
};

/* Nested: 0..255 with 0..63 (with 16..31) and 64..127 inside, and a stranger. */
static struct rf_item ranges[] = {
    {0, 0, 255, UINT64_MAX, 50, 50, 60, 0},  {16, 0, 31, UINT64_MAX, 40, 40, 45, 0},
    {0, 0, 63, UINT64_MAX, 30, 30, 35, 0},   {256, 0, 511, UINT64_MAX, 20, 20, 25, 0},
    {64, 0, 127, UINT64_MAX, 10, 10, 15, 0},
};

static struct rf_profile profile_of_tuples(void)
{
    return (struct rf_profile){
        .selector = (char *)"load -> pc,value",
        .engine = (char *)"multihash(tables=4)",
        .seed = 7,
        .shape = RF_SHAPE_TUPLE,
        .bound = RF_BOUND_HARD,
        .produced = 10000005,
        .consumed = 10000000,
        .lost = 5,
        .memory = 17600,
        .bits = 8192,
        .absent_upper = 300,
        .items = tuples,
        .n_items = 3,
        .interval_length = 5000000,
        .n_intervals_seen = 2,
        .intervals = intervals,
        .n_intervals = 2,
        .interval_items = interval_items,
        .n_interval_items = 3,
        .figures = figures,
        .n_figures = 2,
    };
}

static struct rf_profile profile_of_ranges(unsigned shape)
{
    return (struct rf_profile){
        .selector = (char *)"",
        .engine = (char *)"rap",
        .shape = (uint8_t)shape,
        .bound = RF_BOUND_HARD,
        .produced = 150,
        .consumed = 150,
        .items = ranges,
        .n_items = 5,
    };
}

static char written[1 << 16];

/* The report of one profile as text; the status it ended with. */
static rf_status report(const char *form, struct rf_profile *profile,
                        const struct rf_report_setup *setup, const struct rf_alloc *alloc)
{
    struct rf_note note = {(char *)"exit-status", (char *)"0"};
    struct rf_module module = {(char *)"/bin/a \"b\"", (char *)"c0de", 9, 0x1000, 0x2000, 0, 1, 2};
    struct rf_run run = {
        .command = (char *)"sort \"x\"\t\x1b[1m\xff\xc3\xa9",
        .version = (char *)"0.0",
        .profiles = &profile,
        .n_profiles = 1,
        .modules = &module,
        .n_modules = 1,
        .notes = &note,
        .n_notes = 1,
    };
    profile->alloc = *alloc;
    FILE *out = fmemopen(written, sizeof written, "w");
    rf_status status = rf_report_find(form)->write(out, &run, setup, NULL);
    fclose(out);
    return status;
}

static rf_status report_plain(const char *form, struct rf_profile *profile,
                              const struct rf_report_setup *setup)
{
    struct failing failing = {.fail_at = 0};
    struct rf_alloc alloc = failing_alloc(&failing);
    rf_status status = report(form, profile, setup, &alloc);
    CHECK_EQ(failing.held, 0);
    CHECK_EQ(failing.mistakes, 0);
    return status;
}

TEST(csv_of_tuples)
{
    struct rf_profile profile = profile_of_tuples();
    CHECK_EQ(report_plain("csv", &profile, &(struct rf_report_setup){.view.rows = 2}), RF_OK);
    CHECK_TEXT(written, "pc,value,count,lower,upper,bound,intervals,profile\n"
                        "0x401136,0x0,1240000,1239000,1240000,hard,2,\"load -> pc,value\"\n"
                        "0x40113d,0x1,31000,31000,31400,hard,1,\"load -> pc,value\"\n");
}

TEST(csv_per_interval)
{
    struct rf_profile profile = profile_of_tuples();
    CHECK_EQ(report_plain("csv", &profile, &(struct rf_report_setup){.per_interval = 1}), RF_OK);
    CHECK_TEXT(written, "interval,pc,value,count,lower,upper,bound,profile\n"
                        "0,0x401136,0x0,640000,639500,640000,hard,\"load -> pc,value\"\n"
                        "1,0x401136,0x0,600000,599500,600000,hard,\"load -> pc,value\"\n"
                        "1,0x40113d,0x1,31000,31000,31400,hard,\"load -> pc,value\"\n");
}

TEST(intervals_that_were_not_kept_are_refused)
{
    struct rf_profile profile = profile_of_tuples();
    profile.n_intervals = 0;
    static const char *const forms[] = {"text", "csv", "json"};
    for (size_t i = 0; i < 3; i++)
        CHECK_EQ(report_plain(forms[i], &profile, &(struct rf_report_setup){.per_interval = 1}),
                 RF_ENOTSUP);
}

TEST(csv_of_ranges_has_totals)
{
    static const char expected[] = "lo,hi,count,lower,upper,bound,total,profile\n"
                                   "0x0,0xff,50,50,60,hard,130,tuples\n"
                                   "0x10,0x1f,40,40,45,hard,40,tuples\n"
                                   "0x0,0x3f,30,30,35,hard,70,tuples\n"
                                   "0x100,0x1ff,20,20,25,hard,20,tuples\n"
                                   "0x40,0x7f,10,10,15,hard,10,tuples\n";
    struct rf_profile profile = profile_of_ranges(RF_SHAPE_RANGE_A);
    CHECK_EQ(report_plain("csv", &profile, &(struct rf_report_setup){.view.rows = 0}), RF_OK);
    CHECK_TEXT(written, expected);
    for (size_t i = 0; i < 5; i++) {
        ranges[i].b = ranges[i].a;
        ranges[i].b_hi = ranges[i].a_hi;
        ranges[i].a = 0;
        ranges[i].a_hi = UINT64_MAX;
    }
    profile.shape = RF_SHAPE_RANGE_B;
    CHECK_EQ(report_plain("csv", &profile, &(struct rf_report_setup){.view.rows = 0}), RF_OK);
    CHECK_TEXT(written, expected);
    for (size_t i = 0; i < 5; i++) {
        ranges[i].a = ranges[i].b;
        ranges[i].a_hi = ranges[i].b_hi;
        ranges[i].b = 0;
        ranges[i].b_hi = UINT64_MAX;
    }
}

TEST(a_range_over_everything_holds_everything)
{
    struct rf_item items[] = {
        {0, 0, UINT64_MAX, UINT64_MAX, 3, 3, 3, 0},
        {5, 0, UINT64_MAX, UINT64_MAX, 2, 2, 2, 0},
        {9, 0, 4 /* hostile */, UINT64_MAX, 1, 1, 1, 0},
    };
    struct rf_profile profile = profile_of_ranges(RF_SHAPE_RANGE_A);
    profile.items = items;
    profile.n_items = 3;
    CHECK_EQ(report_plain("csv", &profile, &(struct rf_report_setup){.view.rows = 0}), RF_OK);
    CHECK_TEXT(written, "lo,hi,count,lower,upper,bound,total,profile\n"
                        "0x0,0xffffffffffffffff,3,3,3,exact,6,tuples\n"
                        "0x5,0xffffffffffffffff,2,2,2,exact,3,tuples\n"
                        "0x9,0x4,1,1,1,exact,1,tuples\n");
}

TEST(csv_of_rectangles)
{
    struct rf_item items[] = {
        {0, 0, 15, 15, 5, 5, 5, 0},
        {0, 0, 7, 7, 4, 4, 4, 0},
        {8, 0, 15, 7, 2, 2, 2, 0},
    };
    struct rf_profile profile = profile_of_ranges(RF_SHAPE_RECTANGLE);
    profile.items = items;
    profile.n_items = 3;
    CHECK_EQ(report_plain("csv", &profile, &(struct rf_report_setup){.view.rows = 2}), RF_OK);
    CHECK_TEXT(written, "a_lo,a_hi,b_lo,b_hi,count,lower,upper,bound,total,profile\n"
                        "0x0,0xf,0x0,0xf,5,5,5,exact,11,tuples\n"
                        "0x0,0x7,0x0,0x7,4,4,4,exact,4,tuples\n");
}

TEST(text_of_instructions_with_their_top_value)
{
    struct rf_profile profile = profile_of_tuples();
    CHECK_EQ(report_plain("text", &profile, &(struct rf_report_setup){.view.rows = 2}), RF_OK);
    CHECK_TEXT(written, "10.0 M loads (5 lost)\n"
                        "\n"
                        "      loads   count  pc        values  top value  of this load\n"
                        " 12.3-99.4%  1.24 M  0x401136      1+  0           12.4-100.0%\n"
                        "  0.6-87.7%  62,000  0x40113d      2+  1             0.3-50.5%\n"
                        " Ranges hold always; what is not listed has at most 300 loads.\n");
}

TEST(text_with_details)
{
    struct rf_profile profile = profile_of_tuples();
    const struct rf_report_setup setup = {.view = {.rows = 2, .by = RF_BY_ITEM}, .details = 1};
    CHECK_EQ(report_plain("text", &profile, &setup), RF_OK);
    CHECK_TEXT(written, "10.0 M loads (5 lost)\n"
                        "\n"
                        " loads      count   at least    at most  intervals  pc        value\n"
                        " 12.4%  1,240,000  1,239,000  1,240,000          2  0x401136  0\n"
                        "  0.3%     31,000     31,000     31,400          1  0x40113d  1\n"
                        " 1 more row, 0.3%\n"
                        " Ranges hold always; what is not listed has at most 300 loads.\n"
                        "\n"
                        "command     sort \"x\"\\x09\\x1b[1m\\xff\xc3\xa9\n"
                        "exit-status 0\n"
                        "\n"
                        "profile     load -> pc,value\n"
                        "engine      multihash(tables=4), seed 7\n"
                        "memory      17.2 KiB; as hardware 1.0 KiB of storage\n"
                        "events      10,000,005 produced, 10,000,000 consumed, 5 lost\n"
                        "intervals   2 of 5,000,000 events\n"
                        "bounds      always hold; what is not listed has at most 300\n"
                        "messages    12,345\n"
                        "nodes-mean  2.5\n");
}

TEST(text_of_one_exact_word)
{
    struct rf_profile profile = profile_of_tuples();
    profile.selector = (char *)"alu -> pc";
    profile.bound = RF_BOUND_EXACT;
    profile.absent_upper = profile.n_intervals_seen = profile.bits = profile.n_figures = 0;
    const struct rf_report_setup setup = {.view = {.rows = 1, .by = RF_BY_ITEM}, .width = 20};
    struct rf_item item = {0x401136, 0, 0x401136, 0, 1240000, 1240000, 1240000, 0};
    profile.items = &item;
    profile.n_items = 1;
    CHECK_EQ(report_plain("text", &profile, &setup), RF_OK);
    CHECK_TEXT(written, "10.0 M results (5 lost)\n"
                        "\n"
                        " results   count  pc\n"
                        "   12.4%  1.24 M  0x401136\n"); /* a number is never cut */
}

/* Three thirds are 33.4, 33.3 and 33.3 percent; what is not shown counts, too. */
TEST(shares_add_up)
{
    struct rf_item items[7];
    struct rf_profile profile = {.selector = (char *)"insn -> pc",
                                 .engine = (char *)"exact",
                                 .produced = 7,
                                 .consumed = 7,
                                 .items = items,
                                 .n_items = 7};
    for (uint64_t i = 0; i < 7; i++)
        items[i] = (struct rf_item){i, 0, i, 0, 1, 1, 1, 0};
    CHECK_EQ(report_plain("text", &profile, &(struct rf_report_setup){.view.rows = 5}), RF_OK);
    const char *line = strchr(written, '%');
    double sum = 0;
    for (int n = 0; line != NULL && n < 6; n++, line = strchr(line + 1, '%'))
        sum += strtod(line - 4, NULL);
    CHECK(sum > 99.99 && sum < 100.01);
    CHECK(strstr(written, " 2 more rows, 28.5%\n") != NULL);
}

/* 98.95% is 99.0% in every table, whatever else there is in it. */
TEST(hot_rows_are_rounded_to_the_nearest)
{
    struct rf_item items[] = {{1, 0, 1, 0, 9895, 9895, 9895, 0},
                              {2, 0, 2, 0, 58, 58, 58, 0},
                              {3, 0, 3, 0, 47, 47, 47, 0}};
    struct rf_profile profile = {.selector = (char *)"insn -> pc",
                                 .engine = (char *)"exact",
                                 .produced = 10000,
                                 .consumed = 10000,
                                 .items = items,
                                 .n_items = 3};
    for (uint64_t rows = 1; rows <= 3; rows++) {
        CHECK_EQ(report_plain("text", &profile, &(struct rf_report_setup){.view.rows = rows}),
                 RF_OK);
        CHECK(strstr(written, " 99.0%") != NULL && strstr(written, " 98.9%") == NULL);
    }
}

TEST(numbers_for_people)
{
    static const struct {
        uint64_t n;
        const char *text;
    } cases[] = {{0, "0"},
                 {999999, "999,999"},
                 {1000000, "1.00 M"},
                 {9994999, "9.99 M"},
                 {9995000, "10.0 M"},
                 {43272239, "43.3 M"},
                 {999949999, "999.9 M"},
                 {999950000, "1.00 G"},
                 {UINT64_MAX, "18446.7 P"}};
    char number[RF_REPORT_NUMBER_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(rf_report_short(number, cases[i].n), cases[i].text);
    CHECK_TEXT(rf_report_group(number, 18446744073709551615u), "18,446,744,073,709,551,615");
}

/* A share is one number only where its bounds round to the same. */
TEST(shares_for_people)
{
    static const struct {
        double share, low, high;
        unsigned bound;
        const char *text;
    } cases[] = {
        {0.987, 0.987, 0.987, RF_BOUND_EXACT, "98.7%"},
        {0.987, 0.98651, 0.98749, RF_BOUND_HARD, "98.7%"},
        {0.987, 0.9864, 0.987, RF_BOUND_HARD, "98.6-98.7%"},
        {0.5, 0.12345, 0.99001, RF_BOUND_HARD, "12.3-99.1%"},
        {0.124, 0.121, 0.127, RF_BOUND_CONFIDENCE, "12.4% +-0.3"},
        {0, 0, 0, RF_BOUND_EXACT, "0.0%"},
        {1, 1, 1, RF_BOUND_HARD, "100.0%"},
        {0.9999, 0.9999, 0.9999, RF_BOUND_EXACT, "99.9%"},
        {0.9999, 0.9998, 1, RF_BOUND_HARD, "99.9%"},
    };
    char text[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct rf_view_cell cell = {
            .text = "", .share = cases[i].share, .low = cases[i].low, .high = cases[i].high};
        rf_report_share(text, sizeof text, &cell, cases[i].bound);
        CHECK_TEXT(text, cases[i].text);
    }
}

TEST(long_texts_are_cut_with_a_mark)
{
    char text[32] = "spread (rank.c:44)", wide[32] = "gr\xc3\xbc\xc3\x9f von \xc3\xa4rger";
    rf_report_cut(text, 18);
    CHECK_TEXT(text, "spread (rank.c:44)");
    rf_report_cut(text, 10);
    CHECK_TEXT(text, "spread ...");
    rf_report_cut(wide, 7);
    CHECK_TEXT(wide, "gr\xc3\xbc\xc3\x9f...");
}

TEST(text_with_colour_and_nothing_to_show)
{
    struct rf_profile profile = profile_of_tuples();
    CHECK_EQ(report_plain("text", &profile, &(struct rf_report_setup){.view.rows = 2, .colour = 1}),
             RF_OK);
    CHECK(strstr(written, "\033[1m      loads") != NULL);
    CHECK(strstr(written, "\033[1m 12.3-99.4%") != NULL);
    CHECK(strstr(written, "\n  0.6-87.7%") != NULL);
    profile.n_items = 0;
    CHECK_EQ(report_plain("text", &profile, &(struct rf_report_setup){.view.rows = 2}), RF_OK);
    CHECK(strstr(written, " nothing was found\n") != NULL);
    CHECK(strstr(written, "top value") == NULL);
}

TEST(json_of_tuples)
{
    struct rf_profile profile = profile_of_tuples();
    profile.bound = RF_BOUND_CONFIDENCE;
    profile.confidence = 0.95;
    CHECK_EQ(report_plain("json", &profile,
                          &(struct rf_report_setup){.view.rows = 1, .per_interval = 1}),
             RF_OK);
    CHECK_TEXT(
        written,
        "{\n"
        "  \"schema\": 2,\n"
        "  \"riffle\": \"0.0\",\n"
        "  \"command\": \"sort \\\"x\\\"\\u0009\\u001b[1m\\ufffd\xc3\xa9\",\n"
        "  \"notes\": [\n"
        "    {\"name\": \"exit-status\", \"text\": \"0\"}\n"
        "  ],\n"
        "  \"modules\": [\n"
        "    {\"path\": \"/bin/a \\\"b\\\"\", \"build_id\": \"c0de\", \"process\": 9, \"start\": "
        "\"0x1000\", \"end\": \"0x2000\", \"offset\": \"0x0\", \"from_event\": 1, \"to_event\": "
        "2}\n"
        "  ],\n"
        "  \"profiles\": [\n"
        "    {\n"
        "      \"selector\": \"load -> pc,value\",\n"
        "      \"engine\": \"multihash(tables=4)\",\n"
        "      \"seed\": 7,\n"
        "      \"shape\": \"tuple\",\n"
        "      \"bound\": \"confidence\",\n"
        "      \"confidence\": 0.95,\n"
        "      \"produced\": 10000005,\n"
        "      \"consumed\": 10000000,\n"
        "      \"lost\": 5,\n"
        "      \"memory_bytes\": 17600,\n"
        "      \"hardware_bits\": 8192,\n"
        "      \"absent_upper\": 300,\n"
        "      \"interval_length\": 5000000,\n"
        "      \"intervals_seen\": 2,\n"
        "      \"figures\": [{\"name\": \"messages\", \"value\": 12345}, {\"name\": "
        "\"nodes-mean\", \"value\": 2.5}],\n"
        "      \"by\": \"item\", \"rows_found\": 3, \"rows\": [\n"
        "        {\"pc\": \"0x401136\", \"value\": \"0x0\", \"count\": 1240000, \"lower\": "
        "1239000, \"upper\": 1240000, \"bound\": \"confidence\", \"intervals\": 2}\n"
        "      ],\n"
        "      \"intervals\": [\n"
        "        {\"interval\": 0, \"events\": 5000000, \"absent_upper\": 100, \"by\": "
        "\"item\", \"rows_found\": 1, \"rows\": [\n"
        "          {\"pc\": \"0x401136\", \"value\": \"0x0\", \"count\": 640000, \"lower\": "
        "639500, \"upper\": 640000, \"bound\": \"confidence\"}\n"
        "        ]},\n"
        "        {\"interval\": 1, \"events\": 5000000, \"absent_upper\": 200, \"by\": "
        "\"item\", \"rows_found\": 2, \"rows\": [\n"
        "          {\"pc\": \"0x401136\", \"value\": \"0x0\", \"count\": 600000, \"lower\": "
        "599500, \"upper\": 600000, \"bound\": \"confidence\"}\n"
        "        ]}\n"
        "      ]\n"
        "    }\n"
        "  ]\n"
        "}\n");
}

/* Whichever allocation fails, the report ends with RF_ENOMEM and gives everything back. */
TEST(without_memory)
{
    static const char *const forms[] = {"text", "csv", "json"};
    static const enum rf_view_by ways[] = {RF_BY_STANDARD, RF_BY_ITEM, RF_BY_VALUE};
    struct rf_profile both[] = {profile_of_tuples(), profile_of_ranges(RF_SHAPE_RANGE_A)};
    for (size_t i = 0; i < 18; i++) {
        const struct rf_report_setup setup = {.view.by =
                                                  i / 6 == 2 && i % 2 ? RF_BY_ITEM : ways[i / 6]};
        rf_status status = RF_ENOMEM;
        uint64_t n = 0;
        while (status == RF_ENOMEM && n < 200) {
            struct failing failing = {.fail_at = ++n};
            struct rf_alloc alloc = failing_alloc(&failing);
            status = report(forms[i / 2 % 3], &both[i % 2], &setup, &alloc);
            CHECK_EQ(failing.held, 0);
        }
        CHECK_EQ(status, RF_OK);
        CHECK(n > 2);
    }
}

TEST(a_full_disk_is_told)
{
    static const char *const forms[] = {"text", "csv", "json"};
    struct rf_run run = {.command = (char *)"x", .version = (char *)"0"};
    struct rf_profile profile = profile_of_tuples(), *profiles = &profile;
    run.profiles = &profiles;
    run.n_profiles = 1;
    for (size_t i = 0; i < 3; i++) {
        FILE *out = fopen("/dev/full", "w");
        REQUIRE(out != NULL);
        CHECK_EQ(rf_report_find(forms[i])->write(out, &run,
                                                 &(struct rf_report_setup){.view.rows = 0}, NULL),
                 RF_EIO);
        fclose(out);
    }
}

TEST(forms_are_found_by_name)
{
    CHECK(rf_report_find("nothing") == NULL);
    for (size_t i = 0; rf_report_forms()[i] != NULL; i++)
        CHECK(rf_report_find(rf_report_forms()[i]->name) == rf_report_forms()[i]);
}

TEST_MAIN()
