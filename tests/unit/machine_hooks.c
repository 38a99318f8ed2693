/* Hooks of the simulated machine, on a program small enough to count by hand. */
#include "machine/hooks.h"
#include "test.h"
#include <elf.h>
#include <stdbool.h>
#include <unistd.h>

/* --- a program, assembled here ----------------------------------------------------------------- */

enum { ZERO, RA, SP, T0 = 5, T1, T2, A0 = 10, A1, A7 = 17, S2 = 18, S3, S4, S5 };
enum { ROUNDS = 1000, LOADS = 4, INSNS = 8 }; /* of the loop */

static uint32_t immediate(unsigned opcode, unsigned f3, unsigned rd, unsigned rs1, int imm)
{
    return (uint32_t)imm << 20 | rs1 << 15 | f3 << 12 | rd << 7 | opcode;
}

static uint32_t addi(unsigned rd, unsigned rs1, int imm)
{
    return immediate(0x13, 0, rd, rs1, imm);
}

static uint32_t ld(unsigned rd, unsigned rs1, int imm)
{
    return immediate(3, 3, rd, rs1, imm);
}

static uint32_t sd(unsigned rs2, unsigned rs1, int imm)
{
    uint32_t bits = (uint32_t)imm;
    return (bits >> 5 & 127) << 25 | rs2 << 20 | rs1 << 15 | 3 << 12 | (bits & 31) << 7 | 0x23;
}

static uint32_t bne(unsigned rs1, unsigned rs2, int back)
{
    uint32_t bits = (uint32_t)back;
    return (bits >> 12 & 1) << 31 | (bits >> 5 & 63) << 25 | rs2 << 20 | rs1 << 15 | 1 << 12 |
           (bits >> 1 & 15) << 8 | (bits >> 11 & 1) << 7 | 0x63;
}

static uint32_t lr(unsigned rd, unsigned rs1)
{
    return 2u << 27 | rs1 << 15 | 3 << 12 | rd << 7 | 0x2f;
}

static uint32_t sc(unsigned rd, unsigned rs2, unsigned rs1)
{
    return 3u << 27 | rs2 << 20 | rs1 << 15 | 3 << 12 | rd << 7 | 0x2f;
}

static uint32_t add(unsigned rd, unsigned rs1, unsigned rs2)
{
    return rs2 << 20 | rs1 << 15 | rd << 7 | 0x33;
}

enum { WRITE_CSR = 5, READ_CSR = 2, FFLAGS = 1, FRM = 2 }; /* the former of a constant */

static uint32_t csr(unsigned what, unsigned rd, unsigned rs1, int number)
{
    return immediate(0x73, what, rd, rs1, number);
}

/* ROUNDS times: four loads, three sums, a branch, as two full groups of four. Then a load between lr and sc. Ends
 * with the low byte of what a handler has counted at -64(sp), and whatever of the program's own has changed:
 * s5, the flags (4), the rounding mode (2), the reservation. */
static size_t assemble(uint32_t *code)
{
    size_t n = 0;
    code[n++] = csr(WRITE_CSR, ZERO, 4, FFLAGS);
    code[n++] = csr(WRITE_CSR, ZERO, 2, FRM);
    code[n++] = addi(T0, ZERO, ROUNDS);
    code[n++] = addi(S5, ZERO, 77);
    for (int i = 0; i < LOADS; i++)
        code[n++] = ld((unsigned)(S2 + (i & 1)), SP, 8 * i);
    code[n++] = addi(T1, ZERO, 1);
    code[n++] = addi(T2, ZERO, 2);
    code[n++] = addi(T0, T0, -1);
    code[n] = bne(T0, ZERO, -4 * (INSNS - 1));
    n++;
    code[n++] = lr(T0, SP);
    code[n++] = ld(A0, SP, -64);
    code[n++] = sc(T1, T0, SP);
    code[n++] = csr(READ_CSR, T2, ZERO, FFLAGS);
    code[n++] = csr(READ_CSR, A1, ZERO, FRM);
    code[n++] = add(A0, A0, S5);
    code[n++] = add(A0, A0, T1);
    code[n++] = add(A0, A0, T2);
    code[n++] = add(A0, A0, A1);
    code[n++] = addi(A0, A0, -77 - 4 - 2);
    code[n++] = addi(A7, ZERO, 93);
    code[n++] = 0x73; /* ecall */
    return n;
}

struct image {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    uint32_t pad[2]; /* so that the code begins at a line */
    uint32_t code[64];
};

static char path[] = "/tmp/riffle-hooks-XXXXXX";

static void remove_program(void)
{
    unlink(path);
}

static void write_program(void)
{
    struct image image = {.segment = {.p_type = PT_LOAD,
                                      .p_flags = PF_R | PF_X,
                                      .p_vaddr = 0x10000,
                                      .p_filesz = sizeof image,
                                      .p_memsz = sizeof image}};
    memcpy(image.header.e_ident, ELFMAG, SELFMAG);
    image.header.e_ident[EI_CLASS] = ELFCLASS64;
    image.header.e_ident[EI_DATA] = ELFDATA2LSB;
    image.header.e_machine = EM_RISCV;
    image.header.e_type = ET_EXEC;
    image.header.e_phentsize = sizeof image.segment;
    image.header.e_phnum = 1;
    image.header.e_phoff = offsetof(struct image, segment);
    image.header.e_entry = 0x10000 + offsetof(struct image, code);
    assemble(image.code);
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, &image, sizeof image) != (ssize_t)sizeof image || close(fd) != 0)
        abort();
    atexit(remove_program);
}

static struct rf_source *open_program(const char *core, uint32_t classes)
{
    static bool written;
    if (!written)
        write_program();
    written = true;
    const char *argv[] = {path, NULL};
    const struct rf_machine_setup setup = {.argv = argv, .core = core, .classes = classes};
    struct rf_source *source;
    struct rf_error error = {""};
    if (rf_source_open_machine(&source, &setup, &error) != RF_OK) {
        printf("# %s\n", error.message);
        abort();
    }
    return source;
}

/* Run it to its end and close it. */
static struct rf_machine_outcome finish(struct rf_source *source, uint64_t *records)
{
    struct rf_machine_outcome outcome;
    struct rf_batch batch = {.n = 1};
    *records = 0;
    while (batch.n > 0 && rf_source_next(source, &batch, NULL) == RF_OK)
        *records += batch.n;
    rf_machine_outcome(source, &outcome);
    if (outcome.fault[0] != '\0')
        printf("# %s\n", outcome.fault);
    rf_source_close(source);
    return outcome;
}

static uint64_t figure(const struct rf_machine_outcome *outcome, const char *name)
{
    for (size_t i = 0; i < outcome->n_figures; i++)
        if (strcmp(outcome->figures[i].name, name) == 0)
            return outcome->figures[i].value;
    return 0;
}

/* --- at decode --------------------------------------------------------------------------------- */

struct watch {
    uint64_t retired, own, loads, counted, every;
    struct rf_source *source;
    uint64_t handler;
    uint64_t traps;
};

/* A load becomes itself and an increment of a private register, one for each load of the program. */
static void count_loads(void *context, const struct rf_insn *insn, uint64_t pc, uint32_t state,
                        struct rf_expansion *out)
{
    (void)context;
    (void)state;
    if (insn->kind != RF_OP_CLASS_LOAD)
        return;
    uint8_t counter = (uint8_t)(RF_REG_PRIVATE + pc / 4 % 8);
    out->n = 2;
    out->put[0] = RF_PUT_OWN;
    out->insn[0] = *insn;
    out->put[1] = RF_PUT_CODE;
    out->insn[1] = (struct rf_insn){.op = RF_OP_addi,
                                    .kind = RF_OP_CLASS_ALU,
                                    .rd = counter,
                                    .rs1 = counter,
                                    .rs2 = RF_REG_NONE,
                                    .rs3 = RF_REG_NONE,
                                    .imm = 1};
}

static void look(void *context, const struct rf_retirement *retirement)
{
    struct watch *watch = context;
    watch->retired++;
    watch->own += retirement->own;
    watch->loads += retirement->insn->kind == RF_OP_CLASS_LOAD;
    watch->counted = 0;
    for (unsigned i = 0; i < 8; i++)
        watch->counted += retirement->x[RF_REG_PRIVATE + i];
}

static const uint32_t ALL = UINT32_MAX;
static const char WIDE[] = "hps,decode_width=8,issue_width=8,commit_width=8,alu_ports=8";

TEST(an_expanded_load_counts_itself)
{
    struct watch watch = {0};
    const struct rf_machine_hooks hooks = {
        .context = &watch, .expand = count_loads, .retire = look};
    uint64_t plain_records, records;
    struct rf_machine_outcome plain = finish(open_program("hps", ALL), &plain_records);
    struct rf_source *source = open_program("hps", ALL);
    rf_machine_hook(source, &hooks);
    struct rf_machine_outcome counted = finish(source, &records);
    CHECK_EQ(watch.loads, ROUNDS * LOADS + 2);
    CHECK_EQ(watch.counted, watch.loads);
    CHECK_EQ(watch.own, plain.instructions);
    CHECK_EQ(watch.retired, watch.own + watch.loads);
    /* The program does not know: same instructions, records and end. */
    CHECK_EQ(counted.instructions, plain.instructions);
    CHECK_EQ(records, plain_records);
    CHECK_EQ((unsigned)counted.exit_status, (unsigned)plain.exit_status);
}

TEST(an_expansion_costs_decode_bandwidth_and_no_fetch)
{
    const struct rf_machine_hooks hooks = {.expand = count_loads};
    static const struct {
        const char *label, *core;
        double plain, expanded; /* cycles a round */
    } rows[] = {
        {"four wide: 8 instructions, then 12", "hps", 2, 3},
        {"eight wide behind a fetch of four", WIDE, 2, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t records;
        struct rf_machine_outcome plain = finish(open_program(rows[i].core, 0), &records);
        struct rf_source *source = open_program(rows[i].core, 0);
        rf_machine_hook(source, &hooks);
        struct rf_machine_outcome expanded = finish(source, &records);
        double slack = 0.5; /* first misses and the predictor's first rounds: under 500 cycles */
        double a = (double)plain.cycles / ROUNDS, b = (double)expanded.cycles / ROUNDS;
        printf("# %s: %.2f, expanded %.2f cycles a round\n", rows[i].label, a, b);
        CHECK_ROW(rows[i].label, a >= rows[i].plain && a <= rows[i].plain + slack);
        CHECK_ROW(rows[i].label, b >= rows[i].expanded && b <= rows[i].expanded + slack);
        CHECK_EQ(figure(&expanded, "icache-misses"), figure(&plain, "icache-misses"));
    }
}

TEST(expansions_run_at_full_speed_too)
{
    struct watch watch = {0};
    const struct rf_machine_hooks hooks = {.context = &watch, .expand = count_loads};
    uint64_t records;
    struct rf_source *source = open_program(NULL, 0);
    rf_machine_hook(source, &hooks);
    struct rf_machine_outcome outcome = finish(source, &records);
    struct rf_machine_outcome plain = finish(open_program(NULL, 0), &records);
    CHECK_EQ(outcome.instructions, plain.instructions);
    CHECK_EQ((unsigned)outcome.exit_status, (unsigned)plain.exit_status);
}

/* --- from one execution to the next --------------------------------------------------------------- */

/* In state 1 a load is itself and an increment; the branch at the loop's end changes the state every
 * `every` rounds. In state 1 the branch is part of a sequence, too. */
static void count_in_state(void *context, const struct rf_insn *insn, uint64_t pc, uint32_t state,
                           struct rf_expansion *out)
{
    if (insn->kind == RF_OP_CLASS_LOAD && state == 1)
        count_loads(context, insn, pc, state, out);
    if (insn->kind != RF_OP_CLASS_BRANCH)
        return;
    out->watch = 1 + state;
    if (state == 0)
        return;
    out->n = 2;
    out->put[0] = RF_PUT_CODE;
    out->insn[0] = rf_insn_decode(addi(ZERO, ZERO, 0));
    out->put[1] = RF_PUT_OWN;
    out->insn[1] = *insn;
}

static uint32_t change_state(void *context, uint32_t which)
{
    struct watch *watch = context;
    watch->traps++;
    return watch->traps % watch->every == 0 ? 2 - which : which - 1;
}

TEST(a_watch_changes_the_state_from_the_next_instruction_on)
{
    static const char *const cores[] = {"hps", NULL};
    for (size_t i = 0; i < 2; i++) {
        struct watch watch = {.every = 7};
        const struct rf_machine_hooks hooks = {
            .context = &watch, .expand = count_in_state, .watch = change_state};
        uint64_t records, plain_records, counted = 0;
        struct rf_machine_outcome plain = finish(open_program(cores[i], 0), &plain_records);
        struct rf_source *source = open_program(cores[i], 0);
        const uint64_t *x = rf_machine_registers(source);
        rf_machine_hook(source, &hooks);
        struct rf_batch batch;
        CHECK(rf_source_next(source, &batch, NULL) == RF_OK);
        for (unsigned k = 0; k < 8; k++)
            counted += x[RF_REG_PRIVATE + k];
        struct rf_machine_outcome watched = finish(source, &records);
        CHECK_EQ(watch.traps, ROUNDS);
        CHECK_EQ(counted, ROUNDS / 7 / 2 * 7 * LOADS); /* rounds 8 to 14, 22 to 28, ... */
        CHECK_EQ(watched.instructions, plain.instructions);
        CHECK_EQ((unsigned)watched.exit_status, (unsigned)plain.exit_status);
    }
}

static struct rf_insn skip(unsigned reg, int items)
{
    struct rf_insn insn = rf_insn_decode(bne(ZERO, ZERO, -4));
    insn.rs1 = (uint8_t)(RF_REG_PRIVATE + reg);
    insn.imm = items;
    return insn;
}

static struct rf_insn count_up(unsigned reg)
{
    struct rf_insn insn = rf_insn_decode(addi(T0, T0, 1));
    insn.rd = insn.rs1 = (uint8_t)(RF_REG_PRIVATE + reg);
    return insn;
}

/* A load becomes: skip two if $9 is not 0; $8 + 1; pass one if $8 is not 0; $9 + 1; $10 + 1; itself. */
static void branch_at_loads(void *context, const struct rf_insn *insn, uint64_t pc, uint32_t state,
                            struct rf_expansion *out)
{
    (void)context;
    (void)pc;
    (void)state;
    if (insn->kind != RF_OP_CLASS_LOAD)
        return;
    const struct rf_insn items[] = {skip(9, 2),  count_up(8),  skip(8, 2),
                                    count_up(9), count_up(10), *insn};
    static const uint8_t puts[] = {RF_PUT_SKIP, RF_PUT_CODE, RF_PUT_PASS,
                                   RF_PUT_CODE, RF_PUT_CODE, RF_PUT_OWN};
    out->n = 6;
    memcpy(out->put, puts, sizeof puts);
    memcpy(out->insn, items, sizeof items);
}

TEST(a_sequence_may_branch_within_itself)
{
    static const char *const cores[] = {"hps", NULL};
    for (size_t i = 0; i < 2; i++) {
        const struct rf_machine_hooks hooks = {.expand = branch_at_loads};
        struct rf_source *source = open_program(cores[i], 0);
        const uint64_t *x = rf_machine_registers(source);
        struct rf_batch batch;
        uint64_t records;
        rf_machine_hook(source, &hooks);
        CHECK(rf_source_next(source, &batch, NULL) == RF_OK);
        CHECK_EQ(x[RF_REG_PRIVATE + 8], ROUNDS * LOADS + 2); /* those behind the loop, too */
        CHECK_EQ(x[RF_REG_PRIVATE + 9], 0);                  /* passed each time */
        CHECK_EQ(x[RF_REG_PRIVATE + 10], ROUNDS * LOADS + 2);
        struct rf_machine_outcome outcome = finish(source, &records);
        CHECK_EQ((unsigned)outcome.exit_status, 0);
    }
}

/* --- handlers ---------------------------------------------------------------------------------- */

/* void handler(uint64_t *counter, uint64_t n): *counter += n, and leaves nothing as it was. */
static uint64_t place_handler(struct rf_source *source)
{
    const uint32_t code[] = {
        lr(T0, A0),         add(T0, T0, A1),    sc(T2, T0, A0),
        addi(T1, ZERO, -1), addi(S5, ZERO, -1), csr(WRITE_CSR, ZERO, 1, FRM),
        0x1ab57553, /* fdiv.d fa0,fa0,fa1: 0 by 0 is invalid */
        addi(SP, SP, -32),  sd(T0, SP, 0),      immediate(0x67, 0, ZERO, RA, 0)}; /* ret */
    uint64_t address = 0;
    CHECK(rf_machine_place(source, code, sizeof code, &address, NULL) == RF_OK);
    return address;
}

static void trap_now_and_then(void *context, const struct rf_retirement *retirement)
{
    struct watch *watch = context;
    if (retirement->insn->kind != RF_OP_CLASS_LOAD || ++watch->loads % watch->every != 0)
        return;
    const uint64_t arguments[] = {retirement->x[SP] - 64, 3};
    CHECK(rf_machine_trap(watch->source, watch->handler, arguments, 2));
    CHECK(!rf_machine_trap(watch->source, watch->handler, arguments, 2)); /* one at a time */
    watch->traps++;
}

static struct rf_machine_outcome run_trapped(const char *core, rf_expand *expand,
                                             struct watch *watch, uint64_t *records)
{
    const struct rf_machine_hooks hooks = {
        .context = watch, .expand = expand, .retire = trap_now_and_then};
    struct rf_source *source = open_program(core, ALL);
    watch->every = watch->every != 0 ? watch->every : 200;
    watch->source = source;
    watch->handler = place_handler(source);
    rf_machine_hook(source, &hooks);
    return finish(source, records);
}

TEST(a_handler_runs_between_two_instructions)
{
    static const struct {
        const char *label, *core;
        rf_expand *expand;
    } rows[] = {
        {"with timing", "hps", NULL},
        {"without", NULL, NULL},
        {"in the midst of sequences", "hps", count_loads},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct watch watch = {0};
        uint64_t records, plain_records;
        struct rf_machine_outcome plain = finish(open_program(rows[i].core, ALL), &plain_records);
        struct rf_machine_outcome trapped =
            run_trapped(rows[i].core, rows[i].expand, &watch, &records);
        CHECK_EQ(watch.traps, ROUNDS * LOADS / 200);
        CHECK_EQ((unsigned)plain.exit_status, 0);
        CHECK_EQ((unsigned)trapped.exit_status, 3 * watch.traps); /* and the rest came back */
        CHECK_EQ(trapped.instructions, plain.instructions);
        CHECK_EQ(records, plain_records);
        CHECK_EQ(figure(&trapped, "traps"), watch.traps);
        CHECK_EQ(figure(&trapped, "handler-instructions"), 11 * watch.traps);
        CHECK_ROW(rows[i].label, rows[i].core == NULL || trapped.cycles > plain.cycles);
    }
}

/* A load calls the handler and then runs. */
static void call_at_loads(void *context, const struct rf_insn *insn, uint64_t pc, uint32_t state,
                          struct rf_expansion *out)
{
    (void)context;
    (void)pc;
    (void)state;
    if (insn->kind != RF_OP_CLASS_LOAD)
        return;
    struct rf_insn pointer = rf_insn_decode(addi(T0, SP, -64)), three = pointer;
    pointer.rd = RF_REG_ARGUMENT;
    three.rd = RF_REG_ARGUMENT + 1;
    three.rs1 = ZERO;
    three.imm = 3;
    const struct rf_insn items[] = {pointer, three, {.op = RF_OP_ebreak, .imm = 5}, *insn};
    static const uint8_t puts[] = {RF_PUT_CODE, RF_PUT_CODE, RF_PUT_CALL, RF_PUT_OWN};
    out->n = 4;
    memcpy(out->put, puts, sizeof puts);
    memcpy(out->insn, items, sizeof items);
}

static uint64_t find_handler(void *context, uint32_t number)
{
    struct watch *watch = context;
    CHECK_EQ(number, 5);
    return watch->handler;
}

static void count_return(void *context)
{
    struct watch *watch = context;
    watch->counted++;
}

TEST(a_sequence_calls_a_handler)
{
    static const char *const cores[] = {"hps", NULL};
    for (size_t i = 0; i < 2; i++) {
        struct watch watch = {0};
        const struct rf_machine_hooks hooks = {.context = &watch,
                                               .expand = call_at_loads,
                                               .call = find_handler,
                                               .returned = count_return};
        uint64_t records, calls = ROUNDS * LOADS + 2;
        struct rf_machine_outcome plain = finish(open_program(cores[i], 0), &records);
        struct rf_source *source = open_program(cores[i], 0);
        watch.handler = place_handler(source);
        rf_machine_hook(source, &hooks);
        struct rf_machine_outcome called = finish(source, &records);
        CHECK_EQ(watch.counted, calls);
        CHECK_EQ((unsigned)called.exit_status, 3 * calls % 256);
        CHECK_EQ(called.instructions, plain.instructions);
        CHECK_EQ(figure(&called, "handler-instructions"), 11 * calls);
        if (cores[i] == NULL)
            continue;
        double each = (double)(called.cycles - plain.cycles) / (double)calls;
        printf("# %.1f cycles a call\n", each);
        CHECK(each > 2 * 8 && each < 2 * 11 + 40); /* two refills of the front end */
    }
}

/* After the lr, which is the first load behind the loop; sc would say 1 if it had failed. */
TEST(a_reservation_outlives_a_handler)
{
    struct watch watch = {.every = ROUNDS * LOADS + 1};
    uint64_t records;
    struct rf_machine_outcome trapped = run_trapped("hps", NULL, &watch, &records);
    CHECK_EQ(watch.traps, 1);
    CHECK_EQ((unsigned)trapped.exit_status, 3);
}

/* Into the handler and out again the pipeline is empty: twice 8 stages to dispatch, issue, execute,
 * commit and the redirect, and the chain of the handler. */
TEST(a_handler_costs_two_refills_and_its_own_cycles)
{
    struct watch watch = {0};
    uint64_t records;
    struct rf_machine_outcome plain = finish(open_program("hps", ALL), &records);
    struct rf_machine_outcome trapped = run_trapped("hps", NULL, &watch, &records);
    double each = (double)(trapped.cycles - plain.cycles) / (double)watch.traps;
    printf("# %.1f cycles a trap\n", each);
    CHECK(each > 2 * 11 && each < 2 * 11 + 40);
}

struct charge {
    struct rf_source *source;
    uint64_t loads;
};

static void charge_now_and_then(void *context, const struct rf_retirement *retirement)
{
    struct charge *charge = context;
    if (retirement->insn->kind == RF_OP_CLASS_LOAD && ++charge->loads % 100 == 0)
        rf_machine_charge(charge->source, 30);
}

TEST(charged_cycles_and_a_refill_are_added)
{
    uint64_t records;
    struct charge charge = {open_program("hps", 0), 0};
    const struct rf_machine_hooks hooks = {.context = &charge, .retire = charge_now_and_then};
    struct rf_machine_outcome plain = finish(open_program("hps", 0), &records);
    rf_machine_hook(charge.source, &hooks);
    struct rf_machine_outcome charged = finish(charge.source, &records);
    double each = (double)(charged.cycles - plain.cycles) / (ROUNDS * LOADS / 100.0);
    printf("# %.1f cycles a charge of 30\n", each);
    CHECK(each >= 30 && each <= 30 + 14); /* the pipeline is refilled, too */
    CHECK_EQ(figure(&charged, "stall-trap") > 0, 1);
}

TEST(the_machine_tells_its_modules_like_any_source)
{
    const struct rf_module *modules = NULL;
    size_t n = 0;
    struct rf_source *source = open_program(NULL, 0);
    char *absolute = realpath(path, NULL);
    CHECK(rf_source_modules(source, &modules, &n) == RF_OK);
    REQUIRE(n == 1 && absolute != NULL);
    CHECK(strcmp(modules[0].path, absolute) == 0);
    CHECK_EQ(modules[0].start, 0x10000);
    CHECK_EQ(modules[0].end, 0x10000 + sizeof(struct image));
    CHECK_EQ(modules[0].offset, 0);
    CHECK(modules[0].to_event == UINT64_MAX);
    free(absolute);
    rf_source_close(source);
}

TEST_MAIN()
