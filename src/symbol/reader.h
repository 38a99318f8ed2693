/* reader.h - inside of the child: what reader.c, plt.c, places.c and inlined.c share of libdw. */
#ifndef RF_SYMBOL_READER_H
#define RF_SYMBOL_READER_H

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include "symbol/symbol.h"

struct rf_reader {
    const struct rf_job *job;
    struct rf_wire *wire;
    Dwfl_Callbacks callbacks;
    char *debug_path;
    Dwfl *dwfl;
    Dwfl_Module *module; /* reported at its own link addresses: an address is a link address */
    Elf *elf;
    struct rf_places *places; /* of places.c; NULL: not asked yet */
    bool is_open;
};

/* Of several names for one address, the one with the smallest rank is shown. */
uint8_t rf_reader_rank(const GElf_Sym *symbol, const char *name);

/* Names for the stubs of the procedure linkage table: "malloc@plt". */
void rf_reader_plt(struct rf_reader *reader);

/* Functions of a stripped file: "function at 0x1234". */
void rf_reader_frames(struct rf_reader *reader);

/* The functions of one unit of compilation that have code. Zero to begin with; free `at`. */
struct rf_function {
    Dwarf_Addr lo, hi;
    Dwarf_Die die;
};
struct rf_functions {
    const void *unit; /* which one was listed last */
    struct rf_function *at;
    size_t n, room;
};
/* Kinds of entries (DW_TAG_) below which functions are: namespaces and types; and below which code is, inside of a
 * function. */
bool rf_scope_holds_functions(int tag);
bool rf_scope_is_block(int tag);
/* The function at an address, then the functions inlined there, outermost first; 0: none is known.
 * Of more than RF_SCOPES_MAX the last is the innermost. */
enum { RF_SCOPES_MAX = RF_INLINED_MAX + 1 };
size_t rf_scopes_find(struct rf_functions *functions, Dwarf_Die *unit, Dwarf_Addr address,
                      Dwarf_Die scopes[RF_SCOPES_MAX]);

/* Functions, files and lines by debug information. */
void rf_reader_spots(struct rf_reader *reader);
void rf_reader_lines(struct rf_reader *reader);
void rf_reader_forget(struct rf_reader *reader); /* what these two have kept */
/* The name for people, the one for the linker and the parameters, each of RF_WIRE_TEXT_MAX bytes. */
void rf_reader_name(Dwarf_Die *die, char *name, char *linkage, char *parameters);

/* Copies of functions that were inlined. */
void rf_reader_inlined(struct rf_reader *reader);

#endif
