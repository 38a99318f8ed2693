/* instantiate.c - the instantiation logic: directives become fields of the matched instruction.
 *
 *     profile 1:  a b T.INSN c          profile 2:  d T.INSN e           both:  a b d T.INSN c e
 *
 * A call becomes the call itself, behind instructions that put its two arguments into registers: T.PC, and where the
 * matched instruction goes or what it accesses. The second one may take an addition: where a jump through a register goes
 * is known when it runs, not when it is decoded. */
#include "dise/instantiate.h"
#include <assert.h>

static void put(struct rf_expansion *out, enum rf_put role, const struct rf_insn *insn)
{
    assert(out->n < RF_EXPAND_MAX);
    out->put[out->n] = (uint8_t)role;
    out->insn[out->n++] = *insn;
}

/* A source that the instruction does not have reads as 0. */
static uint8_t source(uint8_t reg)
{
    return reg == RF_REG_NONE ? 0 : reg;
}

static uint8_t part_of(const struct rf_insn *insn, uint8_t part, uint8_t literal, bool written)
{
    switch (part) {
    case RF_DISE_PART_RS:
        return written && insn->rs1 == 0 ? RF_REG_NONE : written ? insn->rs1 : source(insn->rs1);
    case RF_DISE_PART_RT:
        return written && insn->rs2 == 0 ? RF_REG_NONE : written ? insn->rs2 : source(insn->rs2);
    case RF_DISE_PART_RD:
        return written ? insn->rd : source(insn->rd);
    default:
        return literal;
    }
}

static struct rf_insn fill_in(const struct rf_dise_item *item, const struct rf_insn *insn)
{
    struct rf_insn made = item->insn;
    made.rd = part_of(insn, item->rd, made.rd, true);
    made.rs1 = part_of(insn, item->rs1, made.rs1, false);
    made.rs2 = part_of(insn, item->rs2, made.rs2, false);
    if (item->imm == RF_DISE_PART_IMM)
        made.imm = insn->imm;
    return made;
}

static struct rf_insn make(uint8_t op, uint8_t rd, uint8_t rs1, int32_t imm)
{
    return (struct rf_insn){.op = op,
                            .kind = RF_OP_CLASS_ALU,
                            .length = 4,
                            .rd = rd,
                            .rs1 = rs1,
                            .rs2 = RF_REG_NONE,
                            .rs3 = RF_REG_NONE,
                            .imm = imm};
}

/* Where it goes, or what it accesses. */
static struct rf_insn second_argument(const struct rf_insn *insn)
{
    if (insn->kind == RF_OP_CLASS_BRANCH || insn->op == RF_OP_jal)
        return make(RF_OP_auipc, RF_REG_ARGUMENT + 1, RF_REG_NONE, insn->imm);
    bool adds = insn->op == RF_OP_jalr || insn->kind == RF_OP_CLASS_LOAD ||
                insn->kind == RF_OP_CLASS_STORE || insn->kind == RF_OP_CLASS_ATOMIC;
    return adds ? make(RF_OP_addi, RF_REG_ARGUMENT + 1, source(insn->rs1), insn->imm)
                : make(RF_OP_addi, RF_REG_ARGUMENT + 1, 0, 0);
}

static void put_call(const struct rf_dise_item *item, unsigned profile, const struct rf_insn *insn,
                     struct rf_expansion *out)
{
    const struct rf_insn first = make(RF_OP_auipc, RF_REG_ARGUMENT, RF_REG_NONE, 0);
    const struct rf_insn second = second_argument(insn);
    const struct rf_insn call =
        make(RF_OP_ebreak, RF_REG_NONE, RF_REG_NONE, rf_dise_call_number(profile, item->handler));
    if (item->if_set != RF_REG_NONE) {
        struct rf_insn guard = make(RF_OP_beq, RF_REG_NONE, item->if_set, RF_DISE_ARGUMENTS + 2);
        guard.rs2 = 0;
        put(out, RF_PUT_PASS, &guard);
    }
    put(out, RF_PUT_CODE, &first);
    put(out, RF_PUT_CODE, &second);
    put(out, RF_PUT_CALL, &call);
}

static void put_item(const struct rf_dise_item *item, unsigned profile, const struct rf_insn *insn,
                     struct rf_expansion *out)
{
    struct rf_insn made = item->insn;
    if (item->kind == RF_DISE_HANDLER) {
        put_call(item, profile, insn, out);
        return;
    }
    made = fill_in(item, insn);
    enum rf_put branch = item->likely ? RF_PUT_LIKELY : RF_PUT_SKIP;
    put(out, made.kind == RF_OP_CLASS_BRANCH ? branch : RF_PUT_CODE, &made);
}

/* Items `from` to `to`. A skip over items skips all that these items became. */
static void put_items(const struct rf_dise_program *program,
                      const struct rf_dise_sequence *sequence, unsigned from, unsigned to,
                      const struct rf_insn *insn, struct rf_expansion *out)
{
    unsigned at[RF_EXPAND_MAX + 1];
    assert(to - from <= RF_EXPAND_MAX);
    for (unsigned i = from; i < to; i++) {
        at[i - from] = out->n;
        put_item(&program->items[sequence->first + i], sequence->profile, insn, out);
    }
    at[to - from] = out->n;
    for (unsigned i = from; i < to; i++) {
        struct rf_insn *made = &out->insn[at[i - from]];
        if (out->put[at[i - from]] == RF_PUT_SKIP || out->put[at[i - from]] == RF_PUT_LIKELY)
            made->imm = (int32_t)(at[i - from + (unsigned)made->imm] - at[i - from]);
    }
}

void rf_dise_instantiate(const struct rf_dise_program *program, const int *sequences, unsigned n,
                         const struct rf_insn *insn, struct rf_expansion *out)
{
    bool runs = false;
    for (unsigned i = 0; i < n; i++) {
        const struct rf_dise_sequence *sequence = &program->sequences[sequences[i]];
        runs |= sequence->original >= 0;
        put_items(program, sequence, 0,
                  sequence->original >= 0 ? (unsigned)sequence->original : sequence->n, insn, out);
    }
    if (!runs)
        return;
    put(out, RF_PUT_OWN, insn);
    for (unsigned i = 0; i < n; i++) {
        const struct rf_dise_sequence *sequence = &program->sequences[sequences[i]];
        put_items(program, sequence, (unsigned)sequence->original + 1, sequence->n, insn, out);
    }
}
