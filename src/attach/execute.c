/* execute.c - run one instruction of another process here.
 *
 * To know what an instruction does, let a processor do it. Its general registers are loaded from a copy, it runs, they are
 * stored; where it uses vectors or floating-point numbers, that state is loaded and stored, too. Memory is never touched
 * but for one operand, whose bytes the caller puts in place before and takes afterwards. So every instruction that
 * computes means exactly what it means in the program, and none of them had to be written down here.
 *
 *     begin   + 0        enter: save ours, load theirs, jump to the slot       may be executed
 *             + 0x1000   struct rf_execute_data                               may be written
 *             + 0x10000  slots of 32 bytes: the instruction, jump to leave     may be executed
 *
 * All addresses are relative to the instruction pointer, so there is no register that the instruction could not have. What
 * is executable is mapped a second time, elsewhere, to be written.
 *
 * Cost: about 20 ns, or 0.3 us where the wide state goes along. Cannot: instructions that access memory in other ways
 * than by one explicit operand; step.c has those that matter. */
#include "attach/execute.h"
#include "base/error.h"
#include <cpuid.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    ENTER_AT = 0,
    DATA_AT = 0x1000,
    SLOTS_AT = 0x10000,
    SLOT = 32,
    SIZE = SLOTS_AT + RF_EXECUTE_SLOTS * SLOT,
};
_Static_assert(sizeof(struct rf_execute_data) == 4096 + 2 * RF_EXECUTE_STATE_MAX, "layout");
_Static_assert(DATA_AT + sizeof(struct rf_execute_data) <= SLOTS_AT, "layout");
_Static_assert(offsetof(struct rf_execute_data, host) == 4096, "layout");

/* x87, SSE, AVX and AVX-512 */
#define STATE_MASK 0xe7

/* clang-format off */
#define AT(offset) ".Lexecute + 0x1000 + " #offset "(%rip)"
#define EACH(op) \
    op("%rax", 0) op("%rcx", 8) op("%rdx", 16) op("%rbx", 24) op("%rbp", 40) op("%rsi", 48) op("%rdi", 56) op("%r8", 64) \
    op("%r9", 72) op("%r10", 80) op("%r11", 88) op("%r12", 96) op("%r13", 104) op("%r14", 112) op("%r15", 120) op("%rsp", 32)
#define LOAD(name, offset) "movq " AT(offset) ", " name "\n"
#define STORE(name, offset) "movq " name ", " AT(offset) "\n"
#define SAVE_OURS "pushq %rbx\npushq %rbp\npushq %r12\npushq %r13\npushq %r14\npushq %r15\nmovq %rsp, " AT(136) "\n"
#define MASK "movl " AT(152) ", %eax\nxorl %edx, %edx\n"
#define LOAD_THEIRS "pushq " AT(128) "\npopfq\n" EACH(LOAD) "jmp *" AT(144) "\n"
#define STORE_THEIRS EACH(STORE) "movq " AT(136) ", %rsp\npushfq\npopq " AT(128) "\ncld\n"
#define RESTORE_OURS "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbp\npopq %rbx\nret\n"

__asm__(".pushsection .rodata\n.balign 64\n"
        ".hidden rf_execute_plain_enter\n.globl rf_execute_plain_enter\n"
        ".hidden rf_execute_plain_leave\n.globl rf_execute_plain_leave\n"
        ".hidden rf_execute_wide_enter\n.globl rf_execute_wide_enter\n"
        ".hidden rf_execute_wide_leave\n.globl rf_execute_wide_leave\n"
        ".hidden rf_execute_end\n.globl rf_execute_end\n"
        ".Lexecute:\n"
        "rf_execute_plain_enter:\n" SAVE_OURS LOAD_THEIRS
        "rf_execute_plain_leave:\n" STORE_THEIRS RESTORE_OURS
        "rf_execute_wide_enter:\n" SAVE_OURS MASK
        "xsave64 " AT(4096) "\nxrstor64 " AT(20480) "\n" LOAD_THEIRS
        "rf_execute_wide_leave:\n" STORE_THEIRS MASK
        "xsave64 " AT(20480) "\nxrstor64 " AT(4096) "\n" RESTORE_OURS
        "rf_execute_end:\n.popsection\n");
/* clang-format on */

extern const unsigned char rf_execute_plain_enter[], rf_execute_plain_leave[],
    rf_execute_wide_enter[], rf_execute_wide_leave[], rf_execute_end[];

/* ---- memory ---- */

static bool has_xsave(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_OSXSAVE) != 0;
}

static uint64_t enabled_state(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

/* What may be executed, and the same to be written. */
static bool map_twice(struct rf_execute *execute, int fd)
{
    void *begin = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *writable = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    execute->begin = begin != MAP_FAILED ? begin : NULL;
    execute->writable = writable != MAP_FAILED ? writable : NULL;
    if (execute->begin == NULL || execute->writable == NULL)
        return false;
    execute->data = (void *)(execute->begin + DATA_AT);
    return mmap(begin, SIZE, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED &&
           mmap(execute->data, SLOTS_AT - DATA_AT, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

rf_status rf_execute_open(struct rf_execute *execute, struct rf_error *error)
{
    *execute = (struct rf_execute){NULL, NULL, NULL};
    if (!has_xsave())
        return rf_fail(error, RF_ENOTSUP, "this processor is too old: it lacks XSAVE");
    int fd = memfd_create("riffle-execute", MFD_CLOEXEC);
    bool mapped = fd >= 0 && ftruncate(fd, SIZE) == 0 && map_twice(execute, fd);
    int reason = errno;
    if (fd >= 0)
        close(fd);
    if (!mapped) {
        rf_execute_close(execute);
        return rf_fail(error, RF_ENOTSUP, "cannot make memory for code: %s", strerror(reason));
    }
    memcpy(execute->writable + ENTER_AT, rf_execute_plain_enter,
           (uintptr_t)rf_execute_end - (uintptr_t)rf_execute_plain_enter);
    execute->data->mask = STATE_MASK & enabled_state();
    return RF_OK;
}

void rf_execute_close(struct rf_execute *execute)
{
    if (execute->begin != NULL)
        munmap(execute->begin, SIZE);
    if (execute->writable != NULL)
        munmap(execute->writable, SIZE);
    *execute = (struct rf_execute){NULL, NULL, NULL};
}

/* ---- slots ---- */

static unsigned char *place_of(const struct rf_execute *execute, const unsigned char *label)
{
    return execute->begin + ENTER_AT + (label - rf_execute_plain_enter);
}

/* A displacement from the end of an instruction. */
static void put_distance(unsigned char *to, const unsigned char *from, const void *target)
{
    int32_t distance = (int32_t)((const unsigned char *)target - from);
    memcpy(to, &distance, sizeof distance);
}

void rf_execute_add(struct rf_execute *execute, size_t slot, const unsigned char *bytes, size_t n,
                    size_t at, enum rf_execute_kind kind)
{
    const unsigned char *leave =
        kind == RF_EXECUTE_WIDE ? rf_execute_wide_leave : rf_execute_plain_leave;
    const size_t offset = SLOTS_AT + slot * SLOT;
    const unsigned char *runs = execute->begin + offset;
    unsigned char code[SLOT];
    memset(code, 0xcc, sizeof code);
    memcpy(code, bytes, n);
    if (at > 0 && at < n)
        put_distance(code + at, runs + n, execute->data->operand);
    code[n] = 0xe9; /* jmp */
    put_distance(code + n + 1, runs + n + 5, place_of(execute, leave));
    memcpy(execute->writable + offset, code, sizeof code);
}

void rf_execute_run(struct rf_execute *execute, size_t slot, enum rf_execute_kind kind)
{
    const unsigned char *enter =
        kind == RF_EXECUTE_WIDE ? rf_execute_wide_enter : rf_execute_plain_enter;
    void (*run)(void);
    void *place = place_of(execute, enter);
    memcpy(&run, &place, sizeof run);
    execute->data->code = (uint64_t)(uintptr_t)(execute->begin + SLOTS_AT + slot * SLOT);
    run();
}

void rf_execute_mask_exceptions(struct rf_execute *execute)
{
    uint16_t control;
    uint32_t mxcsr;
    memcpy(&control, execute->data->state, sizeof control);
    memcpy(&mxcsr, execute->data->state + 24, sizeof mxcsr);
    control |= 0x3f;
    mxcsr |= 0x1f80;
    memcpy(execute->data->state, &control, sizeof control);
    memcpy(execute->data->state + 24, &mxcsr, sizeof mxcsr);
}
