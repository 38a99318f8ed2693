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
#include "arguments.h"
#include "assemble.h"
#include "beside.h"
#include <riffle/probe.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what a command line means ---- */

static bool is_input(const char *word)
{
    return word[0] != '-' || word[1] == '\0';
}

/* A file that is compiled. Assembler has no hooks. */
static bool is_source(const char *word, bool by_language)
{
    static const char *const endings[] = {".c",   ".i", ".cc", ".cp", ".cxx", ".cpp", ".CPP",
                                          ".c++", ".C", ".ii", ".m",  ".mm",  NULL};
    const char *ending = strrchr(word, '.');
    return is_input(word) &&
           (by_language || (ending != NULL && cli_argument_is_one_of(ending, endings)));
}

static bool is_language(const char *word)
{
    return strncmp(word, "-x", 2) == 0;
}

/* What the option -x at this place names; "none": endings tell. */
static const char *language_at(const struct cli_arguments *list, size_t i)
{
    const char *joined = list->words[i] + 2, *next = list->words[i + 1];
    return joined[0] != '\0' ? joined : next != NULL ? next : "none";
}

/* A file that is compiled for other files to include it. Compilers refuse it where they are told of hooks and it was not. */
static bool is_header(const char *word, const char *language)
{
    static const char *const endings[] = {".h",   ".H",   ".hh",  ".hp",  ".hpp",
                                          ".HPP", ".hxx", ".h++", ".tcc", NULL};
    const char *ending = strrchr(word, '.'), *dash = strrchr(language, '-');
    if (!is_input(word))
        return false;
    if (strcmp(language, "none") != 0)
        return dash != NULL && strcmp(dash, "-header") == 0;
    return ending != NULL && cli_argument_is_one_of(ending, endings);
}

enum step { AS_IT_IS, ASSEMBLE, COMPILE, LINK, BOTH };

static enum step step_of(const struct cli_arguments *list)
{
    static const char *const informing[] = {"-E",
                                            "-M",
                                            "-MM",
                                            "-fsyntax-only",
                                            "--version",
                                            "-###",
                                            "--target-help",
                                            "--help",
                                            "-dumpmachine",
                                            "-dumpspecs",
                                            "-dumpversion",
                                            "-dumpfullversion",
                                            NULL};
    static const char *const printed[] = {"-print-", "--print-", "--help=", NULL};
    bool links = true, informs = list->n == 0, has_input = false;
    size_t headers = 0, sources = 0, others = 0;
    const char *language = "none";
    for (size_t i = 0; i < list->n; i++) {
        const char *word = list->words[i];
        informs |=
            cli_argument_is_one_of(word, informing) || cli_argument_begins_as_one_of(word, printed);
        links &= strcmp(word, "-c") != 0 && strcmp(word, "-S") != 0;
        has_input |= strncmp(word, "-l", 2) == 0;
        if (is_language(word))
            language = language_at(list, i);
        if (cli_argument_takes_next(word))
            i++;
        else if (is_header(word, language))
            headers++;
        else if (is_source(word, strcmp(language, "none") != 0))
            sources++;
        else
            others += is_input(word);
    }
    if (informs || (!has_input && headers + sources + others == 0))
        return AS_IT_IS;
    if (!links || (headers > 0 && sources + others == 0))
        return headers + sources > 0 ? COMPILE : ASSEMBLE;
    return sources > 0 ? BOTH : LINK;
}

/* ---- compilers ---- */

/* By its name or that of the file which it leads to; in "ccache clang" it is the second word. */
static bool is_clang(const struct cli_arguments *compiler)
{
    char path[PATH_MAX], real[PATH_MAX];
    bool found = false;
    for (size_t i = 0; i < compiler->n && !found; i++) {
        const char *word = compiler->words[i];
        found = word[0] != '-' &&
                (strstr(cli_argument_last_part(word), "clang") != NULL ||
                 (rf_probe_find(path, sizeof path, word) && realpath(path, real) != NULL &&
                  strstr(cli_argument_last_part(real), "clang") != NULL));
    }
    return found;
}

/* A program, or a command whose words are separated by blanks, as CC is in makefiles. */
static bool take_compiler(struct cli_arguments *compiler, const char *named)
{
    char path[PATH_MAX], *copy = strdup(named), *rest = copy;
    bool good = copy != NULL;
    if (good && rf_probe_find(path, sizeof path, named))
        good = cli_arguments_add(compiler, named);
    else
        for (char *word; good && (word = strtok_r(rest, " \t\n", &rest)) != NULL;)
            good = cli_arguments_add(compiler, word);
    free(copy);
    return good;
}

static bool add_compiler(struct cli_arguments *list, const struct cli_arguments *compiler)
{
    return cli_arguments_add_all(list, (const char *const *)compiler->words);
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
static bool has_assembler(const struct cli_arguments *asked)
{
    static const char *const shared[] = {"-fPIC", "-fpic", "-shared", NULL};
    for (size_t i = 0; i < asked->n; i++)
        if (cli_argument_is_one_of(asked->words[i], shared))
            return false;
    return cli_asks_copies() || cli_asks_inplace();
}

/* Ours in front of the assembler, where its text is changed. */
static bool add_assembler(struct cli_arguments *list, const struct cli_arguments *compiler)
{
    char option[sizeof assembler.folder + 8];
    snprintf(option, sizeof option, "-B%s/", assembler.folder);
    return assembler.folder[0] == '\0' ||
           (cli_arguments_add(list, option) &&
            (!is_clang(compiler) || cli_arguments_add(list, "-fno-integrated-as")));
}

/* Is there a hook in assembler text that is named here, because -S made it? Other text is for the compiler's own assembler, and
 * clang's knows directives that GNU's does not. */
static bool names_hooks(const struct cli_arguments *asked)
{
    bool found = false;
    for (size_t i = 0; i < asked->n && !found; i++) {
        char *text = asked->words[i][0] != '-' ? cli_argument_read(asked->words[i]) : NULL;
        found = text != NULL && strstr(text, "__tsan_") != NULL;
        free(text);
    }
    return found;
}

/* Link-time optimisation would put the hooks in after we have left. clang leaves out a load in front of a store to the
 * same place unless it is told not to; gcc warns of fences, which hooks do not mind. */
static bool add_hooks(struct cli_arguments *list, const struct cli_arguments *compiler)
{
    static const char *const gcc[] = {"-fsanitize=thread", "-U__SANITIZE_THREAD__", "-Wno-tsan",
                                      "-fno-lto", NULL};
    static const char *const clang[] = {"-fsanitize=thread", "-mllvm",
                                        "-tsan-instrument-read-before-write", "-fno-lto", NULL};
    if (!cli_arguments_add_all(list, is_clang(compiler) ? clang : gcc))
        return false;
    if (!add_assembler(list, compiler))
        return false;
    return !has_blocks() || cli_arguments_add(list, "-fsanitize-coverage=trace-pc");
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

static bool has_one_of(const struct cli_arguments *list, const char *const *words)
{
    for (size_t i = 0; i < list->n; i++)
        if (cli_argument_is_one_of(list->words[i], words))
            return true;
    return false;
}

/* The whole library, seen by libraries that the program opens: there is one run-time per program. Libraries have a smaller one (hooks/shared.c).
 * Part of a program that is linked in steps (-r) gets it in the last one. */
static bool add_library(struct cli_arguments *list, const char *folder)
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
    return has_one_of(list, parts) || cli_arguments_add_all(list, words);
}

/* ---- running ---- */

static int no_memory(void)
{
    return cli_fail(CLI_FAILED, "cc: no memory for the command line");
}

static int run_list(const struct cli_arguments *list)
{
    return cli_run_words(list->words);
}

static bool failed(int status)
{
    return status != CLI_OK && status != CLI_OF_PROGRAM;
}

/* ---- a command that compiles and links ---- */

struct both {
    const struct cli_arguments *asked;
    const struct cli_arguments *compiler;
    struct cli_arguments objects; /* made here */
    struct cli_arguments link;
};

/* What the compiler would only complain of where it does not link. gcc takes some of it for the code, too. */
static bool is_for_linker(const char *word, bool clang)
{
    static const char *const options[] = {
        "-shared",        "-rdynamic",         "-s", "-Xlinker", "-u", "-z", "-T",
        "-static-libgcc", "-static-libstdc++", NULL};
    static const char *const of_clang[] = {"-pie", "-no-pie", "-static-pie", "-e", NULL};
    static const char *const beginnings[] = {"-Wl,", "-L", "-l", NULL};
    static const char *const beginnings_of_clang[] = {
        "-fuse-ld=", "--ld-path=", "-rtlib=", "-unwindlib=", NULL};
    return cli_argument_is_one_of(word, options) ||
           cli_argument_begins_as_one_of(word, beginnings) ||
           (clang && (cli_argument_is_one_of(word, of_clang) ||
                      cli_argument_begins_as_one_of(word, beginnings_of_clang)));
}

/* clang cannot be told where other files are to be (beside.c). Debug information stays in the object, and other files come to the current folder. */
static const char *for_clang(const char *word)
{
    if (strncmp(word, "-gsplit-dwarf", 13) == 0)
        return "-g";
    return strcmp(word, "-save-temps=obj") == 0 ? "-save-temps" : word;
}

/* Compile the source at `place` alone. */
static int compile_one(struct both *both, size_t place, const char *object)
{
    struct cli_arguments list = {NULL, 0, 0};
    bool good = add_compiler(&list, both->compiler), by_language = false,
         clang = is_clang(both->compiler);
    for (size_t i = 0; good && i < both->asked->n; i++) {
        const char *word = both->asked->words[i];
        bool pair = cli_argument_takes_next(word) && i + 1 < both->asked->n;
        bool is_output = strncmp(word, "-o", 2) == 0;
        if (is_language(word))
            by_language = i < place;
        bool leave_out = is_output || (is_input(word) && i != place) ||
                         is_for_linker(word, clang) || (is_language(word) && !by_language);
        if (!leave_out)
            good = cli_arguments_add(&list, clang ? for_clang(word) : word) &&
                   (!pair || cli_arguments_add(&list, both->asked->words[i + 1]));
        i += pair;
    }
    const char *const output[] = {"-c", "-o", object, NULL};
    good = good && cli_beside_add(&list, both->asked, both->asked->words[place], clang) &&
           cli_arguments_add_all(&list, output) && add_hooks(&list, both->compiler);
    int status = good ? run_list(&list) : no_memory();
    cli_arguments_free(&list);
    return status;
}

/* A new folder for an object, which has the name of its source. */
static bool make_object(struct both *both, const char *source, char path[PATH_MAX])
{
    const char *name = cli_argument_last_part(source), *ending = strrchr(name, '.');
    int stem = (int)(ending != NULL ? (size_t)(ending - name) : strlen(name));
    int n = snprintf(path, PATH_MAX, "%s/riffle-cc-XXXXXX", cli_temporary_folder());
    if (n >= PATH_MAX || mkdtemp(path) == NULL)
        return false;
    return snprintf(path + n, PATH_MAX - (size_t)n, "/%.*s.o", stem, name) < PATH_MAX - n &&
           cli_arguments_add(&both->objects, path);
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

/* Do dependency files have to do with what is left for the command that links? The plain compiler's own preprocessor reads
 * assembler text (.S) there. Where all share one file it must not write over that of a source behind it. */
static bool links_dependencies(const struct cli_arguments *asked)
{
    static const char *const endings[] = {".S", ".sx", NULL};
    bool by_language = false, has_text = false, is_last = false;
    for (size_t i = 0; i < asked->n; i++) {
        const char *word = asked->words[i], *ending = strrchr(word, '.');
        if (is_language(word))
            by_language = strcmp(language_at(asked, i), "none") != 0;
        if (cli_argument_takes_next(word))
            i++;
        else if (is_source(word, by_language))
            is_last = false;
        else if (word[0] != '-' && ending != NULL && cli_argument_is_one_of(ending, endings))
            has_text = is_last = true;
    }
    return cli_beside_shares_dependencies(asked) ? is_last : has_text;
}

/* Each source becomes an object in the same place; -x is done with. */
static int compile_all(struct both *both)
{
    bool by_language = false, good = true, dependencies = links_dependencies(both->asked);
    int status = CLI_OK;
    for (size_t i = 0; good && !failed(status) && i < both->asked->n; i++) {
        const char *word = both->asked->words[i];
        bool pair = cli_argument_takes_next(word) && i + 1 < both->asked->n;
        char object[PATH_MAX];
        if (is_language(word)) {
            by_language = strcmp(language_at(both->asked, i), "none") != 0;
        } else if (!pair && is_source(word, by_language)) {
            if (!make_object(both, word, object))
                return cli_fail(CLI_FAILED, "cc: no room for a temporary file: %s",
                                strerror(errno));
            status = compile_one(both, i, object);
            good = cli_arguments_add(&both->link, object);
        } else if (dependencies || !cli_beside_is_dependency(word)) {
            good = cli_arguments_add(&both->link, word) &&
                   (!pair || cli_arguments_add(&both->link, both->asked->words[i + 1]));
        }
        i += pair;
    }
    return good ? status : no_memory();
}

static int compile_and_link(const struct cli_arguments *asked, const struct cli_arguments *compiler,
                            const char *folder)
{
    struct both both = {.asked = asked, .compiler = compiler};
    int status = add_compiler(&both.link, compiler) ? compile_all(&both) : no_memory();
    if (!failed(status))
        status = add_library(&both.link, folder) ? run_list(&both.link) : no_memory();
    for (size_t i = 0; i < both.objects.n; i++)
        remove_object(both.objects.words[i]);
    cli_arguments_free(&both.objects);
    cli_arguments_free(&both.link);
    return status;
}

/* ---- the command ---- */

static int compile(const struct cli_arguments *asked, const struct cli_arguments *compiler)
{
    char folder[PATH_MAX];
    enum step step = step_of(asked);
    struct cli_arguments list = {NULL, 0, 0};
    if (step != AS_IT_IS && !find_folder(folder))
        return cli_fail(CLI_FAILED, "cc: libriffle-hooks.a is not there: only part of riffle was "
                                    "installed");
    if (step == BOTH)
        return compile_and_link(asked, compiler, folder);
    bool good = add_compiler(&list, compiler) &&
                (asked->n == 0 || cli_arguments_add_all(&list, (const char *const *)asked->words));
    if (good && step == ASSEMBLE && names_hooks(asked))
        good = add_assembler(&list, compiler);
    if (good && step == COMPILE)
        good = add_hooks(&list, compiler);
    if (good && step == LINK)
        good = add_library(&list, folder);
    int status = good ? run_list(&list) : no_memory();
    cli_arguments_free(&list);
    return status;
}

int cli_compile(const struct cli_call *call, const char *variable, const char *standard)
{
    const char *named = getenv(variable);
    struct cli_arguments asked = {NULL, 0, 0}, compiler = {NULL, 0, 0};
    bool good = named == NULL || take_compiler(&compiler, named);
    if (good && compiler.n == 0)
        good = cli_arguments_add(&compiler, standard);
    cli_started_begin();
    good = good && cli_arguments_take(&asked, call->n_arguments, call->arguments);
    if (good && has_assembler(&asked))
        cli_assembler_make(&assembler);
    int status = good ? compile(&asked, &compiler) : no_memory();
    cli_assembler_remove(&assembler);
    cli_arguments_free(&asked);
    cli_arguments_free(&compiler);
    cli_started_end();
    return status;
}
