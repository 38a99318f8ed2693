/* turns.c - processes that share a ring: each is read in its turn, and numbered as it came. */
#include "base/alloc.h"
#include "producer.h"
#include "source/processes.h"
#include <signal.h>
#include <sys/wait.h>

/* Fill every chunk that was given back, with runs of path 0. */
static void keep_busy(void)
{
    while (slot->head - slot->tail < RF_RING_CHUNKS) {
        while (n < RF_RING_CHUNK / 8 - 2) {
            put(0);
            put(1);
        }
        publish();
    }
}

/* One tuple <pc, 5>, in another slot, by a process that goes on running. */
static uint32_t neighbour = 2; /* its number */
static void put_neighbour(uint64_t pc)
{
    struct rf_ring_slot *busy = slot;
    uint64_t *busy_chunk = chunk;
    size_t busy_n = n;
    slot = (struct rf_ring_slot *)(void *)(ring->memory + rf_ring_slot_offset(1));
    *slot = (struct rf_ring_slot){.pid = (uint32_t)getppid(), .process = neighbour};
    chunk = (uint64_t *)(void *)((uint8_t *)slot + rf_ring_chunk_offset(0));
    n = 0;
    put_block(0, pc);
    put(0);
    put(5);
    publish();
    slot->state = RF_RING_LIVE;
    slot = busy;
    chunk = busy_chunk;
    n = busy_n;
}

/* The neighbour fills all of its chunks, too. */
static void keep_neighbour_busy(void)
{
    struct rf_ring_slot *busy = slot;
    slot = (struct rf_ring_slot *)(void *)(ring->memory + rf_ring_slot_offset(1));
    chunk = (uint64_t *)(void *)((uint8_t *)slot + rf_ring_chunk_offset(slot->head));
    n = 0;
    keep_busy();
    slot = busy;
    chunk = (uint64_t *)(void *)((uint8_t *)slot + rf_ring_chunk_offset(slot->head));
    n = 0;
}

/* Where both always have something, both are read, not one of them once per tick. */
static void check_turns(void)
{
    struct rf_batch batch;
    uint64_t both = 0, neighbours = 0;
    for (int i = 0; i < 40; i++) {
        keep_busy();
        keep_neighbour_busy();
        CHECK(rf_source_next(source, &batch, NULL) == RF_OK);
        both += batch.n;
        for (size_t j = 0; j < batch.n; j++)
            neighbours += batch.tuples.tuples[j].a == 0x777;
    }
    CHECK(neighbours > both / 4 && neighbours < both - both / 4);
}

/* A child stands for the program. While it lives, new processes are not looked for at each step as if all might be over. */
static struct rf_spawn *begin_program(void)
{
    struct rf_processes *processes = (void *)((char *)ring - offsetof(struct rf_processes, ring));
    processes->spawn.pid = fork();
    while (processes->spawn.pid == 0)
        pause();
    return &processes->spawn;
}

/* A process that always has something does not keep the others waiting, whether they were there before or come
 * later. */
TEST(a_busy_process_starves_nobody)
{
    for (int late = 0; late < 2; late++) {
        struct rf_batch batch;
        bool seen = false;
        open_ring("load -> pc,value");
        put_block(0, 0x40);
        publish();
        struct rf_spawn *program = begin_program();
        double start = rf_spawn_clock();
        for (int i = 0; rf_spawn_clock() < start + 20 && !seen; i++) {
            keep_busy();
            if (i == (late ? 5 : 0))
                put_neighbour(0x777);
            CHECK(rf_source_next(source, &batch, NULL) == RF_OK);
            for (size_t j = 0; j < batch.n; j++)
                seen |= batch.tuples.tuples[j].a == 0x777;
        }
        CHECK(seen);
        check_turns();
        kill(program->pid, SIGKILL);
        waitpid(program->pid, NULL, 0);
        program->pid = -1;
        rf_source_close(source);
    }
}

/* A process that came later stands in an earlier slot: its thread has the later number all the same. */
TEST(threads_are_numbered_as_they_are_made)
{
    struct rf_batch batch;
    open_ring("load thread==2 -> pc,value");
    slot->process = 2;
    put_block(0, 0x40);
    put(0);
    put(1);
    publish();
    neighbour = 1;
    put_neighbour(0x777);
    neighbour = 2;
    CHECK(rf_source_next(source, &batch, NULL) == RF_OK && batch.n == 1);
    CHECK_EQ(batch.tuples.tuples[0].a, 0x40);
    rf_source_close(source);
}

/* The number of the first thread of a process that comes, has nothing to tell, and goes. */
static uint16_t come_and_go(struct rf_processes *processes, uint32_t pid)
{
    struct rf_process process = {.reader = {.pid = pid}};
    CHECK(rf_processes_begin(processes, &process));
    rf_processes_leave_threads(processes, &process);
    rf_alloc_free(processes->alloc, process.threads, process.n_threads * sizeof *process.threads);
    return process.thread;
}

/* What a process becomes by exec may come long after it, behind many others. An id that no process can have costs nothing. */
TEST(a_thread_keeps_its_number_behind_a_thousand_others)
{
    enum { FIRST = 70, OTHERS = 1000 };
    open_ring("load -> pc,value");
    struct rf_processes *processes = (void *)((char *)ring - offsetof(struct rf_processes, ring));
    for (uint32_t i = 0; i <= OTHERS; i++)
        CHECK_EQ(come_and_go(processes, FIRST + i), i + 1);
    CHECK_EQ(come_and_go(processes, FIRST), 1);
    CHECK_EQ(come_and_go(processes, FIRST + OTHERS), OTHERS + 1);
    CHECK_EQ(come_and_go(processes, UINT32_MAX), OTHERS + 2);
    CHECK(processes->n_left < 4 * (FIRST + OTHERS) && processes->status == RF_OK);
    rf_source_close(source);
}

TEST_MAIN()
