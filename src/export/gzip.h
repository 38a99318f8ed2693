/* gzip.h - bytes, compressed where zlib is there. */
#ifndef RF_EXPORT_GZIP_H
#define RF_EXPORT_GZIP_H

#include <stdio.h>
#include <riffle/status.h>

/* gzip.c with zlib, gzip_none.c without: the bytes as they are, which pprof reads as well. */
rf_status rf_gzip_write(FILE *out, const void *bytes, size_t n);

#endif
