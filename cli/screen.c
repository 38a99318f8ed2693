/* screen.c - the live screen, by ncurses on /dev/tty.
 *
 *     guardian ---- waits; whatever happens to the other, brings the terminal back
 *        |
 *     worker  ----- ncurses, the collector, the profiled program below it
 *
 * A process that is killed cannot tidy up; the guardian does nothing that could fail and outlives it. */
#include "screen.h"
#include "say.h"
#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* ---- the guardian ---- */

static const char back[] = "\033[?1049l\033[?25h\033[0m\r"; /* to the screen as it was */
static volatile sig_atomic_t worker;

/* Ctrl-C and Ctrl-\ reach both, for they are of one group; the worker answers. What somebody sends to the
 * guardian alone is meant for the worker, too. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    bool is_keyed = (number == SIGINT || number == SIGQUIT) && info->si_code > 0;
    if (worker > 0 && !is_keyed)
        kill((pid_t)worker, number);
}

static void guard_signals(void)
{
    static const int passed_on[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = pass_on;
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        sigaction(passed_on[i], &action, NULL);
    signal(SIGTTOU, SIG_IGN);
}

/* What the worker has left behind are children of the guardian now. */
static void end_orphans(void)
{
    char path[64];
    int pid;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "re");
    while (file != NULL && fscanf(file, "%d", &pid) == 1)
        kill(pid, SIGTERM);
    if (file != NULL)
        fclose(file);
}

static int wait_for_worker(int tty, const struct termios *modes)
{
    int status;
    while (waitpid((pid_t)worker, &status, 0) < 0 && errno == EINTR)
        ;
    tcsetattr(tty, TCSADRAIN, modes);
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    end_orphans();
    if (write(tty, back, sizeof back - 1) < 0)
        return CLI_OWN_FAILURE;
    return cli_fail(CLI_OWN_FAILURE, "top: the collector was ended by signal %d (%s)",
                    WTERMSIG(status), strsignal(WTERMSIG(status)));
}

/* The worker itself leaves by _exit. ncurses ends it by exit where it has no memory, with a word that names nobody. */
static void end_by_ncurses(void)
{
    int tty = open("/dev/tty", O_WRONLY | O_CLOEXEC);
    if (tty < 0 || write(tty, back, sizeof back - 1) < 0)
        _exit(CLI_OWN_FAILURE);
    _exit(cli_fail(CLI_OWN_FAILURE, "top: ncurses gave up"));
}

/* A failure of ours is not to be taken for the status of the program. */
static int status_of_worker(int status)
{
    if (status >= CLI_OF_PROGRAM)
        return status - CLI_OF_PROGRAM;
    return status >= CLI_FAILED && status <= CLI_DAMAGED ? CLI_OWN_FAILURE : status;
}

int cli_screen_guard(int (*work)(void *context), void *context, bool *forked)
{
    struct termios modes;
    int tty = open("/dev/tty", O_RDWR | O_CLOEXEC);
    *forked = false;
    if (tty < 0)
        return CLI_FAILED;
    fflush(NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t guardian = getpid(), pid = tcgetattr(tty, &modes) == 0 ? fork() : -1;
    if (pid < 0) {
        close(tty);
        return CLI_FAILED;
    }
    *forked = true;
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        atexit(end_by_ncurses);
        int status = getppid() == guardian ? work(context) : CLI_FAILED;
        fflush(NULL);
        _exit(status_of_worker(status));
    }
    worker = pid;
    guard_signals();
    int status = wait_for_worker(tty, &modes);
    close(tty);
    return status;
}

/* ---- the screen ---- */

static struct {
    SCREEN *screen;
    FILE *tty;
    int kept[3]; /* the standard streams; -1: left alone */
} shown;

static void hide_streams(void)
{
    for (int fd = 0; fd < 3; fd++) {
        shown.kept[fd] = -1;
        if (!isatty(fd))
            continue;
        int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        shown.kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        dup2(nothing, fd);
        close(nothing);
    }
}

bool cli_screen_open(void)
{
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
    shown.tty = fd >= 0 ? fdopen(fd, "r+") : NULL;
    shown.screen = shown.tty != NULL ? newterm(NULL, shown.tty, shown.tty) : NULL;
    if (shown.screen == NULL)
        return false;
    set_term(shown.screen);
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    curs_set(0);
    hide_streams();
    return true;
}

void cli_screen_close(void)
{
    if (shown.screen == NULL)
        return;
    endwin();
    delscreen(shown.screen);
    fclose(shown.tty);
    shown.screen = NULL;
    for (int fd = 0; fd < 3; fd++)
        if (shown.kept[fd] >= 0) {
            dup2(shown.kept[fd], fd);
            close(shown.kept[fd]);
        }
}

void cli_screen_size(int *rows, int *columns)
{
    getmaxyx(stdscr, *rows, *columns);
}

void cli_screen_begin(void)
{
    erase();
}

void cli_screen_line(int row, const char *text, bool strong)
{
    char readable[1024];
    rf_text_readable(readable, sizeof readable, text);
    attrset(strong ? A_BOLD : A_NORMAL);
    mvaddnstr(row, 0, readable, getmaxx(stdscr) - 1);
    attrset(A_NORMAL);
}

void cli_screen_bar(int row, int column, int width, double part)
{
    int filled = (int)(part * width + 0.5);
    for (int i = 0; i < filled && i < width && column + i < getmaxx(stdscr) - 1; i++)
        mvaddch(row, column + i, (mvinch(row, column + i) & A_CHARTEXT) | A_REVERSE);
}

void cli_screen_end(void)
{
    refresh();
}

int cli_screen_key(void)
{
    int key = getch();
    return key == ERR ? 0 : key == KEY_UP ? 'k' : key == KEY_DOWN ? 'j' : key;
}
