/* Files that appear whole: what is open while they are written, and names that are descriptors. */
#include "event/newfile.h"
#include "event/trace.h"
#include "test.h"
#include "trace_file.h"
#include <dirent.h>
#include <limits.h>

static int is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* Names in the folder, `.` and `..` aside. */
static unsigned names_in(const char *folder)
{
    const struct dirent *entry;
    unsigned n = 0;
    DIR *names = opendir(folder);
    while (names != NULL && (entry = readdir(names)) != NULL)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(names);
    return n;
}

/* A program that was started without standard input gets its number for the next file. */
TEST(the_number_of_standard_input_is_one_like_others)
{
    struct folder folder = folder_make();
    struct rf_newfile file;
    int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
    REQUIRE(kept >= 0);
    close(STDIN_FILENO);
    CHECK_EQ(rf_newfile_create(&file, folder.file, NULL, NULL), RF_OK);
    CHECK_EQ(file.fd, STDIN_FILENO);
    CHECK_EQ(rf_newfile_write(&file, "x", 1, NULL), RF_OK);
    CHECK_EQ(rf_newfile_finish(&file, NULL), RF_OK);
    CHECK(!is_open(STDIN_FILENO) && file.fd == -1);
    CHECK(access(folder.file, F_OK) == 0 && names_in(folder.path) == 1);
    close(STDIN_FILENO);
    CHECK_EQ(rf_newfile_create(&file, folder.file, NULL, NULL), RF_OK);
    CHECK_EQ(file.fd, STDIN_FILENO);
    rf_newfile_abandon(&file);
    CHECK(!is_open(STDIN_FILENO) && file.fd == -1);
    CHECK_EQ(names_in(folder.path), 1);
    dup2(kept, STDIN_FILENO);
    close(kept);
    CHECK_EQ(folder_remove(&folder), 0);
}

/* What is open there is written through another number, and never one of the standard streams'. */
TEST(a_link_to_a_descriptor_is_written_through)
{
    struct folder folder = folder_make();
    struct rf_newfile file;
    char link[64], text[8] = "";
    int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
    int fd = open(folder.file, O_RDWR | O_CREAT, 0600);
    REQUIRE(kept >= 0 && fd >= 0);
    snprintf(link, sizeof link, "/dev/fd/%d", fd);
    close(STDIN_FILENO);
    CHECK_EQ(rf_newfile_create(&file, link, NULL, NULL), RF_OK);
    CHECK(file.fd > STDERR_FILENO && file.fd != fd && file.temporary == NULL);
    CHECK_EQ(rf_newfile_write(&file, "word", 4, NULL), RF_OK);
    CHECK_EQ(rf_newfile_finish(&file, NULL), RF_OK);
    CHECK(is_open(fd) && pread(fd, text, 7, 0) == 4);
    CHECK_TEXT(text, "word");
    dup2(kept, STDIN_FILENO);
    close(kept);
    close(fd);
    CHECK_EQ(folder_remove(&folder), 0);
}

TEST(which_names_are_descriptors)
{
    struct folder folder = folder_make();
    char number[64], longer[PATH_MAX + 64], link[128];
    int fd = open(folder.file, O_RDWR | O_CREAT, 0600);
    REQUIRE(fd >= 0);
    snprintf(number, sizeof number, "/proc/self/fd/%d", fd);
    snprintf(link, sizeof link, "%s/%d", folder.path, fd);
    CHECK_EQ(rf_descriptor_of(number), fd);
    CHECK(rf_descriptor_of(folder.file) == -1);
    CHECK(rf_descriptor_of("/proc/self/fd/999999") == -1);
    CHECK(rf_descriptor_of("/proc/self/fd") == -1);
    CHECK_EQ(symlink(number, link), 0); /* a link to the link */
    CHECK_EQ(rf_descriptor_of(link), fd);
    unlink(link);
    CHECK_EQ(symlink("/dev/null", link), 0); /* the number alone says nothing */
    CHECK(rf_descriptor_of(link) == -1);
    unlink(link);
    memset(longer, '/', sizeof longer);
    snprintf(longer + PATH_MAX - 4, 64, "%s", number);
    CHECK(rf_descriptor_of(longer) == -1);
    close(fd);
    CHECK_EQ(folder_remove(&folder), 0);
}

TEST_MAIN()
