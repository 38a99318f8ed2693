/* parse.c - between an engine as text and its config struct, both ways, from the option tables.
 *
 *     engine  = name [ "(" [ setting { "," setting } ] ")" ]
 *     setting = option "=" value | preset
 *
 * Engines with a notation of their own (the sampler algebra) claim their text and parse it. */
#include "engine/engine.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include <string.h>

/* A word or value inside the text. */
struct span {
    const char *start;
    size_t n;
};

#define SPAN_FORMAT   "%.*s"
#define SPAN_PRINT(s) (int)(s).n, (s).start

static const char *skip_space(const char *p)
{
    while (rf_text_is_space(*p))
        p++;
    return p;
}

static const char *read_word(const char *p, struct span *word)
{
    word->start = p;
    while (rf_text_is_word(*p))
        p++;
    word->n = (size_t)(p - word->start);
    return p;
}

/* Up to the next ',' or ')', without spaces at its end. */
static const char *read_value(const char *p, struct span *value)
{
    value->start = p;
    while (*p != '\0' && *p != ',' && *p != ')')
        p++;
    const char *end = p;
    while (end > value->start && rf_text_is_space(end[-1]))
        end--;
    value->n = (size_t)(end - value->start);
    return p;
}

static bool find_choice(const char *choices, struct span value, uint64_t *index)
{
    *index = 0;
    for (const char *p = choices;; p++, (*index)++) {
        struct span choice = {p, 0};
        while (*p != '\0' && *p != '|')
            p++;
        choice.n = (size_t)(p - choice.start);
        if (choice.n == value.n && memcmp(choice.start, value.start, value.n) == 0)
            return true;
        if (*p == '\0')
            return false;
    }
}

static bool read_switch(struct span value, uint64_t *on)
{
    static const char yes[] = "yes|on|1|true", no[] = "no|off|0|false";
    uint64_t index;
    *on = find_choice(yes, value, &index);
    return *on || find_choice(no, value, &index);
}

static rf_status outside(const struct rf_engine_ops *ops, const struct rf_option *option,
                         struct span value, struct rf_error *error)
{
    char lo[RF_UNITS_MAX], hi[RF_UNITS_MAX];
    if (option->type == RF_OPTION_SHARE) {
        rf_format(lo, sizeof lo, "%llu", (unsigned long long)option->min);
        rf_format(hi, sizeof hi, "%llu", (unsigned long long)option->max);
    } else {
        rf_units_print_count(lo, sizeof lo, (uint64_t)option->min);
        rf_units_print_count(hi, sizeof hi, (uint64_t)option->max);
    }
    return rf_fail(error, RF_EINVAL,
                   "engine '%s': %s must be between %s and %s, got '" SPAN_FORMAT "'", ops->name,
                   option->name, lo, hi, SPAN_PRINT(value));
}

static bool in_limits(const struct rf_option *option, double value)
{
    return (option->min == 0 && option->max == 0) || (value >= option->min && value <= option->max);
}

static rf_status set_number(const struct rf_engine_ops *ops, const struct rf_option *option,
                            void *config, struct span value, struct rf_error *error)
{
    char *field = (char *)config + option->offset;
    if (option->type == RF_OPTION_SHARE) {
        double share;
        if (rf_units_share(value.start, value.n, &share) != RF_OK || !in_limits(option, share))
            return outside(ops, option, value, error);
        memcpy(field, &share, sizeof share);
        return RF_OK;
    }
    uint64_t count;
    bool is_number = rf_units_count(value.start, value.n, &count) == RF_OK;
    if (option->choices != NULL && rf_text_equal(option->choices, value.start, value.n)) {
        count = 0;
        is_number = true;
    }
    if (is_number && in_limits(option, (double)count)) {
        memcpy(field, &count, sizeof count);
        return RF_OK;
    }
    if (option->max > 0)
        return outside(ops, option, value, error);
    return rf_fail(error, RF_EINVAL,
                   "engine '%s': %s must be a number such as 2048 or 1M, got '" SPAN_FORMAT "'",
                   ops->name, option->name, SPAN_PRINT(value));
}

static rf_status set_option(const struct rf_engine_ops *ops, const struct rf_option *option,
                            void *config, struct span value, struct rf_error *error)
{
    uint64_t word;
    switch (option->type) {
    case RF_OPTION_SWITCH:
        if (!read_switch(value, &word))
            return rf_fail(error, RF_EINVAL,
                           "engine '%s': %s must be yes or no, got '" SPAN_FORMAT "'", ops->name,
                           option->name, SPAN_PRINT(value));
        break;
    case RF_OPTION_CHOICE:
        if (!find_choice(option->choices, value, &word))
            return rf_fail(error, RF_EINVAL,
                           "engine '%s': %s must be one of %s, got '" SPAN_FORMAT "'", ops->name,
                           option->name, option->choices, SPAN_PRINT(value));
        break;
    default:
        return set_number(ops, option, config, value, error);
    }
    memcpy((char *)config + option->offset, &word, sizeof word);
    return RF_OK;
}

static const struct rf_option *find_option(const struct rf_engine_ops *ops, struct span name)
{
    for (const struct rf_option *o = ops->options; o->type != RF_OPTION_END; o++)
        if (rf_text_equal(o->name, name.start, name.n))
            return o;
    return NULL;
}

static void copy_span(char *text, size_t size, struct span word)
{
    size_t n = word.n < size ? word.n : size - 1;
    memcpy(text, word.start, n);
    text[n] = '\0';
}

/* Nearer than `best`, and not just because both are short. */
static bool is_near(const char *word, const char *name, unsigned *best)
{
    unsigned distance = rf_text_distance(word, name);
    if (distance >= *best || 2 * distance > rf_text_length(name))
        return false;
    *best = distance;
    return true;
}

static rf_status unknown_option(const struct rf_engine_ops *ops, struct span name,
                                struct rf_error *error)
{
    char word[40];
    copy_span(word, sizeof word, name);
    const char *nearest = NULL;
    unsigned best = 4;
    for (const struct rf_option *o = ops->options; o->type != RF_OPTION_END; o++)
        if (is_near(word, o->name, &best))
            nearest = o->name;
    if (nearest != NULL)
        return rf_fail(error, RF_EINVAL, "engine '%s': no option '%s'; did you mean '%s'?",
                       ops->name, word, nearest);
    return rf_fail(error, RF_EINVAL, "engine '%s': no option '%s'", ops->name, word);
}

static rf_status unknown_engine(struct span name, struct rf_error *error)
{
    char word[40];
    copy_span(word, sizeof word, name);
    const char *nearest = NULL;
    unsigned best = 5;
    for (const struct rf_engine_ops *const *ops = rf_engine_registry; *ops != NULL; ops++)
        if (is_near(word, (*ops)->name, &best))
            nearest = (*ops)->name;
    if (nearest != NULL)
        return rf_fail(error, RF_EINVAL, "no engine '%s'; did you mean '%s'?", word, nearest);
    return rf_fail(error, RF_EINVAL, "no engine '%s'; 'riffle engines' lists them", word);
}

static const struct rf_engine_ops *find_engine(const char *text, struct span name)
{
    for (const struct rf_engine_ops *const *ops = rf_engine_registry; *ops != NULL; ops++) {
        if (rf_text_equal((*ops)->name, name.start, name.n))
            return *ops;
        if ((*ops)->claims != NULL && (*ops)->claims(text))
            return *ops;
    }
    return NULL;
}

static rf_status set_defaults(const struct rf_engine_ops *ops, void *config, struct rf_error *error)
{
    memset(config, 0, ops->config_size);
    for (const struct rf_option *o = ops->options; o->type != RF_OPTION_END; o++) {
        struct span value = {o->standard, rf_text_length(o->standard)};
        rf_status status = set_option(ops, o, config, value, error);
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

/* One "option = value"; *p moves behind it. */
static rf_status read_setting(const struct rf_engine_ops *ops, void *config, const char **p,
                              struct rf_error *error)
{
    struct span name, value;
    const char *q = skip_space(read_word(*p, &name));
    if (name.n > 0 && *q != '=' && ops->preset != NULL) {
        char word[40];
        copy_span(word, sizeof word, name);
        *p = q;
        if (ops->preset(config, word))
            return RF_OK;
    }
    if (name.n == 0 || *q != '=')
        return rf_fail(error, RF_EINVAL, "engine '%s': expected option=value at '%.*s'", ops->name,
                       (int)rf_text_length(name.start), name.start);
    const struct rf_option *option = find_option(ops, name);
    if (option == NULL)
        return unknown_option(ops, name, error);
    *p = read_value(skip_space(q + 1), &value);
    return set_option(ops, option, config, value, error);
}

/* The list in parentheses; `p` stands behind "(". */
static rf_status read_settings(const struct rf_engine_ops *ops, void *config, const char **p,
                               struct rf_error *error)
{
    *p = skip_space(*p);
    while (**p != ')') {
        rf_status status = read_setting(ops, config, p, error);
        if (status != RF_OK)
            return status;
        *p = skip_space(*p);
        if (**p == ',')
            *p = skip_space(*p + 1);
        else if (**p != ')')
            return rf_fail(error, RF_EINVAL, "engine '%s': the options lack a closing ')'",
                           ops->name);
    }
    (*p)++;
    return RF_OK;
}

rf_status rf_engine_read_options(const struct rf_engine_ops *ops, void *config, const char **p,
                                 struct rf_error *error)
{
    *p = skip_space(*p);
    if (**p != '(')
        return RF_OK;
    (*p)++;
    rf_status status = read_settings(ops, config, p, error);
    *p = skip_space(*p);
    return status;
}

rf_status rf_engine_read_nothing(const struct rf_engine_ops *ops, const char *p,
                                 struct rf_error *error)
{
    if (*p != '\0')
        return rf_fail(error, RF_EINVAL, "engine '%s': what is '%s' behind it?", ops->name, p);
    return RF_OK;
}

static rf_status read_options(const struct rf_engine_ops *ops, void *config, const char *p,
                              struct rf_error *error)
{
    rf_status status = rf_engine_read_options(ops, config, &p, error);
    return status != RF_OK ? status : rf_engine_read_nothing(ops, p, error);
}

rf_status rf_engine_parse(const struct rf_engine_ops **found, void *config, size_t config_room,
                          const char *text, struct rf_error *error)
{
    struct span name;
    const char *p = skip_space(text);
    const char *behind = read_word(p, &name);
    const struct rf_engine_ops *ops = find_engine(p, name);
    if (ops == NULL)
        return unknown_engine(name, error);
    if (ops->config_size > config_room)
        return rf_fail(error, RF_EINVAL, "engine '%s': its options do not fit", ops->name);
    rf_status status = set_defaults(ops, config, error);
    if (status == RF_OK)
        status = ops->claims != NULL && ops->claims(p) ? ops->parse(config, p, error)
                                                       : read_options(ops, config, behind, error);
    if (status == RF_OK && ops->check != NULL)
        status = ops->check(config, error);
    *found = ops;
    return status;
}

static size_t print_value(const struct rf_option *option, const void *config, char *text,
                          size_t size)
{
    const char *field = (const char *)config + option->offset;
    uint64_t word;
    double share;
    memcpy(&word, field, sizeof word);
    memcpy(&share, field, sizeof share);
    switch (option->type) {
    case RF_OPTION_SHARE:
        return rf_units_print_share(text, size, share);
    case RF_OPTION_SWITCH:
        return rf_format(text, size, "%s", word ? "yes" : "no");
    case RF_OPTION_CHOICE: {
        const char *p = option->choices;
        for (; word > 0; p++)
            word -= *p == '|';
        size_t n = 0;
        while (p[n] != '\0' && p[n] != '|')
            n++;
        return rf_format(text, size, "%.*s", (int)n, p);
    }
    default:
        if (word == 0 && option->choices != NULL)
            return rf_format(text, size, "%s", option->choices);
        return rf_units_print_count(text, size, word);
    }
}

/* Every value is one word of 64 bits. */
static bool is_standard(const struct rf_option *option, const void *config, const void *standard)
{
    return standard != NULL && memcmp((const char *)config + option->offset,
                                      (const char *)standard + option->offset, 8) == 0;
}

/* Those that are not as in `standard`; all where that is NULL. */
static size_t print_options(const struct rf_engine_ops *ops, const void *config,
                            const void *standard, char *text, size_t size)
{
    size_t n = 0;
    const char *separator = "(";
    for (const struct rf_option *o = ops->options; o->type != RF_OPTION_END; o++) {
        char value[RF_UNITS_MAX + 32];
        if (is_standard(o, config, standard))
            continue;
        print_value(o, config, value, sizeof value);
        n += rf_format(text + (n < size ? n : size), n < size ? size - n : 0, "%s%s=%s", separator,
                       o->name, value);
        separator = ", ";
    }
    if (*separator == ',')
        n += rf_format(text + (n < size ? n : size), n < size ? size - n : 0, ")");
    return n;
}

size_t rf_engine_print_options(const struct rf_engine_ops *ops, const void *config, char *text,
                               size_t size)
{
    return print_options(ops, config, NULL, text, size);
}

size_t rf_engine_print_config(const struct rf_engine_ops *ops, const void *config, char *text,
                              size_t size)
{
    if (ops->print != NULL)
        return ops->print(config, text, size);
    size_t n = rf_format(text, size, "%s", ops->name);
    return n + rf_engine_print_options(ops, config, text + (n < size ? n : size),
                                       n < size ? size - n : 0);
}

size_t rf_engine_shorten(const char *engine, char *text, size_t size)
{
    _Alignas(16) unsigned char config[RF_ENGINE_CONFIG_MAX], standard[RF_ENGINE_CONFIG_MAX];
    const struct rf_engine_ops *ops = NULL;
    if (rf_engine_parse(&ops, config, sizeof config, engine, NULL) != RF_OK || ops == NULL ||
        ops->print != NULL || set_defaults(ops, standard, NULL) != RF_OK)
        return rf_format(text, size, "%s", engine);
    size_t n = rf_format(text, size, "%s", ops->name);
    return n + print_options(ops, config, standard, text + (n < size ? n : size),
                             n < size ? size - n : 0);
}
