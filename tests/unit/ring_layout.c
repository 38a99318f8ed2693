/* The layout of the shared memory, as both sides compute it. */
#include "source/ring_layout.h"
#include "test.h"

/* The size of a file tells how many slots it has, and whether it has counters. */
TEST(sizes_are_told_apart)
{
    for (uint32_t n = 1; n <= RF_RING_SLOTS_MAX; n++) {
        uint64_t plain = rf_ring_bytes(n), counted = rf_ring_bytes_counted(n);
        CHECK(!rf_ring_is_counted(plain) && rf_ring_is_counted(counted));
        CHECK(rf_ring_slots_of(plain) == n && rf_ring_slots_of(counted) == n);
    }
}

TEST_MAIN()
