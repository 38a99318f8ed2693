/* Addresses of real programs to names: the programs in tests/fixture tell where they are. */
#include <unistd.h>
#include <riffle/symbol.h>
#include "base/random.h"
#include "failing.h"
#include "program.h"
#include "test.h"

static struct rf_place_name name_of(struct rf_symbols *symbols, uint64_t address)
{
    struct rf_place_name name;
    rf_symbols_lookup(symbols, address, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &name);
    return name;
}

#define NEEDS_COMPILER() REQUIRE(program_build())

/* ---- tests ---- */

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
        REQUIRE(program_load(&program, names[i], NULL));
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

/* clang and Rust put functions into the entry of their namespace; eight are inlined into host. */
TEST(chains_of_inlined_functions_are_whole)
{
    static struct program program;
    struct rf_symbols *symbols;
    NEEDS_COMPILER();
    REQUIRE(program_load(&program, "chain", NULL));
    REQUIRE(rf_symbols_open(&symbols, &program.run, NULL, NULL) == RF_OK);
    size_t k = 0;
    while (k < program.n_marks && strcmp(program.marks[k].function, "level1") != 0)
        k++;
    REQUIRE(k < program.n_marks);
    struct rf_place_name name = name_of(symbols, program.marks[k].address);
    CHECK_TEXT(name.function, "deep::host");
    CHECK_EQ(name.n_inlined, 8);
    for (size_t i = 0; i < name.n_inlined; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "deep::level%zu", i + 1);
        CHECK_TEXT(name.inlined[i].function, expected);
        CHECK(name.inlined[i].line > 0);
    }
    rf_symbols_close(symbols);
}

TEST(data_has_object_section_or_kind)
{
    static const struct {
        const char *name, *printed;
    } rows[] = {
        {"table", "table+0x8 (.data of pie)"},
        {"zeros", "zeros+0x27100 (.bss of pie)"},
        {"constants", "constants+0x4 (.rodata of pie)"},
        {"[heap]", "[heap]"},
        {"[stack]", "[stack]"},
    };
    static struct program program;
    struct rf_symbols *symbols;
    NEEDS_COMPILER();
    REQUIRE(program_load(&program, "pie", NULL));
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
        {"full", "pie", "none", "plain (marked.c:@)"},
        {"symbols only", "bare", "none", "plain (bare)"},
        {"stripped", "stripped", "none", "stripped+0x"},
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
        REQUIRE(program_load(&program, rows[i].program, NULL));
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
        {"other build id", NULL, "ffff", "it is not the file that ran: its build id is " ID},
        {"gone", "/nowhere/at/all", ID, "it cannot be opened: No such file or directory"},
        {"a folder", "/tmp", ID, "it is no regular file"},
        {"a device", "/dev/zero", "", "it is no regular file"},
        {"no ELF", FIXTURES "/marked.c", "", "it is no ELF file"},
    };
    static struct program program;
    NEEDS_COMPILER();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_symbols *symbols;
        REQUIRE(program_load(&program, "pie", rows[i].instead));
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
        {"pie", ID}, {"stripped", ID}, {"libpart.so", ID}, {"gone", ""}, {".", ""}, {"source", ""},
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

/* One byte of code, and nothing that is not loaded, changes it. */
TEST(a_file_without_a_build_id_is_known_by_its_code)
{
    char first[129], stripped[129], second[129], path[300];
    NEEDS_COMPILER();
    REQUIRE(run("cd %s && echo 'int main(void) { return X; }' > bare.c && "
                "gcc -g -DX=1 -Wl,--build-id=none bare.c -o bare1 && strip bare1 -o bare2 && "
                "gcc -g -DX=2 -Wl,--build-id=none bare.c -o bare3",
                folder) == 0);
    snprintf(path, sizeof path, "%s/bare1", folder);
    CHECK_EQ(rf_symbols_build_id(path, first, sizeof first), 21);
    CHECK(strncmp(first, "code-", 5) == 0);
    snprintf(path, sizeof path, "%s/bare2", folder);
    rf_symbols_build_id(path, stripped, sizeof stripped);
    CHECK_TEXT(stripped, first);
    snprintf(path, sizeof path, "%s/bare3", folder);
    CHECK_EQ(rf_symbols_build_id(path, second, sizeof second), 21);
    CHECK(strcmp(first, second) != 0);
}

/* The probe tells only of what was mapped to be executed. */
TEST(data_is_found_from_the_code_alone)
{
    static const char *const names[] = {"pie", "fixed"};
    static struct program program;
    NEEDS_COMPILER();
    for (size_t i = 0; i < 2; i++) {
        struct rf_symbols *symbols;
        REQUIRE(program_load(&program, names[i], NULL));
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
    REQUIRE(program_load(&program, "pie", NULL));
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

TEST(of_two_files_at_one_address_the_longer_there_gives_the_name)
{
    static struct program program;
    struct rf_symbols *symbols;
    char text[200];
    NEEDS_COMPILER();
    REQUIRE(program_load(&program, "pie", NULL));
    uint64_t address = address_of(&program, "plain");
    const struct rf_module other = {.path = "/usr/bin/other",
                                    .build_id = "",
                                    .process = 9,
                                    .start = address & ~UINT64_C(0xfff),
                                    .end = (address & ~UINT64_C(0xfff)) + 0x1000,
                                    .from_event = 1000,
                                    .to_event = 1600};
    program.modules[program.run.n_modules++] = other; /* 600 events; the program has 1000 */
    REQUIRE(rf_symbols_open(&symbols, &program.run, NULL, NULL) == RF_OK);
    struct rf_place_name name = name_of(symbols, address);
    CHECK_TEXT(name.function, "plain");
    CHECK_TEXT(name.other, "other");
    rf_place_print(&name, text, sizeof text);
    CHECK(strstr(text, "), or in other") != NULL);
    rf_symbols_close(symbols);
    program.modules[program.run.n_modules] = other; /* again, later: 1200 events */
    program.modules[program.run.n_modules].process = 10;
    program.modules[program.run.n_modules].from_event += 1000;
    program.modules[program.run.n_modules++].to_event += 1000;
    REQUIRE(rf_symbols_open(&symbols, &program.run, NULL, NULL) == RF_OK);
    name = name_of(symbols, address);
    CHECK_TEXT(name.module, "other");
    CHECK_TEXT(name.other, "pie");
    rf_symbols_lookup(symbols, address, 7, 500, &name);
    CHECK_TEXT(name.function, "plain");
    CHECK_TEXT(name.other, "");
    rf_symbols_close(symbols);
}

TEST(a_name_gives_its_addresses_back)
{
    static const struct {
        const char *program, *name, *function, *near;
    } rows[] = {
        {"pie", "plain", "plain", NULL},
        {"fixed", "hidden", "hidden", NULL},
        {"shared", "part_work", "part_work", NULL},
        {"cxx", "geo::Shape::area", "geo::Shape::area", NULL},
        {"cxx", "area", "geo::Shape::area", NULL},
        {"cxx", "_ZNK3geo5Shape4areaEi", "geo::Shape::area", NULL},
        {"pie", "plani", NULL, "plain"},
        {"pie", "nothing_of_the_kind", NULL, NULL},
    };
    static struct program program;
    NEEDS_COMPILER();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_symbols *symbols;
        struct rf_symbol_range range = {0};
        size_t n = 0;
        REQUIRE(program_load(&program, rows[i].program, NULL));
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
    REQUIRE(program_load(&program, "pie", NULL));
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
    REQUIRE(program_load(&program, "pie", NULL));
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
    REQUIRE(program_load(&program, "pie", NULL));
    forget_others(&program);
    REQUIRE(rf_symbols_open(&symbols, &program.run, NULL, NULL) == RF_OK);
    CHECK_EQ(rf_symbols_find(symbols, "malloc@plt", &stub, 1, &n), RF_OK);
    CHECK_EQ(n, 1);
    struct rf_place_name name = name_of(symbols, stub.lo);
    CHECK_TEXT(name.function, "malloc@plt");
    CHECK(strncmp(name.section, ".plt", 4) == 0);
    rf_symbols_close(symbols);
}

/* A static program has stubs, too: of 8 bytes, for functions that are chosen at start. */
TEST(stubs_of_a_static_program_are_named)
{
    static struct program program;
    struct rf_symbols *symbols;
    struct rf_symbol_range ranges[2];
    size_t n;
    NEEDS_COMPILER();
    REQUIRE(program_load(&program, "static", NULL));
    REQUIRE(rf_symbols_open(&symbols, &program.run, NULL, NULL) == RF_OK);
    static const char *const stubs[] = {"strlen@plt", "strchr@plt"};
    for (size_t i = 0; i < sizeof stubs / sizeof *stubs; i++) {
        CHECK_EQ(rf_symbols_find(symbols, stubs[i], ranges, 2, &n), RF_OK);
        CHECK_ROW(stubs[i], n == 1);
        CHECK_ROW(stubs[i], n == 1 && ranges[0].hi - ranges[0].lo == 8);
        if (n == 1) {
            struct rf_place_name name = name_of(symbols, ranges[0].lo);
            CHECK_TEXT(name.function, stubs[i]);
            CHECK_TEXT(name.section, ".plt");
        }
    }
    rf_symbols_close(symbols);
}

static void check_old_name(const struct program *program)
{
    struct rf_symbols *symbols;
    struct rf_symbol_range range;
    size_t n;
    REQUIRE(rf_symbols_open(&symbols, &program->run, NULL, NULL) == RF_OK);
    CHECK_EQ(rf_symbols_find(symbols, "a_part", &range, 1, &n), RF_OK);
    CHECK_EQ(n, 1);
    CHECK_TEXT(name_of(symbols, range.lo).function, "part_work");
    rf_symbols_close(symbols);
}

/* A stripped library tells versions in a table, one that was not stripped in the names themselves. */
TEST(a_name_for_old_programs_is_not_shown)
{
    static struct program program;
    static char kept[256];
    NEEDS_COMPILER();
    REQUIRE(program_load(&program, "versioned", NULL));
    forget_others(&program);
    check_old_name(&program);
    snprintf(kept, sizeof kept, "%s/libkept.so", folder);
    for (size_t i = 0; i < program.run.n_modules; i++)
        if (strstr(program.run.modules[i].path, "libold.so") != NULL)
            program.run.modules[i].path = kept;
    check_old_name(&program);
}

TEST(mangled_names_are_made_readable)
{
    static const struct {
        const char *mangled, *readable;
    } rows[] = {
        {"main", "main"},
        {"_start", "_start"},
        {"_ZNK3geo5Shape4areaEi", "geo::Shape::area"},
        {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
        {"_RNvC6_123foo3bar", "123foo::bar"},
        {"_Z", "_Z"},
        {"", ""},
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
    REQUIRE(program_load(&program, "pie", damaged));
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
    REQUIRE(program_load(&program, "pie", NULL));
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
    program_clear();
    CHECK(access(folder, F_OK) != 0);
}

TEST_MAIN()
