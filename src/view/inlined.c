/* inlined.c - code of functions that the compiler put into others.
 *
 *     pc -> hash_byte, inlined into insert, inlined into main       counts for hash_byte and insert, both in main
 *
 * A function that is no longer there under its own name may still run: debug information tells where. What was inlined
 * into the function itself counts as its own, as it does for a function that stands alone. */
#include "view/inlined.h"
#include "view/code.h"
#include "base/alloc.h"
#include "base/order.h"
#include <stdlib.h>
#include <string.h>

/* Was the function inlined into itself? Only its outermost copy counts. */
static bool is_repeated(const struct rf_place_name *name, size_t i)
{
    for (size_t k = i + 1; k < name->n_inlined; k++)
        if (strcmp(name->inlined[k].function, name->inlined[i].function) == 0)
            return true;
    return strcmp(name->inlined[i].function, name->function) == 0;
}

static bool add_instruction(void *context, const struct rf_item *item,
                            const struct rf_place_name *name)
{
    struct rf_inlined_list *list = context;
    bool good = true;
    for (size_t i = 0; i < name->n_inlined && good; i++) {
        const struct rf_inlined inlined = {name->inlined[i].function, name->function, item->count};
        if (inlined.function[0] != '\0' && !is_repeated(name, i))
            good = rf_list_add(list->alloc, list, inlined);
    }
    return good;
}

static int by_names(const void *left, const void *right)
{
    const struct rf_inlined *l = left, *r = right;
    int order = l->function != r->function ? strcmp(l->function, r->function) : 0;
    return order != 0 ? order : l->host != r->host ? strcmp(l->host, r->host) : 0;
}

/* Put the list in order and add up what has the same names. */
static void settle(struct rf_inlined_list *list)
{
    size_t kept = 0;
    if (list->n > 0)
        qsort(list->at, list->n, sizeof *list->at, by_names);
    for (size_t i = 0; i < list->n; i++)
        if (kept > 0 && by_names(&list->at[kept - 1], &list->at[i]) == 0)
            list->at[kept - 1].count += list->at[i].count;
        else
            list->at[kept++] = list->at[i];
    list->n = kept;
}

rf_status rf_inlined_open(struct rf_inlined_list *list, const struct rf_diff_side *side,
                          const struct rf_alloc *alloc)
{
    *list = (struct rf_inlined_list){.alloc = alloc};
    rf_status status = rf_code_visit(side, add_instruction, list);
    settle(list);
    return status;
}

struct rf_diff_inlined rf_inlined_find(const struct rf_inlined_list *list, const char *function)
{
    struct rf_diff_inlined found = {.host = ""};
    const struct rf_inlined wanted = {.function = function,
                                      .host = ""}; /* "" stands before every host */
    uint64_t most = 0;
    size_t i = rf_first_not_below(list->at, list->n, sizeof wanted, &wanted, by_names);
    for (; i < list->n && strcmp(list->at[i].function, function) == 0; i++) {
        found.hosts++;
        found.count += list->at[i].count;
        if (list->at[i].count > most) {
            most = list->at[i].count;
            found.host = list->at[i].host;
        }
    }
    return found;
}
