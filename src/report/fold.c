/* fold.c - texts in as many columns as there are.
 *
 *     stl_tree.h:1951 std::_Rb_tree<..>::_M_lower_bound      a place is folded where a part of it begins:
 *     in main                                                nothing of it is lost
 *     for (unsigned from = 0; from < PA...                   a source line is cut
 *
 * A line ends, best first: in front of "in", "->", "at" or "x"; at another space; behind "::"; in front of template
 * arguments or of an offset; behind "_"; anywhere. */
#include "report/report.h"
#include <riffle/text.h>
#include <stdarg.h>
#include <string.h>

static const char mark[] = "...";
enum { MARK = sizeof mark - 1 };

static size_t next(const char *text)
{
    return rf_text_next(text, strlen(text)).length;
}

/* The bytes that fill this many columns. */
static size_t bytes_of(const char *text, size_t columns)
{
    size_t n = 0;
    for (; columns > 0 && text[n] != '\0'; columns--)
        n += next(text + n);
    return n;
}

void rf_report_cut(char *text, size_t columns)
{
    if (rf_text_width(text) > columns)
        memcpy(text + bytes_of(text, columns > MARK ? columns - MARK : 0), mark, sizeof mark);
}

void rf_report_cut_front(char *text, size_t columns)
{
    const size_t width = rf_text_width(text), kept = columns > MARK ? columns - MARK : 0;
    if (width <= columns)
        return;
    const char *tail = text + bytes_of(text, width - kept);
    memmove(text + MARK, tail, strlen(tail) + 1);
    memcpy(text, mark, MARK);
}

enum goodness { NOWHERE, UNDERSCORE, BRACKET, SCOPE, SPACE, PART };

/* How good it is to break in front of text[i]; i is not 0. */
static enum goodness goodness(const char *text, size_t i)
{
    static const char *const parts[] = {" in ", " -> ", " at ", " x ", ", or in "};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (strncmp(text + i, parts[k], strlen(parts[k])) == 0)
            return PART;
    if (text[i] == ' ' && text[i - 1] != ' ')
        return SPACE;
    if (i > 1 && text[i - 1] == ':' && text[i - 2] == ':')
        return SCOPE;
    if (text[i] == '<' || strncmp(text + i, "+0x", 3) == 0)
        return BRACKET;
    return text[i - 1] == '_' && text[i] != '_' ? UNDERSCORE : NOWHERE;
}

size_t rf_report_fold(const char *text, size_t columns)
{
    const size_t most = bytes_of(text, columns > 0 ? columns : 1), few = most / 3;
    size_t best = most;
    enum goodness most_good = NOWHERE;
    if (text[most] == '\0')
        return most;
    for (size_t i = strspn(text, " ") + 1; i <= most; i += next(text + i)) {
        enum goodness good = goodness(text, i);
        if (good > NOWHERE && good >= most_good && (i > few || good == PART)) {
            most_good = good;
            best = i;
        }
    }
    return best;
}

/* The same for a sentence: as many words as fit. */
static size_t wrap(const char *text, size_t columns)
{
    const size_t most = bytes_of(text, columns);
    size_t n = most;
    if (text[most] == '\0')
        return most;
    while (n > 0 && text[n] != ' ')
        n--;
    return n > 0 ? n : rf_report_fold(text, columns);
}

void rf_report_paragraph(FILE *out, const struct rf_report_setup *setup, size_t indent,
                         const char *text)
{
    enum { LEAST = 20 };
    const size_t width = setup->width > 0 ? (size_t)setup->width : SIZE_MAX;
    const size_t columns = width > indent + LEAST ? width - indent : LEAST;
    do {
        size_t n = wrap(text, columns);
        fprintf(out, "%.*s\n", (int)n, text);
        text += n;
        text += strspn(text, " ");
        if (text[0] != '\0')
            fprintf(out, "%*s", (int)indent, "");
    } while (text[0] != '\0');
}

void rf_report_sentence(FILE *out, const struct rf_report_setup *setup, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fputc(' ', out);
    rf_report_paragraph(out, setup, 1, text);
}
