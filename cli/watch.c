/* watch.c - riffle top PID: what a run that somebody has started counts, on a live screen.
 *
 * The run is asked once per second (live.h of the library) and answers with all of its profiles. Leaving the screen leaves
 * the run alone. */
#include "screen.h"
#include "top.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct watching {
    struct rf_live *live;
    struct rf_run *run;   /* the last answer; NULL: none has come */
    struct rf_run *names; /* modules, which `symbols` read */
    struct rf_symbols *symbols;
    size_t profile; /* of `run` */
    bool asked;
};

static volatile sig_atomic_t stopped;

/* ---- profiles ---- */

static bool is_shown(const struct rf_profile *profile)
{
    return !rf_profile_is_companion(profile);
}

static const struct rf_profile *shown(const struct watching *w)
{
    return w->run != NULL && w->profile < w->run->n_profiles ? w->run->profiles[w->profile] : NULL;
}

/* Does a profile tell rows best? Functions and lines: all instructions; instructions: the values that they had. */
static bool suits(const struct rf_profile *profile, enum rf_view_by by)
{
    struct rf_selector selector;
    if (by == RF_BY_PC)
        return rf_view_knows(profile, RF_BY_VALUE);
    if (by != RF_BY_FUNCTION && by != RF_BY_LINE)
        return true;
    return rf_profile_selector(profile, &selector) == RF_OK &&
           selector.classes == 1u << RF_CLASS_INSN;
}

/* The first profile that suits, else the first that knows it. */
static void choose_profile(void *context, enum rf_view_by by)
{
    struct watching *w = context;
    size_t n = w->run != NULL ? w->run->n_profiles : 0, found = n;
    for (size_t i = n; i-- > 0;) {
        const struct rf_profile *profile = w->run->profiles[i];
        if (!is_shown(profile) || !rf_view_knows(profile, by))
            continue;
        if (found == n || suits(profile, by) || !suits(w->run->profiles[found], by))
            found = i;
    }
    w->profile = found < n ? found : w->profile;
}

static void next_profile(void *context, enum rf_view_by by)
{
    struct watching *w = context;
    size_t n = w->run != NULL ? w->run->n_profiles : 0;
    for (size_t i = 1; i <= n; i++) {
        size_t other = (w->profile + i) % n;
        if (is_shown(w->run->profiles[other]) && rf_view_knows(w->run->profiles[other], by)) {
            w->profile = other;
            return;
        }
    }
}

/* ---- answers ---- */

/* Names are read again when other files are mapped. */
static rf_status read_names(struct watching *w, struct rf_error *error)
{
    if (w->symbols != NULL && w->names->n_modules == w->run->n_modules)
        return RF_OK;
    rf_symbols_close(w->symbols);
    rf_run_free(w->names);
    w->symbols = NULL;
    rf_status status = rf_run_new(&w->names, "", NULL);
    for (size_t i = 0; i < w->run->n_modules && status == RF_OK; i++)
        status = rf_run_add_module(w->names, &w->run->modules[i]);
    return status == RF_OK ? rf_symbols_open(&w->symbols, w->names, NULL, error) : status;
}

static bool take_answer(struct watching *w)
{
    struct rf_run *run;
    struct rf_error ignored;
    if (rf_live_take(w->live, &run, &ignored) != RF_OK)
        w->asked = false;
    if (run == NULL)
        return false;
    bool first = w->run == NULL;
    rf_run_free(w->run);
    w->run = run;
    w->asked = false;
    if (first)
        choose_profile(w, RF_BY_FUNCTION);
    return true;
}

/* Ask once per second; true: an answer has come. */
static bool is_fresh(void *context, double since)
{
    struct watching *w = context;
    if (!w->asked && (since >= 1 || w->run == NULL)) {
        rf_live_ask(w->live);
        w->asked = true;
    }
    return w->asked && take_answer(w);
}

static bool is_empty(void *context)
{
    return shown(context) == NULL;
}

static rf_status view_of(void *context, enum rf_view_by by, size_t rows, struct rf_view *view,
                         struct rf_error *error)
{
    struct watching *w = context;
    if (!rf_view_knows(shown(w), by)) {
        snprintf(error->message, sizeof error->message, "no profile of this run tells that%s",
                 by == RF_BY_STACK || by == RF_BY_CALLER ? "; it was started without -p stacks"
                                                         : "");
        return RF_ENOTSUP;
    }
    rf_status status = read_names(w, error);
    const struct rf_view_setup setup = {
        .by = by, .rows = rows, .sources = by == RF_BY_LINE, .symbols = w->symbols};
    return status == RF_OK ? rf_view_open(view, w->run, shown(w), &setup, error) : status;
}

/* ---- the screen ---- */

static void print_head(void *context, const struct cli_top_pace *pace, char *text, size_t size)
{
    const struct watching *w = context;
    const struct rf_profile *profile = shown(w);
    const char *program = w->run != NULL ? rf_run_note(w->run, RF_NOTE_PROGRAM) : NULL;
    const char *slash = program != NULL ? strrchr(program, '/') : NULL;
    if (profile == NULL) {
        snprintf(text, size, "process %ld is asked ...", rf_live_pid(w->live));
        return;
    }
    snprintf(text, size, "%.80s (%ld)   %.1f M %s   %.1f M per second   %.80s",
             slash != NULL     ? slash + 1
             : program != NULL ? program
                               : "run",
             rf_live_pid(w->live), (double)profile->produced * 1e-6,
             rf_view_noun(profile, profile->produced), pace->rate * 1e-6, profile->selector);
}

static void print_foot(void *context, char *text, size_t size)
{
    const struct watching *w = context;
    const struct rf_profile *profile = shown(w);
    snprintf(text, size, "%llu lost   %.0f MB",
             (unsigned long long)(profile != NULL ? profile->lost : 0),
             cli_top_memory(rf_live_pid(w->live)));
}

static void on_signal(int signal)
{
    (void)signal;
    stopped = 1;
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

static int show(void *context)
{
    struct watching *w = context;
    const struct timespec pause = {0, 50000000};
    const struct cli_top_feed feed = {
        .context = w,
        .is_fresh = is_fresh,
        .is_empty = is_empty,
        .view = view_of,
        .head = print_head,
        .foot = print_foot,
        .choose = choose_profile,
        .next = next_profile,
        .by = RF_BY_FUNCTION,
        .keys = "q quit  f functions  l lines  v values  t targets  s stacks  c callers  n next  "
                "o order  p pause"};
    catch_signals();
    if (!cli_screen_open())
        return cli_fail(CLI_FAILED, "top: this terminal cannot show a screen");
    struct cli_top *top = cli_top_open(&feed);
    int result = top != NULL ? CLI_OK : CLI_FAILED;
    while (top != NULL && cli_top_tick(top) && !stopped && !rf_live_is_over(w->live))
        nanosleep(&pause, NULL);
    if (top != NULL)
        cli_top_linger(top, &stopped);
    cli_screen_close();
    cli_top_close(top);
    return result == CLI_OK ? CLI_OK : cli_fail(result, "top: no memory for the screen");
}

int cli_watch(long pid)
{
    static struct watching w;
    struct rf_error error = {""};
    bool forked;
    rf_status status = rf_live_watch(&w.live, pid, &error);
    if (status != RF_OK)
        return cli_fail(CLI_USAGE, "top: %s", error.message);
    int result = cli_screen_guard(show, &w, &forked);
    if (!forked)
        result = cli_fail(CLI_FAILED, "top: there is no terminal to show it on");
    rf_live_close(w.live);
    return result;
}
