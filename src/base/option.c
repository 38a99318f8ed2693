/* option.c - values of option tables, from text into a config and back. */
#include "base/option.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include <string.h>

/* A value inside a text. */
struct span {
    const char *start;
    size_t n;
};

#define SPAN_FORMAT   "%.*s"
#define SPAN_PRINT(s) (int)(s).n, (s).start

/* What every sentence begins with. */
struct naming {
    const char *whose;
    const struct rf_option *option;
    struct span value;
    struct rf_error *error;
};

#define MUST(naming, what, ...)                                                                    \
    rf_fail((naming)->error, RF_EINVAL, "%s%s must be " what ", got '" SPAN_FORMAT "'",            \
            (naming)->whose, (naming)->option->name, __VA_ARGS__, SPAN_PRINT((naming)->value))

const struct rf_option *rf_option_find(const struct rf_option *table, const char *name, size_t n)
{
    for (; table->type != RF_OPTION_END; table++)
        if (rf_text_equal(table->name, name, n))
            return table;
    return NULL;
}

bool rf_option_is_near(const char *word, const char *name, unsigned *best)
{
    unsigned distance = rf_text_distance(word, name);
    if (distance >= *best || 2 * distance > rf_text_length(name))
        return false;
    *best = distance;
    return true;
}

const char *rf_option_nearest(const struct rf_option *table, const char *word)
{
    enum { FAR = 4 };
    const char *nearest = NULL;
    unsigned best = FAR;
    for (; table->type != RF_OPTION_END; table++)
        if (rf_option_is_near(word, table->name, &best))
            nearest = table->name;
    return nearest;
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

static bool in_limits(const struct rf_option *option, double value)
{
    return (option->min == 0 && option->max == 0) || (value >= option->min && value <= option->max);
}

/* The option's word for 0, as the first of the values that an error message lists. */
static const char *word_or(const struct rf_option *option)
{
    return option->choices != NULL ? " or " : "";
}

static const char *word_of(const struct rf_option *option)
{
    return option->choices != NULL ? option->choices : "";
}

/* Small numbers are written plainly: 1024, not 1Ki. */
static void print_limit(char *text, size_t size, double limit)
{
    enum { SMALL = 100000 };
    if (limit < SMALL)
        rf_format(text, size, "%u", (unsigned)limit);
    else
        rf_units_print_count(text, size, (uint64_t)limit);
}

static rf_status outside(const struct naming *naming)
{
    const struct rf_option *option = naming->option;
    char lo[RF_UNITS_MAX], hi[RF_UNITS_MAX];
    if (option->type == RF_OPTION_SHARE) {
        rf_units_print_share(lo, sizeof lo, option->min);
        rf_units_print_share(hi, sizeof hi, option->max);
    } else {
        print_limit(lo, sizeof lo, option->min);
        print_limit(hi, sizeof hi, option->max);
    }
    return MUST(naming, "%s%sbetween %s and %s", word_of(option), word_or(option), lo, hi);
}

static rf_status set_share(const struct naming *naming, void *field)
{
    double share;
    if (rf_units_share(naming->value.start, naming->value.n, &share) != RF_OK)
        return MUST(naming, "%s", "a share such as 0.1% or 0.001");
    if (!in_limits(naming->option, share))
        return outside(naming);
    memcpy(field, &share, sizeof share);
    return RF_OK;
}

static rf_status set_count(const struct naming *naming, void *field)
{
    const struct rf_option *option = naming->option;
    uint64_t count = 0;
    bool is_word = option->choices != NULL &&
                   rf_text_equal(option->choices, naming->value.start, naming->value.n);
    if (!is_word && rf_units_count(naming->value.start, naming->value.n, &count) != RF_OK)
        return MUST(naming, "%s%sa number such as 2048 or 1M", word_of(option), word_or(option));
    if (!is_word && !in_limits(option, (double)count))
        return outside(naming);
    memcpy(field, &count, sizeof count);
    return RF_OK;
}

rf_status rf_option_set(const struct rf_option *option, void *config, const char *value, size_t n,
                        const char *whose, struct rf_error *error)
{
    const struct naming naming = {whose, option, {value, n}, error};
    void *field = (char *)config + option->offset;
    uint64_t word;
    switch (option->type) {
    case RF_OPTION_SHARE:
        return set_share(&naming, field);
    case RF_OPTION_SWITCH:
        if (!read_switch(naming.value, &word))
            return MUST(&naming, "%s", "yes or no");
        break;
    case RF_OPTION_CHOICE:
        if (!find_choice(option->choices, naming.value, &word))
            return MUST(&naming, "one of %s", option->choices);
        break;
    default:
        return set_count(&naming, field);
    }
    memcpy(field, &word, sizeof word);
    return RF_OK;
}

rf_status rf_option_set_all(const struct rf_option *table, void *config, const char *whose,
                            struct rf_error *error)
{
    rf_status status = RF_OK;
    for (; status == RF_OK && table->type != RF_OPTION_END; table++)
        status = rf_option_set(table, config, table->standard, rf_text_length(table->standard),
                               whose, error);
    return status;
}

static size_t print_choice(const char *choices, uint64_t index, char *text, size_t size)
{
    for (; index > 0; choices++)
        index -= *choices == '|';
    size_t n = 0;
    while (choices[n] != '\0' && choices[n] != '|')
        n++;
    return rf_format(text, size, "%.*s", (int)n, choices);
}

size_t rf_option_print(const struct rf_option *option, const void *config, char *text, size_t size)
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
    case RF_OPTION_CHOICE:
        return print_choice(option->choices, word, text, size);
    default:
        if (word == 0 && option->choices != NULL)
            return rf_format(text, size, "%s", option->choices);
        return rf_units_print_count(text, size, word);
    }
}
