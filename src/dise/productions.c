/* productions.c - profiles read from files, and what is set for them. */
#include "dise/productions.h"
#include "dise/told.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/units.h"
#include "base/text.h"
#include <string.h>

rf_status rf_productions_open(struct rf_productions **opened, const struct rf_alloc *alloc)
{
    const struct rf_alloc *from = rf_alloc_or_standard(alloc);
    struct rf_productions *productions = *opened = rf_alloc_get(from, sizeof *productions);
    if (productions == NULL)
        return RF_ENOMEM;
    memset(productions, 0, sizeof *productions);
    productions->alloc = *from;
    return RF_OK;
}

void rf_productions_close(struct rf_productions *productions)
{
    if (productions != NULL)
        rf_alloc_free(&productions->alloc, productions, sizeof *productions);
}

rf_status rf_dise_complete(struct rf_productions *productions, struct rf_error *error)
{
    struct rf_dise_program *program = &productions->program;
    unsigned profile = program->n_profiles - 1;
    int handler = rf_dise_handler_of(program, profile);
    rf_status status = rf_dise_find_told(program, profile, error);
    if (status == RF_OK && handler >= 0)
        rf_dise_write_selector(productions->selectors[profile],
                               sizeof productions->selectors[profile], program->told[profile],
                               handler);
    return status;
}

rf_status rf_productions_read(struct rf_productions *productions, const char *path,
                              struct rf_error *error)
{
    rf_status status = rf_dise_read(&productions->program, path, error);
    return status == RF_OK ? rf_dise_complete(productions, error) : status;
}

void rf_productions_resolve(struct rf_productions *productions,
                            size_t (*resolve)(void *context, const char *name, uint64_t *address),
                            void *context)
{
    productions->program.resolve = resolve;
    productions->program.resolve_context = context;
}

static size_t note_function(void *context, const char *name, uint64_t *address)
{
    struct rf_productions *productions = context;
    size_t i = 0;
    while (i < productions->n_functions && strcmp(productions->functions[i], name) != 0)
        i++;
    if (i == RF_DISE_FUNCTIONS)
        return RF_DISE_NO_ROOM;
    if (i == productions->n_functions)
        rf_format(productions->functions[productions->n_functions++], RF_DISE_FUNCTION, "%s", name);
    *address = RF_DISE_FUNCTION_AT(i);
    return 1;
}

void rf_productions_resolve_later(struct rf_productions *productions)
{
    rf_productions_resolve(productions, note_function, productions);
    productions->program.native = true;
}

/* Kept in order of time; those of the same time in the order in which they were given. */
static void add_change(struct rf_productions *productions, uint64_t at, const char *text, size_t n)
{
    size_t i = productions->n_changes++;
    for (; i > 0 && productions->changes[i - 1].at > at; i--)
        productions->changes[i] = productions->changes[i - 1];
    productions->changes[i].at = at;
    memcpy(productions->changes[i].text, text, n);
    productions->changes[i].text[n] = '\0';
}

/* Try it: which registers `text` names, and their values; all are as they were afterwards. */
static rf_status try_out(struct rf_productions *productions, const char *text, uint32_t *which,
                         struct rf_dise_register *values, struct rf_error *error)
{
    struct rf_dise_register before[RF_DISE_REGISTERS];
    struct rf_dise_register *registers = productions->program.registers;
    memcpy(before, registers, sizeof before);
    rf_status status = rf_dise_assign(&productions->program, text, which, error);
    memcpy(values, registers, sizeof before);
    memcpy(registers, before, sizeof before);
    return status;
}

static void add_new_values(struct rf_productions *productions, uint32_t which,
                           const struct rf_dise_register *values)
{
    for (unsigned i = 0; i < RF_DISE_REGISTERS; i++)
        if ((which >> i & 1) != 0)
            productions->new_values[i] = values[i];
    productions->new_mask |= which;
}

/* `name=value@N` or `name=value@new` */
static rf_status set_later(struct rf_productions *productions, const char *text, const char *when,
                           struct rf_error *error)
{
    struct rf_dise_register values[RF_DISE_REGISTERS];
    char first[RF_DISE_CHANGE_TEXT];
    uint64_t at = 0;
    uint32_t which = 0;
    size_t n = (size_t)(when - text);
    bool is_new = strcmp(when, "@new") == 0;
    if (!is_new && rf_units_count(when + 1, strlen(when + 1), &at) != RF_OK)
        return rf_fail(error, RF_EINVAL,
                       "expected a number of instructions, or new, behind '@', got '%s'", when + 1);
    if (n >= sizeof first || productions->n_changes == RF_DISE_CHANGES)
        return rf_fail(error, RF_EINVAL, "at most %d changes, of %d characters each",
                       RF_DISE_CHANGES, RF_DISE_CHANGE_TEXT - 1);
    memcpy(first, text, n);
    first[n] = '\0';
    rf_status status = try_out(productions, first, &which, values, error);
    if (status == RF_OK && is_new)
        add_new_values(productions, which, values);
    else if (status == RF_OK)
        add_change(productions, at, text, n);
    return status;
}

rf_status rf_productions_set(struct rf_productions *productions, const char *text,
                             struct rf_error *error)
{
    const char *when = strchr(text, '@');
    return when != NULL ? set_later(productions, text, when, error)
                        : rf_dise_assign(&productions->program, text, NULL, error);
}

/* Is a counter set from it? */
static bool sets(const struct rf_dise_program *program, unsigned reg)
{
    for (unsigned i = 0; i < program->n_counters; i++)
        if (program->counters[i].from == (int)reg)
            return true;
    for (unsigned i = 0; i < program->n_ops; i++)
        if (program->ops[i].micro == RF_DISE_SET && program->ops[i].from == reg)
            return true;
    return false;
}

/* The bit above those of the counter is its overflow; there are none above that. */
static rf_status check_values(const struct rf_dise_program *program,
                              const struct rf_dise_register *registers, uint32_t which,
                              unsigned counter_bits, struct rf_error *error)
{
    for (unsigned i = 0; i < program->n_registers; i++) {
        const struct rf_dise_register *reg = &registers[i];
        if ((which >> i & 1) != 0 && sets(program, i) &&
            rf_dise_register_value(reg, counter_bits) >> (counter_bits + 1) != 0)
            return rf_fail(
                error, RF_EINVAL,
                "%s:%u:%u: '%s' is %s%lld, and counters have %u bits: it must be from 0 "
                "to max, which is 2^%u",
                program->file[reg->place.file], reg->place.line, reg->place.column, reg->name,
                reg->about      ? "max ~ "
                : reg->from_max ? "max - "
                                : "",
                (long long)(reg->from_max ? -reg->value : reg->value), counter_bits, counter_bits);
    }
    return RF_OK;
}

rf_status rf_dise_check_registers(const struct rf_dise_program *program, unsigned counter_bits,
                                  struct rf_error *error)
{
    return check_values(program, program->registers, UINT32_MAX, counter_bits, error);
}

rf_status rf_dise_check_values(struct rf_productions *productions, unsigned counter_bits,
                               struct rf_error *error)
{
    const struct rf_dise_program *program = &productions->program;
    rf_status status = rf_dise_check_registers(program, counter_bits, error);
    if (status == RF_OK)
        status = check_values(program, productions->new_values, productions->new_mask, counter_bits,
                              error);
    for (size_t i = 0; i < productions->n_changes && status == RF_OK; i++) {
        struct rf_dise_register values[RF_DISE_REGISTERS];
        uint32_t which = 0;
        status = try_out(productions, productions->changes[i].text, &which, values, error);
        if (status == RF_OK)
            status = check_values(program, values, which, counter_bits, error);
    }
    return status;
}

void rf_productions_seed(struct rf_productions *productions, uint64_t seed)
{
    productions->seed = seed;
}

size_t rf_productions_count(const struct rf_productions *productions)
{
    return productions->program.n_profiles;
}

const char *rf_productions_name(const struct rf_productions *productions, size_t i, char *name,
                                size_t size)
{
    const struct rf_dise_program *program = &productions->program;
    const char *file = program->file[program->profile_file[i]];
    const char *base = rf_text_last_part(file);
    const char *dot = strrchr(base, '.');
    rf_format(name, size, "%.*s", (int)(dot != NULL ? (size_t)(dot - base) : strlen(base)), base);
    return name;
}

int rf_dise_handler_of(const struct rf_dise_program *program, unsigned profile)
{
    for (unsigned i = 0; i < program->n_sequences; i++) {
        const struct rf_dise_sequence *sequence = &program->sequences[i];
        for (unsigned k = 0; sequence->profile == profile && k < sequence->n; k++)
            if (program->items[sequence->first + k].kind == RF_DISE_HANDLER)
                return program->items[sequence->first + k].handler;
    }
    return -1;
}

const char *rf_productions_selector(const struct rf_productions *productions, size_t i)
{
    return productions->selectors[i][0] != '\0' ? productions->selectors[i] : NULL;
}
