/* Addresses of real programs to names: the programs in tests/fixture tell where they are. */
#include <stdarg.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>
#include <riffle/symbol.h>
#include "base/random.h"
#include "failing.h"
#include "test.h"

/* ---- programs ---- */

#define ID "00112233445566778899aabbccddeeff00112233"
static char folder[100];
static bool can_build;

static int run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int run(const char *format, ...)
{
    char command[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    return system(command);
}

/* What each program is built with: all share the sources of tests/fixture. */
static const struct {
    const char *name, *command;
} programs[] = {
    {"pie",    "gcc -g -O1 -pie -fPIE marked.c part.c"              },
    {"fixed",  "gcc -g -O1 -no-pie -fno-pie marked.c part.c"        },
    {"dwarf4", "gcc -gdwarf-4 -O1 -fPIE -pie marked.c part.c"       },
    {"bare",   "gcc -g0 -O1 -fPIE -pie marked.c part.c"             },
    {"cxx",    "g++ -g -O1 -fPIE -pie -x c++ shape.cc -x c marked.c"},
};

static bool build_programs(void)
{
    static bool done;
    if (done)
        return can_build;
    done = true;
    snprintf(folder, sizeof folder, "/tmp/riffle-symbol-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return false;
    bool ok = true;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        ok &= run("cd " FIXTURES " && %s -Wl,--build-id=0x" ID " -o %s/%s", programs[i].command,
                  folder, programs[i].name) == 0;
    ok &= run("cd " FIXTURES " && gcc -g -O1 -DSHARED -fPIC -shared part.c -o %s/libpart.so"
              " -Wl,--build-id=0x" ID " && gcc -g -O1 marked.c -o %s/shared -Wl,--build-id=0x" ID
              " -L%s -lpart -Wl,-rpath,%s",
              folder, folder, folder, folder) == 0;
    ok &= run("cd %s && cp pie stripped && strip stripped && mkdir -p debug/.build-id/00 && "
              "objcopy --only-keep-debug pie debug/.build-id/00/%s.debug",
              folder, &ID[2]) == 0;
    return can_build = ok;
}

/* ---- runs ---- */

struct mark {
    uint64_t address;
    char function[64];
    long line;
};

struct program {
    struct rf_run run;
    struct rf_module modules[100];
    struct mark marks[16], data[16];
    size_t n_marks, n_data;
    char texts[100][300];
    bool executable[100];
};

/* A row of /proc/self/maps. Files of the folder get the build id, `instead` replaces their path. */
static void add_row(struct program *program, const char *line, const char *instead)
{
    unsigned long long start, end, offset;
    char path[300] = "", rights[10];
    size_t n = program->run.n_modules;
    if (n == 100 ||
        sscanf(line, "%llx-%llx %9s %llx %*s %*s %299s", &start, &end, rights, &offset, path) < 4)
        return;
    bool ours = strncmp(path, folder, strlen(folder)) == 0;
    bool is_library = strstr(path, ".so") != NULL;
    snprintf(program->texts[n], sizeof program->texts[n], "%s",
             ours && instead != NULL && !is_library ? instead
             : path[0] != '\0'                      ? path
                                                    : "[anon]");
    program->modules[n] = (struct rf_module){.path = program->texts[n],
                                             .build_id = ours ? ID : "",
                                             .process = 7,
                                             .start = start,
                                             .end = end,
                                             .offset = offset,
                                             .to_event = 1000};
    program->executable[n] = strchr(rights, 'x') != NULL;
    program->run.n_modules++;
}

static bool load(struct program *program, const char *name, const char *instead)
{
    char command[300], line[1000];
    memset(program, 0, sizeof *program);
    program->run.modules = program->modules;
    snprintf(command, sizeof command, "%s/%s", folder, name);
    FILE *out = popen(command, "re");
    while (out != NULL && fgets(line, sizeof line, out) != NULL) {
        struct mark mark = {0};
        unsigned long long address;
        if (strncmp(line, "map ", 4) == 0)
            add_row(program, line + 4, instead);
        else if (sscanf(line, "mark %llx %63s %ld", &address, mark.function, &mark.line) == 3) {
            mark.address = address;
            program->marks[program->n_marks++] = mark;
        } else if (sscanf(line, "data %llx %63s", &address, mark.function) == 2) {
            mark.address = address;
            program->data[program->n_data++] = mark;
        }
    }
    return out != NULL && pclose(out) == 0 && program->n_marks >= 2;
}

static struct rf_place_name name_of(struct rf_symbols *symbols, uint64_t address)
{
    struct rf_place_name name;
    rf_symbols_lookup(symbols, address, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &name);
    return name;
}

#define NEEDS_COMPILER() REQUIRE(build_programs())

/* ---- tests ---- */

/* The line of the fixture that holds `text`. */
static uint32_t line_with(const char *text)
{
    char line[300];
    uint32_t n = 0;
    bool found = false;
    FILE *source = fopen(FIXTURES "/marked.c", "re");
    while (source != NULL && !found && fgets(line, sizeof line, source) != NULL) {
        found = strstr(line, text) != NULL;
        n++;
    }
    if (source != NULL)
        fclose(source);
    return found ? n : 0;
}

/* Leave only our own files: libc has too many names. */
static void forget_others(struct program *program)
{
    for (size_t k = 0; k < program->run.n_modules; k++)
        if (strcmp(program->modules[k].build_id, ID) != 0)
            program->modules[k].path = "[other]";
}

static void check_mark(struct rf_symbols *symbols, const char *label, const struct mark *mark)
{
    struct rf_place_name name = name_of(symbols, mark->address);
    if (strcmp(mark->function, "twice") == 0) {
        CHECK_ROW(label, strcmp(name.function, "host") == 0);
        CHECK_ROW(label, name.line == line_with("inlined call stands"));
        CHECK_ROW(label, name.n_inlined == 1);
        CHECK_ROW(label, name.n_inlined == 1 && strcmp(name.inlined[0].function, "twice") == 0);
        CHECK_ROW(label, name.n_inlined == 1 && name.inlined[0].line == (uint32_t)mark->line);
        return;
    }
    CHECK_ROW(label, strcmp(name.function, mark->function) == 0);
    CHECK_ROW(label, name.line == (uint32_t)mark->line);
    CHECK_ROW(label, strstr(name.file, "tests/fixture/") != NULL);
    CHECK_ROW(label, strcmp(name.section, ".text") == 0);
    CHECK_ROW(label, name.is_code && name.n_inlined == 0);
}

TEST(marks_have_function_file_and_line)
{
    static const char *const names[] = {"pie", "fixed", "dwarf4", "shared", "cxx"};
    NEEDS_COMPILER();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        static struct program program;
        struct rf_symbols *symbols;
        uint64_t addresses[16];
        REQUIRE(load(&program, names[i], NULL));
        CHECK_ROW(names[i], program.n_marks >= 4);
        REQUIRE(rf_symbols_open(&symbols, &program.run, NULL, NULL) == RF_OK);
        for (size_t k = 0; k < program.n_marks; k++)
            addresses[k] = program.marks[k].address;
        CHECK_EQ(rf_symbols_prepare(symbols, addresses, program.n_marks), RF_OK);
        for (size_t k = 0; k < program.n_marks; k++)
            check_mark(symbols, names[i], &program.marks[k]);
        CHECK(rf_symbols_problem(symbols, 0) == NULL);
        rf_symbols_close(symbols);
    }
}

TEST(data_has_object_section_or_kind)
{
    static const struct {
        const char *name, *printed;
    } rows[] = {
        {"table",     "table+0x8 (.data of pie)"      },
        {"zeros",     "zeros+0x27100 (.bss of pie)"   },
        {"constants", "constants+0x4 (.rodata of pie)"},
        {"[heap]",    "[heap]"                        },
        {"[stack]",   "[stack]"                       },
    };
    static struct program program;
    struct rf_symbols *symbols;
    NEEDS_COMPILER();
    REQUIRE(load(&program, "pie", NULL));
    REQUIRE(program.n_data == 5);
    REQUIRE(rf_symbols_open(&symbols, &program.run, NULL, NULL) == RF_OK);
    for (size_t i = 0; i < 5; i++) {
        char text[200];
        struct rf_place_name name = name_of(symbols, program.data[i].address);
        rf_place_print(&name, text, sizeof text);
        CHECK_TEXT(program.data[i].function, rows[i].name);
        CHECK_TEXT(text, rows[i].printed);
    }
    rf_symbols_close(symbols);
}

static uint64_t address_of(const struct program *program, const char *function)
{
    for (size_t i = 0; i < program->n_marks; i++)
        if (strcmp(program->marks[i].function, function) == 0)
            return program->marks[i].address;
    return 0;
}

/* The same addresses, told from other files: with symbols only, stripped, with a debug file. */
TEST(less_information_gives_shorter_names)
{
    static const struct {
        const char *label, *program, *debug, *expected;
    } rows[] = {
        {"full",                             "pie",      "none",  "plain (marked.c:@)"},
        {"symbols only",                     "bare",     "none",  "plain (bare)"      },
        {"stripped",                         "stripped", "none",  "stripped+0x"       },
        {"stripped, debug file by build id", "stripped", "debug", "plain (marked.c:@)"},
    };
    static struct program program;
    NEEDS_COMPILER();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_symbols *symbols;
        char text[200], debug[300], expected[100];
        snprintf(expected, sizeof expected, "%s", rows[i].expected);
        if (strchr(expected, '@') != NULL)
            snprintf(strchr(expected, '@'), 20, "%u)", line_with("MARK(\"plain\")"));
        snprintf(debug, sizeof debug, "%s/%s", folder, rows[i].debug);
        REQUIRE(load(&program, rows[i].program, NULL));
        REQUIRE(rf_symbols_open(&symbols, &program.run,
                                &(struct rf_symbols_setup){.debug_path = debug}, NULL) == RF_OK);
        struct rf_place_name name = name_of(symbols, address_of(&program, "plain"));
        rf_place_print(&name, text, sizeof text);
        CHECK_ROW(rows[i].label, strncmp(text, expected, strlen(expected)) == 0);
        if (strcmp(rows[i].program, "stripped") == 0)
            CHECK_ROW(rows[i].label, name.link - 0x1000 < 0x1000);
        rf_symbols_close(symbols);
    }
}

TEST(a_file_that_is_not_the_one_that_ran_is_not_used)
{
    static const struct {
        const char *label, *instead, *build_id, *problem;
    } rows[] = {
        {"other build id", NULL,                 "ffff", "it is not the file that ran: its build id is " ID},
        {"gone",           "/nowhere/at/all",    ID,     "it cannot be opened: No such file or directory"  },
        {"a folder",       "/tmp",               ID,     "it is no regular file"                           },
        {"a device",       "/dev/zero",          "",     "it is no regular file"                           },
        {"no ELF",         FIXTURES "/marked.c", "",     "it is no ELF file"                               },
    };
    static struct program program;
    NEEDS_COMPILER();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_symbols *symbols;
        REQUIRE(load(&program, "pie", rows[i].instead));
        for (size_t k = 0; k < program.run.n_modules; k++)
            if (strcmp(program.modules[k].build_id, ID) == 0)
                program.modules[k].build_id = (char *)rows[i].build_id;
        REQUIRE(rf_symbols_open(&symbols, &program.run, NULL, NULL) == RF_OK);
        struct rf_place_name name = name_of(symbols, address_of(&program, "plain"));
        CHECK_ROW(rows[i].label, name.function[0] == '\0' && name.line == 0);
        CHECK_ROW(rows[i].label, name.module[0] != '\0');
        const char *problem = rf_symbols_problem(symbols, 0);
        CHECK_ROW(rows[i].label, problem != NULL && strstr(problem, rows[i].problem) != NULL);
        CHECK(rf_symbols_problem(symbols, 1) == NULL);
        rf_symbols_close(symbols);
    }
}

TEST(the_build_id_is_read_from_the_file)
{
    static const struct {
        const char *path, *id;
    } rows[] = {
        {"pie",        ID},
        {"stripped",   ID},
        {"libpart.so", ID},
        {"gone",       ""},
        {".",          ""},
        {"source",     ""},
    };
    NEEDS_COMPILER();
    run("cp " FIXTURES "/marked.c %s/source", folder);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[300], id[129];
        snprintf(path, sizeof path, "%s/%s", folder, rows[i].path);
        CHECK_EQ(rf_symbols_build_id(path, id, sizeof id), strlen(rows[i].id));
        CHECK_TEXT(id, rows[i].id);
    }
}

/* The probe tells only of what was mapped to be executed. */
TEST(data_is_found_from_the_code_alone)
{
    static const char *const names[] = {"pie", "fixed"};
    static struct program program;
    NEEDS_COMPILER();
    for (size_t i = 0; i < 2; i++) {
        struct rf_symbols *symbols;
        REQUIRE(load(&program, names[i], NULL));
        size_t kept = 0;
        for (size_t k = 0; k < program.run.n_modules; k++)
            if (program.executable[k])
                program.modules[kept++] = program.modules[k];
        program.run.n_modules = kept;
        REQUIRE(rf_symbols_open(&symbols, &program.run, NULL, NULL) == RF_OK);
        for (size_t k = 0; k < 3; k++)
            CHECK_TEXT(name_of(symbols, program.data[k].address).function,
                       program.data[k].function);
        check_mark(symbols, names[i], &program.marks[0]);
        rf_symbols_close(symbols);
    }
}

TEST(process_and_time_choose_the_mapping)
{
    static struct program program;
    struct rf_symbols *symbols;
    struct rf_place_name name;
    NEEDS_COMPILER();
    REQUIRE(load(&program, "pie", NULL));
    uint64_t address = address_of(&program, "plain");
    struct rf_module other = {.path = "[anon]",
                              .build_id = "",
                              .process = 9,
                              .start = address & ~UINT64_C(0xfff),
                              .end = (address & ~UINT64_C(0xfff)) + 0x1000,
                              .from_event = 2000,
                              .to_event = 3000};
    program.modules[program.run.n_modules++] = other;
    REQUIRE(rf_symbols_open(&symbols, &program.run, NULL, NULL) == RF_OK);
    CHECK_EQ(rf_symbols_lookup(symbols, address, 9, 2500, &name), RF_OK);
    CHECK_TEXT(name.module, "[anon]");
    CHECK_EQ(rf_symbols_lookup(symbols, address, 7, 500, &name), RF_OK);
    CHECK_TEXT(name.function, "plain");
    CHECK_EQ(rf_symbols_lookup(symbols, address, 7, 2500, &name), RF_EINVAL);
    CHECK_TEXT(name.module, "");
    CHECK_EQ(rf_symbols_lookup(symbols, 16, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &name),
             RF_EINVAL);
    rf_symbols_close(symbols);
}

TEST(a_name_gives_its_addresses_back)
{
    static const struct {
        const char *program, *name, *function, *near;
    } rows[] = {
        {"pie",    "plain",                 "plain",            NULL   },
        {"fixed",  "hidden",                "hidden",           NULL   },
        {"shared", "part_work",             "part_work",        NULL   },
        {"cxx",    "geo::Shape::area",      "geo::Shape::area", NULL   },
        {"cxx",    "area",                  "geo::Shape::area", NULL   },
        {"cxx",    "_ZNK3geo5Shape4areaEi", "geo::Shape::area", NULL   },
        {"pie",    "plani",                 NULL,               "plain"},
        {"pie",    "nothing_of_the_kind",   NULL,               NULL   },
    };
    static struct program program;
    NEEDS_COMPILER();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_symbols *symbols;
        struct rf_symbol_range range = {0};
        size_t n = 0;
        REQUIRE(load(&program, rows[i].program, NULL));
        forget_others(&program);
        REQUIRE(rf_symbols_open(&symbols, &program.run, NULL, NULL) == RF_OK);
        CHECK_EQ(rf_symbols_find(symbols, rows[i].name, &range, 1, &n), RF_OK);
        CHECK_ROW(rows[i].name, n == (rows[i].function != NULL));
        if (rows[i].function != NULL && n == 1) {
            uint64_t address = address_of(&program, rows[i].function);
            CHECK_ROW(rows[i].name, address >= range.lo && address < range.hi);
            CHECK_ROW(rows[i].name, strcmp(range.function, rows[i].function) == 0);
            CHECK_ROW(rows[i].name, range.process == 7 && range.hi - range.lo < 100);
        }
        const char *near =
            rows[i].function == NULL ? rf_symbols_nearest(symbols, rows[i].name) : NULL;
        CHECK_ROW(rows[i].name, rows[i].near == NULL ? near == NULL
                                                     : near != NULL && !strcmp(near, rows[i].near));
        rf_symbols_close(symbols);
    }
}

TEST(ranges_have_names)
{
    static struct program program;
    struct rf_symbols *symbols;
    char text[200];
    NEEDS_COMPILER();
    REQUIRE(load(&program, "pie", NULL));
    REQUIRE(rf_symbols_open(&symbols, &program.run, NULL, NULL) == RF_OK);
    uint64_t plain = address_of(&program, "plain");
    struct rf_symbol_range host;
    size_t n;
    REQUIRE(rf_symbols_find(symbols, "host", &host, 1, &n) == RF_OK && n == 1);
    rf_symbols_name_range(symbols, plain, plain + 1, text, sizeof text);
    CHECK_TEXT(text, "plain (pie)");
    rf_symbols_name_range(symbols, plain < host.lo ? plain : host.lo,
                          plain < host.lo ? host.lo : plain, text, sizeof text);
    CHECK(strcmp(text, "plain, host (pie)") == 0 || strcmp(text, "host, plain (pie)") == 0);
    rf_symbols_name_range(symbols, program.data[1].address, program.data[1].address + 64, text,
                          sizeof text);
    CHECK_TEXT(text, "zeros (pie)");
    rf_symbols_name_range(symbols, program.data[3].address, program.data[3].address + 64, text,
                          sizeof text);
    CHECK_TEXT(text, "[heap]");
    CHECK_EQ(rf_symbols_name_range(symbols, 16, 32, text, sizeof text), 0);
    rf_symbols_name_range(symbols, 0, UINT64_MAX, text, sizeof text);
    CHECK(strncmp(text, "pie, ", 5) == 0 && strstr(text, " more") != NULL);
    rf_symbols_close(symbols);
}

TEST(lines_of_a_function)
{
    static struct program program;
    struct rf_symbols *symbols;
    struct rf_symbol_range plain;
    const struct rf_symbol_line *lines;
    size_t n;
    uint32_t mark = line_with("MARK(\"plain\")");
    bool found = false;
    NEEDS_COMPILER();
    REQUIRE(load(&program, "pie", NULL));
    REQUIRE(rf_symbols_open(&symbols, &program.run, NULL, NULL) == RF_OK);
    REQUIRE(rf_symbols_find(symbols, "plain", &plain, 1, &n) == RF_OK && n == 1);
    REQUIRE(rf_symbols_lines(symbols, plain.lo, plain.hi, &lines, &n) == RF_OK);
    CHECK(n >= 3);
    for (size_t i = 0; i < n; i++) {
        CHECK(lines[i].address >= plain.lo && lines[i].address < plain.hi);
        CHECK(lines[i].line + 2 >= mark && lines[i].line <= mark + 2);
        found |= lines[i].line == mark && strstr(lines[i].file, "marked.c") != NULL;
    }
    CHECK(found);
    rf_symbols_close(symbols);
}

TEST(stubs_of_the_linkage_table_are_named)
{
    static struct program program;
    struct rf_symbols *symbols;
    struct rf_symbol_range stub;
    size_t n;
    NEEDS_COMPILER();
    REQUIRE(load(&program, "pie", NULL));
    forget_others(&program);
    REQUIRE(rf_symbols_open(&symbols, &program.run, NULL, NULL) == RF_OK);
    CHECK_EQ(rf_symbols_find(symbols, "malloc@plt", &stub, 1, &n), RF_OK);
    CHECK_EQ(n, 1);
    struct rf_place_name name = name_of(symbols, stub.lo);
    CHECK_TEXT(name.function, "malloc@plt");
    CHECK(strncmp(name.section, ".plt", 4) == 0);
    rf_symbols_close(symbols);
}

TEST(mangled_names_are_made_readable)
{
    static const struct {
        const char *mangled, *readable;
    } rows[] = {
        {"main",                                             "main"                       },
        {"_start",                                           "_start"                     },
        {"_ZNK3geo5Shape4areaEi",                            "geo::Shape::area"           },
        {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
        {"_RNvC6_123foo3bar",                                "123foo::bar"                },
        {"_Z",                                               "_Z"                         },
        {"",                                                 ""                           },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[100];
        rf_symbols_demangle(rows[i].mangled, text, sizeof text);
        CHECK_TEXT(text, rows[i].readable);
    }
}

/* ---- damage ---- */

static char *read_file(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rbe");
    char *bytes = malloc(1 << 20);
    *n = file != NULL && bytes != NULL ? fread(bytes, 1, 1 << 20, file) : 0;
    if (file != NULL)
        fclose(file);
    return bytes;
}

static void write_file(const char *path, const char *bytes, size_t n)
{
    FILE *file = fopen(path, "wbe");
    if (file != NULL) {
        fwrite(bytes, 1, n, file);
        fclose(file);
    }
}

/* Look everything up; whatever comes must be text, and the module is always known. */
static void look_all_up(struct program *program, const char *label)
{
    struct rf_symbols *symbols;
    const struct rf_symbols_setup setup = {.seconds_max = 2, .memory_max = 256 << 20};
    uint64_t addresses[16];
    REQUIRE(rf_symbols_open(&symbols, &program->run, &setup, NULL) == RF_OK);
    for (size_t k = 0; k < program->n_marks; k++)
        addresses[k] = program->marks[k].address;
    CHECK_ROW(label, rf_symbols_prepare(symbols, addresses, program->n_marks) == RF_OK);
    for (size_t k = 0; k < program->n_marks; k++) {
        char text[300];
        struct rf_place_name name = name_of(symbols, addresses[k]);
        CHECK_ROW(label, strcmp(name.module, "damaged") == 0);
        CHECK_ROW(label, rf_place_print(&name, text, sizeof text) > 0);
    }
    rf_symbols_close(symbols);
}

TEST(a_damaged_file_costs_names_and_nothing_else)
{
    static struct program program;
    struct rf_random random;
    char path[300], damaged[300], label[100];
    size_t n;
    unsigned rounds = getenv("RIFFLE_TEST_LONG") != NULL ? 2000 : 60;
    NEEDS_COMPILER();
    snprintf(path, sizeof path, "%s/pie", folder);
    snprintf(damaged, sizeof damaged, "%s/damaged", folder);
    REQUIRE(load(&program, "pie", damaged));
    for (size_t k = 0; k < program.run.n_modules; k++)
        program.modules[k].build_id = "";
    char *bytes = read_file(path, &n), *copy = malloc(1 << 20);
    rf_random_seed(&random, test_seed(4711));
    for (unsigned i = 0; i < rounds && n > 0 && test_failures == 0; i++) {
        size_t left = i % 3 == 0 ? rf_random_below(&random, n) : n;
        memcpy(copy, bytes, n);
        for (unsigned k = 0; i % 3 != 0 && k < 1 + i % 40; k++)
            copy[rf_random_below(&random, i % 3 == 1 ? n : 1024)] = (char)rf_random_next(&random);
        snprintf(label, sizeof label, "round %u, %zu of %zu bytes", i, left, n);
        write_file(damaged, copy, left);
        look_all_up(&program, label);
    }
    free(bytes);
    free(copy);
}

/* ---- memory ---- */

TEST(running_out_of_memory_is_an_error_and_leaks_nothing)
{
    static struct program program;
    bool went_through = false;
    NEEDS_COMPILER();
    REQUIRE(load(&program, "pie", NULL));
    for (uint64_t at = 1; at < 200 && !went_through; at++) {
        struct failing failing = {.fail_at = at};
        const struct rf_alloc alloc = failing_alloc(&failing);
        struct rf_symbols *symbols = NULL;
        uint64_t address = address_of(&program, "plain");
        rf_status status = rf_symbols_open(&symbols, &program.run,
                                           &(struct rf_symbols_setup){.alloc = &alloc}, NULL);
        if (status == RF_OK)
            status = rf_symbols_prepare(symbols, &address, 1);
        CHECK(status == RF_OK || status == RF_ENOMEM);
        if (status == RF_OK) {
            went_through = true;
            CHECK_TEXT(name_of(symbols, address).function, "plain");
        }
        rf_symbols_close(symbols);
        CHECK_EQ(failing.held, 0);
        CHECK_EQ(failing.mistakes, 0);
    }
    CHECK(went_through);
}

TEST(the_programs_are_cleared_away)
{
    CHECK(folder[0] == '\0' || run("rm -r %s", folder) == 0);
}

TEST_MAIN()
