/* hot.c - hot data streams in time linear in the grammar.
 *
 * Chilimbi and Hirzel, "Dynamic Hot Data Stream Prefetching for General-Purpose Programs", 2002, figure 5.
 *
 * Rules are looked at parents first. How often a rule occurs follows from its parents (`total`). A hot rule
 * takes all its occurrences away from the rules inside it. A rule that is not hot takes away only those occurrences
 * that lie in hot rules. The rest is `cold`, and heat is length x cold:
 *
 *     S -> A A c B     A -> B B     B -> a b        total: A 2, B 5; A hot: B is cold once
 *
 * Guarantee: no event belongs to two streams, so their heats add up to the events that they cover.
 * Memory: fields of the rules. Cannot: see a repetition that Sequitur parsed differently in two places. */
#include "engine/streams/hot.h"

static struct rf_grammar_rule *rule_of(const struct rf_grammar *g, uint32_t value)
{
    return rf_grammar_is_rule(value) ? rf_grammar_rule(g, rf_grammar_name(value)) : NULL;
}

/* All rules there are, found through the symbols that stand for them. */
static void begin(const struct rf_grammar *g)
{
    for (uint32_t s = 1; s <= g->n_symbols; s++) {
        struct rf_grammar_rule *rule = rule_of(g, g->symbols[s].value);
        if (rule != NULL) {
            rule->total = 0;
            rule->pending = rule->refs;
        }
    }
    struct rf_grammar_rule *start = rf_grammar_rule(g, g->start);
    start->total = start->cold = 1;
    start->link = RF_GRAMMAR_END;
}

/* Count the rules inside this one. A rule whose last parent this was comes next. */
static void count_inside(const struct rf_grammar *g, const struct rf_grammar_rule *parent,
                         uint32_t *last)
{
    for (uint32_t s = parent->first; (s & RF_GRAMMAR_END) == 0; s = g->symbols[s].next) {
        struct rf_grammar_rule *rule = rule_of(g, g->symbols[s].value);
        if (rule == NULL)
            continue;
        rule->total += parent->total;
        if (--rule->pending > 0)
            continue;
        rule->cold = rule->total;
        rule->link = RF_GRAMMAR_END;
        rf_grammar_rule(g, *last)->link = rf_grammar_name(g->symbols[s].value);
        *last = rf_grammar_name(g->symbols[s].value);
    }
}

static void take_out(const struct rf_grammar *g, const struct rf_grammar_rule *parent, uint32_t n)
{
    for (uint32_t s = parent->first; n > 0 && (s & RF_GRAMMAR_END) == 0; s = g->symbols[s].next) {
        struct rf_grammar_rule *rule = rule_of(g, g->symbols[s].value);
        if (rule != NULL)
            rule->cold -= n;
    }
}

static bool is_hot(const struct rf_grammar_rule *rule, const struct rf_hot_limits *limits)
{
    return rule->length >= limits->min && rule->length <= limits->max && rule->cold > 0 &&
           (uint64_t)rule->length * rule->cold >= limits->heat;
}

/* Parents first. */
static void line_up(const struct rf_grammar *g)
{
    uint32_t last = g->start;
    for (uint32_t name = g->start; name != RF_GRAMMAR_END; name = rf_grammar_rule(g, name)->link)
        count_inside(g, rf_grammar_rule(g, name), &last);
}

rf_status rf_hot_find(const struct rf_grammar *g, const struct rf_hot_limits *limits,
                      rf_hot_found *found, void *context)
{
    rf_status status = RF_OK;
    begin(g);
    line_up(g);
    uint32_t name = rf_grammar_rule(g, g->start)->link;
    for (; name != RF_GRAMMAR_END && status == RF_OK; name = rf_grammar_rule(g, name)->link) {
        const struct rf_grammar_rule *rule = rf_grammar_rule(g, name);
        bool hot = is_hot(rule, limits);
        if (hot)
            status = found(context, name, rule->cold);
        take_out(g, rule, hot ? rule->total : rule->total - rule->cold);
    }
    return status;
}

/* `work` is a stack of symbols to go on with: no deeper than a rule is long, since each level has two at least. */
void rf_hot_expand(const struct rf_grammar *g, uint32_t rule, uint32_t *names, uint32_t *work)
{
    size_t depth = 0;
    for (uint32_t s = rf_grammar_rule(g, rule)->first;;) {
        if ((s & RF_GRAMMAR_END) != 0) {
            if (depth == 0)
                return;
            s = work[--depth];
            continue;
        }
        uint32_t value = g->symbols[s].value, next = g->symbols[s].next;
        if (!rf_grammar_is_rule(value)) {
            *names++ = value;
            s = next;
            continue;
        }
        if ((next & RF_GRAMMAR_END) == 0)
            work[depth++] = next;
        s = rf_grammar_rule(g, rf_grammar_name(value))->first;
    }
}
