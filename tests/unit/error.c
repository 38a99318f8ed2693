/* What statuses are called, and the formatter behind every message. */
#include "base/error.h"
#include "test.h"

TEST(every_status_has_a_phrase_of_its_own)
{
    static const rf_status all[] = {RF_OK,       RF_EINVAL,   RF_ENOMEM,  RF_EIO,
                                    RF_EDAMAGED, RF_EVERSION, RF_ENOTSUP, RF_ESTOPPED};
    enum { N = sizeof all / sizeof *all };
    for (size_t i = 0; i < N; i++) {
        CHECK(strcmp(rf_status_text(all[i]), "unknown status") != 0);
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(rf_status_text(all[i]), rf_status_text(all[k])) != 0);
    }
    CHECK_TEXT(rf_status_text((rf_status)-99), "unknown status");
}

TEST(numbers_and_texts_are_formatted_as_printf_does)
{
    char ours[100], theirs[100];
#define SAME(...)                                                                                  \
    do {                                                                                           \
        CHECK_EQ(rf_format(ours, sizeof ours, __VA_ARGS__),                                        \
                 (size_t)snprintf(theirs, sizeof theirs, __VA_ARGS__));                            \
        CHECK_TEXT(ours, theirs);                                                                  \
    } while (0)
    SAME("%d %05d %5d", -7, -42, -42);
    SAME("%u %x %08llx", 7u, 255u, 0xabcdULL);
    SAME("%s|%.*s|%c|%%", "text", 3, "text", 'x');
    SAME("%zu %llu", (size_t)12, ~0ULL);
#undef SAME
}

TEST(a_text_that_is_not_there_is_said_to_be_none)
{
    char text[20];
    const char *volatile none = NULL;
    rf_format(text, sizeof text, "%s", none);
    CHECK_TEXT(text, "(none)");
    CHECK_EQ(rf_format(text, 4, "%s", "abcdef"), 6);
    CHECK_TEXT(text, "abc");
}

TEST(a_failure_leaves_its_sentence)
{
    struct rf_error error = {""};
    CHECK_EQ(rf_fail(&error, RF_EIO, "line %d", 3), RF_EIO);
    CHECK_TEXT(error.message, "line 3");
    CHECK_EQ(rf_fail(NULL, RF_EINVAL, "nobody listens"), RF_EINVAL);
}

TEST_MAIN()
