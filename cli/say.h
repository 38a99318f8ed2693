/* say.h - exit statuses, messages on stderr, the end of stdout, the terminal. */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <riffle/riffle.h>

enum cli_exit {
    CLI_OK = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_DAMAGED = 3,       /* the input was damaged: the result covers its undamaged parts */
    CLI_INTERRUPTED = 130, /* by Ctrl-C: the result covers what was counted until then */

    /* For commands that run a program and otherwise end with its status, as env and timeout do. */
    CLI_OWN_FAILURE = 125, /* in place of 1, 2 and 3 */
    CLI_NOT_EXECUTABLE = 126,
    CLI_NO_PROGRAM = 127,
    CLI_OF_PROGRAM = 256, /* added to the program's status, to tell it from ours; see cli_run */
};

/* The i-th of a list of words, NULL behind the last. */
typedef const char *cli_words(size_t i);

/* say.c: errors are one sentence on stderr, made fit for a terminal. */
#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
int cli_fail(int exit_status, const char *format, ...) CLI_PRINTF(2, 3); /* returns exit_status */
/* The library's sentence, or its status where it left none. Returns the exit status for it. */
int cli_fail_status(rf_status status, const struct rf_error *error);
/* The same where a damaged input could not be used at all: plain failure. */
int cli_fail_unused(rf_status status, const struct rf_error *error);
/* The same for what the command line says: a text that cannot be parsed is a wrong call. */
int cli_fail_parsed(rf_status status, const struct rf_error *error);
/* A program that the command cannot run, as shells tell: 126, or 127 where there is none. */
int cli_fail_program(const char *command, const char *program);
/* The word of the list that `word` may have meant, or NULL. */
const char *cli_nearest(const char *word, cli_words *words);
/* Flush stdout. Returns the worse of `exit_status` and the status of the flush. A closed pipe is no failure. */
int cli_finish(int exit_status);
bool cli_stdout_failed(void); /* the same flush, for commands that have a status of their own */
bool cli_reader_gone(void);   /* stdout is a pipe, and nobody reads it any more */
bool cli_listener_gone(void); /* the same of stderr */
bool cli_stdout_closed(void); /* the reader is gone or the disk is full: stop writing */

/* terminal.c: is there a terminal, and what can it show? */
bool cli_colour(FILE *out); /* it wants colours */
int cli_width(FILE *out);   /* of its terminal; without one 100, or what COLUMNS says */

/* columns.c: words broken at a width. The first line goes on in `column`; the others begin in `indent`. */
struct cli_margins {
    int indent, column, width;
};
void cli_put_words(FILE *out, const char *text, size_t n, struct cli_margins margins);
/* A row of a table on stdout. Cell i begins in columns[i], on the next line if the one before reaches that far. The last cell is
 * broken at the width of the terminal. */
void cli_put_row(const int *columns, const char *const *cells, size_t n);

void cli_progress_begin(void); /* the clock starts */
void cli_progress(void *context, const struct rf_collect_progress *progress);
void cli_progress_end(void); /* of cli_busy, too */
/* busy.c: what is being done, for whoever waits for it longer than two seconds at a terminal. */
void cli_busy(const char *format, ...) CLI_PRINTF(1, 2);
void cli_busy_end(void);
/* rf_run_load, with a word on it. */
rf_status cli_load(struct rf_run **run, const char *path, struct rf_error *error);
/* output.c: a handler of signals that leaves no half file, and dies of the signal. */
void cli_output_die(int number);
/* From here on the first Ctrl-C only sets this flag; a second one ends the program. */
const volatile int *cli_catch_interrupt(void);

#endif
