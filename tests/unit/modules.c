/* Which files are mapped when: by one process, by its children, by none any more. */
#include "base/alloc.h"
#include "source/modules.h"
#include "test.h"

enum { PARENT, CHILD, GRANDCHILD, PROCESSES, OPEN = -1 };

enum act { MAP, UNMAP, FORK, LEAVE };

/* One step: who does it, with which file (or to which child). */
struct step {
    enum act act;
    int who, what;
};

static struct rf_module file(int number)
{
    static const char *const paths[] = {"/bin/a", "/lib/b", "/lib/c"};
    const uint64_t start = 0x1000 * (uint64_t)(number + 1);
    return (struct rf_module){.path = (char *)paths[number],
                              .build_id = (char *)"",
                              .start = start,
                              .end = start + 0x1000,
                              .to_event = UINT64_MAX};
}

static void take(struct rf_modules *modules, struct rf_mapped mapped[], const struct step *step,
                 uint64_t event)
{
    struct rf_module module = file(step->act == MAP || step->act == UNMAP ? step->what : 0);
    module.from_event = event;
    if (step->act == MAP)
        CHECK_EQ(rf_modules_map(modules, &mapped[step->who], &module, NULL), RF_OK);
    if (step->act == UNMAP)
        rf_modules_unmap(modules, &mapped[step->who], module.start, module.end, event);
    if (step->act == FORK)
        CHECK_EQ(rf_modules_inherit(modules, &mapped[step->what], &mapped[step->who]), RF_OK);
    if (step->act == LEAVE)
        rf_modules_leave(modules, &mapped[step->who], event);
}

/* Steps happen at the events 1, 2, 3 ... Each file has one entry. */
static const struct {
    const char *label;
    struct step steps[8];
    size_t n;
    int ends[3]; /* by file */
} rows[] = {
    {"one process",
     {{MAP, PARENT, 0}, {MAP, PARENT, 1}, {UNMAP, PARENT, 1}, {LEAVE, PARENT, 0}},
     4,
     {4, 3, OPEN}},
    {"told twice", {{MAP, PARENT, 0}, {MAP, PARENT, 0}, {UNMAP, PARENT, 0}}, 3, {3, OPEN, OPEN}},
    {"the parent ends first",
     {{MAP, PARENT, 0},
      {FORK, PARENT, CHILD},
      {LEAVE, PARENT, 0},
      {MAP, CHILD, 1},
      {LEAVE, CHILD, 0}},
     5,
     {5, 5, OPEN}},
    {"the child ends first",
     {{MAP, PARENT, 0}, {FORK, PARENT, CHILD}, {LEAVE, CHILD, 0}, {LEAVE, PARENT, 0}},
     4,
     {4, OPEN, OPEN}},
    {"the child lives on",
     {{MAP, PARENT, 0}, {FORK, PARENT, CHILD}, {LEAVE, PARENT, 0}},
     3,
     {OPEN, OPEN, OPEN}},
    {"a grandchild lives on",
     {{MAP, PARENT, 0},
      {FORK, PARENT, CHILD},
      {FORK, CHILD, GRANDCHILD},
      {LEAVE, CHILD, 0},
      {LEAVE, PARENT, 0}},
     5,
     {OPEN, OPEN, OPEN}},
    {"both map the same",
     {{MAP, PARENT, 0}, {MAP, CHILD, 0}, {UNMAP, PARENT, 0}, {UNMAP, CHILD, 0}},
     4,
     {4, OPEN, OPEN}},
    {"mapped behind the fork",
     {{MAP, PARENT, 0},
      {FORK, PARENT, CHILD},
      {MAP, PARENT, 1},
      {LEAVE, PARENT, 0},
      {LEAVE, CHILD, 0}},
     5,
     {5, 4, OPEN}},
};

TEST(a_file_is_there_until_the_last_process_is_done_with_it)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_modules modules;
        struct rf_mapped mapped[PROCESSES] = {{NULL, 0}};
        rf_modules_init(&modules, rf_alloc_or_standard(NULL));
        for (size_t k = 0; k < rows[i].n; k++)
            take(&modules, mapped, &rows[i].steps[k], k + 1);
        for (size_t k = 0; k < modules.n; k++) {
            const int end = rows[i].ends[modules.list[k].start / 0x1000 - 1];
            CHECK_ROW(rows[i].label, modules.list[k].to_event == (uint64_t)(int64_t)end);
        }
        CHECK_ROW(rows[i].label, modules.n == (rows[i].ends[1] != OPEN) + (size_t)1);
        for (size_t k = 0; k < PROCESSES; k++)
            rf_modules_leave(&modules, &mapped[k], 99);
        rf_modules_free(&modules);
    }
}

TEST(mapped_again_is_another_entry)
{
    struct rf_modules modules;
    struct rf_mapped mapped = {NULL, 0};
    rf_modules_init(&modules, rf_alloc_or_standard(NULL));
    for (uint64_t event = 0; event < 200; event += 2) {
        struct rf_module module = file(0);
        module.from_event = event;
        REQUIRE(rf_modules_map(&modules, &mapped, &module, NULL) == RF_OK);
        rf_modules_unmap(&modules, &mapped, 0, UINT64_MAX, event + 1);
    }
    CHECK_EQ(modules.n, 100);
    CHECK_EQ(modules.list[99].to_event, 199);
    rf_modules_leave(&modules, &mapped, 300);
    CHECK_EQ(modules.list[99].to_event, 199);
    rf_modules_free(&modules);
}

TEST_MAIN()
