/* cost.c - what the hardware of rap_hw.c costs: area, delay, energy of its parts at 0.18 um.
 *
 * Mysore et al., section 3.4, give each part at one size; here it is scaled:
 *
 *     TCAM        4096 x 36    19.32 mm2   7 ns       0.426 nJ     area and energy with the bits, delay with
 *                                                                  the side of the array: sqrt(bits)
 *     arbiter     4096 lines    0.3        1.16       0.063        with the lines; delay with their log
 *     SRAM        16 KB         3.17       1.26       0.54         area with the bits; delay, energy sqrt
 *     comparator  32 bits       0.00034    0.572      0.0016       with the bits; delay with their log
 *     registers   one per stage 0.0016     0.164      0.000443     five, and three of the TCAM's
 *
 * The paper's totals (24.73 mm2, 1.272 nJ) are above the sum of these parts; the rest is its buses, here one
 * part scaled with the side of the whole. The slowest stage sets the clock. The paper expects that a TCAM cut
 * into stages of one byte keeps up with the SRAM. */
#include <riffle/rap.h>

static double root(double x)
{
    double guess = x > 1 ? x : 1;
    for (int i = 0; i < 60; i++)
        guess = (guess + x / guess) / 2;
    return guess;
}

static double log2_of(double x)
{
    double log = 0;
    while (x >= 2) {
        x /= 2;
        log++;
    }
    return log + (x - 1); /* linear between powers of two */
}

static struct rf_rap_part part(const char *name, double area, double delay, double energy)
{
    return (struct rf_rap_part){name, area, delay, energy};
}

void rf_rap_cost(struct rf_rap_cost *cost, uint64_t entries, unsigned key_bits,
                 unsigned counter_bits)
{
    double lines = (double)entries / 4096, tcam = lines * key_bits / 36;
    double sram = lines * counter_bits / 32, width = (double)counter_bits / 32;
    double log_lines = log2_of((double)entries) / 12, log_width = log2_of(counter_bits) / 5;
    struct rf_rap_part *p = cost->parts;
    p[0] = part("TCAM", 19.32 * tcam, 7 * root(tcam), 0.426 * tcam);
    p[1] = part("priority arbiter", 0.3 * lines, 1.16 * log_lines, 0.063 * lines);
    p[2] = part("counter SRAM", 3.17 * sram, 1.26 * root(sram), 0.54 * root(sram));
    p[3] = part("comparator", 0.00034 * width, 0.572 * log_width, 0.0016 * width);
    p[4] = part("registers", 5 * 0.0016 + 0.0026, 0.164, (5 * 0.443 + 0.613) / 1000);
    double area = 0, energy = 0, slowest = 0;
    for (int i = 0; i < RF_RAP_PARTS - 1; i++) {
        area += p[i].area_mm2;
        energy += p[i].energy_nj;
        slowest = p[i].delay_ns > slowest ? p[i].delay_ns : slowest;
    }
    double side = root(area / 22.80094); /* of the parts as the paper has them */
    p[5] = part("buses", (24.73 - 22.80094) * side, 0, (1.272 - 1.033428) * side);
    cost->area_mm2 = area + p[5].area_mm2;
    cost->energy_nj = energy + p[5].energy_nj;
    cost->delay_ns = slowest;
}
