/* spawn.h - start a program under the probe, and learn how it ended. */
#ifndef RF_SOURCE_SPAWN_H
#define RF_SOURCE_SPAWN_H

#include <stdbool.h>
#include <riffle/probe.h>
#include "source/probe_words.h"
#include <sys/types.h>
#include "source/valgrind_log.h"

struct rf_spawn {
    pid_t pid; /* of the program, -1: none */
    double started;
    bool ended;
    bool ignored; /* SIGCHLD was ignored before, as it is in the program */
    int status;   /* as waitpid gives it */
    double wall_seconds, cpu_seconds;
    struct rf_valgrind_log log;
};

double rf_spawn_clock(void); /* seconds, monotonic */

size_t rf_probe_clocks(const struct rf_probe_setup *setup); /* sets of bursts */
uint32_t
rf_probe_classes(const struct rf_probe_setup *setup); /* 1 << class: what is to be produced */
/* Sets of classes that are counted together while they are skipped; how many. */
size_t rf_probe_groups(const struct rf_probe_setup *setup, uint8_t groups[RF_WORD_CLASSES]);
/* What the selectors read, by class, a letter per word: "load:av,call:t". `counts`: behind them, how the class is counted. */
enum { RF_SPAWN_WANT = 128 };
void rf_spawn_want(const struct rf_probe_setup *setup, bool counts, char text[RF_SPAWN_WANT]);
rf_status rf_spawn_check_files(struct rf_error *error); /* may enough be open? */
rf_status rf_spawn_start(struct rf_spawn *spawn, const struct rf_probe_setup *setup, int ring_fd,
                         struct rf_error *error);
void rf_spawn_free(struct rf_spawn *spawn);
/* True when it has ended; `block`: wait until it has. */
bool rf_spawn_ended(struct rf_spawn *spawn, bool block);
/* True for a process that is gone, or is a zombie. */
bool rf_spawn_is_dead(pid_t pid);

#endif
