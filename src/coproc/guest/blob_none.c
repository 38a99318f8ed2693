/* blob_none.c - no compiler for the simulated core was there when Riffle was built. */
#include "coproc/guest/blob.h"

const unsigned char rf_coproc_blob[] = {0};
const size_t rf_coproc_blob_size = 0;
