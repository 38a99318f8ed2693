/* csr.c - the few control and status registers that programs see: floating point, and clocks that can only be read. */
#include "machine/core/block.h"

enum { CSR_FFLAGS = 1, CSR_FRM = 2, CSR_FCSR = 3, CSR_CYCLE = 0xc00, CSR_TIME, CSR_INSTRET };

static bool read_csr(const struct rf_core *core, const struct rf_step *step, uint64_t *value)
{
    switch (step->insn.imm) {
    case CSR_FFLAGS:
        *value = rf_fp_flags();
        return true;
    case CSR_FRM:
        *value = core->frm;
        return true;
    case CSR_FCSR:
        *value = (uint64_t)core->frm << 5 | rf_fp_flags();
        return true;
    case CSR_CYCLE:
    case CSR_TIME:
    case CSR_INSTRET: /* the functional core's only clock */
        *value = core->instructions - step->left;
        return true;
    default:
        return false;
    }
}

static bool write_csr(struct rf_core *core, int32_t number, uint64_t value)
{
    if (number == CSR_FFLAGS || number == CSR_FCSR)
        rf_fp_set_flags(value & 31);
    if (number == CSR_FRM)
        core->frm = value & 7;
    if (number == CSR_FCSR)
        core->frm = value >> 5 & 7;
    return number <= CSR_FCSR;
}

/* Setting or clearing with x0 or 0 only reads. */
bool rf_csr_change(struct rf_core *core, const struct rf_step *step, enum rf_csr_change how,
                   uint64_t operand)
{
    uint64_t old, value;
    bool writes = how == RF_CSR_WRITE ||
                  (step->insn.rs1 != RF_REG_NONE ? step->insn.rs1 != 0 : step->insn.rs2 != 0);
    if (!read_csr(core, step, &old))
        return false;
    value = how == RF_CSR_WRITE ? operand : how == RF_CSR_SET ? old | operand : old & ~operand;
    if (writes && !write_csr(core, step->insn.imm, value))
        return false;
    core->x[step->insn.rd] = old;
    return true;
}
