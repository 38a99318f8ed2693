/* told.h - what a profile tells: classes of records, and the selector of its tuples. */
#ifndef RF_DISE_TOLD_H
#define RF_DISE_TOLD_H

#include "dise/production.h"

/* Classes of records, 1 << enum rf_class, of classes of instructions. An atomic adds none: who asks for loads or stores has it. */
uint8_t rf_dise_record_classes(uint32_t classes);

/* "branch,call,jump -> target" */
void rf_dise_write_selector(char *text, size_t size, uint8_t classes, int handler);

/* The handler that its replacement calls; -1: none. */
int rf_dise_called_by(const struct rf_dise_program *program,
                      const struct rf_dise_production *production);

/* Fill in program->told of a profile that was read. Refuses, with its place, a handler that is not for all that a pattern
 * matches, and a profile without productions. */
rf_status rf_dise_find_told(struct rf_dise_program *program, unsigned profile,
                            struct rf_error *error);

#endif
