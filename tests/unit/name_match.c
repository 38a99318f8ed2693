/* What a written name means, spelling by spelling. */
#include <stdbool.h>
#include "base/name_match.h"
#include "test.h"

static const struct {
    const char *written, *symbol;
    enum rf_name_fit fit;
} rows[] = {
    {"main", "main", RF_NAME_WHOLE},
    {"main", "domain", RF_NAME_DIFFERS},
    {"main", "mai", RF_NAME_DIFFERS},
    {"", "main", RF_NAME_DIFFERS},
    {"malloc@plt", "malloc@plt", RF_NAME_WHOLE},
    {"malloc", "malloc@plt", RF_NAME_DIFFERS},
    {"find_match", "find_match.constprop.0", RF_NAME_CLONE},
    {"find_match.constprop.0", "find_match.constprop.0", RF_NAME_WHOLE},
    {"find", "find_match.constprop.0", RF_NAME_DIFFERS},
    {"spread", "spread.cold", RF_NAME_CLONE},
    {"memcmp", "__memcmp_avx2_movbe", RF_NAME_CLONE},
    {"memmove", "__memmove_avx_unaligned_erms", RF_NAME_CLONE},
    {"memcmp", "__memcmp_eq_avx2", RF_NAME_CLONE},
    {"mem", "__memcmp_avx2", RF_NAME_DIFFERS},
    {"malloc", "__malloc_hook", RF_NAME_DIFFERS},
    {"area", "geo::Shape::area", RF_NAME_LAST_PART},
    {"Shape::area", "geo::Shape::area", RF_NAME_DIFFERS},
    {"geo::Shape::area", "geo::Shape::area", RF_NAME_WHOLE},
    {"geo::Shape::area", "geo::Shape::area(int) const", RF_NAME_WHOLE},
    {"geo::Shape::area(int) const", "geo::Shape::area(int) const", RF_NAME_WHOLE},
    {"geo::Shape::area(int)const", "geo::Shape::area(int) const", RF_NAME_WHOLE},
    {"geo::Shape::area(long) const", "geo::Shape::area(int) const", RF_NAME_DIFFERS},
    {"geo::Shape::area(int) const", "geo::Shape::area", RF_NAME_WHOLE},
    {"area", "geo::Shape::area(int) const", RF_NAME_LAST_PART},
    {"geo::most<long>", "geo::most<long>", RF_NAME_WHOLE},
    {"geo::most", "geo::most<long>", RF_NAME_TEMPLATE},
    {"most", "geo::most<long>", RF_NAME_LAST_PART},
    {"geo::most<long>", "long geo::most<long>(long, long)", RF_NAME_WHOLE},
    {"geo::most", "unsigned long geo::most<unsigned long>(unsigned long)", RF_NAME_TEMPLATE},
    {"a<b<c>, d>::e", "a<b<c>,d>::e", RF_NAME_WHOLE},
    {"e", "a<b::c>::e", RF_NAME_LAST_PART},
    {"c>::e", "a<b::c>::e", RF_NAME_DIFFERS},
    {"(anonymous namespace)::f", "(anonymous namespace)::f(int)", RF_NAME_WHOLE},
    {"f", "(anonymous namespace)::f(int)", RF_NAME_LAST_PART},
    {"x::operator()", "x::operator()(int)", RF_NAME_WHOLE},
    {"x::operator<<", "x::operator<<(int)", RF_NAME_WHOLE},
    {"x::operator->", "x::operator->()", RF_NAME_WHOLE},
    {"operator*", "operator*", RF_NAME_WHOLE},
    {"geo::most(int)", "geo::most(int) [clone .isra.0]", RF_NAME_CLONE},
    {"geo::most(long)", "geo::most(int) [clone .isra.0]", RF_NAME_DIFFERS},
    {"geo::most", "geo::most(int) const [clone .isra.0] [clone .cold]", RF_NAME_WHOLE},
    {"f::{lambda(int)#1}::operator()", "f::{lambda(int)#1}::operator()(int) const", RF_NAME_WHOLE},
    {"f::{lambda(int)#2}::operator()", "f::{lambda(int)#1}::operator()(int) const",
     RF_NAME_DIFFERS},
    {"operator()", "f::{lambda(int)#1}::operator()(int) const", RF_NAME_LAST_PART},
    {"geo::*", "geo::Shape::area(int) const", RF_NAME_WHOLE},
    {"*match*", "find_match.constprop.0", RF_NAME_WHOLE},
    {"find_matc?", "find_match.constprop.0", RF_NAME_WHOLE},
    {"*::area", "geo::Shape::area", RF_NAME_WHOLE},
    {"b*", "geo::Shape::area", RF_NAME_DIFFERS},
    {"ar*", "geo::Shape::area", RF_NAME_WHOLE},
    {"**a*a**", "banana", RF_NAME_WHOLE},
    {"?", "ab", RF_NAME_DIFFERS},
    {"<", ">", RF_NAME_DIFFERS},
};

TEST(names_mean_functions)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char title[200];
        enum rf_name_fit fit = rf_name_match(rows[i].written, rows[i].symbol);
        snprintf(title, sizeof title, "'%s' for '%s' is %d", rows[i].written, rows[i].symbol,
                 (int)fit);
        CHECK_ROW(title, fit == rows[i].fit);
    }
}

/* No text makes it read beyond its end. A build with sanitizers would tell. */
TEST(odd_names_are_no_harm)
{
    static const char letters[] = "ab:<>()*?. -,operator";
    uint64_t state = test_seed(14);
    for (int i = 0; i < 20000; i++) {
        char text[2][24];
        for (int k = 0; k < 2; k++) {
            size_t n = (state = state * 6364136223846793005u + 1442695040888963407u) >> 60;
            for (size_t c = 0; c < n; c++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                text[k][c] = letters[(state >> 33) % (sizeof letters - 1)];
            }
            text[k][n] = '\0';
        }
        enum rf_name_fit fit = rf_name_match(text[0], text[1]);
        CHECK(fit <= RF_NAME_WHOLE);
        CHECK(rf_name_match(text[1], text[1]) == RF_NAME_WHOLE);
    }
}

static const struct {
    const char *written, *bare;
    bool fits;
} bare_rows[] = {
    {"area", "area", true},
    {"geo::Shape::area", "area", true},
    {"geo::Shape::area(int) const", "area", true},
    {"geo::Shape::area", "Shape", false},
    {"most", "most<long>", true},
    {"geo::most", "most<long>", true},
    {"ar*", "area", true},
    {"geo::*", "area", false},
    {"*", "area", true},
};

TEST(the_last_part_of_a_name_means_a_function)
{
    for (size_t i = 0; i < sizeof bare_rows / sizeof *bare_rows; i++) {
        char title[200];
        bool fits = rf_name_match_bare(bare_rows[i].written, bare_rows[i].bare) != RF_NAME_DIFFERS;
        snprintf(title, sizeof title, "'%s' for '%s'", bare_rows[i].written, bare_rows[i].bare);
        CHECK_ROW(title, fits == bare_rows[i].fits);
    }
}

TEST_MAIN()
