/* Any bytes as a text stream: some tuples, then the end or the name of a bad line. The fast scanner
 * must read what a plain one reads. */
#include "fuzz.h"
#include <riffle/source.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The plain one: a line at a time, strtoull. */
struct plain {
    const char *p, *end;
    uint64_t events_left; /* a stream has 2^63 events at most */
};

static bool read_word(char **word, uint64_t *value)
{
    char *p = *word, *end;
    bool hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
    if (strspn(hex ? p + 2 : p, hex ? "0123456789abcdefABCDEF" : "0123456789") == 0)
        return false;
    errno = 0;
    *value = strtoull(p, &end, hex ? 16 : 10);
    *word = end;
    return errno == 0 && (*end == '\0' || *end == ' ' || *end == '\t' || *end == '\r');
}

/* 1: a tuple, 0: none in this line, -1: a bad line. */
static int read_line(char *line, struct rf_tuple *tuple, uint64_t *count)
{
    uint64_t words[3] = {0, 0, 1};
    int n = 0;
    line[strcspn(line, "#")] = '\0';
    for (;;) {
        line += strspn(line, " \t\r");
        if (*line == '\0')
            break;
        if (n == 3 || !read_word(&line, &words[n++]))
            return -1;
    }
    *tuple = (struct rf_tuple){words[0], words[1]};
    *count = words[2];
    return n > 0 && words[2] > 0;
}

/* The next tuple; false at the end or a bad line. Lines with a zero byte are bad where that shows. */
static bool next_plain(struct plain *plain, struct rf_tuple *tuple, uint64_t *count)
{
    int got = 0;
    while (got == 0 && plain->p < plain->end) {
        const char *newline = memchr(plain->p, '\n', (size_t)(plain->end - plain->p));
        size_t n = (size_t)((newline != NULL ? newline : plain->end) - plain->p);
        char *line = malloc(n + 1);
        memcpy(line, plain->p, n);
        line[n] = '\0';
        plain->p += n + 1;
        const char *comment = memchr(line, '#', n);
        bool has_zero = memchr(line, '\0', comment != NULL ? (size_t)(comment - line) : n) != NULL;
        bool is_gap = n == 3 && memcmp(line, "gap", n) == 0;
        got = is_gap ? 0 : has_zero ? -1 : read_line(line, tuple, count);
        free(line);
    }
    if (got != 1 || *count > plain->events_left)
        return false;
    plain->events_left -= *count;
    return true;
}

static void compare(struct rf_source *source, struct plain plain)
{
    struct rf_batch batch;
    struct rf_error error = {""};
    struct rf_tuple tuple;
    uint64_t count;
    rf_status status;
    while ((status = rf_source_next(source, &batch, &error)) == RF_OK && batch.n > 0)
        for (size_t i = 0; i < batch.n; i++) {
            PROMISE(next_plain(&plain, &tuple, &count));
            PROMISE(memcmp(&tuple, &batch.tuples.tuples[i], sizeof tuple) == 0);
            PROMISE(count == (batch.tuples.counts == NULL ? 1 : batch.tuples.counts[i]));
        }
    PROMISE(!next_plain(&plain, &tuple, &count));
    PROMISE(status == RF_OK || error.message[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct rf_source *source;
    int fd = memfd_create("text", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET) != 0)
        abort();
    if (rf_source_open_text(&source, fd, "in", NULL, NULL) == RF_OK)
        compare(source,
                (struct plain){(const char *)bytes, (const char *)bytes + n, UINT64_C(1) << 63});
    rf_source_close(source);
    close(fd);
    return 0;
}
