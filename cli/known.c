/* known.c - does a program have the functions that the command line names? Checked before it runs.
 *
 * This is known only for a static program: others map libraries while they run (the loader's, dlopen's), and the
 * functions of those are checked when the run is over (cmd_run.c). It is not known for a stripped program, nor for one
 * that may start another program. */
#include "plan.h"
#include <elf.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

enum { SEGMENTS_MAX = 64, PAGE = 4096 };

static bool read_header(FILE *file, Elf64_Ehdr *header)
{
    return fread(header, sizeof *header, 1, file) == 1 &&
           memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_phentsize == sizeof(Elf64_Phdr) &&
           header->e_phnum <= SEGMENTS_MAX && header->e_phoff < LONG_MAX &&
           fseek(file, (long)header->e_phoff, SEEK_SET) == 0;
}

/* The code of a static program as modules of the run; false: it is no such program. */
static bool add_segments(struct rf_run *run, const char *path, FILE *file)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    if (!read_header(file, &header))
        return false;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        if (fread(&segment, sizeof segment, 1, file) != 1 || segment.p_type == PT_INTERP)
            return false;
        uint64_t inside = segment.p_offset % PAGE, size = inside + segment.p_filesz;
        const struct rf_module module = {.path = (char *)path,
                                         .build_id = (char *)"",
                                         .start = segment.p_vaddr - inside,
                                         .end = segment.p_vaddr - inside +
                                                (size + PAGE - 1) / PAGE * PAGE,
                                         .offset = segment.p_offset - inside,
                                         .to_event = UINT64_MAX};
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
            rf_run_add_module(run, &module) != RF_OK)
            return false;
    }
    return run->n_modules > 0;
}

static bool has(struct rf_symbols *symbols, const char *name)
{
    size_t n = 0;
    return rf_symbols_find(symbols, name, NULL, 0, &n) != RF_OK || n > 0;
}

static int check_name(struct rf_symbols *symbols, const char *program, const char *name)
{
    if (has(symbols, name) || has(symbols, "execve") || !has(symbols, "*"))
        return CLI_OK;
    const char *nearest = rf_symbols_nearest(symbols, name);
    if (nearest != NULL)
        return cli_fail(CLI_USAGE, "%s has no function '%s'; did you mean '%s'?", program, name,
                        nearest);
    return cli_fail(CLI_USAGE, "%s has no function '%s'", program, name);
}

bool cli_program_static(struct cli_program *program, const char *path)
{
    struct stat about;
    *program = (struct cli_program){NULL, NULL};
    FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "re") : NULL;
    bool is_static = file != NULL && rf_run_new(&program->run, NULL, NULL) == RF_OK &&
                     add_segments(program->run, path, file);
    if (file != NULL)
        fclose(file);
    return is_static;
}

int cli_check_functions(const char *path, const char *const *names)
{
    struct cli_program program;
    int status = CLI_OK;
    if (cli_program_static(&program, path) &&
        rf_symbols_open(&program.symbols, program.run, NULL, NULL) == RF_OK)
        for (size_t i = 0; status == CLI_OK && names[i] != NULL; i++)
            status = check_name(program.symbols, path, names[i]);
    cli_program_close(&program);
    return status;
}
