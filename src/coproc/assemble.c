/* assemble.c - from text to a microprogram: lines, names and labels.
 *
 *     line        = [ label ":" ] [ declaration | operations ] [ "#" comment ]
 *     declaration = "." word ...                            declare.c
 *     operations  = operation { ";" operation }             operate.c: one line is one microinstruction
 *
 * One pass. A label may be used before it is there: each use is kept and settled at the end. */
#include "coproc/assembler.h"
#include "base/text.h"
#include <riffle/text.h>
#include <string.h>

const char *const rf_lane_names[RF_LANE_COUNT] = {
    [RF_LANE_WORD] = "w",   [RF_LANE_HALF0] = "h0", [RF_LANE_HALF1] = "h1", [RF_LANE_BYTE0] = "b0",
    [RF_LANE_BYTE1] = "b1", [RF_LANE_BYTE2] = "b2", [RF_LANE_BYTE3] = "b3",
};

static const char *const reserved[] = {
    "if",  "not",    "goto", "done", "interrupt", "match", "next", "free", "clear", "swap",
    "sat", "random", "hit",  "miss", "v",         "i",     "d",    "log2", "ASSOC", "DATA"};

const struct rf_program_symbol *rf_assembler_find(const struct rf_assembler *assembler,
                                                  const struct rf_token *token)
{
    const struct rf_program *program = assembler->program;
    for (unsigned i = 0; i < program->n_symbols; i++)
        if (rf_text_equal(program->symbols[i].name, token->start, token->n))
            return &program->symbols[i];
    return NULL;
}

rf_status rf_assembler_name(struct rf_assembler *assembler, const struct rf_token *token,
                            unsigned kind, uint64_t number)
{
    struct rf_program *program = assembler->program;
    const struct rf_program_symbol *old = rf_assembler_find(assembler, token);
    if (token->n >= RF_PROGRAM_NAME_MAX)
        return rf_scan_fail(&assembler->scan, token, "a name has at most %d characters",
                            RF_PROGRAM_NAME_MAX - 1);
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (rf_token_is(token, reserved[i]))
            return rf_scan_fail(&assembler->scan, token, "'%s' is a word of the language",
                                reserved[i]);
    if (old != NULL && old->line == 0)
        return rf_scan_fail(&assembler->scan, token, "'%s' is a register", old->name);
    if (old != NULL)
        return rf_scan_fail(&assembler->scan, token, "'%s' has a meaning already, from line %u",
                            old->name, old->line);
    if (program->n_symbols == RF_PROGRAM_SYMBOLS)
        return rf_scan_fail(&assembler->scan, token, "more than %d names", RF_PROGRAM_SYMBOLS);
    struct rf_program_symbol *symbol = &program->symbols[program->n_symbols++];
    *symbol = (struct rf_program_symbol){
        .kind = (uint8_t)kind, .line = token->line, .column = token->column, .number = number};
    memcpy(symbol->name, token->start, token->n);
    return RF_OK;
}

/* The known name of that kind that is most like it; NULL: none is. */
static const char *nearest(const struct rf_program *program, const char *wanted)
{
    const char *best = NULL;
    for (unsigned i = 0; i < program->n_symbols; i++) {
        const char *name = program->symbols[i].name;
        if (best == NULL || rf_text_distance(wanted, name) < rf_text_distance(wanted, best))
            best = name;
    }
    return best != NULL && 2 * rf_text_distance(wanted, best) <= rf_text_length(best) ? best : NULL;
}

rf_status rf_assembler_unknown(struct rf_assembler *assembler, const struct rf_token *token,
                               const char *what)
{
    char wanted[41];
    rf_format(wanted, sizeof wanted, "%.*s", (int)(token->n < 40 ? token->n : 40), token->start);
    const char *meant = nearest(assembler->program, wanted);
    if (meant == NULL)
        return rf_scan_fail(&assembler->scan, token, "no %s is called '%s'", what, wanted);
    return rf_scan_fail(&assembler->scan, token, "no %s is called '%s'; did you mean '%s'?", what,
                        wanted, meant);
}

rf_status rf_assembler_known(struct rf_assembler *assembler, unsigned kind, const char *what,
                             const struct rf_program_symbol **symbol)
{
    struct rf_token token = assembler->scan.token;
    char expected[64];
    rf_format(expected, sizeof expected, "the name of %s", what);
    if (token.kind != RF_TOKEN_WORD)
        return rf_scan_expected(&assembler->scan, expected);
    *symbol = rf_assembler_find(assembler, &token);
    if (*symbol == NULL)
        return rf_assembler_unknown(assembler, &token, what + (what[1] == 'n' ? 3 : 2));
    if ((*symbol)->kind != kind)
        return rf_scan_fail(&assembler->scan, &token, "'%s' is not %s", (*symbol)->name, what);
    return rf_scan_next(&assembler->scan);
}

rf_status rf_assembler_constant(struct rf_assembler *assembler, const struct rf_token *at,
                                uint64_t value, uint8_t *number)
{
    struct rf_program *program = assembler->program;
    if (value > UINT32_MAX)
        return rf_scan_fail(&assembler->scan, at, "a constant has 32 bits");
    for (unsigned i = 0; i < program->n_constants; i++)
        if (program->constants[i] == value) {
            *number = (uint8_t)i;
            return RF_OK;
        }
    if (program->n_constants == RF_MICRO_CONSTANTS)
        return rf_scan_fail(&assembler->scan, at, "more than %d different constants",
                            RF_MICRO_CONSTANTS);
    *number = (uint8_t)program->n_constants;
    program->constants[program->n_constants++] = (uint32_t)value;
    return RF_OK;
}

void rf_assembler_use(struct rf_assembler *assembler, const struct rf_token *label, unsigned what,
                      unsigned at)
{
    assembler->uses[assembler->n_uses++] =
        (struct rf_assembler_use){*label, (uint16_t)at, (uint8_t)what};
}

/* --- labels ---------------------------------------------------------------------------------- */

static rf_status settle_branch(struct rf_assembler *assembler, const struct rf_assembler_use *use,
                               unsigned address)
{
    int away = (int)address - use->at;
    if (away < -RF_TO_HERE || away >= RF_TO_HERE)
        return rf_scan_fail(&assembler->scan, &use->token,
                            "'%.*s' is %d words away, and a branch reaches %d back and %d ahead; "
                            "say '.target far = %.*s' and branch to 'far'",
                            (int)use->token.n, use->token.start, away, RF_TO_HERE, RF_TO_HERE - 1,
                            (int)use->token.n, use->token.start);
    assembler->program->code[use->at].to = (uint8_t)(away + RF_TO_HERE);
    return RF_OK;
}

static rf_status settle(struct rf_assembler *assembler, const struct rf_assembler_use *use)
{
    const struct rf_program_symbol *symbol = rf_assembler_find(assembler, &use->token);
    if (symbol == NULL)
        return rf_assembler_unknown(assembler, &use->token, "label");
    if (symbol->kind != RF_PROGRAM_LABEL)
        return rf_scan_fail(&assembler->scan, &use->token, "'%s' is not a label", symbol->name);
    unsigned address = (unsigned)symbol->number;
    if (address >= assembler->program->n)
        return rf_fail(assembler->scan.error, RF_EINVAL,
                       "line %u, column %u: nothing stands behind the label '%s'", symbol->line,
                       symbol->column, symbol->name);
    if (use->what == RF_USE_BRANCH)
        return settle_branch(assembler, use, address);
    if (use->what == RF_USE_TARGET)
        assembler->program->targets[use->at] = (uint16_t)address;
    else
        assembler->program->entries[use->at] = (uint16_t)address;
    return RF_OK;
}

static rf_status settle_all(struct rf_assembler *assembler)
{
    rf_status status = RF_OK;
    for (unsigned i = 0; i < assembler->n_uses && status == RF_OK; i++)
        status = settle(assembler, &assembler->uses[i]);
    return status;
}

/* --- lines ------------------------------------------------------------------------------------ */

static rf_status read_line(struct rf_assembler *assembler)
{
    struct rf_scan *scan = &assembler->scan;
    struct rf_token token = scan->token;
    struct rf_scan ahead = *scan;
    rf_status status = RF_OK;
    if (token.kind == RF_TOKEN_WORD && rf_scan_next(&ahead) == RF_OK &&
        rf_token_is(&ahead.token, ":")) {
        status = rf_assembler_name(assembler, &token, RF_PROGRAM_LABEL, assembler->program->n);
        *scan = ahead;
        if (status == RF_OK)
            status = rf_scan_next(scan);
    }
    if (status == RF_OK && rf_scan_take(scan, ".", &status))
        status = rf_assembler_declare(assembler);
    else if (status == RF_OK && !rf_scan_at_end(scan))
        status = rf_assembler_operate(assembler);
    if (status == RF_OK && !rf_scan_at_end(scan))
        status = rf_scan_expected(scan, "the end of the line");
    return status;
}

/* Not past the last word, and some class must lead to the first. */
static rf_status check_whole(struct rf_assembler *assembler)
{
    const struct rf_program *program = assembler->program;
    unsigned classes = 0;
    for (unsigned i = 0; i < RF_OPCODE_COUNT; i++)
        classes += program->entries[i] != RF_NO_ENTRY;
    if (program->n == 0)
        return rf_fail(assembler->scan.error, RF_EINVAL, "the program has no instruction");
    if (program->code[program->n - 1].when != RF_WHEN_ALWAYS)
        return rf_fail(assembler->scan.error, RF_EINVAL,
                       "line %u: the program runs on behind its last instruction; end it with "
                       "'done'",
                       program->lines[program->n - 1]);
    if (classes == 0)
        return rf_fail(assembler->scan.error, RF_EINVAL,
                       "the program takes no samples; say '.on load goto LABEL'");
    for (size_t i = 0; i < assembler->n_lets; i++)
        if (!assembler->lets[i].used)
            return rf_fail(assembler->scan.error, RF_EINVAL, "the program has no '.let %s' to set",
                           assembler->lets[i].name);
    return RF_OK;
}

static rf_status read_all(struct rf_assembler *assembler)
{
    struct rf_scan *scan = &assembler->scan;
    rf_status status = RF_OK;
    while (status == RF_OK && scan->token.kind != RF_TOKEN_END) {
        status = read_line(assembler);
        if (status == RF_OK && scan->token.kind == RF_TOKEN_LINE_END)
            status = rf_scan_next(scan);
    }
    if (status == RF_OK)
        status = settle_all(assembler);
    return status == RF_OK ? check_whole(assembler) : status;
}

/* Registers that have a name without being declared; their line is 0. */
static void name_registers(struct rf_program *program)
{
    for (unsigned i = 0; i < RF_MICRO_VALUES; i++) {
        struct rf_program_symbol *symbol = &program->symbols[program->n_symbols++];
        *symbol = (struct rf_program_symbol){.kind = RF_PROGRAM_VALUE, .number = i};
        rf_format(symbol->name, sizeof symbol->name, "v%u", i);
    }
}

rf_status rf_program_assemble(struct rf_program *program, const char *text,
                              const struct rf_coproc_size *size, struct rf_program_let *lets,
                              size_t n_lets, struct rf_error *error)
{
    struct rf_assembler assembler = {.program = program, .lets = lets, .n_lets = n_lets};
    memset(program, 0, sizeof *program);
    program->size = *size;
    for (unsigned i = 0; i < RF_OPCODE_COUNT; i++)
        program->entries[i] = RF_NO_ENTRY;
    for (size_t i = 0; i < n_lets; i++)
        lets[i].used = false;
    name_registers(program);
    rf_status status = rf_scan_open(&assembler.scan, text, error);
    return status == RF_OK ? read_all(&assembler) : status;
}
