/* Tuples as text: what is read, what is refused and how that is said. */
#include "test.h"
#include <riffle/source.h>
#include <unistd.h>

/* Everything a source gives, and how it ended. */
struct seen {
    struct rf_tuple tuples[64];
    uint64_t counts[64];
    size_t n;
    rf_status status;
    struct rf_error error;
};

static int pipe_of(const char *text, size_t n)
{
    int ends[2];
    if (pipe(ends) != 0 || write(ends[1], text, n) != (ssize_t)n)
        abort();
    close(ends[1]);
    return ends[0];
}

static void take(struct seen *seen, struct rf_source *source)
{
    struct rf_batch batch;
    while ((seen->status = rf_source_next(source, &batch, &seen->error)) == RF_OK && batch.n > 0)
        for (size_t i = 0; i < batch.n && seen->n < 64; i++, seen->n++) {
            seen->tuples[seen->n] = batch.tuples.tuples[i];
            seen->counts[seen->n] = batch.tuples.counts == NULL ? 1 : batch.tuples.counts[i];
        }
}

static struct seen read_text(const char *text)
{
    struct seen seen = {.status = RF_OK};
    struct rf_source *source;
    int fd = pipe_of(text, strlen(text));
    seen.status = rf_source_open_text(&source, fd, "in", NULL, &seen.error);
    if (seen.status == RF_OK)
        take(&seen, source);
    rf_source_close(source);
    close(fd);
    return seen;
}

static const struct {
    const char *text;
    uint64_t a, b, count;
} lines[] = {
    {"1 2\n", 1, 2, 1},
    {"1 2", 1, 2, 1},
    {"1 2 3\n", 1, 2, 3},
    {"1 2 9223372036854775808\n", 1, 2, UINT64_C(9223372036854775808)},
    {"7\n", 7, 0, 1},
    {"  1\t2  \n", 1, 2, 1},
    {"1 2\r\n", 1, 2, 1},
    {"1 2 3\r\n", 1, 2, 3},
    {"1 2 # why\n", 1, 2, 1},
    {"1 2# why\n", 1, 2, 1},
    {"# first\n\n \n\t# second\n1 2\n", 1, 2, 1},
    {"0x10 0XfF\n", 16, 255, 1},
    {"0xdeadbeef 0xDEADBEEFCAFEF00D\n", 0xdeadbeef, 0xdeadbeefcafef00d, 1},
    {"0x123456789 12345678\n", 0x123456789, 12345678, 1},
    {"123456789 1234567890123456\n", 123456789, 1234567890123456, 1},
    {"12345678901234567 18446744073709551615\n", 12345678901234567, UINT64_MAX, 1},
    {"0xffffffffffffffff 00000000000000000000005\n", UINT64_MAX, 5, 1},
    {"0x00000000000000000001 9\n", 1, 9, 1},
    {"1 2 0\n3 4\n", 3, 4, 1},
};

TEST(lines_are_read)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct seen seen = read_text(lines[i].text);
        CHECK_ROW(lines[i].text, seen.status == RF_OK);
        CHECK_ROW(lines[i].text, seen.n == 1);
        CHECK_ROW(lines[i].text, seen.tuples[0].a == lines[i].a);
        CHECK_ROW(lines[i].text, seen.tuples[0].b == lines[i].b);
        CHECK_ROW(lines[i].text, seen.counts[0] == lines[i].count);
    }
}

static const struct {
    const char *text;
    size_t n; /* tuples before it */
    const char *message;
} bad[] = {
    {"x\n", 0, "in: line 1: expected 'a b [count]', numbers of 64 bits, got 'x'"},
    {"1 2\n\n# c\n1 two\n5 6\n", 1,
     "in: line 4: expected 'a b [count]', numbers of 64 bits, got '1 two'"},
    {"1 2\r\n3 4x\r\n", 1, "in: line 2: expected 'a b [count]', numbers of 64 bits, got '3 4x'"},
    {"1 2 3 4\n", 0, "in: line 1: expected 'a b [count]', numbers of 64 bits, got '1 2 3 4'"},
    {"-1 2\n", 0, "in: line 1: expected 'a b [count]', numbers of 64 bits, got '-1 2'"},
    {"1,2\n", 0, "in: line 1: expected 'a b [count]', numbers of 64 bits, got '1,2'"},
    {"0x 2\n", 0, "in: line 1: expected 'a b [count]', numbers of 64 bits, got '0x 2'"},
    {"1 2.5\n", 0, "in: line 1: expected 'a b [count]', numbers of 64 bits, got '1 2.5'"},
    {"0 18446744073709551616\n", 0,
     "in: line 1: expected 'a b [count]', numbers of 64 bits, got '0 18446744073709551616'"},
    {"0x10000000000000000 1\n", 0,
     "in: line 1: expected 'a b [count]', numbers of 64 bits, got '0x10000000000000000 1'"},
    {"1 1 18446744073709551615\n", 0,
     "in: line 1: with its count of 18446744073709551615 the stream has more than 2^63 events"},
    {"1 1 9223372036854775807\n2 2\n2 2 0\n# c\n3 3\n", 2,
     "in: line 5: with its count of 1 the stream has more than 2^63 events"},
    {"\x01\x80\n", 0, "in: line 1: expected 'a b [count]', numbers of 64 bits, got '..'"},
};

TEST(bad_lines_are_named)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct seen seen = read_text(bad[i].text);
        CHECK_ROW(bad[i].text, seen.status == RF_EINVAL);
        CHECK_ROW(bad[i].text, seen.n == bad[i].n);
        CHECK_TEXT(seen.error.message, bad[i].message);
    }
}

TEST(nothing_is_an_empty_stream)
{
    struct seen seen = read_text("");
    CHECK_EQ(seen.status, RF_OK);
    CHECK_EQ(seen.n, 0);
}

/* Tuples 0..n-1 as text with comments between, in a temporary file. */
static FILE *long_text(size_t n)
{
    FILE *file = tmpfile();
    for (size_t i = 0; i < n; i++)
        fprintf(file,
                i % 3 == 0   ? "%zu 0x%zx\n"
                : i % 3 == 1 ? "0x%zx %zu # odd\n"
                             : " %zu\t%zu 1\n",
                i, i * i);
    fflush(file);
    rewind(file);
    return file;
}

TEST(lines_across_buffers_are_whole)
{
    enum { N = 100000 };
    FILE *file = long_text(N);
    struct rf_source *source;
    struct rf_error error;
    REQUIRE(rf_source_open_text(&source, fileno(file), "long", NULL, &error) == RF_OK);
    struct rf_batch batch;
    uint64_t at = 0, wrong = 0, done, total;
    while (rf_source_next(source, &batch, &error) == RF_OK && batch.n > 0)
        for (size_t i = 0; i < batch.n; i++, at++)
            wrong += batch.tuples.tuples[i].a != at || batch.tuples.tuples[i].b != at * at;
    CHECK_EQ(at, N);
    CHECK_EQ(wrong, 0);
    rf_source_progress(source, &done, &total);
    CHECK_EQ(done, total);
    CHECK_EQ(total, ftell(file) < 0 ? 0 : (uint64_t)lseek(fileno(file), 0, SEEK_CUR));
    rf_source_close(source);
    fclose(file);
}

TEST(an_endless_line_is_refused)
{
    FILE *file = tmpfile();
    fputs("1 2\n#", file);
    for (int i = 0; i < 300000; i++)
        fputc('x', file);
    fflush(file);
    rewind(file);
    struct rf_source *source;
    struct seen seen = {.status = RF_OK};
    REQUIRE(rf_source_open_text(&source, fileno(file), "f", NULL, NULL) == RF_OK);
    take(&seen, source);
    CHECK_EQ(seen.n, 1);
    CHECK_EQ(seen.status, RF_EINVAL);
    CHECK_TEXT(seen.error.message, "f: line 2 is longer than 262144 bytes");
    rf_source_close(source);
    fclose(file);
}

TEST(a_file_is_opened_by_name)
{
    char path[] = "/tmp/riffle-text-XXXXXX";
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    REQUIRE(write(fd, "1 2\n3 4\n5 6", 11) == 11);
    close(fd);
    struct rf_source *source;
    struct seen seen = {.status = RF_OK};
    CHECK_EQ(rf_source_open(&source, path, NULL, &seen.error), RF_OK);
    take(&seen, source);
    rf_source_close(source);
    CHECK_EQ(seen.n, 3);
    CHECK_EQ(seen.tuples[2].b, 6);
    unlink(path);
    CHECK_EQ(rf_source_open(&source, path, NULL, &seen.error), RF_EIO);
    CHECK(strstr(seen.error.message, "cannot open: No such file") != NULL);
}

TEST_MAIN()
