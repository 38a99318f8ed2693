/* selector_parse.c - from a line of text to a selector, with the column of whatever is wrong.
 *
 *     selector   = preset | classes { condition } "->" field [ "," field ] [ "*" field ]
 *     classes    = class { "," class } | "any"
 *     condition  = field ("==" | "!=" | "<" | "<=" | ">" | ">=") place
 *                | field "in" place ".." place
 *     place      = number | symbol [ "+" number ]       symbol = word | "'" anything "'"
 *
 * Every comparison becomes lo <= field <= hi. For a name the value is the offset from it,
 * in arithmetic modulo 2^64, so that `pc<main` is hi = main + (0 - 1) and needs no case of its own.
 * Numbers are what rf_units_count reads, and -1 is all ones. */
#include "event/selector.h"
#include "event/field.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include <stdbool.h>
#include <string.h>

struct parser {
    const char *text, *p;
    struct rf_selector *selector;
    struct rf_error *error;
};

struct word {
    const char *start;
    size_t n;
};

static rf_status fail_at(struct parser *parser, const char *at, const char *format, ...)
    RF_PRINTF(3, 4);

static rf_status fail_at(struct parser *parser, const char *at, const char *format, ...)
{
    char what[400];
    va_list arguments;
    va_start(arguments, format);
    rf_format_list(what, sizeof what, format, arguments);
    va_end(arguments);
    return rf_fail(parser->error, RF_EINVAL, "selector: column %u: %s",
                   (unsigned)(at - parser->text + 1), what);
}

static void skip_space(struct parser *parser)
{
    while (rf_text_is_space(*parser->p))
        parser->p++;
}

/* Letters, digits, '_' and '-', but "->" ends a word. */
static struct word read_word(struct parser *parser)
{
    skip_space(parser);
    struct word word = {parser->p, 0};
    while (rf_text_is_word(*parser->p) && *parser->p != '.' &&
           !(parser->p[0] == '-' && parser->p[1] == '>'))
        parser->p++;
    word.n = (size_t)(parser->p - word.start);
    return word;
}

static bool take(struct parser *parser, const char *sign)
{
    skip_space(parser);
    size_t n = strlen(sign);
    if (strncmp(parser->p, sign, n) != 0)
        return false;
    parser->p += n;
    return true;
}

/* --- words ----------------------------------------------------------------------------------- */

static const char *class_word(unsigned i)
{
    return i == RF_CLASS_COUNT ? "any" : rf_class_name(i);
}

static const char *preset_word(unsigned i)
{
    return rf_selector_presets()[i].name;
}

static const char *field_word(unsigned i)
{
    return rf_field_name(i + 1);
}

/* The i-th word of a list, NULL behind the last. */
typedef const char *(*words)(unsigned i);

static bool find(words list, struct word word, unsigned *index)
{
    for (*index = 0; list(*index) != NULL; (*index)++)
        if (rf_text_equal(list(*index), word.start, word.n))
            return true;
    return false;
}

/* How far a word is from a name. The beginning of a name is next to it. */
static unsigned distance(const char *wanted, const char *name)
{
    size_t n = rf_text_length(wanted);
    bool begins = n >= 3 && n < rf_text_length(name) && memcmp(wanted, name, n) == 0;
    return begins ? 1 : rf_text_distance(wanted, name);
}

static const char *nearest(words list, struct word word, const char *so_far)
{
    char wanted[33];
    rf_format(wanted, sizeof wanted, "%.*s", (int)word.n, word.start);
    for (unsigned i = 0; list(i) != NULL; i++)
        if (so_far == NULL || distance(wanted, list(i)) < distance(wanted, so_far))
            so_far = list(i);
    return so_far;
}

static rf_status unknown(struct parser *parser, struct word word, const char *what,
                         const char *meant)
{
    if (word.n == 0 && *word.start == '\0')
        return fail_at(parser, word.start, "expected a %s here", what);
    if (word.n == 0)
        return fail_at(parser, word.start, "expected a %s, got '%c'", what, *word.start);
    char wanted[101];
    rf_format(wanted, sizeof wanted, "%.*s", (int)(word.n < 100 ? word.n : 100), word.start);
    if (2 * distance(wanted, meant) > rf_text_length(meant)) /* it is not alike at all */
        return fail_at(parser, word.start, "no %s is called '%s'; 'riffle selectors' helps", what,
                       wanted);
    return fail_at(parser, word.start, "no %s is called '%s'; did you mean '%s'?", what, wanted,
                   meant);
}

/* --- parts ----------------------------------------------------------------------------------- */

/* Only a '+' and another preset may stand behind a preset, and only where several selectors are taken. The fault is the
 * first word that is no preset. */
static rf_status fail_behind(struct parser *parser, unsigned preset)
{
    const char *behind = parser->p;
    unsigned i;
    while (*parser->p == '+') {
        parser->p++;
        struct word word = read_word(parser);
        if (!find(preset_word, word, &i))
            return unknown(parser, word, "preset", nearest(preset_word, word, NULL));
    }
    return fail_at(parser, behind, "'%s' cannot follow the preset '%s'", behind,
                   preset_word(preset));
}

static rf_status read_class(struct parser *parser)
{
    struct word word = read_word(parser);
    unsigned i;
    if (word.start == parser->text && find(preset_word, word, &i))
        return fail_behind(parser, i);
    if (!find(class_word, word, &i))
        return unknown(parser, word, "class", nearest(class_word, word, NULL));
    parser->selector->classes |= i == RF_CLASS_COUNT ? RF_SET_ANY : 1u << i;
    return RF_OK;
}

static rf_status read_classes(struct parser *parser)
{
    rf_status status;
    do
        status = read_class(parser);
    while (status == RF_OK && take(parser, ","));
    return status;
}

static rf_status read_field(struct parser *parser, uint8_t *field)
{
    struct word word = read_word(parser);
    unsigned i;
    if (!find(field_word, word, &i))
        return unknown(parser, word, "field", nearest(field_word, word, NULL));
    *field = (uint8_t)(i + 1);
    if ((rf_field_info(*field)->classes & parser->selector->classes) == 0)
        return fail_at(parser, word.start, "what is selected has no %s", rf_field_name(*field));
    parser->selector->fields |= 1u << *field;
    return RF_OK;
}

static rf_status read_number(struct parser *parser, uint64_t *number)
{
    skip_space(parser);
    const char *start = parser->p;
    bool negative = *start == '-';
    parser->p += negative;
    const char *digits = parser->p;
    while (rf_text_is_word(*parser->p) && *parser->p != '-' &&
           !(parser->p[0] == '.' && parser->p[1] == '.'))
        parser->p++;
    size_t n = (size_t)(parser->p - digits);
    if (rf_units_count(digits, n, number) != RF_OK)
        return fail_at(parser, start, "'%.*s' is no number of 64 bits",
                       (int)(n < 100 ? n : 100) + negative, start);
    *number = negative ? 0 - *number : *number;
    return RF_OK;
}

/* 'quoted', or a word that looks like a symbol. */
static rf_status read_symbol(struct parser *parser, char *symbol)
{
    const char *start = parser->p;
    bool quoted = *start == '\'';
    const char *name = start + quoted, *end = name;
    if (quoted)
        end += strcspn(name, "'");
    else
        while (rf_selector_is_symbol(end[0], end[0] == '\0' ? '\0' : end[1]))
            end++;
    size_t n = (size_t)(end - name);
    if (quoted && *end == '\0')
        return fail_at(parser, start, "this quote is not closed");
    if (n == 0)
        return fail_at(parser, start,
                       *start == '\0' ? "expected a number or a name here"
                                      : "expected a number or a name");
    if (n >= RF_SELECTOR_SYMBOL_MAX)
        return fail_at(parser, start, "this name is longer than %d characters",
                       RF_SELECTOR_SYMBOL_MAX - 1);
    memcpy(symbol, name, n);
    symbol[n] = '\0';
    parser->p = end + quoted;
    return RF_OK;
}

static rf_status read_place(struct parser *parser, struct rf_place *place)
{
    skip_space(parser);
    memset(place, 0, sizeof *place);
    const char *digit = parser->p + (*parser->p == '-');
    if (*digit >= '0' && *digit <= '9')
        return read_number(parser, &place->value);
    rf_status status = read_symbol(parser, place->symbol);
    if (status == RF_OK && take(parser, "+"))
        status = read_number(parser, &place->value);
    parser->selector->unbound = 1;
    return status;
}

static bool is_number(const struct rf_place *place)
{
    return place->symbol[0] == '\0';
}

static rf_status read_range(struct parser *parser, struct rf_condition *condition)
{
    skip_space(parser);
    const char *start = parser->p;
    rf_status status = read_place(parser, &condition->lo);
    if (status != RF_OK)
        return status;
    if (!take(parser, ".."))
        return fail_at(parser, parser->p, "expected '..' and the end of the range");
    status = read_place(parser, &condition->hi);
    if (status != RF_OK)
        return status;
    bool numbers = is_number(&condition->lo) && is_number(&condition->hi);
    if ((numbers && condition->lo.value >= condition->hi.value) ||
        (is_number(&condition->hi) && condition->hi.value == 0))
        return fail_at(parser, start, "this range is empty");
    condition->is_range = 1;
    condition->hi.value--; /* the end is out */
    return RF_OK;
}

enum sign { AT_LEAST, AT_MOST, EQUAL, DIFFERENT, BELOW, ABOVE, SIGNS };

/* Longer signs first. */
static const char *const signs[SIGNS] = {[AT_LEAST] = ">=",  [AT_MOST] = "<=", [EQUAL] = "==",
                                         [DIFFERENT] = "!=", [BELOW] = "<",    [ABOVE] = ">"};

static rf_status read_sign(struct parser *parser, enum sign *sign)
{
    for (unsigned i = 0; i < SIGNS; i++)
        if (take(parser, signs[i])) {
            *sign = (enum sign)i;
            return RF_OK;
        }
    return fail_at(parser, parser->p, "expected one of == != < <= > >= in");
}

static rf_status read_comparison(struct parser *parser, struct rf_condition *condition)
{
    enum sign sign = EQUAL;
    struct rf_place place;
    rf_status status = read_sign(parser, &sign);
    if (status != RF_OK)
        return status;
    skip_space(parser);
    const char *start = parser->p;
    status = read_place(parser, &place);
    if (status != RF_OK)
        return status;
    condition->lo = sign == AT_MOST || sign == BELOW ? (struct rf_place){.value = 0} : place;
    condition->hi =
        sign == AT_LEAST || sign == ABOVE ? (struct rf_place){.value = UINT64_MAX} : place;
    condition->negate = sign == DIFFERENT;
    condition->lo.value += sign == ABOVE;
    condition->hi.value -= sign == BELOW;
    if (is_number(&place) &&
        ((sign == BELOW && place.value == 0) || (sign == ABOVE && place.value == UINT64_MAX)))
        return fail_at(parser, start, "nothing is %s that", sign == BELOW ? "below" : "above");
    return RF_OK;
}

/* The word "in", and not the beginning of another word. */
static bool take_in(struct parser *parser)
{
    skip_space(parser);
    const char *p = parser->p;
    if (p[0] != 'i' || p[1] != 'n' || !(rf_text_is_space(p[2]) || p[2] == '\''))
        return false;
    parser->p += 2;
    return true;
}

static rf_status read_condition(struct parser *parser)
{
    struct rf_selector *selector = parser->selector;
    if (selector->n_conditions == RF_SELECTOR_CONDITIONS_MAX)
        return fail_at(parser, parser->p, "more than %d conditions", RF_SELECTOR_CONDITIONS_MAX);
    struct rf_condition *condition = &selector->conditions[selector->n_conditions++];
    rf_status status = read_field(parser, &condition->field);
    if (status != RF_OK)
        return status;
    return take_in(parser) ? read_range(parser, condition) : read_comparison(parser, condition);
}

/* A small number by nature. The sum of addresses, of values, or of numbers that only tell threads or stacks apart would mean
 * nothing. */
static bool is_weight(unsigned field)
{
    return rf_field_info(field)->meaning == RF_MEANS_NUMBER &&
           rf_field_is(field) == RF_FIELD_WORD_NONE && field != RF_FIELD_THREAD &&
           field != RF_FIELD_CONTEXT;
}

static rf_status read_weight(struct parser *parser)
{
    skip_space(parser);
    const char *start = parser->p;
    uint8_t *weight = &parser->selector->weight;
    rf_status status = read_field(parser, weight);
    if (status == RF_OK && !is_weight(*weight))
        return fail_at(parser, start, "%s is no weight; size, width, miss and cycles are",
                       rf_field_name(*weight));
    return status;
}

static rf_status read_projection(struct parser *parser)
{
    rf_status status = read_field(parser, &parser->selector->project_a);
    if (status == RF_OK && take(parser, ","))
        status = read_field(parser, &parser->selector->project_b);
    if (status == RF_OK && take(parser, "*"))
        status = read_weight(parser);
    if (status != RF_OK)
        return status;
    skip_space(parser);
    if (*parser->p == ',')
        return fail_at(parser, parser->p, "a tuple has two fields at most");
    if (*parser->p != '\0')
        return fail_at(parser, parser->p, "nothing may follow the fields");
    return RF_OK;
}

static rf_status read_selector(struct parser *parser)
{
    rf_status status = read_classes(parser);
    while (status == RF_OK && !take(parser, "->")) {
        if (*parser->p == '\0')
            return fail_at(parser, parser->p, "expected '->' and the fields to profile");
        status = read_condition(parser);
    }
    return status == RF_OK ? read_projection(parser) : status;
}

/* A single word that is no class is a preset, or was meant to be one. */
static bool is_lone_word(const char *text, struct word *word)
{
    struct parser parser = {.text = text, .p = text};
    unsigned i;
    *word = read_word(&parser);
    skip_space(&parser);
    return *parser.p == '\0' && word->n > 0 && !find(class_word, *word, &i);
}

rf_status rf_selector_parse(struct rf_selector *selector, const char *text, struct rf_error *error)
{
    struct rf_selector parsed = {0};
    struct parser parser = {.text = text, .p = text, .selector = &parsed, .error = error};
    struct word word;
    unsigned i;
    if (is_lone_word(text, &word)) {
        if (!find(preset_word, word, &i)) {
            const char *meant = nearest(preset_word, word, NULL);
            return unknown(&parser, word, "preset", nearest(class_word, word, meant));
        }
        parser.text = parser.p = rf_selector_presets()[i].text;
    }
    rf_status status = read_selector(&parser);
    if (status == RF_OK)
        *selector = parsed;
    return status;
}
