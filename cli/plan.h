/* plan.h - what commands that run engines share: lanes, names, the report, the files they save. */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "command.h"
#include "coproc.h"

/* lanes.c: -p and -e. */
extern cli_words cli_words_engines, cli_words_selectors, cli_words_cores;
extern const struct cli_option cli_options_lanes[];

struct cli_lanes {
    struct rf_lane *lanes;
    size_t n;
    char *text;            /* that the default selectors stand in */
    char **texts;          /* selectors that were changed, closed by NULL; NULL: none */
    uint64_t stack_period; /* instructions between two samples of the stack; 0: not given */
};
enum cli_selecting {
    CLI_SELECT_NOTHING, /* no lanes: a co-processor is alone */
    CLI_SELECT_ASKED,   /* without -p the stream is taken as it is */
    CLI_SELECT_ALWAYS,  /* without -p the default of -p is taken */
};
/* Selectors and engines are checked here, before anything is read; errors are printed. `standard`: the selectors where
 * -p is not given; NULL: the command's default. */
int cli_lanes_make(struct cli_lanes *lanes, const struct cli_call *call,
                   enum cli_selecting selecting, const char *standard);
void cli_lanes_free(struct cli_lanes *lanes);
/* A trace of tuples may know the selector that made them: lanes without one get it. False: it does not, or a lane has one.
 * `info` must outlive the lanes. */
bool cli_lanes_adopt(struct rf_lane *lanes, size_t n, struct rf_source *source,
                     struct rf_trace_info *info);
/* Does an engine count stacks that cannot? The sentence says which one. */
bool cli_lanes_lose_stacks(const struct rf_lane *lanes, size_t n, struct rf_error *error);
int cli_lanes_refuse_stacks(const struct cli_lanes *lanes,
                            const char *command); /* CLI_OK, or told */
/* Select from one thread only (NULL: from all). */
int cli_lanes_of_thread(struct cli_lanes *lanes, const char *thread);

/* counts.c: what need not be streamed. --stream is an int. */
extern const struct cli_option cli_options_counts[];
struct cli_plan;
/* Where no engine is asked for: exact for selectors that are counted, or for all; the others share one ceiling. */
void cli_counts_engines(struct cli_plan *plan, const struct cli_call *call, bool all);
/* Add lanes with exact totals per pc beside those that have a pc and something that changes. */
int cli_counts_companions(struct cli_plan *plan);
/* Mark their profiles, which come in the order of the lanes. */
rf_status cli_counts_label(const struct cli_plan *plan, struct rf_run *run);
/* Selectors of the plan, 1 << i, whose engines take tuples in any order (rf_probe_setup). */
uint32_t cli_counts_any_order(const struct cli_plan *plan);

/* resolve.c: the files of a stream's program: added to a run, and used to look up names in selectors. */
rf_status cli_add_modules(struct rf_run *run, struct rf_source *source);
struct cli_program {
    struct rf_run *run; /* its modules and nothing else */
    struct rf_symbols *symbols;
    bool is_whole;  /* all of its files are known */
    bool explained; /* why a selector names nothing that can be called; once is enough */
};
rf_status cli_program_open(struct cli_program *program, struct rf_source *source);
size_t cli_resolve(void *program, unsigned field, const char *symbol, uint64_t *addresses,
                   size_t max); /* an rf_selector_resolve */
/* For a program that runs: it has this file, and knows of no other any more. */
void cli_program_mapped(void *program, const struct rf_module *module);
void cli_program_close(struct cli_program *program);

/* known.c: the code of a static program, from its file; false: it is none. Must be closed, whatever is returned. */
bool cli_program_static(struct cli_program *program, const char *path);
/* known.c: refuse functions (a list closed by NULL) that a program does not have, where its file shows that. */
int cli_check_functions(const char *path, const char *const *names); /* CLI_OK, or told */

/* known.c: does a file of the run have it, as code of its own or inlined? True where that cannot be told. */
bool cli_has_function(struct rf_symbols *symbols, const char *name);

/* asked.c: has one of the files this path, or this name as its last part? */
bool cli_has_module(const struct rf_module *modules, size_t n, const char *name);

/* known.c: one sentence where a name without parameters means several functions; with `exact`, those that reports write
 * so. `what` is done with them: "all are shown". */
void cli_say_meanings(struct rf_symbols *symbols, const char *name, bool exact, const char *what);

/* known.c: --map FILE[@ADDRESS]: add the file's code to the modules of a run. CLI_OK, or told. */
int cli_map_file(struct rf_run *run, const char *text);

/* output.c: checks where a result will go, before the work begins. */
/* A file that appears whole or not at all; only its owner can read it. "-" is standard output. */
struct cli_output {
    const char *path;
    char *temporary; /* NULL: written in place */
    FILE *out;
};

rf_status cli_output_open(struct cli_output *output, const char *path, struct rf_error *error);
/* `status`: how writing went; RF_OK puts the file where it belongs, all else leaves no trace of it. */
rf_status cli_output_close(struct cli_output *output, rf_status status, struct rf_error *error);
/* What cli_output_open does, for those who write by themselves: a file under a temporary name (NAME.XXXXXX), which a signal that
 * ends the program removes until it is forgotten; -1 and errno: it cannot be made. */
int cli_output_create(char *temporary);
void cli_output_forget(const char *temporary);
/* The mode of the owner's own file of that name, if there is one. */
void cli_output_keep_mode(int fd, const char *path);

int cli_check_output(const char *path); /* CLI_OK, or an error was printed; NULL and "-" are fine */
bool cli_same_file(const char *left,
                   const char *right); /* NULL and "-" are none; nor are pipes, devices */

/* report.c: --format and its companions. */
extern cli_words cli_words_forms, cli_words_by;
enum { CLI_PLACES_MAX = 16 };
struct cli_report {
    const char *format, *by, *sort, *file, *html;
    uint64_t items;
    int items_given; /* not the default; stands behind it */
    double hot, share_min;
    int per_interval, full_names, details, assembly;
    int to_stderr; /* stdout belongs to somebody else */
    int silent;    /* print nothing */
    int no_names;
    const char *annotate;       /* a function, "": the hottest ones; NULL: no source */
    const char *thread;         /* only this one; NULL: all */
    const char *counted_thread; /* that alone was counted; NULL: all were */
    const char *const
        *counted; /* functions that alone were counted, closed by NULL; NULL: all were */
    const char *functions[CLI_PLACES_MAX + 1],
        *modules[CLI_PLACES_MAX + 1]; /* only these; closed by NULL */
};
/* asked.c: RF_EINVAL, with a sentence: the run has not what --function, --module or --thread names. */
rf_status cli_find_asked(const struct rf_run *run, const struct cli_report *report,
                         const struct rf_view_setup *view, struct rf_error *error);
extern const struct cli_option cli_options_report[];   /* into a cli_report */
extern const struct cli_option cli_options_annotate[]; /* the same; of a program, not a stream */
extern const struct cli_option
    cli_options_places[]; /* --function and --module; see cli_report_take */
extern const struct cli_option cli_options_thread[]; /* into a const char * */
/* Take what may be repeated, and check what can be checked before the work begins. Errors are printed. */
int cli_report_take(struct cli_report *report, const struct cli_call *call);
int cli_report_check_files(const struct cli_report *report,
                           const struct cli_call *call); /* CLI_OK, or told */
/* One more name in a list of at most CLI_PLACES_MAX that NULL closes. */
int cli_take_name(const struct cli_call *call, const char **names, const struct cli_given *given);
int cli_parse_thread(uint64_t *thread, const char *text); /* CLI_OK, or told */
int cli_report(const struct rf_run *run, const struct cli_report *report);
int cli_report_fits(const struct rf_run *run, const struct cli_report *report); /* prints nothing */
/* Save and print a collector's result. It is not saved when output is NULL, or when nothing was counted
 * before a failure. A failure is printed and noted in the run. The run may be NULL and is freed. Returns the
 * exit status. */
int cli_deliver(struct rf_run *run, rf_status status, const struct rf_error *error,
                const char *output, const struct cli_report *report);

/* plan.c: how a stream is cut, and how many threads work on it. */
struct cli_cut {
    uint64_t interval, seed; /* cli_options_interval */
    uint64_t skip, limit;    /* cli_options_window */
    uint64_t threads;        /* cli_options_threads */
};
extern const struct cli_option cli_options_interval[], cli_options_window[], cli_options_threads[];
extern const struct cli_option cli_options_cache[]; /* into a const char * */

/* For rf_collect: the number of threads for engines when riffle has `threads` in all; 0: one per processor,
 * except those that others keep busy. */
size_t cli_engine_threads(uint64_t threads, size_t others);

/* rehearse.c: refuse what does not fit together, before the stream is read or the program starts. The cache may be
 * NULL. Returns CLI_OK, or an error was printed. */
int cli_rehearse(const struct cli_lanes *lanes, const struct cli_cut *cut, const char *cache,
                 const struct cli_report *report);

/* plan.c: a program is run and profiled, by run and by sim. */
struct cli_profiling {
    struct cli_report report;
    struct cli_cut cut; /* but for skip and limit */
    const char *output, *record;
    const char *thread;
    int quiet;
};
extern const struct cli_option cli_options_profiling[]; /* with -p and -e */
extern const struct cli_option
    cli_options_profiling_native[]; /* the same for a program that this machine runs */

enum { CLI_SELECTORS_MAX = 32, CLI_COMPANION_TEXT = 512 };
struct cli_plan {
    const struct cli_profiling *asked;
    char *command;
    const char *file; /* that runs; NULL: the command takes no program */
    bool overview;    /* no -p was given: the report is the first screen */
    bool
        alone; /* no program writes to the terminal: the report goes to standard output, and there may be a
                         progress line. What a program prints would stand behind such a line. */
    struct cli_lanes lanes;
    size_t n_asked; /* of the lanes; companions (counts.c) follow */
    struct cli_coprocs coprocs;
    struct rf_selector selectors[CLI_SELECTORS_MAX];
    size_t n_selectors;
    size_t others;              /* processors that the program itself keeps busy */
    bool records;               /* the source hands out records; otherwise each selector's tuples */
    const char *cache;          /* as in rf_collect_setup */
    const volatile int *stop;   /* as in rf_collect_setup; may be NULL */
    struct cli_program program; /* for names in selectors of records; not open: refused */
    char companions[CLI_SELECTORS_MAX][CLI_COMPANION_TEXT]; /* selectors of totals (counts.c) */
    /* The default engine with its part of the ceiling (counts.c); empty: nobody shares. */
    char sharing[64];
    struct rf_trace_writer *writer; /* of --record, while the program runs */
    bool told_of_modules;           /* that some did not fit the trace */
    struct rf_live *live;           /* for `riffle top PID`; NULL: nobody can ask */
    struct rf_source *source;       /* while it is read */
};
int cli_plan_make(struct cli_plan *plan, const struct cli_call *call,
                  const struct cli_profiling *asked);
void cli_plan_free(struct cli_plan *plan);
int cli_plan_rehearse(const struct cli_plan *plan); /* cli_rehearse of its parts */
/* Open the recording, if one is asked for and it is not open yet. cli_plan_run does; who starts a program before that
 * calls this first, so that a recording that cannot be made is told before the program runs. */
rf_status cli_plan_record(struct cli_plan *plan, struct rf_error *error);
int cli_check_cache(const char *shape); /* --cache; NULL is fine. Errors are printed. */
bool cli_plan_reads(const struct cli_plan *plan, unsigned field); /* does some selector? */
bool cli_plan_has_names(const struct cli_plan *plan);             /* in a selector */
/* CLI_OK, or told: a selector reads what only a timed core knows. */
int cli_plan_refuse_timing(const struct cli_plan *plan, const char *why);
/* Called when the program has ended: the command adds notes and modules. The run may be NULL. RF_ENOTSUP: the
 * program never ran, and nothing is delivered. */
typedef rf_status cli_complete(struct rf_run *run, struct rf_source *source, struct cli_plan *plan,
                               void *context);
/* Collect the whole source, complete the run, finish the trace, save, and report on standard error, because
 * standard output is the program's. Returns the exit status. */
int cli_plan_run(struct cli_plan *plan, struct rf_source *source, cli_complete *complete,
                 void *context);
/* The files that the program had mapped, into the run (NULL: not) and the trace, with their build ids. */
rf_status cli_plan_add_modules(struct cli_plan *plan, struct rf_run *run, struct rf_source *source);
rf_status cli_note(struct rf_run *run, const char *name, const char *format, ...) CLI_PRINTF(3, 4);

#endif
