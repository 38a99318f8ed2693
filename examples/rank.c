/* rank.c - ranks pages by the links between them; the slow program of doc/TUTORIAL.md.
 *
 *     rank              as it was first written: the links in a matrix
 *     rank lists        what the profile led to: for every page a list of its links
 *
 * Both print the same page and the same rank. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PAGES = 600, ROUNDS = 60, LINKS_PER_PAGE = 8 };

static double share[PAGES][PAGES]; /* [to][from]: which part of its rank a page passes on */
static double rank[PAGES], next[PAGES];

struct link {
    unsigned from;
    double share;
};
static struct link links[PAGES][PAGES];
static unsigned n_links[PAGES];

/* Some web: every page links to a few others, to the first ones more often. */
static void make_web(void)
{
    uint64_t random = 88172645463325252u;
    for (unsigned from = 0; from < PAGES; from++) {
        for (unsigned i = 0; i < LINKS_PER_PAGE; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            unsigned to = (unsigned)(random % PAGES * (random >> 32 & 255) / 256);
            share[to][from] += 1.0 / LINKS_PER_PAGE;
        }
        rank[from] = 1.0 / PAGES;
    }
}

__attribute__((noinline)) static void spread(void)
{
    for (unsigned to = 0; to < PAGES; to++) {
        double sum = 0;
        for (unsigned from = 0; from < PAGES; from++)
            sum += share[to][from] * rank[from];
        next[to] = 0.15 / PAGES + 0.85 * sum;
    }
    memcpy(rank, next, sizeof rank);
}

static void make_lists(void)
{
    for (unsigned to = 0; to < PAGES; to++)
        for (unsigned from = 0; from < PAGES; from++)
            if (share[to][from] != 0)
                links[to][n_links[to]++] = (struct link){from, share[to][from]};
}

__attribute__((noinline)) static void spread_lists(void)
{
    for (unsigned to = 0; to < PAGES; to++) {
        double sum = 0;
        for (unsigned i = 0; i < n_links[to]; i++)
            sum += links[to][i].share * rank[links[to][i].from];
        next[to] = 0.15 / PAGES + 0.85 * sum;
    }
    memcpy(rank, next, sizeof rank);
}

int main(int argc, char **argv)
{
    int lists = argc > 1 && strcmp(argv[1], "lists") == 0;
    unsigned best = 0;
    make_web();
    if (lists)
        make_lists();
    for (int i = 0; i < ROUNDS; i++) {
        if (lists)
            spread_lists();
        else
            spread();
    }
    for (unsigned page = 1; page < PAGES; page++)
        if (rank[page] > rank[best])
            best = page;
    printf("page %u, rank %.6f\n", best, rank[best]);
    return 0;
}
