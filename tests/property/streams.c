/* Hot data streams: the grammar's two invariants, that it gives its string back, that it is as good as the plain one, and
 * that streams are where they are said to be and share no reference. */
#include "base/random.h"
#include "engine/streams/grammar.h"
#include "engine/streams/hot.h"
#include "reference/sequitur.h"
#include "test.h"
#include <stdbool.h>

enum { STRING_MAX = 3000, BLOCK = 1 << 18, ROUNDS = 400, ROUNDS_LONG = 20000 };

static const uint64_t CUT = UINT64_MAX; /* in a string */

static struct rf_grammar grammar;
static uint64_t string[STRING_MAX + 1], back[STRING_MAX + 1];
static size_t n_string, n_back;

static size_t rounds(void)
{
    return getenv("RIFFLE_TEST_LONG") != NULL ? ROUNDS_LONG : ROUNDS;
}

static void open_grammar(size_t size)
{
    static _Alignas(64) unsigned char block[BLOCK];
    memset(block, 0, size);
    rf_grammar_init(&grammar, block, size);
    n_string = 0;
}

/* ---- strings ---- */

static bool put(uint64_t value)
{
    if (n_string == STRING_MAX)
        return false;
    bool good = value == CUT ? rf_grammar_cut(&grammar)
                             : rf_grammar_add(&grammar, (struct rf_tuple){value, 7 * value});
    bool again = value == CUT && (n_string == 0 || string[n_string - 1] == CUT);
    if (good && !again)
        string[n_string++] = value;
    return good;
}

/* Something from before once more, which is what makes rules. */
static void copy(struct rf_random *random)
{
    size_t length = 1 + (size_t)rf_random_below(random, 30);
    size_t from = (size_t)rf_random_below(random, n_string);
    for (size_t i = 0; i < length && from + i < n_string; i++)
        if (string[from + i] != CUT)
            put(string[from + i]);
}

/* Of any kind: few letters or many, runs, copies, cuts, each as often as chance has it. */
static void fill(struct rf_random *random, size_t length)
{
    uint64_t letters = 1 + rf_random_below(random, 1 + rf_random_below(random, 40));
    uint64_t copies = rf_random_below(random, 4), runs = rf_random_below(random, 3);
    uint64_t cuts = rf_random_below(random, 3) == 0 ? 1 + rf_random_below(random, 30) : 0;
    while (n_string < length) {
        uint64_t letter = rf_random_below(random, letters);
        if (cuts > 0 && rf_random_below(random, 10 + cuts) == 0)
            put(CUT);
        if (n_string > 0 && rf_random_below(random, 4) < copies)
            copy(random);
        for (uint64_t n = 1 + (runs > 0 ? rf_random_below(random, 5) : 0); n > 0; n--)
            if (!put(letter))
                return;
    }
}

/* ---- what a grammar must be ---- */

static bool is_last(uint32_t symbol)
{
    return (symbol & RF_GRAMMAR_END) != 0;
}

static void expand(uint32_t rule)
{
    for (uint32_t s = rf_grammar_rule(&grammar, rule)->first; !is_last(s);
         s = grammar.symbols[s].next) {
        uint32_t value = grammar.symbols[s].value;
        if (rf_grammar_is_rule(value))
            expand(rf_grammar_name(value));
        else if (n_back < STRING_MAX)
            back[n_back++] = value == RF_GRAMMAR_CUT ? CUT : rf_grammar_tuple(&grammar, value)->a;
    }
}

static bool gives_back(void)
{
    n_back = 0;
    expand(grammar.start);
    return n_back == n_string && memcmp(back, string, n_string * sizeof *string) == 0;
}

/* All symbols in use, each with the rule that it is in; a free one is in none. */
static uint32_t listed[STRING_MAX * 2];
static size_t n_listed;

static void list_rule(uint32_t rule, bool *seen)
{
    if (seen[rule])
        return;
    seen[rule] = true;
    for (uint32_t s = rf_grammar_rule(&grammar, rule)->first; !is_last(s);
         s = grammar.symbols[s].next) {
        if (n_listed < sizeof listed / sizeof *listed)
            listed[n_listed++] = s;
        if (rf_grammar_is_rule(grammar.symbols[s].value))
            list_rule(rf_grammar_name(grammar.symbols[s].value), seen);
    }
}

static void list_symbols(void)
{
    static bool seen[STRING_MAX * 4];
    memset(seen, 0, sizeof seen);
    n_listed = 0;
    list_rule(grammar.start, seen);
}

static bool has_pair(uint32_t s, uint64_t *pair)
{
    uint32_t next = grammar.symbols[s].next, first = grammar.symbols[s].value;
    if (is_last(next) || first == RF_GRAMMAR_CUT || grammar.symbols[next].value == RF_GRAMMAR_CUT)
        return false;
    *pair = (uint64_t)first << 32 | grammar.symbols[next].value;
    return true;
}

/* A pair occurs twice and does not overlap. */
static size_t count_twins(void)
{
    size_t twins = 0;
    uint64_t one, other;
    for (size_t i = 0; i < n_listed; i++)
        for (size_t k = i + 1; has_pair(listed[i], &one) && k < n_listed; k++)
            twins += has_pair(listed[k], &other) && one == other &&
                     grammar.symbols[listed[i]].next != listed[k] &&
                     grammar.symbols[listed[k]].next != listed[i];
    return twins;
}

static size_t count_useless(void)
{
    static uint32_t uses[STRING_MAX * 4];
    size_t useless = 0;
    memset(uses, 0, sizeof uses);
    for (size_t i = 0; i < n_listed; i++)
        if (rf_grammar_is_rule(grammar.symbols[listed[i]].value))
            uses[rf_grammar_name(grammar.symbols[listed[i]].value)]++;
    for (size_t i = 0; i < STRING_MAX * 4; i++)
        useless += uses[i] == 1 ||
                   (uses[i] > 0 && rf_grammar_rule(&grammar, (uint32_t)i)->refs != uses[i]);
    return useless;
}

static void check_grammar(void)
{
    rf_grammar_settle(&grammar);
    list_symbols();
    CHECK(gives_back());
    CHECK_EQ(count_twins(), 0);
    CHECK_EQ(count_useless(), 0);
    CHECK_EQ(n_listed, rf_grammar_symbols(&grammar));
    CHECK_EQ(grammar.skipped, 0);
}

TEST(pairs_are_unique_rules_useful_and_the_string_comes_back)
{
    struct rf_random random;
    rf_random_seed(&random, test_seed(1));
    for (size_t i = 0; i < rounds() && test_failures == 0; i++) {
        open_grammar(BLOCK);
        fill(&random, 1 + (size_t)rf_random_below(&random, i % 20 == 0 ? STRING_MAX - 40 : 300));
        check_grammar();
    }
}

/* Also in between: a look must not depend on where the string ends. */
TEST(every_prefix_is_a_grammar)
{
    struct rf_random random;
    rf_random_seed(&random, test_seed(2));
    for (size_t i = 0; i < rounds() / 10 && test_failures == 0; i++) {
        static uint64_t whole[STRING_MAX];
        open_grammar(BLOCK);
        fill(&random, 150);
        size_t n = n_string;
        memcpy(whole, string, n * sizeof *whole);
        open_grammar(BLOCK);
        for (size_t k = 0; k < n && test_failures == 0; k++) {
            put(whole[k]);
            CHECK(gives_back());
        }
    }
}

/* ---- the plain one ---- */

TEST(it_is_no_larger_than_the_plain_one)
{
    struct rf_random random;
    size_t ours = 0, plain = 0;
    rf_random_seed(&random, test_seed(3));
    for (size_t i = 0; i < rounds() / 4; i++) {
        struct ref_sequitur *reference = ref_sequitur_new();
        open_grammar(BLOCK);
        fill(&random, 20 + (size_t)rf_random_below(&random, 300));
        for (size_t k = 0; k < n_string; k++)
            ref_sequitur_add(reference, string[k] == CUT ? (uint64_t)1 << 40 | k : string[k]);
        CHECK_EQ(ref_sequitur_expand(reference, back, STRING_MAX), n_string);
        rf_grammar_settle(&grammar);
        ours += rf_grammar_symbols(&grammar);
        plain += ref_sequitur_symbols(reference);
        ref_sequitur_free(reference);
    }
    printf("# %zu symbols, %zu of the plain one\n", ours, plain);
    CHECK((double)ours <= 1.01 * (double)plain && (double)plain <= 1.03 * (double)ours);
}

/* ---- streams ---- */

struct hot_rule {
    uint32_t rule, count, seen;
};
static struct hot_rule hot[STRING_MAX];
static size_t n_hot;

static rf_status note_hot(void *context, uint32_t rule, uint32_t count)
{
    (void)context;
    hot[n_hot++] = (struct hot_rule){rule, count, 0};
    return RF_OK;
}

/* The slow way: walk the string from the top, stop at what is hot. `at` is where in the string. */
static size_t walk(uint32_t rule, size_t at)
{
    for (uint32_t s = rf_grammar_rule(&grammar, rule)->first; !is_last(s);
         s = grammar.symbols[s].next) {
        uint32_t value = grammar.symbols[s].value, name = rf_grammar_name(value), i = 0;
        if (!rf_grammar_is_rule(value)) {
            at++;
            continue;
        }
        while (i < n_hot && hot[i].rule != name)
            i++;
        if (i == n_hot) {
            at = walk(name, at);
            continue;
        }
        uint32_t names[STRING_MAX], work[STRING_MAX];
        uint32_t length = rf_grammar_rule(&grammar, name)->length;
        rf_hot_expand(&grammar, name, names, work);
        for (uint32_t k = 0; k < length; k++)
            CHECK_EQ(rf_grammar_tuple(&grammar, names[k])->a, string[at + k]);
        hot[i].seen++;
        at += length;
    }
    return at;
}

TEST(streams_are_where_they_are_said_to_be)
{
    struct rf_random random;
    rf_random_seed(&random, test_seed(4));
    for (size_t i = 0; i < rounds() && test_failures == 0; i++) {
        open_grammar(BLOCK);
        fill(&random, 50 + (size_t)rf_random_below(&random, 1000));
        const struct rf_hot_limits limits = {2 + (uint32_t)rf_random_below(&random, 5),
                                             7 + (uint32_t)rf_random_below(&random, 50),
                                             1 + rf_random_below(&random, 40)};
        n_hot = 0;
        CHECK(rf_hot_find(&grammar, &limits, note_hot, NULL) == RF_OK);
        CHECK_EQ(walk(grammar.start, 0), n_string);
        for (size_t k = 0; k < n_hot; k++) {
            uint64_t length = rf_grammar_rule(&grammar, hot[k].rule)->length;
            CHECK_EQ(hot[k].count, hot[k].seen);
            CHECK(length >= limits.min && length <= limits.max);
            CHECK(length * hot[k].count >= limits.heat);
        }
    }
}

/* ---- the end of the block ---- */

TEST(a_full_block_keeps_what_it_has)
{
    struct rf_random random;
    rf_random_seed(&random, test_seed(5));
    for (size_t i = 0; i < rounds() / 4 && test_failures == 0; i++) {
        open_grammar(RF_GRAMMAR_SIZE_MIN + 64 * (size_t)rf_random_below(&random, 100));
        fill(&random, STRING_MAX);
        size_t full = n_string;
        CHECK(!put(1000000 + i) || full == STRING_MAX);
        check_grammar();
        rf_grammar_reset(&grammar);
        n_string = 0;
        CHECK(put(5));
        CHECK(gives_back());
    }
}

/* 40 bytes per symbol where two thirds of the references are known already. */
TEST(memory_is_as_promised)
{
    size_t n = 0;
    open_grammar(BLOCK);
    for (uint64_t key = 0; n < 1000000;
         key = key * 6364136223846793005u + 1442695040888963407u, n++)
        if (!rf_grammar_add(&grammar, (struct rf_tuple){(key >> 33) % 3000, 0}))
            break;
    printf("# %zu references, %u symbols, %.1f bytes each\n", n, rf_grammar_symbols(&grammar),
           (double)BLOCK / rf_grammar_symbols(&grammar));
    CHECK(BLOCK <= 40 * (size_t)rf_grammar_symbols(&grammar));
}

TEST_MAIN()
