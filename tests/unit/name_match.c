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
    {"spread.cold", "spread.constprop.0.cold", RF_NAME_CLONE},
    {"spread.cold", "spread.constprop.0", RF_NAME_DIFFERS},
    {"spread.constprop.0", "spread.constprop.0.cold", RF_NAME_DIFFERS},
    {"spread.cold", "wide_spread.constprop.0.cold", RF_NAME_DIFFERS},
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
    {"area(int) const", "geo::Shape::area(int) const", RF_NAME_LAST_PART},
    {"area(int)", "geo::Shape::area(int) const", RF_NAME_DIFFERS},
    {"area(long) const", "geo::Shape::area(int) const", RF_NAME_DIFFERS},
    {"::area", "area", RF_NAME_WHOLE},
    {"::area", "area(int)", RF_NAME_WHOLE},
    {"::area", "geo::Shape::area", RF_NAME_DIFFERS},
    {"::find_match", "find_match.constprop.0", RF_NAME_CLONE},
    {"over(*)", "over(int)", RF_NAME_WHOLE},
    {"over(int)", "over(int, int)", RF_NAME_DIFFERS},
    {"over(unsigned)", "over(unsigned int)", RF_NAME_WHOLE},
    {"over(unsigned)", "over(int)", RF_NAME_DIFFERS},
    {"over(int)", "over(unsigned int)", RF_NAME_DIFFERS},
    {"over(long unsigned int)", "over(unsigned long)", RF_NAME_WHOLE},
    {"over(long)", "over(long long)", RF_NAME_DIFFERS},
    {"over(const char *, unsigned)", "over(char const*, unsigned int)", RF_NAME_WHOLE},
    {"over(const char*)", "over(char* const)", RF_NAME_DIFFERS},
    {"over(vec<const int>&)", "over(vec<int const>&)", RF_NAME_WHOLE},
    {"over(std::pair<unsigned, long int>)", "over(std::pair<unsigned int, long>)", RF_NAME_WHOLE},
    {"over(int const)", "over(int) const", RF_NAME_DIFFERS},
    {"over(int*)", "over(int*)", RF_NAME_WHOLE},
    {"over(int*)", "over(int)", RF_NAME_DIFFERS},
    {"over(int*)", "over(int, long*)", RF_NAME_DIFFERS},
    {"over(char const*)", "over(char const*, int)", RF_NAME_DIFFERS},
    {"over(char**, *)", "over(char**, int)", RF_NAME_WHOLE},
    {"over(std::*)", "over(std::string)", RF_NAME_WHOLE},
    {"*(int*)", "over(int*)", RF_NAME_WHOLE},
    {"*(int*)", "over(int)", RF_NAME_DIFFERS},
    {"*(int*)", "over", RF_NAME_DIFFERS},
    {"*(int*)", "malloc@plt", RF_NAME_DIFFERS},
    {"ov*(int*)", "over", RF_NAME_DIFFERS},
    {"over(int*)", "over", RF_NAME_WHOLE},
    {"most<int*>", "most<int, long>", RF_NAME_DIFFERS},
    {"most<*>", "most<int, long>", RF_NAME_WHOLE},
    {"a<int*>::m*", "a<int*>::most", RF_NAME_WHOLE},
    {"over (int)", "over(int)", RF_NAME_WHOLE},
    {"area (int)  const", "geo::Shape::area(int) const", RF_NAME_LAST_PART},
    {"over(int,int)", "over(int, int)", RF_NAME_WHOLE},
    {"over()", "over(int)", RF_NAME_DIFFERS},
    {"geo::most<long>(long, long)", "long geo::most<long>(long, long)", RF_NAME_WHOLE},
    {"long geo::most<long>(long, long)", "geo::most<long>(long, long)", RF_NAME_WHOLE},
    {"geo::most<long>(long)", "long geo::most<long>(long, long)", RF_NAME_DIFFERS},
    {"f", "f(int)::{lambda()#1}::operator()() const", RF_NAME_DIFFERS},
    {"f(int)::{lambda()#1}::operator()", "f(int)::{lambda()#1}::operator()() const", RF_NAME_WHOLE},
    {"X::f(int) const::{lambda()#1}::operator()() const",
     "X::f(int) const::{lambda()#1}::operator()() const", RF_NAME_WHOLE},
    {"geo::most<long>", "geo::most<long>", RF_NAME_WHOLE},
    {"geo::most", "geo::most<long>", RF_NAME_TEMPLATE},
    {"most", "geo::most<long>", RF_NAME_LAST_PART},
    {"geo::most<long>", "long geo::most<long>(long, long)", RF_NAME_WHOLE},
    {"geo::most", "unsigned long geo::most<unsigned long>(unsigned long)", RF_NAME_TEMPLATE},
    {"geo::most", "geo::most::<u64>", RF_NAME_TEMPLATE},
    {"most", "geo::most::<u64>", RF_NAME_LAST_PART},
    {"most::<u64>", "geo::most::<u64>", RF_NAME_LAST_PART},
    {"::most", "geo::most::<u64>", RF_NAME_DIFFERS},
    {"fmt", "<geo::Shape as core::fmt::Display>::fmt", RF_NAME_LAST_PART},
    {"pow", "core::num::<impl u64>::pow", RF_NAME_LAST_PART},
    {"pick<int>(int)", "std::enable_if<((2)>(1)), void>::type pick<int>(int)", RF_NAME_WHOLE},
    {"pick", "std::enable_if<((1)<(2)), void>::type pick<int>(int)", RF_NAME_TEMPLATE},
    {"pick", "pick<void (*)()>(int)", RF_NAME_TEMPLATE},
    {"pick", "f(pick<void (*)()>(*)(int))", RF_NAME_DIFFERS},
    {"a<b<c>, d>::e", "a<b<c>,d>::e", RF_NAME_WHOLE},
    {"e", "a<b::c>::e", RF_NAME_LAST_PART},
    {"c>::e", "a<b::c>::e", RF_NAME_DIFFERS},
    {"(anonymous namespace)::f", "(anonymous namespace)::f(int)", RF_NAME_WHOLE},
    {"f", "(anonymous namespace)::f(int)", RF_NAME_LAST_PART},
    {"x::operator()", "x::operator()(int)", RF_NAME_WHOLE},
    {"x::operator<<", "x::operator<<(int)", RF_NAME_WHOLE},
    {"x::operator->", "x::operator->()", RF_NAME_WHOLE},
    {"operator*", "operator*", RF_NAME_WHOLE},
    {"operator*", "operator+", RF_NAME_DIFFERS},
    {"operator*", "operator", RF_NAME_DIFFERS},
    {"x::operator*(x) const", "x::operator*(x) const", RF_NAME_WHOLE},
    {"x::operator*(x) const", "x::operator+(x) const", RF_NAME_DIFFERS},
    {"x::operator->*", "x::operator->()", RF_NAME_DIFFERS},
    {"x::operator?*", "x::operator+(x) const", RF_NAME_WHOLE},
    {"my_operator*", "my_operators", RF_NAME_WHOLE},
    {"apply", "binary_operator::apply(int)", RF_NAME_LAST_PART},
    {"apply", "operators::apply(int)", RF_NAME_LAST_PART},
    {"str", "geo::Shape::str[abi:cxx11]() const", RF_NAME_LAST_PART},
    {"geo::Shape::str", "geo::Shape::str[abi:cxx11]() const", RF_NAME_TEMPLATE},
    {"str[abi:cxx11]", "geo::Shape::str[abi:cxx11]() const", RF_NAME_LAST_PART},
    {"cxx11]", "geo::Shape::str[abi:cxx11]() const", RF_NAME_DIFFERS},
    {"x::operator[]", "x::operator[](int)", RF_NAME_WHOLE},
    {"x::operator==", "x::operator==<long>(long)", RF_NAME_TEMPLATE},
    {"x::operator==<long>", "x::operator==<long>(long)", RF_NAME_WHOLE},
    {"x::operator<", "x::operator< <long>(long)", RF_NAME_TEMPLATE},
    {"x::operator<=>(int)", "x::operator<=>(int)", RF_NAME_WHOLE},
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

static void check_fit(const char *written, const char *symbol, enum rf_name_fit fit, bool good)
{
    char title[300];
    snprintf(title, sizeof title, "'%s' for '%s' is %d", written, symbol, (int)fit);
    CHECK_ROW(title, good);
}

TEST(names_mean_functions)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum rf_name_fit fit = rf_name_match(rows[i].written, rows[i].symbol);
        check_fit(rows[i].written, rows[i].symbol, fit, fit == rows[i].fit);
    }
}

/* Where the symbol's parameters stand apart, the answer is the same. */
TEST(names_mean_overloads)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[200];
        const struct rf_name_piece symbol = rf_name_piece(rows[i].symbol);
        const char *end = rf_name_plain(symbol).end;
        snprintf(name, sizeof name, "%.*s", (int)(end - symbol.at), symbol.at);
        if (rf_name_unmarked(symbol).end != symbol.end)
            continue; /* parameters that stand apart are without such marks */
        enum rf_name_fit fit = rf_name_match_apart(rows[i].written, name, end);
        check_fit(rows[i].written, rows[i].symbol, fit, fit == rows[i].fit);
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
        enum rf_name_fit fit = rf_name_match_bare(bare_rows[i].written, bare_rows[i].bare);
        check_fit(bare_rows[i].written, bare_rows[i].bare, fit,
                  (fit != RF_NAME_DIFFERS) == bare_rows[i].fits);
    }
}

TEST_MAIN()
