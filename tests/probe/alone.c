/* alone.c - prints the world around a program: signals, limits, umask, descriptors, environment.
 *
 *     alone             one line per finding
 *     alone PROGRAM...  becomes PROGRAM by exec, to show the findings after an exec
 *     alone -fd PATH    opens PATH and becomes it by its descriptor
 *     alone -rm PATH    removes its own file first; then becomes PATH
 *     alone crash       writes where nothing is
 *     alone evex        runs an instruction of AVX-512 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void say_status(void)
{
    static const char *const names[] = {"SigBlk:", "SigIgn:", "SigPnd:", "ShdPnd:", "Umask:"};
    char line[256];
    FILE *status = fopen("/proc/self/status", "re");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (strncmp(line, names[i], strlen(names[i])) == 0)
                printf("status %s", line);
    if (status != NULL)
        fclose(status);
}

/* 64 is the probe's: Valgrind ends threads with it. */
static void say_signals(void)
{
    sigset_t blocked;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (int number = 1; number < 64; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) != 0)
            continue;
        printf("signal %d %s%s\n", number,
               action.sa_handler == SIG_DFL   ? "default"
               : action.sa_handler == SIG_IGN ? "ignored"
                                              : "caught",
               sigismember(&blocked, number) == 1 ? " blocked" : "");
    }
}

/* Valgrind keeps its own descriptors between the soft limit and a hard limit that it hides from the program. */
static void say_limits(void)
{
    for (int resource = 0; resource < RLIM_NLIMITS; resource++) {
        struct rlimit limit;
        if (getrlimit((__rlimit_resource_t)resource, &limit) != 0)
            continue;
        if (resource == RLIMIT_NOFILE)
            limit.rlim_max = 0;
        printf("limit %d %llx %llx\n", resource, (unsigned long long)limit.rlim_cur,
               (unsigned long long)limit.rlim_max);
    }
}

static void say_descriptors(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char path[64], to[256];
        unsigned long number = strtoul(entry->d_name, NULL, 10);
        snprintf(path, sizeof path, "/proc/self/fd/%lu", number);
        ssize_t n = readlink(path, to, sizeof to - 1);
        to[n > 0 ? n : 0] = '\0';
        if (entry->d_name[0] != '.' && number < limit.rlim_cur && strstr(to, "/fd") == NULL)
            printf("descriptor %lu %s\n", number, to);
    }
    if (folder != NULL)
        closedir(folder);
}

static void write_nowhere(void)
{
    volatile int *volatile nowhere = NULL;
    *nowhere = 1;
}

int main(int argc, char **argv, char **environment)
{
    if (argc > 1 && strcmp(argv[1], "crash") == 0)
        write_nowhere();
    if (argc > 1 && strcmp(argv[1], "evex") == 0)
        __asm__ volatile(".byte 0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc0"); /* vaddps zmm0, zmm0, zmm0 */
    if (argc > 2 && strcmp(argv[1], "-fd") == 0)
        fexecve(open(argv[2], O_RDONLY | O_CLOEXEC), argv + 2, environment);
    if (argc > 2 && strcmp(argv[1], "-rm") == 0 && unlink(argv[0]) == 0)
        execv(argv[2], argv + 2);
    if (argc > 1) {
        execv(argv[1], argv + 1);
        return 127;
    }
    say_status();
    say_signals();
    say_limits();
    say_descriptors();
    printf("called %s\n", argv[0]);
    mode_t mask = umask(0);
    printf("umask %o\n", (unsigned)mask);
    for (char **variable = environment; *variable != NULL; variable++)
        printf("environment %s\n", *variable);
    return 0;
}
