/* sequence.c - replacements: T.INSN, calls of handlers, and instructions as an assembler writes them.
 *
 *     sequence = item { [";"] item }
 *     item     = T.INSN | call ( handler ) | ccall ( register , handler ) | [likely] mnemonic operands
 *
 * Operands are those of isa.def, read along the same string that the disassembler prints along. In place of
 * an integer register there may be $name, a private one, or T.RS, T.RT, T.RD of the matched instruction; in place of
 * an immediate, T.IMM. A branch says how many items ahead it goes, ".+2". */
#include "dise/parse.h"
#include "base/text.h"
#include <string.h>

unsigned rf_dise_find_op(const struct rf_dise_token *token)
{
    unsigned op = 1;
    if (token->kind != RF_DISE_WORD)
        return RF_OP_COUNT;
    while (op < RF_OP_COUNT && !rf_text_equal(rf_op_table[op].mnemonic, token->text, token->n))
        op++;
    return op;
}

static bool starts_item(const struct rf_dise_parser *parser)
{
    const struct rf_dise_token *token = &parser->lexer.next;
    if (rf_dise_token_is(&parser->lexer.after, ":")) /* a definition comes next */
        return false;
    return rf_dise_token_is(token, "T.INSN") || rf_dise_token_is(token, "call") ||
           rf_dise_token_is(token, "ccall") || rf_dise_token_is(token, "likely") ||
           rf_dise_find_op(token) < RF_OP_COUNT;
}

bool rf_dise_starts_sequence(const struct rf_dise_parser *parser)
{
    return starts_item(parser) && !rf_dise_starts_pattern(parser);
}

/* --- operands ----------------------------------------------------------------------------------- */

static bool parse_part(struct rf_dise_lexer *lexer, uint8_t *part)
{
    static const struct {
        const char *name;
        uint8_t part;
    } parts[] = {{"T.RS", RF_DISE_PART_RS}, {"T.RT", RF_DISE_PART_RT}, {"T.RD", RF_DISE_PART_RD}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (rf_dise_lex_accept(lexer, parts[i].name)) {
            *part = parts[i].part;
            return true;
        }
    return false;
}

static rf_status parse_private(struct rf_dise_parser *parser, uint8_t *reg)
{
    struct rf_dise_token token = parser->lexer.next;
    if (token.kind != RF_DISE_WORD || token.text[0] != '$')
        return rf_dise_fail_expected(&parser->lexer, "a private register, such as $name");
    token.text++;
    token.n--;
    rf_status status = rf_dise_find_register(parser, &token, reg);
    *reg = (uint8_t)(*reg + RF_REG_PRIVATE);
    if (status == RF_OK)
        rf_dise_lex_take(&parser->lexer);
    return status;
}

static rf_status parse_register(struct rf_dise_parser *parser, bool fp, uint8_t *reg, uint8_t *part)
{
    struct rf_dise_lexer *lexer = &parser->lexer;
    const struct rf_dise_token *token = &lexer->next;
    if (parse_part(lexer, part))
        return RF_OK;
    if (!fp && token->kind == RF_DISE_WORD && token->text[0] == '$')
        return parse_private(parser, reg);
    int number = token->kind == RF_DISE_WORD ? rf_reg_find(token->text, token->n) : -1;
    if (number < 0 || (number >= RF_REG_FP) != fp)
        return rf_dise_fail_expected(lexer, fp ? "a floating-point register"
                                               : "a register, $name, T.RS, T.RT or T.RD");
    *reg = (uint8_t)number;
    rf_dise_lex_take(lexer);
    return RF_OK;
}

static rf_status parse_bounded(struct rf_dise_parser *parser, int64_t lo, int64_t hi, int32_t *imm)
{
    struct rf_dise_place place = parser->lexer.next.place;
    int64_t value = 0;
    rf_status status = rf_dise_parse_number(parser, &value);
    if (status == RF_OK && (value < lo || value > hi))
        return rf_dise_fail(&parser->lexer, &place, "%lld is not between %lld and %lld",
                            (long long)value, (long long)lo, (long long)hi);
    *imm = (int32_t)(status == RF_OK ? value : 0);
    return status;
}

/* ".+2" */
static rf_status parse_ahead(struct rf_dise_parser *parser, int32_t *items)
{
    rf_status status = rf_dise_lex_expect(&parser->lexer, ".", "items to go ahead, such as .+2");
    if (status == RF_OK)
        status = rf_dise_lex_expect(&parser->lexer, "+", "'+': a sequence goes forward only");
    if (status == RF_OK)
        status = parse_bounded(parser, 1, RF_DISE_ITEMS, items);
    return status;
}

static rf_status parse_upper(struct rf_dise_parser *parser, int32_t *imm)
{
    rf_status status = parse_bounded(parser, 0, 0xfffff, imm);
    *imm = (int32_t)((uint32_t)*imm << 12);
    return status;
}

static rf_status parse_immediate(struct rf_dise_parser *parser, struct rf_dise_item *item,
                                 char letter)
{
    int32_t *imm = &item->insn.imm;
    if (letter == 'p')
        return parse_ahead(parser, imm);
    if (rf_dise_lex_accept(&parser->lexer, "T.IMM")) {
        item->imm = RF_DISE_PART_IMM;
        return RF_OK;
    }
    if (letter == 'u')
        return parse_upper(parser, imm);
    if (letter == '>' || letter == '<')
        return parse_bounded(parser, 0, letter == '>' ? 63 : 31, imm);
    return parse_bounded(parser, -2048, 2047, imm);
}

static rf_status parse_operand(struct rf_dise_parser *parser, struct rf_dise_item *item,
                               char letter)
{
    struct rf_insn *insn = &item->insn;
    const char sign[] = {letter, '\0'};
    uint8_t none = 0;
    switch (letter) {
    case 'd':
    case 'D':
        return parse_register(parser, letter == 'D', &insn->rd, &item->rd);
    case 's':
    case 'S':
        return parse_register(parser, letter == 'S', &insn->rs1, &item->rs1);
    case 't':
    case 'T':
        return parse_register(parser, letter == 'T', &insn->rs2, &item->rs2);
    case 'R':
        return parse_register(parser, true, &insn->rs3, &none);
    case ',':
    case '(':
    case ')':
        return rf_dise_lex_expect(&parser->lexer, sign, sign);
    default:
        return parse_immediate(parser, item, letter);
    }
}

/* --- items -------------------------------------------------------------------------------------- */

static bool may_stand(unsigned op)
{
    unsigned kind = rf_op_table[op].kind;
    return kind != RF_OP_CLASS_JUMP && kind != RF_OP_CLASS_SYSTEM && kind != RF_OP_CLASS_FENCE;
}

static rf_status parse_code(struct rf_dise_parser *parser, struct rf_dise_item *item)
{
    bool likely = rf_dise_lex_accept(&parser->lexer, "likely");
    struct rf_dise_token token = rf_dise_lex_take(&parser->lexer);
    unsigned op = rf_dise_find_op(&token);
    rf_status status = RF_OK;
    if (op == RF_OP_COUNT || (likely && rf_op_table[op].kind != RF_OP_CLASS_BRANCH))
        return rf_dise_fail(&parser->lexer, &token.place, "a branch must stand behind 'likely'");
    if (!may_stand(op))
        return rf_dise_fail(&parser->lexer, &token.place,
                            "%.*s cannot stand in a sequence: it leaves it", (int)token.n,
                            token.text);
    *item = (struct rf_dise_item){.kind = RF_DISE_CODE,
                                  .likely = likely,
                                  .insn = {.op = (uint8_t)op,
                                           .kind = rf_op_table[op].kind,
                                           .length = 4,
                                           .rd = RF_REG_NONE,
                                           .rs1 = RF_REG_NONE,
                                           .rs2 = RF_REG_NONE,
                                           .rs3 = RF_REG_NONE}};
    for (const char *p = rf_op_table[op].operands; status == RF_OK && *p != '\0'; p++) {
        if (p[0] == ',' && p[1] == 'm') { /* rounding is as frm says */
            item->insn.rm = 7;
            break;
        }
        status = parse_operand(parser, item, *p);
    }
    if (item->insn.rd == 0)
        item->insn.rd = RF_REG_NONE;
    return status;
}

static rf_status parse_handler(struct rf_dise_parser *parser, struct rf_dise_item *item)
{
    struct rf_dise_lexer *lexer = &parser->lexer;
    unsigned i = 0;
    while (rf_dise_handlers[i].name != NULL &&
           !rf_dise_token_is(&lexer->next, rf_dise_handlers[i].name))
        i++;
    if (rf_dise_handlers[i].name == NULL)
        return rf_dise_fail_expected(
            lexer, "a handler: DataStream_handler, CallPair_handler or HotMethod_handler");
    item->handler = (uint8_t)i;
    rf_dise_lex_take(lexer);
    return rf_dise_lex_expect(lexer, ")", "')'");
}

static rf_status parse_call(struct rf_dise_parser *parser, struct rf_dise_item *item)
{
    struct rf_dise_lexer *lexer = &parser->lexer;
    struct rf_dise_token token = rf_dise_lex_take(lexer);
    rf_status status = rf_dise_lex_expect(lexer, "(", "'('");
    *item = (struct rf_dise_item){.kind = RF_DISE_HANDLER, .if_set = RF_REG_NONE};
    if (status == RF_OK && rf_dise_token_is(&token, "ccall")) {
        status = parse_private(parser, &item->if_set);
        if (status == RF_OK)
            status = rf_dise_lex_expect(lexer, ",", "','");
    }
    return status == RF_OK ? parse_handler(parser, item) : status;
}

static rf_status parse_item(struct rf_dise_parser *parser, struct rf_dise_sequence *sequence)
{
    struct rf_dise_program *program = parser->program;
    struct rf_dise_lexer *lexer = &parser->lexer;
    if (program->n_items == RF_DISE_ITEMS)
        return rf_dise_fail(lexer, &lexer->next.place, "more than %u items in all sequences",
                            RF_DISE_ITEMS);
    struct rf_dise_item *item = &program->items[program->n_items++];
    sequence->n++;
    if (rf_dise_token_is(&lexer->next, "T.INSN")) {
        if (sequence->original >= 0)
            return rf_dise_fail(lexer, &lexer->next.place,
                                "a second T.INSN: a sequence runs the instruction once");
        sequence->original = (int)sequence->n - 1;
        *item = (struct rf_dise_item){.kind = RF_DISE_ORIGINAL};
        rf_dise_lex_take(lexer);
        return RF_OK;
    }
    if (rf_dise_token_is(&lexer->next, "call") || rf_dise_token_is(&lexer->next, "ccall"))
        return parse_call(parser, item);
    return parse_code(parser, item);
}

/* A branch stays on its side of T.INSN, so that sequences can be joined around that. It may go as far as T.INSN, or to the
 * end. */
static rf_status check_branches(const struct rf_dise_parser *parser,
                                const struct rf_dise_sequence *sequence)
{
    for (unsigned i = 0; i < sequence->n; i++) {
        const struct rf_dise_item *item = &parser->program->items[sequence->first + i];
        bool before = (int)i < sequence->original;
        unsigned end = before ? (unsigned)sequence->original : sequence->n;
        if (item->kind == RF_DISE_CODE && item->insn.kind == RF_OP_CLASS_BRANCH &&
            i + (unsigned)item->insn.imm > end)
            return rf_dise_fail(&parser->lexer, &sequence->place,
                                "item %u goes %d ahead, past %s: %u is the farthest", i + 1,
                                item->insn.imm, before ? "T.INSN" : "the end", end - i);
    }
    return RF_OK;
}

rf_status rf_dise_parse_sequence(struct rf_dise_parser *parser, struct rf_dise_sequence *sequence)
{
    rf_status status = RF_OK;
    sequence->place = parser->lexer.next.place;
    sequence->profile = parser->profile;
    sequence->first = parser->program->n_items;
    sequence->n = 0;
    sequence->original = -1;
    while (status == RF_OK && starts_item(parser)) {
        status = parse_item(parser, sequence);
        rf_dise_lex_accept(&parser->lexer, ";");
    }
    return status == RF_OK ? check_branches(parser, sequence) : status;
}
