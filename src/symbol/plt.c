/* plt.c - names for the stubs through which a program calls its libraries.
 *
 * A call of malloc from a program goes to a stub in .plt, .plt.sec or .plt.got that jumps through a
 * slot of the global offset table. No symbol names the stub; the relocation that fills the slot does:
 *
 *     stub:  [endbr64] [bnd] jmp *slot(%rip)   --slot-->   relocation   --symbol-->   "malloc@plt"
 *
 * The jump is found by its two opcode bytes ff 25 within the stub. A stub has 16 bytes, or 8 where the
 * section says so or is aligned to 8, as in static programs. In static programs a resolver function fills the
 * slots at start (memcmp for this processor). The resolver has the name, and the relocation has its address.
 * Only x86-64 files. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/error.h"
#include "base/order.h"
#include "symbol/reader.h"

struct slot {
    uint64_t address;
    const char *name; /* NULL: that of the function at `chooser` */
    uint64_t chooser;
    unsigned rank; /* of the name */
};

struct slots {
    struct slot *at;
    size_t n, room;
};

static void add_slot(struct slots *slots, struct slot slot)
{
    if (slots->n == slots->room) {
        size_t room = slots->room == 0 ? 256 : 2 * slots->room;
        struct slot *grown = realloc(slots->at, room * sizeof *grown);
        if (grown == NULL)
            return;
        slots->at = grown;
        slots->room = room;
    }
    slots->at[slots->n++] = slot;
}

static int by_slot(const void *left, const void *right)
{
    const struct slot *l = left, *r = right;
    return rf_order(l->address, r->address);
}

/* The slots that one section of relocations fills. */
static void read_relocations(struct rf_reader *reader, Elf_Scn *section, const GElf_Shdr *header,
                             struct slots *slots)
{
    Elf *elf = reader->elf;
    Elf_Scn *symbols = elf_getscn(elf, header->sh_link);
    GElf_Shdr symbol_header;
    Elf_Data *data = elf_getdata(section, NULL), *symbol_data = elf_getdata(symbols, NULL);
    if (data == NULL || symbol_data == NULL || header->sh_entsize == 0 ||
        gelf_getshdr(symbols, &symbol_header) == NULL)
        return;
    size_t n = data->d_size / header->sh_entsize;
    for (size_t i = 0; i < n && i < 1 << 20; i++) {
        GElf_Rela relocation;
        GElf_Sym symbol;
        if (gelf_getrela(data, (int)i, &relocation) == NULL)
            return;
        unsigned type = (unsigned)GELF_R_TYPE(relocation.r_info);
        if (type == R_X86_64_IRELATIVE)
            add_slot(slots, (struct slot){.address = relocation.r_offset,
                                          .chooser = (uint64_t)relocation.r_addend,
                                          .rank = UINT_MAX});
        if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
            continue;
        if (gelf_getsym(symbol_data, (int)GELF_R_SYM(relocation.r_info), &symbol) == NULL)
            continue;
        const char *name = elf_strptr(elf, symbol_header.sh_link, symbol.st_name);
        if (name != NULL && name[0] != '\0')
            add_slot(slots, (struct slot){.address = relocation.r_offset, .name = name});
    }
}

static int by_chooser(const void *left, const void *right)
{
    const struct slot *l = left, *r = right;
    return rf_order(l->chooser, r->chooser);
}

static bool chooses_below(const void *list, size_t i, uint64_t key)
{
    return ((const struct slot *)list)[i].chooser < key;
}

/* Name the slots whose function is `symbol`, where it has a better rank. */
static void offer_name(struct slots *slots, GElf_Addr address, unsigned rank, const char *name)
{
    size_t lo = rf_search(slots->at, slots->n, address, chooses_below);
    for (; lo < slots->n && slots->at[lo].chooser == address; lo++)
        if (rank < slots->at[lo].rank) {
            slots->at[lo].name = name;
            slots->at[lo].rank = rank;
        }
}

/* Names of the resolver functions. Slots with a name have rank 0 and keep it. */
static void name_choosers(struct rf_reader *reader, struct slots *slots)
{
    int n = dwfl_module_getsymtab(reader->module);
    qsort(slots->at, slots->n, sizeof *slots->at, by_chooser);
    for (int i = 1; i < n; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name =
            dwfl_module_getsym_info(reader->module, i, &symbol, &address, NULL, NULL, NULL);
        if (name != NULL && name[0] != '\0' && GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC)
            offer_name(slots, address, rf_reader_rank(&symbol, name), name);
    }
}

static const char *slot_of(const struct slots *slots, uint64_t address)
{
    struct slot key = {.address = address};
    const struct slot *found =
        slots->n > 0 ? bsearch(&key, slots->at, slots->n, sizeof key, by_slot) : NULL;
    return found != NULL ? found->name : NULL;
}

/* The slot that the stub of `n` bytes at `address` jumps through; 0: no such jump. */
static uint64_t jump_slot(const uint8_t *stub, size_t n, uint64_t address)
{
    for (size_t i = 0; i + 6 <= n; i++)
        if (stub[i] == 0xff && stub[i + 1] == 0x25)
            return address + i + 6 + (uint64_t)(int64_t)(int32_t)rf_load32(stub + i + 2);
    return 0;
}

static void send_stub(struct rf_reader *reader, uint64_t address, size_t size, const char *name)
{
    char readable[RF_WIRE_TEXT_MAX];
    rf_symbols_demangle(name, readable, sizeof readable - 4);
    size_t n = strcspn(readable, "@");
    memcpy(readable + n, "@plt", 5);
    const struct rf_symbol symbol = {
        .lo = address, .hi = address + size, .name = readable, .parameters = "", .rank = 128};
    rf_wire_symbol(reader->wire, &symbol);
}

static void read_stubs(struct rf_reader *reader, Elf_Scn *section, const GElf_Shdr *header,
                       const struct slots *slots)
{
    Elf_Data *data = elf_getdata(section, NULL);
    bool small = header->sh_entsize == 8 || (header->sh_entsize == 0 && header->sh_addralign == 8);
    size_t size = small ? 8 : 16;
    if (data == NULL || data->d_buf == NULL || header->sh_addr > UINT64_MAX - data->d_size)
        return;
    for (size_t at = 0; at + size <= data->d_size; at += size) {
        const uint8_t *stub = (const uint8_t *)data->d_buf + at;
        uint64_t slot = jump_slot(stub, size, header->sh_addr + at);
        const char *name = slot != 0 ? slot_of(slots, slot) : NULL;
        if (name != NULL)
            send_stub(reader, header->sh_addr + at, size, name);
    }
}

void rf_reader_plt(struct rf_reader *reader)
{
    GElf_Ehdr elf_header;
    GElf_Shdr header;
    struct slots slots = {NULL, 0, 0};
    size_t names = 0;
    if (gelf_getehdr(reader->elf, &elf_header) == NULL || elf_header.e_machine != EM_X86_64 ||
        elf_getshdrstrndx(reader->elf, &names) != 0)
        return;
    for (Elf_Scn *at = NULL; (at = elf_nextscn(reader->elf, at)) != NULL;)
        if (gelf_getshdr(at, &header) != NULL && header.sh_type == SHT_RELA)
            read_relocations(reader, at, &header, &slots);
    if (slots.n > 0) {
        name_choosers(reader, &slots);
        qsort(slots.at, slots.n, sizeof *slots.at, by_slot);
    }
    for (Elf_Scn *at = NULL; (at = elf_nextscn(reader->elf, at)) != NULL;) {
        const char *name =
            gelf_getshdr(at, &header) != NULL ? elf_strptr(reader->elf, names, header.sh_name) : "";
        if (name != NULL && strncmp(name, ".plt", 4) == 0 && header.sh_type == SHT_PROGBITS)
            read_stubs(reader, at, &header, &slots);
    }
    free(slots.at);
}
