/* What messages cost, by whose cycles. */
#include <riffle/overhead.h>
#include "test.h"

static const struct {
    const char *label;
    const char *cycles, *instructions; /* notes; NULL: none */
    const char *second;                /* selector of the second profile, 4000 events */
    double cpi, share;                 /* share < 0: nobody knows */
    uint64_t told;
} rows[] = {
    {"nothing is known", NULL, NULL, "load -> pc,value", 1, -1, 0},
    {"the core's cycles", "6000", "3000", "insn -> pc", 1, 0.05, 0},
    {"noted instructions", NULL, "3000", "insn -> pc", 1, 0.1, 3000},
    {"at another CPI", NULL, "3000", "load -> pc,value", 0.5, 0.2, 3000},
    {"a profile of all instructions", NULL, NULL, "insn -> pc", 1, 0.075, 4000},
    {"a profile of some instructions", NULL, NULL, "insn pc==0x10 -> pc", 1, -1, 0},
};

TEST(whose_cycles)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_figure figures[] = {{"messages", 10}, {"overhead-cycles", 300}};
        char first[] = "load -> pc,value", second[40];
        strcpy(second, rows[i].second);
        struct rf_profile profiles[] = {{.selector = first, .figures = figures, .n_figures = 2},
                                        {.selector = second, .produced = 4000}};
        struct rf_profile *list[] = {&profiles[0], &profiles[1]};
        char name[2][20] = {"cycles", "instructions"}, text[2][20];
        struct rf_note notes[2];
        struct rf_run run = {.profiles = list, .n_profiles = 2, .notes = notes};
        const char *given[] = {rows[i].cycles, rows[i].instructions};
        for (size_t k = 0; k < 2; k++)
            if (given[k] != NULL) {
                strcpy(text[k], given[k]);
                notes[run.n_notes++] = (struct rf_note){name[k], text[k]};
            }
        struct rf_overhead overhead;
        rf_status status = rf_overhead(&overhead, &run, &profiles[0], rows[i].cpi);
        CHECK_ROW(rows[i].label, (status == RF_OK) == (rows[i].share >= 0));
        if (status != RF_OK)
            continue;
        CHECK_ROW(rows[i].label,
                  overhead.share - rows[i].share < 1e-12 && rows[i].share - overhead.share < 1e-12);
        CHECK_ROW(rows[i].label, overhead.instructions == rows[i].told);
        list[0] = &profiles[1]; /* whichever comes first */
        list[1] = &profiles[0];
        CHECK_EQ(rf_overhead(&overhead, &run, &profiles[0], rows[i].cpi), RF_OK);
        CHECK_ROW(rows[i].label, overhead.instructions == rows[i].told);
        CHECK_EQ(rf_overhead(&overhead, &run, &profiles[1], 1), RF_ENOTSUP); /* sends no messages */
    }
}

TEST(every_figure_is_looked_at)
{
    struct rf_figure figures[] = {{"overhead-cycles", 300}, {"messages", 10}};
    char name[] = "cycles", text[] = "6000", selector[] = "load -> pc,value";
    struct rf_profile profile = {.selector = selector, .figures = figures, .n_figures = 2};
    struct rf_profile *list[] = {&profile};
    struct rf_note note = {name, text};
    const struct rf_run run = {.profiles = list, .n_profiles = 1, .notes = &note, .n_notes = 1};
    struct rf_overhead overhead;
    CHECK_EQ(rf_overhead(&overhead, &run, &profile, 1), RF_OK);
    CHECK(overhead.share > 0.0499 && overhead.share < 0.0501);
}

/* A small file can hold many profiles: none is asked of all the others. */
TEST(many_profiles_take_no_longer)
{
    enum { MANY = 30000 };
    static struct rf_profile *list[MANY];
    char selector[] = "load -> pc,value";
    struct rf_profile profile = {.selector = selector};
    for (size_t i = 0; i < MANY; i++)
        list[i] = &profile;
    const struct rf_run run = {.profiles = list, .n_profiles = MANY};
    size_t unknown = 0;
    for (size_t i = 0; i < MANY; i++) {
        struct rf_overhead overhead;
        unknown += rf_overhead(&overhead, &run, list[i], 1) == RF_ENOTSUP;
    }
    CHECK_EQ(unknown, MANY);
}

TEST_MAIN()
