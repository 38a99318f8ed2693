/* grammar.h - a string of tuples as a grammar that has each repetition once (Sequitur).
 *
 *     rf_grammar_init(&grammar, block, size);
 *     while (rf_grammar_add(&grammar, tuple)) ...          false: the block is full, nothing was added
 *     rf_grammar_cut(&grammar);                            what comes next does not follow
 *     rf_grammar_reset(&grammar);                          an empty grammar in the same block
 *
 * Everything lives in the caller's block, which stays the caller's. One thread at a time. grammar.c says how it
 * works, hot.c what is read from it. */
#ifndef RF_ENGINE_STREAMS_GRAMMAR_H
#define RF_ENGINE_STREAMS_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <riffle/event.h>
#include "base/hash.h"

/* What a symbol is: a tuple or a rule by its number in `names`, or a cut between two strings. */
enum { RF_GRAMMAR_RULE = 1 << 30, RF_GRAMMAR_CUT = INT32_MAX };

/* At the end of a list of symbols the rule's number stands where a neighbour's would. */
#define RF_GRAMMAR_END UINT32_C(0x80000000)

struct rf_grammar_symbol {
    uint32_t next, prev; /* numbers of symbols, or RF_GRAMMAR_END and the rule's */
    uint32_t value;
};

/* 32 bytes: the room of two tuples. */
struct rf_grammar_rule {
    uint32_t first, last; /* of its symbols */
    uint32_t refs;        /* symbols that stand for it */
    uint32_t length;      /* tuples that it stands for, UINT32_MAX at most */
    /* Of the analysis alone (hot.c): */
    uint32_t total, cold; /* times that it occurs in the string; outside of hot rules */
    uint32_t pending;     /* references that were not seen yet */
    uint32_t link;        /* the rule that is looked at next */
};

/* A place of the table of digrams. */
struct rf_grammar_slot {
    uint32_t hash;
    uint32_t symbol; /* the first of the two; 0: empty */
};

enum { RF_GRAMMAR_TODO = 64 };

struct rf_grammar {
    /* The block: symbols from the front, tuples and rules (names) from the back, tables behind. */
    struct rf_grammar_symbol *symbols; /* [0] is no symbol */
    struct rf_tuple *names_end; /* name i is names_end[-1 - i]; a rule has two, the second is i */
    struct rf_grammar_slot *digrams;
    uint32_t *tuples; /* table of tuples: name + 1; 0: empty */
    uint32_t n_digram_slots, n_tuple_slots;
    uint32_t symbols_max, names_max; /* what the tables are made for */
    size_t arena_size;               /* bytes of symbols and names together */
    struct rf_hash_key key; /* a secret: nothing that is read from the grammar depends on it */

    uint32_t n_symbols, n_names;     /* ever taken, the free ones included */
    uint32_t free_symbol, free_rule; /* lists; 0 and RF_GRAMMAR_END: none */
    uint32_t n_free_symbols;
    uint32_t n_tuples, n_rules;
    uint32_t start;    /* the rule of the whole string */
    uint32_t followed; /* the other use of the rule that the string ends in; 0: none */
    uint64_t length;   /* of the string: tuples that were added */
    uint32_t todo[RF_GRAMMAR_TODO], n_todo; /* symbols whose digram is new */
    uint64_t skipped;                       /* digrams that found no room there */
};

static inline struct rf_grammar_rule *rf_grammar_rule(const struct rf_grammar *grammar,
                                                      uint32_t name)
{
    return (struct rf_grammar_rule *)(grammar->names_end - 1 - name);
}

static inline const struct rf_tuple *rf_grammar_tuple(const struct rf_grammar *grammar,
                                                      uint32_t name)
{
    return grammar->names_end - 1 - name;
}

static inline bool rf_grammar_is_rule(uint32_t value)
{
    return (value & RF_GRAMMAR_RULE) != 0 && value != RF_GRAMMAR_CUT;
}

static inline uint32_t rf_grammar_name(uint32_t value)
{
    return value & ~(uint32_t)RF_GRAMMAR_RULE;
}

/* Symbols of all rules and the string. Memory is in proportion to this. */
static inline uint32_t rf_grammar_symbols(const struct rf_grammar *grammar)
{
    return grammar->n_symbols - grammar->n_free_symbols;
}

/* The block is aligned to 64 bytes, zeroed, and of RF_GRAMMAR_SIZE_MIN bytes at least. */
enum { RF_GRAMMAR_SIZE_MIN = 4096 };
void rf_grammar_init(struct rf_grammar *grammar, void *block, size_t size);
void rf_grammar_reset(struct rf_grammar *grammar);
bool rf_grammar_add(struct rf_grammar *grammar, struct rf_tuple tuple);
/* As many of the n as there is room for; returns how many. Faster than one by one. */
size_t rf_grammar_add_all(struct rf_grammar *grammar, const struct rf_tuple *tuples, size_t n);
/* Bring the table of digrams up to date. It lags behind while a repetition is read. Only tests need this. */
void rf_grammar_settle(struct rf_grammar *grammar);
/* False: the block is full. Two cuts in a row are one. */
bool rf_grammar_cut(struct rf_grammar *grammar);

#endif
