/* The .rfp file: there and back, cut anywhere, changed anywhere, without memory, without disk. */
#include "base/alloc.h"
#include "base/random.h"
#include "failing.h"
#include "rfp.h"
#include "test.h"
#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <riffle/profile.h>
#include <riffle/profiler.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct rf_tuple stream[] = {
    {1, 9}, {1, 9}, {2, 8}, {UINT64_MAX, 0}, {2, 8}, {1, 9}, {3, 7},
};
enum { STREAM = sizeof stream / sizeof *stream };

static rf_status add_profile(struct rf_run *run, const char *engine, const char *selector,
                             uint64_t lost, size_t n)
{
    const struct rf_profiler_setup setup = {
        .alloc = &run->alloc, .seed = 42, .selector = selector, .keep_intervals = 1};
    struct rf_profiler *profiler;
    struct rf_profile *profile = NULL;
    rf_status status = rf_profiler_open(&profiler, engine, &setup, NULL);
    if (status == RF_OK)
        status = rf_profiler_feed(profiler, &(struct rf_tuples){stream, NULL, n}, NULL);
    if (status == RF_OK) {
        rf_profiler_lose(profiler, lost);
        status = rf_profiler_profile(profiler, &profile, NULL);
    }
    rf_profiler_close(profiler);
    if (status == RF_OK && (status = rf_run_add_profile(run, profile)) != RF_OK)
        rf_profile_free(profile);
    return status;
}

static rf_status make_run(struct rf_run **made, const char *command, const struct rf_alloc *alloc)
{
    const struct rf_module module = {(char *)"/lib/x.so", (char *)"beef", 7, 1, 2, 3, 4, 5};
    struct rf_run *run = NULL;
    rf_status status = rf_run_new(&run, command, alloc);
    if (status == RF_OK)
        status = rf_run_add_module(run, &module);
    if (status == RF_OK)
        status = rf_run_add_note(run, "exit-status", "0");
    if (status == RF_OK)
        status = add_profile(run, "exact(interval=3)", "load -> pc,value", 2, STREAM);
    if (status == RF_OK)
        status = add_profile(run, "exact", "", 0, STREAM);
    if (status != RF_OK) {
        rf_run_free(run);
        run = NULL;
    }
    *made = run;
    return status;
}

static struct rf_run *plain_run(const char *command)
{
    struct rf_run *run;
    if (make_run(&run, command, NULL) != RF_OK)
        abort();
    static const struct rf_figure figure = {"messages", 12.5};
    struct rf_profile *profile = run->profiles[0];
    profile->figures = rf_alloc_get(&profile->alloc, sizeof figure);
    if (profile->figures == NULL)
        abort();
    profile->figures[0] = figure;
    profile->n_figures = 1;
    profile->bits = 77;
    return run;
}

static struct rf_bytes encoded(const struct rf_run *run)
{
    struct rf_bytes file;
    if (rf_run_encode(run, &file, NULL) != RF_OK)
        abort();
    return file;
}

static void check_same_list(const struct rf_item *x, const struct rf_item *y, size_t n)
{
    CHECK(n == 0 || memcmp(x, y, n * sizeof *x) == 0);
}

static void check_same_profile(const struct rf_profile *x, const struct rf_profile *y)
{
    CHECK_TEXT(x->selector, y->selector);
    CHECK_TEXT(x->engine, y->engine);
    CHECK_EQ(x->seed, y->seed);
    CHECK_EQ(x->shape, y->shape);
    CHECK_EQ(x->bound, y->bound);
    CHECK_EQ(x->produced, y->produced);
    CHECK_EQ(x->consumed, y->consumed);
    CHECK_EQ(x->lost, y->lost);
    CHECK_EQ(x->memory, y->memory);
    CHECK_EQ(x->bits, y->bits);
    CHECK_EQ(x->absent_upper, y->absent_upper);
    CHECK_EQ(x->interval_length, y->interval_length);
    CHECK_EQ(x->n_intervals_seen, y->n_intervals_seen);
    REQUIRE(x->n_items == y->n_items && x->n_intervals == y->n_intervals);
    REQUIRE(x->n_interval_items == y->n_interval_items && x->n_figures == y->n_figures);
    check_same_list(x->items, y->items, x->n_items);
    check_same_list(x->interval_items, y->interval_items, x->n_interval_items);
    for (size_t i = 0; i < x->n_intervals; i++)
        CHECK(memcmp(&x->intervals[i], &y->intervals[i], sizeof *x->intervals) == 0);
    for (size_t i = 0; i < x->n_figures; i++)
        CHECK(memcmp(&x->figures[i], &y->figures[i], sizeof *x->figures) == 0);
}

TEST(there_and_back)
{
    struct rf_run *run = plain_run("x \xff y"), *back;
    struct rf_bytes file = encoded(run);
    REQUIRE(rf_run_decode(&back, file.bytes, file.n, NULL, NULL) == RF_OK);
    CHECK_TEXT(back->command, run->command);
    CHECK_TEXT(back->version, run->version);
    CHECK_TEXT(rf_run_note(back, "exit-status"), "0");
    REQUIRE(back->n_modules == 1 && back->n_profiles == 2);
    CHECK_TEXT(back->modules[0].path, "/lib/x.so");
    CHECK_TEXT(back->modules[0].build_id, "beef");
    CHECK_EQ(back->modules[0].process, 7);
    CHECK_EQ(back->modules[0].to_event, 5);
    for (size_t i = 0; i < 2; i++)
        check_same_profile(run->profiles[i], back->profiles[i]);
    struct rf_bytes again = encoded(back);
    CHECK(again.n == file.n && memcmp(again.bytes, file.bytes, file.n) == 0);
    rf_bytes_free(&again, &run->alloc);
    rf_bytes_free(&file, &run->alloc);
    rf_run_free(back);
    rf_run_free(run);
}

TEST(an_empty_run_is_a_file_too)
{
    struct rf_run *run, *back;
    REQUIRE(rf_run_new(&run, NULL, NULL) == RF_OK);
    struct rf_bytes file = encoded(run);
    REQUIRE(rf_run_decode(&back, file.bytes, file.n, NULL, NULL) == RF_OK);
    CHECK_EQ(back->n_profiles, 0);
    rf_bytes_free(&file, &run->alloc);
    rf_run_free(back);
    rf_run_free(run);
}

static void check_damaged(const unsigned char *bytes, size_t n, const char *what, size_t at)
{
    struct failing failing = {.fail_at = 0};
    struct rf_alloc alloc = failing_alloc(&failing);
    struct rf_run *run;
    struct rf_error error = {""};
    rf_status status = rf_run_decode(&run, bytes, n, &alloc, &error);
    bool told = status == RF_EDAMAGED && run == NULL && error.message[0] != '\0';
    if (!told || failing.held != 0)
        printf("# %s at %zu: status %d, '%s'\n", what, at, status, error.message);
    CHECK(told);
    CHECK_EQ(failing.held, 0);
    rf_run_free(run);
}

TEST(cut_at_every_offset)
{
    struct rf_run *run = plain_run("x");
    struct rf_bytes file = encoded(run);
    for (size_t n = 0; n < file.n; n++) {
        unsigned char *cut = malloc(n + 1); /* its own block: reading past the end shows */
        REQUIRE(cut != NULL);
        memcpy(cut, file.bytes, n);
        check_damaged(cut, n, "cut", n);
        free(cut);
    }
    rf_bytes_free(&file, &run->alloc);
    rf_run_free(run);
}

TEST(every_byte_flipped)
{
    struct rf_run *run = plain_run("x");
    struct rf_bytes file = encoded(run);
    for (size_t i = 0; i < file.n; i++)
        for (unsigned flip = 1; flip < 256; flip = flip == 128 ? 255 : flip * 2) {
            file.bytes[i] ^= (unsigned char)flip;
            check_damaged(file.bytes, file.n, "flipped", i);
            file.bytes[i] ^= (unsigned char)flip;
            if (flip == 255)
                break;
        }
    rf_bytes_free(&file, &run->alloc);
    rf_run_free(run);
}

TEST(a_newer_format_is_told_apart)
{
    struct rf_run *run = plain_run("x"), *back;
    struct rf_error error = {""};
    struct rf_bytes file = encoded(run);
    rf_store32(file.bytes + RF_RFP_AT_VERSION, 9);
    rf_store64(file.bytes + RF_RFP_AT_HEADER_CHECKSUM,
               rf_checksum(file.bytes, RF_RFP_AT_HEADER_CHECKSUM));
    CHECK_EQ(rf_run_decode(&back, file.bytes, file.n, NULL, &error), RF_EVERSION);
    CHECK_TEXT(error.message, "the file has format 9, this program reads format 1");
    rf_bytes_free(&file, &run->alloc);
    rf_run_free(run);
}

TEST(a_length_that_cannot_be_is_refused_before_memory_is_asked_for)
{
    struct rf_run *run = plain_run("x"), *back;
    struct failing failing = {.fail_at = 1};
    struct rf_alloc alloc = failing_alloc(&failing);
    struct rf_bytes file = encoded(run);
    static const uint64_t lengths[] = {UINT64_MAX, UINT64_C(1) << 33, UINT64_C(1) << 31};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        rf_store64(file.bytes + RF_RFP_AT_LENGTH, lengths[i]);
        rf_store64(file.bytes + RF_RFP_AT_HEADER_CHECKSUM,
                   rf_checksum(file.bytes, RF_RFP_AT_HEADER_CHECKSUM));
        CHECK_EQ(rf_run_decode(&back, file.bytes, file.n, &alloc, NULL), RF_EDAMAGED);
    }
    CHECK_EQ(failing.allocations, 0);
    rf_bytes_free(&file, &run->alloc);
    rf_run_free(run);
}

/* Payloads changed at random behind right checksums: refused or read, but never worse. */
TEST(nonsense_with_right_checksums)
{
    struct rf_run *run = plain_run("x"), *back;
    struct rf_bytes file = encoded(run);
    size_t n = (size_t)rf_load64(file.bytes + RF_RFP_AT_LENGTH), refused = 0, length;
    unsigned char *payload = malloc(n), *changed = malloc(n);
    REQUIRE(payload != NULL && changed != NULL);
    REQUIRE(ZSTD_decompress(payload, n, file.bytes + RF_RFP_HEADER, file.n - RF_RFP_HEADER) == n);
    struct rf_random random;
    rf_random_seed(&random, test_seed(77));
    enum { ROUNDS = 4000 };
    for (int round = 0; round < ROUNDS; round++) {
        struct failing failing = {.fail_at = 0};
        struct rf_alloc alloc = failing_alloc(&failing);
        memcpy(changed, payload, n);
        for (uint64_t k = rf_random_below(&random, 3) + 1; k > 0; k--)
            changed[rf_random_below(&random, n)] = (unsigned char)rf_random_next(&random);
        unsigned char *wrapped = rfp_wrap(changed, n - rf_random_below(&random, 2), &length);
        REQUIRE(wrapped != NULL);
        rf_status status = rf_run_decode(&back, wrapped, length, &alloc, NULL);
        CHECK(status == RF_OK || status == RF_EDAMAGED);
        refused += status == RF_EDAMAGED;
        rf_run_free(back);
        CHECK_EQ(failing.held, 0);
        CHECK_EQ(failing.mistakes, 0);
        free(wrapped);
    }
    CHECK(refused > ROUNDS / 4 && refused < ROUNDS);
    free(payload);
    free(changed);
    rf_bytes_free(&file, &run->alloc);
    rf_run_free(run);
}

/* The reader asks: a tuple that is there twice passes the writer, which trusts its own. */
TEST(a_file_with_an_item_twice_is_refused)
{
    struct rf_run *run = plain_run("x"), *back = NULL;
    struct rf_error error = {""};
    run->profiles[1]->items[2] = run->profiles[1]->items[1];
    run->profiles[1]->produced = run->profiles[1]->consumed = 100;
    struct rf_bytes file = encoded(run);
    CHECK_EQ(rf_run_decode(&back, file.bytes, file.n, NULL, &error), RF_EDAMAGED);
    CHECK_TEXT(error.message, "the contents make no sense: an item is listed twice");
    rf_bytes_free(&file, &run->alloc);
    rf_run_free(run);
}

/* The writer refuses such a profile, so the number is put into the finished payload. */
TEST(a_file_with_a_figure_that_is_no_number_is_refused)
{
    static const double odd = 1.2345e67, no_number = NAN;
    struct rf_run *run = plain_run("x"), *back = NULL;
    struct rf_error error = {""};
    run->profiles[0]->figures[0].value = odd;
    struct rf_bytes file = encoded(run);
    size_t n = (size_t)rf_load64(file.bytes + RF_RFP_AT_LENGTH), length;
    unsigned char *payload = malloc(n);
    REQUIRE(payload != NULL);
    REQUIRE(ZSTD_decompress(payload, n, file.bytes + RF_RFP_HEADER, file.n - RF_RFP_HEADER) == n);
    unsigned char *at = memmem(payload, n, &odd, sizeof odd);
    REQUIRE(at != NULL);
    memcpy(at, &no_number, sizeof no_number);
    unsigned char *wrapped = rfp_wrap(payload, n, &length);
    REQUIRE(wrapped != NULL);
    CHECK_EQ(rf_run_decode(&back, wrapped, length, NULL, &error), RF_EDAMAGED);
    CHECK_TEXT(error.message, "the contents make no sense: a figure is infinite or no number");
    free(wrapped);
    free(payload);
    rf_bytes_free(&file, &run->alloc);
    rf_run_free(run);
}

/* Many items that compress to almost nothing: written with room to spare, so that a reader needs no more than
 * a multiple of the file. */
TEST(memory_is_in_proportion_to_the_file)
{
    enum { ITEMS = 400000 };
    struct rf_run *run = plain_run("x"), *back;
    struct rf_profile *profile = run->profiles[1];
    rf_alloc_free(&profile->alloc, profile->items, profile->n_items * sizeof *profile->items);
    profile->items = rf_alloc_get(&profile->alloc, ITEMS * sizeof *profile->items);
    REQUIRE(profile->items != NULL);
    profile->n_items = ITEMS;
    profile->produced = profile->consumed = ITEMS;
    for (uint64_t i = 0; i < ITEMS; i++)
        profile->items[i] = (struct rf_item){i, 0, i, 0, 1, 1, 1, 0};
    struct rf_bytes file = encoded(run);
    struct failing failing = {.fail_at = 0};
    struct rf_alloc alloc = failing_alloc(&failing);
    CHECK(file.n > 8 * ITEMS / RF_RFP_RATIO_MAX && file.n < 100000);
    REQUIRE(rf_run_decode(&back, file.bytes, file.n, &alloc, NULL) == RF_OK);
    CHECK_EQ(back->profiles[1]->n_items, ITEMS);
    rf_run_free(back);
    size_t length, n = 8 << 20;
    unsigned char *zeros = calloc(1, n), *wrapped = rfp_wrap(zeros, n, &length);
    REQUIRE(zeros != NULL && wrapped != NULL);
    CHECK(length < 5000);
    failing.fail_at = failing.allocations = 1;
    CHECK_EQ(rf_run_decode(&back, wrapped, length, &alloc, NULL), RF_EDAMAGED);
    free(zeros);
    free(wrapped);
    rf_bytes_free(&file, &run->alloc);
    rf_run_free(run);
}

/* ---- on disk ---- */

static char folder[64], path[128];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "rfp-test-XXXXXX");
    if (mkdtemp(folder) == NULL)
        abort();
    snprintf(path, sizeof path, "%s/x.rfp", folder);
}

static unsigned files_in_folder(void)
{
    unsigned n = 0;
    DIR *dir = opendir(folder);
    if (dir == NULL)
        abort();
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void remove_folder(void)
{
    unlink(path);
    CHECK_EQ(rmdir(folder), 0);
}

TEST(saved_privately_and_loaded)
{
    struct rf_run *run = plain_run("x"), *back;
    struct stat info;
    make_folder();
    REQUIRE(rf_run_save(run, path, NULL) == RF_OK);
    REQUIRE(rf_run_save(run, path, NULL) == RF_OK); /* over the first */
    CHECK_EQ(files_in_folder(), 1);
    REQUIRE(stat(path, &info) == 0);
    CHECK_EQ(info.st_mode & 0777, 0600);
    REQUIRE(rf_run_load(&back, path, NULL, NULL) == RF_OK);
    check_same_profile(run->profiles[0], back->profiles[0]);
    rf_run_free(back);
    rf_run_free(run);
    remove_folder();
}

TEST(what_cannot_be_saved_or_loaded)
{
    struct rf_run *run = plain_run("x"), *back;
    struct rf_error error = {""};
    CHECK_EQ(rf_run_save(run, "/nowhere/x.rfp", &error), RF_EIO);
    CHECK_TEXT(error.message, "/nowhere/x.rfp: cannot create: No such file or directory");
    CHECK_EQ(rf_run_load(&back, "/nowhere/x.rfp", NULL, &error), RF_EIO);
    CHECK_TEXT(error.message, "/nowhere/x.rfp: cannot open: No such file or directory");
    CHECK_EQ(rf_run_save(run, "/dev/full", &error), RF_EIO);
    CHECK_TEXT(error.message, "/dev/full: cannot write: No space left on device");
    CHECK_EQ(rf_run_save(run, "/dev/null", &error), RF_OK);
    CHECK_EQ(rf_run_load(&back, "/dev/null", NULL, &error), RF_EDAMAGED);
    CHECK_TEXT(error.message, "/dev/null: this is not a riffle profile");
    run->profiles[1]->lost++;
    CHECK_EQ(rf_run_save(run, "/dev/null", &error), RF_EINVAL);
    CHECK_TEXT(error.message, "profile 1 cannot be saved: produced is not consumed and lost");
    rf_run_free(run);
}

/* The disk takes n bytes, for every n: an error, no half file, the old one untouched. */
TEST(every_write_may_fail)
{
    struct rf_run *run = plain_run("x"), *old = plain_run("old"), *back;
    struct rf_bytes file = encoded(run);
    struct rlimit limit;
    make_folder();
    REQUIRE(rf_run_save(old, path, NULL) == RF_OK);
    REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    signal(SIGXFSZ, SIG_IGN);
    rlim_t whole = limit.rlim_cur;
    fflush(stdout); /* the limit holds for the log, too */
    unsigned wrong = 0;
    for (size_t n = 0; n < file.n; n++) {
        limit.rlim_cur = n;
        setrlimit(RLIMIT_FSIZE, &limit);
        rf_status status = rf_run_save(run, path, NULL);
        limit.rlim_cur = whole;
        setrlimit(RLIMIT_FSIZE, &limit);
        wrong += status != RF_EIO || files_in_folder() != 1;
    }
    CHECK_EQ(wrong, 0);
    REQUIRE(rf_run_load(&back, path, NULL, NULL) == RF_OK);
    CHECK_TEXT(back->command, "old");
    rf_run_free(back);
    rf_bytes_free(&file, &run->alloc);
    rf_run_free(old);
    rf_run_free(run);
    remove_folder();
}

/* ---- merge ---- */

TEST(bytes_of_a_run_are_those_of_its_file)
{
    struct rf_run *run = plain_run("x"), *again;
    void *bytes;
    size_t n;
    REQUIRE(rf_run_pack(run, &bytes, &n, NULL) == RF_OK);
    REQUIRE(rf_run_decode(&again, bytes, n, NULL, NULL) == RF_OK);
    CHECK_TEXT(again->command, "x");
    CHECK_EQ(again->n_profiles, run->n_profiles);
    CHECK_EQ(again->profiles[0]->consumed, run->profiles[0]->consumed);
    rf_run_free_packed(run, bytes, n);
    rf_run_free(again);
    rf_run_free(run);
}

TEST(merged_runs_add_up)
{
    struct rf_run *run = plain_run("x"), *other = plain_run("y");
    REQUIRE(add_profile(other, "exact", "call -> pc", 0, 2) == RF_OK);
    REQUIRE(rf_run_merge(run, other, NULL) == RF_OK);
    CHECK_TEXT(run->command, "x; y");
    CHECK_EQ(run->n_notes, 2);
    CHECK_TEXT(rf_run_note(run, RF_NOTE_RUNS), "2");
    CHECK_EQ(run->n_modules, 1);
    REQUIRE(run->n_profiles == 3);
    const struct rf_profile *sum = run->profiles[0];
    CHECK_EQ(sum->consumed, 2 * STREAM);
    CHECK_EQ(sum->lost, 4);
    CHECK_EQ(sum->produced, 2 * STREAM + 4);
    CHECK_EQ(sum->n_intervals_seen, 6);
    REQUIRE(sum->n_intervals == 6 && sum->n_items == 4 && sum->n_figures == 1);
    CHECK_EQ(sum->items[0].count, 6);
    CHECK_EQ(sum->items[0].intervals, 4);
    CHECK_EQ(sum->intervals[3].first, other->profiles[0]->n_interval_items);
    CHECK(sum->figures[0].value == 25);
    CHECK_TEXT(run->profiles[2]->selector, "call -> pc");
    CHECK_EQ(run->profiles[2]->items[0].count, 2);
    struct rf_bytes file = encoded(run); /* checks the whole of it, too */
    rf_bytes_free(&file, &run->alloc);
    rf_run_free(other);
    rf_run_free(run);
}

TEST(a_run_merged_with_itself)
{
    struct rf_run *run = plain_run("x");
    REQUIRE(rf_run_merge(run, run, NULL) == RF_OK);
    CHECK_EQ(run->n_profiles, 2);
    CHECK_EQ(run->profiles[1]->consumed, 2 * STREAM);
    rf_run_free(run);
}

/* Bounds: what one side lacks may have had its absent_upper there. */
TEST(merged_bounds_allow_for_the_absent)
{
    struct rf_run *run = plain_run("x"), *other = plain_run("x");
    struct rf_profile *x = run->profiles[1], *y = other->profiles[1];
    x->bound = y->bound = RF_BOUND_HARD;
    x->absent_upper = 1;
    y->absent_upper = 2;
    y->items[0].a = y->items[0].a_hi = 77; /* x has <1, 9> three times, y has <77, 9> */
    REQUIRE(rf_run_merge(run, other, NULL) == RF_OK);
    const struct rf_profile *sum = run->profiles[1];
    CHECK_EQ(sum->absent_upper, 3);
    for (size_t i = 0; i < sum->n_items; i++) {
        uint64_t expected = sum->items[i].a == 1    ? 3 + 2
                            : sum->items[i].a == 77 ? 3 + 1
                                                    : sum->items[i].count;
        CHECK_EQ(sum->items[i].upper, expected);
        CHECK_EQ(sum->items[i].lower, sum->items[i].count);
    }
    rf_run_free(other);
    rf_run_free(run);
}

/* ---- memory ---- */

static rf_status whole_story(const struct rf_alloc *alloc)
{
    struct rf_run *run = NULL, *back = NULL;
    struct rf_bytes file = {NULL, 0, 0};
    rf_status status = make_run(&run, "x", alloc);
    if (status == RF_OK)
        status = rf_run_encode(run, &file, NULL);
    if (status == RF_OK)
        status = rf_run_decode(&back, file.bytes, file.n, alloc, NULL);
    if (status == RF_OK)
        status = rf_run_save(back, path, NULL);
    rf_run_free(back);
    back = NULL;
    if (status == RF_OK)
        status = rf_run_load(&back, path, alloc, NULL);
    if (status == RF_OK)
        status = add_profile(back, "exact", "call -> pc", 0, 2);
    if (status == RF_OK)
        status = rf_run_merge(run, back, NULL);
    rf_bytes_free(&file, alloc);
    rf_run_free(back);
    rf_run_free(run);
    return status;
}

TEST(every_allocation_may_fail)
{
    make_folder();
    for (uint64_t n = 1;; n++) {
        struct failing failing = {.fail_at = n};
        struct rf_alloc alloc = failing_alloc(&failing);
        rf_status status = whole_story(&alloc);
        CHECK_EQ(failing.held, 0);
        CHECK_EQ(failing.mistakes, 0);
        CHECK(files_in_folder() <= 1);
        if (failing.allocations < n) {
            CHECK_EQ(status, RF_OK);
            CHECK(n > 50);
            break;
        }
        CHECK_EQ(status, (uint64_t)RF_ENOMEM);
        REQUIRE(n < 5000);
    }
    remove_folder();
}

TEST_MAIN()
