/* selector.h - which records, and what of them: one line of text that turns records into tuples.
 *
 *     load -> pc,value              load value==0 -> pc,addr       branch,jump -> pc,target
 *     load miss>=1 -> pc,value      alu width<=16 -> pc            load pc in main..main+0x400 -> addr
 *
 *     selector   = preset | classes { condition } "->" field [ "," field ] [ "*" field ]
 *     classes    = class { "," class } | "any"
 *     condition  = field ("==" | "!=" | "<" | "<=" | ">" | ">=") place
 *                | field "in" place ".." place                    (low end in, high end out)
 *     place      = number | symbol [ "+" number ]               (a symbol with odd characters: 'a b')
 *     field      = pc addr value ...                            (each is a row of fields.def)
 *
 * A projection on one field gives tuples <field, 0>. With a weight, `insn -> pc * cycles`, each tuple counts as
 * often as that field says. Presets are names for usual selectors; see
 * rf_selector_presets. Symbols are resolved by rf_selector_bind before the first use, or by
 * rf_selector_bind_more while the program maps its files. A symbol may be at several places: `==` and a range
 * that begins and ends with it mean each of them. */
#ifndef RIFFLE_SELECTOR_H
#define RIFFLE_SELECTOR_H

#include <riffle/alloc.h>
#include <riffle/event.h>
#include <riffle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rf_field {
    RF_FIELD_NONE,
#define RF_FIELD(ID, name, classes, meaning, word, late, value, brief) RF_FIELD_##ID,
#include <riffle/fields.def>
    RF_FIELD_COUNT
};

/* What the number in a field stands for, for whoever shows it. */
enum rf_meaning {
    RF_MEANS_NUMBER,
    RF_MEANS_CODE, /* an address of code */
    RF_MEANS_DATA  /* an address of data */
};

struct rf_field_info {
    const char *name;
    const char *brief;
    uint32_t classes; /* that have it: bits 1 << enum rf_class */
    enum rf_meaning meaning;
};

/* NULL for RF_FIELD_NONE and for numbers that are no field. */
const struct rf_field_info *rf_field_info(unsigned field);

/* A field of a record; 0 for RF_FIELD_NONE. */
uint64_t rf_field_of(const struct rf_record *record, unsigned field);

enum {
    RF_SELECTOR_CONDITIONS_MAX = 8,
    RF_SELECTOR_SYMBOL_MAX = 120,
    RF_SELECTOR_SPANS_MAX = 64, /* places that the symbols of one selector may have */
};

/* Where a number may also be a name: `symbol` is empty once it is bound to one address. */
struct rf_place {
    char symbol[RF_SELECTOR_SYMBOL_MAX];
    uint64_t value; /* the number, or the offset from the symbol while unbound */
};

/* lo <= field <= hi, or its opposite. Every comparison is written as one of these; all of them are
 * unsigned. For a name an end that is out (`pc<main`) has become an offset of -1 from it. */
struct rf_condition {
    uint8_t field;    /* enum rf_field */
    uint8_t negate;   /* the value must not be lo, which is hi: "!=" */
    uint8_t is_range; /* written with "in"; matters to rf_selector_print alone */
    struct rf_place lo;
    struct rf_place hi;
};

/* What a condition with names means: the field is in one of its spans, both ends in. */
struct rf_selector_span {
    uint64_t lo, hi;
    uint8_t condition; /* which one */
};

/* Plain data: copy it freely. A source that can select by itself reads it directly. */
struct rf_selector {
    uint32_t classes; /* bit 1 << enum rf_class */
    uint32_t fields;  /* bit 1 << enum rf_field: all that conditions and projection read */
    uint8_t project_a;
    uint8_t project_b; /* RF_FIELD_NONE: b is 0 */
    uint8_t weight;    /* RF_FIELD_NONE: each tuple counts once */
    uint8_t n_conditions;
    uint8_t unbound; /* symbols are left to resolve */
    uint8_t n_spans;
    struct rf_condition conditions[RF_SELECTOR_CONDITIONS_MAX];
    struct rf_selector_span spans[RF_SELECTOR_SPANS_MAX]; /* of conditions that still have names */
};

struct rf_selector_preset {
    const char *name;
    const char *text;
    const char *brief;
    const char *
        engine; /* the only one that makes sense of it by default; NULL: the caller's own default */
};

/* A table that ends with a NULL name. */
const struct rf_selector_preset *rf_selector_presets(void);

/* Parse `text`, a preset's name or a selector. Errors name the column; *selector is then untouched. A
 * field that none of the classes has is an error; where some have it, it is 0 for the others. */
rf_status rf_selector_parse(struct rf_selector *selector, const char *text, struct rf_error *error);

/* RF_EINVAL where it reads a field that no record has: some are there for the profiles of co-processors alone. */
rf_status rf_selector_recorded(const struct rf_selector *selector, struct rf_error *error);

/* Where a symbol is: writes up to `max` addresses and returns how many there are. `field` is what they are
 * compared with. */
typedef size_t (*rf_selector_resolve)(void *context, unsigned field, const char *symbol,
                                      uint64_t *addresses, size_t max);

/* Resolve the symbols, once and for all: RF_EINVAL where one is nowhere, and where a comparison by order has
 * several places to choose from. Print the selector before, if names are wanted in its text. */
rf_status rf_selector_bind(struct rf_selector *selector, rf_selector_resolve resolve, void *context,
                           struct rf_error *error);

/* Add the places that `resolve` knows of by now; may be called again and again. A condition whose symbols
 * are nowhere yet does not hold ("!=" does). Comparisons by order stay with the place that came first. */
rf_status rf_selector_bind_more(struct rf_selector *selector, rf_selector_resolve resolve,
                                void *context, struct rf_error *error);

/* Select from n records into `out`, which has room for n tuples. Returns how many were written.
 * A symbol that was not bound is nowhere. */
size_t rf_selector_run(const struct rf_selector *selector, const struct rf_record *records,
                       size_t n, struct rf_tuple *out);

/* The same for a selector with a weight: how often each tuple counts goes into `counts`. Tuples that count 0
 * times are left out. */
size_t rf_selector_weigh(const struct rf_selector *selector, const struct rf_record *records,
                         size_t n, struct rf_tuple *out, uint64_t *counts);

/* The selector as canonical text, terminated, cut to `size`. Returns the length needed. Parsing that
 * text gives the same selector. */
size_t rf_selector_print(const struct rf_selector *selector, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
