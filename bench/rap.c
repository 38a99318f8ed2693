/* rap against itself with parts taken away, and against the tree as one would write it at first:
 * nodes from malloc that point to their children, the threshold worked out at every event. */
#include "bench.h"
#include "reference/rap.h"
#include <stdio.h>
#include <stdlib.h>

struct pointer_node {
    uint64_t lo, hi, count;
    struct pointer_node *child[4];
};

struct pointer_tree {
    struct pointer_node *root;
    uint64_t n, next_merge;
    double eps, height;
};

static struct pointer_node *new_node(uint64_t lo, uint64_t hi)
{
    struct pointer_node *node = calloc(1, sizeof *node);
    if (node == NULL)
        abort();
    node->lo = lo;
    node->hi = hi;
    return node;
}

static void split(struct pointer_node *node)
{
    uint64_t quarter = (node->hi - node->lo) / 4 + 1;
    struct pointer_node *inner[4];
    for (int i = 0; i < 4; i++) {
        inner[i] = node->child[i];
        node->child[i] = new_node(node->lo + (uint64_t)i * quarter,
                                  node->lo + (uint64_t)i * quarter + quarter - 1);
    }
    for (int i = 0; i < 4 && inner[0] != NULL; i++)
        node->child[(inner[0]->lo - node->lo) / quarter]->child[i] = inner[i];
}

static void merge(struct pointer_node *node, double threshold)
{
    if (node->child[0] == NULL)
        return;
    double weight = (double)node->count;
    struct pointer_node *parent = NULL;
    int parents = 0;
    for (int i = 0; i < 4; i++) {
        merge(node->child[i], threshold);
        weight += (double)node->child[i]->count;
        if (node->child[i]->child[0] != NULL) {
            parent = node->child[i];
            parents++;
        }
    }
    if (parents > 1 || weight >= threshold)
        return;
    node->count = (uint64_t)weight;
    for (int i = 0; i < 4; i++) {
        struct pointer_node *child = node->child[i];
        node->child[i] = parent == NULL ? NULL : parent->child[i];
        if (child != parent)
            free(child);
    }
    free(parent);
}

static void add(struct pointer_tree *tree, uint64_t value)
{
    struct pointer_node *node = tree->root;
    tree->n++;
    while (node->child[0] != NULL && node->child[0]->lo <= value && value <= node->child[3]->hi)
        node = node->child[(value - node->child[0]->lo) /
                           (node->child[0]->hi - node->child[0]->lo + 1)];
    node->count++;
    double threshold = tree->eps * (double)tree->n / tree->height;
    if ((double)node->count > threshold && node->lo != node->hi)
        split(node);
    if (tree->n == tree->next_merge) {
        merge(tree->root, threshold);
        tree->next_merge *= 2;
    }
}

static void free_below(struct pointer_node *node)
{
    for (int i = 0; i < 4 && node->child[0] != NULL; i++)
        free_below(node->child[i]);
    free(node);
}

static void run_pointer_tree(void *context)
{
    struct bench_engine *run = context;
    struct pointer_tree tree = {new_node(0, UINT64_MAX), 0, 1024, 0.01, 32};
    for (size_t i = 0; i < run->n; i++)
        add(&tree, run->tuples[i].b);
    free_below(tree.root);
}

static void run_transcription(void *context)
{
    struct bench_engine *run = context;
    struct plain_rap plain = {.dims = 1,
                              .bits = 64,
                              .b = 4,
                              .eps = 0.01,
                              .ends = 1,
                              .q = 2,
                              .first_merge = 1024,
                              .room = SIZE_MAX - 64};
    plain_rap_init(&plain);
    for (size_t i = 0; i < run->n; i++)
        plain_rap_add(&plain, (struct rf_tuple){run->tuples[i].b, 0});
    plain_rap_free(&plain);
}

static void compare(const char *stream, const struct rf_gen *gen)
{
    static const char *const texts[] = {
        "rap(paper, key=b)",
        "rap(key=b)",
        "rap(paper, key=b, cache=0)",
        "rap(paper, key=b, buffer=1Ki)",
        "rap(key=both)",
    };
    enum { TEXTS = sizeof texts / sizeof *texts };
    size_t n;
    struct rf_tuple *tuples = bench_stream(gen, &n);
    struct bench bench = bench_begin("rap, eps 1%, 64 bits", stream, n);
    struct bench_engine runs[TEXTS + 1] = {[TEXTS] = {NULL, tuples, n, 0}};
    bench_add(&bench, "reading memory", bench_read_memory, &runs[TEXTS]);
    for (size_t i = 0; i < TEXTS; i++) {
        runs[i] = (struct bench_engine){texts[i], tuples, n, 0};
        bench_add(&bench, texts[i], bench_engine, &runs[i]);
    }
    bench_add(&bench, "a tree of pointers", run_pointer_tree, &runs[TEXTS]);
    bench_add(&bench, "the paper, transcribed", run_transcription, &runs[TEXTS]);
    bench_end(&bench);
    for (size_t i = 0; i < TEXTS; i++)
        printf("  memory %9zu bytes  %s\n", runs[i].memory, texts[i]);
    free(tuples);
}

int main(void)
{
    size_t events = bench_scaled(10000000);
    compare("zipf 1.0 over 1M keys",
            &(struct rf_gen){.kind = "zipf", .events = events, .keys = 1000000, .seed = 1});
    compare("program-like", &(struct rf_gen){.kind = "loop", .events = events, .seed = 1});
    return 0;
}
