/* coproc.h - the programmable profiling co-processor: takes records, gives a profile.
 *
 *     rf_coproc_open(&coproc, "values.uc(size=half)", NULL, &error);
 *     rf_coproc_feed(coproc, records, n, &error);                  as often as there are any
 *     rf_coproc_end(coproc, &error);                               what is still inside is told to the host
 *     rf_coproc_report(coproc, &sink, &totals);
 *
 * It stands where a selector and an engine stand, in one piece, and is programmed in microcode
 * (doc/COPROC.md). A collector drives it beside its lanes. One thread at a time. */
#ifndef RIFFLE_COPROC_H
#define RIFFLE_COPROC_H

#include <stddef.h>
#include <riffle/alloc.h>
#include <riffle/event.h>
#include <riffle/item.h>
#include <riffle/selector.h>
#include <riffle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_coproc;

struct rf_coproc_setup {
    uint64_t seed; /* of its random numbers */
    const struct rf_alloc *alloc;
};

/* `text` is a file of microcode, or one with options behind it: "values.uc(size=half, clock=1/2)". A file that
 * is not there is looked for among the programs that come with the library. Options are those of
 * rf_coproc_options, and every .let of the program. `setup` may be NULL. */
rf_status rf_coproc_open(struct rf_coproc **coproc, const char *text,
                         const struct rf_coproc_setup *setup, struct rf_error *error);
void rf_coproc_close(struct rf_coproc *coproc); /* NULL is fine */

/* The classes and fields of records that it wants, as a selector has them; other records pass by. */
void rf_coproc_wants(const struct rf_coproc *coproc, struct rf_selector *selector);
/* The program and all options; what its tuples are, as a selector. Valid while it is open. */
const char *rf_coproc_text(const struct rf_coproc *coproc);
const char *rf_coproc_selector(const struct rf_coproc *coproc);
/* The value of a .let of the program, as it was set; `otherwise` where it has none. */
uint64_t rf_coproc_let(const struct rf_coproc *coproc, const char *name, uint64_t otherwise);
/* 64 bits of a code address from its lower 32. The host knows where its programs lie; we learn it from the
 * samples, a megabyte at a time. */
uint64_t rf_coproc_widen(const struct rf_coproc *coproc, uint32_t address);

rf_status rf_coproc_feed(struct rf_coproc *coproc, const struct rf_record *records, size_t n,
                         struct rf_error *error);
rf_status rf_coproc_end(struct rf_coproc *coproc, struct rf_error *error);

/* Put it beside a simulated core (machine.h), before that runs: it sees what retires, at the core's clock, and
 * its interrupts run handler code on the core. The source must make records of its classes; what is fed
 * is then ignored. A core without timing has no caches: a program that samples `miss` gets it from a model of the
 * shape `cache` (cache.h), and the source must make records of all loads and stores; NULL: nothing misses. The
 * source is closed first. */
struct rf_source;
rf_status rf_coproc_attach(struct rf_coproc *coproc, struct rf_source *machine, const char *cache,
                           struct rf_error *error);

/* Samples so far that were given up, because their routine did not come to an end in RF_COPROC_CYCLES; *line is where in
 * the source the last of them was. If all are given up, feeding fails. */
enum { RF_COPROC_CYCLES = 4096 };
uint64_t rf_coproc_overruns(const struct rf_coproc *coproc, unsigned *line);

struct rf_coproc_totals {
    uint64_t samples, drops; /* taken from the core; of these, lost because the buffer was full */
    uint64_t memory;         /* bytes */
    uint64_t bits;           /* of the hardware's arrays and registers */
};

/* What the host knows by now. May be asked at any time and changes nothing. */
rf_status rf_coproc_report(const struct rf_coproc *coproc, const struct rf_sink *sink,
                           struct rf_coproc_totals *totals);

/* The programs that come with the library, closed by a NULL name. */
struct rf_coproc_program {
    const char *name; /* "values.uc" */
    const char *text;
};
const struct rf_coproc_program *rf_coproc_programs(void);

/* The listing of a program: addresses, words and source; or, from the words, source again. Like snprintf. */
size_t rf_coproc_list(const struct rf_coproc *coproc, char *text, size_t size);
size_t rf_coproc_disassemble(const struct rf_coproc *coproc, char *text, size_t size);

/* How large it is in hardware, part by part; size 0 half, 1 base, 2 double. Returns the number of parts. */
struct rf_coproc_part {
    const char *name;
    uint64_t bits;
    unsigned ports; /* 0: logic */
    uint64_t transistors;
};
enum { RF_COPROC_PARTS = 13 };
size_t rf_coproc_cost(unsigned size, struct rf_coproc_part *parts);

#ifdef __cplusplus
}
#endif
#endif
