/* file.h - the .rfp file between its writer and its reader; doc/FORMATS.md has the layout. */
#ifndef RF_PROFILE_FILE_H
#define RF_PROFILE_FILE_H

#include <stdint.h>
#include <riffle/profile.h>
#include "base/magic.h"

enum {
    RF_RFP_VERSION = 1,
    RF_RFP_HEADER = 48,
    /* Fields of the header. */
    RF_RFP_AT_VERSION = 8,
    RF_RFP_AT_FLAGS = 12,
    RF_RFP_AT_LENGTH = 16,
    RF_RFP_AT_PACKED = 24,
    RF_RFP_AT_CHECKSUM = 32,
    RF_RFP_AT_HEADER_CHECKSUM = 40,
};

/* The most bytes that a payload may have before compression: this many in any case, and otherwise a multiple
 * of the file's size, so that a small file costs little memory. A writer whose file compresses better than
 * this pads it with a frame that zstd skips. */
#define RF_RFP_LENGTH_MAX  (UINT64_C(1) << 32)
#define RF_RFP_LENGTH_FREE (UINT64_C(1) << 20)
enum { RF_RFP_RATIO_MAX = 128 };

extern const unsigned char rf_rfp_magic[RF_MAGIC_SIZE];

/* Bytes from an allocator, as many as `room`, of which n are in use. */
struct rf_bytes {
    unsigned char *bytes;
    size_t n, room;
};

void rf_bytes_free(struct rf_bytes *bytes, const struct rf_alloc *alloc);
rf_status rf_bytes_reserve(struct rf_bytes *bytes, const struct rf_alloc *alloc, size_t more);

/* The whole file. The same run gives the same bytes. */
rf_status rf_run_encode(const struct rf_run *run, struct rf_bytes *file, struct rf_error *error);

/* Whether the numbers of a profile agree with each other. Checked when a profile is saved and when it is loaded.
 * Returns what is wrong, or NULL. */
const char *rf_profile_contradiction(const struct rf_profile *profile);

/* The same for a profile from outside: also that no two items claim the same events. *wrong is NULL or says what
 * is wrong. RF_ENOMEM or RF_OK. */
rf_status rf_profile_check(const struct rf_profile *profile, const char **wrong);

#endif
