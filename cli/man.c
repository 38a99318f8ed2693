/* man.c - a command's table as a man page (roff with the man macros). */
#include "command.h"
#include <ctype.h>
#include <string.h>

/* Text with all characters escaped that have a meaning in roff. */
static void put_n(FILE *out, const char *text, size_t n)
{
    static const char special[] = "\\-'^~";
    static const char *const escapes[] = {"\\e", "\\-", "\\(aq", "\\(ha", "\\(ti"};
    for (size_t i = 0; i < n; i++) {
        bool at_start = i == 0 || text[i - 1] == '\n';
        if (at_start && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", out);
        const char *escape = strchr(special, text[i]);
        if (escape != NULL && text[i] != '\0')
            fputs(escapes[escape - special], out);
        else
            fputc(text[i], out);
    }
}

static void put(FILE *out, const char *text)
{
    put_n(out, text, strlen(text));
}

static void put_verbatim(FILE *out, const char *text, size_t n)
{
    fputs(".PP\n.nf\n", out);
    put_n(out, text, n);
    fputs("\n.fi\n", out);
}

static void put_text(FILE *out, const char *text)
{
    for (bool first = true; *text != '\0'; first = false) {
        const char *end = strstr(text, "\n\n");
        size_t n = end != NULL ? (size_t)(end - text) : strlen(text);
        if (strncmp(text, "    ", 4) == 0) {
            put_verbatim(out, text, n);
        } else {
            fputs(first ? "" : ".PP\n", out);
            put_n(out, text, n);
            fputc('\n', out);
        }
        text += n + (end != NULL ? 2 : 0);
    }
}

static void put_choices(FILE *out, const struct cli_option *option)
{
    for (size_t i = 0; option->words(i) != NULL; i++) {
        fputs(i == 0 ? ": " : ", ", out);
        put(out, option->words(i));
    }
}

static void put_option(FILE *out, const struct cli_option *option)
{
    fputs(".TP\n", out);
    if (option->letter != '\0')
        fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", out);
    put(out, option->name);
    fputs("\\fR", out);
    if (option->argument != NULL)
        fprintf(out, " \\fI%s\\fR", option->argument);
    fputc('\n', out);
    put(out, option->brief);
    if (option->type == CLI_CHOICE)
        put_choices(out, option);
    if (option->standard != NULL) {
        fputs(" (default: ", out);
        put(out, option->standard);
        fputs(")", out);
    }
    fputs(".\n", out);
    if (option->text != NULL) {
        put(out, option->text);
        fputc('\n', out);
    }
}

/* The title of a page is the program's and the command's name in capitals. */
static void put_title(FILE *out, const char *command)
{
    fputs(".TH RIFFLE", out);
    if (command != NULL)
        fputs("\\-", out);
    for (const char *p = command; p != NULL && *p != '\0'; p++)
        fputc(toupper((unsigned char)*p), out);
    fprintf(out, " 1 \"\" \"riffle %s\" \"Riffle\"\n", RIFFLE_VERSION);
}

static void put_tail(FILE *out, const struct cli_command *self)
{
    fputs(".SH EXIT STATUS\n", out);
    put(out, cli_exit_text);
    fputs("\n.SH SEE ALSO\n", out);
    const char *separator = "";
    if (self != NULL) {
        fputs(".BR riffle (1)", out);
        separator = ",\n";
    }
    for (const struct cli_command *c = cli_commands; c->name != NULL; c++)
        if (self == NULL || strcmp(c->name, self->name) != 0) {
            fprintf(out, "%s.BR riffle\\-%s (1)", separator, c->name);
            separator = ",\n";
        }
    fputc('\n', out);
}

static void man_command(FILE *out, const struct cli_command *command)
{
    put_title(out, command->name);
    fprintf(out, ".SH NAME\nriffle\\-%s \\- ", command->name);
    put(out, command->brief);
    fprintf(out, "\n.SH SYNOPSIS\n.B riffle %s\n[\\fIOPTION\\fR...] ", command->name);
    put(out, command->action->arguments.usage);
    fputs("\n.SH DESCRIPTION\n", out);
    put_text(out, command->text);
    fputs(".SH OPTIONS\n", out);
    struct cli_option option;
    for (size_t i = 0; cli_option_at(command, i, &option); i++)
        put_option(out, &option);
    if (command->examples != NULL) {
        fputs(".SH EXAMPLES\n", out);
        put_verbatim(out, command->examples, strlen(command->examples));
    }
    put_tail(out, command);
}

static void man_program(FILE *out)
{
    put_title(out, NULL);
    fputs(
        ".SH NAME\nriffle \\- find the few events of a program that matter\n"
        ".SH SYNOPSIS\n.B riffle\n\\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n"
        ".SH DESCRIPTION\n"
        "Programs run billions of events per second: values loaded, edges taken, calls made,\n"
        "addresses touched. Riffle finds the few that matter, in one pass, in kilobytes, and says\n"
        "how sure it is. Numbers may have units: 1M, 16Ki, 0.1%.\n.SH COMMANDS\n",
        out);
    for (const struct cli_command *c = cli_commands; c->name != NULL; c++) {
        fprintf(out, ".TP\n.BR riffle\\-%s (1)\n", c->name);
        put(out, c->brief);
        fputs(".\n", out);
    }
    put_tail(out, NULL);
}

void cli_man(FILE *out, const struct cli_command *command)
{
    if (command != NULL)
        man_command(out, command);
    else
        man_program(out);
}
