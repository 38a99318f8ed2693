/* The microassembler: what it understands, what it refuses and where, and that its words, its text and its
 * listing say the same. */
#include "test.h"
#include "base/random.h"
#include "coproc/program.h"
#include "random_micro.h"

static const struct rf_coproc_size base_size = {256, 512, 1024, 16384};

static const char head[] = ".let limit = 3\n"
                           ".const four = 4\n"
                           ".index slot : 8\n"
                           ".index turn : 8 = 7\n"
                           ".field pc = pc[31:0]\n"
                           ".field value = value[31:0]\n"
                           ".base pcs = assoc[0 : ASSOC]\n"
                           ".base active = data[0 : DATA/2]\n"
                           ".base counts = data[DATA/2 : DATA/2]\n"
                           ".on load goto start\n"
                           "start:\n";
enum { HEAD_LINES = 11 };

static rf_status assemble(struct rf_program *program, const char *text, struct rf_error *error)
{
    return rf_program_assemble(program, text, &base_size, NULL, 0, error);
}

/* The head, one line, and an end. */
static rf_status assemble_line(struct rf_program *program, const char *line, struct rf_error *error)
{
    char text[2048];
    snprintf(text, sizeof text, "%s %s\n done\n", head, line);
    return assemble(program, text, error);
}

/* c0 is four, c1 the first other constant of the line; f0 pc, f1 value; i0 slot, i1 turn. */
enum { C = RF_OPERAND_CONSTANT, F = RF_OPERAND_FIELD, I = RF_OPERAND_INDEX };

static const struct {
    const char *line;
    struct rf_micro micro;
    const char *printed; /* NULL: as it was written */
} understood[] = {
    {"v1 = pc", {.value_op = RF_VALUE_MOVE, .value_to = 1, .value_a = F}, NULL},
    {"v1 = v2 + value",
     {.value_op = RF_VALUE_ADD, .value_to = 1, .value_a = 2, .value_b = F + 1},
     NULL},
    {"v1 = sat(v2 - four)",
     {.value_op = RF_VALUE_SUBTRACT_SATURATED, .value_to = 1, .value_a = 2, .value_b = C},
     NULL},
    {"v1 = v1 << 4",
     {.value_op = RF_VALUE_SHIFT_LEFT, .value_to = 1, .value_a = 1, .value_b = 2},
     NULL},
    {"v7 = random & 255",
     {.value_op = RF_VALUE_AND, .value_to = 7, .value_a = RF_OPERAND_RANDOM, .value_b = C + 1},
     "v7 = random & c1"},
    {"v0++",
     {.value_op = RF_VALUE_ADD_SATURATED, .value_to = 0, .value_a = 0, .value_b = C + 1},
     "v0 = sat(v0 + c1)"},
    {"v2 = v2 + limit",
     {.value_op = RF_VALUE_ADD, .value_to = 2, .value_a = 2, .value_b = C + 1},
     "v2 = v2 + c1"},
    {"turn = pc", {.index_op = RF_INDEX_MOVE, .index_to = 1, .index_b = F}, NULL},
    {"turn = slot + 1",
     {.index_op = RF_INDEX_ADD, .index_to = 1, .index_a = 0, .index_b = C + 1},
     "turn = slot + c1"},
    {"turn = v3 & slot",
     {.index_op = RF_INDEX_AND, .index_to = 1, .index_a = 0, .index_b = 3},
     "turn = slot & v3"},
    {"turn--",
     {.index_op = RF_INDEX_SUBTRACT_SATURATED, .index_to = 1, .index_a = 1, .index_b = C + 1},
     "turn = sat(turn - c1)"},
    {"slot = match(pcs, pc)",
     {.match_op = RF_MATCH_FIND, .match_key = F, .match_index = 0, .match_base = 0},
     NULL},
    {"slot = next(pcs, v3)", {.match_op = RF_MATCH_NEXT, .match_key = 3}, NULL},
    {"turn = free(pcs)", {.match_op = RF_MATCH_FREE, .match_index = 1}, NULL},
    {"pcs[turn] = pc", {.match_op = RF_MATCH_WRITE, .match_key = F, .match_index = 1}, NULL},
    {"clear pcs[turn]", {.match_op = RF_MATCH_CLEAR, .match_index = 1}, NULL},
    {"v4 = pcs[turn]", {.match_op = RF_MATCH_READ, .match_key = 4, .match_index = 1}, NULL},
    {"slot = pcs[turn]", {.match_op = RF_MATCH_READ, .match_key = I, .match_index = 1}, NULL},
    {"v0 = active[slot]", {.data_op = RF_DATA_READ, .data_base = 1}, NULL},
    {"turn = counts[slot].b3",
     {.data_op = RF_DATA_READ, .data_base = 2, .data_lane = RF_LANE_BYTE3, .data_to = 9},
     NULL},
    {"active[slot] = value",
     {.data_op = RF_DATA_WRITE, .data_base = 1, .data_from = F + 1, .data_to = RF_RESULT_NONE},
     NULL},
    {"counts[slot].h1++",
     {.data_op = RF_DATA_INCREMENT,
      .data_base = 2,
      .data_lane = RF_LANE_HALF1,
      .data_to = RF_RESULT_NONE},
     NULL},
    {"v1 = --counts[slot].b0",
     {.data_op = RF_DATA_DECREMENT, .data_base = 2, .data_lane = RF_LANE_BYTE0, .data_to = 1},
     NULL},
    {"v1 = counts[slot] += value",
     {.data_op = RF_DATA_ADD, .data_base = 2, .data_from = F + 1, .data_to = 1},
     NULL},
    {"counts[turn] |= four",
     {.data_op = RF_DATA_OR,
      .data_base = 2,
      .data_index = 1,
      .data_from = C,
      .data_to = RF_RESULT_NONE},
     NULL},
    {"v1 = swap(active[slot], value)",
     {.data_op = RF_DATA_SWAP, .data_base = 1, .data_from = F + 1, .data_to = 1},
     NULL},
    {"slot = match(pcs, pc); if miss goto start",
     {.match_op = RF_MATCH_FIND, .match_key = F, .when = RF_WHEN_MISS, .to = RF_TO_HERE},
     NULL},
    {"if v1 != value goto start",
     {.value_op = RF_VALUE_COMPARE,
      .value_a = 1,
      .value_b = F + 1,
      .when = RF_WHEN_VALUE_NE,
      .to = RF_TO_HERE},
     NULL},
    {"if turn >= v1 done",
     {.index_op = RF_INDEX_COMPARE,
      .index_a = 1,
      .index_b = 1,
      .when = RF_WHEN_INDEX_GE,
      .to = RF_TO_DONE},
     NULL},
    {"if v1 < turn interrupt",
     {.index_op = RF_INDEX_COMPARE,
      .index_a = 1,
      .index_b = 1,
      .when = RF_WHEN_INDEX_GT,
      .to = RF_TO_INTERRUPT},
     "if turn > v1 interrupt"},
    {"turn = sat(turn + four); if i.full interrupt",
     {.index_op = RF_INDEX_ADD_SATURATED,
      .index_to = 1,
      .index_a = 1,
      .index_b = C,
      .when = RF_WHEN_INDEX_FULL,
      .to = RF_TO_INTERRUPT},
     NULL},
    {"counts[slot].b0++; if not d.full done",
     {.data_op = RF_DATA_INCREMENT,
      .data_base = 2,
      .data_lane = RF_LANE_BYTE0,
      .data_to = RF_RESULT_NONE,
      .when = RF_WHEN_DATA_NOT_FULL,
      .to = RF_TO_DONE},
     NULL},
};

TEST(operations_are_understood)
{
    for (size_t i = 0; i < sizeof understood / sizeof *understood; i++) {
        static struct rf_program program;
        struct rf_error error = {""};
        char text[200];
        const char *line = understood[i].line;
        CHECK_ROW(line, assemble_line(&program, line, &error) == RF_OK);
        CHECK_TEXT(error.message, "");
        CHECK_ROW(line,
                  memcmp(&program.code[0], &understood[i].micro, sizeof program.code[0]) == 0);
        rf_program_print_micro(&program, 0, text, sizeof text);
        CHECK_TEXT(text, understood[i].printed != NULL ? understood[i].printed : line);
    }
}

/* Bits as doc/COPROC.md has them, by hand. */
TEST(the_word_is_as_documented)
{
    static struct rf_program program;
    struct rf_error error = {""};
    REQUIRE(assemble_line(&program,
                          "slot = match(pcs, pc); v0 = counts[turn].h1; v1 = v2 + v3; if hit done",
                          &error) == RF_OK);
    struct rf_micro_word word = rf_micro_pack(&program.code[0]);
    /* value: op 2, to 1 << 4, a 2 << 7, b 3 << 13 */
    CHECK_EQ(word.w[0], 0x2 | 1u << 4 | 2u << 7 | 3u << 13);
    /* match: op 1 << 37, key 24 << 40; data: op 1 << 54, lane 2 << 58, base 2 << 61 */
    CHECK_EQ(word.w[1], 1u << 5 | 24u << 8 | 1u << 22 | 2u << 26 | 2u << 29);
    /* index 1 << 65; when 2 << 80, to 72 << 85 */
    CHECK_EQ(word.w[2], 1u << 1 | 2u << 16 | 72u << 21);
}

TEST(declarations_are_understood)
{
    static struct rf_program program;
    struct rf_error error = {""};
    const char *text = ".let n = (1 + 2) * 4 - 10 / 5   # 10\n"
                       ".value best = v3\n"
                       ".index small : log2(ASSOC) = n\n"
                       ".field set = addr[13:6]\n"
                       ".field bucket = hash(pc, value, 7) : 11\n"
                       ".base tail = assoc[ASSOC - 64 : 64]\n"
                       ".base sums = data[256 : n + 6]\n"
                       ".target far = end\n"
                       ".on load, icall goto end\n"
                       ".slot a = tail, count = sums.h1\n"
                       ".profile load -> pc,value  # what it gives\n"
                       ".handler fold\n"
                       "end: best = set; goto far\n";
    CHECK(assemble(&program, text, &error) == RF_OK);
    CHECK_TEXT(error.message, "");
    CHECK_EQ(rf_program_let(&program, "n", 0), 10);
    CHECK_EQ(program.indexes[0].bits, 8);
    CHECK_EQ(program.indexes[0].start, 10);
    CHECK_EQ(program.fields[0].shift, 6);
    CHECK_EQ(program.fields[0].bits, 8);
    CHECK_EQ(program.fields[1].word, RF_SAMPLE_HASH);
    CHECK_EQ(program.fields[1].hash_seed, 7);
    CHECK_EQ(program.bases[0].first, 192);
    CHECK_EQ(program.bases[0].log2, 6);
    CHECK_EQ(program.bases[1].log2, 4);
    CHECK_EQ(program.entries[RF_OPCODE_INDIRECT_CALL], 0);
    CHECK_EQ(program.entries[RF_OPCODE_CALL], RF_NO_ENTRY);
    CHECK_EQ(rf_program_classes(&program), 1u << RF_CLASS_LOAD | 1u << RF_CLASS_CALL);
    CHECK_EQ(program.roles[1].lane, RF_LANE_HALF1);
    CHECK_TEXT(program.profile, "load -> pc,value");
    CHECK_TEXT(program.handler, "fold");
    CHECK_EQ(program.code[0].to, RF_TO_REGISTER);
}

TEST(a_let_can_be_set_from_outside)
{
    static struct rf_program program;
    struct rf_error error = {""};
    struct rf_program_let lets[] = {{"n", 5, false}, {"m", 6, false}};
    const char *text = ".let n = 3\n.on load goto x\nx: v0 = n; done\n";
    CHECK(rf_program_assemble(&program, text, &base_size, lets, 1, &error) == RF_OK);
    CHECK_EQ(program.constants[0], 5);
    CHECK(rf_program_assemble(&program, text, &base_size, lets, 2, &error) == RF_EINVAL);
    CHECK_TEXT(error.message, "the program has no '.let m' to set");
}

static const struct {
    const char *line, *message;
} refused[] = {
    {"v1 = v2; v3 = v4",
     "column 11: the value alu does one operation per instruction, and this is its second"},
    {"turn++; slot = pc",
     "column 10: the index alu does one operation per instruction, and this is its second"},
    {"v0 = active[slot]; counts[slot].b0++",
     "column 21: the data array does one operation per instruction, and this is its second"},
    {"slot = match(pcs, pc); clear pcs[turn]",
     "column 31: the associative array does one operation per instruction, and this is its second"},
    {"done; done", "column 8: an instruction has one branch, and this is its second"},
    {"v1 = v2; if v3 == v4 done",
     "column 14: the comparison needs an alu, and this line uses it already"},
    {"v0 = v1; v0 = active[slot]", "column 2: two operations write the same register"},
    {"slot = match(pcs, pc); slot = turn", "column 2: two operations write the same register"},
    {"v9 = v1", "column 2: no register is called 'v9'; did you mean 'v0'?"},
    {"v1 = vale", "column 7: no register or field is called 'vale'; did you mean 'value'?"},
    {"goto strat", "column 7: no label is called 'strat'; did you mean 'start'?"},
    {"goto slot", "column 7: 'slot' is not a label"},
    {"v1 = v2 << 3", "column 13: expected a shift by 1, 2, 4, 8 or 16, got '3'"},
    {"turn = turn << 1", "column 9: the index alu does not shift"},
    {"turn = v1 - v2", "column 9: the index alu computes with an index register on the left"},
    {"v1 = v2 +", "column 11: expected a register, field or number, and the line ends"},
    {"v1 = 4294967296", "column 7: a constant has 32 bits"},
    {"v1 = 99999999999999999999", "column 7: the number is above 2^64"},
    {"v1 = 12ab", "column 7: '12ab' is no number"},
    {"v1 = match(pcs, pc)", "column 2: what a match finds goes to an index register"},
    {"slot = match(counts, pc)", "column 15: 'counts' is a part of the data array"},
    {"pcs[slot]++", "column 2: the associative array can be read, written and cleared, no more"},
    {"clear counts[slot]", "column 8: this is a part of the data array"},
    {"v1 = active[slot].b7", "column 20: expected a lane: w, h0, h1, b0, b1, b2 or b3, got 'b7'"},
    {"v1 = pcs[slot].b0", "column 7: the associative array has no lanes"},
    {"active[pc] = v1", "column 9: 'pc' is not an index register"},
    {"active[slot]", "column 14: expected '=', '++' or another change, and the line ends"},
    {"pc = v1", "column 2: 'pc' cannot be written to"},
    {"v1 = pcs", "column 10: expected '[', and the line ends"},
    {"if hit done", "column 2: the branch asks for a match, and there is none"},
    {"if v.zero done", "column 2: the branch asks an alu that is idle"},
    {"if d.full done", "column 2: the branch asks the data array, which is idle"},
    {"v0 = v1; if d.less done", "column 16: expected zero or full, got 'less'"},
    {"if v1 goto start", "column 8: expected ==, !=, <, >=, > or <=, got 'goto'"},
    {"v1 = sat(v2 & v3)", "column 11: sat() takes a sum or a difference"},
    {"v1 = v2 v3", "column 10: expected the end of the line, got 'v3'"},
    {"slot: done", "column 2: 'slot' has a meaning already, from line 3"},
    {"done: done", "column 2: 'done' is a word of the language"},
    {"v3: done", "column 2: 'v3' is a register"},
    {".index wide : 17", "column 16: the width of an index register is between 1 and 16, not 17"},
    {".index wide : 4 = 16", "column 20: its start is between 0 and 15, not 16"},
    {".index tiny : 7\n tiny = match(pcs, pc)",
     "column 2: the register has 7 bits, and 'pcs' needs 8"},
    {".base odd = data[0 : 3]", "column 14: the size is a power of two, not 3"},
    {".base odd = data[2 : 4]", "column 14: the first word is a multiple of the size 4"},
    {".base odd = data[512 : 4]", "column 14: the array has 512 words, and this ends at 516"},
    {".base odd = text[0 : 4]", "column 14: expected assoc or data, got 'text'"},
    {".field x = value[40:0]", "column 19: a field is 1 to 32 bits, the high bit first: [31:0]"},
    {".field x = cycle",
     "column 13: expected pc, addr, value, target, width, thread, miss, taken, indirect, opcode "
     "or hash, got 'cycle'"},
    {".on load goto start", "column 6: class 'load' has an entry already"},
    {".on lode goto start",
     "column 6: expected load, store, branch, jump, ijump, call, icall, return, alu or insn, "
     "got 'lode'"},
    {".let x = 4 / 0", "column 13: a division by 0"},
    {".let x = 1 - 2", "column 13: the result is below 0 or above 2^64"},
    {".slot a = pcs, a = active", "column 17: a slot has one 'a'"},
    {".frob",
     "column 3: expected let, value, const, index, field, base, target, on, slot, profile or "
     "handler, got 'frob'"},
    {"$", "column 2: expected an operation, got '$'"},
};

TEST(wrong_lines_are_refused_by_column)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        static struct rf_program program;
        struct rf_error error = {""};
        char expected[300];
        bool second = strchr(refused[i].line, '\n') != NULL;
        snprintf(expected, sizeof expected, "line %d, %s", HEAD_LINES + 1 + second,
                 refused[i].message);
        CHECK_ROW(refused[i].line, assemble_line(&program, refused[i].line, &error) == RF_EINVAL);
        CHECK_TEXT(error.message, expected);
    }
}

TEST(programs_that_are_not_whole_are_refused)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "the program has no instruction"},
        {".on load goto x\nx: v0 = v1\n",
         "line 2: the program runs on behind its last instruction; end it with 'done'"},
        {"done\n", "the program takes no samples; say '.on load goto LABEL'"},
        {".let n = 9 : 1 .. 4 * 2\n", "line 1, column 6: n is a number between 1 and 8, not 9"},
        {".let n = 1 : 1 ... 4\n", "line 1, column 18: expected a number, got '.'"},
        {".let n = 1 : 1 2\n", "line 1, column 16: expected '..', got '2'"},
        {".let n = 6 : power 0 .. 8\n",
         "line 1, column 6: n is a power of two between 0 and 8, not 6"},
        {".on load goto x\ndone\nx:\n", "line 3, column 1: nothing stands behind the label 'x'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct rf_program program;
        struct rf_error error = {""};
        CHECK_ROW(cases[i].text, assemble(&program, cases[i].text, &error) == RF_EINVAL);
        CHECK_TEXT(error.message, cases[i].message);
    }
}

TEST(a_branch_reaches_so_far_and_no_farther)
{
    static struct rf_program program;
    struct rf_error error = {""};
    char text[4096];
    for (int words = 30; words <= 31; words++) {
        size_t n = (size_t)sprintf(text, ".on load goto x\nx: goto end\n");
        for (int i = 0; i < words; i++)
            n += (size_t)sprintf(text + n, "v0 = v1\n");
        sprintf(text + n, "end: done\n");
        CHECK_EQ(assemble(&program, text, &error), words == 30 ? RF_OK : RF_EINVAL);
    }
    CHECK_TEXT(error.message,
               "line 2, column 9: 'end' is 32 words away, and a branch reaches 32 back and 31 "
               "ahead; say '.target far = end' and branch to 'far'");
}

TEST(limits_of_the_machine_are_kept)
{
    static struct rf_program program;
    struct rf_error error = {""};
    static char text[65536];
    size_t n = (size_t)sprintf(text, ".on load goto x\nx:");
    for (int i = 0; i < 257; i++)
        n += (size_t)sprintf(text + n, " done\n");
    CHECK_EQ(assemble(&program, text, &error), RF_EINVAL);
    CHECK_TEXT(error.message, "line 258, column 2: more than 256 instructions");
    n = (size_t)sprintf(text, ".on load goto x\nx: ");
    for (int i = 0; i < 17; i++)
        n += (size_t)sprintf(text + n, "v0 = %d\n", i);
    CHECK_EQ(assemble(&program, text, &error), RF_EINVAL);
    CHECK_TEXT(error.message, "line 18, column 6: more than 16 different constants");
}

/* --- round trips ------------------------------------------------------------------------------ */

static bool same(const struct rf_program *x, const struct rf_program *y)
{
    return x->n == y->n && memcmp(x->code, y->code, sizeof x->code) == 0 &&
           memcmp(x->entries, y->entries, sizeof x->entries) == 0 && x->n_fields == y->n_fields &&
           memcmp(x->fields, y->fields, sizeof x->fields) == 0 &&
           x->n_constants == y->n_constants &&
           memcmp(x->constants, y->constants, sizeof x->constants) == 0 &&
           memcmp(x->indexes, y->indexes, sizeof x->indexes) == 0 &&
           memcmp(x->bases, y->bases, sizeof x->bases) == 0 &&
           memcmp(x->targets, y->targets, sizeof x->targets) == 0 &&
           memcmp(x->roles, y->roles, sizeof x->roles) == 0 &&
           strcmp(x->handler, y->handler) == 0 && strcmp(x->profile, y->profile) == 0;
}

TEST(random_words_survive_the_way_through_text)
{
    struct rf_random random;
    rf_random_seed(&random, test_seed(1));
    static char printed[65536], twice[65536];
    for (int round = 0; round < test_rounds(60, 600); round++) {
        static struct rf_program program, again;
        struct rf_error error = {""};
        random_program(&random, &program);
        size_t n = rf_program_print(&program, printed, sizeof printed);
        REQUIRE(n < sizeof printed && n == strlen(printed));
        CHECK(assemble(&again, printed, &error) == RF_OK);
        CHECK_TEXT(error.message, "");
        CHECK(same(&program, &again));
        rf_program_print(&again, twice, sizeof twice);
        CHECK_TEXT(twice, printed);
    }
}

TEST(the_listing_has_word_and_source)
{
    static struct rf_program program;
    struct rf_error error = {""};
    char text[1024];
    const char *source = ".on load goto x   # loads\nx: v1 = v0; done\n";
    REQUIRE(assemble(&program, source, &error) == RF_OK);
    rf_program_list(&program, source, text, sizeof text);
    CHECK_TEXT(text, "                                  .on load goto x   # loads\n"
                     "   0  09010000_00000000_00000011  x: v1 = v0; done\n");
    CHECK_EQ(rf_program_list(&program, source, text, 10), 111);
}

TEST_MAIN()
