/* Reports with names: profiles made by hand over the addresses of a real program. */
#include <unistd.h>
#include <riffle/report.h>
#include <riffle/symbol.h>
#include "base/alloc.h"
#include "failing.h"
#include "program.h"
#include "test.h"

static struct program program;
static struct rf_item items[8];
static struct rf_profile profile;
static struct rf_profile *profiles[] = {&profile};
static char written[1 << 16], expected[1 << 12];
static struct failing failing;

static uint64_t address_of(const char *function)
{
    for (size_t i = 0; i < program.n_marks; i++)
        if (strcmp(program.marks[i].function, function) == 0)
            return program.marks[i].address;
    return 0;
}

static uint32_t line_of(const char *function)
{
    for (size_t i = 0; i < program.n_marks; i++)
        if (strcmp(program.marks[i].function, function) == 0)
            return (uint32_t)program.marks[i].line;
    return 0;
}

static bool begin(const char *name, const char *selector)
{
    if (!program_build() || !program_load(&program, name, NULL))
        return false;
    failing = (struct failing){.fail_at = 0};
    program.run.command = (char *)"marked";
    program.run.version = (char *)"0";
    program.run.alloc = failing_alloc(&failing);
    program.run.profiles = profiles;
    program.run.n_profiles = 1;
    profile = (struct rf_profile){.alloc = failing_alloc(&failing),
                                  .selector = (char *)selector,
                                  .engine = (char *)"exact",
                                  .produced = 1000,
                                  .consumed = 1000,
                                  .items = items};
    return true;
}

static void add(uint64_t a, uint64_t b, uint64_t count)
{
    items[profile.n_items++] = (struct rf_item){a, b, a, b, count, count, count, 0};
}

static int width; /* of the terminal; 0: none */
static enum rf_view_by by;

/* From the table on: what is before it is tested elsewhere. */
static const char *report(const char *form)
{
    struct rf_report_setup setup = {.view.by = by, .width = width};
    memset(written, 0, sizeof written);
    CHECK_EQ(rf_symbols_open(&setup.view.symbols, &program.run, NULL, NULL), RF_OK);
    FILE *out = fmemopen(written, sizeof written, "w");
    CHECK_EQ(rf_report_find(form)->write(out, &program.run, &setup, NULL), RF_OK);
    fclose(out);
    rf_symbols_close(setup.view.symbols);
    CHECK_EQ(failing.held, 0);
    const char *table = strstr(written, "\n\n");
    return table != NULL ? table + 2 : written;
}

static int assembly; /* instructions below their lines */

static rf_status annotate(const char *function, struct rf_error *error)
{
    struct rf_report_setup setup = {.assembly = assembly};
    memset(written, 0, sizeof written);
    CHECK_EQ(rf_symbols_open(&setup.view.symbols, &program.run, NULL, NULL), RF_OK);
    FILE *out = fmemopen(written, sizeof written, "w");
    rf_status status = rf_report_annotate(out, &program.run, &setup, function, error);
    fclose(out);
    rf_symbols_close(setup.view.symbols);
    CHECK_EQ(failing.held, 0);
    return status;
}

TEST(loads_have_their_top_value_and_their_place)
{
    REQUIRE(begin("fixed", "load -> pc,value"));
    uint64_t plain = address_of("plain"), twice = address_of("twice");
    add(plain, 0x2a, 600);
    add(plain, 7, 200);
    add(twice, 1, 100);
    snprintf(expected, sizeof expected,
             " loads  count  values  top value  of this load  place\n"
             " 80.0%%    800       2  0x2a              75.0%%  marked.c:%u plain\n"
             " 10.0%%    100       1  1                100.0%%  marked.c:%u twice in host\n",
             line_of("plain"), line_of("twice"));
    CHECK_TEXT(report("text"), expected);
}

/* The totals are true, the values are what an engine kept: none of twice's. */
TEST(totals_are_the_denominators)
{
    REQUIRE(begin("fixed", "load -> pc,value"));
    uint64_t plain = address_of("plain"), twice = address_of("twice");
    add(plain, 0x2a, 300);
    struct rf_item sums[] = {{twice, 0, twice, 0, 600, 600, 600, 0},
                             {plain, 0, plain, 0, 400, 400, 400, 0}};
    struct rf_profile totals = profile;
    totals.selector = (char *)"load -> pc";
    totals.items = sums;
    totals.n_items = 2;
    totals.figures = &(struct rf_figure){RF_FIGURE_COMPANION, 1};
    totals.n_figures = 1;
    profile.bound = RF_BOUND_HARD;
    profile.absent_upper = 100;
    items[0].lower = 290;
    items[0].upper = 390;
    struct rf_profile *both[] = {&profile, &totals};
    program.run.profiles = both;
    program.run.n_profiles = 2;
    snprintf(expected, sizeof expected,
             " loads  count  values  top value  of this load  place\n"
             " 60.0%%    600      6+  -             0.0-16.7%%  marked.c:%u twice in host\n"
             " 40.0%%    400      2+  0x2a         72.5-97.5%%  marked.c:%u plain\n"
             " Ranges hold always; what is not listed has at most 100 loads.\n",
             line_of("twice"), line_of("plain"));
    CHECK_TEXT(report("text"), expected);
}

/* Names give way, and nothing of them is lost; numbers do not. */
TEST(on_a_narrow_terminal_the_last_column_has_its_own_line)
{
    REQUIRE(begin("fixed", "load -> pc,value"));
    uint64_t twice = address_of("twice");
    add(twice, UINT64_MAX, 1000);
    width = 78;
    const char *table = report("text");
    width = 0;
    const char *row = strstr(table, "100.0%");
    REQUIRE(row != NULL);
    CHECK(strcspn(row - 1, "\n") <= 78);
    CHECK(strstr(row, "0xffffffffffffffff        100.0%\n      marked.c:") != NULL);
    CHECK(strstr(row, "twice in host\n") != NULL);
    CHECK(strstr(report("text"), "twice in host\n") != NULL);
}

TEST(calls_have_caller_and_callee)
{
    struct rf_symbols *symbols;
    struct rf_symbol_range callee;
    size_t n;
    REQUIRE(begin("fixed", "call -> pc,target"));
    REQUIRE(rf_symbols_open(&symbols, &program.run, NULL, NULL) == RF_OK);
    REQUIRE(rf_symbols_find(symbols, "hidden", &callee, 1, &n) == RF_OK && n == 1);
    add(address_of("plain"), callee.lo, 10);
    rf_symbols_close(symbols);
    by = RF_BY_ITEM;
    const char *table = report("text");
    snprintf(expected, sizeof expected, "marked.c:%u plain -> hidden\n", line_of("plain"));
    CHECK(strstr(table, "caller -> callee\n") != NULL);
    CHECK(strstr(table, expected) != NULL);
    profile.selector = (char *)"branch,jump -> pc,target";
    table = report("text");
    CHECK(strstr(table, "from -> to\n") != NULL);
    snprintf(expected, sizeof expected, "marked.c:%u plain -> marked.c:", line_of("plain"));
    CHECK(strstr(table, expected) != NULL);
    CHECK(strstr(table, " hidden\n") != NULL);
    profile.selector = (char *)"call,return -> pc,target";
    CHECK(strstr(report("text"), "from -> to\n") != NULL);
    by = RF_BY_STANDARD;
    CHECK(strstr(report("text"), "top target") != NULL);
}

TEST(data_addresses_have_objects)
{
    REQUIRE(begin("fixed", "load -> pc,addr"));
    add(address_of("plain"), program.data[0].address, 10);
    by = RF_BY_ITEM;
    const char *table = report("text");
    CHECK(strstr(table, "  place at data\n") != NULL);
    CHECK(strstr(table, " plain at table (.data of fixed)\n") != NULL);
    by = RF_BY_REGION;
    CHECK(strstr(report("text"), "  table (.data of fixed)\n") != NULL);
    by = RF_BY_STANDARD;
    profile.selector = (char *)"load -> addr";
    items[0].a = program.data[4].address;
    table = report("text");
    CHECK(strstr(table, "  data\n") != NULL);
    CHECK(strstr(table, "  [stack]\n") != NULL);
}

TEST(ranges_have_what_they_cover)
{
    REQUIRE(begin("fixed", "load -> pc"));
    profile.shape = RF_SHAPE_RANGE_A;
    add(address_of("plain"), 0, 10);
    items[0].a_hi = items[0].a + 1;
    items[0].b_hi = UINT64_MAX;
    const char *table = report("text");
    CHECK(strstr(table, "  covers\n") != NULL);
    CHECK(strstr(table, "  plain (fixed)\n") != NULL);
}

TEST(numbers_stay_numbers)
{
    REQUIRE(begin("fixed", "load -> value"));
    add(address_of("plain"), 0, 10);
    CHECK(strstr(report("text"), "plain") == NULL);
    profile.selector = (char *)"";
    CHECK(strstr(report("text"), "plain") == NULL);
}

TEST(rows_for_tools_have_names)
{
    REQUIRE(begin("fixed", "call -> pc,target"));
    add(address_of("plain"), address_of("hidden"), 10);
    report("json");
    CHECK(strstr(written, "\"function\": \"plain\", \"file\": \"") != NULL);
    snprintf(expected, sizeof expected,
             "tests/fixture/marked.c\", \"line\": %u, \"module\": \"fixed\", \"callee\": "
             "\"hidden\"}",
             line_of("plain"));
    CHECK(strstr(written, expected) != NULL);
    report("csv");
    CHECK(strstr(written, "pc,target,count,lower,upper,bound,function,file,line,module,callee,"
                          "profile\n") == written);
    snprintf(expected, sizeof expected,
             "tests/fixture/marked.c,%u,fixed,hidden,\"call -> pc,target\"\n", line_of("plain"));
    CHECK(strstr(written, expected) != NULL);
}

TEST(a_missing_file_is_told_below_the_tables)
{
    REQUIRE(begin("fixed", "load -> pc,value"));
    add(address_of("plain"), 0x2a, 600);
    for (size_t i = 0; i < program.run.n_modules; i++)
        if (strcmp(program.modules[i].build_id, ID) == 0)
            program.modules[i].path = "/gone/away";
    const char *table = report("text");
    CHECK(strstr(table, "  away+0x") != NULL);
    CHECK(strstr(table, "\nnames       /gone/away: it cannot be opened: No such file or directory; "
                        "its places are shown as addresses\n") != NULL);
}

TEST(source_is_annotated)
{
    REQUIRE(begin("pie", "load -> pc,value"));
    add(address_of("plain"), 0x2a, 600);
    add(address_of("plain"), 7, 150);
    add(address_of("twice"), 1, 100);
    CHECK_EQ(annotate("plain", NULL), RF_OK);
    CHECK(strstr(written, "plain in ") == written);
    CHECK(strstr(written, "tests/fixture/marked.c: 75.0% of 1,000 loads\n") != NULL);
    snprintf(expected, sizeof expected, "  75.0%%  0x2a (80.0%%)  %8u      MARK(\"plain\");\n",
             line_of("plain"));
    CHECK(strstr(written, expected) != NULL);
    snprintf(expected, sizeof expected, "\n%23s%8u      return x + 1;\n", "", line_of("plain") + 1);
    CHECK(strstr(written, expected) != NULL);
    CHECK(strstr(written, "__attribute__((noinline)) int plain(int x)\n") != NULL);
    CHECK(strstr(written, "inlined call stands") == NULL);
    CHECK_EQ(annotate("host", NULL), RF_OK);
    CHECK(strstr(written, "  10.0%  1 (100.0%)") != NULL);
    CHECK(strstr(written, "return twice(x) + 1;") != NULL);
    CHECK_EQ(annotate(NULL, NULL), RF_OK); /* the hottest comes first */
    CHECK(strstr(written, "plain in ") == written);
    CHECK(strstr(written, "\nhost in ") != NULL);
}

/* The instructions of a line stand below it. */
TEST(source_has_its_instructions)
{
    REQUIRE(begin("pie", "load -> pc,value"));
    add(address_of("plain"), 0x2a, 600);
    assembly = 1;
    CHECK_EQ(annotate("plain", NULL), RF_OK);
    assembly = 0;
    const char *line = strstr(written, "MARK(\"plain\");\n");
    REQUIRE(line != NULL);
    line = strchr(line, '\n') + 1;
    CHECK(strstr(line, "  60.0%  0x2a (100.0%)") == line);
    CHECK(strncmp(strchr(line, '\n') - 5, "  nop", 5) == 0);
}

TEST(without_source_there_is_the_disassembly)
{
    REQUIRE(begin("bare", "load -> pc,value"));
    add(address_of("plain"), 0x2a, 600);
    CHECK_EQ(annotate("plain", NULL), RF_OK);
    CHECK(strstr(written, "address  instruction\n") != NULL);
    const char *hit = strstr(written, "  60.0%  0x2a (100.0%)");
    REQUIRE(hit != NULL);
    CHECK(strncmp(strchr(hit, '\n') - 5, "  nop", 5) == 0);
    CHECK(strstr(written, "  ret\n") != NULL);
}

TEST(an_unknown_function_is_a_sentence_with_the_nearest)
{
    struct rf_error error = {""};
    REQUIRE(begin("pie", "load -> pc,value"));
    for (size_t k = 0; k < program.run.n_modules; k++)
        if (strcmp(program.modules[k].build_id, ID) != 0)
            program.modules[k].path = "[other]";
    CHECK_EQ(annotate("plani", &error), RF_EINVAL);
    CHECK_TEXT(error.message, "no function 'plani' ran; did you mean 'plain'?");
    CHECK_EQ(annotate("something_else_entirely", &error), RF_EINVAL);
    CHECK_TEXT(error.message, "no function 'something_else_entirely' in the modules of this run");
    profile.selector = (char *)"load -> value";
    CHECK_EQ(annotate("plain", &error), RF_EINVAL);
    CHECK_TEXT(error.message, "no profile of this run is by pc, so there are no counts per line");
    program.run.n_modules = 0;
    CHECK_EQ(annotate("plain", &error), RF_EINVAL);
    CHECK_TEXT(error.message, "function 'plain': this run names no modules to look for it in");
}

TEST(running_out_of_memory_is_an_error)
{
    struct rf_symbols *symbols;
    bool went_through = false;
    REQUIRE(begin("pie", "load -> pc,value"));
    REQUIRE(rf_symbols_open(&symbols, &program.run, NULL, NULL) == RF_OK);
    add(address_of("plain"), 0x2a, 600);
    for (uint64_t at = 1; at < 50 && !went_through; at++) {
        const struct rf_report_setup setup = {.view.symbols = symbols};
        failing = (struct failing){.fail_at = at};
        FILE *out = fmemopen(written, sizeof written, "w");
        rf_status text = rf_report_find("text")->write(out, &program.run, &setup, NULL);
        rf_status source = rf_report_annotate(out, &program.run, &setup, "plain", NULL);
        fclose(out);
        CHECK(text == RF_OK || text == RF_ENOMEM);
        CHECK(source == RF_OK || source == RF_ENOMEM);
        CHECK_EQ(failing.held, 0);
        CHECK_EQ(failing.mistakes, 0);
        went_through = text == RF_OK && source == RF_OK;
    }
    CHECK(went_through);
    rf_symbols_close(symbols);
}

TEST(the_programs_are_cleared_away)
{
    program_clear();
    CHECK(access(folder, F_OK) != 0);
}

TEST_MAIN()
