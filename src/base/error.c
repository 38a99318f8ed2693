/* error.c - status phrases and the small formatter behind every message of the library. */
#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>

const char *rf_status_text(rf_status status)
{
    switch (status) {
    case RF_OK:
        return "ok";
    case RF_EINVAL:
        return "invalid input";
    case RF_ENOMEM:
        return "out of memory";
    case RF_EIO:
        return "input or output failed";
    case RF_EDAMAGED:
        return "damaged or truncated data";
    case RF_EVERSION:
        return "made by a newer version";
    case RF_ENOTSUP:
        return "not supported";
    case RF_ESTOPPED:
        return "stopped";
    default:
        return "unknown status";
    }
}

struct output {
    char *text;
    size_t size;
    size_t length; /* of the whole text, even past `size` */
};

static void put(struct output *out, char c)
{
    if (out->length + 1 < out->size)
        out->text[out->length] = c;
    out->length++;
}

static void put_string(struct output *out, const char *s, size_t most)
{
    if (s == NULL)
        s = "(none)";
    for (size_t i = 0; i < most && s[i] != '\0'; i++)
        put(out, s[i]);
}

struct conversion {
    unsigned base;
    size_t width;
    char pad;
};

static void put_number(struct output *out, uint64_t n, bool negative, const struct conversion *how)
{
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = "0123456789abcdef"[n % how->base];
        n /= how->base;
    } while (n > 0);
    if (negative && how->pad == '0')
        put(out, '-');
    for (size_t i = count + negative; i < how->width; i++)
        put(out, how->pad);
    if (negative && how->pad != '0')
        put(out, '-');
    while (count > 0)
        put(out, digits[--count]);
}

enum size_of_argument { SIZE_INT, SIZE_LONG, SIZE_LLONG };

static enum size_of_argument read_size(const char **format)
{
    enum size_of_argument size = SIZE_INT;
    if (**format == 'z') {
        size = SIZE_LONG;
        (*format)++;
    }
    while (**format == 'l') {
        size = size == SIZE_INT ? SIZE_LONG : SIZE_LLONG;
        (*format)++;
    }
    return size;
}

/* va_list is an array type on some systems: wrapped so that it can be passed by address. */
struct arguments {
    va_list list;
};

static uint64_t next_unsigned(struct arguments *arguments, enum size_of_argument size)
{
    if (size == SIZE_INT)
        return va_arg(arguments->list, unsigned);
    if (size == SIZE_LONG)
        return va_arg(arguments->list, unsigned long);
    return va_arg(arguments->list, unsigned long long);
}

static int64_t next_signed(struct arguments *arguments, enum size_of_argument size)
{
    if (size == SIZE_INT)
        return va_arg(arguments->list, int);
    if (size == SIZE_LONG)
        return va_arg(arguments->list, long);
    return va_arg(arguments->list, long long);
}

static void put_signed(struct output *out, int64_t n, const struct conversion *how)
{
    put_number(out, n < 0 ? 0 - (uint64_t)n : (uint64_t)n, n < 0, how);
}

/* One conversion; `format` stands behind the '%'. Returns where it ends. */
static const char *put_conversion(struct output *out, const char *format,
                                  struct arguments *arguments)
{
    struct conversion how = {.base = 10, .width = 0, .pad = ' '};
    size_t most = SIZE_MAX;
    if (*format == '0') {
        how.pad = '0';
        format++;
    }
    for (; *format >= '0' && *format <= '9'; format++)
        how.width = how.width * 10 + (size_t)(*format - '0');
    if (format[0] == '.' && format[1] == '*') {
        int precision = va_arg(arguments->list, int);
        most = precision < 0 ? SIZE_MAX : (size_t)precision;
        format += 2;
    }
    enum size_of_argument size = read_size(&format);
    switch (*format) {
    case 's':
        put_string(out, va_arg(arguments->list, const char *), most);
        break;
    case 'c':
        put(out, (char)va_arg(arguments->list, int));
        break;
    case 'd':
        put_signed(out, next_signed(arguments, size), &how);
        break;
    case 'x':
        how.base = 16;
        put_number(out, next_unsigned(arguments, size), false, &how);
        break;
    case 'u':
        put_number(out, next_unsigned(arguments, size), false, &how);
        break;
    default:
        put(out, *format); /* '%' itself */
        break;
    }
    return *format == '\0' ? format : format + 1;
}

size_t rf_format_list(char *text, size_t size, const char *format, va_list arguments)
{
    struct output out = {.text = text, .size = size, .length = 0};
    struct arguments copy;
    va_copy(copy.list, arguments);
    while (*format != '\0') {
        if (*format == '%')
            format = put_conversion(&out, format + 1, &copy);
        else
            put(&out, *format++);
    }
    va_end(copy.list);
    if (size > 0)
        text[out.length < size ? out.length : size - 1] = '\0';
    return out.length;
}

size_t rf_format(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t length = rf_format_list(text, size, format, arguments);
    va_end(arguments);
    return length;
}

void rf_text_add(struct rf_text_out *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    out->n += rf_format_list(RF_REST(out->at, out->size, out->n), format, arguments);
    va_end(arguments);
}

#undef rf_fail
rf_status rf_fail(struct rf_error *error, rf_status status, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        rf_format_list(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}
