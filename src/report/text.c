/* text.c - a page for people: what ran, how sure the result is, then the items.
 *
 *     command  sort words
 *     profile  load -> pc,value
 *     engine   multihash(tables=4), seed 1          options other than the defaults; json has all
 *     events   1,000,000 consumed, none lost
 *     bounds   hard: ...
 *     items    1,204 found, 2 shown
 *
 *      share   count  at least  at most  pc        value
 *     12.40%  124000     123900   124000  0x401136  0x0
 *      3.10%   31000      30900    31000  0x40113d  0x1
 *
 * With symbols there are two more columns: each item's share of its pc, and its place:
 *
 *      share   count  of pc  pc        value  place
 *     12.40%  124000  98.2%  0x401136  0x0    hash (hash.c:12)
 *
 * A table is written in two passes, the first to see how wide its columns are. Texts from outside
 * (commands, paths, names) may hold anything and go through rf_write_readable. */
#include "report/place.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <riffle/engine.h>
#include <riffle/overhead.h>
#include <riffle/text.h>

enum { NUMBER_MAX = 32, LINE_MAX_BYTES = 2 * RF_REPORT_WORD_MAX, LABEL = 12 };

/* 1234567 as 1,234,567. */
static const char *group(char text[NUMBER_MAX], uint64_t n)
{
    char *p = text + NUMBER_MAX - 1;
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

static const char *bytes(char text[NUMBER_MAX], uint64_t n)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)n;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1024;
    snprintf(text, NUMBER_MAX, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text;
}

/* One line of the head: a label and its text. */
static void write_label(FILE *out, const struct rf_report_setup *setup, const char *label)
{
    int length = (int)rf_text_readable(NULL, 0, label);
    fputs(setup->colour ? "\033[1m" : "", out);
    rf_write_readable(out, label);
    fputs(setup->colour ? "\033[0m" : "", out);
    fprintf(out, "%*s", length < LABEL ? LABEL - length : 1, "");
}

__attribute__((format(printf, 4, 5))) static void write_fact(FILE *out,
                                                             const struct rf_report_setup *setup,
                                                             const char *label, const char *format,
                                                             ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_label(out, setup, label);
    vfprintf(out, format, arguments);
    fputc('\n', out);
    va_end(arguments);
}

static void write_outside(FILE *out, const struct rf_report_setup *setup, const char *label,
                          const char *text)
{
    write_label(out, setup, label);
    rf_write_readable(out, text);
    fputc('\n', out);
}

/* A note that is a number is written in groups of digits. */
static void write_note(FILE *out, const struct rf_report_setup *setup, const struct rf_note *note)
{
    char number[NUMBER_MAX];
    size_t n = strlen(note->text);
    if (n > 3 && n < 19 && strspn(note->text, "0123456789") == n && note->text[0] != '0')
        write_fact(out, setup, note->name, "%s", group(number, strtoull(note->text, NULL, 10)));
    else
        write_outside(out, setup, note->name, note->text);
}

static void write_run_head(FILE *out, const struct rf_run *run, const struct rf_report_setup *setup)
{
    if (run->command[0] != '\0')
        write_outside(out, setup, "command", run->command);
    for (size_t i = 0; i < run->n_notes; i++)
        if (strncmp(run->notes[i].name, RF_REPORT_THREAD, strlen(RF_REPORT_THREAD)) != 0)
            write_note(out, setup, &run->notes[i]);
}

static void write_engine(FILE *out, const struct rf_profile *profile,
                         const struct rf_report_setup *setup)
{
    char memory[NUMBER_MAX], storage[NUMBER_MAX];
    write_label(out, setup, "engine");
    char engine[RF_REPORT_WORD_MAX];
    size_t n = rf_engine_shorten(profile->engine, engine, sizeof engine);
    rf_write_readable(out, n < sizeof engine ? engine : profile->engine);
    fprintf(out, ", seed %" PRIu64 "\n", profile->seed);
    if (profile->bits > 0)
        write_fact(out, setup, "memory", "%s; as hardware %s of storage",
                   bytes(memory, profile->memory), bytes(storage, (profile->bits + 7) / 8));
    else
        write_fact(out, setup, "memory", "%s", bytes(memory, profile->memory));
}

/* The engine looks for tuples with a share of an interval, but the stream was shorter than half an interval. */
static bool is_short(const struct rf_profile *profile)
{
    return profile->bound != RF_BOUND_EXACT && 2 * profile->consumed < profile->interval_length;
}

static void write_events(FILE *out, const struct rf_profile *profile,
                         const struct rf_report_setup *setup)
{
    char produced[NUMBER_MAX], consumed[NUMBER_MAX], lost[NUMBER_MAX];
    write_fact(out, setup, "events", "%s produced, %s consumed, %s lost",
               group(produced, profile->produced), group(consumed, profile->consumed),
               group(lost, profile->lost));
    if (profile->n_intervals_seen > 0 && profile->interval_length == 0)
        write_fact(out, setup, "intervals", "%s, each as long as the engine had room",
                   group(consumed, profile->n_intervals_seen));
    else if (profile->n_intervals_seen > 0)
        write_fact(
            out, setup, "intervals", "%s of %s events%s",
            group(consumed, profile->n_intervals_seen), group(lost, profile->interval_length),
            is_short(profile) ? ", not full: -e exact or a smaller --interval finds more" : "");
}

static void write_bounds(FILE *out, const struct rf_profile *profile,
                         const struct rf_report_setup *setup)
{
    char absent[NUMBER_MAX];
    if (profile->bound == RF_BOUND_EXACT && profile->absent_upper == 0)
        write_fact(out, setup, "bounds", "none needed: the counts %sare exact",
                   profile->lost > 0 ? "of what was consumed " : "");
    else if (profile->bound == RF_BOUND_CONFIDENCE)
        write_fact(out, setup, "bounds",
                   "hold for %.4g%% of all items; one that is not listed has at most %s",
                   100 * profile->confidence, group(absent, profile->absent_upper));
    else
        write_fact(out, setup, "bounds", "always hold; what is not listed has at most %s",
                   group(absent, profile->absent_upper));
}

static void write_figures(FILE *out, const struct rf_profile *profile,
                          const struct rf_report_setup *setup)
{
    char number[NUMBER_MAX];
    for (size_t i = 0; i < profile->n_figures; i++) {
        double value = profile->figures[i].value;
        bool whole = value >= 0 && value < 1e15 && value == (double)(uint64_t)value;
        if (whole)
            write_fact(out, setup, profile->figures[i].name, "%s", group(number, (uint64_t)value));
        else
            write_fact(out, setup, profile->figures[i].name, "%.6g", value);
    }
}

/* What the messages of a profiler in hardware would cost, where the run knows its cycles. */
static void write_overhead(FILE *out, const struct rf_run *run, const struct rf_profile *profile,
                           const struct rf_report_setup *setup)
{
    static const double cpi = 1; /* stated, not measured */
    struct rf_overhead overhead;
    char number[NUMBER_MAX];
    if (rf_overhead(&overhead, run, profile, cpi) != RF_OK)
        return;
    if (overhead.instructions > 0)
        write_fact(out, setup, "overhead", "%.2f%% of %s instructions, taken at one per cycle",
                   100 * overhead.share, group(number, overhead.instructions));
    else
        write_fact(out, setup, "overhead", "%.2f%% of %s cycles of the simulated core",
                   100 * overhead.share, group(number, (uint64_t)overhead.cycles_in_all));
}

static void write_profile_head(FILE *out, const struct rf_profile *profile,
                               const struct rf_report_setup *setup)
{
    if (profile->selector[0] != '\0')
        write_outside(out, setup, "profile", profile->selector);
    write_engine(out, profile, setup);
    write_events(out, profile, setup);
    write_bounds(out, profile, setup);
    write_figures(out, profile, setup);
}

enum column_kind {
    SHARE,
    HEAT,
    COUNT,
    LENGTH,
    TOTAL,
    LOWER,
    UPPER,
    INTERVALS,
    PART,
    A,
    A_HI,
    B,
    B_HI,
    PLACE
};

struct column {
    enum column_kind kind;
    const char *heading;
    size_t width;
};

struct layout {
    struct column columns[14];
    size_t n;
    struct rf_columns names;
    struct rf_places places;
    const struct rf_run *run; /* that names its threads */
};

static void add_column(struct layout *layout, enum column_kind kind, const char *heading)
{
    layout->columns[layout->n++] = (struct column){kind, heading, strlen(heading)};
}

static void add_words(struct layout *layout, const struct rf_report_table *table)
{
    switch (table->profile->shape) {
    case RF_SHAPE_TUPLE:
    case RF_SHAPE_STREAM:
        add_column(layout, A, layout->names.a.name);
        if (layout->names.b.name[0] != '\0')
            add_column(layout, B, layout->names.b.name);
        break;
    case RF_SHAPE_RANGE_A:
        add_column(layout, A, "from");
        add_column(layout, A_HI, "to");
        break;
    case RF_SHAPE_RANGE_B:
        add_column(layout, B, "from");
        add_column(layout, B_HI, "to");
        break;
    default:
        add_column(layout, A, "a from");
        add_column(layout, A_HI, "a to");
        add_column(layout, B, "b from");
        add_column(layout, B_HI, "b to");
        break;
    }
}

static void make_layout(struct layout *layout, const struct rf_report_table *table,
                        const struct rf_report_setup *setup)
{
    layout->n = 0;
    rf_report_table_columns(&layout->names, table->profile);
    add_column(layout, SHARE, "share");
    if (table->streams != NULL)
        add_column(layout, HEAT, "heat");
    add_column(layout, COUNT, table->streams != NULL ? "times" : "count");
    if (table->streams != NULL)
        add_column(layout, LENGTH, "length");
    if (table->totals != NULL)
        add_column(layout, TOTAL, "with inner");
    if (table->profile->bound != RF_BOUND_EXACT) {
        add_column(layout, LOWER, "at least");
        add_column(layout, UPPER, "at most");
    }
    if (table->profile->n_intervals_seen > 0 && !setup->per_interval)
        add_column(layout, INTERVALS, "intervals");
    rf_places_open(&layout->places, table->profile, setup);
    if (rf_places_has_parts(&layout->places))
        add_column(layout, PART, "of pc");
    add_words(layout, table);
    if (rf_places_any(&layout->places))
        add_column(layout, PLACE, rf_places_heading(&layout->places));
}

static double share_of(const struct rf_report_table *table, uint64_t count)
{
    return table->events > 0 ? 100 * (double)count / (double)table->events : 0;
}

/* The events that a line is about. */
static uint64_t weight_of(const struct rf_report_table *table, const struct rf_item *item)
{
    return table->streams != NULL ? rf_report_table_heat(item) : item->count;
}

/* Of a program that was told in bursts (figure "sampled"): its counts are estimates. */
static bool is_estimate(const struct rf_profile *profile)
{
    for (size_t i = 0; profile->bound == RF_BOUND_CONFIDENCE && i < profile->n_figures; i++)
        if (strcmp(profile->figures[i].name, "sampled") == 0)
            return true;
    return false;
}

static void make_share(char *cell, size_t size, const struct rf_report_table *table,
                       const struct rf_item *item)
{
    int n = snprintf(cell, size, "%.2f%%", share_of(table, weight_of(table, item)));
    if (table->streams == NULL && is_estimate(table->profile))
        snprintf(cell + n, size - (size_t)n, " +-%.2f",
                 share_of(table, item->upper - item->lower) / 2);
}

static uint64_t number_of(const struct rf_report_table *table, size_t row, enum column_kind kind)
{
    const struct rf_item *item = &table->items[row];
    const uint64_t numbers[] = {[SHARE] = 0,
                                [HEAT] = rf_report_table_heat(item),
                                [LENGTH] = rf_stream_length(item),
                                [COUNT] = item->count,
                                [TOTAL] = table->totals != NULL ? table->totals[row] : 0,
                                [LOWER] = item->lower,
                                [UPPER] = item->upper,
                                [INTERVALS] = item->intervals,
                                [A] = item->a,
                                [A_HI] = item->a_hi,
                                [B] = item->b,
                                [B_HI] = item->b_hi};
    return numbers[kind];
}

/* Which field of the selector a word belongs to, whatever the column is called. */
static const char *field_of(const struct layout *layout, enum column_kind kind)
{
    return kind == A || kind == A_HI ? layout->names.a.name : layout->names.b.name;
}

/* "2 worker" */
static void make_thread(char *cell, size_t size, const struct rf_run *run, uint64_t thread)
{
    char note[RF_REPORT_NUMBER_MAX], name[64];
    int n = snprintf(cell, size, "%" PRIu64, thread);
    snprintf(note, sizeof note, RF_REPORT_THREAD "%" PRIu64, thread);
    for (size_t i = 0; i < run->n_notes; i++)
        if (strcmp(run->notes[i].name, note) == 0) {
            rf_text_readable(name, sizeof name, run->notes[i].text);
            snprintf(cell + n, size - (size_t)n, " %s", name);
            return;
        }
}

static void make_word(char *cell, size_t size, const struct layout *layout, const char *field,
                      uint64_t word)
{
    if (strcmp(field, "thread") == 0)
        make_thread(cell, size, layout->run, word);
    else
        rf_report_word(cell, size, field, word);
}

static void make_cell(char *cell, size_t size, const struct layout *layout,
                      const struct rf_report_table *table, size_t row, enum column_kind kind)
{
    char number[NUMBER_MAX];
    const struct rf_item *item = &table->items[row];
    if (kind < A && table->streams != NULL && rf_stream_position(item) > 0)
        cell[0] = '\0'; /* only the first line of a stream has its figures */
    else if (kind == SHARE)
        make_share(cell, size, table, item);
    else if (kind == PART)
        snprintf(cell, size, "%.1f%%", rf_places_part(&layout->places, &table->items[row]));
    else if (kind == PLACE)
        rf_places_name(&layout->places, &table->items[row], cell, size);
    else if (kind < A)
        snprintf(cell, size, "%s", group(number, number_of(table, row, kind)));
    else
        make_word(cell, size, layout, field_of(layout, kind), number_of(table, row, kind));
}

static void measure_columns(struct layout *layout, const struct rf_report_table *table)
{
    char cell[RF_REPORT_WORD_MAX];
    for (size_t row = 0; row < table->shown; row++)
        for (size_t i = 0; i < layout->n; i++) {
            struct column *column = &layout->columns[i];
            make_cell(cell, sizeof cell, layout, table, row, column->kind);
            size_t width = rf_text_width(cell);
            if (width > column->width)
                column->width = width;
        }
}

enum { LAST_COLUMN_MIN = 24 };

/* On a terminal the last column, which has names, is cut to fit. Numbers are never cut. */
static void fit_columns(struct layout *layout, const struct rf_report_setup *setup)
{
    struct column *last = &layout->columns[layout->n - 1];
    size_t before = 1;
    for (size_t i = 0; i + 1 < layout->n; i++)
        before += layout->columns[i].width + 2;
    if (setup->width == 0 || last->kind != PLACE || before + last->width <= (size_t)setup->width)
        return;
    size_t left = (size_t)setup->width > before ? (size_t)setup->width - before : 0;
    last->width = left > LAST_COLUMN_MIN ? left : LAST_COLUMN_MIN;
}

/* Numbers are aligned right, words left. The last column has no trailing spaces and is cut to its width. */
static void append_cell(char *line, size_t size, const struct layout *layout, size_t i, char *cell)
{
    const struct column *column = &layout->columns[i];
    size_t used = strlen(line);
    bool is_last = i + 1 == layout->n;
    if (is_last)
        rf_report_cut(cell, column->width);
    size_t width = rf_text_width(cell), gap = column->width > width ? column->width - width : 0;
    bool left = column->kind >= A;
    snprintf(line + used, size - used, "%s%*s%s%*s", i > 0 ? "  " : " ", left ? 0 : (int)gap, "",
             cell, left && !is_last ? (int)gap : 0, "");
}

static void write_line(FILE *out, const char *line, const struct rf_report_setup *setup,
                       bool strong)
{
    bool colour = strong && setup->colour;
    fprintf(out, "%s%s%s\n", colour ? "\033[1m" : "", line, colour ? "\033[0m" : "");
}

/* What the columns are, for tables that name places. */
static void write_legend(FILE *out, const struct layout *layout,
                         const struct rf_report_table *table)
{
    char events[NUMBER_MAX];
    if (!rf_places_any(&layout->places))
        return;
    fprintf(out, " share: of all %s events", group(events, table->events));
    if (table->totals != NULL)
        fputs("; with inner: with the ranges inside it", out);
    if (table->profile->bound != RF_BOUND_EXACT)
        fputs("; at least, at most: its true count", out);
    if (rf_places_has_parts(&layout->places))
        fprintf(out, "; of pc: of all %ss found at that pc", layout->names.b.name);
    fputs("\n\n", out);
}

enum { STRONG_SHARE = 10 };

static rf_status write_rows(FILE *out, const struct rf_run *run,
                            const struct rf_report_table *table,
                            const struct rf_report_setup *setup)
{
    struct layout layout;
    char line[LINE_MAX_BYTES] = "", cell[RF_REPORT_WORD_MAX];
    make_layout(&layout, table, setup);
    layout.run = run;
    rf_status status = rf_places_prepare(&layout.places, table);
    write_legend(out, &layout, table);
    measure_columns(&layout, table);
    fit_columns(&layout, setup);
    for (size_t i = 0; i < layout.n; i++) {
        snprintf(cell, sizeof cell, "%s", layout.columns[i].heading);
        append_cell(line, sizeof line, &layout, i, cell);
    }
    write_line(out, line, setup, true);
    for (size_t row = 0; row < table->shown && !ferror(out); row++) {
        line[0] = '\0';
        for (size_t i = 0; i < layout.n; i++) {
            make_cell(cell, sizeof cell, &layout, table, row, layout.columns[i].kind);
            append_cell(line, sizeof line, &layout, i, cell);
        }
        write_line(out, line, setup,
                   share_of(table, weight_of(table, &table->items[row])) >= STRONG_SHARE);
    }
    rf_places_close(&layout.places);
    return status;
}

static rf_status write_table(FILE *out, const struct rf_run *run, const struct rf_profile *profile,
                             const struct rf_report_setup *setup, size_t i)
{
    struct rf_report_table table;
    char found[NUMBER_MAX], shown[NUMBER_MAX], events[NUMBER_MAX], number[NUMBER_MAX];
    rf_status status = rf_report_table_open(&table, profile, setup, i);
    if (status != RF_OK)
        return status;
    if (setup->per_interval) {
        fputc('\n', out);
        write_fact(out, setup, "interval", "%s, %s events", group(number, table.interval),
                   group(events, table.events));
    }
    bool streams = table.streams != NULL;
    write_fact(out, setup, streams ? "streams" : "items", "%s found, %s shown",
               group(found, streams ? table.n_streams : table.n),
               group(shown, streams ? table.shown_streams : table.shown));
    if (table.shown > 0) {
        fputc('\n', out);
        status = write_rows(out, run, &table, setup);
    }
    rf_report_table_close(&table);
    return status;
}

static rf_status write_profile(FILE *out, const struct rf_run *run,
                               const struct rf_profile *profile,
                               const struct rf_report_setup *setup)
{
    size_t n;
    rf_status status = rf_report_table_count(profile, setup, &n);
    if (status != RF_OK)
        return status;
    write_profile_head(out, profile, setup);
    write_overhead(out, run, profile, setup);
    for (size_t i = 0; i < n && status == RF_OK; i++)
        status = write_table(out, run, profile, setup, i);
    return status;
}

static void write_problems(FILE *out, const struct rf_report_setup *setup)
{
    const char *problem;
    for (size_t i = 0; setup->symbols != NULL; i++) {
        problem = rf_symbols_problem(setup->symbols, i);
        if (problem == NULL)
            return;
        fputs(i == 0 ? "\n" : "", out);
        write_outside(out, setup, "names", problem);
    }
}

static rf_status write_run(FILE *out, const struct rf_run *run, const struct rf_report_setup *setup)
{
    write_run_head(out, run, setup);
    rf_status status = rf_report_profiles(out, run, setup, write_profile);
    if (status != RF_OK)
        return status;
    write_problems(out, setup);
    return rf_report_end(out);
}

const struct rf_report_form rf_report_text = {
    .name = "text",
    .brief = "a page for people",
    .write = write_run,
};
