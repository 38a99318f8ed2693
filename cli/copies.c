/* copies.c - two copies of each function that has hooks, one with them and one without, in assembler text.
 *
 * Between bursts a program should run as if it had no hooks. So each function is there twice, and at its beginning and in its
 * loops it asks which copy is to run. (Arnold and Ryder, "A Framework for Reducing the Cost of Instrumented Code"; Hirzel and
 * Chilimbi, "Bursty Tracing". They do it in a compiler.) In assembler it is simple: a call of a hook may change every register
 * that a call may change, so no code relies on those. Without the call the same code is right, too. Registers and stack are the same
 * in both copies at each place, and one may go from one copy to the other anywhere.
 *
 *     f:    left--, below 0? ----> gate .------> f with hooks
 *           code without hooks     |    |        call hook; code
 *     L:    left--, below 0? ------'    '-->  L: stay--, below 0? ---> gate ---> L without hooks
 *           jump L                               jump L
 *
 *     left   intervals until the next burst; negative in a burst           stay   intervals that are left of the burst
 *
 * Both are counters of the thread (hooks/gate.c). An interval ends at the beginning of a function and at a label to which the program
 * jumps back, as in the probe. What reaches a label by an address (a table of a switch, a computed goto, cold code that lies
 * elsewhere) comes to the copy with hooks, which sends it to the other one between bursts.
 *
 * The copy with hooks keeps the labels' names, so debug information is about that one. Lines are told for both.
 *
 * A function stays as it is where it has something that is not known here: code written in assembler, tables in its
 * code, clean-up for exceptions, no unwind tables. So does code that must run in a shared library: the counters are the program's.
 * And so does a file with resolvers of functions (ifunc): those run before a static program has thread-local variables. */
#include "copies.h"
#include "grown.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_FUNCTION = 0, FOLLOW_MAX = 4 };

struct word {
    const char *at;
    size_t n;
};

enum place { CODE, DATA, DEBUG };

struct line {
    struct word text;
    uint32_t function; /* whose code it is; NO_FUNCTION: of none that is copied */
    uint8_t place;     /* enum place */
};

struct label {
    struct word name;
    size_t line;
    uint32_t function;
    bool is_loop;    /* it is jumped back to */
    bool is_outside; /* its address is used */
};

struct file {
    struct line *lines;
    size_t n_lines;
    struct label *labels; /* a hash table, open */
    size_t room;
    uint32_t n_functions, n_points;
    struct cli_grown out;
};

/* ---- words of a line ---- */

static bool is(struct word word, const char *text)
{
    return word.n == strlen(text) && memcmp(word.at, text, word.n) == 0;
}

static bool begins(struct word word, const char *text)
{
    size_t n = strlen(text);
    return word.n >= n && memcmp(word.at, text, n) == 0;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_in_name(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || c == '$';
}

/* The next word of a line up to a space or a comma; *rest is what follows. Empty: there is none, or a comment. */
static struct word next_word(struct word *rest)
{
    while (rest->n > 0 && (is_space(*rest->at) || *rest->at == ','))
        rest->at++, rest->n--;
    struct word word = {rest->at, 0};
    while (word.n < rest->n && !is_space(word.at[word.n]) && word.at[word.n] != ',')
        word.n++;
    if (word.n > 0 && word.at[0] == '#')
        word.n = rest->n = 0;
    rest->at += word.n;
    rest->n -= word.n;
    return word;
}

/* The next name that begins with ".L" in the line; n is 0: there is none. */
static struct word next_label(struct word *rest)
{
    for (; rest->n > 1; rest->at++, rest->n--) {
        if (*rest->at == '#')
            break;
        if (rest->at[0] != '.' || rest->at[1] != 'L')
            continue;
        struct word name = {rest->at, 0};
        while (name.n < rest->n && is_in_name(name.at[name.n]))
            name.n++;
        rest->at += name.n;
        rest->n -= name.n;
        return name;
    }
    return (struct word){NULL, 0};
}

/* The name that the line defines; n is 0: none. */
static struct word defined_by(struct word text)
{
    struct word name = {text.at, 0};
    while (name.n < text.n && is_in_name(text.at[name.n]))
        name.n++;
    if (name.n == text.n || text.at[name.n] != ':')
        name.n = 0;
    return name;
}

static bool is_local(struct word name)
{
    return begins(name, ".L");
}

static struct word first_word(struct word text)
{
    return next_word(&text);
}

/* Neither empty, nor a comment, a label or a directive. */
static bool is_instruction(struct word text)
{
    struct word first = first_word(text);
    return text.n > 0 && is_space(text.at[0]) && first.n > 0 && first.at[0] != '.';
}

static bool is_hook(struct word text)
{
    static const char *const names[] = {
        "__tsan_read",       "__tsan_write",     "__tsan_unaligned_", "__tsan_volatile",
        "__tsan_func_entry", "__tsan_func_exit", "__tsan_vptr_",      NULL};
    struct word call = next_word(&text), name = next_word(&text);
    if (!is(call, "call") && !is(call, "callq"))
        return false;
    for (size_t i = 0; names[i] != NULL; i++)
        if (begins(name, names[i]))
            return true;
    return false;
}

/* ---- labels ---- */

static struct label *find(const struct file *file, struct word name)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < name.n; i++)
        hash = (hash ^ (unsigned char)name.at[i]) * 1099511628211u;
    size_t at = (size_t)(hash >> 20) & (file->room - 1);
    for (; file->labels[at].name.n > 0; at = (at + 1) & (file->room - 1)) {
        const struct word *other = &file->labels[at].name;
        if (other->n == name.n && memcmp(other->at, name.at, name.n) == 0)
            break;
    }
    return &file->labels[at];
}

static void define_labels(struct file *file)
{
    for (size_t i = 0; i < file->n_lines; i++) {
        struct word name = defined_by(file->lines[i].text);
        if (is_local(name) && file->lines[i].function != NO_FUNCTION)
            *find(file, name) =
                (struct label){.name = name, .line = i, .function = file->lines[i].function};
    }
}

/* A jump to a label, whose name is set. */
static bool is_jump(struct word text, struct word *to)
{
    struct word rest = text, first = next_word(&rest);
    *to = next_word(&rest);
    return is_instruction(text) && first.n > 0 && first.at[0] == 'j' && is_local(*to);
}

static void see_use(struct file *file, size_t i, struct label *label, bool jumps)
{
    if (label->name.n == 0)
        return;
    if (!jumps || label->function != file->lines[i].function)
        label->is_outside = true;
    else if (label->line <= i)
        label->is_loop = true;
}

static void use_labels(struct file *file)
{
    for (size_t i = 0; i < file->n_lines; i++) {
        const struct line *line = &file->lines[i];
        struct word rest = line->text, name;
        bool jumps = is_jump(line->text, &name) && line->function != NO_FUNCTION;
        bool silent = line->place == DEBUG || defined_by(line->text).n > 0 ||
                      (line->function != NO_FUNCTION && !is_instruction(line->text));
        while (!silent && (name = next_label(&rest)).n > 0)
            see_use(file, i, find(file, name), jumps);
    }
}

/* ---- functions ---- */

static bool is_section(struct word first)
{
    return is(first, ".text") || is(first, ".section") || is(first, ".data") || is(first, ".bss") ||
           is(first, ".previous") || is(first, ".pushsection") || is(first, ".popsection");
}

static bool has(struct word text, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= text.n; i++)
        if (memcmp(text.at + i, part, n) == 0)
            return true;
    return false;
}

static enum place place_of(struct word directive)
{
    if (has(directive, ".debug") || has(directive, ".gcc_except") || has(directive, ".eh_frame"))
        return DEBUG;
    return has(directive, ".text") ? CODE : DATA;
}

/* The same section, however its attributes are told: by its name. */
static bool is_same_section(struct word left, struct word right)
{
    struct word a = next_word(&left), b = next_word(&right);
    if (is(a, ".section"))
        a = next_word(&left);
    if (is(b, ".section"))
        b = next_word(&right);
    return a.n == b.n && memcmp(a.at, b.at, a.n) == 0;
}

static void place_lines(struct file *file)
{
    enum place place = CODE;
    for (size_t i = 0; i < file->n_lines; i++) {
        struct word first = first_word(file->lines[i].text);
        if (is_section(first))
            place = place_of(file->lines[i].text);
        file->lines[i].place = (uint8_t)place;
    }
}

/* In the code of a function: may this line be copied? */
static bool is_known(struct word text)
{
    static const char *const directives[] = {".loc",  ".file",    ".p2align", ".size",
                                             ".text", ".section", NULL};
    struct word first = first_word(text), name = defined_by(text);
    if (begins(text, "#APP") || begins(first, ".cfi_lsda") || begins(first, ".cfi_personality"))
        return false;
    if (name.n > 0)
        return is_local(name);
    if (first.n == 0 || first.at[0] != '.' || begins(first, ".cfi_"))
        return true;
    for (size_t i = 0; directives[i] != NULL; i++)
        if (is(first, directives[i]))
            return true;
    return false;
}

/* The lines from `begin` to `end` are the code of a function, but for other sections in between. */
static bool mark_code(struct file *file, size_t begin, size_t end, struct word section)
{
    bool hooks = false, away = false;
    uint32_t number = file->n_functions + 1;
    for (size_t i = begin; i < end; i++) {
        struct line *line = &file->lines[i];
        struct word first = first_word(line->text);
        if (is_section(first)) {
            away = !is_same_section(line->text, section);
            continue;
        }
        if (away)
            continue;
        if (!is_known(line->text))
            return false;
        hooks |= is_hook(line->text);
        line->function = number;
    }
    return hooks && !away;
}

static void mark_function(struct file *file, size_t begin, size_t end, struct word section)
{
    if (mark_code(file, begin, end, section)) {
        file->n_functions++;
        return;
    }
    for (size_t i = begin; i < end; i++)
        file->lines[i].function = NO_FUNCTION;
}

/* From .cfi_startproc to .cfi_endproc is a function's code, if a label stands in front that is none of the compiler's own. */
static void find_functions(struct file *file)
{
    static const char text[] = "\t.text";
    struct word section = {text, sizeof text - 1};
    size_t begin = 0;
    for (size_t i = 0; i < file->n_lines; i++) {
        struct word line = file->lines[i].text, first = first_word(line);
        if (is_section(first) && begin == 0)
            section = line;
        else if (is(first, ".cfi_startproc"))
            begin = place_of(section) == CODE ? i + 1 : 0;
        else if (is(first, ".cfi_endproc") && begin > 0) {
            mark_function(file, begin, i, section);
            begin = 0;
        }
    }
}

/* ---- are the flags used? ---- */

static bool is_one_of(struct word word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (is(word, *words))
            return true;
    return false;
}

static bool begins_one_of(struct word word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (begins(word, *words))
            return true;
    return false;
}

static bool uses_flags(struct word name)
{
    static const char *const names[] = {"j",   "set", "cmov",  "adc", "sbb",  "lahf", "pushf",
                                        "rcl", "rcr", "fcmov", "cmc", "loop", NULL};
    return begins_one_of(name, names);
}

/* All of them that anybody looks at; and nobody looks at them across calls. */
static bool sets_flags(struct word name)
{
    static const char *const names[] = {
        "cmp",    "cmpb",    "cmpw",     "cmpl",    "cmpq",    "test",     "testb",   "testw",
        "testl",  "testq",   "addb",     "addw",    "addl",    "addq",     "subb",    "subw",
        "subl",   "subq",    "andb",     "andw",    "andl",    "andq",     "orb",     "orw",
        "orl",    "orq",     "xorb",     "xorw",    "xorl",    "xorq",     "negb",    "negw",
        "negl",   "negq",    "call",     "callq",   "ret",     "retq",     "ucomiss", "comiss",
        "comisd", "ucomisd", "vucomiss", "vcomiss", "vcomisd", "vucomisd", NULL};
    return is_one_of(name, names);
}

/* Does nobody need the flags as they are at this line? */
static bool are_flags_free(const struct file *file, size_t i, int depth)
{
    for (uint32_t function = file->lines[i].function; i < file->n_lines; i++) {
        struct word text = file->lines[i].text, name = first_word(text), to;
        if (file->lines[i].function != function || !is_instruction(text))
            continue;
        bool jumps = is_jump(text, &to);
        if (is(name, "jmp") && jumps && depth < FOLLOW_MAX && find(file, to)->function == function)
            return are_flags_free(file, find(file, to)->line, depth + 1);
        if (uses_flags(name))
            return false;
        if (sets_flags(name))
            return true;
    }
    return false;
}

/* ---- the new text ---- */

#define say(file, ...) cli_grown_say(&(file)->out, __VA_ARGS__)

static void put(struct file *file, struct word text)
{
    cli_grown_put(&file->out, text.at, text.n);
}

static void put_line(struct file *file, struct word text)
{
    put(file, text);
    put(file, (struct word){"\n", 1});
}

#define LEFT  "%%fs:rf_hooks_left@tpoff"
#define STAY  "%%fs:rf_hooks_stay@tpoff"
#define PLAIN "_rfp" /* behind the names of labels without hooks */

/* In the copy without hooks; the rest of it comes with put_gate. */
static void put_plain_point(struct file *file, uint32_t point)
{
    say(file, "\tdecq\t" LEFT "\n\tjs\t.Lrfa%u\n.Lrfp%u:\n", point, point);
}

static void put_hooked_point(struct file *file, uint32_t point)
{
    say(file, "\tdecq\t" STAY "\n\tjs\t.Lrfb%u\n.Lrfh%u:\n", point, point);
}

/* From the copy without hooks (a) and from the one with them (b). */
static void put_gate(struct file *file, uint32_t point, bool loops)
{
    say(file, ".Lrfa%u:\n\tdecq\t" STAY "\n\tjns\t.Lrfh%u\n", point, point);
    if (loops)
        say(file, "\tjmp\t.Lrfg%u\n.Lrfb%u:\n\tcmpq\t$0, " LEFT "\n\tjns\t.Lrfp%u\n.Lrfg%u:\n",
            point, point, point, point);
    say(file, "\tcall\trf_hooks_gate\n\tcmpq\t$0, " LEFT "\n\tjs\t.Lrfh%u\n\tjmp\t.Lrfp%u\n", point,
        point);
}

/* A label at which the copy is chosen; its points are numbered in the order of the lines. */
static bool is_point(const struct file *file, const struct label *label)
{
    return label->is_loop && are_flags_free(file, label->line, 0);
}

static const struct label *label_at(const struct file *file, size_t i)
{
    struct word name = defined_by(file->lines[i].text);
    return is_local(name) ? find(file, name) : NULL;
}

static void put_plain_line(struct file *file, size_t i)
{
    struct word text = file->lines[i].text, first = first_word(text), to;
    const struct label *label = label_at(file, i);
    if (label != NULL) {
        put(file, label->name);
        say(file, PLAIN ":\n");
    } else if (is_jump(text, &to) && find(file, to)->function == file->lines[i].function) {
        put(file, (struct word){text.at, (size_t)(to.at - text.at) + to.n});
        say(file, PLAIN "\n");
    } else if (is(first, ".loc")) {
        size_t n = 0;
        while (n < text.n && !(begins((struct word){text.at + n, text.n - n}, " view ")))
            n++;
        put_line(file, (struct word){text.at, n});
    } else if (!is_hook(text) && !is(first, ".size")) {
        put_line(file, text);
    }
}

static void put_plain(struct file *file, size_t begin, size_t end, uint32_t point)
{
    bool entered = false;
    for (size_t i = begin; i < end; i++) {
        if (file->lines[i].function == NO_FUNCTION)
            continue;
        const struct label *label = label_at(file, i);
        bool is_first = is_instruction(file->lines[i].text) ||
                        (label != NULL && (label->is_loop || label->is_outside));
        if (!entered && is_first && !is(first_word(file->lines[i].text), "endbr64")) {
            put_plain_point(file, point++);
            entered = true;
        }
        put_plain_line(file, i);
        if (label != NULL && is_point(file, label))
            put_plain_point(file, point++);
    }
}

static void put_hooked(struct file *file, size_t begin, size_t end, uint32_t point)
{
    say(file, ".Lrfh%u:\n", point++);
    for (size_t i = begin; i < end; i++) {
        const struct label *label =
            file->lines[i].function != NO_FUNCTION ? label_at(file, i) : NULL;
        if (file->lines[i].function == NO_FUNCTION || !is(first_word(file->lines[i].text), ".file"))
            put_line(file, file->lines[i].text);
        if (label != NULL && label->is_outside && are_flags_free(file, i, 0)) {
            say(file, "\tcmpq\t$0, " LEFT "\n\tjns\t");
            put(file, label->name);
            say(file, PLAIN "\n");
        }
        if (label != NULL && is_point(file, label))
            put_hooked_point(file, point++);
    }
}

/* Both copies, and between them the ways from one to the other. */
static void put_function(struct file *file, size_t begin, size_t end)
{
    uint32_t first = file->n_points, n = 1;
    for (size_t i = begin; i < end; i++)
        n += file->lines[i].function != NO_FUNCTION && label_at(file, i) != NULL &&
             is_point(file, label_at(file, i));
    file->n_points += n;
    put_plain(file, begin, end, first);
    for (uint32_t i = 0; i < n; i++)
        put_gate(file, first + i, i > 0);
    say(file, "\t.cfi_endproc\n");
    put_line(file, file->lines[begin - 1].text);
    put_hooked(file, begin, end, first);
}

static void put_all(struct file *file)
{
    for (size_t i = 0; i < file->n_lines; i++) {
        size_t end = i;
        if (i > 0 && is(first_word(file->lines[i - 1].text), ".cfi_startproc")) {
            bool copied = false;
            while (end < file->n_lines && !is(first_word(file->lines[end].text), ".cfi_endproc"))
                copied |= file->lines[end++].function != NO_FUNCTION;
            if (copied)
                put_function(file, i, end);
            else
                end = i;
        }
        if (end < file->n_lines)
            put_line(file, file->lines[end].text);
        i = end;
    }
}

/* ---- reading ---- */

static bool split(struct file *file, const char *text, size_t n)
{
    size_t lines = 1;
    for (size_t i = 0; i < n; i++)
        lines += text[i] == '\n';
    for (file->room = 64; file->room < 2 * lines;)
        file->room *= 2;
    file->lines = calloc(lines, sizeof *file->lines);
    file->labels = calloc(file->room, sizeof *file->labels);
    for (size_t i = 0; file->lines != NULL && i < n;) {
        const char *end = memchr(text + i, '\n', n - i);
        size_t length = end != NULL ? (size_t)(end - (text + i)) : n - i;
        file->lines[file->n_lines++].text = (struct word){text + i, length};
        i += length + 1;
    }
    return file->lines != NULL && file->labels != NULL;
}

char *cli_copies(const char *text, size_t n, size_t *size)
{
    struct file file = {.lines = NULL};
    struct word all = {text, n};
    bool is_left = has(all, ".intel_syntax") || has(all, "@gnu_indirect_function");
    bool good = !is_left && split(&file, text, n);
    if (good) {
        place_lines(&file);
        find_functions(&file);
    }
    if (good && file.n_functions > 0) {
        define_labels(&file);
        use_labels(&file);
        put_all(&file);
    }
    free(file.lines);
    free(file.labels);
    *size = file.out.n;
    if (!file.out.failed && file.out.n > 0)
        return file.out.at;
    free(file.out.at);
    return NULL;
}
