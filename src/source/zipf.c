/* zipf.c - exact Zipf draws from a small table, any number of ranks, the same on every machine.
 *
 *     rank   1  2  3  ...  4096 | 4097 .. 4160 | 4161 .. 4225 | ...  each 1/64 wider than the last
 *     bin    one each            one for the whole stretch, drawn as if every rank were its first
 *
 * A bin is drawn by Walker's alias method (Vose's construction): one multiply, one compare. Inside a
 * wide bin every rank is drawn alike and then kept with probability w(rank) / w(first): rejection, so
 * the result is exact. The least of those probabilities is (64/65)^skew, so one comparison nearly always
 * decides, and w is computed only for the rest.
 *
 * Memory: 40 bytes per bin; 4096 + 64 ln(n / 4096) bins, 4450 for a million ranks, 7100 for 2^64. It stays
 * in the second-level cache, where a table of all ranks would not.
 *
 * w(k) = k^-skew is made of IEEE additions, multiplications and divisions alone, in a fixed order: libm's
 * pow differs in its last bits between systems. (Compiled without contraction to fused operations.)
 *
 * Departure: alias thresholds are cut to 64 bits, so probabilities are off by up to n_bins x 2^-53. */
#include "source/zipf.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

enum { SINGLE = 4096, WIDEN = 64, BINS_MAX = SINGLE + 64 * 64 };

/* Natural logarithm of x >= 1: x = m 2^e, ln m = 2 atanh((m - 1) / (m + 1)). */
static double logarithm(double x)
{
    int e = 0;
    while (x > 1.5) {
        x *= 0.5;
        e++;
    }
    double z = (x - 1) / (x + 1), square = z * z, sum = 0;
    for (int i = 33; i >= 1; i -= 2)
        sum = sum * square + 1.0 / i;
    return 2 * z * sum + e * 0.6931471805599453;
}

/* e^-x of x >= 0: halved until small, a Taylor series, squared back. */
static double exponential_minus(double x)
{
    int halvings = 0;
    for (; x > 0.25; halvings++)
        x *= 0.5;
    double sum = 1;
    for (int i = 16; i >= 1; i--)
        sum = 1 - x / i * sum;
    while (halvings-- > 0)
        sum *= sum;
    return sum;
}

static double weight(double rank, double skew)
{
    return exponential_minus(skew * logarithm(rank));
}

/* A share of 2^64, 1 becoming all ones. */
static uint64_t threshold(double share)
{
    return share >= 1 ? UINT64_MAX : (uint64_t)(share * 0x1p64);
}

int rf_zipf_keeps(const struct rf_zipf *zipf, const struct rf_zipf_bin *bin, uint64_t rank,
                  uint64_t draw)
{
    double share = weight((double)rank, zipf->skew) / weight((double)bin->first, zipf->skew);
    return draw < threshold(share);
}

static size_t cut_bins(struct rf_zipf_bin *bins, uint64_t n)
{
    size_t count = 0;
    uint64_t left = n, first = 1;
    while (left > 0) {
        uint64_t width = first <= SINGLE ? 1 : first / WIDEN;
        width = width < left ? width : left;
        bins[count++] = (struct rf_zipf_bin){.first = first, .width = width};
        first += width;
        left -= width;
    }
    return count;
}

static void set_sure(struct rf_zipf_bin *bin, double skew)
{
    double last = (double)(bin->first + bin->width - 1);
    bin->sure = threshold(weight(last, skew) / weight((double)bin->first, skew));
}

/* Vose: bins that have less than their share borrow from those that have more. `share` holds each
 * bin's probability times n_bins; `order` is room for both work lists, one from each end. */
static void build_alias(struct rf_zipf *zipf, double *share, uint32_t *order)
{
    size_t poor = 0, rich = zipf->n_bins;
    for (size_t i = 0; i < zipf->n_bins; i++)
        order[share[i] < 1 ? poor++ : --rich] = (uint32_t)i;
    while (poor > 0 && rich < zipf->n_bins) {
        uint32_t needy = order[--poor], giver = order[rich];
        zipf->bins[needy].own = threshold(share[needy]);
        zipf->bins[needy].alias = giver;
        share[giver] -= 1 - share[needy];
        if (share[giver] < 1) {
            order[poor++] = giver;
            rich++;
        }
    }
    /* The bins that are left have their share, up to rounding. */
    while (poor > 0) {
        uint32_t bin = order[--poor];
        zipf->bins[bin].own = UINT64_MAX;
        zipf->bins[bin].alias = bin;
    }
    for (; rich < zipf->n_bins; rich++) {
        zipf->bins[order[rich]].own = UINT64_MAX;
        zipf->bins[order[rich]].alias = order[rich];
    }
}

static void fill_shares(struct rf_zipf *zipf, double *share)
{
    double sum = 0;
    for (size_t i = 0; i < zipf->n_bins; i++) {
        struct rf_zipf_bin *bin = &zipf->bins[i];
        set_sure(bin, zipf->skew);
        share[i] = weight((double)bin->first, zipf->skew) * (double)bin->width;
        sum += share[i];
    }
    for (size_t i = 0; i < zipf->n_bins; i++)
        share[i] = share[i] / sum * (double)zipf->n_bins;
}

rf_status rf_zipf_init(struct rf_zipf *zipf, uint64_t n, double skew, const struct rf_alloc *alloc,
                       struct rf_error *error)
{
    alloc = rf_alloc_or_standard(alloc);
    *zipf = (struct rf_zipf){.alloc = *alloc, .skew = skew};
    zipf->bins = rf_alloc_get(alloc, BINS_MAX * sizeof *zipf->bins);
    double *share = rf_alloc_get(alloc, BINS_MAX * sizeof *share);
    uint32_t *order = rf_alloc_get(alloc, BINS_MAX * sizeof *order);
    rf_status status = RF_OK;
    if (zipf->bins == NULL || share == NULL || order == NULL) {
        rf_zipf_release(zipf);
        status = rf_fail(error, RF_ENOMEM, "no memory for a Zipf table");
    } else {
        zipf->n_bins = cut_bins(zipf->bins, n);
        fill_shares(zipf, share);
        build_alias(zipf, share, order);
    }
    rf_alloc_free(alloc, share, BINS_MAX * sizeof *share);
    rf_alloc_free(alloc, order, BINS_MAX * sizeof *order);
    return status;
}

void rf_zipf_release(struct rf_zipf *zipf)
{
    rf_alloc_free(&zipf->alloc, zipf->bins, BINS_MAX * sizeof *zipf->bins);
    zipf->bins = NULL;
}
