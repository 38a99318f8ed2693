/* counters.c - counters in the shared memory become tuples with counts. The producer is this test itself. */
#include "counted.h"

/* Path 0 ends with a branch at 0x44, to 0x80, and one at 0x47 that says nothing of where it goes. Path 1 goes on to an
 * instruction at 0x46, which calls: the target changes. */
static const uint64_t block[] = {
    HEADER_OF((uint64_t[16]){0}),
    PATHS(0, 2),
    5 | RF_DEFINE_COUNTED,
    0,
    1,
    RF_CLASS_INSN | OPEN,
    0x44,
    RF_CLASS_BRANCH | RF_RECORD_TAKEN << 8 | ON_PATH(0) | CONSTANT(TARGET),
    0x44,
    0x80,
    RF_CLASS_INSN | FROM_PATH(1),
    0x46,
    RF_CLASS_BRANCH | ON_PATH(0),
    0x47,
    RF_CLASS_CALL | RF_RECORD_INDIRECT << 8 | ON_PATH(1) | DYNAMIC(TARGET),
    0x46,
};

static struct seen count_block(const char *selector, uint64_t first, uint64_t second)
{
    struct rf_ring_slot *slot = open_ring(selector, 0);
    counters_of(0)[0] = first;
    counters_of(0)[1] = second;
    publish(slot, block, sizeof block / 8, RF_RING_DONE);
    return drain();
}

TEST(an_instruction_is_counted_by_all_paths_behind_it)
{
    struct seen seen = count_block("insn -> pc", 10, 7);
    CHECK(seen.status == RF_OK);
    CHECK_EQ(seen.n, 2);
    CHECK_EQ(seen.events, 17);
    CHECK_EQ(seen.a, 10 * 0x44 + 7 * 0x46);
}

TEST(a_way_out_is_counted_by_its_path_alone)
{
    struct seen seen = count_block("branch taken==1 -> pc,target", 10, 7);
    CHECK_EQ(seen.n, 1);
    CHECK_EQ(seen.events, 3);
    seen = count_block("branch taken==1 -> pc,target", 7, 7);
    CHECK_EQ(seen.n, 0);
}

/* What changes comes through the ring; what does not, from the counters. Neither comes twice. */
TEST(what_changes_is_streamed)
{
    static const uint64_t run[] = {1, 0x1000};
    struct rf_ring_slot *slot = open_ring("branch,call -> pc,target", 0);
    counters_of(0)[0] = 3;
    counters_of(0)[1] = 1;
    publish(slot, block, sizeof block / 8, RF_RING_LIVE);
    publish(slot, run, 2, RF_RING_DONE);
    struct seen seen = drain();
    CHECK(seen.status == RF_OK);
    CHECK_EQ(seen.events, 2 + 2 + 1);
    CHECK_EQ(seen.a, 2 * 0x44 + 2 * 0x47 + 0x46);
}

/* A load that happens only if its guard holds, and a store whose guard is the second. */
TEST(guards_have_counters_of_their_own)
{
    static const uint64_t guarded[] = {
        HEADER_OF((uint64_t[8]){0}),
        PATHS(0, 1),
        2 | RF_DEFINE_COUNTED,
        0,
        RF_CLASS_LOAD | OPEN | RF_SHAPE_GUARD_COUNTS,
        0x40,
        RF_CLASS_STORE | OPEN | RF_SHAPE_GUARD_COUNTS,
        0x44,
    };
    struct rf_ring_slot *slot = open_ring("load,store -> pc", 0);
    counters_of(0)[0] = 100;
    counters_of(0)[rf_word_guard_counter(0)] = 5;
    counters_of(0)[rf_word_guard_counter(1)] = 2;
    publish(slot, guarded, sizeof guarded / 8, RF_RING_DONE);
    struct seen seen = drain();
    CHECK_EQ(seen.events, 7);
    CHECK_EQ(seen.a, 5 * 0x40 + 2 * 0x44);
}

/* A child begins with its parent's paths and with counters of its own. */
TEST(a_child_counts_for_itself)
{
    static const uint64_t fork[] = {RF_WORD_HEADER(RF_WORD_FORK, 3), 1, 1};
    struct rf_ring_slot *slot = open_ring("insn -> pc", 0), *child = slot_at(1);
    counters_of(0)[0] = 10;
    counters_of(1)[0] = 4;
    *child = (struct rf_ring_slot){.pid = 1, .process = 2, .parent = 1, .fork = 1};
    child->state = RF_RING_DONE;
    publish(slot, block, sizeof block / 8, RF_RING_LIVE);
    publish(slot, fork, 3, RF_RING_DONE);
    struct seen seen = drain();
    CHECK(seen.status == RF_OK);
    CHECK_EQ(seen.events, 14);
}

/* The slot of a process that is over, and its counters, are as new. */
TEST(a_slot_is_given_back_without_its_counts)
{
    struct rf_batch batch;
    struct rf_ring_slot *slot = open_ring("insn -> pc", 0);
    struct rf_ring_slot *other = slot_at(1);
    *other = (struct rf_ring_slot){.pid = (uint32_t)getppid(), .process = 2, .state = RF_RING_LIVE};
    counters_of(0)[0] = 10;
    counters_of(0)[1] = UINT64_C(10);
    publish(slot, block, sizeof block / 8, RF_RING_DONE);
    CHECK(rf_source_next(source, &batch, NULL) == RF_OK && batch.n == 2);
    other->state = RF_RING_DONE;
    CHECK(rf_source_next(source, &batch, NULL) == RF_OK && batch.n == 0);
    CHECK_EQ(slot->state, RF_RING_FREE);
    CHECK_EQ(counters_of(0)[0] + counters_of(0)[1], 0);
    rf_source_close(source);
}

/* More tuples than a lane has room for at once. */
TEST(many_blocks)
{
    struct rf_ring_slot *slot = open_ring("insn -> pc", 0);
    for (uint32_t i = 0; i < 5000; i++) {
        uint64_t one[] = {HEADER_OF((uint64_t[6]){0}), PATHS(i, 1),
                          1 | RF_DEFINE_COUNTED,       0,
                          RF_CLASS_INSN | OPEN,        1};
        counters_of(0)[i] = 2;
        memcpy((uint8_t *)slot + rf_ring_chunk_offset(i / 1000) + i % 1000 * sizeof one, one,
               sizeof one);
        slot->fill[i / 1000] = (i % 1000 + 1) * (uint32_t)sizeof one;
    }
    slot->head = 5;
    slot->state = RF_RING_DONE;
    struct seen seen = drain();
    CHECK_EQ(seen.n, 5000);
    CHECK_EQ(seen.events, 10000);
}

/* --- merged events ---------------------------------------------------------------------------- */

/* Site 0 is a load of 32 bits, site 1 a store of 64; an instruction is counted beside them. */
static const uint64_t merged[] = {
    HEADER_OF((uint64_t[10]){0}),
    PATHS(0, 1),
    3 | RF_DEFINE_COUNTED,
    0,
    RF_CLASS_LOAD | 32 << 16 | OPEN | MERGED(VALUE),
    0x40,
    RF_CLASS_STORE | 64 << 16 | OPEN | MERGED(VALUE),
    0x44,
    RF_CLASS_INSN | OPEN,
    0x48,
};

/* Where a tuple of this site and word stands in the table of slot 0. */
static uint64_t *entry_of(uint32_t site, uint64_t word)
{
    return counters_of(0) + RF_RING_COUNTERS + 2 * (size_t)rf_entry_place(site, word);
}

static void set_entry(uint32_t site, uint64_t word, uint32_t count)
{
    uint64_t *entry = entry_of(site, word);
    entry[0] = rf_entry(site, count);
    entry[1] = word;
}

static struct seen run_merged(const uint64_t *words, size_t n)
{
    struct rf_ring_slot *slot = slot_at(0);
    publish(slot, merged, sizeof merged / 8, RF_RING_LIVE);
    publish(slot, words, n, RF_RING_DONE);
    return drain();
}

TEST(what_left_the_table_and_what_is_in_it_add_up)
{
    const uint64_t words[] = {RF_ENTRY_NONE, 0, rf_entry(0, 5), UINT64_C(0xabcd00000007)};
    open_ring("load,store -> pc,value", 0);
    set_entry(0, 9, 2);
    set_entry(1, 7, 30);
    struct seen seen = run_merged(words, 4);
    CHECK(seen.status == RF_OK);
    CHECK_EQ(seen.n, 3);
    CHECK_EQ(seen.events, 37);
    CHECK_EQ(seen.a, 7 * 0x40 + 30 * 0x44);
}

TEST(conditions_look_at_the_word)
{
    const uint64_t words[] = {rf_entry(0, 5), 7, rf_entry(1, 6), 8};
    open_ring("load,store value>=8 -> value,pc", 0);
    set_entry(0, 9, 2);
    struct seen seen = run_merged(words, 4);
    CHECK_EQ(seen.events, 8);
    CHECK_EQ(seen.a, 6 * 8 + 2 * 9);
}

/* A word that is rubbish above the width of its load counts as what was loaded. */
TEST(words_are_as_wide_as_the_access)
{
    const uint64_t words[] = {rf_entry(0, 5), UINT64_C(0xff00000007)};
    open_ring("load -> value", 0);
    CHECK_EQ(run_merged(words, 2).a, 5 * 7);
}

TEST(more_entries_than_a_lane_has_room_for)
{
    enum { ENTRIES = 8000 }; /* words: 4000 entries */
    static uint64_t words[ENTRIES];
    for (size_t i = 0; i < ENTRIES; i += 2) {
        words[i] = rf_entry((uint32_t)(i / 2 % 2), 3);
        words[i + 1] = i;
    }
    open_ring("load,store -> pc,value", 0);
    struct seen seen = run_merged(words, ENTRIES);
    CHECK(seen.status == RF_OK);
    CHECK_EQ(seen.events, ENTRIES / 2 * 3);
}

/* --- counted values --------------------------------------------------------------------------- */

/* Site 0 is a load of 8 bits, all of whose values have counters; site 1 one of 32 bits; site 2 a store of 8 bits with a
 * guard, which has a counter of its own in front of those of the values. */
static const uint64_t bytes[] = {
    HEADER_OF((uint64_t[10]){0}),
    PATHS(0, 1),
    3 | RF_DEFINE_COUNTED,
    0,
    RF_CLASS_LOAD | 8 << 16 | OPEN | MERGED(VALUE) | RF_SHAPE_VALUES,
    0x40,
    RF_CLASS_LOAD | 32 << 16 | OPEN | MERGED(VALUE),
    0x44,
    RF_CLASS_STORE | 8 << 16 | OPEN | MERGED(VALUE) | RF_SHAPE_VALUES | RF_SHAPE_GUARD_COUNTS,
    0x48,
};

enum { OF_LOAD = 0, OF_STORE = RF_WORD_VALUES + 1 }; /* numbers of guards */

static void count_value(uint32_t first, uint32_t value, uint64_t times)
{
    counters_of(0)[rf_word_value_counters(first) + value] = times;
}

static struct seen run_bytes(const char *selector)
{
    const uint64_t words[] = {rf_entry(1, 5), 7};
    struct rf_ring_slot *slot = open_ring(selector, 0);
    counters_of(0)[0] = 12;
    counters_of(0)[rf_word_guard_counter(RF_WORD_VALUES)] = 9;
    count_value(OF_LOAD, 0, 4);
    count_value(OF_LOAD, 255, 8);
    count_value(OF_STORE, 7, UINT64_C(9));
    publish(slot, bytes, sizeof bytes / 8, RF_RING_LIVE);
    publish(slot, words, 2, RF_RING_DONE);
    return drain();
}

TEST(each_value_of_a_byte_has_a_counter)
{
    struct seen seen = run_bytes("load,store -> pc,value");
    CHECK(seen.status == RF_OK && seen.n == 4);
    CHECK_EQ(seen.events, 4 + 8 + 5 + 9);
    CHECK_EQ(seen.a, 12 * 0x40 + 5 * 0x44 + 9 * 0x48);
    CHECK_EQ(run_bytes("load,store -> value,pc").a, 8 * 255 + 5 * 7 + 9 * 7);
}

/* Who does not look at the value counts the same events by the path and the guard. Conditions may be on the value. */
TEST(values_are_counted_beside_their_events)
{
    struct seen seen = run_bytes("load,store -> pc");
    CHECK_EQ(seen.events, 12 + 12 + 9);
    CHECK_EQ(seen.a, 12 * 0x40 + 12 * 0x44 + 9 * 0x48);
    CHECK_EQ(run_bytes("load,store value>=7 -> pc,value").events, 8 + 5 + 9);
}

/* More values than a lane has room for at once. */
TEST(many_counted_values)
{
    enum { BLOCKS = 40 };
    struct rf_ring_slot *slot = open_ring("load value!=3 -> pc,value", 0);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        const uint64_t shape = RF_CLASS_LOAD | 8 << 16 | OPEN | MERGED(VALUE) | RF_SHAPE_VALUES;
        const uint64_t one[] = {
            HEADER_OF((uint64_t[6]){0}), PATHS(i, 1), 1 | RF_DEFINE_COUNTED, 0, shape, i};
        for (uint32_t value = 0; value < RF_WORD_VALUES; value++)
            count_value(i * RF_WORD_VALUES, value, 2);
        memcpy((uint8_t *)slot + rf_ring_chunk_offset(0) + i * sizeof one, one, sizeof one);
    }
    slot->fill[slot->head++] = BLOCKS * 6 * 8;
    slot->state = RF_RING_DONE;
    struct seen seen = drain();
    CHECK(seen.status == RF_OK && seen.n == BLOCKS * 255);
    CHECK_EQ(seen.events, BLOCKS * 255 * 2);
}

TEST(lies_about_counted_values_are_damage)
{
    uint64_t lie[sizeof bytes / 8];
    memcpy(lie, bytes, sizeof bytes);
    lie[4] ^= MERGED(VALUE); /* nothing of it changes */
    publish(open_ring("load -> pc,value", 0), lie, sizeof lie / 8, RF_RING_DONE);
    CHECK(drain().status == RF_EDAMAGED);
    struct rf_ring_slot *slot = open_ring("load -> pc,value", 0);
    count_value(OF_LOAD, 1, UINT64_MAX);
    publish(slot, bytes, sizeof bytes / 8, RF_RING_DONE);
    CHECK(drain().status == RF_EDAMAGED);
}

/* A producer that merges its notes and stops after a number of stores, as if it were killed there. */
struct killed {
    struct rf_ring_slot *slot;
    unsigned left; /* stores */
};

static void put(struct killed *killed, uint64_t *place, uint64_t word)
{
    if (killed->left == 0)
        return;
    killed->left--;
    *place = word;
}

static void merge_note(struct killed *killed, uint32_t i, const uint64_t note[2], uint32_t *place)
{
    uint8_t *chunk = (uint8_t *)killed->slot + rf_ring_chunk_offset(killed->slot->head);
    uint64_t *entry = entry_of((uint32_t)note[0], note[1]),
             *old = (uint64_t *)(void *)(chunk + *place);
    bool is_same = rf_entry_site(entry[0]) == note[0] && entry[1] == note[1] &&
                   rf_entry_count(entry[0]) < RF_ENTRY_FULL;
    uint64_t key = (is_same ? entry[0] : note[0]) + RF_ENTRY_ONCE;
    put(killed, &old[0], entry[0]);
    put(killed, &old[1], entry[1]);
    *place += is_same ? 0 : 16;
    put(killed, &killed->slot->stage,
        rf_entry(0, rf_entry_count(entry[0])) |
            rf_stage(i, *place, is_same ? RF_STAGE_SAME : RF_STAGE_OTHER));
    put(killed, &entry[0], key);
    put(killed, &entry[1], note[1]);
}

/* The same word at another site, another word at the same, a repeat, and one whose entry is full. */
static const uint64_t notes[][2] = {{0, 7}, {0, 7}, {1, 7}, {0, 9}, {0, 7}, {1, 1}, {0, 5}};

enum { NOTES = sizeof notes / sizeof *notes };

static uint32_t merge_all(struct killed *killed)
{
    struct rf_ring_slot *slot = killed->slot;
    uint32_t place = 8; /* behind a word that is there already */
    for (uint32_t i = 0; i < NOTES; i++)
        merge_note(killed, i, notes[i], &place);
    put(killed, &slot->stage, rf_stage(NOTES, place, RF_STAGE_PART));
    put(killed, &slot->cursor, slot->base + rf_ring_chunk_offset(slot->head) + place);
    put(killed, &slot->note, slot->notes);
    put(killed, &slot->stage, 0);
    return killed->left;
}

static struct rf_ring_slot *open_noted(void)
{
    struct rf_ring_slot *slot = open_ring("load,store -> pc,value", 0);
    uint64_t *table = counters_of(0) + RF_RING_COUNTERS;
    for (uint32_t i = 0; i < RF_RING_TABLE; i++)
        table[2 * (size_t)i] = RF_ENTRY_NONE;
    set_entry(0, 5, RF_ENTRY_FULL);
    entry_of(1, 1)[0] = rf_entry(0, 4); /* somebody else is there */
    entry_of(1, 1)[1] = 1000;
    publish(slot, merged, sizeof merged / 8, RF_RING_LIVE);
    memcpy(table + 2 * (size_t)RF_RING_TABLE, notes, sizeof notes);
    slot->base = 0x100000;
    slot->notes = 0x900000;
    slot->note = slot->notes + sizeof notes;
    uint64_t *chunk = (uint64_t *)(void *)((uint8_t *)slot + rf_ring_chunk_offset(slot->head));
    chunk[0] = RF_WORD_HEADER(RF_WORD_GOES_ON, 1);
    slot->cursor = slot->base + rf_ring_chunk_offset(slot->head) + 8;
    return slot;
}

TEST(notes_count_once_wherever_the_process_was_killed)
{
    for (unsigned stores = 0, left = 0; left == 0; stores++) {
        struct killed killed = {open_noted(), stores};
        left = merge_all(&killed);
        killed.slot->pid = 0x7fffff00;
        struct seen seen = drain();
        CHECK(seen.status == RF_OK);
        CHECK_EQ(seen.events, RF_ENTRY_FULL + 4 + NOTES);
        CHECK_EQ(seen.a, (RF_ENTRY_FULL + 4 + 5) * UINT64_C(0x40) + 2 * 0x44);
    }
}

TEST(stages_that_make_no_sense_are_left_out)
{
    const uint64_t lies[] = {UINT64_MAX, rf_stage(RF_RING_NOTES_ROOM + 1, 8, RF_STAGE_SAME),
                             rf_stage(RF_RING_NOTES_ROOM, 8, RF_STAGE_OTHER),
                             rf_stage(0, RF_RING_CHUNK + 8, RF_STAGE_PART),
                             rf_stage(0, RF_RING_CHUNK, RF_STAGE_SAME)};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct rf_ring_slot *slot = open_noted();
        slot->stage = lies[i];
        slot->note = slot->notes + (i % 2 == 0 ? UINT64_MAX / 2 : 8);
        slot->pid = 0x7fffff00;
        drain();
    }
}

/* A full entry goes out, and the next event of the same kind begins a new one. */
TEST(a_full_entry_makes_room_for_itself)
{
    const uint64_t words[] = {rf_entry(0, RF_ENTRY_FULL), 7};
    open_ring("load -> pc,value", 0);
    set_entry(0, 7, 3);
    CHECK_EQ(run_merged(words, 2).events, RF_ENTRY_FULL + 3);
}

TEST(entries_that_make_no_sense_are_damage)
{
    const uint64_t lies[][2] = {{rf_entry(2, 1), 0},                  /* no such site */
                                {rf_entry(0, RF_ENTRY_FULL + 1), 0}}; /* no such count */
    for (size_t i = 0; i < 2; i++) {
        open_ring("load,store -> pc,value", 0);
        CHECK(run_merged(lies[i], 2).status == RF_EDAMAGED);
    }
    static const uint64_t two_words[] = {HEADER_OF((uint64_t[6]){0}),
                                         PATHS(0, 1),
                                         1 | RF_DEFINE_COUNTED,
                                         1,
                                         RF_CLASS_LOAD | OPEN | MERGED(VALUE) | DYNAMIC(ADDR),
                                         0x40};
    struct rf_ring_slot *slot = open_ring("load -> pc,value", 0);
    publish(slot, two_words, sizeof two_words / 8, RF_RING_DONE);
    CHECK(drain().status == RF_EDAMAGED);
}

/* --- lies ------------------------------------------------------------------------------------- */

TEST(impossible_counts_are_damage)
{
    struct seen seen = count_block("insn -> pc", UINT64_MAX / 2, 0);
    CHECK(seen.status == RF_EDAMAGED);
    seen = count_block("branch -> pc,target", 3, 4); /* fewer than none */
    CHECK(seen.status == RF_EDAMAGED);
}

/* Numbers of paths are checked against the array of counters when they are described. */
TEST(counters_end_where_the_array_does)
{
    static const uint64_t beyond[] = {
        HEADER_OF((uint64_t[6]){0}),
        PATHS(0, 1),
        1 | RF_DEFINE_COUNTED,
        0,
        RF_CLASS_LOAD | (uint64_t)200 << RF_SHAPE_FIRST_SHIFT | OPEN,
        0x40,
    };
    struct rf_ring_slot *slot = open_ring("load -> pc", 0);
    publish(slot, beyond, sizeof beyond / 8, RF_RING_DONE);
    CHECK(drain().status == RF_EDAMAGED);
}

/* What is lost in the ring is not lost for counters. */
TEST(losses_do_not_concern_what_is_counted)
{
    uint64_t lost[1 + RF_WORD_CLASSES] = {RF_WORD_HEADER(RF_WORD_LOST, 1 + RF_WORD_CLASSES)};
    struct rf_batch batch;
    lost[1 + RF_CLASS_INSN] = 1000;
    struct rf_ring_slot *slot = open_ring("insn -> pc", 1);
    counters_of(0)[0] = 10;
    publish(slot, block, sizeof block / 8, RF_RING_LIVE);
    publish(slot, lost, 1 + RF_WORD_CLASSES, RF_RING_DONE);
    CHECK(rf_source_next(source, &batch, NULL) == RF_OK);
    CHECK_EQ(batch.n, 1);
    CHECK_EQ(batch.lost, 0);
    rf_source_close(source);
}

/* Who peeks sees the counters of what runs, as often as he likes; they are handed out at the end all the same. */
TEST(counters_may_be_peeked_at)
{
    struct seen peeked = {0}, again = {0};
    struct rf_batch batch;
    wakes = 1;
    struct rf_ring_slot *slot = open_ring("insn -> pc", 0);
    wakes = 0;
    counters_of(0)[0] = 10;
    counters_of(0)[1] = 7;
    publish(slot, block, sizeof block / 8, RF_RING_LIVE);
    do
        CHECK(rf_source_next(source, &batch, NULL) == RF_OK);
    while (!batch.idle);
    CHECK(batch.n == 0 && !rf_batch_is_end(&batch));
    CHECK(rf_source_counted(source, add_told, &peeked, NULL) == RF_OK);
    CHECK_EQ(peeked.a, 10 * 0x44 + 7 * 0x46);
    counters_of(0)[0] = 11;
    CHECK(rf_source_counted(source, add_told, &again, NULL) == RF_OK);
    CHECK_EQ(again.a, 11 * 0x44 + 7 * 0x46);
    slot->state = RF_RING_DONE;
    do
        CHECK(rf_source_next(source, &batch, NULL) == RF_OK);
    while (batch.idle);
    CHECK_EQ(batch.n, 2);
    again = (struct seen){0};
    CHECK(rf_source_counted(source, add_told, &again, NULL) == RF_OK);
    CHECK_EQ(again.n, 0);
    rf_source_close(source);
}

TEST_MAIN()
