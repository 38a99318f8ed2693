/* test.h - the whole test harness: named cases, checks that say what they saw, TAP on stdout.
 *
 *     TEST(a_count_with_a_unit)
 *     {
 *         CHECK_EQ(parse("1M"), 1000000);
 *     }
 *     TEST_MAIN()
 *
 * A case goes on after a failed check; REQUIRE leaves it. An argument on the command line runs only
 * the cases whose name contains it. RIFFLE_TEST_SEED=n replays a random test; every random test
 * takes its seed from test_seed() and so prints it on failure. */
#ifndef RF_TESTS_TEST_H
#define RF_TESTS_TEST_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_case {
    const char *name;
    void (*run)(void);
    struct test_case *next;
};

static struct test_case *test_first, **test_last = &test_first;
static unsigned test_failures; /* of the current case */
static uint64_t test_seed_used;

#define TEST(title)                                                                                \
    static void title(void);                                                                       \
    __attribute__((constructor)) static void register_##title(void)                                \
    {                                                                                              \
        static struct test_case test = {#title, title, NULL};                                      \
        *test_last = &test;                                                                        \
        test_last = &test.next;                                                                    \
    }                                                                                              \
    static void title(void)

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            test_failures++;                                                                       \
            printf("# %s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                       \
        }                                                                                          \
    } while (0)

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            test_failures++;                                                                       \
            printf("# %s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                       \
            return;                                                                                \
        }                                                                                          \
    } while (0)

/* Both sides as unsigned 64-bit numbers. */
#define CHECK_EQ(left, right)                                                                      \
    do {                                                                                           \
        uint64_t test_l = (uint64_t)(left), test_r = (uint64_t)(right);                            \
        if (test_l != test_r) {                                                                    \
            test_failures++;                                                                       \
            printf("# %s:%d: %s is %" PRIu64 " (0x%" PRIx64 "), %s is %" PRIu64 " (0x%" PRIx64     \
                   ")\n",                                                                          \
                   __FILE__, __LINE__, #left, test_l, test_l, #right, test_r, test_r);             \
        }                                                                                          \
    } while (0)

#define CHECK_TEXT(left, right)                                                                    \
    do {                                                                                           \
        const char *test_l = (left), *test_r = (right);                                            \
        if (strcmp(test_l, test_r) != 0) {                                                         \
            test_failures++;                                                                       \
            printf("# %s:%d: %s is '%s', expected '%s'\n", __FILE__, __LINE__, #left, test_l,      \
                   test_r);                                                                        \
        }                                                                                          \
    } while (0)

/* For tables of cases: says which row failed. */
#define CHECK_ROW(label, condition)                                                                \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            test_failures++;                                                                       \
            printf("# %s:%d: row '%s': failed: %s\n", __FILE__, __LINE__, (label), #condition);    \
        }                                                                                          \
    } while (0)

/* How often to try: the short number, or the long one under `make check-long`. */
__attribute__((unused)) static int test_rounds(int few, int many)
{
    return getenv("RIFFLE_TEST_LONG") != NULL ? many : few;
}

__attribute__((unused)) static uint64_t test_seed(uint64_t standard)
{
    const char *wanted = getenv("RIFFLE_TEST_SEED");
    test_seed_used = wanted != NULL ? strtoull(wanted, NULL, 0) : standard;
    return test_seed_used;
}

__attribute__((unused)) static int test_run_all(int argc, char **argv)
{
    unsigned n = 0, failed = 0;
    for (struct test_case *test = test_first; test != NULL; test = test->next) {
        if (argc > 1 && strstr(test->name, argv[1]) == NULL)
            continue;
        test_failures = 0;
        test_seed_used = 0;
        test->run();
        if (test_failures > 0 && test_seed_used != 0)
            printf("# replay with RIFFLE_TEST_SEED=%" PRIu64 "\n", test_seed_used);
        printf("%s %u - %s\n", test_failures == 0 ? "ok" : "not ok", ++n, test->name);
        fflush(stdout);
        failed += test_failures > 0;
    }
    printf("1..%u\n", n);
    return failed > 0 || n == 0;
}

#define TEST_MAIN()                                                                                \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return test_run_all(argc, argv);                                                           \
    }

#endif
