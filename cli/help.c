/* help.c - a command's table as text for people. */
#include "command.h"
#include <string.h>

const char cli_exit_text[] = "0: success. 1: failure. 2: the command line is wrong. "
                             "3: the input was damaged, or parts of it are missing; the result "
                             "covers the others. "
                             "130: stopped by Ctrl-C; the result covers what was counted until "
                             "then. run and sim end with the status of the program, or with 125 if "
                             "riffle itself failed, 126 if the program cannot be run, 127 if there "
                             "is no such program.";

enum { WIDTH = 80, OPTION_COLUMN = 26 };

static void put_text(FILE *out, const char *text)
{
    while (*text != '\0') {
        const char *end = strstr(text, "\n\n");
        end = end != NULL ? end : text + strlen(text);
        if (strncmp(text, "    ", 4) == 0)
            fprintf(out, "%.*s\n", (int)(end - text), text);
        else
            cli_put_words(out, text, (size_t)(end - text), (struct cli_margins){.width = WIDTH});
        text = end + (*end != '\0' ? 2 : 0);
        if (*text != '\0')
            fputc('\n', out);
    }
}

static void add_choices(const struct cli_option *option, char *text, size_t size)
{
    size_t used = strlen(text);
    for (size_t i = 0; option->words(i) != NULL && used < size; i++) {
        int n = snprintf(text + used, size - used, "%s%s", i == 0 ? ": " : ", ", option->words(i));
        used += n > 0 ? (size_t)n : 0;
    }
}

static void put_option(FILE *out, const struct cli_option *option)
{
    char letter[8] = "    ", brief[400];
    if (option->letter != '\0')
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    int column = fprintf(out, option->type == CLI_MAYBE ? "  %s--%s%s[%s]" : "  %s--%s%s%s", letter,
                         option->name, option->argument != NULL ? " " : "",
                         option->argument != NULL ? option->argument : "");
    snprintf(brief, sizeof brief, "%s", option->brief);
    if (option->type == CLI_CHOICE)
        add_choices(option, brief, sizeof brief);
    if (option->standard != NULL)
        snprintf(brief + strlen(brief), sizeof brief - strlen(brief), " (default: %s)",
                 option->standard);
    if (column >= OPTION_COLUMN - 1) {
        fputc('\n', out);
        column = 0;
    }
    column += fprintf(out, "%*s", OPTION_COLUMN - column, "");
    cli_put_words(out, brief, strlen(brief), (struct cli_margins){OPTION_COLUMN, column, WIDTH});
}

static void help_command(FILE *out, const struct cli_command *command)
{
    fprintf(out, "riffle %s - %s\n\n", command->name, command->brief);
    fprintf(out, "Usage: riffle %s [OPTION...]%s%s\n\n", command->name,
            command->action->arguments.usage[0] != '\0' ? " " : "",
            command->action->arguments.usage);
    put_text(out, command->text);
    fputs("\nOptions:\n", out);
    struct cli_option option;
    for (size_t i = 0; cli_option_at(command, i, &option); i++)
        put_option(out, &option);
    if (command->examples != NULL)
        fprintf(out, "\nExamples:\n%s\n", command->examples);
}

static void help_program(FILE *out)
{
    fputs("riffle - find the few events of a program that matter, and say how sure it is\n\n"
          "Usage: riffle COMMAND [OPTION...] [ARGUMENT...]\n\nCommands:\n",
          out);
    for (const struct cli_command *c = cli_commands; c->name != NULL; c++)
        fprintf(out, "  %-10s %s\n", c->name, c->brief);
    fputs("\n'riffle help COMMAND' or 'riffle COMMAND --help' says more.\n"
          "Numbers may have units: 1M, 16Ki, 0.1%.\n\nExit status:\n",
          out);
    cli_put_words(out, cli_exit_text, strlen(cli_exit_text), (struct cli_margins){2, 0, WIDTH});
}

void cli_help(FILE *out, const struct cli_command *command)
{
    if (command != NULL)
        help_command(out, command);
    else
        help_program(out);
}
