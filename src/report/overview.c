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
 * Where most of the instructions have no line, places stand for lines: stretches of neighbouring instructions that run
 * about equally often, which are blocks and small loops. What is worth a look: findings.c. */
#include "report/report.h"
#include "view/view.h"
#include <inttypes.h>
#include <riffle/text.h>
#include <stdlib.h>
#include <string.h>

enum {
    FUNCTIONS = 6,
    LINES = 6,
    PLACE = 1000,
    SCREEN_LINES = 2, /* that a row may take */
};

#define SMALL 0.0005 /* the share of all instructions that a function must have to be shown */
#define FAINT 0.005  /* the same for a line */
#define MOST  0.5    /* with that share without lines, lines do not tell where the heat is */

/* Readable, and with a mark where the room was too small. */
void rf_report_keep(char *out, size_t size, const char *text)
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

static bool has_stacks(const struct rf_profile *profile)
{
    struct rf_words words;
    rf_view_words(&words, profile);
    return rf_view_has_stacks(&words);
}

/* What happened how often. A sample of the stack is many frames, of which one is the outermost. */
static uint64_t events_of(const struct rf_profile *profile)
{
    uint64_t n = 0;
    if (!has_stacks(profile))
        return profile->consumed;
    for (size_t i = 0; i < profile->n_items; i++)
        n += profile->items[i].b == 0 ? profile->items[i].count : 0;
    return n;
}

static const char *noun_of(const struct rf_profile *profile, uint64_t n)
{
    if (has_stacks(profile))
        return n == 1 ? "sample of the stack" : "samples of the stack";
    return rf_view_noun(profile, n);
}

/* What a co-processor counted is not all that ran: "861,593 samples of 3.72 M loads", or, where most samples are no event
 * of the profile, "2.35 M loads in 6.19 M samples". */
static void add_samples(struct line *line, const struct rf_profile *profile)
{
    char number[RF_REPORT_NUMBER_MAX], of[RF_REPORT_NUMBER_MAX], piece[256];
    uint64_t events = (uint64_t)rf_profile_figure(profile, "class-events", 0),
             n = profile->consumed;
    uint64_t taken = (uint64_t)(rf_profile_figure(profile, "samples", 0) -
                                rf_profile_figure(profile, "drops", 0));
    if (n >= taken)
        snprintf(piece, sizeof piece, "%s sample%s of %s %s", rf_report_short(number, taken),
                 taken == 1 ? "" : "s", rf_report_short(of, events), rf_view_noun(profile, events));
    else
        snprintf(piece, sizeof piece, "%s %s in %s sample%s", rf_report_short(number, n),
                 has_stacks(profile) ? "events" : rf_view_noun(profile, n),
                 rf_report_short(of, taken), taken == 1 ? "" : "s");
    add_piece(line, piece);
}

/* Of all processes, where each has a profile of its own. */
static void add_events(struct line *line, const struct rf_run *run, size_t i)
{
    char number[RF_REPORT_NUMBER_MAX], lost[64] = "", piece[256];
    const struct rf_profile *profile = run->profiles[i];
    uint64_t n = events_of(profile), n_lost = profile->lost;
    bool apart = rf_profile_figure(profile, "process", 0) > 0;
    if (rf_report_is_sampled(profile)) {
        add_samples(line, profile);
        return;
    }
    for (size_t k = i + 1; apart && k < run->n_profiles; k++)
        if (is_alike(profile, run->profiles[k])) {
            n += events_of(run->profiles[k]);
            n_lost += run->profiles[k]->lost;
        }
    if (n_lost > 0)
        snprintf(lost, sizeof lost, " (%s lost)", rf_report_short(number, n_lost));
    snprintf(piece, sizeof piece, "%s %s%s", rf_report_short(number, n), noun_of(profile, n), lost);
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

/* Notes that say what the numbers mean, whatever is asked for; of all that is missing the first ones. */
static void write_notes(FILE *out, const struct rf_run *run, const struct rf_report_setup *setup)
{
    enum { MISSING_TOLD = 4 };
    size_t missing = 0;
    static const char *const told[] = {"killed",       "misses",   "fault",     "failure",
                                       "incomplete",   "blind",    "processes", "threads",
                                       "not-followed", "not-told", "bursts",    "unprofiled",
                                       "cycles",       "ipc",      "stalls",    "unknown-call"};
    for (size_t i = 0; !setup->details && i < run->n_notes; i++) {
        if (strcmp(run->notes[i].name, RF_NOTE_MISSING) == 0 && missing++ < MISSING_TOLD)
            write_note(out, setup, &run->notes[i]);
        for (size_t k = 0; k < sizeof told / sizeof *told; k++)
            if (strcmp(run->notes[i].name, told[k]) == 0)
                write_note(out, setup, &run->notes[i]);
    }
    if (missing > MISSING_TOLD)
        rf_report_fact(out, setup, RF_NOTE_MISSING, "%zu more (--details lists them)",
                       missing - MISSING_TOLD);
}

void rf_report_run_line(FILE *out, const struct rf_run *run, const struct rf_report_setup *setup,
                        size_t most)
{
    char program[PLACE];
    struct line line = {.out = out, .width = (size_t)setup->width};
    size_t n = 0;
    if (program_of(run) != NULL) {
        rf_report_keep(program, sizeof program, program_of(run));
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

const struct rf_profile *rf_report_counted(const struct rf_run *run, const char *selector)
{
    for (size_t i = 0; i < run->n_profiles; i++) {
        char text[256];
        print_threadless(run->profiles[i], text, sizeof text);
        if (strcmp(text, selector) == 0 && run->profiles[i]->shape == RF_SHAPE_TUPLE)
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

/* The answer without its counts: shares are enough on a screen. */
static rf_status write_rows(FILE *out, const struct rf_run *run, const struct rf_profile *code,
                            const struct rf_view_setup *question,
                            const struct rf_report_setup *setup, struct rf_error *error)
{
    struct rf_view view;
    rf_status status = rf_view_open(&view, run, code, question, error);
    if (status != RF_OK)
        return status;
    hide(&view, RF_COLUMN_COUNT);
    status = rf_report_rows(out, &view, setup, SCREEN_LINES);
    rf_view_close(&view);
    return status;
}

static rf_status write_functions(FILE *out, const struct rf_run *run, const struct rf_profile *code,
                                 const struct rf_report_setup *setup, struct rf_error *error)
{
    struct rf_view_setup question = setup->view;
    question.by = RF_BY_FUNCTION;
    fit_screen(&question, setup, FUNCTIONS, SMALL);
    fputc('\n', out);
    return write_rows(out, run, code, &question, setup, error);
}

/* Without lines: stretches of instructions. */
static rf_status write_stretches(FILE *out, const struct rf_run *run, const struct rf_profile *code,
                                 const struct rf_report_setup *setup, struct rf_error *error)
{
    struct rf_view_setup question = setup->view;
    question.by = RF_BY_PC;
    question.stretches = 1;
    fit_screen(&question, setup, LINES, 0);
    return write_rows(out, run, code, &question, setup, error);
}

/* What has no line is the last row. */
static double share_without_line(const struct rf_view *view)
{
    const size_t last = view->n_rows - 1;
    bool is_there = rf_view_cell(view, last, RF_COLUMN_LINE)->is_empty != 0;
    return is_there ? rf_view_cell(view, last, RF_COLUMN_SHARE)->share : 0;
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
    bool has_lines = view.n_rows > 0 && !rf_view_cell(&view, 0, RF_COLUMN_LINE)->is_empty &&
                     share_without_line(&view) < MOST;
    hide(&view, RF_COLUMN_COUNT);
    fputc('\n', out);
    if (has_lines)
        status = rf_report_rows(out, &view, setup, SCREEN_LINES);
    else
        status = write_stretches(out, run, code, setup, error);
    rf_view_close(&view);
    return status;
}

/* Processes and threads are offered where there are several. */
static const char *ways_of(const struct rf_run *run)
{
    bool processes = rf_run_note(run, "processes") != NULL;
    bool threads = rf_run_note(run, "threads") != NULL;
    if (processes && threads)
        return "function|pc|process|thread";
    if (processes || threads)
        return processes ? "function|line|pc|process" : "function|line|pc|thread";
    return "function|line|module|pc";
}

rf_status rf_report_overview(FILE *out, const struct rf_run *run,
                             const struct rf_report_setup *setup, struct rf_error *error)
{
    const struct rf_profile *code = rf_report_counted(run, "insn -> pc");
    rf_status status = RF_OK;
    rf_report_run_line(out, run, setup, 2);
    if (code != NULL) {
        status = write_functions(out, run, code, setup, error);
        if (status == RF_OK)
            status = write_lines(out, run, code, setup, error);
    }
    if (status == RF_OK)
        status = rf_report_findings(out, run, setup, error);
    if (status == RF_OK)
        fprintf(out,
                "\nMore: --by %s, --annotate; -p invariance|types|bias\n"
                "      Save the run with -o FILE, and ask again with riffle report FILE.\n",
                ways_of(run));
    return status;
}
