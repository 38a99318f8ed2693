/* columns.c - text in columns, with words broken at the width of the terminal. */
#include "say.h"
#include <string.h>

void cli_put_words(FILE *out, const char *text, size_t n, struct cli_margins margins)
{
    const char *end = text + n;
    int column = margins.column;
    while (text < end) {
        size_t word = strcspn(text, " \n");
        if (word > (size_t)(end - text))
            word = (size_t)(end - text);
        if (column > margins.indent && column + 1 + (int)word > margins.width) {
            fputc('\n', out);
            column = 0;
        }
        if (column == 0)
            column = fprintf(out, "%*s", margins.indent, "");
        else if (column > margins.indent)
            column += fprintf(out, " ");
        column += fprintf(out, "%.*s", (int)word, text);
        text += word;
        text += strspn(text, " \n");
    }
    fputc('\n', out);
}

void cli_put_row(const int *columns, const char *const *cells, size_t n)
{
    int column = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        column += printf("%*s%s", columns[i] - column, "", cells[i]);
        if (column < columns[i + 1])
            continue;
        putchar('\n');
        column = 0;
    }
    column += printf("%*s", columns[n - 1] - column, "");
    cli_put_words(stdout, cells[n - 1], strlen(cells[n - 1]),
                  (struct cli_margins){columns[n - 1], column, cli_width(stdout)});
}
