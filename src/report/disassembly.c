/* disassembly.c - the instructions of a function, by objdump.
 *
 * objdump runs without a shell, because a profile names the file that it reads, and behind the fence of the child that
 * reads symbols (symbol/fence.c): it can read files and answer. It has no descriptors but three and no environment. Its
 * processor time, memory, wall-clock time and lines are limited. Its lines look like `    1139:<tab>mov ...`. */
#include "report/annotate.h"
#include <riffle/symbol.h>
#include "base/alloc.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_BYTES = 1024, SECONDS = 20, LINES_MAX = 100000 };
static const rlim_t memory_max = (rlim_t)2 << 30;

/* Lower the limit, never raise it. */
static void limit(int resource, rlim_t most)
{
    struct rlimit now = {most, most};
    if (getrlimit((__rlimit_resource_t)resource, &now) != 0 || now.rlim_max > most)
        now.rlim_cur = now.rlim_max = most;
    setrlimit((__rlimit_resource_t)resource, &now);
}

static void __attribute__((noreturn)) be_objdump(const struct rf_symbol_range *range, int fd)
{
    char start[64], stop[64];
    const char *const arguments[] = {
        "objdump", "-d", "-C", "--no-show-raw-insn", start, stop, "--", range->path, NULL};
    const char *const environment[] = {"LC_ALL=C", NULL};
    int nowhere = open("/dev/null", O_RDWR);
    snprintf(start, sizeof start, "--start-address=0x%" PRIx64, range->link);
    snprintf(stop, sizeof stop, "--stop-address=0x%" PRIx64, range->link + (range->hi - range->lo));
    dup2(nowhere, 0);
    dup2(fd, 1);
    dup2(nowhere, 2);
    close_range(3, ~0u, 0);
    signal(SIGALRM, SIG_DFL);
    alarm(2 * SECONDS); /* a file that cannot be read to its end, say on a dead network */
    limit(RLIMIT_CPU, SECONDS);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NPROC, 0);
    limit(RLIMIT_AS, memory_max); /* from here on this process may get no memory any more */
    rf_symbols_fence_program();   /* and change no limit */
    execvpe("objdump", (char *const *)arguments, (char *const *)environment); /* by riffle's PATH */
    _exit(127);
}

/* An instruction's line: its address, and where its text begins; NULL: another kind of line. */
static const char *instruction(const char *line, uint64_t *address)
{
    char *end;
    if (line[0] != ' ')
        return NULL;
    *address = strtoull(line, &end, 16);
    return end[0] == ':' && end[1] == '\t' ? end + 2 : NULL;
}

static bool add(struct rf_instructions *list, const struct rf_alloc *alloc, uint64_t link,
                const char *text)
{
    if (!rf_list_grow(alloc, list))
        return false;
    struct rf_instruction *one = &list->at[list->n++];
    one->link = link;
    snprintf(one->text, sizeof one->text, "%s", text);
    one->text[strcspn(one->text, "\n")] = '\0';
    return true;
}

static rf_status read_lines(struct rf_instructions *list, const struct rf_alloc *alloc, FILE *from)
{
    char line[LINE_BYTES];
    while (list->n < LINES_MAX && fgets(line, sizeof line, from) != NULL) {
        uint64_t address;
        const char *text = instruction(line, &address);
        if (text != NULL && !add(list, alloc, address, text))
            return RF_ENOMEM;
    }
    list->cut = list->n == LINES_MAX;
    return list->n > 0 ? RF_OK : RF_ENOTSUP;
}

void rf_instructions_free(struct rf_instructions *list, const struct rf_alloc *alloc)
{
    rf_list_free(alloc, list);
}

rf_status rf_disassemble(struct rf_instructions *list, const struct rf_alloc *alloc,
                         const struct rf_symbol_range *range)
{
    int ends[2];
    struct stat about;
    rf_status status = RF_ENOTSUP;
    *list = (struct rf_instructions){.at = NULL};
    if (stat(range->path, &about) != 0 || !S_ISREG(about.st_mode))
        return RF_ENOTSUP;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return RF_ENOTSUP;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        be_objdump(range, ends[1]);
    close(ends[1]);
    FILE *from = pid > 0 ? fdopen(ends[0], "r") : NULL;
    if (from != NULL) {
        status = read_lines(list, alloc, from);
        fclose(from);
    } else {
        close(ends[0]);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return status;
}
