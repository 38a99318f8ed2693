/* service - messages to a service thread in place of interrupts: does it keep up while the program runs?
 *
 *     service SEEDS TRACE CYCLES_PER_EVENT ENGINE...
 *
 * Sastry, Bodik, Smith, section 2.2: a thread on a simple processor of its own reads messages from a queue in memory.
 * What matters is the time between messages: the thread should be done with one before the next comes. An event
 * comes every CYCLES_PER_EVENT cycles; the thread takes 30 cycles per message, as the paper's
 * handler does. TRACE holds records (of `riffle sim`), of which the values of the first four
 * million loads are taken. CSV, means over the seeds but for the last: engine,seeds,messages,gap_cycles (mean time between two
 * messages),late_percent (messages that find the thread at work),waiting_max (most messages in the queue, of all seeds). */
#include "base/alloc.h"
#include "engine/stratified/compressor.h"
#include <riffle/riffle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERVICE_CYCLES = 30, EVENTS_MAX = 4000000 };

struct thread {
    double now, idle_from; /* cycles */
    double messages, late, waiting_max;
};

struct stream {
    struct rf_tuple *tuples;
    size_t n, room;
};

__attribute__((noreturn)) static void die(const char *message)
{
    fprintf(stderr, "service: %s\n", message);
    exit(1);
}

static void arrive(void *context, const struct rf_message *message)
{
    (void)message;
    struct thread *thread = context;
    double behind = thread->idle_from - thread->now;
    thread->messages++;
    if (behind > 0) {
        double waiting = behind / SERVICE_CYCLES;
        thread->late++;
        thread->waiting_max = waiting > thread->waiting_max ? waiting : thread->waiting_max;
        thread->idle_from += SERVICE_CYCLES;
    } else {
        thread->idle_from = thread->now + SERVICE_CYCLES;
    }
}

static void append(struct stream *stream, const struct rf_selector *selector,
                   const struct rf_batch *batch)
{
    if (stream->n + batch->n > stream->room) {
        stream->room = 2 * (stream->n + batch->n);
        stream->tuples = realloc(stream->tuples, stream->room * sizeof *stream->tuples);
        if (stream->tuples == NULL)
            die("no memory");
    }
    if (batch->records == NULL)
        die("the trace must hold records");
    stream->n += rf_selector_run(selector, batch->records, batch->n, stream->tuples + stream->n);
}

static struct stream load(const char *path)
{
    struct stream stream = {NULL, 0, 0};
    struct rf_source *source;
    struct rf_error error = {""};
    struct rf_batch batch;
    struct rf_selector selector;
    if (rf_selector_parse(&selector, "values", &error) != RF_OK ||
        rf_source_open(&source, path, NULL, &error) != RF_OK)
        die(error.message);
    while (stream.n < EVENTS_MAX && rf_source_next(source, &batch, &error) == RF_OK && batch.n > 0)
        append(&stream, &selector, &batch);
    rf_source_close(source);
    return stream;
}

/* Event by event, so that each message has its time. */
static struct thread serve(const struct stream *stream, const char *text, uint64_t seed,
                           double cycles_per_event)
{
    const struct rf_engine_ops *ops;
    static _Alignas(16) unsigned char config[RF_ENGINE_CONFIG_MAX];
    struct rf_engine_env env = {rf_alloc_or_standard(NULL), seed, 0};
    struct rf_error error = {""};
    struct thread thread = {0};
    size_t consumed;
    if (rf_engine_parse(&ops, config, sizeof config, text, &error) != RF_OK)
        die(error.message);
    size_t size = (ops->state_size(config) + 63) & ~(size_t)63;
    void *state = aligned_alloc(64, size);
    if (state == NULL || ops->init(memset(state, 0, size), config, &env, &error) != RF_OK)
        die("no memory");
    rf_compressor_listen(state, arrive, &thread);
    for (size_t i = 0; i < stream->n; i++) {
        thread.now = (double)i * cycles_per_event;
        ops->feed(state, stream->tuples + i, 1, &consumed);
    }
    ops->release(state);
    free(state);
    return thread;
}

static void print_engine(const struct stream *stream, const char *text, int seeds,
                         double cycles_per_event)
{
    struct thread sum = {0};
    for (int seed = 0; seed < seeds; seed++) {
        struct thread thread = serve(stream, text, (uint64_t)seed, cycles_per_event);
        sum.messages += thread.messages;
        sum.late += thread.late;
        sum.waiting_max =
            thread.waiting_max > sum.waiting_max ? thread.waiting_max : sum.waiting_max;
    }
    double messages = sum.messages > 0 ? sum.messages : 1;
    printf("\"%s\",%d,%.1f,%.1f,%.4f,%.0f\n", text, seeds, sum.messages / seeds,
           (double)stream->n * cycles_per_event * seeds / messages, 100 * sum.late / messages,
           sum.waiting_max);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        die("service SEEDS TRACE CYCLES_PER_EVENT ENGINE...");
    struct stream stream = load(argv[2]);
    puts("engine,seeds,messages,gap_cycles,late_percent,waiting_max");
    for (int i = 4; i < argc; i++)
        print_engine(&stream, argv[i], (int)strtol(argv[1], NULL, 10), strtod(argv[3], NULL));
    free(stream.tuples);
    return 0;
}
