/* records.c - from instructions to records. */
#include "machine/records.h"
#include <string.h>

static enum rf_class class_of_jump(const struct rf_insn *insn)
{
    if (rf_reg_is_link(insn->rd))
        return RF_CLASS_CALL;
    return insn->op == RF_OP_jalr && rf_reg_is_link(insn->rs1) ? RF_CLASS_RETURN : RF_CLASS_JUMP;
}

/* A store-conditional loads nothing, and a load-reserved stores nothing. */
static bool is_conditional(const struct rf_insn *insn)
{
    return insn->op == RF_OP_sc_w || insn->op == RF_OP_sc_d;
}

static bool is_reserving(const struct rf_insn *insn)
{
    return insn->op == RF_OP_lr_w || insn->op == RF_OP_lr_d;
}

uint16_t rf_records_classes(const struct rf_insn *insn)
{
    unsigned classes = 1u << RF_CLASS_INSN;
    switch (insn->kind) {
    case RF_OP_CLASS_LOAD:
        classes |= 1u << RF_CLASS_LOAD;
        break;
    case RF_OP_CLASS_STORE:
        classes |= 1u << RF_CLASS_STORE;
        break;
    case RF_OP_CLASS_ATOMIC:
        classes |= is_conditional(insn) ? 0 : 1u << RF_CLASS_LOAD;
        classes |= is_reserving(insn) ? 0 : 1u << RF_CLASS_STORE;
        break;
    case RF_OP_CLASS_BRANCH:
        classes |= 1u << RF_CLASS_BRANCH;
        break;
    case RF_OP_CLASS_JUMP:
        classes |= 1u << class_of_jump(insn);
        break;
    case RF_OP_CLASS_ALU:
    case RF_OP_CLASS_MULTIPLY:
    case RF_OP_CLASS_DIVIDE:
        classes |= insn->rd != RF_REG_NONE ? 1u << RF_CLASS_ALU : 0;
        break;
    default:
        break;
    }
    return (uint16_t)classes;
}

struct rf_before rf_records_look(const struct rf_core *core, const struct rf_step *step,
                                 struct rf_before before)
{
    unsigned bytes = rf_records_bytes(&step->insn);
    const uint8_t *at = rf_memory_at(&core->memory, before.address, bytes, RF_READ);
    before.looked = (step->classes >> RF_CLASS_STORE & 1) != 0 && at != NULL;
    if (before.looked)
        memcpy(&before.old, at, bytes);
    return before;
}

/* What is being written to. */
struct output {
    struct rf_record *out;
    size_t n;
    uint32_t classes;
};

static void put(struct output *output, enum rf_class class, struct rf_record record)
{
    if ((output->classes >> class & 1) == 0)
        return;
    record.kind = (uint8_t) class;
    output->out[output->n++] = record;
}

static void put_memory(struct output *output, enum rf_class class, const struct rf_step *step,
                       const struct rf_before *before, uint64_t value)
{
    struct rf_record record;
    rf_records_memory(&record, step, class, before->address, value, rf_records_bytes(&step->insn));
    record.target = class == RF_CLASS_STORE && before->looked && record.value == before->old;
    put(output, class, record);
}

/* A store-conditional that fails stores nothing. */
static void put_atomic(struct output *output, const struct rf_core *core,
                       const struct rf_step *step, const struct rf_before *before)
{
    const struct rf_insn *insn = &step->insn;
    uint64_t stored = 0;
    if (!is_conditional(insn))
        put_memory(output, RF_CLASS_LOAD, step, before, core->x[insn->rd]);
    if (is_reserving(insn) || (is_conditional(insn) && core->x[insn->rd] != 0))
        return;
    memcpy(&stored, core->memory.bytes + before->address, rf_records_bytes(insn));
    put_memory(output, RF_CLASS_STORE, step, before, stored);
}

static void put_transfer(struct output *output, const struct rf_step *step, uint64_t next_pc)
{
    const struct rf_insn *insn = &step->insn;
    struct rf_record record = {.pc = step->pc,
                               .target = next_pc,
                               .flags = insn->op == RF_OP_jalr ? RF_RECORD_INDIRECT : 0};
    if (insn->kind == RF_OP_CLASS_BRANCH)
        rf_records_branch(&record, step, next_pc);
    put(output, insn->kind == RF_OP_CLASS_BRANCH ? RF_CLASS_BRANCH : class_of_jump(insn), record);
}

static void put_result(struct output *output, uint64_t value, uint64_t pc)
{
    uint16_t width = (uint16_t)(value == 0 ? 0 : 64 - __builtin_clzll(value));
    put(output, RF_CLASS_ALU, (struct rf_record){.pc = pc, .value = value, .width = width});
}

size_t rf_records_after(const struct rf_core *core, const struct rf_step *step,
                        const struct rf_before *before, uint64_t next_pc, uint32_t classes,
                        struct rf_record *out)
{
    struct output output = {out, 0, classes};
    const struct rf_insn *insn = &step->insn;
    put(&output, RF_CLASS_INSN, (struct rf_record){.pc = step->pc});
    switch (insn->kind) {
    case RF_OP_CLASS_LOAD:
        put_memory(&output, RF_CLASS_LOAD, step, before, core->x[insn->rd]);
        break;
    case RF_OP_CLASS_STORE:
        put_memory(&output, RF_CLASS_STORE, step, before, before->operand);
        break;
    case RF_OP_CLASS_ATOMIC:
        put_atomic(&output, core, step, before);
        break;
    case RF_OP_CLASS_BRANCH:
    case RF_OP_CLASS_JUMP:
        put_transfer(&output, step, next_pc);
        break;
    default:
        if ((step->classes >> RF_CLASS_ALU & 1) != 0)
            put_result(&output, core->x[insn->rd], step->pc);
        break;
    }
    return output.n;
}
