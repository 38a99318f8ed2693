/* Any events come back as they were; a trace cut at any byte or with any byte changed gives exactly
 * its whole blocks, and says that it is damaged.
 *
 * RIFFLE_TEST_LONG=1 tries thirty times as many bytes of the large trace. */
#include "test.h"
#include "trace_file.h"
#include "base/random.h"

static struct rf_random random_numbers;

static uint64_t below(uint64_t n)
{
    return rf_random_below(&random_numbers, n);
}

static uint64_t any_word(void)
{
    return rf_random_next(&random_numbers) >> below(64);
}

/* --- round trips --------------------------------------------------------------------------------- */

/* A list of one of the shapes that columns are written in, and of shapes that no way suits. */
static void random_list(uint64_t *values, size_t n)
{
    uint64_t base = any_word(), step = any_word() >> below(64), range = any_word() | 1;
    uint64_t shape = below(6), few[256], n_few = 1 + below(256);
    for (size_t i = 0; i < 256; i++)
        few[i] = any_word();
    for (size_t i = 0; i < n; i++)
        values[i] = shape == 0   ? base
                    : shape == 1 ? base + below(range)
                    : shape == 2 ? base + i * step
                    : shape == 3 ? base + i % 16 * step
                    : shape == 4 ? few[below(n_few)]
                                 : any_word();
}

TEST(columns_come_back)
{
    enum { N = 600 };
    static uint64_t values[N], back[N];
    static unsigned char meta[N * 8 + 64], data[N * 8 + 64];
    rf_random_seed(&random_numbers, test_seed(21));
    for (int round = 0; round < 5000; round++) {
        size_t n = 1 + below(N);
        random_list(values, n);
        struct rf_column_out out = {meta, data};
        rf_column_encode(&out, values, n);
        size_t bytes = (size_t)(out.meta - meta) + (size_t)(out.data - data);
        CHECK(bytes <= 17 + 8 * n);
        struct rf_column_in in = {meta, out.meta, data, out.data};
        REQUIRE(rf_column_decode(&in, back, n));
        CHECK(in.meta == in.meta_end && in.data == in.data_end);
        REQUIRE(memcmp(values, back, n * sizeof *values) == 0);
    }
}

static uint64_t total_read;

/* Reads the file at `path` and holds it against what was written. */
static void check_tuples(const char *path, const struct rf_tuples *written)
{
    struct rf_source *source;
    struct rf_batch batch;
    struct rf_error error = {""};
    size_t at = 0;
    REQUIRE(rf_source_open(&source, path, NULL, &error) == RF_OK);
    while (rf_source_next(source, &batch, &error) == RF_OK && batch.n > 0) {
        REQUIRE(at + batch.n <= written->n);
        CHECK(memcmp(batch.tuples.tuples, written->tuples + at,
                     batch.n * sizeof(struct rf_tuple)) == 0);
        for (size_t i = 0; i < batch.n; i++) {
            uint64_t count = batch.tuples.counts == NULL ? 1 : batch.tuples.counts[i];
            if (count != (written->counts == NULL ? 1 : written->counts[at + i]))
                CHECK(0 && "counts agree");
        }
        at += batch.n;
    }
    CHECK_TEXT(error.message, "");
    CHECK_EQ(at, written->n);
    rf_source_close(source);
    total_read += at;
}

static void tuples_of_lists(struct rf_tuple *tuples, size_t n)
{
    uint64_t *list = malloc((n + 1) * sizeof *list);
    random_list(list, n);
    for (size_t i = 0; i < n; i++)
        tuples[i].a = list[i];
    random_list(list, n);
    for (size_t i = 0; i < n; i++)
        tuples[i].b = list[i];
    free(list);
}

TEST(tuples_come_back)
{
    enum { MOST = 200000 };
    struct folder folder = folder_make();
    struct rf_tuple *tuples = malloc(MOST * sizeof *tuples);
    uint64_t *counts = malloc(MOST * sizeof *counts);
    rf_random_seed(&random_numbers, test_seed(22));
    for (int round = 0; round < 60; round++) {
        size_t n = 1 + below(below(4) == 0 ? MOST : 3000);
        tuples_of_lists(tuples, n);
        random_list(counts, n);
        struct rf_tuples written = {tuples, below(2) ? counts : NULL, n};
        REQUIRE(write_trace(folder.file, &written, NULL, NULL) == RF_OK);
        check_tuples(folder.file, &written);
    }
    CHECK(total_read > 0);
    CHECK_EQ(folder_remove(&folder), 0);
    free(tuples);
    free(counts);
}

/* Counts that begin in the middle of a block: everything before them occurred once. */
TEST(counts_may_come_and_go)
{
    struct folder folder = folder_make();
    struct rf_tuple tuples[300];
    uint64_t counts[300];
    struct rf_trace_writer *writer;
    rf_random_seed(&random_numbers, test_seed(23));
    tuples_of_lists(tuples, 300);
    for (size_t i = 0; i < 300; i++)
        counts[i] = i / 100 == 1 ? any_word() : 1;
    REQUIRE(rf_trace_create(&writer, folder.file, RF_TRACE_TUPLES, NULL, NULL, NULL, NULL) ==
            RF_OK);
    rf_trace_write_tuples(writer, &(struct rf_tuples){tuples, NULL, 100}, NULL);
    rf_trace_write_tuples(writer, &(struct rf_tuples){tuples + 100, counts + 100, 100}, NULL);
    rf_trace_write_tuples(writer, &(struct rf_tuples){tuples + 200, NULL, 100}, NULL);
    REQUIRE(rf_trace_finish(writer, NULL) == RF_OK);
    check_tuples(folder.file, &(struct rf_tuples){tuples, counts, 300});
    CHECK_EQ(folder_remove(&folder), 0);
}

/* Records of a small program: each pc of one class, or of several. */
static void random_records(struct rf_record *records, size_t n)
{
    uint64_t pcs = 1 + below(2000), base = any_word();
    for (size_t i = 0; i < n; i++)
        records[i] = (struct rf_record){.pc = base + below(pcs),
                                        .addr = below(2) ? any_word() : 0,
                                        .value = below(3) ? below(5) : any_word(),
                                        .target = below(4) ? 0 : any_word(),
                                        .width = (uint16_t)any_word(),
                                        .thread = (uint16_t)(below(9) ? 1 : any_word()),
                                        .kind = (uint8_t)below(RF_CLASS_COUNT),
                                        .flags = (uint8_t)below(256),
                                        .miss = (uint8_t)below(256)};
}

static void check_records(const char *path, const struct rf_record *records, size_t n)
{
    struct rf_source *source;
    struct rf_batch batch;
    size_t at = 0;
    REQUIRE(rf_source_open(&source, path, NULL, NULL) == RF_OK);
    while (rf_source_next(source, &batch, NULL) == RF_OK && batch.n > 0) {
        CHECK(batch.records != NULL && batch.tuples.n == 0);
        REQUIRE(at + batch.n <= n);
        CHECK(memcmp(batch.records, records + at, batch.n * sizeof *records) == 0);
        at += batch.n;
    }
    CHECK_EQ(at, n);
    rf_source_close(source);
}

TEST(records_come_back)
{
    enum { MOST = 100000 };
    struct folder folder = folder_make();
    struct rf_record *records = malloc(MOST * sizeof *records);
    rf_random_seed(&random_numbers, test_seed(24));
    for (int round = 0; round < 20; round++) {
        size_t n = 1 + below(below(4) == 0 ? MOST : 3000);
        struct rf_trace_writer *writer;
        random_records(records, n);
        REQUIRE(rf_trace_create(&writer, folder.file, RF_TRACE_RECORDS, NULL, NULL, NULL, NULL) ==
                RF_OK);
        for (size_t at = 0, some; at < n; at += some) {
            some = 1 + below(n - at);
            CHECK_EQ(rf_trace_write_records(writer, records + at, some, NULL), RF_OK);
        }
        REQUIRE(rf_trace_finish(writer, NULL) == RF_OK);
        check_records(folder.file, records, n);
    }
    CHECK_EQ(folder_remove(&folder), 0);
    free(records);
}

/* --- damage -------------------------------------------------------------------------------------- */

static struct folder folder;
static struct rf_tuple *stream;
static struct image image;
static struct layout layout;

/* Which blocks must still be there, a bit each. */
static uint64_t whole_behind_cut(size_t cut)
{
    uint64_t whole = 0;
    for (size_t i = 0; i < layout.n; i++)
        whole |= (uint64_t)(layout.end[i] <= cut) << i;
    return whole;
}

static uint64_t whole_without(size_t byte)
{
    uint64_t whole = 0;
    for (size_t i = 0; i < layout.n; i++)
        whole |= (uint64_t)(byte < layout.begin[i] || byte >= layout.end[i]) << i;
    return whole;
}

/* The file now on disk must give the blocks `whole`, and RF_EDAMAGED with a sentence. */
static int gives_just(uint64_t whole)
{
    struct rf_source *source;
    struct rf_batch batch;
    struct rf_error error = {""};
    size_t i = 0;
    rf_status status = rf_source_open(&source, folder.file, NULL, &error);
    if (status != RF_OK)
        return 0;
    while ((status = rf_source_next(source, &batch, &error)) == RF_OK && batch.n > 0) {
        while (i < layout.n && !(whole >> i & 1))
            i++;
        if (i == layout.n || batch.n != layout.events[i] ||
            memcmp(batch.tuples.tuples, stream + layout.first[i], batch.n * sizeof *stream) != 0)
            break;
        i++;
    }
    while (i < layout.n && !(whole >> i & 1))
        i++;
    rf_source_close(source);
    return status == RF_EDAMAGED && error.message[0] != '\0' && i == layout.n;
}

static void check_cut(size_t cut)
{
    char label[64];
    snprintf(label, sizeof label, "cut at byte %zu of %zu", cut, image.n);
    image_store(folder.file, image.bytes, cut);
    CHECK_ROW(label, gives_just(whole_behind_cut(cut)));
}

static void check_flip(size_t byte, unsigned char flip)
{
    char label[64];
    snprintf(label, sizeof label, "byte %zu of %zu xor %02x", byte, image.n, flip);
    image.bytes[byte] ^= flip;
    image_store(folder.file, image.bytes, image.n);
    image.bytes[byte] ^= flip;
    CHECK_ROW(label, gives_just(whole_without(byte)));
}

static void make_damaged(struct rf_tuple *tuples, size_t n)
{
    stream = tuples;
    folder = folder_make();
    if (write_trace(folder.file, &(struct rf_tuples){tuples, NULL, n}, NULL, NULL) != RF_OK)
        abort();
    image = image_load(folder.file);
    layout = layout_of(&image);
}

static void end_damaged(void)
{
    CHECK_EQ(folder_remove(&folder), 0);
    free(image.bytes);
    free(stream);
}

/* A small file (few kinds of tuples, two blocks): every byte. */
/* What was skipped is told by class. */
TEST(gaps_of_records_come_back)
{
    enum { N = 6 };
    struct folder gaps = folder_make();
    struct rf_trace_writer *writer;
    struct rf_source *source;
    struct rf_batch batch;
    struct rf_record records[N] = {{.pc = 1}};
    struct rf_trace_gap gap = {.bursts = 1, .weight = 4};
    uint64_t skipped = 0, events = 0, bursts = 0;
    for (uint64_t i = 0; i < RF_CLASS_COUNT; i++)
        gap.skipped[i] = i + 1;
    REQUIRE(rf_trace_create(&writer, gaps.file, RF_TRACE_RECORDS, NULL, NULL, NULL, NULL) == RF_OK);
    CHECK_EQ(rf_trace_write_records(writer, records, N, NULL), RF_OK);
    CHECK_EQ(rf_trace_write_gap(writer, &gap, NULL), RF_OK);
    CHECK_EQ(rf_trace_finish(writer, NULL), RF_OK);
    REQUIRE(rf_source_open_trace(&source, gaps.file, 0, NULL, NULL) == RF_OK);
    while (rf_source_next(source, &batch, NULL) == RF_OK && !rf_batch_is_end(&batch)) {
        skipped += batch.skipped;
        events += batch.n;
        bursts += batch.bursts;
    }
    CHECK_EQ(events, N);
    CHECK_EQ(bursts, 1);
    CHECK_EQ(skipped, RF_CLASS_COUNT * (RF_CLASS_COUNT + 1) / 2);
    rf_source_close(source);
    CHECK_EQ(folder_remove(&gaps), 0);
}

TEST(any_byte_of_a_small_trace)
{
    enum { N = 65536 + 100 };
    rf_random_seed(&random_numbers, test_seed(25));
    struct rf_tuple *tuples = malloc(N * sizeof *tuples);
    for (size_t i = 0; i < N; i++)
        tuples[i] = (struct rf_tuple){0x400000 + i % 5, i % 5};
    make_damaged(tuples, N);
    CHECK_EQ(layout.n, 2);
    CHECK(image.n < 2000);
    for (size_t i = 0; i < image.n; i++) {
        check_cut(i);
        check_flip(i, (unsigned char)(1u << below(8)));
        check_flip(i, 0xff);
    }
    end_damaged();
}

TEST(bytes_of_a_large_trace)
{
    enum { N = 200000 };
    rf_random_seed(&random_numbers, test_seed(26));
    make_damaged(make_stream("loop", 0, N), N);
    CHECK_EQ(layout.n, 4);
    size_t step = image.n / (getenv("RIFFLE_TEST_LONG") != NULL ? 5000 : 150);
    for (size_t i = 0; i < image.n; i += 1 + below(step)) {
        check_cut(i);
        check_flip(i, (unsigned char)(1 + below(255)));
    }
    end_damaged();
}

/* Bytes taken out of or put into the middle: what follows is found again. */
TEST(bytes_lost_or_added)
{
    enum { N = 200000 };
    rf_random_seed(&random_numbers, test_seed(27));
    make_damaged(make_stream("loop", 0, N), N);
    unsigned char *changed = malloc(image.n + 1000);
    for (int round = 0; round < 60; round++) {
        size_t at = layout.begin[1] + 1 + below(layout.end[1] - layout.begin[1] - 1);
        size_t n = 1 + below(999), gone = layout.end[1] - at < n ? layout.end[1] - at : n;
        uint64_t whole = whole_without(at);
        memcpy(changed, image.bytes, at);
        if (round % 2 == 0) {
            memcpy(changed + at, image.bytes + at + gone, image.n - at - gone);
            image_store(folder.file, changed, image.n - gone);
        } else {
            for (size_t i = 0; i < n; i++)
                changed[at + i] = (unsigned char)below(256);
            memcpy(changed + at + n, image.bytes + at, image.n - at);
            image_store(folder.file, changed, image.n + n);
        }
        CHECK(gives_just(whole));
    }
    free(changed);
    end_damaged();
}

TEST(something_behind_the_end_is_noticed)
{
    enum { N = 100 };
    make_damaged(make_stream("loop", 0, N), N);
    unsigned char *longer = calloc(1, image.n + 1);
    memcpy(longer, image.bytes, image.n);
    image_store(folder.file, longer, image.n + 1);
    CHECK(gives_just(1));
    free(longer);
    end_damaged();
}

TEST_MAIN()
