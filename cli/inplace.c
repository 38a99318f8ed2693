/* inplace.c - what hooks usually do, in place of their calls, in assembler text.
 *
 * Where a compiler calls a hook, it relies on no register that a call may change, nor on the flags. So other code may stand there that
 * changes those. Such a load puts its value into the pocket of its place (hooks/pocket.c), and needs no call:
 *
 *         wanted at all? -- no -----------------------------------------------.
 *         from here on the kernel may send us to (*)                          |
 *      .- the thread's pocket of this site; is there one, with room? -- no -. |
 *      |  store the value                                                   | |
 *      '- add 8: it is told  -----------------------------------------------|-|
 *         (*) call rf_hooks_load_2_8 <--------------------------------------' |
 *         <-------------------------------------------------------------------'
 *
 * The C library decides where a thread keeps its sequence (__rseq_offset). Above %fs that is the same for all programs, so it is a number
 * in the code: if it were loaded, the processor could not know early where the store goes. The
 * run-time compares, and a program that meets another library has to be built again. Where compilers are run with a library that has
 * no sequences, or keeps them below %fs, where the place depends on the program, there is no such code, and loads are told by calls.
 *
 * Resolvers of functions (ifunc) run before the program has thread-local variables. The first test keeps them from those.
 *
 * The call stays where it was, so a place has the address that it would have otherwise, and all that this code
 * cannot do is done by the call. Stores, ranges and functions get a test whether they are wanted. __tsan_func_exit does nothing and is left out.
 *
 * Names end in the number of this protocol (hooks/inplace.h): code that does not fit the run-time cannot be linked with it. */
#include "inplace.h"
#include "../hooks/inplace.h"
#include "grown.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the C library since 2.35. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

struct text {
    struct cli_grown out;
    unsigned n_hooks;
};

#define put(to, at, n) cli_grown_put(&(to)->out, at, n)
#define say(to, ...)   cli_grown_say(&(to)->out, __VA_ARGS__)

/* ---- which hook a line calls ---- */

enum kind { NO_HOOK, LOAD, LOAD_RANGE, SOME_LOAD, STORE, ENTRY, EXIT };

struct hook {
    enum kind kind;
    unsigned bytes; /* of LOAD and LOAD_RANGE */
};

static bool take(const char **at, const char *end, const char *part)
{
    size_t n = strlen(part);
    if ((size_t)(end - *at) < n || memcmp(*at, part, n) != 0)
        return false;
    *at += n;
    return true;
}

static bool take_spaces(const char **at, const char *end)
{
    const char *start = *at;
    while (*at < end && (**at == ' ' || **at == '\t'))
        ++*at;
    return *at > start;
}

static bool has(const char *text, size_t n, const char *part)
{
    return memmem(text, n, part, strlen(part)) != NULL;
}

/* Nothing but what both compilers write behind a hook's name. */
static bool is_end(const char *at, const char *end)
{
    take(&at, end, "@PLT");
    take_spaces(&at, end);
    return at == end || *at == '#';
}

/* `bytes`: the second argument, 0: not known. */
static struct hook access_at(const char *at, const char *end, unsigned bytes)
{
    static const char *const names[] = {"16", "1", "2", "4", "8"};
    static const unsigned widths[] = {16, 1, 2, 4, 8};
    take(&at, end, "unaligned_");
    take(&at, end, "volatile_");
    bool reads = take(&at, end, "read");
    if (!reads && !take(&at, end, "write"))
        return (struct hook){NO_HOOK, 0};
    if (take(&at, end, "_range"))
        return (struct hook){!is_end(at, end) ? NO_HOOK
                             : !reads         ? STORE
                             : bytes > 0      ? LOAD_RANGE
                                              : SOME_LOAD,
                             bytes};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        if (take(&at, end, names[i]))
            return (struct hook){!is_end(at, end) ? NO_HOOK : reads ? LOAD : STORE, widths[i]};
    return (struct hook){NO_HOOK, 0};
}

static struct hook hook_of(const char *at, const char *end, unsigned bytes)
{
    bool calls = take_spaces(&at, end) && (take(&at, end, "callq") || take(&at, end, "call")) &&
                 take_spaces(&at, end) && take(&at, end, "__tsan_");
    if (!calls)
        return (struct hook){NO_HOOK, 0};
    if (take(&at, end, "func_entry"))
        return (struct hook){is_end(at, end) ? ENTRY : NO_HOOK, 0};
    if (take(&at, end, "func_exit"))
        return (struct hook){is_end(at, end) ? EXIT : NO_HOOK, 0};
    return access_at(at, end, bytes);
}

/* A label that is there for debuggers alone: nothing jumps to it. clang's .LBB0_1 is no such. */
static bool is_quiet(const char *at, const char *end)
{
    static const char *const names[] = {".LVL", ".LBI", ".LBE", ".Ltmp"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (take(&at, end, names[i]))
            return true;
    return take(&at, end, ".LBB") && memchr(at, '_', (size_t)(end - at)) == NULL;
}

/* A range of 4 or at least 8 bytes is an access that may lie anywhere, or of a structure. Compilers write its length right in front of the call:
 *
 *         movl $4, %esi
 *         call __tsan_read_range
 *
 * The second argument behind this line, if it was `bytes` in front of it; 0: not known. */
static unsigned argument_after(const char *at, const char *end, unsigned bytes)
{
    enum { WIDEST = 4095 };                                     /* that is told as it is */
    static const char *const names[] = {"%rsi", "%esi", "%si"}; /* also %sil */
    if (at < end && *at != '\t' && *at != ' ')
        return is_quiet(at, end) ? bytes : 0;
    if (take_spaces(&at, end) && take(&at, end, "movl\t$")) {
        char *rest;
        unsigned long number = strtoul(at, &rest, 10);
        const char *behind = rest;
        if (behind > at && behind < end && take(&behind, end, ", %esi") && is_end(behind, end))
            return number == 4 || (number >= 8 && number <= WIDEST) ? (unsigned)number : 0;
    }
    if (at < end && (*at == 'j' || has(at, (size_t)(end - at), "call")))
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (has(at, (size_t)(end - at), names[i]))
            return 0;
    return bytes;
}

/* ---- what stands there instead ---- */

/* 0: the C library asks for no sequences. */
static int sequence_offset(void)
{
    return &__rseq_size != NULL && &__rseq_offset != NULL && __rseq_size > 0 && __rseq_offset > 0
               ? (int)__rseq_offset + RF_INPLACE_SEQUENCE
               : 0;
}

/* A site (hooks/inplace.h) belongs to the section of its code: linkers leave out both, or none. */
static void put_site(struct text *to, unsigned n)
{
    say(to,
        "\t.pushsection\trf_hooks_sites, \"awo?\", @progbits, .Lrfis%u\n"
        "\t.balign\t32\n"
        ".Lrfid%u:\n"
        "\t.long\t0, 0\n"
        "\t.quad\t.Lrfis%u, .Lrfie%u-.Lrfis%u, .Lrfia%u\n"
        "\t.popsection\n",
        n, n, n, n, n, n);
}

/* %rdi has the address of the load. The call finds the site's in %rcx. */
static void put_load(struct text *to, struct hook hook, unsigned n)
{
    unsigned bytes = hook.bytes;
    const char *value = bytes == 1   ? "movzbl\t(%rdi), %r8d"
                        : bytes == 2 ? "movzwl\t(%rdi), %r8d"
                        : bytes == 4 ? "movl\t(%rdi), %r8d"
                                     : "movq\t(%rdi), %r8";
    say(to,
        "\tmovq\t%%fs:rf_hooks_pockets_2@tpoff, %%rax\n"
        "\tleaq\t.Lrfid%u(%%rip), %%rcx\n"
        "\tmovq\t%%rcx, %%fs:%d\n"
        ".Lrfis%u:\n"
        "\tmovq\t(%%rax,%%rcx), %%rdx\n"
        "\ttestq\t%%rdx, %%rdx\n"
        "\tje\t.Lrfic%u\n"
        "\tmovl\t(%%rdx), %%esi\n"
        "\tandl\t$%d, %%esi\n"
        "\tje\t.Lrfic%u\n",
        n, sequence_offset(), n, n, RF_INPLACE_MASK, n);
    say(to,
        "\t%s\n"
        "\tmovq\t%%r8, (%%rdx,%%rsi)\n"
        "\taddl\t$8, (%%rdx)\n"
        ".Lrfie%u:\n"
        "\tjmp\t.Lrfib%u\n"
        "\t.byte\t0x0f, 0xb9, 0x3d\n" /* with the signature, an instruction that nobody runs: ud1 */
        "\t.long\t%d\n"
        ".Lrfia%u:\n"
        ".Lrfic%u:\n",
        value, n, n, RF_INPLACE_SIGNATURE, n, n);
    if (hook.kind == LOAD)
        say(to, "\tcall\trf_hooks_load_2_%u\n", bytes);
    else
        say(to, "\tmovl\t$%u, %%esi\n\tcall\trf_hooks_load_range_2\n", bytes);
    put_site(to, n);
}

static void put_hook(struct text *to, struct hook hook, const char *line, size_t length)
{
    static const int wanted[] = {[LOAD] = RF_INPLACE_LOADS,
                                 [LOAD_RANGE] = RF_INPLACE_LOADS,
                                 [SOME_LOAD] = RF_INPLACE_LOADS,
                                 [STORE] = RF_INPLACE_STORES,
                                 [ENTRY] = RF_INPLACE_CALLS};
    unsigned n = to->n_hooks++;
    if (hook.kind == EXIT)
        return;
    bool is_load = (hook.kind == LOAD || hook.kind == LOAD_RANGE) && sequence_offset() != 0;
    say(to, "\tcmpb\t$0, rf_hooks_wanted_2+%d(%%rip)\n\tje\t.Lrfib%u\n", wanted[hook.kind], n);
    if (is_load) {
        put_load(to, hook, n);
    } else {
        put(to, line, length);
        say(to, "\n");
    }
    say(to, ".Lrfib%u:\n", n);
}

char *cli_inplace(const char *text, size_t n, size_t *size)
{
    struct text to = {.n_hooks = 0};
    unsigned argument = 0;
    *size = 0;
    if (has(text, n, ".intel_syntax"))
        return NULL;
    for (const char *line = text, *end = text + n, *next; line < end; line = next + 1) {
        next = memchr(line, '\n', (size_t)(end - line));
        next = next != NULL ? next : end;
        struct hook hook = hook_of(line, next, argument);
        argument = argument_after(line, next, argument);
        if (hook.kind != NO_HOOK) {
            put_hook(&to, hook, line, (size_t)(next - line));
        } else {
            put(&to, line, (size_t)(next - line));
            put(&to, "\n", 1);
        }
    }
    if (to.n_hooks > 0 && sequence_offset() != 0)
        say(&to,
            "\t.pushsection\trf_hooks_rseq, \"aR\", "
            "@progbits\n\t.balign\t4\n\t.long\t%d\n\t.popsection\n",
            sequence_offset());
    *size = to.out.n;
    if (!to.out.failed && to.n_hooks > 0)
        return to.out.at;
    free(to.out.at);
    return NULL;
}
