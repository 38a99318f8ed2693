/* overview.c - the first screen: where a program spends its instructions, on which lines, and what is odd there.
 *
 *     rank   130.2 M instructions   43.3 M loads   0.66 s
 *
 *     instructions  function   module
 *            99.8%  spread     rank
 *
 *     instructions  line       source
 *            74.9%  rank.c:44  sum += share[to][from] * rank[from];
 *
 *     worth a look
 *       loads 0 in 98.7% of 21.6 M loads             rank.c:44 spread
 *
 * Worth a look are, by how many events they are: loads of one value in nine cases out of ten; indirect calls of one
 * target; branches that go both ways about as often. A thing is listed only where its bounds say so, too. */
#include "report/report.h"
#include <inttypes.h>
#include <riffle/text.h>
#include <stdlib.h>
#include <string.h>

enum {
    FUNCTIONS = 6,
    LINES = 6,
    SEARCHED = 2000, /* the heaviest instructions that are looked at */
    FINDINGS = 5,
    OF_A_KIND = 3,
    CANDIDATES = 40,
    NAME = 200,
    SENTENCE = 400,
    PLACE = 1000,
    SCREEN_LINES = 2, /* that a row may take */
};

#define FAINT 0.005 /* the same for a line */
#define SMALL                                                                                      \
    0.0005 /* the share of all instructions that a function or line must have to be shown */
#define RATHER 0.001 /* that many events per instruction make a thing worth a look */

/* Readable, and with a mark where the room was too small. */
static void keep_text(char *out, size_t size, const char *text)
{
    if (rf_text_readable(out, size, text) >= size)
        rf_report_cut(out, rf_text_width(out) - 1);
}

/* ---- one line on the run ---- */

/* "./rank" as "rank". */
static const char *program_of(const struct rf_run *run)
{
    const char *program = rf_run_note(run, RF_NOTE_PROGRAM);
    const char *slash = program != NULL ? strrchr(program, '/') : NULL;
    if (slash != NULL && slash[1] != '\0')
        return slash + 1;
    return program;
}

/* Is the kind of events told by an earlier profile? */
static bool is_told(const struct rf_run *run, size_t i)
{
    const char *noun = rf_view_noun(run->profiles[i], 2);
    for (size_t k = 0; k < i; k++)
        if (strcmp(rf_view_noun(run->profiles[k], 2), noun) == 0 &&
            (run->profiles[k]->consumed == run->profiles[i]->consumed ||
             rf_profile_figure(run->profiles[i], "process", 0) > 0))
            return true;
    return false;
}

/* The line that is being written, and what of its width is used. */
struct line {
    FILE *out;
    size_t width, used;
};

/* A piece goes to the next line where this one is full. */
static void add_piece(struct line *line, const char *piece)
{
    static const char gap[] = "   ";
    const size_t n = rf_text_width(piece);
    bool full = line->used > 0 && line->width > 0 && line->used + sizeof gap - 1 + n > line->width;
    fprintf(line->out, "%s%s%s", full ? "\n" : "", line->used > 0 ? gap : "", piece);
    line->used = full ? sizeof gap - 1 + n : line->used + (line->used > 0 ? sizeof gap - 1 : 0) + n;
}

static bool is_alike(const struct rf_profile *left, const struct rf_profile *right)
{
    return strcmp(left->selector, right->selector) == 0 && strcmp(left->engine, right->engine) == 0;
}

/* Of all processes, where each has a profile of its own. */
static void add_events(struct line *line, const struct rf_run *run, size_t i)
{
    char number[RF_REPORT_NUMBER_MAX], lost[64] = "", piece[256];
    const struct rf_profile *profile = run->profiles[i];
    uint64_t n = profile->consumed, n_lost = profile->lost;
    bool apart = rf_profile_figure(profile, "process", 0) > 0;
    for (size_t k = i + 1; apart && k < run->n_profiles; k++)
        if (is_alike(profile, run->profiles[k])) {
            n += run->profiles[k]->consumed;
            n_lost += run->profiles[k]->lost;
        }
    if (n_lost > 0)
        snprintf(lost, sizeof lost, " (%s lost)", rf_report_short(number, n_lost));
    snprintf(piece, sizeof piece, "%s %s%s", rf_report_short(number, n), rf_view_noun(profile, n),
             lost);
    add_piece(line, piece);
}

static void add_seconds(struct line *line, const struct rf_run *run)
{
    char piece[64];
    const char *seconds = rf_run_note(run, "seconds");
    size_t n = seconds != NULL ? strspn(seconds, "0123456789.") : 0;
    snprintf(piece, sizeof piece, "%.*s s", (int)(n < 32 ? n : 32), seconds != NULL ? seconds : "");
    if (n > 0)
        add_piece(line, piece);
}

/* A long list ends at its number. */
static void write_note(FILE *out, const struct rf_report_setup *setup, const struct rf_note *note)
{
    enum { LONG = 66 };
    const char *colon = strchr(note->text, ':');
    bool is_list =
        strcmp(note->name, "processes") == 0 && colon != NULL && strlen(note->text) > LONG;
    if (is_list)
        rf_report_fact(out, setup, note->name, "%.*s (--details lists them)",
                       (int)(colon - note->text), note->text);
    else
        rf_report_note(out, setup, note);
}

/* Where a profile went over from exact counts to bounds. */
static void write_changes(FILE *out, const struct rf_run *run, const struct rf_report_setup *setup)
{
    char number[RF_REPORT_NUMBER_MAX], text[RF_REPORT_TEXT_MAX];
    for (size_t i = 0; !setup->details && i < run->n_profiles; i++) {
        const struct rf_profile *profile = run->profiles[i];
        double until = rf_profile_figure(profile, "exact-until", -1);
        if (until < 0 || rf_profile_is_companion(profile))
            continue;
        snprintf(text, sizeof text, "%.*s%sexact for %s %s, with bounds from there on",
                 RF_REPORT_TEXT_MAX / 2, profile->selector,
                 profile->selector[0] != '\0' ? ": " : "", rf_report_short(number, (uint64_t)until),
                 rf_view_noun(profile, (uint64_t)until));
        rf_report_outside(out, setup, "bounded", text);
    }
}

/* Notes that say what the numbers mean, whatever is asked for. */
static void write_notes(FILE *out, const struct rf_run *run, const struct rf_report_setup *setup)
{
    static const char *const told[] = {"killed",       "misses", "fault",       "failure",
                                       "incomplete",   "blind",  "processes",   "threads",
                                       "not-followed", "bursts", "unprofiled",  "cycles",
                                       "ipc",          "stalls", "unknown-call"};
    for (size_t i = 0; !setup->details && i < run->n_notes; i++)
        for (size_t k = 0; k < sizeof told / sizeof *told; k++)
            if (strcmp(run->notes[i].name, told[k]) == 0)
                write_note(out, setup, &run->notes[i]);
}

void rf_report_run_line(FILE *out, const struct rf_run *run, const struct rf_report_setup *setup,
                        size_t most)
{
    char program[PLACE];
    struct line line = {.out = out, .width = (size_t)setup->width};
    size_t n = 0;
    if (program_of(run) != NULL) {
        keep_text(program, sizeof program, program_of(run));
        add_piece(&line, program);
    }
    for (size_t i = 0; i < run->n_profiles && n < most; i++)
        if (!rf_profile_is_companion(run->profiles[i]) && !is_told(run, i)) {
            add_events(&line, run, i);
            n++;
        }
    add_seconds(&line, run);
    fputc('\n', out);
    write_changes(out, run, setup);
    write_notes(out, run, setup);
}

/* ---- where ---- */

/* What a profile counts, of whatever thread. */
static void print_threadless(const struct rf_profile *profile, char *text, size_t size)
{
    struct rf_selector selector;
    text[0] = '\0';
    if (rf_profile_selector(profile, &selector) != RF_OK)
        return;
    unsigned n = 0;
    for (unsigned i = 0; i < selector.n_conditions; i++)
        if (selector.conditions[i].field != RF_FIELD_THREAD)
            selector.conditions[n++] = selector.conditions[i];
    selector.n_conditions = (uint8_t)n;
    rf_selector_print(&selector, text, size);
}

static const struct rf_profile *find(const struct rf_run *run, const char *selector)
{
    for (size_t i = 0; i < run->n_profiles; i++) {
        char text[256];
        print_threadless(run->profiles[i], text, sizeof text);
        if (strcmp(text, selector) == 0)
            return run->profiles[i];
    }
    return NULL;
}

static void hide(struct rf_view *view, enum rf_column_id id)
{
    for (size_t i = 0; i < view->n_columns; i++)
        if (view->columns[i].id == id)
            view->columns[i].shown = 0;
}

/* What fits one screen, unless something else is asked for. */
static void fit_screen(struct rf_view_setup *question, const struct rf_report_setup *setup,
                       uint64_t rows, double share_min)
{
    if (!setup->all_rows)
        question->rows = rows;
    if (question->share_min <= 0)
        question->share_min = setup->all_rows ? 0 : share_min;
}

static rf_status write_functions(FILE *out, const struct rf_run *run, const struct rf_profile *code,
                                 const struct rf_report_setup *setup, struct rf_error *error)
{
    struct rf_view view;
    struct rf_view_setup question = setup->view;
    question.by = RF_BY_FUNCTION;
    fit_screen(&question, setup, FUNCTIONS, SMALL);
    rf_status status = rf_view_open(&view, run, code, &question, error);
    if (status != RF_OK)
        return status;
    hide(&view, RF_COLUMN_COUNT);
    fputc('\n', out);
    status = rf_report_rows(out, &view, setup, SCREEN_LINES);
    rf_view_close(&view);
    return status;
}

/* Without lines: instructions. */
static rf_status write_instructions(FILE *out, const struct rf_run *run,
                                    const struct rf_profile *code,
                                    const struct rf_report_setup *setup, struct rf_error *error)
{
    struct rf_view view;
    struct rf_view_setup question = setup->view;
    question.by = RF_BY_PC;
    fit_screen(&question, setup, LINES, 0);
    rf_status status = rf_view_open(&view, run, code, &question, error);
    if (status != RF_OK)
        return status;
    hide(&view, RF_COLUMN_COUNT);
    status = rf_report_rows(out, &view, setup, SCREEN_LINES);
    rf_view_close(&view);
    return status;
}

static rf_status write_lines(FILE *out, const struct rf_run *run, const struct rf_profile *code,
                             const struct rf_report_setup *setup, struct rf_error *error)
{
    struct rf_view view;
    struct rf_view_setup question = setup->view;
    question.by = RF_BY_LINE;
    fit_screen(&question, setup, LINES, FAINT);
    rf_status status = rf_view_open(&view, run, code, &question, error);
    if (status != RF_OK)
        return status;
    bool has_lines = view.n_rows > 0 && !rf_view_cell(&view, 0, RF_COLUMN_LINE)->is_empty;
    hide(&view, RF_COLUMN_COUNT);
    fputc('\n', out);
    if (has_lines)
        status = rf_report_rows(out, &view, setup, SCREEN_LINES);
    else
        status = write_instructions(out, run, code, setup, error);
    rf_view_close(&view);
    return status;
}

/* ---- worth a look ---- */

struct finding {
    uint64_t count;
    char sentence[SENTENCE]; /* both readable */
    char place[PLACE];
};

struct findings {
    struct finding at[3 * OF_A_KIND + 1]; /* the last has room for one that is not taken */
    size_t n;
};

static bool is_stub(const char *place)
{
    return strstr(place, "@plt") != NULL;
}

/* Two instructions of one line that do the same are told once. */
static bool is_new(const struct findings *findings, const struct finding *finding)
{
    for (size_t i = 0; i < findings->n; i++)
        if (strcmp(findings->at[i].sentence, finding->sentence) == 0 &&
            strcmp(findings->at[i].place, finding->place) == 0)
            return false;
    return true;
}

static bool add_finding(struct findings *findings, const struct rf_view *view, size_t row,
                        const char *sentence)
{
    struct finding *finding = &findings->at[findings->n];
    finding->count = rf_view_cell(view, row, RF_COLUMN_COUNT)->number;
    snprintf(finding->sentence, SENTENCE, "%s", sentence);
    keep_text(finding->place, PLACE, rf_view_cell(view, row, RF_COLUMN_PLACE)->text);
    bool good = is_new(findings, finding);
    findings->n += good;
    return good;
}

/* A kind of finding: which rows are one, and what is said of them. */
struct kind {
    const char *selector;
    double low, high; /* the share of the most frequent item must lie in there */
    void (*tell)(char *sentence, size_t size, const struct rf_view *view, size_t row,
                 const char *value); /* what the most frequent item is called; "": nothing */
};

static void tell_share(char *text, size_t size, const struct rf_view *view, size_t row)
{
    rf_report_share(text, size, rf_view_cell(view, row, RF_COLUMN_TOP_SHARE), view->profile->bound);
}

static const char *tell_count(char number[RF_REPORT_NUMBER_MAX], const struct rf_view *view,
                              size_t row)
{
    return rf_report_short(number, rf_view_cell(view, row, RF_COLUMN_COUNT)->number);
}

static void tell_load(char *sentence, size_t size, const struct rf_view *view, size_t row,
                      const char *value)
{
    char share[64], number[RF_REPORT_NUMBER_MAX], text[64], name[NAME];
    tell_share(share, sizeof share, view, row);
    rf_report_cell(text, sizeof text, view, rf_view_column(view, RF_COLUMN_TOP),
                   rf_view_cell(view, row, RF_COLUMN_TOP), false);
    keep_text(name, sizeof name, value);
    snprintf(sentence, size, "loads %s%s in %s of %s loads", name[0] != '\0' ? "&" : "",
             name[0] != '\0' ? name : text, share, tell_count(number, view, row));
}

static void tell_call(char *sentence, size_t size, const struct rf_view *view, size_t row,
                      const char *value)
{
    (void)value;
    char share[64], number[RF_REPORT_NUMBER_MAX], name[NAME];
    const struct rf_view_cell *target = rf_view_cell(view, row, RF_COLUMN_TOP_NAME);
    tell_share(share, sizeof share, view, row);
    keep_text(name, sizeof name, target != NULL ? target->text : "");
    snprintf(sentence, size, "calls %s in %s of %s indirect calls", name, share,
             tell_count(number, view, row));
}

static void tell_branch(char *sentence, size_t size, const struct rf_view *view, size_t row,
                        const char *value)
{
    (void)value;
    char share[64], number[RF_REPORT_NUMBER_MAX];
    tell_share(share, sizeof share, view, row);
    snprintf(sentence, size, "goes both ways: %s in %s of %s",
             rf_view_cell(view, row, RF_COLUMN_TOP_NAME)->text, share,
             tell_count(number, view, row));
}

static const struct kind kinds[] = {
    {"load -> pc,value", 0.90, 1, tell_load},
    {"call indirect==1 -> pc,target", 0.99, 1, tell_call},
    {"branch -> pc,taken", 0.50, 0.70, tell_branch},
};

/* How many instructions there were; the events of all profiles where nobody counted them. */
static uint64_t instructions(const struct rf_run *run)
{
    const struct rf_profile *code = find(run, "insn -> pc");
    uint64_t sum = 0;
    for (size_t i = 0; code == NULL && i < run->n_profiles; i++)
        sum += run->profiles[i]->consumed;
    return code != NULL ? code->consumed : sum;
}

static bool is_worth(const struct kind *kind, const struct rf_view *view, size_t row)
{
    const struct rf_view_cell *top = rf_view_cell(view, row, RF_COLUMN_TOP_SHARE);
    const struct rf_view_cell *count = rf_view_cell(view, row, RF_COLUMN_COUNT);
    const struct rf_view_cell *place = rf_view_cell(view, row, RF_COLUMN_PLACE);
    return top != NULL && !top->is_empty && top->low >= kind->low && top->high <= kind->high &&
           (double)count->number >= RATHER * (double)instructions(view->run) && place != NULL &&
           !is_stub(place->text);
}

/* The rows of a view that are worth a look, at most `most`. */
static size_t list_worth(const struct kind *kind, const struct rf_view *view, size_t *rows,
                         size_t most)
{
    size_t n = 0;
    for (size_t row = 0; row < view->n_rows && n < most; row++)
        if (is_worth(kind, view, row))
            rows[n++] = row;
    return n;
}

/* Names of what is loaded, all at once. */
static rf_status prepare_values(const struct rf_view *view, const size_t *rows, size_t n,
                                struct rf_symbols *symbols)
{
    uint64_t values[CANDIDATES];
    for (size_t i = 0; i < n; i++)
        values[i] = rf_view_cell(view, rows[i], RF_COLUMN_TOP)->number;
    return rf_symbols_prepare(symbols, values, n);
}

/* What is loaded, if it is the address of something. False: it lies within a function, so the load is a return that takes
 * its address from the stack; there is nothing to look at. */
static bool name_value(const struct kind *kind, const struct rf_view *view, size_t row,
                       struct rf_symbols *symbols, const char **value)
{
    struct rf_place_name name;
    *value = "";
    if (kind->tell != tell_load)
        return true;
    uint64_t number = rf_view_cell(view, row, RF_COLUMN_TOP)->number;
    rf_symbols_lookup(symbols, number, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &name);
    if (name.function[0] != '\0' && name.offset == 0)
        *value = name.function;
    return !name.is_code || name.offset == 0;
}

static rf_status look_for(struct findings *findings, const struct kind *kind,
                          const struct rf_run *run, const struct rf_report_setup *setup,
                          struct rf_error *error)
{
    struct rf_view view;
    struct rf_view_setup question = setup->view;
    const struct rf_profile *profile = find(run, kind->selector);
    size_t rows[CANDIDATES], found = 0;
    if (profile == NULL)
        return RF_OK;
    question.by = RF_BY_PC;
    question.rows = SEARCHED;
    question.share_min = 0;
    rf_status status = rf_view_open(&view, run, profile, &question, error);
    if (status != RF_OK)
        return status;
    size_t n = list_worth(kind, &view, rows, CANDIDATES);
    if (kind->tell == tell_load)
        status = prepare_values(&view, rows, n, setup->view.symbols);
    for (size_t i = 0; i < n && found < OF_A_KIND && status == RF_OK; i++) {
        char sentence[SENTENCE];
        const char *value;
        if (!name_value(kind, &view, rows[i], setup->view.symbols, &value))
            continue;
        kind->tell(sentence, sizeof sentence, &view, rows[i], value);
        found += add_finding(findings, &view, rows[i], sentence);
    }
    rf_view_close(&view);
    return status;
}

static int by_count(const void *left, const void *right)
{
    const struct finding *l = left, *r = right;
    return (l->count < r->count) - (l->count > r->count);
}

/* The column of the places: behind the widest sentence that leaves room for its place on the same line. */
static size_t place_column(const struct findings *findings, size_t n, size_t width)
{
    size_t column = 0;
    for (size_t i = 0; i < n; i++) {
        size_t sentence = rf_text_width(findings->at[i].sentence) + 4;
        bool fits = width == 0 || sentence + rf_text_width(findings->at[i].place) <= width;
        column = fits && sentence > column ? sentence : column;
    }
    return column;
}

static void write_finding(FILE *out, const struct finding *finding, size_t column,
                          const struct rf_report_setup *setup)
{
    enum { INDENT = 6 };
    const size_t width = (size_t)setup->width, place = rf_text_width(finding->place);
    size_t used = rf_text_width(finding->sentence) + 2;
    fputs("  ", out);
    if (width > 0 && (used + 2 + place > width || used > column)) {
        rf_report_paragraph(out, setup, INDENT, finding->sentence);
        fprintf(out, "%*s", INDENT, "");
        rf_report_paragraph(out, setup, INDENT, finding->place);
        return;
    }
    size_t gap = width == 0 || column + place <= width ? column - used : 2;
    fprintf(out, "%s%*s%s\n", finding->sentence, (int)gap, "", finding->place);
}

static void write_findings(FILE *out, struct findings *findings,
                           const struct rf_report_setup *setup)
{
    size_t n = findings->n < FINDINGS ? findings->n : FINDINGS;
    qsort(findings->at, findings->n, sizeof *findings->at, by_count);
    size_t column = place_column(findings, n, (size_t)setup->width);
    if (n > 0)
        fprintf(out, "\n%sworth a look%s\n", setup->colour ? "\033[1m" : "",
                setup->colour ? "\033[0m" : "");
    for (size_t i = 0; i < n; i++)
        write_finding(out, &findings->at[i], column, setup);
}

static rf_status look(FILE *out, const struct rf_run *run, const struct rf_report_setup *setup,
                      struct rf_error *error)
{
    struct findings findings = {.n = 0};
    rf_status status = RF_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && status == RF_OK; i++)
        status = look_for(&findings, &kinds[i], run, setup, error);
    if (status == RF_OK)
        write_findings(out, &findings, setup);
    return status;
}

rf_status rf_report_each_finding(const struct rf_run *run, const struct rf_report_setup *setup,
                                 rf_report_tell *tell, void *context, struct rf_error *error)
{
    struct findings findings = {.n = 0};
    rf_status status = RF_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && status == RF_OK; i++)
        status = look_for(&findings, &kinds[i], run, setup, error);
    qsort(findings.at, findings.n, sizeof *findings.at, by_count);
    for (size_t i = 0; i < findings.n && status == RF_OK; i++)
        tell(context, findings.at[i].sentence, findings.at[i].place);
    return status;
}

rf_status rf_report_overview(FILE *out, const struct rf_run *run,
                             const struct rf_report_setup *setup, struct rf_error *error)
{
    const struct rf_profile *code = find(run, "insn -> pc");
    rf_status status = RF_OK;
    rf_report_run_line(out, run, setup, 2);
    if (code != NULL) {
        status = write_functions(out, run, code, setup, error);
        if (status == RF_OK)
            status = write_lines(out, run, code, setup, error);
    }
    if (status == RF_OK)
        status = look(out, run, setup, error);
    if (status == RF_OK)
        fputs("\nMore: --by function|line|module|pc, --annotate; -p invariance|types|bias\n"
              "      Save the run with -o FILE, and ask again with riffle report FILE.\n",
              out);
    return status;
}
