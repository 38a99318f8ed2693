/* inplace.c - what hooks usually do, in place of their calls, in assembler text.
 *
 * Where a compiler calls a hook, it relies on no register that a call may change, nor on the flags. So other code may stand there that
 * changes those. Such a load, with a table of words that come often (hooks/hooks.h), needs no call:
 *
 *         wanted at all? -- no --------------------------------------------------.
 *         thread's lane; busy? -- yes --> call __tsan_read8                      |
 *         busy; value, entry of place and value         |                        |
 *         the same? -- no --> call rf_hooks_other_1_8   |                        |
 *         count++; not busy          |                  |                        |
 *         <--------------------------+------------------+------------------------'
 *
 * Resolvers of functions (ifunc) run before the program has thread-local variables. The first test keeps them from the lane.
 *
 * The call of the hook stays where it was, so a place has the address that it would have otherwise, and all that this code
 * cannot do is done by the hook. Stores, ranges and functions get a test whether they are wanted. __tsan_func_exit does nothing and is left out.
 *
 * Names end in the number of this protocol (hooks/inplace.h): code that does not fit the run-time cannot be linked with it. */
#include "inplace.h"
#include "../hooks/inplace.h"
#include "grown.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    struct cli_grown out;
    unsigned n_hooks;
};

#define put(to, at, n) cli_grown_put(&(to)->out, at, n)
#define say(to, ...)   cli_grown_say(&(to)->out, __VA_ARGS__)

/* ---- which hook a line calls ---- */

enum kind { NO_HOOK, LOAD, SOME_LOAD, STORE, ENTRY, EXIT };

struct hook {
    enum kind kind;
    unsigned bytes; /* of LOAD */
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

/* Nothing but what both compilers write behind a hook's name. */
static bool is_end(const char *at, const char *end)
{
    take(&at, end, "@PLT");
    take_spaces(&at, end);
    return at == end || *at == '#';
}

static struct hook access_at(const char *at, const char *end)
{
    static const char *const widths[] = {"16", "1", "2", "4", "8"};
    static const unsigned bytes[] = {16, 1, 2, 4, 8};
    take(&at, end, "unaligned_");
    take(&at, end, "volatile_");
    bool reads = take(&at, end, "read");
    if (!reads && !take(&at, end, "write"))
        return (struct hook){NO_HOOK, 0};
    if (take(&at, end, "_range"))
        return (struct hook){!is_end(at, end) ? NO_HOOK : reads ? SOME_LOAD : STORE, 0};
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++)
        if (take(&at, end, widths[i]))
            return (struct hook){!is_end(at, end) ? NO_HOOK : reads ? LOAD : STORE, bytes[i]};
    return (struct hook){NO_HOOK, 0};
}

static struct hook hook_of(const char *at, const char *end)
{
    bool calls = take_spaces(&at, end) && (take(&at, end, "callq") || take(&at, end, "call")) &&
                 take_spaces(&at, end) && take(&at, end, "__tsan_");
    if (!calls)
        return (struct hook){NO_HOOK, 0};
    if (take(&at, end, "func_entry"))
        return (struct hook){is_end(at, end) ? ENTRY : NO_HOOK, 0};
    if (take(&at, end, "func_exit"))
        return (struct hook){is_end(at, end) ? EXIT : NO_HOOK, 0};
    return access_at(at, end);
}

/* ---- what stands there instead ---- */

/* %rdi has the address. The value is in %r8, the place in %rdx, the entry in %rcx: as rf_hooks_other_1_8 wants them. */
static void put_load(struct text *to, unsigned bytes, unsigned n)
{
    const char *value = bytes == 1   ? "movzbl\t(%rdi), %r8d"
                        : bytes == 2 ? "movzwl\t(%rdi), %r8d"
                        : bytes == 4 ? "movl\t(%rdi), %r8d"
                                     : "movq\t(%rdi), %r8";
    say(to,
        "\tmovq\t%%fs:rf_hooks_merging_1@tpoff, %%rax\n"
        "\tcmpq\t$0, %d(%%rax)\n"
        "\tjne\t.Lrfic%u\n"
        "\tmovq\t%%rsp, %d(%%rax)\n"
        "\t%s\n"
        "\tleaq\t.Lrfib%u(%%rip), %%rdx\n"
        "\tmovl\t%%edx, %%ecx\n"
        "\tcrc32q\t%%r8, %%rcx\n"
        "\tandl\t$%d, %%ecx\n"
        "\taddq\t%d(%%rax), %%rcx\n",
        RF_INPLACE_BUSY, n, RF_INPLACE_BUSY, value, n, RF_INPLACE_MASK, RF_INPLACE_WORDS);
    say(to,
        "\tcmpq\t%%rdx, %d(%%rcx)\n"
        "\tjne\t.Lrfio%u\n"
        "\tcmpq\t%%r8, %d(%%rcx)\n"
        "\tjne\t.Lrfio%u\n"
        "\tincq\t%d(%%rcx)\n"
        "\tmovq\t$0, %d(%%rax)\n"
        "\tjmp\t.Lrfib%u\n"
        ".Lrfio%u:\n"
        "\tcall\trf_hooks_other_1_%u\n"
        "\tjmp\t.Lrfib%u\n"
        ".Lrfic%u:\n",
        RF_INPLACE_KEY, n, RF_INPLACE_WORD, n, RF_INPLACE_COUNT, RF_INPLACE_BUSY, n, n, bytes, n,
        n);
}

static void put_hook(struct text *to, struct hook hook, const char *line, size_t length)
{
    static const int wanted[] = {[LOAD] = RF_INPLACE_LOADS,
                                 [SOME_LOAD] = RF_INPLACE_LOADS,
                                 [STORE] = RF_INPLACE_STORES,
                                 [ENTRY] = RF_INPLACE_CALLS};
    unsigned n = to->n_hooks++;
    if (hook.kind == EXIT)
        return;
    say(to, "\tcmpb\t$0, rf_hooks_wanted_1+%d(%%rip)\n\tje\t.Lrfib%u\n", wanted[hook.kind], n);
    if (hook.kind == LOAD)
        put_load(to, hook.bytes, n);
    put(to, line, length);
    say(to, "\n.Lrfib%u:\n", n);
}

static bool has(const char *text, size_t n, const char *part)
{
    return memmem(text, n, part, strlen(part)) != NULL;
}

char *cli_inplace(const char *text, size_t n, size_t *size)
{
    struct text to = {.n_hooks = 0};
    *size = 0;
    if (has(text, n, ".intel_syntax"))
        return NULL;
    for (const char *line = text, *end = text + n, *next; line < end; line = next + 1) {
        next = memchr(line, '\n', (size_t)(end - line));
        next = next != NULL ? next : end;
        struct hook hook = hook_of(line, next);
        if (hook.kind != NO_HOOK) {
            put_hook(&to, hook, line, (size_t)(next - line));
        } else {
            put(&to, line, (size_t)(next - line));
            put(&to, "\n", 1);
        }
    }
    *size = to.out.n;
    if (!to.out.failed && to.n_hooks > 0)
        return to.out.at;
    free(to.out.at);
    return NULL;
}
