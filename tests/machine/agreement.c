/* The timing model against the cycle-by-cycle pipeline on instructions of real programs.
 *
 *     agreement FOLDER            every PROGRAM.rv64 in it, with the argument 2
 *
 * A hook at retirement keeps a stretch from the middle of the program; both models then take the same. */
#include "machine/hooks.h"
#include "machine/timing/timing.h"
#include "reference/pipeline.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STREAM_MAX = 1000000 };
static const double MEAN_MAX = 0.01, WORST_MAX = 0.05;

struct stream {
    size_t n;
    struct rf_retired *retired;
};

static void keep(void *context, const struct rf_retirement *retirement)
{
    struct stream *stream = context;
    if (stream->n == STREAM_MAX)
        return;
    stream->retired[stream->n++] = (struct rf_retired){.insn = *retirement->insn,
                                                       .pc = retirement->pc,
                                                       .next_pc = retirement->next_pc,
                                                       .address = retirement->address};
}

static uint64_t length_of_streams(void)
{
    const char *longer = getenv("RIFFLE_TEST_LONG");
    return longer != NULL && *longer != '\0' ? STREAM_MAX : 300000;
}

/* The programs have our standard output. */
static FILE *tap;

static int collect(struct stream *stream, const char *program, uint64_t skip)
{
    const char *argv[] = {program, "2", NULL};
    const struct rf_machine_setup setup = {
        .argv = argv, .skip_instructions = skip, .max_instructions = skip + length_of_streams()};
    struct rf_machine_hooks hooks = {.context = stream, .retire = keep};
    struct rf_source *source;
    struct rf_error error = {""};
    struct rf_batch batch = {.n = 0};
    if (rf_source_open_machine(&source, &setup, &error) != RF_OK) {
        fprintf(tap, "# %s\n", error.message);
        return -1;
    }
    stream->n = 0;
    rf_machine_hook(source, &hooks);
    rf_source_next(source, &batch, NULL);
    rf_source_close(source);
    return stream->n > 10000 ? 0 : -1;
}

static uint64_t one_pass(const struct rf_timing_config *config, const struct stream *stream)
{
    struct rf_timing *timing;
    if (rf_timing_open(&timing, config, NULL, NULL) != RF_OK)
        abort();
    rf_timing_retire(timing, stream->retired, stream->n, NULL);
    uint64_t cycles = rf_timing_stats(timing).cycles;
    rf_timing_close(timing);
    return cycles;
}

static double difference(const char *core, const struct stream *stream, const char *program)
{
    struct rf_timing_config config;
    if (rf_timing_config_parse(&config, core, NULL) != RF_OK)
        abort();
    double fast = (double)one_pass(&config, stream);
    double slow = (double)pipeline_cycles(&config, stream->retired, stream->n);
    const char *slash = strrchr(program, '/');
    fprintf(tap, "# %-14s %-22s one pass %.0f, cycle by cycle %.0f: %+.2f%%\n",
            slash != NULL ? slash + 1 : program, core, fast, slow, 100 * (fast / slow - 1));
    return fast > slow ? fast / slow - 1 : 1 - fast / slow;
}

struct agreement {
    double sum, worst;
    int n;
};

static int add_program(struct agreement *agreement, struct stream *stream, const char *program)
{
    static const char *const cores[] = {"hps", "coproc", "hps,mshrs=4,memory=200"};
    static const uint64_t skip = 2500000;
    if (collect(stream, program, skip) != 0) {
        fprintf(tap, "# %s: too few instructions\n", program);
        return -1;
    }
    for (size_t c = 0; c < sizeof cores / sizeof *cores; c++) {
        double d = difference(cores[c], stream, program);
        agreement->n++;
        agreement->sum += d;
        agreement->worst = d > agreement->worst ? d : agreement->worst;
    }
    return 0;
}

static int judge(char **programs, size_t n)
{
    struct stream stream = {.retired = malloc(STREAM_MAX * sizeof *stream.retired)};
    struct agreement agreement = {0};
    int failed = 0;
    if (stream.retired == NULL)
        abort();
    for (size_t i = 0; i < n; i++)
        failed |= add_program(&agreement, &stream, programs[i]);
    double mean = agreement.n > 0 ? agreement.sum / agreement.n : 1;
    fprintf(tap, "# %d streams: mean difference %.2f%%, worst %.2f%%\n", agreement.n, 100 * mean,
            100 * agreement.worst);
    free(stream.retired);
    return failed || mean > MEAN_MAX || agreement.worst > WORST_MAX;
}

int main(int argc, char **argv)
{
    char pattern[4096];
    glob_t found = {0};
    tap = fdopen(dup(STDOUT_FILENO), "w");
    if (argc != 2 || tap == NULL || freopen("/dev/null", "w", stdout) == NULL)
        abort();
    snprintf(pattern, sizeof pattern, "%s/*.rv64", argv[1]);
    if (glob(pattern, 0, NULL, &found) != 0) {
        fprintf(tap, "1..0 # SKIP no programs: riscv64-linux-gnu-gcc is not installed\n");
        return 0;
    }
    int failed = judge(found.gl_pathv, found.gl_pathc);
    globfree(&found);
    fprintf(tap, "%s 1 - real programs take as many cycles in both models\n1..1\n",
            failed ? "not ok" : "ok");
    return failed;
}
