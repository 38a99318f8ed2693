/* zipf.h - ranks 1..n, rank k with probability proportional to 1 / k^skew. */
#ifndef RF_SOURCE_ZIPF_H
#define RF_SOURCE_ZIPF_H

#include "base/random.h"
#include <riffle/alloc.h>
#include <riffle/status.h>

/* Bins of ranks first .. first + width - 1, and the alias table over them. */
struct rf_zipf_bin {
    uint64_t own;   /* a draw of 64 bits below this stays here, others go to `alias` */
    uint64_t sure;  /* a draw of 64 bits below this is any rank of the bin: the least probable */
    uint64_t first; /* rank */
    uint64_t width;
    uint32_t alias;
};

struct rf_zipf {
    struct rf_alloc alloc;
    double skew;
    size_t n_bins;
    struct rf_zipf_bin *bins;
};

rf_status rf_zipf_init(struct rf_zipf *zipf, uint64_t n, double skew, const struct rf_alloc *alloc,
                       struct rf_error *error);
void rf_zipf_release(struct rf_zipf *zipf);

/* The slow way: is the drawn rank kept? See zipf.c. */
int rf_zipf_keeps(const struct rf_zipf *zipf, const struct rf_zipf_bin *bin, uint64_t rank,
                  uint64_t draw);

/* A rank, from 1. */
static inline uint64_t rf_zipf_draw(const struct rf_zipf *zipf, struct rf_random *random)
{
    for (;;) {
        unsigned __int128 at = (unsigned __int128)rf_random_next(random) * zipf->n_bins;
        const struct rf_zipf_bin *bin = &zipf->bins[(size_t)(at >> 64)];
        if ((uint64_t)at >= bin->own)
            bin = &zipf->bins[bin->alias];
        if (bin->width == 1)
            return bin->first;
        uint64_t rank = bin->first + rf_random_below(random, bin->width);
        uint64_t draw = rf_random_next(random);
        if (draw < bin->sure || rf_zipf_keeps(zipf, bin, rank, draw))
            return rank;
    }
}

#endif
