/* transistors.c - how large the co-processor is, like the paper's table of structures.
 *
 * The text of the paper that we have lost the numbers of its table, but for the sum: half a million. We count cells: 6 transistors for a bit of memory with one port, 2 more for each further port, 10
 * for a bit that compares itself; decoders, sense amplifiers and drivers add a tenth. Logic is counted in
 * adders and multiplexers of 28 and 6 transistors per bit. */
#include <riffle/coproc.h>
#include "coproc/program.h"

enum { CELL = 6, PORT = 2, COMPARING = 10, ADDER = 28, MULTIPLEXER = 6 };

static uint64_t memory(uint64_t bits, unsigned ports)
{
    return bits * (CELL + PORT * (ports - 1)) * 11 / 10;
}

/* Two alus, the shifter, the saturating logic, the branch unit with its predictor, two pipeline latches. */
static uint64_t datapath(void)
{
    uint64_t alus = (32 + RF_MICRO_INDEX_BITS) * (3 * ADDER + 8 * MULTIPLEXER);
    uint64_t read_write = 32 * (2 * ADDER + 8 * MULTIPLEXER); /* the data array's own */
    uint64_t latches = 2 * 96 * 16;
    return alus + read_write + latches + 8 * 200;
}

/* Each field selects 32 bits out of 64 at any of 64 places; two words are hashed byte by byte. */
static uint64_t extractor(void)
{
    return (uint64_t)RF_MICRO_FIELDS * 32 * 6 * MULTIPLEXER + 16 * 256 * 8 + 128 * MULTIPLEXER;
}

size_t rf_coproc_cost(unsigned size, struct rf_coproc_part *parts)
{
    uint64_t words = UINT64_C(128) << size;
    const struct rf_coproc_part all[RF_COPROC_PARTS] = {
        {"pc filter table", 16384, 1, memory(16384, 1)},
        {"sample buffer", 8192, 2, memory(8192, 2)},
        {"microcode array", RF_MICRO_WORDS * 96, 1, memory(RF_MICRO_WORDS * 96, 1)},
        {"branch predictor", RF_MICRO_WORDS * 2, 2, memory(RF_MICRO_WORDS * 2, 2)},
        {"associative array", words * 33, 1, words * 33 * COMPARING * 11 / 10},
        {"data array", 2 * words * 32, 1, memory(2 * words * 32, 1)},
        {"value registers", RF_MICRO_VALUES * 32, 6, memory(RF_MICRO_VALUES * 32, 6)},
        {"index registers", RF_MICRO_INDEXES * RF_MICRO_INDEX_BITS, 8,
         memory(RF_MICRO_INDEXES * RF_MICRO_INDEX_BITS, 8)},
        {"constant registers", RF_MICRO_CONSTANTS * 32, 5, memory(RF_MICRO_CONSTANTS * 32, 5)},
        {"base registers", RF_MICRO_BASES * 20, 2, memory(RF_MICRO_BASES * 20, 2)},
        {"branch targets", RF_MICRO_TARGETS * 8, 1, memory(RF_MICRO_TARGETS * 8, 1)},
        {"decoder, extractor", 0, 0, extractor()},
        {"alus, branches, latches", 0, 0, datapath()},
    };
    for (size_t i = 0; i < RF_COPROC_PARTS; i++)
        parts[i] = all[i];
    return RF_COPROC_PARTS;
}
