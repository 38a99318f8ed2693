/* config.c - defaults of options from the user's file: $XDG_CONFIG_HOME/riffle, or ~/.config/riffle.
 *
 *     # comment
 *     full-names               for every command that has this option
 *     [report]                 for this command
 *     items = 50
 *
 * The command line has the last word. A file that somebody else owns, or that others may write, is not read: it could
 * name files to be written. Options that add up (-p, -e) are refused, since the command line could not take them back. */
#include "command.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 64 * 1024 };
static char text[FILE_MAX + 1]; /* settings point into it */

struct config {
    char path[4096];
    const struct cli_command *command;
    const struct cli_command *section; /* NULL: before the first one */
    unsigned line;
};

static bool find_path(struct config *config)
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int n = -1;
    if (folder != NULL && folder[0] == '/')
        n = snprintf(config->path, sizeof config->path, "%s/riffle", folder);
    else if (home != NULL && home[0] == '/')
        n = snprintf(config->path, sizeof config->path, "%s/.config/riffle", home);
    return n > 0 && (size_t)n < sizeof config->path;
}

/* Why the file is not trusted; NULL: it is. */
static const char *distrust(int fd)
{
    struct stat about;
    if (fstat(fd, &about) != 0)
        return strerror(errno);
    if (!S_ISREG(about.st_mode))
        return S_ISDIR(about.st_mode) ? "it is a folder" : "it is no regular file";
    if (about.st_uid != geteuid())
        return "somebody else owns it";
    if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return "others may write it";
    return about.st_size > FILE_MAX ? "it is larger than 64 KiB" : NULL;
}

/* Bytes read, -1: none could be. */
static ssize_t read_text(int fd)
{
    size_t n = 0;
    while (n < FILE_MAX) {
        ssize_t got = read(fd, text + n, FILE_MAX - n);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return -1;
        n += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)n;
}

/* Read the whole file. False: there is none, or it was refused, and that was printed. */
static bool read_file(const struct config *config)
{
    int fd = open(config->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    const char *reason = distrust(fd);
    ssize_t n = reason == NULL ? read_text(fd) : -1;
    close(fd);
    if (n < 0 || memchr(text, '\0', (size_t)n) != NULL) {
        cli_fail(CLI_OK, "%s is not read: %s", config->path,
                 reason != NULL ? reason
                 : n < 0        ? strerror(errno)
                                : "it is no text");
        return false;
    }
    text[n] = '\0';
    return true;
}

static int wrong(const struct config *config, const char *what, const char *word)
{
    return cli_fail(CLI_USAGE, "%s: line %u: %s '%s'", config->path, config->line, what, word);
}

static bool some_command_has(const char *name, size_t n, struct cli_option *option)
{
    for (const struct cli_command *c = cli_commands; c->name != NULL; c++)
        if (cli_find_option(c, name, n, option))
            return true;
    return false;
}

static char *trim(char *word)
{
    word += strspn(word, " \t\r");
    for (char *end = word + strlen(word); end > word && strchr(" \t\r", end[-1]) != NULL;)
        *--end = '\0';
    return word;
}

/* "items = 50" to "items=50". */
static void join(char *word, size_t name)
{
    char *value = word + name + strspn(word + name, " \t");
    if (*value != '=')
        return;
    value++;
    value += strspn(value, " \t");
    word[name] = '=';
    memmove(word + name + 1, value, strlen(value) + 1);
}

static int take_option(const struct config *config, char *word, cli_config_take *take,
                       void *context)
{
    struct cli_option option;
    size_t n = strcspn(word, " \t=");
    const struct cli_command *whose = config->section;
    bool known = whose != NULL ? cli_find_option(whose, word, n, &option)
                               : some_command_has(word, n, &option);
    if (!known || option.type == CLI_HELP)
        return wrong(config, "no such option:", word);
    bool mine = whose == NULL ? cli_find_option(config->command, word, n, &option)
                              : whose == config->command;
    if (!mine)
        return CLI_OK;
    if (option.type == CLI_LIST)
        return wrong(config, "this option belongs on the command line:", word);
    join(word, n);
    int status = take(context, word);
    return status == CLI_OK ? CLI_OK : wrong(config, "refused:", word);
}

static int take_section(struct config *config, char *word)
{
    char *end = strchr(word, ']');
    if (end == NULL || end[1] != '\0')
        return wrong(config, "a command in brackets is expected, not", word);
    *end = '\0';
    config->section = cli_find(word + 1);
    return config->section != NULL ? CLI_OK : wrong(config, "no such command:", word + 1);
}

int cli_config_apply(const struct cli_command *command, cli_config_take *take, void *context)
{
    struct config config = {.command = command};
    int status = CLI_OK;
    if (!find_path(&config) || !read_file(&config))
        return CLI_OK;
    for (char *line = text, *next; line != NULL && status == CLI_OK; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        config.line++;
        char *word = trim(line);
        if (word[0] == '[')
            status = take_section(&config, word);
        else if (word[0] != '\0' && word[0] != '#')
            status = take_option(&config, word, take, context);
    }
    return status;
}
