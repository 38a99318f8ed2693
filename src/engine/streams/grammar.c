/* grammar.c - Sequitur: the grammar of a string, symbol by symbol, in linear time.
 *
 * Nevill-Manning and Witten, "Identifying Hierarchical Structure in Sequences: A linear-time algorithm", 1997.
 *
 *     abcdbcabcdbc      S -> A A     A -> a B d B     B -> b c
 *
 * Two things hold after every tuple:
 *
 *     digram uniqueness     no pair of neighbours occurs twice without overlap
 *     rule utility          every rule is used at least twice
 *
 * A new tuple goes to the end of S. If the pair that it makes with its neighbour is in the table of digrams, both
 * places become a rule: the rule that is there, when one of them is all of its body, or a new one. That makes new
 * pairs on both sides, which are looked up in turn (`todo`), and may leave a rule with a single use, which is
 * then put in its place. Each step after the first makes the grammar smaller, so the time is linear.
 *
 * The block:
 *
 *     | symbols ->          <- names: tuples, rules | digrams | tuples |
 *       12 bytes              16        32            8 a slot  4 a slot
 *
 * Memory: a symbol is 12 bytes and 5/4 slots of 8, a tuple is 16 and 5/4 slots of 4, a rule 32. The tables are made for
 * as many symbols as 38 bytes each allow. Each of r rules is used at least twice, and
 * a use is a symbol that is no tuple. So n symbols have at most n - 2r tuples, and rules never need more room than the
 * tuples that they replace.
 *
 * A cut is a special symbol that is in no digram, so no rule crosses it.
 *
 * Departures: rules are numbers, not pointers; the list of a rule ends in the rule's number, not in a guard symbol. New
 * pairs wait in a list, not on the stack of a recursion, so no input can make the stack deep. If the list or the block
 * is full (this never happened in tests), a pair stays as it is: the grammar still makes the string. Rule utility is
 * checked for both symbols of a pair, not only for the first.
 *
 * Cannot: take a tuple back; more than 2^30 names. */
#include "engine/streams/grammar.h"
#include "base/hash.h"
#include <string.h>

/* More symbols and names than a pair that becomes a rule needs on the way. */
enum { SYMBOLS_EACH = 8, NAMES_EACH = 8 };

enum { BATCH = 32 };

/* --- lists ------------------------------------------------------------------------------------ */

static bool is_end(uint32_t symbol)
{
    return (symbol & RF_GRAMMAR_END) != 0;
}

static struct rf_grammar_rule *rule_at(const struct rf_grammar *g, uint32_t end)
{
    return rf_grammar_rule(g, end & ~RF_GRAMMAR_END);
}

static void link_symbols(struct rf_grammar *g, uint32_t left, uint32_t right)
{
    if (is_end(left))
        rule_at(g, left)->first = right;
    else
        g->symbols[left].next = right;
    if (is_end(right))
        rule_at(g, right)->last = left;
    else
        g->symbols[right].prev = left;
}

static uint32_t take_symbol(struct rf_grammar *g, uint32_t value)
{
    uint32_t symbol = g->free_symbol;
    if (symbol != 0) {
        g->free_symbol = g->symbols[symbol].next;
        g->n_free_symbols--;
    } else {
        symbol = ++g->n_symbols;
    }
    g->symbols[symbol].value = value;
    if (rf_grammar_is_rule(value))
        rf_grammar_rule(g, rf_grammar_name(value))->refs++;
    return symbol;
}

static void free_symbol(struct rf_grammar *g, uint32_t symbol)
{
    uint32_t value = g->symbols[symbol].value;
    if (rf_grammar_is_rule(value))
        rf_grammar_rule(g, rf_grammar_name(value))->refs--;
    g->symbols[symbol] = (struct rf_grammar_symbol){.next = g->free_symbol, .prev = 0};
    g->free_symbol = symbol;
    g->n_free_symbols++;
}

static uint32_t take_rule(struct rf_grammar *g)
{
    uint32_t name = g->free_rule;
    if (name != RF_GRAMMAR_END)
        g->free_rule = rf_grammar_rule(g, name)->link;
    else
        name = (g->n_names += 2) - 1;
    g->n_rules++;
    *rf_grammar_rule(g, name) =
        (struct rf_grammar_rule){.first = RF_GRAMMAR_END | name, .last = RF_GRAMMAR_END | name};
    return name;
}

static void free_rule(struct rf_grammar *g, uint32_t name)
{
    rf_grammar_rule(g, name)->link = g->free_rule;
    g->free_rule = name;
    g->n_rules--;
}

static uint64_t length_of(const struct rf_grammar *g, uint32_t value)
{
    return rf_grammar_is_rule(value) ? rf_grammar_rule(g, rf_grammar_name(value))->length : 1;
}

/* --- the table of digrams --------------------------------------------------------------------- */

static uint32_t hash_pair(const struct rf_grammar *g, uint32_t first, uint32_t second)
{
    return (uint32_t)(rf_hash_multiply((struct rf_tuple){first, second}, g->key) >> 32);
}

static uint32_t home_of(const struct rf_grammar *g, uint32_t hash)
{
    return (uint32_t)((uint64_t)hash * g->n_digram_slots >> 32);
}

static uint32_t slot_after(const struct rf_grammar *g, uint32_t i)
{
    return i + 1 == g->n_digram_slots ? 0 : i + 1;
}

/* The symbol after it in the same rule; 0: the symbol is the last, or one of the two is a cut. */
static uint32_t partner(const struct rf_grammar *g, uint32_t symbol)
{
    uint32_t next = g->symbols[symbol].next;
    if (is_end(next) || g->symbols[symbol].value == RF_GRAMMAR_CUT ||
        g->symbols[next].value == RF_GRAMMAR_CUT)
        return 0;
    return next;
}

static bool has_pair(const struct rf_grammar *g, uint32_t symbol, uint32_t first, uint32_t second)
{
    const struct rf_grammar_symbol *s = &g->symbols[symbol];
    return s->value == first && !is_end(s->next) && g->symbols[s->next].value == second;
}

/* The slot that has the pair, or the empty one where it would be put. */
static struct rf_grammar_slot *find_pair(const struct rf_grammar *g, uint32_t hash, uint32_t first,
                                         uint32_t second)
{
    uint32_t i = home_of(g, hash);
    while (g->digrams[i].symbol != 0 &&
           (g->digrams[i].hash != hash || !has_pair(g, g->digrams[i].symbol, first, second)))
        i = slot_after(g, i);
    return &g->digrams[i];
}

/* Close the gap: what stands behind it moves up, unless that would put it before its home. */
static void empty_slot(struct rf_grammar *g, uint32_t hole)
{
    for (uint32_t i = slot_after(g, hole); g->digrams[i].symbol != 0; i = slot_after(g, i)) {
        uint32_t home = home_of(g, g->digrams[i].hash);
        bool stays = hole <= i ? hole < home && home <= i : hole < home || home <= i;
        if (stays)
            continue;
        g->digrams[hole] = g->digrams[i];
        hole = i;
    }
    g->digrams[hole].symbol = 0;
}

static void forget(struct rf_grammar *g, uint32_t symbol, uint32_t first, uint32_t second)
{
    for (uint32_t i = home_of(g, hash_pair(g, first, second)); g->digrams[i].symbol != 0;
         i = slot_after(g, i))
        if (g->digrams[i].symbol == symbol) {
            empty_slot(g, i);
            return;
        }
}

/* The pair that begins at the symbol is about to go: take it out of the table, unless the table has another place of
 * the same pair. */
static void forget_pair(struct rf_grammar *g, uint32_t symbol)
{
    uint32_t next = partner(g, symbol);
    if (next != 0)
        forget(g, symbol, g->symbols[symbol].value, g->symbols[next].value);
}

static void look_up_later(struct rf_grammar *g, uint32_t symbol)
{
    if (is_end(symbol))
        return;
    if (g->n_todo < RF_GRAMMAR_TODO)
        g->todo[g->n_todo++] = symbol;
    else
        g->skipped++;
}

/* --- the algorithm ---------------------------------------------------------------------------- */

/* In a run such as aaa two equal pairs overlap, and the table has one of them. When that one goes, put the other into
 * the table: the pair that begins at `symbol`, if both of its symbols are `value`. */
static void look_up_run(struct rf_grammar *g, uint32_t symbol, uint32_t value)
{
    if (!is_end(symbol) && has_pair(g, symbol, value, value))
        look_up_later(g, symbol);
}

/* Put one symbol for the rule in place of the pair that begins at the symbol. The table has the pair elsewhere. */
static void substitute(struct rf_grammar *g, uint32_t symbol, uint32_t rule)
{
    uint32_t second = g->symbols[symbol].next;
    uint32_t left = g->symbols[symbol].prev, right = g->symbols[second].next;
    if (!is_end(right))
        look_up_run(g, right, g->symbols[second].value);
    if (!is_end(left)) {
        look_up_run(g, g->symbols[left].prev, g->symbols[symbol].value);
        forget_pair(g, left);
    }
    forget_pair(g, second);
    free_symbol(g, symbol);
    free_symbol(g, second);
    uint32_t made = take_symbol(g, RF_GRAMMAR_RULE | rule);
    link_symbols(g, left, made);
    link_symbols(g, made, right);
    look_up_later(g, made);
    look_up_later(g, left);
}

/* The rule that the symbol stands for has no other use: its symbols take the place of this one. */
static void put_in_place(struct rf_grammar *g, uint32_t symbol)
{
    uint32_t name = rf_grammar_name(g->symbols[symbol].value);
    const struct rf_grammar_rule rule = *rf_grammar_rule(g, name);
    uint32_t left = g->symbols[symbol].prev, right = g->symbols[symbol].next;
    if (!is_end(left))
        forget_pair(g, left);
    forget_pair(g, symbol);
    free_symbol(g, symbol);
    link_symbols(g, left, rule.first);
    link_symbols(g, rule.last, right);
    free_rule(g, name);
    look_up_later(g, rule.last);
    look_up_later(g, left);
}

static void keep_useful(struct rf_grammar *g, uint32_t symbol)
{
    uint32_t value = g->symbols[symbol].value;
    if (rf_grammar_is_rule(value) && rf_grammar_rule(g, rf_grammar_name(value))->refs == 1)
        put_in_place(g, symbol);
}

static uint32_t make_rule(struct rf_grammar *g, uint32_t symbol)
{
    uint32_t name = take_rule(g), end = RF_GRAMMAR_END | name;
    uint32_t values[2] = {g->symbols[symbol].value, g->symbols[g->symbols[symbol].next].value};
    uint64_t length = length_of(g, values[0]) + length_of(g, values[1]);
    uint32_t first = take_symbol(g, values[0]), second = take_symbol(g, values[1]);
    struct rf_grammar_rule *rule = rf_grammar_rule(g, name);
    rule->length = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
    link_symbols(g, end, first);
    link_symbols(g, first, second);
    link_symbols(g, second, end);
    return name;
}

/* Is the pair all that a rule has? */
static bool is_whole_rule(const struct rf_grammar *g, uint32_t symbol)
{
    uint32_t before = g->symbols[symbol].prev, behind = g->symbols[g->symbols[symbol].next].next;
    return is_end(before) && before == behind && (before & ~RF_GRAMMAR_END) != g->start;
}

/* Take the symbol behind this one away. */
static void drop_second(struct rf_grammar *g, uint32_t symbol)
{
    uint32_t second = g->symbols[symbol].next, right = g->symbols[second].next;
    if (!is_end(right))
        look_up_run(g, right, g->symbols[second].value);
    forget_pair(g, second);
    free_symbol(g, second);
    link_symbols(g, symbol, right);
    look_up_later(g, symbol);
}

static void grow(struct rf_grammar_rule *rule, uint64_t by)
{
    uint64_t length = rule->length + by;
    rule->length = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
}

/* The pair is a rule with two uses and what follows both of them: that becomes the rule's last symbol. A new rule for
 * the pair would leave the old one with a single use; this is the same, at once. */
static void extend(struct rf_grammar *g, uint32_t old, uint32_t young)
{
    uint32_t name = rf_grammar_name(g->symbols[old].value);
    uint32_t value = g->symbols[g->symbols[old].next].value;
    struct rf_grammar_rule *rule = rf_grammar_rule(g, name);
    uint32_t last = rule->last, made = take_symbol(g, value);
    grow(rule, length_of(g, value));
    link_symbols(g, last, made);
    link_symbols(g, made, RF_GRAMMAR_END | name);
    drop_second(g, old);
    drop_second(g, young);
    look_up_later(g, last);
    keep_useful(g, made);
}

/* --- following -------------------------------------------------------------------------------- */

/* While a repetition is read, the string ends in a rule Q with one other use, and every new tuple is what follows
 * there. That symbol moves to the end of Q:
 *
 *     ... Q d e f ...     Q -> a b c         ... Q e f ...     Q -> a b c d
 *
 * The pair <d, e> goes out of the one list and, with the next tuple, comes into the other. Until then the table has it,
 * and does not have <Q, e>, which is as short-lived; rf_grammar_settle makes up for both. */
static bool may_move(const struct rf_grammar *g, uint32_t use, uint32_t symbol)
{
    uint32_t value = g->symbols[symbol].value, behind = g->symbols[symbol].next;
    if (rf_grammar_is_rule(value) || value == RF_GRAMMAR_CUT)
        return false;
    if (is_end(behind))
        return !is_end(g->symbols[use].prev); /* a rule keeps two symbols at least */
    const struct rf_grammar_rule *rule = rf_grammar_rule(g, rf_grammar_name(g->symbols[use].value));
    return g->symbols[behind].value != value && g->symbols[rule->last].value != value; /* no run */
}

static void move_symbol(struct rf_grammar *g, uint32_t use, uint32_t symbol)
{
    uint32_t name = rf_grammar_name(g->symbols[use].value);
    struct rf_grammar_rule *rule = rf_grammar_rule(g, name);
    link_symbols(g, use, g->symbols[symbol].next);
    link_symbols(g, rule->last, symbol);
    link_symbols(g, symbol, RF_GRAMMAR_END | name);
    grow(rule, 1);
}

/* Begin to follow with this tuple, whose symbol is the last of the string. False: that is not possible. */
static bool start_following(struct rf_grammar *g, uint32_t old, uint32_t young)
{
    uint32_t symbol = g->symbols[old].next, copy = g->symbols[young].next;
    const struct rf_grammar_rule *rule = rf_grammar_rule(g, rf_grammar_name(g->symbols[old].value));
    if (g->symbols[copy].next != (RF_GRAMMAR_END | g->start) || !may_move(g, old, symbol))
        return false;
    uint32_t last = rule->last, value = g->symbols[symbol].value;
    uint32_t hash = hash_pair(g, g->symbols[last].value, value);
    struct rf_grammar_slot *slot = find_pair(g, hash, g->symbols[last].value, value);
    if (slot->symbol != 0)
        return false;
    *slot = (struct rf_grammar_slot){hash, last};
    free_symbol(g, copy);
    link_symbols(g, young, RF_GRAMMAR_END | g->start);
    move_symbol(g, old, symbol);
    g->followed = old;
    return true;
}

static bool follow(struct rf_grammar *g, uint32_t value)
{
    uint32_t symbol = g->symbols[g->followed].next;
    if (is_end(symbol) || g->symbols[symbol].value != value || !may_move(g, g->followed, symbol))
        return false;
    move_symbol(g, g->followed, symbol);
    return true;
}

/* If one of the places is the whole body of a rule, the other is replaced by that rule. */
static void reuse(struct rf_grammar *g, uint32_t body, uint32_t other)
{
    uint32_t rule = g->symbols[body].prev & ~RF_GRAMMAR_END;
    substitute(g, other, rule);
    keep_useful(g, rf_grammar_rule(g, rule)->first);
    keep_useful(g, rf_grammar_rule(g, rule)->last);
}

/* Is there room for a rule and its symbols? has_room makes sure of it, however many steps a tuple causes. */
static bool has_space(const struct rf_grammar *g)
{
    return (g->n_symbols + 1 + SYMBOLS_EACH) * sizeof *g->symbols +
               (g->n_names + NAMES_EACH) * sizeof *g->names_end <=
           g->arena_size;
}

/* The same pair begins at two symbols and does not overlap; `slot` has the old one. */
static void join(struct rf_grammar *g, struct rf_grammar_slot *slot, uint32_t young)
{
    uint32_t old = slot->symbol, value = g->symbols[old].value;
    if (!has_space(g)) {
        g->skipped++;
        return;
    }
    if (is_whole_rule(g, old)) {
        reuse(g, old, young);
    } else if (is_whole_rule(g, young)) {
        slot->symbol = young;
        reuse(g, young, old);
    } else if (rf_grammar_is_rule(value) && rf_grammar_rule(g, rf_grammar_name(value))->refs == 2) {
        empty_slot(g, (uint32_t)(slot - g->digrams));
        if (!start_following(g, old, young))
            extend(g, old, young);
    } else {
        uint32_t rule = make_rule(g, old);
        slot->symbol = rf_grammar_rule(g, rule)->first;
        substitute(g, old, rule);
        substitute(g, young, rule);
        keep_useful(g, rf_grammar_rule(g, rule)->last);
    }
}

static void look_up(struct rf_grammar *g, uint32_t symbol)
{
    uint32_t next = partner(g, symbol);
    if (next == 0)
        return;
    uint32_t first = g->symbols[symbol].value, second = g->symbols[next].value;
    uint32_t hash = hash_pair(g, first, second);
    struct rf_grammar_slot *slot = find_pair(g, hash, first, second);
    uint32_t old = slot->symbol;
    if (old == 0)
        *slot = (struct rf_grammar_slot){hash, symbol};
    else if (old != symbol && g->symbols[old].next != symbol && next != old)
        join(g, slot, symbol);
}

/* A symbol in the list may be gone or changed by now. Looking it up then does no harm. */
static bool is_free(const struct rf_grammar *g, uint32_t symbol)
{
    return g->symbols[symbol].prev == 0;
}

static void look_up_all(struct rf_grammar *g)
{
    while (g->n_todo > 0) {
        uint32_t next = g->todo[--g->n_todo];
        if (!is_free(g, next))
            look_up(g, next);
    }
}

void rf_grammar_settle(struct rf_grammar *g)
{
    uint32_t use = g->followed;
    g->followed = 0;
    if (use == 0 || is_end(g->symbols[use].next))
        return;
    uint32_t last = rf_grammar_rule(g, rf_grammar_name(g->symbols[use].value))->last;
    forget(g, last, g->symbols[last].value, g->symbols[g->symbols[use].next].value);
    look_up_later(g, use);
    look_up_all(g);
}

static void append(struct rf_grammar *g, uint32_t value)
{
    if (g->followed != 0 && follow(g, value))
        return;
    rf_grammar_settle(g);
    uint32_t end = RF_GRAMMAR_END | g->start, last = rf_grammar_rule(g, g->start)->last;
    uint32_t symbol = take_symbol(g, value);
    link_symbols(g, last, symbol);
    link_symbols(g, symbol, end);
    look_up_later(g, last);
    look_up_all(g);
}

/* --- tuples and room -------------------------------------------------------------------------- */

/* For n tuples, each of which may make two rules. */
static bool has_room(const struct rf_grammar *g, size_t n)
{
    size_t symbols = (n + 1) * SYMBOLS_EACH, names = (n + 1) * NAMES_EACH;
    size_t used = (g->n_symbols + 1 + symbols) * sizeof *g->symbols +
                  (g->n_names + names) * sizeof *g->names_end;
    return used <= g->arena_size && rf_grammar_symbols(g) + symbols <= g->symbols_max &&
           g->n_tuples + n <= g->names_max && g->length + n < UINT32_MAX;
}

static uint32_t tuple_home(const struct rf_grammar *g, struct rf_tuple tuple)
{
    return (uint32_t)((rf_hash_multiply(tuple, g->key) >> 32) * g->n_tuple_slots >> 32);
}

/* The tuple's name; it gets one if it has none. */
static uint32_t name_tuple(struct rf_grammar *g, struct rf_tuple tuple, uint32_t i)
{
    for (; g->tuples[i] != 0; i = i + 1 == g->n_tuple_slots ? 0 : i + 1) {
        const struct rf_tuple *known = rf_grammar_tuple(g, g->tuples[i] - 1);
        if (known->a == tuple.a && known->b == tuple.b)
            return g->tuples[i] - 1;
    }
    uint32_t name = g->n_names++;
    g->names_end[-1 - (ptrdiff_t)name] = tuple;
    g->n_tuples++;
    g->tuples[i] = name + 1;
    return name;
}

bool rf_grammar_add(struct rf_grammar *g, struct rf_tuple tuple)
{
    if (!has_room(g, 1))
        return false;
    append(g, name_tuple(g, tuple, tuple_home(g, tuple)));
    g->length++;
    return true;
}

/* There is room for all of them. */
static void add_batch(struct rf_grammar *g, const struct rf_tuple *tuples, size_t n)
{
    uint32_t home[BATCH], names[BATCH];
    for (size_t i = 0; i < n; i++) {
        home[i] = tuple_home(g, tuples[i]);
        __builtin_prefetch(&g->tuples[home[i]]);
    }
    for (size_t i = 0; i < n; i++)
        names[i] = name_tuple(g, tuples[i], home[i]);
    for (size_t i = 0; i < n; i++)
        append(g, names[i]);
    g->length += n;
}

size_t rf_grammar_add_all(struct rf_grammar *g, const struct rf_tuple *tuples, size_t n)
{
    size_t done = 0;
    while (n - done >= BATCH && has_room(g, BATCH)) {
        add_batch(g, tuples + done, BATCH);
        done += BATCH;
    }
    while (done < n && rf_grammar_add(g, tuples[done]))
        done++;
    return done;
}

bool rf_grammar_cut(struct rf_grammar *g)
{
    uint32_t last = rf_grammar_rule(g, g->start)->last;
    if (is_end(last) || g->symbols[last].value == RF_GRAMMAR_CUT)
        return true;
    if (!has_room(g, 1))
        return false;
    append(g, RF_GRAMMAR_CUT);
    return true;
}

/* --- opening ---------------------------------------------------------------------------------- */

enum { BYTES_PER_SYMBOL = 38 };

void rf_grammar_init(struct rf_grammar *g, void *block, size_t size)
{
    size_t n = size / BYTES_PER_SYMBOL;
    memset(g, 0, sizeof *g);
    g->key = rf_hash_secret(block);
    g->symbols_max = (uint32_t)n;
    g->names_max = (uint32_t)(n * 4 / 5);
    g->n_digram_slots = (uint32_t)(n * 5 / 4);
    g->n_tuple_slots = (uint32_t)n;
    size_t tables = g->n_digram_slots * sizeof *g->digrams + g->n_tuple_slots * sizeof *g->tuples;
    g->arena_size = (size - tables) & ~(size_t)15;
    g->symbols = block;
    g->names_end = (struct rf_tuple *)((char *)block + g->arena_size);
    g->digrams = (struct rf_grammar_slot *)g->names_end;
    g->tuples = (uint32_t *)(g->digrams + g->n_digram_slots);
    rf_grammar_reset(g);
}

void rf_grammar_reset(struct rf_grammar *g)
{
    memset(g->digrams, 0, g->n_digram_slots * sizeof *g->digrams);
    memset(g->tuples, 0, g->n_tuple_slots * sizeof *g->tuples);
    g->n_symbols = g->n_free_symbols = g->n_names = g->n_tuples = g->n_rules = 0;
    g->free_symbol = 0;
    g->free_rule = RF_GRAMMAR_END;
    g->length = 0;
    g->n_todo = 0;
    g->followed = 0;
    g->start = take_rule(g);
}
