/* site.c - places of the program: each gets a number and is described to the collector, once per lane.
 *
 * A place is a hook's return address, for calls together with the address that they come from. Places are found in an open
 * hash table that keeps neighbours in the code together. Its description is a block of one path and one
 * event, as the probe has them (probe_words.h), so that the collector's book serves both.
 *
 * The file that a place lies in is told in front of its first place, from /proc/self/maps: no lock of the loader is
 * taken, so that this works in a signal handler and while a library is being opened. What dlclose removes is not
 * noticed: other code that is mapped there later is taken for the old one. */
#include "hooks.h"
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

enum { MAPS_TEXT = 8192 };

/* ---- the table ---- */

/* Tables of 2^13, 2^14 .. 2^19 places lie one behind the other in the lane's memory. One that is an eighth full is left
 * for the next, so that nearly every place is where it is looked for first; the last one may become half full. */
static struct rf_ring_place *table_of(const struct rf_hooks_lane *lane, uint64_t size)
{
    return lane->table + rf_ring_places_offset(size);
}

/* Half of a table is empty. Where another process has filled it, any place will do. */
static struct rf_ring_place *find_in(struct rf_ring_place *places, uint64_t mask, uint64_t key)
{
    uint64_t i = (key >> 2) & mask, left = mask;
    while (places[i].key != 0 && places[i].key != key && left-- > 0)
        i = (i + 1) & mask;
    return &places[i];
}

static void use_table(struct rf_hooks_lane *lane, uint64_t size)
{
    rf_hooks_then();
    lane->places = table_of(lane, size);
    rf_hooks_then();
    lane->mask = size - 1;
    __atomic_store_n(&lane->slot->places, size, __ATOMIC_RELEASE);
}

bool rf_hooks_begin_places(struct rf_hooks_lane *lane)
{
    lane->kinds = rf_hooks_allocate(RF_RING_PLACES_MAX);
    lane->words = rf_ring_words_in(lane->table);
    use_table(lane, RF_RING_PLACES_MIN);
    return lane->kinds != NULL;
}

/* Half a table is not used: it is made again when the next place comes. */
void rf_hooks_mend_places(struct rf_hooks_lane *lane)
{
    use_table(lane, lane->mask + 1);
    if (lane->defined != 0 && lane->defined != (uint64_t)(uintptr_t)rf_hooks_cursor(lane))
        lane->n_paths = lane->defining + 1;
    lane->defined = 0;
}

static void grow(struct rf_hooks_lane *lane)
{
    uint64_t size = lane->mask + 1;
    struct rf_ring_place *wider = table_of(lane, 2 * size);
    for (uint64_t i = 0; i < size; i++)
        if (lane->places[i].key != 0)
            *find_in(wider, 2 * size - 1, lane->places[i].key) = lane->places[i];
    use_table(lane, 2 * size);
}

/* Is there room for one more? */
static bool make_room(struct rf_hooks_lane *lane)
{
    if (lane->n_places > lane->mask / 8 && lane->mask + 1 < RF_RING_PLACES_MAX)
        grow(lane);
    return lane->n_places <= lane->mask / 2;
}

/* ---- files ---- */

/* A line of maps: "START-END rwxp OFFSET DEVICE INODE   PATH". */
struct mapping {
    uint64_t start, end, offset;
    bool executable;
    const char *path; /* "" : none */
};

static const char *read_hex(const char *text, uint64_t *number)
{
    for (*number = 0;; text++) {
        unsigned digit = (unsigned char)*text;
        if (digit >= '0' && digit <= '9')
            *number = *number * 16 + (digit - '0');
        else if (digit >= 'a' && digit <= 'f')
            *number = *number * 16 + (digit - 'a' + 10);
        else
            return text;
    }
}

static const char *skip_words(const char *text, int n)
{
    for (; n > 0; n--) {
        while (*text != ' ' && *text != '\0')
            text++;
        while (*text == ' ')
            text++;
    }
    return text;
}

static struct mapping read_mapping(const char *line)
{
    struct mapping mapping = {0, 0, 0, false, ""};
    line = read_hex(line, &mapping.start);
    line = read_hex(line + (*line == '-'), &mapping.end);
    if (*line != ' ' || strlen(line) < 6)
        return mapping;
    mapping.executable = line[3] == 'x';
    line = read_hex(line + 6, &mapping.offset);
    mapping.path = skip_words(line + (*line == ' '), 2);
    return mapping;
}

static void tell_mapping(struct rf_hooks_lane *lane, const struct mapping *mapping)
{
    size_t length = strlen(mapping->path) + 1, words = (length + 7) / 8;
    uint64_t *to = rf_hooks_reserve(lane, (uint32_t)(4 + words));
    to[0] = RF_WORD_HEADER(RF_WORD_MODULE, 4 + words);
    to[1] = mapping->start;
    to[2] = mapping->end;
    to[3] = mapping->offset;
    to[3 + words] = 0;
    memcpy(to + 4, mapping->path, length);
    rf_hooks_commit(lane, to + 4 + words);
}

static bool is_told(const struct rf_hooks_lane *lane, uint64_t pc)
{
    for (uint32_t i = 0; i < lane->n_spans; i++)
        if (lane->spans[i].start <= pc && pc < lane->spans[i].end)
            return true;
    return false;
}

/* Line by line, through a small buffer. */
struct maps {
    long fd;
    size_t n, at;
    char text[MAPS_TEXT];
};

static const char *next_line(struct maps *maps)
{
    for (;;) {
        char *line = maps->text + maps->at, *end = memchr(line, '\n', maps->n - maps->at);
        if (end != NULL) {
            *end = '\0';
            maps->at = (size_t)(end - maps->text) + 1;
            return line;
        }
        memmove(maps->text, line, maps->n - maps->at);
        maps->n -= maps->at;
        maps->at = 0;
        long got = rf_hooks_syscall(SYS_read, maps->fd, (long)(maps->text + maps->n),
                                    (long)(sizeof maps->text - maps->n), 0, 0, 0);
        if (got <= 0)
            return NULL;
        maps->n += (size_t)got;
    }
}

/* The program itself is told first: the first file of maps. Then the one that holds pc. */
static bool find_mapping(struct rf_hooks_lane *lane, uint64_t pc)
{
    struct maps maps;
    const char *line;
    bool found = false;
    maps.fd = rf_hooks_syscall(SYS_open, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0, 0, 0, 0);
    maps.n = maps.at = 0;
    while (maps.fd >= 0 && !found && (line = next_line(&maps)) != NULL) {
        struct mapping mapping = read_mapping(line);
        bool is_program = lane->n_spans == 0 && mapping.path[0] == '/';
        found = mapping.start <= pc && pc < mapping.end;
        if (!mapping.executable || (!found && !is_program) || mapping.path[0] == '\0' ||
            lane->n_spans == RF_HOOKS_SPANS)
            continue;
        tell_mapping(lane, &mapping);
        lane->spans[lane->n_spans++] = (struct rf_hooks_span){mapping.start, mapping.end};
    }
    if (maps.fd >= 0)
        rf_hooks_syscall(SYS_close, maps.fd, 0, 0, 0, 0, 0);
    return found;
}

/* ---- who is wanted ---- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool is_module_wanted(uint64_t pc)
{
    struct maps maps;
    const char *line;
    bool wanted = false;
    maps.fd = rf_hooks_syscall(SYS_open, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0, 0, 0, 0);
    maps.n = maps.at = 0;
    while (maps.fd >= 0 && (line = next_line(&maps)) != NULL) {
        struct mapping mapping = read_mapping(line);
        for (uint32_t i = 0; i < rf_hooks_options.n_modules; i++) {
            const char *name = rf_hooks_options.modules[i];
            bool same =
                strcmp(name, mapping.path) == 0 || strcmp(name, last_part(mapping.path)) == 0;
            wanted |= same && mapping.start <= pc && pc < mapping.end;
        }
    }
    if (maps.fd >= 0)
        rf_hooks_syscall(SYS_close, maps.fd, 0, 0, 0, 0, 0);
    return wanted;
}

static bool is_wanted(uint64_t pc)
{
    bool in_range = rf_hooks_options.n_ranges == 0;
    for (uint32_t i = 0; i < rf_hooks_options.n_ranges; i++)
        in_range |= rf_hooks_options.ranges[i].low <= pc && pc < rf_hooks_options.ranges[i].high;
    return in_range && (rf_hooks_options.n_modules == 0 || is_module_wanted(pc));
}

/* ---- the description ---- */

/* The call instruction in front of a return address. */
static uint64_t call_before(uint64_t back, bool *indirect)
{
    const uint8_t *at = (const uint8_t *)(uintptr_t)back;
    *indirect = false;
    if (at[-5] == 0xe8)
        return back - 5;
    *indirect = true;
    if (at[-6] == 0xff && at[-5] == 0x15) /* through a word of the file */
        return back - 6;
    if (at[-3] == 0x41 && at[-2] == 0xff && (at[-1] & 0xf8) == 0xd0)
        return back - 3;
    if (at[-2] == 0xff && (at[-1] & 0xf8) == 0xd0)
        return back - 2;
    if (at[-3] == 0xff && (at[-2] & 0xf8) == 0x50)
        return back - 3;
    return back - 1;
}

static uint64_t how(bool dynamic, unsigned shift)
{
    return (uint64_t)(dynamic ? RF_HOW_DYNAMIC : RF_HOW_ABSENT) << shift;
}

/* What the collector is told of a place. */
struct description {
    uint64_t shape, pc, target;
    uint32_t words; /* that change */
    bool has_target;
};

static struct description describe(const struct rf_hooks_event *of)
{
    unsigned kind = of->kind, bytes = of->bytes;
    unsigned want = rf_hooks_options.want[kind];
    bool indirect = false;
    struct description event = {.pc = call_before(of->pc, &indirect)};
    uint64_t flags = 0;
    if (kind == RF_WORD_CALL) {
        event.target = event.pc;
        event.pc = call_before(of->from, &indirect);
        flags = indirect ? RF_WORD_INDIRECT : 0;
    } else if (kind == RF_WORD_BRANCH) {
        event.target = event.pc;
        event.pc = of->from;
        flags = RF_WORD_TAKEN;
    }
    event.has_target = kind == RF_WORD_CALL || kind == RF_WORD_BRANCH;
    event.words = (want & RF_HOOKS_ADDR) + ((want & RF_HOOKS_VALUE) != 0);
    event.shape = (uint64_t)kind | flags << 8 | (uint64_t)bytes * 8 << 16 |
                  how(want & RF_HOOKS_ADDR, RF_SHAPE_ADDR_SHIFT) |
                  how(want & RF_HOOKS_VALUE, RF_SHAPE_VALUE_SHIFT);
    if (event.has_target)
        event.shape |= (uint64_t)RF_HOW_CONSTANT << RF_SHAPE_TARGET_SHIFT;
    return event;
}

/* The collector counts paths as it is told of them. So they are counted here when that is done, and a handler that jumps out leaves
 * where to look whether it was (rf_hooks_mend_places). */
static void tell_place(struct rf_hooks_lane *lane, uint32_t path, const struct description *event)
{
    uint32_t n = 6 + event->has_target;
    uint64_t *to = rf_hooks_reserve(lane, n);
    to[0] = RF_WORD_HEADER(RF_WORD_DEFINE, n);
    to[1] = path | UINT64_C(1) << 32;
    to[2] = 1;
    to[3] = event->words;
    to[4] = event->shape;
    to[5] = event->pc;
    if (event->has_target)
        to[6] = event->target;
    lane->defining = path;
    rf_hooks_then();
    lane->defined = (uint64_t)(uintptr_t)to;
    rf_hooks_then();
    rf_hooks_commit(lane, to + n);
    lane->n_paths = path + 1;
    rf_hooks_then();
    lane->defined = 0;
}

static uint32_t add_path(struct rf_hooks_lane *lane, const struct rf_hooks_event *of)
{
    struct description event = describe(of);
    if (!is_wanted(event.pc))
        return RF_HOOKS_NO_PATH;
    if (!is_told(lane, event.pc))
        find_mapping(lane, event.pc);
    if (event.has_target && !is_told(lane, event.target))
        find_mapping(lane, event.target);
    uint32_t path = lane->n_paths;
    lane->kinds[path] = (uint8_t)(of->kind | event.words << 4);
    tell_place(lane, path, &event);
    return path;
}

RF_HOOKS_APART struct rf_ring_place *rf_hooks_place(struct rf_hooks_lane *lane, uint64_t key,
                                                    const struct rf_hooks_event *event)
{
    struct rf_ring_place *place = find_in(lane->places, lane->mask, key);
    if (RF_HOOKS_LIKELY(place->key == key))
        return place;
    rf_hooks_begin_slow(lane);
    if (make_room(lane)) {
        uint32_t path = add_path(lane, event);
        place = find_in(lane->places, lane->mask, key);
        place->count = 0;
        place->path = path;
        rf_hooks_then();
        place->key = key;
        lane->n_places++;
    }
    rf_hooks_end_slow(lane);
    return place->key == key ? place : NULL;
}
