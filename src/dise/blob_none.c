/* blob_none.c - no compiler for the simulated core was there when Riffle was built. */
#include "dise/blob.h"

const unsigned char rf_dise_blob[] = {0};
const size_t rf_dise_blob_size = 0;
