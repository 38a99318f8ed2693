/* top.c - the live screen of riffle top.
 *
 *     lz   4.2 s   1,204 samples   250 per second             the feed's head
 *
 *        now    self   with callees   function (by now)
 *      61.2%   54.0%          54.0%   find_match.constprop.0
 *
 *     0 lost   31 MB   f functions  s stacks ...              the feed's foot, and the keys
 *
 * "now" is the share of what came between the last two looks; a row is known by its name from look to look. */
#include "top.h"
#include "screen.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROWS_MAX = 400, NAME = 200, HEAD = 3, INDENT_MAX = 60 };

enum order { BY_NOW, BY_SELF, BY_ALL };

struct line {
    char name[NAME];
    char more[NAME]; /* what it is not known by: source, the top value */
    uint64_t word;   /* of an instruction: several have one name */
    uint64_t count, self;
    double now; /* share of the events since the last look */
    unsigned depth;
};

struct cli_top {
    const struct cli_top_feed *feed;
    struct line lines[ROWS_MAX], before[ROWS_MAX];
    size_t n, n_before;
    uint64_t events, recent; /* that rows are shares of: now, and between the last two looks */
    double started, looked, since; /* seconds; since: between the last two looks */
    enum rf_view_by by;
    enum order order;
    size_t first;
    bool samples; /* rows are functions of stacks: they have a self */
    bool paused, over, left;
    char trouble[160];
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- what can be shown ---- */

static const struct {
    char key;
    enum rf_view_by by;
    const char *heading;
} kinds[] = {
    {'f', RF_BY_FUNCTION, "function"}, {'l', RF_BY_LINE, "line"},
    {'s', RF_BY_STACK, "stack"},       {'c', RF_BY_CALLER, "callers"},
    {'v', RF_BY_PC, "instruction"},    {'t', RF_BY_TARGET, "target"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const char *heading(enum rf_view_by by)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].by == by)
            return kinds[i].heading;
    return "";
}

static bool is_tree(const struct cli_top *top)
{
    return top->by == RF_BY_STACK || top->by == RF_BY_CALLER;
}

/* ---- rows ---- */

static uint64_t number(const struct rf_view *view, size_t row, enum rf_column_id id)
{
    const struct rf_view_cell *cell = rf_view_cell(view, row, id);
    return cell != NULL ? cell->number : 0;
}

static const char *name_of(const struct rf_view *view, size_t row)
{
    static const enum rf_column_id ids[] = {RF_COLUMN_PLACE, RF_COLUMN_FUNCTION, RF_COLUMN_CALLEE,
                                            RF_COLUMN_NAME, RF_COLUMN_FILE};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const struct rf_view_cell *cell = rf_view_cell(view, row, ids[i]);
        if (cell != NULL && cell->text[0] != '\0')
            return cell->text;
    }
    return "?";
}

/* Of a line its text, of an instruction the value that it had most often. */
static void print_more(const struct rf_view *view, size_t row, char *text, size_t size)
{
    const struct rf_view_cell *source = rf_view_cell(view, row, RF_COLUMN_SOURCE);
    const struct rf_view_cell *value = rf_view_cell(view, row, RF_COLUMN_TOP);
    const struct rf_view_cell *share = rf_view_cell(view, row, RF_COLUMN_TOP_SHARE);
    text[0] = '\0';
    if (source != NULL)
        snprintf(text, size, "  %s", source->text + strspn(source->text, " \t"));
    else if (value != NULL && share != NULL && !value->is_empty)
        snprintf(text, size, ": 0x%llx in %.1f%%", (unsigned long long)value->number,
                 100 * share->share);
}

/* The share of the last moments: of a function alone, of a node of a tree with all below it. */
static uint64_t told(const struct cli_top *top, const struct line *line)
{
    return top->samples && !is_tree(top) ? line->self : line->count;
}

/* What a row had at the last look. */
static uint64_t count_before(const struct cli_top *top, size_t row)
{
    const struct line *line = &top->lines[row];
    for (size_t i = 0; i < top->n_before; i++)
        if (top->before[i].word == line->word && top->before[i].depth == line->depth &&
            strcmp(top->before[i].name, line->name) == 0)
            return told(top, &top->before[i]);
    return 0;
}

static void take_row(struct cli_top *top, const struct rf_view *view, size_t row)
{
    struct line *line = &top->lines[top->n++];
    line->count = number(view, row, RF_COLUMN_COUNT);
    line->self = number(view, row, RF_COLUMN_SELF_COUNT);
    line->depth = (unsigned)number(view, row, RF_COLUMN_DEPTH);
    const char *name = name_of(view, row);
    int indent = !is_tree(top) || name[0] == ' ' ? 0 : 2 * (int)line->depth;
    snprintf(line->name, sizeof line->name, "%*s%s", indent > INDENT_MAX ? INDENT_MAX : indent, "",
             name);
    line->word = number(view, row, RF_COLUMN_WORD);
    print_more(view, row, line->more, sizeof line->more);
    uint64_t before = count_before(top, top->n - 1);
    line->now = top->recent > 0 && told(top, line) > before
                    ? (double)(told(top, line) - before) / (double)top->recent
                    : 0;
}

static int by_order(const void *left, const void *right, void *order)
{
    const struct line *l = left, *r = right;
    if (*(enum order *)order == BY_NOW && (l->now < r->now || l->now > r->now))
        return l->now > r->now ? -1 : 1;
    if (*(enum order *)order == BY_SELF && l->self != r->self)
        return l->self > r->self ? -1 : 1;
    return l->count != r->count ? (l->count > r->count ? -1 : 1) : strcmp(l->name, r->name);
}

static void sort(struct cli_top *top)
{
    if (!is_tree(top))
        qsort_r(top->lines, top->n, sizeof *top->lines, by_order, &top->order);
}

/* False, and the trouble is told: there are no such rows. */
static bool fill(struct cli_top *top)
{
    struct rf_view view;
    struct rf_error error = {""};
    uint64_t before = top->events;
    memcpy(top->before, top->lines, sizeof top->before);
    top->n_before = top->n;
    top->n = 0;
    if (top->feed->is_empty(top->feed->context))
        return true;
    if (top->feed->view(top->feed->context, top->by, ROWS_MAX, &view, &error) != RF_OK) {
        snprintf(top->trouble, sizeof top->trouble, "%.150s", error.message);
        return false;
    }
    top->trouble[0] = '\0';
    top->events = view.events;
    top->recent = view.events > before ? view.events - before : 0;
    top->samples = rf_view_column(&view, RF_COLUMN_SELF_COUNT) != NULL;
    for (size_t row = 0; row < view.n_rows && row < ROWS_MAX; row++)
        take_row(top, &view, row);
    rf_view_close(&view);
    sort(top);
    return true;
}

static void look(struct cli_top *top)
{
    double now = seconds();
    top->since = now - top->looked;
    top->looked = now;
    fill(top);
}

/* ---- drawing ---- */

double cli_top_memory(long pid)
{
    char path[64];
    long pages = 0, resident = 0;
    snprintf(path, sizeof path, pid > 0 ? "/proc/%ld/statm" : "/proc/self/statm", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL || fscanf(file, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
    if (file != NULL)
        fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) * 1e-6;
}

static void draw_columns(const struct cli_top *top)
{
    static const char *const orders[] = {" (by now)", " (by self)", " (by all)"};
    char text[160];
    snprintf(text, sizeof text, "    now  %s%s%s",
             top->samples ? "  self  with callees  " : "   all  ", heading(top->by),
             is_tree(top) ? "" : orders[top->order]);
    cli_screen_line(2, text, true);
}

static void draw_ends(const struct cli_top *top, int last)
{
    char text[512];
    size_t n;
    const struct cli_top_feed *feed = top->feed;
    const struct cli_top_pace pace = {top->looked - top->started,
                                      top->since > 0 ? (double)top->recent / top->since : 0};
    n = (size_t)snprintf(text, sizeof text, "%s%s", top->paused ? "paused   " : "",
                         top->over ? "ended   " : ""); /* first: the rest may not fit */
    feed->head(feed->context, &pace, text + n, sizeof text - n);
    cli_screen_line(0, text, true);
    feed->foot(feed->context, text, sizeof text);
    n = strlen(text);
    snprintf(text + n, sizeof text - n, "   %s",
             top->trouble[0] != '\0' ? top->trouble : feed->keys);
    cli_screen_line(last, text, false);
}

static void print_line(const struct cli_top *top, const struct line *line, char *text, size_t size)
{
    double all = top->events > 0 ? (double)top->events : 1;
    if (top->samples)
        snprintf(text, size, " %5.1f%%  %5.1f%%         %5.1f%%  %s%s", 100 * line->now,
                 100 * (double)line->self / all, 100 * (double)line->count / all, line->name,
                 line->more);
    else
        snprintf(text, size, " %5.1f%%  %5.1f%%  %s%s", 100 * line->now,
                 100 * (double)line->count / all, line->name, line->more);
}

static void draw(const struct cli_top *top)
{
    int rows, columns;
    cli_screen_size(&rows, &columns);
    cli_screen_begin();
    draw_ends(top, rows - 1);
    draw_columns(top);
    for (size_t i = top->first; i < top->n && HEAD + (int)(i - top->first) < rows - 1; i++) {
        char text[2 * NAME + 64];
        int row = HEAD + (int)(i - top->first);
        print_line(top, &top->lines[i], text, sizeof text);
        cli_screen_line(row, text, false);
        cli_screen_bar(row, 0, top->samples ? 31 : 16, top->lines[i].now);
    }
    cli_screen_end();
}

/* ---- keys ---- */

/* The share of the last moments is empty until the next look. */
static bool show_first(struct cli_top *top, enum rf_view_by by)
{
    top->by = by;
    top->first = 0;
    bool good = fill(top);
    top->recent = 0;
    for (size_t i = 0; i < top->n; i++)
        top->lines[i].now = 0;
    sort(top);
    return good;
}

/* Rows that are not known are not shown, and the last line says why. */
static void change_view(struct cli_top *top, enum rf_view_by by)
{
    enum rf_view_by before = top->by;
    char trouble[sizeof top->trouble];
    if (show_first(top, by))
        return;
    memcpy(trouble, top->trouble, sizeof trouble);
    show_first(top, before);
    memcpy(top->trouble, trouble, sizeof trouble);
}

static void leave(struct cli_top *top)
{
    top->left = true;
    if (top->feed->quit != NULL)
        top->feed->quit(top->feed->context);
}

static bool choose(struct cli_top *top, int key)
{
    const struct cli_top_feed *feed = top->feed;
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].key == key) {
            if (feed->choose != NULL)
                feed->choose(feed->context, kinds[i].by);
            change_view(top, kinds[i].by);
        }
    if (key == 'n' && feed->next != NULL) {
        feed->next(feed->context, top->by);
        change_view(top, top->by);
    }
    return true;
}

/* True: something is to be drawn. */
static bool obey(struct cli_top *top, int key)
{
    switch (key) {
    case 'q':
    case 3: /* Ctrl-C, where the terminal does not make a signal of it */
        leave(top);
        return false;
    case 'p':
        top->paused = !top->paused;
        return true;
    case 'o':
        top->order = (top->order + 1) % 3;
        if (top->order == BY_SELF && !top->samples)
            top->order = BY_ALL;
        sort(top);
        return true;
    case 'j':
        top->first += top->first + 1 < top->n;
        return true;
    case 'k':
        top->first -= top->first > 0;
        return true;
    default:
        return choose(top, key);
    }
}

bool cli_top_tick(struct cli_top *top)
{
    bool changed = false;
    for (int key = cli_screen_key(); key != 0 && !top->left; key = cli_screen_key())
        changed |= obey(top, key);
    bool due = !top->paused && !top->over &&
               top->feed->is_fresh(top->feed->context, seconds() - top->looked);
    if (due)
        look(top);
    if (changed || due)
        draw(top);
    return !top->left;
}

bool cli_top_linger(struct cli_top *top, const volatile int *stop)
{
    const struct timespec pause = {0, 50000000};
    if (top->left || *stop)
        return false;
    top->paused = false;
    look(top);
    top->over = true;
    draw(top);
    while (cli_top_tick(top) && !*stop)
        nanosleep(&pause, NULL);
    return true;
}

bool cli_top_was_left(const struct cli_top *top)
{
    return top->left;
}

/* ---- ends ---- */

struct cli_top *cli_top_open(const struct cli_top_feed *feed)
{
    struct cli_top *top = calloc(1, sizeof *top);
    if (top == NULL)
        return NULL;
    top->feed = feed;
    top->by = feed->by;
    top->started = top->looked = seconds();
    draw(top);
    return top;
}

void cli_top_close(struct cli_top *top)
{
    free(top);
}
