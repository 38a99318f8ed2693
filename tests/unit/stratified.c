/* The sampler algebra: its text, its parts by hand, its hash on every kind of processor. */
#include <riffle/engine.h>
#include "base/random.h"
#include "engine/stratified/notation.h"
#include "engine/stratified/stratum.h"
#include "test.h"

#define SOFTWARE                                                                                   \
    "hash=mix, estimate=sum, confidence=95%, memory=256Mi, buffer=100, message-cycles=30, "        \
    "interrupt-cycles=0, counter=31)"

static const struct {
    const char *text;
    const char *printed; /* NULL: refused */
    const char *message;
} rows[] = {
    {"P256", "P256 (" SOFTWARE, NULL},
    {"R256", "R256 (" SOFTWARE, NULL},
    {"D256", "D256 (" SOFTWARE, NULL},
    {"CR256", "CR256 (" SOFTWARE, NULL},
    {"C R256", "CR256 (" SOFTWARE, NULL},
    {"stratified", "H[P256]2048 (" SOFTWARE, NULL},
    {"stratified()", "H[P256]2048 (" SOFTWARE, NULL},
    {"H[P256]2048", "H[P256]2048 (" SOFTWARE, NULL},
    {" H[ CR256 ] 2Ki   A16 ", "H[CR256]2048 A16 (" SOFTWARE, NULL},
    {"H[P256 A4]64 A16 A64", "H[P256 A4]64 A16 A64 (" SOFTWARE, NULL},
    {"H[H[P8]4]512", "H[H[P8]4]512 (" SOFTWARE, NULL},
    {"H[A16]64", "H[A16]64 (" SOFTWARE, NULL},
    {"A4096", "A4096 (" SOFTWARE, NULL},
    {"tagged A16",
     "tagged(ways=2, entries=2Ki, tag=2, hit=8, miss=3, evict=64, replace=7, drop=no, " SOFTWARE
     " A16",
     NULL},
    {"H[P256]1000", NULL,
     "engine 'H[P256]1000': column 12: H splits by the bits of a hash, so the number of substreams "
     "must be a power of two, got 1000"},
    {"CH[P256]2048", NULL,
     "engine 'CH[P256]2048': column 2: C counts what enters one sampler, so P, R or D must follow "
     "it; "
     "a counter in every substream is written H[CR256]2048"},
    {"P256 R4", NULL,
     "engine 'P256 R4': column 6: R would sample messages, not events: behind a part only a table "
     "A can "
     "stand"},
    {"H[]2048", NULL, "engine 'H[]2048': column 3: a part is missing, for example P256"},
    {"H[P256 2048", NULL,
     "engine 'H[P256 2048': column 8: '2' is no part; there are P, R, D, C, H[..] and A"},
    {"H[P256", NULL, "engine 'H[P256': column 7: the closing ']' of H is missing"},
    {"H P256", NULL, "engine 'H P256': column 3: '[' must follow H, as in H[P256]2048"},
    {"P256]", NULL, "engine 'P256]': column 5: this ']' closes nothing"},
    {"P0", NULL,
     "engine 'P0': column 2: the rate of P must be a number from 1 to 1073741824, got '0'"},
    {"P256A16", NULL,
     "engine 'P256A16': column 2: the rate of P must be a number from 1 to 1073741824, got "
     "'256A16'"},
    {"H[tagged]64", NULL,
     "engine 'H[tagged]64': column 3: tagged splits its stream itself and stands at the very "
     "front"},
    {"H[H[P8]65536]65536", NULL,
     "engine 'H[H[P8]65536]65536': too many counters; fewer than 16777216 are allowed"},
    {"P256 (hsah=mix)", NULL, "engine 'stratified': no option 'hsah'; did you mean 'hash'?"},
    {"P256 (hash=mix) x", NULL, "engine 'stratified': unexpected 'x' after it"},
    {"tagged(entries=100)", NULL,
     "engine 'tagged': sets are found by the bits of a hash, so entries and ways must be powers of "
     "two "
     "and make two sets at least, got 100 and 2"},
    {"tagged(miss=7, hit=7)", NULL,
     "engine 'tagged': misses become hits (E6), so miss must be less than hit"},
    {"tagged(evict=257)", NULL,
     "engine 'tagged': a hit counter of 8 bits never counts evict=257 hits"},
    {"tagged(replace=8)", NULL,
     "engine 'tagged': a miss counter of 3 bits never counts replace=8 misses"},
    {"tagged P4", NULL,
     "engine 'tagged', behind it: column 1: P would sample messages, not events: behind a part "
     "only a "
     "table A can stand"},
};

TEST(text_to_compressor_and_back)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_engine *engine;
        struct rf_error error = {""};
        rf_status status = rf_engine_open(&engine, rows[i].text, NULL, &error);
        CHECK_ROW(rows[i].text, (status == RF_OK) == (rows[i].printed != NULL));
        if (status == RF_OK && rows[i].printed != NULL) {
            char text[512], cut[8];
            size_t n = rf_engine_print(engine, text, sizeof text);
            CHECK_TEXT(text, rows[i].printed);
            CHECK_EQ(n, strlen(text));
            CHECK_EQ(rf_engine_print(engine, cut, sizeof cut), n);
            CHECK_EQ(strncmp(cut, text, 7), 0);
        } else if (rows[i].message != NULL) {
            CHECK_TEXT(error.message, rows[i].message);
        }
        rf_engine_close(engine);
    }
}

/* Printed text opens again as the same engine. */
TEST(printed_text_is_the_same_engine)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].printed == NULL)
            continue;
        struct rf_engine *engine;
        REQUIRE(rf_engine_open(&engine, rows[i].printed, NULL, NULL) == RF_OK);
        char text[512];
        rf_engine_print(engine, text, sizeof text);
        CHECK_TEXT(text, rows[i].printed);
        rf_engine_close(engine);
    }
}

TEST(bits_of_hardware)
{
    static const struct {
        const char *text;
        uint64_t bits;
    } table[] = {
        {"P256", 8},
        {"R256", 32},
        {"CR256", 32 + 16},
        {"D256", 32 + 9},
        {"H[P256]2048", 2048 * 8}, /* section 4.2: an 8-bit counter each */
        {"H[R256]2048", 32},       /* random samplers have no state: why H[R] is R */
        {"H[P256]2048 A16", 2048 * 8 + 16 * (128 + 31)},
        {"tagged", 2048 * (8 + 3 + 2 + 1)},
        {"tagged(tag=1)", 2048 * (8 + 5)}, /* section 4.2: 5 bits more than the counter */
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct rf_engine *engine;
        REQUIRE(rf_engine_open(&engine, table[i].text, NULL, NULL) == RF_OK);
        CHECK_ROW(table[i].text, rf_engine_bits(engine) == table[i].bits);
        rf_engine_close(engine);
    }
}

TEST(every_way_to_hash_a_batch_gives_the_same)
{
    static struct rf_tuple tuples[1000];
    static struct rf_hash_paper paper;
    struct rf_random random;
    rf_random_seed(&random, test_seed(3));
    for (size_t i = 0; i < 1000; i++)
        tuples[i] = (struct rf_tuple){rf_random_next(&random) >> i % 64,
                                      rf_random_next(&random) >> (i * 7) % 64};
    const struct rf_stratum_way *way;
    for (size_t k = 0; (way = rf_stratum_way(k)) != NULL; k++)
        for (unsigned bits = 1; bits <= 24; bits++) {
            struct rf_stratum stratum;
            rf_stratum_init(&stratum, way->kind, bits, bits, &paper);
            for (size_t n = 1; n < 40; n++) {
                uint32_t index[40];
                size_t from = rf_random_below(&random, 960);
                way->batch(&stratum, tuples + from, n, index);
                for (size_t i = 0; i < n; i++) {
                    uint32_t one = way->kind == RF_STRATUM_PAPER
                                       ? rf_hash_paper_steps(&paper, tuples[from + i])
                                       : rf_stratum_of(&stratum, tuples[from + i]);
                    CHECK_ROW(way->name, index[i] == one && one < 1u << bits);
                }
            }
        }
}

TEST(every_way_to_fold_tags_is_xorfold)
{
    struct rf_random random;
    rf_random_seed(&random, test_seed(4));
    rf_stratum_tags *way;
    for (size_t k = 0; (way = rf_stratum_tags_way(k)) != NULL; k++)
        for (unsigned bits = 1; bits <= 32; bits++)
            for (size_t n = 1; n < 20; n++) {
                struct rf_tuple tuples[20];
                uint64_t tags[20];
                for (size_t i = 0; i < n; i++)
                    tuples[i] =
                        (struct rf_tuple){rf_random_next(&random), rf_random_next(&random) >> 9};
                way(tuples, n, bits, tags);
                for (size_t i = 0; i < n; i++)
                    CHECK_EQ(tags[i], rf_xorfold(tuples[i].a ^ tuples[i].b, bits));
            }
}

/* Strata of neighbouring numbers and addresses fill evenly: no stratum of 64 gets twice its share. */
TEST(the_hash_spreads_what_programs_have)
{
    static const struct {
        const char *label;
        uint64_t a_step, b_step;
    } table[] = {
        {"counting values", 0, 1},
        {"instructions", 4, 0},
        {"pages", 0, 4096},
        {"both at once", 4, 8},
        {"high bits only", 0, UINT64_C(1) << 50},
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        for (uint64_t seed = 0; seed < 8; seed++) {
            struct rf_stratum stratum;
            uint32_t fill[64] = {0}, most = 0;
            rf_stratum_init(&stratum, RF_STRATUM_MIX, 6, seed, NULL);
            for (uint64_t i = 0; i < 4096; i++) {
                struct rf_tuple t = {0x401000 + i * table[k].a_step, i * table[k].b_step};
                uint32_t s = rf_stratum_of(&stratum, t);
                most = ++fill[s] > most ? fill[s] : most;
            }
            CHECK_ROW(table[k].label, most <= 128);
        }
}

/* One part by hand: events as letters, messages as letter and count. */
struct script {
    struct rf_part part;
    void *cell;
};

static void script_open(struct script *script, const char *text,
                        const struct rf_tagged_setup *tagged)
{
    struct rf_notation notation = {0};
    if (tagged == NULL)
        rf_notation_parse(&notation, &text, false, NULL);
    else
        notation = (struct rf_notation){1, {{.kind = RF_PART_TAGGED}}};
    struct rf_chain_setup setup = {notation.specs, notation.n_specs, tagged, RF_STRATUM_MIX, 1};
    struct rf_chain chain;
    rf_chain_build(&chain, &script->part, NULL, &setup);
    script->cell = calloc(1, chain.cell_size);
    rf_chain_start(&chain, script->cell);
}

static void script_run(struct script *script, const char *events, char *out)
{
    for (; *events != '\0'; events++) {
        struct rf_message message = {{(uint64_t)*events, 0}, 1, 1};
        if (script->part.ops->take(&script->part, script->cell, &message))
            out += sprintf(out, "%c%d ", (int)message.tuple.a, (int)message.count);
    }
    *out = '\0';
}

TEST(a_table_of_two_by_hand)
{
    struct script script;
    char out[200];
    script_open(&script, "A2", NULL);
    script_run(&script, "aabab", out);
    CHECK_TEXT(out, "");
    script_run(&script, "c", out); /* b was used last */
    CHECK_TEXT(out, "a3 ");
    script_run(&script, "bd", out);
    CHECK_TEXT(out, "c1 ");
    free(script.cell);
}

static rf_status keep_messages(void *context, const struct rf_figure *figure)
{
    if (strcmp(figure->name, "messages") == 0)
        *(double *)context = figure->value;
    return RF_OK;
}

static rf_status any_item(void *context, const struct rf_item *item)
{
    (void)context;
    (void)item;
    return RF_OK;
}

static rf_status any_end(void *context, const struct rf_summary *summary)
{
    (void)context;
    (void)summary;
    return RF_OK;
}

/* Twelve events of one tuple: a counter of two bits is full after three, one of a bit after each. */
TEST(a_narrow_counter_of_a_table_goes_out_early)
{
    static const struct {
        const char *text;
        double messages;
        uint64_t bits;
    } table[] = {
        {"A2", 0, 2 * (128 + 31)},
        {"A2 (counter=2)", 3, 2 * (128 + 2)},
        {"A2 (counter=1)", 11, 2 * (128 + 1)},
    };
    static const struct rf_tuple twelve[12];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct rf_engine *engine;
        double messages = -1;
        struct rf_sink sink = {any_item, keep_messages, any_end, &messages};
        REQUIRE(rf_engine_open(&engine, table[i].text, NULL, NULL) == RF_OK);
        REQUIRE(rf_engine_feed(engine, &(struct rf_tuples){twelve, NULL, 12}, NULL) == RF_OK);
        rf_engine_report(engine, &sink);
        CHECK_ROW(table[i].text, messages == table[i].messages);
        CHECK_ROW(table[i].text, rf_engine_bits(engine) == table[i].bits);
        rf_engine_close(engine);
    }
}

static rf_status keep_counts(void *context, const struct rf_item *item)
{
    ((uint64_t *)context)[item->a] = item->count;
    return RF_OK;
}

static rf_status any_figure(void *context, const struct rf_figure *figure)
{
    (void)context;
    (void)figure;
    return RF_OK;
}

static rf_status keep_absent(void *context, const struct rf_summary *summary)
{
    *(uint64_t *)context = summary->absent_upper;
    return RF_OK;
}

/* About 1000 samples of 7000 events, at random distances: a tuple without one had 53 of them at most, with 95%. */
TEST(what_was_never_sampled_has_a_bound)
{
    static const struct rf_tuple tuple = {1, 0};
    const uint64_t count = 7000;
    uint64_t absent = 0;
    struct rf_engine *engine;
    const struct rf_sink sink = {any_item, any_figure, keep_absent, &absent};
    REQUIRE(rf_engine_open(&engine, "H[CR7]2", NULL, NULL) == RF_OK);
    REQUIRE(rf_engine_feed(engine, &(struct rf_tuples){&tuple, &count, 1}, NULL) == RF_OK);
    rf_engine_report(engine, &sink);
    CHECK(absent > 45 && absent < 62);
    rf_engine_close(engine);
}

/* A counter before a sampler loses nothing: what one tuple leaves in it goes out with the next. */
TEST(a_long_run_is_shared_out)
{
    enum { N = 100000, PERIOD = 7 };
    static const struct rf_tuple tuples[] = {{1, 0}, {2, 0}};
    static const uint64_t counts[] = {N, N};
    uint64_t found[3] = {0, 0, 0};
    struct rf_engine *engine;
    const struct rf_sink sink = {keep_counts, any_figure, any_end, found};
    REQUIRE(rf_engine_open(&engine, "CP7", NULL, NULL) == RF_OK);
    REQUIRE(rf_engine_feed(engine, &(struct rf_tuples){tuples, counts, 2}, NULL) == RF_OK);
    rf_engine_report(engine, &sink);
    CHECK(found[1] <= N && found[1] > N - PERIOD);
    CHECK(found[2] <= N + PERIOD && found[2] > N - PERIOD);
    rf_engine_close(engine);
}

/* What comes in while the sampler lets nothing out stays in the counter, and goes out with the next message. */
TEST(a_counter_keeps_what_no_message_took)
{
    static const struct rf_tuple tuples[] = {{1, 0}, {2, 0}};
    static const uint64_t counts[] = {600000, 600000};
    uint64_t found[3] = {0, 0, 0};
    struct rf_engine *engine;
    const struct rf_sink sink = {keep_counts, any_figure, any_end, found};
    REQUIRE(rf_engine_open(&engine, "CP1000000", NULL, NULL) == RF_OK);
    REQUIRE(rf_engine_feed(engine, &(struct rf_tuples){tuples, counts, 2}, NULL) == RF_OK);
    rf_engine_report(engine, &sink);
    CHECK_EQ(found[1], 0);
    CHECK_EQ(found[2], 1200000);
    rf_engine_close(engine);
}

/* Both entries of the table go out when an interval of six events ends; the seventh stays. */
TEST(what_an_interval_leaves_in_a_table_is_sent)
{
    static const struct rf_tuple tuples[] = {{1, 0}, {1, 0}, {2, 0}, {2, 0},
                                             {1, 0}, {2, 0}, {1, 0}};
    const struct rf_engine_setup setup = {.interval = 6};
    struct rf_engine *engine;
    double messages = -1;
    struct rf_sink sink = {any_item, keep_messages, any_end, &messages};
    REQUIRE(rf_engine_open(&engine, "A2", &setup, NULL) == RF_OK);
    REQUIRE(rf_engine_feed(engine, &(struct rf_tuples){tuples, NULL, 7}, NULL) == RF_OK);
    rf_engine_report(engine, &sink);
    CHECK(messages == 2);
    rf_engine_close(engine);
}

/* As associative.c says: a head of 16 bytes, 48 per entry, 4 per bucket. */
TEST(a_table_takes_what_it_says)
{
    static const struct {
        const char *text;
        size_t bytes;
    } table[] = {{"A1", 16 + 48 + 4 + 4}, {"A2", 16 + 2 * 48 + 2 * 4}, {"A3", 16 + 3 * 48 + 4 * 4}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *text = table[i].text;
        struct rf_notation notation = {0};
        struct rf_part part;
        struct rf_chain chain;
        rf_notation_parse(&notation, &text, false, NULL);
        struct rf_chain_setup setup = {notation.specs, notation.n_specs, NULL, RF_STRATUM_MIX, 1};
        rf_chain_build(&chain, &part, NULL, &setup);
        CHECK_ROW(table[i].text, chain.cell_size == table[i].bytes);
    }
}

/* Direct-mapped, full at 8, enough is 4 hits, too many is 3 misses; a and b stand for two letters that
 * fall into the same set. */
TEST(the_tagged_machine_by_hand)
{
    static const struct {
        const char *label, *events, *messages;
        uint64_t drop;
    } table[] = {
        {"E1 E3 E2: full at 8", "aaaaaaaa", "a8 ", 0},
        {"E4: a miss, E6a: not enough hits", "aaba", "", 0},
        {"E6: evicted with 4 hits", "aaaba", "a4 ", 0},
        {"E6 leaves its misses as hits: 1 + 7", "aaababbbbbbb", "a4 b8 ", 0},
        {"drop: E6 leaves nothing, 8 of its own", "aaababbbbbbbb", "a4 b8 ", 1},
        {"E5a E5a, E5: b takes 3 hits, 3 misses, and its own", "aaabbbbb", "b8 ", 0},
        {"drop: E5, b has its own alone", "aaabbbbbbbbbbb", "b8 ", 1},
        {"E5 and E2: 5 hits, 3 misses, b", "aaaaabbbb", "b9 ", 0},
        {"drop: E5 does not fill it", "aaaaabbbb", "", 1},
    };
    struct rf_tagged_setup setup = {
        .ways = 1, .entries = 2, .tag = 8, .hit = 3, .miss = 2, .evict = 4, .replace = 3};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct script script;
        char events[40], out[200];
        setup.drop = table[i].drop;
        script_open(&script, NULL, &setup);
        char letters[26], *p = letters; /* those of one set */
        for (int c = 'a'; c <= 'z'; c++)
            if (rf_stratum_of(&script.part.stratum, (struct rf_tuple){(uint64_t)c, 0}) == 0)
                *p++ = (char)c;
        REQUIRE(p - letters >= 2);
        strcpy(events, table[i].events);
        for (char *e = events; *e != '\0'; e++)
            *e = letters[*e - 'a'];
        script_run(&script, events, out);
        for (char *o = out; *o != '\0'; o++)
            if (*o == letters[0] || *o == letters[1])
                *o = (char)('a' + (*o == letters[1]));
        CHECK_ROW(table[i].label, strcmp(out, table[i].messages) == 0);
        if (strcmp(out, table[i].messages) != 0)
            printf("# messages: %s\n", out);
        free(script.cell);
    }
}

/* Bits of a chain are those of its own parts: what stands behind it in the array is of another one. */
TEST(hardware_bits_of_a_chain_by_hand)
{
    static const struct rf_part_spec specs[] = {{.kind = RF_PART_PERIODIC, .n = 256},
                                                {.kind = RF_PART_RANDOM, .n = 256}};
    CHECK_EQ(rf_chain_bits(specs, 0, NULL), 0);
    CHECK_EQ(rf_chain_bits(specs, 1, NULL), 8);
    CHECK_EQ(rf_chain_bits(specs, 2, NULL), 8 + 32);
}

TEST_MAIN()
