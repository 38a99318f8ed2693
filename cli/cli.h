/* cli.h - what a command of the program is made of, and what all of them share.
 *
 * To add a command: write cmd_NAME.c with a `const struct cli_command cli_command_NAME` and add NAME
 * to the list in meson.build. Its table of options makes the parser, --help, the man page and the
 * shell completion; nothing of it is written twice.
 *
 * A command gets its options in a struct of its own, filled with the defaults and then from the
 * command line, and returns an exit status. Errors are one sentence on stderr: cli_fail. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <riffle/riffle.h>

enum cli_exit {
    CLI_OK = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_DAMAGED = 3,       /* the input was damaged: what is printed is of its whole parts */
    CLI_INTERRUPTED = 130, /* by Ctrl-C: what is printed is what was counted until then */
};

enum cli_type {
    CLI_END,    /* closes a table */
    CLI_FLAG,   /* int: 1 when given */
    CLI_TEXT,   /* const char * */
    CLI_FILE,   /* const char *, completed as a file's name */
    CLI_COUNT,  /* uint64_t, with units: 1M, 16Ki */
    CLI_SHARE,  /* double, 0.001 or 0.1% */
    CLI_CHOICE, /* const char *, one of `words` */
    CLI_LIST,   /* may be given often; only in cli_call.given */
};

/* The i-th of a list of words, NULL behind the last. */
typedef const char *cli_words(size_t i);

struct cli_option {
    enum cli_type type;
    char letter;          /* 0: none */
    const char *name;     /* without the dashes */
    const char *argument; /* how it is called in the help: "N", "FILE"; NULL for a flag */
    const char *standard; /* the default, as text; passes through the same parser; NULL: 0 */
    const char *brief;    /* one line for --help */
    const char *text;     /* more, for the man page; may be NULL */
    cli_words *words;     /* what may stand there: checked for a choice, completed for all */
    size_t offset;        /* into the command's settings */
};

/* An option that may be given often, as it was given. */
struct cli_given {
    const struct cli_option *option;
    const char *value;
};

struct cli_call {
    const struct cli_command *command;
    void *settings;
    const struct cli_given *given; /* CLI_LIST options in their order */
    size_t n_given;
    char **arguments; /* what is no option; closed by NULL */
    size_t n_arguments;
    int argc; /* the whole command line, for the record */
    char **argv;
};

enum { CLI_SETTINGS_MAX = 512, CLI_ANY_NUMBER = 1 << 20 };

struct cli_command {
    const char *name;
    const char *brief;     /* one line, no full stop */
    const char *arguments; /* how they are called in the help: "FILE|-" */
    const char *text;      /* paragraphs, separated by empty lines; lines that begin with four
                              spaces stay as they are */
    const char *examples;  /* such lines, too */
    const struct cli_option *options;
    size_t settings_size;
    size_t arguments_min, arguments_max;
    cli_words *words;        /* the first argument is one of these; NULL: a file */
    bool first_ends_options; /* everything behind the first argument belongs to it */
    int (*run)(const struct cli_call *call);
};

extern const struct cli_command *const cli_commands[]; /* closed by NULL, in alphabetical order */
const struct cli_command *cli_find(const char *name);

/* options.c: the command line of one command, parsed and run. */
int cli_run(const struct cli_command *command, int argc, char **argv);

/* help.c, man.c, completion.c: what else the tables make. */
void cli_help(FILE *out, const struct cli_command *command); /* NULL: of the program */
void cli_man(FILE *out, const struct cli_command *command);
void cli_completion_bash(FILE *out);
void cli_completion_zsh(FILE *out);
extern const struct cli_option cli_option_help; /* every command has it */
extern const char cli_exit_text[];              /* the exit statuses, as a paragraph */

/* say.c: what goes to stderr, and the end of stdout. */
#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
int cli_fail(int exit_status, const char *format, ...) CLI_PRINTF(2, 3); /* returns exit_status */
/* The library's sentence, or its status where it left none. Returns the exit status for it. */
int cli_fail_status(rf_status status, const struct rf_error *error);
/* The same where nothing of a damaged input was used: that is plain failure. */
int cli_fail_unused(rf_status status, const struct rf_error *error);
/* The word of the list that `word` may have meant, or NULL. */
const char *cli_nearest(const char *word, cli_words *words);
/* Flush stdout: the worse of `exit_status` and what that brings. A closed pipe is no failure. */
int cli_finish(int exit_status);
bool cli_reader_gone(void);   /* stdout is a pipe, and nobody reads it any more */
bool cli_stdout_closed(void); /* the reader is gone or the disk is full: writing on is useless */

/* terminal.c: who is watching. */
bool cli_colour(void);         /* stdout wants colours */
int cli_width(void);           /* of the terminal on stdout; 0: no terminal */
void cli_progress_begin(void); /* the clock starts */
void cli_progress(void *context, const struct rf_collect_progress *progress);
void cli_progress_end(void);
/* From here on Ctrl-C only raises this flag; a second one ends the program. */
const volatile int *cli_catch_interrupt(void);

/* lanes.c: -p and -e, for all commands that run engines. */
extern cli_words cli_words_engines, cli_words_selectors, cli_words_cores;
/* What commands do that list things and show the one that is named. */
static inline int cli_list_or_show(const struct cli_call *call, void (*list)(void),
                                   int (*show)(const char *text))
{
    if (call->n_arguments > 0)
        return show(call->arguments[0]);
    list();
    return CLI_OK;
}
#define CLI_ENGINE_STANDARD "multihash(accumulator=auto)" /* of run and sim */
#define CLI_OPTIONS_LANES(engine, selectors)                                                       \
    {.type = CLI_LIST,                                                                             \
     .letter = 'e',                                                                                \
     .name = "engine",                                                                             \
     .argument = "ENGINE",                                                                         \
     .words = cli_words_engines,                                                                   \
     .brief = "what counts; may be given often (default: " engine ")",                             \
     .text = "A name, or a name with options: multihash(tables=4, threshold=0.1%). An engine "     \
             "serves the selector (-p) before it; those before the first -p serve every selector " \
             "that has none of its own. 'riffle engines' lists them."},                            \
    {                                                                                              \
        .type = CLI_LIST, .letter = 'p', .name = "profile", .argument = "SELECTOR",                \
        .words = cli_words_selectors, .brief = "what to count" selectors,                          \
        .text = "A preset's name such as values, edges or calls, or a selector: "                  \
                "'load value==0 -> pc,addr'; 'riffle selectors' lists the former, its help has "   \
                "the latter. Each gets the engines behind it. A stream of tuples has nothing "     \
                "to select."                                                                       \
    }

struct cli_lanes {
    struct rf_lane *lanes;
    size_t n;
};
/* Selectors and engines that make no sense are told here, before anything is read. */
int cli_lanes_make(struct cli_lanes *lanes, const struct cli_call *call);
void cli_lanes_free(struct cli_lanes *lanes);
/* The command line in one text, as a run notes it. The caller frees it; NULL: no memory. */
char *cli_command_text(const struct cli_call *call);

/* resolve.c: the files that a stream knows of: into a run, and to look up names of selectors in. */
rf_status cli_add_modules(struct rf_run *run, struct rf_source *source);
struct cli_program {
    struct rf_run *run; /* its modules and nothing else */
    struct rf_symbols *symbols;
};
rf_status cli_program_open(struct cli_program *program, struct rf_source *source);
int cli_resolve(void *program, const char *symbol, uint64_t *address); /* for rf_selector_bind */
void cli_program_close(struct cli_program *program);

/* output.c: where a result is to go, looked at before the work begins. */
int cli_check_output(const char *path); /* CLI_OK, or told why not; NULL and "-" are fine */
bool cli_same_file(const char *left, const char *right); /* NULL is none */

/* report.c: --format and its companions, for all commands that end in a report. */
extern cli_words cli_words_forms;
struct cli_report {
    const char *format;
    uint64_t items;
    double hot;
    int per_interval;
    int to_stderr; /* stdout belongs to somebody else */
    int silent;    /* print nothing */
    int no_names;
    const char *annotate; /* a function; NULL: all that was found */
};
#define CLI_OPTIONS_REPORT(settings, field)                                                        \
    {.type = CLI_CHOICE,                                                                           \
     .letter = 'f',                                                                                \
     .name = "format",                                                                             \
     .argument = "FORM",                                                                           \
     .standard = "text",                                                                           \
     .words = cli_words_forms,                                                                     \
     .brief = "how to print it",                                                                   \
     .offset = offsetof(settings, field.format)},                                                  \
        {.type = CLI_COUNT,                                                                        \
         .letter = 'n',                                                                            \
         .name = "items",                                                                          \
         .argument = "N",                                                                          \
         .standard = "20",                                                                         \
         .brief = "the N heaviest of each profile; 0: all",                                        \
         .offset = offsetof(settings, field.items)},                                               \
        {.type = CLI_SHARE,                                                                        \
         .name = "hot",                                                                            \
         .argument = "SHARE",                                                                      \
         .standard = "2%",                                                                         \
         .brief = "tree, heat: what makes a range hot",                                            \
         .offset = offsetof(settings, field.hot)},                                                 \
        {.type = CLI_FLAG,                                                                         \
         .name = "per-interval",                                                                   \
         .brief = "the items of every interval, too",                                              \
         .text = "Only where the stream is cut into intervals, by --interval or by the engine.",   \
         .offset = offsetof(settings, field.per_interval)},                                        \
    {                                                                                              \
        .type = CLI_FLAG, .name = "no-names", .brief = "addresses as numbers only",                \
        .text = "Reads none of the files that ran, and asks nothing of them.",                     \
        .offset = offsetof(settings, field.no_names)                                               \
    }
/* --annotate, for the commands that report on a program. */
#define CLI_OPTIONS_ANNOTATE(settings, field)                                                      \
    {                                                                                              \
        .type = CLI_TEXT, .letter = 'a', .name = "annotate", .argument = "FUNCTION",               \
        .brief = "the source of a function with its counts",                                       \
        .text = "For each line how often, which share of all, and the value seen most. Without "   \
                "source the disassembly by objdump. Profiles by pc only.",                         \
        .offset = offsetof(settings, field.annotate)                                               \
    }
int cli_report(const struct rf_run *run, const struct cli_report *report);
/* What a collector handed back: saved (output NULL: not; nor after a failure of ours), printed, and
 * any failure told. The run may be NULL and is freed. Returns the exit status. */
int cli_deliver(struct rf_run *run, rf_status status, const struct rf_error *error,
                const char *output, const struct cli_report *report);

/* --cache, for the commands that select from records. */
#define CLI_CACHE_STANDARD "l1=32Ki/8/64,l2=1Mi/16/64"
#define CLI_OPTIONS_CACHE(settings, field, default_shape)                                          \
    {                                                                                              \
        .type = CLI_TEXT, .name = "cache", .argument = "SHAPE", .standard = (default_shape),       \
        .brief = "caches to model for selectors that read 'miss'",                                 \
        .text = "Each level as size/ways/bytes of a line: l1=32Ki/8/64,l2=1Mi/16/64. All loads "   \
                "and stores run through it; miss is the number of levels that a load or store "    \
                "missed.",                                                                         \
        .offset = offsetof(settings, field)                                                        \
    }

/* The options of every command that cuts a stream. */
struct cli_cut {
    uint64_t interval, seed, skip, limit;
    uint64_t threads; /* only where there is CLI_OPTIONS_THREADS */
};
#define CLI_OPTIONS_THREADS(settings, field)                                                       \
    {                                                                                              \
        .type = CLI_COUNT, .name = "threads", .argument = "N", .standard = "0",                    \
        .brief = "of riffle itself; 0: as many as there are processors for it",                    \
        .text = "One reads the stream, every other one works for one or more of the engines. "     \
                "What is found does not depend on it.",                                            \
        .offset = offsetof(settings, field.threads)                                                \
    }
#define CLI_OPTIONS_INTERVAL(settings, field)                                                      \
    {.type = CLI_COUNT,                                                                            \
     .letter = 'i',                                                                                \
     .name = "interval",                                                                           \
     .argument = "N",                                                                              \
     .standard = "0",                                                                              \
     .brief = "cut the stream every N events; 0: as the engine says",                              \
     .offset = offsetof(settings, field.interval)},                                                \
    {                                                                                              \
        .type = CLI_COUNT, .name = "seed", .argument = "N", .standard = "0",                       \
        .brief = "of the engines' hashes and random choices",                                      \
        .offset = offsetof(settings, field.seed)                                                   \
    }
#define CLI_OPTIONS_CUT(settings, field)                                                           \
    CLI_OPTIONS_INTERVAL(settings, field),                                                         \
        {.type = CLI_COUNT,                                                                        \
         .name = "skip",                                                                           \
         .argument = "N",                                                                          \
         .standard = "0",                                                                          \
         .brief = "leave out the first N events",                                                  \
         .offset = offsetof(settings, field.skip)},                                                \
    {                                                                                              \
        .type = CLI_COUNT, .name = "limit", .argument = "N", .standard = "0",                      \
        .brief = "take at most N events; 0: all", .offset = offsetof(settings, field.limit)        \
    }

/* plan.c: what the commands share that run a program and profile it. */
struct cli_keep {
    const char *output, *record;
    int quiet;
};
#define CLI_OPTIONS_KEEP(settings, field)                                                          \
    {.type = CLI_FILE,                                                                             \
     .letter = 'o',                                                                                \
     .name = "output",                                                                             \
     .argument = "FILE",                                                                           \
     .brief = "save the profiles, for report and merge",                                           \
     .text = "By custom the name ends in .rfp. It appears whole or not at all, readable by its "   \
             "owner alone: profiles of values hold what the program had in memory.",               \
     .offset = offsetof(settings, field.output)},                                                  \
        {.type = CLI_FILE,                                                                         \
         .name = "record",                                                                         \
         .argument = "FILE",                                                                       \
         .brief = "keep the stream, too, for replay",                                              \
         .text =                                                                                   \
             "By custom the name ends in .rft. With one -p the trace holds its tuples, with "      \
             "several the records that they select from. Where the program's files were is in "    \
             "it, too: replay finds names as this report does.",                                   \
         .offset = offsetof(settings, field.record)},                                              \
    {                                                                                              \
        .type = CLI_FLAG, .letter = 'q', .name = "quiet", .brief = "print no report",              \
        .offset = offsetof(settings, field.quiet)                                                  \
    }

enum { CLI_SELECTORS_MAX = 32 };
struct cli_plan {
    char *command;
    struct cli_lanes lanes;
    struct rf_selector selectors[CLI_SELECTORS_MAX];
    size_t n_selectors;
    size_t others;     /* processors that the program itself keeps busy */
    bool records;      /* the source hands out records; otherwise the tuples of each selector */
    const char *cache; /* as in rf_collect_setup */
    const struct cli_keep *keep;
    const struct cli_report *report;
    struct cli_program program;     /* for names in selectors of records; not open: refused */
    struct rf_trace_writer *writer; /* of --record, between collect and deliver */
};
/* -p and -e alone, the defaults where nothing is said: values, edges and calls; multihash. */
int cli_plan_make(struct cli_plan *plan, const struct cli_call *call, const struct cli_keep *keep,
                  const struct cli_report *report);
void cli_plan_free(struct cli_plan *plan);
bool cli_plan_reads_misses(const struct cli_plan *plan); /* does some selector? */
/* For rf_collect: how many threads the engines get, when riffle is to have `threads`; 0: one for each
 * processor but those that others keep busy. */
size_t cli_engine_threads(uint64_t threads, size_t others);
/* rf_collect with everything that the command line asks for. stop may be NULL. */
rf_status cli_plan_collect(struct rf_run **run, struct rf_source *source, struct cli_plan *plan,
                           const struct cli_cut *cut, const volatile int *stop,
                           struct rf_error *error);
/* A file that the program had mapped, into the run and the trace. Its build id is looked up. */
rf_status cli_plan_add_module(struct cli_plan *plan, struct rf_run *run,
                              const struct rf_module *module);
/* The trace finished, then cli_deliver, with the report on standard error: standard output is the
 * program's. */
int cli_plan_deliver(struct rf_run *run, rf_status status, const struct rf_error *error,
                     struct cli_plan *plan);
rf_status cli_note(struct rf_run *run, const char *name, const char *format, ...) CLI_PRINTF(3, 4);

/* measures.c: how far from the truth; one row a measure. */
enum { CLI_MEASURE_COLUMNS_MAX = 8 };
struct cli_measure_setup {
    double threshold;
    struct rf_invariance_filter filter;
};
struct cli_measure {
    const char *name;
    const char *brief;
    const char *columns[CLI_MEASURE_COLUMNS_MAX + 1]; /* shares, closed by NULL */
    rf_status (*run)(double *values, const struct rf_profile *perfect,
                     const struct rf_profile *measured, const struct cli_measure_setup *setup,
                     struct rf_error *error);
};
extern const struct cli_measure cli_measures[]; /* closed by a NULL name */
extern cli_words cli_words_measures;

/* timing.c: the speed of engines, alone. */
struct cli_timing;
rf_status cli_timing_new(struct cli_timing **timing, const struct rf_lane *lanes, size_t n,
                         const struct rf_engine_setup *setup, struct rf_error *error);
/* As rf_collect_setup.tap; only the tuples of lane 0 are taken, all engines get the same. */
void cli_timing_tap(void *timing, size_t lane, const struct rf_tuples *tuples);
double cli_timing_speed(struct cli_timing *timing, size_t i); /* tuples a second; 0: too few */
void cli_timing_free(struct cli_timing *timing);              /* NULL is fine */

/* curve.c: the error of engines as a stream goes on. */
struct cli_curve;
struct cli_curve_setup {
    const struct rf_lane *lanes; /* whose engines are judged */
    size_t n_lanes;
    uint64_t every; /* events between two points */
    uint64_t seed;
    struct rf_invariance_filter filter;
};
rf_status cli_curve_new(struct cli_curve **curve, const struct cli_curve_setup *setup,
                        struct rf_error *error);
void cli_curve_tap(void *curve, size_t lane, const struct rf_tuples *tuples); /* as timing's */
rf_status cli_curve_end(struct cli_curve *curve, struct rf_error *error);     /* the last point */
void cli_curve_free(struct cli_curve *curve);                                 /* NULL is fine */

/* stream.c: a stream that is written, as text or as a trace. A file appears whole or not at all. */
struct cli_stream;
struct cli_stream_setup {
    const char *path; /* "-": standard output */
    const char *form; /* "text", "rft"; NULL: by the path's ending */
    enum rf_trace_kind kind;
    const char *command; /* provenance, of a trace; may be NULL */
    const char *selector;
};
extern cli_words cli_words_stream_forms;
rf_status cli_stream_open(struct cli_stream **stream, const struct cli_stream_setup *setup,
                          struct rf_error *error);
rf_status cli_stream_put(struct cli_stream *stream, const struct rf_batch *batch,
                         struct rf_error *error);
rf_status cli_stream_finish(struct cli_stream *stream, struct rf_error *error);
void cli_stream_abandon(struct cli_stream *stream); /* NULL is fine */
/* Everything of the source goes into a new stream, of the kind that the source has; through the
 * selector, if there is one. Returns the exit status, errors are told. */
int cli_stream_copy(const struct cli_stream_setup *setup, struct rf_source *source,
                    const struct rf_selector *selector);

/* lines.c: tuples as lines of text, fast. */
enum { CLI_LINE_MAX = 64 };
/* Writes one line, returns behind it; room for CLI_LINE_MAX characters. */
char *cli_line(char *out, struct rf_tuple tuple, uint64_t count);

#endif
