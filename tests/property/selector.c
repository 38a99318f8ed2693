/* Random selectors over random records: the batched evaluation selects what a plain one does, and a
 * selector printed and parsed again is the same selector. */
#include "test.h"
#include "base/random.h"
#include <riffle/selector.h>

static struct rf_random random_numbers;

static uint64_t below(uint64_t n)
{
    return rf_random_below(&random_numbers, n);
}

/* Mostly small numbers, so that conditions hold now and then. */
static uint64_t small(void)
{
    return below(4) == 0 ? rf_random_next(&random_numbers) >> below(64) : below(6);
}

static struct rf_record random_record(void)
{
    return (struct rf_record){.pc = small(),
                              .addr = small(),
                              .value = small(),
                              .target = small(),
                              .width = (uint16_t)small(),
                              .thread = (uint16_t)small(),
                              .kind = (uint8_t)below(RF_CLASS_COUNT),
                              .flags = (uint8_t)below(8),
                              .miss = (uint8_t)below(3)};
}

/* The fields as this test understands them, in no order. */
static const struct {
    const char *name;
    unsigned field;
} fields[] = {{"pc", RF_FIELD_PC},         {"addr", RF_FIELD_ADDR},
              {"value", RF_FIELD_VALUE},   {"target", RF_FIELD_TARGET},
              {"width", RF_FIELD_WIDTH},   {"size", RF_FIELD_SIZE},
              {"thread", RF_FIELD_THREAD}, {"miss", RF_FIELD_MISS},
              {"taken", RF_FIELD_TAKEN},   {"indirect", RF_FIELD_INDIRECT},
              {"silent", RF_FIELD_SILENT}, {"context", RF_FIELD_CONTEXT},
              {"cycles", RF_FIELD_CYCLES}, {"mispredicted", RF_FIELD_MISPREDICTED},
              {"writer", RF_FIELD_WRITER}, {"distance", RF_FIELD_DISTANCE},
              {"set", RF_FIELD_SET}};
enum { FIELDS = sizeof fields / sizeof *fields };
_Static_assert((int)FIELDS == RF_FIELD_COUNT - 1, "a field is missing here");

static const char *random_field(void)
{
    return fields[below(FIELDS)].name;
}

static const char *const weights[] = {"size", "width", "miss", "cycles"};
static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};

static void random_text(char *text, size_t size)
{
    int n = snprintf(text, size, "%s",
                     below(3) == 0 ? "load,store,alu,branch,call,insn,frame" : "any,frame");
    for (uint64_t i = below(4); i > 0; i--) {
        const char *field = random_field();
        uint64_t lo = small() / 2;
        if (below(3) == 0)
            n += snprintf(text + n, size - (size_t)n, " %s in %" PRIu64 "..%" PRIu64, field, lo,
                          lo + 1 + below(4));
        else
            n += snprintf(text + n, size - (size_t)n, " %s%s%" PRIu64, field, signs[below(6)],
                          lo + 1);
    }
    n += snprintf(text + n, size - (size_t)n, " -> %s,%s", random_field(), random_field());
    if (below(3) == 0)
        snprintf(text + n, size - (size_t)n, " * %s", weights[below(4)]);
}

static uint64_t field_of(const struct rf_record *r, unsigned field)
{
    const uint64_t all[RF_FIELD_COUNT] = {
        [RF_FIELD_PC] = r->pc,
        [RF_FIELD_ADDR] = r->addr,
        [RF_FIELD_VALUE] = r->value,
        [RF_FIELD_TARGET] = r->target,
        [RF_FIELD_WIDTH] = r->width,
        [RF_FIELD_SIZE] =
            r->kind == RF_CLASS_LOAD || r->kind == RF_CLASS_STORE ? (r->width + 7u) / 8 : 0u,
        [RF_FIELD_THREAD] = r->thread,
        [RF_FIELD_MISS] = r->miss,
        [RF_FIELD_TAKEN] = r->flags & 1u,
        [RF_FIELD_INDIRECT] = r->flags >> 1 & 1u,
        [RF_FIELD_CYCLES] = r->kind == RF_CLASS_INSN ? r->value & 0xffffffff : 0,
        [RF_FIELD_SILENT] = r->kind == RF_CLASS_STORE ? r->target : 0,
        [RF_FIELD_CONTEXT] = r->kind == RF_CLASS_FRAME ? r->value : 0,
        [RF_FIELD_MISPREDICTED] = r->flags >> 2};
    return all[field];
}

static int is_selected(const struct rf_selector *selector, const struct rf_record *record)
{
    if (!(selector->classes >> record->kind & 1))
        return 0;
    for (int i = 0; i < selector->n_conditions; i++) {
        const struct rf_condition *c = &selector->conditions[i];
        uint64_t x = field_of(record, c->field);
        int inside = x >= c->lo.value && x <= c->hi.value;
        if (inside == c->negate)
            return 0;
    }
    return 1;
}

static size_t run_plainly(const struct rf_selector *selector, const struct rf_record *records,
                          size_t n, struct rf_tuple *out, uint64_t *counts)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t weight = selector->weight == 0 ? 1 : field_of(&records[i], selector->weight);
        if (!is_selected(selector, &records[i]) || weight == 0)
            continue;
        out[kept] = (struct rf_tuple){field_of(&records[i], selector->project_a),
                                      field_of(&records[i], selector->project_b)};
        counts[kept++] = weight;
    }
    return kept;
}

static size_t run_batched(const struct rf_selector *selector, const struct rf_record *records,
                          size_t n, struct rf_tuple *out, uint64_t *counts)
{
    if (selector->weight != 0)
        return rf_selector_weigh(selector, records, n, out, counts);
    size_t kept = rf_selector_run(selector, records, n, out);
    for (size_t i = 0; i < kept; i++)
        counts[i] = 1;
    return kept;
}

static void check_one(const char *text)
{
    static struct rf_record records[300];
    static struct rf_tuple out[300], expected[300];
    static uint64_t counts[300], expected_counts[300];
    struct rf_selector selector, again;
    struct rf_error error = {""};
    char printed[400];
    CHECK_ROW(text, rf_selector_parse(&selector, text, &error) == RF_OK);
    CHECK_TEXT(error.message, "");
    size_t n = below(300);
    for (size_t i = 0; i < n; i++)
        records[i] = random_record();
    size_t kept = run_batched(&selector, records, n, out, counts);
    REQUIRE(kept == run_plainly(&selector, records, n, expected, expected_counts));
    CHECK_ROW(text, memcmp(out, expected, kept * sizeof *out) == 0);
    CHECK_ROW(text, memcmp(counts, expected_counts, kept * sizeof *counts) == 0);
    rf_selector_print(&selector, printed, sizeof printed);
    REQUIRE(rf_selector_parse(&again, printed, &error) == RF_OK);
    REQUIRE(run_batched(&again, records, n, out, counts) == kept);
    CHECK_ROW(printed, memcmp(out, expected, kept * sizeof *out) == 0);
    CHECK_ROW(printed, memcmp(counts, expected_counts, kept * sizeof *counts) == 0);
}

TEST(batches_select_what_a_plain_loop_selects)
{
    rf_random_seed(&random_numbers, test_seed(11));
    for (int i = 0; i < 2000; i++) {
        char text[400];
        random_text(text, sizeof text);
        check_one(text);
    }
}

TEST_MAIN()
