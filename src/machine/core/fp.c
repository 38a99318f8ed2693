/* fp.c - F and D on the host's floating point.
 *
 * Compilers do not know that arithmetic reads the rounding mode and writes flags. No option makes all of them
 * keep it between two calls of fenv.h. So operands and results pass through HIDE where that matters: then
 * the compiler can neither move the arithmetic away nor merge it with other arithmetic. */
#include "machine/core/fp.h"
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Makes the compiler forget what it knows about the variable. */
#define HIDE(variable) __asm__ volatile("" : "+m"(variable) : : "memory")

static const int host_flag[5] = {FE_INEXACT, FE_UNDERFLOW, FE_OVERFLOW, FE_DIVBYZERO, FE_INVALID};

uint32_t rf_fp_flags(void)
{
    int raised = fetestexcept(FE_ALL_EXCEPT);
    uint32_t flags = 0;
    for (unsigned i = 0; i < 5; i++)
        flags |= (uint32_t)((raised & host_flag[i]) != 0) << i;
    return flags;
}

void rf_fp_set_flags(uint32_t fflags)
{
    int raise = 0;
    for (unsigned i = 0; i < 5; i++)
        raise |= (fflags >> i & 1) != 0 ? host_flag[i] : 0;
    feclearexcept(FE_ALL_EXCEPT);
    if (raise == 0)
        return;
    feraiseexcept(raise);
    feclearexcept(FE_ALL_EXCEPT & ~raise); /* overflow raises inexact on some hosts */
}

void rf_fp_enter(struct rf_fp_host *host, uint32_t fflags)
{
    feholdexcept(&host->saved);
    fesetround(FE_TONEAREST);
    rf_fp_set_flags(fflags);
}

uint32_t rf_fp_leave(struct rf_fp_host *host)
{
    uint32_t flags = rf_fp_flags();
    fesetenv(&host->saved);
    return flags;
}

/* Much faster than feraiseexcept. */
static void raise_inexact(void)
{
    volatile float large = 0x1p60f;
    large = large + 1.0f;
}

static void raise_invalid(void)
{
    feraiseexcept(FE_INVALID);
}

static void set_rounding(unsigned rm)
{
    static const int host_mode[5] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD,
                                     FE_TONEAREST};
    fesetround(host_mode[rm]);
}

/* Conversion to integer works on the bits: the host's own rounding to whole numbers raises inexact
 * where RISC-V must raise invalid alone. */
struct parts {
    bool negative;
    uint64_t whole;      /* magnitude, towards zero */
    uint64_t rest, half; /* what was cut off, and what half of the last digit would be */
};

/* Of a number below 2^64. */
static struct parts take_apart(uint64_t bits)
{
    int exponent = (int)(bits >> 52 & 2047);
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    uint64_t digits = exponent != 0 ? fraction | UINT64_C(1) << 52 : fraction;
    int shift = 1075 - (exponent != 0 ? exponent : 1); /* whole = digits / 2^shift */
    bool negative = bits >> 63 != 0;
    if (shift <= 0)
        return (struct parts){negative, digits << -shift, 0, 1};
    if (shift > 60)
        return (struct parts){negative, 0, digits != 0, 2};
    uint64_t half = UINT64_C(1) << (shift - 1);
    return (struct parts){negative, digits >> shift, digits & (2 * half - 1), half};
}

static bool rounds_up(const struct parts *parts, unsigned rm)
{
    switch (rm) {
    case RF_RNE:
        return parts->rest > parts->half || (parts->rest == parts->half && (parts->whole & 1) != 0);
    case RF_RTZ:
        return false;
    case RF_RDN:
        return parts->negative && parts->rest != 0;
    case RF_RUP:
        return !parts->negative && parts->rest != 0;
    default: /* rmm */
        return parts->rest >= parts->half;
    }
}

/* The largest magnitudes that fit, and what saturation gives at either end. */
static const struct {
    uint64_t negative, positive;
    uint64_t least, most;
} integer_ranges[4] = {
    [RF_FP_W] = {0x80000000u, 0x7fffffffu, 0xffffffff80000000u, 0x7fffffffu},
    [RF_FP_WU] = {0, 0xffffffffu, 0, 0xffffffffffffffffu},
    [RF_FP_L] = {0x8000000000000000u, 0x7fffffffffffffffu, 0x8000000000000000u,
                 0x7fffffffffffffffu},
    [RF_FP_LU] = {0, 0xffffffffffffffffu, 0, 0xffffffffffffffffu},
};

static uint64_t saturate(enum rf_fp_integer to, bool negative)
{
    raise_invalid();
    return negative ? integer_ranges[to].least : integer_ranges[to].most;
}

static uint64_t to_integer(enum rf_fp_integer to, double value, unsigned rm)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bool is_nan = bits << 1 > UINT64_C(2047) << 53;
    if ((bits >> 52 & 2047) >= 1023 + 64)
        return saturate(to, !is_nan && bits >> 63 != 0);
    struct parts parts = take_apart(bits);
    parts.whole += rounds_up(&parts, rm);
    if (parts.whole > (parts.negative ? integer_ranges[to].negative : integer_ranges[to].positive))
        return saturate(to, parts.negative);
    if (parts.rest != 0)
        raise_inexact();
    uint64_t result = parts.negative ? 0 - parts.whole : parts.whole;
    return to == RF_FP_W || to == RF_FP_WU ? (uint64_t)(int64_t)(int32_t)result : result;
}

/* Compilers build unsigned conversions from signed ones. Under some rounding modes that rounds twice or raises
 * wrong flags. A long double holds 64 bits, so on the way through one there is a single rounding. */
static uint64_t unsigned_to(uint64_t a, size_t size)
{
    volatile long double wide = a;
    if (size == sizeof(float)) {
        volatile float narrow = (float)wide;
        float f = narrow;
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        return rf_fp_box(bits);
    }
    volatile double narrow = (double)wide;
    double d = narrow;
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

#define NAME(x)      x##_s
#define FLOAT        float
#define WIDE         double
#define BITS         uint32_t
#define LOAD(reg)    rf_fp_unbox(reg)
#define STORE(bits)  rf_fp_box(bits)
#define QUIET        0x00400000u
#define SIGN         0x80000000u
#define NAN_BITS     0x7fc00000u
#define DIGITS       23
#define EXPONENT_MAX 255
#define NEXT_AFTER   nextafterf
#define FUSED        fmaf
#define FUSED_WIDE   fma
#define ROOT         sqrtf
#include "machine/core/fp_width.h"
#undef NAME
#undef FLOAT
#undef WIDE
#undef BITS
#undef LOAD
#undef STORE
#undef QUIET
#undef SIGN
#undef NAN_BITS
#undef DIGITS
#undef EXPONENT_MAX
#undef NEXT_AFTER
#undef FUSED
#undef FUSED_WIDE
#undef ROOT

#define NAME(x)      x##_d
#define FLOAT        double
#define WIDE         long double
#define BITS         uint64_t
#define LOAD(reg)    (reg)
#define STORE(bits)  (bits)
#define QUIET        0x0008000000000000u
#define SIGN         0x8000000000000000u
#define NAN_BITS     0x7ff8000000000000u
#define DIGITS       52
#define EXPONENT_MAX UINT64_C(2047)
#define NEXT_AFTER   nextafter
#define FUSED        fma
#define FUSED_WIDE   fmal
#define ROOT         sqrt
#include "machine/core/fp_width.h"

uint64_t rf_fp_narrow(uint64_t a, unsigned rm)
{
    double wide = value_d(a);
    HIDE(wide);
    if (rm != RF_RNE && rm != RF_RMM)
        set_rounding(rm);
    HIDE(wide);
    float result = (float)wide;
    HIDE(result);
    if (rm == RF_RMM) {
        uint32_t flags = rf_fp_flags();
        result = nearest_away_s(result, wide, true);
        rf_fp_set_flags(flags);
    } else if (rm != RF_RNE) {
        set_rounding(RF_RNE);
    }
    return reg_s(result);
}

uint64_t rf_fp_widen(uint64_t a)
{
    return reg_d((double)value_s(a));
}
