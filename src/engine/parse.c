/* parse.c - between an engine as text and its config struct, both ways, from the option tables.
 *
 *     engine  = name [ "(" [ setting { "," setting } ] ")" ]
 *     setting = option "=" value | preset
 *
 * Engines with a notation of their own (the sampler algebra) claim their text and parse it. */
#include "engine/engine.h"
#include "base/error.h"
#include "base/option.h"
#include "base/text.h"
#include "base/units.h"
#include <string.h>

/* A word or value inside the text. */
struct span {
    const char *start;
    size_t n;
};

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

static void copy_span(char *text, size_t size, struct span word)
{
    size_t n = word.n < size ? word.n : size - 1;
    memcpy(text, word.start, n);
    text[n] = '\0';
}

static rf_status unknown_option(const struct rf_engine_ops *ops, struct span name,
                                struct rf_error *error)
{
    char word[40];
    copy_span(word, sizeof word, name);
    const char *nearest = rf_option_nearest(ops->options, word);
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
        if (rf_option_is_near(word, (*ops)->name, &best))
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

/* How the sentences about an engine's options begin. */
struct whose {
    char text[48];
};

static struct whose whose(const struct rf_engine_ops *ops)
{
    struct whose whose = {""};
    rf_format(whose.text, sizeof whose.text, "engine '%s': ", ops->name);
    return whose;
}

static rf_status set_defaults(const struct rf_engine_ops *ops, void *config, struct rf_error *error)
{
    memset(config, 0, ops->config_size);
    return rf_option_set_all(ops->options, config, whose(ops).text, error);
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
    const struct rf_option *option = rf_option_find(ops->options, name.start, name.n);
    if (option == NULL)
        return unknown_option(ops, name, error);
    *p = read_value(skip_space(q + 1), &value);
    return rf_option_set(option, config, value.start, value.n, whose(ops).text, error);
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
        return rf_fail(error, RF_EINVAL, "engine '%s': unexpected '%s' after it", ops->name, p);
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
        rf_option_print(o, config, value, sizeof value);
        n += rf_format(RF_REST(text, size, n), "%s%s=%s", separator, o->name, value);
        separator = ", ";
    }
    if (*separator == ',')
        n += rf_format(RF_REST(text, size, n), ")");
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
    return n + rf_engine_print_options(ops, config, RF_REST(text, size, n));
}

size_t rf_engine_shorten(const char *engine, char *text, size_t size)
{
    _Alignas(16) unsigned char config[RF_ENGINE_CONFIG_MAX], standard[RF_ENGINE_CONFIG_MAX];
    const struct rf_engine_ops *ops = NULL;
    if (rf_engine_parse(&ops, config, sizeof config, engine, NULL) != RF_OK || ops == NULL ||
        ops->print != NULL || set_defaults(ops, standard, NULL) != RF_OK)
        return rf_format(text, size, "%s", engine);
    size_t n = rf_format(text, size, "%s", ops->name);
    return n + print_options(ops, config, standard, RF_REST(text, size, n));
}
