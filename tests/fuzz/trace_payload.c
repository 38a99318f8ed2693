/* Any bytes as the unpacked payload of a block, its head's words from the first eight of them: decoded
 * without a step outside, or refused. What decodes can be encoded, and decodes alike. */
#include "fuzz.h"
#include "base/bytes.h"
#include "event/trace.h"
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 4096 };

struct arrays {
    struct rf_tuple tuples[EVENTS];
    uint64_t counts[EVENTS];
    struct rf_record records[EVENTS];
};

static struct rf_trace_events events_in(struct arrays *arrays, const uint8_t *bytes)
{
    struct rf_trace_events events = {
        .kind = bytes[0] & 1 ? RF_TRACE_RECORDS : RF_TRACE_TUPLES,
        .n = (size_t)(bytes[2] | bytes[3] << 8) % EVENTS + 1,
        .tuples = arrays->tuples,
        .records = arrays->records,
    };
    events.counts = bytes[1] & 1 && events.kind == RF_TRACE_TUPLES ? arrays->counts : NULL;
    return events;
}

static void check_again(const struct rf_trace_events *events, struct arrays *room)
{
    static unsigned char raw[EVENTS * 64 + 1024 + RF_TRACE_SLACK];
    struct rf_trace_encoder *encoder = rf_trace_encoder_new(EVENTS, NULL);
    struct rf_trace_decoder *decoder = rf_trace_decoder_new(EVENTS, NULL);
    struct rf_trace_events again = *events;
    again.tuples = room->tuples;
    again.records = room->records;
    again.counts = events->counts != NULL ? room->counts : NULL;
    size_t size = rf_trace_encode(encoder, events, raw);
    PROMISE(size <= rf_trace_raw_max(events->n));
    PROMISE(rf_trace_decode(decoder, &again, raw, size) == RF_OK);
    if (events->kind == RF_TRACE_TUPLES)
        PROMISE(memcmp(events->tuples, again.tuples, events->n * sizeof *again.tuples) == 0);
    else
        PROMISE(memcmp(events->records, again.records, events->n * sizeof *again.records) == 0);
    if (events->counts != NULL)
        PROMISE(memcmp(events->counts, again.counts, events->n * sizeof *again.counts) == 0);
    rf_trace_encoder_free(encoder);
    rf_trace_decoder_free(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static struct arrays arrays, room;
    if (n < 8)
        return 0;
    struct rf_trace_events events = events_in(&arrays, bytes);
    size_t n_raw = n - 8;
    unsigned char *raw = calloc(1, n_raw + RF_TRACE_SLACK);
    struct rf_trace_decoder *decoder = rf_trace_decoder_new(EVENTS, NULL);
    memcpy(raw, bytes + 8, n_raw);
    if (rf_trace_decode(decoder, &events, raw, n_raw) == RF_OK)
        check_again(&events, &room);
    rf_trace_decoder_free(decoder);
    free(raw);
    return 0;
}
