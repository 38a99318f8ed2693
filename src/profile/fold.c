/* fold.c - adds up lists of items, box by box.
 *
 *     hash(a, b, a_hi, b_hi) -> slot, slot + 1, ...  until the box or an empty slot
 *     slot = 1 + index into a dense array of items, 4 bytes; at most half of the slots in use
 *
 * Count, lower and intervals add up. The upper bound has to allow for the lists an item is missing
 * from: with u(l) its upper bound in list l, and A(l) the bound that list l gives for absent items,
 *
 *     upper = sum of u(l) over lists with it + sum of A(l) over lists without it
 *           = sum of (u(l) - A(l)) over lists with it + sum of A(l) over all lists
 *
 * so the array keeps the first sum, modulo 2^64, and the second is added once, when the items are
 * taken. An item that appears late therefore needs no history.
 *
 * Memory: 64 bytes per item and 8 to 16 for its slots; twice that while it grows. */
#include "profile/fold.h"
#include "base/alloc.h"
#include "base/hash.h"
#include <stdbool.h>
#include <string.h>

enum { ROOM_FIRST = 64, BITS_FIRST = 7 };

rf_status rf_items_reserve(struct rf_items *list, const struct rf_alloc *alloc, size_t more)
{
    size_t needed;
    if (__builtin_add_overflow(list->n, more, &needed) || needed > SIZE_MAX / 2)
        return RF_ENOMEM;
    if (needed <= list->room)
        return RF_OK;
    size_t room = list->room < ROOM_FIRST ? ROOM_FIRST : list->room + list->room / 2;
    if (room < needed)
        room = needed;
    void *array = list->items;
    if (!rf_alloc_array(alloc, &array, list->room, room, sizeof *list->items))
        return RF_ENOMEM;
    list->items = array;
    list->room = room;
    return RF_OK;
}

rf_status rf_items_trim(struct rf_items *list, const struct rf_alloc *alloc)
{
    void *array = list->items;
    if (list->room != list->n &&
        !rf_alloc_array(alloc, &array, list->room, list->n, sizeof *list->items))
        return RF_ENOMEM;
    list->items = array;
    list->room = list->n;
    return RF_OK;
}

void rf_items_free(struct rf_items *list, const struct rf_alloc *alloc)
{
    rf_alloc_free(alloc, list->items, list->room * sizeof *list->items);
    *list = (struct rf_items){NULL, 0, 0};
}

void rf_fold_init(struct rf_fold *fold, const struct rf_alloc *alloc)
{
    memset(fold, 0, sizeof *fold);
    fold->alloc = alloc;
    fold->key = rf_hash_secret(fold);
}

static size_t slots_size(unsigned bits)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): bits are at most 32 */
    return bits == 0 ? 0 : sizeof(uint32_t) << bits;
}

void rf_fold_free(struct rf_fold *fold)
{
    rf_items_free(&fold->list, fold->alloc);
    rf_alloc_free(fold->alloc, fold->slots, slots_size(fold->bits));
    rf_fold_init(fold, fold->alloc);
}

rf_status rf_fold_copy(struct rf_fold *copy, const struct rf_fold *fold)
{
    rf_fold_init(copy, fold->alloc);
    copy->absent_upper = fold->absent_upper;
    if (fold->list.n == 0)
        return RF_OK;
    rf_status status = rf_items_reserve(&copy->list, copy->alloc, fold->list.n);
    if (status != RF_OK)
        return status;
    copy->slots = rf_alloc_get(copy->alloc, slots_size(fold->bits));
    if (copy->slots == NULL) {
        rf_fold_free(copy);
        return RF_ENOMEM;
    }
    copy->bits = fold->bits;
    copy->key = fold->key;
    copy->list.n = fold->list.n;
    memcpy(copy->list.items, fold->list.items, fold->list.n * sizeof *fold->list.items);
    memcpy(copy->slots, fold->slots, slots_size(fold->bits));
    return RF_OK;
}

static uint64_t hash_box(struct rf_hash_key key, const struct rf_item *item)
{
    uint64_t low = rf_hash_multiply((struct rf_tuple){item->a, item->b}, key);
    key.a ^= low;
    return rf_hash_multiply((struct rf_tuple){item->a_hi, item->b_hi}, key);
}

static bool same_box(const struct rf_item *x, const struct rf_item *y)
{
    return x->a == y->a && x->b == y->b && x->a_hi == y->a_hi && x->b_hi == y->b_hi;
}

/* The slot of the box, or the empty one where it belongs. */
static uint32_t *find(const struct rf_fold *fold, const struct rf_item *item)
{
    size_t mask = ((size_t)1 << fold->bits) - 1;
    for (size_t i = (size_t)(hash_box(fold->key, item) >> (64 - fold->bits));; i = (i + 1) & mask) {
        uint32_t *slot = &fold->slots[i];
        if (*slot == 0 || same_box(&fold->list.items[*slot - 1], item))
            return slot;
    }
}

static rf_status grow_slots(struct rf_fold *fold, unsigned bits)
{
    uint32_t *slots = rf_alloc_zeroed(fold->alloc, slots_size(bits));
    if (slots == NULL)
        return RF_ENOMEM;
    rf_alloc_free(fold->alloc, fold->slots, slots_size(fold->bits));
    fold->slots = slots;
    fold->bits = bits;
    for (size_t i = 0; i < fold->list.n; i++)
        *find(fold, &fold->list.items[i]) = (uint32_t)(i + 1);
    return RF_OK;
}

/* Make sure that n more items fit, all of them new. */
static rf_status reserve(struct rf_fold *fold, size_t n)
{
    rf_status status = rf_items_reserve(&fold->list, fold->alloc, n);
    if (status != RF_OK || n == 0)
        return status;
    size_t most = fold->list.n + n;
    if (most >= UINT32_MAX / 2)
        return RF_ENOMEM;
    unsigned bits = fold->bits < BITS_FIRST ? BITS_FIRST : fold->bits;
    while (most > (size_t)1 << (bits - 1))
        bits++;
    return bits == fold->bits ? RF_OK : grow_slots(fold, bits);
}

static uint64_t add_saturated(uint64_t x, uint64_t y)
{
    uint64_t sum;
    return __builtin_add_overflow(x, y, &sum) ? UINT64_MAX : sum;
}

static void add_item(struct rf_fold *fold, const struct rf_item *item, uint64_t absent_upper)
{
    uint32_t *slot = find(fold, item);
    uint64_t above = item->upper - absent_upper;
    if (*slot == 0) {
        fold->list.items[fold->list.n] = *item;
        fold->list.items[fold->list.n].upper = above;
        *slot = (uint32_t)++fold->list.n;
        return;
    }
    struct rf_item *sum = &fold->list.items[*slot - 1];
    sum->count = add_saturated(sum->count, item->count);
    sum->lower = add_saturated(sum->lower, item->lower);
    sum->intervals += item->intervals;
    sum->upper += above;
}

rf_status rf_fold_add(struct rf_fold *fold, const struct rf_item *items, size_t n,
                      uint64_t absent_upper)
{
    rf_status status = reserve(fold, n);
    if (status != RF_OK)
        return status;
    for (size_t i = 0; i < n; i++)
        add_item(fold, &items[i], absent_upper);
    fold->absent_upper += absent_upper;
    return RF_OK;
}

struct rf_item *rf_fold_find(const struct rf_fold *fold, const struct rf_item *box)
{
    if (fold->bits == 0)
        return NULL;
    uint32_t slot = *find(fold, box);
    return slot == 0 ? NULL : &fold->list.items[slot - 1];
}

rf_status rf_fold_take(struct rf_fold *fold, struct rf_items *list)
{
    rf_status status = rf_items_trim(&fold->list, fold->alloc);
    if (status != RF_OK)
        return status;
    *list = fold->list;
    for (size_t i = 0; i < list->n; i++)
        list->items[i].upper += fold->absent_upper;
    rf_items_sort(list->items, list->n);
    fold->list = (struct rf_items){NULL, 0, 0};
    rf_fold_free(fold);
    return RF_OK;
}
