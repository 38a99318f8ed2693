/* dise.h - DISE with conditional control as the paper's figures 2 to 5 have it, instruction by instruction:
 * patterns are trees that are evaluated anew each time, tables are lists that are gone through. */
#ifndef RF_TESTS_REFERENCE_DISE_H
#define RF_TESTS_REFERENCE_DISE_H

#include "machine/core/expand.h"

enum ref_node_kind {
    REF_AND,
    REF_OR,
    REF_NOT,
    REF_CLASS,
    REF_RELATION,
    REF_ORDER,
    REF_OVERFLOW,
    REF_ZERO
};
enum ref_field { REF_OPCODE, REF_PC, REF_TARGET, REF_RS, REF_RT, REF_RD, REF_IMM };
enum ref_relation { REF_EQ, REF_NE, REF_LT, REF_LE, REF_GT, REF_GE };

/* A pattern. */
struct ref_node {
    enum ref_node_kind kind;
    int left, right;             /* of AND, OR and NOT: nodes */
    const char *class_name;      /* of CLASS */
    bool equal;                  /* of CLASS: == */
    enum ref_field field, other; /* of RELATION and ORDER */
    enum ref_relation relation;
    int64_t number;
    unsigned counter; /* of OVERFLOW and ZERO */
};

enum ref_item_kind { REF_INSN, REF_ADDI, REF_SD, REF_BNE, REF_CALL, REF_CCALL };
enum { REF_ITEMS = 8, REF_OPS = 3, REF_PRODUCTIONS = 12, REF_NODES = 256, REF_COUNTERS = 4 };

struct ref_item {
    enum ref_item_kind kind;
    unsigned reg;     /* private */
    unsigned handler; /* of CALL and CCALL */
    int imm;          /* of SD; of BNE: items ahead */
    bool likely;      /* of BNE */
};

struct ref_op {
    enum { REF_INC, REF_DEC, REF_SET } micro;
    unsigned counter, reg;
};

struct ref_production {
    unsigned profile;
    int pattern, parent; /* a node; the production that this one narrows, -1: none */
    unsigned n_items, n_ops;
    struct ref_item items[REF_ITEMS]; /* none: null */
    struct ref_op ops[REF_OPS];
};

struct ref_dise {
    unsigned n_profiles, n_nodes, n_productions, bits;
    struct ref_node nodes[REF_NODES];
    struct ref_production productions[REF_PRODUCTIONS];
    uint64_t counters[REF_COUNTERS],
        registers[REF_COUNTERS]; /* of the first profile, then the next */
    bool overflow[REF_COUNTERS], zero[REF_COUNTERS];
};

bool ref_matches(const struct ref_dise *dise, int node, const struct rf_insn *insn, uint64_t pc);
void ref_set(struct ref_dise *dise, unsigned counter, uint64_t value);

/* One instruction through decode: what comes out of it, and the counters run. `is_within` says whether
 * production a matches only what b does. Returns false if two productions tie. */
bool ref_decode(struct ref_dise *dise, const struct rf_insn *insn, uint64_t pc,
                bool (*is_within)(const struct ref_dise *dise, unsigned a, unsigned b),
                struct rf_expansion *out);

#endif
