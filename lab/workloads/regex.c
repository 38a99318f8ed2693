/* regex.c - a matcher of regular expressions: pattern to NFA (Thompson), run as a DFA made on demand.
 *
 *     pattern -> states of the NFA -> sets of them -> a table of sets by byte, filled as bytes come
 *
 * Knows literals, `.`, [classes], groups, |, *, + and ?. Counts the matches of several patterns in lines of a
 * made-up log. */
#include "workload.h"
#include <stdbool.h>

enum { NODES = 256, SETS = 512, WORDS = NODES / 64, LINES = 900, LINE = 96 };
enum kind { BYTES, SPLIT, MATCH };

struct node {
    enum kind kind;
    uint8_t bytes[32]; /* a set of bytes */
    int next, other;
};

struct set {
    uint64_t in[WORDS];
};

struct matcher {
    struct node nodes[NODES];
    int n_nodes, start;
    struct set sets[SETS];
    int n_sets, first;
    int16_t to[SETS][256]; /* -1: not known yet */
    uint8_t accepts[SETS];
    const char *pattern;
};

/* A piece of NFA: where it begins, and the node that it leads to in the end. */
struct piece {
    int start, end;
};

static int add_node(struct matcher *m, enum kind kind, int next, int other)
{
    m->nodes[m->n_nodes] = (struct node){.kind = kind, .next = next, .other = other};
    return m->n_nodes++;
}

static void add_byte(struct node *node, unsigned byte)
{
    node->bytes[byte / 8] |= (uint8_t)(1u << byte % 8);
}

static void read_class(struct matcher *m, struct node *node)
{
    for (; *m->pattern != ']'; m->pattern++) {
        unsigned low = (uint8_t)m->pattern[0], high = low;
        if (m->pattern[1] == '-' && m->pattern[2] != ']') {
            high = (uint8_t)m->pattern[2];
            m->pattern += 2;
        }
        for (unsigned byte = low; byte <= high; byte++)
            add_byte(node, byte);
    }
    m->pattern++;
}

static struct piece read_choice(struct matcher *m);

static struct piece read_atom(struct matcher *m)
{
    char c = *m->pattern++;
    if (c == '(') {
        struct piece inner = read_choice(m);
        m->pattern++;
        return inner;
    }
    int end = add_node(m, SPLIT, -1, -1), start = add_node(m, BYTES, end, -1);
    struct node *node = &m->nodes[start];
    if (c == '[')
        read_class(m, node);
    else if (c == '.')
        memset(node->bytes, 0xff, sizeof node->bytes);
    else
        add_byte(node, (uint8_t)c);
    return (struct piece){start, end};
}

static struct piece read_repeat(struct matcher *m)
{
    struct piece piece = read_atom(m);
    while (*m->pattern == '*' || *m->pattern == '+' || *m->pattern == '?') {
        char how = *m->pattern++;
        int end = add_node(m, SPLIT, -1, -1), loop = add_node(m, SPLIT, piece.start, end);
        m->nodes[piece.end].next = how == '?' ? end : loop;
        piece = (struct piece){how == '+' ? piece.start : loop, end};
    }
    return piece;
}

static struct piece read_row(struct matcher *m)
{
    struct piece row = read_repeat(m);
    while (*m->pattern != '\0' && *m->pattern != '|' && *m->pattern != ')') {
        struct piece next = read_repeat(m);
        m->nodes[row.end].next = next.start;
        row.end = next.end;
    }
    return row;
}

static struct piece read_choice(struct matcher *m)
{
    struct piece left = read_row(m);
    while (*m->pattern == '|') {
        m->pattern++;
        struct piece right = read_row(m);
        int end = add_node(m, SPLIT, -1, -1);
        m->nodes[left.end].next = end;
        m->nodes[right.end].next = end;
        left = (struct piece){add_node(m, SPLIT, left.start, right.start), end};
    }
    return left;
}

/* The node and all that can be reached from it without a byte. */
static void add_closure(const struct matcher *m, struct set *set, int node)
{
    if (node < 0 || (set->in[node / 64] >> node % 64 & 1) != 0)
        return;
    set->in[node / 64] |= UINT64_C(1) << node % 64;
    if (m->nodes[node].kind == SPLIT) {
        add_closure(m, set, m->nodes[node].next);
        add_closure(m, set, m->nodes[node].other);
    }
}

static int set_number(struct matcher *m, const struct set *set, int match)
{
    for (int i = 0; i < m->n_sets; i++)
        if (memcmp(&m->sets[i], set, sizeof *set) == 0)
            return i;
    if (m->n_sets == SETS)
        return -1;
    m->sets[m->n_sets] = *set;
    m->accepts[m->n_sets] = (uint8_t)(set->in[match / 64] >> match % 64 & 1);
    memset(m->to[m->n_sets], 0xff, sizeof m->to[0]);
    return m->n_sets++;
}

enum { MATCH_NODE = 0 };

static int compute(struct matcher *m, int from, unsigned byte)
{
    struct set set = {{0}};
    for (int i = 0; i < m->n_nodes; i++) {
        const struct node *node = &m->nodes[i];
        bool in = (m->sets[from].in[i / 64] >> i % 64 & 1) != 0;
        if (in && node->kind == BYTES && (node->bytes[byte / 8] >> byte % 8 & 1) != 0)
            add_closure(m, &set, node->next);
    }
    add_closure(m, &set, m->start); /* a match may begin anywhere */
    return set_number(m, &set, MATCH_NODE);
}

static void compile(struct matcher *m, const char *pattern)
{
    struct set set = {{0}};
    memset(m, 0, sizeof *m);
    m->pattern = pattern;
    add_node(m, MATCH, -1, -1);
    struct piece whole = read_choice(m);
    m->nodes[whole.end].next = MATCH_NODE;
    m->start = whole.start;
    add_closure(m, &set, m->start);
    m->first = set_number(m, &set, MATCH_NODE);
}

/* Ends of matches in the line. */
static unsigned count(struct matcher *m, const char *line)
{
    unsigned n = 0;
    int state = m->first;
    for (; *line != '\0'; line++) {
        unsigned byte = (uint8_t)*line;
        int next = m->to[state][byte];
        if (next < 0) {
            next = compute(m, state, byte);
            if (next < 0)
                return n;
            m->to[state][byte] = (int16_t)next;
        }
        state = next;
        n += m->accepts[state];
    }
    return n;
}

static void write_line(char *line, uint64_t *seed)
{
    static const char *const hosts[] = {"alpha", "beta.example", "gamma-7", "delta"};
    static const char *const verbs[] = {"GET", "PUT", "error: no", "warning: slow", "POST"};
    static const uint32_t limits[] = {24, 60, 60, 4, 5, 0, 26, 1000, 100000};
    uint32_t chance[9];
    for (size_t i = 0; i < 9; i++)
        chance[i] = limits[i] != 0 ? workload_below(seed, limits[i]) : workload_random(seed);
    snprintf(line, LINE, "%02u:%02u:%02u %s %s /%x/%c%u %u", chance[0], chance[1], chance[2],
             hosts[chance[3]], verbs[chance[4]], chance[5], (char)('a' + chance[6]), chance[7],
             chance[8]);
}

int main(int argc, char **argv)
{
    static const char *const patterns[] = {
        "(GET|PUT) /[0-9a-f]+",        "error|warning", "[a-z]+-[0-9]", "1[0-9]:.*beta.*9",
        "(a|b|c)(d|e)?[0-9]+ [0-9]*7", "/x?y+z*[0-9]+"};
    enum { PATTERNS = sizeof patterns / sizeof *patterns };
    unsigned lines = LINES * workload_size(argc, argv);
    uint64_t seed = 4242;
    unsigned long counts[PATTERNS] = {0};
    struct matcher *matchers = workload_memory(PATTERNS, sizeof *matchers);
    for (size_t i = 0; i < PATTERNS; i++)
        compile(&matchers[i], patterns[i]);
    for (unsigned k = 0; k < lines; k++) {
        char line[LINE];
        write_line(line, &seed);
        for (size_t i = 0; i < PATTERNS; i++)
            counts[i] += count(&matchers[i], line);
    }
    for (size_t i = 0; i < PATTERNS; i++)
        printf("%-30s %8lu in %u lines, %d sets\n", patterns[i], counts[i], lines,
               matchers[i].n_sets);
    free(matchers);
    return 0;
}
