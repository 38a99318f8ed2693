/* admit.h - may this process be attached to? */
#ifndef RF_ATTACH_ADMIT_H
#define RF_ATTACH_ADMIT_H

#include <riffle/status.h>
#include <stddef.h>
#include <sys/types.h>

/* RF_OK and the path of its program; else a sentence that says why not. */
rf_status rf_admit(pid_t pid, char *program, size_t size, struct rf_error *error);

/* A sentence on a process that could not be looked at for this reason (errno). */
rf_status rf_admit_unseen(pid_t pid, int reason, struct rf_error *error);

/* The path of the program that it runs, or its name. */
void rf_admit_program(pid_t pid, char *program, size_t size);

#endif
