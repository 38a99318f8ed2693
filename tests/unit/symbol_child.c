/* The reader in the child may do anything at all: crash, hang, eat memory, write nonsense. Here it
 * does, by the name of the file it is given; libdw is not in this program. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <riffle/symbol.h>
#include "base/bytes.h"
#include "base/random.h"
#include "symbol/symbol.h"
#include "test.h"

/* ---- a reader that misbehaves ---- */

static void send_table(struct rf_wire *wire)
{
    rf_wire_segment(wire, &(struct rf_segment){0, 0x1000, 0x2000, 0x3000, true});
    rf_wire_section(wire, &(struct rf_section){0x1000, 0x2000, ".text", true});
    rf_wire_symbol(
        wire, &(struct rf_symbol){.lo = 0x1100, .hi = 0x1200, .name = "first", .parameters = ""});
    rf_wire_symbol(
        wire, &(struct rf_symbol){.lo = 0x1200, .hi = 0x1200, .name = "second", .parameters = ""});
    rf_wire_symbol(wire, &(struct rf_symbol){
                             .lo = 0x1300, .hi = 0x1400, .name = "third", .parameters = "(long)"});
    rf_wire_end(wire, true);
}

static void send_spots(const struct rf_job *job, struct rf_wire *wire)
{
    for (size_t i = 0; i < job->n_links; i++) {
        if (job->links[i] == 0x1208 && strstr(job->path, "crash-at-a-spot") != NULL)
            raise(SIGSEGV);
        bool tells = strstr(job->path, "tell-who") != NULL;
        rf_wire_spot(wire, &(struct rf_spot){.link = job->links[i],
                                             .own = {.function = "",
                                                     .linkage = "",
                                                     .parameters = "",
                                                     .file = "/src/a.c",
                                                     .line = (uint32_t)(tells ? (uint64_t)getpid()
                                                                              : job->links[i])}});
        rf_wire_flush(wire);
    }
}

static void eat_memory(void)
{
    for (;;) {
        volatile char *block = malloc(1 << 20);
        if (block == NULL)
            abort();
        block[0] = 1;
    }
}

static void write_nonsense(struct rf_wire *wire)
{
    struct rf_random random;
    rf_random_seed(&random, 1);
    for (int i = 0; i < 100000; i++) {
        uint64_t x = rf_random_next(&random);
        if (write(wire->fd, &x, sizeof x) < 0)
            return;
    }
}

/* Ways to end the parent without sending it a signal. */
static bool ends_parent(void)
{
    struct rlimit limit;
    struct f_owner_ex owner = {F_OWNER_PID, getppid()};
    bool out = prlimit(getppid(), RLIMIT_CPU, NULL, &limit) == 0;
    out |= fcntl(3, F_SETOWN, getppid()) == 0 || fcntl(3, F_SETOWN_EX, &owner) == 0;
    out |= fcntl(3, F_SETSIG, SIGKILL) == 0;
    return out || getrlimit(RLIMIT_CPU, &limit) != 0 || fcntl(3, F_GETFL) < 0; /* its own it may */
}

/* More memory than it was given. Time it may give itself: it does so with each job, and the parent has a clock, too. */
static bool lifts_limits(void)
{
    struct rlimit memory, seconds;
    if (getrlimit(RLIMIT_AS, &memory) != 0 || getrlimit(RLIMIT_CPU, &seconds) != 0)
        return true;
    memory.rlim_cur = memory.rlim_max;
    return setrlimit(RLIMIT_AS, &memory) == 0 || setrlimit(RLIMIT_CPU, &seconds) != 0;
}

/* What a reader that is taken over by its file would do next. */
static bool breaks_out(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    bool out = child > 0;
    out |= socket(AF_INET, SOCK_STREAM, 0) >= 0;
    out |= socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
    out |= kill(getppid(), 0) == 0;
    out |= open("/dev/null", O_WRONLY) >= 0;
    out |= open("escaped", O_RDONLY | O_CREAT, 0600) >= 0;
    out |= unlink("/nosuch/file") == 0 || errno != EPERM;
    out |= execl("/bin/true", "true", NULL) == 0 || errno != EPERM;
    out |= ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0;
    out |= ends_parent() || lifts_limits();
    return out || open("/dev/null", O_RDONLY) < 0; /* what it is there for must work */
}

void rf_reader_run(const struct rf_job *job, struct rf_wire *wire, void **kept)
{
    (void)kept;
    if (strstr(job->path, "crash-with-debug-file") != NULL && job->depth == RF_JOB_FULL)
        raise(SIGSEGV);
    if (strstr(job->path, "crash-always") != NULL)
        raise(SIGSEGV);
    if (strstr(job->path, "hang") != NULL)
        pause();
    if (strstr(job->path, "spin") != NULL)
        for (volatile unsigned i = 0;; i++)
            continue;
    if (strstr(job->path, "eat") != NULL)
        eat_memory();
    if (strstr(job->path, "nonsense") != NULL)
        write_nonsense(wire);
    if (strstr(job->path, "leave") != NULL)
        _exit(0);
    if (strstr(job->path, "break-out") != NULL && breaks_out())
        _exit(1);
    if (strstr(job->path, "complain") != NULL)
        fprintf(stderr, "a reader must not be heard\n");
    if (job->table)
        send_table(wire);
    send_spots(job, wire);
}

/* ---- what is left of the names ---- */

static const uint64_t addresses[] = {0x400104, 0x400208, 0x400308};

struct expected {
    const char *path;
    const char *names[3];
    const char *problem;
};

enum {
    BRIEFLY = 1,
    PATIENTLY = 60
}; /* seconds: for readers that never end, and on a busy machine */

static void check(const struct expected *row, unsigned seconds)
{
    struct rf_module module = {.path = (char *)row->path,
                               .build_id = "",
                               .start = 0x400000,
                               .end = 0x402000,
                               .to_event = 10};
    struct rf_run run = {.modules = &module, .n_modules = 1};
    const struct rf_symbols_setup setup = {.seconds_max = seconds, .memory_max = 64 << 20};
    struct rf_symbols *symbols;
    REQUIRE(rf_symbols_open(&symbols, &run, &setup, NULL) == RF_OK);
    CHECK_ROW(row->path, rf_symbols_prepare(symbols, addresses, 3) == RF_OK);
    for (size_t i = 0; i < 3; i++) {
        struct rf_place_name name;
        char text[100];
        rf_symbols_lookup(symbols, addresses[i], 0, 5, &name);
        rf_place_print(&name, text, sizeof text);
        CHECK_TEXT(text, row->names[i]);
    }
    const char *problem = rf_symbols_problem(symbols, 0);
    CHECK_TEXT(problem != NULL ? problem : "none", row->problem);
    rf_symbols_close(symbols);
}

#define LINES                                                                                      \
    {                                                                                              \
        "first (a.c:4356)", "second (a.c:4616)", "third (a.c:4872)"                                \
    }
#define OFFSETS(name)                                                                              \
    {                                                                                              \
        name "+0x104", name "+0x208", name "+0x308"                                                \
    }
#define DEAD "its places are shown as addresses"

TEST(a_reader_that_fails_costs_its_names)
{
    static const struct expected rows[] = {
        {"/x/good", LINES, "none"},
        {"/x/complain", LINES, "none"},
        {"/x/break-out", LINES, "none"}, /* it could do nothing else than to read on */
        {"/x/crash-with-debug-file", LINES, "none"},
        {"/x/crash-always", OFFSETS("crash-always"),
         "/x/crash-always: its reader died of signal 11; " DEAD},
        {"/x/crash-at-a-spot",
         {"first (a.c:4356)", "second+0x8 (crash-at-a-spot)", "third (a.c:4872)"},
         "/x/crash-at-a-spot: its reader died of signal 11; some of its lines are missing"},
        {"/x/nonsense", OFFSETS("nonsense"), "/x/nonsense: it is damaged; " DEAD},
        {"/x/leave", OFFSETS("leave"), "/x/leave: it is damaged; " DEAD},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i], PATIENTLY);
}

TEST(a_reader_that_hangs_or_spins_is_ended)
{
    static const struct expected rows[] = {
        {"/x/hang", OFFSETS("hang"), "/x/hang: reading it took too long; " DEAD},
        {"/x/spin", OFFSETS("spin"), "/x/spin: reading it took too long; " DEAD},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i], BRIEFLY);
}

/* By the reader that was asked. */
static pid_t reader_of(struct rf_symbols *symbols, uint64_t address)
{
    struct rf_place_name name;
    rf_symbols_lookup(symbols, address, 0, 5, &name);
    return (pid_t)name.line;
}

TEST(a_reader_is_kept_and_replaced_when_it_is_gone)
{
    struct rf_module module = {.path = (char *)"/x/tell-who",
                               .build_id = (char *)"",
                               .start = 0x400000,
                               .end = 0x402000,
                               .to_event = 10};
    struct rf_run run = {.modules = &module, .n_modules = 1};
    struct rf_symbols *symbols;
    REQUIRE(rf_symbols_open(&symbols, &run, NULL, NULL) == RF_OK);
    pid_t first = reader_of(symbols, addresses[0]);
    CHECK(first > 0 && first != getpid());
    CHECK_EQ(reader_of(symbols, addresses[1]), first);
    kill(first, SIGKILL);
    pid_t second = reader_of(symbols, addresses[2]);
    CHECK(second > 0 && second != first);
    CHECK(rf_symbols_problem(symbols, 0) == NULL);
    rf_symbols_close(symbols);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(a_reader_that_eats_memory_is_ended)
{
    check(
        &(struct expected){"/x/eat", OFFSETS("eat"), "/x/eat: its reader died of signal 6; " DEAD},
        PATIENTLY);
}
#endif

/* ---- the wire ---- */

static size_t record_answer(uint8_t *bytes, size_t size)
{
    static struct rf_wire wire;
    int ends[2];
    if (pipe(ends) != 0)
        return 0;
    wire = (struct rf_wire){.fd = ends[1]};
    const uint64_t links[] = {0x1100, 0x1300};
    const struct rf_frame frames[] = {{"inner", "/src/inner.h", 3, 1, 2, "_Z5inner", "()"},
                                      {"mid", "/src/mid.h", 4, 2, 0, "mid", ""}};
    send_table(&wire);
    send_spots(&(struct rf_job){.path = "", .links = links, .n_links = 2}, &wire);
    rf_wire_spot(&wire, &(struct rf_spot){.link = 7,
                                          .lo = 5,
                                          .hi = 9,
                                          .own = {"f", "/f.c", 9, 0, 0, "f", "(int)"},
                                          .n_inlined = 2,
                                          .inlined = frames});
    rf_wire_line(&wire, &(struct rf_symbol_line){0x1100, "/src/a.c", 12});
    rf_wire_problem(&wire, "nothing much");
    rf_wire_end(&wire, false);
    close(ends[1]);
    ssize_t n = read(ends[0], bytes, size);
    close(ends[0]);
    return n > 0 ? (size_t)n : 0;
}

/* Decode, look at all that came, free. Returns the ends. */
static unsigned decode(const uint8_t *bytes, size_t n)
{
    const struct rf_alloc *alloc = rf_alloc_or_standard(NULL);
    struct rf_arena arena = {alloc, NULL};
    struct rf_file file = {.path = "", .name = "", .build_id = ""};
    rf_status status;
    uint8_t *exact = malloc(n > 0 ? n : 1); /* so that a sanitizer sees a read past the end */
    memcpy(exact, bytes, n);
    unsigned ends = rf_wire_decode(&file, &arena, exact, n, &status);
    CHECK_EQ(status, RF_OK);
    size_t length = 0;
    for (size_t i = 0; i < file.spots.n; i++) {
        length += strlen(file.spots.at[i].own.function) + strlen(file.spots.at[i].own.file);
        for (size_t k = 0; k < file.spots.at[i].n_inlined; k++)
            length += strlen(file.spots.at[i].inlined[k].function);
    }
    CHECK(length <= n);
    rf_symbol_table_sort(&file);
    rf_symbol_table_at(&file, 0x1100);
    rf_file_release(&file, alloc);
    rf_arena_release(&arena);
    free(exact);
    return ends;
}

TEST(an_answer_is_read_back)
{
    const struct rf_alloc *alloc = rf_alloc_or_standard(NULL);
    struct rf_arena arena = {alloc, NULL};
    struct rf_file file = {.path = "", .name = "", .build_id = ""};
    uint8_t bytes[4096];
    rf_status status;
    size_t n = record_answer(bytes, sizeof bytes);
    CHECK_EQ(rf_wire_decode(&file, &arena, bytes, n, &status),
             RF_WIRE_TABLE_WHOLE | RF_WIRE_ALL_WHOLE);
    REQUIRE(file.segments.n == 1 && file.sections.n == 1 && file.symbols.n == 3 &&
            file.spots.n == 3 && file.lines.n == 1);
    CHECK_EQ(file.segments.at[0].link, 0x1000);
    CHECK_EQ(file.segments.at[0].memory_size, 0x3000);
    CHECK_TEXT(file.symbols.at[1].name, "second");
    CHECK_TEXT(file.symbols.at[2].parameters, "(long)");
    CHECK_TEXT(file.spots.at[2].own.parameters, "(int)");
    CHECK_TEXT(file.spots.at[2].inlined[0].parameters, "()");
    CHECK_TEXT(file.spots.at[2].inlined[1].file, "/src/mid.h");
    CHECK_EQ(file.spots.at[2].inlined[1].line, 4);
    CHECK_EQ(file.lines.at[0].line, 12);
    CHECK_TEXT(file.problem, "nothing much");
    rf_file_release(&file, alloc);
    rf_arena_release(&arena);
}

TEST(an_answer_cut_anywhere_gives_what_is_whole)
{
    uint8_t bytes[4096];
    size_t n = record_answer(bytes, sizeof bytes);
    for (size_t cut = 0; cut < n; cut++)
        CHECK((decode(bytes, cut) & RF_WIRE_ALL_WHOLE) == 0);
    CHECK(decode(bytes, n) & RF_WIRE_ALL_WHOLE);
}

TEST(an_answer_with_any_byte_changed_is_survived)
{
    static const uint8_t changes[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    uint8_t bytes[4096];
    size_t n = record_answer(bytes, sizeof bytes);
    CHECK(n > 300);
    for (size_t at = 0; at < n; at++) {
        uint8_t was = bytes[at];
        for (size_t i = 0; i < sizeof changes; i++) {
            bytes[at] = changes[i];
            decode(bytes, n);
        }
        bytes[at] = was;
    }
}

TEST_MAIN()
