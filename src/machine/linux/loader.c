/* loader.c - ELF segments and the initial stack.
 *
 * The file is not trusted: every offset and size is checked against the file and the address space before it is
 * used. What a hostile program does once it runs, the core and the rights of pages keep in bounds.
 *
 *     stack top  | strings | random bytes | auxv | envp | argv | argc |  <- sp, 16-byte aligned
 *                                                                     grows down               */
#include "machine/linux/loader.h"
#include "base/error.h"
#include <elf.h>
#include <string.h>

enum { MACHINE_RISCV = 243, SEGMENTS_MAX = 64 };
static const uint64_t STACK_SIZE = 8 << 20;

static rf_status refuse(struct rf_error *error, const char *name, const char *why)
{
    return rf_fail(error, RF_EINVAL, "%s: %s", name, why);
}

static rf_status check_header(const Elf64_Ehdr *header, size_t size, const char *name,
                              struct rf_error *error)
{
    if (size < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return refuse(error, name, "not an ELF file");
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
        header->e_machine != MACHINE_RISCV)
        return refuse(error, name, "not a 64-bit RISC-V program");
    if (header->e_type != ET_EXEC)
        return refuse(error, name, "not statically linked at a fixed address (build with -static)");
    if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum > SEGMENTS_MAX ||
        header->e_phoff > size || size - header->e_phoff < header->e_phnum * sizeof(Elf64_Phdr))
        return refuse(error, name, "its program headers are damaged");
    return RF_OK;
}

static unsigned rights_of(uint32_t flags)
{
    return ((flags & PF_R) != 0 ? (unsigned)RF_READ : 0) |
           ((flags & PF_W) != 0 ? (unsigned)RF_WRITE : 0) |
           ((flags & PF_X) != 0 ? (unsigned)RF_EXECUTE : 0);
}

static rf_status load_segment(struct rf_memory *memory, const Elf64_Phdr *segment,
                              const uint8_t *file, size_t size, const char *name,
                              struct rf_error *error)
{
    if (segment->p_filesz > segment->p_memsz || segment->p_offset > size ||
        size - segment->p_offset < segment->p_filesz)
        return refuse(error, name, "a segment reaches past the end of the file");
    if (!rf_memory_map(memory, segment->p_vaddr, segment->p_memsz, rights_of(segment->p_flags)) ||
        segment->p_vaddr + segment->p_memsz > RF_PROGRAM_END - STACK_SIZE)
        return refuse(error, name, "a segment does not fit into the address space");
    memcpy(memory->bytes + segment->p_vaddr, file + segment->p_offset, segment->p_filesz);
    return RF_OK;
}

static void note_segment(struct rf_loader_program *program, const Elf64_Phdr *segment,
                         uint64_t headers)
{
    uint64_t end = segment->p_vaddr + segment->p_memsz;
    if (headers >= segment->p_offset && headers - segment->p_offset < segment->p_filesz)
        program->headers = segment->p_vaddr + (headers - segment->p_offset);
    if ((segment->p_flags & PF_X) != 0 && program->n_code < RF_LOADER_SEGMENTS)
        program->code[program->n_code++] = (struct rf_module){.start = segment->p_vaddr,
                                                              .end = end,
                                                              .offset = segment->p_offset,
                                                              .to_event = UINT64_MAX};
    if (end > program->end)
        program->end = end;
}

rf_status rf_loader_load(struct rf_memory *memory, struct rf_loader_program *program,
                         const void *file, size_t size, const char *name, struct rf_error *error)
{
    Elf64_Ehdr header;
    if (size < sizeof header)
        return refuse(error, name, "not an ELF file");
    memcpy(&header, file, sizeof header);
    rf_status status = check_header(&header, size, name, error);
    *program = (struct rf_loader_program){.entry = header.e_entry, .n_headers = header.e_phnum};
    for (unsigned i = 0; status == RF_OK && i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, (const uint8_t *)file + header.e_phoff + i * sizeof segment,
               sizeof segment);
        if (segment.p_type == PT_INTERP)
            return refuse(error, name, "dynamically linked (build with -static)");
        if (segment.p_type != PT_LOAD || segment.p_memsz == 0)
            continue;
        status = load_segment(memory, &segment, file, size, name, error);
        if (status != RF_OK)
            return status;
        note_segment(program, &segment, header.e_phoff);
    }
    if (status == RF_OK && program->end == 0)
        return refuse(error, name, "nothing in it to load");
    return status;
}

/* The stack while it is built, from the top down. */
struct stack {
    struct rf_memory *memory;
    uint64_t sp;
    uint64_t bottom;
};

static bool push(struct stack *stack, const void *bytes, size_t n)
{
    if (stack->sp - stack->bottom < n)
        return false;
    stack->sp -= n;
    memcpy(stack->memory->bytes + stack->sp, bytes, n);
    return true;
}

static bool push_word(struct stack *stack, uint64_t word)
{
    return push(stack, &word, sizeof word);
}

static size_t list_length(const char *const *list)
{
    size_t n = 0;
    while (list[n] != NULL)
        n++;
    return n;
}

static bool push_strings(struct stack *stack, const char *const *list)
{
    for (size_t i = list_length(list); i > 0; i--)
        if (!push(stack, list[i - 1], strlen(list[i - 1]) + 1))
            return false;
    return true;
}

/* Pointers to the strings that follow one another from `at` on, and a NULL. */
static bool push_pointers(struct stack *stack, const char *const *list, uint64_t at)
{
    size_t n = list_length(list);
    uint64_t end = at;
    for (size_t i = 0; i < n; i++)
        end += strlen(list[i]) + 1;
    if (!push_word(stack, 0))
        return false;
    for (size_t i = n; i > 0; i--) {
        end -= strlen(list[i - 1]) + 1;
        if (!push_word(stack, end))
            return false;
    }
    return true;
}

static bool push_auxv(struct stack *stack, const struct rf_loader_program *program, uint64_t random)
{
    const uint64_t auxv[][2] = {
        {AT_NULL, 0},
        {AT_RANDOM, random},
        {AT_SECURE, 0},
        {AT_EGID, 1000},
        {AT_GID, 1000},
        {AT_EUID, 1000},
        {AT_UID, 1000},
        {AT_CLKTCK, 100},
        {AT_ENTRY, program->entry},
        {AT_PAGESZ, RF_PAGE},
        {AT_PHNUM, program->n_headers},
        {AT_PHENT, sizeof(Elf64_Phdr)},
        {AT_PHDR, program->headers},
    };
    for (size_t i = 0; i < sizeof auxv / sizeof *auxv; i++)
        if (!push_word(stack, auxv[i][1]) || !push_word(stack, auxv[i][0]))
            return false;
    return true;
}

rf_status rf_loader_start(struct rf_core *core, const struct rf_loader_program *program,
                          const char *const *arguments, const char *const *environment,
                          struct rf_error *error)
{
    static const char random[16] = "riffle's random";
    struct stack stack = {&core->memory, RF_PROGRAM_END, RF_PROGRAM_END - STACK_SIZE + (1 << 20)};
    size_t argc = list_length(arguments), words = argc + list_length(environment) + 3;
    if (!rf_memory_map(&core->memory, RF_PROGRAM_END - STACK_SIZE, STACK_SIZE, RF_READ | RF_WRITE))
        return rf_fail(error, RF_EINVAL, "no room for the stack");
    bool fits = push_strings(&stack, environment);
    uint64_t environment_at = stack.sp;
    fits = fits && push_strings(&stack, arguments);
    uint64_t arguments_at = stack.sp;
    fits = fits && push(&stack, random, sizeof random);
    uint64_t random_at = stack.sp;
    stack.sp &= ~UINT64_C(15);
    if (words % 2 != 0) /* sp has to end up a multiple of 16 */
        fits = fits && push_word(&stack, 0);
    fits = fits && push_auxv(&stack, program, random_at) &&
           push_pointers(&stack, environment, environment_at) &&
           push_pointers(&stack, arguments, arguments_at) && push_word(&stack, argc);
    if (!fits)
        return rf_fail(error, RF_EINVAL, "the arguments and the environment do not fit the stack");
    core->x[2] = stack.sp;
    core->pc = program->entry;
    return RF_OK;
}
