/* grown.c - a text that grows at its end. */
#include "grown.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Room for n more bytes and an end. */
static bool make_room(struct cli_grown *text, size_t n)
{
    if (text->n + n < text->room)
        return true;
    size_t room = 2 * (text->room + n) + 4096;
    char *more = realloc(text->at, room);
    text->failed |= more == NULL;
    if (more == NULL)
        return false;
    text->at = more;
    text->room = room;
    return true;
}

void cli_grown_put(struct cli_grown *text, const char *at, size_t n)
{
    if (!make_room(text, n))
        return;
    memcpy(text->at + text->n, at, n);
    text->n += n;
}

void cli_grown_say(struct cli_grown *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (n < 0 || !make_room(text, (size_t)n))
        return;
    va_start(arguments, format);
    vsnprintf(text->at + text->n, (size_t)n + 1, format, arguments);
    va_end(arguments);
    text->n += (size_t)n;
}
