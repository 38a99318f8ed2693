/* drmemtrace.c - what DynamoRIO's drmemtrace prints with -tool view (-simulator_type view in older versions).
 *
 *     Output format:
 *     <--record#-> <--instr#->: <---tid---> <record details>
 *     ------------------------------------------------------------
 *         4     0:  3264 <marker: timestamp 13312570674112282>
 *         5     1:  3264 ifetch       6 byte(s) @ 0x0000000000404a78 0f 84 5b 01 00 00    jz     $0x0000000000404bd9 (untaken)
 *         6     2:  3264 ifetch       8 byte(s) @ 0x0000000000404a7e 48 8b 04 25 00 20 40 mov    0x00402000 -> %rax
 *         6     2:  3264                                             00
 *         7     2:  3264 read         8 byte(s) @ 0x0000000000402000 by PC 0x0000000000404a7e
 *         8     3:  3264 ifetch       1 byte(s) @ 0x0000000000404a86 c3                   ret    (target 0x407bb0)
 *
 * A trace without the bytes of its instructions has words instead: "non-branch", "conditional jump", "indirect call".
 * Older versions print no instr# and a tid such as T3264, newer ones W0.T3264.
 *
 * What an instruction is shows in its first word, for x86-64 and AArch64 in each of DynamoRIO's syntaxes. Where it goes
 * is told by (taken), (untaken) and (target ...) since version 5 of the traces; else by the next instruction of the same
 * thread, or by the marker of a signal that came in between. Other markers are skipped.
 *
 * Cannot: branches of RISC-V; far jumps and returns with authentication (retaa). */
#include "source/import.h"
#include <string.h>

enum {
    WAITING_MAX = RF_IMPORT_THREADS_MAX + 1,
    INDENTED = 20 /* the rest of a long instruction's bytes */
};

struct waiting { /* a transfer of a thread that waits for its target */
    struct rf_record record;
    uint64_t behind; /* the instruction that follows it in memory */
    bool is_there, decided;
};

struct drmemtrace {
    struct rf_import_threads threads;
    struct waiting waiting[WAITING_MAX];
};

static bool starts(const char *text, const char *words)
{
    return strncmp(text, words, strlen(words)) == 0;
}

/* ---- what an instruction is ---- */

/* First words of instructions: drmemtrace's own, and mnemonics. All other j... and b.... are conditional. */
static const struct {
    const char *word;
    uint8_t kind;
} kinds[] = {
    {"conditional", RF_CLASS_BRANCH},
    {"taken", RF_CLASS_BRANCH},
    {"untaken", RF_CLASS_BRANCH},
    {"loop", RF_CLASS_BRANCH},
    {"loope", RF_CLASS_BRANCH},
    {"loopne", RF_CLASS_BRANCH},
    {"cbz", RF_CLASS_BRANCH},
    {"cbnz", RF_CLASS_BRANCH},
    {"tbz", RF_CLASS_BRANCH},
    {"tbnz", RF_CLASS_BRANCH},
    {"jump", RF_CLASS_JUMP},
    {"jmp", RF_CLASS_JUMP},
    {"b", RF_CLASS_JUMP},
    {"br", RF_CLASS_JUMP},
    {"call", RF_CLASS_CALL},
    {"bl", RF_CLASS_CALL},
    {"blr", RF_CLASS_CALL},
    {"return", RF_CLASS_RETURN},
    {"ret", RF_CLASS_RETURN},
};

/* Words before the one that tells. */
static const char *const prefixes[] = {"indirect", "bnd", "notrack", "rep", "repne", "data16"};

static size_t word_length(const char *p)
{
    return strcspn(p, " \t");
}

static bool is_word(const char *p, const char *word)
{
    return word_length(p) == strlen(word) && starts(p, word);
}

static void skip_word(const char **p)
{
    *p += word_length(*p);
    rf_import_skip_blanks(p);
}

/* The bytes of an instruction: pairs of digits on x86-64, one number of eight digits on AArch64. */
static void skip_bytes(const char **p)
{
    size_t digits = strspn(*p, "0123456789abcdef");
    if (digits == 8 && word_length(*p) == digits) {
        skip_word(p);
        return;
    }
    while (strspn(*p, "0123456789abcdef") == 2 && word_length(*p) == 2)
        skip_word(p);
}

static bool is_prefix(const char *p)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (is_word(p, prefixes[i]))
            return true;
    return false;
}

/* RF_CLASS_INSN: no transfer. */
static uint8_t kind_of(const char *word)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (is_word(word, kinds[i].word))
            return kinds[i].kind;
    return word[0] == 'j' || starts(word, "b.") ? RF_CLASS_BRANCH : RF_CLASS_INSN;
}

/* Is there no operand, or is it an address, `$0x12` or `0x12`? A place in memory goes on: `0x12(%rax)`. */
static bool is_direct(const char *operand)
{
    if (*operand == '$' || *operand == '\0')
        return true;
    return starts(operand, "0x") && strspn(operand, "x0123456789abcdef") == word_length(operand);
}

static uint8_t flags_of(const char *what, const char *word, uint8_t kind)
{
    const char *operand = word;
    skip_word(&operand);
    bool indirect =
        starts(what, "indirect ") || strstr(operand, "(target ") != NULL || !is_direct(operand);
    return indirect && (kind == RF_CLASS_JUMP || kind == RF_CLASS_CALL) ? RF_RECORD_INDIRECT : 0;
}

/* ---- where it goes ---- */

static void settle(struct rf_import *import, struct waiting *waiting, uint64_t pc)
{
    if (!waiting->is_there)
        return;
    waiting->record.target = pc;
    if (waiting->record.kind == RF_CLASS_BRANCH && !waiting->decided && pc != waiting->behind)
        waiting->record.flags |= RF_RECORD_TAKEN;
    rf_import_put(import, &waiting->record);
    waiting->is_there = false;
}

/* What the line itself says of a transfer. */
static void decide(struct rf_import *import, struct waiting *waiting, const char *word)
{
    const char *target = strstr(word, "(target ");
    uint64_t pc;
    if (waiting->record.kind == RF_CLASS_BRANCH) {
        bool taken = is_word(word, "taken") || strstr(word, "(taken)") != NULL;
        bool untaken = is_word(word, "untaken") || strstr(word, "(untaken)") != NULL;
        waiting->decided = taken || untaken;
        if (taken)
            waiting->record.flags |= RF_RECORD_TAKEN;
        if (untaken)
            settle(import, waiting, waiting->behind);
    } else if (target != NULL) {
        target += strlen("(target ");
        if (rf_import_hex(&target, &pc))
            settle(import, waiting, pc);
    }
}

static void take_fetch(struct rf_import *import, uint16_t thread, uint64_t pc, uint64_t bytes,
                       const char *what)
{
    struct drmemtrace *trace = rf_import_state(import);
    struct waiting *waiting = &trace->waiting[thread];
    settle(import, waiting, pc);
    rf_import_put(import, &(struct rf_record){.pc = pc, .thread = thread, .kind = RF_CLASS_INSN});
    rf_import_skip_blanks(&what);
    skip_bytes(&what);
    const char *word = what;
    while (is_prefix(word))
        skip_word(&word);
    uint8_t kind = kind_of(word);
    if (kind == RF_CLASS_INSN)
        return;
    *waiting = (struct waiting){.behind = pc + bytes, .is_there = true};
    waiting->record = (struct rf_record){
        .pc = pc, .thread = thread, .kind = kind, .flags = flags_of(what, word, kind)};
    decide(import, waiting, word);
}

/* A signal between a transfer and its target says where the thread would have been. */
static void take_marker(struct rf_import *import, uint16_t thread, const char *p)
{
    struct drmemtrace *trace = rf_import_state(import);
    uint64_t pc;
    if (!starts(p, "<marker: kernel xfer from 0x"))
        return;
    p += strlen("<marker: kernel xfer from ");
    if (rf_import_hex(&p, &pc))
        settle(import, &trace->waiting[thread], pc);
}

/* ---- entries ---- */

/* "8 byte(s) @ 0x7ffe", then the rest of the line. */
static bool scan_access(const char **p, uint64_t *bytes, uint64_t *address)
{
    rf_import_skip_blanks(p);
    if (!rf_import_decimal(p, bytes) || *bytes > UINT16_MAX / 8 || !starts(*p, " byte(s) @ "))
        return false;
    *p += strlen(" byte(s) @ ");
    return rf_import_hex(p, address);
}

static bool take_access(struct rf_import *import, uint16_t thread, const char *p,
                        enum rf_class kind)
{
    uint64_t bytes, address, pc;
    p += word_length(p);
    if (!scan_access(&p, &bytes, &address) || !starts(p, " by PC "))
        return false;
    p += strlen(" by PC ");
    if (!rf_import_hex(&p, &pc) || *p != '\0')
        return false;
    rf_import_put(import, &(struct rf_record){.pc = pc,
                                              .addr = address,
                                              .width = (uint16_t)(8 * bytes),
                                              .thread = thread,
                                              .kind = (uint8_t)kind});
    return true;
}

static bool take_entry(struct rf_import *import, uint16_t thread, const char *p)
{
    uint64_t bytes, address;
    if (is_word(p, "read") || is_word(p, "write"))
        return take_access(import, thread, p, *p == 'r' ? RF_CLASS_LOAD : RF_CLASS_STORE);
    if (is_word(p, "ifetch")) {
        p += word_length(p);
        if (!scan_access(&p, &bytes, &address))
            return false;
        take_fetch(import, thread, address, bytes, p);
        return true;
    }
    if (*p == '<')
        take_marker(import, thread, p);
    return *p == '<' || starts(p, "pref") || is_word(p, "iflush") || is_word(p, "dflush");
}

/* "   9   1:   3264 ", the head of an entry; false: a line of another kind. */
static bool scan_head(const char **p, uint64_t *thread)
{
    uint64_t number, workload = 0;
    rf_import_skip_blanks(p);
    if (!rf_import_decimal(p, &number))
        return false;
    rf_import_skip_blanks(p);
    if ((**p != ':' && !rf_import_decimal(p, &number)) || *(*p)++ != ':')
        return false;
    rf_import_skip_blanks(p);
    if (**p == 'W') {
        ++*p;
        if (!rf_import_decimal(p, &workload) || *(*p)++ != '.')
            return false;
    }
    *p += **p == 'T';
    if (!rf_import_decimal(p, thread) || *(*p)++ != ' ')
        return false;
    *thread |= workload << 32;
    return true;
}

/* The bytes of an instruction that had no room in the line above. */
static bool is_spill(const char *rest)
{
    return strspn(rest, " ") >= INDENTED && rest[strspn(rest, "0123456789abcdef ")] == '\0';
}

static rf_status take(struct rf_import *import, const char *line, size_t n, struct rf_error *error)
{
    struct drmemtrace *trace = rf_import_state(import);
    const char *p = line;
    uint64_t id;
    if (n == 0 || starts(line, "Output format:") || line[0] == '<' || starts(line, "---") ||
        starts(line, "View tool results:") || starts(line, "====") ||
        strstr(line, " : total ") != NULL)
        return RF_OK;
    if (!scan_head(&p, &id))
        return rf_import_refuse(import, "an entry of drmemtrace's view", line, n, error);
    if (is_spill(p))
        return RF_OK;
    rf_import_skip_blanks(&p);
    if (!take_entry(import, rf_import_thread(&trace->threads, id), p))
        return rf_import_refuse(import, "ifetch, read, write or a marker", line, n, error);
    return RF_OK;
}

static const struct rf_import_ops ops = {.name = "drmemtrace",
                                         .unknown = RF_IMPORT_UNTIMED,
                                         .state_size = sizeof(struct drmemtrace),
                                         .take = take};

static bool is_drmemtrace(const struct rf_source_input *input)
{
    return input->n_head == 8 && memcmp(input->head, "Output f", 8) == 0;
}

const struct rf_source_format rf_source_drmemtrace = {
    .name = "drmemtrace", .is = is_drmemtrace, .import = &ops};
