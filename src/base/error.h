/* error.h - leave a sentence behind a failure.
 *
 *     return rf_fail(error, RF_EINVAL, "line %llu: '%s' is no number", line, word);
 *
 * The formatter is our own, since this folder calls no libc: %s %.*s %c %d %u %x %% with l, ll and
 * z, a width and zero padding for the numbers. That is a subset of printf, so the compiler checks
 * the arguments. */
#ifndef RF_BASE_ERROR_H
#define RF_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>
#include <riffle/status.h>

#define RF_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* Returns the status it was given. A NULL error is fine. */
rf_status rf_fail(struct rf_error *error, rf_status status, const char *format, ...)
    RF_PRINTF(3, 4);

/* The analyzer does not look into variadic functions; the macro shows it what they return. */
#ifdef __clang_analyzer__
#define rf_fail(error, status, ...) (rf_fail(error, status, __VA_ARGS__), (status))
#endif

/* Like snprintf: terminated, cut to `size`; returns the length that the whole text needs. */
size_t rf_format(char *text, size_t size, const char *format, ...) RF_PRINTF(3, 4);
/* The rest of `text` after its first n characters: a pointer and a size, the next two arguments. */
#define RF_REST(text, size, n)                                                                     \
    (text) + ((n) < (size) ? (n) : (size)), ((n) < (size) ? (size) - (n) : 0)

size_t rf_format_list(char *text, size_t size, const char *format, va_list arguments)
    RF_PRINTF(3, 0);

/* A text that is added to. What does not fit is cut, and counted all the same. */
struct rf_text_out {
    char *at;
    size_t size, n;
};
void rf_text_add(struct rf_text_out *out, const char *format, ...) RF_PRINTF(2, 3);

#endif
