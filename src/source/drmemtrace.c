/* drmemtrace.c - what DynamoRIO's drmemtrace prints with -simulator_type view (or -tool view).
 *
 *     Output format:
 *     <--record#-> <--instr#->: <---tid---> <record details>
 *     ------------------------------------------------------------
 *         5     1:  3264 ifetch       3 byte(s) @ 0x00007f86ef03d107 non-branch
 *         6     1:  3264 write        8 byte(s) @ 0x00007ffe4d3c5ab8 by PC 0x00007f86ef03d107
 *         7     2:  3264 ifetch       2 byte(s) @ 0x00007f86ef03d10a conditional jump
 *         8     2:  3264 <marker: timestamp 13312570674112282>
 *
 * Markers, and lines of bytes below an ifetch, which are indented, are skipped. Where control goes is the next ifetch of the
 * same thread: a conditional jump was taken if that is not the next instruction. */
#include "source/import.h"
#include <string.h>

enum { WAITING_MAX = RF_IMPORT_THREADS_MAX + 1, INDENTED = 20 /* the rest of a long line */ };

struct waiting { /* a transfer of a thread that waits for its target */
    struct rf_record record;
    uint64_t behind; /* the instruction that follows it in memory */
    bool is_there;
};

struct drmemtrace {
    struct rf_import_threads threads;
    struct waiting waiting[WAITING_MAX];
};

/* What an instruction is, by drmemtrace's words. */
static const struct {
    const char *words;
    uint8_t kind, flags;
} kinds[] = {
    {"conditional jump", RF_CLASS_BRANCH, 0},
    {"taken conditional", RF_CLASS_BRANCH, 0},
    {"untaken conditional", RF_CLASS_BRANCH, 0},
    {"direct jump", RF_CLASS_JUMP, 0},
    {"indirect jump", RF_CLASS_JUMP, RF_RECORD_INDIRECT},
    {"direct call", RF_CLASS_CALL, 0},
    {"indirect call", RF_CLASS_CALL, RF_RECORD_INDIRECT},
    {"return", RF_CLASS_RETURN, 0},
};

static bool starts(const char *text, const char *words)
{
    return strncmp(text, words, strlen(words)) == 0;
}

static void settle(struct rf_import *import, struct waiting *waiting, uint64_t pc)
{
    if (!waiting->is_there)
        return;
    waiting->record.target = pc;
    if (waiting->record.kind == RF_CLASS_BRANCH && pc != waiting->behind)
        waiting->record.flags |= RF_RECORD_TAKEN;
    rf_import_put(import, &waiting->record);
    waiting->is_there = false;
}

static void take_fetch(struct rf_import *import, uint16_t thread, uint64_t pc, uint64_t bytes,
                       const char *what)
{
    struct drmemtrace *trace = rf_import_state(import);
    struct waiting *waiting = &trace->waiting[thread];
    settle(import, waiting, pc);
    rf_import_put(import, &(struct rf_record){.pc = pc, .thread = thread, .kind = RF_CLASS_INSN});
    rf_import_skip_blanks(&what);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (starts(what, kinds[i].words)) {
            *waiting = (struct waiting){.behind = pc + bytes, .is_there = true};
            waiting->record = (struct rf_record){
                .pc = pc, .thread = thread, .kind = kinds[i].kind, .flags = kinds[i].flags};
            return;
        }
}

/* "8 byte(s) @ 0x7ffe", then the rest of the line. */
static bool scan_access(const char **p, uint64_t *bytes, uint64_t *address)
{
    rf_import_skip_blanks(p);
    if (!rf_import_decimal(p, bytes) || *bytes > UINT16_MAX / 8 || !starts(*p, " byte(s) @ "))
        return false;
    *p += strlen(" byte(s) @ ");
    return rf_import_hex(p, address);
}

static bool take_entry(struct rf_import *import, uint16_t thread, const char *p)
{
    uint64_t bytes, address, pc;
    bool fetch = starts(p, "ifetch "), read = starts(p, "read "), write = starts(p, "write ");
    if (!fetch && !read && !write)
        return p[0] == '<' || starts(p, "prefetch") || starts(p, "flush") ||
               starts(p, "no-fetch") || starts(p, "thread ") || starts(p, "process ");
    p += strcspn(p, " ");
    if (!scan_access(&p, &bytes, &address))
        return false;
    if (fetch) {
        take_fetch(import, thread, address, bytes, p);
        return true;
    }
    if (!starts(p, " by PC "))
        return false;
    p += strlen(" by PC ");
    if (!rf_import_hex(&p, &pc) || *p != '\0')
        return false;
    rf_import_put(import, &(struct rf_record){.pc = pc,
                                              .addr = address,
                                              .width = (uint16_t)(8 * bytes),
                                              .thread = thread,
                                              .kind = read ? RF_CLASS_LOAD : RF_CLASS_STORE});
    return true;
}

/* "   9   1:   3264 ", the head of an entry; false: a line of another kind. */
static bool scan_head(const char **p, uint64_t *thread)
{
    uint64_t number;
    rf_import_skip_blanks(p);
    if (!rf_import_decimal(p, &number) || (**p != ' ' && **p != '\t'))
        return false;
    rf_import_skip_blanks(p);
    if (!rf_import_decimal(p, &number) || *(*p)++ != ':')
        return false;
    rf_import_skip_blanks(p);
    return rf_import_decimal(p, thread) && *(*p)++ == ' ';
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
        return strspn(line, " ") >= INDENTED
                   ? RF_OK
                   : rf_import_refuse(import, "an entry of drmemtrace's view", line, n, error);
    rf_import_skip_blanks(&p);
    if (!take_entry(import, rf_import_thread(&trace->threads, id), p))
        return rf_import_refuse(import, "ifetch, read, write or a marker", line, n, error);
    return RF_OK;
}

static const struct rf_import_ops ops = {
    .name = "drmemtrace", .state_size = sizeof(struct drmemtrace), .take = take};

static bool is_drmemtrace(const struct rf_source_input *input)
{
    return input->n_head == 8 && memcmp(input->head, "Output f", 8) == 0;
}

const struct rf_source_format rf_source_drmemtrace = {
    .name = "drmemtrace", .is = is_drmemtrace, .import = &ops};
