/* source.c - one line of a source file.
 *
 * A profile may name anything as its source: it is opened without blocking, and only if it is a plain file. */
#include "view/view.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *rf_view_open_source(const char *path)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return NULL;
    FILE *file = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) ? fdopen(fd, "r") : NULL;
    if (file == NULL)
        close(fd);
    return file;
}

/* Without the indentation, and with spaces for tabs. */
static void tidy(char *text)
{
    size_t indent = strspn(text, " \t"), n;
    memmove(text, text + indent, strlen(text + indent) + 1);
    n = strcspn(text, "\r\n");
    text[n] = '\0';
    for (char *p = text; *p != '\0'; p++)
        *p = *p == '\t' ? ' ' : *p;
}

void rf_view_source(const char *path, uint32_t wanted, char *text, size_t size)
{
    uint32_t line = 0;
    bool begins = true; /* a line that is longer than the buffer is one line */
    text[0] = '\0';
    FILE *file = wanted > 0 ? rf_view_open_source(path) : NULL;
    if (file == NULL)
        return;
    while (line < wanted && fgets(text, (int)size, file) != NULL) {
        line += begins;
        begins = strchr(text, '\n') != NULL;
    }
    if (line < wanted)
        text[0] = '\0';
    fclose(file);
    tidy(text);
}
