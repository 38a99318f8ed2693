/* blob.h - the handlers' code for the simulated core. Where there was no compiler for it, the size is 0. */
#ifndef RF_DISE_GUEST_BLOB_H
#define RF_DISE_GUEST_BLOB_H

#include <stddef.h>

extern const unsigned char rf_dise_blob[];
extern const size_t rf_dise_blob_size;

#endif
