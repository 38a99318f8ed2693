/* measure.c - what the figures of range-adaptive profiling are made of, as CSV on stdout.
 *
 *     measure worst                              figures 2 and 3: worst-case nodes over b, q, events
 *     measure error TRACE WORD EPS LIMIT         figures 8, 10: nodes, and how far hot ranges are off
 *     measure nodes TRACE WORD EPS LIMIT         figure 9: nodes as the stream goes on
 *     measure buffer TRACE WORD LIMIT            figure 4: seconds without buffer, with 1 KB, aggregated
 *
 * WORD is a or b. The trees are the paper's: b = 4, 64 bits, ends = 1; hot is above 10%. */
#include "base/alloc.h"
#include "engine/rap/rap_engine.h"
#include <riffle/riffle.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct stream {
    uint64_t *values;
    size_t n;
};

__attribute__((noreturn)) static void die(const char *what)
{
    fprintf(stderr, "measure: %s\n", what);
    exit(1);
}

static struct stream load(const char *path, const char *word, size_t limit)
{
    struct rf_source *source;
    struct rf_error error = {""};
    struct rf_batch batch;
    struct stream stream = {malloc(limit * sizeof(uint64_t)), 0};
    if (stream.values == NULL || rf_source_open(&source, path, NULL, &error) != RF_OK)
        die(error.message);
    while (stream.n < limit && rf_source_next(source, &batch, &error) == RF_OK && batch.n > 0)
        for (size_t i = 0; i < batch.tuples.n; i++)
            for (uint64_t k = 0;
                 k < (batch.tuples.counts != NULL ? batch.tuples.counts[i] : 1) && stream.n < limit;
                 k++)
                stream.values[stream.n++] =
                    word[0] == 'a' ? batch.tuples.tuples[i].a : batch.tuples.tuples[i].b;
    rf_source_close(source);
    return stream;
}

static struct rf_rap_plan plan_of(unsigned bits, unsigned b, double eps, uint64_t q)
{
    struct rf_rap_plan plan = {0};
    rf_rap_plan_make(&plan, 1, bits, b, eps, 1);
    plan.q = q;
    plan.first_merge = 1024;
    plan.sets = (uint32_t)rf_rap_plan_ceiling(&plan) + 1;
    return plan;
}

static void open_tree(struct rf_rap_tree *tree, double eps)
{
    struct rf_rap_plan plan = plan_of(64, 4, eps, 2);
    void *memory = calloc(1, rf_rap_tree_size(&plan));
    if (memory == NULL)
        die("no memory");
    rf_rap_tree_init(tree, &plan, memory);
}

static void close_tree(struct rf_rap_tree *tree)
{
    free(tree->nodes);
}

static void add(struct rf_rap_tree *tree, uint64_t value, uint64_t count)
{
    rf_rap_tree_add(tree, (struct rf_tuple){value, 0}, count);
}

/* --- figures 2 and 3 --- */

static void worst_cases(void)
{
    puts("figure,x,nodes");
    for (unsigned b = 2; b <= 16; b *= 2) {
        struct rf_rap_plan plan = plan_of(32, b, 0.01, 2);
        printf("b,%u,%" PRIu64 "\n", b, rf_rap_plan_ceiling(&plan) * b);
    }
    for (uint64_t q = 2; q <= 10; q++) {
        struct rf_rap_plan plan = plan_of(32, 4, 0.01, q);
        printf("q,%" PRIu64 ",%" PRIu64 "\n", q, rf_rap_plan_ceiling(&plan) * 4);
    }
    struct rf_rap_plan plan = plan_of(32, 4, 0.01, 2);
    struct rf_rap_worst worst = {0};
    for (int i = 0; i < 16; i++) {
        worst = rf_rap_plan_worst(&plan, worst);
        printf("events,%" PRIu64 ",%" PRIu64 "\n", worst.from, worst.after * 4);
        printf("events,%" PRIu64 ",%" PRIu64 "\n", worst.to, worst.before * 4);
    }
}

/* --- hot ranges --- */

struct ranges {
    struct rf_item *items;
    size_t n;
};

static void keep(void *context, const struct rf_rap_tree *tree, uint32_t x, uint64_t above)
{
    (void)above;
    struct ranges *ranges = context;
    struct rf_rap_box box = rf_rap_tree_box(tree, x);
    if (rf_rap_tree_total(tree, x) > 0)
        ranges->items[ranges->n++] = (struct rf_item){
            .a = box.a, .a_hi = box.a_hi, .b_hi = UINT64_MAX, .count = tree->nodes[x].count};
}

static void hot_ranges(struct rf_range_tree *hot, const struct rf_rap_tree *tree, double threshold)
{
    size_t room = (size_t)rf_rap_tree_node_count(tree, tree->used);
    struct ranges ranges = {malloc(room * sizeof(struct rf_item)), 0};
    struct rf_rap_visit visit = {keep, &ranges};
    if (ranges.items == NULL)
        die("no memory");
    rf_rap_tree_walk(tree, &visit);
    struct rf_profile made = {.alloc = rf_alloc_standard,
                              .shape = RF_SHAPE_RANGE_A,
                              .consumed = tree->events,
                              .items = ranges.items,
                              .n_items = ranges.n};
    if (rf_range_tree_make(hot, &made, threshold) != RF_OK)
        die("no memory");
    free(ranges.items);
}

/* The innermost hot range of a value: what a perfect profiler would count it in. */
static size_t hot_of(const struct rf_range_tree *hot, uint64_t value)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < hot->n; i++)
        if (hot->nodes[i].hot && hot->nodes[i].box.a <= value && value <= hot->nodes[i].box.a_hi)
            best = i;
    return best;
}

struct errors {
    double max, mean, mean_total;
    size_t n;
};

/* A second pass over the stream counts the hot ranges exactly. Ranges that hold everything are no news. */
static struct errors judge(struct rf_range_tree *hot, const struct stream *stream)
{
    uint64_t *truth = calloc(hot->n + 1, sizeof *truth);
    uint64_t *total = calloc(hot->n + 1, sizeof *total);
    struct errors errors = {0, 0, 0, 0};
    size_t kept = 0;
    if (truth == NULL || total == NULL)
        die("no memory");
    for (size_t i = 0; i < hot->n; i++) /* hot ones to the front, still parents first */
        if (hot->nodes[i].hot)
            hot->nodes[kept++] = hot->nodes[i];
    hot->n = kept;
    for (size_t i = 0; i < stream->n; i++) {
        size_t k = hot_of(hot, stream->values[i]);
        if (k != SIZE_MAX)
            truth[k]++;
        for (size_t j = 0; j < kept; j++)
            total[j] += hot->nodes[j].box.a <= stream->values[i] &&
                        stream->values[i] <= hot->nodes[j].box.a_hi;
    }
    for (size_t i = 0; i < kept; i++) {
        double off = (double)hot->nodes[i].weight - (double)truth[i];
        double error = truth[i] > 0 ? (off < 0 ? -off : off) / (double)truth[i] : 0;
        errors.max = error > errors.max ? error : errors.max;
        errors.mean += error;
        errors.mean_total += ((double)total[i] - (double)hot->nodes[i].total) / (double)total[i];
        errors.n++;
    }
    if (errors.n > 0) {
        errors.mean /= (double)errors.n;
        errors.mean_total /= (double)errors.n;
    }
    free(truth);
    free(total);
    return errors;
}

static void error_of(const struct stream *stream, double eps)
{
    struct rf_rap_tree tree;
    struct rf_range_tree hot;
    double nodes = 0, samples = 0;
    open_tree(&tree, eps);
    for (size_t i = 0; i < stream->n; i++) {
        add(&tree, stream->values[i], 1);
        if (i % 1000 == 999) {
            nodes += (double)rf_rap_tree_node_count(&tree, tree.used);
            samples++;
        }
    }
    hot_ranges(&hot, &tree, 0.1);
    struct errors errors = judge(&hot, stream);
    printf("%g,%" PRIu64 ",%.0f,%zu,%.6f,%.6f,%.6f,%zu\n", eps,
           rf_rap_tree_node_count(&tree, tree.used_max), nodes / samples, errors.n,
           100 * errors.max, 100 * errors.mean, 100 * errors.mean_total, stream->n);
    rf_range_tree_free(&hot);
    close_tree(&tree);
}

static void nodes_over_time(const struct stream *stream, double eps)
{
    struct rf_rap_tree tree;
    uint64_t merges = 0;
    open_tree(&tree, eps);
    puts("events,nodes,merges");
    for (size_t i = 0, next = 16; i < stream->n; i++) {
        uint32_t before = tree.used;
        add(&tree, stream->values[i], 1);
        bool merged = tree.merges != merges;
        if (i + 1 < next && !merged)
            continue;
        if (merged)
            printf("%zu,%" PRIu64 ",%" PRIu64 "\n", i, rf_rap_tree_node_count(&tree, before),
                   merges);
        merges = tree.merges;
        printf("%zu,%" PRIu64 ",%" PRIu64 "\n", i + 1, rf_rap_tree_node_count(&tree, tree.used),
               merges);
        next = (i + 1) + (i + 1) / 30 + 1;
    }
    close_tree(&tree);
}

/* --- figure 4 --- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double time_plain(const struct stream *stream)
{
    struct rf_rap_tree tree;
    open_tree(&tree, 0.01);
    double begin = seconds();
    for (size_t i = 0; i < stream->n; i++)
        add(&tree, stream->values[i], 1);
    double taken = seconds() - begin;
    close_tree(&tree);
    return taken;
}

static double time_engine(const struct stream *stream, const char *text)
{
    struct rf_engine *engine;
    static struct rf_tuple tuples[4096];
    if (rf_engine_open(&engine, text, NULL, NULL) != RF_OK)
        die("no engine");
    double taken = 0;
    for (size_t done = 0; done < stream->n;) {
        size_t n = stream->n - done < 4096 ? stream->n - done : 4096;
        for (size_t i = 0; i < n; i++)
            tuples[i].a = stream->values[done + i];
        struct rf_tuples piece = {tuples, NULL, n};
        double begin = seconds();
        rf_engine_feed(engine, &piece, NULL);
        taken += seconds() - begin;
        done += n;
    }
    rf_engine_close(engine);
    return taken;
}

static int by_value(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

/* All identical events of the stream at once; aggregating itself is not counted, as in the paper. */
static double time_aggregated(struct stream *stream)
{
    struct rf_rap_tree tree;
    open_tree(&tree, 0.01);
    qsort(stream->values, stream->n, sizeof *stream->values, by_value);
    size_t distinct = 0;
    uint64_t *counts = malloc(stream->n * sizeof *counts);
    if (counts == NULL)
        die("no memory");
    for (size_t i = 0; i < stream->n; i++) {
        if (distinct == 0 || stream->values[distinct - 1] != stream->values[i]) {
            stream->values[distinct] = stream->values[i];
            counts[distinct++] = 0;
        }
        counts[distinct - 1]++;
    }
    double begin = seconds();
    for (size_t i = 0; i < distinct; i++)
        add(&tree, stream->values[i], counts[i]);
    double taken = seconds() - begin;
    free(counts);
    close_tree(&tree);
    return taken;
}

static void buffer_speed(struct stream *stream)
{
    double plain = 1e9, buffered = 1e9, cached = 1e9;
    for (int i = 0; i < 3; i++) {
        double t = time_plain(stream);
        plain = t < plain ? t : plain;
        t = time_engine(stream, "rap(paper, cache=0, buffer=1Ki)");
        buffered = t < buffered ? t : buffered;
        t = time_engine(stream, "rap(paper)");
        cached = t < cached ? t : cached;
    }
    double aggregated = time_aggregated(stream);
    printf("1,%.2f,%.2f,%.2f\n", plain / buffered, plain / aggregated, plain / cached);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "worst") == 0) {
        worst_cases();
        return 0;
    }
    if (argc < 5)
        die("see the top of lab/rap/measure.c");
    bool has_eps = strcmp(argv[1], "error") == 0 || strcmp(argv[1], "nodes") == 0;
    double eps = has_eps ? strtod(argv[4], NULL) : 0.01;
    struct stream stream = load(argv[2], argv[3], strtoull(argv[has_eps ? 5 : 4], NULL, 10));
    if (stream.n == 0)
        die("no events");
    if (strcmp(argv[1], "error") == 0)
        error_of(&stream, eps);
    else if (strcmp(argv[1], "nodes") == 0)
        nodes_over_time(&stream, eps);
    else
        buffer_speed(&stream);
    free(stream.values);
    return 0;
}
