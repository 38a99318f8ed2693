/* Random productions over random instructions: the engine, which decides once for each instruction and state, does
 * what the plain transcription does each time: expansion for expansion, flag for flag. */
#include "test.h"
#include "reference/dise.h"
#include "base/random.h"
#include "dise/engine.h"
#include <stdarg.h>

static struct rf_random random_numbers;

static uint64_t below(uint64_t n)
{
    return rf_random_below(&random_numbers, n);
}

static bool one_in(uint64_t n)
{
    return below(n) == 0;
}

/* --- instructions --------------------------------------------------------------------------------- */

enum { UNIVERSE = 160, RUN = 400 };

static struct rf_insn universe[UNIVERSE];
static uint64_t pcs[UNIVERSE];

static uint8_t random_register(void)
{
    static const uint8_t some[] = {0, 1, 2, 5, 10, 11, 12, 31};
    return some[below(sizeof some)];
}

/* By way of its encoding, so that it is one that there is. */
static struct rf_insn random_insn(void)
{
    static const uint8_t ops[] = {RF_OP_jal,   RF_OP_jalr,  RF_OP_jalr,  RF_OP_beq, RF_OP_bne,
                                  RF_OP_blt,   RF_OP_lw,    RF_OP_ld,    RF_OP_sw,  RF_OP_sd,
                                  RF_OP_addi,  RF_OP_add,   RF_OP_lui,   RF_OP_mul, RF_OP_amoadd_d,
                                  RF_OP_fence, RF_OP_ecall, RF_OP_fadd_d};
    const struct rf_op_info *info = &rf_op_table[ops[below(sizeof ops)]];
    uint32_t bits = (uint32_t)rf_random_next(&random_numbers) & 0xfff00000u;
    bits |= (uint32_t)random_register() << 15 | (uint32_t)random_register() << 7;
    if (one_in(2))
        bits = (bits & ~0x01f00000u) | (uint32_t)random_register() << 20;
    struct rf_insn insn = rf_insn_decode((bits & ~info->mask) | info->match);
    return insn.op != RF_OP_ILLEGAL ? insn : random_insn();
}

static void make_universe(void)
{
    for (unsigned i = 0; i < UNIVERSE; i++) {
        universe[i] = random_insn();
        pcs[i] = 0x10000 + 4 * below(64);
    }
}

/* --- productions ---------------------------------------------------------------------------------- */

static struct ref_dise dise;
static bool within[REF_PRODUCTIONS][REF_PRODUCTIONS];

static int new_node(struct ref_node node)
{
    dise.nodes[dise.n_nodes] = node;
    return (int)dise.n_nodes++;
}

static unsigned random_counter(unsigned profile)
{
    return 2 * profile + (unsigned)below(2);
}

static int random_relation(void)
{
    static const enum ref_field orders[][2] = {{REF_PC, REF_TARGET}, {REF_TARGET, REF_PC},
                                               {REF_RS, REF_RT},     {REF_RS, REF_RD},
                                               {REF_RD, REF_RS},     {REF_RT, REF_RD}};
    struct ref_node node = {.kind = REF_RELATION,
                            .field = (enum ref_field)below(7),
                            .relation = (enum ref_relation)below(6)};
    const struct rf_insn *like = &universe[below(UNIVERSE)];
    if (one_in(3)) {
        size_t i = below(6);
        node.kind = REF_ORDER;
        node.field = orders[i][0];
        node.other = orders[i][1];
        return new_node(node);
    }
    if (node.field == REF_OPCODE) {
        node.relation = one_in(3) ? REF_NE : REF_EQ;
        node.number = like->op;
    } else if (node.field >= REF_RS && node.field <= REF_RD) {
        node.number = random_register();
    } else {
        node.number = node.field == REF_IMM ? like->imm : 0x10000 + 4 * (int64_t)below(64);
    }
    return new_node(node);
}

static int random_pattern(unsigned profile, unsigned depth)
{
    static const char *const names[] = {"proc_call", "return", "jump",   "branch",
                                        "load",      "store",  "mem_op", "alu",
                                        "multiply",  "float",  "fence",  "system"};
    if (depth > 0 && one_in(2)) {
        enum ref_node_kind kind = one_in(5) ? REF_NOT : one_in(2) ? REF_OR : REF_AND;
        int left = random_pattern(profile, depth - 1);
        int right = kind != REF_NOT ? random_pattern(profile, depth - 1) : 0;
        return new_node((struct ref_node){.kind = kind, .left = left, .right = right});
    }
    switch (below(4)) {
    case 0:
        return random_relation();
    case 1:
        return new_node((struct ref_node){.kind = one_in(2) ? REF_ZERO : REF_OVERFLOW,
                                          .counter = random_counter(profile)});
    default:
        return new_node((struct ref_node){.kind = REF_CLASS,
                                          .class_name = names[below(sizeof names / sizeof *names)],
                                          .equal = !one_in(5)});
    }
}

/* T.INSN last, somewhere, or nowhere: then the instruction is dropped. The reader refuses it in front of the last place where
 * the instruction may leave. */
static void random_items(struct ref_production *production)
{
    unsigned n = production->n_items = 1 + (unsigned)below(4);
    unsigned own = one_in(8) ? n : one_in(3) ? (unsigned)below(n) : n - 1;
    for (unsigned i = 0; i < n; i++)
        production->items[i] =
            (struct ref_item){.kind = (enum ref_item_kind)(REF_ADDI + below(5)),
                              .reg = 2 * production->profile + (unsigned)below(2),
                              .handler = (unsigned)below(3),
                              .imm = 1 + (int)below(i < own ? own - i : n - i),
                              .likely = one_in(2)};
    if (own < n)
        production->items[own].kind = REF_INSN;
}

static void random_ops(struct ref_production *production)
{
    production->n_ops = 1 + (unsigned)below(REF_OPS);
    for (unsigned i = 0; i < production->n_ops; i++)
        production->ops[i] = (struct ref_op){one_in(3)   ? REF_SET
                                             : one_in(3) ? REF_DEC
                                                         : REF_INC,
                                             random_counter(production->profile),
                                             random_counter(production->profile)};
}

/* Every other one narrows or widens by the complement of one before, so that there is something to
 * choose from. */
static void random_production(unsigned profile)
{
    struct ref_production *production = &dise.productions[dise.n_productions];
    unsigned before = dise.n_productions++;
    *production = (struct ref_production){.profile = profile, .parent = -1};
    production->pattern = random_pattern(profile, 2);
    if (before > 0 && !one_in(3)) {
        unsigned of = (unsigned)below(before);
        int base = dise.productions[of].pattern;
        if (dise.productions[of].profile == profile) {
            if (one_in(2))
                base = new_node((struct ref_node){.kind = REF_NOT, .left = base});
            else
                production->parent = (int)of;
            production->pattern = new_node(
                (struct ref_node){.kind = REF_AND, .left = base, .right = production->pattern});
        }
    }
    bool replaces = one_in(2);
    if (replaces)
        random_items(production);
    if (!replaces || one_in(3))
        random_ops(production);
}

static void random_program(void)
{
    memset(&dise, 0, sizeof dise);
    dise.n_profiles = 1 + (unsigned)below(2);
    dise.bits = 2 + (unsigned)below(4);
    for (unsigned i = 2 + (unsigned)below(4); i > 0; i--)
        for (unsigned p = 0; p < dise.n_profiles; p++)
            random_production(p);
    for (unsigned i = 0; i < 2 * dise.n_profiles; i++) {
        dise.registers[i] = below(UINT64_C(2) << dise.bits);
        ref_set(&dise, i, dise.registers[i]);
    }
}

/* --- as text -------------------------------------------------------------------------------------- */

static char text[1 << 16];
static size_t text_n;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_n += (size_t)vsnprintf(text + text_n, sizeof text - text_n, format, arguments);
    va_end(arguments);
}

static void say_pattern(int index)
{
    static const char *const fields[] = {"T.OPCODE", "T.PC", "T.Target", "T.RS",
                                         "T.RT",     "T.RD", "T.IMM"};
    static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
    const struct ref_node *node = &dise.nodes[index];
    switch (node->kind) {
    case REF_NOT:
        say("!");
        say_pattern(node->left);
        break;
    case REF_AND:
    case REF_OR:
        say("(");
        say_pattern(node->left);
        say(node->kind == REF_AND ? " && " : " || ");
        say_pattern(node->right);
        say(")");
        break;
    case REF_CLASS:
        say("(T.OPCLASS %s %s)", node->equal ? "==" : "!=", node->class_name);
        break;
    case REF_RELATION:
        say("(%s %s ", fields[node->field], signs[node->relation]);
        if (node->field == REF_OPCODE)
            say("%s)", rf_op_table[node->number].mnemonic);
        else if (node->field >= REF_RS && node->field <= REF_RD)
            say("x%" PRId64 ")", node->number);
        else
            say("%" PRId64 ")", node->number);
        break;
    case REF_ORDER:
        say("(%s %s %s)", fields[node->field], signs[node->relation], fields[node->other]);
        break;
    default:
        say("%s_%u", node->kind == REF_OVERFLOW ? "overflow" : "zero", node->counter);
    }
}

static void say_item(const struct ref_item *item)
{
    static const char *const handlers[] = {"DataStream_handler", "CallPair_handler",
                                           "HotMethod_handler"};
    switch (item->kind) {
    case REF_INSN:
        say(" T.INSN");
        break;
    case REF_ADDI:
        say(" addi $r%u,T.RS,T.IMM", item->reg);
        break;
    case REF_SD:
        say(" sd T.RT,%d(sp)", item->imm);
        break;
    case REF_BNE:
        say(" %sbne $r%u,zero,.+%d", item->likely ? "likely " : "", item->reg, item->imm);
        break;
    case REF_CALL:
        say(" call(%s)", handlers[item->handler]);
        break;
    default:
        say(" ccall($r%u, %s)", item->reg, handlers[item->handler]);
    }
}

static void say_op(const struct ref_op *op)
{
    static const char *const names[] = {"inc", "dec", "set"};
    say("%s_%u", names[op->micro], op->counter);
    if (op->micro == REF_SET)
        say("(r%u)", op->reg);
}

static void say_profile(unsigned profile)
{
    text_n = 0;
    for (unsigned i = 2 * profile; i < 2 * profile + 2; i++)
        say("register r%u = %" PRIu64 "\ncounter_%u = r%u\n", i, dise.registers[i], i, i);
    for (unsigned i = 0; i < dise.n_productions; i++) {
        const struct ref_production *production = &dise.productions[i];
        if (production->profile != profile)
            continue;
        say("P%u: ", i);
        say_pattern(production->pattern);
        say(production->n_items == 0 ? " => null" : " =>");
        for (unsigned k = 0; k < production->n_items; k++)
            say_item(&production->items[k]);
        say(production->n_ops == 0 ? ", null" : ", ");
        for (unsigned k = 0; k < production->n_ops; k++) {
            say("%s", k > 0 ? ", " : "");
            say_op(&production->ops[k]);
        }
        say("\n");
    }
}

/* --- which is within which ------------------------------------------------------------------------ */

static bool is_ancestor(int of, int production)
{
    while (production >= 0 && production != of)
        production = dise.productions[production].parent;
    return production == of;
}

/* By trying everything. Where no instruction tells them apart, what was made from the other is the
 * narrower one. */
static void find_within(void)
{
    struct ref_dise tried = dise;
    unsigned n = dise.n_productions, flags = 1u << 4 * dise.n_profiles;
    bool equal[REF_PRODUCTIONS][REF_PRODUCTIONS];
    memset(within, true, sizeof within);
    for (unsigned f = 0; f < flags; f++) {
        for (unsigned k = 0; k < 2 * dise.n_profiles; k++) {
            tried.overflow[k] = f >> 2 * k & 1;
            tried.zero[k] = f >> 2 * k & 2;
        }
        for (unsigned u = 0; u < UNIVERSE; u++) {
            bool matching[REF_PRODUCTIONS];
            for (unsigned i = 0; i < n; i++)
                matching[i] =
                    ref_matches(&tried, tried.productions[i].pattern, &universe[u], pcs[u]);
            for (unsigned i = 0; i < n; i++)
                for (unsigned j = 0; j < n; j++)
                    within[i][j] &= !matching[i] || matching[j];
        }
    }
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++)
            equal[i][j] = within[i][j] && within[j][i];
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++)
            if (i != j && equal[i][j])
                within[i][j] = is_ancestor((int)j, (int)i);
}

static bool is_within(const struct ref_dise *of, unsigned a, unsigned b)
{
    (void)of;
    return within[a][b];
}

/* --- side by side --------------------------------------------------------------------------------- */

static bool same_insn(const struct rf_insn *a, const struct rf_insn *b)
{
    return a->op == b->op && a->rd == b->rd && a->rs1 == b->rs1 && a->rs2 == b->rs2 &&
           a->imm == b->imm;
}

static bool same_expansion(const struct rf_expansion *a, const struct rf_expansion *b)
{
    bool same = a->n == b->n;
    for (unsigned i = 0; same && i < a->n; i++)
        same = a->put[i] == b->put[i] && same_insn(&a->insn[i], &b->insn[i]);
    return same;
}

/* The engine numbers counters as they come in the text. */
static bool same_counters(const struct rf_dise_engine *engine,
                          const struct rf_dise_program *program)
{
    for (unsigned i = 0; i < program->n_counters; i++) {
        unsigned of = program->counters[i].number;
        uint32_t flags = rf_dise_flags(engine);
        if (rf_dise_counter(engine, i) != dise.counters[of] ||
            ((flags & rf_dise_overflow(i)) != 0) != dise.overflow[of] ||
            ((flags & rf_dise_zero(i)) != 0) != dise.zero[of])
            return false;
    }
    return true;
}

static uint64_t expanded, ties;

/* A new value for one private register, as a handler could give it. */
static void change_register(uint64_t *registers)
{
    unsigned i = (unsigned)below(2 * dise.n_profiles);
    registers[i] = dise.registers[i] = below(UINT64_C(2) << dise.bits);
}

static bool run_both(struct rf_dise_engine *engine, const struct rf_dise_program *program,
                     uint64_t *registers)
{
    uint32_t state = rf_dise_state(engine);
    for (unsigned i = 0; i < RUN; i++) {
        struct rf_expansion ours = {.n = 0}, theirs = {.n = 0};
        unsigned u = (unsigned)below(UNIVERSE);
        rf_dise_expand(engine, &universe[u], pcs[u], state, &ours);
        if (ours.watch != 0)
            state = rf_dise_watch(engine, ours.watch);
        if (!ref_decode(&dise, &universe[u], pcs[u], is_within, &theirs)) {
            ties++;
            return true; /* the reader saw by their texts what these instructions cannot tell */
        }
        if (!same_expansion(&ours, &theirs) || !same_counters(engine, program) ||
            state != rf_dise_state(engine))
            return false;
        expanded += ours.n > 0;
        if (one_in(20))
            change_register(registers);
    }
    return true;
}

/* Returns whether the program was accepted. */
static bool try_program(void)
{
    static struct rf_dise_program program;
    const struct rf_dise_sizes sizes = {
        1024, 4096, 512, RF_DISE_COUNTERS, dise.bits, RF_DISE_REGISTERS};
    uint64_t registers[RF_DISE_REGISTERS] = {0};
    struct rf_dise_engine *engine;
    struct rf_error error = {""};
    memset(&program, 0, sizeof program);
    for (unsigned p = 0; p < dise.n_profiles; p++) {
        say_profile(p);
        if (rf_dise_read_text(&program, "random", text, text_n, &error) != RF_OK)
            return false;
    }
    if (rf_dise_open(&engine, &program, &sizes, registers, NULL, &error) != RF_OK) {
        printf("# %s\n", error.message);
        CHECK(false);
        return false;
    }
    find_within();
    bool same = run_both(engine, &program, registers);
    if (!same)
        printf("# they differ on:\n# %s\n", text);
    CHECK(same);
    rf_dise_close(engine);
    return true;
}

TEST(the_engine_does_what_the_tables_do)
{
    rf_random_seed(&random_numbers, test_seed(20261115));
    unsigned programs = getenv("RIFFLE_TEST_LONG") != NULL ? 40000 : 2000, accepted = 0;
    expanded = ties = 0;
    for (unsigned i = 0; i < programs && test_failures == 0; i++) {
        if (i % 50 == 0)
            make_universe();
        random_program();
        accepted += try_program();
    }
    printf("# %u of %u programs accepted, %" PRIu64 " expansions, %" PRIu64 " left undecided\n",
           accepted, programs, expanded, ties);
    CHECK(accepted > programs / 10);
    CHECK(expanded > 50 * accepted);
    CHECK(ties < accepted / 20);
}

TEST_MAIN()
