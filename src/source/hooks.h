/* hooks.h - programs that were compiled by `riffle cc`: how riffle knows them and what it tells their hooks. */
#ifndef RF_SOURCE_HOOKS_H
#define RF_SOURCE_HOOKS_H

#include <stdbool.h>
#include <riffle/probe.h>

enum { RF_HOOKS_TEXT = 4096 };

/* RF_ENOTSUP where the hooks in this program are those of another version, which would stay idle. */
rf_status rf_hooks_check(const char *name, struct rf_error *error);

/* The value of RIFFLE_HOOKS, which the run-time reads (hooks/life.c); false: it is too long. */
bool rf_hooks_options(char text[RF_HOOKS_TEXT], const struct rf_probe_setup *setup, int ring_fd,
                      int ring_number);

#endif
