/* frames.h - the call stack of a thread that is held, by its frame pointers. */
#ifndef RF_ATTACH_FRAMES_H
#define RF_ATTACH_FRAMES_H

#include "attach/maps.h"
#include "attach/step.h"

enum { RF_FRAMES_MAX = 128 };

/* The frames, the innermost first; at least one, the place itself. */
size_t rf_frames(struct rf_stepper *stepper, const struct rf_maps *maps,
                 uint64_t frames[RF_FRAMES_MAX]);

#endif
