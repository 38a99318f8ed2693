/* sampling.c - the short form of bursts in the simulated core: the sampling framework of lab/hps/sampling.hps, and a
 * production for the profile that is wanted. tests/machine/productions.py holds it against the files of lab/hps. */
#include "dise/productions.h"
#include "base/error.h"
#include <riffle/selector.h>
#include <string.h>

static const char framework[] =
    "register sampleFreq = max - 99\n"
    "register burstLength = max\n"
    "counter_1 = sampleFreq\n"
    "counter_2 = burstLength\n"
    "P1: T.OPCLASS == proc_call && !overflow_1 => null, CC1\n"
    "P2: (T.OPCLASS == branch || T.OPCLASS == jump) && T.Target <= T.PC && !overflow_1 => null, "
    "CC1\n"
    "P3: T.OPCLASS == proc_call && overflow_1 && !overflow_2 => null, CC2\n"
    "P4: (T.OPCLASS == branch || T.OPCLASS == jump) && T.Target <= T.PC && overflow_1 && "
    "!overflow_2\n"
    "    => null, CC2\n"
    "P5: T.OPCLASS == proc_call && overflow_1 && overflow_2 => null, CC3\n"
    "P6: (T.OPCLASS == branch || T.OPCLASS == jump) && T.Target <= T.PC && overflow_1 && "
    "overflow_2\n"
    "    => null, CC3\n"
    "CC1: inc_1;\n"
    "CC2: inc_2;\n"
    "CC3: set_1(sampleFreq); set_2(burstLength);\n";

/* What the handler of a profile is to be told. */
static const struct {
    const char *handler, *pattern;
} told[] = {
    {"CallPair_handler", "T.OPCLASS == proc_call"},
    {"HotMethod_handler", "T.OPCLASS == proc_call"}, /* `methods` are calls, as natively */
    {"DataStream_handler", "T.OPCLASS == mem_op"},
};

static bool means_the_same(const char *a, const char *b)
{
    struct rf_selector left, right;
    char one[256], other[256];
    if (rf_selector_parse(&left, a, NULL) != RF_OK || rf_selector_parse(&right, b, NULL) != RF_OK)
        return false;
    rf_selector_print(&left, one, sizeof one);
    rf_selector_print(&right, other, sizeof other);
    return strcmp(one, other) == 0;
}

static const struct rf_dise_handler *find_handler(const char *selector)
{
    const struct rf_dise_handler *handler = rf_dise_handlers;
    while (handler->name != NULL && !means_the_same(handler->selector, selector))
        handler++;
    return handler->name != NULL ? handler : NULL;
}

static const char *pattern_of(const struct rf_dise_handler *handler)
{
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (strcmp(told[i].handler, handler->name) == 0)
            return told[i].pattern;
    return NULL;
}

/* sampleFreq and burstLength */
static rf_status set(struct rf_productions *productions, const char *profile,
                     const struct rf_probe_bursts *bursts, struct rf_error *error)
{
    char text[128];
    rf_format(text, sizeof text, "%s.sampleFreq=max%c%llu", profile, bursts->regular ? '-' : '~',
              (unsigned long long)bursts->sparsity);
    rf_status status = rf_productions_set(productions, text, error);
    rf_format(text, sizeof text, "%s.burstLength=max-%u", profile, bursts->burst - 1);
    return status == RF_OK ? rf_productions_set(productions, text, error) : status;
}

rf_status rf_productions_sample(struct rf_productions *productions, const char *selector,
                                const struct rf_probe_bursts *bursts, struct rf_error *error)
{
    char text[2048];
    const struct rf_dise_handler *handler = find_handler(selector);
    const char *pattern = handler != NULL ? pattern_of(handler) : NULL;
    if (pattern == NULL)
        return rf_fail(error, RF_EINVAL,
                       "'%s': the core has handlers for calls, methods and addresses only",
                       selector);
    if (bursts->burst == 0 || bursts->sparsity > UINT32_MAX)
        return rf_fail(error, RF_EINVAL, "bursts of %lu intervals, %llu apart, do not fit counters",
                       (unsigned long)bursts->burst, (unsigned long long)bursts->sparsity);
    size_t n =
        rf_format(text, sizeof text, "%sP7: %s && overflow_1 => R, null\nR: call(%s) T.INSN\n",
                  framework, pattern, handler->name);
    rf_status status = rf_dise_read_text(&productions->program, handler->selector, text, n, error);
    if (status == RF_OK)
        status = rf_dise_complete(productions, error);
    return status == RF_OK ? set(productions, handler->selector, bursts, error) : status;
}
