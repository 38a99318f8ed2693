/* program.h - programs that know where they are: builds tests/fixture, runs it, reads what it prints.
 *
 *     REQUIRE(program_build());  REQUIRE(program_load(&program, "pie", NULL));
 *     program.run.modules, program.marks[i].address ...
 *     program_clear();                                                at the end
 *
 * A test that includes this is compiled with -DFIXTURES="...". */
#ifndef RF_TESTS_PROGRAM_H
#define RF_TESTS_PROGRAM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <riffle/profile.h>

#define ID "00112233445566778899aabbccddeeff00112233"
static char folder[100]; /* where the programs are */
static bool can_build;

static inline int run(const char *format, ...) __attribute__((format(printf, 1, 2)));
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
    {"pie", "gcc -g -O1 -pie -fPIE marked.c part.c"},
    {"fixed", "gcc -g -O1 -no-pie -fno-pie marked.c part.c"},
    {"dwarf4", "gcc -gdwarf-4 -O1 -fPIE -pie marked.c part.c"},
    {"bare", "gcc -g0 -O1 -fPIE -pie marked.c part.c"},
    {"chain", "gcc -Wl,-z,noexecstack -g -O1 -fPIE -pie chain.s -x c marked.c"},
    {"static", "gcc -g -O1 -static marked.c part.c"},
    {"cxx", "g++ -g -O1 -fPIE -pie -x c++ shape.cc -x c marked.c"},
};

static inline bool program_build(void)
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
    ok &= run("cd " FIXTURES
              " && gcc -g -O1 -DVERSIONED -DSHARED -fPIC -shared part.c -o %s/libold.so"
              " -Wl,--build-id=0x" ID " -Wl,--version-script=part.map && "
              "gcc -g -O1 marked.c -o %s/versioned -Wl,--build-id=0x" ID
              " -L%s -lold -Wl,-rpath,%s && cp %s/libold.so %s/libkept.so && strip %s/libold.so",
              folder, folder, folder, folder, folder, folder, folder) == 0;
    ok &= run("cd %s && cp pie stripped && strip stripped && mkdir -p debug/.build-id/00 && "
              "objcopy --only-keep-debug pie debug/.build-id/00/%s.debug",
              folder, &ID[2]) == 0;
    return can_build = ok;
}

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

static inline bool program_load(struct program *program, const char *name, const char *instead)
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

/* The line of the fixture that holds `text`. */
static inline uint32_t line_with(const char *text)
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

static inline void program_clear(void)
{
    if (folder[0] != '\0')
        run("rm -r %s", folder);
}

#endif
