/* scan.c - the words, numbers and signs of a microprogram's text.
 *
 *     word   = letter or '_', then letters, digits, '_'
 *     number = decimal or 0x hexadecimal, below 2^64
 *     sign   = one of the two-character signs below, or any other character
 *
 * '#' begins a comment. The end of a line is a token of its own. */
#include "coproc/scan.h"
#include "base/text.h"
#include <string.h>

static const char pairs[][3] = {
    "++", "--", "+=", "-=", "&=", "|=", "==", "!=", "<=", ">=", "<<", ">>", ".."};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void skip_blank(struct rf_scan *scan)
{
    while (*scan->p == ' ' || *scan->p == '\t' || *scan->p == '\r')
        scan->p++;
    if (*scan->p == '#')
        while (*scan->p != '\0' && *scan->p != '\n')
            scan->p++;
}

static rf_status scan_number(struct rf_scan *scan)
{
    struct rf_token *token = &scan->token;
    unsigned base =
        token->n > 2 && token->start[0] == '0' && (token->start[1] | 32) == 'x' ? 16 : 10;
    token->kind = RF_TOKEN_NUMBER;
    token->number = 0;
    for (size_t i = base == 16 ? 2 : 0; i < token->n; i++) {
        char c = token->start[i];
        unsigned digit = is_digit(c) ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a') + 10;
        if (c == '_' || digit >= base)
            return rf_scan_fail(scan, token, "'%.*s' is no number",
                                (int)(token->n < 40 ? token->n : 40), token->start);
        if (__builtin_mul_overflow(token->number, base, &token->number) ||
            __builtin_add_overflow(token->number, digit, &token->number))
            return rf_scan_fail(scan, token, "the number is above 2^64");
    }
    return RF_OK;
}

static size_t sign_length(const char *p)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (p[0] == pairs[i][0] && p[1] == pairs[i][1])
            return 2;
    return 1;
}

static void pass_line_end(struct rf_scan *scan)
{
    scan->token.kind = RF_TOKEN_LINE_END;
    scan->p++;
    scan->line++;
    scan->line_start = scan->p;
}

rf_status rf_scan_next(struct rf_scan *scan)
{
    skip_blank(scan);
    struct rf_token *token = &scan->token;
    *token = (struct rf_token){.kind = RF_TOKEN_SIGN,
                               .start = scan->p,
                               .n = 1,
                               .line = scan->line,
                               .column = (unsigned)(scan->p - scan->line_start) + 1};
    if (*scan->p == '\0') {
        token->kind = RF_TOKEN_END;
        token->n = 0;
    } else if (*scan->p == '\n') {
        pass_line_end(scan);
    } else if (is_word(*scan->p)) {
        while (is_word(scan->p[token->n]))
            token->n++;
        scan->p += token->n;
        if (is_digit(*token->start))
            return scan_number(scan);
        token->kind = RF_TOKEN_WORD;
    } else {
        token->n = sign_length(scan->p);
        scan->p += token->n;
    }
    return RF_OK;
}

rf_status rf_scan_open(struct rf_scan *scan, const char *text, struct rf_error *error)
{
    *scan = (struct rf_scan){.p = text, .line_start = text, .line = 1, .error = error};
    return rf_scan_next(scan);
}

rf_status rf_scan_fail(struct rf_scan *scan, const struct rf_token *at, const char *format, ...)
{
    char what[400];
    va_list arguments;
    va_start(arguments, format);
    rf_format_list(what, sizeof what, format, arguments);
    va_end(arguments);
    return rf_fail(scan->error, RF_EINVAL, "line %u, column %u: %s", at->line, at->column, what);
}

rf_status rf_scan_expected(struct rf_scan *scan, const char *what)
{
    const struct rf_token *token = &scan->token;
    if (rf_scan_at_end(scan))
        return rf_scan_fail(scan, token, "expected %s, and the line ends", what);
    return rf_scan_fail(scan, token, "expected %s, got '%.*s'", what,
                        (int)(token->n < 40 ? token->n : 40), token->start);
}

bool rf_token_is(const struct rf_token *token, const char *text)
{
    return (token->kind == RF_TOKEN_WORD || token->kind == RF_TOKEN_SIGN) &&
           rf_text_equal(text, token->start, token->n);
}

bool rf_scan_take(struct rf_scan *scan, const char *text, rf_status *status)
{
    if (*status != RF_OK || !rf_token_is(&scan->token, text))
        return false;
    *status = rf_scan_next(scan);
    return *status == RF_OK;
}

rf_status rf_scan_want(struct rf_scan *scan, const char *text)
{
    char what[16];
    if (rf_token_is(&scan->token, text))
        return rf_scan_next(scan);
    rf_format(what, sizeof what, "'%s'", text);
    return rf_scan_expected(scan, what);
}

bool rf_scan_at_end(const struct rf_scan *scan)
{
    return scan->token.kind == RF_TOKEN_END || scan->token.kind == RF_TOKEN_LINE_END;
}
