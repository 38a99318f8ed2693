/* perf_script.c - what perf script prints of samples, with stacks and branch stacks (-F +brstack) where they are.
 *
 *     gzip  4242/4243 [001] 12.345678:     100003 cycles:u:  55d0a1 deflate+0x21 (/usr/bin/gzip)
 *
 *     gzip  4242 12.345679:     100003 cycles:u:
 *             55d0a1 deflate+0x21 (/usr/bin/gzip)            the stack, the innermost frame first
 *             55c001 main+0x51 (/usr/bin/gzip)
 *
 *     gzip  4242 12.345680:  1 branches:u:  0x55d0a1/0x55d100/P/-/-/0/COND  0x...          branches, the last one first
 *
 * A sample becomes an insn, whose cycles are its period; its stack becomes frames; each branch one that was taken, a jump, a
 * call or a return where perf tells the type. Names are not used: they are read from files again. */
#include "source/import.h"
#include <string.h>

enum { FRAMES_MAX = 512, BRANCHES_MAX = 512 };

struct perf {
    struct rf_import_threads threads;
    bool open; /* a sample was begun */
    bool has_pc;
    uint16_t thread;
    uint64_t pc, period;
    uint64_t frames[FRAMES_MAX]; /* the innermost first */
    size_t n_frames;
    struct rf_record branches[BRANCHES_MAX]; /* the last one first */
    size_t n_branches;
};

/* ---- a sample that is whole ---- */

static void put_frames(struct rf_import *import, const struct perf *perf)
{
    uint64_t context = 0;
    for (size_t i = perf->n_frames; i-- > 0;) {
        rf_import_put(import, &(struct rf_record){.pc = perf->frames[i],
                                                  .value = context,
                                                  .thread = perf->thread,
                                                  .kind = RF_CLASS_FRAME});
        context = rf_context_below(context, perf->frames[i]);
    }
}

static void end_sample(struct rf_import *import, struct perf *perf)
{
    if (!perf->open)
        return;
    for (size_t i = perf->n_branches; i-- > 0;)
        rf_import_put(import, &perf->branches[i]);
    put_frames(import, perf);
    if (!perf->has_pc && perf->n_frames > 0)
        perf->pc = perf->frames[0];
    if (perf->has_pc || perf->n_frames > 0)
        rf_import_put(import, &(struct rf_record){.pc = perf->pc,
                                                  .value = perf->period,
                                                  .thread = perf->thread,
                                                  .kind = RF_CLASS_INSN});
    perf->open = perf->has_pc = false;
    perf->n_frames = perf->n_branches = 0;
}

/* ---- lines ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\0';
}

/* The next word of a line; NULL: there is none. */
static const char *next_word(const char **p, size_t *n)
{
    rf_import_skip_blanks(p);
    const char *word = *p;
    while (!is_blank(**p))
        ++*p;
    *n = (size_t)(*p - word);
    return *n > 0 ? word : NULL;
}

/* "12.345678:" */
static bool is_time(const char *word, size_t n)
{
    size_t whole = strspn(word, "0123456789");
    if (whole == 0 || word[whole] != '.')
        return false;
    size_t part = strspn(word + whole + 1, "0123456789");
    return part > 0 && whole + 1 + part + 1 == n && word[n - 1] == ':';
}

/* "4243" or "4242/4243" */
static bool scan_thread(const char *word, uint64_t *thread)
{
    const char *p = word;
    if (!rf_import_decimal(&p, thread))
        return false;
    if (*p == '/') {
        p++;
        return rf_import_decimal(&p, thread) && is_blank(*p);
    }
    return is_blank(*p);
}

static void set_type(struct rf_record *record, const char *fields, size_t n)
{
    static const struct {
        const char *type;
        uint8_t kind, flags;
    } types[] = {
        {"/IND_CALL", RF_CLASS_CALL, RF_RECORD_INDIRECT},
        {"/CALL", RF_CLASS_CALL, 0},
        {"/RET", RF_CLASS_RETURN, 0},
        {"/UNCOND", RF_CLASS_JUMP, 0},
        {"/IND", RF_CLASS_JUMP, RF_RECORD_INDIRECT},
        {"/SYSCALL", RF_CLASS_CALL, 0},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (memmem(fields, n, types[i].type, strlen(types[i].type)) != NULL) {
            record->kind = types[i].kind;
            record->flags = types[i].flags;
            return;
        }
    record->kind = RF_CLASS_BRANCH;
    record->flags = RF_RECORD_TAKEN;
}

/* "0x55d0a1/0x55d100/P/-/-/0" */
static bool take_branch(struct perf *perf, const char *word, size_t n)
{
    struct rf_record record = {.thread = perf->thread};
    const char *p = word;
    if (!rf_import_hex(&p, &record.pc) || *p++ != '/' || !rf_import_hex(&p, &record.target) ||
        *p != '/')
        return false;
    set_type(&record, p, n - (size_t)(p - word));
    if (p[1] == 'M')
        record.flags |= RF_RECORD_MISPREDICTED;
    if (perf->n_branches < BRANCHES_MAX)
        perf->branches[perf->n_branches++] = record;
    return true;
}

/* What follows the event: an address, branches, names. */
static bool take_rest(struct perf *perf, const char *p)
{
    size_t n;
    for (const char *word; (word = next_word(&p, &n)) != NULL;) {
        const char *end = word;
        uint64_t address;
        if (strncmp(word, "0x", 2) == 0 && memchr(word, '/', n) != NULL) {
            if (!take_branch(perf, word, n))
                return false;
        } else if (!perf->has_pc && rf_import_hex(&end, &address) && end == word + n) {
            perf->pc = address;
            perf->has_pc = true;
        }
    }
    return true;
}

/* "gzip 4242/4243 [001] 12.345678: 100003 cycles:u: ..." The command may have blanks. */
static bool take_head(struct perf *perf, const char *line)
{
    const char *p = line, *word;
    uint64_t thread = 0, before = 0;
    size_t n;
    bool known = false;
    while ((word = next_word(&p, &n)) != NULL && !is_time(word, n))
        if (word[0] != '[') {
            known = scan_thread(word, &thread);
            before++;
        }
    if (word == NULL || !known || before < 2)
        return false;
    perf->open = true;
    perf->period = 1;
    perf->thread = rf_import_thread(&perf->threads, thread);
    rf_import_skip_blanks(&p);
    const char *end = p;
    uint64_t period;
    if (rf_import_decimal(&end, &period) && is_blank(*end)) {
        perf->period = period;
        p = end;
    }
    word = next_word(&p, &n);
    return word != NULL && word[n - 1] == ':' && take_rest(perf, p);
}

/* "   55d0a1 deflate+0x21 (/usr/bin/gzip)" */
static bool take_frame(struct perf *perf, const char *line)
{
    uint64_t address;
    rf_import_skip_blanks(&line);
    if (!perf->open || !rf_import_hex(&line, &address) || !is_blank(*line))
        return false;
    if (perf->n_frames < FRAMES_MAX)
        perf->frames[perf->n_frames++] = address;
    return true;
}

static rf_status take(struct rf_import *import, const char *line, size_t n, struct rf_error *error)
{
    struct perf *perf = rf_import_state(import);
    if (line[strspn(line, " \t")] == '\0') {
        end_sample(import, perf);
        return RF_OK;
    }
    if (line[0] == '#')
        return RF_OK;
    if (line[0] == '\t' || (line[0] == ' ' && perf->open && take_frame(perf, line))) {
        if (line[0] == ' ' || take_frame(perf, line))
            return RF_OK;
        return rf_import_refuse(import, "a frame of a stack, 'address name (file)'", line, n,
                                error);
    }
    end_sample(import, perf);
    if (!take_head(perf, line))
        return rf_import_refuse(
            import, "a sample of perf script, 'command tid time: period event:'", line, n, error);
    return RF_OK;
}

static rf_status finish(struct rf_import *import, struct rf_error *error)
{
    (void)error;
    end_sample(import, rf_import_state(import));
    return RF_OK;
}

static const struct rf_import_ops ops = {.name = "perf",
                                         .unknown = RF_IMPORT_UNKNOWN,
                                         .state_size = sizeof(struct perf),
                                         .take = take,
                                         .finish = finish};

/* A sample begins with the name of a command, which may be anything: no mark tells. */
const struct rf_source_format rf_source_perf_script = {.name = "perf", .import = &ops};
