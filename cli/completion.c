/* completion.c - the tables as shell completion, for bash, zsh and fish.
 *
 * The scripts carry the words as they were when the script was made; `make install` makes them. */
#include "command.h"
#include <string.h>

static void put_words(FILE *out, cli_words *words)
{
    for (size_t i = 0; words != NULL && words(i) != NULL; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", words(i));
}

static void put_names(FILE *out)
{
    for (const struct cli_command *c = cli_commands; c->name != NULL; c++)
        fprintf(out, "%s%s", c == cli_commands ? "" : " ", c->name);
}

static void bash_values(FILE *out, const struct cli_command *command)
{
    struct cli_option option, *o = &option;
    for (size_t i = 0; cli_option_at(command, i, o); i++) {
        if (o->argument == NULL)
            continue;
        fprintf(out, "    %s:", command->name);
        if (o->letter != '\0')
            fprintf(out, "-%c|%s:", o->letter, command->name);
        fprintf(out, "--%s) ", o->name);
        if (o->words != NULL) {
            fputs("words=\"", out);
            put_words(out, o->words);
            fputs("\" ;;\n", out);
        } else {
            fprintf(out, "files=%s ;;\n", o->type == CLI_FILE ? "yes" : "no");
        }
    }
}

static void bash_command(FILE *out, const struct cli_command *command)
{
    struct cli_option option;
    fprintf(out, "    %s) options=\"", command->name);
    for (size_t i = 0; cli_option_at(command, i, &option); i++)
        fprintf(out, "%s--%s", i > 0 ? " " : "", option.name);
    fputs("\" arguments=\"", out);
    put_words(out, command->action->words);
    fputs("\" ;;\n", out);
}

void cli_completion_bash(FILE *out)
{
    fputs("# bash completion for riffle; made by 'riffle help --completion bash'\n"
          "_riffle()\n{\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local command=${COMP_WORDS[1]} words= files= options= arguments=\n"
          "    if ((COMP_CWORD == 1)); then\n        mapfile -t COMPREPLY < <(compgen -W \"",
          out);
    put_names(out);
    fputs("\" -- \"$current\")\n        return\n    fi\n    case $command:$before in\n", out);
    for (const struct cli_command *c = cli_commands; c->name != NULL; c++)
        bash_values(out, c);
    fputs("    esac\n    case $command in\n", out);
    for (const struct cli_command *c = cli_commands; c->name != NULL; c++)
        bash_command(out, c);
    fputs("    esac\n"
          "    if [[ -z $words && -z $files ]]; then\n"
          "        if [[ $current == -* ]]; then words=$options; else words=$arguments files=yes; "
          "fi\n"
          "    fi\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\"\n"
          "        [[ $files == yes ]] && compgen -f -- \"$current\")\n"
          "}\ncomplete -o filenames -F _riffle riffle\n",
          out);
}

/* Text inside a zsh specification: brackets and colons have a meaning there, quotes end it. */
static void zsh_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("[]:\\", *text) != NULL)
            fputc('\\', out);
        fputs(*text == '\'' ? "'\\''" : (char[]){*text, '\0'}, out);
    }
}

static void zsh_option(FILE *out, const struct cli_option *option)
{
    const char *often = option->type == CLI_LIST ? "*" : "";
    fputs(" \\\n            ", out);
    if (option->letter != '\0' && *often == '\0')
        fprintf(out, "'(-%c --%s)'{-%c,--%s}'[", option->letter, option->name, option->letter,
                option->name);
    else if (option->letter != '\0')
        fprintf(out, "'*'{-%c,--%s}'[", option->letter, option->name);
    else
        fprintf(out, "'%s--%s[", often, option->name);
    zsh_text(out, option->brief);
    fputs("]", out);
    if (option->argument != NULL) {
        fprintf(out, ":%s:", option->argument);
        if (option->words != NULL) {
            fputs("(", out);
            put_words(out, option->words);
            fputs(")", out);
        } else if (option->type == CLI_FILE) {
            fputs("_files", out);
        }
    }
    fputs("'", out);
}

static void zsh_command(FILE *out, const struct cli_command *command)
{
    struct cli_option option;
    fprintf(out, "        %s) _arguments", command->name);
    for (size_t i = 0; cli_option_at(command, i, &option); i++)
        zsh_option(out, &option);
    if (command->action->words != NULL) {
        fputs(" \\\n            '1:argument:(", out);
        put_words(out, command->action->words);
        fputs(")'", out);
    }
    fputs(" \\\n            '*:file:_files' ;;\n", out);
}

void cli_completion_zsh(FILE *out)
{
    fputs("#compdef riffle\n# made by 'riffle help --completion zsh'\n"
          "_riffle()\n{\n    local -a commands\n    commands=(\n",
          out);
    for (const struct cli_command *c = cli_commands; c->name != NULL; c++) {
        fprintf(out, "        '%s:", c->name);
        zsh_text(out, c->brief);
        fputs("'\n", out);
    }
    fputs("    )\n    if ((CURRENT == 2)); then\n        _describe command commands\n"
          "        return\n    fi\n    shift words\n    ((CURRENT--))\n    case $words[1] in\n",
          out);
    for (const struct cli_command *c = cli_commands; c->name != NULL; c++)
        zsh_command(out, c);
    fputs("    esac\n}\n_riffle \"$@\"\n", out);
}

/* ---- fish ---- */

/* Text in single quotes, where fish knows \\ and \' only. */
static void fish_text(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

static void fish_option(FILE *out, const struct cli_command *command,
                        const struct cli_option *option)
{
    fprintf(out, "complete -c riffle -n '__fish_seen_subcommand_from %s'", command->name);
    if (option->letter != '\0')
        fprintf(out, " -s %c", option->letter);
    fprintf(out, " -l %s -d ", option->name);
    fish_text(out, option->brief);
    if (option->argument != NULL)
        fputs(option->type == CLI_FILE ? " -r -F" : " -x", out);
    if (option->words != NULL) {
        fputs(" -a '", out);
        put_words(out, option->words);
        fputs("'", out);
    }
    fputc('\n', out);
}

void cli_completion_fish(FILE *out)
{
    struct cli_option option;
    fputs("# fish completion for riffle; made by 'riffle help --completion fish'\n", out);
    for (const struct cli_command *c = cli_commands; c->name != NULL; c++) {
        fprintf(out, "complete -c riffle -f -n __fish_use_subcommand -a %s -d ", c->name);
        fish_text(out, c->brief);
        fputc('\n', out);
        for (size_t i = 0; cli_option_at(c, i, &option); i++)
            fish_option(out, c, &option);
        if (c->action->words == NULL)
            continue;
        fprintf(out, "complete -c riffle -n '__fish_seen_subcommand_from %s' -a '", c->name);
        put_words(out, c->action->words);
        fputs("'\n", out);
    }
}
