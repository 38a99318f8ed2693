/* known.c - what the file of a program tells while the program does not run: where its code lies, and whether it has the
 * functions that the command line names.
 *
 * Functions are checked before the program runs, if it is static. Other programs map libraries while they run, so their
 * functions are checked when the run is over (places.c). A stripped program, and one that may start another program, are
 * not checked at all. */
#include "plan.h"
#include <elf.h>
#include <limits.h>
#include <stdlib.h>
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

/* One segment of code as a module, moved by `bias`. */
static bool add_segment(struct rf_run *run, const char *path, const Elf64_Phdr *segment,
                        uint64_t bias)
{
    char build_id[129];
    uint64_t inside = segment->p_offset % PAGE, size = inside + segment->p_filesz;
    uint64_t start = segment->p_vaddr - inside + bias;
    rf_symbols_build_id(path, build_id, sizeof build_id);
    const struct rf_module module = {.path = (char *)path,
                                     .build_id = build_id,
                                     .start = start,
                                     .end = start + (size + PAGE - 1) / PAGE * PAGE,
                                     .offset = segment->p_offset - inside,
                                     .to_event = UINT64_MAX};
    return rf_run_add_module(run, &module) == RF_OK;
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
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
            !add_segment(run, path, &segment, 0))
            return false;
    }
    return run->n_modules > 0;
}

/* The same of any file, whose first segment lies at *at; at NULL: where it was linked to. */
static bool add_mapped(struct rf_run *run, const char *path, FILE *file, const uint64_t *at)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    uint64_t bias = 0;
    bool first = true, found = false;
    if (!read_header(file, &header))
        return false;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        if (fread(&segment, sizeof segment, 1, file) != 1)
            return false;
        if (segment.p_type != PT_LOAD)
            continue;
        if (first && at != NULL)
            bias = *at - segment.p_vaddr / PAGE * PAGE;
        first = false;
        if ((segment.p_flags & PF_X) != 0 && !add_segment(run, path, &segment, bias))
            return false;
        found |= (segment.p_flags & PF_X) != 0;
    }
    return found;
}

/* "FILE" or "FILE@ADDRESS"; the last @ counts, and what is no number behind it is part of the name. */
int cli_map_file(struct rf_run *run, const char *text)
{
    char path[PATH_MAX], *end = NULL;
    const char *sign = strrchr(text, '@');
    uint64_t at = sign != NULL ? strtoull(sign + 1, &end, 0) : 0;
    bool has_address = sign != NULL && end != sign + 1 && *end == '\0';
    snprintf(path, sizeof path, "%.*s", has_address ? (int)(sign - text) : PATH_MAX - 1, text);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return cli_fail(CLI_USAGE, "--map: '%s' cannot be read", path);
    bool good = add_mapped(run, path, file, has_address ? &at : NULL);
    fclose(file);
    return good ? CLI_OK : cli_fail(CLI_USAGE, "--map: '%s' is no 64-bit ELF file with code", path);
}

static bool has(struct rf_symbols *symbols, const char *name)
{
    size_t n = 0;
    return rf_symbols_find(symbols, name, NULL, 0, &n) != RF_OK || n > 0;
}

bool cli_has_function(struct rf_symbols *symbols, const char *name)
{
    size_t n = 0;
    return has(symbols, name) || rf_symbols_find_inlined(symbols, name, NULL, 0, &n) != RF_OK ||
           n > 0;
}

void cli_say_meanings(struct rf_symbols *symbols, const char *name, bool exact, const char *what)
{
    char list[2048];
    size_t n = rf_symbols_meanings(symbols, name, exact, list, sizeof list);
    if (n > 1)
        cli_fail(CLI_OK, "'%s' means %zu functions, and %s: %s", name, n, what, list);
}

static int check_name(struct rf_symbols *symbols, const char *program, const char *name)
{
    if (has(symbols, "execve") || !has(symbols, "*") || cli_has_function(symbols, name))
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
    *program = (struct cli_program){.run = NULL};
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
