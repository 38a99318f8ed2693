/* Texts in a given width: cut with a mark, or folded without losing anything. */
#include "report/report.h"
#include "test.h"

static const struct {
    const char *text;
    size_t columns;
    const char *first; /* what goes on the first line */
} folds[] = {
    {"short", 10, "short"},
    {"rank.c:44 spread in main", 30, "rank.c:44 spread in main"},
    {"rank.c:44 spread in main", 20, "rank.c:44 spread"},
    {"rank.c:44 spread in main -> printf", 30, "rank.c:44 spread in main"},
    {"rank.c:44 spread_it_all", 20, "rank.c:44"},
    {"std::vector<..>::push_back", 20, "std::vector<..>::"},
    {"std::_Function_handler<..>::_M_invoke", 24, "std::_Function_handler"},
    {"libstdc++.so.6.0.30+0xa6df0", 24, "libstdc++.so.6.0.30"},
    {"_dl_add_to_namespace_list", 16, "_dl_add_to_"},
    {"abcdefghijklmnopqrstuvwxyz", 10, "abcdefghij"},
    {"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 3, "\xc3\xa4\xc3\xa4\xc3\xa4"},
    {"    deep_in_a_tree_of_calls", 12, "    deep_in_"},
};

TEST(folds_at_the_best_place)
{
    for (size_t i = 0; i < sizeof folds / sizeof *folds; i++) {
        char line[200];
        snprintf(line, sizeof line, "%.*s", (int)rf_report_fold(folds[i].text, folds[i].columns),
                 folds[i].text);
        CHECK_TEXT(line, folds[i].first);
    }
}

TEST(cuts_with_a_mark)
{
    char text[] = "0123456789", name[] = "std::map::insert", fits[] = "0123456789";
    rf_report_cut(text, 8);
    rf_report_cut_front(name, 12);
    rf_report_cut(fits, 10);
    CHECK_TEXT(text, "01234...");
    CHECK_TEXT(name, "...p::insert");
    CHECK_TEXT(fits, "0123456789");
}

TEST(paragraphs_are_indented)
{
    char *written = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&written, &size);
    REQUIRE(out != NULL);
    fputs("note    ", out);
    rf_report_paragraph(out, &(struct rf_report_setup){.width = 30}, 8,
                        "the memory was full at event 5 of all");
    rf_report_paragraph(out, &(struct rf_report_setup){.width = 30}, 8, "");
    fclose(out);
    CHECK_TEXT(written, "note    the memory was full at\n        event 5 of all\n\n");
    free(written);
}

TEST_MAIN()
