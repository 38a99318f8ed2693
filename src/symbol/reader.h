/* reader.h - inside of the child: what reader.c, plt.c and places.c share of libdw. */
#ifndef RF_SYMBOL_READER_H
#define RF_SYMBOL_READER_H

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include "symbol/symbol.h"

struct rf_reader {
    const struct rf_job *job;
    struct rf_wire *wire;
    Dwfl *dwfl;
    Dwfl_Module *module; /* reported at its own link addresses: an address is a link address */
    Elf *elf;
};

/* Names for the stubs of the procedure linkage table: "malloc@plt". */
void rf_reader_plt(struct rf_reader *reader);

/* Functions, files and lines by debug information. */
void rf_reader_spots(struct rf_reader *reader);
void rf_reader_lines(struct rf_reader *reader);

#endif
