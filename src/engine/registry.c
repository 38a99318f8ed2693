/* registry.c - all engines there are. Adding one is a file and a line here. */
#include "engine/engine.h"
#include <stddef.h>

extern const struct rf_engine_ops rf_auto;
extern const struct rf_engine_ops rf_exact;
extern const struct rf_engine_ops rf_multihash;
extern const struct rf_engine_ops rf_rap;
extern const struct rf_engine_ops rf_rap_hw;
extern const struct rf_engine_ops rf_stratified;
extern const struct rf_engine_ops rf_streams;
extern const struct rf_engine_ops rf_tagged;

const struct rf_engine_ops *const rf_engine_registry[] = {
    &rf_auto,       &rf_exact,  &rf_multihash, &rf_rap, &rf_rap_hw,
    &rf_stratified, &rf_tagged, &rf_streams,   NULL,
};
