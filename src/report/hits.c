/* hits.c - what was counted in one function, by line or by instruction.
 *
 * Counts come from the exact totals per pc where the run has them. Otherwise they are sums of what the profile lists,
 * and everything that it does not list may have happened here. */
#include "report/annotate.h"
#include "base/alloc.h"
#include "base/order.h"
#include <riffle/text.h>
#include <stdlib.h>
#include <string.h>

static int by_key(const void *left, const void *right)
{
    const struct rf_hit *l = left, *r = right;
    return rf_order_two(l->key, r->key, l->word, r->word);
}

static bool add_hit(const struct rf_alloc *alloc, struct rf_hit **at, size_t *n, size_t *room,
                    const struct rf_hit *hit)
{
    if (*n == *room && !rf_list_double(alloc, (void **)at, room, sizeof *hit))
        return false;
    (*at)[(*n)++] = *hit;
    return true;
}

static bool is_of(const struct rf_symbol_range *range, const char *function, const char *parameters)
{
    return strcmp(function, range->function) == 0 && strcmp(parameters, range->parameters) == 0;
}

/* The frame of the copy that an instruction is in; NULL: it is in none, or in the function's own code. */
static const struct rf_frame *frame_of(const struct rf_place_name *name,
                                       const struct rf_symbol_range *copies)
{
    if (is_of(copies, name->function, name->parameters))
        return NULL;
    for (size_t i = 0; i < name->n_inlined; i++)
        if (is_of(copies, name->inlined[i].function, name->inlined[i].parameters))
            return &name->inlined[i];
    return NULL;
}

const struct rf_frame *rf_hits_frame(struct rf_symbols *symbols,
                                     const struct rf_symbol_range *copies, uint64_t pc)
{
    struct rf_place_name name;
    rf_symbols_lookup(symbols, pc, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &name);
    return frame_of(&name, copies);
}

bool rf_hits_are_of(struct rf_symbols *symbols, const struct rf_symbol_range *range, uint64_t pc)
{
    struct rf_place_name name;
    if (!range->is_inlined)
        return pc >= range->lo && pc < range->hi;
    rf_symbols_lookup(symbols, pc, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &name);
    return strcmp(name.path, range->path) == 0 && frame_of(&name, range) != NULL;
}

static rf_status find(const struct rf_alloc *alloc, const struct rf_profile *profile,
                      struct rf_symbols *symbols, const struct rf_symbol_range *range,
                      struct rf_hit **at, size_t *n, size_t *room)
{
    for (size_t i = 0; i < profile->n_items; i++) {
        const struct rf_item *item = &profile->items[i];
        const struct rf_hit hit = {0, item->a, item->b, item->count, item->lower, item->upper};
        if (rf_hits_are_of(symbols, range, item->a) && !add_hit(alloc, at, n, room, &hit))
            return RF_ENOMEM;
    }
    return RF_OK;
}

rf_status rf_hits_find(struct rf_hits *hits, const struct rf_run *run,
                       const struct rf_profile *profile, struct rf_symbols *symbols,
                       const struct rf_symbol_range *range)
{
    const struct rf_alloc *alloc = &run->alloc;
    *hits = (struct rf_hits){
        .run = run,
        .profile = profile,
        .totals = profile->bound != RF_BOUND_ESTIMATE ? rf_run_totals(run, profile) : NULL,
        .symbols = symbols};
    rf_view_words(&hits->words, profile);
    for (size_t i = 0; i < profile->n_items; i++)
        hits->lower += profile->items[i].lower;
    rf_status status = find(alloc, profile, symbols, range, &hits->at, &hits->n, &hits->room);
    if (status == RF_OK && hits->totals != NULL)
        status =
            find(alloc, hits->totals, symbols, range, &hits->sums, &hits->n_sums, &hits->sums_room);
    return status;
}

void rf_hits_free(struct rf_hits *hits)
{
    if (hits->run == NULL)
        return;
    rf_alloc_free(&hits->run->alloc, hits->at, hits->room * sizeof *hits->at);
    rf_alloc_free(&hits->run->alloc, hits->sums, hits->sums_room * sizeof *hits->sums);
    *hits = (struct rf_hits){.run = NULL};
}

uint64_t rf_hit_key(const struct rf_hit_keys *keys, uint64_t pc)
{
    struct rf_place_name name;
    rf_symbols_lookup(keys->symbols, pc, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &name);
    if (keys->file == NULL)
        return name.link;
    const struct rf_frame *frame = keys->inlined != NULL ? frame_of(&name, keys->inlined) : NULL;
    const char *file = frame != NULL ? frame->file : name.file;
    if (strcmp(file, keys->file) != 0)
        return 0;
    return frame != NULL ? frame->line : name.line;
}

static void set_keys(struct rf_hit *at, size_t n, const struct rf_hit_keys *keys)
{
    for (size_t i = 0; i < n; i++)
        at[i].key = rf_hit_key(keys, at[i].pc);
    if (n > 0)
        qsort(at, n, sizeof *at, by_key);
}

void rf_hits_set_keys(struct rf_hits *hits, const struct rf_hit_keys *keys)
{
    set_keys(hits->at, hits->n, keys);
    set_keys(hits->sums, hits->n_sums, keys);
}

static bool is_below(const void *list, size_t i, uint64_t key)
{
    return ((const struct rf_hit *)list)[i].key < key;
}

/* The first hit of a key; *n: how many follow it, itself included. */
static const struct rf_hit *of_key(const struct rf_hit *at, size_t all, uint64_t key, size_t *n)
{
    size_t lo = rf_search(at, all, key, is_below);
    for (*n = 0; lo + *n < all && at[lo + *n].key == key;)
        ++*n;
    return at + lo;
}

bool rf_hits_share(const struct rf_hits *hits, uint64_t key, struct rf_view_cell *cell)
{
    size_t n;
    bool exact = hits->totals != NULL;
    const struct rf_hit *first =
        exact ? of_key(hits->sums, hits->n_sums, key, &n) : of_key(hits->at, hits->n, key, &n);
    const uint64_t events = exact ? hits->totals->consumed : hits->profile->consumed;
    uint64_t count = 0, lower = 0, upper = 0;
    for (size_t i = 0; i < n; i++) {
        count += first[i].count;
        lower += first[i].lower;
        upper += first[i].upper;
    }
    *cell = (struct rf_view_cell){.text = "", .number = count};
    if (count == 0 || events == 0)
        return false;
    if (!exact && hits->profile->bound == RF_BOUND_HARD)
        upper = events - (hits->lower - lower);
    cell->share = (double)count / (double)events;
    bool open = !exact && hits->profile->bound != RF_BOUND_ESTIMATE;
    cell->low = open ? (double)lower / (double)events : cell->share;
    cell->high = open ? (double)upper / (double)events : cell->share;
    return true;
}

uint64_t rf_hits_count(const struct rf_hits *hits)
{
    uint64_t count = 0;
    bool exact = hits->totals != NULL;
    for (size_t i = 0; i < (exact ? hits->n_sums : hits->n); i++)
        count += exact ? hits->sums[i].count : hits->at[i].count;
    return count;
}

/* The heaviest word among n hits, which are in the order of words: of several instructions it is one. */
static struct rf_hit heaviest(const struct rf_hit *hits, size_t n, uint64_t *all)
{
    struct rf_hit best = {0}, sum = {0};
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || hits[i].word != hits[i - 1].word)
            sum = (struct rf_hit){.word = hits[i].word};
        sum.count += hits[i].count;
        *all += hits[i].count;
        if (sum.count > best.count)
            best = sum;
    }
    return best;
}

static void print_word(const struct rf_hits *hits, uint64_t word, char *text, size_t size)
{
    struct rf_place_name name = {.function = ""};
    if (hits->words.b.field == RF_FIELD_TAKEN) {
        snprintf(text, size, "%s", word != 0 ? "taken" : "not taken");
        return;
    }
    if (hits->words.b.meaning != RF_MEANS_NUMBER)
        rf_symbols_lookup(hits->symbols, word, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &name);
    if (name.function[0] != '\0')
        rf_text_readable(text, size, name.function);
    else if (word < 10)
        snprintf(text, size, "%u", (unsigned)word);
    else
        rf_view_print_word(text, size, &hits->words.b, word);
}

/* A context says nothing by itself: it is a hash of frames. */
bool rf_hits_have_top(const struct rf_hits *hits)
{
    return hits->words.b.name[0] != '\0' && hits->words.b.field != RF_FIELD_CONTEXT;
}

void rf_hits_print_top(const struct rf_hits *hits, uint64_t key, char *text, size_t size)
{
    size_t n;
    uint64_t all = 0;
    struct rf_view_cell events;
    const struct rf_hit *first = of_key(hits->at, hits->n, key, &n);
    const struct rf_hit best = heaviest(first, n, &all);
    text[0] = '\0';
    if (best.count == 0 || !rf_hits_have_top(hits))
        return;
    if (hits->totals != NULL && rf_hits_share(hits, key, &events))
        all = events.number;
    print_word(hits, best.word, text, size);
    size_t used = strlen(text);
    snprintf(text + used, size - used, " (%.1f%%)", 100 * (double)best.count / (double)all);
}
