/* The co-processor: each unit by hand, and random programs beside a slow model of its stages. */
#include "test.h"
#include "random_micro.h"
#include "reference/microcode.h"

static const char head[] = ".index slot : 4\n"
                           ".index turn : 4 = 9\n"
                           ".index wide : 16\n"
                           ".field pc = pc[31:0]\n"
                           ".field value = value[31:0]\n"
                           ".field top = value[63:32]\n"
                           ".base pcs = assoc[16 : 16]\n"
                           ".base words = data[32 : 16]\n"
                           ".on load goto start\n"
                           ".on store goto other\n"
                           "start:\n";

static struct rf_program program;

/* The program of the head and these lines; `other` is one of them or the end. */
static struct rf_processor *load(const char *lines)
{
    struct rf_error error = {""};
    struct rf_processor *processor;
    char text[2048];
    snprintf(text, sizeof text, "%s%s\n%s", head, lines,
             strstr(lines, "other:") == NULL ? "other: done\n" : "");
    rf_status status = rf_program_assemble(&program, text, &random_micro_size, NULL, 0, &error);
    CHECK_TEXT(error.message, "");
    fflush(stdout);
    if (status != RF_OK || rf_processor_open(&processor, &program, 1, NULL) != RF_OK)
        abort();
    return processor;
}

static const struct rf_record sample = {
    .kind = RF_CLASS_LOAD, .pc = 0x1000, .value = UINT64_C(0x1234567889abcdef)};

static uint32_t index_of(const struct rf_processor *processor, unsigned i)
{
    return processor->x[RF_OPERAND_INDEX + i];
}

/* Each line runs once; then v0, slot and turn are these. */
static const struct {
    const char *lines;
    uint32_t v0, slot, turn;
    unsigned cycles;
} cases[] = {
    {"v0 = value; done", 0x89abcdef, 0, 9, 1},
    {"v0 = top; done", 0x12345678, 0, 9, 1},
    {"v0 = 7\n v0 = v0 + 8; done", 15, 0, 9, 2},
    {"v0 = 7\n v0 = v0 - 8; done", 0xffffffff, 0, 9, 2},
    {"v0 = 7\n v0 = sat(v0 - 8); done", 0, 0, 9, 2},
    {"v0 = value\n v0 = sat(v0 + value); done", 0xffffffff, 0, 9, 2},
    {"v0 = value\n v0 = v0 >> 16; done", 0x89ab, 0, 9, 2},
    {"v0 = value & 255; done", 0xef, 0, 9, 1},
    {"v0 = 3\n v1 = 4\n v0 = v1; v2 = pcs[slot]\n done", 4, 0, 9, 4},
    {"turn = turn + 8; done", 0, 0, 1, 1}, /* wraps at 16 */
    {"turn = sat(turn + 8); done", 0, 0, 15, 1},
    {"turn = sat(turn - 10); done", 0, 0, 0, 1},
    {"turn = value; done", 0, 0, 15, 1}, /* cut */
    /* Both read before either writes: they change places. */
    {"slot = turn; turn = pcs[slot]\n done", 0, 9, 0, 2},
    {"pcs[turn] = pc\n slot = match(pcs, pc)\n done", 0, 9, 9, 3},
    {"pcs[turn] = pc\n clear pcs[turn]\n slot = match(pcs, pc); if hit done\n v0 = 1; done", 1, 0,
     9, 4},
    {"pcs[turn] = pc\n v0 = pcs[turn]; done", 0x1000, 0, 9, 2},
    {"slot = free(pcs)\n pcs[slot] = pc\n slot = free(pcs)\n done", 0, 1, 9, 4},
    {"pcs[slot] = pc\n pcs[turn] = pc\n slot = match(pcs, pc)\n slot = next(pcs, pc)\n done", 0, 9,
     9, 5},
    /* A miss leaves the register alone. */
    {"turn = match(pcs, pc)\n done", 0, 0, 9, 2},
    {"words[turn] = value\n v0 = words[turn].h1; done", 0x89ab, 0, 9, 2},
    {"words[turn].b1 = value\n v0 = words[turn]; done", 0xef00, 0, 9, 2},
    {"words[turn].b3--\n v0 = ++words[turn].b3; done", 1, 0, 9, 2},
    {"words[turn].b0 = 255\n words[turn].b0++\n v0 = words[turn]; done", 255, 0, 9, 3},
    {"words[turn].h0 = value\n v0 = words[turn].h0 += value; done", 0xffff, 0, 9, 2},
    {"words[turn] = value\n v0 = swap(words[turn], pc)\n turn = words[turn]; done", 0x89abcdef, 0,
     0, 3},
    {"words[slot] = 3\n turn = words[slot] |= 4; done", 0, 0, 7, 2},
    {"wide = 25\n words[wide] = value\n v0 = words[turn]; done", 0x89abcdef, 0, 9,
     3}, /* 25 & 15 = 9 */
    /* Counters begin at "not taken": the first jump costs two more cycles. */
    {"if value == value goto x\n v0 = 1\n x: done", 0, 0, 9, 4},
    {"if value != value goto x\n v0 = 1\n x: done", 1, 0, 9, 3},
    {"goto x\n v0 = 1\n x: done", 0, 0, 9, 2},
    /* Nine times around, the first and the last predicted wrongly. */
    {"x: turn--; if not i.zero goto x\n done", 0, 0, 0, 9 + 2 * 2 + 1},
    {"if turn > slot goto x\n v0 = 1\n x: done", 0, 0, 9, 4},
    {"turn = turn - 9; if i.zero goto x\n v0 = 1\n x: done", 0, 0, 0, 4},
    {"v1 = v1 - 1; if v.less goto x\n v0 = 1\n x: done", 0, 0, 9, 4},
    {"words[slot].b0--; if d.zero goto x\n v0 = 1\n x: done", 0, 0, 9, 4},
    {"words[slot].b0 = 255; if not d.full goto x\n v0 = 1\n x: done", 1, 0, 9, 3},
};

TEST(each_operation_by_hand)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rf_processor *processor = load(cases[i].lines);
        CHECK_ROW(cases[i].lines, rf_processor_run(processor, &sample) == RF_PROCESSOR_DONE);
        CHECK_ROW(cases[i].lines, processor->x[0] == cases[i].v0);
        CHECK_ROW(cases[i].lines, index_of(processor, 0) == cases[i].slot);
        CHECK_ROW(cases[i].lines, index_of(processor, 1) == cases[i].turn);
        CHECK_ROW(cases[i].lines, processor->cycles == cases[i].cycles);
        rf_processor_close(processor);
    }
}

TEST(classes_have_entries_of_their_own)
{
    struct rf_processor *processor = load("v0 = v0 + 1; done\n other: v1 = v1 + 1; interrupt\n");
    struct rf_record store = {.kind = RF_CLASS_STORE};
    CHECK_EQ(rf_processor_run(processor, &sample), RF_PROCESSOR_DONE);
    CHECK_EQ(rf_processor_run(processor, &store), RF_PROCESSOR_INTERRUPT);
    CHECK_EQ(rf_processor_run(processor, &sample), RF_PROCESSOR_DONE);
    CHECK_EQ(processor->x[0], 2);
    CHECK_EQ(processor->x[1], 1);
    rf_processor_close(processor);
}

TEST(a_routine_without_end_is_given_up)
{
    struct rf_processor *processor = load("x: v0 = v0 + 1; goto x\n");
    CHECK_EQ(rf_processor_run(processor, &sample), RF_PROCESSOR_OVERRUN);
    CHECK_EQ(processor->overruns, 1);
    CHECK_EQ(processor->cycles, RF_PROCESSOR_CYCLES);
    rf_processor_close(processor);
}

/* The shift register moves on by 32 when it is read, and only then. */
TEST(random_numbers_move_on_when_read)
{
    struct rf_processor *processor = load("v1 = 1\n v0 = random; slot = random; done\n");
    uint32_t state = processor->x[RF_OPERAND_RANDOM];
    for (int round = 0; round < 100; round++) {
        rf_processor_run(processor, &sample);
        CHECK_EQ(processor->x[0], state);
        CHECK_EQ(index_of(processor, 0), state & 15);
        for (int i = 0; i < 32; i++)
            state = rf_lfsr_next(state);
    }
    rf_processor_close(processor);
}

TEST(a_reset_clears_all_but_the_random_number)
{
    struct rf_processor *processor =
        load("pcs[turn] = pc; words[turn] = pc; v0 = random; turn++\n done\n");
    rf_processor_run(processor, &sample);
    uint32_t state = processor->x[RF_OPERAND_RANDOM];
    rf_processor_reset(processor);
    CHECK_EQ(processor->x[0], 0);
    CHECK_EQ(index_of(processor, 1), 9);
    CHECK_EQ(processor->data[32 + 9], 0);
    CHECK(!rf_associative_valid(&processor->match, 16 + 9));
    CHECK_EQ(processor->x[RF_OPERAND_RANDOM], state);
    rf_processor_close(processor);
}

static bool same(const struct rf_processor *fast, const struct plain_processor *plain)
{
    bool alike = memcmp(fast->x, plain->values, sizeof plain->values) == 0 &&
                 memcmp(&fast->x[RF_OPERAND_INDEX], plain->indexes, sizeof plain->indexes) == 0 &&
                 memcmp(fast->data, plain->data, 512 * sizeof *plain->data) == 0 &&
                 fast->x[RF_OPERAND_RANDOM] == plain->random;
    for (uint32_t i = 0; i < 256; i++)
        alike = alike && rf_associative_valid(&fast->match, i) == plain->match[i].valid &&
                fast->match.keys[i] == plain->match[i].key;
    for (unsigned i = 0; i < RF_MICRO_WORDS; i++)
        alike = alike && (!fast->steps[i].conditional || fast->predictor[i] == plain->predictor[i]);
    return alike;
}

static struct rf_record random_record(struct rf_random *random)
{
    return (struct rf_record){.kind = RF_CLASS_LOAD,
                              .pc = rf_random_below(random, 64),
                              .value = rf_random_next(random) >> rf_random_below(random, 64)};
}

TEST(random_programs_agree_with_the_stages)
{
    struct rf_random random;
    rf_random_seed(&random, test_seed(2));
    for (int round = 0; round < test_rounds(40, 400); round++) {
        static struct plain_processor plain;
        struct rf_processor *fast;
        random_program(&random, &program);
        REQUIRE(rf_processor_open(&fast, &program, (uint64_t)round, NULL) == RF_OK);
        plain_open(&plain, &program, fast->x[RF_OPERAND_RANDOM]);
        for (int i = 0; i < 40; i++) {
            struct rf_record record = random_record(&random);
            enum rf_processor_end end, expected;
            uint64_t before = fast->cycles;
            end = rf_processor_run(fast, &record);
            unsigned cycles = plain_run(&plain, &record, &expected);
            CHECK_EQ(end, expected);
            CHECK_EQ(fast->cycles - before, cycles);
        }
        CHECK(same(fast, &plain));
        rf_processor_close(fast);
    }
}

TEST_MAIN()
