/* symbol.h - inside of src/symbol: what passes between the reader in the child and the names here.
 *
 *     symbols.c --job--> child.c --fork, socket--> reader.c (libdw) --wire--> pipe --> wire.c --> struct rf_file
 *
 * The child is not trusted: it reads files that may be hostile. Whatever comes over the pipe is
 * checked before it is used, and a crash or a hang there only costs names. */
#ifndef RF_SYMBOL_SYMBOL_H
#define RF_SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <riffle/symbol.h>
#include "base/alloc.h"

/* ---- arena.c: texts that live as long as the rf_symbols ---- */

struct rf_arena {
    const struct rf_alloc *alloc;
    struct rf_arena_chunk *chunks;
};

void *rf_arena_get(struct rf_arena *arena, size_t size); /* aligned to 8; NULL: no memory */
const char *rf_arena_text(struct rf_arena *arena, const char *text, size_t n);
void rf_arena_release(struct rf_arena *arena);

/* ---- what is known about one file ---- */

struct rf_segment {
    uint64_t offset, link, file_size, memory_size;
    bool executable;
};

struct rf_section {
    uint64_t link, size;
    const char *name;
    bool executable;
};

enum rf_symbol_kind {
    RF_SYMBOL_FUNCTION,
    RF_SYMBOL_OBJECT,
    RF_SYMBOL_INLINED, /* a copy of a function inside of another one */
};
enum { RF_RANK_NAMELESS = 255 }; /* of "function at 0x1234": only where it lies is known */

struct rf_symbol {
    uint64_t lo, hi; /* link addresses, hi excluded */
    uint64_t reach;  /* the highest hi of this and all before it */
    const char *name;
    const char *parameters; /* "(int) const"; "": not known */
    uint8_t kind;           /* enum rf_symbol_kind */
    uint8_t rank;           /* of two at the same address, the smaller is shown */
};

/* Nothing is known: no text is NULL. */
static const struct rf_frame rf_frame_unknown = {
    .function = "", .file = "", .linkage = "", .parameters = ""};

/* The answer for one address. */
struct rf_spot {
    uint64_t link;
    uint64_t lo, hi;     /* of the function, where debug information has one the symbols have not */
    struct rf_frame own; /* the function itself */
    uint32_t n_inlined;
    const struct rf_frame *inlined;
};

#define RF_LIST(type)                                                                              \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t n, room;                                                                            \
    }

enum rf_job_depth {
    RF_JOB_FULL, /* with separate debug files */
    RF_JOB_BARE, /* the file alone */
};

/* A process that reads one file, and keeps what it has read of it. Zero: there is none. */
struct rf_child {
    int pid, socket, pipe;
    enum rf_job_depth depth;
};

struct rf_file {
    const char *path;
    const char *name; /* the last part of path */
    const char *build_id;
    bool table_read;
    bool bare;           /* read without separate debug files, which were too much for it */
    bool dead;           /* nothing more can be had */
    const char *problem; /* a sentence, or NULL */
    struct rf_child child;
    RF_LIST(struct rf_segment) segments;
    RF_LIST(struct rf_section) sections;
    RF_LIST(struct rf_symbol) symbols;    /* by address once read */
    RF_LIST(struct rf_symbol) inlined;    /* copies of the functions last asked for */
    RF_LIST(struct rf_spot) spots;        /* by link once read */
    RF_LIST(struct rf_symbol_line) lines; /* of the last range asked; link addresses */
};

void rf_file_release(struct rf_file *file, const struct rf_alloc *alloc);

/* ---- table.c: the symbols of a file ---- */

void rf_symbol_table_sort(struct rf_file *file);
const struct rf_symbol *rf_symbol_table_at(const struct rf_file *file, uint64_t link);
const struct rf_section *rf_symbol_table_section(const struct rf_file *file, uint64_t link);
/* The segment behind a mapping of `size` bytes from `offset` of the file; NULL: none. */
const struct rf_segment *rf_symbol_table_segment(const struct rf_file *file, uint64_t offset,
                                                 uint64_t size);
bool rf_symbol_table_holds(const struct rf_file *file,
                           uint64_t link); /* in memory, zeroed data too */
const struct rf_spot *rf_symbol_table_spot(const struct rf_file *file, uint64_t link);
void rf_symbol_table_sort_spots(struct rf_file *file);

/* ---- the job and its reader ---- */

struct rf_job {
    const char *path;
    const char *build_id; /* "": any */
    const char *debug_path;
    enum rf_job_depth depth;
    bool table;            /* segments, sections, symbols */
    const uint64_t *links; /* addresses to name */
    size_t n_links;
    uint64_t lines_lo, lines_hi; /* source lines of this range; equal: none */
    const char *inlined;         /* copies of functions of this name; NULL: not asked */
};

struct rf_wire; /* where the reader writes */

/* reader.c with libdw, reader_none.c without. Runs in the child. All jobs of a child are of one file and depth; *kept is NULL
 * at first, then what the reader wants to keep for the next one. */
void rf_reader_run(const struct rf_job *job, struct rf_wire *wire, void **kept);
/* Free what was kept. A child ends without it; who reads many files in one process needs it. */
void rf_reader_end(void *kept);

/* ---- wire.c ---- */

enum { RF_WIRE_TEXT_MAX = 4096, RF_INLINED_MAX = 63 };

/* demangle.c: a name for the linker as the name in reports and its parameters, which are "" where it has none. */
void rf_symbol_split(const char *mangled, char name[RF_WIRE_TEXT_MAX],
                     char parameters[RF_WIRE_TEXT_MAX]);

struct rf_wire {
    int fd;
    bool failed;
    size_t n;
    uint8_t bytes[1100 * 1024]; /* the longest frame: a spot with RF_INLINED_MAX functions */
};

void rf_wire_problem(struct rf_wire *wire, const char *sentence);
void rf_wire_segment(struct rf_wire *wire, const struct rf_segment *segment);
void rf_wire_section(struct rf_wire *wire, const struct rf_section *section);
void rf_wire_symbol(struct rf_wire *wire, const struct rf_symbol *symbol);
void rf_wire_spot(struct rf_wire *wire, const struct rf_spot *spot);
void rf_wire_line(struct rf_wire *wire, const struct rf_symbol_line *line);
void rf_wire_end(struct rf_wire *wire, bool of_table); /* that part is whole */
void rf_wire_flush(struct rf_wire *wire);

enum rf_wire_ends { RF_WIRE_TABLE_WHOLE = 1, RF_WIRE_ALL_WHOLE = 2 };

/* Decode n bytes into `file`; stops at the first frame that makes no sense. Returns the ends that were seen,
 * an or of rf_wire_ends; *status is RF_ENOMEM where memory ran out. */
unsigned rf_wire_decode(struct rf_file *file, struct rf_arena *arena, const uint8_t *bytes,
                        size_t n, rf_status *status);

/* ---- child.c ---- */

struct rf_limits {
    unsigned seconds;
    uint64_t memory;
};

/* Run the job in the child of `file`, which is started where there is none; what it wrote goes into `file`. Returns
 * the ends seen; a sentence on how the child died is left in `death`, "" when it did not. */
unsigned rf_child_run(struct rf_file *file, const struct rf_job *job,
                      const struct rf_limits *limits, struct rf_arena *arena, char death[128],
                      rf_status *status);
void rf_child_end(struct rf_child *child);

/* fence.c: from here on this process can read files, get memory, answer and end, and nothing else. */
void rf_child_fence(void);

#endif
