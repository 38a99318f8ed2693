/* dise.c - the paper's section 4 and its figures 3 to 5, step by step.
 *
 *     flags as they are -> which productions match -> most specific with a replacement, most specific with a control
 *                       -> the replacement, or the instruction unimpeded -> the control runs on the counters
 *
 * "HPS simply forwards the current instruction through the decode stage unimpeded, while still permitting local conditional
 * microinstructions" (4.2): a null replacement has no items, and its control runs all the same. A counter's overflow flag is set
 * when it passes its maximum and unset when it is set anew (4.2, below figure 5). */
#include "reference/dise.h"
#include <string.h>

/* --- fields -------------------------------------------------------------------------------------- */

static bool has_letter(const struct rf_insn *insn, const char *letters)
{
    return strpbrk(rf_op_table[insn->op].operands, letters) != NULL;
}

static int64_t plain(uint8_t reg)
{
    return reg == RF_REG_NONE ? 0 : reg;
}

/* False: it has none. */
static bool read_field(const struct rf_insn *insn, uint64_t pc, enum ref_field field,
                       int64_t *value)
{
    switch (field) {
    case REF_OPCODE:
        *value = insn->op;
        return true;
    case REF_PC:
        *value = (int64_t)pc;
        return true;
    case REF_TARGET:
        *value = (int64_t)pc + insn->imm;
        return insn->kind == RF_OP_CLASS_BRANCH || insn->op == RF_OP_jal;
    case REF_RS:
        *value = plain(insn->rs1);
        return has_letter(insn, "sS");
    case REF_RT:
        *value = plain(insn->rs2);
        return has_letter(insn, "tT");
    case REF_RD:
        *value = plain(insn->rd);
        return has_letter(insn, "dD");
    default:
        *value = insn->imm;
        return has_letter(insn, "joqpau><E");
    }
}

static bool is_call(const struct rf_insn *insn)
{
    return insn->kind == RF_OP_CLASS_JUMP && (insn->rd == 1 || insn->rd == 5);
}

static bool is_return(const struct rf_insn *insn)
{
    return insn->op == RF_OP_jalr && !is_call(insn) && (insn->rs1 == 1 || insn->rs1 == 5);
}

static bool is_of(const struct rf_insn *insn, const char *name)
{
    unsigned kind = insn->kind;
    bool load = kind == RF_OP_CLASS_LOAD, store = kind == RF_OP_CLASS_STORE;
    bool atomic = kind == RF_OP_CLASS_ATOMIC;
    if (strcmp(name, "proc_call") == 0)
        return is_call(insn);
    if (strcmp(name, "return") == 0)
        return is_return(insn);
    if (strcmp(name, "jump") == 0)
        return kind == RF_OP_CLASS_JUMP && !is_call(insn) && !is_return(insn);
    if (strcmp(name, "branch") == 0)
        return kind == RF_OP_CLASS_BRANCH;
    if (strcmp(name, "load") == 0)
        return load || atomic;
    if (strcmp(name, "store") == 0)
        return store || atomic;
    if (strcmp(name, "mem_op") == 0)
        return load || store || atomic;
    if (strcmp(name, "multiply") == 0)
        return kind == RF_OP_CLASS_MULTIPLY || kind == RF_OP_CLASS_DIVIDE;
    if (strcmp(name, "float") == 0)
        return kind >= RF_OP_CLASS_FADD && kind <= RF_OP_CLASS_FMOVE;
    if (strcmp(name, "fence") == 0)
        return kind == RF_OP_CLASS_FENCE;
    if (strcmp(name, "system") == 0)
        return kind == RF_OP_CLASS_SYSTEM;
    return strcmp(name, "alu") == 0 && kind == RF_OP_CLASS_ALU;
}

/* --- patterns ------------------------------------------------------------------------------------ */

static bool holds(enum ref_relation relation, int64_t a, int64_t b)
{
    switch (relation) {
    case REF_EQ:
        return a == b;
    case REF_NE:
        return a != b;
    case REF_LT:
        return a < b;
    case REF_LE:
        return a <= b;
    case REF_GT:
        return a > b;
    default:
        return a >= b;
    }
}

bool ref_matches(const struct ref_dise *dise, int index, const struct rf_insn *insn, uint64_t pc)
{
    const struct ref_node *node = &dise->nodes[index];
    int64_t a, b = node->number;
    switch (node->kind) {
    case REF_AND:
        return ref_matches(dise, node->left, insn, pc) && ref_matches(dise, node->right, insn, pc);
    case REF_OR:
        return ref_matches(dise, node->left, insn, pc) || ref_matches(dise, node->right, insn, pc);
    case REF_NOT:
        return !ref_matches(dise, node->left, insn, pc);
    case REF_CLASS:
        return is_of(insn, node->class_name) == node->equal;
    case REF_RELATION:
        return read_field(insn, pc, node->field, &a) && holds(node->relation, a, b);
    case REF_ORDER:
        return read_field(insn, pc, node->field, &a) && read_field(insn, pc, node->other, &b) &&
               holds(node->relation, a, b);
    case REF_OVERFLOW:
        return dise->overflow[node->counter];
    default:
        return dise->zero[node->counter];
    }
}

/* --- counters ------------------------------------------------------------------------------------ */

void ref_set(struct ref_dise *dise, unsigned counter, uint64_t value)
{
    uint64_t values = UINT64_C(1) << dise->bits;
    dise->counters[counter] = value % values;
    dise->overflow[counter] = value / values % 2 == 1;
    dise->zero[counter] = dise->counters[counter] == 0;
}

static void run(struct ref_dise *dise, const struct ref_op *op)
{
    uint64_t last = (UINT64_C(1) << dise->bits) - 1, *counter = &dise->counters[op->counter];
    if (op->micro == REF_SET) {
        ref_set(dise, op->counter, dise->registers[op->reg]);
        return;
    }
    if (op->micro == REF_INC && *counter == last) {
        *counter = 0;
        dise->overflow[op->counter] = true;
    } else if (op->micro == REF_INC) {
        (*counter)++;
    } else {
        *counter = *counter == 0 ? last : *counter - 1;
    }
    dise->zero[op->counter] = *counter == 0;
}

/* --- replacements -------------------------------------------------------------------------------- */

static void put(struct rf_expansion *out, enum rf_put role, struct rf_insn insn)
{
    out->put[out->n] = (uint8_t)role;
    out->insn[out->n++] = insn;
}

static struct rf_insn code(unsigned op, unsigned rd, unsigned rs1, unsigned rs2, int imm)
{
    return (struct rf_insn){.op = (uint8_t)op,
                            .kind = rf_op_table[op].kind,
                            .rd = (uint8_t)rd,
                            .rs1 = (uint8_t)rs1,
                            .rs2 = (uint8_t)rs2,
                            .imm = imm};
}

static unsigned size_of(const struct ref_item *item)
{
    return item->kind == REF_CALL ? 3 : item->kind == REF_CCALL ? 4 : 1;
}

static void put_call(struct rf_expansion *out, const struct ref_item *item, unsigned profile,
                     const struct rf_insn *insn)
{
    enum { N = RF_REG_NONE, A0 = RF_REG_ARGUMENT, A1 };
    bool direct = insn->kind == RF_OP_CLASS_BRANCH || insn->op == RF_OP_jal;
    bool adds = has_letter(insn, "(") && !direct;
    if (item->kind == REF_CCALL)
        put(out, RF_PUT_PASS, code(RF_OP_beq, N, RF_REG_PRIVATE + item->reg, 0, 4));
    put(out, RF_PUT_CODE, code(RF_OP_auipc, A0, N, N, 0));
    if (direct)
        put(out, RF_PUT_CODE, code(RF_OP_auipc, A1, N, N, insn->imm));
    else
        put(out, RF_PUT_CODE, code(RF_OP_addi, A1, adds ? insn->rs1 : 0, N, adds ? insn->imm : 0));
    put(out, RF_PUT_CALL, code(RF_OP_ebreak, N, N, N, (int)(profile << 8 | item->handler)));
}

static void put_item(struct rf_expansion *out, const struct ref_production *production, unsigned i,
                     const struct rf_insn *insn)
{
    const struct ref_item *item = &production->items[i];
    unsigned reg = RF_REG_PRIVATE + item->reg;
    int ahead = 0;
    switch (item->kind) {
    case REF_INSN:
        break;
    case REF_ADDI: /* addi $reg,T.RS,T.IMM */
        put(out, RF_PUT_CODE,
            code(RF_OP_addi, reg, (unsigned)plain(insn->rs1), RF_REG_NONE, insn->imm));
        break;
    case REF_SD: /* sd T.RT,imm(sp) */
        put(out, RF_PUT_CODE,
            code(RF_OP_sd, RF_REG_NONE, 2, (unsigned)plain(insn->rs2), item->imm));
        break;
    case REF_BNE: /* bne $reg,zero,.+imm */
        for (int k = 0; k < item->imm; k++)
            ahead += (int)size_of(&production->items[i + (unsigned)k]);
        put(out, item->likely ? RF_PUT_LIKELY : RF_PUT_SKIP,
            code(RF_OP_bne, RF_REG_NONE, reg, 0, ahead));
        break;
    default:
        put_call(out, item, production->profile, insn);
    }
}

/* --- decode -------------------------------------------------------------------------------------- */

enum table { REPLACEMENTS, CONTROLS };

/* The most specific one of the profile that matches; -1: none; -2: a tie. */
static int find(const struct ref_dise *dise, unsigned profile, enum table table,
                const bool *matching,
                bool (*is_within)(const struct ref_dise *dise, unsigned a, unsigned b))
{
    int best = -1;
    for (unsigned i = 0; i < dise->n_productions; i++) {
        const struct ref_production *production = &dise->productions[i];
        unsigned size = table == REPLACEMENTS ? production->n_items : production->n_ops;
        if (production->profile != profile || size == 0 || !matching[i])
            continue;
        if (best < 0 || is_within(dise, i, (unsigned)best))
            best = (int)i;
        else if (!is_within(dise, (unsigned)best, i))
            return -2;
    }
    return best;
}

/* Where T.INSN is; behind the last item: the instruction is dropped. */
static unsigned own_place(const struct ref_production *production)
{
    unsigned i = 0;
    while (i < production->n_items && production->items[i].kind != REF_INSN)
        i++;
    return i;
}

static void replace(const struct ref_dise *dise, const int *winners, const struct rf_insn *insn,
                    struct rf_expansion *out)
{
    bool any = false;
    for (unsigned p = 0; p < dise->n_profiles; p++) {
        const struct ref_production *production =
            &dise->productions[winners[p] < 0 ? 0 : winners[p]];
        for (unsigned i = 0; winners[p] >= 0 && i < own_place(production); i++)
            put_item(out, production, i, insn);
        any |= winners[p] >= 0 && own_place(production) < production->n_items;
    }
    if (any)
        put(out, RF_PUT_OWN, *insn);
    for (unsigned p = 0; p < dise->n_profiles; p++) {
        const struct ref_production *production =
            &dise->productions[winners[p] < 0 ? 0 : winners[p]];
        for (unsigned i = own_place(production) + 1; winners[p] >= 0 && i < production->n_items;
             i++)
            put_item(out, production, i, insn);
    }
}

bool ref_decode(struct ref_dise *dise, const struct rf_insn *insn, uint64_t pc,
                bool (*is_within)(const struct ref_dise *dise, unsigned a, unsigned b),
                struct rf_expansion *out)
{
    bool matching[REF_PRODUCTIONS];
    int replacement[2] = {-1, -1}, control[2] = {-1, -1};
    out->n = 0;
    for (unsigned i = 0; i < dise->n_productions; i++)
        matching[i] = ref_matches(dise, dise->productions[i].pattern, insn, pc);
    for (unsigned p = 0; p < dise->n_profiles; p++) {
        replacement[p] = find(dise, p, REPLACEMENTS, matching, is_within);
        control[p] = find(dise, p, CONTROLS, matching, is_within);
        if (replacement[p] == -2 || control[p] == -2)
            return false;
    }
    replace(dise, replacement, insn, out);
    for (unsigned p = 0; p < dise->n_profiles; p++)
        for (unsigned i = 0; control[p] >= 0 && i < dise->productions[control[p]].n_ops; i++)
            run(dise, &dise->productions[control[p]].ops[i]);
    return true;
}
