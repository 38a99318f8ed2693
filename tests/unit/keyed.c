/* Things in the order of their keys, against a plain sort that keeps the order of equals. */
#include "base/keyed.h"
#include "base/random.h"
#include "test.h"

enum { MOST = 3000 };

static void insert_all(struct rf_keyed *list, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct rf_keyed one = list[i];
        size_t k = i;
        for (; k > 0 && list[k - 1].key > one.key; k--)
            list[k] = list[k - 1];
        list[k] = one;
    }
}

/* Keys that are all alike, differ in one byte, in some that are not neighbours, in all. */
static const uint64_t masks[] = {
    0,         0xff, 0xff00, 0xff0000ff, 0x700000, 0xff000000000000ff, UINT64_C(0x8000000000000000),
    UINT64_MAX};

TEST(keys_rise_and_equals_stay_in_order)
{
    static struct rf_keyed list[MOST], room[MOST], expected[MOST];
    static char things[MOST];
    struct rf_random random;
    rf_random_seed(&random, test_seed(3));
    static const size_t sizes[] = {0, 1, 2, 3, 255, 256, 257, MOST};
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            uint64_t base = rf_random_next(&random) & ~masks[m];
            for (size_t i = 0; i < sizes[s]; i++)
                list[i] = expected[i] =
                    (struct rf_keyed){base | (rf_random_next(&random) & masks[m]), &things[i]};
            rf_keyed_sort(list, room, sizes[s]);
            insert_all(expected, sizes[s]);
            for (size_t i = 0; i < sizes[s]; i++)
                REQUIRE(list[i].key == expected[i].key && list[i].what == expected[i].what);
        }
}

TEST_MAIN()
