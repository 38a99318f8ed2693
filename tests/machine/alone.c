/* alone.c - runs a program where no other process can be named.
 *
 *     alone PROGRAM [ARGUMENT...]
 *
 * qemu-user hands the kill of its guest to the real system. Inside a pid namespace of its own it finds nobody but
 * itself and the process that waits for it:
 *
 *     alone --- first process of the namespace --- PROGRAM
 *
 * The first process is there because Linux drops the signals that would end it; PROGRAM must be able to end by one.
 * alone ends as PROGRAM does. Where no namespace may be made, PROGRAM runs in its place; with --is-there as the only
 * argument, alone says by its exit status whether one may. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT_RUN = 126 };

static int run(char **command)
{
    execvp(command[0], command);
    perror(command[0]);
    return CANNOT_RUN;
}

/* A privileged caller needs no namespace of users. */
static int enter_namespace(void)
{
    return unshare(CLONE_NEWPID) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0;
}

/* The status of a child by wait; -1: it could not be started. */
static int wait_for(pid_t child)
{
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) != child)
        ;
    return status;
}

/* Runs the command, tells its status through the pipe. Dies with alone, and takes all of the namespace along. */
static int be_first(char **command, int pipe_end)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pid_t child = fork();
    if (child == 0)
        return run(command);
    int status = wait_for(child);
    return write(pipe_end, &status, sizeof status) != sizeof status;
}

/* End as a process with this status did, without a core file of our own. */
static int end_like(int status)
{
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    int ends[2], status = -1;
    if (argc < 2)
        return CANNOT_RUN;
    int alone = enter_namespace();
    if (strcmp(argv[1], "--is-there") == 0)
        return !alone;
    if (!alone || pipe2(ends, O_CLOEXEC) != 0)
        return run(argv + 1);
    pid_t first = fork();
    if (first == 0)
        return be_first(argv + 1, ends[1]);
    close(ends[1]);
    int told = read(ends[0], &status, sizeof status) == sizeof status && status != -1;
    wait_for(first);
    return told ? end_like(status) : CANNOT_RUN;
}
