/* valgrind_log.c - what Valgrind itself prints.
 *
 * Even with -q Valgrind prints at length how a program died, and warns of unknown system calls. None of that
 * is the program's output, and little of it helps the user. It goes into a pipe, and when the pipe is full
 * the rest is dropped. The program holds both ends in one descriptor, so that a write never fails for lack of
 * a reader, even when riffle is dead. */
#include "source/valgrind_log.h"
#include "base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 64 * 1024, INSTRUCTION_BYTES = 8 };

void rf_valgrind_log_open(struct rf_valgrind_log *log)
{
    int ends[2];
    char path[64];
    *log = (struct rf_valgrind_log){-1, -1};
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return;
    rf_format(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    log->write_fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    log->read_fd = ends[0];
    close(ends[1]);
}

void rf_valgrind_log_close(struct rf_valgrind_log *log)
{
    if (log->write_fd >= 0)
        close(log->write_fd);
    if (log->read_fd >= 0)
        close(log->read_fd);
    *log = (struct rf_valgrind_log){-1, -1};
}

/* All that is there by now: behind it reading does not wait, it fails. */
static size_t read_all(int fd, char *text, size_t size)
{
    size_t n = 0;
    for (ssize_t got = 1; n < size && (got > 0 || (got < 0 && errno == EINTR));) {
        got = read(fd, text + n, size - n);
        n += got > 0 ? (size_t)got : 0;
    }
    return n;
}

/* A line without Valgrind's prefix "==1234== ". */
static size_t copy_line(char *line, size_t size, const char *text)
{
    size_t n = 0;
    if (text[0] == '=' && text[1] == '=') {
        const char *end = strstr(text + 2, "== ");
        text = end != NULL ? end + 3 : text;
    }
    for (; n + 1 < size && text[n] != '\0' && text[n] != '\n'; n++)
        line[n] = text[n] >= ' ' && text[n] <= '~' ? text[n] : '?';
    line[n] = '\0';
    return n;
}

/* An instruction that ended a process, by its bytes. A program may also try one out and catch SIGILL. */
static bool explain_instruction(const char *text, char *sentence, size_t size)
{
    static const char before[] = "unhandled instruction bytes: ", died[] = "action of signal 4";
    const char *at = strstr(text, before);
    char bytes[5 * INSTRUCTION_BYTES];
    if (at == NULL || strstr(at, died) == NULL)
        return false;
    size_t n = copy_line(bytes, sizeof bytes, at + sizeof before - 1);
    while (n > 0 && bytes[n - 1] == ' ')
        bytes[--n] = '\0';
    bool is_evex = strncmp(bytes, "0x62", 4) == 0;
    rf_format(sentence, size,
              "the program was ended by an instruction that the probe cannot run%s: %s",
              is_evex ? ", AVX-512" : "", bytes);
    return true;
}

/* Valgrind reads debug information when a file is mapped, and ends the program where it cannot. The name of the file
 * stands in quotes. */
static bool explain_debug_information(const char *text, char *sentence, size_t size)
{
    char path[160] = "";
    const char *at = strstr(text, "Valgrind: debuginfo reader: ");
    const char *quote = at != NULL ? strchr(at, '"') : NULL;
    if (at == NULL || strstr(at, "Giving up") == NULL)
        return false;
    if (quote != NULL)
        copy_line(path, sizeof path, quote + 1);
    path[strcspn(path, "\"")] = '\0';
    rf_format(
        sentence, size,
        "Valgrind cannot read the debug information of %s and gave up, as it does with DWARF 5 of "
        "clang: build with -gdwarf-4, or strip -g",
        path[0] != '\0' ? path : "the program");
    return true;
}

static bool explain_failure(const char *text, bool started, char *sentence, size_t size)
{
    char line[200];
    const char *at = strstr(text, "valgrind: ");
    if (at == NULL && !started)
        at = text;
    if (at == NULL || copy_line(line, sizeof line, at) == 0)
        return false;
    rf_format(sentence, size, "%s: %s",
              started ? "Valgrind failed" : "the program could not be started", line);
    return true;
}

bool rf_valgrind_log_explain(const struct rf_valgrind_log *log, bool started, char *sentence,
                             size_t size)
{
    char text[ROOM + 1];
    size_t n = log->read_fd >= 0 ? read_all(log->read_fd, text, ROOM) : 0;
    for (size_t i = 0; i < n; i++)
        text[i] = text[i] != '\0' ? text[i] : ' ';
    text[n] = '\0';
    if (explain_debug_information(text, sentence, size))
        return true;
    if (!explain_instruction(text, sentence, size) &&
        !explain_failure(text, started, sentence, size) && !started)
        rf_format(sentence, size, "the program could not be started");
    return false;
}
