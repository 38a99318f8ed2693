/* Any bytes as a stream of lackey. */
#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    return import_bytes("lackey", bytes, n);
}
