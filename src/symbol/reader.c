/* reader.c - a file's segments, sections and symbols. Runs in the child (child.c).
 *
 * libdwfl is given the one file at bias 0, so that its addresses are those the file was linked for.
 * The symbol table is that of the file, of its separate debug file (by build id or .gnu_debuglink
 * under the debug path) or of a compressed .gnu_debugdata, as libdwfl finds them; a stripped file has
 * its dynamic symbols only.
 *
 * Of several names for one address (malloc, __libc_malloc, __malloc) the most familiar one gets the lowest
 * rank: functions before labels, a current name before one that is kept for old programs
 * (cfree@GLIBC_2.2.5 beside free), fewer underscores in front, then global before weak before local. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "symbol/reader.h"

static int no_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                        const char *file, const char *link, GElf_Word crc, char **found)
{
    (void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)crc;
    *found = NULL;
    return -1;
}

/* ---- the file ---- */

static void problem(struct rf_reader *reader, const char *what, const char *why)
{
    char sentence[512];
    rf_format(sentence, sizeof sentence, "%s%s%s", what, why[0] != '\0' ? ": " : "", why);
    rf_wire_problem(reader->wire, sentence);
}

/* Open without blocking: a profile may name a pipe or a device. */
static int open_regular(struct rf_reader *reader)
{
    struct stat about;
    int fd = open(reader->job->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        problem(reader, "it cannot be opened", strerror(errno));
        return -1;
    }
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        problem(reader, "it is no regular file", "");
        close(fd);
        return -1;
    }
    return fd;
}

static bool right_build(struct rf_reader *reader)
{
    char found[129], sentence[300];
    rf_symbols_build_id(reader->job->path, found, sizeof found);
    if (reader->job->build_id[0] == '\0' || strcmp(found, reader->job->build_id) == 0)
        return true;
    rf_format(sentence, sizeof sentence,
              "it is not the file that ran: its build id is %s, that of the run is %.*s",
              found[0] != '\0' ? found : "missing", 128, reader->job->build_id);
    rf_wire_problem(reader->wire, sentence);
    return false;
}

static bool open_module(struct rf_reader *reader)
{
    int fd = open_regular(reader);
    if (fd < 0)
        return false;
    reader->dwfl = dwfl_begin(&reader->callbacks);
    if (reader->dwfl == NULL)
        return false;
    dwfl_report_begin(reader->dwfl);
    reader->module =
        dwfl_report_elf(reader->dwfl, "module", reader->job->path, fd, 0, true /* p_vaddr */);
    dwfl_report_end(reader->dwfl, NULL, NULL);
    GElf_Addr bias = 0;
    if (reader->module != NULL)
        reader->elf = dwfl_module_getelf(reader->module, &bias);
    if (reader->elf == NULL)
        problem(reader, "it is no ELF file that can be read", dwfl_errmsg(-1));
    return reader->elf != NULL && right_build(reader);
}

/* ---- its layout ---- */

static void send_segments(struct rf_reader *reader)
{
    size_t n = 0;
    if (elf_getphdrnum(reader->elf, &n) != 0)
        return;
    for (size_t i = 0; i < n && i < 1024; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(reader->elf, (int)i, &header) == NULL || header.p_type != PT_LOAD)
            continue;
        const struct rf_segment segment = {header.p_offset, header.p_vaddr, header.p_filesz,
                                           header.p_memsz, (header.p_flags & PF_X) != 0};
        rf_wire_segment(reader->wire, &segment);
    }
}

static void send_sections(struct rf_reader *reader)
{
    size_t names = 0;
    if (elf_getshdrstrndx(reader->elf, &names) != 0)
        return;
    for (Elf_Scn *at = NULL; (at = elf_nextscn(reader->elf, at)) != NULL;) {
        GElf_Shdr header;
        if (gelf_getshdr(at, &header) == NULL || !(header.sh_flags & SHF_ALLOC) ||
            header.sh_flags & SHF_TLS)
            continue;
        const char *name = elf_strptr(reader->elf, names, header.sh_name);
        const struct rf_section section = {header.sh_addr, header.sh_size, name != NULL ? name : "",
                                           (header.sh_flags & SHF_EXECINSTR) != 0};
        rf_wire_section(reader->wire, &section);
    }
}

/* ---- its symbols ---- */

enum { OLD = 32, LABEL = 64 }; /* in a rank */

/* "cfree@GLIBC_2.2.5": new programs are not linked with it; "free@@GLIBC_2.2.5" is current. */
static bool is_old(const char *name)
{
    const char *at = strchr(name, '@');
    return at != NULL && at[1] != '@';
}

uint8_t rf_reader_rank(const GElf_Sym *symbol, const char *name)
{
    unsigned underscores = 0, rank;
    while (underscores < 3 && name[underscores] == '_')
        underscores++;
    switch (GELF_ST_BIND(symbol->st_info)) {
    case STB_GLOBAL:
        rank = 0;
        break;
    case STB_WEAK:
        rank = 1;
        break;
    default:
        rank = 2;
    }
    if (is_old(name))
        rank += OLD;
    if (GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE)
        rank += LABEL;
    return (uint8_t)(rank + 8 * underscores);
}

/* A label in code that the assembler or compiler generated is no name. */
static bool is_named(const GElf_Sym *symbol, const char *name)
{
    if (name == NULL || name[0] == '\0' || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_shndx == SHN_ABS)
        return false;
    switch (GELF_ST_TYPE(symbol->st_info)) {
    case STT_FUNC:
    case STT_GNU_IFUNC:
    case STT_OBJECT:
        return true;
    case STT_NOTYPE:
        return name[0] != '.' && name[0] != '$';
    default:
        return false;
    }
}

/* A stripped file has its dynamic symbols only. Their versions stand in a table beside them. */
struct versions {
    Elf_Data *symbols, *versions;
    size_t names; /* section of the names */
};

static void find_versions(Elf *elf, struct versions *found)
{
    GElf_Shdr header;
    *found = (struct versions){NULL, NULL, 0};
    for (Elf_Scn *at = NULL; (at = elf_nextscn(elf, at)) != NULL;) {
        if (gelf_getshdr(at, &header) == NULL)
            continue;
        if (header.sh_type == SHT_DYNSYM) {
            found->symbols = elf_getdata(at, NULL);
            found->names = header.sh_link;
        } else if (header.sh_type == SHT_GNU_versym) {
            found->versions = elf_getdata(at, NULL);
        }
    }
}

/* Is the i-th symbol one of the dynamic ones, and kept for old programs? */
static bool is_hidden(const struct rf_reader *reader, const struct versions *versions, int i,
                      const char *name)
{
    const GElf_Versym hidden = 0x8000;
    GElf_Versym version;
    GElf_Sym symbol;
    if (versions->symbols == NULL || versions->versions == NULL ||
        gelf_getsym(versions->symbols, i, &symbol) == NULL ||
        gelf_getversym(versions->versions, i, &version) == NULL)
        return false;
    const char *own = elf_strptr(reader->elf, versions->names, symbol.st_name);
    return own != NULL && strcmp(own, name) == 0 && (version & hidden) != 0;
}

static void send_symbol(struct rf_reader *reader, const GElf_Sym *sym, GElf_Addr address,
                        const char *name, unsigned rank)
{
    char readable[RF_WIRE_TEXT_MAX], parameters[RF_WIRE_TEXT_MAX];
    struct rf_symbol symbol = {
        .lo = address, .rank = (uint8_t)rank, .name = readable, .parameters = parameters};
    if (__builtin_add_overflow(address, sym->st_size, &symbol.hi))
        return;
    symbol.kind = GELF_ST_TYPE(sym->st_info) == STT_OBJECT ? RF_SYMBOL_OBJECT : RF_SYMBOL_FUNCTION;
    if (strncmp(name, "__GI_", 5) == 0) /* glibc's inner alias of a name */
        name += 5;
    rf_symbol_split(name, readable, parameters);
    readable[strcspn(readable, "@")] = '\0'; /* the version: "memcpy@@GLIBC_2.14" */
    rf_wire_symbol(reader->wire, &symbol);
}

static void send_symbols(struct rf_reader *reader)
{
    int n = dwfl_module_getsymtab(reader->module);
    struct versions versions;
    find_versions(reader->elf, &versions);
    for (int i = 1; i < n; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name =
            dwfl_module_getsym_info(reader->module, i, &symbol, &address, NULL, NULL, NULL);
        if (!is_named(&symbol, name))
            continue;
        unsigned rank = rf_reader_rank(&symbol, name);
        if (is_hidden(reader, &versions, i, name))
            rank |= OLD;
        send_symbol(reader, &symbol, address, name, rank);
    }
}

/* A file that was not stripped, or has a debug file, has more than its dynamic symbols. */
static bool is_stripped(struct rf_reader *reader)
{
    struct versions versions;
    GElf_Sym symbol;
    find_versions(reader->elf, &versions);
    int n = dwfl_module_getsymtab(reader->module);
    return n <= 1 ||
           (versions.symbols != NULL && gelf_getsym(versions.symbols, n - 1, &symbol) != NULL);
}

/* What libdw has read stays until the child ends. */
static struct rf_reader *open_reader(const struct rf_job *job, struct rf_wire *wire)
{
    struct rf_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return NULL;
    reader->job = job;
    reader->wire = wire;
    reader->debug_path = (char *)job->debug_path;
    reader->callbacks = (Dwfl_Callbacks){
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = job->depth == RF_JOB_FULL ? dwfl_standard_find_debuginfo : no_debuginfo,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &reader->debug_path,
    };
    reader->is_open = open_module(reader);
    return reader;
}

void rf_reader_end(void *kept)
{
    struct rf_reader *reader = kept;
    if (reader == NULL)
        return;
    rf_reader_forget(reader);
    dwfl_end(reader->dwfl);
    free(reader);
}

void rf_reader_run(const struct rf_job *job, struct rf_wire *wire, void **kept)
{
    struct rf_reader *reader = *kept != NULL ? *kept : open_reader(job, wire);
    *kept = reader;
    if (reader == NULL || !reader->is_open)
        return;
    reader->job = job;
    if (job->table) {
        send_segments(reader);
        send_sections(reader);
        send_symbols(reader);
        rf_reader_plt(reader);
        if (is_stripped(reader))
            rf_reader_frames(reader);
        rf_wire_end(wire, true);
    }
    rf_reader_spots(reader);
    rf_reader_lines(reader);
    rf_reader_inlined(reader);
}
