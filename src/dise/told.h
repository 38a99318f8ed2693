/* told.h - what a profile tells: classes of records, and the selector of its tuples. */
#ifndef RF_DISE_TOLD_H
#define RF_DISE_TOLD_H

#include "dise/production.h"

/* The classes of records (1 << enum rf_class) that these classes of instructions make. Atomics add none: they are
 * loads and stores. */
uint8_t rf_dise_record_classes(uint32_t classes);

/* "branch,call,jump -> target" */
void rf_dise_write_selector(char *text, size_t size, uint8_t classes, int handler);

/* The handler that its replacement calls; -1: none. */
int rf_dise_called_by(const struct rf_dise_program *program,
                      const struct rf_dise_production *production);

/* Fill in program->told of a profile that was read. Refuses a profile without productions, and a handler that cannot take
 * everything that a pattern matches; the message names the place. */
rf_status rf_dise_find_told(struct rf_dise_program *program, unsigned profile,
                            struct rf_error *error);

#endif
