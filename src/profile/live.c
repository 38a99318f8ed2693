/* live.c - what a run has counted by now, through memory that both processes map.
 *
 *     riffle run                            riffle top PID
 *        memfd "riffle-live"  <-------------  /proc/PID/fd/N, a link to "/memfd:riffle-live"
 *        [asked][answered][sequence][size]    page 0
 *        [a profile as a .rfp file has it]    from page 1 on
 *
 * Who asks raises `asked` and waits until `answered` has the same number. While an answer is written, `sequence` is odd;
 * a reader that finds it changed reads again. The kernel lets only the same user (and root) open that link. What is read
 * is checked like any .rfp file, and the memory cannot be made shorter, so that neither side can harm the other. */
#include <riffle/live.h>
#include "base/alloc.h"
#include "event/input.h"
#include "base/error.h"
#include "profile/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, PARENTS_MAX = 64 };
#define MAGIC UINT64_C(0x3165766c2d666972) /* "rif-lve1" */

struct page {
    uint64_t magic;
    uint32_t asked, answered; /* numbers of questions */
    uint32_t sequence, over;
    uint64_t size; /* bytes of the answer */
};

struct rf_live {
    int fd;
    struct page *page;
    long pid;          /* of the run; 0: this process is it */
    uint32_t question; /* the last one that this process asked; 0: none */
};

static uint32_t load(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void store(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Takes the descriptor over, also where it fails. */
static rf_status map(struct rf_live **opened, int fd, long pid, struct rf_error *error)
{
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    struct rf_live *live = *opened =
        page != MAP_FAILED ? rf_alloc_get(rf_alloc_or_standard(NULL), sizeof *live) : NULL;
    if (live == NULL) {
        if (page != MAP_FAILED)
            munmap(page, PAGE);
        close(fd);
        return rf_fail(error, RF_ENOMEM, "no memory to hand out what was counted");
    }
    *live = (struct rf_live){.fd = fd, .page = page, .pid = pid};
    return RF_OK;
}

void rf_live_close(struct rf_live *live)
{
    if (live == NULL)
        return;
    if (live->pid == 0)
        store(&live->page->over, 1);
    munmap(live->page, PAGE);
    close(live->fd);
    rf_alloc_free(rf_alloc_or_standard(NULL), live, sizeof *live);
}

/* ---- the run ---- */

rf_status rf_live_open(struct rf_live **live, struct rf_error *error)
{
    *live = NULL;
    int fd = memfd_create("riffle-live", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, PAGE) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
        rf_status status = rf_fail(error, RF_EIO, "%s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return status;
    }
    rf_status status = map(live, fd, 0, error);
    if (status == RF_OK)
        (*live)->page->magic = MAGIC;
    return status;
}

int rf_live_is_asked(const struct rf_live *live)
{
    return live != NULL && load(&live->page->asked) != live->page->answered;
}

static bool write_at(int fd, const unsigned char *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t wrote = pwrite(fd, bytes + done, n - done, (off_t)(PAGE + done));
        if (wrote < 0 && errno != EINTR)
            return false;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

rf_status rf_live_answer(struct rf_live *live, const struct rf_run *run, struct rf_error *error)
{
    struct rf_bytes bytes;
    struct page *page = live->page;
    uint32_t question = load(&page->asked), sequence = page->sequence | 1;
    rf_status status = rf_run_encode(run, &bytes, error);
    if (status != RF_OK) {
        store(&page->answered, question); /* with what was there before */
        return status;
    }
    store(&page->sequence, sequence);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    bool good = write_at(live->fd, bytes.bytes, bytes.n);
    page->size = good ? bytes.n : 0;
    rf_bytes_free(&bytes, &run->alloc);
    store(&page->sequence, sequence + 1);
    store(&page->answered, question);
    return good ? RF_OK : rf_fail(error, RF_EIO, "%s", strerror(errno));
}

/* ---- who asks ---- */

/* A descriptor of the memory in the process; -1: it has none. */
static int find_memory(DIR *folder, long pid)
{
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        char path[320], link[64];
        rf_format(path, sizeof path, "/proc/%ld/fd/%s", pid, entry->d_name);
        ssize_t n = readlink(path, link, sizeof link - 1);
        link[n > 0 ? n : 0] = '\0';
        if (strncmp(link, "/memfd:riffle-live", 18) == 0)
            return open(path, O_RDWR | O_CLOEXEC);
    }
    return -1;
}

/* 'R', 'S', ..., 'Z' for one that has ended and is not waited for yet, and the parent; 0: there is no such process. */
static char state_of(long pid, long *parent)
{
    char path[64], text[512], state = 0;
    rf_format(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "re");
    size_t n = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    text[n] = '\0';
    const char *end = strrchr(text, ')'); /* a name may have any characters */
    return end != NULL && sscanf(end + 1, " %c %ld", &state, parent) == 2 ? state : 0;
}

static rf_status refuse(long pid, struct rf_error *error)
{
    if (errno == ENOENT)
        return rf_fail(error, RF_EINVAL, "there is no process %ld", pid);
    if (errno == EACCES)
        return rf_fail(error, RF_EINVAL, "process %ld belongs to another user", pid);
    return rf_fail(error, RF_EINVAL, "process %ld: %s", pid, strerror(errno));
}

/* The process or the nearest above it that is a run. */
static rf_status find_run(long pid, int *fd, long *run, struct rf_error *error)
{
    *fd = -1;
    for (int i = 0; i < PARENTS_MAX && pid > 1 && *fd < 0; i++) {
        char path[64];
        rf_format(path, sizeof path, "/proc/%ld/fd", pid);
        DIR *folder = opendir(path);
        if (folder == NULL && i == 0)
            return refuse(pid, error);
        if (folder == NULL)
            return RF_OK;
        *run = pid;
        *fd = find_memory(folder, pid);
        closedir(folder);
        if (state_of(pid, &pid) == 0)
            return RF_OK;
    }
    return RF_OK;
}

rf_status rf_live_watch(struct rf_live **live, long pid, struct rf_error *error)
{
    int fd;
    long run = pid;
    struct stat about;
    *live = NULL;
    rf_status status = find_run(pid, &fd, &run, error);
    if (status != RF_OK)
        return status;
    if (fd < 0)
        return rf_fail(error, RF_EINVAL,
                       "process %ld is neither riffle run nor profiled by it, or it has ended",
                       pid);
    if (fstat(fd, &about) != 0 || about.st_size < PAGE) {
        close(fd);
        return rf_fail(error, RF_EINVAL, "process %ld belongs to another version of riffle", pid);
    }
    status = map(live, fd, run, error);
    if (status == RF_OK && (*live)->page->magic != MAGIC) {
        rf_live_close(*live);
        *live = NULL;
        return rf_fail(error, RF_EINVAL, "process %ld belongs to another version of riffle", pid);
    }
    return status;
}

long rf_live_pid(const struct rf_live *live)
{
    return live->pid;
}

void rf_live_ask(struct rf_live *live)
{
    live->question = __atomic_add_fetch(&live->page->asked, 1, __ATOMIC_ACQ_REL);
}

int rf_live_is_over(const struct rf_live *live)
{
    long parent;
    char state = state_of(live->pid, &parent);
    return load(&live->page->over) != 0 || state == 0 || state == 'Z';
}

static bool read_at(int fd, unsigned char *bytes, size_t n)
{
    return rf_input_at(fd, bytes, n, PAGE) == (ssize_t)n;
}

/* The bytes of one answer; false: it was written meanwhile. */
static bool read_answer(const struct rf_live *live, struct rf_bytes *bytes)
{
    struct stat about;
    uint32_t sequence = load(&live->page->sequence);
    uint64_t size = live->page->size;
    if (sequence % 2 == 1 || fstat(live->fd, &about) != 0 || size > (uint64_t)about.st_size ||
        rf_bytes_reserve(bytes, rf_alloc_or_standard(NULL), size) != RF_OK)
        return false;
    bytes->n = size;
    bool good = read_at(live->fd, bytes->bytes, size);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return good && load(&live->page->sequence) == sequence;
}

rf_status rf_live_take(struct rf_live *live, struct rf_run **run, struct rf_error *error)
{
    struct rf_bytes bytes = {NULL, 0, 0};
    *run = NULL;
    if (live->question == 0 || (int32_t)(load(&live->page->answered) - live->question) < 0)
        return RF_OK;
    rf_status status = RF_OK;
    if (read_answer(live, &bytes)) {
        live->question = 0;
        status = rf_run_decode(run, bytes.bytes, bytes.n, NULL, error);
    }
    rf_bytes_free(&bytes, rf_alloc_or_standard(NULL));
    return status;
}
