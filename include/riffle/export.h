/* export.h - a run in the formats of other tools. One form, one file in src/export.
 *
 *     const struct rf_export_form *form = rf_export_find("callgrind");
 *     rf_export_write(form, out, run, &(struct rf_export_setup){.symbols = symbols, .tell = print}, &error);
 *
 * A form takes what its format can hold of all profiles of the run, and tells in plain sentences what it left out.
 * Bounds go along where the format has room for them. Names may be any bytes; every form writes them so that its readers
 * see a name and nothing else. */
#ifndef RIFFLE_EXPORT_H
#define RIFFLE_EXPORT_H

#include <stdio.h>
#include <riffle/profile.h>
#include <riffle/symbol.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero is a good default for all. */
struct rf_export_setup {
    struct rf_symbols *symbols; /* NULL: no names */
    /* Called with a sentence for each thing that the file does not carry; may be NULL. */
    void (*tell)(void *context, const char *sentence);
    void *context;
};

struct rf_export_maker; /* inside of the library */

struct rf_export_form {
    const char *name;
    const char *brief;
    const char *reader; /* the program that reads it */
    const struct rf_export_maker *maker;
    int is_binary; /* nothing for a terminal */
};

const struct rf_export_form *rf_export_find(const char *name); /* NULL: no such form */
const struct rf_export_form *rf_export_forms(void);            /* closed by one without a name */

/* RF_ENOTSUP, with a sentence: the run has nothing for this form. RF_EIO: a write to `out` failed. */
rf_status rf_export_write(const struct rf_export_form *form, FILE *out, const struct rf_run *run,
                          const struct rf_export_setup *setup, struct rf_error *error);

#ifdef __cplusplus
}
#endif
#endif
