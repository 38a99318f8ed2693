/* names.h - inside of src/symbol: what the public calls in symbols.c, lookup.c and ranges.c share. */
#ifndef RF_SYMBOL_NAMES_H
#define RF_SYMBOL_NAMES_H

#include "symbol/symbol.h"

#define NO_FILE SIZE_MAX
#define NO_ROW  SIZE_MAX

struct rf_symbols {
    struct rf_alloc alloc;
    struct rf_arena arena;
    const struct rf_run *run;
    uint64_t last_event; /* of the run */
    const char *debug_path;
    struct rf_limits limits;
    size_t *file_of;      /* by row of run->modules; NO_FILE: a kind of memory */
    const char **kind_of; /* by row: what a kind of memory is called; NULL: not asked yet */
    RF_LIST(struct rf_file) files;
};

/* Where an address lies. */
struct where {
    size_t row;           /* of run->modules */
    size_t other;         /* a row of another file at the same address; NO_ROW: none */
    struct rf_file *file; /* NULL: a kind of memory */
    uint64_t link;        /* the offset in the file where nothing else is known */
    bool linked;          /* `link` is a link address */
};

rf_status rf_names_where(struct rf_symbols *symbols, uint64_t address, uint32_t process,
                         uint64_t when, struct where *where);
size_t rf_names_row(const struct rf_symbols *symbols, uint64_t address, uint32_t process,
                    uint64_t when, size_t *other);
/* Address - link address, in one mapping; false where the file does not tell. */
bool rf_names_bias(const struct rf_file *file, const struct rf_module *module, uint64_t *bias);
/* Of a row that is a kind of memory: "[heap]", "[mapped by make_graph (graph.c:120)]". */
const char *rf_names_kind(struct rf_symbols *symbols, size_t row);
/* Run a job for a file, in a child that is kept for more. */
unsigned rf_names_ask(struct rf_symbols *symbols, struct rf_file *file, const struct rf_job *job,
                      char death[128], rf_status *status);
struct rf_job rf_names_job(const struct rf_symbols *symbols, const struct rf_file *file);
rf_status rf_names_read_table(struct rf_symbols *symbols, struct rf_file *file);
/* Find the answers for these link addresses, none of which is known yet. */
rf_status rf_names_read_spots(struct rf_symbols *symbols, struct rf_file *file,
                              const uint64_t *links, size_t n);

/* ranges.c: different names in the order they come, the first few kept. */
enum { RF_NAMES_MAX = 3 };
struct rf_names {
    const char *at[RF_NAMES_MAX];
    size_t n;
};
void rf_names_add(struct rf_names *names, const char *name);
/* "a, b, c and 4 more" */
size_t rf_names_print(const struct rf_names *names, char *text, size_t size);

#endif
