/* sheet.c - a function's source with what was counted on each line, all profiles side by side.
 *
 *     spread in /src/rank.c: 99.8% of 130.2 M instructions, 99.9% of 43.3 M loads
 *
 *     instructions     loads  top value       line  source
 *                                               42      double sum = 0;
 *            24.9%                              43      for (unsigned from = 0; from < PAGES; from++)
 *            74.9%    100.0%  0 (49.4%)         44          sum += share[to][from] * rank[from];
 *
 * Every item whose pc lies in the function counts on its line; code that was inlined counts on the
 * line of the call. Copies of a function that were inlined are shown by themselves, with the counts of all
 * of them. Lines of other files (a macro's, say) are added up below. With assembly, the instructions of a line
 * follow it, each with its own numbers. Without source there is the disassembly, without objdump the addresses.
 *
 * Cannot: profiles of ranges and those without a pc; the instructions of inlined copies, which lie among those of
 * others. */
#include "report/annotate.h"
#include "view/view.h"
#include "base/alloc.h"
#include "base/order.h"
#include <inttypes.h>
#include <riffle/text.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 4096, TOP_WIDTH = 26, TEXT_MIN = 12, WIDE = 120 };

/* ---- one line ---- */

static int width_of(const struct rf_hits *hits)
{
    int width = (int)strlen(rf_view_noun(hits->profile, 2));
    bool ranges = hits->totals == NULL && hits->profile->bound != RF_BOUND_EXACT;
    int least = ranges ? 12 : 7;
    return width > least ? width : least;
}

/* What stands before the text of a line. */
static int width_before(const struct rf_sheet *sheet)
{
    int width = 10;
    for (size_t i = 0; i < sheet->n; i++)
        width += width_of(&sheet->hits[i]) + 2;
    return sheet->top < sheet->n ? width + sheet->top_width + 2 : width;
}

/* As wide as the widest of its cells, and not too wide. */
static void measure_top(struct rf_sheet *sheet)
{
    char text[RF_REPORT_TEXT_MAX];
    if (sheet->top == sheet->n)
        return;
    const struct rf_hits *hits = &sheet->hits[sheet->top];
    sheet->top_width = snprintf(NULL, 0, "top %s", hits->words.b.name);
    for (size_t i = 0; i < hits->n; i++) {
        rf_hits_print_top(hits, hits->at[i].key, text, sizeof text);
        int width = (int)rf_text_width(text);
        sheet->top_width = width > sheet->top_width ? width : sheet->top_width;
    }
    if (sheet->page->setup->width > 0 && sheet->top_width > TOP_WIDTH)
        sheet->top_width = TOP_WIDTH;
}

/* A line of foreign text: tabs become spaces, the rest is made safe for a terminal, and cut to its width. */
static void write_text(const struct rf_sheet *sheet, const char *text)
{
    char readable[2 * LINE_BYTES];
    size_t column = 0, used = 0, left = strcspn(text, "\n");
    while (left > 0 && used + RF_TEXT_PIECE < sizeof readable) {
        char piece[RF_TEXT_PIECE];
        size_t n = rf_text_piece(piece, text, left);
        if (*text == '\t')
            snprintf(piece, sizeof piece, "%*s", (int)(8 - column % 8), "");
        used += (size_t)snprintf(readable + used, sizeof readable - used, "%s", piece);
        column += rf_text_width(piece);
        text += n;
        left -= n;
    }
    readable[used] = '\0';
    int width = sheet->page->setup->width - width_before(sheet);
    if (sheet->page->setup->width > 0)
        rf_report_cut(readable, width > TEXT_MIN ? (size_t)width : TEXT_MIN);
    fprintf(sheet->page->out, "%s\n", readable);
}

static void write_heading(const struct rf_sheet *sheet, const char *key, const char *text)
{
    FILE *out = sheet->page->out;
    char top[40];
    for (size_t i = 0; i < sheet->n; i++) {
        fprintf(out, "%*s  ", width_of(&sheet->hits[i]), rf_view_noun(sheet->hits[i].profile, 2));
        snprintf(top, sizeof top, "top %s", sheet->hits[i].words.b.name);
        if (i == sheet->top)
            fprintf(out, "%-*s  ", sheet->top_width, top);
    }
    fprintf(out, "%8s  %s\n", key, text);
}

/* Shares and the most frequent word at a key. */
static void write_counts(const struct rf_sheet *sheet, uint64_t key)
{
    FILE *out = sheet->page->out;
    for (size_t i = 0; i < sheet->n; i++) {
        const struct rf_hits *hits = &sheet->hits[i];
        char text[64] = "", top[RF_REPORT_TEXT_MAX] = "";
        struct rf_view_cell cell;
        if (rf_hits_share(hits, key, &cell))
            rf_report_share(text, sizeof text, &cell,
                            hits->totals != NULL ? RF_BOUND_EXACT : hits->profile->bound);
        fprintf(out, "%*s  ", width_of(hits), text);
        if (i != sheet->top)
            continue;
        rf_hits_print_top(hits, key, top, sizeof top);
        if (sheet->page->setup->width > 0)
            rf_report_cut(top, TOP_WIDTH);
        fprintf(out, "%-*s  ", sheet->top_width, top);
    }
}

/* ---- source ---- */

static void widen(struct rf_sheet_source *source, const char *file, uint32_t line)
{
    if (line == 0 || (source->file != NULL && strcmp(source->file, file) != 0))
        return;
    source->first = source->file == NULL || line < source->first ? line : source->first;
    source->last = line > source->last ? line : source->last;
    source->file = file;
}

/* Lines of the function itself: inlined code counts at its call. At the entry the lines are taken as they
 * are, because the first of them has the function's name. */
static void widen_to_all(const struct rf_annotate_page *page, const struct rf_symbol_line *lines,
                         size_t n, uint64_t entry, struct rf_sheet_source *source)
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

static rf_status find_source(const struct rf_annotate_page *page,
                             const struct rf_symbol_range *range, struct rf_sheet_source *source)
{
    const struct rf_symbol_line *lines;
    size_t n;
    *source = (struct rf_sheet_source){.file = NULL};
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

/* Of inlined copies: the lines that were counted, from its first line on. */
static void find_inlined_source(struct rf_sheet *sheet)
{
    struct rf_symbols *symbols = sheet->page->symbols;
    for (size_t i = 0; i < sheet->n; i++)
        for (size_t k = 0; k < sheet->hits[i].n; k++) {
            const struct rf_frame *frame =
                rf_hits_frame(symbols, sheet->range, sheet->hits[i].at[k].pc);
            if (frame == NULL)
                continue;
            widen(&sheet->source, frame->file, frame->line);
            widen(&sheet->source, frame->file, frame->start);
        }
}

static uint64_t address_of(const struct rf_sheet *sheet, const struct rf_instruction *instruction)
{
    return sheet->range->lo + (instruction->link - sheet->range->link);
}

static struct rf_hit_keys keys_of(const struct rf_sheet *sheet, const char *file)
{
    const struct rf_symbol_range *range = sheet->range;
    return (struct rf_hit_keys){sheet->page->symbols, file, range->is_inlined ? range : NULL};
}

void rf_sheet_set_keys(struct rf_sheet *sheet, const char *file)
{
    const struct rf_hit_keys keys = keys_of(sheet, file);
    for (size_t i = 0; i < sheet->n; i++)
        rf_hits_set_keys(&sheet->hits[i], &keys);
}

static void write_instruction(const struct rf_sheet *sheet,
                              const struct rf_instruction *instruction)
{
    write_counts(sheet, instruction->link);
    fprintf(sheet->page->out, "%8" PRIx64 "  ", instruction->link);
    write_text(sheet, instruction->text);
}

/* The instructions of a line; hits are keyed by address meanwhile. */
static void write_line_code(struct rf_sheet *sheet, const struct rf_sheet_source *source,
                            uint32_t line)
{
    const struct rf_hit_keys keys = keys_of(sheet, source->file);
    rf_sheet_set_keys(sheet, NULL);
    for (size_t i = 0; i < sheet->code.n; i++)
        if (rf_hit_key(&keys, address_of(sheet, &sheet->code.at[i])) == line)
            write_instruction(sheet, &sheet->code.at[i]);
    rf_sheet_set_keys(sheet, source->file);
}

static bool has_other_files(const struct rf_sheet *sheet)
{
    struct rf_view_cell cell;
    for (size_t i = 0; i < sheet->n; i++)
        if (rf_hits_share(&sheet->hits[i], 0, &cell))
            return true;
    return false;
}

static void write_line(struct rf_sheet *sheet, const struct rf_sheet_source *source, uint32_t line,
                       const char *text)
{
    write_counts(sheet, line);
    fprintf(sheet->page->out, "%8" PRIu32 "  ", line);
    write_text(sheet, text);
    if (sheet->code.n > 0)
        write_line_code(sheet, source, line);
}

static void write_source(struct rf_sheet *sheet, const struct rf_sheet_source *source, FILE *file)
{
    char text[LINE_BYTES];
    bool begins = true; /* a line that is longer than the buffer is one line */
    uint32_t line = 0;
    rf_sheet_set_keys(sheet, source->file);
    measure_top(sheet);
    write_heading(sheet, "line", "source");
    while (line <= source->last && fgets(text, sizeof text, file) != NULL) {
        line += begins;
        if (begins && line >= source->first && line <= source->last)
            write_line(sheet, source, line, text);
        begins = strchr(text, '\n') != NULL;
    }
    if (has_other_files(sheet)) {
        write_counts(sheet, 0);
        fprintf(sheet->page->out, "%8s  (lines of other files)\n", "");
    }
}

/* ---- a function ---- */

/* A number of every hit, and room for more. */
struct numbers {
    uint64_t *at;
    size_t n, room;
};

static uint64_t key_of(const struct rf_hit *hit)
{
    return hit->key;
}

static uint64_t pc_of(const struct rf_hit *hit)
{
    return hit->pc;
}

static bool list_hits(const struct rf_sheet *sheet, uint64_t (*number_of)(const struct rf_hit *hit),
                      size_t more, struct numbers *numbers)
{
    *numbers = (struct numbers){.room = more + 1};
    for (size_t i = 0; i < sheet->n; i++)
        numbers->room += sheet->hits[i].n + sheet->hits[i].n_sums;
    numbers->at = rf_alloc_get(sheet->page->alloc, numbers->room * sizeof *numbers->at);
    for (size_t i = 0; numbers->at != NULL && i < sheet->n; i++) {
        const struct rf_hits *hits = &sheet->hits[i];
        for (size_t k = 0; k < hits->n; k++)
            numbers->at[numbers->n++] = number_of(&hits->at[k]);
        for (size_t k = 0; k < hits->n_sums; k++)
            numbers->at[numbers->n++] = number_of(&hits->sums[k]);
    }
    return numbers->at != NULL;
}

static int by_number(const void *left, const void *right)
{
    const uint64_t *l = left, *r = right;
    return rf_order(*l, *r);
}

/* Neither source nor objdump: the addresses that have counts. */
static rf_status write_addresses(const struct rf_sheet *sheet)
{
    struct numbers keys;
    if (!list_hits(sheet, key_of, 0, &keys))
        return RF_ENOMEM;
    qsort(keys.at, keys.n, sizeof *keys.at, by_number);
    size_t n = rf_unique(keys.at, keys.n, sizeof *keys.at, by_number);
    write_heading(sheet, "address", "");
    for (size_t i = 0; i < n; i++) {
        write_counts(sheet, keys.at[i]);
        fprintf(sheet->page->out, "%8" PRIx64 "\n", keys.at[i]);
    }
    rf_list_free(sheet->page->alloc, &keys);
    return RF_OK;
}

static rf_status write_code(struct rf_sheet *sheet)
{
    rf_sheet_set_keys(sheet, NULL);
    measure_top(sheet);
    if (sheet->code.n == 0)
        return write_addresses(sheet);
    write_heading(sheet, "address", "instruction");
    for (size_t i = 0; i < sheet->code.n; i++)
        write_instruction(sheet, &sheet->code.at[i]);
    if (sheet->code.cut)
        fputs("  the rest of this function is left out\n", sheet->page->out);
    return RF_OK;
}

/* "spread in /src/rank.c: 99.8% of 130.2 M instructions" */
static void write_head(const struct rf_sheet *sheet, const char *where)
{
    enum { INDENT = 2, NAME = RF_REPORT_TEXT_MAX / 4 };
    char function[NAME], full[NAME], file[NAME], head[RF_REPORT_TEXT_MAX];
    bool whole = sheet->page->kept == RF_VIEW_WHOLE || sheet->page->setup->view.full_names;
    snprintf(full, sizeof full, "%s%s", sheet->range->function,
             whole ? sheet->range->parameters : "");
    if (!whole)
        rf_view_shorten_to(full, sheet->page->kept);
    rf_text_readable(function, sizeof function, full);
    rf_text_readable(file, sizeof file, where);
    int n = snprintf(head, sizeof head, "%s%s in %s", function,
                     sheet->range->is_inlined ? " (inlined)" : "", file);
    for (size_t i = 0; i < sheet->n; i++) {
        char all[RF_REPORT_NUMBER_MAX];
        const struct rf_hits *hits = &sheet->hits[i];
        uint64_t events = hits->totals != NULL ? hits->totals->consumed : hits->profile->consumed;
        n += snprintf(head + n, sizeof head - (size_t)n, "%s %.1f%% of %s %s", i == 0 ? ":" : ",",
                      events > 0 ? 100 * (double)rf_hits_count(hits) / (double)events : 0,
                      rf_report_short(all, events), rf_view_noun(hits->profile, events));
    }
    rf_report_paragraph(sheet->page->out, sheet->page->setup, INDENT, head);
    fputc('\n', sheet->page->out);
}

/* Read the names of all hits and instructions, in one go. */
static rf_status prepare(const struct rf_sheet *sheet)
{
    struct numbers pcs;
    if (!list_hits(sheet, pc_of, sheet->code.n, &pcs))
        return RF_ENOMEM;
    for (size_t i = 0; i < sheet->code.n; i++)
        pcs.at[pcs.n++] = address_of(sheet, &sheet->code.at[i]);
    rf_status status = rf_symbols_prepare(sheet->page->symbols, pcs.at, pcs.n);
    rf_list_free(sheet->page->alloc, &pcs);
    return status;
}

/* The profiles by pc that counted something in the function; the first where none did. */
static rf_status find_hits(struct rf_sheet *sheet)
{
    const struct rf_run *run = sheet->page->run;
    rf_status status = RF_OK;
    bool narrow = sheet->page->setup->width > 0 && sheet->page->setup->width < WIDE;
    size_t most = narrow ? 2 : RF_SHEET_COLUMNS_MAX;
    for (size_t i = 0; i < run->n_profiles && status == RF_OK && sheet->n < most; i++) {
        struct rf_hits *hits = &sheet->hits[sheet->n];
        if (!rf_annotate_counts(run->profiles[i]))
            continue;
        status = rf_hits_find(hits, run, run->profiles[i], sheet->page->symbols, sheet->range);
        if (rf_hits_count(hits) > 0 || status != RF_OK)
            sheet->n++;
        else
            rf_hits_free(hits);
    }
    for (sheet->top = 0; sheet->top < sheet->n; sheet->top++)
        if (rf_hits_have_top(&sheet->hits[sheet->top]))
            break;
    return status;
}

rf_status rf_sheet_open(struct rf_sheet *sheet, const struct rf_annotate_page *page,
                        const struct rf_symbol_range *range)
{
    *sheet = (struct rf_sheet){.page = page, .range = range};
    rf_status status = find_hits(sheet);
    if (status == RF_OK && range->is_inlined)
        find_inlined_source(sheet);
    else if (status == RF_OK)
        status = find_source(page, range, &sheet->source);
    if (status != RF_OK)
        return status;
    if (sheet->source.file != NULL)
        sheet->file = rf_view_open_source(sheet->source.file);
    if (!range->is_inlined && (sheet->file == NULL || page->setup->assembly))
        status = rf_disassemble(&sheet->code, page->alloc, range);
    return status == RF_OK || status == RF_ENOTSUP ? prepare(sheet) : status;
}

void rf_sheet_close(struct rf_sheet *sheet)
{
    if (sheet->file != NULL)
        fclose(sheet->file);
    for (size_t i = 0; i < sheet->n; i++)
        rf_hits_free(&sheet->hits[i]);
    rf_instructions_free(&sheet->code, sheet->page->alloc);
}

rf_status rf_annotate_function(const struct rf_annotate_page *page,
                               const struct rf_symbol_range *range, size_t *written)
{
    struct rf_sheet sheet;
    rf_status status = rf_sheet_open(&sheet, page, range);
    if (status == RF_OK) {
        if ((*written)++ > 0)
            fputc('\n', page->out);
        write_head(&sheet, sheet.file != NULL ? sheet.source.file : range->path);
        if (sheet.file == NULL)
            status = write_code(&sheet);
        else
            write_source(&sheet, &sheet.source, sheet.file);
    }
    rf_sheet_close(&sheet);
    return status;
}
