/* lines.c - a tuple as a line of text, `0xa 0xb [count]`, in about ten nanoseconds.
 *
 * Words are hexadecimal, because that needs no division and reports write them the same way. The lines of a
 * stream can be counted with sort and uniq and compared with a report. */
#include "stream.h"
#include <string.h>

/* Eight hexadecimal digits at once: spread the nibbles over the bytes of a word, then turn each into
 * its digit. The first digit is the highest byte. */
static uint64_t hex_digits(uint32_t x)
{
    uint64_t spread = x;
    spread = (spread << 16 | spread) & 0x0000ffff0000ffffu;
    spread = (spread << 8 | spread) & 0x00ff00ff00ff00ffu;
    spread = (spread << 4 | spread) & 0x0f0f0f0f0f0f0f0fu;
    uint64_t letters = (spread + 0x0606060606060606u) >> 4 & 0x0101010101010101u;
    return spread + 0x3030303030303030u + letters * ('a' - '0' - 10);
}

static void store(char *out, uint64_t digits)
{
    for (int i = 0; i < 8; i++)
        out[i] = (char)(digits >> (56 - 8 * i));
}

static char *put_hex(char *out, uint64_t x)
{
    char digits[16 + 16]; /* copied from wherever they begin, always 16: no call of memcpy */
    store(digits, hex_digits((uint32_t)(x >> 32)));
    store(digits + 8, hex_digits((uint32_t)x));
    size_t n = (67u - (unsigned)__builtin_clzll(x | 1)) / 4;
    out[0] = '0';
    out[1] = 'x';
    memcpy(out + 2, digits + 16 - n, 16);
    return out + 2 + n;
}

static char *put_decimal(char *out, uint64_t x)
{
    char digits[20];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + x % 10);
        x /= 10;
    } while (x > 0);
    while (n > 0)
        *out++ = digits[--n];
    return out;
}

char *cli_line(char *out, struct rf_tuple tuple, uint64_t count)
{
    out = put_hex(out, tuple.a);
    *out++ = ' ';
    out = put_hex(out, tuple.b);
    if (count != 1) {
        *out++ = ' ';
        out = put_decimal(out, count);
    }
    *out++ = '\n';
    return out;
}
