/* .rft files that are damaged in one place, or that come in pieces: what is said of them. */
#include "test.h"
#include "trace_file.h"
#include "base/bytes.h"
#include <sys/socket.h>

enum { FEW = 1000 };

static struct image make_image(const struct folder *folder)
{
    struct rf_tuple *tuples = make_stream("loop", 0, FEW);
    if (write_trace(folder->file, &(struct rf_tuples){tuples, NULL, FEW}, NULL, NULL) != RF_OK)
        abort();
    free(tuples);
    return image_load(folder->file);
}

/* A byte between two blocks is a byte too many, though every block is whole. */
TEST(one_byte_between_blocks_is_damage)
{
    struct folder folder = folder_make();
    struct image image = make_image(&folder);
    struct layout layout = layout_of(&image);
    struct rf_trace_info info;
    struct rf_error error = {""};
    char expected[300];
    REQUIRE(layout.n == 1);
    unsigned char *longer = malloc(image.n + 1);
    size_t at = layout.end[0];
    memcpy(longer, image.bytes, at);
    longer[at] = 0;
    memcpy(longer + at + 1, image.bytes + at, image.n - at);
    image_store(folder.file, longer, image.n + 1);
    CHECK_EQ(rf_trace_inspect(folder.file, &info, &error), RF_EDAMAGED);
    snprintf(expected, sizeof expected,
             "%s: damaged: 1 bytes belong to no whole block, the end is damaged", folder.file);
    CHECK_TEXT(error.message, expected);
    CHECK_EQ(info.events, FEW);
    free(longer);
    free(image.bytes);
    CHECK_EQ(folder_remove(&folder), 0);
}

/* The image in two packets, `first` bytes and the rest, then `more` bytes: a read gives one of them. */
static rf_status read_packets(const struct image *image, size_t first, size_t more,
                              struct rf_error *error)
{
    struct rf_trace_reader *reader;
    struct rf_trace_events events;
    rf_status status;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0 ||
        send(ends[1], image->bytes, first, 0) != (ssize_t)first ||
        send(ends[1], image->bytes + first, image->n - first, 0) != (ssize_t)(image->n - first) ||
        (more > 0 && send(ends[1], "behind the end", more, 0) != (ssize_t)more))
        abort();
    close(ends[1]);
    const struct rf_trace_input input = {.fd = ends[0], .name = "packets"};
    if (rf_trace_reader_open(&reader, &input, NULL, error) != RF_OK)
        abort();
    do
        status = rf_trace_reader_next(reader, &events, error);
    while (status == RF_OK && events.n > 0);
    rf_trace_reader_close(reader);
    close(ends[0]);
    return status;
}

TEST(the_end_may_come_late)
{
    struct folder folder = folder_make();
    struct image image = make_image(&folder);
    struct rf_error error = {""};
    for (size_t last = 1; last <= RF_TRACE_TRAILER_SIZE + 9; last++) {
        CHECK_EQ(read_packets(&image, image.n - last, 0, &error), RF_OK);
        CHECK_EQ(read_packets(&image, image.n - last, 1, &error), RF_EDAMAGED);
        CHECK_TEXT(error.message, "packets: damaged: the end is damaged");
    }
    free(image.bytes);
    CHECK_EQ(folder_remove(&folder), 0);
}

enum { EVENTS = 8192, INDEX = 8 }; /* where the keys of the events begin */

struct block {
    struct rf_tuple tuples[EVENTS];
    struct rf_trace_events events;
    unsigned char raw[EVENTS * 64 + RF_TRACE_SLACK];
    size_t n;
};

/* n_keys keys by turns, each often enough for a number of its own. */
static void make_block(struct block *block, size_t n_keys)
{
    struct rf_trace_encoder *encoder = rf_trace_encoder_new(EVENTS, NULL);
    memset(block, 0, sizeof *block);
    block->events =
        (struct rf_trace_events){.kind = RF_TRACE_TUPLES, .n = EVENTS, .tuples = block->tuples};
    for (size_t i = 0; i < EVENTS; i++)
        block->tuples[i] = (struct rf_tuple){i % n_keys << 20, i};
    block->n = rf_trace_encode(encoder, &block->events, block->raw);
    rf_trace_encoder_free(encoder);
}

static rf_status decode(const struct block *block)
{
    static struct rf_tuple tuples[EVENTS];
    struct rf_trace_decoder *decoder = rf_trace_decoder_new(EVENTS, NULL);
    struct rf_trace_events events = block->events;
    events.tuples = tuples;
    rf_status status = rf_trace_decode(decoder, &events, block->raw, block->n);
    if (status == RF_OK)
        CHECK(memcmp(tuples, block->tuples, sizeof tuples) == 0);
    rf_trace_decoder_free(decoder);
    return status;
}

/* An event names its key by number, in one byte or in two. */
TEST(an_event_of_a_key_that_is_not_there_is_damage)
{
    static const struct {
        const char *label;
        size_t keys, size, at; /* of the number */
    } table[] = {
        {"a byte, the first event", 2, 1, 0},
        {"a byte, the last event", 200, 1, EVENTS - 1},
        {"two bytes, the first event", 300, 2, 0},
        {"two bytes, the last event", 300, 2, EVENTS - 1},
    };
    static struct block block;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        make_block(&block, table[i].keys);
        CHECK_ROW(table[i].label, rf_load32(block.raw) == table[i].keys);
        CHECK_ROW(table[i].label, decode(&block) == RF_OK);
        unsigned char *number = block.raw + INDEX + table[i].size * table[i].at;
        number[0] = (unsigned char)table[i].keys;
        if (table[i].size == 2)
            number[1] = (unsigned char)(table[i].keys >> 8);
        CHECK_ROW(table[i].label, decode(&block) == RF_EDAMAGED);
    }
}

TEST_MAIN()
