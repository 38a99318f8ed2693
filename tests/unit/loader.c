/* The loader on files that were made to harm it, and the core on what they bring. */
#include "machine/linux/loader.h"
#include "test.h"
#include <elf.h>

enum { CODE_AT = 0x10000, FILE_SIZE = 256 };

/* A program of one segment: a jump to itself. */
struct file {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    uint32_t code[(FILE_SIZE - sizeof(Elf64_Ehdr) - sizeof(Elf64_Phdr)) / 4];
};

static struct file make_file(void)
{
    struct file file = {.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                                   .e_type = ET_EXEC,
                                   .e_machine = 243,
                                   .e_entry = CODE_AT + offsetof(struct file, code),
                                   .e_phoff = offsetof(struct file, segment),
                                   .e_phentsize = sizeof(Elf64_Phdr),
                                   .e_phnum = 1},
                        .segment = {.p_type = PT_LOAD,
                                    .p_flags = PF_R | PF_X,
                                    .p_vaddr = CODE_AT,
                                    .p_filesz = sizeof(struct file),
                                    .p_memsz = sizeof(struct file)}};
    file.code[0] = 0x0000006f;
    return file;
}

/* Load it, start it, run a little; whatever the file holds, that must end. */
static rf_status try_file(const void *file, size_t size, struct rf_error *error)
{
    static const char *const arguments[] = {"program", NULL}, *const nothing[] = {NULL};
    struct rf_core core;
    struct rf_loader_program program;
    if (rf_core_open(&core, NULL, error) != RF_OK)
        return RF_ENOMEM;
    rf_status status = rf_loader_load(&core.memory, &program, file, size, "file", error);
    if (status == RF_OK)
        status = rf_loader_start(&core, &program, arguments, nothing, error);
    if (status == RF_OK) {
        core.budget = 1000;
        rf_core_run(&core);
    }
    rf_core_close(&core);
    return status;
}

TEST(a_whole_file_runs)
{
    struct rf_error error = {""};
    struct file file = make_file();
    CHECK_EQ(sizeof file, FILE_SIZE);
    CHECK_EQ(try_file(&file, sizeof file, &error), RF_OK);
}

TEST(what_makes_no_sense_is_refused_with_a_sentence)
{
    enum { HEADER = 0, PHDR = offsetof(struct file, segment) };
    static const struct {
        const char *name;
        size_t at, size;
        uint64_t value;
        const char *said;
    } rows[] = {
        {"magic", HEADER + 1, 1, 'X', "not an ELF file"},
        {"32 bits", HEADER + EI_CLASS, 1, ELFCLASS32, "not a 64-bit RISC-V program"},
        {"another machine", HEADER + offsetof(Elf64_Ehdr, e_machine), 2, EM_X86_64,
         "not a 64-bit RISC-V program"},
        {"position independent", HEADER + offsetof(Elf64_Ehdr, e_type), 2, ET_DYN,
         "build with -static"},
        {"headers behind the end", HEADER + offsetof(Elf64_Ehdr, e_phoff), 8, 250,
         "program headers are damaged"},
        {"headers far away", HEADER + offsetof(Elf64_Ehdr, e_phoff), 8, UINT64_MAX - 8,
         "program headers are damaged"},
        {"too many headers", HEADER + offsetof(Elf64_Ehdr, e_phnum), 2, 0xffff,
         "program headers are damaged"},
        {"no headers", HEADER + offsetof(Elf64_Ehdr, e_phnum), 2, 0, "nothing in it to load"},
        {"interpreter", PHDR + offsetof(Elf64_Phdr, p_type), 4, PT_INTERP, "dynamically linked"},
        {"offset", PHDR + offsetof(Elf64_Phdr, p_offset), 8, UINT64_MAX - 3,
         "past the end of the file"},
        {"size in file", PHDR + offsetof(Elf64_Phdr, p_filesz), 8, 257, "past the end of the file"},
        {"smaller in memory", PHDR + offsetof(Elf64_Phdr, p_memsz), 8, 16,
         "past the end of the file"},
        {"larger than the space", PHDR + offsetof(Elf64_Phdr, p_memsz), 8, UINT64_MAX,
         "does not fit"},
        {"at zero", PHDR + offsetof(Elf64_Phdr, p_vaddr), 8, 0, "does not fit"},
        {"at the end of the space", PHDR + offsetof(Elf64_Phdr, p_vaddr), 8, 0xffffffff,
         "does not fit"},
        {"wraps around", PHDR + offsetof(Elf64_Phdr, p_vaddr), 8, UINT64_MAX - 15, "does not fit"},
        {"over the stack", PHDR + offsetof(Elf64_Phdr, p_vaddr), 8, 0xefffff00, "does not fit"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_error error = {""};
        struct file file = make_file();
        memcpy((char *)&file + rows[i].at, &rows[i].value, rows[i].size);
        CHECK_ROW(rows[i].name, try_file(&file, sizeof file, &error) == RF_EINVAL);
        CHECK_ROW(rows[i].name, strstr(error.message, rows[i].said) != NULL);
    }
}

TEST(cut_files_are_refused)
{
    struct file file = make_file();
    for (size_t size = 0; size < sizeof file; size++) {
        struct rf_error error = {""};
        uint8_t *exact = malloc(size + 1); /* so that a byte too far is found out */
        memcpy(exact, &file, size);
        CHECK_EQ(try_file(exact, size, &error), RF_EINVAL);
        CHECK(error.message[0] != '\0');
        free(exact);
    }
}

TEST(flipped_bits_end_somehow)
{
    size_t loaded = 0, refused = 0;
    for (size_t bit = 0; bit < 8 * (sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + 8); bit++) {
        struct rf_error error = {""};
        struct file file = make_file();
        ((uint8_t *)&file)[bit / 8] ^= (uint8_t)(1u << bit % 8);
        rf_status status = try_file(&file, sizeof file, &error);
        CHECK(status == RF_OK || error.message[0] != '\0');
        loaded += status == RF_OK;
        refused += status != RF_OK;
    }
    CHECK(loaded > 100 && refused > 100); /* both ways are taken */
}

TEST(arguments_that_do_not_fit_are_refused)
{
    struct rf_error error = {""};
    struct file file = make_file();
    size_t size = 8 << 20;
    char *large = malloc(size);
    memset(large, 'x', size);
    large[size - 1] = '\0';
    const char *const arguments[] = {large, NULL}, *const nothing[] = {NULL};
    struct rf_core core;
    struct rf_loader_program program;
    REQUIRE(rf_core_open(&core, NULL, &error) == RF_OK);
    CHECK_EQ(rf_loader_load(&core.memory, &program, &file, sizeof file, "file", &error), RF_OK);
    CHECK_EQ(rf_loader_start(&core, &program, arguments, nothing, &error), RF_EINVAL);
    CHECK(strstr(error.message, "do not fit the stack") != NULL);
    rf_core_close(&core);
    free(large);
}

TEST_MAIN()
