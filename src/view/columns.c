/* columns.c - which columns a view has.
 *
 * They are listed in the order of data: what a row is, its count, the rest. For people the forms take them in the
 * order of enum rf_column_id: shares first, names last. */
#include "view/view.h"
#include <stdio.h>
#include <string.h>

enum { BOTH = RF_FOR_PEOPLE | RF_FOR_TOOLS };

static void add(struct rf_view *view, enum rf_column_id id, enum rf_cell_type type,
                const char *name, unsigned shown)
{
    struct rf_view_column *column = &view->columns[view->n_columns++];
    *column = (struct rf_view_column){.id = id, .type = type, .name = name, .shown = shown};
    snprintf(column->heading, sizeof column->heading, "%s", name);
}

static void add_headed(struct rf_view *view, enum rf_column_id id, enum rf_cell_type type,
                       const char *name, const char *heading, unsigned shown)
{
    add(view, id, type, name, shown);
    struct rf_view_column *column = &view->columns[view->n_columns - 1];
    snprintf(column->heading, sizeof column->heading, "%s", heading);
}

static enum rf_cell_type type_of(const struct rf_word *word)
{
    return rf_view_is_decimal(word) ? RF_CELL_NUMBER : RF_CELL_HEX;
}

/* People see names in place of code addresses. */
static void add_word(const struct rf_view_work *work, enum rf_column_id id,
                     const struct rf_word *word)
{
    bool named = word->meaning == RF_MEANS_CODE && work->setup->symbols != NULL;
    add(work->view, id, type_of(word), word->name, named ? RF_FOR_TOOLS | RF_FOR_DETAILS : BOTH);
}

static void add_counts(struct rf_view *view)
{
    const char *noun = rf_view_noun(view->profile, 2);
    bool of_bare = strcmp(noun, "events") == 0;
    add_headed(view, RF_COLUMN_SHARE, RF_CELL_SHARE, "share", of_bare ? "share" : noun,
               RF_FOR_PEOPLE);
    add(view, RF_COLUMN_COUNT, RF_CELL_COUNT, "count", BOTH);
    add_headed(view, RF_COLUMN_LOWER, RF_CELL_COUNT, "lower", "at least",
               RF_FOR_TOOLS | RF_FOR_DETAILS);
    add_headed(view, RF_COLUMN_UPPER, RF_CELL_COUNT, "upper", "at most",
               RF_FOR_TOOLS | RF_FOR_DETAILS);
    add(view, RF_COLUMN_BOUND, RF_CELL_TEXT, "bound", RF_FOR_TOOLS);
}

static bool has_code(const struct rf_view_work *work)
{
    return work->setup->symbols != NULL && work->words.by_pc;
}

static void add_place(const struct rf_view_work *work, const char *heading)
{
    if (has_code(work)) {
        add(work->view, RF_COLUMN_FUNCTION, RF_CELL_TEXT, "function", RF_FOR_TOOLS);
        add(work->view, RF_COLUMN_FILE, RF_CELL_TEXT, "file", RF_FOR_TOOLS);
        add(work->view, RF_COLUMN_LINE, RF_CELL_NUMBER, "line", RF_FOR_TOOLS);
        add(work->view, RF_COLUMN_MODULE, RF_CELL_TEXT, "module", RF_FOR_TOOLS);
    }
    add_headed(work->view, RF_COLUMN_PLACE, RF_CELL_TEXT, "place", heading, RF_FOR_PEOPLE);
}

static const char *heading_of_places(const struct rf_view_work *work)
{
    enum rf_meaning a = work->words.a.meaning, b = work->words.b.meaning;
    if (!rf_shape_has_tuples(work->table.profile->shape))
        return "covers";
    if (a == RF_MEANS_CODE && b == RF_MEANS_CODE)
        return work->words.calls ? "caller -> callee" : "from -> to";
    if (a == RF_MEANS_CODE && b == RF_MEANS_DATA)
        return "place at data";
    return a == RF_MEANS_DATA || b == RF_MEANS_DATA ? "data" : "place";
}

static bool has_places(const struct rf_view_work *work)
{
    unsigned shape = work->table.profile->shape;
    bool a = shape != RF_SHAPE_RANGE_B && work->words.a.meaning != RF_MEANS_NUMBER;
    bool b = shape != RF_SHAPE_RANGE_A && work->words.b.meaning != RF_MEANS_NUMBER;
    return work->setup->symbols != NULL && (a || b);
}

static void add_ranges(const struct rf_view_work *work)
{
    struct rf_view *view = work->view;
    unsigned shape = work->table.profile->shape;
    bool both = shape == RF_SHAPE_RECTANGLE;
    if (shape != RF_SHAPE_RANGE_B) {
        add_headed(view, RF_COLUMN_A, type_of(&work->words.a), both ? "a_lo" : "lo",
                   both ? "a from" : "from", BOTH);
        add_headed(view, RF_COLUMN_A_HI, type_of(&work->words.a), both ? "a_hi" : "hi",
                   both ? "a to" : "to", BOTH);
    }
    if (shape != RF_SHAPE_RANGE_A) {
        add_headed(view, RF_COLUMN_B, type_of(&work->words.b), both ? "b_lo" : "lo",
                   both ? "b from" : "from", BOTH);
        add_headed(view, RF_COLUMN_B_HI, type_of(&work->words.b), both ? "b_hi" : "hi",
                   both ? "b to" : "to", BOTH);
    }
    add_counts(view);
    add_headed(view, RF_COLUMN_TOTAL, RF_CELL_COUNT, "total", "with inner", BOTH);
}

static void add_tuples(const struct rf_view_work *work)
{
    struct rf_view *view = work->view;
    if (work->table.profile->shape == RF_SHAPE_STREAM) {
        add(view, RF_COLUMN_STREAM, RF_CELL_HEX, "stream", RF_FOR_TOOLS);
        add(view, RF_COLUMN_LENGTH, RF_CELL_NUMBER, "length", BOTH);
        add(view, RF_COLUMN_POSITION, RF_CELL_NUMBER, "position", RF_FOR_TOOLS);
        add(view, RF_COLUMN_HEAT, RF_CELL_COUNT, "heat", BOTH);
    }
    add_word(work, RF_COLUMN_A, &work->words.a);
    if (work->words.b.name[0] != '\0')
        add_word(work, RF_COLUMN_B, &work->words.b);
    if (rf_view_find_word(&work->words, RF_FIELD_THREAD) >= 0)
        add_headed(view, RF_COLUMN_NAME, RF_CELL_TEXT, "thread_name", "name", BOTH);
    add_counts(view);
    if (work->table.profile->shape == RF_SHAPE_STREAM)
        snprintf(view->columns[view->n_columns - 4].heading, 40, "times");
}

static void columns_of_items(const struct rf_view_work *work)
{
    struct rf_view *view = work->view;
    if (rf_shape_has_tuples(work->table.profile->shape))
        add_tuples(work);
    else
        add_ranges(work);
    if (work->table.profile->n_intervals_seen > 0 && work->setup->interval == NULL)
        add(view, RF_COLUMN_INTERVALS, RF_CELL_COUNT, "intervals", RF_FOR_TOOLS | RF_FOR_DETAILS);
    if (has_places(work))
        add_place(work, heading_of_places(work));
    if (has_places(work) && work->words.b.meaning == RF_MEANS_CODE)
        add(view, RF_COLUMN_CALLEE, RF_CELL_TEXT, "callee", RF_FOR_TOOLS);
}

/* "values", "addresses" */
static const char *many(const struct rf_word *word)
{
    static const struct {
        unsigned field;
        const char *text;
    } words[] = {{RF_FIELD_VALUE, "values"},   {RF_FIELD_TARGET, "targets"},
                 {RF_FIELD_ADDR, "addresses"}, {RF_FIELD_TAKEN, "ways"},
                 {RF_FIELD_WIDTH, "widths"},   {RF_FIELD_THREAD, "threads"},
                 {RF_FIELD_WRITER, "stores"},  {RF_FIELD_DISTANCE, "distances"},
                 {RF_FIELD_PC, "places"},      {RF_FIELD_SIZE, "sizes"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].field == word->field)
            return words[i].text;
    return "kinds";
}

static bool top_has_name(const struct rf_view_work *work)
{
    const struct rf_word *b = &work->words.b;
    return b->field == RF_FIELD_TAKEN ||
           (b->meaning != RF_MEANS_NUMBER && work->setup->symbols != NULL);
}

static void add_top(const struct rf_view_work *work)
{
    struct rf_view *view = work->view;
    const struct rf_word *b = &work->words.b;
    char heading[40], name[40];
    snprintf(name, sizeof name, "top_%s", b->name);
    const char *kept = rf_view_keep(view, name);
    add(view, RF_COLUMN_KINDS, RF_CELL_NUMBER, many(b), BOTH);
    snprintf(heading, sizeof heading, b->field == RF_FIELD_TAKEN ? "mostly" : "top %s",
             rf_view_asks_data(work) ? "region" : b->name);
    add_headed(view, RF_COLUMN_TOP, type_of(b), kept != NULL ? kept : "top", heading,
               top_has_name(work) ? RF_FOR_TOOLS : BOTH);
    if (top_has_name(work))
        add_headed(view, RF_COLUMN_TOP_NAME, RF_CELL_TEXT, "top_name", heading, BOTH);
    add(view, RF_COLUMN_TOP_COUNT, RF_CELL_COUNT, "top_count", RF_FOR_TOOLS);
    add(view, RF_COLUMN_TOP_LOWER, RF_CELL_COUNT, "top_lower", RF_FOR_TOOLS);
    add(view, RF_COLUMN_TOP_UPPER, RF_CELL_COUNT, "top_upper", RF_FOR_TOOLS);
    const char *noun = rf_view_noun(view->profile, 1), *space = strrchr(noun, ' ');
    snprintf(heading, sizeof heading, "of this %s", space != NULL ? space + 1 : noun);
    add_headed(view, RF_COLUMN_TOP_SHARE, RF_CELL_SHARE, "top_share", heading, RF_FOR_PEOPLE);
}

static void columns_of_sites(const struct rf_view_work *work)
{
    add_word(work, RF_COLUMN_A, work->which == 0 ? &work->words.a : &work->words.b);
    add(work->view, RF_COLUMN_WORD, RF_CELL_HEX, "word", 0);
    add_counts(work->view);
    if (work->which == 0 && work->words.b.name[0] != '\0')
        add_top(work);
    if (has_code(work))
        add_place(work, "place");
}

static void columns_of_words(const struct rf_view_work *work)
{
    const struct rf_word *word = work->which == 0 ? &work->words.a : &work->words.b;
    bool named = word->meaning == RF_MEANS_CODE && work->setup->symbols != NULL;
    add(work->view, RF_COLUMN_A, type_of(word), word->name, named ? RF_FOR_TOOLS : BOTH);
    add_counts(work->view);
    if (named)
        add_headed(work->view, RF_COLUMN_CALLEE, RF_CELL_TEXT, "function", word->name, BOTH);
}

/* Functions with what they call. Of callers nobody asks what they do themselves. */
static void columns_of_stacks(const struct rf_view_work *work)
{
    struct rf_view *view = work->view;
    bool is_tree = view->by != RF_BY_FUNCTION;
    add(view, RF_COLUMN_FUNCTION, RF_CELL_TEXT, "function", is_tree ? RF_FOR_TOOLS : BOTH);
    add(view, RF_COLUMN_MODULE, RF_CELL_TEXT, "module", BOTH);
    add_counts(view);
    snprintf(view->columns[2].heading, sizeof view->columns[2].heading, "%s",
             view->by == RF_BY_CALLER ? "through here" : "with callees");
    snprintf(view->columns[3].heading, sizeof view->columns[3].heading, "samples");
    if (view->by != RF_BY_CALLER) {
        add(view, RF_COLUMN_SELF, RF_CELL_SHARE, "self", RF_FOR_PEOPLE);
        add(view, RF_COLUMN_SELF_COUNT, RF_CELL_COUNT, "self_count", RF_FOR_TOOLS);
    }
    if (is_tree) {
        add(view, RF_COLUMN_DEPTH, RF_CELL_NUMBER, "depth", RF_FOR_TOOLS);
        add_headed(view, RF_COLUMN_PLACE, RF_CELL_TEXT, "place",
                   view->by == RF_BY_CALLER ? "function, and who calls it" : "function",
                   RF_FOR_PEOPLE);
    }
}

void rf_view_make_columns(const struct rf_view_work *work)
{
    struct rf_view *view = work->view;
    bool functions = view->by == RF_BY_FUNCTION || view->by >= RF_BY_STACK;
    if (rf_view_has_stacks(&work->words) && functions) {
        columns_of_stacks(work);
        return;
    }
    switch (view->by) {
    case RF_BY_FUNCTION:
        add(view, RF_COLUMN_FUNCTION, RF_CELL_TEXT, "function", BOTH);
        add(view, RF_COLUMN_MODULE, RF_CELL_TEXT, "module", BOTH);
        add_counts(view);
        break;
    case RF_BY_LINE:
        add(view, RF_COLUMN_FILE, RF_CELL_TEXT, "file", RF_FOR_TOOLS);
        add(view, RF_COLUMN_LINE, RF_CELL_NUMBER, "line", RF_FOR_TOOLS);
        add(view, RF_COLUMN_FUNCTION, RF_CELL_TEXT, "function", RF_FOR_TOOLS);
        add(view, RF_COLUMN_MODULE, RF_CELL_TEXT, "module", RF_FOR_TOOLS);
        add_counts(view);
        add_headed(view, RF_COLUMN_PLACE, RF_CELL_TEXT, "place", "line", RF_FOR_PEOPLE);
        if (work->setup->sources)
            add(view, RF_COLUMN_SOURCE, RF_CELL_TEXT, "source", RF_FOR_PEOPLE);
        break;
    case RF_BY_MODULE:
        add(view, RF_COLUMN_MODULE, RF_CELL_TEXT, "module", BOTH);
        add_counts(view);
        break;
    case RF_BY_REGION:
        add(view, RF_COLUMN_NAME, RF_CELL_TEXT, "region", BOTH);
        add_counts(view);
        break;
    case RF_BY_PROCESS:
        if (rf_profile_figure(view->profile, "process", 0) > 0)
            add(view, RF_COLUMN_NUMBER, RF_CELL_NUMBER, "process", BOTH);
        add(view, RF_COLUMN_NAME, RF_CELL_TEXT, "program", BOTH);
        add_counts(view);
        break;
    case RF_BY_THREAD:
        add(view, RF_COLUMN_NUMBER, RF_CELL_NUMBER, rf_view_by_name(view->by), BOTH);
        add(view, RF_COLUMN_NAME, RF_CELL_TEXT, "name", BOTH);
        add_counts(view);
        break;
    case RF_BY_PC:
        columns_of_sites(work);
        break;
    case RF_BY_ITEM:
        columns_of_items(work);
        break;
    default:
        columns_of_words(work);
        break;
    }
}
