/* join.c - orders joined with customers by a hash table, summed up by region, the best ones sorted.
 *
 * Customers are few and chosen unevenly: a few of them make most of the orders. The table is open, with
 * linear probing; the orders go through a Bloom filter first, since many have no customer. */
#include "workload.h"

enum { CUSTOMERS = 6000, ORDERS = 60000, REGIONS = 64, BEST = 5 };

struct customer {
    uint64_t key;
    uint32_t region;
    uint32_t rating;
};

struct order {
    uint64_t customer;
    uint32_t amount;
    uint32_t day;
};

struct total {
    uint64_t amount, orders, last_day;
};

struct table {
    uint32_t *slots; /* index + 1 of a customer; 0: free */
    uint64_t *filter;
    uint32_t mask;
    const struct customer *customers;
};

static uint64_t mix(uint64_t key)
{
    key ^= key >> 33;
    key *= UINT64_C(0xff51afd7ed558ccd);
    return key ^ key >> 33;
}

static void build(struct table *table, const struct customer *customers, uint32_t n)
{
    uint32_t slots = 1;
    while (slots < 2 * n)
        slots *= 2;
    *table =
        (struct table){workload_memory(slots, sizeof *table->slots),
                       workload_memory(slots / 8 + 1, sizeof *table->filter), slots - 1, customers};
    for (uint32_t i = 0; i < n; i++) {
        uint64_t hash = mix(customers[i].key);
        uint32_t at = (uint32_t)hash & table->mask;
        while (table->slots[at] != 0)
            at = (at + 1) & table->mask;
        table->slots[at] = i + 1;
        uint64_t bit = hash >> 32 & (8 * (uint64_t)table->mask + 7);
        table->filter[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

static const struct customer *find(const struct table *table, uint64_t key)
{
    uint64_t hash = mix(key), bit = hash >> 32 & (8 * (uint64_t)table->mask + 7);
    if ((table->filter[bit / 64] >> bit % 64 & 1) == 0)
        return NULL;
    for (uint32_t at = (uint32_t)hash & table->mask; table->slots[at] != 0;
         at = (at + 1) & table->mask) {
        const struct customer *customer = &table->customers[table->slots[at] - 1];
        if (customer->key == key)
            return customer;
    }
    return NULL;
}

static void make_customers(struct customer *customers, uint32_t n, uint64_t *seed)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t region = workload_below(seed, REGIONS), rating = workload_below(seed, 10);
        customers[i] = (struct customer){mix(i), region, rating};
    }
}

/* Customer 0 is the keenest; one in three orders has nobody. */
static void make_orders(struct order *orders, uint32_t n, uint32_t n_customers, uint64_t *seed)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t a = workload_below(seed, n_customers), b = workload_below(seed, n_customers);
        uint64_t who = workload_below(seed, 3) == 0 ? n_customers + a : a * b / n_customers;
        uint32_t amount = 1 + workload_below(seed, 1000);
        orders[i] = (struct order){mix(who), amount, i / 100};
    }
}

static uint32_t join(struct total *totals, const struct table *table, const struct order *orders,
                     uint32_t n)
{
    uint32_t matched = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct customer *customer = find(table, orders[i].customer);
        if (customer == NULL || customer->rating < 2)
            continue;
        struct total *total = &totals[customer->region];
        total->amount += orders[i].amount;
        total->orders++;
        total->last_day = orders[i].day;
        matched++;
    }
    return matched;
}

static int by_amount(const void *a, const void *b)
{
    const struct total *x = a, *y = b;
    return x->amount < y->amount ? 1 : x->amount > y->amount ? -1 : 0;
}

int main(int argc, char **argv)
{
    unsigned size = workload_size(argc, argv);
    uint32_t n_customers = CUSTOMERS * size, n_orders = ORDERS * size;
    uint64_t seed = 99;
    struct total totals[REGIONS] = {{0}};
    struct table table;
    struct customer *customers = workload_memory(n_customers, sizeof *customers);
    struct order *orders = workload_memory(n_orders, sizeof *orders);
    make_customers(customers, n_customers, &seed);
    make_orders(orders, n_orders, n_customers, &seed);
    build(&table, customers, n_customers);
    uint32_t matched = join(totals, &table, orders, n_orders);
    qsort(totals, REGIONS, sizeof *totals, by_amount);
    printf("join: %u of %u orders\n", matched, n_orders);
    for (size_t i = 0; i < BEST; i++)
        printf("%zu: %llu in %llu orders, mean %.3f\n", i + 1, (unsigned long long)totals[i].amount,
               (unsigned long long)totals[i].orders,
               (double)totals[i].amount / (double)totals[i].orders);
    free(table.slots);
    free(table.filter);
    free(orders);
    free(customers);
    return 0;
}
