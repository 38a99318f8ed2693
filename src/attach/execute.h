/* execute.h - run one instruction of another process here, on copies of its registers.
 *
 *     rf_execute_open(&execute, &error);
 *     code = rf_execute_add(execute, slot, bytes, n, RF_EXECUTE_WIDE);     once per instruction
 *     execute->data->registers[0] = ...;  rf_execute_run(execute, code);   as often as wanted
 *
 * The caller has all signals blocked while it runs something: the stack pointer is not its own then. The instruction has
 * been looked at (amd64.h): it accesses no memory but data->operand, which it addresses by RF_EXECUTE_OPERAND, goes
 * nowhere, and raises no exception. One thread at a time. */
#ifndef RF_ATTACH_EXECUTE_H
#define RF_ATTACH_EXECUTE_H

#include <riffle/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RF_EXECUTE_SLOTS = 8192,      /* instructions that are kept */
    RF_EXECUTE_CODE = 20,         /* bytes of one */
    RF_EXECUTE_OPERAND_MAX = 64,  /* bytes of an operand in memory */
    RF_EXECUTE_STATE_MAX = 16384, /* bytes of the vector and floating-point registers */
};

enum rf_execute_kind {
    RF_EXECUTE_PLAIN, /* it uses general registers alone */
    RF_EXECUTE_WIDE,  /* vector and floating-point registers, too */
};

/* The assembler code knows this layout. */
struct rf_execute_data {
    uint64_t
        registers[16]; /* by their numbers in instructions: rax, rcx, rdx, rbx, rsp, rbp, ... */
    uint64_t flags;
    uint64_t host_stack, code, mask;
    uint64_t reserved[4];
    unsigned char operand[RF_EXECUTE_OPERAND_MAX];
    unsigned char room[3840];
    unsigned char host[RF_EXECUTE_STATE_MAX];
    unsigned char state[RF_EXECUTE_STATE_MAX]; /* as PTRACE_GETREGSET gives it, NT_X86_XSTATE */
};

struct rf_execute {
    struct rf_execute_data *data;
    unsigned char *begin;    /* of what can be executed */
    unsigned char *writable; /* the same memory, to be written */
};

rf_status rf_execute_open(struct rf_execute *execute, struct rf_error *error);
void rf_execute_close(struct rf_execute *execute); /* zeroed is fine */

/* An instruction of at most RF_EXECUTE_CODE bytes into a slot. Its 32-bit displacement at `at` (0: it has none) becomes
 * that of the operand. */
void rf_execute_add(struct rf_execute *execute, size_t slot, const unsigned char *bytes, size_t n,
                    size_t at, enum rf_execute_kind kind);
void rf_execute_run(struct rf_execute *execute, size_t slot, enum rf_execute_kind kind);

/* No exception of floating-point arithmetic is raised: the state was just read. */
void rf_execute_mask_exceptions(struct rf_execute *execute);

#endif
