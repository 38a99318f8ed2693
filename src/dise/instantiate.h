/* instantiate.h - from entries of the replacement table and a matched instruction to a sequence. */
#ifndef RF_DISE_INSTANTIATE_H
#define RF_DISE_INSTANTIATE_H

#include "dise/production.h"
#include "machine/core/expand.h"

/* The sequences, n of them and each of another profile, joined around the one T.INSN. */
void rf_dise_instantiate(const struct rf_dise_program *program, const int *sequences, unsigned n,
                         const struct rf_insn *insn, struct rf_expansion *out);

/* What a call tells the machine: the handler, and who called it. */
static inline int32_t rf_dise_call_number(unsigned profile, unsigned handler)
{
    return (int32_t)(profile << 8 | handler);
}

#endif
