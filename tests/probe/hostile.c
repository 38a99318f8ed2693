/* hostile.c - a profiled program that writes to the ring itself, to deceive or stop the collector.
 *
 *     hostile HOW                  finds the ring among the descriptors of its parent, maps it, and does what HOW says
 *     hostile WHERE PROGRAM ..     the same; starts the program, and writes rubbish into its slot, or into the page
 *                                  that all share, until it ends. Prints how it ended
 *
 * It may use every slot but the first, which belongs to its own probe. */
#include "source/probe_words.h"
#include "source/target_kind.h"
#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static uint8_t *ring;
static uint32_t n_slots;
static uint64_t *at; /* the next word of the forged chunk */

static int find_ring(void)
{
    char folder[64], path[400], to[256];
    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)getppid());
    DIR *descriptors = opendir(folder);
    for (struct dirent *entry; descriptors != NULL && (entry = readdir(descriptors)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        ssize_t n = readlink(path, to, sizeof to - 1);
        to[n > 0 ? n : 0] = '\0';
        if (strstr(to, "riffle-ring") != NULL)
            return open(path, O_RDWR | O_CLOEXEC);
    }
    return -1;
}

static int map_ring(void)
{
    struct stat status;
    int fd = find_ring();
    if (fd < 0 || fstat(fd, &status) != 0)
        return 0;
    n_slots = rf_ring_slots_of((uint64_t)status.st_size);
    ring = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return n_slots > 0 && ring != MAP_FAILED;
}

static struct rf_ring_slot *slot_at(uint32_t number)
{
    return (struct rf_ring_slot *)(void *)(ring + rf_ring_slot_offset(number));
}

static struct rf_ring_slot *take(uint32_t number, uint32_t pid)
{
    struct rf_ring_slot *slot = slot_at(number);
    memset(slot, 0, sizeof *slot);
    slot->pid = pid;
    slot->process = 1000 + number;
    slot->base = (uint64_t)(uintptr_t)slot;
    at = (uint64_t *)(void *)((uint8_t *)slot + rf_ring_chunk_offset(0));
    return slot;
}

static void publish(struct rf_ring_slot *slot, uint32_t state)
{
    uint8_t *chunk = (uint8_t *)slot + rf_ring_chunk_offset(slot->head);
    slot->fill[slot->head % RF_RING_CHUNKS] = (uint32_t)((uint8_t *)at - chunk);
    slot->head++;
    at = (uint64_t *)(void *)((uint8_t *)slot + rf_ring_chunk_offset(slot->head));
    __atomic_store_n(&slot->state, state, __ATOMIC_SEQ_CST);
}

static void pose_as(uint32_t pid)
{
    take(1, pid)->state = RF_RING_LIVE;
}

static void lose(void)
{
    struct rf_ring_slot *slot = take(1, 1);
    *at++ = RF_WORD_HEADER(RF_WORD_LOST, 1 + RF_WORD_CLASSES);
    for (int kind = 0; kind < RF_WORD_CLASSES; kind++)
        *at++ = UINT64_MAX / 3;
    publish(slot, RF_RING_DONE);
}

/* 50,000 files that were never mapped, chunk by chunk as they are read. */
static void map_files(void)
{
    enum { FILES = 50000, WORDS = 4 + 32 };
    struct rf_ring_slot *slot = take(1, 1);
    for (uint64_t i = 0; i < FILES; i++) {
        memset(at, 'x', WORDS * 8);
        at[0] = RF_WORD_HEADER(RF_WORD_MODULE, WORDS);
        at[1] = 0x10000000 + i * 0x1000;
        at[2] = at[1] + 0x1000;
        at[3] = 0;
        at[WORDS - 1] = 0;
        at += WORDS;
        if (i % 200 == 199)
            publish(slot, i == FILES - 1 ? RF_RING_DONE : RF_RING_LIVE);
        while (slot->head - __atomic_load_n(&slot->tail, __ATOMIC_SEQ_CST) >= RF_RING_CHUNKS)
            usleep(1000);
    }
}

static void name_control_characters(void)
{
    struct rf_ring_slot *slot = take(1, 1);
    *at++ = RF_WORD_HEADER(RF_WORD_UNPROFILED, 3);
    *at++ = RF_TARGET_SETUID;
    memcpy(at++, "/\033[2Jx\x9b", 8);
    publish(slot, RF_RING_DONE);
}

static void take_all(void)
{
    for (uint32_t i = 1; i < n_slots; i++)
        take(i, 1)->state = RF_RING_LIVE;
}

static void scribble(void)
{
    srand(7);
    for (uint32_t round = 0; round < 20000; round++) {
        struct rf_ring_slot *slot = slot_at(1 + (uint32_t)rand() % (n_slots - 1));
        uint32_t *words = (uint32_t *)(void *)slot;
        words[(size_t)rand() % (sizeof *slot / 4)] = (uint32_t)rand() % 5;
        if (round % 16 == 0)
            slot->state = RF_RING_LIVE;
    }
}

/* ---- a sibling ---- */

static uint64_t draw(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Numbers that are likely to be taken for good ones, and others. */
static uint64_t rubbish(uint64_t was)
{
    switch (draw() % 6) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX;
    case 2:
        return was + (draw() % 64) * 8;
    case 3:
        return was + (draw() % 64) * (uint64_t)RF_RING_CHUNK;
    case 4:
        return draw() % 100;
    default:
        return draw();
    }
}

struct area {
    const char *name;
    size_t start, bytes;
};

#define OF(type, member) offsetof(struct type, member), sizeof(((struct type *)0)->member)

static const struct area in_slot[] = {
    {"cursor", OF(rf_ring_slot, cursor)},
    {"limit", OF(rf_ring_slot, limit)},
    {"head", OF(rf_ring_slot, head)},
    {"tail", OF(rf_ring_slot, tail)},
    {"note", OF(rf_ring_slot, note)},
    {"notes", OF(rf_ring_slot, notes)},
    {"fill", OF(rf_ring_slot, fill)},
    {"bursts", OF(rf_ring_slot, counters)},
    {"page", offsetof(struct rf_ring_slot, head),
     sizeof(struct rf_ring_slot) - offsetof(struct rf_ring_slot, head)},
    {"chunks", RF_RING_PAGE, RF_RING_CHUNKS *RF_RING_CHUNK},
};
static const struct area in_counters[] = {
    {"counters", 0, 1 << 20},
    {"table", (size_t)RF_RING_COUNTERS * 8, (size_t)RF_RING_TABLE * 16},
    {"noted", (size_t)RF_RING_COUNTERS * 8 + (size_t)RF_RING_TABLE * 16, RF_RING_NOTES_ROOM * 16},
};
static const struct area in_control[] = {
    {"magic", OF(rf_ring_control, magic)},
    {"collector", OF(rf_ring_control, collector)},
    {"wanted", OF(rf_ring_control, bursts)},
};

#define FIND(list, name) find_area(list, sizeof(list) / sizeof((list)[0]), name)

static const struct area *find_area(const struct area *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

static void spoil(uint8_t *memory, const struct area *area)
{
    if (area == NULL)
        return;
    for (unsigned i = 0; i < 64; i++) {
        uint64_t value, size = area->bytes < 8 ? 4 : 8;
        uint8_t *there = memory + area->start + draw() % (area->bytes / size) * size;
        memcpy(&value, there, size);
        value = rubbish(value);
        memcpy(there, &value, size);
    }
}

static void spoil_sibling(const char *where, pid_t pid)
{
    spoil(ring, FIND(in_control, where));
    for (uint32_t i = 1; i < n_slots && i < 16; i++) {
        if (slot_at(i)->pid != (uint32_t)pid || slot_at(i)->state != RF_RING_LIVE)
            continue;
        spoil((uint8_t *)slot_at(i), FIND(in_slot, where));
        spoil(ring + rf_ring_counters_offset(n_slots, i), FIND(in_counters, where));
    }
}

static int live_beside(const char *where, char **program)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        execvp(program[0], program);
        _exit(127);
    }
    while (waitpid(pid, &status, WNOHANG) == 0) {
        spoil_sibling(where, pid);
        usleep(1000);
    }
    printf("status %d\n", status);
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (!map_ring())
        return 3;
    if (argc > 2)
        return live_beside(how, argv + 2);
    if (strcmp(how, "init") == 0)
        pose_as(1);
    else if (strcmp(how, "riffle") == 0)
        pose_as((uint32_t)getppid());
    else if (strcmp(how, "lost") == 0)
        lose();
    else if (strcmp(how, "modules") == 0)
        map_files();
    else if (strcmp(how, "names") == 0)
        name_control_characters();
    else if (strcmp(how, "slots") == 0)
        take_all();
    else if (strcmp(how, "scribble") == 0)
        scribble();
    else
        return 2;
    puts("done");
    return 0;
}
