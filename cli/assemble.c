/* assemble.c - riffle in place of the assembler, for compilers that riffle cc starts.
 *
 *     riffle cc -c a.c --> cc -B/tmp/riffle-as-1/ -c a.c --> /tmp/riffle-as-1/as a.s --> copies.c, inplace.c --> as
 *                                                            = riffle
 *
 * So the compiler's driver does all that it does otherwise: pipes, dependencies, several sources, temporary files. Text in which
 * nothing is to be changed goes to the assembler as it is. The folder and the assembler are named by the environment. */
#include "assemble.h"
#include "compile.h"
#include "copies.h"
#include "inplace.h"
#include <errno.h>
#include <limits.h>
#include <riffle/probe.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARIABLE "RIFFLE_AS" /* the assembler's path */

const char *cli_temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    struct stat status;
    bool good = folder != NULL && stat(folder, &status) == 0 && S_ISDIR(status.st_mode) &&
                access(folder, W_OK | X_OK) == 0;
    return good ? folder : "/tmp";
}

/* ---- for riffle cc ---- */

void cli_assembler_make(struct cli_assembler *assembler)
{
    char self[PATH_MAX], real[PATH_MAX], path[sizeof assembler->folder + 8];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    int length = snprintf(assembler->folder, sizeof assembler->folder, "%s/riffle-as-XXXXXX",
                          cli_temporary_folder());
    if (n <= 0 || length >= (int)sizeof assembler->folder ||
        !rf_probe_find(real, sizeof real, "as") || mkdtemp(assembler->folder) == NULL) {
        assembler->folder[0] = '\0';
        return;
    }
    self[n] = '\0';
    snprintf(path, sizeof path, "%s/as", assembler->folder);
    if (symlink(self, path) != 0 || setenv(VARIABLE, real, 1) != 0)
        cli_assembler_remove(assembler);
}

void cli_assembler_remove(const struct cli_assembler *assembler)
{
    char path[sizeof assembler->folder + 8];
    snprintf(path, sizeof path, "%s/as", assembler->folder);
    if (assembler->folder[0] == '\0')
        return;
    unlink(path);
    rmdir(assembler->folder);
}

/* ---- as the assembler ---- */

bool cli_is_assembler(const char *name)
{
    const char *slash = strrchr(name, '/');
    return strcmp(slash != NULL ? slash + 1 : name, "as") == 0 && getenv(VARIABLE) != NULL;
}

static bool takes_next(const char *word)
{
    return strcmp(word, "-o") == 0 || strcmp(word, "-I") == 0 || strcmp(word, "--defsym") == 0 ||
           strcmp(word, "--MD") == 0;
}

/* Which argument is the text; 0: it comes by standard input; -1: there are several, or it is not for x86-64. */
static int find_input(int argc, char **argv)
{
    int input = 0, n = 0;
    bool wide = false;
    for (int i = 1; i < argc; i++) {
        wide |= strcmp(argv[i], "--64") == 0;
        if (takes_next(argv[i])) {
            i++;
        } else if (argv[i][0] != '-' || argv[i][1] == '\0') {
            input = i;
            n++;
        }
    }
    return wide && n < 2 ? input : -1;
}

static char *read_all(FILE *file, size_t *n)
{
    char *text = NULL;
    size_t room = 0;
    for (*n = 0; !feof(file) && !ferror(file);) {
        if (*n == room) {
            room = room == 0 ? 1 << 16 : 2 * room;
            char *more = realloc(text, room);
            if (more == NULL)
                break;
            text = more;
        }
        *n += fread(text + *n, 1, room - *n, file);
    }
    if (feof(file) && !ferror(file))
        return text;
    free(text);
    return NULL;
}

/* From here on standard input is this text: a file without a name. */
static bool set_input(const char *text, size_t n)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/riffle-as-XXXXXX", cli_temporary_folder());
    int fd = mkstemp(path);
    FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (file == NULL)
        return false;
    unlink(path);
    bool good = fwrite(text, 1, n, file) == n && fflush(file) == 0 && lseek(fd, 0, SEEK_SET) == 0 &&
                dup2(fd, STDIN_FILENO) == STDIN_FILENO;
    return fclose(file) == 0 && good;
}

/* The assembler with another text, without the word that named it. What it says of the text names no file of ours. */
static int run_with(int argc, char **argv, int input, const char *text, size_t n)
{
    char **words = calloc((size_t)argc + 1, sizeof *words);
    if (words == NULL)
        return cli_fail(CLI_FAILED, "as: no memory for the command line");
    if (!set_input(text, n)) {
        free(words);
        return cli_fail(CLI_FAILED, "as: no room for a temporary file: %s", strerror(errno));
    }
    for (int i = 0, to = 0; i < argc; i++)
        if (i == 0 || i != input)
            words[to++] = argv[i];
    int status = cli_run_words(words);
    free(words);
    return status;
}

/* What goes to the assembler instead; NULL: the text as it is. */
static char *better(const char *text, size_t n, size_t *size)
{
    char *copies = cli_asks_copies() ? cli_copies(text, n, size) : NULL;
    if (!cli_asks_inplace())
        return copies;
    size_t n_copies = *size;
    char *inplace =
        copies != NULL ? cli_inplace(copies, n_copies, size) : cli_inplace(text, n, size);
    if (inplace == NULL) {
        *size = n_copies;
        return copies;
    }
    free(copies);
    return inplace;
}

int cli_assemble(int argc, char **argv)
{
    size_t n = 0, size = 0;
    int input = find_input(argc, argv);
    bool standard = input == 0 || (input > 0 && strcmp(argv[input], "-") == 0);
    FILE *file = input < 0 ? NULL : standard ? stdin : fopen(argv[input], "re");
    argv[0] = getenv(VARIABLE);
    cli_started_begin();
    char *text = file != NULL ? read_all(file, &n) : NULL;
    char *changed = text != NULL ? better(text, n, &size) : NULL;
    int status;
    if (changed != NULL)
        status = run_with(argc, argv, input, changed, size);
    else if (standard && text != NULL)
        status = run_with(argc, argv, input, text, n);
    else
        status = cli_run_words(argv);
    if (file != NULL && file != stdin)
        fclose(file);
    free(changed);
    free(text);
    cli_started_end();
    return status & ~CLI_OF_PROGRAM;
}
