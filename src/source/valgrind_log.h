/* valgrind_log.h - what Valgrind itself prints: kept off the terminal, read when something went wrong.
 *
 *     rf_valgrind_log_open(&log)         a pipe
 *     ... log.write_fd goes to the program, behind its own descriptors ...
 *     rf_valgrind_log_explain(&log, ...) a sentence, where the log has the reason for a death
 *     rf_valgrind_log_close(&log) */
#ifndef RF_SOURCE_VALGRIND_LOG_H
#define RF_SOURCE_VALGRIND_LOG_H

#include <stdbool.h>
#include <stddef.h>

struct rf_valgrind_log {
    int read_fd, write_fd; /* -1: there is none */
};

void rf_valgrind_log_open(struct rf_valgrind_log *log);
void rf_valgrind_log_close(struct rf_valgrind_log *log);

/* Put the reason for an unexpected end of a process into the sentence; it stays as it is where the log has
 * none. `started`: the program ran. True: Valgrind gave up on a file of the program. */
bool rf_valgrind_log_explain(const struct rf_valgrind_log *log, bool started, char *sentence,
                             size_t size);

#endif
