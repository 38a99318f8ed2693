/* reader_none.c - stands in for reader.c where libdw is missing: every place is module+offset. */
#include "symbol/symbol.h"

void rf_reader_end(void *kept)
{
    (void)kept;
}

void rf_reader_run(const struct rf_job *job, struct rf_wire *wire, void **kept)
{
    (void)job, (void)kept;
    rf_wire_problem(wire, "this riffle was built without libdw");
    rf_wire_end(wire, true);
}
