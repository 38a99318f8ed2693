/* write.c - write foreign texts: made safe for a terminal, quoted for JSON and CSV. */
#include "report/report.h"
#include <riffle/text.h>
#include <string.h>

void rf_write_readable(FILE *out, const char *text)
{
    char piece[RF_TEXT_PIECE];
    for (size_t left = strlen(text), n; left > 0; left -= n, text += n) {
        n = rf_text_piece(piece, text, left);
        fputs(piece, out);
    }
}

/* Past U+FFFF JSON has two escapes, the halves of UTF-16. */
static void write_escape(FILE *out, uint32_t code)
{
    if (code < 0x10000) {
        fprintf(out, "\\u%04x", code);
        return;
    }
    code -= 0x10000;
    fprintf(out, "\\u%04x\\u%04x", 0xd800 + (code >> 10), 0xdc00 + (code & 0x3ff));
}

void rf_write_json(FILE *out, const char *text)
{
    fputc('"', out);
    for (size_t left = strlen(text); left > 0;) {
        struct rf_text_char c = rf_text_next(text, left);
        if (c.kind == RF_TEXT_INVALID)
            fputs("\\ufffd", out);
        else if (c.kind == RF_TEXT_UNFIT)
            write_escape(out, c.code);
        else if (c.code == '"' || c.code == '\\')
            fprintf(out, "\\%c", (char)c.code);
        else
            fwrite(text, 1, c.length, out);
        text += c.length;
        left -= c.length;
    }
    fputc('"', out);
}

bool rf_report_is_formula(const char *text)
{
    return text[0] != '\0' && strchr("=+-@", text[0]) != NULL;
}

/* An apostrophe before it makes a formula text again. */
void rf_write_csv(FILE *out, const char *text)
{
    char piece[RF_TEXT_PIECE];
    fputs(rf_report_is_formula(text) ? "\"'" : "\"", out);
    for (size_t left = strlen(text), n; left > 0; left -= n, text += n) {
        n = rf_text_piece(piece, text, left);
        fputs(piece[0] == '"' ? "\"\"" : piece, out);
    }
    fputc('"', out);
}
