/* stop.h - a flag by which another thread, or a signal handler that runs on one, says that it is enough. */
#ifndef RF_BASE_STOP_H
#define RF_BASE_STOP_H

#include <stdbool.h>
#include <stddef.h>

/* NULL is never set. */
static inline bool rf_stop_is_set(const volatile int *stop)
{
    return stop != NULL && __atomic_load_n(stop, __ATOMIC_RELAXED) != 0;
}

#endif
