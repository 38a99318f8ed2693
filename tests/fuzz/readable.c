/* Any bytes, made readable: what comes out is UTF-8 without anything that a terminal obeys, the same
 * however small the pieces are, and stays as it is when it goes through again. */
#include "fuzz.h"
#include <riffle/text.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

static void check_fit(const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        struct rf_text_char c = rf_text_next(text, left);
        PROMISE(c.kind == RF_TEXT_FIT && c.length >= 1 && c.length <= left);
        PROMISE(c.code >= 0x20 && !(c.code >= 0x7f && c.code < 0xa0));
        PROMISE(!(c.code >= 0x202a && c.code <= 0x202e) && !(c.code >= 0x2066 && c.code <= 0x2069));
        PROMISE(!(c.code >= 0xd800 && c.code < 0xe000) && c.code < 0x110000);
        text += c.length;
        left -= c.length;
    }
}

static void check_cut(const char *text, const char *whole, size_t n, size_t size)
{
    char *cut =
        malloc(size > 0 ? size : 1); /* exactly as much, so that one byte too many is seen */
    if (cut == NULL)
        return;
    PROMISE(rf_text_readable(cut, size, text) == n);
    if (size > 0) {
        PROMISE(strlen(cut) < size && strncmp(cut, whole, strlen(cut)) == 0);
        check_fit(cut);
    }
    free(cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static char whole[10 * MOST + 1], twice[10 * MOST + 1];
    char text[MOST + 1];
    size_t size = n > 0 ? bytes[0] : 0;
    n = n < MOST ? n : MOST;
    memcpy(text, bytes, n);
    text[n] = '\0';
    size_t length = rf_text_readable(whole, sizeof whole, text);
    PROMISE(length == strlen(whole));
    check_fit(whole);
    PROMISE(rf_text_readable(twice, sizeof twice, whole) == length && strcmp(whole, twice) == 0);
    PROMISE(rf_text_width(whole) <= length);
    check_cut(text, whole, length, size);
    return 0;
}
