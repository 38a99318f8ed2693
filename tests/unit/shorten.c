/* Names of C, C++ and Rust, shortened; and what holds for any text. */
#include "base/random.h"
#include "test.h"
#include "view/view.h"
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *wanted;
} rows[] = {
    /* C */
    {"main", "main"},
    {"__memcpy_avx_unaligned_erms", "__memcpy_avx_unaligned_erms"},
    {"find_match.constprop.0", "find_match.constprop.0"},
    {"a_rather_long_name_that_has_no_brackets@plt", "a_rather_long_name_that_has_no_brackets@plt"},
    /* C++ */
    {"f<int>", "f<int>"},
    {"std::vector<int, std::allocator<int> >::push_back", "std::vector<..>::push_back"},
    {"std::__cxx11::basic_string<char>::append", "std::basic_string<..>::append"},
    {"__cxxabiv1::__si_class_type_info::__do_dyncast", "__si_class_type_info::__do_dyncast"},
    {"my__cxx11::deeply::nested::names::stay", "my__cxx11::deeply::nested::names::stay"},
    {"std::operator< <char, std::char_traits<char> >", "std::operator< <..>"},
    {"std::operator<< <std::char_traits<char> >", "std::operator<< <..>"},
    {"std::operator<=> <char, char>", "std::operator<=> <..>"},
    {"std::operator>> <char, std::char_traits<char> >(int)", "std::operator>> <..>(int)"},
    {"std::unique_ptr<int, std::default_delete<int> >::operator->",
     "std::unique_ptr<..>::operator->"},
    {"geo::Matrix::operator->*", "geo::Matrix::operator->*"},
    {"std::function<int (int)>::operator()", "std::function<..>::operator()"},
    {"std::function<int (int)>::operator()(int) const", "std::function<..>::operator()(int) const"},
    {"big::number::operator>", "big::number::operator>"},
    {"big::number<64ul>::operator>=", "big::number<..>::operator>="},
    {"big::number::operator<(big::number const&) const",
     "big::number::operator<(big::number const&) const"},
    {"my_operator<unsigned long>::call", "my_operator<..>::call"},
    {"main::{lambda(int)#1}::operator()", "main::{lambda(int)#1}::operator()"},
    {"std::sort<int*, main::{lambda(int, int)#2}>", "std::sort<..>"},
    {"(anonymous namespace)::Parser<char>::next", "(anonymous namespace)::Parser<..>::next"},
    {"std::enable_if<(3)>(2), int>::type", "std::enable_if<(3)>(2), int>::type"},
    {"void (*geo::pick<int, long>(int))(long)", "void (*geo::pick<..>(int))(long)"},
    {"auto map<int>::go(int) -> std::pair<int, int>", "auto map<..>::go(int) -> std::pair<..>"},
    {"operator new(unsigned long)", "operator new(unsigned long)"},
    /* Rust, legacy */
    {"core::fmt::write::h0123456789abcdef", "core::fmt::write"},
    {"core::fmt::write::h0123456789abcdeg", "core::fmt::write::h0123456789abcdeg"},
    {"<alloc::string::String as core::fmt::Write>::write_str",
     "<alloc::string::String as core::fmt::Write>::write_str"},
    {"<alloc::vec::Vec<T> as core::clone::Clone>::clone",
     "<alloc::vec::Vec<T> as core::clone::Clone>::clone"},
    {"<alloc::vec::Vec<T,A> as core::clone::Clone>::clone",
     "<alloc::vec::Vec<..> as core::clone::Clone>::clone"},
    {"<core::hash::sip::Hasher<core::hash::sip::Sip13Rounds> as core::hash::Hasher>::write",
     "<core::hash::sip::Hasher<..> as core::hash::Hasher>::write"},
    {"alloc::collections::btree::map::BTreeMap<K,V,A>::insert::h0123456789abcdef",
     "alloc::collections::btree::map::BTreeMap<..>::insert"},
    {"core::ptr::drop_in_place<alloc::vec::Vec<(alloc::string::String,u64)>>",
     "core::ptr::drop_in_place<..>"},
    {"core::str::<impl str>::contains", "core::str::<impl str>::contains"},
    {"core::slice::<impl [T]>::sort_by::{{closure}}",
     "core::slice::<impl [T]>::sort_by::{{closure}}"},
    {"<F as core::str::pattern::Pattern>::is_contained_in",
     "<F as core::str::pattern::Pattern>::is_contained_in"},
    /* Rust, version 0 */
    {"<alloc::collections::btree::map::BTreeMap<u64, alloc::string::String>>::insert",
     "<alloc::collections::btree::map::BTreeMap<..>>::insert"},
    {"<<core::iter::adapters::map::Map<I, F> as core::iter::Iterator>::next as Seen>::call",
     "<<core::iter::adapters::map::Map<..> as core::iter::Iterator>::next as Seen>::call"},
    {"<alloc::vec::Vec<u8>>::extend::<core::slice::Iter<u8>>",
     "<alloc::vec::Vec<u8>>::extend::<..>"},
    {"wc::main::{closure#0}", "wc::main::{closure#0}"},
    {"<core::slice::Iter<(u32, u32)> as core::iter::Iterator>::fold::<(), wc::main::{closure#1}>",
     "<core::slice::Iter<..> as core::iter::Iterator>::fold::<..>"},
    {"<fn(&u32) -> core::option::Option<u32> as core::ops::FnOnce<(&u32,)>>::call_once",
     "<fn(&u32) -> core::option::Option<..> as core::ops::FnOnce<..>>::call_once"},
    {"anon.b1a5e082a3278aedc5f81d06e72de33d.1.llvm.3335482739273852768",
     "anon.b1a5e082a3278aedc5f81d06e72de33d.1"},
    /* hostile: not closed in order, so untouched */
    {"", ""},
    {"<<<<<<<<<<<<<<<<<<<<<<", "<<<<<<<<<<<<<<<<<<<<<<"},
    {">>>>>>>>>>>>>>>>>>>>>>", ">>>>>>>>>>>>>>>>>>>>>>"},
    {"abc<def(ghi>jklmnopqrst)", "abc<def(ghi>jklmnopqrst)"},
    {"abcdefghijklmnopqrs<t::operator", "abcdefghijklmnopqrs<t::operator"},
    {"operatoroperatoroperator<", "operatoroperatoroperator<"},
    {"name::of::something<\033[2Jhidden>::x", "name::of::something<\033[2Jhidden>::x"},
};

static void check_laws(const char *name)
{
    char once[4096], twice[4096];
    snprintf(once, sizeof once, "%s", name);
    rf_view_shorten(once);
    memcpy(twice, once, sizeof twice);
    rf_view_shorten(twice);
    CHECK(strlen(once) <= strlen(name));
    CHECK_TEXT(twice, once);
}

TEST(names)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s", rows[i].name);
        rf_view_shorten(name);
        CHECK_TEXT(name, rows[i].wanted);
        check_laws(rows[i].name);
    }
}

static long balance(const char *text, char open, char close)
{
    long depth = 0;
    for (; *text != '\0'; text++)
        depth += (*text == open) - (*text == close);
    return depth;
}

/* Texts made of what names are made of: never longer, twice is once, and brackets that were balanced stay so. */
TEST(any_text)
{
    static const char *const pieces[] = {"<",
                                         ">",
                                         "(",
                                         ")",
                                         "{",
                                         "}",
                                         "::",
                                         "a",
                                         "Vec",
                                         "operator",
                                         " ",
                                         "->",
                                         ", ",
                                         "&",
                                         "<<",
                                         "()",
                                         "impl ",
                                         " as ",
                                         "h0123456789abcdef",
                                         "..",
                                         "__cxx11::",
                                         "[",
                                         "]",
                                         ".llvm.12",
                                         "core::hash::Hasher",
                                         "<..>"};
    struct rf_random random;
    rf_random_seed(&random, test_seed(15));
    for (int k = 0; k < 100000; k++) {
        char name[2048] = "", before[2048];
        size_t n = rf_random_below(&random, 14);
        for (size_t i = 0; i < n; i++)
            strcat(name, pieces[rf_random_below(&random, sizeof pieces / sizeof *pieces)]);
        memcpy(before, name, sizeof before);
        check_laws(name);
        rf_view_shorten(name);
        CHECK(balance(name, '(', ')') == balance(before, '(', ')'));
        CHECK(balance(name, '{', '}') == balance(before, '{', '}'));
        CHECK(balance(name, '[', ']') == balance(before, '[', ']'));
    }
}

/* Deep nesting and long names take bounded time, and never overrun the buffer. */
TEST(long_names)
{
    static char name[16000];
    for (size_t i = 0; i < 7000; i++)
        name[i] = '<';
    for (size_t i = 7000; i < 14000; i++)
        name[i] = '>';
    check_laws("<<<<<<<<<<<<<<<<<<<<>>>>>>>>>>>>>>>>>>>>");
    rf_view_shorten(name);
    CHECK_EQ(strlen(name), 14000);
}

TEST_MAIN()
