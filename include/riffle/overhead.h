/* overhead.h - what a profiler in hardware would cost the program that it watches.
 *
 * Sastry, Bodik, Smith, section 5.3.2: the cycles that software spends on messages, over all cycles. An engine
 * that sends messages says the former in its figure "overhead-cycles". The latter are, in this order,
 *
 *     the run's note "cycles", which a simulated core leaves
 *     the run's note "instructions" times a CPI, or
 *     the events of a profile of all instructions (insn -> ...) in the same run, times that CPI  */
#ifndef RIFFLE_OVERHEAD_H
#define RIFFLE_OVERHEAD_H

#include <riffle/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_overhead {
    double share; /* of all cycles */
    double cycles, cycles_in_all;
    uint64_t instructions; /* 0: the cycles are the simulated core's */
};

/* RF_ENOTSUP: the engine sends no messages, or nobody knows the cycles. */
rf_status rf_overhead(struct rf_overhead *overhead, const struct rf_run *run,
                      const struct rf_profile *profile, double cpi);

#ifdef __cplusplus
}
#endif
#endif
