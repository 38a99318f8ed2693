/* arguments.c - the command line of a compiler: a list of words, @FILE, options whose value is the next word.
 *
 * Both compilers' options are known, whichever one is called: none takes its value from the next word by one compiler
 * and is a whole option by the other. */
#include "arguments.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 16 };

/* ---- the list ---- */

bool cli_arguments_add(struct cli_arguments *list, const char *word)
{
    if (list->n + 1 >= list->room) {
        size_t room = list->room == 0 ? 64 : 2 * list->room;
        char **words = realloc(list->words, room * sizeof *words);
        if (words == NULL)
            return false;
        list->words = words;
        list->room = room;
    }
    list->words[list->n] = strdup(word);
    list->words[list->n + 1] = NULL;
    return list->words[list->n++] != NULL;
}

bool cli_arguments_add_all(struct cli_arguments *list, const char *const *words)
{
    for (; *words != NULL; words++)
        if (!cli_arguments_add(list, *words))
            return false;
    return true;
}

void cli_arguments_free(struct cli_arguments *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->words[i]);
    free(list->words);
    *list = (struct cli_arguments){NULL, 0, 0};
}

/* ---- @FILE ---- */

char *cli_argument_read(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0)
        text = malloc((size_t)size + 1);
    if (text != NULL)
        text[fread(text, 1, (size_t)size, file)] = '\0';
    if (file != NULL)
        fclose(file);
    return text;
}

/* The next word of the text, quotes and backslashes taken off, in its own place; NULL: there is none. */
static char *next_word(char **rest)
{
    char *at = *rest, quote = '\0';
    while (isspace((unsigned char)*at))
        at++;
    if (*at == '\0')
        return NULL;
    char *word = at, *to = at;
    for (; *at != '\0' && (quote != '\0' || !isspace((unsigned char)*at)); at++) {
        if (*at == '\\' && quote != '\'' && at[1] != '\0')
            *to++ = *++at;
        else if (*at == quote)
            quote = '\0';
        else if (quote == '\0' && (*at == '"' || *at == '\''))
            quote = *at;
        else
            *to++ = *at;
    }
    *rest = *at != '\0' ? at + 1 : at;
    *to = '\0';
    return word;
}

static bool expand_to(struct cli_arguments *list, const char *word, int depth)
{
    char *text = word[0] == '@' && depth < DEPTH_MAX ? cli_argument_read(word + 1) : NULL;
    if (text == NULL)
        return cli_arguments_add(list, word);
    char *rest = text, *inner;
    bool good = true;
    while (good && (inner = next_word(&rest)) != NULL)
        good = expand_to(list, inner, depth + 1);
    free(text);
    return good;
}

bool cli_arguments_expand(struct cli_arguments *list, const char *word)
{
    return expand_to(list, word, 0);
}

/* ---- what words are ---- */

bool cli_argument_is_one_of(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

bool cli_argument_begins_as_one_of(const char *word, const char *const *beginnings)
{
    for (; *beginnings != NULL; beginnings++)
        if (strncmp(word, *beginnings, strlen(*beginnings)) == 0)
            return true;
    return false;
}

const char *cli_argument_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Options whose value is the next word. */
bool cli_argument_takes_next(const char *word)
{
    static const char *const of_files[] = {"-include",     "-imacros", "-isystem",  "-iquote",
                                           "-idirafter",   "-iprefix", "-isysroot", "-imultilib",
                                           "-iwithprefix", NULL};
    static const char *const of_preprocessor[] = {
        "-iwithprefixbefore", "-I", "-D", "-U", "-A", "-MF", "-MT", "-MQ", NULL};
    static const char *const of_linker[] = {"-L",       "-l",     "-u",    "-z",     "-T", "-e",
                                            "-Xlinker", "-Tdata", "-Tbss", "-Ttext", NULL};
    static const char *const of_all[] = {
        "-o",       "-x",        "-G",       "-Xassembler",   "-Xclang",   "-Xpreprocessor",
        "-mllvm",   "-aux-info", "--param",  "-target",       "--sysroot", "-arch",
        "-wrapper", "-dumpbase", "-dumpdir", "-dumpbase-ext", "-B",        NULL};
    static const char *const of_clang[] = {
        "-MJ",        "-F",           "-iframework",  "-include-pch",
        "-Xanalyzer", "-cxx-isystem", "-ivfsoverlay", "-working-directory",
        NULL};
    return cli_argument_is_one_of(word, of_clang) || cli_argument_is_one_of(word, of_files) ||
           cli_argument_is_one_of(word, of_preprocessor) ||
           cli_argument_is_one_of(word, of_linker) || cli_argument_is_one_of(word, of_all);
}
