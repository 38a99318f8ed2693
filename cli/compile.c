/* compile.c - a compiler that adds hooks: compile with -fsanitize=thread, link without it.
 *
 *     riffle cc -O2 -c a.c          cc -O2 -c a.c  + hooks
 *     riffle cc a.o -o a            cc a.o -o a    + libriffle-hooks.a
 *     riffle cc -O2 a.c b.o -o a    cc -O2 -c a.c -o /tmp/1.o  + hooks;  cc -O2 /tmp/1.o b.o -o a  + library
 *     riffle cc -E, -M, --version   as it is
 *
 * The compilers' drivers add a library of theirs wherever -fsanitize=thread meets linking, so a command that compiles and
 * links is done in two steps. Each object has a folder of its own, which goes with all that a compiler leaves there. Arguments of @FILE are put in its place, as both compilers do, since sources may be among
 * them. */
#include "compile.h"
#include "assemble.h"
#include <riffle/probe.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 16 };

/* ---- a list of arguments ---- */

struct list {
    char **words;
    size_t n, room;
};

static bool add(struct list *list, const char *word)
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

static bool add_all(struct list *list, const char *const *words)
{
    for (; *words != NULL; words++)
        if (!add(list, *words))
            return false;
    return true;
}

static void free_list(struct list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->words[i]);
    free(list->words);
    *list = (struct list){NULL, 0, 0};
}

/* ---- @FILE ---- */

static char *read_file(const char *path)
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

static bool expand(struct list *list, const char *word, int depth)
{
    char *text = word[0] == '@' && depth < DEPTH_MAX ? read_file(word + 1) : NULL;
    if (text == NULL)
        return add(list, word);
    char *rest = text, *inner;
    bool good = true;
    while (good && (inner = next_word(&rest)) != NULL)
        good = expand(list, inner, depth + 1);
    free(text);
    return good;
}

/* ---- what a command line means ---- */

/* Options whose value is the next word. */
static bool takes_next(const char *word)
{
    static const char *const options[] = {"-o",
                                          "-x",
                                          "-I",
                                          "-L",
                                          "-D",
                                          "-U",
                                          "-include",
                                          "-imacros",
                                          "-isystem",
                                          "-iquote",
                                          "-idirafter",
                                          "-iprefix",
                                          "-isysroot",
                                          "-MF",
                                          "-MT",
                                          "-MQ",
                                          "-Xlinker",
                                          "-Xassembler",
                                          "-Xclang",
                                          "-mllvm",
                                          "-T",
                                          "-u",
                                          "-z",
                                          "-l",
                                          "-A",
                                          "-G",
                                          "-Xpreprocessor",
                                          "-aux-info",
                                          "--param",
                                          "-target",
                                          "--sysroot",
                                          "-arch",
                                          "-wrapper",
                                          "-dumpbase",
                                          "-e",
                                          "-iwithprefix",
                                          "-iwithprefixbefore",
                                          "-imultilib",
                                          "-dumpdir",
                                          NULL};
    for (size_t i = 0; options[i] != NULL; i++)
        if (strcmp(word, options[i]) == 0)
            return true;
    return false;
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

/* A file that is compiled. Assembler has no hooks. */
static bool is_source(const char *word, bool by_language)
{
    static const char *const endings[] = {".c",   ".i", ".cc", ".cp", ".cxx", ".cpp", ".CPP",
                                          ".c++", ".C", ".ii", ".m",  ".mm",  NULL};
    const char *ending = strrchr(word, '.');
    if (word[0] == '-' && word[1] != '\0')
        return false;
    return by_language || (ending != NULL && is_one_of(ending, endings));
}

enum step { AS_IT_IS, ASSEMBLE, COMPILE, LINK, BOTH };

static enum step step_of(const struct list *list)
{
    static const char *const others[] = {"-E",        "-M", "-MM",  "-fsyntax-only",
                                         "--version", "-v", "-###", "--target-help",
                                         "--help",    NULL};
    bool compiles = false, links = true, informs = list->n == 0, has_input = false;
    bool by_language = false;
    for (size_t i = 0; i < list->n; i++) {
        const char *word = list->words[i];
        informs |= (is_one_of(word, others) && strcmp(word, "-v") != 0) ||
                   strncmp(word, "-print-", 7) == 0 || strncmp(word, "-dump", 5) == 0;
        links &= strcmp(word, "-c") != 0 && strcmp(word, "-S") != 0;
        if (strncmp(word, "-x", 2) == 0)
            by_language = strcmp(word, "-xnone") != 0 && !(word[2] == '\0' && i + 1 < list->n &&
                                                           strcmp(list->words[i + 1], "none") == 0);
        if (takes_next(word)) {
            i++;
            continue;
        }
        compiles |= is_source(word, by_language);
        has_input |= word[0] != '-' || word[1] == '\0' || strncmp(word, "-l", 2) == 0;
    }
    if (informs || !has_input)
        return AS_IT_IS;
    if (!links)
        return compiles ? COMPILE : ASSEMBLE;
    return compiles ? BOTH : LINK;
}

/* ---- compilers ---- */

static bool is_clang(const char *compiler)
{
    char path[PATH_MAX], real[PATH_MAX];
    const char *name = rf_probe_find(path, sizeof path, compiler) && realpath(path, real) != NULL
                           ? real
                           : compiler;
    const char *slash = strrchr(name, '/');
    return strstr(slash != NULL ? slash + 1 : name, "clang") != NULL;
}

static bool is_asked(const char *variable)
{
    const char *asked = getenv(variable);
    return asked != NULL && asked[0] != '\0';
}

/* Hooks for blocks, too? */
static bool has_blocks(void)
{
    return is_asked("RIFFLE_CC_BLOCKS");
}

static struct cli_assembler assembler; /* of this command */

bool cli_asks_copies(void)
{
    return is_asked("RIFFLE_CC_BURSTS") && !has_blocks();
}

bool cli_asks_inplace(void)
{
    return !is_asked("RIFFLE_CC_CALLS");
}

/* Is anything to be done to the assembler text? Not to code that may become part of a shared library (copies.c, inplace.c). */
static bool has_assembler(const struct list *asked)
{
    static const char *const shared[] = {"-fPIC", "-fpic", "-shared", NULL};
    for (size_t i = 0; i < asked->n; i++)
        if (is_one_of(asked->words[i], shared))
            return false;
    return cli_asks_copies() || cli_asks_inplace();
}

/* Ours in front of the assembler, where its text is changed. */
static bool add_assembler(struct list *list, const char *compiler)
{
    char option[sizeof assembler.folder + 8];
    snprintf(option, sizeof option, "-B%s/", assembler.folder);
    return assembler.folder[0] == '\0' ||
           (add(list, option) && (!is_clang(compiler) || add(list, "-fno-integrated-as")));
}

/* Is there a hook in assembler text that is named here, because -S made it? Other text is for the compiler's own assembler, and
 * clang's knows directives that GNU's does not. */
static bool names_hooks(const struct list *asked)
{
    bool found = false;
    for (size_t i = 0; i < asked->n && !found; i++) {
        char *text = asked->words[i][0] != '-' ? read_file(asked->words[i]) : NULL;
        found = text != NULL && strstr(text, "__tsan_") != NULL;
        free(text);
    }
    return found;
}

/* Link-time optimisation would put the hooks in after we have left. clang leaves out a load in front of a store to the
 * same place unless it is told not to; gcc warns of fences, which hooks do not mind. */
static bool add_hooks(struct list *list, const char *compiler)
{
    static const char *const gcc[] = {"-fsanitize=thread", "-U__SANITIZE_THREAD__", "-Wno-tsan",
                                      "-fno-lto", NULL};
    static const char *const clang[] = {"-fsanitize=thread", "-mllvm",
                                        "-tsan-instrument-read-before-write", "-fno-lto", NULL};
    if (!add_all(list, is_clang(compiler) ? clang : gcc))
        return false;
    if (!add_assembler(list, compiler))
        return false;
    return !has_blocks() || add(list, "-fsanitize-coverage=trace-pc");
}

static bool holds_library(const char *folder)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/libriffle-hooks.a", folder) < PATH_MAX &&
           access(path, R_OK) == 0;
}

static bool is_folder(char *folder, const char *base, const char *beside)
{
    return snprintf(folder, PATH_MAX, "%s/%s", base, beside) < PATH_MAX && holds_library(folder);
}

/* Beside the running program as it is built, then where it is installed. */
static bool find_folder(char folder[PATH_MAX])
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash != NULL)
        *slash = '\0';
    return is_folder(folder, self, "hooks") || is_folder(folder, self, RIFFLE_HOOKS_BESIDE) ||
           is_folder(folder, "", RIFFLE_HOOKS_FOLDER);
}

static bool has_one_of(const struct list *list, const char *const *words)
{
    for (size_t i = 0; i < list->n; i++)
        if (is_one_of(list->words[i], words))
            return true;
    return false;
}

/* The whole library, seen by libraries that the program opens: there is one run-time per program. Libraries have a smaller one (hooks/shared.c).
 * Part of a program that is linked in steps (-r) gets it in the last one. */
static bool add_library(struct list *list, const char *folder)
{
    static const char *const shared[] = {"-shared",      "--shared",        "-Wl,-shared",
                                         "-Wl,--shared", "-Wl,-Bshareable", NULL};
    char path[PATH_MAX + 2];
    snprintf(path, sizeof path, "-L%s", folder);
    const char *const words[] = {"-fno-lto",
                                 path,
                                 "-Wl,--whole-archive",
                                 has_one_of(list, shared) ? "-lriffle-hooks-shared"
                                                          : "-lriffle-hooks",
                                 has_blocks() ? "-lriffle-hooks-blocks" : "-Wl,--no-whole-archive",
                                 "-Wl,--no-whole-archive",
                                 "-Wl,--export-dynamic-symbol=__tsan_*",
                                 "-Wl,--export-dynamic-symbol=__sanitizer_cov_*",
                                 NULL};
    static const char *const parts[] = {"-r", "-Wl,-r", "-Wl,--relocatable", NULL};
    return has_one_of(list, parts) || add_all(list, words);
}

/* ---- running ---- */

static int no_memory(void)
{
    return cli_fail(CLI_FAILED, "cc: no memory for the command line");
}

static int run_list(const struct list *list)
{
    return cli_run_words(list->words);
}

static bool failed(int status)
{
    return status != CLI_OK && status != CLI_OF_PROGRAM;
}

/* ---- a command that compiles and links ---- */

struct both {
    const struct list *asked;
    const char *compiler;
    struct list objects; /* made here */
    struct list link;
};

static bool is_language(const char *word)
{
    return strncmp(word, "-x", 2) == 0;
}

static bool begins_as_one_of(const char *word, const char *const *beginnings)
{
    for (; *beginnings != NULL; beginnings++)
        if (strncmp(word, *beginnings, strlen(*beginnings)) == 0)
            return true;
    return false;
}

/* What the compiler would only complain of where it does not link. gcc takes some of it for the code, too. */
static bool is_for_linker(const char *word, bool clang)
{
    static const char *const options[] = {
        "-shared",        "-rdynamic",         "-s", "-Xlinker", "-u", "-z", "-T",
        "-static-libgcc", "-static-libstdc++", NULL};
    static const char *const of_clang[] = {"-pie", "-no-pie", "-static-pie", NULL};
    static const char *const beginnings[] = {"-Wl,", "-L", "-l", NULL};
    static const char *const beginnings_of_clang[] = {
        "-fuse-ld=", "--ld-path=", "-rtlib=", "-unwindlib=", NULL};
    return is_one_of(word, options) || begins_as_one_of(word, beginnings) ||
           (clang && (is_one_of(word, of_clang) || begins_as_one_of(word, beginnings_of_clang)));
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Options by which compilers write more files than the object. */
static bool writes_more(const char *word)
{
    static const char *const beginnings[] = {
        "-gsplit-dwarf",  "-save-temps",   "--coverage", "-ftest-coverage",
        "-fprofile-arcs", "-fstack-usage", "-fdump-",    NULL};
    return begins_as_one_of(word, beginnings);
}

/* Where gcc puts such files in one step: "program-source.", beside the program. */
static bool add_names(struct list *list, const struct both *both, const char *source)
{
    const char *output = "a", *ending = strrchr(last_part(source), '.');
    bool more = false;
    for (size_t i = 0; i < both->asked->n; i++) {
        const char *word = both->asked->words[i];
        more |= writes_more(word);
        if (strcmp(word, "-o") == 0 && i + 1 < both->asked->n)
            output = both->asked->words[i + 1];
        else if (strncmp(word, "-o", 2) == 0)
            output = word + 2;
    }
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s-", output);
    const char *const words[] = {"-dumpdir",      folder, "-dumpbase", last_part(source),
                                 "-dumpbase-ext", ending, NULL};
    return !more || ending == NULL || add_all(list, words);
}

/* clang has no such option. Debug information stays in the object, and other files come to the current folder. */
static const char *for_clang(const char *word)
{
    if (strncmp(word, "-gsplit-dwarf", 13) == 0)
        return "-g";
    return strcmp(word, "-save-temps=obj") == 0 ? "-save-temps" : word;
}

/* Compile the source at `place` alone. */
static int compile_one(struct both *both, size_t place, const char *object)
{
    struct list list = {NULL, 0, 0};
    bool good = add(&list, both->compiler), by_language = false, clang = is_clang(both->compiler);
    for (size_t i = 0; good && i < both->asked->n; i++) {
        const char *word = both->asked->words[i];
        bool pair = takes_next(word) && i + 1 < both->asked->n;
        bool is_output = strncmp(word, "-o", 2) == 0, is_input = word[0] != '-' || word[1] == '\0';
        if (is_language(word))
            by_language = i < place;
        bool leave_out = is_output || (is_input && i != place) || is_for_linker(word, clang) ||
                         (is_language(word) && !by_language);
        if (!leave_out)
            good = add(&list, clang ? for_clang(word) : word) &&
                   (!pair || add(&list, both->asked->words[i + 1]));
        i += pair;
    }
    const char *const output[] = {"-c", "-o", object, NULL};
    good = good && (clang || add_names(&list, both, both->asked->words[place])) &&
           add_all(&list, output) && add_hooks(&list, both->compiler);
    int status = good ? run_list(&list) : no_memory();
    free_list(&list);
    return status;
}

/* A new folder for an object, which has the name of its source. */
static bool make_object(struct both *both, const char *source, char path[PATH_MAX])
{
    const char *name = last_part(source), *ending = strrchr(name, '.');
    int stem = (int)(ending != NULL ? (size_t)(ending - name) : strlen(name));
    int n = snprintf(path, PATH_MAX, "%s/riffle-cc-XXXXXX", cli_temporary_folder());
    if (n >= PATH_MAX || mkdtemp(path) == NULL)
        return false;
    return snprintf(path + n, PATH_MAX - (size_t)n, "/%.*s.o", stem, name) < PATH_MAX - n &&
           add(&both->objects, path);
}

/* With its folder. */
static void remove_object(char *path)
{
    *strrchr(path, '/') = '\0';
    DIR *folder = opendir(path);
    for (const struct dirent *file; folder != NULL && (file = readdir(folder)) != NULL;)
        unlinkat(dirfd(folder), file->d_name, 0);
    if (folder != NULL)
        closedir(folder);
    rmdir(path);
}

/* Each source becomes an object in the same place; -x is done with. */
static int compile_all(struct both *both)
{
    bool by_language = false, good = true;
    int status = CLI_OK;
    for (size_t i = 0; good && !failed(status) && i < both->asked->n; i++) {
        const char *word = both->asked->words[i];
        bool pair = takes_next(word) && i + 1 < both->asked->n;
        char object[PATH_MAX];
        if (is_language(word)) {
            const char *language = word[2] != '\0' ? word + 2
                                   : pair          ? both->asked->words[i + 1]
                                                   : "";
            by_language = strcmp(language, "none") != 0;
        } else if (!pair && is_source(word, by_language)) {
            if (!make_object(both, word, object))
                return cli_fail(CLI_FAILED, "cc: no room for a temporary file: %s",
                                strerror(errno));
            status = compile_one(both, i, object);
            good = add(&both->link, object);
        } else {
            good = add(&both->link, word) && (!pair || add(&both->link, both->asked->words[i + 1]));
        }
        i += pair;
    }
    return good ? status : no_memory();
}

static int compile_and_link(const struct list *asked, const char *compiler, const char *folder)
{
    struct both both = {.asked = asked, .compiler = compiler};
    int status = add(&both.link, compiler) ? compile_all(&both) : no_memory();
    if (!failed(status))
        status = add_library(&both.link, folder) ? run_list(&both.link) : no_memory();
    for (size_t i = 0; i < both.objects.n; i++)
        remove_object(both.objects.words[i]);
    free_list(&both.objects);
    free_list(&both.link);
    return status;
}

/* ---- the command ---- */

static int compile(const struct list *asked, const char *compiler)
{
    char folder[PATH_MAX];
    enum step step = step_of(asked);
    struct list list = {NULL, 0, 0};
    if (step != AS_IT_IS && !find_folder(folder))
        return cli_fail(CLI_FAILED, "cc: libriffle-hooks.a is not there: only part of riffle was "
                                    "installed");
    if (step == BOTH)
        return compile_and_link(asked, compiler, folder);
    bool good = add(&list, compiler) &&
                (asked->n == 0 || add_all(&list, (const char *const *)asked->words));
    if (good && step == ASSEMBLE && names_hooks(asked))
        good = add_assembler(&list, compiler);
    if (good && step == COMPILE)
        good = add_hooks(&list, compiler);
    if (good && step == LINK)
        good = add_library(&list, folder);
    int status = good ? run_list(&list) : no_memory();
    free_list(&list);
    return status;
}

int cli_compile(const struct cli_call *call, const char *variable, const char *standard)
{
    const char *named = getenv(variable);
    const char *compiler = named != NULL && named[0] != '\0' ? named : standard;
    struct list asked = {NULL, 0, 0};
    bool good = true;
    cli_started_begin();
    for (size_t i = 0; good && i < call->n_arguments; i++)
        good = expand(&asked, call->arguments[i], 0);
    if (good && has_assembler(&asked))
        cli_assembler_make(&assembler);
    int status = good ? compile(&asked, compiler) : no_memory();
    cli_assembler_remove(&assembler);
    free_list(&asked);
    cli_started_end();
    return status;
}
