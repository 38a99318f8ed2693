/* ring.c - the collector against producers that are right, slow, dead or lying. The producer is this
 * test itself (producer.h). */
#include "base/random.h"
#include "failing.h"
#include "producer.h"
#include <pthread.h>

TEST(a_path_becomes_its_tuples)
{
    open_ring("load -> pc,value");
    put_block(0, 0x40);
    put(0);
    put(0xdeadbeef00000005); /* 32 bits: the rest is rubbish */
    put(1);
    put(7);
    publish();
    slot->state = RF_RING_DONE;
    struct seen seen = drain();
    CHECK(seen.status == RF_OK);
    CHECK_EQ(seen.n, 2);
    CHECK_EQ(seen.a, 0x80);
    CHECK_EQ(seen.b, 12);
    rf_source_close(source);
}

TEST(the_way_out_tells_the_edge)
{
    open_ring("branch taken==1 -> pc,target");
    put_block(0, 0x40);
    for (int i = 0; i < 10; i++) {
        put(i % 2 == 0 ? 0 : 1);
        put(0);
    }
    publish();
    slot->state = RF_RING_DONE;
    struct seen seen = drain();
    CHECK_EQ(seen.n, 5);
    CHECK_EQ(seen.b, 5 * 0x8000);
    rf_source_close(source);
}

TEST(conditions_on_what_changes)
{
    open_ring("load value>=6 -> value");
    put_block(0, 0x40);
    for (uint64_t i = 0; i < 10; i++) {
        put(0);
        put(i);
    }
    publish();
    slot->state = RF_RING_DONE;
    struct seen seen = drain();
    CHECK_EQ(seen.n, 4);
    CHECK_EQ(seen.a, 6 + 7 + 8 + 9);
    rf_source_close(source);
}

/* Its chunk was never published: what stands before the cursor counts, what stands behind it does not. */
TEST(the_dead_are_counted_to_their_cursor)
{
    open_ring("load -> pc,value");
    put_block(0, 0x40);
    put(0);
    put(3);
    put(1);
    put(4);
    slot->cursor = (uint64_t)(uintptr_t)(chunk + n);
    put(1); /* begun, not committed */
    slot->pid = 0x7fffff00;
    struct seen seen = drain();
    CHECK(seen.status == RF_OK);
    CHECK_EQ(seen.n, 2);
    CHECK_EQ(seen.b, 7);
    rf_source_close(source);
}

TEST(a_child_waits_for_its_parents_book)
{
    open_ring("load -> pc,value");
    struct rf_ring_slot *child =
        (struct rf_ring_slot *)(void *)(ring->memory + rf_ring_slot_offset(1));
    uint64_t *words = (uint64_t *)(void *)((uint8_t *)child + rf_ring_chunk_offset(0));
    *child = (struct rf_ring_slot){.pid = 1, .process = 2, .parent = 1, .fork = 1, .head = 1};
    words[0] = 1; /* a path that only the parent has described */
    words[1] = 9;
    child->fill[0] = 16;
    child->state = RF_RING_DONE;
    put_block(0, 0x40);
    put(RF_WORD_HEADER(RF_WORD_FORK, 3));
    put(1);
    put(1);
    publish();
    slot->state = RF_RING_DONE;
    struct seen seen = drain();
    CHECK(seen.status == RF_OK);
    CHECK_EQ(seen.n, 1);
    CHECK_EQ(seen.b, 9);
    rf_source_close(source);
}

/* Forks whose children never come, as with --no-follow, cost next to nothing. */
TEST(forks_without_children)
{
    struct failing failing = {0};
    struct rf_alloc alloc = failing_alloc(&failing);
    CHECK(open_source("load -> pc,value", &alloc) == RF_OK);
    take_slot();
    for (uint32_t block = 0; block < 500; block++)
        put_block(2 * block, 0x40 + block);
    publish();
    struct rf_batch batch;
    for (uint32_t i = 1; i <= 2000; i++) {
        put(RF_WORD_HEADER(RF_WORD_FORK, 3));
        put(i);
        put(1);
    }
    put(0);
    put(1);
    publish();
    CHECK(rf_source_next(source, &batch, NULL) == RF_OK && batch.n == 1);
    size_t held = failing.held;
    for (uint32_t i = 2001; i <= 4000; i++) {
        put(RF_WORD_HEADER(RF_WORD_FORK, 3));
        put(i);
        put(1);
    }
    put(0);
    put(1);
    publish();
    CHECK(rf_source_next(source, &batch, NULL) == RF_OK && batch.n == 1);
    CHECK_EQ(failing.held, held);
    slot->state = RF_RING_DONE;
    drain();
    rf_source_close(source);
    CHECK_EQ(failing.held, 0);
}

/* Waits until slot 0 is free again; then a child of process 1 takes slot 1, and process 3 in slot 2 ends. */
static void *come_late(void *nothing)
{
    struct rf_ring_slot *child =
        (struct rf_ring_slot *)(void *)(ring->memory + rf_ring_slot_offset(1));
    struct rf_ring_slot *other =
        (struct rf_ring_slot *)(void *)(ring->memory + rf_ring_slot_offset(2));
    uint64_t *words = (uint64_t *)(void *)((uint8_t *)child + rf_ring_chunk_offset(0));
    for (int i = 0; i < 2000 && __atomic_load_n(&slot->state, __ATOMIC_SEQ_CST) != 0; i++)
        usleep(5000);
    child->pid =
        0x7fffff01; /* the slot is all zeros; its state, which others look at, comes last */
    child->process = 2;
    child->parent = child->fork = 1;
    words[0] = 1;
    words[1] = 9;
    child->fill[0] = 16;
    child->head = 1;
    __atomic_store_n(&child->state, RF_RING_DONE, __ATOMIC_SEQ_CST);
    __atomic_store_n(&other->state, RF_RING_DONE, __ATOMIC_SEQ_CST);
    return nothing;
}

TEST(a_child_that_comes_after_its_parents_end)
{
    pthread_t thread;
    open_ring("load -> pc,value");
    struct rf_ring_slot *other =
        (struct rf_ring_slot *)(void *)(ring->memory + rf_ring_slot_offset(2));
    *other = (struct rf_ring_slot){.pid = (uint32_t)getpid(), .process = 3, .state = RF_RING_LIVE};
    slot->pid = 0x7fffff00;
    put_block(0, 0x40);
    put(RF_WORD_HEADER(RF_WORD_FORK, 3));
    put(1);
    put(1);
    publish();
    slot->state = RF_RING_DONE;
    CHECK(pthread_create(&thread, NULL, come_late, NULL) == 0);
    struct seen seen = drain();
    pthread_join(thread, NULL);
    CHECK(seen.status == RF_OK);
    CHECK_EQ(seen.n, 1);
    CHECK_EQ(seen.b, 9);
    rf_source_close(source);
}

/* A load, a burst, two loads, a burst without any, another thread, a load; then what is left. */
TEST(bursts_end_where_they_say)
{
    struct rf_selector parsed;
    struct rf_batch batch;
    CHECK(rf_selector_parse(&parsed, "load -> pc,value", NULL) == RF_OK);
    const struct rf_probe_setup setup = {
        .selectors = &parsed, .n_selectors = 1, .bursts = {{.burst = 2, .sparsity = 98}}};
    REQUIRE(rf_probe_open_idle(&source, &setup, NULL) == RF_OK);
    take_slot();
    CHECK_EQ(ring->control->bursts.clocks[0].burst, 2);
    CHECK_EQ(ring->control->bursts.clocks[0].sparsity, 98);
    put_block(0, 0x40);
    const uint64_t words[] = {0,
                              1,
                              RF_WORD_HEADER(RF_WORD_BURST, 4),
                              1,
                              100,
                              3 * RF_WORD_WEIGHT_ONE / 2,
                              0,
                              2,
                              0,
                              3,
                              RF_WORD_HEADER(RF_WORD_BURST, 4),
                              1,
                              50,
                              5 * RF_WORD_WEIGHT_ONE / 2,
                              RF_WORD_HEADER(RF_WORD_BURST, 4),
                              1,
                              25,
                              5 * RF_WORD_WEIGHT_ONE / 2,
                              0,
                              4,
                              RF_WORD_HEADER(RF_WORD_THREAD, 2),
                              2,
                              0,
                              5,
                              RF_WORD_HEADER(RF_WORD_SKIPPED, 3),
                              1,
                              7};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        put(words[i]);
    publish();
    slot->state = RF_RING_DONE;
    CHECK(rf_source_next(source, &batch, NULL) == RF_OK);
    CHECK_EQ(batch.n, 5);
    REQUIRE(batch.n_ends == 4);
    CHECK_EQ(batch.ends[0], 1);
    CHECK_EQ(batch.ends[1], 3);
    CHECK_EQ(batch.ends[2], 4);
    CHECK_EQ(batch.ends[3], 5);
    CHECK(batch.weights[0] == 1.5 && batch.weights[1] == 2.5);
    CHECK_EQ(batch.bursts, 3);
    CHECK_EQ(batch.skipped, 182);
    CHECK(rf_source_next(source, &batch, NULL) == RF_OK);
    CHECK(rf_batch_is_end(&batch));
    rf_source_close(source);
}

/* An event that names its selectors goes to no other. */
TEST(events_for_some_selectors)
{
    struct rf_selector parsed[2];
    uint64_t seen[2] = {0, 0};
    struct rf_batch batch;
    CHECK(rf_selector_parse(&parsed[0], "load -> pc,value", NULL) == RF_OK);
    CHECK(rf_selector_parse(&parsed[1], "load -> value", NULL) == RF_OK);
    const struct rf_probe_setup setup = {.selectors = parsed, .n_selectors = 2};
    REQUIRE(rf_probe_open_idle(&source, &setup, NULL) == RF_OK);
    take_slot();
    for (uint64_t only = 0; only < 4; only++) {
        const uint64_t words[] = {RF_WORD_HEADER(RF_WORD_DEFINE, 6),
                                  only | UINT64_C(1) << 32,
                                  1,
                                  1,
                                  RF_CLASS_LOAD | 32 << 16 |
                                      (uint64_t)RF_HOW_DYNAMIC << RF_SHAPE_VALUE_SHIFT |
                                      only << RF_SHAPE_FOR_SHIFT,
                                  0x40,
                                  only,
                                  1 + only};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            put(words[i]);
    }
    publish();
    slot->state = RF_RING_DONE;
    while (rf_source_next(source, &batch, NULL) == RF_OK && batch.n > 0)
        seen[batch.stream] += batch.n;
    CHECK_EQ(seen[0], 3); /* for all, for 0, for both */
    CHECK_EQ(seen[1], 3);
    rf_source_close(source);
}

static const struct {
    const char *label;
    uint64_t words[6];
    size_t n;
} lies[] = {
    {"a burst of a program that is told as a whole",
     {RF_WORD_HEADER(RF_WORD_BURST, 4), 1, 5, 1024},
     4},
    {"what was skipped of such a program", {RF_WORD_HEADER(RF_WORD_SKIPPED, 3), 1, 5}, 3},
    {"a path that nobody described", {77}, 1},
    {"a message without length", {RF_WORD_HEADER(RF_WORD_THREAD, 0)}, 1},
    {"a message longer than the chunk", {RF_WORD_HEADER(RF_WORD_THREAD, 1 << 30)}, 1},
    {"an unknown message", {RF_WORD_HEADER(99, 1)}, 1},
    {"a message too short for its kind", {RF_WORD_HEADER(RF_WORD_END, 2), 0}, 2},
    {"a block without paths", {RF_WORD_HEADER(RF_WORD_DEFINE, 4), 0, 0, 0}, 4},
    {"a block with too many events",
     {RF_WORD_HEADER(RF_WORD_DEFINE, 4), UINT64_C(1) << 32, 1 << 20, 0},
     4},
    {"a block that counts events it does not describe",
     {RF_WORD_HEADER(RF_WORD_DEFINE, 4), UINT64_C(1) << 32, 1, 0},
     4},
    {"a block of paths that are not next",
     {RF_WORD_HEADER(RF_WORD_DEFINE, 4), 5 | UINT64_C(1) << 32, 0, 0},
     4},
    {"an event of no class",
     {RF_WORD_HEADER(RF_WORD_DEFINE, 6), UINT64_C(1) << 32, 1, 0, 200, 0},
     6},
    {"an event with more words than its path",
     {RF_WORD_HEADER(RF_WORD_DEFINE, 6), UINT64_C(1) << 32, 1, 0,
      (uint64_t)RF_HOW_DYNAMIC << RF_SHAPE_VALUE_SHIFT, 0},
     6},
    {"a module whose path does not end",
     {RF_WORD_HEADER(RF_WORD_MODULE, 5), 0, 1, 0, UINT64_MAX},
     5},
};

TEST(lies_are_found_out)
{
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        open_ring("load -> pc,value");
        for (size_t j = 0; j < lies[i].n; j++)
            put(lies[i].words[j]);
        publish();
        slot->state = RF_RING_DONE;
        struct seen seen = drain();
        if (seen.status != RF_EDAMAGED || seen.error.message[0] == '\0')
            printf("# %s: status %d\n", lies[i].label, seen.status);
        CHECK(seen.status == RF_EDAMAGED && seen.error.message[0] != '\0');
        rf_source_close(source);
    }
}

TEST(counters_that_make_no_sense)
{
    static const struct {
        uint32_t head, fill;
    } cases[] = {{RF_RING_CHUNKS + 1, 8}, {UINT32_MAX, 8}, {1, RF_RING_CHUNK + 8}, {1, 12}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        open_ring("load -> pc,value");
        slot->head = cases[i].head;
        slot->fill[0] = cases[i].fill;
        slot->state = RF_RING_DONE;
        CHECK(drain().status == RF_EDAMAGED);
        rf_source_close(source);
    }
}

TEST(a_cursor_that_points_anywhere)
{
    static const uint64_t offsets[] = {UINT64_MAX, 1, RF_RING_CHUNK * 4, 0x8000000000000000};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        open_ring("load -> pc,value");
        slot->cursor = (uint64_t)(uintptr_t)chunk + offsets[i];
        slot->pid = 0x7fffff00;
        struct seen seen = drain();
        CHECK(seen.status == RF_OK && seen.n == 0);
        rf_source_close(source);
    }
}

/* Memory ends at every moment once: a sentence, and nothing is kept. */
TEST(no_memory)
{
    uint64_t n_failed = 0;
    for (uint64_t at = 1;; at++) {
        struct failing failing = {.fail_at = at};
        struct rf_alloc alloc = failing_alloc(&failing);
        rf_status status = open_source("load value>=6 -> value", &alloc);
        if (status == RF_OK) {
            take_slot();
            put_block(0, 0x40);
            put(RF_WORD_HEADER(RF_WORD_MODULE, 5));
            put(0x1000);
            put(0x2000);
            put(0);
            put('x');
            put(RF_WORD_HEADER(RF_WORD_FORK, 3));
            put(1);
            put(1);
            put(0);
            put(9);
            publish();
            slot->state = RF_RING_DONE;
            struct seen seen = drain();
            status = seen.status;
            CHECK(status == RF_ENOMEM || (status == RF_OK && seen.n == 1));
            rf_source_close(source);
        }
        CHECK_EQ(failing.held, 0);
        CHECK_EQ(failing.mistakes, 0);
        if (status == RF_OK)
            break;
        CHECK(status == RF_ENOMEM);
        n_failed++;
    }
    CHECK(n_failed >= 8);
}

/* A good stream in which some words were changed: anything but a crash will do. */
TEST(a_flood_of_garbage)
{
    struct rf_random random;
    rf_random_seed(&random, test_seed(1));
    for (int round = 0; round < 300; round++) {
        open_ring(round % 2 == 0 ? "load -> pc,value" : "load value!=3 -> addr,value");
        for (uint32_t block = 0; n < RF_RING_CHUNK / 8 - 64; block++) {
            put_block(2 * block, 0x40 + block);
            for (int i = 0; i < 8; i++) {
                put(rf_random_below(&random, 2 * block + 2));
                put(rf_random_next(&random));
            }
        }
        size_t used = n;
        publish();
        uint64_t *words = (uint64_t *)(void *)((uint8_t *)slot + rf_ring_chunk_offset(0));
        for (uint64_t i = rf_random_below(&random, 6); i > 0; i--) {
            uint64_t *word = &words[rf_random_below(&random, used)];
            *word = rf_random_below(&random, 2) == 0 ? rf_random_next(&random)
                                                     : *word ^ 1u << rf_random_below(&random, 31);
        }
        slot->state = RF_RING_DONE;
        struct seen seen = drain();
        CHECK(seen.status == RF_OK || seen.status == RF_EDAMAGED);
        rf_source_close(source);
    }
}

TEST_MAIN()
