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

static bool expand(struct cli_arguments *list, const char *word, int depth)
{
    char *text = word[0] == '@' && depth < DEPTH_MAX ? cli_argument_read(word + 1) : NULL;
    if (text == NULL)
        return cli_arguments_add(list, word);
    char *rest = text, *inner;
    bool good = true;
    while (good && (inner = next_word(&rest)) != NULL)
        good = expand(list, inner, depth + 1);
    free(text);
    return good;
}

/* ---- long names ---- */

struct name {
    const char *of_whole, *of_short;
};

/* Of those that matter here. A value is the next word, or joined by '='. */
static const struct name names[] = {
    {"--compile", "-c"},
    {"--assemble", "-S"},
    {"--preprocess", "-E"},
    {"--shared", "-shared"},
    {"--dependencies", "-M"},
    {"--user-dependencies", "-MM"},
    {"--write-dependencies", "-MD"},
    {"--write-user-dependencies", "-MMD"},
};
static const struct name names_with_value[] = {
    {"--output", "-o"},
    {"--language", "-x"},
    {"--prefix", "-B"},
    {"--for-linker", "-Xlinker"},
    {"--for-assembler", "-Xassembler"},
    {"--library-directory", "-L"},
    {"--library", "-l"},
    {"--force-link", "-u"},
    {"--entry", "-e"},
    {"--define-macro", "-D"},
    {"--undefine-macro", "-U"},
    {"--assert", "-A"},
    {"--include", "-include"},
    {"--imacros", "-imacros"},
    {"--include-directory", "-I"},
    {"--include-directory-after", "-idirafter"},
    {"--include-prefix", "-iprefix"},
    {"--include-with-prefix", "-iwithprefix"},
    {"--include-with-prefix-after", "-iwithprefix"},
    {"--include-with-prefix-before", "-iwithprefixbefore"},
    {"--dumpdir", "-dumpdir"},
    {"--dumpbase", "-dumpbase"},
    {"--dumpbase-ext", "-dumpbase-ext"},
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The short name of an option, else the word; `value`: what is joined to it. */
static const char *short_of(const char *word, const char **value)
{
    size_t n = strcspn(word, "=");
    *value = word[n] == '=' ? word + n + 1 : NULL;
    for (size_t i = 0; *value == NULL && i < COUNT(names); i++)
        if (strcmp(word, names[i].of_whole) == 0)
            return names[i].of_short;
    for (size_t i = 0; i < COUNT(names_with_value); i++)
        if (strncmp(word, names_with_value[i].of_whole, n) == 0 &&
            names_with_value[i].of_whole[n] == '\0')
            return names_with_value[i].of_short;
    *value = NULL;
    return word;
}

/* With short names for long ones, but in what is the value of another option. */
static bool add_short(struct cli_arguments *list, const struct cli_arguments *words)
{
    bool good = true;
    for (size_t i = 0; good && i < words->n; i++) {
        const char *value, *word = short_of(words->words[i], &value);
        good = cli_arguments_add(list, word) && (value == NULL || cli_arguments_add(list, value));
        if (good && value == NULL && cli_argument_takes_next(word) && i + 1 < words->n)
            good = cli_arguments_add(list, words->words[++i]);
    }
    return good;
}

bool cli_arguments_take(struct cli_arguments *list, size_t n, char *const *words)
{
    struct cli_arguments expanded = {NULL, 0, 0};
    bool good = true;
    for (size_t i = 0; good && i < n; i++)
        good = expand(&expanded, words[i], 0);
    good = good && add_short(list, &expanded);
    cli_arguments_free(&expanded);
    return good;
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
    static const char *const of_all[] = {"-o",
                                         "-x",
                                         "-G",
                                         "-Xassembler",
                                         "-Xclang",
                                         "-Xpreprocessor",
                                         "-mllvm",
                                         "-aux-info",
                                         "--param",
                                         "-target",
                                         "--sysroot",
                                         "-arch",
                                         "--std",
                                         "--specs",
                                         "--machine",
                                         "-wrapper",
                                         "-dumpbase",
                                         "-dumpdir",
                                         "-dumpbase-ext",
                                         "-B",
                                         NULL};
    static const char *const of_clang[] = {
        "-MJ",        "-F",           "-iframework",  "-include-pch",
        "-Xanalyzer", "-cxx-isystem", "-ivfsoverlay", "-working-directory",
        NULL};
    return cli_argument_is_one_of(word, of_clang) || cli_argument_is_one_of(word, of_files) ||
           cli_argument_is_one_of(word, of_preprocessor) ||
           cli_argument_is_one_of(word, of_linker) || cli_argument_is_one_of(word, of_all);
}
