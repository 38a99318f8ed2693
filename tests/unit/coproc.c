/* The co-processor as a whole: records in, a profile out; the buffer, the filter, what is refused. */
#include "test.h"
#include "coproc/coproc.h"
#include <unistd.h>

struct found {
    struct rf_item items[512];
    size_t n;
    struct rf_summary summary;
};

static rf_status take_item(void *context, const struct rf_item *item)
{
    struct found *found = context;
    if (found->n < 512)
        found->items[found->n++] = *item;
    return RF_OK;
}

static rf_status take_end(void *context, const struct rf_summary *summary)
{
    ((struct found *)context)->summary = *summary;
    return RF_OK;
}

static uint64_t count_of(const struct found *found, uint64_t a)
{
    for (size_t i = 0; i < found->n; i++)
        if (found->items[i].a == a)
            return found->items[i].count;
    return 0;
}

static struct rf_coproc *open_text(const char *text)
{
    struct rf_error error = {""};
    struct rf_coproc *coproc;
    rf_coproc_open(&coproc, text, NULL, &error);
    CHECK_TEXT(error.message, "");
    return coproc;
}

static void end(struct rf_coproc *coproc, struct found *found, struct rf_coproc_totals *totals)
{
    struct rf_sink sink = {take_item, NULL, take_end, found};
    *found = (struct found){.n = 0};
    CHECK_EQ(rf_coproc_end(coproc, NULL), RF_OK);
    CHECK_EQ(rf_coproc_report(coproc, &sink, totals), RF_OK);
    rf_coproc_close(coproc);
}

static void feed(struct rf_coproc *coproc, enum rf_class kind, uint64_t pc, int times)
{
    const struct rf_record record = {.kind = (uint8_t)kind, .pc = pc};
    for (int i = 0; i < times; i++)
        rf_coproc_feed(coproc, &record, 1, NULL);
}

TEST(loads_are_counted)
{
    struct rf_coproc *coproc = open_text("loads.uc");
    struct found found;
    struct rf_coproc_totals totals;
    REQUIRE(coproc != NULL);
    CHECK_TEXT(rf_coproc_selector(coproc), "load -> pc");
    CHECK_TEXT(rf_coproc_text(coproc), "loads.uc(size=base, clock=1)");
    feed(coproc, RF_CLASS_LOAD, 0x5500001000, 7);
    feed(coproc, RF_CLASS_STORE, 0x5500001000, 5);
    feed(coproc, RF_CLASS_LOAD, 0x5500001008, 2);
    end(coproc, &found, &totals);
    CHECK_EQ(found.n, 2);
    CHECK_EQ(count_of(&found, 0x5500001000), 7); /* the upper half is known again */
    CHECK_EQ(count_of(&found, 0x5500001008), 2);
    CHECK_EQ(found.summary.events, 9);
    CHECK_EQ(totals.samples, 9);
    CHECK_EQ(totals.drops, 0);
}

/* More loads than slots: the failed counter fills, the host folds, nothing that is told is too much. */
TEST(interrupts_fold_the_slots)
{
    struct rf_coproc *coproc = open_text("loads.uc(size=half)");
    struct found found;
    struct rf_coproc_totals totals;
    REQUIRE(coproc != NULL);
    for (int round = 0; round < 400; round++)
        for (uint64_t pc = 0; pc < 60; pc++)
            feed(coproc, RF_CLASS_LOAD, 0x1000 + pc, 1 + (round % 2 == 0) * 10);
    for (uint64_t pc = 0; pc < 200; pc++)
        feed(coproc, RF_CLASS_LOAD, 0x2000 + pc, 300);
    CHECK(coproc->counts.interrupts > 0);
    CHECK_EQ(coproc->counts.overhead, coproc->counts.interrupts * 100 + coproc->counts.scanned * 2 +
                                          coproc->counts.folded * 30);
    end(coproc, &found, &totals);
    uint64_t sum = 0;
    for (size_t i = 0; i < found.n; i++)
        sum += found.items[i].count;
    CHECK_EQ(count_of(&found, 0x1000), 400 * 6);
    CHECK(sum <= totals.samples);
}

/* loads.uc takes 2 cycles for a load that it knows: at a quarter of the clock 8 of the host's. A sample is
 * 36 bits, 5 bytes: three of them fit into 16. */
TEST(a_full_buffer_drops_and_counts)
{
    struct found found;
    struct rf_coproc_totals totals;
    struct rf_coproc *coproc = open_text("loads.uc(clock=1/4, pace=1, buffer=16)");
    REQUIRE(coproc != NULL);
    CHECK_EQ(rf_coproc_sample_bytes(&coproc->program), 5);
    CHECK_EQ(coproc->buffer_size, 3);
    feed(coproc, RF_CLASS_LOAD, 0x1000, 8000);
    end(coproc, &found, &totals);
    CHECK_EQ(totals.samples, 8000);
    CHECK(totals.drops > 8000 - 8000 / 8 - 20 && totals.drops < 8000 - 8000 / 8 + 20);
    CHECK_EQ(count_of(&found, 0x1000), 8000 - totals.drops);

    coproc = open_text("loads.uc(clock=1/4, pace=9)");
    REQUIRE(coproc != NULL);
    feed(coproc, RF_CLASS_LOAD, 0x1000, 8000);
    end(coproc, &found, &totals);
    CHECK_EQ(totals.drops, 0);
}

TEST(the_filter_splits_and_masks)
{
    static struct rf_filter filter;
    unsigned in[2] = {0, 0}, masked = 0;
    filter.bits = 16384;
    filter.mask = 1;
    for (filter.match = 0; filter.match < 2; filter.match++)
        for (uint64_t pc = 0x10000; pc < 0x14000; pc += 2)
            in[filter.match] += rf_filter_in_part(&filter, pc);
    CHECK_EQ(in[0] + in[1], 0x2000);
    CHECK(in[0] > 0x2000 / 3 && in[1] > 0x2000 / 3);
    /* 500 off: those are, and of 8000 others hardly any. */
    for (uint32_t pc = 0x400000; pc < 0x400000 + 500 * 4; pc += 4)
        for (unsigned f = 0; f < RF_FILTER_FUNCTIONS; f++) {
            uint32_t at = rf_filter_hash(pc, f) & (filter.bits - 1);
            filter.table[at / 32] |= 1u << at % 32;
        }
    for (uint64_t pc = 0x400000; pc < 0x400000 + 500 * 4; pc += 4)
        CHECK(rf_filter_masks(&filter, pc));
    for (uint64_t pc = 0x500000; pc < 0x500000 + 8000 * 4; pc += 4)
        masked += rf_filter_masks(&filter, pc);
    CHECK(masked < 80);
}

static const struct {
    const char *text, *message;
} refused[] = {
    {"", "co-processor: expected FILE or FILE(option=value, ...)"},
    {"no_such.uc", "microprogram 'no_such.uc': No such file or directory; 'riffle coproc' lists "
                   "those there are"},
    {"loads.uc(size=half", "co-processor: expected FILE or FILE(option=value, ...)"},
    {"loads.uc(size=huge)", "co-processor: size must be half, base or double"},
    {"loads.uc(clock=2)",
     "co-processor: clock must be 1, 1/2, 1/4 or another fraction down to 1/64"},
    {"loads.uc(buffer=1)", "co-processor: buffer must be between 16 and 1048576"},
    {"loads.uc(buffer=x)", "co-processor: buffer must be a number"},
    {"loads.uc(fast)", "co-processor: options are name=value, got 'fast'"},
    {"loads.uc(frob=3)", "loads.uc: the program has no '.let frob' to set"},
    {"edges.uc(patience=17)",
     "edges.uc: line 8, column 6: patience is a number between 1 and 16, not 17"},
    {"values.uc(one_of=3)",
     "values.uc: line 17, column 6: one_of is a power of two between 1 and 1024, not 3"},
    {"values.uc(one_of=0)",
     "values.uc: line 17, column 6: one_of is a power of two between 1 and 1024, not 0"},
    {"values.uc(one_of=2K)",
     "values.uc: line 17, column 6: one_of is a power of two between 1 and 1024, not 2000"},
};

TEST(wrong_texts_are_refused)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct rf_coproc *coproc;
        struct rf_error error = {""};
        CHECK_ROW(refused[i].text,
                  rf_coproc_open(&coproc, refused[i].text, NULL, &error) == RF_EINVAL);
        CHECK(coproc == NULL);
        CHECK_TEXT(error.message, refused[i].message);
    }
}

/* Opens a program from a file; its message, if any. */
static void check_program(const char *text, const char *message)
{
    char path[] = "/tmp/riffle-coproc-XXXXXX", expected[300];
    struct rf_error error = {""};
    struct rf_coproc *coproc;
    int file = mkstemp(path);
    REQUIRE(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    rf_coproc_open(&coproc, path, NULL, &error);
    rf_coproc_close(coproc);
    unlink(path);
    snprintf(expected, sizeof expected, "%s%s%s", message[0] != '\0' ? path : "",
             message[0] != '\0' ? ": " : "", message);
    CHECK_TEXT(error.message, expected);
}

TEST(wrong_programs_are_refused_by_line)
{
    check_program(".on load goto x\n.base b = data[0:4]\n.slot a = b, count = b.h1\nx: done\n", "");
    check_program(".on load goto x\nx: done\n", "handler 'fold' needs to know '.slot a = BASE'");
    check_program(".on load goto x\n.handler mold\nx: done\n",
                  "line 2: no handler is called 'mold'");
    check_program(
        ".on load goto x\n.base b = data[0:4]\n.slot a = b, count = b\n.profile lode -> pc\n"
        "x: done\n",
        "line 4: selector: column 1: no class is called 'lode'; did you mean 'load'?");
    check_program(".on load goto x\nx: v0 = v9; done\n",
                  "line 2, column 9: no register or field is called 'v9'; did you mean 'v0'?");
}

/* A program with these lines in front, of which the last is line 6, and its slots behind them. */
static void check_fit(const char *lines, const char *slot, const char *message)
{
    char text[1000];
    snprintf(text, sizeof text,
             ".on load, store goto x\n.field pc = pc[31:0]\n.field low = value[31:0]\n"
             ".base b = data[0:4]\n.slot %s\n%s\nx: done\n",
             slot, lines);
    check_program(text, message);
}

TEST(numbers_that_the_handler_cannot_hold_are_refused_by_line)
{
    static const char one[] = "a = b, count = b";
    static const char values[] = "pc = b, value = b, hits = b.b0, misses = b.b1, total = b.h1\n"
                                 ".handler values";
    check_fit(".let quiet = 1073741824", one, "");
    check_fit(".let quiet = 1073741825", one,
              "line 6, column 6: quiet is a number between 0 and 1073741824, not 1073741825");
    check_fit(".let quiet = 4294967301", one,
              "line 6, column 6: quiet is a number between 0 and 1073741824, not 4294967301");
    check_fit(".let glance = 4294967296", one,
              "line 6, column 6: glance is a number between 0 and 1073741824, not 4294967296");
    check_fit(".let one_of = 0", one,
              "line 6, column 6: one_of is a number between 1 and 65536, not 0");
    check_fit(".let keep = 4294967296", one,
              "line 6, column 6: keep is a number between 0 and 1, not 4294967296");
    check_fit(".let least = 4294967296", one,
              "line 6, column 6: least is a number between 0 and 4294967295, not 4294967296");
    check_fit(".let age = 4294967295", one, ""); /* nobody reads it there */
    check_fit(".let age = 4294967295", values,
              "line 7, column 6: age is a number between 0 and 1073741824, not 4294967295");
}

TEST(parts_of_a_slot_that_nobody_reads_are_refused_by_line)
{
    check_fit("", "a = b, count = b, bhigh = b",
              "line 5, column 25: handler 'fold' knows no 'bhigh' of a slot; it knows a, count, b, "
              "a_high, b_high");
    check_fit(".profile load -> pc\n.profile load -> pc", "a = b, count = b",
              "line 7, column 10: a program has one .profile, and line 6 has it");
    check_fit(".handler fold\n.handler values", "a = b, count = b",
              "line 7, column 10: a program has one .handler, and line 6 has it");
}

TEST(words_and_fields_that_do_not_fit_are_refused_by_line)
{
    static const char one[] = "a = b, count = b", two[] = "a = b, b = b, count = b";
    check_fit(".profile load -> pc", one, "");
    check_fit(".profile load -> pc,value", two, "");
    check_fit(".profile load -> pc", two,
              "line 6: a slot has two words of a tuple, and the profile has one");
    check_fit(".profile load -> pc,value", one,
              "line 6: the profile has two words of a tuple, and a slot has no 'b'");
    check_fit(".profile load -> pc,distance", two,
              "line 6: no program can write 'distance'; reports make it from 'pc,writer'");
    check_fit(".profile load -> set,pc", two,
              "line 6: no program can write 'set'; reports make it from 'pc,addr' and .let sets");
    check_fit(".profile store -> pc,silent", two, "line 6: no program can write 'silent'");
    check_fit(".profile load -> pc,addr", two,
              "line 6: a tuple has 'addr', and no .field is cut from 'addr'");
    check_fit(".profile load -> pc,size", two,
              "line 6: a tuple has 'size', and no .field is cut from 'width'");
    check_fit(".field to = addr[31:0]\n.profile load -> pc,writer", two,
              "line 7: with 'writer' a slot has the distance in 'b_high'");
    check_fit(".field to = hash(addr, pc) : 9\n.profile load -> pc,addr", two, "");
}

/* The program that doc/COPROC.md begins with: as it stands there, it assembles and counts. */
TEST(the_documented_program_runs)
{
    static char text[1 << 16], program[4096];
    FILE *file = fopen(DOCUMENTS "/COPROC.md", "r");
    REQUIRE(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *line = strstr(text, "    .on load goto start\n");
    REQUIRE(line != NULL);
    for (size_t n = 0; strncmp(line, "    ", 4) == 0 || *line == '\n'; line += n) {
        n = strcspn(line, "\n") + 1;
        strncat(program, line, n);
    }
    check_program(program, "");
    CHECK(strstr(program, "fresh:") != NULL);
}

TEST(half_a_million_transistors)
{
    struct rf_coproc_part parts[RF_COPROC_PARTS];
    uint64_t sums[3] = {0, 0, 0};
    for (unsigned size = 0; size < 3; size++)
        for (size_t i = 0; i < rf_coproc_cost(size, parts); i++)
            sums[size] += parts[i].transistors;
    CHECK(sums[1] > 450000 && sums[1] < 750000);
    CHECK(sums[0] < sums[1] && sums[1] < sums[2]);
    rf_coproc_cost(1, parts);
    CHECK_EQ(parts[5].transistors, 512 * 32 * 6 * 11 / 10); /* the data array, by hand */
}

TEST_MAIN()
