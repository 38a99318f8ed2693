/* Any bytes as a .rfp file, or as the payload of one with everything else right: refused with a sentence,
 * or a run that can be reported, merged, measured and saved as a file that reads back alike. */
#include "../rfp.h"
#include "fuzz.h"
#include <riffle/measure.h>
#include <riffle/report.h>

static void check_saved(const struct rf_run *run)
{
    struct rf_bytes first, second;
    struct rf_run *back;
    PROMISE(rf_run_encode(run, &first, NULL) == RF_OK);
    PROMISE(rf_run_decode(&back, first.bytes, first.n, NULL, NULL) == RF_OK);
    PROMISE(rf_run_encode(back, &second, NULL) == RF_OK);
    PROMISE(first.n == second.n && memcmp(first.bytes, second.bytes, first.n) == 0);
    rf_bytes_free(&second, &back->alloc);
    rf_run_free(back);
    rf_bytes_free(&first, &run->alloc);
}

static void report(const struct rf_run *run)
{
    FILE *out = fopen("/dev/null", "w");
    PROMISE(out != NULL);
    for (size_t i = 0; rf_report_forms()[i] != NULL; i++)
        for (int per_interval = 0; per_interval < 2; per_interval++) {
            const struct rf_report_setup setup = {.view.rows = 100, .per_interval = per_interval};
            rf_status status = rf_report_forms()[i]->write(out, run, &setup, NULL);
            PROMISE(status == RF_OK || status == RF_ENOTSUP); /* not every form takes every shape */
        }
    fclose(out);
}

static void use(struct rf_run *run)
{
    struct rf_measure_interval measure;
    check_saved(run);
    report(run);
    if (run->n_profiles > 0 &&
        rf_measure_interval(&measure, run->profiles[0], run->profiles[0], 0.01, NULL) == RF_OK &&
        run->profiles[0]->shape == RF_SHAPE_TUPLE)
        PROMISE(measure.error >= 0);
    if (rf_run_merge(run, run, NULL) == RF_OK)
        check_saved(run);
}

static void decode(const unsigned char *bytes, size_t n)
{
    struct rf_error error = {""};
    struct rf_run *run;
    rf_status status = rf_run_decode(&run, bytes, n, NULL, &error);
    if (status == RF_OK)
        use(run);
    else
        PROMISE(run == NULL && error.message[0] != '\0');
    rf_run_free(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    size_t length;
    decode(bytes, n);
    unsigned char *wrapped = rfp_wrap(bytes, n, &length);
    if (wrapped != NULL)
        decode(wrapped, length);
    free(wrapped);
    return 0;
}
