/* screen.h - the terminal as a live screen, and what brings it back. */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/* Run `work` in a child and bring the terminal back when it is over, however it ends. Returns what `work` returned; 125
 * and a sentence where a signal ended it. False in *forked: there is no terminal, or no process; nothing was run. */
int cli_screen_guard(int (*work)(void *context), void *context, bool *forked);

/* Take the terminal. False: it cannot show a screen. The standard streams that are the terminal become /dev/null, so that
 * a program that inherits them writes nowhere; cli_screen_close brings them back. */
bool cli_screen_open(void);
void cli_screen_close(void);

void cli_screen_size(int *rows, int *columns);
void cli_screen_begin(void);                                  /* an empty screen */
void cli_screen_line(int row, const char *text, bool strong); /* readable text, cut to the width */
void cli_screen_bar(int row, int column, int width, double part); /* 0 to 1 */
void cli_screen_end(void);                                        /* show it */
int cli_screen_key(void);                                         /* 0: none was pressed */

#endif
