/* define.c - reading a DEFINE message: probe_words.h has the format. */
#include "source/define.h"
#include <string.h>

static unsigned how(uint64_t shape, unsigned shift)
{
    return (unsigned)(shape >> shift & 3);
}

struct reading {
    const uint64_t *at, *end;
    uint32_t dynamic; /* words of the path seen so far, the path number included */
    uint32_t merged;  /* words of the event */
};

/* For a dynamic member, the index of the next word; for a constant one, the number itself. */
static bool read_field(struct reading *reading, unsigned kind, uint64_t *constant, uint16_t *word)
{
    if (kind == RF_HOW_DYNAMIC) {
        *word = (uint16_t)reading->dynamic++;
        return reading->dynamic <= RF_WORD_DYNAMIC_MAX + 1;
    }
    if (kind == RF_HOW_MERGED) {
        *word = 1;
        return ++reading->merged == 1;
    }
    if (kind == RF_HOW_ABSENT)
        return true;
    if (kind != RF_HOW_CONSTANT || reading->at == reading->end)
        return false;
    *constant = *reading->at++;
    return true;
}

static bool read_part(struct reading *reading, uint64_t *part)
{
    if (reading->at == reading->end)
        return false;
    *part = *reading->at++;
    return true;
}

/* How the word of a derived event follows from another one's, which was described before. */
static bool read_derivation(struct reading *reading, struct rf_define *define,
                            struct rf_define_event *event)
{
    uint64_t head;
    event->is_derived = true;
    event->derivation = (struct rf_derivation)RF_DERIVATION_NONE;
    if (!event->is_merged || !read_part(reading, &head) ||
        head >> (RF_DERIVE_PARTS_SHIFT + RF_DERIVE_PARTS) != 0)
        return false;
    event->derivation.of = (uint16_t)head;
    event->derivation.shift = (uint8_t)(head >> RF_DERIVE_SHIFT_SHIFT);
    for (unsigned i = 0; i < RF_DERIVE_PARTS; i++)
        if ((head >> (RF_DERIVE_PARTS_SHIFT + i) & 1) != 0 &&
            !read_part(reading, &event->derivation.part[i]))
            return false;
    if (event->derivation.of >= define->n_merged || event->derivation.shift > 63)
        return false;
    struct rf_define_event *of = &define->events[define->merged[event->derivation.of]];
    return !of->is_derived && of->first == event->first && of->n_derived++ < RF_DERIVED_MAX;
}

static bool read_event(struct reading *reading, struct rf_define *define,
                       struct rf_define_event *event)
{
    if (reading->end - reading->at < 2)
        return false;
    uint64_t shape = *reading->at++;
    uint32_t dynamic = reading->dynamic;
    struct rf_book_record *record = &event->record;
    memset(event, 0, sizeof *event);
    record->base.pc = *reading->at++;
    record->base.kind = (uint8_t)shape;
    record->base.flags = (uint8_t)(shape >> 8 & RF_SHAPE_FLAGS);
    record->base.width = (uint16_t)(shape >> 16);
    record->only = (uint8_t)(shape >> RF_SHAPE_FOR_SHIFT);
    event->first = (uint8_t)(shape >> RF_SHAPE_FIRST_SHIFT);
    event->last = (uint8_t)(shape >> RF_SHAPE_LAST_SHIFT);
    if (event->last == RF_WORD_PATHS_MAX)
        event->last = (uint8_t)(define->n_paths - 1);
    unsigned guard = (shape & RF_SHAPE_GUARD) != 0 ? RF_HOW_DYNAMIC : RF_HOW_ABSENT;
    event->guard = RF_BOOK_NO_COUNTER;
    if ((shape & RF_SHAPE_GUARD_COUNTS) != 0 && define->is_counted)
        event->guard = define->n_guards++;
    event->values = RF_BOOK_NO_COUNTER;
    if ((shape & RF_SHAPE_VALUES) != 0 && define->is_counted) {
        event->values = define->n_guards;
        define->n_guards += RF_WORD_VALUES;
    }
    reading->merged = 0;
    bool is_read =
        record->base.kind < RF_CLASS_COUNT && event->first <= event->last &&
        event->last < define->n_paths && read_field(reading, guard, NULL, &record->guard) &&
        read_field(reading, how(shape, RF_SHAPE_ADDR_SHIFT), &record->base.addr, &record->addr) &&
        read_field(reading, how(shape, RF_SHAPE_VALUE_SHIFT), &record->base.value,
                   &record->value) &&
        read_field(reading, how(shape, RF_SHAPE_TARGET_SHIFT), &record->base.target,
                   &record->target);
    event->is_merged = reading->merged == 1;
    event->site = define->first_site + define->n_merged;
    if (is_read && (shape & RF_SHAPE_DERIVED) != 0)
        is_read = read_derivation(reading, define, event);
    define->merged[define->n_merged] = (uint16_t)(event - define->events);
    define->n_merged += event->is_merged;
    bool may_merge = define->is_counted && reading->dynamic == dynamic;
    return is_read && (event->is_merged ? may_merge : event->values == RF_BOOK_NO_COUNTER);
}

/* No event of a path may read past the path's words. */
static bool words_suffice(const struct rf_define *define, const struct rf_define_event *event)
{
    const struct rf_book_record *r = &event->record;
    if (event->is_merged)
        return true;
    uint16_t most = r->addr > r->guard ? r->addr : r->guard;
    most = r->value > most ? r->value : most;
    most = r->target > most ? r->target : most;
    for (uint32_t p = event->first; p <= event->last; p++)
        if (most > define->path_words[p])
            return false;
    return true;
}

static bool has_target(unsigned kind)
{
    return kind == RF_CLASS_BRANCH || kind == RF_CLASS_JUMP || kind == RF_CLASS_CALL ||
           kind == RF_CLASS_RETURN;
}

/* Paths count from one end of the counters, guards from the other. */
static bool counters_suffice(struct rf_define *define)
{
    if (!define->is_counted)
        return true;
    if ((uint64_t)define->first + define->n_paths + define->n_guards > RF_RING_COUNTERS)
        return false;
    for (uint32_t i = 0; i < define->n_events; i++) {
        struct rf_define_event *event = &define->events[i];
        if (event->guard != RF_BOOK_NO_COUNTER)
            event->guard = rf_word_guard_counter(event->guard);
        if (event->values != RF_BOOK_NO_COUNTER)
            event->values = rf_word_value_counters(event->values);
    }
    return true;
}

static bool read_head(struct rf_define *define, const uint64_t *words, size_t n)
{
    if (n < 3)
        return false;
    define->first = (uint32_t)words[1];
    define->n_paths = (uint32_t)(words[1] >> 32);
    define->n_events = (uint32_t)words[2];
    define->is_counted = (words[2] & RF_DEFINE_COUNTED) != 0;
    if (define->n_paths == 0 || define->n_paths > RF_WORD_PATHS_MAX ||
        (words[2] & ~RF_DEFINE_COUNTED) > RF_WORD_EVENTS_MAX || n < 3 + (size_t)define->n_paths)
        return false;
    define->path_words = words + 3;
    for (uint32_t i = 0; i < define->n_paths; i++)
        if (define->path_words[i] > RF_WORD_DYNAMIC_MAX)
            return false;
    return true;
}

bool rf_define_read(struct rf_define *define, const uint64_t *words, size_t n)
{
    if (!read_head(define, words, n))
        return false;
    struct reading reading = {words + 3 + define->n_paths, words + n, 1, 0};
    define->n_merged = 0;
    for (uint32_t i = 0; i < define->n_events; i++) {
        struct rf_record *base = &define->events[i].record.base;
        if (!read_event(&reading, define, &define->events[i]) ||
            !words_suffice(define, &define->events[i]))
            return false;
        base->pc += define->bias;
        base->target += has_target(base->kind) ? define->bias : 0;
    }
    return reading.at == reading.end && counters_suffice(define);
}
