/* Any bytes as a stream of drmemtrace. */
#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    return import_bytes("drmemtrace", bytes, n);
}
