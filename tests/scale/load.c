/* A long stream through every engine: memory stays flat, and the end is as fast as the beginning.
 *
 *     load [EVENTS [ENGINE]]        2 million; with RIFFLE_TEST_LONG a billion
 *
 * Each engine runs in a process of its own, so that peaks are its own. Time is that of the processor inside rf_profiler_feed;
 * making the stream is not counted. While the engine takes the last tenth, a second one of the same kind takes the first tenth
 * again, stretch by stretch in turn: whatever else the machine does slows both. The long form fails where the last tenth is more
 * than 10% slower than the first one is now. Keys are few enough to be all seen in the first tenth: what grows after that is a
 * leak. */
#include "test.h"
#include <riffle/engine.h>
#include <riffle/gen.h>
#include <riffle/profiler.h>
#include <riffle/source.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TENTHS = 10, STRETCHES = 40, KEYS = 5000, GROWTH_MAX_KIB = 1024 };

static uint64_t events = 2000000;
static const char *only; /* this engine; NULL: all */
static unsigned n_engines;
static long growth_kib; /* the most of any engine */

/* What was measured, from the child to the parent. */
struct result {
    double seconds[TENTHS];
    double again; /* seconds of the first tenth, taken anew beside the last */
    long peak_kib[TENTHS];
    uint64_t consumed;
    bool done;
};

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static long peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static bool feed(struct rf_profiler *profiler, const struct rf_tuples *tuples, double *seconds)
{
    double begun = processor_time();
    rf_status status = rf_profiler_feed(profiler, tuples, NULL);
    *seconds += processor_time() - begun;
    return status == RF_OK;
}

/* An engine, and the stream that it is fed with. */
struct course {
    struct rf_profiler *profiler;
    struct rf_source *source;
};

static bool begin(struct course *course, const char *engine)
{
    const struct rf_gen gen = {.kind = "zipf", .events = 2 * events, .keys = KEYS, .seed = 18};
    return rf_profiler_open(&course->profiler, engine, NULL, NULL) == RF_OK &&
           rf_source_open_gen(&course->source, &gen, NULL, NULL) == RF_OK;
}

/* The stream goes on where the last stretch ended. */
static bool go_on(const struct course *course, uint64_t left, double *seconds)
{
    while (left > 0) {
        struct rf_batch batch;
        if (rf_source_next(course->source, &batch, NULL) != RF_OK || batch.n == 0)
            return false;
        size_t n = batch.n < left ? batch.n : (size_t)left;
        if (!feed(course->profiler, &(struct rf_tuples){batch.tuples.tuples, NULL, n}, seconds))
            return false;
        left -= n;
    }
    return true;
}

/* `young` begins where the other one began, long ago. */
static bool go_on_by_turns(const struct course *old, const struct course *young,
                           struct result *result)
{
    for (unsigned i = 0; i < STRETCHES; i++) {
        uint64_t tenth = events / TENTHS, n = tenth * (i + 1) / STRETCHES - tenth * i / STRETCHES;
        if (!go_on(old, n, &result->seconds[TENTHS - 1]) || !go_on(young, n, &result->again))
            return false;
    }
    return true;
}

static void measure(const char *engine, struct result *result)
{
    struct course old, young;
    struct rf_profile *profile;
    if (!begin(&old, engine))
        return;
    for (int i = 0; i < TENTHS - 1; i++) {
        result->peak_kib[i] = peak_kib();
        if (!go_on(&old, events / TENTHS, &result->seconds[i]))
            return;
    }
    result->peak_kib[TENTHS - 1] = peak_kib();
    if (!begin(&young, engine) || !go_on_by_turns(&old, &young, result))
        return;
    if (rf_profiler_profile(old.profiler, &profile, NULL) == RF_OK)
        result->consumed = profile->consumed;
    result->done = true;
}

static bool run_alone(const char *engine, struct result *result)
{
    int ends[2], status = -1;
    memset(result, 0, sizeof *result);
    if (pipe(ends) != 0)
        return false;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        measure(engine, result);
        _exit(write(ends[1], result, sizeof *result) == (ssize_t)sizeof *result ? 0 : 1);
    }
    close(ends[1]);
    bool whole = read(ends[0], result, sizeof *result) == (ssize_t)sizeof *result;
    close(ends[0]);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 && whole && result->done;
}

static double rate(double seconds)
{
    uint64_t in_it = events / TENTHS;
    return (double)in_it / seconds * 1e-6;
}

/* Of a short stream a tenth is over in less than a millisecond, and its rate is chance. */
static bool is_slower(const struct result *result)
{
    return getenv("RIFFLE_TEST_LONG") != NULL &&
           rate(result->seconds[TENTHS - 1]) < 0.9 * rate(result->again);
}

static void check_engine(const char *engine)
{
    struct result result;
    REQUIRE(run_alone(engine, &result));
    printf("# %s: %" PRIu64
           " events, peak %ld KiB after a tenth, %ld after nine; M per second: %.1f in "
           "the first tenth, %.1f in the last, %.1f in the first again beside that\n",
           engine, result.consumed, result.peak_kib[1], result.peak_kib[TENTHS - 1],
           rate(result.seconds[0]), rate(result.seconds[TENTHS - 1]), rate(result.again));
    long growth = result.peak_kib[TENTHS - 1] - result.peak_kib[1];
    growth_kib = growth > growth_kib ? growth : growth_kib;
    n_engines++;
    CHECK_ROW(engine, result.consumed == events / TENTHS * TENTHS);
    CHECK_ROW(engine, growth <= GROWTH_MAX_KIB);
    CHECK_ROW(engine, !is_slower(&result));
}

TEST(a_long_stream_costs_the_same_to_its_end)
{
    struct rf_engine_info info;
    for (size_t i = 0; rf_engine_list(i, &info) == RF_OK; i++)
        if (only == NULL || strcmp(only, info.name) == 0)
            check_engine(info.name);
}

int main(int argc, char **argv)
{
    if (getenv("RIFFLE_TEST_LONG") != NULL)
        events = 1000000000;
    if (argc > 1)
        events = strtoull(argv[1], NULL, 0);
    if (argc > 2)
        only = argv[2];
    int status = test_run_all(1, argv);
    printf("# figure: %u engines, %" PRIu64
           " events each, at most %ld KiB more after nine tenths than after one\n",
           n_engines, events, growth_kib);
    return status;
}
