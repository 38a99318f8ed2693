/* Pieces of a .rft file: they follow each other, and whoever reads one elsewhere can tell that it is the same. */
#include "test.h"
#include "trace_file.h"
#include "base/bytes.h"
#include "base/checksum.h"

enum { MANY = 150000 }; /* three blocks */

static struct rf_trace_piece piece_of(const char *path, size_t part, size_t parts)
{
    struct rf_trace_piece piece = {0};
    struct rf_source *source;
    if (rf_source_open_part(&source, path, part, parts, NULL, NULL) != RF_OK ||
        rf_source_piece(source, &piece) != RF_OK)
        abort();
    rf_source_close(source);
    return piece;
}

/* Blocks of 65536 events: one, one, and the rest. With more pieces than blocks some have nothing. */
TEST(pieces_follow_each_other)
{
    struct folder folder = folder_make();
    struct rf_tuple *tuples = make_stream("loop", 0, MANY);
    const struct rf_tuples all = {tuples, NULL, MANY};
    struct rf_error error = {""};
    struct rf_source *source;
    struct rf_trace_piece before[3], none;
    REQUIRE(write_trace(folder.file, &all, NULL, &error) == RF_OK);
    for (size_t parts = 1; parts < 6; parts++) {
        uint64_t events = 0;
        for (size_t i = 0; i < parts; i++) {
            struct rf_trace_piece piece = piece_of(folder.file, i, parts);
            CHECK_EQ(piece.first, events);
            events += piece.events;
        }
        CHECK_EQ(events, MANY);
    }
    for (size_t i = 0; i < 3; i++)
        before[i] = piece_of(folder.file, i, 3);
    CHECK(before[0].identity != before[1].identity && before[1].identity != before[2].identity);
    CHECK_EQ(piece_of(folder.file, 1, 3).identity, before[1].identity);
    tuples[70000].b += 1;
    REQUIRE(write_trace(folder.file, &all, NULL, &error) == RF_OK);
    CHECK_EQ(piece_of(folder.file, 1, 3).first, before[1].first);
    CHECK(piece_of(folder.file, 1, 3).identity != before[1].identity);
    REQUIRE(rf_source_open(&source, folder.file, NULL, &error) == RF_OK);
    CHECK_EQ(rf_source_piece(source, &none), RF_ENOTSUP);
    rf_source_close(source);
    CHECK_EQ(folder_remove(&folder), 0);
    free(tuples);
}

/* The first event that the index says of a block, with checksums put right. */
static void forge_entry(const char *path, unsigned block, uint64_t first)
{
    static unsigned char bytes[1 << 22];
    FILE *file = fopen(path, "r+b");
    if (file == NULL)
        abort();
    size_t n = fread(bytes, 1, sizeof bytes, file);
    unsigned char *index = bytes + rf_load64(bytes + n - RF_TRACE_TRAILER_SIZE);
    unsigned char *entries = index + RF_TRACE_HEAD_SIZE;
    rf_store64(entries + (size_t)RF_TRACE_INDEX_ENTRY * block + 8, first);
    uint64_t sum = rf_checksum_begin();
    for (unsigned char *at = entries; at < bytes + n - RF_TRACE_TRAILER_SIZE; at += 8)
        sum = rf_checksum_word(sum, rf_load64(at));
    rf_store64(index + 32, sum);
    rf_store64(index + 40, rf_checksum(index, 40));
    rewind(file);
    if (fwrite(bytes, 1, n, file) != n || fclose(file) != 0)
        abort();
}

/* Pieces that begin behind the first event, or end before they begin. */
TEST(an_index_that_leaves_events_out_is_not_used)
{
    struct folder folder = folder_make();
    struct rf_tuple *tuples = make_stream("loop", 0, MANY);
    struct rf_error error = {""};
    static const struct {
        const char *label;
        unsigned block;
        uint64_t first;
        size_t part;
    } table[] = {
        {"the first block is not at the beginning", 0, 65536, 0},
        {"the second one is before the first", 0, 131072, 0},
        {"a block is behind the end", 2, 1 << 20, 2},
        {"a block is one event late", 1, 65537, 1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct rf_source *source;
        REQUIRE(write_trace(folder.file, &(struct rf_tuples){tuples, NULL, MANY}, NULL, &error) ==
                RF_OK);
        forge_entry(folder.file, table[i].block, table[i].first);
        CHECK_ROW(table[i].label, rf_source_open_part(&source, folder.file, table[i].part, 3, NULL,
                                                      &error) == RF_ENOTSUP);
    }
    CHECK_EQ(folder_remove(&folder), 0);
    free(tuples);
}

TEST_MAIN()
