/* spawn.c - start a program under the probe.
 *
 *     riffle run -- gzip -9      ->      VALGRIND_LIB=folder valgrind --tool=riffle --ring-fd=N
 *                                                 --want=load:v,branch:t ... gzip -9
 *
 * The ring is inherited as a file descriptor with a number beyond the program's own limit, where
 * Valgrind keeps its own descriptors and does not let the program close them. It stays open through
 * exec, so that what a child starts finds it again.
 *
 * Debian's `valgrind` is a script in front of `valgrind.bin`. It sets LD_LIBRARY_PATH and changes how the C++
 * library allocates. The profiled program should see neither, so the script is bypassed. */
#include "source/spawn.h"
#include "event/input.h"
#include "source/counters.h"
#include "source/hooks.h"
#include "source/target.h"
#include "event/field.h"
#include "base/alloc.h"
#include "base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ARGUMENTS_OWN = 96, TEXT = 256, FD_ROOM = 64 };

/* Descriptors: what riffle needs to start a program; what Valgrind takes of those that the program would have; what a
 * program has to have, its standard ones and one for its loader. */
enum { FD_OWN = 9, FD_VALGRIND = 12, FD_PROGRAM = 4 };

double rf_spawn_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- the command line ---- */

struct command {
    char folder[4096];   /* of the probe */
    char launcher[4096]; /* Valgrind's */
    const char **argv;
    size_t n, room;
    char text[ARGUMENTS_OWN][TEXT];
    size_t n_text;
    char hooks[RF_HOOKS_TEXT]; /* for a program that has them; else "" */
};

static void add(struct command *command, const char *argument)
{
    if (command->n + 1 < command->room)
        command->argv[command->n++] = argument;
}

static bool add_option(struct command *command, const char *name, const char *value)
{
    if (command->n_text == ARGUMENTS_OWN)
        return false;
    char *text = command->text[command->n_text++];
    add(command, text);
    return rf_format(text, TEXT, "--%s=%s", name, value) < TEXT;
}

static bool add_options(struct command *command, const char *name, const char *const *values)
{
    for (; values != NULL && *values != NULL; values++)
        if (!add_option(command, name, *values))
            return false;
    return true;
}

static bool add_ranges(struct command *command, const struct rf_probe_range *range)
{
    for (; range != NULL && (range->low | range->high) != 0; range++) {
        char text[64];
        rf_format(text, sizeof text, "%llx-%llx", (unsigned long long)range->low,
                  (unsigned long long)range->high);
        if (!add_option(command, "range", text))
            return false;
    }
    return true;
}

static bool has(uint32_t fields, unsigned field)
{
    return fields >> field & 1;
}

/* The records of this class that the selector needs: its own, and for a miss all accesses. */
static bool reads_class(const struct rf_selector *selector, unsigned kind)
{
    return (selector->classes >> kind & 1) ||
           (has(selector->fields, RF_FIELD_MISS) && rf_field_is_late(RF_FIELD_MISS, kind));
}

/* The words of a class that the selectors read, as letters: room for one per word and a zero. */
static void put_letters(const struct rf_probe_setup *setup, unsigned kind, char *letters)
{
    bool needed[RF_FIELD_WORDS] = {false};
    for (size_t i = 0; i < setup->n_selectors; i++)
        for (unsigned field = 1; field < RF_FIELD_COUNT; field++)
            if (reads_class(&setup->selectors[i], kind) && has(setup->selectors[i].fields, field))
                needed[rf_field_needs(field, kind)] = true;
    needed[RF_FIELD_WORD_VALUE] &= !setup->no_values;
    for (unsigned word = 1; word < RF_FIELD_WORDS; word++)
        if (needed[word])
            *letters++ = rf_field_letter((enum rf_field_word)word);
    *letters = '\0';
}

uint32_t rf_probe_classes(const struct rf_probe_setup *setup)
{
    uint32_t classes = 0;
    for (size_t i = 0; i < setup->n_selectors; i++) {
        classes |= setup->selectors[i].classes;
        if (has(setup->selectors[i].fields, RF_FIELD_MISS))
            classes |= rf_field_info(RF_FIELD_MISS)->classes;
    }
    return classes;
}

/* "c" where a selector of the class is counted, and "s" where another one is not. */
static const char *how_counted(const struct rf_probe_setup *setup, unsigned kind)
{
    uint32_t counted = rf_counters_selectors(setup);
    bool counts = false, streams = false;
    for (size_t i = 0; i < setup->n_selectors; i++) {
        bool reads = reads_class(&setup->selectors[i], kind);
        counts |= reads && (counted >> i & 1);
        streams |= reads && !(counted >> i & 1);
    }
    return counts && streams ? "cs" : counts ? "c" : "";
}

void rf_spawn_want(const struct rf_probe_setup *setup, bool counts, char text[RF_SPAWN_WANT])
{
    char letters[RF_FIELD_WORDS];
    size_t n = 0;
    uint32_t classes = rf_probe_classes(setup);
    text[0] = '\0';
    for (unsigned kind = 0; kind < RF_WORD_CLASSES; kind++) {
        if (!(classes >> kind & 1))
            continue;
        put_letters(setup, kind, letters);
        n += rf_format(text + n, RF_SPAWN_WANT - n, "%s%s:%s%s", n > 0 ? "," : "",
                       rf_class_name(kind), letters, counts ? how_counted(setup, kind) : "");
    }
}

static bool add_want(struct command *command, const struct rf_probe_setup *setup)
{
    char text[RF_SPAWN_WANT];
    rf_spawn_want(setup, true, text);
    return add_option(command, "want", text);
}

static bool add_patterns(struct command *command, const struct rf_probe_setup *setup)
{
    const char *const *functions = setup->pattern_functions;
    for (size_t i = 0; functions != NULL && i < RF_PROBE_FUNCTIONS_MAX && functions[i] != NULL; i++)
        if (!add_option(command, "pattern-function", functions[i]))
            return false;
    for (size_t i = 0; i < setup->n_patterns; i++) {
        const struct rf_probe_pattern *p = &setup->patterns[i];
        char text[128];
        rf_format(text, sizeof text, "%x,%x,%x,%llx,%llx,%llx,%llx,%x,%x,%x,%x", p->role,
                  p->classes, p->target, (unsigned long long)p->pc_low,
                  (unsigned long long)p->pc_high, (unsigned long long)p->target_low,
                  (unsigned long long)p->target_high, p->pc_function, p->target_function,
                  p->opcode_low, p->opcode_high);
        if (!add_option(command, "pattern", text))
            return false;
    }
    return true;
}

static bool add_stacks(struct command *command, const struct rf_probe_setup *setup)
{
    char text[24];
    uint64_t period = setup->stack_period > 0 ? setup->stack_period : RF_PROBE_STACK_PERIOD;
    rf_format(text, sizeof text, "%llu", (unsigned long long)period);
    return (rf_probe_classes(setup) >> RF_CLASS_FRAME & 1) == 0 ||
           add_option(command, "stacks", text);
}

size_t rf_probe_clocks(const struct rf_probe_setup *setup)
{
    size_t n = 0;
    while (n < RF_PROBE_CLOCKS_MAX && setup->bursts[n].burst > 0)
        n++;
    return n;
}

size_t rf_probe_groups(const struct rf_probe_setup *setup, uint8_t groups[RF_WORD_CLASSES])
{
    return setup->records ? rf_decode_classes(rf_probe_classes(setup), groups)
                          : rf_decode_groups(setup->selectors, setup->n_selectors, groups);
}

static bool add_bursts(struct command *command, const struct rf_probe_setup *setup)
{
    char text[64] = "", clocks[8];
    uint8_t groups[RF_WORD_CLASSES];
    size_t n = 0, n_groups = rf_probe_groups(setup, groups);
    for (; setup->n_patterns > 0 && n_groups < setup->n_selectors; n_groups++)
        groups[n_groups] = 0; /* one per selector */
    n_groups = setup->n_patterns > 0 ? setup->n_selectors : n_groups;
    for (size_t i = 0; i < n_groups; i++)
        n += rf_format(text + n, sizeof text - n, "%s%x", n > 0 ? "," : "", groups[i]);
    if (setup->bursts[0].burst == 0)
        return add_patterns(command, setup);
    rf_format(clocks, sizeof clocks, "%zu", rf_probe_clocks(setup));
    return add_option(command, "bursts", text) && add_option(command, "clocks", clocks) &&
           add_patterns(command, setup);
}

/* Descriptors that the program inherits: ours, and which numbers they get. */
struct passed {
    int ring_fd, ring_number;
    int log_fd, log_number; /* log_fd -1: there is none */
    struct rlimit limit;    /* of descriptors, our own */
};

static bool add_number(struct command *command, const char *name, int number)
{
    char text[16];
    rf_format(text, sizeof text, "%d", number);
    return add_option(command, name, text);
}

static bool add_passed(struct command *command, const struct passed *passed)
{
    char path[64];
    rf_format(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), passed->ring_fd);
    return add_number(command, "ring-fd", passed->ring_number) &&
           add_option(command, "ring-path", path) &&
           (passed->log_fd < 0 || add_number(command, "log-fd", passed->log_number));
}

static bool fill_command(struct command *command, const struct rf_probe_setup *setup,
                         const struct passed *passed)
{
    static const char *const fixed[] = {"valgrind",
                                        "-q",
                                        "--command-line-only=yes",
                                        "--tool=riffle",
                                        "--vgdb=no",
                                        "--sigill-diagnostics=yes",
                                        "--show-below-main=yes"};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        add(command, fixed[i]);
    bool by_name = setup->functions != NULL && setup->functions[0] != NULL;
    add(command, by_name ? "--read-inline-info=yes" : "--read-inline-info=no");
    add(command, setup->no_follow ? "--trace-children=no" : "--trace-children=yes");
    add(command, setup->no_follow ? "--follow=no" : "--follow=yes");
    add(command, setup->lossy ? "--lossy=yes" : "--lossy=no");
    if (!add_passed(command, passed) || !add_want(command, setup) || !add_bursts(command, setup) ||
        !add_stacks(command, setup) || !add_options(command, "function", setup->functions) ||
        !add_options(command, "module", setup->modules) || !add_ranges(command, setup->ranges))
        return false;
    add(command, "--");
    for (const char *const *argument = setup->argv; *argument != NULL; argument++)
        add(command, *argument);
    command->argv[command->n] = NULL;
    return true;
}

/* ---- the probe's folder ---- */

static bool holds_probe(const char *folder)
{
    char path[4096];
    if (rf_format(path, sizeof path, "%s/riffle-amd64-linux", folder) >= sizeof path)
        return false;
    return access(path, X_OK) == 0;
}

/* Beside the running program as it is built, then where it is installed. */
static bool find_folder(char *folder, size_t size, const char *wanted)
{
    if (wanted != NULL)
        return rf_format(folder, size, "%s", wanted) < size && holds_probe(folder);
    char self[4000];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    static const char *const beside[] = {"/probe", "/../probe", "/../../probe",
                                         "/../libexec/riffle"};
    for (size_t i = 0; slash != NULL && i < sizeof beside / sizeof beside[0]; i++) {
        rf_format(folder, size, "%.*s%s", (int)(slash - self), self, beside[i]);
        if (holds_probe(folder))
            return true;
    }
    return rf_format(folder, size, "%s", RIFFLE_PROBE_FOLDER) < size && holds_probe(folder);
}

/* ---- Valgrind ---- */

/* The launcher behind Debian's script, where there is one. */
static bool find_valgrind(char *launcher, size_t size)
{
    char behind[4096];
    if (!rf_probe_find(launcher, size, "valgrind"))
        return false;
    if (rf_format(behind, sizeof behind, "%s.bin", launcher) < sizeof behind &&
        access(behind, X_OK) == 0)
        rf_format(launcher, size, "%s", behind);
    return true;
}

/* ---- processes ---- */

/* May this process raise its limit? */
static bool may_raise(const struct rlimit *limit, rlim_t most)
{
    const struct rlimit raised = {limit->rlim_cur, most};
    if (limit->rlim_max >= most)
        return true;
    if (setrlimit(RLIMIT_NOFILE, &raised) != 0)
        return false;
    setrlimit(RLIMIT_NOFILE, limit);
    return true;
}

/* Numbers that Valgrind will take for its own: beyond the limit that the program sees. Where the limit cannot be
 * raised Valgrind shows the program a lower one. */
static void choose_numbers(struct passed *passed)
{
    getrlimit(RLIMIT_NOFILE, &passed->limit);
    rlim_t soft = passed->limit.rlim_cur;
    if (soft > 1 << 20)
        passed->ring_number = 1 << 20;
    else
        passed->ring_number =
            may_raise(&passed->limit, soft + FD_ROOM) ? (int)soft + 3 : (int)soft - 2;
    passed->log_number = passed->ring_number + 1;
}

/* In the child: ring and log get their numbers, the limits leave room for Valgrind's descriptors. */
static bool pass(const struct passed *passed)
{
    struct rlimit raised = passed->limit, own = passed->limit;
    if ((rlim_t)passed->ring_number >= own.rlim_cur) {
        rlim_t most = own.rlim_cur + FD_ROOM;
        raised.rlim_cur = (rlim_t)passed->log_number + 1;
        raised.rlim_max = own.rlim_max = most > own.rlim_max ? most : own.rlim_max;
    }
    setrlimit(RLIMIT_NOFILE, &raised);
    bool passes = dup2(passed->ring_fd, passed->ring_number) >= 0 &&
                  (passed->log_fd < 0 || dup2(passed->log_fd, passed->log_number) >= 0);
    int why = errno;
    setrlimit(RLIMIT_NOFILE, &own);
    errno = why;
    return passes;
}

static _Noreturn void run_child(const struct command *command, const struct passed *passed,
                                int report)
{
    const char *name = command->hooks[0] != '\0' ? "RIFFLE_HOOKS" : "VALGRIND_LIB";
    if (pass(passed) &&
        setenv(name, command->hooks[0] != '\0' ? command->hooks : command->folder, 1) == 0)
        execv(command->launcher, (char *const *)command->argv);
    int why = errno;
    ssize_t written = write(report, &why, sizeof why);
    _exit(written == sizeof why ? 127 : 126);
}

/* A child whose end is ignored leaves no status. The program itself inherits what we found. */
static bool heed_children(void)
{
    struct sigaction before;
    bool ignored = sigaction(SIGCHLD, NULL, &before) == 0 && before.sa_handler == SIG_IGN;
    if (ignored)
        signal(SIGCHLD, SIG_DFL);
    return ignored;
}

/* The pipe closes by itself when exec succeeds; otherwise it carries the error. */
static rf_status fork_child(struct rf_spawn *spawn, const struct command *command,
                            const struct passed *passed, struct rf_error *error)
{
    int report[2], why = 0;
    if (pipe2(report, O_CLOEXEC) != 0)
        return rf_fail(error, RF_EIO, "cannot make a pipe: %s", strerror(errno));
    spawn->started = rf_spawn_clock();
    spawn->ignored = heed_children();
    spawn->pid = fork();
    if (spawn->pid == 0) {
        if (spawn->ignored)
            signal(SIGCHLD, SIG_IGN);
        run_child(command, passed, report[1]);
    }
    int fork_errno = errno;
    close(report[1]);
    ssize_t n = spawn->pid > 0 ? rf_input_read(report[0], &why, sizeof why) : 0;
    close(report[0]);
    if (spawn->pid < 0)
        return rf_fail(error, RF_EIO, "cannot start a process: %s", strerror(fork_errno));
    if (n == sizeof why)
        return rf_fail(error, RF_EIO, "cannot start '%s': %s", command->launcher, strerror(why));
    return RF_OK;
}

static size_t count_arguments(const char *const *argv)
{
    size_t n = 0;
    while (argv[n] != NULL)
        n++;
    return n;
}

static rf_status find_parts(struct command *command, const char *folder, struct rf_error *error)
{
    if (!find_folder(command->folder, sizeof command->folder, folder))
        return rf_fail(error, RF_ENOTSUP,
                       "the probe is not there (riffle-amd64-linux): this riffle "
                       "was built without it, or only part of it was installed");
    if (!find_valgrind(command->launcher, sizeof command->launcher))
        return rf_fail(error, RF_ENOTSUP, "valgrind is not in PATH; is it installed?");
    return RF_OK;
}

/* A program that has hooks runs by itself. */
static rf_status start_hooked(struct rf_spawn *spawn, struct command *command,
                              const struct rf_probe_setup *setup, struct passed *passed,
                              struct rf_error *error)
{
    rf_status status = rf_target_check(setup->argv[0], error);
    if (status == RF_OK)
        status = rf_hooks_check(setup->argv[0], error);
    if (status != RF_OK)
        return status;
    choose_numbers(passed);
    passed->log_fd = -1;
    if (!rf_probe_find(command->launcher, sizeof command->launcher, setup->argv[0]) ||
        !rf_hooks_options(command->hooks, setup, passed->ring_fd, passed->ring_number))
        return rf_fail(error, RF_EINVAL, "the options for the hooks are too many or too long");
    for (size_t i = 0; setup->argv[i] != NULL; i++)
        add(command, setup->argv[i]);
    command->argv[command->n] = NULL;
    return fork_child(spawn, command, passed, error);
}

static rf_status start(struct rf_spawn *spawn, struct command *command,
                       const struct rf_probe_setup *setup, int ring_fd, struct rf_error *error)
{
    struct passed passed = {.ring_fd = ring_fd, .log_fd = spawn->log.write_fd};
    if (setup->hooks)
        return start_hooked(spawn, command, setup, &passed, error);
    rf_status status = find_parts(command, setup->folder, error);
    if (status == RF_OK)
        status = rf_target_check(setup->argv[0], error);
    if (status != RF_OK)
        return status;
    choose_numbers(&passed);
    if (!fill_command(command, setup, &passed))
        return rf_fail(error, RF_EINVAL, "the options for the probe are too many or too long");
    return fork_child(spawn, command, &passed, error);
}

/* Valgrind's descriptors lie beyond the program's where the limit may be raised. Else they are taken from it. */
rf_status rf_spawn_check_files(struct rf_error *error)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t least = may_raise(&limit, limit.rlim_cur + FD_ROOM) ? FD_OWN : FD_VALGRIND + FD_PROGRAM;
    if (limit.rlim_cur >= least)
        return RF_OK;
    return rf_fail(error, RF_EIO,
                   "at most %llu files may be open, and %llu are needed; 'ulimit -n' raises that",
                   (unsigned long long)limit.rlim_cur, (unsigned long long)least);
}

rf_status rf_spawn_start(struct rf_spawn *spawn, const struct rf_probe_setup *setup, int ring_fd,
                         struct rf_error *error)
{
    const struct rf_alloc *alloc = rf_alloc_or_standard(setup->alloc);
    *spawn = (struct rf_spawn){.pid = -1};
    rf_valgrind_log_open(&spawn->log);
    struct command *command = rf_alloc_get(alloc, sizeof *command);
    size_t room = ARGUMENTS_OWN + 16 + count_arguments(setup->argv);
    const char **argv = rf_alloc_get(alloc, room * sizeof *argv);
    rf_status status = rf_fail(error, RF_ENOMEM, "no memory to start the program");
    if (command != NULL && argv != NULL) {
        command->argv = argv;
        command->n = command->n_text = 0;
        command->hooks[0] = '\0';
        command->room = room;
        status = start(spawn, command, setup, ring_fd, error);
    }
    rf_alloc_free(alloc, command, sizeof *command);
    rf_alloc_free(alloc, argv, room * sizeof *argv);
    return status;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

bool rf_spawn_ended(struct rf_spawn *spawn, bool block)
{
    struct rusage usage;
    pid_t pid = 0;
    if (spawn->ended || spawn->pid < 0)
        return true;
    do
        pid = wait4(spawn->pid, &spawn->status, block ? 0 : WNOHANG, &usage);
    while (pid < 0 && errno == EINTR && block);
    if (pid != spawn->pid)
        return false;
    spawn->ended = true;
    if (spawn->ignored)
        signal(SIGCHLD, SIG_IGN);
    spawn->wall_seconds = rf_spawn_clock() - spawn->started;
    spawn->cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    return true;
}

void rf_spawn_free(struct rf_spawn *spawn)
{
    rf_valgrind_log_close(&spawn->log);
}

bool rf_spawn_is_dead(pid_t pid)
{
    char path[64], text[512];
    if (kill(pid, 0) != 0 && errno == ESRCH)
        return true;
    rf_format(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = rf_input_read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *state = strrchr(text, ')');
    return state != NULL && (state[2] == 'Z' || state[2] == 'X');
}
