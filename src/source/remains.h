/* remains.h - what the table of merged events of a process still holds when it is over, or when the collector ends. */
#ifndef RF_SOURCE_REMAINS_H
#define RF_SOURCE_REMAINS_H

#include "source/processes.h"

/* Are there entries that were not read? */
bool rf_remains_has_more(const struct rf_process *process);
/* The next of them become a piece, as if they had come through the ring; perhaps there are none. */
void rf_remains_fetch(const struct rf_ring *ring, struct rf_process *process,
                      struct rf_piece *piece);

#endif
