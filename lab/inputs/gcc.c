/* What the compiler is given to chew on: ordinary C of many kinds, made for this purpose. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *left, *right;
    char key[32];
    double weight;
    unsigned hits;
};

static unsigned hash(const char *s)
{
    unsigned h = 2166136261u;
    while (*s)
        h = (h ^ (unsigned char)*s++) * 16777619u;
    return h;
}

static struct node *insert(struct node *root, const char *key, double weight)
{
    if (root == NULL) {
        root = calloc(1, sizeof *root);
        strncpy(root->key, key, sizeof root->key - 1);
        root->weight = weight;
        return root;
    }
    int order = strcmp(key, root->key);
    if (order == 0)
        root->hits++;
    else if (order < 0)
        root->left = insert(root->left, key, weight);
    else
        root->right = insert(root->right, key, weight);
    return root;
}

static double walk(const struct node *root, unsigned depth, unsigned *deepest)
{
    if (root == NULL)
        return 0;
    if (depth > *deepest)
        *deepest = depth;
    return walk(root->left, depth + 1, deepest) + root->weight * root->hits +
           walk(root->right, depth + 1, deepest);
}

static void multiply(double *c, const double *a, const double *b, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

static int by_weight(const void *x, const void *y)
{
    const struct node *s = x, *t = y;
    return s->weight < t->weight ? -1 : s->weight > t->weight;
}

enum token { END, NUMBER, PLUS, MINUS, TIMES, OVER, OPEN, CLOSE };

struct scanner {
    const char *at;
    enum token token;
    double value;
};

static void scan(struct scanner *s)
{
    while (isspace((unsigned char)*s->at))
        s->at++;
    switch (*s->at) {
    case '\0': s->token = END; return;
    case '+': s->token = PLUS; break;
    case '-': s->token = MINUS; break;
    case '*': s->token = TIMES; break;
    case '/': s->token = OVER; break;
    case '(': s->token = OPEN; break;
    case ')': s->token = CLOSE; break;
    default: {
        char *end;
        s->value = strtod(s->at, &end);
        s->token = NUMBER;
        s->at = end > s->at ? end : s->at + 1;
        return;
    }
    }
    s->at++;
}

static double sum(struct scanner *s);

static double atom(struct scanner *s)
{
    double value = s->value;
    if (s->token == MINUS) {
        scan(s);
        return -atom(s);
    }
    if (s->token == OPEN) {
        scan(s);
        value = sum(s);
    }
    scan(s);
    return value;
}

static double product(struct scanner *s)
{
    double value = atom(s);
    while (s->token == TIMES || s->token == OVER) {
        enum token op = s->token;
        scan(s);
        double right = atom(s);
        value = op == TIMES ? value * right : right != 0 ? value / right : 0;
    }
    return value;
}

static double sum(struct scanner *s)
{
    double value = product(s);
    while (s->token == PLUS || s->token == MINUS) {
        enum token op = s->token;
        scan(s);
        value = op == PLUS ? value + product(s) : value - product(s);
    }
    return value;
}

/* Many bodies of one shape give the optimiser something to do. */
#define FILTER(name, type, a, b, c)                                                                \
    static type name##_run(type *out, const type *in, int n)                                       \
    {                                                                                              \
        type state = 0, peak = 0;                                                                  \
        for (int i = 2; i < n; i++) {                                                              \
            type x = (type)(a * in[i] + b * in[i - 1] + c * in[i - 2] + state);                    \
            if (x > peak)                                                                          \
                peak = x;                                                                          \
            state = (type)(state / 2 + x % 7);                                                     \
            out[i] = (type)(x ^ (x >> 3));                                                         \
        }                                                                                          \
        return peak;                                                                               \
    }                                                                                              \
    static type name##_sort(type *v, int n)                                                        \
    {                                                                                              \
        for (int gap = n / 2; gap > 0; gap /= 2)                                                   \
            for (int i = gap; i < n; i++) {                                                        \
                type key = v[i];                                                                   \
                int j = i;                                                                         \
                for (; j >= gap && v[j - gap] > key; j -= gap)                                     \
                    v[j] = v[j - gap];                                                             \
                v[j] = key;                                                                        \
            }                                                                                      \
        return v[n / 2];                                                                           \
    }

FILTER(f1, int, 3, 5, 7)
FILTER(f2, unsigned, 2, 9, 11)
FILTER(f3, long, 13, 1, 17)
FILTER(f4, unsigned long, 19, 4, 23)
FILTER(f5, short, 2, 3, 5)
FILTER(f6, unsigned short, 7, 6, 1)
FILTER(f7, long long, 29, 8, 31)
FILTER(f8, unsigned char, 3, 2, 1)

#define USE(name, type)                                                                            \
    {                                                                                              \
        type in[256], out[256];                                                                    \
        for (int i = 0; i < 256; i++)                                                              \
            in[i] = (type)(i * 37 + argc);                                                         \
        printf(#name " %ld %ld\n", (long)name##_run(out, in, 256), (long)name##_sort(out, 256));   \
    }

int main(int argc, char **argv)
{
    static double a[1024], b[1024], c[1024];
    struct node *root = NULL, flat[64];
    unsigned deepest = 0;
    for (int i = 0; i < 64; i++) {
        snprintf(flat[i].key, sizeof flat[i].key, "key%u", hash(argv[0]) * (unsigned)i % 97);
        flat[i].weight = sin(i) * cos(argc);
        root = insert(root, flat[i].key, flat[i].weight);
    }
    qsort(flat, 64, sizeof *flat, by_weight);
    multiply(c, a, b, 32);
    struct scanner s = {"(1 + 2) * 3 - 4 / (5 - 6.5)", END, 0};
    scan(&s);
    printf("%g %g %u %g\n", sum(&s), walk(root, 0, &deepest), deepest, c[17]);
    USE(f1, int)
    USE(f2, unsigned)
    USE(f3, long)
    USE(f4, unsigned long)
    USE(f5, short)
    USE(f6, unsigned short)
    USE(f7, long long)
    USE(f8, unsigned char)
    return 0;
}
