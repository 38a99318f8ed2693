/* export.h - what the forms share: names of places, costs by instruction, stacks, texts by number.
 *
 * To add a form: one file with a `const struct rf_export_maker rf_export_NAME`, a row in forms.c. */
#ifndef RF_EXPORT_EXPORT_H
#define RF_EXPORT_EXPORT_H

#include <stdbool.h>
#include <riffle/export.h>
#include "base/alloc.h"
#include "base/error.h"
#include "view/words.h"

/* What is being written, and from what. */
struct rf_export {
    FILE *out;
    const struct rf_run *run;
    const struct rf_export_setup *setup;
    struct rf_alloc alloc;
    struct rf_error *error;
};

/* What the file does not carry, as a sentence for the user. */
void rf_export_tell(const struct rf_export *export, const char *format, ...) RF_PRINTF(2, 3);

/* ---- profiles ---- */

/* How a profile's events are called in a format that wants one word: "Ir", "loads", "indirect_calls". Of two that
 * would be called alike, the second has its number behind it. `profile` is its index in the run. */
enum { RF_EXPORT_NAME_MAX = 48 };
void rf_export_event(const struct rf_export *export, size_t profile, char name[RF_EXPORT_NAME_MAX]);

bool rf_export_is_stacks(const struct rf_profile *profile);
bool rf_export_is_calls(const struct rf_profile *profile); /* caller's pc and target, all calls */
/* Does it count by instruction, and is it shown on its own? Stacks do not. */
bool rf_export_is_by_pc(const struct rf_profile *profile);
/* The first profile of stacks; NULL: none. */
const struct rf_profile *rf_export_stacks_of(const struct rf_export *export);
/* The same for a form that takes nothing else: it tells what is left out; without one `error` says that it needs one. */
const struct rf_profile *rf_export_only_stacks(const struct rf_export *export, const char *form);
/* Tell of profiles that `takes` does not take. */
void rf_export_tell_left_out(const struct rf_export *export,
                             bool (*takes)(const struct rf_profile *profile));

/* ---- places ---- */

struct rf_export_place {
    struct rf_place_name name;
    uint64_t
        entry; /* the word of the function's first instruction; the address itself without a function */
    uint64_t address; /* as the program had it */
};

/* Read the names of these words and of the functions they are in. */
rf_status rf_export_prepare(const struct rf_export *export, const uint64_t *words, size_t n);
/* The same for one word of every item. */
enum rf_export_word { RF_EXPORT_A, RF_EXPORT_B };
rf_status rf_export_prepare_items(const struct rf_export *export, const struct rf_profile *profile,
                                  enum rf_export_word word);
void rf_export_find_place(const struct rf_export *export, uint64_t word,
                          struct rf_export_place *place);
/* "spread", "libc.so.6+0x1234", "0x1234"; as a terminal may show it. */
enum { RF_EXPORT_TEXT_MAX = 64 * 1024 };
void rf_export_function(const struct rf_export_place *place, char text[RF_EXPORT_TEXT_MAX]);
/* The innermost file and line: of code that was inlined, its own. */
struct rf_frame rf_export_innermost(const struct rf_export_place *place);

/* ---- sites.c: costs by instruction ---- */

struct rf_export_site {
    uint64_t word; /* the address, with the collector's number of the program */
    uint64_t count, lower, upper;
};
struct rf_export_sites {
    struct rf_export_site *at;
    size_t n;
    uint8_t bound; /* enum rf_bound */
};
/* Totals per pc are used where the run has them. Names are ready. */
rf_status rf_export_sites_open(struct rf_export_sites *sites, const struct rf_export *export,
                               const struct rf_profile *profile);
void rf_export_sites_close(struct rf_export_sites *sites, const struct rf_export *export);

/* ---- stacks.c: samples of the call stack, one by one ---- */

enum { RF_EXPORT_DEPTH_MAX = 512 };
struct rf_export_stack {
    const uint64_t *words; /* the outermost frame first; callers stand at their call */
    size_t n;
    uint64_t samples; /* with exactly these frames */
};
typedef rf_status rf_export_stack_do(void *context, const struct rf_export_stack *stack);
/* Calls `take` for each stack, callers before callees. Names are ready. A status other than RF_OK ends it. */
rf_status rf_export_stacks(const struct rf_export *export, const struct rf_profile *profile,
                           rf_export_stack_do *take, void *context);

/* ---- texts.c: texts by number, each once ---- */

struct rf_export_texts {
    struct rf_alloc alloc;
    char **at; /* text 0 is "" */
    uint32_t n, room;
    uint32_t *hashed; /* number + 1 */
    uint32_t n_hashed;
};
rf_status rf_export_texts_open(struct rf_export_texts *texts, const struct rf_alloc *alloc);
void rf_export_texts_close(struct rf_export_texts *texts);
/* Its number, new if need be. */
rf_status rf_export_text(struct rf_export_texts *texts, const char *text, uint32_t *number);

/* What writes a form. Its own state is zeroed before and freed after; size 0: none. */
struct rf_export_maker {
    size_t state_size;
    rf_status (*write)(const struct rf_export *asked, void *state);
};

extern const struct rf_export_maker rf_export_callgrind, rf_export_pprof, rf_export_collapsed,
    rf_export_speedscope, rf_export_perf, rf_export_llvm, rf_export_sqlite;

#endif
