/* option.h - options as tables: one row makes the parser, the help, the man page and the completion.
 *
 *     static const struct rf_option options[] = {
 *         {.name = "memory", .type = RF_OPTION_COUNT, .standard = "16Mi", .brief = "ceiling in bytes",
 *          .offset = offsetof(struct config, memory)},
 *         {.type = RF_OPTION_END},
 *     };
 *     rf_option_set_all(options, &config, "engine 'x': ", &error);            the standard values
 *     rf_option_set(&options[0], &config, "64Ki", 4, "engine 'x': ", &error); one as it was written
 *
 * Engines, simulated cores and commands use it. The config is a plain struct with one field per option, of
 * the type that the option's kind says. Errors are one sentence that begins with `whose` and the option's
 * name: "engine 'rap': eps must be a share such as 0.1% or 0.001, got 'x'". */
#ifndef RIFFLE_OPTION_H
#define RIFFLE_OPTION_H

#include <stddef.h>
#include <stdint.h>
#include <riffle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rf_option_type {
    RF_OPTION_END,    /* closes a table */
    RF_OPTION_COUNT,  /* uint64_t, written with units: 1M, 16K */
    RF_OPTION_SHARE,  /* double, written 0.001 or 0.1% */
    RF_OPTION_SWITCH, /* uint64_t 0 or 1, written yes/no, on/off, 1/0 */
    RF_OPTION_CHOICE, /* uint64_t, an index into `choices` */
};

struct rf_option {
    const char *name;
    enum rf_option_type type;
    const char *standard; /* the default, as text; passes through the same parser */
    const char *brief;
    const char *choices; /* RF_OPTION_CHOICE: "a|b|both"; COUNT: a word for 0, "auto" say */
    double min, max;     /* of COUNT and SHARE, both ends allowed; both 0: no limits */
    size_t offset;       /* of its field in the config */
};

/* The row with that name, of n characters; NULL: there is none. */
const struct rf_option *rf_option_find(const struct rf_option *table, const char *name, size_t n);
/* The name that was probably meant; NULL: none is near. */
const char *rf_option_nearest(const struct rf_option *table, const char *word);

/* Put a value of n characters into its field. */
rf_status rf_option_set(const struct rf_option *option, void *config, const char *value, size_t n,
                        const char *whose, struct rf_error *error);
/* Put the standard values into all fields. */
rf_status rf_option_set_all(const struct rf_option *table, void *config, const char *whose,
                            struct rf_error *error);

/* The value of the field as text that reads back, terminated, cut to `size`. Returns the length needed. */
size_t rf_option_print(const struct rf_option *option, const void *config, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
