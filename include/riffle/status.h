/* status.h - how every call of the library says what went wrong.
 *
 * A function that can fail returns an rf_status: RF_OK is 0, everything else is negative. Where a
 * caller would want a sentence, the function also takes a `struct rf_error *` and leaves one there
 * that names the place ("line 12: ..."). The error pointer may be NULL. The library never prints,
 * never exits and keeps no global state. */
#ifndef RIFFLE_STATUS_H
#define RIFFLE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef int rf_status;

enum {
    RF_OK = 0,
    RF_EINVAL = -1,   /* the caller's input (text, options) makes no sense */
    RF_ENOMEM = -2,   /* an allocation failed, or a memory ceiling was reached */
    RF_EIO = -3,      /* the operating system refused to read or write */
    RF_EDAMAGED = -4, /* a file or stream is truncated or corrupt; what was whole was used */
    RF_EVERSION = -5, /* a file of a newer format version */
    RF_ENOTSUP = -6,  /* the thing asked for cannot do this (an engine without merge, say) */
    RF_ESTOPPED = -7, /* stopped on request; what was counted so far is valid */
};

struct rf_error {
    char message[512]; /* one sentence, no newline, always terminated */
};

/* The status as a short phrase, for when there is no sentence. Never NULL. */
const char *rf_status_text(rf_status status);

#ifdef __cplusplus
}
#endif
#endif
