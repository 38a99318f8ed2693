/* cell.c - numbers as people read them.
 *
 * A count below a million is written in full, with commas; above, three digits or four and a letter. A share is
 * rounded to a tenth of a percent; only all is 100.0%. One whose bounds round to the same tenth is that tenth; otherwise the range is shown,
 * its lower end rounded down, its upper end up. A share of samples is shown with half its interval, 12.4% +-0.3; where that
 * would reach beyond nothing or all, with both parts of it, 99.2% +0.8 -30.9. */
#include "report/report.h"
#include <inttypes.h>
#include <math.h>
#include <riffle/text.h>

const char *rf_report_group(char text[RF_REPORT_NUMBER_MAX], uint64_t n)
{
    char *p = text + RF_REPORT_NUMBER_MAX - 1;
    *p = '\0';
    for (unsigned digits = 0;; digits++) {
        if (digits > 0 && digits % 3 == 0)
            *--p = ',';
        *--p = (char)('0' + n % 10);
        n /= 10;
        if (n == 0)
            return p;
    }
}

const char *rf_report_short(char text[RF_REPORT_NUMBER_MAX], uint64_t n)
{
    static const char units[] = "MGTP";
    double value = (double)n / 1e6;
    size_t unit = 0;
    if (n < 1000000)
        return rf_report_group(text, n);
    for (; value >= 999.95 && units[unit + 1] != '\0'; unit++)
        value /= 1000;
    snprintf(text, RF_REPORT_NUMBER_MAX, value < 9.995 ? "%.2f %c" : "%.1f %c", value, units[unit]);
    return text;
}

static void print_interval(char *text, size_t size, const struct rf_view_cell *cell)
{
    double share = 100 * cell->share, up = 100 * cell->high - share, down = share - 100 * cell->low;
    double half = (up + down) / 2, least = 0.05; /* what is not rounded away */
    int n = snprintf(text, size, "%.1f%%", share);
    if (share - half > -least && share + half < 100 + least) {
        snprintf(text + n, size - (size_t)n, " +-%.1f", half);
        return;
    }
    if (up >= least)
        n += snprintf(text + n, size - (size_t)n, " +%.1f", up);
    if (down >= least)
        snprintf(text + n, size - (size_t)n, " -%.1f", down);
}

void rf_report_share(char *text, size_t size, const struct rf_view_cell *cell, unsigned bound)
{
    double low = 1000 * cell->low, high = 1000 * cell->high;
    if (bound == RF_BOUND_CONFIDENCE && high > low)
        print_interval(text, size, cell);
    else if (round(low) >= round(high))
        snprintf(text, size, "%.1f%%",
                 fmin(round(1000 * cell->share), low < 1000 ? 999 : 1000) / 10);
    else
        snprintf(text, size, "%.1f-%.1f%%", floor(low) / 10, ceil(high) / 10);
}

/* Small values are the same in every base. */
static void print_hex(char *text, size_t size, uint64_t n)
{
    snprintf(text, size, n < 10 ? "%" PRIu64 : "0x%" PRIx64, n);
}

void rf_report_cell(char *text, size_t size, const struct rf_view *view,
                    const struct rf_view_column *column, const struct rf_view_cell *cell,
                    bool details)
{
    char number[RF_REPORT_NUMBER_MAX];
    if (cell->is_empty)
        snprintf(text, size, "%s", cell->text[0] != '\0' ? cell->text : "-");
    else if (column->type == RF_CELL_SHARE)
        rf_report_share(text, size, cell,
                        column->id <= RF_COLUMN_SELF ? view->bound : view->profile->bound);
    else if (column->type == RF_CELL_TEXT)
        rf_text_readable(text, size, cell->text);
    else if (column->type == RF_CELL_HEX)
        print_hex(text, size, cell->number);
    else
        snprintf(text, size, "%s%s",
                 details ? rf_report_group(number, cell->number)
                         : rf_report_short(number, cell->number),
                 cell->is_least ? "+" : "");
}
