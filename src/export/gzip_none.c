/* gzip_none.c - without zlib: the bytes as they are. */
#include "export/gzip.h"

rf_status rf_gzip_write(FILE *out, const void *bytes, size_t n)
{
    return fwrite(bytes, 1, n, out) == n ? RF_OK : RF_EIO;
}
