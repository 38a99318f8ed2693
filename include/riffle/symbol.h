/* symbol.h - from the addresses of a run to function, file and line, and back.
 *
 *     struct rf_symbols *symbols;
 *     rf_symbols_open(&symbols, run, NULL, &error);
 *     rf_symbols_prepare(symbols, addresses, n);            all that will be asked, in one go
 *     rf_symbols_lookup(symbols, address, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &name);
 *     rf_symbols_close(symbols);
 *
 * Names come from the files that the run's modules name, nothing else: a file whose build id is not
 * the one noted in the run is not used. Files are read in a child process with limits, so that a
 * damaged one costs its names and no more; rf_symbols_problem tells what could not be read. A run
 * needs to list only what was mapped to be executed; data behind it is found from there. A module
 * whose path starts with '[' is no file but a kind of memory: "[heap]", "[stack]", "[anon]", "[vdso]".
 *
 * Every text handed out belongs to the rf_symbols and lives until it is closed. The run must outlive
 * it. One thread at a time. */
#ifndef RIFFLE_SYMBOL_H
#define RIFFLE_SYMBOL_H

#include <riffle/alloc.h>
#include <riffle/profile.h>
#include <riffle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_symbols;

#define RF_SYMBOLS_ANY_PROCESS UINT32_MAX
#define RF_SYMBOLS_ANY_TIME    UINT64_MAX

/* Zero is a good default for all. */
struct rf_symbols_setup {
    const struct rf_alloc *alloc;
    const char *debug_path; /* where separate debug files are; NULL: "/usr/lib/debug" */
    unsigned seconds_max;   /* for one file; 0: 30 */
    uint64_t memory_max;    /* bytes for the child; 0: 2 GiB */
};

/* A function that was inlined here: its name, and the place in it. */
struct rf_frame {
    const char *function;
    const char *file;
    uint32_t line;
    uint32_t start;         /* the line where the function begins */
    uint32_t discriminator; /* as DWARF has it: tells pieces of one line apart */
    const char
        *linkage; /* the function's name for the linker; as `function` where it has no other */
    const char *parameters; /* "(int) const" of a C++ function; "": not known */
};

/* What an address is called. No member is NULL; what is not known is "" or 0. */
struct rf_place_name {
    const char *module;   /* the last part of its path, or "[heap]" */
    const char *other;    /* a module that had the same address in another process or at another
                             time, and not just briefly: what was counted may have been there */
    const char *path;     /* of the module */
    const char *function; /* the symbol, demangled; of a data address the object */
    const char *section;  /* ".text", ".bss" */
    const char *file;     /* place in the source of `function`: of a call that was inlined, where
                             it stands */
    uint32_t line;
    int is_code; /* lies in something executable */
    uint64_t
        offset;    /* from the start of `function`; without one from the module's link address 0 */
    uint64_t link; /* the address as the module's file counts, what objdump shows */
    uint64_t
        begin; /* of a function without a name: its first address, counted like `link`; 0: not known */
    uint32_t start, discriminator; /* as in struct rf_frame */
    const char *linkage, *parameters;
    const struct rf_frame *inlined; /* innermost first; without `function` itself */
    size_t n_inlined;
};

/* Opening reads no file yet. */
rf_status rf_symbols_open(struct rf_symbols **symbols, const struct rf_run *run,
                          const struct rf_symbols_setup *setup, struct rf_error *error);
void rf_symbols_close(struct rf_symbols *symbols); /* NULL is fine */

/* Read what is needed for these addresses (of any process and time), one child per file. */
rf_status rf_symbols_prepare(struct rf_symbols *symbols, const uint64_t *addresses, size_t n);

/* `process` and `when` (an event's number) say which mapping is meant; with ANY the one of the file
 * that was there longest, in events. RF_EINVAL: no module is there, or `symbols` is NULL; the name
 * is then all empty. */
rf_status rf_symbols_lookup(struct rf_symbols *symbols, uint64_t address, uint32_t process,
                            uint64_t when, struct rf_place_name *name);

/* "deflate (deflate.c:120)", "hash (hash.h:7) in deflate (deflate.c:120)", "free+0x1c (libc.so.6)",
 * "gzip+0x1234", "gzip+0x8010 (.data)", "table+0x40 (.bss of gzip)", "[heap]"; with ", or in bash" behind it where `other` is there; terminated, cut to `size`. Returns the length
 * needed; 0 for an empty name. */
size_t rf_place_print(const struct rf_place_name *name, char *text, size_t size);

/* The function itself as a frame, without what was inlined into it. */
struct rf_frame rf_place_frame(const struct rf_place_name *name);

/* A function's addresses in one mapping of its module; of a copy that was inlined, those from its first instruction on
 * that follow each other. */
struct rf_symbol_range {
    uint64_t lo, hi; /* hi is the first address behind it */
    uint64_t link;   /* lo, as the module's file counts */
    uint32_t process;
    const char *function, *parameters; /* as in struct rf_frame */
    const char *path;
    int is_inlined;
};

/* Every function that the name fits. First those that it fits whole, as it is written in reports or mangled, and the
 * copies that the compiler made of them ("find_match" for find_match.constprop.0); then templates; then those whose last
 * part it is ("area" for Shape::area). A name with parameters fits the overload that has these. * and ? stand for other text.
 * Fills up to `max` and sets *n to how many there are, a few of them counted twice. */
rf_status rf_symbols_find(struct rf_symbols *symbols, const char *name,
                          struct rf_symbol_range *ranges, size_t max, size_t *n);
/* The same for the stubs through which files call functions of that name in others: malloc@plt for "malloc". */
rf_status rf_symbols_find_stubs(struct rf_symbols *symbols, const char *name,
                                struct rf_symbol_range *ranges, size_t max, size_t *n);
/* The same for copies of functions that were inlined into others, by debug information. One that was inlined everywhere
 * has no code of its own, and is found only here. Takes long where there is much debug information. */
rf_status rf_symbols_find_inlined(struct rf_symbols *symbols, const char *name,
                                  struct rf_symbol_range *ranges, size_t max, size_t *n);
/* "over(int), over(double) and 3 more": the different functions that a name without parameters means; with `exact`, those
 * that reports write so. Copies that the compiler or libc made count as their function. Returns how many they are; 0,
 * and no text, for a name with parameters, * or ?. */
size_t rf_symbols_meanings(struct rf_symbols *symbols, const char *name, int exact, char *text,
                           size_t size);
/* The function whose name is written most alike; NULL when none is near. */
const char *rf_symbols_nearest(struct rf_symbols *symbols, const char *name);

/* What a range of addresses (both ends in) covers: functions of code, else objects, sections or the
 * kind of memory: "deflate, fill_window and 3 more (gzip)", ".bss of gzip", "[heap]". Returns the
 * length needed; 0 where nothing is known. */
size_t rf_symbols_name_range(struct rf_symbols *symbols, uint64_t lo, uint64_t hi, char *text,
                             size_t size);

/* The source lines of the code in lo..hi-1, by address. */
struct rf_symbol_line {
    uint64_t address;
    const char *file;
    uint32_t line;
};
rf_status rf_symbols_lines(struct rf_symbols *symbols, uint64_t lo, uint64_t hi,
                           const struct rf_symbol_line **lines, size_t *n);

/* What could not be read, one sentence per file; NULL past the last. */
const char *rf_symbols_problem(const struct rf_symbols *symbols, size_t i);

/* Is there a filter of system calls around whatever reads ELF files and debug information? 0: this system has none, and
 * limits on memory and time are all that holds a reader that its file has taken over. */
int rf_symbols_fenced(void);

/* In a child that becomes another reader of such files, as objdump is: no rights are gained from here on, and the same
 * fence stands around it, with a gate for execve. Does nothing more where there is no fence. */
void rf_symbols_fence_program(void);

/* The build id of an ELF file as hex, for rf_module.build_id. For a file that was linked without one it is "code-" and
 * a checksum of the code; "" and 0 for what is no 64-bit ELF file with code. Returns the length; 129 bytes are always
 * enough. */
size_t rf_symbols_build_id(const char *path, char *text, size_t size);

/* A C++ or Rust name as people write it; what is not mangled stays as it is. Returns the length. */
size_t rf_symbols_demangle(const char *mangled, char *text, size_t size);
/* The same with parameters: "geo::Shape::area(int) const". */
size_t rf_symbols_full_name(const char *mangled, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
