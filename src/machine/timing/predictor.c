/* predictor.c - predict and learn in one call. Both happen at fetch and in program order, as in a core that
 * repairs its history perfectly. */
#include "machine/timing/predictor.h"

/* Counters of two bits: above 1 is taken. */
static bool predict_direction(struct rf_predictor *predictor, uint64_t pc, bool taken)
{
    uint64_t mask = (UINT64_C(1) << predictor->history_bits) - 1;
    uint8_t *counter = &predictor->direction[(pc >> 1 ^ predictor->history) & mask];
    uint8_t before = *counter;
    uint8_t up = (uint8_t)(before + (before < 3)), down = (uint8_t)(before - (before > 0));
    *counter = taken ? up : down;
    predictor->history = (predictor->history << 1 | taken) & mask;
    return before >= 2;
}

static bool target_known(struct rf_predictor *predictor, uint64_t pc, uint64_t target)
{
    struct rf_btb_entry *entry = &predictor->btb[(pc >> 1) & (predictor->btb_entries - 1)];
    bool known = entry->pc == pc && entry->target == target;
    *entry = (struct rf_btb_entry){pc, target};
    return known;
}

static inline void push_return(struct rf_predictor *predictor, uint64_t address)
{
    unsigned next = predictor->ras_top + 1;
    predictor->ras_top = next == predictor->ras_entries ? 0 : next;
    predictor->ras[predictor->ras_top] = address;
}

static uint64_t pop_return(struct rf_predictor *predictor)
{
    uint64_t address = predictor->ras[predictor->ras_top];
    unsigned top = predictor->ras_top;
    predictor->ras_top = (top == 0 ? predictor->ras_entries : top) - 1;
    return address;
}

static enum rf_prediction see_jump(struct rf_predictor *predictor, const struct rf_insn *insn,
                                   uint64_t pc, uint64_t next_pc)
{
    bool returns = insn->op == RF_OP_jalr && rf_reg_is_link(insn->rs1) && !rf_reg_is_link(insn->rd);
    bool right = returns ? pop_return(predictor) == next_pc : target_known(predictor, pc, next_pc);
    if (rf_reg_is_link(insn->rd))
        push_return(predictor, pc + insn->length);
    if (right)
        return RF_PREDICTED;
    return insn->op == RF_OP_jal ? RF_PREDICTED_LATE : RF_MISPREDICTED;
}

enum rf_prediction rf_predictor_see(struct rf_predictor *predictor, const struct rf_insn *insn,
                                    uint64_t pc, uint64_t next_pc)
{
    if (insn->kind == RF_OP_CLASS_JUMP)
        return see_jump(predictor, insn, pc, next_pc);
    bool taken = next_pc != pc + insn->length;
    if (predict_direction(predictor, pc, taken) != taken)
        return RF_MISPREDICTED;
    return !taken || target_known(predictor, pc, next_pc) ? RF_PREDICTED : RF_PREDICTED_LATE;
}

void rf_predictor_push(struct rf_predictor *predictor, uint64_t return_address)
{
    push_return(predictor, return_address);
}
