/* told.c - what a profile tells: classes of records, and the selector of its tuples.
 *
 * A selector means the same in the core and natively. The file's patterns say which classes there are, the handler says what of
 * them: `T.OPCLASS == proc_call` for HotMethod_handler is `call -> target`, with backward branches it is
 * `branch,call,jump -> target`. An atomic is a load and a store, two events for whoever looks at both. */
#include "dise/told.h"
#include "base/error.h"
#include <riffle/event.h>
#include <riffle/selector.h>
#include <string.h>

#define BIT(n) (1u << (n))

enum {
    TRANSFERS = BIT(RF_DISE_CALL) | BIT(RF_DISE_RETURN) | BIT(RF_DISE_JUMP) | BIT(RF_DISE_BRANCH),
    REFERENCES = BIT(RF_DISE_LOAD) | BIT(RF_DISE_STORE) | BIT(RF_DISE_ATOMIC),
};

uint8_t rf_dise_record_classes(uint32_t classes)
{
    static const uint8_t to[RF_DISE_CLASSES] = {
        [RF_DISE_CALL] = BIT(RF_CLASS_CALL), [RF_DISE_RETURN] = BIT(RF_CLASS_RETURN),
        [RF_DISE_JUMP] = BIT(RF_CLASS_JUMP), [RF_DISE_BRANCH] = BIT(RF_CLASS_BRANCH),
        [RF_DISE_LOAD] = BIT(RF_CLASS_LOAD), [RF_DISE_STORE] = BIT(RF_CLASS_STORE),
        [RF_DISE_ALU] = BIT(RF_CLASS_ALU),   [RF_DISE_MULTIPLY] = BIT(RF_CLASS_ALU),
    };
    uint8_t out = 0;
    for (unsigned i = 0; i < RF_DISE_CLASSES; i++)
        out |= (classes >> i & 1) != 0 ? to[i] : 0;
    return out;
}

void rf_dise_write_selector(char *text, size_t size, uint8_t classes, int handler)
{
    struct rf_selector preset;
    char canonical[128];
    size_t n = 0;
    rf_selector_parse(&preset, rf_dise_handlers[handler].selector, NULL);
    rf_selector_print(&preset, canonical, sizeof canonical);
    for (unsigned kind = 0; kind < RF_CLASS_COUNT; kind++)
        if ((classes >> kind & 1) != 0)
            n += rf_format(text + n, size - n, "%s%s", n > 0 ? "," : "", rf_class_name(kind));
    rf_format(text + n, size - n, " %s", strstr(canonical, "->"));
}

int rf_dise_called_by(const struct rf_dise_program *program,
                      const struct rf_dise_production *production)
{
    if (production->sequence < 0)
        return -1;
    const struct rf_dise_sequence *sequence = &program->sequences[production->sequence];
    for (unsigned i = 0; i < sequence->n; i++)
        if (program->items[sequence->first + i].kind == RF_DISE_HANDLER)
            return program->items[sequence->first + i].handler;
    return -1;
}

/* Everything that the pattern matches. */
static uint32_t classes_of(const struct rf_dise_program *program,
                           const struct rf_dise_production *production)
{
    uint32_t classes = 0;
    for (unsigned i = 0; i < production->n_boxes; i++)
        classes |= program->boxes[production->first_box + i].classes;
    return classes;
}

static rf_status check_handler(const struct rf_dise_program *program,
                               const struct rf_dise_production *production, int handler,
                               struct rf_error *error)
{
    bool is_pair = rf_dise_handlers[handler].what == RF_DISE_PAIR;
    uint32_t allowed = is_pair ? TRANSFERS : REFERENCES;
    if ((classes_of(program, production) & ~allowed) == 0)
        return RF_OK;
    return rf_fail(error, RF_EINVAL,
                   "%s:%u:%u: %s is for %s; the pattern matches others, too: ask for T.OPCLASS",
                   program->file[production->place.file], production->place.line,
                   production->place.column, rf_dise_handlers[handler].name,
                   is_pair ? "calls, returns, jumps and branches" : "loads and stores");
}

rf_status rf_dise_find_told(struct rf_dise_program *program, unsigned profile,
                            struct rf_error *error)
{
    uint32_t classes = 0;
    rf_status status = RF_OK;
    bool any = false;
    for (unsigned i = 0; i < program->n_productions && status == RF_OK; i++) {
        const struct rf_dise_production *production = &program->productions[i];
        int handler = rf_dise_called_by(program, production);
        any |= production->profile == profile;
        if (production->profile != profile || handler < 0)
            continue;
        status = check_handler(program, production, handler, error);
        classes |= classes_of(program, production);
    }
    program->told[profile] = rf_dise_record_classes(classes);
    if (classes == BIT(RF_DISE_ATOMIC))
        program->told[profile] = BIT(RF_CLASS_LOAD) | BIT(RF_CLASS_STORE);
    if (status == RF_OK && !any)
        return rf_fail(error, RF_EINVAL, "%s:1:1: there is no production in it",
                       program->file[program->profile_file[profile]]);
    return status;
}
