/* lackey.c - what valgrind --tool=lackey --trace-mem=yes prints.
 *
 *     I  04001090,3        an instruction: address, bytes
 *      L 1ffeffe7e0,8      it loads: address, bytes
 *      S 1ffeffe7d8,8      stores
 *      M 0421d7bc,4        loads and stores
 *
 * Lines that begin with == or -- are Valgrind's own and are skipped. Empty lines, too. */
#include "source/import.h"

struct lackey {
    uint64_t pc;
};

/* " 04001090,3" */
static bool scan(const char *p, uint64_t *address, uint64_t *bytes)
{
    rf_import_skip_blanks(&p);
    return rf_import_hex(&p, address) && *p++ == ',' && rf_import_decimal(&p, bytes) &&
           *p == '\0' && *bytes > 0 && *bytes <= UINT16_MAX / 8;
}

static void put_access(struct rf_import *import, enum rf_class kind, uint64_t address,
                       uint64_t bytes)
{
    const struct lackey *lackey = rf_import_state(import);
    rf_import_put(import, &(struct rf_record){.pc = lackey->pc,
                                              .addr = address,
                                              .width = (uint16_t)(8 * bytes),
                                              .thread = 1,
                                              .kind = (uint8_t)kind});
}

static rf_status take(struct rf_import *import, const char *line, size_t n, struct rf_error *error)
{
    struct lackey *lackey = rf_import_state(import);
    uint64_t address, bytes;
    if (n == 0 || (line[0] == '=' && line[1] == '=') || (line[0] == '-' && line[1] == '-'))
        return RF_OK;
    char kind = line[0] == ' ' ? line[1] : line[0];
    bool right = (line[0] == 'I' && line[1] == ' ') ||
                 (line[0] == ' ' && (kind == 'L' || kind == 'S' || kind == 'M') && line[2] == ' ');
    if (!right || !scan(line + 2, &address, &bytes))
        return rf_import_refuse(import, "a line of lackey, such as ' L 1ffe,8'", line, n, error);
    if (kind == 'I') {
        lackey->pc = address;
        rf_import_put(import,
                      &(struct rf_record){.pc = address, .thread = 1, .kind = RF_CLASS_INSN});
    }
    if (kind == 'L' || kind == 'M')
        put_access(import, RF_CLASS_LOAD, address, bytes);
    if (kind == 'S' || kind == 'M')
        put_access(import, RF_CLASS_STORE, address, bytes);
    return RF_OK;
}

static const struct rf_import_ops ops = {.name = "lackey",
                                         .unknown = RF_IMPORT_UNTIMED,
                                         .state_size = sizeof(struct lackey),
                                         .take = take};

static bool is_lackey(const struct rf_source_input *input)
{
    const unsigned char *head = input->head;
    if (input->n_head < 4)
        return false;
    bool access = head[0] == ' ' && (head[1] == 'L' || head[1] == 'S' || head[1] == 'M');
    return (head[0] == '=' && head[1] == '=') ||
           (head[0] == 'I' && head[1] == ' ' && head[2] == ' ') || (access && head[2] == ' ');
}

const struct rf_source_format rf_source_lackey = {
    .name = "lackey", .is = is_lackey, .import = &ops};
