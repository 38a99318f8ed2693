/* life.h - is another process of the same machine still there? */
#ifndef CLI_LIFE_H
#define CLI_LIFE_H

/* Which process it is; plain bytes, so that it can be sent. */
struct cli_life {
    char place
        [120]; /* the machine since its start, and the namespace of process numbers; "" where that is not known */
    int pid;
    unsigned long long started; /* ticks: a number that was given anew is another process */
};

struct cli_life cli_life_own(void);
/* 1: it is of this machine, and it has ended. 0: it lives, or nobody here can tell. */
int cli_life_ended(const struct cli_life *life);

#endif
