/* live.h - samples of the stack of a program that still runs, and the rows that they make by now.
 *
 * One thread adds, another one looks. */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include <pthread.h>
#include <riffle/riffle.h>

#define CLI_LIVE_SELECTOR "frame -> pc,context"

struct cli_live {
    pthread_mutex_t lock;  /* for what follows, up to the next comment */
    struct rf_item *items; /* by hash; count 0: free */
    size_t n, room;        /* room: a power of two, or 0 */
    uint64_t samples;      /* of whole stacks */
    uint64_t frames;
    int failed;            /* there was no memory: frames are missing */
    size_t n_modules;      /* that were seen */
    struct rf_run *mapped; /* those modules, if they are new to who looks */
    /* of who looks */
    struct rf_profile profile;
    struct rf_run *run; /* its modules and nothing else */
    struct rf_symbols *symbols;
};

void cli_live_init(struct cli_live *live);
/* The source is asked for its modules: it must be at rest, as in a tap of the collector. */
void cli_live_add(struct cli_live *live, struct rf_source *source, const struct rf_tuples *tuples);
uint64_t cli_live_samples(struct cli_live *live);
/* The rows by now; the caller closes the view. Names of files that were mapped since the last call are read. */
rf_status cli_live_view(struct cli_live *live, enum rf_view_by by, size_t rows,
                        struct rf_view *view, struct rf_error *error);
void cli_live_free(struct cli_live *live);

#endif
