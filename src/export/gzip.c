/* gzip.c - bytes compressed by zlib, in the format of gzip. */
#include "export/gzip.h"
#include <zlib.h>

enum { GZIP_WINDOW = 15 + 16, STEP = 1 << 20 };

rf_status rf_gzip_write(FILE *out, const void *bytes, size_t n)
{
    unsigned char packed[16 * 1024] = {0};
    z_stream stream = {.next_in = (z_const Bytef *)bytes};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return RF_ENOMEM;
    int status = Z_OK;
    while (status == Z_OK || status == Z_BUF_ERROR) {
        if (stream.avail_in == 0) {
            stream.avail_in = (uInt)(n < STEP ? n : STEP);
            n -= stream.avail_in;
        }
        stream.next_out = packed;
        stream.avail_out = sizeof packed;
        status = deflate(&stream, n == 0 ? Z_FINISH : Z_NO_FLUSH);
        fwrite(packed, 1, sizeof packed - stream.avail_out, out);
    }
    deflateEnd(&stream);
    return status == Z_STREAM_END && !ferror(out) ? RF_OK : RF_EIO;
}
