/* .rft files: what goes in comes out; what is missing is named; what fails leaves nothing behind. */
#include "test.h"
#include "failing.h"
#include "trace_file.h"
#include "base/alloc.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { MANY = 150000 }; /* three blocks */

TEST(a_trace_says_where_it_came_from)
{
    struct folder folder = folder_make();
    struct rf_tuple *tuples = make_stream("loop", 0, MANY);
    struct rf_trace_info info;
    struct rf_error error = {""};
    CHECK_EQ(write_trace(folder.file, &(struct rf_tuples){tuples, NULL, MANY}, NULL, &error),
             RF_OK);
    CHECK_EQ(rf_trace_inspect(folder.file, &info, &error), RF_OK);
    CHECK_TEXT(error.message, "");
    CHECK_EQ(info.kind, RF_TRACE_TUPLES);
    CHECK_EQ(info.version, 3);
    CHECK_TEXT(info.command, "a command");
    CHECK_TEXT(info.selector, "values");
    CHECK_TEXT(info.riffle_version, RIFFLE_VERSION);
    CHECK_EQ(info.events, MANY);
    CHECK_EQ(info.blocks, 3);
    CHECK_EQ(info.modules, N_TRACE_MODULES);
    CHECK_EQ(info.complete, 1);
    struct stat status;
    REQUIRE(stat(folder.file, &status) == 0);
    CHECK_EQ(info.bytes, status.st_size);
    CHECK_EQ(status.st_mode & 0777, 0600);
    CHECK_EQ(folder_remove(&folder), 0);
    free(tuples);
}

TEST(an_empty_trace_is_whole)
{
    struct folder folder = folder_make();
    struct rf_trace_info info;
    struct rf_error error = {""};
    struct rf_source *source;
    struct rf_batch batch;
    CHECK_EQ(write_trace(folder.file, &(struct rf_tuples){NULL, NULL, 0}, NULL, &error), RF_OK);
    CHECK_EQ(rf_trace_inspect(folder.file, &info, &error), RF_OK);
    CHECK_EQ(info.events, 0);
    REQUIRE(rf_source_open(&source, folder.file, NULL, &error) == RF_OK);
    CHECK_EQ(rf_source_next(source, &batch, &error), RF_OK);
    CHECK_EQ(batch.n, 0);
    rf_source_close(source);
    CHECK_EQ(folder_remove(&folder), 0);
}

TEST(a_trace_can_begin_in_the_middle)
{
    static const uint64_t starts[] = {0, 1, 65535, 65536, 65537, 140000, MANY - 1, MANY, MANY + 5};
    struct folder folder = folder_make();
    struct rf_tuple *tuples = make_stream("loop", 0, MANY);
    struct rf_error error = {""};
    REQUIRE(write_trace(folder.file, &(struct rf_tuples){tuples, NULL, MANY}, NULL, &error) ==
            RF_OK);
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct rf_source *source;
        struct rf_batch batch;
        REQUIRE(rf_source_open_trace(&source, folder.file, starts[i], NULL, &error) == RF_OK);
        size_t at = starts[i] < MANY ? (size_t)starts[i] : MANY;
        rf_status status;
        while ((status = rf_source_next(source, &batch, &error)) == RF_OK && batch.n > 0) {
            REQUIRE(at + batch.n <= MANY);
            CHECK_EQ(memcmp(batch.tuples.tuples, tuples + at, batch.n * sizeof *tuples), 0);
            at += batch.n;
        }
        CHECK_EQ(status, RF_OK);
        CHECK_EQ(at, MANY);
        rf_source_close(source);
    }
    CHECK_EQ(folder_remove(&folder), 0);
    free(tuples);
}

/* --- modules ------------------------------------------------------------------------------------- */

/* By the index, not by reading all blocks before. */
TEST(the_index_knows_every_block)
{
    struct folder folder = folder_make();
    struct rf_tuple *tuples = make_stream("loop", 0, MANY);
    struct rf_error error = {""};
    REQUIRE(write_trace(folder.file, &(struct rf_tuples){tuples, NULL, MANY}, NULL, &error) ==
            RF_OK);
    for (uint64_t event = 0; event < MANY; event += 9999) {
        struct rf_trace_reader *reader;
        uint64_t first = MANY;
        const struct rf_trace_input input = {
            .fd = open(folder.file, O_RDONLY | O_CLOEXEC), .name = "in", .depth = RF_TRACE_EVENTS};
        REQUIRE(rf_trace_reader_open(&reader, &input, NULL, &error) == RF_OK);
        CHECK_EQ(rf_trace_reader_seek(reader, event, &first), RF_OK);
        CHECK_EQ(first, event / 65536 * 65536);
        rf_trace_reader_close(reader);
        close(input.fd);
    }
    CHECK_EQ(folder_remove(&folder), 0);
    free(tuples);
}

TEST(as_many_gaps_as_a_block_can_have)
{
    unsigned char bytes[RF_TRACE_HEAD_SIZE];
    struct rf_trace_head head = {.kind = RF_TRACE_GAPS_KIND, .stored = 1}, back;
    for (uint32_t more = 0; more < 2; more++) {
        head.events = RF_TRACE_GAPS_MAX + more;
        head.raw = (uint32_t)(head.events * rf_trace_gap_size(RF_TRACE_TUPLES));
        rf_trace_head_write(&head, bytes);
        CHECK_EQ(rf_trace_head_read(&back, bytes), more == 0);
    }
}

/* Few different values, far apart: a byte each, and the values once. */
TEST(few_values_make_a_dictionary)
{
    enum { N = 1000, VALUES = 4 };
    uint64_t values[N], back[N];
    unsigned char meta[64], data[8 * N + 64];
    struct rf_column_out out = {meta, data};
    for (size_t i = 0; i < N; i++)
        values[i] = ((i * 0x9e3779b97f4a7c15u >> 40) % VALUES + 1) * 0x123456789abcdefu;
    rf_column_encode(&out, values, N);
    CHECK_EQ(out.data - data, N);
    CHECK_EQ(out.meta - meta, 2 + VALUES * 8);
    struct rf_column_in in = {meta, out.meta, data, out.data};
    CHECK(rf_column_decode(&in, back, N));
    CHECK_EQ(memcmp(values, back, sizeof values), 0);
}

static int has_modules(struct rf_source *source)
{
    size_t n;
    const struct rf_module *modules;
    if (rf_source_modules(source, &modules, &n) != RF_OK || n != N_TRACE_MODULES)
        return 0;
    for (size_t i = 0; i < n; i++) {
        const struct rf_module *got = &modules[i], *put = &trace_modules[i];
        const char *id = put->build_id != NULL ? put->build_id : "";
        if (strcmp(got->path, put->path) != 0 || strcmp(got->build_id, id) != 0 ||
            got->process != put->process || got->start != put->start || got->end != put->end ||
            got->offset != put->offset || got->from_event != put->from_event ||
            got->to_event != put->to_event)
            return 0;
    }
    return 1;
}

TEST(modules_come_back)
{
    static const uint64_t starts[] = {0, 70000};
    struct folder folder = folder_make();
    struct rf_tuple *tuples = make_stream("loop", 0, MANY);
    struct rf_error error = {""};
    struct rf_batch batch;
    REQUIRE(write_trace(folder.file, &(struct rf_tuples){tuples, NULL, MANY}, NULL, &error) ==
            RF_OK);
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct rf_source *source;
        REQUIRE(rf_source_open_trace(&source, folder.file, starts[i], NULL, &error) == RF_OK);
        CHECK(has_modules(source)); /* before anything is read */
        rf_source_close(source);
        REQUIRE(rf_source_open_trace(&source, folder.file, starts[i], NULL, &error) == RF_OK);
        while (rf_source_next(source, &batch, &error) == RF_OK && batch.n > 0)
            ;
        CHECK(has_modules(source)); /* when all is read */
        CHECK_TEXT(error.message, "");
        rf_source_close(source);
    }
    CHECK_EQ(folder_remove(&folder), 0);
    free(tuples);
}

/* One list of modules as bytes, each row spoilt in one place. */
TEST(modules_that_lie_are_damage)
{
    static const struct {
        const char *label;
        size_t at;
        unsigned char byte;
    } rows[] = {
        {"a path that goes beyond the end", 3, 0xff},
        {"a path that is longer by one", 0, 9},
        {"a path that is shorter by one", 0, 7},
        {"a build id that goes beyond the end", 7, 0x80},
        {"the two that add up to more than there is", 1, 1},
        {"something in the reserved bytes", 12, 1},
        {"an end before the start", 26, 0},
        {"gone before it came", 47, 0xff},
        {"a zero inside the path", RF_TRACE_MODULE_FIXED + 2, 0},
        {"no zero behind the path", RF_TRACE_MODULE_FIXED + 8, 'x'},
    };
    unsigned char bytes[200], spoilt[200];
    struct rf_trace_modules modules;
    size_t n = rf_trace_module_size(&trace_modules[0]);
    struct rf_module one = trace_modules[0];
    one.to_event = 1000;
    REQUIRE(n < sizeof bytes);
    rf_trace_module_write(&one, bytes);
    CHECK_EQ(rf_trace_modules_read(&modules, bytes, n, 1, &rf_alloc_standard), RF_OK);
    rf_trace_modules_free(&modules, &rf_alloc_standard);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memcpy(spoilt, bytes, n);
        spoilt[rows[i].at] = rows[i].byte;
        CHECK_ROW(rows[i].label,
                  rf_trace_modules_read(&modules, spoilt, n, 1, &rf_alloc_standard) == RF_EDAMAGED);
    }
    for (size_t cut = 0; cut < n; cut++)
        CHECK_EQ(rf_trace_modules_read(&modules, bytes, cut, 1, &rf_alloc_standard), RF_EDAMAGED);
    CHECK_EQ(rf_trace_modules_read(&modules, bytes, n, 0, &rf_alloc_standard), RF_EDAMAGED);
    CHECK_EQ(rf_trace_modules_read(&modules, bytes, n, 2, &rf_alloc_standard), RF_EDAMAGED);
    CHECK_EQ(rf_trace_modules_read(&modules, bytes, n, SIZE_MAX, &rf_alloc_standard), RF_EDAMAGED);
}

TEST(too_many_modules_are_refused)
{
    struct folder folder = folder_make();
    struct rf_trace_writer *writer;
    struct rf_error error = {""};
    char path[4000];
    struct rf_module module = {.path = path, .end = 1};
    memset(path, 'p', sizeof path);
    path[sizeof path - 1] = '\0';
    REQUIRE(rf_trace_create(&writer, folder.file, RF_TRACE_TUPLES, NULL, NULL, NULL, &error) ==
            RF_OK);
    rf_status status = RF_OK;
    size_t n = 0;
    while (n < 2000 && (status = rf_trace_add_module(writer, &module, &error)) == RF_OK)
        n++;
    CHECK_EQ(status, RF_ENOTSUP);
    CHECK_EQ(n, RF_TRACE_MODULES_BYTES / rf_trace_module_size(&module));
    module.end = 0;
    module.start = 1;
    CHECK_EQ(rf_trace_add_module(writer, &module, &error), RF_EINVAL);
    CHECK_EQ(rf_trace_finish(writer, &error), RF_OK);
    struct rf_trace_info info;
    CHECK_EQ(rf_trace_inspect(folder.file, &info, &error), RF_OK);
    CHECK_EQ(info.modules, n);
    CHECK_EQ(folder_remove(&folder), 0);
}

static void set_version(struct image *image, unsigned char version)
{
    size_t size = rf_trace_header_size(image->bytes);
    image->bytes[8] = version;
    uint64_t sum = 0x8a5cd789635d2dffu; /* as checksum.h has it, written out */
    uint64_t words[1 + RF_TRACE_HEADER_MAX / 8] = {size - 8};
    memcpy(words + 1, image->bytes, size - 8);
    for (size_t i = 0; i <= (size - 8) / 8 + 1; i++) {
        sum = (sum ^ words[i]) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 32;
    }
    memcpy(image->bytes + size - 8, &sum, 8);
}

/* Gaps at the beginning, within a block, at the end of one, in front of the next, and behind the last. */
static const struct {
    size_t at;
    struct rf_trace_gap gap;
} gaps[] = {
    {0, {1, 0, {7}}},
    {10, {1, 100, {5}}},
    {RF_TRACE_EVENTS_MAX - 1, {2, 10, {1}}},
    {RF_TRACE_EVENTS_MAX, {1, 3, {2}}},
    {RF_TRACE_EVENTS_MAX + 2, {1, 1, {4}}},
    {2 * RF_TRACE_EVENTS_MAX, {1, 2, {3}}},
};
enum { N_GAPS = sizeof gaps / sizeof *gaps };

static void write_gaps(const char *path)
{
    struct rf_trace_writer *writer;
    REQUIRE(rf_trace_create(&writer, path, RF_TRACE_TUPLES, NULL, NULL, NULL, NULL) == RF_OK);
    for (size_t i = 0, gap = 0; i <= 2 * RF_TRACE_EVENTS_MAX; i++) {
        struct rf_tuple tuple = {i, 0};
        for (; gap < N_GAPS && gaps[gap].at == i; gap++)
            CHECK(rf_trace_write_gap(writer, &gaps[gap].gap, NULL) == RF_OK);
        if (i < 2 * RF_TRACE_EVENTS_MAX)
            CHECK(rf_trace_write_tuples(writer, &(struct rf_tuples){&tuple, NULL, 1}, NULL) ==
                  RF_OK);
    }
    CHECK(rf_trace_finish(writer, NULL) == RF_OK);
}

/* All ends of bursts from event `skip` on, and what was skipped from there on. */
static void check_gaps(const char *path, size_t skip)
{
    struct rf_source *source;
    struct rf_batch batch;
    uint64_t events = skip, skipped = 0, bursts = 0;
    size_t next = 0, ends = 0;
    REQUIRE(rf_source_open_trace(&source, path, skip, NULL, NULL) == RF_OK);
    while (rf_source_next(source, &batch, NULL) == RF_OK && !rf_batch_is_end(&batch)) {
        uint64_t sum = 0;
        for (size_t i = 0; i < batch.n_ends; i++) {
            while (next < N_GAPS && (gaps[next].at < skip || gaps[next].gap.weight == 0))
                next++;
            REQUIRE(next < N_GAPS);
            CHECK_EQ(events + batch.ends[i], gaps[next].at);
            CHECK(batch.weights[i] == gaps[next].gap.weight);
            next++;
            ends++;
        }
        for (size_t i = 0; batch.skips != NULL && i <= batch.n_ends; i++)
            sum += batch.skips[i];
        CHECK_EQ(sum, batch.skipped);
        events += batch.n;
        skipped += batch.skipped;
        bursts += batch.bursts;
    }
    uint64_t wanted = 0, over = 0;
    size_t n = 0;
    for (size_t i = 0; i < N_GAPS; i++)
        if (gaps[i].at >= skip) {
            wanted += gaps[i].gap.skipped[0];
            over += gaps[i].gap.bursts;
            n += gaps[i].gap.weight > 0;
        }
    CHECK_EQ(events, 2 * RF_TRACE_EVENTS_MAX);
    CHECK_EQ(skipped, wanted);
    CHECK_EQ(bursts, over);
    CHECK_EQ(ends, n);
    rf_source_close(source);
}

TEST(gaps_come_back)
{
    struct folder folder = folder_make();
    struct rf_trace_info info;
    struct rf_error error = {""};
    write_gaps(folder.file);
    CHECK_EQ(rf_trace_inspect(folder.file, &info, &error), RF_OK);
    CHECK_EQ(info.gaps, N_GAPS);
    CHECK_EQ(info.blocks, 2);
    check_gaps(folder.file, 0);
    check_gaps(folder.file, 5);
    check_gaps(folder.file, RF_TRACE_EVENTS_MAX + 1);
    CHECK_EQ(folder_remove(&folder), 0);
}

/* Whichever byte of the gaps is another one, it is noticed, and no event is lost. */
TEST(damaged_gaps_are_noticed)
{
    struct folder folder = folder_make();
    struct rf_trace_info info;
    struct rf_error error = {""};
    write_gaps(folder.file);
    struct image image = image_load(folder.file);
    unsigned seen = 0;
    for (size_t i = 0; i + RF_TRACE_HEAD_SIZE < image.n; i++) {
        struct rf_trace_head head;
        if (!rf_trace_head_read(&head, image.bytes + i) || head.kind != RF_TRACE_GAPS_KIND)
            continue;
        for (size_t k = 0; k < RF_TRACE_HEAD_SIZE + head.stored; k++) {
            image.bytes[i + k] ^= 0x10;
            image_store(folder.file, image.bytes, image.n);
            CHECK_EQ(rf_trace_inspect(folder.file, &info, &error), RF_EDAMAGED);
            CHECK_EQ(info.events, 2 * RF_TRACE_EVENTS_MAX);
            image.bytes[i + k] ^= 0x10;
        }
        seen++;
    }
    CHECK_EQ(seen, 3);
    CHECK_EQ(folder_remove(&folder), 0);
    free(image.bytes);
}

TEST(a_newer_version_is_refused)
{
    struct folder folder = folder_make();
    struct rf_tuple tuple = {1, 2};
    struct rf_trace_info info;
    struct rf_error error = {""};
    REQUIRE(write_trace(folder.file, &(struct rf_tuples){&tuple, NULL, 1}, NULL, &error) == RF_OK);
    struct image image = image_load(folder.file);
    for (unsigned char older = 1; older <= 2; older++) {
        set_version(&image, older);
        image_store(folder.file, image.bytes, image.n);
        CHECK_EQ(rf_trace_inspect(folder.file, &info, &error), RF_OK);
    }
    set_version(&image, 4);
    image_store(folder.file, image.bytes, image.n);
    CHECK_EQ(rf_trace_inspect(folder.file, &info, &error), RF_EVERSION);
    CHECK(strstr(error.message, "a trace of version 4; this riffle reads up to 3") != NULL);
    CHECK_EQ(folder_remove(&folder), 0);
    free(image.bytes);
}

TEST(what_is_missing_is_named)
{
    struct folder folder = folder_make();
    struct rf_tuple *tuples = make_stream("loop", 0, MANY);
    struct rf_trace_info info;
    struct rf_error error = {""};
    char expected[300];
    REQUIRE(write_trace(folder.file, &(struct rf_tuples){tuples, NULL, MANY}, NULL, &error) ==
            RF_OK);
    struct image image = image_load(folder.file);
    struct layout layout = layout_of(&image);
    REQUIRE(layout.n == 3);

    image_store(folder.file, image.bytes, layout.end[1]); /* cut behind the second block */
    CHECK_EQ(rf_trace_inspect(folder.file, &info, &error), RF_EDAMAGED);
    snprintf(expected, sizeof expected,
             "%s: damaged: it has no index: cut off behind event 131072 or damaged there",
             folder.file);
    CHECK_TEXT(error.message, expected);
    CHECK_EQ(info.complete, 0);
    CHECK_EQ(info.blocks, 2);
    CHECK_EQ(info.events, 131072);

    image.bytes[layout.begin[1] + 100] ^= 1; /* in the second block */
    image_store(folder.file, image.bytes, image.n);
    CHECK_EQ(rf_trace_inspect(folder.file, &info, &error), RF_EDAMAGED);
    snprintf(
        expected, sizeof expected,
        "%s: damaged: 1 blocks with 65536 events are missing, %zu bytes belong to no whole block",
        folder.file, layout.end[1] - layout.begin[1]);
    CHECK_TEXT(error.message, expected);
    CHECK_EQ(info.events, MANY - 65536);

    CHECK_EQ(folder_remove(&folder), 0);
    free(image.bytes);
    free(tuples);
}

TEST(other_files_are_no_traces)
{
    struct folder folder = folder_make();
    struct rf_trace_info info;
    struct rf_error error = {""};
    struct rf_source *source;
    image_store(folder.file, (const unsigned char *)"1 2\n", 4);
    CHECK_EQ(rf_trace_inspect(folder.file, &info, &error), RF_EINVAL);
    CHECK_EQ(rf_source_open_trace(&source, folder.file, 0, NULL, &error), RF_EINVAL);
    CHECK(source == NULL);
    unlink(folder.file);
    CHECK_EQ(rf_trace_inspect(folder.file, &info, &error), RF_EIO);
    CHECK_EQ(folder_remove(&folder) != 0, 0);
}

TEST(tuples_and_records_do_not_mix)
{
    struct folder folder = folder_make();
    struct rf_trace_writer *writer;
    struct rf_error error = {""};
    struct rf_record record = {.kind = RF_CLASS_COUNT};
    REQUIRE(rf_trace_create(&writer, folder.file, RF_TRACE_RECORDS, NULL, NULL, NULL, &error) ==
            RF_OK);
    CHECK_EQ(rf_trace_write_tuples(writer, &(struct rf_tuples){NULL, NULL, 0}, &error), RF_EINVAL);
    CHECK_EQ(rf_trace_write_records(writer, &record, 1, &error), RF_EINVAL);
    rf_trace_abandon(writer);
    CHECK_EQ(folder_remove(&folder), 0);
}

/* --- failures ------------------------------------------------------------------------------------ */

TEST(every_failing_allocation_of_a_writer_is_clean)
{
    struct folder folder = folder_make();
    struct rf_tuple *tuples = make_stream("loop", 0, MANY);
    uint64_t counts[3] = {1, 2, 3};
    rf_status status = RF_ENOMEM;
    for (uint64_t n = 1; status == RF_ENOMEM && n < 100; n++) {
        struct failing failing = {.fail_at = n};
        struct rf_alloc alloc = failing_alloc(&failing);
        struct rf_error error = {""};
        status = write_trace(folder.file,
                             &(struct rf_tuples){tuples, n % 2 ? counts : NULL, n % 2 ? 3 : MANY},
                             &alloc, &error);
        CHECK(status == RF_OK || (status == RF_ENOMEM && error.message[0] != '\0'));
        CHECK_EQ(failing.held, 0);
        CHECK_EQ(failing.mistakes, 0);
        CHECK_EQ(access(folder.file, F_OK) == 0, status == RF_OK);
    }
    CHECK_EQ(status, RF_OK);
    CHECK_EQ(folder_remove(&folder), 0);
    free(tuples);
}

static rf_status read_all(const char *path, const struct rf_alloc *alloc, uint64_t *events)
{
    struct rf_source *source;
    struct rf_batch batch;
    struct rf_error error = {""};
    size_t n;
    const struct rf_module *modules;
    *events = 0;
    rf_status status = rf_source_open(&source, path, alloc, &error);
    if (status != RF_OK)
        return status;
    if (rf_source_modules(source, &modules, &n) == RF_ENOMEM) {
        rf_source_close(source);
        return RF_ENOMEM;
    }
    while ((status = rf_source_next(source, &batch, &error)) == RF_OK && batch.n > 0)
        *events += batch.n;
    rf_source_close(source);
    return error.message[0] != '\0' || status == RF_OK ? status : RF_EINVAL;
}

TEST(every_failing_allocation_of_a_reader_is_clean)
{
    struct folder folder = folder_make();
    struct rf_tuple tuples[] = {{1, 2}, {3, 4}};
    uint64_t counts[] = {5, 6}, events = 0;
    REQUIRE(write_trace(folder.file, &(struct rf_tuples){tuples, counts, 2}, NULL, NULL) == RF_OK);
    rf_status status = RF_ENOMEM;
    for (uint64_t n = 1; status == RF_ENOMEM && n < 100; n++) {
        struct failing failing = {.fail_at = n};
        struct rf_alloc alloc = failing_alloc(&failing);
        status = read_all(folder.file, &alloc, &events);
        CHECK(status == RF_OK || status == RF_ENOMEM);
        CHECK_EQ(failing.held, 0);
        CHECK_EQ(failing.mistakes, 0);
    }
    CHECK_EQ(status, RF_OK);
    CHECK_EQ(events, 2);
    CHECK_EQ(folder_remove(&folder), 0);
}

TEST(a_write_that_fails_leaves_no_file)
{
    struct folder folder = folder_make();
    struct rf_tuple *tuples = make_stream("loop", 0, MANY);
    struct rlimit before, limit;
    REQUIRE(write_trace(folder.file, &(struct rf_tuples){tuples, NULL, MANY}, NULL, NULL) == RF_OK);
    struct image image = image_load(folder.file);
    unlink(folder.file);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    for (size_t i = 0; i <= 16; i++) { /* the file may be so long, and no longer */
        struct rf_error error = {""};
        size_t most = i == 16 ? image.n - 1 : image.n * i / 16;
        limit = (struct rlimit){most, before.rlim_max};
        REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
        rf_status status =
            write_trace(folder.file, &(struct rf_tuples){tuples, NULL, MANY}, NULL, &error);
        setrlimit(RLIMIT_FSIZE, &before);
        CHECK_EQ(status, RF_EIO);
        CHECK(strstr(error.message, "cannot write: File too large") != NULL);
        CHECK(access(folder.file, F_OK) != 0);
    }
    signal(SIGXFSZ, handler);
    CHECK_EQ(rmdir(folder.path), 0); /* no temporary file either */
    free(image.bytes);
    free(tuples);
}

TEST(a_full_device_is_told)
{
    struct rf_tuple tuple = {1, 2};
    struct rf_error error = {""};
    CHECK_EQ(write_trace("/dev/full", &(struct rf_tuples){&tuple, NULL, 1}, NULL, &error), RF_EIO);
    CHECK_TEXT(error.message, "/dev/full: cannot write: No space left on device");
    CHECK_EQ(write_trace("/nonexistent/t.rft", &(struct rf_tuples){&tuple, NULL, 1}, NULL, &error),
             RF_EIO);
    CHECK(access("/dev/full", F_OK) == 0);
}

TEST(a_trace_goes_through_a_pipe)
{
    struct rf_tuple *tuples = make_stream("loop", 0, MANY);
    uint64_t events = 0;
    int ends[2], saved = dup(STDIN_FILENO);
    REQUIRE(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[1]);
        _exit(write_trace("-", &(struct rf_tuples){tuples, NULL, MANY}, NULL, NULL) != RF_OK);
    }
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    CHECK_EQ(read_all("-", NULL, &events), RF_OK);
    CHECK_EQ(events, MANY);
    int status = 1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    dup2(saved, STDIN_FILENO);
    close(saved);
    free(tuples);
}

TEST_MAIN()
