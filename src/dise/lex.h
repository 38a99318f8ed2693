/* lex.h - the words and signs of a text of productions, with the place of each. */
#ifndef RF_DISE_LEX_H
#define RF_DISE_LEX_H

#include "base/error.h"
#include "dise/production.h"

enum rf_dise_token_kind {
    RF_DISE_END,
    RF_DISE_WORD,   /* letters, digits, '_', '.', '$' */
    RF_DISE_NUMBER, /* without a sign; UINT64_MAX: that, or larger */
    RF_DISE_STRING, /* what is between the quotes */
    RF_DISE_SIGN,   /* "=>", "&&", "(", ... */
    RF_DISE_WRONG,  /* a character that is none of these; a string without an end */
};

struct rf_dise_token {
    enum rf_dise_token_kind kind;
    const char *text;
    size_t n;
    uint64_t number;
    struct rf_dise_place place;
};

/* Where we are; `next` is the token to be taken. */
struct rf_dise_lexer {
    const char *start, *p, *end;
    struct rf_dise_place place;
    struct rf_dise_token next, after; /* one more is looked at to tell a definition from the rest */
    const struct rf_dise_program *program; /* for the names of files */
    struct rf_error *error;
};

void rf_dise_lex_start(struct rf_dise_lexer *lexer, const char *text, size_t n, unsigned file);
struct rf_dise_token rf_dise_lex_take(struct rf_dise_lexer *lexer);

bool rf_dise_token_is(const struct rf_dise_token *token, const char *text);
/* Take the next token if it is this sign or word. */
bool rf_dise_lex_accept(struct rf_dise_lexer *lexer, const char *text);
/* The same, and fail if it is not; `what` is the rest of "expected ...". */
rf_status rf_dise_lex_expect(struct rf_dise_lexer *lexer, const char *text, const char *what);

/* "file:line:column: ..." */
rf_status rf_dise_fail(const struct rf_dise_lexer *lexer, const struct rf_dise_place *place,
                       const char *format, ...) RF_PRINTF(3, 4);
/* "expected WHAT, got 'token'" */
rf_status rf_dise_fail_expected(const struct rf_dise_lexer *lexer, const char *what);

#endif
