/* lex.c - characters to tokens. */
#include "dise/lex.h"
#include "base/text.h"
#include "base/units.h"
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return (rf_text_is_word(c) && c != '-') || c == '$';
}

static bool at_end(const struct rf_dise_lexer *lexer)
{
    return lexer->p == lexer->end;
}

/* Columns are bytes, but those in the middle of a character of UTF-8 do not count. */
static void step_over(struct rf_dise_lexer *lexer, size_t n)
{
    for (; n > 0 && !at_end(lexer); n--, lexer->p++) {
        if (*lexer->p == '\n') {
            lexer->place.line++;
            lexer->place.column = 1;
        } else if (((unsigned char)*lexer->p & 0xc0) != 0x80) {
            lexer->place.column++;
        }
    }
}

static void skip_blank(struct rf_dise_lexer *lexer)
{
    while (!at_end(lexer) && (rf_text_is_space(*lexer->p) || *lexer->p == '#')) {
        bool comment = *lexer->p == '#';
        do
            step_over(lexer, 1);
        while (comment && !at_end(lexer) && *lexer->p != '\n');
    }
}

static size_t sign_length(const struct rf_dise_lexer *lexer)
{
    static const char *const signs[] = {"\xe2\x87\x92",
                                        "=>",
                                        "&&",
                                        "||",
                                        "==",
                                        "!=",
                                        "<=",
                                        ">=",
                                        "<",
                                        ">",
                                        "!",
                                        "(",
                                        ")",
                                        ",",
                                        ";",
                                        ":",
                                        "=",
                                        "-",
                                        "~",
                                        "+"};
    size_t left = (size_t)(lexer->end - lexer->p);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t n = strlen(signs[i]);
        if (n <= left && memcmp(lexer->p, signs[i], n) == 0)
            return n;
    }
    return 0;
}

static size_t word_length(const struct rf_dise_lexer *lexer)
{
    size_t n = 0;
    while (lexer->p + n < lexer->end && is_word(lexer->p[n]))
        n++;
    return n;
}

/* A byte, and those of UTF-8 that belong to it. */
static size_t character_length(const struct rf_dise_lexer *lexer)
{
    size_t n = 1;
    while (lexer->p + n < lexer->end && n < 4 && ((unsigned char)lexer->p[n] & 0xc0) == 0x80)
        n++;
    return n;
}

static void read_string(struct rf_dise_lexer *lexer, struct rf_dise_token *token)
{
    const char *start = lexer->p + 1, *p = start;
    while (p < lexer->end && *p != '"' && *p != '\n')
        p++;
    bool whole = p < lexer->end && *p == '"';
    token->kind = whole ? RF_DISE_STRING : RF_DISE_WRONG;
    token->text = start;
    token->n = (size_t)(p - start);
    step_over(lexer, token->n + (whole ? 2 : 1));
}

static size_t count_hex(const char *text, size_t n)
{
    size_t k = 0;
    while (k < n && (is_digit(text[k]) || ((text[k] | 32) >= 'a' && (text[k] | 32) <= 'f')))
        k++;
    return k;
}

/* Digits with or without a unit, so that nothing but its size can be wrong with it. */
static bool is_large(const char *text, size_t n)
{
    uint64_t one;
    char last[8] = "1";
    size_t digits = 0;
    bool is_hex = n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (is_hex)
        return count_hex(text + 2, n - 2) == n - 2;
    while (digits < n && is_digit(text[digits]))
        digits++;
    if (n - digits >= sizeof last - 1)
        return false;
    memcpy(last + 1, text + digits, n - digits);
    return rf_units_count(last, 1 + n - digits, &one) == RF_OK;
}

/* A number that is too large for 64 bits is the largest one there is. */
static enum rf_dise_token_kind read_number(struct rf_dise_token *token)
{
    if (rf_units_count(token->text, token->n, &token->number) == RF_OK)
        return RF_DISE_NUMBER;
    token->number = UINT64_MAX;
    return is_large(token->text, token->n) ? RF_DISE_NUMBER : RF_DISE_WRONG;
}

static struct rf_dise_token read_token(struct rf_dise_lexer *lexer)
{
    skip_blank(lexer);
    struct rf_dise_token token = {.text = lexer->p, .place = lexer->place};
    if (at_end(lexer))
        return token;
    if (*lexer->p == '"') {
        read_string(lexer, &token);
        return token;
    }
    token.kind = RF_DISE_SIGN;
    token.n = sign_length(lexer);
    if (token.n == 0 && (token.n = word_length(lexer)) > 0)
        token.kind = is_digit(*lexer->p) ? RF_DISE_NUMBER : RF_DISE_WORD;
    if (token.kind == RF_DISE_NUMBER)
        token.kind = read_number(&token);
    if (token.n == 0) {
        token.kind = RF_DISE_WRONG;
        token.n = character_length(lexer);
    }
    step_over(lexer, token.n);
    return token;
}

void rf_dise_lex_start(struct rf_dise_lexer *lexer, const char *text, size_t n, unsigned file)
{
    lexer->start = lexer->p = text;
    lexer->end = text + n;
    lexer->place = (struct rf_dise_place){(uint16_t)file, 1, 1};
    lexer->next = read_token(lexer);
    lexer->after = read_token(lexer);
}

struct rf_dise_token rf_dise_lex_take(struct rf_dise_lexer *lexer)
{
    struct rf_dise_token token = lexer->next;
    lexer->next = lexer->after;
    lexer->after = read_token(lexer);
    return token;
}

bool rf_dise_token_is(const struct rf_dise_token *token, const char *text)
{
    return (token->kind == RF_DISE_WORD || token->kind == RF_DISE_SIGN) &&
           rf_text_equal(text, token->text, token->n);
}

bool rf_dise_lex_accept(struct rf_dise_lexer *lexer, const char *text)
{
    if (!rf_dise_token_is(&lexer->next, text))
        return false;
    rf_dise_lex_take(lexer);
    return true;
}

rf_status rf_dise_lex_expect(struct rf_dise_lexer *lexer, const char *text, const char *what)
{
    return rf_dise_lex_accept(lexer, text) ? RF_OK : rf_dise_fail_expected(lexer, what);
}

rf_status rf_dise_fail(const struct rf_dise_lexer *lexer, const struct rf_dise_place *place,
                       const char *format, ...)
{
    char what[400];
    va_list arguments;
    va_start(arguments, format);
    rf_format_list(what, sizeof what, format, arguments);
    va_end(arguments);
    return rf_fail(lexer->error, RF_EINVAL, "%s:%u:%u: %s", lexer->program->file[place->file],
                   place->line, place->column, what);
}

rf_status rf_dise_fail_expected(const struct rf_dise_lexer *lexer, const char *what)
{
    const struct rf_dise_token *token = &lexer->next;
    if (token->kind == RF_DISE_END)
        return rf_dise_fail(lexer, &token->place, "expected %s, got the end of the file", what);
    if (token->n > 0 && token->text[0] == '\0')
        return rf_dise_fail(lexer, &token->place, "expected %s, got a byte 0", what);
    if (token->kind == RF_DISE_WRONG && token->text > lexer->start && token->text[-1] == '"')
        return rf_dise_fail(lexer, &token->place,
                            "expected %s, got quotes that do not end on the line", what);
    return rf_dise_fail(lexer, &token->place, "expected %s, got '%.*s'", what,
                        (int)(token->n < 60 ? token->n : 60), token->text);
}
