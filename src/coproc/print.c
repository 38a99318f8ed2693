/* print.c - a microprogram as text again, and its listing.
 *
 * What is printed assembles to the same program: all constants are declared in the order of their registers,
 * every operation has one form, and a line's operations stand in the order match, data, value, index,
 * branch. */
#include "coproc/assembler.h"
#include <string.h>

/* --- names ------------------------------------------------------------------------------------ */

struct name {
    char text[RF_PROGRAM_NAME_MAX + 8];
};

static const struct rf_program_symbol *symbol_of(const struct rf_program *program, unsigned kind,
                                                 uint64_t number)
{
    const struct rf_program_symbol *found = NULL;
    for (unsigned i = 0; i < program->n_symbols; i++) {
        const struct rf_program_symbol *symbol = &program->symbols[i];
        if (symbol->kind == kind && symbol->number == number && (found == NULL || found->line == 0))
            found = symbol;
    }
    return found;
}

static bool is_taken(const struct rf_program *program, const char *name)
{
    for (unsigned i = 0; i < program->n_symbols; i++)
        if (strcmp(program->symbols[i].name, name) == 0)
            return true;
    return false;
}

/* The name that the source gave it; else a letter and its number, and as many '_' behind them as it takes to be unlike
 * every other name. */
static struct name name_of(const struct rf_program *program, unsigned kind, uint64_t number)
{
    static const char letters[] = {
        [RF_PROGRAM_VALUE] = 'v', [RF_PROGRAM_CONSTANT] = 'c', [RF_PROGRAM_FIELD] = 'f',
        [RF_PROGRAM_INDEX] = 'i', [RF_PROGRAM_BASE] = 'b',     [RF_PROGRAM_TARGET] = 't',
        [RF_PROGRAM_LABEL] = 'L'};
    const struct rf_program_symbol *symbol = symbol_of(program, kind, number);
    struct name name;
    if (symbol != NULL) {
        memcpy(name.text, symbol->name, sizeof symbol->name);
        return name;
    }
    size_t n = rf_format(name.text, sizeof name.text, "%c%u", letters[kind], (unsigned)number);
    while (is_taken(program, name.text) && n + 1 < RF_PROGRAM_NAME_MAX) {
        name.text[n++] = '_';
        name.text[n] = '\0';
    }
    return name;
}

static struct name operand_name(const struct rf_program *program, unsigned operand)
{
    if (operand == RF_OPERAND_RANDOM)
        return (struct name){"random"};
    if (operand >= RF_OPERAND_INDEX)
        return name_of(program, RF_PROGRAM_INDEX, operand - RF_OPERAND_INDEX);
    if (operand >= RF_OPERAND_FIELD)
        return name_of(program, RF_PROGRAM_FIELD, operand - RF_OPERAND_FIELD);
    if (operand >= RF_OPERAND_CONSTANT)
        return name_of(program, RF_PROGRAM_CONSTANT, operand - RF_OPERAND_CONSTANT);
    return name_of(program, RF_PROGRAM_VALUE, operand);
}

/* --- operations ------------------------------------------------------------------------------- */

struct line {
    const struct rf_program *program;
    const struct rf_micro *micro;
    unsigned at;
    struct rf_text_out *out;
    bool begun;
};

static void begin(struct line *line)
{
    rf_text_add(line->out, "%s", line->begun ? "; " : "");
    line->begun = true;
}

static void put_element(struct line *line, unsigned base, unsigned index, unsigned lane)
{
    struct name b = name_of(line->program, RF_PROGRAM_BASE, base);
    struct name i = name_of(line->program, RF_PROGRAM_INDEX, index);
    rf_text_add(line->out, "%s[%s]", b.text, i.text);
    if (lane != RF_LANE_WORD)
        rf_text_add(line->out, ".%s", rf_lane_names[lane]);
}

static void put_match(struct line *line)
{
    static const char *const words[RF_MATCH_OP_COUNT] = {
        [RF_MATCH_FIND] = "match", [RF_MATCH_NEXT] = "next", [RF_MATCH_FREE] = "free"};
    const struct rf_micro *m = line->micro;
    struct name key = operand_name(line->program, m->match_key);
    if (m->match_op == RF_MATCH_NOP)
        return;
    begin(line);
    if (rf_match_finds(m->match_op)) {
        struct name index = name_of(line->program, RF_PROGRAM_INDEX, m->match_index);
        struct name base = name_of(line->program, RF_PROGRAM_BASE, m->match_base);
        bool keyed = m->match_op != RF_MATCH_FREE;
        rf_text_add(line->out, "%s = %s(%s%s%s)", index.text, words[m->match_op], base.text,
                    keyed ? ", " : "", keyed ? key.text : "");
        return;
    }
    if (m->match_op == RF_MATCH_READ)
        rf_text_add(line->out, "%s = ", key.text);
    if (m->match_op == RF_MATCH_CLEAR)
        rf_text_add(line->out, "clear ");
    put_element(line, m->match_base, m->match_index, RF_LANE_WORD);
    if (m->match_op == RF_MATCH_WRITE)
        rf_text_add(line->out, " = %s", key.text);
}

static void put_data(struct line *line)
{
    static const char *const signs[RF_DATA_OP_COUNT] = {
        [RF_DATA_READ] = "",        [RF_DATA_WRITE] = " = ", [RF_DATA_INCREMENT] = "++",
        [RF_DATA_DECREMENT] = "--", [RF_DATA_ADD] = " += ",  [RF_DATA_SUBTRACT] = " -= ",
        [RF_DATA_AND] = " &= ",     [RF_DATA_OR] = " |= ",   [RF_DATA_SWAP] = ", "};
    const struct rf_micro *m = line->micro;
    bool steps = m->data_op == RF_DATA_INCREMENT || m->data_op == RF_DATA_DECREMENT;
    bool result = m->data_to < RF_RESULT_COUNT;
    if (m->data_op == RF_DATA_NOP)
        return;
    begin(line);
    if (result) {
        unsigned to = m->data_to < RF_RESULT_INDEX
                          ? m->data_to
                          : RF_OPERAND_INDEX + m->data_to - RF_RESULT_INDEX;
        rf_text_add(line->out, "%s = ", operand_name(line->program, to).text);
    }
    rf_text_add(line->out, "%s%s", m->data_op == RF_DATA_SWAP ? "swap(" : "",
                steps && result ? signs[m->data_op] : "");
    put_element(line, m->data_base, m->data_index, m->data_lane);
    if (!steps || !result)
        rf_text_add(line->out, "%s", signs[m->data_op]);
    if (rf_data_has_source(m->data_op))
        rf_text_add(line->out, "%s", operand_name(line->program, m->data_from).text);
    rf_text_add(line->out, "%s", m->data_op == RF_DATA_SWAP ? ")" : "");
}

/* "to = a + b"; "to = sat(a + b)" where the sign begins with an s. */
static void put_sum(struct line *line, const char *to, const char *a, const char *sign,
                    const char *b)
{
    bool saturates = sign[0] == 's';
    begin(line);
    rf_text_add(line->out, "%s = %s%s %s %s%s", to, saturates ? "sat(" : "", a, sign + saturates, b,
                saturates ? ")" : "");
}

static void put_value(struct line *line)
{
    static const char *const signs[RF_VALUE_OP_COUNT] = {
        [RF_VALUE_ADD] = "+",         [RF_VALUE_ADD_SATURATED] = "s+",
        [RF_VALUE_SUBTRACT] = "-",    [RF_VALUE_SUBTRACT_SATURATED] = "s-",
        [RF_VALUE_AND] = "&",         [RF_VALUE_OR] = "|",
        [RF_VALUE_XOR] = "^",         [RF_VALUE_SHIFT_LEFT] = "<<",
        [RF_VALUE_SHIFT_RIGHT] = ">>"};
    const struct rf_micro *m = line->micro;
    if (!rf_value_has_result(m->value_op))
        return;
    struct name to = name_of(line->program, RF_PROGRAM_VALUE, m->value_to);
    struct name a = operand_name(line->program, m->value_a);
    struct name b = operand_name(line->program, m->value_b);
    if (m->value_op == RF_VALUE_MOVE) {
        begin(line);
        rf_text_add(line->out, "%s = %s", to.text, a.text);
        return;
    }
    if (m->value_op >= RF_VALUE_SHIFT_LEFT)
        rf_format(b.text, sizeof b.text, "%u", 1u << m->value_b);
    put_sum(line, to.text, a.text, signs[m->value_op], b.text);
}

static void put_index(struct line *line)
{
    static const char *const signs[RF_INDEX_OP_COUNT] = {
        [RF_INDEX_ADD] = "+",      [RF_INDEX_ADD_SATURATED] = "s+",
        [RF_INDEX_SUBTRACT] = "-", [RF_INDEX_SUBTRACT_SATURATED] = "s-",
        [RF_INDEX_AND] = "&",      [RF_INDEX_OR] = "|",
        [RF_INDEX_XOR] = "^"};
    const struct rf_micro *m = line->micro;
    if (!rf_index_has_result(m->index_op))
        return;
    struct name to = name_of(line->program, RF_PROGRAM_INDEX, m->index_to);
    struct name a = name_of(line->program, RF_PROGRAM_INDEX, m->index_a);
    struct name b = operand_name(line->program, m->index_b);
    if (m->index_op == RF_INDEX_MOVE) {
        begin(line);
        rf_text_add(line->out, "%s = %s", to.text, b.text);
        return;
    }
    put_sum(line, to.text, a.text, signs[m->index_op], b.text);
}

static void put_condition(struct line *line)
{
    static const char *const relations[] = {"==", "!=", "<", ">=", ">", "<="};
    static const char *const states[] = {
        [RF_WHEN_HIT] = "hit",           [RF_WHEN_MISS] = "miss",
        [RF_WHEN_VALUE_EQ] = "v.zero",   [RF_WHEN_VALUE_NE] = "not v.zero",
        [RF_WHEN_VALUE_LT] = "v.less",   [RF_WHEN_VALUE_GE] = "not v.less",
        [RF_WHEN_VALUE_FULL] = "v.full", [RF_WHEN_VALUE_NOT_FULL] = "not v.full",
        [RF_WHEN_INDEX_EQ] = "i.zero",   [RF_WHEN_INDEX_NE] = "not i.zero",
        [RF_WHEN_INDEX_LT] = "i.less",   [RF_WHEN_INDEX_GE] = "not i.less",
        [RF_WHEN_INDEX_FULL] = "i.full", [RF_WHEN_INDEX_NOT_FULL] = "not i.full",
        [RF_WHEN_DATA_ZERO] = "d.zero",  [RF_WHEN_DATA_NOT_ZERO] = "not d.zero",
        [RF_WHEN_DATA_FULL] = "d.full",  [RF_WHEN_DATA_NOT_FULL] = "not d.full",
    };
    const struct rf_micro *m = line->micro;
    bool value = m->value_op == RF_VALUE_COMPARE && m->when <= RF_WHEN_VALUE_LE;
    bool index = m->index_op == RF_INDEX_COMPARE && m->when >= RF_WHEN_INDEX_EQ;
    if (value)
        rf_text_add(line->out, "if %s %s %s ", operand_name(line->program, m->value_a).text,
                    relations[m->when - RF_WHEN_VALUE_EQ],
                    operand_name(line->program, m->value_b).text);
    else if (index)
        rf_text_add(
            line->out, "if %s %s %s ", name_of(line->program, RF_PROGRAM_INDEX, m->index_a).text,
            relations[m->when - RF_WHEN_INDEX_EQ], operand_name(line->program, m->index_b).text);
    else
        rf_text_add(line->out, "if %s ", states[m->when]);
}

static void put_branch(struct line *line)
{
    const struct rf_micro *m = line->micro;
    if (m->when == RF_WHEN_NEVER)
        return;
    begin(line);
    if (m->when != RF_WHEN_ALWAYS)
        put_condition(line);
    if (m->to == RF_TO_DONE || m->to == RF_TO_INTERRUPT) {
        rf_text_add(line->out, "%s", m->to == RF_TO_DONE ? "done" : "interrupt");
        return;
    }
    unsigned kind = m->to < RF_TO_REGISTER ? RF_PROGRAM_LABEL : RF_PROGRAM_TARGET;
    unsigned number =
        m->to < RF_TO_REGISTER ? line->at + m->to - RF_TO_HERE : (unsigned)m->to - RF_TO_REGISTER;
    rf_text_add(line->out, "goto %s", name_of(line->program, kind, number).text);
}

static void put_micro(struct rf_text_out *out, const struct rf_program *program, unsigned at)
{
    struct line line = {program, &program->code[at], at, out, false};
    put_match(&line);
    put_data(&line);
    put_value(&line);
    put_index(&line);
    put_branch(&line);
}

size_t rf_program_print_micro(const struct rf_program *program, unsigned at, char *text,
                              size_t size)
{
    struct rf_text_out out = {text, size, 0};
    if (size > 0)
        text[0] = '\0';
    put_micro(&out, program, at);
    return out.n;
}

/* --- declarations ------------------------------------------------------------------------------ */

static void put_fields(struct rf_text_out *out, const struct rf_program *program)
{
    for (unsigned i = 0; i < program->n_fields; i++) {
        const struct rf_program_field *field = &program->fields[i];
        struct name name = name_of(program, RF_PROGRAM_FIELD, i);
        if (field->word == RF_SAMPLE_HASH)
            rf_text_add(out, ".field %s = hash(%s, %s, %llu) : %u\n", name.text,
                        rf_sample_names[field->hash_a], rf_sample_names[field->hash_b],
                        (unsigned long long)field->hash_seed, field->bits);
        else
            rf_text_add(out, ".field %s = %s[%u:%u]\n", name.text, rf_sample_names[field->word],
                        field->shift + field->bits - 1u, field->shift);
    }
}

static void put_registers(struct rf_text_out *out, const struct rf_program *program)
{
    for (unsigned i = 0; i < program->n_symbols; i++) {
        const struct rf_program_symbol *symbol = &program->symbols[i];
        if (symbol->kind == RF_PROGRAM_LET)
            rf_text_add(out, ".let %s = %llu\n", symbol->name, (unsigned long long)symbol->number);
        else if (symbol->kind == RF_PROGRAM_VALUE && symbol->line != 0)
            rf_text_add(out, ".value %s = v%u\n", symbol->name, (unsigned)symbol->number);
    }
    for (unsigned i = 0; i < program->n_constants; i++)
        rf_text_add(out, ".const %s = %u\n", name_of(program, RF_PROGRAM_CONSTANT, i).text,
                    program->constants[i]);
    for (unsigned i = 0; i < program->n_indexes; i++)
        rf_text_add(out, ".index %s : %u = %u\n", name_of(program, RF_PROGRAM_INDEX, i).text,
                    program->indexes[i].bits, program->indexes[i].start);
    for (unsigned i = 0; i < program->n_bases; i++)
        rf_text_add(out, ".base %s = %s[%u : %u]\n", name_of(program, RF_PROGRAM_BASE, i).text,
                    program->bases[i].kind == RF_BASE_MATCH ? "assoc" : "data",
                    program->bases[i].first, 1u << program->bases[i].log2);
    for (unsigned i = 0; i < program->n_targets; i++)
        rf_text_add(out, ".target %s = %s\n", name_of(program, RF_PROGRAM_TARGET, i).text,
                    name_of(program, RF_PROGRAM_LABEL, program->targets[i]).text);
}

static void put_roles(struct rf_text_out *out, const struct rf_program *program)
{
    for (unsigned i = 0; i < program->n_roles; i++) {
        const struct rf_program_role *role = &program->roles[i];
        rf_text_add(out, "%s%s = %s", i == 0 ? ".slot " : ", ", role->name,
                    name_of(program, RF_PROGRAM_BASE, role->base).text);
        if (role->lane != RF_LANE_WORD)
            rf_text_add(out, ".%s", rf_lane_names[role->lane]);
    }
    rf_text_add(out, "%s", program->n_roles > 0 ? "\n" : "");
    if (program->profile[0] != '\0')
        rf_text_add(out, ".profile %s\n", program->profile);
    if (program->handler[0] != '\0')
        rf_text_add(out, ".handler %s\n", program->handler);
}

static bool is_reached(const struct rf_program *program, unsigned at)
{
    bool reached = symbol_of(program, RF_PROGRAM_LABEL, at) != NULL;
    for (unsigned i = 0; i < RF_OPCODE_COUNT; i++)
        reached = reached || program->entries[i] == at;
    for (unsigned i = 0; i < program->n_targets; i++)
        reached = reached || program->targets[i] == at;
    for (unsigned i = 0; i < program->n; i++)
        reached = reached ||
                  (program->code[i].when != RF_WHEN_NEVER && program->code[i].to < RF_TO_REGISTER &&
                   i + program->code[i].to == at + RF_TO_HERE);
    return reached;
}

size_t rf_program_print(const struct rf_program *program, char *text, size_t size)
{
    struct rf_text_out out = {text, size, 0};
    if (size > 0)
        text[0] = '\0';
    put_registers(&out, program);
    put_fields(&out, program);
    for (unsigned i = 0; i < RF_OPCODE_COUNT; i++)
        if (program->entries[i] != RF_NO_ENTRY)
            rf_text_add(&out, ".on %s goto %s\n", rf_opcode_names[i],
                        name_of(program, RF_PROGRAM_LABEL, program->entries[i]).text);
    put_roles(&out, program);
    for (unsigned i = 0; i < program->n; i++) {
        if (is_reached(program, i))
            rf_text_add(&out, "%s:\n", name_of(program, RF_PROGRAM_LABEL, i).text);
        rf_text_add(&out, "    ");
        put_micro(&out, program, i);
        rf_text_add(&out, "\n");
    }
    return out.n;
}

enum { LINE_MAX_COLUMNS = 80, BEFORE = 34, CONTINUED = 8 };

static const char spaces[] = "                                          ";

/* Characters of a line that are shown: a comment only where all of it fits. */
static size_t shown_of(const char *line, size_t n)
{
    const char *hash = memchr(line, '#', n);
    if (n > LINE_MAX_COLUMNS - BEFORE && hash != NULL)
        n = (size_t)(hash - line);
    while (n > 0 && line[n - 1] == ' ')
        n--;
    return n;
}

/* How much of it goes into one line: up to the last ';' that fits. */
static size_t piece_of(const char *text, size_t n, size_t room)
{
    size_t piece = n;
    if (n <= room)
        return n;
    for (size_t i = 0; i < room; i++)
        if (text[i] == ';')
            piece = i + 1;
    return piece;
}

static void put_line(struct rf_text_out *out, const char *text, size_t n)
{
    size_t room = LINE_MAX_COLUMNS - BEFORE;
    size_t done = piece_of(text, n, room);
    rf_text_add(out, "%.*s\n", (int)done, text);
    while (done < n) {
        while (done < n && text[done] == ' ')
            done++;
        size_t piece = piece_of(text + done, n - done, room - CONTINUED);
        rf_text_add(out, "%.*s%.*s\n", BEFORE + CONTINUED, spaces, (int)piece, text + done);
        done += piece;
    }
}

/* How far a declaration is moved to the right: to where source begins, or less, so that it fits. */
static int indent_of(size_t n)
{
    size_t most = n < LINE_MAX_COLUMNS ? LINE_MAX_COLUMNS - n : 0;
    return n == 0 ? 0 : (int)(most < BEFORE ? most : BEFORE);
}

size_t rf_program_list(const struct rf_program *program, const char *source, char *text,
                       size_t size)
{
    struct rf_text_out out = {text, size, 0};
    unsigned at = 0;
    if (size > 0)
        text[0] = '\0';
    for (unsigned line = 1; *source != '\0'; line++) {
        size_t n = strcspn(source, "\n"), shown = shown_of(source, n < 4096 ? n : 4096);
        bool is_comment = shown == 0 && n > 0, is_code = false;
        if (at < program->n && program->lines[at] == line) {
            struct rf_micro_word word = rf_micro_pack(&program->code[at]);
            rf_text_add(&out, "%4u  %08x_%08x_%08x  ", at++, word.w[2], word.w[1], word.w[0]);
            is_code = true;
        }
        if (is_code)
            put_line(&out, source, shown);
        else if (!is_comment)
            rf_text_add(&out, "%.*s%.*s\n", indent_of(shown), spaces, (int)shown, source);
        source += n + (source[n] == '\n');
    }
    return out.n;
}
