/* graph.c - a random road map: edges sorted into rows, shortest paths from a few places, a spanning tree.
 *
 * Radix sort, Dijkstra's algorithm on a binary heap, Kruskal's on a quicksort and union-find, and ranks of
 * places in floating point: memory is walked in order, by chance and by pointer. */
#include "workload.h"

enum { PLACES = 2500, DEGREE = 6, SOURCES = 2, ROUNDS = 8 };

struct edge {
    uint32_t from, to, length;
};

struct graph {
    uint32_t n, n_edges;
    struct edge *edges; /* by from */
    uint32_t *row;      /* first edge of each place, n + 1 of them */
};

/* Most roads lead to a place nearby, some anywhere. */
static void make_edges(struct edge *edges, uint32_t n, uint32_t n_edges, uint64_t *seed)
{
    for (uint32_t i = 0; i < n_edges; i++) {
        uint32_t from = workload_below(seed, n);
        uint32_t near = (from + 1 + workload_below(seed, 40)) % n, far = workload_below(seed, n);
        uint32_t to = workload_below(seed, 8) == 0 ? far : near;
        edges[i] = (struct edge){from, to, 1 + workload_below(seed, 1000)};
    }
}

static void radix_pass(struct edge *out, const struct edge *in, uint32_t n, unsigned shift)
{
    uint32_t start[257] = {0};
    for (uint32_t i = 0; i < n; i++)
        start[(in[i].from >> shift & 255) + 1]++;
    for (unsigned i = 0; i < 256; i++)
        start[i + 1] += start[i];
    for (uint32_t i = 0; i < n; i++)
        out[start[in[i].from >> shift & 255]++] = in[i];
}

static struct graph make_graph(uint32_t n, uint64_t *seed)
{
    struct graph graph = {.n = n, .n_edges = n * DEGREE};
    struct edge *other = workload_memory(graph.n_edges, sizeof *other);
    graph.edges = workload_memory(graph.n_edges, sizeof *graph.edges);
    graph.row = workload_memory(n + 1, sizeof *graph.row);
    make_edges(graph.edges, n, graph.n_edges, seed);
    for (unsigned pass = 0; pass < 4; pass += 2) {
        radix_pass(other, graph.edges, graph.n_edges, 8 * pass);
        radix_pass(graph.edges, other, graph.n_edges, 8 * pass + 8);
    }
    for (uint32_t i = 0; i < graph.n_edges; i++)
        graph.row[graph.edges[i].from + 1]++;
    for (uint32_t i = 0; i < n; i++)
        graph.row[i + 1] += graph.row[i];
    free(other);
    return graph;
}

/* ---- shortest paths ---- */

struct visit {
    uint64_t distance;
    uint32_t place;
};

struct heap {
    struct visit *visits;
    uint32_t n;
};

static void heap_push(struct heap *heap, struct visit visit)
{
    uint32_t at = heap->n++;
    while (at > 0 && heap->visits[(at - 1) / 2].distance > visit.distance) {
        heap->visits[at] = heap->visits[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->visits[at] = visit;
}

static struct visit heap_pop(struct heap *heap)
{
    struct visit top = heap->visits[0], last = heap->visits[--heap->n];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < heap->n && heap->visits[child + 1].distance < heap->visits[child].distance)
            child++;
        if (child >= heap->n || heap->visits[child].distance >= last.distance)
            break;
        heap->visits[at] = heap->visits[child];
        at = child;
    }
    heap->visits[at] = last;
    return top;
}

static uint64_t shortest_paths(const struct graph *graph, uint32_t source, uint64_t *distance)
{
    uint64_t farthest = 0;
    struct heap heap = {workload_memory(graph->n_edges + 1, sizeof *heap.visits), 0};
    memset(distance, 0xff, graph->n * sizeof *distance);
    distance[source] = 0;
    heap_push(&heap, (struct visit){0, source});
    while (heap.n > 0) {
        struct visit visit = heap_pop(&heap);
        if (visit.distance > distance[visit.place])
            continue;
        farthest = visit.distance;
        for (uint32_t i = graph->row[visit.place]; i < graph->row[visit.place + 1]; i++) {
            const struct edge *edge = &graph->edges[i];
            uint64_t through = visit.distance + edge->length;
            if (through >= distance[edge->to])
                continue;
            distance[edge->to] = through;
            heap_push(&heap, (struct visit){through, edge->to});
        }
    }
    free(heap.visits);
    return farthest;
}

/* ---- spanning tree ---- */

static int by_length(const struct edge *a, const struct edge *b)
{
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return a->from != b->from ? (a->from < b->from ? -1 : 1) : (a->to > b->to) - (a->to < b->to);
}

static void sort_edges(struct edge *edges, int64_t low, int64_t high)
{
    while (low < high) {
        struct edge pivot = edges[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (by_length(&edges[i], &pivot) < 0)
                i++;
            while (by_length(&edges[j], &pivot) > 0)
                j--;
            if (i > j)
                break;
            struct edge swapped = edges[i];
            edges[i++] = edges[j];
            edges[j--] = swapped;
        }
        sort_edges(edges, low, j);
        low = i;
    }
}

static uint32_t root_of(uint32_t *parent, uint32_t place)
{
    while (parent[place] != place) {
        parent[place] = parent[parent[place]];
        place = parent[place];
    }
    return place;
}

static uint64_t spanning_tree(const struct graph *graph)
{
    uint64_t length = 0;
    uint32_t *parent = workload_memory(graph->n, sizeof *parent);
    struct edge *edges = workload_memory(graph->n_edges, sizeof *edges);
    memcpy(edges, graph->edges, graph->n_edges * sizeof *edges);
    sort_edges(edges, 0, (int64_t)graph->n_edges - 1);
    for (uint32_t i = 0; i < graph->n; i++)
        parent[i] = i;
    for (uint32_t i = 0; i < graph->n_edges; i++) {
        uint32_t a = root_of(parent, edges[i].from), b = root_of(parent, edges[i].to);
        if (a == b)
            continue;
        parent[a] = b;
        length += edges[i].length;
    }
    free(edges);
    free(parent);
    return length;
}

/* ---- ranks ---- */

static double best_rank(const struct graph *graph, uint32_t *best)
{
    double *rank = workload_memory(graph->n, sizeof *rank),
           *next = workload_memory(graph->n, sizeof *next);
    for (uint32_t i = 0; i < graph->n; i++)
        rank[i] = 1.0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < graph->n; i++)
            next[i] = 0.15;
        for (uint32_t i = 0; i < graph->n; i++) {
            double share = 0.85 * rank[i] / (double)(graph->row[i + 1] - graph->row[i] + 1);
            for (uint32_t k = graph->row[i]; k < graph->row[i + 1]; k++)
                next[graph->edges[k].to] += share;
        }
        memcpy(rank, next, graph->n * sizeof *rank);
    }
    *best = 0;
    for (uint32_t i = 0; i < graph->n; i++)
        *best = rank[i] > rank[*best] ? i : *best;
    double value = rank[*best];
    free(next);
    free(rank);
    return value;
}

int main(int argc, char **argv)
{
    uint64_t seed = 777;
    uint32_t best;
    struct graph graph = make_graph(PLACES * workload_size(argc, argv), &seed);
    uint64_t *distance = workload_memory(graph.n, sizeof *distance);
    for (unsigned i = 0; i < SOURCES; i++) {
        uint64_t farthest = shortest_paths(&graph, i * graph.n / SOURCES, distance);
        printf("from %u: farthest %llu, checksum %016llx\n", i * graph.n / SOURCES,
               (unsigned long long)farthest,
               (unsigned long long)workload_checksum(0, distance, graph.n * sizeof *distance));
    }
    printf("spanning tree of length %llu\n", (unsigned long long)spanning_tree(&graph));
    double rank = best_rank(&graph, &best);
    printf("best rank %.9f at %u\n", rank, best);
    free(distance);
    free(graph.row);
    free(graph.edges);
    return 0;
}
