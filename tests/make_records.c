/* make_records.c - writes a small trace of records, for tests of the program: make-records FILE */
#include <riffle/trace.h>
#include <stdio.h>

enum { RECORDS = 40 };

int main(int argc, char **argv)
{
    struct rf_trace_writer *writer;
    struct rf_error error = {""};
    struct rf_record records[RECORDS] = {{0}};
    for (unsigned i = 0; i < RECORDS; i++) {
        struct rf_record *r = &records[i];
        r->pc = 0x401000 + 4 * (i % 5);
        r->kind = i % 5 == 4 ? RF_CLASS_BRANCH : i % 5 == 3 ? RF_CLASS_STORE : RF_CLASS_LOAD;
        if (r->kind == RF_CLASS_BRANCH) {
            r->target = i % 10 == 9 ? 0x401000 : 0x401014;
            r->flags = i % 10 == 9 ? RF_RECORD_TAKEN : 0;
            continue;
        }
        r->addr = 0x7000 + 8 * (i % 3);
        r->value = i % 4;
        r->width = 64;
        r->miss = i % 10 == 0;
    }
    if (argc != 2 || rf_trace_create(&writer, argv[1], RF_TRACE_RECORDS, "make-records", NULL, NULL,
                                     &error) != RF_OK)
        goto fail;
    const struct rf_module stack = {.path = (char *)"[stack]", .start = 0xf000, .end = 0xf800};
    if (rf_trace_write_records(writer, records, RECORDS, &error) != RF_OK ||
        rf_trace_add_module(writer, &stack, &error) != RF_OK) {
        rf_trace_abandon(writer);
        goto fail;
    }
    if (rf_trace_finish(writer, &error) == RF_OK)
        return 0;
fail:
    fprintf(stderr, "make-records: %s\n", error.message);
    return 1;
}
