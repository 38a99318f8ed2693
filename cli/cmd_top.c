/* cmd_top.c - riffle top: where a program is while it runs, on a live screen.
 *
 *     lz   4.2 s   1,204 samples, 250 per second   0 lost   31 MB
 *
 *        now    self   with callees   function
 *      61.2%   54.0%          54.0%   find_match.constprop.0
 *
 * The program is sampled: its stack, once every N instructions. Samples are counted here as they come (live.c), and
 * rows are made once per second. A thread collects; this one draws and obeys, also while the program sleeps. */
#include "live.h"
#include "plan.h"
#include "screen.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROWS_MAX = 400, NAME = 200, GRACE_SECONDS = 2, HEAD = 3 };

struct settings {
    uint64_t period;
};

static const struct cli_option options[] = {
    {CLI_COUNT, 0, "period", "N", "200K", .brief = "instructions between two samples",
     .offset = offsetof(struct settings, period)},
    {.type = CLI_END},
};

enum order { BY_NOW, BY_SELF, BY_ALL };

struct line {
    char name[NAME];
    uint64_t count, self;
    double now; /* share of the samples since the last look */
    unsigned depth;
};

struct screen {
    const struct cli_call *call;
    struct rf_source *source;
    struct cli_live live;
    struct line lines[ROWS_MAX], before[ROWS_MAX];
    size_t n, n_before;
    uint64_t samples, samples_before, recent; /* now, at the last look, between the last two */
    double started, looked, since;            /* seconds; since: between the last two looks */
    uint64_t lost;
    enum rf_view_by by;
    enum order order;
    size_t first;
    bool paused, over, quit;
    char trouble[160];
    atomic_bool collected; /* what follows is the collector's until then */
    rf_status status;
    struct rf_error error;
};

static volatile sig_atomic_t stopped;
static const struct rf_source *running;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- rows ---- */

static uint64_t number(const struct rf_view *view, size_t row, enum rf_column_id id)
{
    const struct rf_view_cell *cell = rf_view_cell(view, row, id);
    return cell != NULL ? cell->number : 0;
}

static const char *name_of(const struct rf_view *view, size_t row)
{
    static const enum rf_column_id ids[] = {RF_COLUMN_PLACE, RF_COLUMN_FUNCTION};
    for (size_t i = 0; i < 2; i++) {
        const struct rf_view_cell *cell = rf_view_cell(view, row, ids[i]);
        if (cell != NULL && cell->text[0] != '\0')
            return cell->text;
    }
    return "?";
}

/* The share of the last moments: of a function alone, of a node of a tree with all below it. */
static uint64_t told(const struct screen *s, const struct line *line)
{
    return s->by == RF_BY_FUNCTION ? line->self : line->count;
}

/* What a row had at the last look. */
static uint64_t count_before(const struct screen *s, size_t row)
{
    const struct line *line = &s->lines[row];
    for (size_t i = 0; i < s->n_before; i++)
        if (strcmp(s->before[i].name, line->name) == 0 && s->before[i].depth == line->depth)
            return told(s, &s->before[i]);
    return 0;
}

static void take_row(struct screen *s, const struct rf_view *view, size_t row)
{
    struct line *line = &s->lines[s->n++];
    line->count = number(view, row, RF_COLUMN_COUNT);
    line->self = number(view, row, RF_COLUMN_SELF_COUNT);
    line->depth = (unsigned)number(view, row, RF_COLUMN_DEPTH);
    const char *name = name_of(view, row);
    int indent = s->by == RF_BY_FUNCTION || name[0] == ' ' ? 0 : 2 * (int)line->depth;
    snprintf(line->name, sizeof line->name, "%*s%s", indent > 60 ? 60 : indent, "", name);
    uint64_t before = count_before(s, s->n - 1);
    line->now = s->recent > 0 && told(s, line) > before
                    ? (double)(told(s, line) - before) / (double)s->recent
                    : 0;
}

static enum order sorted_by;

static int by_order(const void *left, const void *right)
{
    const struct line *l = left, *r = right;
    if (sorted_by == BY_NOW && (l->now < r->now || l->now > r->now))
        return l->now > r->now ? -1 : 1;
    if (sorted_by == BY_SELF && l->self != r->self)
        return l->self > r->self ? -1 : 1;
    return l->count != r->count ? (l->count > r->count ? -1 : 1) : strcmp(l->name, r->name);
}

static void fill(struct screen *s)
{
    struct rf_view view;
    struct rf_error error = {""};
    memcpy(s->before, s->lines, sizeof s->before);
    s->n_before = s->n;
    s->n = 0;
    s->samples = cli_live_samples(&s->live);
    if (s->samples == 0)
        return;
    if (cli_live_view(&s->live, s->by, ROWS_MAX, &view, &error) != RF_OK) {
        snprintf(s->trouble, sizeof s->trouble, "%.150s", error.message);
        return;
    }
    for (size_t row = 0; row < view.n_rows && row < ROWS_MAX; row++)
        take_row(s, &view, row);
    rf_view_close(&view);
    sorted_by = s->order;
    if (s->by == RF_BY_FUNCTION)
        qsort(s->lines, s->n, sizeof *s->lines, by_order);
}

static void look(struct screen *s)
{
    double now = seconds();
    uint64_t samples = cli_live_samples(&s->live);
    s->recent = samples - s->samples_before;
    s->samples_before = samples;
    s->since = now - s->looked;
    s->looked = now;
    fill(s);
}

/* ---- drawing ---- */

/* Of this process, in megabytes. */
static double memory(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fscanf(file, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
    if (file != NULL)
        fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) * 1e-6;
}

static void draw_head(const struct screen *s, int last)
{
    char text[512];
    const struct settings *settings = s->call->settings;
    double rate = s->since > 0 ? (double)s->recent / s->since : 0;
    const char *slash = strrchr(s->call->arguments[0], '/');
    snprintf(text, sizeof text,
             "%.80s   %.1f s   %llu samples   %.0f per second (%.1f M instructions)%s%s",
             slash != NULL ? slash + 1 : s->call->arguments[0], s->looked - s->started,
             (unsigned long long)s->samples, rate, rate * (double)settings->period * 1e-6,
             s->paused ? "   paused" : "", s->over ? "   ended" : "");
    cli_screen_line(0, text, true);
    snprintf(text, sizeof text, "    now    self  with callees  %s%s",
             s->by == RF_BY_FUNCTION ? "function"
             : s->by == RF_BY_STACK  ? "stack"
                                     : "callers",
             s->by != RF_BY_FUNCTION ? ""
             : s->order == BY_NOW    ? " (by now)"
             : s->order == BY_SELF   ? " (by self)"
                                     : " (by all)");
    cli_screen_line(2, text, true);
    snprintf(
        text, sizeof text,
        "%llu lost   %.0f MB   f functions  s stacks  c callers  o order  p pause  q quit   %s",
        (unsigned long long)s->lost, memory(), s->trouble);
    cli_screen_line(last, text, false);
}

static void draw(const struct screen *s)
{
    int rows, columns;
    double all = s->samples > 0 ? (double)s->samples : 1;
    cli_screen_size(&rows, &columns);
    cli_screen_begin();
    draw_head(s, rows - 1);
    for (size_t i = s->first; i < s->n && HEAD + (int)(i - s->first) < rows - 1; i++) {
        char text[NAME + 64];
        const struct line *line = &s->lines[i];
        int row = HEAD + (int)(i - s->first);
        snprintf(text, sizeof text, " %5.1f%%  %5.1f%%         %5.1f%%  %s", 100 * line->now,
                 100 * (double)line->self / all, 100 * (double)line->count / all, line->name);
        cli_screen_line(row, text, false);
        cli_screen_bar(row, 0, 31, line->now);
    }
    cli_screen_end();
}

/* ---- keys ---- */

static void quit(struct screen *s)
{
    s->quit = true;
    stopped = 1;
    if (running != NULL)
        rf_probe_signal(running, SIGTERM);
    alarm(GRACE_SECONDS);
}

/* The share of the last moments is empty until the next look. */
static void change_view(struct screen *s, enum rf_view_by by)
{
    uint64_t recent = s->recent;
    s->by = by;
    s->first = 0;
    s->recent = 0;
    fill(s);
    s->recent = recent;
}

/* True: something is to be drawn. */
static bool obey(struct screen *s, int key)
{
    switch (key) {
    case 'q':
    case 3: /* Ctrl-C, where the terminal does not make a signal of it */
        quit(s);
        return false;
    case 'p':
        s->paused = !s->paused;
        return true;
    case 'o':
        s->order = (s->order + 1) % 3;
        sorted_by = s->order;
        if (s->by == RF_BY_FUNCTION)
            qsort(s->lines, s->n, sizeof *s->lines, by_order);
        return true;
    case 'j':
        s->first += s->first + 1 < s->n;
        return true;
    case 'k':
        s->first -= s->first > 0;
        return true;
    case 'f':
    case 's':
    case 'c':
        change_view(s, key == 'f' ? RF_BY_FUNCTION : key == 's' ? RF_BY_STACK : RF_BY_CALLER);
        return true;
    default:
        return key != 0;
    }
}

/* About ten times per second. */
static void tick(struct screen *s)
{
    bool changed = false;
    for (int key = cli_screen_key(); key != 0 && !s->quit; key = cli_screen_key())
        changed |= obey(s, key);
    if (stopped && !s->quit)
        quit(s);
    bool due = seconds() - s->looked >= 1 || (s->n == 0 && cli_live_samples(&s->live) > 0);
    if (due && !s->paused && !s->over)
        look(s);
    if (changed || (due && !s->paused))
        draw(s);
}

/* ---- the collector ---- */

static void on_tuples(void *context, size_t lane, const struct rf_tuples *tuples)
{
    struct screen *s = context;
    (void)lane;
    cli_live_add(&s->live, s->source, tuples);
}

/* The first alarm is the end of the program's grace. */
static void on_signal(int signal)
{
    stopped = 1;
    if (running != NULL && signal == SIGALRM)
        rf_probe_signal(running, SIGKILL);
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

static void *collect(void *context)
{
    struct screen *s = context;
    const struct rf_lane lane = {.selector = CLI_LIVE_SELECTOR, .engine = "exact"};
    const struct rf_collect_setup setup = {.lanes = &lane,
                                           .n_lanes = 1,
                                           .selected = 1,
                                           .stop = &stopped,
                                           .tap = on_tuples,
                                           .tap_context = s};
    struct rf_run *run = NULL;
    s->status = rf_collect(&run, s->source, &setup, &s->error);
    rf_run_free(run);
    atomic_store(&s->collected, true);
    return NULL;
}

/* Signals are for the thread that draws. */
static bool start_collector(struct screen *s, pthread_t *thread)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool good = pthread_create(thread, NULL, collect, s) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return good;
}

static void watch(struct screen *s)
{
    const struct timespec pause = {0, 50000000};
    while (!atomic_load(&s->collected)) {
        tick(s);
        nanosleep(&pause, NULL);
    }
}

/* The last screen stays until somebody has seen it. */
static void linger(struct screen *s)
{
    const struct timespec pause = {0, 50000000};
    s->over = true;
    while (!s->quit && !stopped) {
        int key = cli_screen_key();
        if (key != 0 && obey(s, key))
            draw(s);
        nanosleep(&pause, NULL);
    }
}

static int end(struct screen *s)
{
    struct rf_error ignored = {""};
    struct rf_probe_outcome outcome = {.ended = 0};
    if (stopped && !s->quit)
        quit(s);
    rf_probe_wait(s->source, &outcome, &ignored);
    running = NULL;
    s->lost = outcome.lost;
    if (!s->quit && !stopped) {
        s->paused = false;
        look(s);
        s->over = true;
        draw(s);
        linger(s);
    }
    cli_screen_close();
    if (s->status != RF_OK && s->status != RF_ESTOPPED)
        return cli_fail_status(s->status, &s->error);
    if (outcome.processes == 0 && outcome.trouble[0] != '\0')
        return cli_fail(CLI_NOT_EXECUTABLE, "top: %s", outcome.trouble);
    if (!s->over)
        return CLI_OK; /* somebody had seen enough */
    return CLI_OF_PROGRAM + (outcome.signal != 0 ? 128 + outcome.signal : outcome.exit_status);
}

static int show(void *context)
{
    struct screen *s = context;
    struct rf_error error = {""};
    struct rf_selector selector;
    const struct settings *settings = s->call->settings;
    rf_status status = rf_selector_parse(&selector, CLI_LIVE_SELECTOR, &error);
    const struct rf_probe_setup setup = {.argv = (const char *const *)s->call->arguments,
                                         .selectors = &selector,
                                         .n_selectors = 1,
                                         .stack_period = settings->period,
                                         .stop = &stopped};
    catch_signals();
    if (status == RF_OK && !cli_screen_open())
        return cli_fail(CLI_FAILED, "top: this terminal cannot show a screen");
    status = status == RF_OK ? rf_source_open_probe(&s->source, &setup, &error) : status;
    if (status != RF_OK) {
        cli_screen_close();
        return cli_fail_status(status, &error);
    }
    running = s->source;
    cli_live_init(&s->live);
    s->started = s->looked = seconds();
    draw(s);
    pthread_t thread;
    if (!start_collector(s, &thread)) {
        stopped = 1;
        s->status = RF_ENOMEM;
    } else {
        watch(s);
        pthread_join(thread, NULL);
    }
    int result = end(s);
    rf_source_close(s->source);
    cli_live_free(&s->live);
    return result;
}

static int run(const struct cli_call *call)
{
    static struct screen s;
    bool forked;
    char path[4096];
    s.call = call;
    s.by = RF_BY_FUNCTION;
    if (!rf_probe_find(path, sizeof path, call->arguments[0]))
        return cli_fail(CLI_NO_PROGRAM, "top: '%s': no such program", call->arguments[0]);
    int status = cli_screen_guard(show, &s, &forked);
    if (!forked)
        return cli_fail(CLI_FAILED, "top: there is no terminal to show it on");
    return CLI_OF_PROGRAM + status;
}

const struct cli_action cli_action_top = {
    .arguments = {"PROGRAM [ARGUMENT...]", 1, CLI_ANY_NUMBER},
    .settings = {options, sizeof(struct settings)},
    .first_ends_options = true,
    .run = run,
};
