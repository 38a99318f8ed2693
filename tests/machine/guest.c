/* guest.c - a program for system.py: tries what its arguments say and prints what came of it.
 *
 *     read FILE    write FILE    look FOLDER NAME    hold FOLDER NAME    list: time, random bytes, ids    rest of stdin
 *
 * look asks for a name in as many ways as there are, from an open folder, too. hold opens the folder, waits for a line
 * of input, and looks then. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void show(const char *what, const char *name, long result)
{
    printf("%s %s: %s\n", what, name, result < 0 ? strerror(errno) : "ok");
}

static void read_file(const char *name)
{
    char text[64] = "";
    struct stat status;
    int fd = open(name, O_RDONLY);
    show("open", name, fd);
    show("stat", name, stat(name, &status));
    show("access", name, access(name, R_OK));
    if (fd >= 0 && read(fd, text, sizeof text - 1) > 0)
        printf("%s", text);
    void *map = fd >= 0 ? mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (map != MAP_FAILED)
        printf("mapped %.5s\n", (const char *)map);
    if (fd >= 0)
        close(fd);
}

static void show_mode(const char *name)
{
    struct stat status;
    if (stat(name, &status) == 0)
        printf("mode %o\n", (unsigned)status.st_mode);
}

static void list_folder(const char *name)
{
    char inner[256];
    int n = 0;
    snprintf(inner, sizeof inner, "%s/inner", name);
    show("mkdir", inner, mkdir(inner, 0700));
    DIR *folder = opendir(name);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL; n++)
        if (strcmp(entry->d_name, "inner") == 0)
            printf("%s is in it, a folder: %d\n", entry->d_name, entry->d_type == DT_DIR);
    printf("%d entries\n", n);
    if (folder != NULL)
        closedir(folder);
    show("rmdir", inner, rmdir(inner));
}

static void write_file(const char *name)
{
    char moved[256];
    FILE *file = fopen(name, "w");
    show("create", name, file != NULL ? 0 : -1);
    if (file == NULL)
        return;
    fputs("written\n", file);
    show("fchmod", name, fchmod(fileno(file), 0640));
    show("fchown", name, fchown(fileno(file), (uid_t)-1, (gid_t)-1));
    fclose(file);
    show("chmod", name, chmod(name, 0600));
    show("chown", name, chown(name, (uid_t)-1, (gid_t)-1));
    show("utimensat", name, utimensat(AT_FDCWD, name, NULL, 0));
    show_mode(name);
    snprintf(moved, sizeof moved, "%s.moved", name);
    show("rename", moved, rename(name, moved));
    read_file(moved);
    show("unlink", moved, unlink(moved));
    show("mkdir", name, mkdir(name, 0700));
    list_folder(name);
    show("rmdir", name, rmdir(name));
}

static void show_inode(const char *what, int result, const struct stat *status)
{
    show("look", what, result);
    if (result == 0)
        printf("inode %llu\n", (unsigned long long)status->st_ino);
}

static void look_from(int folder, const char *name)
{
    struct stat status;
    char link[256];
    show_inode("fstatat", fstatat(folder, name, &status, 0), &status);
    show_inode("fstatat of a link", fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW), &status);
    show("look", "faccessat", faccessat(folder, name, F_OK, 0));
    show("look", "readlinkat", readlinkat(folder, name, link, sizeof link));
    int fd = openat(folder, name, O_RDONLY);
    show_inode("openat", fd >= 0 ? fstat(fd, &status) : -1, &status);
    if (fd >= 0 && !S_ISDIR(status.st_mode) && read(fd, link, 6) == 6)
        printf("%.6s\n", link);
    if (fd >= 0)
        close(fd);
}

static void look(const char *name, const char *from, int wait)
{
    char line[8];
    struct stat status;
    int folder = open(from, O_RDONLY | O_DIRECTORY);
    show("folder", from, folder);
    if (wait && fgets(line, sizeof line, stdin) == NULL)
        return;
    look_from(folder, name);
    if (wait)
        return;
    show_inode("stat", stat(name, &status), &status);
    show_inode("lstat", lstat(name, &status), &status);
    look_from(AT_FDCWD, name);
}

static void list(void)
{
    struct timespec now;
    unsigned char random[8];
    cpu_set_t set;
    clock_gettime(CLOCK_REALTIME, &now);
    printf("time %lld, ids %d %d\n", (long long)now.tv_sec, (int)getpid(), (int)getuid());
    if (getrandom(random, sizeof random, 0) == sizeof random)
        printf("random %02x%02x%02x%02x\n", random[0], random[1], random[2], random[3]);
    FILE *device = fopen("/dev/urandom", "r");
    if (device != NULL && fread(random, 1, sizeof random, device) == sizeof random)
        printf("device %02x%02x%02x%02x\n", random[0], random[1], random[2], random[3]);
    if (device != NULL)
        fclose(device);
    printf("%d processor\n", sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1);
    show("socket", "of a name service", socket(AF_UNIX, SOCK_STREAM, 0));
    printf("home %s, a terminal: %d\n", getenv("HOME") != NULL ? "set" : "unset", isatty(1));
}

static void copy_input(void)
{
    char *line = NULL;
    size_t size = 0;
    unsigned long n = 0;
    while (getline(&line, &size, stdin) >= 0)
        n += strlen(line);
    printf("%lu bytes of input\n", n);
    free(line);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "read") == 0)
        read_file(argv[2]);
    else if (argc > 2 && strcmp(argv[1], "write") == 0)
        write_file(argv[2]);
    else if (argc > 3 && strcmp(argv[1], "look") == 0)
        look(argv[3], argv[2], 0);
    else if (argc > 3 && strcmp(argv[1], "hold") == 0)
        look(argv[3], argv[2], 1);
    else if (argc > 1 && strcmp(argv[1], "list") == 0)
        list();
    else
        copy_input();
    return argc;
}
