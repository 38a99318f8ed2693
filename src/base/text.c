/* text.c - string operations without libc. */
#include "base/text.h"
#include <string.h>

/* The empty asm keeps compilers from seeing strlen in this loop and calling it. */
size_t rf_text_length(const char *text)
{
    size_t n = 0;
    for (; text[n] != '\0'; n++)
        __asm__ volatile("");
    return n;
}

bool rf_text_equal(const char *text, const char *word, size_t word_length)
{
    for (size_t i = 0; i < word_length; i++)
        if (text[i] == '\0' || text[i] != word[i])
            return false;
    return text[word_length] == '\0';
}

const char *rf_text_last_part(const char *path)
{
    const char *last = path;
    for (; *path != '\0'; path++)
        if (*path == '/')
            last = path + 1;
    return last;
}

char *rf_text_put(char *copy, const char *text, size_t n)
{
    memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

bool rf_text_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool rf_text_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    unsigned ab = a < b ? a : b;
    return ab < c ? ab : c;
}

enum { DISTANCE_MAX = 32 };

/* Optimal string alignment, three rows of the table at a time. */
unsigned rf_text_distance(const char *a, const char *b)
{
    size_t n = rf_text_length(a), m = rf_text_length(b);
    if (n > DISTANCE_MAX || m > DISTANCE_MAX)
        return DISTANCE_MAX;
    unsigned rows[3][DISTANCE_MAX + 1];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = least(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && second[j - 2] + 1 < row[j])
                row[j] = second[j - 2] + 1;
        }
    }
    return rows[n % 3][m];
}
