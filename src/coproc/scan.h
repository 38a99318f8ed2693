/* scan.h - the words, numbers and signs of a microprogram's text, each with its line and column. */
#ifndef RF_COPROC_SCAN_H
#define RF_COPROC_SCAN_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rf_token_kind {
    RF_TOKEN_END,
    RF_TOKEN_LINE_END,
    RF_TOKEN_WORD,
    RF_TOKEN_NUMBER,
    RF_TOKEN_SIGN
};

struct rf_token {
    enum rf_token_kind kind;
    const char *start;
    size_t n;
    uint64_t number;
    unsigned line, column;
};

struct rf_scan {
    const char *p, *line_start;
    unsigned line;
    struct rf_token token; /* the one to be read next */
    struct rf_error *error;
};

/* Both leave the first token to be read in scan->token. */
rf_status rf_scan_open(struct rf_scan *scan, const char *text, struct rf_error *error);
rf_status rf_scan_next(struct rf_scan *scan);

/* "line 3, column 7: ..."; returns RF_EINVAL. */
rf_status rf_scan_fail(struct rf_scan *scan, const struct rf_token *at, const char *format, ...)
    RF_PRINTF(3, 4);
/* "expected WHAT, got 'x'". */
rf_status rf_scan_expected(struct rf_scan *scan, const char *what);

bool rf_token_is(const struct rf_token *token, const char *text);
/* Is it this word or sign? Then it is read. */
bool rf_scan_take(struct rf_scan *scan, const char *text, rf_status *status);
/* It must be this one. */
rf_status rf_scan_want(struct rf_scan *scan, const char *text);
/* At the end of a line or of the text? */
bool rf_scan_at_end(const struct rf_scan *scan);

#endif
