/* ring.c - how fast the ring alone is: tuples of 16 bytes from one process to another.
 *
 *     ring [TUPLES]
 *
 * The producer is a forked child that fills chunks with pairs of words, as fast as it can, and
 * publishes them as the probe does; the consumer copies every chunk out and adds up its words, so that
 * each of them is looked at. Ratios to a copy of the same chunks within one process.
 *
 * The loops are so short that their place in the program matters: across a line of the instruction cache the one that
 * fills ran at 890 M tuples/s instead of 1190. So both are functions of their own that begin a line. */
#include "source/ring.h"
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PER_CHUNK = RF_RING_CHUNK / 16 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#define APART __attribute__((noinline, aligned(64)))

APART static void fill(uint64_t *words, uint64_t number)
{
    for (size_t i = 0; i < RF_RING_CHUNK / 8; i++)
        words[i] = number + i;
}

APART static uint64_t sum(const uint64_t *words, size_t n)
{
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += words[i];
    return total;
}

static void wait_for_room(struct rf_ring_slot *slot)
{
    const struct timespec tick = {1, 0};
    while (slot->head - __atomic_load_n(&slot->tail, __ATOMIC_ACQUIRE) >= RF_RING_CHUNKS) {
        uint32_t seen = __atomic_load_n(&slot->tail, __ATOMIC_SEQ_CST);
        __atomic_store_n(&slot->waiting, 1, __ATOMIC_SEQ_CST);
        if (slot->head - seen >= RF_RING_CHUNKS)
            syscall(SYS_futex, &slot->tail, FUTEX_WAIT, seen, &tick, NULL, 0);
        __atomic_store_n(&slot->waiting, 0, __ATOMIC_SEQ_CST);
    }
}

static void produce(struct rf_ring *ring, uint64_t chunks)
{
    struct rf_ring_slot *slot = (void *)(ring->memory + rf_ring_slot_offset(0));
    for (uint64_t i = 0; i < chunks; i++) {
        wait_for_room(slot);
        fill((void *)((uint8_t *)slot + rf_ring_chunk_offset(slot->head)), i);
        slot->fill[slot->head % RF_RING_CHUNKS] = RF_RING_CHUNK;
        __atomic_store_n(&slot->head, slot->head + 1, __ATOMIC_RELEASE);
        __atomic_fetch_add(&ring->control->bell, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&ring->control->sleeping, __ATOMIC_SEQ_CST))
            syscall(SYS_futex, &ring->control->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}

static uint64_t consume(struct rf_ring *ring, uint64_t chunks, uint64_t *words)
{
    struct rf_ring_reader reader;
    uint64_t total = 0;
    rf_ring_attach(ring, 0, &reader);
    for (uint64_t i = 0; i < chunks;) {
        size_t n;
        bool whole;
        uint32_t bell = rf_ring_bell(ring);
        if (rf_ring_read(ring, &reader, RF_RING_WHOLE, words, &n, &whole) != RF_OK)
            exit(1);
        total += sum(words, n);
        i += whole;
        if (!whole)
            rf_ring_wait(ring, bell, 100);
    }
    return total;
}

/* The same work without anybody else: fill, copy, add up. */
static double alone(uint64_t chunks, uint64_t *words, uint64_t *total)
{
    static _Alignas(64) uint64_t chunk[RF_RING_CHUNK / 8];
    double start = now();
    for (uint64_t i = 0; i < chunks; i++) {
        fill(chunk, i);
        memcpy(words, chunk, sizeof chunk);
        *total += sum(words, RF_RING_CHUNK / 8);
    }
    return now() - start;
}

int main(int argc, char **argv)
{
    static _Alignas(64) uint64_t words[RF_RING_CHUNK / 8];
    uint64_t tuples = argc > 1 ? strtoull(argv[1], NULL, 0) : 400000000;
    uint64_t chunks = tuples / PER_CHUNK, expected = 0;
    struct rf_ring ring;
    if (rf_ring_open(&ring, 0, false, NULL) != RF_OK)
        return 1;
    double single = alone(chunks, words, &expected), start = now();
    pid_t child = fork();
    if (child == 0) {
        produce(&ring, chunks);
        _exit(0);
    }
    uint64_t total = consume(&ring, chunks, words);
    double seconds = now() - start, millions = (double)(chunks * PER_CHUNK) * 1e-6;
    waitpid(child, NULL, 0);
    printf("ring                 %7.0f M tuples/s, %.1f GB/s\n", millions / seconds,
           millions / seconds * 16e-3);
    printf("one process alone    %7.0f M tuples/s; the ring is %.2f times as fast\n",
           millions / single, single / seconds);
    rf_ring_close(&ring);
    return total == expected ? 0 : 1;
}
