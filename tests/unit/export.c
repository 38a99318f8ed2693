/* Exports of runs written by hand: their bytes, and what happens without memory or a place to write. */
#include "export/export.h"
#include <riffle/event.h>
#include "failing.h"
#include "test.h"

static struct rf_item code[] = {{0x10, 0, 0x10, 0, 60, 60, 60, 0},
                                {0x20, 0, 0x20, 0, 40, 40, 40, 0}};
static struct rf_item values[] = {{0x10, 7, 0x10, 7, 30, 28, 31, 0}};
static struct rf_item frames[3]; /* 0x10, and 0x20 called from there */
static char written[1 << 18], told[1 << 12];
static struct failing failing;

static struct rf_profile profile_of(const char *selector, struct rf_item *items, size_t n,
                                    unsigned bound)
{
    return (struct rf_profile){.alloc = failing_alloc(&failing),
                               .selector = (char *)selector,
                               .engine = (char *)"exact\n",
                               .bound = (uint8_t)bound,
                               .produced = 100,
                               .consumed = 100,
                               .items = items,
                               .n_items = n};
}

static void tell(void *context, const char *sentence)
{
    (void)context;
    size_t n = strlen(told);
    snprintf(told + n, sizeof told - n, "%s\n", sentence);
}

static rf_status export_profiles(const char *form, struct rf_profile **profiles, size_t n,
                                 struct rf_error *error)
{
    struct rf_run run = {.alloc = failing_alloc(&failing),
                         .command = (char *)"a\nb\xff\"';",
                         .version = (char *)"0",
                         .profiles = profiles,
                         .n_profiles = n};
    FILE *out = fmemopen(written, sizeof written, "w");
    told[0] = '\0';
    const struct rf_export_setup setup = {.tell = tell};
    rf_status status = rf_export_write(rf_export_find(form), out, &run, &setup, error);
    fclose(out);
    return status;
}

static rf_status export_all(const char *form)
{
    struct rf_profile insn = profile_of("insn -> pc", code, 2, RF_BOUND_EXACT);
    struct rf_profile loads = profile_of("load -> pc,value", values, 1, RF_BOUND_HARD);
    struct rf_profile stacks = profile_of("frame -> pc,context", frames, 2, RF_BOUND_EXACT);
    struct rf_profile bare = profile_of("", values, 1, RF_BOUND_EXACT);
    struct rf_profile *profiles[] = {&insn, &loads, &stacks, &bare};
    struct rf_error error = {""};
    frames[0] = (struct rf_item){0x10, 0, 0x10, 0, 9, 9, 9, 0};
    uint64_t below = rf_context_below(0, 0x10);
    frames[1] = (struct rf_item){0x20, below, 0x20, below, 5, 5, 5, 0};
    return export_profiles(form, profiles, 4, &error);
}

TEST(collapsed)
{
    failing = (struct failing){.fail_at = 0};
    CHECK_EQ(export_all("collapsed"), RF_OK);
    CHECK_TEXT(written, "0x10 4\n0x10;0x20 5\n");
    CHECK(strstr(told, "'insn -> pc' has no place") != NULL);
    CHECK(strstr(told, "'tuples' has no place") != NULL);
}

TEST(perf)
{
    struct rf_error error = {""};
    failing = (struct failing){.fail_at = 0};
    struct rf_profile insn = profile_of("insn -> pc", code, 2, RF_BOUND_EXACT);
    struct rf_profile *profiles[] = {&insn};
    CHECK_EQ(export_profiles("perf", profiles, 1, &error), RF_OK);
    CHECK_TEXT(written, "program     1 0.000001:         60 Ir:\n"
                        "\t              10 [unknown] ([unknown])\n\n"
                        "program     1 0.000002:         40 Ir:\n"
                        "\t              20 [unknown] ([unknown])\n\n");
}

/* A command with a newline stays on its line; a call has the samples of what it calls. */
TEST(callgrind)
{
    failing = (struct failing){.fail_at = 0};
    CHECK_EQ(export_all("callgrind"), RF_OK);
    CHECK(strstr(written, "cmd: a\\nb\\xff\"';\n") != NULL ||
          strstr(written, "cmd: a\\x0ab\\xff\"';\n") != NULL);
    CHECK(strstr(written, "events: Ir loads samples\nsummary: 100 ") != NULL);
    CHECK(strstr(written, "calls=1 0\n0 55 0 5\n") !=
          NULL); /* 5 of 9 samples, of 100 instructions */
    CHECK(strstr(written, "ob=(2) ???\nfl=(2) ???\n") !=
          NULL); /* each kind has numbers of its own */
    CHECK(strstr(told, "bounds") != NULL);
}

/* A frame that is its own caller ends: contexts can be made up. */
TEST(stacks_that_never_end)
{
    struct rf_error error = {""};
    failing = (struct failing){.fail_at = 0};
    struct rf_profile stacks = profile_of("frame -> pc,context", frames, 3, RF_BOUND_EXACT);
    struct rf_profile *profiles[] = {&stacks};
    frames[0] = (struct rf_item){0x10, 0, 0x10, 0, 9, 9, 9, 0};
    frames[1] = frames[2] = frames[0];
    CHECK_EQ(export_profiles("collapsed", profiles, 1, &error), RF_OK);
    CHECK_TEXT(written, "0x10 9\n0x10 9\n0x10 9\n");
}

TEST(nothing_for_a_form)
{
    static const char *const forms[] = {"callgrind",  "pprof", "collapsed",
                                        "speedscope", "perf",  "llvm"};
    failing = (struct failing){.fail_at = 0};
    struct rf_profile bare = profile_of("", values, 1, RF_BOUND_EXACT);
    struct rf_profile *profiles[] = {&bare};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct rf_error error = {""};
        CHECK_ROW(forms[i], export_profiles(forms[i], profiles, 1, &error) == RF_ENOTSUP);
        CHECK_ROW(forms[i], strstr(error.message, "run with -p") != NULL);
    }
    CHECK(rf_export_find("nosuch") == NULL);
}

/* The n-th allocation fails, for every n: no crash, no leak. */
TEST(no_memory)
{
    for (const struct rf_export_form *form = rf_export_forms(); form->name != NULL; form++) {
        rf_status status = RF_ENOMEM;
        rf_status good = strcmp(form->name, "llvm") == 0 ? RF_ENOTSUP : RF_OK; /* no lines */
        for (uint64_t n = 1; status != good && n < 2000; n++) {
            failing = (struct failing){.fail_at = n};
            status = export_all(form->name);
            CHECK_ROW(form->name, status == good || status == RF_ENOMEM);
            CHECK_ROW(form->name, failing.held == 0 && failing.mistakes == 0);
        }
        CHECK_ROW(form->name, status == good);
    }
}

/* A full disk is told. */
TEST(no_room)
{
    failing = (struct failing){.fail_at = 0};
    struct rf_profile insn = profile_of("insn -> pc", code, 2, RF_BOUND_EXACT);
    struct rf_profile *profiles[] = {&insn};
    struct rf_run run = {
        .command = (char *)"", .version = (char *)"", .profiles = profiles, .n_profiles = 1};
    FILE *full = fopen("/dev/full", "w");
    const struct rf_export_setup setup = {.symbols = NULL};
    CHECK_EQ(rf_export_write(rf_export_find("callgrind"), full, &run, &setup, NULL), RF_EIO);
    fclose(full);
}

static rf_status write_mark(const struct rf_export *export, void *state)
{
    return state == NULL && fputs("mark", export->out) >= 0 ? RF_OK : RF_EINVAL;
}

TEST(a_form_that_keeps_no_state)
{
    static const struct rf_export_maker maker = {.write = write_mark};
    static const struct rf_export_form form = {.name = "mark", .maker = &maker};
    struct rf_run run = {.alloc = failing_alloc(&failing)};
    const struct rf_export_setup setup = {.tell = tell};
    FILE *out = fmemopen(written, sizeof written, "w");
    CHECK_EQ(rf_export_write(&form, out, &run, &setup, NULL), RF_OK);
    fclose(out);
    CHECK_TEXT(written, "mark");
}

TEST_MAIN()
