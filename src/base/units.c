/* units.c - reading and writing counts and shares without libc. */
#include "base/units.h"
#include "base/error.h"
#include <stdbool.h>

static const struct {
    const char *text;
    uint64_t factor;
} units[] = {
    {"", 1},     {"Ki", 1u << 10}, {"Mi", 1u << 20},  {"Gi", 1u << 30},
    {"K", 1000}, {"M", 1000000},   {"G", 1000000000},
};

static bool find_unit(const char *text, size_t n, uint64_t *factor)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t k = 0;
        while (k < n && units[i].text[k] == text[k])
            k++;
        if (k == n && units[i].text[k] == '\0') {
            *factor = units[i].factor;
            return true;
        }
    }
    return false;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

static rf_status read_hex(const char *text, size_t n, uint64_t *count)
{
    if (n == 0 || n > 16)
        return RF_EINVAL;
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++) {
        int digit = digit_of(text[i]);
        if (digit > 15)
            return RF_EINVAL;
        value = value << 4 | (unsigned)digit;
    }
    *count = value;
    return RF_OK;
}

/* value * 10 + digit, false on overflow. */
static bool append_digit(uint64_t *value, int digit)
{
    return !__builtin_mul_overflow(*value, (uint64_t)10, value) &&
           !__builtin_add_overflow(*value, (uint64_t)digit, value);
}

struct decimal {
    uint64_t digits; /* without the point */
    uint64_t scale;  /* 10 ^ digits behind the point */
    size_t length;   /* characters read */
};

static rf_status read_decimal(const char *text, size_t n, struct decimal *number)
{
    bool behind_point = false, any = false;
    *number = (struct decimal){0, 1, 0};
    for (; number->length < n; number->length++) {
        char c = text[number->length];
        if (c == '.' && !behind_point) {
            behind_point = true;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        any = true;
        if (!append_digit(&number->digits, c - '0'))
            return RF_EINVAL;
        if (behind_point && !append_digit(&number->scale, 0))
            return RF_EINVAL;
    }
    return any ? RF_OK : RF_EINVAL;
}

rf_status rf_units_count(const char *text, size_t n, uint64_t *count)
{
    if (n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return read_hex(text + 2, n - 2, count);
    struct decimal number;
    uint64_t factor;
    if (read_decimal(text, n, &number) != RF_OK)
        return RF_EINVAL;
    if (!find_unit(text + number.length, n - number.length, &factor))
        return RF_EINVAL;
    uint64_t scaled;
    if (__builtin_mul_overflow(number.digits, factor, &scaled) || scaled % number.scale != 0)
        return RF_EINVAL;
    *count = scaled / number.scale;
    return RF_OK;
}

static rf_status read_exponent(const char *text, size_t n, int *exponent)
{
    size_t i = 1;
    bool negative = n > 1 && text[1] == '-';
    if (n > 1 && (text[1] == '-' || text[1] == '+'))
        i++;
    if (i == n || n - i > 3)
        return RF_EINVAL;
    int value = 0;
    for (; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return RF_EINVAL;
        value = value * 10 + (text[i] - '0');
    }
    *exponent = negative ? -value : value;
    return RF_OK;
}

rf_status rf_units_share(const char *text, size_t n, double *share)
{
    int exponent = 0;
    if (n > 0 && text[n - 1] == '%') {
        exponent = -2;
        n--;
    }
    struct decimal number;
    if (read_decimal(text, n, &number) != RF_OK)
        return RF_EINVAL;
    if (number.length < n) {
        int written;
        char e = text[number.length];
        if ((e != 'e' && e != 'E') ||
            read_exponent(text + number.length, n - number.length, &written) != RF_OK)
            return RF_EINVAL;
        exponent += written;
    }
    /* One division or multiplication by an exact power of ten keeps the result correctly rounded. */
    double power = 1;
    for (int i = exponent < 0 ? -exponent : exponent; i > 0; i--)
        power *= 10;
    double scale = (double)number.scale;
    *share = exponent < 0 ? (double)number.digits / (scale * power)
                          : (double)number.digits * power / scale;
    return RF_OK;
}

size_t rf_units_print_count(char *text, size_t size, uint64_t count)
{
    static const char order[] = {6, 5, 4, 3, 2, 1, 0};
    for (size_t i = 0; i < sizeof order; i++) {
        size_t unit = (size_t)order[i];
        if (count > 0 && count % units[unit].factor == 0 &&
            (unit >= 4 || unit == 0 || count / units[unit].factor >= 1))
            return rf_format(text, size, "%llu%s", (unsigned long long)(count / units[unit].factor),
                             units[unit].text);
    }
    return rf_format(text, size, "0");
}

/* digits / 10^places, without trailing zeros. */
static size_t print_decimal(char *text, size_t size, uint64_t digits, int places, const char *unit)
{
    while (places > 0 && digits % 10 == 0) {
        digits /= 10;
        places--;
    }
    uint64_t scale = 1;
    for (int i = 0; i < places; i++)
        scale *= 10;
    char fraction[24] = "";
    if (places > 0) {
        uint64_t rest = digits % scale;
        fraction[0] = '.';
        for (int i = places; i > 0; i--) {
            fraction[i] = (char)('0' + rest % 10);
            rest /= 10;
        }
        fraction[places + 1] = '\0';
    }
    return rf_format(text, size, "%llu%s%s", (unsigned long long)(digits / scale), fraction, unit);
}

size_t rf_units_print_share(char *text, size_t size, double share)
{
    /* The fewest decimals of a percentage that read back as the same number. */
    double scale = 100;
    for (int places = 0; places <= 15 && share * scale < 1e18; places++, scale *= 10) {
        uint64_t digits = (uint64_t)(share * scale + 0.5);
        char attempt[RF_UNITS_MAX];
        size_t n = print_decimal(attempt, sizeof attempt, digits, places, "%");
        double back;
        if (n < sizeof attempt && rf_units_share(attempt, n, &back) == RF_OK && back == share)
            return rf_format(text, size, "%s", attempt);
    }
    return print_decimal(text, size, (uint64_t)(share * 1e15 + 0.5), 15, "");
}
