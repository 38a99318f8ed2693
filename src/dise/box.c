/* box.c - what a pattern matches, as a union of boxes; which of two patterns is the more specific one.
 *
 * A box is what one entry of a hardware pattern table can hold: a mask for each thing that it looks at. Boxes make
 * three questions easy: Does it match? Is it within another box? Do two boxes meet? A pattern with || takes one
 * entry per alternative.
 *
 * Guarantee: a box matches exactly what the text says. When it is said to be within another one, it is; when two are said
 * not to meet, they do not. Both answers compare one pair of boxes at a time, field by field. So a pattern may be more
 * specific than another one without being recognised: where it takes several boxes together to see it, or arithmetic over
 * two fields. Such a pair is refused as a tie. */
#include "dise/box.h"
#include <string.h>

#define BIT(n) (1u << (n))

enum {
    ALWAYS = BIT(RF_DISE_OPCODE) | BIT(RF_DISE_PC), /* every instruction has these */
    ALL_CLASSES = (1 << RF_DISE_CLASSES) - 1,
    TARGETED = BIT(RF_DISE_CALL) | BIT(RF_DISE_JUMP) | BIT(RF_DISE_BRANCH),
    OF_BRANCHES = BIT(RF_DISE_TARGET) | BIT(RF_DISE_RS) | BIT(RF_DISE_RT) | BIT(RF_DISE_IMM),
};

static const struct {
    uint8_t left, right;
} pairs[RF_DISE_PAIRS] = {
    [RF_DISE_PC_TARGET] = {RF_DISE_PC, RF_DISE_TARGET},
    [RF_DISE_RS_RT] = {RF_DISE_RS, RF_DISE_RT},
    [RF_DISE_RS_RD] = {RF_DISE_RS, RF_DISE_RD},
    [RF_DISE_RT_RD] = {RF_DISE_RT, RF_DISE_RD},
};

/* --- instructions ------------------------------------------------------------------------------ */

static enum rf_dise_class class_of_jump(const struct rf_insn *insn)
{
    if (rf_reg_is_link(insn->rd))
        return RF_DISE_CALL;
    return insn->op == RF_OP_jalr && rf_reg_is_link(insn->rs1) ? RF_DISE_RETURN : RF_DISE_JUMP;
}

static const uint8_t classes_of_kinds[RF_OP_CLASS_COUNT] = {
    [RF_OP_CLASS_ALU] = RF_DISE_ALU,         [RF_OP_CLASS_MULTIPLY] = RF_DISE_MULTIPLY,
    [RF_OP_CLASS_DIVIDE] = RF_DISE_MULTIPLY, [RF_OP_CLASS_LOAD] = RF_DISE_LOAD,
    [RF_OP_CLASS_STORE] = RF_DISE_STORE,     [RF_OP_CLASS_ATOMIC] = RF_DISE_ATOMIC,
    [RF_OP_CLASS_BRANCH] = RF_DISE_BRANCH,   [RF_OP_CLASS_JUMP] = RF_DISE_JUMP,
    [RF_OP_CLASS_FADD] = RF_DISE_FLOAT,      [RF_OP_CLASS_FMUL] = RF_DISE_FLOAT,
    [RF_OP_CLASS_FMA] = RF_DISE_FLOAT,       [RF_OP_CLASS_FDIV] = RF_DISE_FLOAT,
    [RF_OP_CLASS_FMOVE] = RF_DISE_FLOAT,     [RF_OP_CLASS_FENCE] = RF_DISE_FENCE,
    [RF_OP_CLASS_SYSTEM] = RF_DISE_SYSTEM,
};

uint32_t rf_dise_classes_of(unsigned op)
{
    if (op == RF_OP_jal)
        return BIT(RF_DISE_CALL) | BIT(RF_DISE_JUMP);
    if (op == RF_OP_jalr)
        return BIT(RF_DISE_CALL) | BIT(RF_DISE_JUMP) | BIT(RF_DISE_RETURN);
    return BIT(classes_of_kinds[rf_op_table[op].kind]);
}

static void put_fact(struct rf_dise_facts *facts, enum rf_dise_field field, int64_t value)
{
    facts->has |= (uint16_t)BIT(field);
    facts->value[field] = value;
}

/* Writes to x0 have no register in the decoded form. */
static int64_t register_value(uint8_t reg)
{
    return reg == RF_REG_NONE ? 0 : reg;
}

static void put_operand(struct rf_dise_facts *facts, const struct rf_insn *insn, char letter)
{
    switch (letter) {
    case 'd':
    case 'D':
        put_fact(facts, RF_DISE_RD, register_value(insn->rd));
        break;
    case 's':
    case 'S':
        put_fact(facts, RF_DISE_RS, register_value(insn->rs1));
        break;
    case 't':
    case 'T':
        put_fact(facts, RF_DISE_RT, register_value(insn->rs2));
        break;
    case 'j':
    case 'o':
    case 'q':
    case 'p':
    case 'a':
    case 'u':
    case '>':
    case '<':
    case 'E':
        put_fact(facts, RF_DISE_IMM, insn->imm);
        break;
    default:
        break;
    }
}

struct rf_dise_facts rf_dise_facts(const struct rf_insn *insn, uint64_t pc)
{
    struct rf_dise_facts facts = {.opclass = classes_of_kinds[insn->kind]};
    if (insn->kind == RF_OP_CLASS_JUMP)
        facts.opclass = (uint8_t)class_of_jump(insn);
    put_fact(&facts, RF_DISE_OPCODE, insn->op);
    put_fact(&facts, RF_DISE_PC, (int64_t)pc);
    if (insn->kind == RF_OP_CLASS_BRANCH || insn->op == RF_OP_jal)
        put_fact(&facts, RF_DISE_TARGET, (int64_t)(pc + (uint64_t)(int64_t)insn->imm));
    for (const char *p = rf_op_table[insn->op].operands; *p != '\0'; p++)
        put_operand(&facts, insn, *p);
    return facts;
}

/* --- one box ------------------------------------------------------------------------------------ */

struct rf_dise_box rf_dise_box_all(void)
{
    struct rf_dise_box box = {.classes = ALL_CLASSES};
    memset(box.order, RF_DISE_ANY_ORDER, sizeof box.order);
    for (unsigned i = 0; i < RF_DISE_FIELDS; i++)
        box.range[i] = (struct rf_dise_range){INT64_MIN, INT64_MAX};
    return box;
}

static unsigned order_of(int64_t a, int64_t b)
{
    return a < b ? RF_DISE_LESS : a == b ? RF_DISE_EQUAL : RF_DISE_MORE;
}

static bool has_both(unsigned has, unsigned pair)
{
    return (has >> pairs[pair].left & has >> pairs[pair].right & 1) != 0;
}

bool rf_dise_box_matches(const struct rf_dise_box *box, const struct rf_dise_facts *facts)
{
    if ((box->classes >> facts->opclass & 1) == 0 || (facts->has & box->has) != box->has ||
        (facts->has & box->lacks) != 0)
        return false;
    for (unsigned i = 0; i < RF_DISE_FIELDS; i++)
        if ((facts->has >> i & 1) != 0 &&
            (facts->value[i] < box->range[i].lo || facts->value[i] > box->range[i].hi))
            return false;
    for (unsigned i = 0; i < RF_DISE_PAIRS; i++)
        if (has_both(facts->has, i) &&
            (box->order[i] & order_of(facts->value[pairs[i].left], facts->value[pairs[i].right])) ==
                0)
            return false;
    return true;
}

/* Fields that all instructions of the box have, whether or not the pattern asks for them. */
static unsigned implied_by(const struct rf_dise_box *box)
{
    return box->has | ALWAYS | (box->classes == BIT(RF_DISE_BRANCH) ? OF_BRANCHES : 0);
}

bool rf_dise_box_within(const struct rf_dise_box *inner, const struct rf_dise_box *outer)
{
    unsigned has = implied_by(inner);
    if ((inner->classes & ~outer->classes) != 0 || (outer->has & ~has) != 0 ||
        (outer->lacks & ~inner->lacks) != 0 || (outer->set & ~inner->set) != 0 ||
        (outer->clear & ~inner->clear) != 0)
        return false;
    for (unsigned i = 0; i < RF_DISE_FIELDS; i++)
        if (inner->range[i].lo < outer->range[i].lo || inner->range[i].hi > outer->range[i].hi)
            return false;
    for (unsigned i = 0; i < RF_DISE_PAIRS; i++)
        if ((inner->order[i] & ~outer->order[i]) != 0)
            return false;
    return true;
}

/* Classes that have an opcode in the box's range. */
static uint32_t classes_of_range(struct rf_dise_range range)
{
    uint32_t classes = 0;
    if ((range.lo == INT64_MIN && range.hi == INT64_MAX) || range.lo >= RF_DISE_X86)
        return ALL_CLASSES; /* an instruction of x86-64 may be several things */
    for (unsigned op = 0; op < RF_OP_COUNT; op++)
        if (op >= range.lo && op <= range.hi)
            classes |= rf_dise_classes_of(op);
    return classes;
}

bool rf_dise_box_tidy(struct rf_dise_box *box)
{
    box->classes &= classes_of_range(box->range[RF_DISE_OPCODE]);
    if ((box->has & BIT(RF_DISE_TARGET)) != 0)
        box->classes &= TARGETED;
    if (box->classes == 0 || (implied_by(box) & box->lacks) != 0 || (box->set & box->clear) != 0)
        return false;
    for (unsigned i = 0; i < RF_DISE_FIELDS; i++)
        if (box->range[i].lo > box->range[i].hi)
            return false;
    for (unsigned i = 0; i < RF_DISE_PAIRS; i++)
        if (box->order[i] == 0)
            return false;
    return true;
}

bool rf_dise_box_meet(struct rf_dise_box *out, const struct rf_dise_box *a,
                      const struct rf_dise_box *b)
{
    struct rf_dise_box box = {
        .classes = a->classes & b->classes,
        .has = a->has | b->has,
        .lacks = a->lacks | b->lacks,
        .set = a->set | b->set,
        .clear = a->clear | b->clear,
    };
    for (unsigned i = 0; i < RF_DISE_FIELDS; i++) {
        struct rf_dise_range p = a->range[i], q = b->range[i];
        box.range[i] = (struct rf_dise_range){p.lo > q.lo ? p.lo : q.lo, p.hi < q.hi ? p.hi : q.hi};
    }
    for (unsigned i = 0; i < RF_DISE_PAIRS; i++)
        box.order[i] = a->order[i] & b->order[i];
    *out = box;
    return rf_dise_box_tidy(out);
}

bool rf_dise_box_meets(const struct rf_dise_box *a, const struct rf_dise_box *b)
{
    struct rf_dise_box both;
    return rf_dise_box_meet(&both, a, b);
}

/* --- unions ------------------------------------------------------------------------------------- */

/* Do they differ in their classes only? Then one entry serves both. */
static bool differ_in_class(const struct rf_dise_box *a, const struct rf_dise_box *b)
{
    struct rf_dise_box same = *a;
    same.classes = b->classes;
    return rf_dise_box_within(&same, b) && rf_dise_box_within(b, &same) && same.has == b->has;
}

bool rf_dise_set_add(struct rf_dise_set *set, const struct rf_dise_box *box)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < set->n; i++)
        if (differ_in_class(&set->boxes[i], box)) {
            set->boxes[i].classes |= box->classes;
            return true;
        }
    for (unsigned i = 0; i < set->n; i++)
        if (rf_dise_box_within(box, &set->boxes[i]))
            return true;
    for (unsigned i = 0; i < set->n; i++)
        if (!rf_dise_box_within(&set->boxes[i], box))
            set->boxes[kept++] = set->boxes[i];
    set->n = kept;
    if (set->n == RF_DISE_BOXES_EACH)
        return false;
    set->boxes[set->n++] = *box;
    return true;
}

bool rf_dise_set_join(struct rf_dise_set *set, const struct rf_dise_set *other)
{
    for (unsigned i = 0; i < other->n; i++)
        if (!rf_dise_set_add(set, &other->boxes[i]))
            return false;
    return true;
}

bool rf_dise_set_meet(struct rf_dise_set *set, const struct rf_dise_set *other)
{
    struct rf_dise_set both = {.n = 0};
    struct rf_dise_box box;
    for (unsigned i = 0; i < set->n; i++)
        for (unsigned j = 0; j < other->n; j++)
            if (rf_dise_box_meet(&box, &set->boxes[i], &other->boxes[j]) &&
                !rf_dise_set_add(&both, &box))
                return false;
    *set = both;
    return true;
}

bool rf_dise_is_within(const struct rf_dise_program *program,
                       const struct rf_dise_production *inner,
                       const struct rf_dise_production *outer)
{
    for (unsigned i = 0; i < inner->n_boxes; i++) {
        const struct rf_dise_box *box = &program->boxes[inner->first_box + i];
        unsigned j = 0;
        while (j < outer->n_boxes &&
               !rf_dise_box_within(box, &program->boxes[outer->first_box + j]))
            j++;
        if (j == outer->n_boxes)
            return false;
    }
    return true;
}

uint32_t rf_dise_flags_used(const struct rf_dise_program *program)
{
    uint32_t flags = 0;
    for (unsigned i = 0; i < program->n_boxes; i++)
        flags |= program->boxes[i].set | program->boxes[i].clear;
    return flags;
}
