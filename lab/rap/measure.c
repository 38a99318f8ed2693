/* measure.c - what the figures of range-adaptive profiling are made of, as CSV on stdout.
 *
 *     measure worst                                  figures 2 and 3: worst-case nodes over b, q, events
 *     measure error TRACE WORD BITS LIMIT EPS:NODES...  figures 8, 10: nodes, and how far hot ranges are off
 *     measure nodes TRACE WORD BITS LIMIT EPS:NODES     figure 9: nodes and eps as the stream goes on
 *     measure buffer TRACE WORD LIMIT RUNS           figure 4: speed-up with 1 KB, aggregated, with our cache, each
 *                                                    as mean and standard deviation; events per walk of the tree
 *
 * WORD is a, b or both; BITS of the universe; NODES of room, 0: as many as EPS can need. Values outside the
 * universe are left out and counted. The trees are the paper's: b = 4, ends = 1; hot is above 10%. */
#include "base/alloc.h"
#include "engine/rap/rap_engine.h"
#include "figure.h"
#include <riffle/riffle.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct stream {
    struct rf_tuple *tuples; /* in one dimension b is 0 */
    size_t n, outside;
};

__attribute__((noreturn)) static void die(const char *what)
{
    fprintf(stderr, "measure: %s\n", what);
    exit(1);
}

static struct rf_tuple key_of(struct rf_tuple tuple, const char *word)
{
    if (strcmp(word, "both") == 0)
        return tuple;
    return (struct rf_tuple){word[0] == 'a' ? tuple.a : tuple.b, 0};
}

static void take(struct stream *stream, struct rf_tuple key, unsigned bits)
{
    if (bits < 64 && (key.a | key.b) >> bits != 0)
        stream->outside++;
    else
        stream->tuples[stream->n++] = key;
}

static struct stream load(const char *path, const char *word, unsigned bits, size_t limit)
{
    struct rf_source *source;
    struct rf_error error = {""};
    struct rf_batch batch;
    struct stream stream = {malloc(limit * sizeof(struct rf_tuple)), 0, 0};
    if (stream.tuples == NULL || rf_source_open(&source, path, NULL, &error) != RF_OK)
        die(error.message);
    while (stream.n + stream.outside < limit && rf_source_next(source, &batch, &error) == RF_OK &&
           batch.n > 0)
        for (size_t i = 0; i < batch.tuples.n; i++)
            for (uint64_t k = batch.tuples.counts != NULL ? batch.tuples.counts[i] : 1;
                 k > 0 && stream.n + stream.outside < limit; k--)
                take(&stream, key_of(batch.tuples.tuples[i], word), bits);
    rf_source_close(source);
    return stream;
}

/* What a tree is made of. */
struct shape {
    unsigned dims, bits;
    double eps;
    uint64_t nodes; /* of room; 0: as many as it can need */
};

static struct rf_rap_plan plan_of(struct shape shape, unsigned b, uint64_t q)
{
    struct rf_rap_plan plan = {0};
    rf_rap_plan_make(&plan, shape.dims, shape.bits, b, shape.eps, 1);
    plan.q = q;
    plan.first_merge = 1024;
    plan.sets = (uint32_t)rf_rap_plan_ceiling(&plan) + 1;
    if (shape.nodes != 0 && shape.nodes / b + 1 < plan.sets)
        plan.sets = (uint32_t)(shape.nodes / b) + 1;
    return plan;
}

static void open_tree(struct rf_rap_tree *tree, struct shape shape)
{
    struct rf_rap_plan plan = plan_of(shape, 4, 2);
    void *memory = calloc(1, rf_rap_tree_size(&plan));
    if (memory == NULL)
        die("no memory");
    rf_rap_tree_init(tree, &plan, memory);
}

static void close_tree(struct rf_rap_tree *tree)
{
    free(tree->nodes);
}

/* --- figures 2 and 3 --- */

static void worst_cases(void)
{
    const struct shape paper = {1, 32, 0.01, 0};
    puts("figure,x,nodes");
    for (unsigned b = 2; b <= 16; b *= 2) {
        struct rf_rap_plan plan = plan_of(paper, b, 2);
        printf("b,%u,%" PRIu64 "\n", b, rf_rap_plan_ceiling(&plan) * b);
    }
    for (uint64_t q = 2; q <= 10; q++) {
        struct rf_rap_plan plan = plan_of(paper, 4, q);
        printf("q,%" PRIu64 ",%" PRIu64 "\n", q, rf_rap_plan_ceiling(&plan) * 4);
    }
    struct rf_rap_plan plan = plan_of(paper, 4, 2);
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
        ranges->items[ranges->n++] = (struct rf_item){.a = box.a,
                                                      .a_hi = box.a_hi,
                                                      .b = box.b,
                                                      .b_hi = box.b_hi,
                                                      .count = tree->nodes[x].count};
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
                              .shape = tree->plan.dims == 2 ? RF_SHAPE_RECTANGLE : RF_SHAPE_RANGE_A,
                              .consumed = tree->events,
                              .items = ranges.items,
                              .n_items = ranges.n};
    if (rf_range_tree_make(hot, &made, threshold) != RF_OK)
        die("no memory");
    free(ranges.items);
}

static bool holds(const struct rf_range_tree *hot, size_t i, struct rf_tuple key)
{
    const struct rf_range_box *box = &hot->nodes[i].box;
    return box->a <= key.a && key.a <= box->a_hi && box->b <= key.b && key.b <= box->b_hi;
}

struct errors {
    double max, mean, mean_total;
    size_t n;
};

/* Keep the hot ones, still parents first. */
static void keep_hot(struct rf_range_tree *hot)
{
    size_t kept = 0;
    for (size_t i = 0; i < hot->n; i++)
        if (hot->nodes[i].hot)
            hot->nodes[kept++] = hot->nodes[i];
    hot->n = kept;
}

/* Events that hot range i holds: all of them, and those that no hot range inside it holds. */
struct truth {
    uint64_t all, own;
};

static struct truth *second_pass(const struct rf_range_tree *hot, const struct stream *stream)
{
    struct truth *truth = calloc(hot->n + 1, sizeof *truth);
    if (truth == NULL)
        die("no memory");
    for (size_t i = 0; i < stream->n; i++) {
        size_t innermost = hot->n;
        for (size_t k = 0; k < hot->n; k++)
            if (holds(hot, k, stream->tuples[i])) {
                truth[k].all++;
                innermost = k;
            }
        truth[innermost].own++;
    }
    return truth;
}

static struct errors judge(struct rf_range_tree *hot, const struct stream *stream)
{
    struct errors errors = {0, 0, 0, 0};
    keep_hot(hot);
    struct truth *truth = second_pass(hot, stream);
    for (size_t i = 0; i < hot->n; i++) {
        double off = fabs((double)hot->nodes[i].weight - (double)truth[i].own);
        double error = truth[i].own > 0 ? off / (double)truth[i].own : 0;
        errors.max = error > errors.max ? error : errors.max;
        errors.mean += error / (double)hot->n;
        errors.mean_total += ((double)truth[i].all - (double)hot->nodes[i].total) /
                             (double)truth[i].all / (double)hot->n;
        errors.n++;
    }
    free(truth);
    return errors;
}

static void add(struct rf_rap_tree *tree, struct rf_tuple key, uint64_t count)
{
    rf_rap_tree_add(tree, key, count);
}

static void error_of(const struct stream *stream, struct shape shape)
{
    struct rf_rap_tree tree;
    struct rf_range_tree hot;
    double nodes = 0, samples = 0;
    open_tree(&tree, shape);
    for (size_t i = 0; i < stream->n; i++) {
        add(&tree, stream->tuples[i], 1);
        if (i % 1000 == 999) {
            nodes += (double)rf_rap_tree_node_count(&tree, tree.used);
            samples++;
        }
    }
    hot_ranges(&hot, &tree, 0.1);
    struct errors errors = judge(&hot, stream);
    printf("%u,%g,%" PRIu64 ",%" PRIu64 ",%.0f,%zu,%.6f,%.6f,%.6f,%.4f,%zu,%zu\n", shape.bits,
           shape.eps, shape.nodes, rf_rap_tree_node_count(&tree, tree.used_max), nodes / samples,
           errors.n, 100 * errors.max, 100 * errors.mean, 100 * errors.mean_total,
           100 * rf_rap_tree_eps(&tree), stream->n, stream->outside);
    rf_range_tree_free(&hot);
    close_tree(&tree);
}

static void print_nodes(const struct rf_rap_tree *tree, size_t events, uint32_t used)
{
    printf("%zu,%" PRIu64 ",%" PRIu64 ",%.4f\n", events, rf_rap_tree_node_count(tree, used),
           tree->merges, 100 * rf_rap_tree_eps(tree));
}

/* At 3% more events each, and on both sides of every merge. */
static void nodes_over_time(const struct stream *stream, struct shape shape)
{
    struct rf_rap_tree tree;
    open_tree(&tree, shape);
    puts("events,nodes,merges,eps_percent");
    for (size_t i = 0, next = 16; i < stream->n; i++) {
        uint32_t before = tree.used;
        uint64_t merges = tree.merges + tree.early;
        add(&tree, stream->tuples[i], 1);
        bool merged = tree.merges + tree.early != merges;
        if (i + 1 < next && !merged)
            continue;
        if (merged)
            print_nodes(&tree, i, before);
        print_nodes(&tree, i + 1, tree.used);
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

static const struct shape one_percent = {1, 64, 0.01, 0};

static double time_plain(const struct stream *stream)
{
    struct rf_rap_tree tree;
    open_tree(&tree, one_percent);
    double begin = seconds();
    for (size_t i = 0; i < stream->n; i++)
        add(&tree, stream->tuples[i], 1);
    double taken = seconds() - begin;
    close_tree(&tree);
    return taken;
}

/* Seconds, and where there is a buffer how many entries left it for the tree. */
static double time_engine(const struct stream *stream, const char *text, double *walks)
{
    struct rf_engine *engine;
    if (rf_engine_open(&engine, text, NULL, NULL) != RF_OK)
        die("no engine");
    double begin = seconds();
    rf_engine_feed(engine, &(struct rf_tuples){stream->tuples, NULL, stream->n}, NULL);
    double taken = seconds() - begin;
    *walks = lab_figure(engine, "buffer-out");
    rf_engine_close(engine);
    return taken;
}

static int by_value(const void *x, const void *y)
{
    uint64_t a = ((const struct rf_tuple *)x)->a, b = ((const struct rf_tuple *)y)->a;
    return (a > b) - (a < b);
}

/* Each value once, in order, with its count in b. */
static struct stream aggregate(const struct stream *stream)
{
    struct stream sums = {malloc(stream->n * sizeof(struct rf_tuple)), 0, 0};
    if (sums.tuples == NULL)
        die("no memory");
    memcpy(sums.tuples, stream->tuples, stream->n * sizeof(struct rf_tuple));
    qsort(sums.tuples, stream->n, sizeof(struct rf_tuple), by_value);
    for (size_t i = 0; i < stream->n; i++) {
        if (sums.n == 0 || sums.tuples[sums.n - 1].a != sums.tuples[i].a)
            sums.tuples[sums.n++] = (struct rf_tuple){sums.tuples[i].a, 0};
        sums.tuples[sums.n - 1].b++;
    }
    return sums;
}

/* All identical events of the stream at once; aggregating itself is not counted, as in the paper. */
static double time_aggregated(const struct stream *sums)
{
    struct rf_rap_tree tree;
    open_tree(&tree, one_percent);
    double begin = seconds();
    for (size_t i = 0; i < sums->n; i++)
        add(&tree, (struct rf_tuple){sums->tuples[i].a, 0}, sums->tuples[i].b);
    double taken = seconds() - begin;
    close_tree(&tree);
    return taken;
}

struct ratios {
    double sum, squares;
};

static void count_ratio(struct ratios *ratios, double ratio)
{
    ratios->sum += ratio;
    ratios->squares += ratio * ratio;
}

static void print_ratios(const struct ratios *ratios, double n)
{
    double mean = ratios->sum / n, variance = (ratios->squares - n * mean * mean) / (n - 1);
    printf("%.2f,%.2f,", mean, n > 1 && variance > 0 ? sqrt(variance) : 0);
}

static void buffer_speed(const struct stream *stream, int runs)
{
    struct ratios buffered = {0, 0}, aggregated = {0, 0}, cached = {0, 0};
    struct stream sums = aggregate(stream);
    double walks = 0, none;
    for (int i = 0; i < runs; i++) {
        double plain = time_plain(stream);
        count_ratio(&buffered,
                    plain / time_engine(stream, "rap(paper, cache=0, buffer=1Ki)", &walks));
        count_ratio(&aggregated, plain / time_aggregated(&sums));
        count_ratio(&cached, plain / time_engine(stream, "rap(paper)", &none));
    }
    print_ratios(&buffered, runs);
    print_ratios(&aggregated, runs);
    print_ratios(&cached, runs);
    printf("%.2f,%d\n", walks > 0 ? (double)stream->n / walks : 0, runs);
    free(sums.tuples);
}

/* error or nodes: TRACE WORD BITS LIMIT EPS:NODES..., a tree for each pair */
static void with_trees(char **argv, int n)
{
    struct shape shape = {.dims = strcmp(argv[3], "both") == 0 ? 2 : 1,
                          .bits = (unsigned)strtoul(argv[4], NULL, 10)};
    struct stream stream = load(argv[2], argv[3], shape.bits, strtoull(argv[5], NULL, 10));
    if (stream.n == 0)
        die("no events");
    for (int i = 6; i < n; i++) {
        char *colon;
        shape.eps = strtod(argv[i], &colon);
        shape.nodes = *colon == ':' ? strtoull(colon + 1, NULL, 10) : 0;
        if (strcmp(argv[1], "error") == 0)
            error_of(&stream, shape);
        else
            nodes_over_time(&stream, shape);
        fflush(stdout);
    }
    free(stream.tuples);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "worst") == 0) {
        worst_cases();
    } else if (argc == 6 && strcmp(argv[1], "buffer") == 0) {
        struct stream stream = load(argv[2], argv[3], 64, strtoull(argv[4], NULL, 10));
        buffer_speed(&stream, (int)strtol(argv[5], NULL, 10));
        free(stream.tuples);
    } else if (argc > 6) {
        with_trees(argv, argc);
    } else {
        die("see the top of lab/rap/measure.c");
    }
    return 0;
}
