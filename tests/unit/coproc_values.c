/* The value profiler: its microcode beside its flow chart in plain C, its handler's judgements, and the
 * estimate of invariance by hand. */
#include "test.h"
#include "coproc/coproc.h"
#include "coproc/estimate.h"
#include "reference/values_flow.h"
#include <unistd.h>

static struct rf_coproc *open_values(const char *options, uint64_t seed)
{
    char text[100];
    struct rf_error error = {""};
    struct rf_coproc *coproc;
    const struct rf_coproc_setup setup = {.seed = seed};
    snprintf(text, sizeof text, "values.uc%s", options);
    rf_coproc_open(&coproc, text, &setup, &error);
    CHECK_TEXT(error.message, "");
    return coproc;
}

/* --- slot for slot -------------------------------------------------------------------------------- */

static unsigned count_differences(const struct rf_processor *p, const struct flow *flow)
{
    unsigned different = 0;
    for (uint32_t i = 0; i < flow->slots; i++) {
        const struct flow_slot *slot = &flow->slot[i];
        uint32_t counts = p->data[flow->slots + i];
        different += rf_associative_valid(&p->match, i) != slot->on ||
                     (slot->total > 0 && p->match.keys[i] != slot->pc) ||
                     p->data[i] != slot->active || (counts & 255) != slot->hits ||
                     (counts >> 8 & 255) != slot->misses || counts >> 16 != slot->total;
    }
    different += p->x[RF_OPERAND_INDEX + 1] != flow->turn;
    different += p->x[RF_OPERAND_INDEX + 2] != flow->failed;
    different += p->x[RF_OPERAND_INDEX + 3] != flow->dropped;
    return different;
}

/* Loads of all kinds: invariant, two-valued, slowly changing, random; hot ones and a long tail. */
static struct rf_record random_load(struct rf_random *random, uint64_t loads, uint64_t now)
{
    uint64_t spread = rf_random_below(random, loads) + 1;
    uint64_t pc = rf_random_below(random, spread); /* small numbers more often */
    uint64_t value = 7;
    if (pc % 4 == 1)
        value = rf_random_below(random, 10) < 7 ? 1 : 2;
    else if (pc % 4 == 2)
        value = now / 5000;
    else if (pc % 4 == 3)
        value = rf_random_next(random);
    return (struct rf_record){.kind = RF_CLASS_LOAD, .pc = 0x400000 + 4 * pc, .value = value};
}

static void check_seed(uint64_t seed)
{
    static struct flow flow;
    static const char *const options[] = {"(size=half, one_of=1)", "(one_of=1)", ""};
    struct rf_coproc *coproc = open_values(options[seed % 3], seed);
    struct rf_random random;
    unsigned different = 0, interrupts = 0;
    REQUIRE(coproc != NULL);
    struct rf_processor *p = coproc->processor;
    rf_random_seed(&random, seed);
    flow_clear(&flow);
    flow.slots = coproc->program.size.match_words;
    flow.retain = 16;
    flow.one_of = seed % 3 == 2 ? 8 : 1;
    flow.random = p->x[RF_OPERAND_RANDOM];
    uint64_t loads = 50 + rf_random_below(&random, 1500);
    for (uint64_t i = 0; i < 20000; i++) {
        struct rf_record record = random_load(&random, loads, i);
        bool interrupt = rf_processor_run(p, &record) == RF_PROCESSOR_INTERRUPT;
        different += interrupt != flow_sample(&flow, (uint32_t)record.pc, (uint32_t)record.value);
        if (i % 64 == 0 || interrupt)
            different += count_differences(p, &flow);
        if (interrupt) {
            rf_processor_reset(p);
            flow_clear(&flow);
            interrupts++;
        }
    }
    different += count_differences(p, &flow);
    CHECK_EQ(different, 0);
    CHECK(interrupts > 0 || loads < flow.slots + 100 || flow.one_of > 1);
    rf_coproc_close(coproc);
}

TEST(microcode_agrees_with_the_flow_chart)
{
    uint64_t first = test_seed(1);
    for (uint64_t seed = first; seed < first + 100; seed++)
        check_seed(seed);
}

/* A load whose value is never the same again is sampled until its total is full; no other counter gets there. */
TEST(a_full_total_turns_the_slot_off)
{
    static struct flow flow;
    struct rf_coproc *coproc = open_values("(one_of=1)", 1);
    struct rf_random random;
    unsigned different = 0, offs = 0;
    REQUIRE(coproc != NULL);
    struct rf_processor *p = coproc->processor;
    rf_random_seed(&random, test_seed(5));
    flow_clear(&flow);
    flow.slots = coproc->program.size.match_words;
    flow.retain = 16;
    flow.one_of = 1;
    flow.random = p->x[RF_OPERAND_RANDOM];
    for (uint64_t i = 0; i < 200000; i++) {
        const struct rf_record record = {
            .kind = RF_CLASS_LOAD, .pc = 0x400000, .value = rf_random_next(&random)};
        different += rf_processor_run(p, &record) == RF_PROCESSOR_INTERRUPT;
        different += flow_sample(&flow, (uint32_t)record.pc, (uint32_t)record.value);
    }
    different += count_differences(p, &flow);
    for (uint32_t i = 0; i < flow.slots; i++)
        offs += flow.slot[i].total == 65535 && !flow.slot[i].on;
    CHECK_EQ(different, 0);
    CHECK_EQ(offs, 3);
    rf_coproc_close(coproc);
}

/* --- the estimate --------------------------------------------------------------------------------- */

static bool is_near(double x, double y)
{
    return x - y < 1e-9 && y - x < 1e-9;
}

TEST(samples_are_shared_out_by_hand)
{
    /* One value: its misses are nobody's. */
    struct rf_values_entry one = {
        .total = 100, .n = 1, .values = {{.value = 7, .hits = 60, .misses = 40, .times = 1}}};
    CHECK(is_near(rf_values_estimate(&one, 0), 60));
    /* Two values. While active, 7 had 44 of 44 + 15 + 16 samples, and 8 had 9 of 9 + 30 + 16: what misses 8 is
     * 7 as often as 7 is at all, among all that is not 8. */
    struct rf_values_entry two = {.total = 100,
                                  .n = 2,
                                  .values = {{.value = 7, .hits = 45, .misses = 15, .times = 1},
                                             {.value = 8, .hits = 10, .misses = 30, .times = 1}}};
    CHECK(is_near(rf_values_estimate(&two, 0), 45 + 30 * (44.0 / 75) / (1 - 9.0 / 55)));
    CHECK(is_near(rf_values_estimate(&two, 1), 10 + 15 * (9.0 / 55) / (1 - 44.0 / 75)));
    /* Three, which together make more than all: misses of the third go to the others as their shares are to each
     * other. Each has a fifth of a rest of 50. */
    struct rf_values_entry three = {.total = 150,
                                    .n = 3,
                                    .values = {{.value = 7, .hits = 40, .misses = 0, .times = 1},
                                               {.value = 8, .hits = 10, .misses = 0, .times = 1},
                                               {.value = 9, .hits = 25, .misses = 25, .times = 1}}};
    double first = 39.0 / 55, second = 9.0 / 25;
    CHECK(is_near(rf_values_estimate(&three, 0), 40 + 25 * first / (first + second) + 50 / 5.0));
    CHECK(is_near(rf_values_estimate(&three, 1), 10 + 25 * second / (first + second) + 50 / 5.0));
    CHECK(is_near(rf_values_estimate(&three, 2), 25 + 50 / 5.0));
    /* Selected, never seen again: nothing of misses and rest. 2 of 36 while it was active: so much of both. */
    struct rf_values_entry random = {.total = 1000,
                                     .n = 2,
                                     .values = {{.value = 7, .hits = 1, .misses = 4, .times = 1},
                                                {.value = 8, .hits = 3, .misses = 18, .times = 1}}};
    CHECK(is_near(rf_values_estimate(&random, 0), 1));
    CHECK(is_near(rf_values_estimate(&random, 1), 3 + 4 * 2.0 / 36 + 974 * 2.0 / 36));
}

TEST(hits_that_were_not_counted_as_samples)
{
    struct rf_values_entry wrong = {.total = 5, .n = 2, .values = {{.hits = 7}, {.hits = 3}}};
    CHECK_EQ(rf_values_most(&wrong, 0), 7);
    CHECK_EQ(rf_values_most(&wrong, 1), 3);
    CHECK(is_near(rf_values_estimate(&wrong, 0), 7));
}

/* --- the whole ------------------------------------------------------------------------------------ */

struct found {
    struct rf_item items[2000];
    size_t n;
    double complete, covered;
};

static rf_status take_item(void *context, const struct rf_item *item)
{
    struct found *found = context;
    if (found->n < 2000)
        found->items[found->n++] = *item;
    return RF_OK;
}

static rf_status take_figure(void *context, const struct rf_figure *figure)
{
    struct found *found = context;
    if (strcmp(figure->name, "complete") == 0)
        found->complete = figure->value;
    if (strcmp(figure->name, "covered-share") == 0)
        found->covered = figure->value;
    return RF_OK;
}

static rf_status take_end(void *context, const struct rf_summary *summary)
{
    (void)context;
    (void)summary;
    return RF_OK;
}

static const struct rf_item *item_of(const struct found *found, uint64_t pc, uint64_t value)
{
    for (size_t i = 0; i < found->n; i++)
        if (found->items[i].a == pc && found->items[i].b == value)
            return &found->items[i];
    return NULL;
}

static void finish(struct rf_coproc *coproc, struct found *found)
{
    struct rf_coproc_totals totals;
    struct rf_sink sink = {take_item, take_figure, take_end, found};
    memset(found, 0, sizeof *found);
    CHECK_EQ(rf_coproc_end(coproc, NULL), RF_OK);
    CHECK_EQ(rf_coproc_report(coproc, &sink, &totals), RF_OK);
}

static void feed_one(struct rf_coproc *coproc, uint64_t pc, uint64_t value)
{
    const struct rf_record record = {.kind = RF_CLASS_LOAD, .pc = pc, .value = value};
    rf_coproc_feed(coproc, &record, 1, NULL);
}

/* An invariant load, one with two values of different upper halves, and one whose upper half alone changes: the
 * profile comes to an end, and after that nothing is sampled. */
TEST(a_profile_is_completed_and_sampling_stops)
{
    static struct found found;
    struct rf_coproc *coproc = open_values("(quiet=10000, age=0, one_of=1, worth=30)", 1);
    struct rf_random random;
    rf_random_seed(&random, test_seed(3));
    REQUIRE(coproc != NULL);
    for (int i = 0; i < 100000; i++) {
        feed_one(coproc, 0x1000, UINT64_C(0x100000002a));
        feed_one(coproc, 0x1004,
                 rf_random_below(&random, 4) < 3 ? 5 : UINT64_C(0xffffffff00000006));
        feed_one(coproc, 0x1008, rf_random_next(&random) << 32 | 3);
    }
    CHECK(coproc->rests);
    uint64_t samples = coproc->counts.samples, overhead = coproc->counts.overhead;
    feed_one(coproc, 0x1000, 1);
    CHECK_EQ(coproc->counts.samples, samples);
    CHECK_EQ(coproc->counts.overhead, overhead);
    CHECK(samples < 100000);
    finish(coproc, &found);
    CHECK(found.complete == 1);
    CHECK(found.covered > 0.99);
    const struct rf_item *wide = item_of(&found, 0x1000, UINT64_C(0x100000002a));
    const struct rf_item *five = item_of(&found, 0x1004, 5);
    const struct rf_item *six = item_of(&found, 0x1004, UINT64_C(0xffffffff00000006));
    REQUIRE(wide != NULL && five != NULL && six != NULL);
    CHECK_EQ(wide->count, wide->upper);
    CHECK(five->count * 100 > five->upper * 60);
    /* Half of the load's value is always 3, the whole is never the same. */
    for (size_t i = 0; i < found.n; i++)
        if (found.items[i].a == 0x1008)
            CHECK(found.items[i].count * 10 < found.items[i].upper);
    rf_coproc_close(coproc);
}

/* Fifteen hundred loads, as hot as each other: the program is split, and each part profiled. */
TEST(a_program_that_thrashes_is_split)
{
    static struct found found;
    struct rf_coproc *coproc = open_values("(quiet=20000, age=0, one_of=1)", 1);
    REQUIRE(coproc != NULL);
    for (int round = 0; round < 3000; round++)
        for (uint64_t load = 0; load < 1500; load++)
            feed_one(coproc, 0x400000 + 4 * load, load);
    CHECK(coproc->counts.elsewhere > 0);
    finish(coproc, &found);
    CHECK(coproc->table->used == 1500);
    CHECK(found.complete == 1);
    for (size_t i = 0; i < found.n; i++)
        CHECK(found.items[i].b == (found.items[i].a - 0x400000) / 4 &&
              found.items[i].count == found.items[i].upper);
    rf_coproc_close(coproc);
}

/* --- where slots lie ------------------------------------------------------------------------------- */

/* values.uc with the halves of its counters exchanged: the handler has code of its own for the layout that comes with
 * Riffle, and other code for this one. */
static bool write_exchanged(const char *path)
{
    static const char *const words[][2] = {{"counts.b0", "counts.b2"},
                                           {"counts.b1", "counts.b3"},
                                           {"counts.h1", "counts.h0"},
                                           {"counts[slot].h1", "counts[slot].h0"},
                                           {"counts[slot].b0", "counts[slot].b2"},
                                           {"counts[slot].b1", "counts[slot].b3"},
                                           {"counts[slot].h0", "counts[slot].h1"},
                                           {"counts[turn].h1", "counts[turn].h0"}};
    const struct rf_coproc_program *program = rf_coproc_programs();
    while (program->name != NULL && strcmp(program->name, "values.uc") != 0)
        program++;
    FILE *file = fopen(path, "w");
    if (file == NULL || program->name == NULL)
        return false;
    for (const char *at = program->text; *at != '\0'; at++) {
        size_t i = 0, n = sizeof words / sizeof *words;
        while (i < n && strncmp(at, words[i][0], strlen(words[i][0])) != 0)
            i++;
        if (i == n)
            fputc(*at, file);
        else {
            fputs(words[i][1], file);
            at += strlen(words[i][0]) - 1;
        }
    }
    return fclose(file) == 0;
}

/* Loads of many kinds, in a table that is soon full. */
static void feed_many(struct rf_coproc *coproc, struct found *found)
{
    struct rf_random random;
    rf_random_seed(&random, test_seed(5));
    for (int i = 0; i < 300000; i++) {
        uint64_t load = rf_random_below(&random, 1 + rf_random_below(&random, 900));
        feed_one(coproc, 0x400000 + 2 * load, rf_random_below(&random, 1 + load % 9) << load % 40);
    }
    finish(coproc, found);
}

TEST(slots_may_lie_otherwise)
{
    static struct found usual, other;
    char path[] = "/tmp/riffle-values-XXXXXX", text[100];
    int fd = mkstemp(path);
    REQUIRE(fd >= 0 && close(fd) == 0 && write_exchanged(path));
    struct rf_coproc *coproc = open_values("(quiet=5000, age=20000, table=256)", 7);
    REQUIRE(coproc != NULL);
    feed_many(coproc, &usual);
    printf("# %u loads, %u refused\n", coproc->table->used, coproc->table->refused);
    CHECK(coproc->table->refused > 0);
    uint64_t interrupts = coproc->counts.interrupts, folded = coproc->counts.folded;
    rf_coproc_close(coproc);
    const struct rf_coproc_setup setup = {.seed = 7};
    snprintf(text, sizeof text, "%s(quiet=5000, age=20000, table=256)", path);
    CHECK_EQ(rf_coproc_open(&coproc, text, &setup, NULL), RF_OK);
    feed_many(coproc, &other);
    CHECK_EQ(coproc->counts.interrupts, interrupts);
    CHECK_EQ(coproc->counts.folded, folded);
    CHECK(usual.n == other.n && memcmp(usual.items, other.items, sizeof usual.items) == 0);
    rf_coproc_close(coproc);
    unlink(path);
}

/* --- phases --------------------------------------------------------------------------------------- */

/* A load that is invariant in each of two phases, a third of the run and the rest, beside one that is invariant all
 * along. */
static void feed_phases(struct rf_coproc *coproc, struct found *found)
{
    for (int i = 0; i < 300000; i++) {
        feed_one(coproc, 0x1000, i < 100000 ? 5 : UINT64_C(0xffffffff00000006));
        feed_one(coproc, 0x1004, 7);
    }
    finish(coproc, found);
}

static double share_of(const struct found *found, uint64_t pc, uint64_t value)
{
    const struct rf_item *item = item_of(found, pc, value);
    uint64_t all = 0;
    for (size_t i = 0; i < found->n; i++)
        all += found->items[i].a == pc ? found->items[i].count : 0;
    return item != NULL ? (double)item->count / (double)all : 0;
}

TEST(what_was_masked_early_is_not_seen_again_without_age)
{
    static struct found found;
    struct rf_coproc *coproc = open_values("(quiet=10000, age=0, one_of=1, worth=30)", 1);
    REQUIRE(coproc != NULL);
    feed_phases(coproc, &found);
    CHECK(share_of(&found, 0x1000, 5) == 1);
    rf_coproc_close(coproc);
}

TEST(masks_are_lifted_from_time_to_time)
{
    static struct found found;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct rf_coproc *coproc =
            open_values("(quiet=10000, glance=1000, age=20000, one_of=1, second=1000)", seed);
        REQUIRE(coproc != NULL);
        feed_phases(coproc, &found);
        double late = share_of(&found, 0x1000, UINT64_C(0xffffffff00000006));
        CHECK(late > 0.45 && late < 0.8); /* two thirds */
        CHECK(share_of(&found, 0x1004, 7) == 1);
        CHECK(coproc->counts.samples < 120000); /* of 600,000 */
        /* Thirty times, and each costs an interrupt to lift and one to record. */
        CHECK(coproc->counts.quiets > 50 && coproc->counts.quiets < 150);
        CHECK(coproc->counts.overhead >= coproc->counts.quiets * 100);
        rf_coproc_close(coproc);
    }
}

/* --- a table that the program has written to ------------------------------------------------------- */

static uint32_t *word_of(struct rf_coproc *coproc, uint32_t used, struct rf_random *random)
{
    uint32_t *words = (uint32_t *)coproc->table;
    uint32_t header = sizeof *coproc->table / 4, places = 256;
    uint64_t kind = rf_random_below(random, 3);
    uint64_t first = kind == 0 ? 1 : kind == 1 ? header : header + places;
    uint64_t n = kind == 0 ? header - 1 : kind == 1 ? places : 48 * (uint64_t)used;
    return &words[first + rf_random_below(random, n)];
}

/* A program of the user's may count hits and no samples: that is not the guest's doing. */
TEST(hits_above_the_samples_are_no_damage)
{
    struct rf_coproc *coproc = open_values("", 1);
    struct rf_values_entry *entry = rf_values_entries(coproc->table);
    const struct rf_record load = {.kind = RF_CLASS_LOAD, .pc = 0x400000, .value = 7};
    for (unsigned i = 0; i < 100; i++)
        CHECK_EQ(rf_coproc_feed(coproc, &load, 1, NULL), RF_OK);
    CHECK_EQ(rf_coproc_end(coproc, NULL), RF_OK);
    CHECK_EQ(coproc->table->used, 1);
    entry->values[0].hits = entry->total + 1;
    CHECK(coproc->kind->is_sound(coproc->table, rf_coproc_slots(coproc)));
    rf_coproc_close(coproc);
}

/* What is called sound can be worked on: nothing reads or writes outside (the sanitizers look), and all comes to an end. */
TEST(a_damaged_table_is_found_out_or_harmless)
{
    struct rf_random random;
    rf_random_seed(&random, test_seed(5));
    unsigned sound = 0, rounds = 300;
    for (unsigned round = 0; round < rounds; round++) {
        static struct found found;
        struct rf_coproc *coproc =
            open_values("(quiet=3000, glance=700, age=5000, table=256)", round);
        REQUIRE(coproc != NULL);
        for (uint64_t i = 0; i < 20000 + round * 10; i++) {
            struct rf_record record = random_load(&random, 150, i);
            rf_coproc_feed(coproc, &record, 1, NULL);
        }
        CHECK(coproc->kind->is_sound(coproc->table, rf_coproc_slots(coproc)));
        uint32_t used = coproc->table->used;
        for (uint64_t n = rf_random_below(&random, 4); n < 4; n++)
            *word_of(coproc, used, &random) =
                (uint32_t)(rf_random_below(&random, 2) != 0 ? rf_random_below(&random, 300)
                                                            : rf_random_next(&random));
        if (coproc->kind->is_sound(coproc->table, rf_coproc_slots(coproc))) {
            sound++;
            finish(coproc, &found);
        }
        rf_coproc_close(coproc);
    }
    CHECK(sound > 10 && sound < rounds - 10);
}

TEST_MAIN()
