/* order.c - the order of items in a profile: heaviest first, ties by a, b, a_hi, b_hi.
 *
 * The C library's qsort allocates, but here the caller provides all memory. Therefore this is an in-place
 * sort of our own. A long piece is dealt out by one digit, in place (McIlroy, Bostic, McIlroy: "Engineering Radix Sort",
 * 1993): the highest eight bits in which its items differ, of the first word in which they do. Most items of
 * a long profile occurred once or twice. So the first digit of counts is the count itself, and heavier ones
 * share the last pile.
 *
 *     count    1 | 2 | 3 | ... | 255 and more        each pile: the same by a, then by b ...
 *
 * Short pieces go by quicksort around the median of three, the shortest by insertion, and by heapsort where a piece has
 * been halved badly too often. So no input takes more than n log n steps (a profile can come from a hostile file). */
#include "profile/fold.h"
#include <stdbool.h>

enum { SHORT_PIECE = 16, LONG_PIECE = 2048, PILES = 256 };

int rf_items_order(const struct rf_item *x, const struct rf_item *y)
{
    const uint64_t left[] = {y->count, x->a, x->b, x->a_hi, x->b_hi};
    const uint64_t right[] = {x->count, y->a, y->b, y->a_hi, y->b_hi};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

/* The same, written out: sorting spends its time here. */
static bool before(const struct rf_item *x, const struct rf_item *y)
{
    if (x->count != y->count)
        return x->count > y->count;
    if (x->a != y->a)
        return x->a < y->a;
    if (x->b != y->b)
        return x->b < y->b;
    if (x->a_hi != y->a_hi)
        return x->a_hi < y->a_hi;
    return x->b_hi < y->b_hi;
}

static void swap(struct rf_item *x, struct rf_item *y)
{
    struct rf_item kept = *x;
    *x = *y;
    *y = kept;
}

static void sort_by_insertion(struct rf_item *items, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct rf_item item = items[i];
        size_t k = i;
        for (; k > 0 && before(&item, &items[k - 1]); k--)
            items[k] = items[k - 1];
        items[k] = item;
    }
}

static void sift_down(struct rf_item *items, size_t root, size_t n)
{
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && before(&items[child], &items[child + 1]))
            child++;
        if (!before(&items[root], &items[child]))
            return;
        swap(&items[root], &items[child]);
    }
}

static void sort_by_heap(struct rf_item *items, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift_down(items, i, n);
    for (size_t end = n; end-- > 1;) {
        swap(&items[0], &items[end]);
        sift_down(items, 0, end);
    }
}

static void order_pair(struct rf_item *x, struct rf_item *y)
{
    if (before(y, x))
        swap(x, y);
}

/* Hoare's partition: [0, k] goes before [k + 1, n), both shorter than n. */
static size_t partition(struct rf_item *items, size_t n)
{
    order_pair(&items[0], &items[n / 2]);
    order_pair(&items[n / 2], &items[n - 1]);
    order_pair(&items[0], &items[n / 2]);
    struct rf_item pivot = items[n / 2];
    for (size_t i = 0, k = n - 1;; i++, k--) {
        while (before(&items[i], &pivot))
            i++;
        while (before(&pivot, &items[k]))
            k--;
        if (i >= k)
            return k;
        swap(&items[i], &items[k]);
    }
}

static void sort(struct rf_item *items, size_t n, unsigned patience)
{
    while (n > SHORT_PIECE) {
        if (patience-- == 0) {
            sort_by_heap(items, n);
            return;
        }
        size_t left = partition(items, n) + 1;
        sort(items, left, patience);
        items += left;
        n -= left;
    }
    sort_by_insertion(items, n);
}

static void sort_short(struct rf_item *items, size_t n)
{
    unsigned patience = 2;
    for (size_t k = n; k > 1; k /= 2)
        patience += 2;
    sort(items, n, patience);
}

/* ---- long pieces ---- */

/* The words of an item in the order in which they count. */
static uint64_t word_of(const struct rf_item *item, unsigned word)
{
    const uint64_t words[] = {item->count, item->a, item->b, item->a_hi, item->b_hi};
    return words[word];
}

enum { WORDS = 5 };

/* Where the digit of an item is found, and whether larger ones come first. */
struct digit {
    unsigned word, shift;
    bool is_count; /* up to the last pile */
};

static unsigned pile_of(const struct rf_item *item, struct digit digit)
{
    uint64_t word = word_of(item, digit.word) >> digit.shift;
    if (digit.is_count)
        return word < PILES - 1 ? PILES - 1 - (unsigned)word : 0;
    return digit.word == 0 ? PILES - 1 - (unsigned)(word % PILES) : (unsigned)(word % PILES);
}

/* The highest digit in which some of the items differ. False: they are all alike. */
static bool choose_digit(const struct rf_item *items, size_t n, struct digit *digit)
{
    uint64_t differ[WORDS] = {0};
    for (size_t i = 1; i < n; i++)
        for (unsigned word = 0; word < WORDS; word++)
            differ[word] |= word_of(&items[i], word) ^ word_of(&items[0], word);
    for (unsigned word = 0; word < WORDS; word++) {
        unsigned bits = differ[word] == 0 ? 0 : 64 - (unsigned)__builtin_clzll(differ[word]);
        *digit = (struct digit){word, bits > 8 ? bits - 8 : 0, false};
        if (bits > 0)
            return true;
    }
    return false;
}

struct piles {
    size_t next[PILES], end[PILES];
};

static void count_piles(const struct rf_item *items, size_t n, struct digit digit,
                        struct piles *piles)
{
    size_t count[PILES] = {0}, before = 0;
    for (size_t i = 0; i < n; i++)
        count[pile_of(&items[i], digit)]++;
    for (unsigned pile = 0; pile < PILES; pile++) {
        piles->next[pile] = before;
        before += count[pile];
        piles->end[pile] = before;
    }
}

/* Each item is swapped into its pile until the one that belongs here comes back. */
static void deal(struct rf_item *items, struct digit digit, struct piles *piles)
{
    for (unsigned pile = 0; pile < PILES; pile++)
        while (piles->next[pile] < piles->end[pile]) {
            struct rf_item *here = &items[piles->next[pile]];
            unsigned to = pile_of(here, digit);
            if (to == pile)
                piles->next[pile]++;
            else
                swap(here, &items[piles->next[to]++]);
        }
}

static void sort_long(struct rf_item *items, size_t n, struct digit digit)
{
    struct piles piles;
    count_piles(items, n, digit, &piles);
    deal(items, digit, &piles);
    for (size_t pile = 0, begin = 0; pile < PILES; begin = piles.end[pile++]) {
        size_t length = piles.end[pile] - begin;
        if (length <= LONG_PIECE)
            sort_short(items + begin, length);
        else if (choose_digit(items + begin, length, &digit))
            sort_long(items + begin, length, digit);
    }
}

void rf_items_sort(struct rf_item *items, size_t n)
{
    if (n > LONG_PIECE)
        sort_long(items, n, (struct digit){.is_count = true});
    else
        sort_short(items, n);
}
