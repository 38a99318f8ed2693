/* read.c - a file of productions into a program.
 *
 *     file       = { item [";"] }
 *     item       = include "file" | register name = value | counter_N = name
 *                | [name :] pattern => replacement , control
 *                | name : sequence | name : control ;
 *     replacement = null | name | sequence
 *     control    = part { ("," | ";") part }        part = null | name | inc_N | dec_N | set_N(name)
 *     value      = [-] number | max [(- | ~) number]
 *
 * Names of replacements and controls may be used before they are defined; they are looked up when the whole
 * profile is read. */
#include "dise/parse.h"
#include "event/input.h"
#include "base/alloc.h"
#include "base/text.h"
#include "base/units.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { INCLUDES_MAX = 8, FILE_MAX = 1 << 20 };

/* --- names -------------------------------------------------------------------------------------- */

static rf_status copy_name(const struct rf_dise_parser *parser, char *name,
                           const struct rf_dise_token *token)
{
    if (token->kind != RF_DISE_WORD)
        return rf_dise_fail(&parser->lexer, &token->place, "expected a name, got '%.*s'",
                            (int)(token->n < 60 ? token->n : 60), token->text);
    if (token->n >= RF_DISE_NAME)
        return rf_dise_fail(&parser->lexer, &token->place, "a name is longer than %d characters",
                            RF_DISE_NAME - 1);
    memcpy(name, token->text, token->n);
    name[token->n] = '\0';
    return RF_OK;
}

bool rf_dise_is_numbered(const struct rf_dise_token *token, const char *prefix)
{
    size_t n = strlen(prefix);
    return token->kind == RF_DISE_WORD && token->n > n && memcmp(token->text, prefix, n) == 0 &&
           token->text[n] >= '0' && token->text[n] <= '9';
}

static int find_counter(const struct rf_dise_program *program, unsigned profile, unsigned number)
{
    for (unsigned i = 0; i < program->n_counters; i++)
        if (program->counters[i].profile == profile && program->counters[i].number == number)
            return (int)i;
    return -1;
}

rf_status rf_dise_parse_counter(struct rf_dise_parser *parser, const struct rf_dise_token *token,
                                const char *prefix, uint8_t *counter)
{
    struct rf_dise_program *program = parser->program;
    size_t skip = strlen(prefix);
    uint64_t number;
    if (rf_units_count(token->text + skip, token->n - skip, &number) != RF_OK || number > 999)
        return rf_dise_fail(&parser->lexer, &token->place,
                            "expected a number of a counter, 0 to 999, in '%.*s'", (int)token->n,
                            token->text);
    int found = find_counter(program, parser->profile, (unsigned)number);
    if (found < 0 && program->n_counters == RF_DISE_COUNTERS)
        return rf_dise_fail(&parser->lexer, &token->place,
                            "more than %u counters, all profiles together", RF_DISE_COUNTERS);
    if (found < 0) {
        found = (int)program->n_counters++;
        program->counters[found] =
            (struct rf_dise_counter){parser->profile, (unsigned)number, -1, token->place};
    }
    *counter = (uint8_t)found;
    return RF_OK;
}

static int register_of(const struct rf_dise_program *program, unsigned profile, const char *name,
                       size_t n)
{
    for (unsigned i = 0; i < program->n_registers; i++)
        if (program->registers[i].profile == profile &&
            rf_text_equal(program->registers[i].name, name, n))
            return (int)i;
    return -1;
}

rf_status rf_dise_find_register(const struct rf_dise_parser *parser,
                                const struct rf_dise_token *token, uint8_t *index)
{
    int found = token->kind == RF_DISE_WORD
                    ? register_of(parser->program, parser->profile, token->text, token->n)
                    : -1;
    if (found < 0)
        return rf_dise_fail(&parser->lexer, &token->place,
                            "no register '%.*s'; 'register %.*s = 0' above would make one",
                            (int)(token->n < 60 ? token->n : 60), token->text,
                            (int)(token->n < 60 ? token->n : 60), token->text);
    *index = (uint8_t)found;
    return RF_OK;
}

/* --- values ------------------------------------------------------------------------------------- */

rf_status rf_dise_parse_number(struct rf_dise_parser *parser, int64_t *number)
{
    struct rf_dise_lexer *lexer = &parser->lexer;
    bool negative = rf_dise_lex_accept(lexer, "-");
    if (lexer->next.kind != RF_DISE_NUMBER)
        return rf_dise_fail_expected(lexer, "a number");
    struct rf_dise_token token = rf_dise_lex_take(lexer);
    if (token.number > INT64_MAX)
        return rf_dise_fail(lexer, &token.place, "%.*s%s is too large: more than 2^63 - 1",
                            (int)(token.n < 60 ? token.n : 60), token.text,
                            token.n < 60 ? "" : "...");
    *number = negative ? -(int64_t)token.number : (int64_t)token.number;
    return RF_OK;
}

static rf_status parse_value(struct rf_dise_parser *parser, struct rf_dise_register *reg)
{
    struct rf_dise_lexer *lexer = &parser->lexer;
    reg->from_max = rf_dise_lex_accept(lexer, "max");
    reg->value = 0;
    reg->about = reg->from_max && rf_dise_lex_accept(lexer, "~");
    if (reg->from_max && !reg->about && !rf_dise_token_is(&lexer->next, "-"))
        return RF_OK;
    if (reg->about && lexer->next.kind != RF_DISE_NUMBER)
        return rf_dise_fail_expected(lexer, "a number without a sign");
    rf_status status = rf_dise_parse_number(parser, &reg->value);
    if (reg->about)
        reg->value = -reg->value;
    reg->about = reg->about && reg->value != 0; /* max ~ 0 is max */
    return status;
}

uint64_t rf_dise_register_value(const struct rf_dise_register *reg, unsigned counter_bits)
{
    uint64_t max = reg->from_max ? UINT64_C(1) << counter_bits : 0;
    return max + (uint64_t)reg->value;
}

static rf_status parse_register(struct rf_dise_parser *parser)
{
    struct rf_dise_program *program = parser->program;
    struct rf_dise_token token = rf_dise_lex_take(&parser->lexer);
    struct rf_dise_register reg = {.profile = parser->profile, .place = token.place};
    rf_status status = copy_name(parser, reg.name, &token);
    if (status == RF_OK)
        status = rf_dise_lex_expect(&parser->lexer, "=", "'=' and the register's first value");
    if (status == RF_OK)
        status = parse_value(parser, &reg);
    if (status != RF_OK)
        return status;
    if (register_of(program, parser->profile, token.text, token.n) >= 0)
        return rf_dise_fail(&parser->lexer, &token.place, "a second register '%s'", reg.name);
    if (program->n_registers == RF_DISE_REGISTERS)
        return rf_dise_fail(&parser->lexer, &token.place,
                            "more than %u registers, all profiles together", RF_DISE_REGISTERS);
    program->registers[program->n_registers++] = reg;
    return RF_OK;
}

/* counter_1 = sampleFreq */
static rf_status parse_start(struct rf_dise_parser *parser)
{
    struct rf_dise_token token = rf_dise_lex_take(&parser->lexer);
    uint8_t counter = 0, reg = 0;
    rf_status status = rf_dise_parse_counter(parser, &token, "counter_", &counter);
    if (status == RF_OK)
        status = rf_dise_lex_expect(&parser->lexer, "=", "'=' and a register");
    if (status != RF_OK)
        return status;
    struct rf_dise_token name = rf_dise_lex_take(&parser->lexer);
    status = rf_dise_find_register(parser, &name, &reg);
    if (status == RF_OK && parser->program->counters[counter].from >= 0)
        return rf_dise_fail(&parser->lexer, &token.place, "a second first value of this counter");
    if (status == RF_OK)
        parser->program->counters[counter].from = reg;
    return status;
}

/* --- controls ----------------------------------------------------------------------------------- */

static bool starts_op(const struct rf_dise_token *token)
{
    return rf_dise_is_numbered(token, "inc_") || rf_dise_is_numbered(token, "dec_") ||
           rf_dise_is_numbered(token, "set_");
}

static rf_status parse_op(struct rf_dise_parser *parser)
{
    static const char *const prefixes[] = {"inc_", "dec_", "set_"};
    struct rf_dise_program *program = parser->program;
    struct rf_dise_lexer *lexer = &parser->lexer;
    struct rf_dise_token token = rf_dise_lex_take(lexer);
    struct rf_dise_op op = {.micro = RF_DISE_INC};
    while (!rf_dise_is_numbered(&token, prefixes[op.micro]))
        op.micro++;
    rf_status status = rf_dise_parse_counter(parser, &token, prefixes[op.micro], &op.counter);
    if (status == RF_OK && op.micro == RF_DISE_SET) {
        status = rf_dise_lex_expect(lexer, "(", "'(' and the register to set it from");
        struct rf_dise_token name = lexer->next;
        if (status == RF_OK)
            status = rf_dise_find_register(parser, &name, &op.from);
        if (status == RF_OK) {
            rf_dise_lex_take(lexer);
            status = rf_dise_lex_expect(lexer, ")", "')'");
        }
    }
    if (status == RF_OK && program->n_ops == RF_DISE_OPS)
        return rf_dise_fail(lexer, &token.place, "more than %u micro-instructions", RF_DISE_OPS);
    if (status == RF_OK)
        program->ops[program->n_ops++] = op;
    return status;
}

/* `CC1: inc_1; inc_2;` from behind the colon. */
static rf_status parse_control(struct rf_dise_parser *parser, const struct rf_dise_token *name)
{
    struct rf_dise_lexer *lexer = &parser->lexer;
    if (parser->n_controls == RF_DISE_CONTROLS)
        return rf_dise_fail(lexer, &name->place, "more than %u controls", RF_DISE_CONTROLS);
    struct rf_dise_control *control = &parser->controls[parser->n_controls++];
    rf_status status = copy_name(parser, control->name, name);
    control->place = name->place;
    control->first_op = parser->program->n_ops;
    if (status == RF_OK && rf_dise_lex_accept(lexer, "null"))
        rf_dise_lex_accept(lexer, ";");
    while (status == RF_OK && starts_op(&lexer->next)) {
        status = parse_op(parser);
        if (!rf_dise_lex_accept(lexer, ";"))
            rf_dise_lex_accept(lexer, ",");
    }
    control->n_ops = parser->program->n_ops - control->first_op;
    return status;
}

static rf_status note_use(struct rf_dise_parser *parser, unsigned production, bool is_control)
{
    struct rf_dise_token token = parser->lexer.next;
    if (token.kind != RF_DISE_WORD)
        return rf_dise_fail_expected(&parser->lexer,
                                     is_control ? "a control: null, inc_N, dec_N, "
                                                  "set_N(register) or a name"
                                                : "a replacement: null, a sequence or a name");
    if (parser->n_uses == RF_DISE_USES)
        return rf_dise_fail(&parser->lexer, &token.place, "more than %u names", RF_DISE_USES);
    struct rf_dise_use *use = &parser->uses[parser->n_uses++];
    *use = (struct rf_dise_use){
        .place = token.place, .production = production, .is_control = is_control};
    rf_dise_lex_take(&parser->lexer);
    return copy_name(parser, use->name, &token);
}

/* The control of a production: micro-instructions, or the name of some. */
static rf_status parse_control_part(struct rf_dise_parser *parser, unsigned production)
{
    struct rf_dise_production *made = &parser->program->productions[production];
    struct rf_dise_lexer *lexer = &parser->lexer;
    rf_status status = RF_OK;
    if (rf_dise_lex_accept(lexer, "null"))
        return RF_OK;
    if (!starts_op(&lexer->next))
        return note_use(parser, production, true);
    made->first_op = parser->program->n_ops;
    do
        status = parse_op(parser);
    while (status == RF_OK && rf_dise_token_is(&lexer->next, ",") && starts_op(&lexer->after) &&
           rf_dise_lex_accept(lexer, ","));
    made->n_ops = parser->program->n_ops - made->first_op;
    return status;
}

/* --- productions -------------------------------------------------------------------------------- */

static rf_status new_sequence(struct rf_dise_parser *parser, struct rf_dise_sequence **sequence)
{
    struct rf_dise_program *program = parser->program;
    if (program->n_sequences == RF_DISE_SEQUENCES)
        return rf_dise_fail(&parser->lexer, &parser->lexer.next.place, "more than %u replacements",
                            RF_DISE_SEQUENCES);
    *sequence = &program->sequences[program->n_sequences++];
    **sequence = (struct rf_dise_sequence){.name = ""};
    return rf_dise_parse_sequence(parser, *sequence);
}

static rf_status parse_replacement(struct rf_dise_parser *parser, unsigned production)
{
    struct rf_dise_production *made = &parser->program->productions[production];
    struct rf_dise_sequence *sequence = NULL;
    made->sequence = -1;
    if (rf_dise_lex_accept(&parser->lexer, "null"))
        return RF_OK;
    if (!rf_dise_starts_sequence(parser))
        return note_use(parser, production, false);
    made->sequence = (int)parser->program->n_sequences;
    return new_sequence(parser, &sequence);
}

static rf_status keep_boxes(struct rf_dise_parser *parser, struct rf_dise_production *made,
                            const struct rf_dise_set *pattern)
{
    struct rf_dise_program *program = parser->program;
    if (program->n_boxes + pattern->n > RF_DISE_BOXES)
        return rf_dise_fail(&parser->lexer, &made->place,
                            "all patterns together take more than %u entries", RF_DISE_BOXES);
    made->first_box = program->n_boxes;
    made->n_boxes = pattern->n;
    memcpy(&program->boxes[program->n_boxes], pattern->boxes, pattern->n * sizeof *pattern->boxes);
    program->n_boxes += pattern->n;
    return RF_OK;
}

/* From the pattern on. */
static rf_status parse_production(struct rf_dise_parser *parser, const struct rf_dise_token *name)
{
    struct rf_dise_program *program = parser->program;
    struct rf_dise_lexer *lexer = &parser->lexer;
    struct rf_dise_set pattern;
    unsigned index = program->n_productions;
    if (index == RF_DISE_PRODUCTIONS)
        return rf_dise_fail(lexer, &lexer->next.place, "more than %u productions",
                            RF_DISE_PRODUCTIONS);
    struct rf_dise_production *made = &program->productions[program->n_productions++];
    *made = (struct rf_dise_production){.place = name != NULL ? name->place : lexer->next.place,
                                        .profile = parser->profile};
    rf_status status = name != NULL ? copy_name(parser, made->name, name) : RF_OK;
    if (status == RF_OK)
        status = rf_dise_parse_pattern(parser, &pattern);
    if (status == RF_OK)
        status = keep_boxes(parser, made, &pattern);
    if (status == RF_OK && !rf_dise_lex_accept(lexer, "\xe2\x87\x92"))
        status = rf_dise_lex_expect(lexer, "=>", "'=>', '&&' or '||'");
    if (status == RF_OK)
        status = parse_replacement(parser, index);
    if (status == RF_OK)
        status = rf_dise_lex_expect(lexer, ",", "',' and a control, such as inc_1 or null");
    return status == RF_OK ? parse_control_part(parser, index) : status;
}

/* Behind `name :`. */
static rf_status parse_definition(struct rf_dise_parser *parser, const struct rf_dise_token *name)
{
    struct rf_dise_sequence *sequence = NULL;
    if (rf_dise_starts_pattern(parser))
        return parse_production(parser, name);
    if (starts_op(&parser->lexer.next) || rf_dise_token_is(&parser->lexer.next, "null"))
        return parse_control(parser, name);
    if (!rf_dise_starts_sequence(parser))
        return rf_dise_fail_expected(&parser->lexer, "a pattern, a replacement or a control");
    rf_status status = new_sequence(parser, &sequence);
    if (status != RF_OK)
        return status;
    sequence->place = name->place;
    return copy_name(parser, sequence->name, name);
}

/* --- files -------------------------------------------------------------------------------------- */

static rf_status parse_file(struct rf_dise_parser *parser, const char *path,
                            const struct rf_dise_place *from);

/* Beside the file that includes it. */
static rf_status parse_include(struct rf_dise_parser *parser)
{
    struct rf_dise_lexer *lexer = &parser->lexer;
    struct rf_dise_token token = rf_dise_lex_take(lexer);
    const char *here = parser->program->file[token.place.file], *slash = strrchr(here, '/');
    size_t folder =
        slash != NULL && token.n > 0 && token.text[0] != '/' ? (size_t)(slash + 1 - here) : 0;
    char path[256];
    if (token.kind != RF_DISE_STRING)
        return rf_dise_fail(lexer, &token.place, "expected the name of a file in quotes");
    if (!parser->may_include)
        return rf_dise_fail(lexer, &token.place, "only a file can include another one");
    if (parser->depth == INCLUDES_MAX)
        return rf_dise_fail(lexer, &token.place, "more than %u files include each other",
                            INCLUDES_MAX);
    if (rf_format(path, sizeof path, "%.*s%.*s", (int)folder, here, (int)token.n, token.text) >=
        sizeof path)
        return rf_dise_fail(lexer, &token.place, "the name of the file is too long");
    struct rf_dise_lexer saved = *lexer;
    parser->depth++;
    rf_status status = parse_file(parser, path, &token.place);
    parser->depth--;
    *lexer = saved;
    return status;
}

static rf_status parse_items(struct rf_dise_parser *parser)
{
    struct rf_dise_lexer *lexer = &parser->lexer;
    rf_status status = RF_OK;
    while (status == RF_OK && lexer->next.kind != RF_DISE_END) {
        if (rf_dise_token_is(&lexer->after, ":")) {
            struct rf_dise_token name = rf_dise_lex_take(lexer);
            rf_dise_lex_take(lexer);
            status = parse_definition(parser, &name);
        } else if (rf_dise_lex_accept(lexer, "include")) {
            status = parse_include(parser);
        } else if (rf_dise_lex_accept(lexer, "register")) {
            status = parse_register(parser);
        } else if (rf_dise_is_numbered(&lexer->next, "counter_")) {
            status = parse_start(parser);
        } else if (rf_dise_starts_pattern(parser)) {
            status = parse_production(parser, NULL);
        } else {
            status = rf_dise_fail_expected(
                lexer, "a production, a definition, 'register', 'counter_N' or 'include'");
        }
        rf_dise_lex_accept(lexer, ";");
    }
    return status;
}

/* A new name of a file; its index. */
static rf_status add_file(struct rf_dise_parser *parser, const char *name, unsigned *index)
{
    struct rf_dise_program *program = parser->program;
    if (program->n_files == RF_DISE_FILES)
        return rf_fail(parser->lexer.error, RF_EINVAL, "%s: more than %u files of productions",
                       name, RF_DISE_FILES);
    *index = program->n_files++;
    rf_format(program->file[*index], sizeof program->file[*index], "%s", name);
    return RF_OK;
}

static rf_status parse_text(struct rf_dise_parser *parser, const char *name, const char *text,
                            size_t n)
{
    unsigned file = 0;
    rf_status status = add_file(parser, name, &file);
    if (status != RF_OK)
        return status;
    if (parser->depth == 0)
        parser->program->profile_file[parser->profile] = file;
    rf_dise_lex_start(&parser->lexer, text, n, file);
    return parse_items(parser);
}

/* All that can be read there, a file or a pipe; FILE_MAX bytes of memory. NULL with errno set. */
static char *load(const char *path, size_t *n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = fd >= 0 ? rf_alloc_get(&rf_alloc_standard, FILE_MAX) : NULL;
    ssize_t got = text != NULL ? rf_input_read(fd, text, FILE_MAX) : 0;
    int why = errno;
    *n = got > 0 ? (size_t)got : 0;
    if (text != NULL && (got < 0 || *n == FILE_MAX)) {
        why = got < 0 ? errno : EFBIG;
        rf_alloc_free(&rf_alloc_standard, text, FILE_MAX);
        text = NULL;
    }
    if (fd >= 0)
        close(fd);
    errno = why;
    return text;
}

static rf_status parse_file(struct rf_dise_parser *parser, const char *path,
                            const struct rf_dise_place *from)
{
    size_t n;
    char *text = load(path, &n);
    if (text == NULL && from != NULL)
        return rf_dise_fail(&parser->lexer, from, "cannot read %s: %s", path, strerror(errno));
    if (text == NULL)
        return rf_fail(parser->lexer.error, RF_EIO, "%s: cannot read: %s", path, strerror(errno));
    rf_status status = parse_text(parser, path, text, n);
    rf_alloc_free(&rf_alloc_standard, text, FILE_MAX);
    return status;
}

/* --- a profile ----------------------------------------------------------------------------------- */

static rf_status resolve_control(struct rf_dise_parser *parser, const struct rf_dise_use *use)
{
    struct rf_dise_production *production = &parser->program->productions[use->production];
    for (unsigned i = 0; i < parser->n_controls; i++)
        if (strcmp(parser->controls[i].name, use->name) == 0) {
            production->first_op = parser->controls[i].first_op;
            production->n_ops = parser->controls[i].n_ops;
            return RF_OK;
        }
    return rf_dise_fail(&parser->lexer, &use->place, "no control '%s' is defined", use->name);
}

static rf_status resolve_sequence(struct rf_dise_parser *parser, const struct rf_dise_use *use)
{
    struct rf_dise_program *program = parser->program;
    for (unsigned i = 0; i < program->n_sequences; i++)
        if (program->sequences[i].profile == parser->profile &&
            strcmp(program->sequences[i].name, use->name) == 0) {
            program->productions[use->production].sequence = (int)i;
            return RF_OK;
        }
    return rf_dise_fail(&parser->lexer, &use->place, "no replacement '%s' is defined", use->name);
}

static rf_status finish(struct rf_dise_parser *parser)
{
    rf_status status = RF_OK;
    for (unsigned i = 0; status == RF_OK && i < parser->n_uses; i++)
        status = parser->uses[i].is_control ? resolve_control(parser, &parser->uses[i])
                                            : resolve_sequence(parser, &parser->uses[i]);
    return status == RF_OK ? rf_dise_check(parser) : status;
}

/* With a text, that; else the file. */
static rf_status read_profile(struct rf_dise_program *program, const char *name, const char *text,
                              size_t n, struct rf_error *error)
{
    if (program->n_profiles == RF_DISE_PROFILES)
        return rf_fail(error, RF_EINVAL, "%s: more than %u profiles at once", name,
                       RF_DISE_PROFILES);
    struct rf_dise_parser *parser = rf_alloc_get(&rf_alloc_standard, sizeof *parser);
    if (parser == NULL)
        return rf_fail(error, RF_ENOMEM, "%s: no memory to read it", name);
    memset(parser, 0, sizeof *parser);
    parser->program = program;
    parser->profile = program->n_profiles++;
    parser->may_include = text == NULL;
    parser->lexer.program = program;
    parser->lexer.error = error;
    rf_status status =
        text != NULL ? parse_text(parser, name, text, n) : parse_file(parser, name, NULL);
    if (status == RF_OK)
        status = finish(parser);
    rf_alloc_free(&rf_alloc_standard, parser, sizeof *parser);
    return status;
}

rf_status rf_dise_read(struct rf_dise_program *program, const char *path, struct rf_error *error)
{
    return read_profile(program, path, NULL, 0, error);
}

rf_status rf_dise_read_text(struct rf_dise_program *program, const char *name, const char *text,
                            size_t n, struct rf_error *error)
{
    return read_profile(program, name, text, n, error);
}
