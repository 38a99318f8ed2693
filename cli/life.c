/* life.c - is another process of the same machine still there? */
#include "life.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The first line of a file; "" where it cannot be read. */
static void read_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "re");
    if (file == NULL || fgets(line, size, file) == NULL)
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (file != NULL)
        fclose(file);
}

static void name_place(char *place, size_t size)
{
    char boot[64], space[48] = "";
    read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    if (readlink("/proc/self/ns/pid", space, sizeof space - 1) <= 0 || boot[0] == '\0')
        place[0] = '\0';
    else
        snprintf(place, size, "%s %s", boot, space);
}

/* When it was started; 0: there is no such process, or it has ended and nobody asked for its status. */
static unsigned long long started_at(int pid)
{
    char path[64], line[512], state = 'Z';
    unsigned long long started = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    read_line(path, line, sizeof line);
    const char *behind = strrchr(line, ')'); /* the name may hold anything */
    if (behind == NULL ||
        sscanf(behind,
               ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &state, &started) != 2 ||
        state == 'Z' || state == 'X')
        return 0;
    return started;
}

struct cli_life cli_life_own(void)
{
    struct cli_life life;
    memset(&life, 0, sizeof life); /* all of it is sent */
    name_place(life.place, sizeof life.place);
    life.pid = getpid();
    life.started = started_at(life.pid);
    return life;
}

int cli_life_ended(const struct cli_life *life)
{
    char here[sizeof life->place];
    name_place(here, sizeof here);
    return here[0] != '\0' && life->started != 0 && strcmp(here, life->place) == 0 &&
           started_at(life->pid) != life->started;
}
