/* Text that others wrote, as a terminal may show it. */
#include <riffle/text.h>
#include "test.h"

static const struct {
    const char *title, *text, *shown;
} cases[] = {
    {"plain", "spread (rank.c:44)", "spread (rank.c:44)"},
    {"empty", "", ""},
    {"escape", "\x1b[2J", "\\x1b[2J"},
    {"newline and tab", "a\nb\tc", "a\\x0ab\\x09c"},
    {"delete", "\x7f", "\\x7f"},
    {"letters of other languages", "gr\xc3\xbc\xc3\x9f \xe6\x97\xa5 \xf0\x9f\x99\x82",
     "gr\xc3\xbc\xc3\x9f \xe6\x97\xa5 \xf0\x9f\x99\x82"},
    {"C1 as a byte",
     "\x9b"
     "31m",
     "\\x9b31m"},
    {"C1 as a character",
     "\xc2\x9b"
     "31m",
     "\\u009b31m"},
    {"no-break space is fit", "\xc2\xa0", "\xc2\xa0"},
    {"right-to-left override",
     "\xe2\x80\xae"
     "cod",
     "\\u202ecod"},
    {"isolate", "\xe2\x81\xa6x\xe2\x81\xa9", "\\u2066x\\u2069"},
    {"arabic mark", "\xd8\x9c", "\\u061c"},
    {"byte order mark", "\xef\xbb\xbf", "\\ufeff"},
    {"tag", "\xf3\xa0\x81\x81", "\\U000e0041"},
    {"cut sequence", "\xe6\x97", "\\xe6\\x97"},
    {"overlong slash", "\xc0\xaf", "\\xc0\\xaf"},
    {"overlong ESC", "\xe0\x80\x9b", "\\xe0\\x80\\x9b"},
    {"surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80"},
    {"past the last character", "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
    {"a backslash stays", "\\x1b", "\\x1b"},
};

TEST(texts_are_made_readable)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char shown[64];
        size_t n = rf_text_readable(shown, sizeof shown, cases[i].text);
        CHECK_ROW(cases[i].title, strcmp(shown, cases[i].shown) == 0);
        CHECK_ROW(cases[i].title, n == strlen(cases[i].shown));
    }
}

TEST(a_text_is_cut_between_characters)
{
    char shown[8];
    CHECK_EQ(rf_text_readable(shown, sizeof shown, "abcdef\xc3\xbc"), 8);
    CHECK(strcmp(shown, "abcdef") == 0);
    CHECK_EQ(rf_text_readable(shown, sizeof shown, "abcdef\x1bxyz"), 13);
    CHECK(strcmp(shown, "abcdef") == 0);
    CHECK_EQ(rf_text_readable(NULL, 0, "abc"), 3);
}

TEST(the_width_is_that_of_characters)
{
    CHECK_EQ(rf_text_width("gr\xc3\xbc\xc3\x9f"), 4);
    CHECK_EQ(rf_text_width(""), 0);
}

TEST_MAIN()
