/* Any bytes are a string of references. The grammar must give the string back, and no pair of neighbours may occur in it
 * twice. The first byte is the size of the block. A byte of 255 is a cut. */
#include "fuzz.h"
#include "engine/streams/grammar.h"
#include "engine/streams/hot.h"
#include <string.h>

enum { STRING_MAX = 4096, CUT = 255, SYMBOLS_MAX = 16384 };

static struct rf_grammar grammar;
static uint8_t string[STRING_MAX], back[STRING_MAX];
static size_t n_string, n_back, n_symbols;
static uint32_t symbols[SYMBOLS_MAX];

static void expand(uint32_t rule)
{
    for (uint32_t s = rf_grammar_rule(&grammar, rule)->first; (s & RF_GRAMMAR_END) == 0;
         s = grammar.symbols[s].next) {
        uint32_t value = grammar.symbols[s].value;
        if (rf_grammar_is_rule(value)) {
            expand(rf_grammar_name(value));
            continue;
        }
        PROMISE(n_back < STRING_MAX);
        back[n_back++] =
            value == RF_GRAMMAR_CUT ? CUT : (uint8_t)rf_grammar_tuple(&grammar, value)->a;
    }
}

static void add(uint8_t byte)
{
    if (byte == CUT) {
        int again = n_string == 0 || string[n_string - 1] == CUT;
        if (rf_grammar_cut(&grammar) && !again)
            string[n_string++] = CUT;
    } else if (rf_grammar_add(&grammar, (struct rf_tuple){byte, 1})) {
        string[n_string++] = byte;
    }
}

/* All symbols in use. A symbol that is not free has a neighbour before it. */
static void list_symbols(void)
{
    n_symbols = 0;
    for (uint32_t s = 1; s <= grammar.n_symbols; s++)
        if (grammar.symbols[s].prev != 0 && n_symbols < SYMBOLS_MAX)
            symbols[n_symbols++] = s;
    PROMISE(n_symbols == rf_grammar_symbols(&grammar));
}

static uint64_t pair_at(uint32_t s)
{
    uint32_t next = grammar.symbols[s].next, value = grammar.symbols[s].value;
    if ((next & RF_GRAMMAR_END) != 0 || value == RF_GRAMMAR_CUT ||
        grammar.symbols[next].value == RF_GRAMMAR_CUT)
        return UINT64_MAX;
    return (uint64_t)value << 32 | grammar.symbols[next].value;
}

static void check_pairs(void)
{
    for (size_t i = 0; i < n_symbols; i++)
        for (size_t k = i + 1; k < n_symbols && pair_at(symbols[i]) != UINT64_MAX; k++)
            PROMISE(pair_at(symbols[i]) != pair_at(symbols[k]) ||
                    grammar.symbols[symbols[i]].next == symbols[k] ||
                    grammar.symbols[symbols[k]].next == symbols[i]);
}

static rf_status found(void *context, uint32_t rule, uint32_t count)
{
    uint64_t *covered = context;
    PROMISE(count > 0);
    *covered += (uint64_t)count * rf_grammar_rule(&grammar, rule)->length;
    return RF_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static _Alignas(64) unsigned char block[RF_GRAMMAR_SIZE_MIN + 255 * 1024];
    const struct rf_hot_limits limits = {2, 100, 4};
    uint64_t covered = 0;
    size_t size = RF_GRAMMAR_SIZE_MIN + (n > 0 ? bytes[0] : 0) * (size_t)1024;
    memset(block, 0, size);
    rf_grammar_init(&grammar, block, size);
    n_string = n_back = 0;
    for (size_t i = 1; i < n && n_string < STRING_MAX; i++)
        add(bytes[i]);
    rf_grammar_settle(&grammar);
    expand(grammar.start);
    PROMISE(n_back == n_string && memcmp(back, string, n_string) == 0);
    list_symbols();
    if (grammar.skipped == 0)
        check_pairs();
    PROMISE(rf_hot_find(&grammar, &limits, found, &covered) == RF_OK);
    PROMISE(covered <= n_string);
    return 0;
}
