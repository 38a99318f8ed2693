/* frames.c - where functions begin that have no symbol. Runs in the child.
 *
 * A stripped program still has what is needed to unwind its stack. A table in .eh_frame_hdr has the address of every function,
 * and for each of them where .eh_frame describes it:
 *
 *     .eh_frame_hdr   version, encodings (4 bytes)  .eh_frame (4)  n (4)  n times: begin (4) description (4), from here
 *     description     length (4)  which CIE (4)  begin (4), from itself  size (4)  ...
 *
 * That is how GNU ld, gold, lld and mold write them; tables in another form are left alone. Such a function gets the name
 * "function at 0x1234" and the worst rank, so that every symbol at its address goes before it. Where a symbol covers it,
 * table.c drops it. */
#include <string.h>
#include "base/bytes.h"
#include "base/error.h"
#include "symbol/reader.h"

enum {
    HEAD = 12,
    ENTRY = 8,
    FUNCTIONS_MAX = 1 << 20,
    VERSION = 1,
    DATA_4 = 0x3b,   /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */
    NUMBER_4 = 0x03, /* DW_EH_PE_udata4 */
};

struct part {
    GElf_Addr address;
    const uint8_t *bytes;
    size_t n;
};

static bool find_part(struct rf_reader *reader, const char *wanted, struct part *part)
{
    size_t names = 0;
    GElf_Shdr header;
    if (elf_getshdrstrndx(reader->elf, &names) != 0)
        return false;
    for (Elf_Scn *at = NULL; (at = elf_nextscn(reader->elf, at)) != NULL;) {
        const char *name =
            gelf_getshdr(at, &header) != NULL ? elf_strptr(reader->elf, names, header.sh_name) : "";
        if (name == NULL || strcmp(name, wanted) != 0 || header.sh_type == SHT_NOBITS)
            continue;
        Elf_Data *data = elf_rawdata(at, NULL);
        if (data == NULL || data->d_buf == NULL)
            return false;
        *part = (struct part){header.sh_addr, data->d_buf, data->d_size};
        return true;
    }
    return false;
}

static uint64_t signed_at(const uint8_t *bytes)
{
    return (uint64_t)(int64_t)(int32_t)rf_load32(bytes);
}

/* The size that the description at `address` tells; 0: it is not of this function, or in another form. */
static uint64_t size_of(const struct part *frames, uint64_t address, uint64_t begin)
{
    enum { BEGIN = 8, SIZE = 12, END = 16 };
    uint64_t at = address - frames->address;
    if (at > frames->n || frames->n - at < END)
        return 0;
    const uint8_t *description = frames->bytes + at;
    bool is_its = address + BEGIN + signed_at(description + BEGIN) == begin;
    return is_its ? rf_load32(description + SIZE) : 0;
}

/* Stubs of the PLT have one description for all of them, and names of their own. */
static bool is_stub(struct rf_reader *reader, uint64_t address)
{
    struct part stubs;
    static const char *const names[] = {".plt", ".plt.sec", ".plt.got"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (find_part(reader, names[i], &stubs) && address - stubs.address < stubs.n)
            return true;
    return false;
}

static void send_function(struct rf_reader *reader, uint64_t begin, uint64_t size)
{
    char name[64];
    struct rf_symbol symbol = {.lo = begin, .hi = begin + size, .name = name, .parameters = ""};
    symbol.rank = RF_RANK_NAMELESS;
    rf_format(name, sizeof name, "function at 0x%llx", (unsigned long long)begin);
    if (size > 0 && symbol.hi > begin)
        rf_wire_symbol(reader->wire, &symbol);
}

void rf_reader_frames(struct rf_reader *reader)
{
    struct part table, frames;
    if (!find_part(reader, ".eh_frame_hdr", &table) || !find_part(reader, ".eh_frame", &frames) ||
        table.n < HEAD || table.bytes[0] != VERSION || table.bytes[2] != NUMBER_4 ||
        table.bytes[3] != DATA_4)
        return;
    size_t n = rf_load32(table.bytes + 8), most = (table.n - HEAD) / ENTRY;
    for (size_t i = 0; i < n && i < most && i < FUNCTIONS_MAX; i++) {
        const uint8_t *entry = table.bytes + HEAD + i * ENTRY;
        uint64_t begin = table.address + signed_at(entry);
        uint64_t size = size_of(&frames, table.address + signed_at(entry + 4), begin);
        if (size > 0 && !is_stub(reader, begin))
            send_function(reader, begin, size);
    }
}
