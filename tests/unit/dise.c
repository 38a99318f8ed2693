/* The language of productions: what is understood, what is refused and where. */
#include "dise/engine.h"
#include "test.h"
#include <math.h>

static struct rf_dise_program program;

static rf_status read_text(const char *text, struct rf_error *error)
{
    memset(&program, 0, sizeof program);
    error->message[0] = '\0';
    return rf_dise_read_text(&program, "t", text, strlen(text), error);
}

static bool reads(const char *text)
{
    struct rf_error error;
    rf_status status = read_text(text, &error);
    if (status != RF_OK)
        printf("# %s\n", error.message);
    return status == RF_OK;
}

/* Does any box of the program's first production match? */
static bool matches(uint32_t bits, uint64_t pc, uint32_t flags)
{
    struct rf_insn insn = rf_insn_decode(bits);
    struct rf_dise_facts facts = rf_dise_facts(&insn, pc);
    for (unsigned i = 0; i < program.productions[0].n_boxes; i++)
        if (rf_dise_box_matches(&program.boxes[i], &facts) &&
            rf_dise_box_enabled(&program.boxes[i], flags))
            return true;
    return false;
}

enum {
    JAL_RA = 0x008000ef,    /* jal ra,.+8 */
    J_BACK = 0xffdff06f,    /* j .-4 */
    JALR_RA = 0x000500e7,   /* jalr ra,0(a0) */
    RET = 0x00008067,       /* jalr zero,0(ra) */
    JR = 0x00050067,        /* jalr zero,0(a0) */
    BNE_BACK = 0xfeb51ee3,  /* bne a0,a1,.-4 */
    BNE_AHEAD = 0x00b51463, /* bne a0,a1,.+8 */
    BEQ_SELF = 0x00000063,  /* beq zero,zero,. */
    LD = 0x00853503,        /* ld a0,8(a0) */
    SD = 0xfea53c23,        /* sd a0,-8(a0) */
    AMO = 0x00a5b52f,       /* amoadd.d a0,a0,(a1) */
    ADDI = 0x00150513,      /* addi a0,a0,1 */
    ADD = 0x00b50533,       /* add a0,a0,a1 */
    ECALL = 0x00000073,
    MUL = 0x02b50533,
    FADD = 0x02b57553, /* fadd.d fa0,fa0,fa1 */
};

TEST(a_pattern_matches_what_it_says)
{
    static const struct {
        const char *pattern;
        uint32_t yes[4], no[6]; /* closed by 0 */
    } rows[] = {
        {"T.OPCLASS == proc_call", {JAL_RA, JALR_RA}, {RET, JR, J_BACK, BNE_BACK, LD}},
        {"T.OPCLASS == return", {RET}, {JAL_RA, JALR_RA, JR, J_BACK}},
        {"T.OPCLASS == jump", {JR, J_BACK}, {JAL_RA, JALR_RA, RET, BNE_BACK}},
        {"T.OPCLASS == load", {LD, AMO}, {SD, ADD, FADD}},
        {"T.OPCLASS == store", {SD, AMO}, {LD, ADDI}},
        {"T.OPCLASS == mem_op", {LD, SD, AMO}, {ADD, JAL_RA, ECALL}},
        {"T.OPCLASS != mem_op", {ADD, JAL_RA, ECALL}, {LD, SD, AMO}},
        {"T.OPCLASS == alu", {ADD, ADDI}, {MUL, FADD, LD}},
        {"T.OPCLASS == multiply || T.OPCLASS == float", {MUL, FADD}, {ADD, LD}},
        {"T.Target <= T.PC", {BNE_BACK, BEQ_SELF, J_BACK}, {BNE_AHEAD, JAL_RA, RET, JALR_RA, LD}},
        {"T.PC > T.Target", {BNE_BACK, J_BACK}, {BEQ_SELF, BNE_AHEAD}},
        {"T.PC < T.Target", {BNE_AHEAD, JAL_RA}, {BNE_BACK, BEQ_SELF, ADD}},
        {"!(T.PC < T.Target)", {BNE_BACK, BEQ_SELF, ADD, RET}, {BNE_AHEAD, JAL_RA}},
        {"T.OPCODE == jalr", {JALR_RA, RET, JR}, {JAL_RA, BNE_BACK}},
        {"T.OPCODE != jalr && T.OPCLASS == proc_call", {JAL_RA}, {JALR_RA, ADD}},
        {"T.OPCODE == amoadd.d", {AMO}, {ADD, LD}},
        {"T.RD == a0", {LD, ADD, AMO}, {JAL_RA, SD, BNE_BACK, FADD}},
        {"T.RD == zero", {RET, J_BACK}, {SD, ADD, BNE_BACK}},
        {"T.RS == T.RD", {LD, ADDI, ADD}, {AMO, SD, RET}},
        {"T.RS != T.RT", {BNE_BACK, ADD, AMO}, {SD, BEQ_SELF, ADDI}},
        {"T.RT == x11", {BNE_BACK, ADD}, {SD, LD, FADD}},
        {"T.RT == fa1", {FADD}, {ADD}},
        {"T.IMM < 0", {SD, BNE_BACK, J_BACK}, {LD, ADDI, ADD, BEQ_SELF}},
        {"T.IMM >= 1 && T.IMM <= 8", {LD, ADDI, JAL_RA}, {SD, ADD, RET}},
        {"T.IMM != 0", {LD, SD, ADDI}, {ADD, RET, BEQ_SELF}},
        {"!(T.IMM == 0)", {LD, SD, ADD}, {RET, BEQ_SELF}},
        {"T.PC == 0x1000", {LD, ECALL}, {0}},
        {"T.PC != 4096", {0}, {LD, ECALL}},
        {"!(T.OPCLASS == load || T.IMM == 1)", {SD, ADD, RET}, {LD, AMO, ADDI}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        snprintf(text, sizeof text, "P: %s => null, inc_1", rows[i].pattern);
        CHECK_ROW(rows[i].pattern, reads(text));
        for (size_t k = 0; k < 4 && rows[i].yes[k] != 0; k++)
            CHECK_ROW(rows[i].pattern, matches(rows[i].yes[k], 0x1000, 0));
        for (size_t k = 0; k < 6 && rows[i].no[k] != 0; k++)
            CHECK_ROW(rows[i].pattern, !matches(rows[i].no[k], 0x1000, 0));
    }
}

TEST(flags_are_told_apart)
{
    REQUIRE(reads("T.OPCLASS == alu && (overflow_7 || !zero_3) && !overflow_3 => null, inc_3"));
    CHECK_EQ(program.n_counters, 2);
    uint32_t of7 = rf_dise_overflow(0), z3 = rf_dise_zero(1), of3 = rf_dise_overflow(1);
    CHECK(matches(ADD, 0, 0));
    CHECK(matches(ADD, 0, of7));
    CHECK(matches(ADD, 0, of7 | z3));
    CHECK(!matches(ADD, 0, z3));
    CHECK(!matches(ADD, 0, of7 | of3));
    CHECK_EQ(rf_dise_flags_used(&program), of7 | z3 | of3);
}

/* Texts that are refused, and how the sentence begins. */
static const struct {
    const char *text, *message;
} wrong[] = {
    {"P1: T.OPCLASS = load => null, inc_1", "t:1:15: expected == or !=, got '='"},
    {"T.OPCLASS == cal => null, null", "t:1:14: expected a class: "},
    {"\n  T.PC == a0 => null, null", "t:2:11: 'a0': there is no program to find it in"},
    {"T.RS == 5 => null, null", "t:1:9: expected the name of a register"},
    {"T.OPCODE == lx => null, null", "t:1:13: expected the name of an instruction"},
    {"T.OPCODE < lw => null, null", "t:1:10: expected == or !="},
    {"T.RS == T.PC => null, null", "t:1:9: T.RS cannot be compared with T.PC"},
    {"T.INSN == 3 => null, null",
     "t:1:1: T.INSN stands in replacements, for the instruction itself; a pattern asks for its "
     "fields: T.OPCLASS, "},
    {"(T.OPCLASS == load => null, null", "t:1:20: expected ')', got '=>'"},
    {"T.OPCLASS == load", "t:1:18: expected '=>', '&&' or '||', got the end of the file"},
    {"T.OPCLASS == load => null", "t:1:26: expected ',' and a control"},
    {"T.OPCLASS == load => R1, null", "t:1:22: no replacement 'R1' is defined"},
    {"T.OPCLASS == load => null, CC1", "t:1:28: no control 'CC1' is defined"},
    {"T.OPCLASS == load => null, set_1(x)", "t:1:34: no register 'x'; "},
    {"T.OPCLASS == load && T.OPCLASS == store && T.OPCLASS == alu => null, null",
     "t:1:1: no instruction can match this pattern"},
    {"overflow_1 && !overflow_1 => null, null", "t:1:1: no instruction can match"},
    {"T.OPCODE == lw && T.OPCLASS == branch => null, null", "t:1:1: no instruction can match"},
    {"overflow_1000 => null, null", "t:1:1: expected a number of a counter"},
    {"register a = 1\nregister a = 2", "t:2:10: a second register 'a'"},
    {"register a = b", "t:1:14: expected a number, got 'b'"},
    {"register a = \xe2\x80\x9c", "t:1:14: expected a number, got '\xe2\x80\x9c'"},
    {"register a = 18446744073709551616",
     "t:1:14: 18446744073709551616 is too large: more than 2^63 - 1"},
    {"register a = max - 99999999999G", "t:1:20: 99999999999G is too large"},
    {"T.OPCLASS == load && T.PC == 0x10000000000000000 => null, null",
     "t:1:30: 0x10000000000000000 is too large"},
    {"register a = max ~ -5", "t:1:20: expected a number without a sign, got '-'"},
    {"T.PC == \"main => null, null", "t:1:9: expected a number, got quotes that do not end"},
    {"register a = 9x", "t:1:14: expected a number, got '9x'"},
    {"register a = 0xg", "t:1:14: expected a number, got '0xg'"},
    {"register a = 1.5", "t:1:14: expected a number, got '1.5'"},
    {"register a = max\ncounter_1 = a\ncounter_1 = a", "t:3:1: a second first value"},
    {"A: inc_1;\nA: inc_2;", "t:2:1: 'A' is defined twice"},
    {"R: T.INSN\nR: T.INSN", "t:2:1: 'R' is defined twice"},
    {"R: T.INSN T.INSN", "t:1:11: a second T.INSN"},
    {"R: jal ra,4", "t:1:4: jal cannot stand in a sequence"},
    {"R: likely addi a0,a0,1", "t:1:11: a branch must stand behind 'likely'"},
    {"R: likely", "t:1:10: a branch must stand behind 'likely'"},
    {"R: addi a0,a0,4096", "t:1:15: 4096 is not between -2048 and 2047"},
    {"R: addi a0,$a,1", "t:1:12: no register 'a'"},
    {"R: addi a0,,1", "t:1:12: expected a register"},
    {"R: beq a0,zero,.+2 T.INSN", "t:1:4: item 1 goes 2 ahead, past T.INSN: 1 is"},
    {"R: call(nobody)", "t:1:9: expected a handler: "},
    {"T.OPCLASS == branch => T.INSN addi a0,a0,1, null",
     "t:1:1: the production can match a jump or a branch, and its"},
    {"include \"x\"", "t:1:9: only a file can include"},
    {"P1: T.OPCLASS == load => null, inc_1\nP2: T.OPCLASS == mem_op && overflow_1 => null, "
     "inc_2",
     "t:2:1: P2 and P1 at t:1:1 both have a control for the same instruction, and neither is"},
    {"P1: T.OPCLASS == load => T.INSN, null\nP2: T.OPCLASS == load => T.INSN, null",
     "t:2:1: P2 and P1 at t:1:1 both have a replacement for the same"},
    {"zero_1 => null, inc_1, inc_1, inc_1, inc_1, inc_1, inc_1, inc_1, inc_1, inc_1",
     "t:1:1: more than 8 micro-instructions in a control"},
    {"T.OPCLASS == proc_call && overflow_1 || zero_2 => null, null",
     "t:1:38: && and || are mixed: put parentheses around what belongs together"},
    {"(overflow_1 || zero_2 && zero_3) => null, null", "t:1:23: && and || are mixed"},
    {"?", "t:1:1: expected a production, a definition, "},
    {"include \"x", "t:1:9: expected the name of a file in quotes"},
};

TEST(what_is_wrong_has_a_place)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct rf_error error;
        CHECK_ROW(wrong[i].text, read_text(wrong[i].text, &error) == RF_EINVAL);
        bool same = strncmp(error.message, wrong[i].message, strlen(wrong[i].message)) == 0;
        if (!same)
            printf("# got '%s'\n", error.message);
        CHECK_ROW(wrong[i].text, same);
    }
}

TEST(the_more_specific_one_is_no_tie)
{
    CHECK(reads("T.OPCLASS == mem_op => null, inc_1  T.OPCLASS == load => null, inc_2"));
    CHECK(reads("T.OPCLASS == load => null, inc_1  T.OPCODE == lw => null, inc_2"));
    CHECK(reads("T.PC < 100 => null, inc_1  T.PC < 50 => null, inc_2"));
    /* Apart: by class, by opcode, by flags, by direction. */
    CHECK(reads("T.OPCLASS == alu => null, inc_1  T.OPCLASS == load => null, inc_2"));
    CHECK(reads("T.OPCODE == lw => null, inc_1  T.OPCLASS == store => null, inc_2"));
    CHECK(reads("overflow_1 => null, inc_1  !overflow_1 && zero_1 => null, inc_2"));
    CHECK(reads("T.PC < T.Target => null, inc_1  T.PC >= T.Target => null, inc_2"));
    /* A replacement and a control are looked up side by side. */
    CHECK(
        reads("T.OPCLASS == load && overflow_1 => T.INSN, null  T.OPCLASS == load => null, inc_1"));
}

TEST(profiles_have_counters_and_registers_of_their_own)
{
    static const char text[] = "register f = max - 9  counter_1 = f\n"
                               "T.OPCLASS == load && !overflow_1 => null, inc_1\n";
    struct rf_error error = {""};
    REQUIRE(reads(text));
    REQUIRE(rf_dise_read_text(&program, "dir/u.hps", text, sizeof text - 1, &error) == RF_OK);
    CHECK_EQ(program.n_counters, 2);
    CHECK_EQ(program.n_registers, 2);
    CHECK_EQ(program.productions[1].profile, 1);
    CHECK_EQ(program.ops[1].counter, 1);
    CHECK(rf_dise_assign(&program, "f=max-5", NULL, &error) == RF_OK);
    CHECK(rf_dise_assign(&program, "u.f= 7", NULL, &error) == RF_OK);
    CHECK_EQ(rf_dise_register_value(&program.registers[0], 32), 0x100000000 - 5);
    CHECK_EQ(rf_dise_register_value(&program.registers[1], 32), 7);
    CHECK(rf_dise_assign(&program, "g=1", NULL, &error) == RF_EINVAL);
    CHECK_TEXT(error.message, "no register 'g' in these productions");
    CHECK(rf_dise_assign(&program, "f=many", NULL, &error) == RF_EINVAL);
    CHECK_TEXT(error.message,
               "a register's value is a number, max, max-number or max~number, got 'many'");
    CHECK(rf_dise_assign(&program, "f=max~0", NULL, &error) == RF_OK);
    CHECK(program.registers[0].from_max && !program.registers[0].about); /* there is no choice */
    CHECK(rf_dise_assign(&program, "f= max ~5", NULL, &error) == RF_OK);
    CHECK_EQ(program.registers[0].about, 1);
    CHECK_EQ(rf_dise_register_value(&program.registers[0], 32), 0x100000000 - 5);
    CHECK(rf_dise_assign(&program, "f=3~5", NULL, &error) == RF_EINVAL);
}

TEST(a_sequence_is_read_as_written)
{
    REQUIRE(reads("register n = 3\n"
                  "T.OPCLASS == load => R, inc_1, dec_2\n"
                  "R: bne $n,zero,.+3; addi $n,T.RS,T.IMM sd $n,-8(sp) T.INSN ld T.RD,0(sp)\n"));
    const struct rf_dise_item *items = program.items;
    CHECK_EQ(program.n_items, 5);
    CHECK_EQ(program.n_ops, 2);
    CHECK_EQ(program.sequences[0].original, 3);
    CHECK_EQ(items[0].insn.rs1, RF_REG_PRIVATE);
    CHECK_EQ(items[0].insn.imm, 3);
    CHECK_EQ(items[1].rs1, RF_DISE_PART_RS);
    CHECK_EQ(items[1].imm, RF_DISE_PART_IMM);
    CHECK_EQ(items[2].insn.rs1, 2);
    CHECK_EQ((uint64_t)(int64_t)items[2].insn.imm, (uint64_t)-8);
    CHECK_EQ(items[4].rd, RF_DISE_PART_RD);
}

TEST(the_files_of_the_lab_are_understood)
{
    static const struct {
        const char *file;
        unsigned productions, boxes;
    } rows[] = {
        {"hot-call-pair.hps", 7, 7},
        {"hot-method.hps", 7, 8},
        {"hot-data-stream.hps", 7, 7},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[512];
        struct rf_error error = {""};
        memset(&program, 0, sizeof program);
        snprintf(path, sizeof path, "%s/%s", PRODUCTIONS, rows[i].file);
        CHECK_ROW(rows[i].file, rf_dise_read(&program, path, &error) == RF_OK);
        CHECK_TEXT(error.message, "");
        CHECK_EQ(program.n_productions, rows[i].productions);
        CHECK_EQ(program.n_boxes, rows[i].boxes);
        CHECK_EQ(program.n_counters, 2);
    }
}

TEST(what_does_not_fit_says_what_it_needs)
{
    static const struct {
        const char *label;
        struct rf_dise_sizes sizes;
        const char *message;
    } rows[] = {
        {"patterns",
         {1, 9, 9, 9, 32, 9},
         "t:2:1: the productions need 2 entries of the pattern table, "
         "the core has 1"},
        {"replacements",
         {2, 5, 9, 9, 32, 9},
         "t:2:1: the productions need 6 entries of the "
         "replacement table, the core has 5"},
        {"conditionals",
         {2, 6, 1, 9, 32, 9},
         "t:2:1: the productions need 2 micro-instructions of the "
         "conditionals table, the core has 1"},
        {"counters",
         {2, 6, 2, 1, 32, 9},
         "t:2:95: the productions need 2 counters, the core has 1"},
        {"registers",
         {2, 6, 2, 2, 32, 0},
         "t:1:10: the productions need 1 private registers, the core "
         "has 0"},
        {"it fits", {2, 6, 2, 2, 32, 1}, ""},
    };
    REQUIRE(reads("register n = 1\n"
                  "T.OPCLASS == alu || T.OPCODE == lw => ccall($n, CallPair_handler) T.INSN "
                  "addi $n,$n,1, inc_1, inc_2\n"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_dise_engine *engine;
        struct rf_error error = {""};
        uint64_t registers[RF_DISE_REGISTERS];
        rf_status status = rf_dise_open(&engine, &program, &rows[i].sizes, registers, NULL, &error);
        CHECK_TEXT(error.message, rows[i].message);
        CHECK_ROW(rows[i].label, (status == RF_OK) == (rows[i].message[0] == '\0'));
        rf_dise_close(engine);
    }
}

/* max ~ 4: a coin that comes up in 2 of 6 throws; k events go by before its second hit with (k + 1) / 9 (2 / 3)^k, and what
 * that lacks to 4 is said. */
TEST(a_random_register_gives_another_distance_each_time)
{
    enum { MEAN = 4, ROUNDS = 9000 };
    const struct rf_dise_sizes sizes = {32, 2048, 16, 8, 32, 16};
    const struct rf_dise_op start = {.micro = RF_DISE_SET, .counter = 0, .from = 0};
    struct rf_dise_engine *engine;
    uint64_t registers[RF_DISE_REGISTERS];
    unsigned seen[2 * MEAN + 1] = {0};
    double expected = ROUNDS / 9.0;
    int64_t sum = 0, owed = 0;
    REQUIRE(reads("register f = max ~ 4\ncounter_1 = f\noverflow_1 => null, set_1(f)\n"));
    REQUIRE(rf_dise_open(&engine, &program, &sizes, registers, NULL, NULL) == RF_OK);
    CHECK_EQ(rf_dise_counter(engine, 0), 0x100000000 - MEAN); /* nothing is drawn yet */
    rf_dise_draw(engine, 1, 0);
    rf_dise_take_owed(engine, 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        rf_dise_run(engine, &start, 1);
        uint64_t distance = -rf_dise_counter(engine, 0) & UINT32_MAX;
        seen[distance <= 2 * MEAN ? distance : 2 * MEAN]++;
        sum += (int64_t)distance;
        owed += rf_dise_take_owed(engine, 0);
    }
    for (unsigned i = 0; i < 2 * MEAN; i++) {
        CHECK(fabs(seen[i] - (i + 1) * expected) < 5 * sqrt((i + 1) * expected));
        expected *= 2.0 / 3;
    }
    CHECK_EQ(sum + owed, MEAN * ROUNDS);
    rf_dise_close(engine);
}

/* A call or a backward branch is an event; of S + B of them the last B are sampled. */
TEST(the_framework_samples_the_share_that_it_says)
{
    static const struct {
        const char *frequency, *burst;
        unsigned between, sampled;
    } rows[] = {
        {"sampleFreq=max-99", "burstLength=max", 99, 1},
        {"sampleFreq=max-90", "burstLength=max-9", 90, 10},
        {"sampleFreq=max-1", "burstLength=max", 1, 1},
        {"sampleFreq=max", "burstLength=max", 0, 1},
        {"sampleFreq=max", "burstLength=max-9", 0, 10},
    };
    struct rf_insn call = rf_insn_decode(JAL_RA), back = rf_insn_decode(BNE_BACK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct rf_dise_sizes sizes = {32, 2048, 16, 8, 32, 16};
        struct rf_dise_engine *engine;
        uint64_t registers[RF_DISE_REGISTERS], calls = 0;
        memset(&program, 0, sizeof program);
        REQUIRE(rf_dise_read(&program, PRODUCTIONS "/hot-call-pair.hps", NULL) == RF_OK);
        CHECK(rf_dise_assign(&program, rows[i].frequency, NULL, NULL) == RF_OK);
        CHECK(rf_dise_assign(&program, rows[i].burst, NULL, NULL) == RF_OK);
        REQUIRE(rf_dise_open(&engine, &program, &sizes, registers, NULL, NULL) == RF_OK);
        for (unsigned k = 0; k < 1000; k++) { /* every other event a call */
            struct rf_expansion out = {.n = 0};
            rf_dise_expand(engine, k % 2 == 1 ? &call : &back, 64, rf_dise_state(engine), &out);
            unsigned place = k % (rows[i].between + rows[i].sampled);
            CHECK_ROW(rows[i].frequency, (out.n > 0) == (k % 2 == 1 && place >= rows[i].between));
            calls += out.n > 0;
            rf_dise_watch(engine, out.watch);
        }
        struct rf_dise_stats stats = rf_dise_stats(engine, 0);
        unsigned period = rows[i].between + rows[i].sampled;
        CHECK_EQ(stats.events, 1000);
        CHECK_EQ(stats.in_bursts, 1000 / period * rows[i].sampled);
        CHECK_EQ(stats.expansions, calls);
        CHECK_EQ(stats.bursts, rows[i].between > 0 ? 1000 / period : 1);
        rf_dise_close(engine);
    }
}

TEST_MAIN()
