/* storm.c - a program for faults.py, without a C library: system calls with arguments that mean no good, drawn from a
 * seed, the first eight bytes of its first argument. Nothing it calls reaches a file of the host's, unless there is a
 * second argument: then it makes, moves and opens files instead, by names that try to lead out of its root, and ends
 * with status FOUND when it sees a file whose inode is that argument. */
#include <stdint.h>

enum { ROUNDS = 3000, FAR_FILE = 200, FOUND = 77 };

static uint64_t state;

static uint64_t draw(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % n;
}

static uint64_t call(uint64_t number, const uint64_t *a)
{
    register uint64_t a0 asm("a0") = a[0], a1 asm("a1") = a[1], a2 asm("a2") = a[2];
    register uint64_t a3 asm("a3") = a[3], a4 asm("a4") = a[4], a5 asm("a5") = a[5],
                         a7 asm("a7") = number;
    asm volatile("ecall"
                 : "+r"(a0)
                 : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7)
                 : "memory");
    return a0;
}

static uint64_t room[4096];

static uint64_t draw_argument(void)
{
    static const uint64_t odd[] = {0,    1,    2,    3,    8,     16,         24,        0x22,
                                   0x32, 1000, 4095, 4096, 65536, 0x7fffffff, 0x80000000};
    switch (draw(8)) {
    case 0:
        return draw(70);
    case 1:
        return (uint64_t)room + draw(sizeof room);
    case 2:
        return 0x60000000 + (draw(64) << 12);
    case 3:
        return draw(UINT64_C(1) << 32);
    case 4:
        return state;
    case 5:
        return 0 - draw(8192);
    case 6:
        return 8;
    default:
        return odd[draw(sizeof odd / sizeof *odd)];
    }
}

/* brk to mmap and back, signals, clocks, ids, and reads and writes of files that are not open. */
static const uint16_t numbers[] = {17,  23,  24,  25,  29,  46,  52,  55,  57,  61,  62,  63,
                                   65,  66,  67,  80,  82,  96,  98,  99,  113, 123, 124, 130,
                                   131, 132, 134, 134, 135, 136, 153, 160, 165, 169, 173, 179,
                                   198, 214, 215, 216, 222, 222, 223, 226, 233, 261, 278};

/* Is the first argument a file? Then one that is not open, so that standard input is left alone. */
static int takes_file(uint64_t number)
{
    return (number >= 23 && number <= 82) && number != 17;
}

static void try_numbers(void)
{
    uint64_t a[6], number = numbers[draw(sizeof numbers / sizeof *numbers)];
    for (int i = 0; i < 6; i++)
        a[i] = draw_argument();
    if (takes_file(number))
        a[0] = FAR_FILE + a[0] % 1000;
    room[draw(4096)] = draw_argument();
    call(number, a);
}

enum {
    MKDIR = 34,
    UNLINK = 35,
    RENAME = 38,
    CHMOD = 53,
    OPEN = 56,
    CLOSE = 57,
    READ = 63,
    READLINK = 78,
    STAT = 79
};

/* Parts of names in a row, some of them with a slash between. */
static char *draw_name(char *to)
{
    static const char *const parts[] = {"..", "..", ".",  "/",    "a",    "b",    "c",
                                        "up", "up", "me", "root", "away", "proc", "self"};
    for (uint64_t n = 1 + draw(6); n > 0; n--) {
        for (const char *part = parts[draw(sizeof parts / sizeof *parts)]; *part != 0; part++)
            *to++ = *part;
        if (draw(4) != 0)
            *to++ = '/';
    }
    *to = 0;
    return to;
}

static uint64_t read_number(const char *digits)
{
    uint64_t n = 0;
    for (; *digits >= '0' && *digits <= '9'; digits++)
        n = 10 * n + (uint64_t)(*digits - '0');
    return n;
}

/* One call on names; the inode that it must never see is `above`. */
static void try_names(uint64_t above)
{
    static const uint16_t calls[] = {MKDIR, UNLINK,   RENAME, CHMOD, OPEN, CLOSE,
                                     READ,  READLINK, STAT,   STAT,  STAT};
    static char from[128], to[128], bytes[128];
    uint64_t number = calls[draw(sizeof calls / sizeof *calls)],
             folder = draw(2) ? (uint64_t)-100 : 3 + draw(8);
    uint64_t a[6] = {folder, (uint64_t)from, (uint64_t)bytes, sizeof bytes};
    draw_name(from);
    draw_name(to);
    if (number == RENAME)
        a[2] = folder, a[3] = (uint64_t)to;
    else if (number == OPEN)
        a[2] = draw(4) == 0 ? 0x42 : 0x10000, a[3] = 0700; /* a new file, or a folder */
    else if (number == MKDIR || number == CHMOD)
        a[2] = 0700;
    else if (number == UNLINK)
        a[2] = draw(2) ? 0x200 : 0;
    else if (number == STAT)
        a[3] = draw(2) ? 0x100 : 0;
    else if (number != READLINK)
        a[0] = 3 + draw(8), a[1] = (uint64_t)bytes, a[2] = sizeof bytes;
    if (call(number, a) == 0 && number == STAT && ((const uint64_t *)bytes)[1] == above) {
        a[0] = FOUND;
        call(93, a);
    }
}

void _start_with(const uint64_t *stack)
{
    uint64_t a[6];
    const unsigned char *seed =
        stack[0] > 1 ? (const unsigned char *)stack[2] : (const unsigned char *)"standard";
    for (int i = 0; i < 8; i++)
        state = state << 8 | seed[i];
    for (int round = 0; round < ROUNDS; round++)
        if (stack[0] > 2)
            try_names(read_number((const char *)stack[3]));
        else
            try_numbers();
    a[0] = 0;
    call(93, a);
}

asm(".globl _start\n_start: mv a0,sp\n andi sp,sp,-16\n call _start_with\n");
