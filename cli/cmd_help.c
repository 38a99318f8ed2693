/* cmd_help.c - riffle help: the tables as help, man pages and completion. */
#include "command.h"
#include <riffle/productions.h>
#include <string.h>

struct settings {
    int man;
    const char *completion;
};

static const char *shells(size_t i)
{
    static const char *const names[] = {"bash", "zsh", "fish", NULL};
    return names[i];
}

static const struct cli_option options[] = {
    {CLI_FLAG, 0, "man", .brief = "write the man page",
     .text = "In roff, for man -l. 'make install' installs the page of every command.",
     .offset = offsetof(struct settings, man)},
    {CLI_CHOICE, 0, "completion", "SHELL", .words = shells,
     .brief = "write the completion script for a shell",
     .offset = offsetof(struct settings, completion)},
    {.type = CLI_END},
};

static int unknown(const char *name)
{
    const char *nearest = cli_nearest(name, cli_words_commands);
    if (nearest != NULL)
        return cli_fail(CLI_USAGE, "help: no command '%s'; did you mean '%s'?", name, nearest);
    return cli_fail(CLI_USAGE, "help: no command '%s'; 'riffle help' lists them", name);
}

static int run(const struct cli_call *call)
{
    const struct settings *settings = call->settings;
    const struct cli_command *command = NULL;
    if (call->n_arguments > 0 && strcmp(call->arguments[0], "productions") == 0) {
        fputs(rf_productions_grammar(), stdout);
        return CLI_OK;
    }
    if (call->n_arguments > 0) {
        command = cli_find(call->arguments[0]);
        if (command == NULL)
            return unknown(call->arguments[0]);
    }
    if (settings->completion != NULL && strcmp(settings->completion, "bash") == 0)
        cli_completion_bash(stdout);
    else if (settings->completion != NULL && strcmp(settings->completion, "zsh") == 0)
        cli_completion_zsh(stdout);
    else if (settings->completion != NULL)
        cli_completion_fish(stdout);
    else if (settings->man)
        cli_man(stdout, command);
    else
        cli_help(stdout, command);
    return CLI_OK;
}

const struct cli_action cli_action_help = {
    .arguments = {"[COMMAND | productions]", 0, 1},
    .settings = {options, sizeof(struct settings)},
    .words = cli_words_commands,
    .run = run,
};
