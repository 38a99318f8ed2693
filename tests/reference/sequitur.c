#include "reference/sequitur.h"
#include <stdbool.h>
#include <stdlib.h>

struct symbol {
    struct symbol *next, *prev;
    struct rule *rule; /* that it stands for; of a guard, whose it is; NULL: a value */
    uint64_t value;
    bool is_guard;
};

struct rule {
    struct symbol guard; /* a ring: guard, first, ..., last */
    struct rule *before, *after;
    size_t uses;
};

struct ref_sequitur {
    struct rule *start; /* the first of all rules */
};

static struct rule *add_rule(struct ref_sequitur *grammar)
{
    struct rule *rule = calloc(1, sizeof *rule);
    if (rule == NULL)
        abort();
    rule->guard = (struct symbol){&rule->guard, &rule->guard, rule, 0, true};
    rule->before = grammar->start;
    if (grammar->start != NULL) {
        rule->after = grammar->start->after;
        grammar->start->after = rule;
        if (rule->after != NULL)
            rule->after->before = rule;
    }
    return rule;
}

static void remove_rule(struct rule *rule)
{
    rule->before->after = rule->after;
    if (rule->after != NULL)
        rule->after->before = rule->before;
    free(rule);
}

static struct symbol *insert_after(struct symbol *left, struct rule *rule, uint64_t value)
{
    struct symbol *symbol = calloc(1, sizeof *symbol);
    if (symbol == NULL)
        abort();
    *symbol = (struct symbol){left->next, left, rule, value, false};
    left->next->prev = symbol;
    left->next = symbol;
    if (rule != NULL)
        rule->uses++;
    return symbol;
}

static void take_away(struct symbol *symbol)
{
    symbol->prev->next = symbol->next;
    symbol->next->prev = symbol->prev;
    if (symbol->rule != NULL)
        symbol->rule->uses--;
    free(symbol);
}

static bool same(const struct symbol *x, const struct symbol *y)
{
    return !x->is_guard && !y->is_guard && x->rule == y->rule &&
           (x->rule != NULL || x->value == y->value);
}

/* Another place with the same pair that does not overlap. */
static struct symbol *find_pair(const struct ref_sequitur *grammar, const struct symbol *pair)
{
    for (struct rule *rule = grammar->start; rule != NULL; rule = rule->after)
        for (struct symbol *s = rule->guard.next; !s->is_guard; s = s->next)
            if (s != pair && s->next != pair && pair->next != s && same(s, pair) &&
                same(s->next, pair->next))
                return s;
    return NULL;
}

static bool check(struct ref_sequitur *grammar, struct symbol *pair);

static void substitute(struct ref_sequitur *grammar, struct symbol *pair, struct rule *rule)
{
    struct symbol *left = pair->prev;
    take_away(pair->next);
    take_away(pair);
    struct symbol *made = insert_after(left, rule, 0);
    if (!check(grammar, left))
        check(grammar, made);
}

/* A rule with one use goes back to where it is used. */
static void put_in_place(struct symbol *symbol)
{
    struct rule *rule = symbol->rule;
    if (symbol->is_guard || rule == NULL || rule->uses != 1)
        return;
    rule->guard.next->prev = symbol->prev;
    rule->guard.prev->next = symbol->next;
    symbol->prev->next = rule->guard.next;
    symbol->next->prev = rule->guard.prev;
    free(symbol);
    remove_rule(rule);
}

static void match(struct ref_sequitur *grammar, struct symbol *pair, struct symbol *other)
{
    struct rule *rule;
    if (other->prev->is_guard && other->next->next->is_guard &&
        other->prev->rule != grammar->start) {
        rule = other->prev->rule;
        substitute(grammar, pair, rule);
    } else {
        rule = add_rule(grammar);
        insert_after(insert_after(&rule->guard, pair->rule, pair->value), pair->next->rule,
                     pair->next->value);
        substitute(grammar, other, rule);
        substitute(grammar, pair, rule);
    }
    put_in_place(rule->guard.next);
}

static bool check(struct ref_sequitur *grammar, struct symbol *pair)
{
    if (pair->is_guard || pair->next->is_guard)
        return false;
    struct symbol *other = find_pair(grammar, pair);
    if (other != NULL)
        match(grammar, pair, other);
    return other != NULL;
}

struct ref_sequitur *ref_sequitur_new(void)
{
    struct ref_sequitur *grammar = calloc(1, sizeof *grammar);
    if (grammar == NULL)
        abort();
    grammar->start = add_rule(grammar);
    return grammar;
}

void ref_sequitur_add(struct ref_sequitur *grammar, uint64_t value)
{
    struct symbol *last = grammar->start->guard.prev;
    insert_after(last, NULL, value);
    check(grammar, last);
}

size_t ref_sequitur_symbols(const struct ref_sequitur *grammar)
{
    size_t n = 0;
    for (const struct rule *rule = grammar->start; rule != NULL; rule = rule->after)
        for (const struct symbol *s = rule->guard.next; !s->is_guard; s = s->next)
            n++;
    return n;
}

static size_t expand(const struct rule *rule, uint64_t *values, size_t n, size_t room)
{
    for (const struct symbol *s = rule->guard.next; !s->is_guard && n < room; s = s->next) {
        if (s->rule != NULL)
            n = expand(s->rule, values, n, room);
        else
            values[n++] = s->value;
    }
    return n;
}

size_t ref_sequitur_expand(const struct ref_sequitur *grammar, uint64_t *values, size_t room)
{
    return expand(grammar->start, values, 0, room);
}

void ref_sequitur_free(struct ref_sequitur *grammar)
{
    for (struct rule *rule = grammar->start, *after; rule != NULL; rule = after) {
        after = rule->after;
        for (struct symbol *s = rule->guard.next, *next; !s->is_guard; s = next) {
            next = s->next;
            free(s);
        }
        free(rule);
    }
    free(grammar);
}
