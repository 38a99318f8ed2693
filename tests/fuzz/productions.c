/* Any text as productions: refused with a sentence that names line and column, or understood; what is
 * understood matches instructions without a tie. */
#include "fuzz.h"
#include "dise/production.h"
#include <string.h>

static struct rf_dise_program program;

/* Of the productions with a replacement that match, one is within all the others. */
static void check_winner(const struct rf_dise_facts *facts, uint32_t flags)
{
    const struct rf_dise_production *best = NULL;
    for (unsigned i = 0; i < program.n_productions; i++) {
        const struct rf_dise_production *production = &program.productions[i];
        bool matches = false;
        for (unsigned k = 0; k < production->n_boxes; k++) {
            const struct rf_dise_box *box = &program.boxes[production->first_box + k];
            matches |= rf_dise_box_matches(box, facts) && rf_dise_box_enabled(box, flags);
        }
        if (!matches || production->sequence < 0)
            continue;
        PROMISE(best == NULL || rf_dise_is_within(&program, best, production) !=
                                    rf_dise_is_within(&program, production, best));
        if (best == NULL || rf_dise_is_within(&program, production, best))
            best = production;
    }
}

/* False: it was refused. */
static bool reads(const uint8_t *bytes, size_t n, bool native)
{
    struct rf_error error = {""};
    memset(&program, 0, sizeof program);
    program.native = native;
    if (rf_dise_read_text(&program, "text", (const char *)bytes, n, &error) == RF_OK)
        return true;
    PROMISE(strncmp(error.message, "text:", 5) == 0);
    return false;
}

/* Opcodes of x86-64 as loads: mov, ret, call by group, movzx. */
static void check_native(void)
{
    static const int64_t opcodes[] = {0x8b << 3, 0xc3 << 3, 0xff << 3 | 2, 0x0fb6 << 3 | 7};
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        struct rf_dise_facts facts = {.opclass = RF_DISE_LOAD};
        facts.has = 1 << RF_DISE_OPCODE | 1 << RF_DISE_PC;
        facts.value[RF_DISE_OPCODE] = RF_DISE_X86 + opcodes[i];
        facts.value[RF_DISE_PC] = 0x1000;
        check_winner(&facts, 0);
        check_winner(&facts, UINT32_MAX);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const uint32_t words[] = {0x008000ef, 0xffdff06f, 0x000500e7, 0xfeb51ee3,
                                     0x00853503, 0xfea53c23, 0x00a5b52f, 0x00150513};
    if (reads(bytes, n, true))
        check_native();
    if (!reads(bytes, n, false))
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct rf_insn insn = rf_insn_decode(words[i]);
        struct rf_dise_facts facts = rf_dise_facts(&insn, 0x1000);
        check_winner(&facts, 0);
        check_winner(&facts, UINT32_MAX);
    }
    return 0;
}
