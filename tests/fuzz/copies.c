/* copies.c - any text as assembler: it is changed, or it stays as it is. */
#include "copies.h"
#include "fuzz.h"
#include "inplace.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n;
    if (memchr(data, '\0', size) != NULL)
        return 0;
    free(cli_copies((const char *)data, size, &n));
    free(cli_inplace((const char *)data, size, &n));
    return 0;
}
