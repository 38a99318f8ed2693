/* sources.c - the hottest functions in their source, each line with its numbers; the disassembly where there is none. */
#include "report/html/html.h"
#include "report/annotate.h"
#include "view/view.h"
#include <inttypes.h>
#include <string.h>

enum { FUNCTIONS = 12, LINE_BYTES = 4096 };

static void write_text(struct rf_html *html, const char *text)
{
    char plain[2 * LINE_BYTES];
    size_t used = 0, column = 0;
    for (; *text != '\0' && *text != '\n' && *text != '\r' && used + 8 < sizeof plain; text++) {
        size_t wide = *text == '\t' ? 8 - column % 8 : 1;
        memset(plain + used, *text == '\t' ? ' ' : *text, wide);
        used += wide;
        column += wide;
    }
    plain[used] = '\0';
    rf_html_text(html, NULL, plain);
}

/* ["44", share of each profile or "", the most frequent word, the text] */
static void write_line(struct rf_html *html, const struct rf_sheet *sheet, uint64_t key,
                       const char *number, const char *text)
{
    char top[RF_REPORT_TEXT_MAX] = "";
    rf_html_open(html, NULL, '[');
    rf_html_text(html, NULL, number);
    for (size_t i = 0; i < sheet->n; i++) {
        struct rf_view_cell cell;
        if (rf_hits_share(&sheet->hits[i], key, &cell))
            rf_html_share(html, &cell);
        else
            rf_html_text(html, NULL, "");
    }
    if (sheet->top < sheet->n)
        rf_hits_print_top(&sheet->hits[sheet->top], key, top, sizeof top);
    rf_html_text(html, NULL, top);
    write_text(html, text);
    rf_html_close(html, ']');
}

static void write_source(struct rf_html *html, struct rf_sheet *sheet)
{
    char text[LINE_BYTES], number[RF_REPORT_NUMBER_MAX];
    bool begins = true;
    uint32_t line = 0;
    struct rf_view_cell cell;
    bool others = false;
    rf_sheet_set_keys(sheet, sheet->source.file);
    while (line <= sheet->source.last && fgets(text, sizeof text, sheet->file) != NULL) {
        line += begins;
        snprintf(number, sizeof number, "%" PRIu32, line);
        if (begins && line >= sheet->source.first && line <= sheet->source.last)
            write_line(html, sheet, line, number, text);
        begins = strchr(text, '\n') != NULL;
    }
    for (size_t i = 0; i < sheet->n; i++)
        others = others || rf_hits_share(&sheet->hits[i], 0, &cell);
    if (others)
        write_line(html, sheet, 0, "", "(lines of other files)");
}

static void write_code(struct rf_html *html, struct rf_sheet *sheet)
{
    char number[RF_REPORT_NUMBER_MAX];
    rf_sheet_set_keys(sheet, NULL);
    for (size_t i = 0; i < sheet->code.n; i++) {
        snprintf(number, sizeof number, "%" PRIx64, sheet->code.at[i].link);
        write_line(html, sheet, sheet->code.at[i].link, number, sheet->code.at[i].text);
    }
}

static void write_columns(struct rf_html *html, const struct rf_sheet *sheet)
{
    rf_html_open(html, "columns", '[');
    for (size_t i = 0; i < sheet->n; i++)
        rf_html_text(html, NULL, rf_view_noun(sheet->hits[i].profile, 2));
    rf_html_close(html, ']');
    if (sheet->top < sheet->n)
        rf_html_format(html, "top", "top %s", sheet->hits[sheet->top].words.b.name);
}

static void write_shares(struct rf_html *html, const struct rf_sheet *sheet)
{
    rf_html_open(html, "shares", '[');
    for (size_t i = 0; i < sheet->n; i++) {
        char all[RF_REPORT_NUMBER_MAX];
        const struct rf_hits *hits = &sheet->hits[i];
        uint64_t events = hits->totals != NULL ? hits->totals->consumed : hits->profile->consumed;
        rf_html_format(html, NULL, "%.1f%% of %s %s",
                       events > 0 ? 100 * (double)rf_hits_count(hits) / (double)events : 0,
                       rf_report_short(all, events), rf_view_noun(hits->profile, events));
    }
    rf_html_close(html, ']');
}

static rf_status write_function(void *context, const struct rf_annotate_page *page,
                                const struct rf_symbol_range *range)
{
    struct rf_html *html = context;
    struct rf_sheet sheet;
    rf_status status = rf_sheet_open(&sheet, page, range);
    if (status == RF_OK && (sheet.file != NULL || sheet.code.n > 0)) {
        rf_html_panel(html, "source", "source", range->function);
        rf_html_text(html, "file", sheet.file != NULL ? sheet.source.file : range->path);
        write_shares(html, &sheet);
        write_columns(html, &sheet);
        rf_html_open(html, "lines", '[');
        if (sheet.file != NULL)
            write_source(html, &sheet);
        else
            write_code(html, &sheet);
        rf_html_close(html, ']');
        rf_html_close(html, '}');
    }
    rf_sheet_close(&sheet);
    return status;
}

rf_status rf_html_sources(struct rf_html *html)
{
    const struct rf_annotate_page page = {.run = html->run,
                                          .symbols = html->setup->view.symbols,
                                          .alloc = &html->run->alloc,
                                          .setup = html->setup};
    if (page.symbols == NULL)
        return RF_OK;
    return rf_annotate_hottest(&page, FUNCTIONS, write_function, html, html->error);
}
