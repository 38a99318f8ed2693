/* rfp.h - a .rfp file around any payload, with everything right but the payload.
 *
 * Checksums keep accidents away from the decoder; this is how its own checks are reached. */
#ifndef RF_TESTS_RFP_H
#define RF_TESTS_RFP_H

#include <stdlib.h>
#include <zstd.h>
#include "base/bytes.h"
#include "base/checksum.h"
#include "profile/file.h"

/* The caller frees the file; NULL: no memory. */
static unsigned char *rfp_wrap(const unsigned char *payload, size_t n, size_t *length)
{
    size_t most = ZSTD_compressBound(n);
    unsigned char *file = calloc(1, RF_RFP_HEADER + most);
    if (file == NULL)
        return NULL;
    size_t packed = ZSTD_compress(file + RF_RFP_HEADER, most, payload, n, 1);
    memcpy(file, rf_rfp_magic, sizeof rf_rfp_magic);
    rf_store32(file + RF_RFP_AT_VERSION, RF_RFP_VERSION);
    rf_store64(file + RF_RFP_AT_LENGTH, n);
    rf_store64(file + RF_RFP_AT_PACKED, packed);
    rf_store64(file + RF_RFP_AT_CHECKSUM, rf_checksum(file + RF_RFP_HEADER, packed));
    rf_store64(file + RF_RFP_AT_HEADER_CHECKSUM, rf_checksum(file, RF_RFP_AT_HEADER_CHECKSUM));
    *length = RF_RFP_HEADER + packed;
    return file;
}

#endif
