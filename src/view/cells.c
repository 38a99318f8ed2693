/* cells.c - the cells of the rows that are shown. */
#include "view/view.h"
#include "base/alloc.h"
#include "base/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "ls" for process 4, from the note "11: 1 sh (812), ..., 4 ls (815), ...". */
static void print_process(const struct rf_view *view, uint64_t number, char *text, size_t size)
{
    char key[RF_VIEW_NUMBER_MAX];
    const char *at = rf_run_note(view->run, "processes");
    snprintf(key, sizeof key, " %" PRIu64 " ", number);
    at = at != NULL ? strstr(at, key) : NULL;
    const char *end = at != NULL ? strstr(at, " (") : NULL;
    if (end != NULL)
        snprintf(text, size, "%.*s", (int)(end - at - (ptrdiff_t)strlen(key)), at + strlen(key));
}

/* The program of processes that were counted together, and of the only process: that of its first module. */
static void print_program(const struct rf_view *view, uint64_t word, char *text, size_t size)
{
    bool apart = rf_profile_figure(view->profile, "process", 0) > 0;
    for (size_t i = 0; i < view->run->n_modules; i++) {
        const struct rf_module *module = &view->run->modules[i];
        bool mine = apart ? module->process == word
                          : module->start - rf_view_address(module->start) == word;
        if (!mine || module->path[0] == '[')
            continue;
        snprintf(text, size, "%s", rf_text_last_part(module->path));
        return;
    }
}

/* "worker" for thread 2, from the note "thread-2". */
static void print_number_name(const struct rf_view *view, uint64_t number, char *text, size_t size)
{
    char note[RF_VIEW_NUMBER_MAX];
    text[0] = '\0';
    if (view->by == RF_BY_PROCESS) {
        if (rf_profile_figure(view->profile, "process", 0) > 0)
            print_process(view, number, text, size);
        if (text[0] == '\0')
            print_program(view, number, text, size);
        return;
    }
    snprintf(note, sizeof note, "thread-%" PRIu64, number);
    const char *name = rf_run_note(view->run, note);
    snprintf(text, size, "%s", name != NULL ? name : "");
}

static void print_pair(const struct rf_view_work *work, const struct rf_item *item, char *text,
                       size_t size)
{
    const struct rf_words *words = &work->words;
    char a[RF_VIEW_TEXT_MAX] = "", b[RF_VIEW_TEXT_MAX] = "";
    if (words->a.meaning == RF_MEANS_CODE)
        rf_view_print_place(work, item->a, a, sizeof a);
    else if (words->a.meaning == RF_MEANS_DATA)
        rf_view_print_region(work, item->a, a, sizeof a);
    if (words->b.meaning == RF_MEANS_CODE && words->calls)
        rf_view_print_function(work, item->b, b, sizeof b);
    else if (words->b.meaning == RF_MEANS_CODE)
        rf_view_print_place(work, item->b, b, sizeof b);
    else if (words->b.meaning == RF_MEANS_DATA)
        rf_view_print_region(work, item->b, b, sizeof b);
    const char *between = a[0] == '\0' || b[0] == '\0'        ? ""
                          : words->b.meaning == RF_MEANS_DATA ? " at "
                                                              : " -> ";
    snprintf(text, size, "%s%s%s", a, between, b);
}

static void print_box(const struct rf_view_work *work, const struct rf_item *item, char *text,
                      size_t size)
{
    unsigned shape = work->table.profile->shape;
    char a[RF_VIEW_TEXT_MAX] = "", b[RF_VIEW_TEXT_MAX] = "";
    if (shape != RF_SHAPE_RANGE_B && work->words.a.meaning != RF_MEANS_NUMBER)
        rf_symbols_name_range(work->setup->symbols, item->a, item->a_hi, a, sizeof a);
    if (shape != RF_SHAPE_RANGE_A && work->words.b.meaning != RF_MEANS_NUMBER)
        rf_symbols_name_range(work->setup->symbols, item->b, item->b_hi, b, sizeof b);
    snprintf(text, size, "%s%s%s", a, a[0] != '\0' && b[0] != '\0' ? " x " : "", b);
}

/* What stands for a name where there is none. */
static void print_nameless(const struct rf_place_name *name, char *text, size_t size)
{
    if (name->begin != 0)
        snprintf(text, size, "function at 0x%" PRIx64, name->begin);
    else
        snprintf(text, size, "%s", name->module[0] != '\0' ? "(no names)" : "(nowhere)");
}

/* Deep frames are not moved further to the right than this. */
static void print_in_tree(const struct rf_view_work *work, const struct rf_row *row, char *text,
                          size_t size)
{
    enum { DEEPEST = 15 };
    int indent = 2 * (int)(row->depth < DEEPEST ? row->depth : DEEPEST);
    struct rf_place_name name;
    rf_view_lookup(work, row->word, &name);
    snprintf(text, size, "%*s", indent, "");
    if (name.function[0] == '\0')
        print_nameless(&name, text + indent, size - (size_t)indent);
    else
        rf_view_print_function(work, row->word, text + indent, size - (size_t)indent);
}

static void print_row_place(const struct rf_view_work *work, const struct rf_row *row, char *text,
                            size_t size)
{
    if (work->view->by == RF_BY_STACK || work->view->by == RF_BY_CALLER)
        print_in_tree(work, row, text, size);
    else if (work->view->by == RF_BY_LINE)
        rf_view_print_line(work, row->word, text, size);
    else if (work->view->stretches)
        rf_view_print_stretch(work, row->word, row->last, text, size);
    else if (work->view->by != RF_BY_ITEM)
        rf_view_print_place(work, row->word, text, size);
    else if (rf_shape_has_tuples(work->table.profile->shape))
        print_pair(work, row->item, text, size);
    else
        print_box(work, row->item, text, size);
}

static void print_top(const struct rf_view_work *work, const struct rf_row *row, char *text,
                      size_t size)
{
    const struct rf_word *b = &work->words.b;
    if (b->field == RF_FIELD_TAKEN)
        snprintf(text, size, "%s", row->item->b != 0 ? "taken" : "not taken");
    else if (b->meaning == RF_MEANS_CODE && work->words.calls)
        rf_view_print_function(work, row->item->b, text, size);
    else if (b->meaning == RF_MEANS_CODE)
        rf_view_print_place(work, row->item->b, text, size);
    else
        rf_view_print_region(work, row->item->b, text, size);
}

static const char *bound_name(unsigned bound)
{
    static const char *const names[] = {"exact", "hard", "confidence", "estimate"};
    return bound < sizeof names / sizeof *names ? names[bound] : "unknown";
}

/* Tools want a name or nothing; people have no other column for the address. */
static void print_callee(const struct rf_view_work *work, uint64_t address, char *text, size_t size)
{
    struct rf_place_name name;
    rf_view_lookup(work, address, &name);
    if (work->view->by != RF_BY_ITEM || name.function[0] != '\0')
        rf_view_print_function(work, address, text, size);
}

/* The thread of an item; the number of a row by thread or process. */
static uint64_t number_of_name(const struct rf_view_work *work, const struct rf_row *row)
{
    if (work->view->by != RF_BY_ITEM)
        return row->word;
    return rf_view_find_word(&work->words, RF_FIELD_THREAD) == 0 ? row->item->a : row->item->b;
}

static void print_text(const struct rf_view_work *work, const struct rf_row *row,
                       enum rf_column_id id, char *text, size_t size)
{
    struct rf_place_name name;
    text[0] = '\0';
    if (row->aside != NULL && id != RF_COLUMN_BOUND) {
        snprintf(text, size, "%s", id == RF_COLUMN_PLACE ? row->aside : "");
        return;
    }
    rf_view_lookup(work, row->word, &name);
    const struct rf_frame frame = rf_view_innermost(&name);
    switch (id) {
    case RF_COLUMN_BOUND:
        snprintf(text, size, "%s",
                 bound_name(row->lower == row->upper && !rf_view_estimates(work->view)
                                ? RF_BOUND_EXACT
                                : work->view->bound));
        break;
    case RF_COLUMN_TOP_NAME:
        if (row->item != NULL)
            print_top(work, row, text, size);
        break;
    case RF_COLUMN_NAME:
        if (work->view->by == RF_BY_REGION)
            rf_view_print_region(work, row->word, text, size);
        else
            print_number_name(work->view, number_of_name(work, row), text, size);
        break;
    case RF_COLUMN_FUNCTION:
        if (name.function[0] != '\0')
            rf_view_print_function(work, row->word, text, size);
        else if (work->view->by == RF_BY_FUNCTION || name.begin != 0)
            print_nameless(&name, text, size);
        break;
    case RF_COLUMN_FILE:
        snprintf(text, size, "%s", frame.file);
        break;
    case RF_COLUMN_MODULE:
        snprintf(text, size, "%s", name.module);
        break;
    case RF_COLUMN_CALLEE:
        print_callee(work, row->item != NULL ? row->item->b : row->word, text, size);
        break;
    case RF_COLUMN_PLACE:
        print_row_place(work, row, text, size);
        break;
    case RF_COLUMN_SOURCE:
        rf_view_source(frame.file, frame.line, text, size);
        if (text[0] == '\0' && frame.line != 0)
            rf_view_print_inner(work, row->word, text, size);
        break;
    default:
        break;
    }
}

static double part(uint64_t count, uint64_t of)
{
    return of > 0 ? (double)count / (double)of : 0;
}

/* Where no value is listed, none has more than `high`; that each may have all is not worth a word. */
static bool knows_top_share(const struct rf_row *row)
{
    return row->item != NULL || (row->high > 0 && row->high < 1);
}

#define RARE 0.01

/* What people read in place of a top value that is not known. */
static const char *instead_of_top(const struct rf_row *row)
{
    return row->item == NULL && row->high > 0 && row->high < RARE ? "all rare" : "";
}

static void fill_share(const struct rf_view_work *work, const struct rf_row *row,
                       enum rf_column_id id, struct rf_view_cell *cell)
{
    uint64_t events = work->view->events;
    if (id == RF_COLUMN_TOP_SHARE) {
        *cell = (struct rf_view_cell){.text = "", .low = row->low, .high = row->high};
        cell->share = row->item != NULL ? part(row->item->count, row->count) : 0;
        cell->share = cell->share < cell->low ? cell->low : cell->share;
        cell->share = cell->share > cell->high ? cell->high : cell->share;
        cell->is_empty = !knows_top_share(row);
        return;
    }
    if (id == RF_COLUMN_SELF) {
        uint64_t lower = row->self; /* a co-processor's are not drawn by chance */
        uint64_t upper = lower;
        if (!rf_view_estimates(work->view))
            rf_view_bound_samples(row->self, events, &lower, &upper);
        cell->share = part(row->self, events);
        cell->low = part(lower, events);
        cell->high = part(upper, events);
        return;
    }
    unsigned shape = work->table.profile->shape;
    bool heat = shape == RF_SHAPE_STREAM;
    bool whole = shape != RF_SHAPE_TUPLE; /* its bounds are not those of its own count */
    cell->share = part(heat ? rf_view_heat(row->item) : row->count, events);
    cell->low = whole ? cell->share : part(row->lower, events);
    cell->high = whole ? cell->share : part(row->upper, events);
    cell->high = cell->high > 1 ? 1 : cell->high; /* sums of upper bounds may exceed all */
}

static uint64_t shown_word(const struct rf_word *word, uint64_t value)
{
    return word->meaning == RF_MEANS_CODE ? rf_view_address(value) : value;
}

/* Words of the row: what it is, and of an item both. */
static uint64_t word_in(const struct rf_view_work *work, const struct rf_row *row,
                        const struct rf_item *item, enum rf_column_id id)
{
    const struct rf_words *words = &work->words;
    const struct rf_item shown = rf_view_shown_item(words, item);
    bool tuples = rf_shape_has_tuples(work->table.profile->shape);
    if (id == RF_COLUMN_TOP)
        return shown_word(&words->b, item->b);
    if (id == RF_COLUMN_A_HI || id == RF_COLUMN_B_HI)
        return id == RF_COLUMN_A_HI ? shown.a_hi : shown.b_hi;
    if (id == RF_COLUMN_B)
        return tuples ? shown_word(&words->b, item->b) : shown.b;
    if (work->view->by != RF_BY_ITEM)
        return shown_word(work->which == 0 ? &words->a : &words->b, row->word);
    return tuples ? shown_word(&words->a, item->a) : shown.a;
}

static uint64_t line_of(const struct rf_view_work *work, uint64_t word)
{
    struct rf_place_name name;
    rf_view_lookup(work, word, &name);
    return rf_view_innermost(&name).line;
}

/* With totals, a row counts what was lost on the way, too. All of that may have been its item. */
static uint64_t top_upper(const struct rf_view_work *work, const struct rf_row *row,
                          const struct rf_item *item)
{
    uint64_t lost = work->totals != NULL ? work->table.profile->lost : 0, upper;
    if (__builtin_add_overflow(item->upper, lost, &upper))
        return row->upper;
    return upper < row->upper ? upper : row->upper;
}

static uint64_t number_of(const struct rf_view_work *work, const struct rf_row *row,
                          enum rf_column_id id)
{
    static const struct rf_item none = {0};
    const struct rf_item *item = row->item != NULL ? row->item : &none;
    switch (id) {
    case RF_COLUMN_STREAM:
        return item->a_hi;
    case RF_COLUMN_LENGTH:
        return rf_stream_length(item);
    case RF_COLUMN_POSITION:
        return rf_stream_position(item);
    case RF_COLUMN_HEAT:
        return rf_view_heat(item);
    case RF_COLUMN_COUNT:
        return row->count;
    case RF_COLUMN_LOWER:
        return row->lower;
    case RF_COLUMN_UPPER:
        return row->upper;
    case RF_COLUMN_TOTAL:
        return rf_view_table_total(&work->table, item);
    case RF_COLUMN_INTERVALS:
        return item->intervals;
    case RF_COLUMN_KINDS:
        return row->kinds;
    case RF_COLUMN_TOP_COUNT: /* at most as many as the whole row has */
        return item->count < row->upper ? item->count : row->upper;
    case RF_COLUMN_TOP_LOWER:
        return item->lower;
    case RF_COLUMN_TOP_UPPER:
        return top_upper(work, row, item);
    case RF_COLUMN_SELF_COUNT:
        return row->self;
    case RF_COLUMN_DEPTH:
        return row->depth;
    case RF_COLUMN_NUMBER:
        return row->word;
    case RF_COLUMN_LINE:
        return line_of(work, row->word);
    case RF_COLUMN_WORD:
        return row->word;
    default:
        return word_in(work, row, item, id);
    }
}

static bool is_of_top(enum rf_column_id id)
{
    return id >= RF_COLUMN_TOP && id <= RF_COLUMN_TOP_SHARE;
}

static bool is_bound(enum rf_column_id id)
{
    return id == RF_COLUMN_LOWER || id == RF_COLUMN_UPPER || id == RF_COLUMN_TOP_LOWER ||
           id == RF_COLUMN_TOP_UPPER;
}

static rf_status fill_cell(const struct rf_view_work *work, const struct rf_row *row,
                           const struct rf_view_column *column, struct rf_view_cell *cell)
{
    char text[2 * RF_VIEW_TEXT_MAX + 8];
    *cell = (struct rf_view_cell){.text = ""};
    if (column->type == RF_CELL_SHARE)
        fill_share(work, row, column->id, cell);
    else if (column->type != RF_CELL_TEXT)
        cell->number = number_of(work, row, column->id);
    cell->is_empty |=
        is_of_top(column->id) && column->id != RF_COLUMN_TOP_SHARE && row->item == NULL;
    cell->is_empty |=
        row->aside != NULL && (column->id == RF_COLUMN_KINDS || column->id == RF_COLUMN_LINE ||
                               column->id == RF_COLUMN_A);
    cell->is_empty |= column->id == RF_COLUMN_LINE && cell->number == 0;
    cell->is_empty |= is_bound(column->id) && rf_view_estimates(work->view);
    cell->is_least = column->id == RF_COLUMN_KINDS && row->more;
    if (column->id == RF_COLUMN_TOP || column->id == RF_COLUMN_TOP_NAME)
        cell->text = instead_of_top(row);
    if (column->type != RF_CELL_TEXT || cell->is_empty)
        return RF_OK;
    print_text(work, row, column->id, text, sizeof text);
    cell->text = rf_view_keep(work->view, text);
    return cell->text != NULL ? RF_OK : RF_ENOMEM;
}

/* The names of what is shown, read in one go. */
static rf_status prepare(const struct rf_view_work *work)
{
    const struct rf_view *view = work->view;
    const size_t size = 2 * view->n_rows * sizeof(uint64_t);
    bool tuples = rf_shape_has_tuples(work->table.profile->shape);
    if (work->setup->symbols == NULL || view->n_rows == 0 || !tuples)
        return RF_OK;
    uint64_t *words = rf_alloc_get(&view->alloc, size);
    size_t n = 0;
    if (words == NULL)
        return RF_ENOMEM;
    for (size_t i = 0; i < view->n_rows; i++) {
        const struct rf_row *row = &work->rows.at[i];
        if (row->aside != NULL)
            continue;
        const struct rf_word *word = work->which == 0 ? &work->words.a : &work->words.b;
        if (view->by == RF_BY_ITEM ? work->words.a.meaning != RF_MEANS_NUMBER
                                   : word->meaning != RF_MEANS_NUMBER)
            words[n++] = row->word;
        if (row->item != NULL && work->words.b.meaning != RF_MEANS_NUMBER)
            words[n++] = row->item->b;
    }
    rf_status status = rf_view_prepare(work, words, n);
    rf_alloc_free(&view->alloc, words, size);
    return status;
}

/* ---- rows that became alike when their names were shortened ---- */

struct namesake {
    const char *text;
    size_t row;
};

static int by_text(const void *left, const void *right)
{
    const struct namesake *l = left, *r = right;
    int order = strcmp(l->text, r->text);
    return order != 0 ? order : (l->row > r->row) - (l->row < r->row);
}

/* Names some rows with so many arguments; returns how many different names they have, or 0. */
static size_t name_again(struct rf_view_work *work, struct namesake *rows, size_t n, size_t column,
                         unsigned kept)
{
    struct rf_view *view = work->view;
    size_t different = 0;
    work->kept = kept;
    for (size_t i = 0; i < n; i++) {
        struct rf_view_cell *cell = &view->cells[rows[i].row * view->n_columns + column];
        if (fill_cell(work, &work->rows.at[rows[i].row], &view->columns[column], cell) != RF_OK)
            return 0;
        rows[i].text = cell->text;
    }
    work->kept = 0;
    qsort(rows, n, sizeof *rows, by_text);
    for (size_t i = 0; i < n; i++)
        different += i == 0 || strcmp(rows[i].text, rows[i - 1].text) != 0;
    return different;
}

/* Of arguments as few stay as tell the rows apart. */
static bool tell_apart(struct rf_view_work *work, struct namesake *rows, size_t n, size_t column)
{
    enum { DEEPEST = 6 };
    const size_t most = name_again(work, rows, n, column, RF_VIEW_WHOLE);
    size_t different = most;
    unsigned kept = most > 1 ? 1 : 0;
    for (; most > 0 && kept <= DEEPEST; kept++) {
        different = name_again(work, rows, n, column, kept);
        if (different == most || different == 0)
            return different > 0;
    }
    return name_again(work, rows, n, column, RF_VIEW_WHOLE) > 0;
}

static bool names_rows(const struct rf_view *view, enum rf_column_id id)
{
    return (view->by == RF_BY_FUNCTION && id == RF_COLUMN_FUNCTION) ||
           (view->by == RF_BY_TARGET && id == RF_COLUMN_CALLEE) ||
           (view->by == RF_BY_REGION && id == RF_COLUMN_NAME);
}

static rf_status tell_column_apart(struct rf_view_work *work, size_t column)
{
    const struct rf_view *view = work->view;
    const size_t n = view->n_rows, size = n * sizeof(struct namesake);
    struct namesake *rows = rf_alloc_get(&view->alloc, size);
    bool told = rows != NULL;
    for (size_t i = 0; told && i < n; i++)
        rows[i] = (struct namesake){view->cells[i * view->n_columns + column].text, i};
    if (told)
        qsort(rows, n, sizeof *rows, by_text);
    for (size_t i = 0, end; told && i < n; i = end) {
        const char *first = rows[i].text;
        for (end = i + 1; end < n && strcmp(rows[end].text, first) == 0;)
            end++;
        if (end - i > 1 && first[0] != '\0')
            told = tell_apart(work, rows + i, end - i, column);
    }
    rf_alloc_free(&view->alloc, rows, size);
    return told ? RF_OK : RF_ENOMEM;
}

rf_status rf_view_make_cells(struct rf_view_work *work)
{
    struct rf_view *view = work->view;
    void *cells = NULL;
    rf_view_make_columns(work);
    rf_status status = prepare(work);
    if (status != RF_OK || view->n_rows == 0)
        return status;
    if (!rf_alloc_array(&view->alloc, &cells, 0, view->n_rows * view->n_columns,
                        sizeof *view->cells))
        return RF_ENOMEM;
    view->cells = cells;
    view->n_cells = view->n_rows * view->n_columns;
    for (size_t row = 0; row < view->n_rows && status == RF_OK; row++)
        for (size_t i = 0; i < view->n_columns && status == RF_OK; i++)
            status = fill_cell(work, &work->rows.at[row], &view->columns[i],
                               &view->cells[row * view->n_columns + i]);
    for (size_t i = 0; i < view->n_columns && status == RF_OK && !work->setup->full_names; i++)
        if (names_rows(view, view->columns[i].id))
            status = tell_column_apart(work, i);
    return status;
}
