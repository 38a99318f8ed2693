/* config.h - the parameters of a core, as text: a named core, then what differs from it.
 *
 *     hps        stratified,memory=120        coproc,rob=64,dcache=16Ki/2/64                        */
#ifndef RF_MACHINE_TIMING_CONFIG_H
#define RF_MACHINE_TIMING_CONFIG_H

#include <stddef.h>
#include <stdint.h>
#include <riffle/cache.h>
#include <riffle/machine.h>
#include <riffle/status.h>

struct rf_timing_config {
    uint64_t fetch_width, decode_width, issue_width, commit_width; /* instructions per cycle */
    uint64_t stages;  /* of the whole pipeline; fetch to dispatch takes all but four of them */
    uint64_t rob, rs; /* entries of the reorder buffer, reservation stations */
    uint64_t lsq;     /* loads and stores in flight */
    uint64_t alu_ports, multiply_ports, memory_ports, fp_ports;
    uint64_t multiply, divide, fp_add, fp_multiply, fp_fused,
        fp_divide;                   /* cycles from issue to result */
    uint64_t l1_hit, l2_hit, memory; /* cycles of a load that is found there */
    uint64_t forward;                /* of one that is still in the store queue */
    uint64_t write_buffer;           /* stores that have committed and are not written */
    uint64_t mshrs;                  /* lines on their way at once */
    uint64_t bus;                    /* cycles that a line occupies it */
    uint64_t history, btb, ras;      /* bits of gshare history; entries */
    uint64_t btb_miss;               /* cycles until decode finds the target itself */
    /* Not of the timing model, but of the core: tables and counters of productions, see src/dise. */
    uint64_t dise_patterns, dise_replacements, dise_conditionals, dise_counters, dise_counter_bits,
        dise_registers;
    uint64_t dise_cycles, dise_drain;     /* of an expansion; per record drained */
    struct rf_cache_shape icache, dcache; /* the second level is shared and is dcache's */
};

/* Errors name the key. */
rf_status rf_timing_config_parse(struct rf_timing_config *config, const char *text,
                                 struct rf_error *error);
/* Every parameter as `key=value`, parses back. Returns the length needed. */
size_t rf_timing_config_print(const struct rf_timing_config *config, char *text, size_t size);

#endif
