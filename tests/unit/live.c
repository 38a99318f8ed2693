/* Questions to a run and its answers. Both ends are this process: it finds itself under its number. */
#include <riffle/live.h>
#include "test.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct rf_run *run_of(const char *command)
{
    struct rf_run *run = NULL;
    CHECK(rf_run_new(&run, command, NULL) == RF_OK);
    return run;
}

/* The descriptor of the memory, as another process of the same user would open it. */
static int open_memory(void)
{
    for (int fd = 3; fd < 64; fd++) {
        char path[64], link[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, link, sizeof link - 1);
        link[n > 0 ? n : 0] = '\0';
        if (strncmp(link, "/memfd:riffle-live", 18) == 0)
            return open(path, O_RDWR | O_CLOEXEC);
    }
    return -1;
}

/* `sequence` of the page, which is odd while an answer is written. */
static uint32_t sequence(void)
{
    uint32_t number = UINT32_MAX;
    int fd = open_memory();
    CHECK(pread(fd, &number, sizeof number, 16) == sizeof number);
    close(fd);
    return number;
}

static void answer(struct rf_live *live, const char *command)
{
    struct rf_run *run = run_of(command);
    uint32_t before = sequence();
    CHECK(rf_live_answer(live, run, NULL) == RF_OK);
    CHECK_EQ(sequence(), before + 2); /* who reads meanwhile sees that it is another answer */
    rf_run_free(run);
}

/* Is this what the last answer says? "" if none has come. */
static int takes(struct rf_live *live, const char *command)
{
    struct rf_run *run;
    CHECK(rf_live_take(live, &run, NULL) == RF_OK);
    int same = strcmp(run != NULL ? run->command : "", command) == 0;
    rf_run_free(run);
    return same;
}

TEST(a_question_is_answered_once)
{
    struct rf_live *here, *there;
    REQUIRE(rf_live_open(&here, NULL) == RF_OK);
    REQUIRE(rf_live_watch(&there, getpid(), NULL) == RF_OK);
    CHECK(!rf_live_is_asked(here) && takes(there, ""));
    rf_live_ask(there);
    CHECK(rf_live_is_asked(here) && takes(there, ""));
    answer(here, "first");
    CHECK(!rf_live_is_asked(here) && takes(there, "first") && takes(there, ""));
    rf_live_ask(there);
    CHECK(takes(there, ""));
    answer(here, "a second one that is longer");
    CHECK(takes(there, "a second one that is longer"));
    CHECK_EQ(rf_live_pid(there), getpid());
    rf_live_close(there);
    rf_live_close(here);
}

TEST(several_may_ask)
{
    struct rf_live *here, *one, *other;
    REQUIRE(rf_live_open(&here, NULL) == RF_OK);
    REQUIRE(rf_live_watch(&one, getpid(), NULL) == RF_OK);
    REQUIRE(rf_live_watch(&other, getpid(), NULL) == RF_OK);
    rf_live_ask(one);
    rf_live_ask(other);
    answer(here, "both");
    CHECK(!rf_live_is_asked(here) && takes(one, "both") && takes(other, "both"));
    rf_live_close(one);
    rf_live_ask(other);
    CHECK(rf_live_is_asked(here) && !rf_live_is_over(other));
    rf_live_close(here);
    CHECK(rf_live_is_over(other));
    rf_live_close(other);
}

TEST(what_others_do_to_the_memory_harms_nobody)
{
    struct rf_live *here, *there;
    struct rf_error error = {""};
    struct rf_run *run;
    REQUIRE(rf_live_open(&here, NULL) == RF_OK);
    REQUIRE(rf_live_watch(&there, getpid(), NULL) == RF_OK);
    int fd = open_memory();
    REQUIRE(fd >= 0);
    CHECK(ftruncate(fd, 0) != 0); /* it would take the page from under the run */
    rf_live_ask(there);
    answer(here, "spoiled");
    CHECK(pwrite(fd, "x", 1, 4096 + 20) == 1);
    CHECK(rf_live_take(there, &run, &error) == RF_EDAMAGED && run == NULL && error.message[0]);
    rf_live_ask(there);
    answer(here, "good");
    CHECK(takes(there, "good"));
    close(fd);
    rf_live_close(there);
    rf_live_close(here);
}

TEST(who_cannot_be_asked)
{
    struct rf_live *live;
    struct rf_error error = {""};
    CHECK(rf_live_watch(&live, getpid(), &error) == RF_EINVAL);
    CHECK(strstr(error.message, "neither riffle run nor profiled by it") != NULL);
    CHECK(rf_live_watch(&live, 999999999, &error) == RF_EINVAL);
    CHECK(strstr(error.message, "there is no process") != NULL);
    rf_live_close(NULL);
    CHECK(!rf_live_is_asked(NULL));
}

TEST_MAIN()
