/* book.c - from DEFINE messages to paths that are ready to run.
 *
 *     DEFINE  load at 0x40, 32 bits, value follows       branch at 0x44 -> 0x80, path 0 only
 *
 *        selector "load -> pc,value"        selector "branch,jump -> pc,target"
 *     path 0:   <0x40, word 1 & mask>            <0x44, 0x80>
 *
 * Conditions on constants (pc, class, width of an access, direct or not) are decided here, once. A path with
 * conditions on dynamic words goes through rf_selector_run, record by record. The usual tuples, with
 * one dynamic word or none, are steps: one list for all selectors. Running a path is therefore one loop,
 * whose length the processor can predict, instead of one loop per selector.
 *
 * Guarantee: whatever the words are, no index goes past a message and no path past its words. Memory:
 * 24 bytes per tuple and 48 per record, for each path that has it. */
#include "source/book.h"
#include "source/define.h"
#include "event/field.h"
#include "event/selector.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

enum {
    PATHS_MAX = 1 << 26,
    SITES_MAX = 1 << 26,
    SELECTORS_MAX = 256,                /* that a step can tell apart */
    STEPS_MAX = 8 * RF_WORD_EVENTS_MAX, /* of a path; what is more runs as items */
};

/* Scratch memory for one message or one path. */
struct rf_book_bench {
    struct rf_define define;
    struct rf_book_item items[RF_WORD_EVENTS_MAX];
    struct rf_record records[RF_WORD_EVENTS_MAX];
    struct rf_book_piece pieces[SELECTORS_MAX];
    bool has_others, needs_records; /* pieces that are not steps; that select */
    uint32_t n_steps, most;
    struct rf_book_step steps[STEPS_MAX];
};

rf_status rf_book_shelf_init(struct rf_book_shelf *shelf, const struct rf_selector *selectors,
                             size_t n_selectors, const struct rf_alloc *alloc)
{
    if (n_selectors > SELECTORS_MAX)
        return RF_EINVAL;
    *shelf =
        (struct rf_book_shelf){.alloc = alloc, .selectors = selectors, .n_selectors = n_selectors};
    shelf->bench = rf_alloc_get(alloc, sizeof *shelf->bench);
    return shelf->bench != NULL ? RF_OK : RF_ENOMEM;
}

void rf_book_shelf_free(struct rf_book_shelf *shelf)
{
    if (shelf->alloc == NULL)
        return;
    rf_alloc_free(shelf->alloc, shelf->bench, sizeof *shelf->bench);
    rf_book_shelf_clear(shelf);
}

/* ---- books ---- */

void rf_book_init(struct rf_book *book, struct rf_book_shelf *shelf)
{
    *book = (struct rf_book){.shelf = shelf};
}

void rf_book_free(struct rf_book *book)
{
    rf_alloc_free(book->shelf->alloc, (void *)book->paths, book->room * sizeof *book->paths);
    rf_alloc_free(book->shelf->alloc, book->sites, book->room_sites * sizeof *book->sites);
    book->paths = NULL;
    book->sites = NULL;
    book->n_paths = book->room = book->n_sites = book->room_sites = 0;
}

/* An array with room for n elements; NULL: there is no memory, and it stays as it was. */
static void *grown(const struct rf_book *book, void *array, size_t *room, size_t n, size_t size)
{
    size_t more = *room == 0 ? 4096 : *room * 2;
    more = more < n ? n : more;
    if (n > *room && !rf_alloc_array(book->shelf->alloc, &array, *room, more, size))
        return NULL;
    *room = n > *room ? more : *room;
    return array;
}

static rf_status make_room(struct rf_book *book, size_t n_paths, size_t n_sites)
{
    void *paths =
        grown(book, (void *)book->paths, &book->room, n_paths, sizeof(const struct rf_book_path *));
    if (paths == NULL && n_paths > 0)
        return RF_ENOMEM;
    book->paths = paths;
    void *sites = grown(book, book->sites, &book->room_sites, n_sites, sizeof *book->sites);
    if (sites == NULL && n_sites > 0)
        return RF_ENOMEM;
    book->sites = sites;
    return RF_OK;
}

rf_status rf_book_copy(struct rf_book *child, const struct rf_book *parent)
{
    rf_book_init(child, parent->shelf);
    child->bias = parent->bias;
    child->n_guards = parent->n_guards;
    if (parent->n_paths == 0)
        return RF_OK;
    if (make_room(child, parent->n_paths, parent->n_sites) != RF_OK)
        return RF_ENOMEM;
    memcpy((void *)child->paths, (const void *)parent->paths,
           parent->n_paths * sizeof *parent->paths);
    if (parent->n_sites > 0)
        memcpy(child->sites, parent->sites, parent->n_sites * sizeof *parent->sites);
    child->n_paths = parent->n_paths;
    child->n_sites = parent->n_sites;
    return RF_OK;
}

/* ---- records ---- */

#define MASK(n) UINT64_MAX >> (64 - (n))
#define MASKS(n)                                                                                   \
    MASK(n), MASK(n + 1), MASK(n + 2), MASK(n + 3), MASK(n + 4), MASK(n + 5), MASK(n + 6),         \
        MASK(n + 7)

const uint64_t rf_book_masks[65] = {0,         MASKS(1),  MASKS(9),  MASKS(17), MASKS(25),
                                    MASKS(33), MASKS(41), MASKS(49), MASKS(57)};

static uint64_t low_bits(uint64_t word, unsigned bits)
{
    return word & rf_book_masks[bits];
}

static uint8_t value_bits(const struct rf_record *base)
{
    return base->width == 0 || base->width > 64 ? 64 : (uint8_t)base->width;
}

/* The record of one event, without its thread. */
static struct rf_record read_record(const struct rf_book_record *r, const uint64_t *words)
{
    struct rf_record record = r->base;
    record.addr += r->addr != 0 ? words[r->addr] : 0;
    record.target += r->target != 0 ? words[r->target] : 0;
    record.value += r->value != 0 ? low_bits(words[r->value], value_bits(&r->base)) : 0;
    if (record.kind == RF_CLASS_ALU)
        record.width = (uint16_t)(record.value == 0 ? 0 : 64 - __builtin_clzll(record.value));
    return record;
}

/* ---- from events to pieces ---- */

enum decision { NEVER, ALWAYS, DEPENDS };

/* A field of an event: its constant, or the word that it comes from. */
struct source_field {
    uint64_t constant;
    uint16_t word;
    uint8_t bits;
    bool unknown; /* neither: only a record can tell */
};

static uint16_t word_of(const struct rf_book_record *r, enum rf_field_word word)
{
    switch (word) {
#define RF_FIELD_WORD(ID, member, letter)                                                          \
    case RF_FIELD_WORD_##ID:                                                                       \
        return r->member;
#include <riffle/fields.def>
    default:
        return 0;
    }
}

static struct source_field field_of(const struct rf_book_record *r, unsigned field)
{
    if (rf_field_is_late(field, r->base.kind))
        return (struct source_field){.unknown = true};
    enum rf_field_word is = rf_field_is(field);
    uint16_t word = word_of(r, is);
    unsigned bits = is == RF_FIELD_WORD_VALUE ? value_bits(&r->base) : 64;
    return (struct source_field){rf_field_of(&r->base, field), word, word != 0 ? (uint8_t)bits : 0,
                                 false};
}

static bool is_for(const struct rf_book_record *r, size_t lane)
{
    return r->only == 0 || (lane < 8 && (r->only >> lane & 1));
}

static bool is_counted(const struct rf_book_record *r, size_t lane)
{
    return lane < 32 && (r->counted >> lane & 1);
}

static enum decision decide(const struct rf_selector *selector, const struct rf_book_record *r,
                            size_t lane)
{
    enum decision decision = ALWAYS;
    if (!(selector->classes >> r->base.kind & 1) || !is_for(r, lane))
        return NEVER;
    for (unsigned i = 0; i < selector->n_conditions; i++) {
        const struct rf_condition *c = &selector->conditions[i];
        struct source_field field = field_of(r, c->field);
        if (field.unknown || field.bits != 0) {
            decision = DEPENDS;
            continue;
        }
        if (!rf_selector_holds(selector, i, field.constant))
            return NEVER;
    }
    if (field_of(r, selector->project_a).unknown || field_of(r, selector->project_b).unknown)
        return DEPENDS;
    return decision;
}

/* No word of the record that the selector reads changes. */
static bool is_static(const struct rf_book_record *r, const struct rf_selector *selector)
{
    for (unsigned field = 1; field < RF_FIELD_COUNT; field++)
        if ((selector->fields >> field & 1) && word_of(r, rf_field_needs(field, r->base.kind)) != 0)
            return false;
    return true;
}

/* Decide who counts which event. */
static void divide(const struct rf_book_shelf *shelf, struct rf_define *define)
{
    for (uint32_t i = 0; i < define->n_events; i++) {
        struct rf_book_record *r = &define->events[i].record;
        for (size_t lane = 0; define->is_counted && lane < shelf->n_selectors; lane++)
            if (lane < 32 && (shelf->counted >> lane & 1) && is_static(r, &shelf->selectors[lane]))
                r->counted |= 1u << lane;
    }
}

static struct rf_book_item make_item(const struct rf_selector *selector,
                                     const struct rf_book_record *r)
{
    struct source_field a = field_of(r, selector->project_a);
    struct source_field b = field_of(r, selector->project_b);
    return (struct rf_book_item){.a = a.constant,
                                 .b = b.constant,
                                 .word_a = a.word,
                                 .word_b = b.word,
                                 .guard = r->guard,
                                 .bits_a = a.bits,
                                 .bits_b = b.bits};
}

static bool are_steps(const struct rf_book_item *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (items[i].guard != 0 || items[i].bits_a != 0)
            return false;
    return true;
}

/* Lay the tuples of a selector out on the bench. */
static void add_steps(struct rf_book_bench *bench, size_t n, size_t lane)
{
    for (size_t i = 0; i < n; i++) {
        const struct rf_book_item *item = &bench->items[i];
        bench->steps[bench->n_steps++] = (struct rf_book_step){.a = item->a,
                                                               .b = item->b,
                                                               .word = item->word_b,
                                                               .bits = item->bits_b,
                                                               .lane = (uint8_t)lane};
    }
}

static rf_status keep_items(struct rf_book_shelf *shelf, struct rf_book_piece *piece,
                            const struct rf_book_item *items)
{
    struct rf_book_item *kept = rf_book_shelf_get(shelf, piece->n * sizeof *kept);
    if (kept == NULL)
        return RF_ENOMEM;
    memcpy(kept, items, piece->n * sizeof *kept);
    piece->items = kept;
    return RF_OK;
}

/* What is made ready to run: a path of the block, or one merged event, which is run alone. */
struct subject {
    uint32_t path;
    const struct rf_define_event *merged; /* NULL: it is a path */
};

static bool has(const struct subject *subject, const struct rf_define_event *event)
{
    if (subject->merged != NULL || event->is_merged)
        return subject->merged == event;
    return event->first <= subject->path && subject->path <= event->last;
}

/* What selector `lane` makes of the path: a piece on the bench, or steps. */
static rf_status make_piece(struct rf_book_shelf *shelf, const struct rf_define *define,
                            const struct subject *subject, size_t lane)
{
    struct rf_book_bench *bench = shelf->bench;
    struct rf_book_piece *piece = &bench->pieces[lane];
    bool depends = false;
    *piece = (struct rf_book_piece){NULL, 0, RF_BOOK_STEPS};
    for (uint32_t i = 0; i < define->n_events; i++) {
        const struct rf_book_record *r = &define->events[i].record;
        if (!has(subject, &define->events[i]) || is_counted(r, lane))
            continue;
        enum decision decision = decide(&shelf->selectors[lane], r, lane);
        depends |= decision == DEPENDS;
        if (decision != NEVER)
            bench->items[piece->n++] = make_item(&shelf->selectors[lane], r);
    }
    bench->most = piece->n > bench->most ? piece->n : bench->most;
    if (!depends && are_steps(bench->items, piece->n) && bench->n_steps + piece->n <= STEPS_MAX) {
        add_steps(bench, piece->n, lane);
        return RF_OK;
    }
    bench->has_others = true;
    bench->needs_records |= depends;
    piece->form = depends ? RF_BOOK_SELECT : RF_BOOK_GENERAL;
    return depends ? RF_OK : keep_items(shelf, piece, bench->items);
}

static rf_status make_pieces(struct rf_book_shelf *shelf, const struct rf_define *define,
                             const struct subject *subject)
{
    struct rf_book_bench *bench = shelf->bench;
    bench->n_steps = bench->most = 0;
    bench->has_others = false;
    bench->needs_records = shelf->keep_records;
    for (size_t i = 0; !shelf->keep_records && i < shelf->n_selectors; i++) {
        rf_status status = make_piece(shelf, define, subject, i);
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

static rf_status keep_pieces(struct rf_book_shelf *shelf, struct rf_book_path *path)
{
    size_t size = shelf->n_selectors * sizeof *path->pieces;
    struct rf_book_piece *pieces = rf_book_shelf_get(shelf, size);
    if (pieces == NULL)
        return RF_ENOMEM;
    memcpy(pieces, shelf->bench->pieces, size);
    path->pieces = pieces;
    return RF_OK;
}

static rf_status keep_records(struct rf_book_shelf *shelf, struct rf_book_path *path,
                              const struct rf_define *define, const struct subject *subject)
{
    struct rf_book_record *records = rf_book_shelf_get(shelf, path->n_records * sizeof *records);
    if (records == NULL)
        return RF_ENOMEM;
    path->records = records;
    for (uint32_t i = 0; i < define->n_events; i++)
        if (has(subject, &define->events[i]))
            *records++ = define->events[i].record;
    return RF_OK;
}

static struct rf_book_path *new_path(struct rf_book_shelf *shelf, const struct rf_define *define,
                                     const struct subject *subject)
{
    const struct rf_book_bench *bench = shelf->bench;
    size_t steps = bench->n_steps * sizeof *bench->steps;
    struct rf_book_path *path = rf_book_shelf_get(shelf, sizeof *path + steps);
    if (path == NULL)
        return NULL;
    *path = (struct rf_book_path){
        .words = subject->merged != NULL ? 1 : (uint32_t)define->path_words[subject->path],
        .most = (uint16_t)bench->most,
        .n_steps = (uint16_t)bench->n_steps};
    memcpy(path->steps, bench->steps, steps);
    for (uint32_t i = 0; i < define->n_events; i++)
        path->n_records += has(subject, &define->events[i]);
    return path;
}

/* The tuples that counters tell of one event for one selector: one, or none. */
static bool make_count(const struct rf_book_shelf *shelf, const struct rf_define *define,
                       const struct rf_define_event *event, uint32_t lane,
                       struct rf_book_count *count)
{
    if (!is_counted(&event->record, lane))
        return false;
    struct rf_book_record known = event->record; /* its words, if any, are not for this selector */
    known.addr = known.value = known.target = 0;
    const struct rf_record record = read_record(&known, &(const uint64_t){0});
    bool is_last = event->last + 1u == define->n_paths;
    bool is_guarded = event->guard != RF_BOOK_NO_COUNTER;
    *count = (struct rf_book_count){
        .plus = is_guarded ? event->guard : define->first + event->first,
        .minus = is_guarded || is_last ? RF_BOOK_NO_COUNTER : define->first + event->last + 1,
        .lane = lane,
        .site = RF_BOOK_NO_SITE,
    };
    return rf_selector_run(&shelf->selectors[lane], &record, 1, &count->tuple) == 1;
}

/* All tuples that the block's counters tell; `counts` NULL: how many they are. */
static uint32_t make_counts(const struct rf_book_shelf *shelf, const struct rf_define *define,
                            struct rf_book_count *counts)
{
    struct rf_book_count count;
    uint32_t n = 0;
    for (uint32_t lane = 0; define->is_counted && lane < shelf->n_selectors; lane++)
        for (uint32_t i = 0; i < define->n_events; i++)
            if (make_count(shelf, define, &define->events[i], lane, &count)) {
                if (counts != NULL)
                    counts[n] = count;
                n++;
            }
    for (uint32_t i = 0; i < define->n_events; i++)
        if (define->events[i].values != RF_BOOK_NO_COUNTER) {
            if (counts != NULL)
                counts[n] = (struct rf_book_count){.plus = define->events[i].values,
                                                   .minus = RF_BOOK_NO_COUNTER,
                                                   .site = define->events[i].site};
            n++;
        }
    return n;
}

static rf_status keep_counts(struct rf_book_shelf *shelf, const struct rf_define *define,
                             struct rf_book_path *path)
{
    uint32_t n = make_counts(shelf, define, NULL);
    if (n == 0)
        return RF_OK;
    struct rf_book_count *counts = rf_book_shelf_get(shelf, n * sizeof *counts);
    if (counts == NULL)
        return RF_ENOMEM;
    make_counts(shelf, define, counts);
    path->n_counts = n;
    path->counts = counts;
    return RF_OK;
}

static rf_status make_path(struct rf_book_shelf *shelf, const struct rf_define *define,
                           const struct subject *subject, const struct rf_book_path **made)
{
    rf_status status = make_pieces(shelf, define, subject);
    if (status != RF_OK)
        return status;
    struct rf_book_path *path = new_path(shelf, define, subject);
    if (path == NULL)
        return RF_ENOMEM;
    if (shelf->bench->has_others)
        status = keep_pieces(shelf, path);
    if (status == RF_OK && shelf->bench->needs_records)
        status = keep_records(shelf, path, define, subject);
    if (status == RF_OK && subject->merged == NULL && subject->path == 0)
        status = keep_counts(shelf, define, path);
    *made = path;
    return status;
}

/* The word of an entry is word 1 of the path that its event would be alone. */
static void take_step(const struct rf_book_step *step, struct rf_book_site *site)
{
    site->a = step->a;
    site->b = step->b;
    site->bits = step->bits;
    site->lane = step->lane;
}

/* Nearly all merged events make one tuple of one selector. */
static rf_status make_site(struct rf_book_shelf *shelf, const struct rf_define *define,
                           const struct rf_define_event *event, struct rf_book_site *site)
{
    const struct subject subject = {0, event};
    const struct rf_book_bench *bench = shelf->bench;
    *site = (struct rf_book_site){.is_derived = event->is_derived};
    rf_status status = make_pieces(shelf, define, &subject);
    if (status != RF_OK)
        return status;
    site->is_path = bench->n_steps != 1 || bench->has_others || bench->needs_records;
    if (!site->is_path)
        take_step(&bench->steps[0], site);
    if (!site->is_path && !site->is_derived)
        return RF_OK;
    struct rf_book_site_more *more = rf_book_shelf_get(shelf, sizeof *more);
    if (more == NULL)
        return RF_ENOMEM;
    *more = (struct rf_book_site_more){.derivation = event->derivation};
    site->more = more;
    return site->is_path ? make_path(shelf, define, &subject, &more->path) : RF_OK;
}

/* Hang a site on the one that its word follows from. */
static void hang(struct rf_book *book, const struct rf_define *define,
                 const struct rf_define_event *event, struct rf_book_site *site)
{
    if (!event->is_derived)
        return;
    struct rf_book_site *of = &book->sites[define->first_site + event->derivation.of];
    site->next = of->next;
    of->next = event->site;
}

static rf_status make_all(struct rf_book *book, const struct rf_define *define)
{
    rf_status status = RF_OK;
    for (uint32_t i = 0; i < define->n_paths && status == RF_OK; i++) {
        status =
            make_path(book->shelf, define, &(struct subject){i, NULL}, &book->paths[book->n_paths]);
        book->n_paths += status == RF_OK;
    }
    for (uint32_t i = 0; i < define->n_events && status == RF_OK; i++)
        if (define->events[i].is_merged) {
            struct rf_book_site *site = &book->sites[book->n_sites];
            status = make_site(book->shelf, define, &define->events[i], site);
            hang(book, define, &define->events[i], site);
            book->n_sites += status == RF_OK;
        }
    return status;
}

rf_status rf_book_define(struct rf_book *book, const uint64_t *words, size_t n,
                         struct rf_error *error)
{
    struct rf_define *define = &book->shelf->bench->define;
    define->bias = book->bias;
    define->n_guards = book->n_guards;
    define->first_site = (uint32_t)book->n_sites;
    if (!rf_define_read(define, words, n) || define->first != book->n_paths ||
        book->n_paths + define->n_paths > PATHS_MAX || book->n_sites + define->n_merged > SITES_MAX)
        return rf_fail(error, RF_EDAMAGED,
                       "a description of code in the stream of events makes no sense");
    if (make_room(book, book->n_paths + define->n_paths, book->n_sites + define->n_merged) != RF_OK)
        return rf_fail(error, RF_ENOMEM, "no memory for the description of the program");
    divide(book->shelf, define);
    book->n_guards = define->n_guards;
    rf_status status = make_all(book, define);
    return status == RF_OK ? RF_OK
                           : rf_fail(error, status, "no memory for the description of the program");
}

/* ---- running a path ---- */

static size_t expand_general(const struct rf_book_piece *piece, const uint64_t *words,
                             struct rf_tuple *out)
{
    const struct rf_book_item *item = piece->items;
    size_t n = 0;
    for (uint32_t i = 0; i < piece->n; i++, item++) {
        out[n].a = item->a + low_bits(words[item->word_a], item->bits_a);
        out[n].b = item->b + low_bits(words[item->word_b], item->bits_b);
        n += item->guard == 0 || words[item->guard] != 0;
    }
    return n;
}

/* But for those that some lanes count. */
static size_t read_records(const struct rf_book_path *path, const uint64_t *words, uint16_t thread,
                           struct rf_record *out, uint32_t counted)
{
    size_t n = 0;
    for (uint32_t i = 0; i < path->n_records; i++) {
        const struct rf_book_record *r = &path->records[i];
        if ((r->counted & counted) != 0)
            continue;
        out[n] = read_record(r, words);
        out[n].thread = thread;
        n += r->guard == 0 || words[r->guard] != 0;
    }
    return n;
}

size_t rf_book_records(const struct rf_book_path *path, const uint64_t *words, uint16_t thread,
                       struct rf_record *out)
{
    return read_records(path, words, thread, out, 0);
}

static size_t expand_selected(const struct rf_book *book, const struct rf_book_path *path, size_t i,
                              const uint64_t *words, uint16_t thread, struct rf_tuple *out)
{
    struct rf_record *records = book->shelf->bench->records;
    size_t n = read_records(path, words, thread, records, i < 32 ? 1u << i : 0);
    return rf_selector_run(&book->shelf->selectors[i], records, n, out);
}

void rf_book_expand_others(const struct rf_book *book, const struct rf_book_path *path,
                           const uint64_t *words, uint16_t thread, struct rf_tuple **next)
{
    for (size_t i = 0; i < book->shelf->n_selectors; i++) {
        const struct rf_book_piece *piece = &path->pieces[i];
        if (piece->form == RF_BOOK_GENERAL)
            next[i] += expand_general(piece, words, next[i]);
        else if (piece->form == RF_BOOK_SELECT)
            next[i] += expand_selected(book, path, i, words, thread, next[i]);
    }
}
