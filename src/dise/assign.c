/* assign.c - other first values for registers: sampleFreq=max-999, hot-method.sampleFreq=max-99. */
#include "dise/production.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include <string.h>

/* "hot-method" of "lab/hps/hot-method.hps" */
static bool is_profile(const struct rf_dise_program *program, unsigned profile, const char *name,
                       size_t n)
{
    const char *file = program->file[program->profile_file[profile]];
    const char *base = rf_text_last_part(file);
    const char *dot = strrchr(base, '.');
    size_t length = dot != NULL ? (size_t)(dot - base) : strlen(base);
    return length == n && memcmp(base, name, n) == 0;
}

static const char *skip_space(const char *p)
{
    while (rf_text_is_space(*p))
        p++;
    return p;
}

rf_status rf_dise_parse_value(const char *text, struct rf_dise_register *reg,
                              struct rf_error *error)
{
    const char *p = skip_space(text), *whole = p;
    uint64_t number = 0;
    bool from_max = strncmp(p, "max", 3) == 0;
    p = skip_space(p + (from_max ? 3 : 0));
    bool about = from_max && *p == '~', negative = *p == '-' || about;
    bool bare = from_max && *p == '\0';
    p = skip_space(p + negative);
    if ((!bare && rf_units_count(p, strlen(p), &number) != RF_OK) || number > INT64_MAX ||
        (from_max && !bare && !negative))
        return rf_fail(error, RF_EINVAL,
                       "a register's value is a number, max, max-number or max~number, got '%s'",
                       whole);
    reg->from_max = from_max;
    reg->about = about && number > 0;
    reg->value = negative ? -(int64_t)number : (int64_t)number;
    return RF_OK;
}

rf_status rf_dise_assign(struct rf_dise_program *program, const char *text, uint32_t *which,
                         struct rf_error *error)
{
    const char *sign = strchr(text, '='), *dot = sign;
    struct rf_dise_register value = {.name = ""};
    uint32_t found = 0;
    if (sign == NULL)
        return rf_fail(error, RF_EINVAL, "expected register=value, got '%s'", text);
    while (dot > text && *dot != '.')
        dot--;
    const char *name = *dot == '.' ? dot + 1 : text;
    rf_status status = rf_dise_parse_value(sign + 1, &value, error);
    if (status != RF_OK)
        return status;
    for (unsigned i = 0; i < program->n_registers; i++) {
        struct rf_dise_register *reg = &program->registers[i];
        if (!rf_text_equal(reg->name, name, (size_t)(sign - name)) ||
            (name != text && !is_profile(program, reg->profile, text, (size_t)(dot - text))))
            continue;
        reg->from_max = value.from_max;
        reg->about = value.about;
        reg->value = value.value;
        found |= UINT32_C(1) << i;
    }
    if (which != NULL)
        *which = found;
    return found > 0 ? RF_OK
                     : rf_fail(error, RF_EINVAL, "no register '%.*s' in these productions",
                               (int)(sign - text), text);
}
