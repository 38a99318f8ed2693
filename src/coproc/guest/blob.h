/* blob.h - the handlers' code for the simulated core. Where there was no compiler for it, the size is 0. */
#ifndef RF_COPROC_BLOB_H
#define RF_COPROC_BLOB_H

#include <stddef.h>

extern const unsigned char rf_coproc_blob[];
extern const size_t rf_coproc_blob_size;

#endif
