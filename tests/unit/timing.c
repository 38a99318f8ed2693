/* The timing model by hand and against the cycle-by-cycle pipeline in tests/reference. */
#include "base/random.h"
#include "machine/timing/timing.h"
#include "reference/pipeline.h"
#include "test.h"
#include <stdbool.h>

enum { MANY = 10000 };

static uint32_t cycles[MANY]; /* charged to each instruction of the last stream */

static struct rf_timing_config config_of(const char *text)
{
    struct rf_timing_config config;
    struct rf_error error = {""};
    if (rf_timing_config_parse(&config, text, &error) != RF_OK) {
        printf("# %s\n", error.message);
        abort();
    }
    return config;
}

static struct rf_timing_stats stats_of(const struct rf_timing_config *config,
                                       struct rf_retired *stream, size_t n)
{
    struct rf_timing *timing;
    if (rf_timing_open(&timing, config, NULL, NULL) != RF_OK)
        abort();
    rf_timing_retire(timing, stream, n, cycles);
    struct rf_timing_stats stats = rf_timing_stats(timing);
    rf_timing_close(timing);
    return stats;
}

/* Kernels, each a decoded instruction repeated in a loop body of 16 lines that fits every cache. */
static const struct rf_insn add_chain = {.op = RF_OP_add,
                                         .kind = RF_OP_CLASS_ALU,
                                         .length = 4,
                                         .rd = 5,
                                         .rs1 = 5,
                                         .rs2 = RF_REG_NONE,
                                         .rs3 = RF_REG_NONE};
static const struct rf_insn add_free = {.op = RF_OP_add,
                                        .kind = RF_OP_CLASS_ALU,
                                        .length = 4,
                                        .rd = 6,
                                        .rs1 = RF_REG_NONE,
                                        .rs2 = RF_REG_NONE,
                                        .rs3 = RF_REG_NONE};
static const struct rf_insn mul_chain = {.op = RF_OP_mul,
                                         .kind = RF_OP_CLASS_MULTIPLY,
                                         .length = 4,
                                         .rd = 5,
                                         .rs1 = 5,
                                         .rs2 = RF_REG_NONE,
                                         .rs3 = RF_REG_NONE};
static const struct rf_insn load_chain = {.op = RF_OP_ld,
                                          .kind = RF_OP_CLASS_LOAD,
                                          .length = 4,
                                          .rd = 5,
                                          .rs1 = 5,
                                          .rs2 = RF_REG_NONE,
                                          .rs3 = RF_REG_NONE};
static const struct rf_insn load_free = {.op = RF_OP_ld,
                                         .kind = RF_OP_CLASS_LOAD,
                                         .length = 4,
                                         .rd = 6,
                                         .rs1 = RF_REG_NONE,
                                         .rs2 = RF_REG_NONE,
                                         .rs3 = RF_REG_NONE};
static const struct rf_insn store_free = {.op = RF_OP_sd,
                                          .kind = RF_OP_CLASS_STORE,
                                          .length = 4,
                                          .rd = RF_REG_NONE,
                                          .rs1 = RF_REG_NONE,
                                          .rs2 = RF_REG_NONE,
                                          .rs3 = RF_REG_NONE};
static const struct rf_insn branch = {.op = RF_OP_beq,
                                      .kind = RF_OP_CLASS_BRANCH,
                                      .length = 4,
                                      .rd = RF_REG_NONE,
                                      .rs1 = RF_REG_NONE,
                                      .rs2 = RF_REG_NONE,
                                      .rs3 = RF_REG_NONE};

static struct rf_retired stream[MANY];

/* The same instruction over and over; address i * stride. Code lies in one line. */
static void repeat(const struct rf_insn *insn, uint64_t stride)
{
    for (size_t i = 0; i < MANY; i++)
        stream[i] = (struct rf_retired){.insn = *insn,
                                        .pc = 0x1000 + i % 16 * 4,
                                        .next_pc = 0x1004 + i % 16 * 4,
                                        .address = 0x100000 + i * stride};
}

static double cycles_each(const char *core)
{
    struct rf_timing_config config = config_of(core);
    return (double)stats_of(&config, stream, MANY).cycles / MANY;
}

#define CHECK_NEAR(value, expected, slack)                                                         \
    do {                                                                                           \
        double test_v = (value);                                                                   \
        if (test_v < (expected) - (slack) || test_v > (expected) + (slack)) {                      \
            test_failures++;                                                                       \
            printf("# %s:%d: %s is %.4f, expected %.4f\n", __FILE__, __LINE__, #value, test_v,     \
                   (double)(expected));                                                            \
        }                                                                                          \
    } while (0)

/* The slack is the filling of the pipeline and the first miss in the instruction cache: at most
 * 150 cycles over all instructions. */
static const double START = 150.0 / MANY;

TEST(dependent_adds_take_a_cycle_each)
{
    repeat(&add_chain, 0);
    CHECK_NEAR(cycles_each("hps"), 1.0, START);
}

TEST(independent_adds_take_a_quarter)
{
    repeat(&add_free, 0);
    CHECK_NEAR(cycles_each("hps"), 0.25, START);
    CHECK_NEAR(cycles_each("hps,alu_ports=2"), 0.5, START);
    CHECK_NEAR(cycles_each("hps,commit_width=1"), 1.0, START);
}

TEST(dependent_multiplies_take_their_latency)
{
    repeat(&mul_chain, 0);
    CHECK_NEAR(cycles_each("hps"), 3.0, START);
    CHECK_NEAR(cycles_each("hps,multiply=7"), 7.0, START);
}

TEST(loads_that_hit_in_a_chain)
{
    repeat(&load_chain, 0);
    CHECK_NEAR(cycles_each("hps"), 3.0, START + 0.02);
}

TEST(loads_that_miss_everything_in_a_chain)
{
    repeat(&load_chain, 4096 + 64);
    CHECK_NEAR(cycles_each("hps"), 12 + 100, 0.2); /* l2_hit + memory */
}

TEST(independent_misses_overlap_up_to_the_bus)
{
    repeat(&load_free, 4096 + 64);
    CHECK_NEAR(cycles_each("hps"), 8, 0.2); /* a line occupies the bus so long */
    CHECK_NEAR(cycles_each("hps,bus=1,mshrs=2"), (12 + 100) / 2.0, 0.2);
}

TEST(stores_that_miss_wait_in_the_write_buffer)
{
    repeat(&store_free, 4096 + 64);
    CHECK_NEAR(cycles_each("hps"), 8, 0.2); /* the bus */
    CHECK_NEAR(cycles_each("hps,write_buffer=4"), (12 + 100) / 4.0, 0.2);
    CHECK_NEAR(cycles_each("hps,write_buffer=1"), 12 + 100, 0.2);
    repeat(&store_free, 0);
    CHECK_NEAR(cycles_each("hps"), 0.5, 0.2); /* two memory ports */
}

TEST(mispredicted_branches_refill_the_pipeline)
{
    /* Alternating at random, so that gshare learns nothing: half are wrong. */
    struct rf_random random;
    rf_random_seed(&random, test_seed(3));
    repeat(&branch, 0);
    for (size_t i = 0; i < MANY; i++)
        stream[i].next_pc = stream[i].pc + (rf_random_next(&random) & 1 ? 4 : 8);
    struct rf_timing_config config = config_of("hps,btb_miss=0");
    struct rf_timing_stats stats = stats_of(&config, stream, MANY);
    CHECK(stats.mispredicts > MANY / 3 && stats.mispredicts < MANY * 2 / 3);
    /* Fetch to dispatch 8, issue 1, execute 1, redirect 1: 11 cycles for each wrong one; a right one that is
     * taken ends its fetch group. */
    double right = (double)(MANY - stats.mispredicts);
    double expected = 11.0 * (double)stats.mispredicts + 0.75 * right;
    CHECK_NEAR((double)stats.cycles / MANY, expected / MANY, 0.4);
    for (size_t i = 0; i < MANY; i++) /* the branch pays for it, not what comes behind it */
        if ((cycles[i] < 9) == stream[i].mispredicted) {
            printf("# branch %zu: %u cycles\n", i, cycles[i]);
            CHECK(false);
            break;
        }
}

TEST(a_load_that_misses_is_charged_with_its_wait)
{
    repeat(&load_chain, 0);
    for (size_t i = 0; i < MANY; i++)
        stream[i].address = 0x100000 + i * 4096;
    struct rf_timing_config config = config_of("hps");
    struct rf_timing_stats stats = stats_of(&config, stream, MANY);
    uint64_t each = stats.cycles / MANY;
    CHECK(each > 50);
    for (size_t i = 1; i < MANY; i++)
        if (cycles[i] + 20 < each || cycles[i] > each + 20) {
            printf("# load %zu: %u cycles, %llu on average\n", i, cycles[i],
                   (unsigned long long)each);
            CHECK(false);
            break;
        }
}

TEST(a_small_reorder_buffer_bounds_the_overlap)
{
    repeat(&load_free, 4096 + 64);
    CHECK_NEAR(cycles_each("hps,bus=1,rob=8,lsq=64"), (12 + 100 + 3) / 8.0, 1.0);
}

TEST(stalls_are_charged_to_their_reason)
{
    repeat(&load_chain, 4096 + 64);
    struct rf_timing_config config = config_of("hps");
    struct rf_timing_stats stats = stats_of(&config, stream, MANY);
    CHECK(stats.stall[RF_STALL_LSQ] > stats.cycles * 9 / 10);
    config = config_of("hps,rob=16,lsq=1024");
    stats = stats_of(&config, stream, MANY);
    CHECK(stats.stall[RF_STALL_ROB] > stats.cycles * 9 / 10);
}

/* --- against the judge ------------------------------------------------------------------------ */

static uint8_t some_register(struct rf_random *random)
{
    return rf_random_below(random, 4) == 0 ? RF_REG_NONE
                                           : (uint8_t)(5 + rf_random_below(random, 20));
}

/* A static instruction of a made-up program. */
static struct rf_insn some_insn(struct rf_random *random)
{
    static const struct {
        unsigned share;
        uint8_t op, kind;
    } mix[] = {
        {45, RF_OP_add, RF_OP_CLASS_ALU},     {22, RF_OP_ld, RF_OP_CLASS_LOAD},
        {10, RF_OP_sd, RF_OP_CLASS_STORE},    {15, RF_OP_beq, RF_OP_CLASS_BRANCH},
        {2, RF_OP_mul, RF_OP_CLASS_MULTIPLY}, {1, RF_OP_div, RF_OP_CLASS_DIVIDE},
        {5, RF_OP_fadd_d, RF_OP_CLASS_FADD},
    };
    uint64_t pick = rf_random_below(random, 100);
    size_t i = 0;
    for (; pick >= mix[i].share; i++)
        pick -= mix[i].share;
    struct rf_insn insn = {.op = mix[i].op,
                           .kind = mix[i].kind,
                           .length = 4,
                           .rd = some_register(random),
                           .rs1 = some_register(random),
                           .rs2 = some_register(random),
                           .rs3 = RF_REG_NONE};
    if (insn.kind == RF_OP_CLASS_STORE || insn.kind == RF_OP_CLASS_BRANCH)
        insn.rd = RF_REG_NONE;
    return insn;
}

enum { STATIC_INSNS = 3000 };

/* A walk over a made-up program: branches with their own bias, addresses with their own stride. */
static void walk(struct rf_random *random, const struct rf_insn *program, size_t working_set)
{
    static uint64_t address[STATIC_INSNS];
    static uint8_t bias[STATIC_INSNS];
    static uint16_t target[STATIC_INSNS];
    for (size_t i = 0; i < STATIC_INSNS; i++) {
        address[i] = 0x100000 + rf_random_below(random, working_set) * 8;
        bias[i] = (uint8_t)(rf_random_below(random, 4) == 0 ? 50
                            : rf_random_below(random, 2)    ? 95
                                                            : 4);
        size_t back = rf_random_below(random, 60);
        target[i] = (uint16_t)(i > back ? i - back : i + 10 < STATIC_INSNS ? i + 10 : 0);
    }
    size_t at = 0;
    for (size_t i = 0; i < MANY; i++) {
        const struct rf_insn *insn = &program[at];
        bool taken = insn->kind == RF_OP_CLASS_BRANCH && rf_random_below(random, 100) < bias[at] &&
                     rf_random_below(random, 8) != 0;
        size_t next = taken ? target[at] : (at + 1) % STATIC_INSNS;
        stream[i] = (struct rf_retired){.insn = *insn,
                                        .pc = 0x10000 + at * 4,
                                        .next_pc = 0x10000 + next * 4,
                                        .address = address[at]};
        address[at] +=
            rf_random_below(random, 3) == 0 ? rf_random_below(random, working_set) * 8 % 4096 : 8;
        at = next;
    }
}

/* All cycles are somebody's; a wrong prediction at the very end is charged before it has cost anything. */
static void check_charges(const struct rf_timing_config *config,
                          const struct rf_timing_stats *stats)
{
    uint64_t charged = 0, mispredicts = 0;
    for (size_t i = 0; i < MANY; i++) {
        charged += cycles[i];
        mispredicts += stream[i].mispredicted;
    }
    CHECK_EQ(mispredicts, stats->mispredicts);
    CHECK(charged >= stats->cycles);
    CHECK(charged <= stats->cycles + (stream[MANY - 1].mispredicted ? config->stages : 0));
}

static double difference(const char *core, struct rf_random *random, size_t working_set)
{
    static struct rf_insn program[STATIC_INSNS];
    struct rf_timing_config config = config_of(core);
    for (size_t i = 0; i < STATIC_INSNS; i++)
        program[i] = some_insn(random);
    walk(random, program, working_set);
    struct rf_timing_stats stats = stats_of(&config, stream, MANY);
    check_charges(&config, &stats);
    double fast = (double)stats.cycles;
    double slow = (double)pipeline_cycles(&config, stream, MANY);
    double relative = fast > slow ? fast / slow - 1 : 1 - fast / slow;
    if (relative > 0.05)
        printf("# %s, working set %zu: one pass %.0f, cycle by cycle %.0f\n", core, working_set,
               fast, slow);
    return relative;
}

/* How much the two models differ over some streams. */
struct agreement {
    double sum, worst;
    unsigned n;
};

static void add_streams(struct agreement *agreement, uint64_t seed)
{
    static const char *const cores[] = {
        "hps",
        "stratified",
        "coproc",
        "hps,rob=32,rs=12,lsq=8",
        "hps,issue_width=2,memory_ports=1",
        "hps,fetch_width=8,decode_width=8,issue_width=8,commit_width=8,alu_ports=6",
        "hps,mshrs=2,memory=300",
        "hps,write_buffer=2",
        "hps,icache=8Ki/2/32,dcache=8Ki/2/32"};
    static const size_t sets[] = {500, 20000, 2000000};
    struct rf_random random;
    rf_random_seed(&random, seed);
    for (size_t c = 0; c < sizeof cores / sizeof *cores; c++)
        for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
            double d = difference(cores[c], &random, sets[s]);
            agreement->n++;
            agreement->sum += d;
            agreement->worst = d > agreement->worst ? d : agreement->worst;
        }
}

TEST(agrees_with_the_cycle_by_cycle_pipeline)
{
    struct agreement agreement = {0};
    for (uint64_t seed = 0; seed < 5; seed++)
        add_streams(&agreement, test_seed(2) + seed);
    double mean = agreement.sum / agreement.n;
    printf("# %u streams: mean difference %.2f%%, worst %.2f%%\n", agreement.n, 100 * mean,
           100 * agreement.worst);
    CHECK(mean <= 0.02);
    CHECK(agreement.worst <= 0.10);
}

TEST(kernels_agree_with_the_judge_to_the_cycle)
{
    static const struct rf_insn *const kernels[] = {&add_chain,  &add_free,  &mul_chain,
                                                    &load_chain, &load_free, &store_free};
    static const struct {
        const char *core;
        size_t n;
    } rows[] = {
        {"hps", 1000},
        {"hps,rob=1024,rs=1024,lsq=1024,memory=2000", 200}, /* issued far beyond the calendar */
        {"hps,rob=1024,rs=20,memory=1000", 200},
        {"hps,write_buffer=3,mshrs=2", 1000},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
            struct rf_timing_config config = config_of(rows[r].core);
            repeat(kernels[k], 4096 + 64);
            uint64_t fast = stats_of(&config, stream, rows[r].n).cycles;
            uint64_t slow = pipeline_cycles(&config, stream, rows[r].n);
            CHECK_ROW(rows[r].core, fast == slow);
            if (fast != slow)
                printf("# kernel %zu: one pass %llu, cycle by cycle %llu\n", k,
                       (unsigned long long)fast, (unsigned long long)slow);
        }
}

TEST(configurations_as_text)
{
    static const struct {
        const char *text;
        const char *message; /* NULL: fine */
    } rows[] = {
        {"hps", NULL},
        {"", NULL},
        {"rob=64", NULL},
        {"coproc,memory=200,dcache=16Ki/2/64", NULL},
        {"hsp", "no core 'hsp'; there are hps, stratified and coproc"},
        {"hps,rob", "core: expected key=value, got 'rob'"},
        {"hps,robe=1", "core: no key 'robe'; 'riffle cores hps' shows them"},
        {"hps,rob=0", "core: rob must be between 8 and 1024, got '0'"},
        {"hps,btb=3000", "core: btb must be a power of two, got '3000'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_timing_config config, again;
        struct rf_error error = {""};
        rf_status status = rf_timing_config_parse(&config, rows[i].text, &error);
        CHECK_ROW(rows[i].text, (status == RF_OK) == (rows[i].message == NULL));
        if (rows[i].message != NULL) {
            CHECK_TEXT(error.message, rows[i].message);
            continue;
        }
        char text[1024];
        CHECK_ROW(rows[i].text, rf_timing_config_print(&config, text, sizeof text) < sizeof text);
        CHECK_ROW(text, rf_timing_config_parse(&again, text, &error) == RF_OK);
        char printed[1024];
        rf_timing_config_print(&again, printed, sizeof printed);
        CHECK_TEXT(printed, text);
    }
}

/* doc/MACHINE.md has a row "| `key` | value |" for every key of the default core. */
TEST(every_parameter_is_documented)
{
    static char document[64 << 10];
    char text[1024], row[128];
    struct rf_timing_config config = config_of("hps");
    FILE *file = fopen(DOCUMENTS "/MACHINE.md", "r");
    REQUIRE(file != NULL);
    document[fread(document, 1, sizeof document - 1, file)] = '\0';
    fclose(file);
    rf_timing_config_print(&config, text, sizeof text);
    for (char *rest, *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        snprintf(row, sizeof row, "\n| `%s` | %s | ", word, value);
        CHECK_ROW(word, strstr(document, row) != NULL);
    }
}

TEST_MAIN()
