/* top.h - the live screen of riffle top: rows, keys, drawing. A feed says where the rows come from. */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "say.h"

struct cli_top_pace {
    double seconds; /* since the screen began */
    double rate;    /* events per second, of late */
};

struct cli_top_feed {
    void *context;
    bool (*is_fresh)(void *context,
                     double since);  /* rows may have changed; since the last look, in seconds */
    bool (*is_empty)(void *context); /* there is nothing to show yet */
    /* The rows by now, for rf_view_close. RF_ENOTSUP and a sentence: it does not know that. */
    rf_status (*view)(void *context, enum rf_view_by by, size_t rows, struct rf_view *view,
                      struct rf_error *error);
    void (*head)(void *context, const struct cli_top_pace *pace, char *text, size_t size);
    void (*foot)(void *context, char *text, size_t size); /* what was lost, memory */
    /* The rows are asked for anew, or by another profile that knows them; NULL: there is but one. */
    void (*choose)(void *context, enum rf_view_by by);
    void (*next)(void *context, enum rf_view_by by);
    void (*quit)(void *context); /* somebody has seen enough; NULL: nothing is to be done */
    enum rf_view_by by;          /* to begin with */
    const char *keys;            /* for the last line */
};

struct cli_top;

/* On the screen that is open. NULL: no memory. */
struct cli_top *cli_top_open(const struct cli_top_feed *feed);
void cli_top_close(struct cli_top *top);
/* Obey keys, look, draw what has changed; call about twenty times per second. False: somebody has seen enough. */
bool cli_top_tick(struct cli_top *top);
/* All is over: the last screen stays until somebody has seen it, or *stop becomes non-zero. False: it was so before. */
bool cli_top_linger(struct cli_top *top, const volatile int *stop);
bool cli_top_was_left(const struct cli_top *top); /* q was pressed */

double cli_top_memory(long pid); /* of a process, in megabytes; 0 for this one */

/* watch.c: riffle top PID. */
int cli_watch(long pid);

#endif
