/* annotate.c - a function's source with what was counted on each line.
 *
 *     profile     load -> pc,value
 *     function    hash in /src/hash.c, 1,240,000 of 10,000,000 events (12.40%)
 *
 *          count   share  hottest value       line  source
 *                                               11  unsigned hash(const char *s) {
 *      1,240,000  12.40%  0x0 98.2%             12      return table[*s];
 *
 * Every item whose pc lies in the function counts on its line; code that was inlined counts on the
 * line of the call. Lines of other files (a macro's, say) are added up below. Without source there is
 * the disassembly, without objdump the addresses.
 *
 * Cannot: profiles of ranges and those without a pc; a function that was inlined everywhere has no
 * addresses of its own and is not found. */
#include "report/annotate.h"
#include "base/alloc.h"
#include "base/error.h"
#include <fcntl.h>
#include <inttypes.h>
#include <riffle/text.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FUNCTIONS_MAX = 16, LINE_BYTES = 4096, HOTTEST_WIDTH = 26, HOTTEST_NAME_MAX = 18 };

struct page {
    FILE *out;
    const struct rf_run *run;
    struct rf_symbols *symbols;
    const struct rf_alloc *alloc;
    const struct rf_report_setup *setup;
};

/* ---- hits ---- */

static int by_key(const void *left, const void *right)
{
    const struct rf_hit *l = left, *r = right;
    if (l->key != r->key)
        return l->key < r->key ? -1 : 1;
    return (l->word > r->word) - (l->word < r->word);
}

static bool add_hit(struct rf_hits *hits, const struct rf_alloc *alloc, struct rf_hit hit)
{
    if (hits->n == hits->room) {
        size_t room = hits->room == 0 ? 64 : 2 * hits->room;
        void *at = hits->at;
        if (!rf_alloc_array(alloc, &at, hits->room, room, sizeof hit))
            return false;
        hits->at = at;
        hits->room = room;
    }
    hits->at[hits->n++] = hit;
    hits->total += hit.count;
    return true;
}

/* Sort, and add up hits with the same key and word. */
static void fold_hits(struct rf_hits *hits)
{
    size_t n = 0;
    if (hits->n > 0)
        qsort(hits->at, hits->n, sizeof *hits->at, by_key);
    for (size_t i = 0; i < hits->n; i++) {
        if (n > 0 && by_key(&hits->at[n - 1], &hits->at[i]) == 0)
            hits->at[n - 1].count += hits->at[i].count;
        else
            hits->at[n++] = hits->at[i];
    }
    hits->n = n;
}

static bool has_pc(const struct rf_profile *profile)
{
    struct rf_columns columns;
    rf_report_table_columns(&columns, profile);
    return profile->shape == RF_SHAPE_TUPLE && columns.by_pc;
}

/* The key of a pc: its line in `file`, 0 elsewhere; or its link address where `file` is NULL. */
static uint64_t key_of(const struct page *page, uint64_t pc, const char *file)
{
    struct rf_place_name name;
    rf_symbols_lookup(page->symbols, pc, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &name);
    if (file == NULL)
        return name.link;
    return strcmp(name.file, file) == 0 ? name.line : 0;
}

static bool is_in(const struct rf_symbol_range *range, const struct rf_item *item)
{
    return item->a >= range->lo && item->a < range->hi;
}

/* Read the symbols of a profile's items in the range, in one go. */
static rf_status prepare_items(const struct page *page, const struct rf_profile *profile,
                               const struct rf_symbol_range *range)
{
    size_t n = 0;
    for (size_t i = 0; i < profile->n_items; i++)
        n += is_in(range, &profile->items[i]);
    if (n == 0)
        return RF_OK;
    uint64_t *addresses = rf_alloc_get(page->alloc, n * sizeof *addresses);
    if (addresses == NULL)
        return RF_ENOMEM;
    n = 0;
    for (size_t i = 0; i < profile->n_items; i++)
        if (is_in(range, &profile->items[i]))
            addresses[n++] = profile->items[i].a;
    rf_status status = rf_symbols_prepare(page->symbols, addresses, n);
    rf_alloc_free(page->alloc, addresses, n * sizeof *addresses);
    return status;
}

static rf_status find_hits(struct rf_hits *hits, const struct page *page,
                           const struct rf_profile *profile, const struct rf_symbol_range *range,
                           const char *file)
{
    *hits = (struct rf_hits){.profile = profile, .on_terminal = page->setup->width > 0};
    rf_places_open(&hits->places, profile, page->setup);
    rf_status status = prepare_items(page, profile, range);
    for (size_t i = 0; i < profile->n_items && status == RF_OK; i++) {
        const struct rf_item *item = &profile->items[i];
        if (!is_in(range, item))
            continue;
        const struct rf_hit hit = {key_of(page, item->a, file), item->b, item->count};
        if (!add_hit(hits, page->alloc, hit))
            status = RF_ENOMEM;
    }
    fold_hits(hits);
    return status;
}

/* ---- one line ---- */

void rf_annotate_text(FILE *out, const char *text)
{
    size_t column = 0, left = strcspn(text, "\n");
    while (left > 0) {
        char piece[RF_TEXT_PIECE];
        size_t n = rf_text_piece(piece, text, left);
        if (*text == '\t')
            snprintf(piece, sizeof piece, "%*s", (int)(8 - column % 8), "");
        fputs(piece, out);
        column += rf_text_width(piece);
        text += n;
        left -= n;
    }
    fputc('\n', out);
}

static void group(char text[32], uint64_t n)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, n), at = 0;
    for (int i = 0; i < length; i++) {
        text[at++] = digits[i];
        if ((length - i) % 3 == 1 && i + 1 < length)
            text[at++] = ',';
    }
    text[at] = '\0';
}

void rf_hits_write_head(FILE *out, const struct rf_hits *hits, const char *key,
                        const char *text_heading)
{
    char hottest[40] = "";
    if (hits->places.columns.b.name[0] != '\0')
        snprintf(hottest, sizeof hottest, "hottest %s", hits->places.columns.b.name);
    fprintf(out, "%14s  %6s  %-*s  %8s  %s\n", "count", "share", HOTTEST_WIDTH, hottest, key,
            text_heading);
}

/* "0x2a 98.2%", or for a word that is a place "hash 100.0%". */
static void print_hottest(char *text, size_t size, const struct rf_hits *hits,
                          const struct rf_hit *hottest, uint64_t total)
{
    char word[RF_REPORT_WORD_MAX];
    struct rf_place_name name = {.function = ""};
    if (hits->places.b != RF_MEANS_NUMBER)
        rf_symbols_lookup(hits->places.symbols, hottest->word, RF_SYMBOLS_ANY_PROCESS,
                          RF_SYMBOLS_ANY_TIME, &name);
    if (name.function[0] != '\0')
        rf_text_readable(word, sizeof word, name.function);
    else
        rf_report_word(word, sizeof word, hits->places.columns.b.name, hottest->word);
    if (hits->on_terminal)
        rf_report_cut(word, HOTTEST_NAME_MAX);
    snprintf(text, size, "%s %.1f%%", word, 100 * (double)hottest->count / (double)total);
}

void rf_hits_write(FILE *out, const struct rf_hits *hits, uint64_t key)
{
    const struct rf_hit *hottest = NULL;
    uint64_t total = 0;
    char count[32], text[RF_REPORT_WORD_MAX + 20] = "";
    for (size_t i = 0; i < hits->n; i++) {
        if (hits->at[i].key != key)
            continue;
        total += hits->at[i].count;
        if (hottest == NULL || hits->at[i].count > hottest->count)
            hottest = &hits->at[i];
    }
    if (total == 0) {
        fprintf(out, "%14s  %6s  %-*s", "", "", HOTTEST_WIDTH, "");
        return;
    }
    if (hits->places.columns.b.name[0] != '\0')
        print_hottest(text, sizeof text, hits, hottest, total);
    group(count, total);
    fprintf(out, "%14s  %5.2f%%  %-*s", count,
            100 * (double)total / (double)hits->profile->consumed, HOTTEST_WIDTH, text);
}

/* ---- source ---- */

/* A function in its source: the lines that its code comes from. */
struct source {
    const char *file; /* NULL: not known */
    uint32_t first, last;
};

static void widen(struct source *source, const char *file, uint32_t line)
{
    if (line == 0 || (source->file != NULL && strcmp(source->file, file) != 0))
        return;
    source->first = source->file == NULL || line < source->first ? line : source->first;
    source->last = line > source->last ? line : source->last;
    source->file = file;
}

/* Lines of the function itself: inlined code counts at its call. At the entry the lines are taken as they
 * are, because the first of them has the function's name. */
static void widen_to_all(const struct page *page, const struct rf_symbol_line *lines, size_t n,
                         uint64_t entry, struct source *source)
{
    for (size_t i = 0; i < n; i++) {
        struct rf_place_name name;
        rf_symbols_lookup(page->symbols, lines[i].address, RF_SYMBOLS_ANY_PROCESS,
                          RF_SYMBOLS_ANY_TIME, &name);
        widen(source, name.file, name.line);
        if (lines[i].address == entry && lines[i].line < name.line)
            widen(source, lines[i].file, lines[i].line);
    }
}

static rf_status find_source(const struct page *page, const struct rf_symbol_range *range,
                             struct source *source)
{
    const struct rf_symbol_line *lines;
    size_t n;
    *source = (struct source){.file = NULL};
    rf_status status = rf_symbols_lines(page->symbols, range->lo, range->hi, &lines, &n);
    if (status != RF_OK || n == 0)
        return status;
    uint64_t *addresses = rf_alloc_get(page->alloc, n * sizeof *addresses);
    if (addresses == NULL)
        return RF_ENOMEM;
    for (size_t i = 0; i < n; i++)
        addresses[i] = lines[i].address;
    status = rf_symbols_prepare(page->symbols, addresses, n);
    rf_alloc_free(page->alloc, addresses, n * sizeof *addresses);
    if (status == RF_OK)
        widen_to_all(page, lines, n, range->lo, source);
    return status;
}

/* A profile may name anything as its source: open it without blocking, and only if it is a plain file. */
static FILE *open_source(const char *path)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return NULL;
    FILE *file = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) ? fdopen(fd, "r") : NULL;
    if (file == NULL)
        close(fd);
    return file;
}

static void write_source(const struct page *page, const struct rf_hits *hits,
                         const struct source *source, FILE *file)
{
    char text[LINE_BYTES];
    rf_hits_write_head(page->out, hits, "line", "source");
    bool begins = true; /* a line that is longer than the buffer is one line */
    uint32_t line = 0;
    while (line <= source->last && fgets(text, sizeof text, file) != NULL) {
        line += begins;
        if (begins && line >= source->first && line <= source->last) {
            rf_hits_write(page->out, hits, line);
            fprintf(page->out, "  %8" PRIu32 "  ", line);
            rf_annotate_text(page->out, text);
        }
        begins = strchr(text, '\n') != NULL;
    }
    if (hits->n > 0 && hits->at[0].key == 0) {
        rf_hits_write(page->out, hits, 0);
        fprintf(page->out, "  %8s  (lines of other files)\n", "");
    }
}

/* ---- a function ---- */

static void write_addresses(const struct page *page, const struct rf_hits *hits)
{
    rf_hits_write_head(page->out, hits, "address", "");
    for (size_t i = 0; i < hits->n; i++) {
        if (i > 0 && hits->at[i].key == hits->at[i - 1].key)
            continue;
        rf_hits_write(page->out, hits, hits->at[i].key);
        fprintf(page->out, "  %8" PRIx64 "\n", hits->at[i].key);
    }
}

static void write_head(const struct page *page, const struct rf_hits *hits,
                       const struct rf_symbol_range *range, const char *where)
{
    char count[32], all[32];
    group(count, hits->total);
    group(all, hits->profile->consumed);
    fprintf(page->out, "%-12s", "profile");
    rf_annotate_text(page->out, hits->profile->selector);
    fprintf(page->out, "%-12s", "function");
    rf_write_readable(page->out, range->function);
    fputs(" in ", page->out);
    rf_write_readable(page->out, where);
    fprintf(page->out, ", %s of %s events (%.2f%%)\n\n", count, all,
            hits->profile->consumed > 0
                ? 100 * (double)hits->total / (double)hits->profile->consumed
                : 0);
}

static rf_status write_profile(const struct page *page, const struct rf_profile *profile,
                               const struct rf_symbol_range *range, const struct source *source)
{
    struct rf_hits hits;
    FILE *file = source->file != NULL ? open_source(source->file) : NULL;
    rf_status status = find_hits(&hits, page, profile, range, file != NULL ? source->file : NULL);
    if (status == RF_OK) {
        write_head(page, &hits, range, file != NULL ? source->file : range->path);
        if (file != NULL)
            write_source(page, &hits, source, file);
        else if ((status = rf_disassembly_write(page->out, &hits, range)) == RF_ENOTSUP) {
            write_addresses(page, &hits);
            status = RF_OK;
        }
    }
    if (file != NULL)
        fclose(file);
    rf_alloc_free(page->alloc, hits.at, hits.room * sizeof *hits.at);
    return status;
}

static rf_status write_function(const struct page *page, const struct rf_symbol_range *range,
                                size_t *written)
{
    struct source source;
    rf_status status = find_source(page, range, &source);
    for (size_t i = 0; i < page->run->n_profiles && status == RF_OK; i++) {
        if (!has_pc(page->run->profiles[i]))
            continue;
        if ((*written)++ > 0)
            fputc('\n', page->out);
        status = write_profile(page, page->run->profiles[i], range, &source);
    }
    return status;
}

static rf_status no_function(const struct page *page, const char *function, struct rf_error *error)
{
    const char *nearest = rf_symbols_nearest(page->symbols, function);
    const char *problem = rf_symbols_problem(page->symbols, 0);
    if (page->run->n_modules == 0)
        return rf_fail(error, RF_EINVAL,
                       "function '%s': this run names no modules to look for it in", function);
    if (nearest != NULL)
        return rf_fail(error, RF_EINVAL, "no function '%s' ran; did you mean '%s'?", function,
                       nearest);
    return rf_fail(error, RF_EINVAL, "no function '%s' in the modules of this run%s%s", function,
                   problem != NULL ? "; " : "", problem != NULL ? problem : "");
}

/* ---- which functions ---- */

struct candidate {
    struct rf_symbol_range range;
    uint64_t count; /* of all profiles by pc */
};

struct candidates {
    struct candidate *at;
    size_t n, room;
};

static int by_place(const void *left, const void *right)
{
    const struct candidate *l = left, *r = right;
    return (l->range.lo > r->range.lo) - (l->range.lo < r->range.lo);
}

static int by_count(const void *left, const void *right)
{
    const struct candidate *l = left, *r = right;
    if (l->count != r->count)
        return l->count < r->count ? 1 : -1;
    return by_place(left, right);
}

/* Sorted by address. A function that several processes have at one address is listed once. */
static void settle(struct candidates *found)
{
    size_t n = 0;
    if (found->n > 0)
        qsort(found->at, found->n, sizeof *found->at, by_place);
    for (size_t i = 0; i < found->n; i++)
        if (n == 0 || by_place(&found->at[n - 1], &found->at[i]) != 0)
            found->at[n++] = found->at[i];
    found->n = n;
}

static struct candidate *candidate_at(const struct candidates *found, uint64_t pc)
{
    size_t lo = 0, hi = found->n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (found->at[middle].range.lo <= pc)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo > 0 && pc < found->at[lo - 1].range.hi ? &found->at[lo - 1] : NULL;
}

static void count_candidates(const struct page *page, struct candidates *found)
{
    for (size_t i = 0; i < page->run->n_profiles; i++) {
        const struct rf_profile *profile = page->run->profiles[i];
        for (size_t k = 0; has_pc(profile) && k < profile->n_items; k++) {
            struct candidate *candidate = candidate_at(found, profile->items[k].a);
            if (candidate != NULL)
                candidate->count += profile->items[k].count;
        }
    }
}

/* The functions that the name means, the one with the most counts first. */
static rf_status find_candidates(const struct page *page, const char *function,
                                 struct candidates *found)
{
    *found = (struct candidates){.at = NULL};
    rf_status status = rf_symbols_find(page->symbols, function, NULL, 0, &found->room);
    if (status != RF_OK || found->room == 0)
        return status;
    size_t size = found->room * sizeof(struct rf_symbol_range);
    struct rf_symbol_range *ranges = rf_alloc_get(page->alloc, size);
    found->at = rf_alloc_get(page->alloc, found->room * sizeof *found->at);
    if (ranges == NULL || found->at == NULL)
        status = RF_ENOMEM;
    else
        status = rf_symbols_find(page->symbols, function, ranges, found->room, &found->n);
    for (size_t i = 0; status == RF_OK && i < found->n; i++)
        found->at[i] = (struct candidate){ranges[i], 0};
    rf_alloc_free(page->alloc, ranges, size);
    if (status != RF_OK)
        return status;
    settle(found);
    count_candidates(page, found);
    qsort(found->at, found->n, sizeof *found->at, by_count);
    return RF_OK;
}

/* Those with counts, or the first where none has any. */
static rf_status write_candidates(const struct page *page, const struct candidates *found,
                                  size_t *written)
{
    rf_status status = RF_OK;
    size_t shown = 0;
    for (; status == RF_OK && shown < found->n && shown < FUNCTIONS_MAX; shown++) {
        if (shown > 0 && found->at[shown].count == 0)
            return RF_OK;
        status = write_function(page, &found->at[shown].range, written);
    }
    size_t left = 0;
    while (shown + left < found->n && found->at[shown + left].count > 0)
        left++;
    if (status == RF_OK && left > 0)
        fprintf(page->out, "\n%zu more functions fit the name and have fewer events\n", left);
    return status;
}

rf_status rf_report_annotate(FILE *out, const struct rf_run *run,
                             const struct rf_report_setup *setup, const char *function,
                             struct rf_error *error)
{
    const struct page page = {out, run, setup->symbols, &run->alloc, setup};
    struct candidates found;
    size_t written = 0;
    if (setup->symbols == NULL)
        return rf_fail(error, RF_EINVAL,
                       "a function can be annotated only by name, and this profile has no names");
    rf_status status = find_candidates(&page, function, &found);
    bool none = status == RF_OK && found.n == 0;
    if (status == RF_OK)
        status = write_candidates(&page, &found, &written);
    rf_alloc_free(page.alloc, found.at, found.room * sizeof *found.at);
    if (none)
        return no_function(&page, function, error);
    if (status == RF_OK && written == 0)
        return rf_fail(error, RF_EINVAL,
                       "no profile of this run is by pc, so there are no counts per line");
    rf_status end = rf_report_end(out);
    return status != RF_OK ? rf_fail(error, status, "%s", rf_status_text(status)) : end;
}
