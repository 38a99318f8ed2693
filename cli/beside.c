/* beside.c - the files that compilers write beside an object: dependencies, debug information, coverage.
 *
 *     gcc    -MMD a.c b.c -o x.y      x.d         x.y: b.c    of the last source
 *            -MMD a.c b.c             a-a.d       a.o: a.c    a-b.d  b.o: b.c
 *            -gsplit-dwarf a.c -o x   x-a.dwo
 *            -gsplit-dwarf a.c -o a   a.dwo       one input, and the program has its name
 *     clang  -MMD a.c b.c -o x.y      x.d         x.y: b.c
 *            -MMD a.c b.c             a.d         a.o: a.c    b.d    b.o: b.c
 *            --coverage a.c -o x      a.gcno      in the current folder
 *
 * This is what gcc 12 and clang 14 do in one step from sources to a program. riffle cc compiles with -c to a temporary object, from
 * which they would take these names. clang cannot be told all of them (for_clang). */
#include "beside.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Is there an option that begins so? */
static bool has_option(const struct cli_arguments *asked, const char *const *beginnings)
{
    for (size_t i = 0; i < asked->n; i++) {
        if (cli_argument_begins_as_one_of(asked->words[i], beginnings))
            return true;
        i += cli_argument_takes_next(asked->words[i]);
    }
    return false;
}

/* What -o names; NULL: it is not there. */
static const char *output_of(const struct cli_arguments *asked)
{
    const char *output = NULL;
    for (size_t i = 0; i < asked->n; i++) {
        const char *word = asked->words[i];
        if (strcmp(word, "-o") == 0 && i + 1 < asked->n)
            output = asked->words[i + 1];
        else if (strncmp(word, "-o", 2) == 0)
            output = word + 2;
        i += cli_argument_takes_next(word);
    }
    return output;
}

/* How long the path is without its ending. */
static int stem_of(const char *path)
{
    const char *ending = strrchr(cli_argument_last_part(path), '.');
    return (int)(ending != NULL ? (size_t)(ending - path) : strlen(path));
}

/* ---- dependencies ---- */

bool cli_beside_is_dependency(const char *word)
{
    static const char *const whole[] = {"-MD", "-MMD", "-MP", "-MG", NULL};
    static const char *const beginnings[] = {"-MF", "-MT", "-MQ", NULL};
    return cli_argument_is_one_of(word, whole) || cli_argument_begins_as_one_of(word, beginnings);
}

bool cli_beside_shares_dependencies(const struct cli_arguments *asked)
{
    static const char *const file[] = {"-MF", NULL};
    return output_of(asked) != NULL || has_option(asked, file);
}

/* To clang -Wp,-MD,FILE is -MD -MF FILE. gcc gives it to its preprocessor as it is. */
static bool add_dependencies(struct cli_arguments *list, const struct cli_arguments *asked,
                             const char *source, bool clang)
{
    static const char *const wanted[] = {"-MD", "-MMD", NULL};
    static const char *const through[] = {"-Wp,-MD,", "-Wp,-MMD,", NULL};
    static const char *const file[] = {"-MF", NULL}, *const target[] = {"-MT", "-MQ", NULL};
    char name[PATH_MAX + 8], object[PATH_MAX];
    const char *output = output_of(asked), *last = cli_argument_last_part(source);
    bool is_through = clang && has_option(asked, through);
    if (!is_through && !has_option(asked, wanted))
        return true;
    snprintf(object, sizeof object, !clang && strcmp(last, "-") == 0 ? "-" : "%.*s.o",
             stem_of(last), last);
    if (output != NULL)
        snprintf(name, sizeof name, "%.*s.d", stem_of(output), output);
    else
        snprintf(name, sizeof name, "%s%.*s.d", clang ? "" : "a-", stem_of(last), last);
    const char *const names[] = {"-MF", name, NULL};
    const char *const targets[] = {"-MQ", output != NULL ? output : object, NULL};
    return (is_through || has_option(asked, file) || cli_arguments_add_all(list, names)) &&
           (has_option(asked, target) || cli_arguments_add_all(list, targets));
}

/* ---- other files ---- */

/* Options by which gcc writes more files than the object, or reads them, or has the program write them. */
static bool writes_more(const struct cli_arguments *asked)
{
    static const char *const beginnings[] = {"-gsplit-dwarf",
                                             "-save-temps",
                                             "--save-temps",
                                             "-fdump-",
                                             "-da",
                                             "-fstack-usage",
                                             "-fcallgraph-info",
                                             "-fsave-optimization-record",
                                             "--coverage",
                                             "-coverage",
                                             "-ftest-coverage",
                                             "-fprofile-",
                                             "-fauto-profile",
                                             NULL};
    return has_option(asked, beginnings);
}

static bool is_only_input(const struct cli_arguments *asked)
{
    size_t n = 0;
    for (size_t i = 0; i < asked->n; i++) {
        const char *word = asked->words[i];
        n += word[0] != '-' || word[1] == '\0';
        i += cli_argument_takes_next(word);
    }
    return n == 1;
}

static bool is_same(const char *one, size_t n, const char *other, size_t length)
{
    return n == length && strncmp(one, other, n) == 0;
}

/* Does the program have the name of the source, with another ending or without one? */
static bool has_name_of(const char *program, const char *source)
{
    size_t stem = (size_t)stem_of(source);
    return is_same(program, strlen(program), source, stem) ||
           is_same(program, (size_t)stem_of(program), source, stem);
}

/* What such files' names begin with: "program-", or nothing but the folder; a.out is "a". */
static void find_beginning(char beginning[PATH_MAX], const struct cli_arguments *asked,
                           const char *source)
{
    static const char *const standard[] = {"a.out", "a.exe", NULL};
    static const char *const here[] = {"-save-temps=cwd", "--save-temps=cwd", NULL};
    const char *output = output_of(asked);
    if (output == NULL)
        output = standard[0];
    const char *name = cli_argument_last_part(output);
    int folder = has_option(asked, here) ? 0 : (int)(name - output);
    if (is_only_input(asked) && has_name_of(name, source))
        snprintf(beginning, PATH_MAX, "%.*s", folder, output);
    else
        snprintf(beginning, PATH_MAX, "%.*s%.*s-", folder, output,
                 cli_argument_is_one_of(name, standard) ? 1 : (int)strlen(name), name);
}

/* The beginning, the source's name, and an ending of their own. */
static bool add_names(struct cli_arguments *list, const struct cli_arguments *asked,
                      const char *source)
{
    static const char *const own[] = {"-dumpdir", "-dumpbase", NULL};
    const char *name = cli_argument_last_part(source), *ending = strrchr(name, '.');
    char beginning[PATH_MAX];
    find_beginning(beginning, asked, name);
    const char *const words[] = {
        "-dumpdir", beginning, "-dumpbase", name, ending != NULL ? "-dumpbase-ext" : NULL,
        ending,     NULL};
    return !writes_more(asked) ||
           cli_arguments_add_all(list, has_option(asked, own) ? words + 2 : words);
}

/* Of clang coverage alone can be told. Its notes are in the current folder, and the program writes its counts there. */
static bool add_coverage(struct cli_arguments *list, const struct cli_arguments *asked,
                         const char *source)
{
    static const char *const wanted[] = {"--coverage", "-coverage", "-ftest-coverage",
                                         "-fprofile-arcs", NULL};
    const char *name = cli_argument_last_part(source);
    char folder[PATH_MAX], notes[2 * PATH_MAX], counts[2 * PATH_MAX];
    if (!has_option(asked, wanted) || getcwd(folder, sizeof folder) == NULL)
        return true;
    snprintf(notes, sizeof notes, "-coverage-notes-file=%s/%.*s.gcno", folder, stem_of(name), name);
    snprintf(counts, sizeof counts, "-coverage-data-file=%s/%.*s.gcda", folder, stem_of(name),
             name);
    const char *const words[] = {"-Xclang", notes, "-Xclang", counts, NULL};
    return cli_arguments_add_all(list, words);
}

bool cli_beside_add(struct cli_arguments *list, const struct cli_arguments *asked,
                    const char *source, bool clang)
{
    return add_dependencies(list, asked, source, clang) &&
           (clang ? add_coverage(list, asked, source) : add_names(list, asked, source));
}
