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

/* From the table on: what is before it is tested elsewhere. */
static const char *report(const char *form)
{
    struct rf_report_setup setup = {.items = 0, .width = width};
    memset(written, 0, sizeof written);
    CHECK_EQ(rf_symbols_open(&setup.symbols, &program.run, NULL, NULL), RF_OK);
    FILE *out = fmemopen(written, sizeof written, "w");
    CHECK_EQ(rf_report_find(form)->write(out, &program.run, &setup), RF_OK);
    fclose(out);
    rf_symbols_close(setup.symbols);
    CHECK_EQ(failing.held, 0);
    const char *table = strstr(written, "\n\n");
    return table != NULL ? table + 2 : written;
}

static rf_status annotate(const char *function, struct rf_error *error)
{
    struct rf_report_setup setup = {.items = 0};
    memset(written, 0, sizeof written);
    CHECK_EQ(rf_symbols_open(&setup.symbols, &program.run, NULL, NULL), RF_OK);
    FILE *out = fmemopen(written, sizeof written, "w");
    rf_status status = rf_report_annotate(out, &program.run, &setup, function, error);
    fclose(out);
    rf_symbols_close(setup.symbols);
    CHECK_EQ(failing.held, 0);
    return status;
}

TEST(values_have_place_and_share_of_their_pc)
{
    REQUIRE(begin("fixed", "load -> pc,value"));
    uint64_t plain = address_of("plain"), twice = address_of("twice");
    add(plain, 0x2a, 600);
    add(plain, 7, 200);
    add(twice, 1, 100);
    snprintf(expected, sizeof expected,
             " share: of all 1,000 events; of pc: of all values found at that pc\n\n"
             "  share  count   of pc  pc        value  place\n"
             " 60.00%%    600   75.0%%  0x%llx  0x2a   plain (marked.c:%u)\n"
             " 20.00%%    200   25.0%%  0x%llx  0x7    plain (marked.c:%u)\n"
             " 10.00%%    100  100.0%%  0x%llx  0x1    twice (marked.c:%u) in host (marked.c:%u)\n",
             (unsigned long long)plain, line_of("plain"), (unsigned long long)plain,
             line_of("plain"), (unsigned long long)twice, line_of("twice"),
             line_with("inlined call stands"));
    CHECK_TEXT(report("text"), expected);
}

/* Names give way, with a mark; numbers do not. */
TEST(on_a_terminal_the_last_column_is_cut)
{
    REQUIRE(begin("fixed", "load -> pc,value"));
    uint64_t twice = address_of("twice");
    add(twice, UINT64_MAX, 1000);
    width = 80;
    const char *table = report("text");
    width = 0;
    const char *row = strstr(table, "100.00%");
    REQUIRE(row != NULL);
    CHECK_EQ(strcspn(row - 1, "\n"), 80);
    CHECK(strstr(row, "0xffffffffffffffff  twice (marked.c") != NULL);
    CHECK(strstr(row, "...\n") != NULL);
    CHECK(strstr(report("text"), "in host (marked.c:") != NULL);
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
    const char *table = report("text");
    snprintf(expected, sizeof expected, "plain (marked.c:%u) -> hidden\n", line_of("plain"));
    CHECK(strstr(table, "caller -> callee\n") != NULL);
    CHECK(strstr(table, expected) != NULL);
    profile.selector = (char *)"branch,jump -> pc,target";
    table = report("text");
    CHECK(strstr(table, "from -> to\n") != NULL);
    snprintf(expected, sizeof expected,
             "plain (marked.c:%u) -> hidden (marked.c:", line_of("plain"));
    CHECK(strstr(table, expected) != NULL);
    profile.selector = (char *)"call,return -> pc,target";
    CHECK(strstr(report("text"), "from -> to\n") != NULL);
}

TEST(calls_with_returns_are_not_headed_as_calls)
{
    REQUIRE(begin("fixed", "call,return -> pc,target"));
    add(address_of("plain"), address_of("twice"), 1000);
    const char *table = report("text");
    CHECK(strstr(table, "from -> to\n") != NULL);
    CHECK(strstr(table, "caller") == NULL);
}

TEST(data_addresses_have_objects)
{
    REQUIRE(begin("fixed", "load -> pc,addr"));
    add(address_of("plain"), program.data[0].address, 10);
    const char *table = report("text");
    CHECK(strstr(table, "  place at data\n") != NULL);
    CHECK(strstr(table, ") at table+0x8 (.data of fixed)\n") != NULL);
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

TEST(json_items_have_symbols)
{
    REQUIRE(begin("fixed", "call -> pc,target"));
    add(address_of("plain"), address_of("hidden"), 10);
    report("json");
    CHECK(strstr(written, "\"symbol\": {\"a\": {\"module\": \"fixed\", \"function\": \"plain\", "
                          "\"offset\": \"0x") != NULL);
    CHECK(strstr(written, "\"b\": {\"module\": \"fixed\", \"function\": \"hidden\"") != NULL);
    snprintf(expected, sizeof expected, "tests/fixture/marked.c\", \"line\": %u}",
             line_of("plain"));
    CHECK(strstr(written, expected) != NULL);
    report("csv");
    CHECK(strstr(written, "plain") == NULL);
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
    CHECK(strstr(written, "profile     load -> pc,value\n") == written);
    CHECK(strstr(written, "tests/fixture/marked.c, 750 of 1,000 events (75.00%)\n") != NULL);
    snprintf(expected, sizeof expected,
             "           750  75.00%%  0x2a 80.0%%                  %8u      MARK(\"plain\");\n",
             line_of("plain"));
    CHECK(strstr(written, expected) != NULL);
    snprintf(expected, sizeof expected, "%52s%8u      return x + 1;\n", "", line_of("plain") + 1);
    CHECK(strstr(written, expected) != NULL);
    CHECK(strstr(written, "__attribute__((noinline)) int plain(int x)\n") != NULL);
    CHECK(strstr(written, "inlined call stands") == NULL);
    CHECK_EQ(annotate("host", NULL), RF_OK);
    CHECK(strstr(written, "           100  10.00%  0x1 100.0%") != NULL);
    CHECK(strstr(written, "return twice(x) + 1;") != NULL);
}

TEST(without_source_there_is_the_disassembly)
{
    REQUIRE(begin("bare", "load -> pc,value"));
    add(address_of("plain"), 0x2a, 600);
    CHECK_EQ(annotate("plain", NULL), RF_OK);
    CHECK(strstr(written, "address  instruction\n") != NULL);
    const char *hit = strstr(written, "           600  60.00%  0x2a 100.0%");
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
        const struct rf_report_setup setup = {.symbols = symbols};
        failing = (struct failing){.fail_at = at};
        FILE *out = fmemopen(written, sizeof written, "w");
        rf_status text = rf_report_find("text")->write(out, &program.run, &setup);
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
