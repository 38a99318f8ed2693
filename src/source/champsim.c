/* champsim.c - ChampSim's traces of instructions, unpacked (xz -dc): 64 bytes each, little-endian.
 *
 *     0  ip (8)    8  is_branch (1)   9  taken (1)   10  registers written (2)   12  registers read (4)
 *     16 addresses written (2 * 8)    32 addresses read (4 * 8)
 *
 * An address of 0 is none, and how wide an access is nobody says: 64 bits are assumed. By ChampSim's own rules an
 * instruction that writes the instruction pointer is a transfer, whatever is_branch says: the tracers of today's Pin leave
 * it 0 for calls and returns. What kind it is shows in its registers: 26 is the instruction pointer, 6 the stack pointer,
 * 25 the flags. Its target is the next instruction. The file has no mark to be told by.
 *
 * Departure: a call or jump that reads memory is indirect, also where it reads no register but the instruction pointer,
 * as calls through a table of addresses do. ChampSim takes those for direct ones.
 * Cannot: CloudSuite's traces, which have four registers and addresses written. */
#include "source/import.h"
#include "base/bytes.h"

enum { PIECE = 64, STACK = 6, FLAGS = 25, POINTER = 26, WIDTH = 64 };

struct champsim {
    struct rf_record transfer; /* waits for its target */
    bool waits;
};

static bool has(const char *registers, size_t n, char wanted)
{
    for (size_t i = 0; i < n; i++)
        if (registers[i] == wanted)
            return true;
    return false;
}

static void classify(const char *bytes, struct rf_record *record)
{
    const char *written = bytes + 10, *read = bytes + 12;
    bool reads_stack = has(read, 4, STACK), reads_pointer = has(read, 4, POINTER);
    bool reads_flags = has(read, 4, FLAGS), writes_stack = has(written, 2, STACK), other = false;
    for (size_t i = 0; i < 4; i++)
        other |= read[i] != 0 && read[i] != STACK && read[i] != FLAGS && read[i] != POINTER;
    bool loads = rf_load64(bytes + 32) != 0;
    if (reads_flags || (reads_pointer && other && !reads_stack && !writes_stack))
        record->kind = RF_CLASS_BRANCH;
    else if (reads_stack && writes_stack)
        record->kind = reads_pointer ? RF_CLASS_CALL : RF_CLASS_RETURN;
    else
        record->kind = RF_CLASS_JUMP;
    if ((other || loads) && (record->kind == RF_CLASS_CALL || record->kind == RF_CLASS_JUMP))
        record->flags |= RF_RECORD_INDIRECT;
}

static void put_accesses(struct rf_import *import, uint64_t pc, enum rf_class kind,
                         const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t address = rf_load64(bytes + 8 * i);
        if (address != 0)
            rf_import_put(
                import,
                &(struct rf_record){
                    .pc = pc, .addr = address, .width = WIDTH, .thread = 1, .kind = (uint8_t)kind});
    }
}

static rf_status take(struct rf_import *import, const char *bytes, size_t n, struct rf_error *error)
{
    struct champsim *sim = rf_import_state(import);
    uint64_t pc = rf_load64(bytes);
    if ((unsigned char)bytes[8] > 1 || (unsigned char)bytes[9] > 1)
        return rf_import_refuse(import,
                                "an instruction of ChampSim says 0 or 1 for 'branch' and 'taken'",
                                bytes, n, error);
    if (sim->waits) {
        sim->transfer.target = pc;
        rf_import_put(import, &sim->transfer);
    }
    rf_import_put(import, &(struct rf_record){.pc = pc, .thread = 1, .kind = RF_CLASS_INSN});
    put_accesses(import, pc, RF_CLASS_LOAD, bytes + 32, 4);
    put_accesses(import, pc, RF_CLASS_STORE, bytes + 16, 2);
    sim->waits = bytes[8] != 0 || has(bytes + 10, 2, POINTER);
    sim->transfer = (struct rf_record){.pc = pc, .thread = 1};
    if (sim->waits)
        classify(bytes, &sim->transfer);
    if (sim->transfer.kind == RF_CLASS_BRANCH && bytes[9] != 0)
        sim->transfer.flags |= RF_RECORD_TAKEN;
    return RF_OK;
}

static const struct rf_import_ops ops = {.name = "champsim",
                                         .unknown = RF_IMPORT_UNTIMED,
                                         .piece = PIECE,
                                         .state_size = sizeof(struct champsim),
                                         .take = take};

const struct rf_source_format rf_source_champsim = {.name = "champsim", .import = &ops};
