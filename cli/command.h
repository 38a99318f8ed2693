/* command.h - what a command of the program is: a table of options, a function and a text.
 *
 * To add a command: write cmd_NAME.c with a `const struct cli_action cli_action_NAME`, write help/NAME.txt with what
 * its help says, and add NAME to the list in meson.build. Its table of options makes the parser, --help, the man page and the
 * shell completion, so nothing is written twice.
 *
 * A command gets its options in a struct of its own. The parser fills it with the defaults, then from
 * the user's file, then from the command line. The command returns an exit status and prints errors with cli_fail (say.h). */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdint.h>
#include <stdio.h>
#include "say.h"

enum cli_type {
    CLI_END,    /* closes a table */
    CLI_FLAG,   /* int: 1 when given */
    CLI_TEXT,   /* const char * */
    CLI_MAYBE,  /* const char *; "" where no value follows: nothing, or another option */
    CLI_FILE,   /* const char *, completed as a file's name */
    CLI_COUNT,  /* uint64_t, with units: 1M, 16Ki */
    CLI_SEED,   /* uint64_t; "random": another one in every call */
    CLI_SHARE,  /* double, 0.001 or 0.1%; above 1 only with the sign: 500% */
    CLI_NUMBER, /* double */
    CLI_CHOICE, /* const char *, one of `words` */
    CLI_LIST,   /* may be given more than once; only in cli_call.given */
    CLI_GROUP,  /* the options of another table, `group`, at `offset` */
    CLI_HELP,   /* --help, which every command has */
};

/* A default of one command for an option of a group that several commands share. */
struct cli_default {
    const char *name; /* of the option; NULL closes the table */
    const char *standard;
};

/* A row begins with how the option is written, in this order: {CLI_COUNT, 'i', "interval", "N", "0", ...}.
 * The rest is given by name. */
struct cli_option {
    enum cli_type type;
    char letter;          /* 0: none */
    const char *name;     /* without the dashes */
    const char *argument; /* its name in the help: "N", "FILE"; NULL for a flag */
    const char *standard; /* the default, as text; passes through the same parser; NULL: 0. The
                             default of a list is only shown; the command applies it. */
    const char *brief;    /* one line for --help */
    const char *text;     /* more, for the man page; may be NULL */
    cli_words *words;     /* the possible values: checked for a choice, completed for all */
    size_t offset;        /* into the command's settings; in a group, into the group's struct */
    bool marks;           /* CLI_COUNT: the int behind the number becomes 1 where it is given */
    const struct cli_option *group;
    const struct cli_default *defaults; /* of a group: these instead of its own; may be NULL */
};

/* An option that may be given more than once, as it was given. */
struct cli_given {
    const char *name; /* of the option */
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

enum { CLI_ANY_NUMBER = 1 << 20 };

/* What a command does: the file cmd_NAME.c. */
struct cli_action {
    struct {
        const char *usage; /* their names in the help: "FILE|-" */
        size_t min, max;
    } arguments;
    struct {
        const struct cli_option *options; /* NULL: none */
        size_t size;                      /* of the struct that they fill */
    } settings;
    cli_words *words; /* the first argument is one of these; NULL: a file */
    bool
        first_ends_options; /* the first argument is a program, and what follows is the program's */
    bool only_arguments;    /* there are no options: all words are another program's */
    int trouble;            /* the status of failures, where 1 is an answer; 0: it is none */
    int (*run)(const struct cli_call *call);
    /* In place of run, for a command that lists things or shows the one that its argument names. */
    void (*list)(void);
    int (*show)(const char *name);
};

/* The action with what the help and the man page say of it: the file help/NAME.txt. */
struct cli_command {
    const char *name;
    const struct cli_action *action;
    const char *brief;    /* one line, no full stop */
    const char *text;     /* paragraphs, separated by empty lines; lines that begin with four
                             spaces stay as they are */
    const char *examples; /* such lines, too; may be NULL */
};

/* Made by help/embed.py. Closed by a command without a name; in alphabetical order. */
extern const struct cli_command cli_commands[];
const struct cli_command *cli_find(const char *name);
const char *cli_words_commands(size_t i);

/* options.c: the command line of one command, parsed and run. */
int cli_run(const struct cli_command *command, int argc, char **argv);
/* config.c: options of the user's file, each as "name=value" or "name", in its order; they live as long as the program.
 * What is wrong with the file is told. */
typedef int cli_config_take(void *context, const char *word);
int cli_config_apply(const struct cli_command *command, cli_config_take *take, void *context);
/* The i-th option with groups taken apart: offset and default are those of the command. The last one
 * is --help; false behind it. */
bool cli_option_at(const struct cli_command *command, size_t i, struct cli_option *option);
/* The option of that name, which is n characters long; false: there is none. */
bool cli_find_option(const struct cli_command *command, const char *name, size_t n,
                     struct cli_option *option);
/* The default of an option, as text. The option must exist. */
const char *cli_standard(const struct cli_command *command, const char *name);
bool cli_is(const struct cli_given *given, const char *name);
/* The command line in one text, as a run notes it. The caller frees it; NULL: no memory, and an error was printed. */
char *cli_command_text(const struct cli_call *call);

/* help.c, man.c, completion.c: what else the tables make. */
void cli_help(FILE *out, const struct cli_command *command); /* NULL: of the program */
void cli_man(FILE *out, const struct cli_command *command);
void cli_completion_bash(FILE *out);
void cli_completion_zsh(FILE *out);
void cli_completion_fish(FILE *out);
void cli_version(void);            /* features.c: the version, and the features it was built with */
extern const char cli_exit_text[]; /* the exit statuses, as a paragraph */

#endif
