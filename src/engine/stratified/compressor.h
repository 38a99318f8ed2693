/* compressor.h - a chain of parts with the software behind it: the state of the engine family.
 *
 *     tuples --> [ chain of parts ] --messages--> [ buffer ] --interrupts--> [ tally ] --> items
 *                  hardware: bits                                 software: bytes            */
#ifndef RF_ENGINE_COMPRESSOR_H
#define RF_ENGINE_COMPRESSOR_H

#include "engine/engine.h"
#include "engine/stratified/notation.h"

enum rf_compressor_estimate { RF_ESTIMATE_SUM, RF_ESTIMATE_SHARE };

/* The config of the family. No padding: configs are compared byte by byte. */
struct rf_compressor_config {
    struct rf_notation notation;
    uint32_t reserved;
    struct rf_tagged_setup tagged;
    uint64_t hash;       /* enum rf_stratum_kind */
    uint64_t estimate;   /* enum rf_compressor_estimate */
    uint64_t confidence; /* an index into rf_confidence */
    uint64_t memory;     /* ceiling of the tally in bytes, 0: none */
    uint64_t buffer;     /* messages per interrupt */
    uint64_t message_cycles, interrupt_cycles;
    uint64_t counter; /* bits of a counter of A */
};

extern const struct rf_engine_ops rf_stratified, rf_tagged;

/* The choices of `confidence` and how many standard deviations they are. */
#define RF_CONFIDENCE_CHOICES "90%|95%|99%|99.9%"
struct rf_confidence {
    double share, z;
};
extern const struct rf_confidence rf_confidences[];

/* Everything that goes to software, as it goes. For tests and for whoever wants the messages. */
typedef void rf_compressor_listener(void *context, const struct rf_message *message);
void rf_compressor_listen(void *state, rf_compressor_listener *listener, void *context);

/* The functions of struct rf_engine_ops. */
size_t rf_compressor_size(const void *config);
rf_status rf_compressor_init(void *state, const void *config, const struct rf_engine_env *env,
                             struct rf_error *error);
void rf_compressor_release(void *state);
rf_status rf_compressor_feed(void *state, const struct rf_tuple *tuples, size_t n,
                             size_t *consumed);
rf_status rf_compressor_feed_counted(void *state, struct rf_tuple tuple, uint64_t count);
void rf_compressor_end_interval(void *state);
rf_status rf_compressor_merge(void *state, const void *other, struct rf_error *error);
rf_status rf_compressor_report(const void *state, const struct rf_sink *sink);
size_t rf_compressor_memory(const void *state);
uint64_t rf_compressor_bits(const void *config);

#endif
