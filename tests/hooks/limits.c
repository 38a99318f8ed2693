/* limits.c - a program that has more of something than hooks can keep.
 *
 *     limits places ROUNDS | destructors ROUNDS | crowd THREADS
 *     limits libraries N FOLDER | closed N FOLDER | exec PROGRAM ARGUMENT...       the libraries are FOLDER/1.so and so on */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int zero;

/* 300,000 loads, each at a place of its own, by hooks that are called. */
void __tsan_read4(void *address)
    __attribute__((weak)); /* there is none in a program without hooks */
void k_places(void (*hook)(void *), const void *address);
__asm__(".text\n"
        ".globl k_places\n"
        ".type k_places, @function\n"
        "k_places:\n"
        "    pushq %rbx\n"
        "    pushq %rbp\n"
        "    pushq %rax\n"
        "    movq %rdi, %rbx\n"
        "    movq %rsi, %rbp\n"
        "    .rept 300000\n"
        "    movq %rbp, %rdi\n"
        "    call *%rbx\n"
        "    .endr\n"
        "    popq %rax\n"
        "    popq %rbp\n"
        "    popq %rbx\n"
        "    ret\n"
        ".size k_places, .-k_places\n");

/* n loads. */
__attribute__((noinline)) int k_work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += zero;
    return sum;
}

static pthread_key_t key;

/* Sets its key again each time, which POSIX allows: it is called PTHREAD_DESTRUCTOR_ITERATIONS times. */
static void destroy(void *value)
{
    k_work(10);
    pthread_setspecific(key, value);
}

static void *run_thread(void *unused)
{
    (void)unused;
    pthread_setspecific(key, &key);
    k_work(100);
    return NULL;
}

/* 4 threads at a time. */
static void destroy_all(int rounds)
{
    pthread_t threads[4];
    pthread_key_create(&key, destroy);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < 4; i++)
            if (pthread_create(&threads[i], NULL, run_thread, NULL) != 0)
                abort();
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
    }
}

static pthread_barrier_t all_there;

static void *meet(void *unused)
{
    k_work(100);
    pthread_barrier_wait(&all_there);
    return unused;
}

/* Threads that are all there at once. */
static void crowd(int n)
{
    pthread_t *threads = calloc((size_t)n, sizeof *threads);
    pthread_barrier_init(&all_there, NULL, (unsigned)n);
    for (int i = 0; i < n; i++)
        if (threads == NULL || pthread_create(&threads[i], NULL, meet, NULL) != 0)
            abort();
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

/* Each has a run-time of its own. 50 loads in each, by this thread, and by another one in each tenth. */
static void *run_library(void *function)
{
    ((unsigned (*)(unsigned))function)(50);
    return NULL;
}

static void open_libraries(int n, const char *folder)
{
    for (int i = 1; i <= n; i++) {
        char path[4096];
        pthread_t thread;
        snprintf(path, sizeof path, "%s/%d.so", folder, i);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        void *function = library != NULL ? dlsym(library, "k_library") : NULL;
        if (function == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            exit(1);
        }
        run_library(function);
        if (i % 10 == 0 && pthread_create(&thread, NULL, run_library, function) == 0)
            pthread_join(thread, NULL);
    }
}

/* A library that is there no longer when a thread ends that was in it. */
static void *open_and_close(void *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *function = library != NULL ? dlsym(library, "k_library") : NULL;
    if (function == NULL)
        exit(1);
    run_library(function);
    dlclose(library);
    return NULL;
}

static void close_libraries(int n, const char *folder)
{
    for (int i = 1; i <= n; i++) {
        char path[4096];
        pthread_t thread;
        snprintf(path, sizeof path, "%s/%d.so", folder, i);
        if (pthread_create(&thread, NULL, open_and_close, path) != 0)
            abort();
        pthread_join(thread, NULL);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    int n = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    if (strcmp(what, "places") == 0)
        for (int i = 0; i < n; i++)
            k_places(__tsan_read4, (const void *)&zero);
    else if (strcmp(what, "destructors") == 0)
        destroy_all(n);
    else if (strcmp(what, "crowd") == 0)
        crowd(n);
    else if (strcmp(what, "libraries") == 0)
        open_libraries(n, argv[3]);
    else if (strcmp(what, "closed") == 0)
        close_libraries(n, argv[3]);
    else if (strcmp(what, "exec") == 0)
        execv(argv[2], argv + 2);
    return zero + 3;
}
