/* fp_width.h - the arithmetic of fp.c for one width; fp.c includes it twice.
 *
 * Expects NAME(x), which puts _s or _d behind x; FLOAT and WIDE, the type and one with more digits;
 * BITS, the unsigned type of its size; LOAD and STORE between register and BITS; QUIET, SIGN, NAN_BITS,
 * DIGITS (of the fraction) and EXPONENT_MAX. Deliberately without an include guard. */

static FLOAT NAME(value)(uint64_t reg)
{
    BITS bits = LOAD(reg);
    FLOAT f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint64_t NAME(reg)(FLOAT f)
{
    BITS bits;
    memcpy(&bits, &f, sizeof f);
    return STORE(f == f ? bits : NAN_BITS);
}

static bool NAME(is_nan)(uint64_t reg)
{
    return (BITS)(LOAD(reg) << 1) > (BITS)((BITS)EXPONENT_MAX << (DIGITS + 1));
}

static bool NAME(is_signaling)(uint64_t reg)
{
    return NAME(is_nan)(reg) && (LOAD(reg) & QUIET) == 0;
}

/* The same in both types. */
#define DEFINE_BINARY(TYPE, name)                                                                  \
    static TYPE NAME(name)(enum rf_fp_binary what, TYPE a, TYPE b)                                 \
    {                                                                                              \
        switch (what) {                                                                            \
        case RF_FP_ADD:                                                                            \
            return a + b;                                                                          \
        case RF_FP_SUB:                                                                            \
            return a - b;                                                                          \
        case RF_FP_MUL:                                                                            \
            return a * b;                                                                          \
        default:                                                                                   \
            return a / b;                                                                          \
        }                                                                                          \
    }
DEFINE_BINARY(FLOAT, binary)
DEFINE_BINARY(WIDE, binary_wide)
#undef DEFINE_BINARY

/* Round `exact`, which the wide type held without loss, to nearest with ties away from zero. A wide
 * result that was itself rounded cannot be a tie: a tie has one digit more than FLOAT. */
static FLOAT NAME(nearest_away)(FLOAT nearest_even, WIDE wide, bool exact)
{
    if (!exact || (WIDE)nearest_even == wide || nearest_even != nearest_even)
        return nearest_even;
    FLOAT away = NEXT_AFTER(nearest_even, wide > 0 ? (FLOAT)INFINITY : -(FLOAT)INFINITY);
    bool below = wide > 0 ? (WIDE)nearest_even < wide : (WIDE)nearest_even > wide;
    bool tie = below && wide - (WIDE)nearest_even == (WIDE)away - wide;
    return tie ? away : nearest_even;
}

/* In a directed rounding mode of the host. */
static FLOAT NAME(binary_directed)(enum rf_fp_binary what, FLOAT x, FLOAT y, unsigned rm)
{
    set_rounding(rm);
    HIDE(x);
    HIDE(y);
    FLOAT result = NAME(binary)(what, x, y);
    HIDE(result);
    set_rounding(RF_RNE);
    return result;
}

static FLOAT NAME(binary_away)(enum rf_fp_binary what, FLOAT x, FLOAT y)
{
    FLOAT even = NAME(binary)(what, x, y);
    HIDE(even);
    uint32_t flags = rf_fp_flags();
    rf_fp_set_flags(0);
    HIDE(x);
    HIDE(y);
    WIDE wide = NAME(binary_wide)(what, x, y);
    HIDE(wide);
    bool exact = (rf_fp_flags() & RF_FP_NX) == 0;
    FLOAT away = NAME(nearest_away)(even, wide, exact);
    rf_fp_set_flags(flags);
    return away;
}

uint64_t NAME(rf_fp_binary)(enum rf_fp_binary what, uint64_t a, uint64_t b, unsigned rm)
{
    FLOAT x = NAME(value)(a), y = NAME(value)(b);
    if (rm == RF_RNE)
        return NAME(reg)(NAME(binary)(what, x, y));
    if (rm == RF_RMM)
        return NAME(reg)(NAME(binary_away)(what, x, y));
    return NAME(reg)(NAME(binary_directed)(what, x, y, rm));
}

static FLOAT NAME(fused_directed)(FLOAT a, FLOAT b, FLOAT c, unsigned rm)
{
    set_rounding(rm);
    FLOAT result = FUSED(a, b, c);
    HIDE(result);
    set_rounding(RF_RNE);
    return result;
}

static FLOAT NAME(fused_away)(FLOAT a, FLOAT b, FLOAT c)
{
    FLOAT even = FUSED(a, b, c);
    HIDE(even);
    uint32_t flags = rf_fp_flags();
    rf_fp_set_flags(0);
    WIDE wide = FUSED_WIDE(a, b, c);
    HIDE(wide);
    bool exact = (rf_fp_flags() & RF_FP_NX) == 0;
    FLOAT away = NAME(nearest_away)(even, wide, exact);
    rf_fp_set_flags(flags);
    return away;
}

uint64_t NAME(rf_fp_fused)(enum rf_fp_fused what, const uint64_t abc[3], unsigned rm)
{
    FLOAT a = NAME(value)(abc[0]), b = NAME(value)(abc[1]), c = NAME(value)(abc[2]);
    if (what == RF_FP_NMSUB || what == RF_FP_NMADD)
        a = -a;
    if (what == RF_FP_MSUB || what == RF_FP_NMADD)
        c = -c;
    /* Infinity times zero is invalid even when the addend is a NaN. */
    if ((__builtin_isinf(a) && b == 0) || (__builtin_isinf(b) && a == 0))
        raise_invalid();
    if (rm == RF_RNE)
        return NAME(reg)(FUSED(a, b, c));
    if (rm == RF_RMM)
        return NAME(reg)(NAME(fused_away)(a, b, c));
    return NAME(reg)(NAME(fused_directed)(a, b, c, rm));
}

uint64_t NAME(rf_fp_sqrt)(uint64_t a, unsigned rm)
{
    FLOAT x = NAME(value)(a);
    if (rm == RF_RNE || rm == RF_RMM) /* a root is never a tie */
        return NAME(reg)(ROOT(x));
    set_rounding(rm);
    HIDE(x);
    FLOAT result = ROOT(x);
    HIDE(result);
    set_rounding(RF_RNE);
    return NAME(reg)(result);
}

uint64_t NAME(rf_fp_pick)(enum rf_fp_pick what, uint64_t a, uint64_t b)
{
    if (NAME(is_signaling)(a) || NAME(is_signaling)(b))
        raise_invalid();
    if (NAME(is_nan)(a))
        return NAME(is_nan)(b) ? STORE(NAN_BITS) : STORE(LOAD(b));
    if (NAME(is_nan)(b))
        return STORE(LOAD(a));
    FLOAT x = NAME(value)(a), y = NAME(value)(b);
    bool a_is_less = x < y || (x == y && (LOAD(a) & SIGN) != 0);
    return STORE(a_is_less == (what == RF_FP_MIN) ? LOAD(a) : LOAD(b));
}

uint64_t NAME(rf_fp_compare)(enum rf_fp_relation what, uint64_t a, uint64_t b)
{
    if (NAME(is_nan)(a) || NAME(is_nan)(b)) {
        if (what != RF_FP_EQ || NAME(is_signaling)(a) || NAME(is_signaling)(b))
            raise_invalid();
        return 0;
    }
    FLOAT x = NAME(value)(a), y = NAME(value)(b);
    return what == RF_FP_EQ ? x == y : what == RF_FP_LT ? x < y : x <= y;
}

uint64_t NAME(rf_fp_to_integer)(enum rf_fp_integer to, uint64_t a, unsigned rm)
{
    return to_integer(to, (double)NAME(value)(a), rm);
}

static uint64_t NAME(convert)(enum rf_fp_integer from, uint64_t a)
{
    switch (from) {
    case RF_FP_W:
        return NAME(reg)((FLOAT)(int32_t)a);
    case RF_FP_WU:
        return NAME(reg)((FLOAT)(uint32_t)a);
    case RF_FP_L:
        return NAME(reg)((FLOAT)(int64_t)a);
    default:
        return unsigned_to(a, sizeof(FLOAT));
    }
}

static uint64_t NAME(convert_away)(enum rf_fp_integer from, uint64_t a)
{
    FLOAT even = NAME(value)(NAME(convert)(from, a));
    HIDE(even);
    uint32_t flags = rf_fp_flags();
    long double wide = from == RF_FP_W    ? (long double)(int32_t)a
                       : from == RF_FP_WU ? (long double)(uint32_t)a
                       : from == RF_FP_L  ? (long double)(int64_t)a
                                          : (long double)a;
    FLOAT next = NEXT_AFTER(even, wide > 0 ? (FLOAT)INFINITY : -(FLOAT)INFINITY);
    bool below = wide > 0 ? (long double)even < wide : (long double)even > wide;
    bool tie = below && wide - (long double)even == (long double)next - wide;
    rf_fp_set_flags(flags);
    return NAME(reg)(tie ? next : even);
}

uint64_t NAME(rf_fp_from_integer)(enum rf_fp_integer from, uint64_t a, unsigned rm)
{
    if (rm == RF_RNE)
        return NAME(convert)(from, a);
    if (rm == RF_RMM)
        return NAME(convert_away)(from, a);
    set_rounding(rm);
    HIDE(a);
    uint64_t result = NAME(convert)(from, a);
    HIDE(result);
    set_rounding(RF_RNE);
    return result;
}

uint64_t NAME(rf_fp_classify)(uint64_t a)
{
    BITS bits = LOAD(a), magnitude = bits & (BITS)~SIGN;
    bool negative = (bits & SIGN) != 0;
    BITS infinity = (BITS)EXPONENT_MAX << DIGITS;
    if (magnitude > infinity)
        return (bits & QUIET) != 0 ? 1u << 9 : 1u << 8;
    if (magnitude == infinity)
        return negative ? 1u << 0 : 1u << 7;
    if (magnitude == 0)
        return negative ? 1u << 3 : 1u << 4;
    if (magnitude >> DIGITS == 0)
        return negative ? 1u << 2 : 1u << 5;
    return negative ? 1u << 1 : 1u << 6;
}
