/* Reading wholly: in pieces, interrupted, past the end. */
#include "test.h"
#include "event/input.h"
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t interrupts;

static void count(int number)
{
    (void)number;
    interrupts++;
}

/* Signals without SA_RESTART, every millisecond. */
static void interrupt_often(long microseconds)
{
    struct sigaction action = {.sa_handler = count};
    const struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* A child that writes a byte every ten milliseconds. */
static pid_t drip(int fd, const char *text)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    for (; *text != '\0'; text++) {
        usleep(10000);
        if (write(fd, text, 1) != 1)
            _exit(1);
    }
    _exit(0);
}

TEST(a_pipe_that_drips_is_read_wholly_between_interrupts)
{
    char text[8] = "";
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    pid_t pid = drip(ends[1], "drip");
    close(ends[1]);
    interrupt_often(1000);
    CHECK_EQ(rf_input_read(ends[0], text, 4), 4);
    interrupt_often(0);
    CHECK_TEXT(text, "drip");
    CHECK(interrupts > 0);
    CHECK_EQ(rf_input_read(ends[0], text, 4), 0);
    close(ends[0]);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

TEST(a_file_gives_what_it_has)
{
    char text[8] = "";
    int fd = memfd_create("input", MFD_CLOEXEC);
    REQUIRE(fd >= 0 && write(fd, "abcdef", 6) == 6);
    CHECK_EQ(rf_input_at(fd, text, 3, 2), 3);
    CHECK_TEXT(text, "cde");
    CHECK_EQ(rf_input_at(fd, text, 8, 4), 2);
    CHECK_EQ(rf_input_at(fd, text, 8, 6), 0);
    CHECK(rf_input_at(fd, text, 8, -1) == -1 && errno == EINVAL);
    close(fd);
    CHECK(rf_input_at(fd, text, 8, 0) == -1 && errno == EBADF);
}

TEST_MAIN()
