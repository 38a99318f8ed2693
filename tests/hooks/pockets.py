#!/usr/bin/env python3
"""pockets - loads that go to pockets by restartable sequences: every word that the program loaded is told, with its count.

    pockets.py RIFFLE FOLDER COMPILER...        FOLDER has pockets.c
"""
import collections
import csv
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
from hooked import RIFFLE, TIMEOUT, Run, equal  # noqa: E402

FOLDER = sys.argv[2]
KILLS = 100 if "RIFFLE_TEST_LONG" in os.environ else 5
SEED = int(os.environ.get("RIFFLE_TEST_SEED", "1"))
WITHOUT = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}
BATCH = 37

# Sites lie in a section of their own, which linkers keep in the order of the code and leave out with it.
SECTIONS = ("-ffunction-sections", "-Wl,--gc-sections")
LINKED = {"-static": (), "-no-pie": ("-fno-pie",), "-fuse-ld=gold": SECTIONS, "-fuse-ld=lld": SECTIONS, "-O0": ()}

# Of pockets.c, in its order: places of each kind, and the bytes that are told of each.
KINDS = (("load1", 1), ("load2", 2), ("load4", 4), ("load8", 8), ("load16", 8), ("range4", 4), ("range8", 8), ("range12", 8),
         ("range24", 8))
FULL = 63
LOADS = 500000
# Word number i. What all have in common stands in front of what differs; a pocket has no more than 64.
STREAMS = (lambda i: 0x123456789abcdef0,
           lambda i: 0x1122334455667700 | i * 5 & 0xff,
           lambda i: 0x1122334455660000 | i * 1021 & 0xffff,
           lambda i: 0x1122334400000000 | i * 0x9e3779b9 & 0xffffffff,
           lambda i: i * 0x9e3779b97f4a7c15 & (1 << 64) - 1,
           lambda i: i % 3,
           lambda i: (i & 1) << 63 | i % 7,
           lambda i: (i & 1) << (8, 16, 32)[i // FULL % 3] | i % 3)  # one bit too many
COUNTS = (1, FULL - 1, FULL, FULL + 1, 2 * FULL, 2 * FULL + 1, 400)


def sh(*command, **variables):
    return subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=TIMEOUT)


def build(compiler, folder, *flags, **variables):
    program = os.path.join(folder, "pockets")
    subprocess.run([RIFFLE, "cc", "-O1", "-g", *flags, f"{FOLDER}/pockets.c", "-o", program, "-lpthread"], check=True, timeout=TIMEOUT,
                   env={**os.environ, "RIFFLE_CC": compiler, **variables})
    return program


def told(run):
    """{function: {value: count}}"""
    of = collections.defaultdict(collections.Counter)
    for row in run.tuples:
        of[row["function"]][int(row["value"], 0)] += int(row["count"])
    return of


def of_words(run):
    return dict(told(run)["k_word"])


def sum_of(rows, *fields):
    of = collections.Counter()
    for row in rows:
        of[tuple(int(row[field], 0) for field in fields)] += int(row["count"])
    return dict(of)


def differences(got, expected):
    return [f"{function}: {value:#x}: {got[function][value]}, must be {expected[function][value]}" for function in sorted({*got, *expected})
            if function.startswith("k_") for value in sorted({*got[function], *expected[function]})
            if got[function][value] != expected[function][value]]


def words(*parts):
    """first, first + 1, .. for each (first, how many, times)."""
    of = collections.Counter()
    for first, n, times in parts:
        for i in range(n):
            of[first + i & (1 << 64) - 1] += times
    return dict(of)


# ---- full pockets and half-full ones ----

def write_tables(path, tables):
    """(place, words) of each; what must be told of them."""
    expected = collections.defaultdict(collections.Counter)
    with open(path, "wb") as file:
        for place, table in tables:
            kind, of_width = KINDS[place % len(KINDS)]
            file.write(struct.pack(f"<{2 + len(table)}Q", place, len(table), *table))
            expected[f"k_{kind}_{place // len(KINDS)}"].update(word & (1 << 8 * of_width) - 1 for word in table)
    return expected


def all_streams(n):
    """Each stream at a place of its own of each kind."""
    return [(stream * len(KINDS) + kind, [STREAMS[stream](i) for i in range(n)]) for stream in range(len(STREAMS)) for kind in range(len(KINDS))]


def mixed_streams(seed):
    """At each place one stream after the other: pockets that hold words of two."""
    dice = random.Random(seed)
    return [(dice.randrange(len(STREAMS) * len(KINDS)), [dice.choice(STREAMS)(i) for i in range(start, start + dice.randrange(100))])
            for start in range(200)]


def few_tables(name, program):
    tables(name, program, (4 * FULL + 1,))


def tables(name, program, counts=COUNTS):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "words")
        cases = [(f"{n} of each", all_streams(n)) for n in counts] + [("mixed", mixed_streams(SEED))]
        for title, these in cases:
            expected = write_tables(path, these)
            run = Run("load -> pc,value", [program, "tables", path])
            tap.tell(f"{name}: words of 8, 16, 32 and 64 bits and the same ones, {title}", differences(told(run), expected)[:8])
            equal(f"{name}: words, {title}: output, status and sum", (run.output, run.status, run.adds_up()), ("tables\n", 3, True))
        if counts is COUNTS:
            selected(name, program, path, expected)


def selected(name, program, path, expected):
    """Words on their way to selectors that want some of them, or something else."""
    loads = Run("load value>=0x100 -> pc,value", [program, "tables", path])
    some = {function: collections.Counter({value: n for value, n in of.items() if value >= 0x100}) for function, of in expected.items()}
    tap.tell(f"{name}: words: a condition on the value", differences(told(loads), collections.defaultdict(collections.Counter, some))[:8])
    twelve = sum((of for function, of in expected.items() if "range12" in function), collections.Counter())
    by_value = Run("load width==96 -> value", [program, "tables", path])
    equal(f"{name}: words: values alone", sum_of(by_value.tuples, "value"), {(value,): n for value, n in twelve.items()})
    sizes = Run("load width==96 -> size,value", [program, "tables", path])
    equal(f"{name}: words: values and sizes", sum_of(sizes.tuples, "size", "value"), {(12, value): n for value, n in twelve.items()})
    pair = sh(RIFFLE, "run", "-p", "load width==96 -> size", "-p", "load width==96 -> size,value", "-e", "exact", "-f", "csv", "-n", "0", "--report",
              path + ".csv", "--", program, "tables", path)
    with open(path + ".csv", encoding="utf-8") as file:
        parts = [list(csv.DictReader(part.split("\n"))) for part in file.read().split("\n\n")]
    equal(f"{name}: words: two selectors", (pair.returncode, len(parts), sum_of(parts[0], "size"), sum_of(parts[-1], "size", "value")),
          (3, 2, {(12,): sum(twelve.values())}, {(12, value): n for value, n in twelve.items()}))


# ---- what comes in between ----

def signals(name, program, milliseconds=400):
    run = Run("load -> pc,value", [program, "signals", str(milliseconds)])
    rounds, handled = (int(n) for n in re.search(r"rounds (\d+) handled (\d+)", run.output).groups())
    equal(f"{name}: a load that is interrupted by the same one", of_words(run), words((5, 1, 1000 * rounds), (7000, 3, handled)))
    tap.check(f"{name}: signals came, and produced = consumed + lost", handled > 10 and run.adds_up(), (handled, run.details))


def threads(name, program):
    expected = words(*(((t << t % 4 * 16) + 1000000, 100, 10) for t in range(64)))
    run = Run("load -> pc,value", [program, "threads"])
    equal(f"{name}: 64 threads, each with its own words", (of_words(run) == expected, run.adds_up(), run.status), (True, True, 3))
    run = Run("load -> pc,value", [program, "churn"])
    equal(f"{name}: threads that take over pockets", of_words(run), words(*((100 * t + start, 40, 1 if t <= 20 else 100) for t in range(1, 25) for start in (0, 50))))


def lossy(name, program, n=LOADS):
    """Faster than they can be counted, all different."""
    run = Run("load -> pc,value", [program, "many", str(n)], "--lossy")
    produced, consumed, lost = (int(text.replace(",", "")) for text in re.search(r"([\d,]+) produced, ([\d,]+) consumed, ([\d,]+) lost",
                                                                                run.details).groups())
    of = told(run)["k_word"]
    tap.check(f"{name}: lossy: produced = consumed + lost", run.adds_up() and produced == consumed + lost and n <= produced <= n + 10 and
              run.status == 3, run.details)
    wrong = [f"{value:#x}: {count}" for value, count in of.items() if count > 1 or value not in range(0, 1009 * n, 1009)]
    tap.tell(f"{name}: lossy: no word that was not there, and none twice", wrong[:8])
    equal(f"{name}: lossy: what is told is what was consumed", consumed - of.total() in range(10), True)
    return lost


def processes(name, program):
    run = Run("load -> pc,value", [program, "fork"])
    equal(f"{name}: forks with a half-full pocket", (of_words(run), run.adds_up(), run.output),
          (words((1000, 40, 1), (2000, 30, 4), (3000, 70, 4), (4000, 30, 1)), True, "fork\n"))
    run = Run("load -> pc,value", [program, "fork"], "--no-follow")
    equal(f"{name}: forks without --follow", (of_words(run), run.adds_up()), (words((1000, 40, 1), (4000, 30, 1)), True))
    run = Run("load -> pc,value", [program, "forked", "5"])
    meanwhile = int(re.search(r"meanwhile (\d+)", run.output).group(1))
    equal(f"{name}: forks while another thread loads", (of_words(run), run.adds_up()),
          (words((2000, 30, 5), (3000, 70, 5), (5000, 10, meanwhile)), True))
    run = Run("load -> pc,value", [program, "again", "4"])
    equal(f"{name}: exec with a half-full pocket", (of_words(run), run.adds_up()), (words((1000, 40, 4)), True))


# ---- ends ----

def killed(name, program):
    for n in (0, 1, FULL - 1, FULL, FULL + 1, 10 * FULL + 5):
        run = Run("load -> pc,value", [program, "die", str(n)])
        equal(f"{name}: killed after {n} loads", (of_words(run), run.adds_up(), run.status), (words((0, n, 1)), True, -signal.SIGKILL))
    dice = random.Random(SEED)
    missing, wrong = zip(*(kill(program, dice.random() / 5) for _ in range(KILLS)))
    tap.tell(f"{name}: killed at any moment, {KILLS} times", [complaint for complaint in wrong if complaint])
    tap.check(f"{name}: killed at any moment: a pocket is lost at most while it is emptied", sum(missing) <= 1 + KILLS // 50, missing)


def child_of(run):
    with open(f"/proc/{run.pid}/task/{run.pid}/children") as children:
        return int(children.read().split()[0])


def kill(program, seconds):
    """Is less counted than was loaded? A pocket that is being emptied at that moment may be missing (hooks/pocket.c). And what is wrong."""
    with tempfile.NamedTemporaryFile() as progress, tempfile.NamedTemporaryFile(suffix=".rfp") as rows:
        progress.write(bytes(8))
        progress.flush()
        run = subprocess.Popen([RIFFLE, "run", "-q", "-p", "load -> pc,value", "-e", "exact", "-o", rows.name, "--", program, "spin", progress.name])
        while run.poll() is None and os.pread(progress.fileno(), 8, 0) == bytes(8):
            time.sleep(0.001)
        time.sleep(seconds)
        os.kill(child_of(run), signal.SIGKILL)
        status = run.wait(TIMEOUT)
        over = BATCH * struct.unpack("<Q", os.pread(progress.fileno(), 8, 0))[0]
        by = csv.DictReader(Run.report(rows.name, "--by", "function", "-n", "0", "--format", "csv").split("\n"))
        counted = {row["function"]: int(row["count"]) for row in by}.get("k_word", 0)
        details = Run.report(rows.name, "--details", "-n", "1")
    good = over - FULL <= counted <= over + BATCH and status == -signal.SIGKILL and "produced = consumed + lost" in details
    return counted < over, "" if good else f"after {seconds} s, {over} loads: {counted}, {status}: {details}"


# ---- without them ----

def without(name, program):
    """Where the C library asks for no sequences there are no pockets, and nothing else changes."""
    os.environ.update(WITHOUT)
    for case in (few_tables, signals, threads, processes):
        case(name + ", without sequences", program)
    del os.environ["GLIBC_TUNABLES"]


def of_another_library(name, program, folder):
    """Code in place of calls thinks that the sequence is elsewhere: it must not run."""
    section, other = os.path.join(folder, "section"), os.path.join(folder, "other")
    made = sh("objcopy", "--dump-section", f"rf_hooks_rseq={section}", program, other)
    with open(section, "r+b") as file:
        numbers = struct.unpack(f"<{os.path.getsize(section) // 4}i", file.read())
        file.seek(0)
        file.write(struct.pack(f"<{len(numbers)}i", *numbers[:-1], numbers[-1] + 64))
    made = sh("objcopy", "--update-section", f"rf_hooks_rseq={section}", program, other)
    tap.check(f"{name}: a section of sequences", made.returncode == 0 and len(set(numbers)) == 1 and numbers[0] != 0, (made.stderr, numbers))
    alone = sh(other, "threads")
    equal(f"{name}: of another C library, without riffle", (alone.returncode, alone.stdout, alone.stderr), (3, "threads\n", ""))
    run = Run("load -> pc,value", [other, "threads"])
    tap.check(f"{name}: of another C library, under riffle", (run.status, run.output, run.tuples) == (3, "threads\n", []) and
              run.errors.count("another C library") == 1, (run.status, run.output, run.errors, run.tuples[:3]))


# Forks that pthread_atfork does not see, forks in handlers, and descriptors that a program closes or takes for itself.
FORKS = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long a[64];
__attribute__((noinline)) long work(int n) { long s = 0; for (int i = 0; i < n; i++) s += a[i & 63]; return s; }
static volatile int child, kids;
static void handler(int n) { (void)n; if (child || kids >= 20) return; if (fork() == 0) child = 1; else kids++; }
static void *thread(void *x) { work(1000); return x; }
static void run_thread(void) { pthread_t t; pthread_create(&t, NULL, thread, NULL); pthread_join(t, NULL); }
int main(int argc, char **argv) {
    if (!strcmp(argv[1], "_Fork") || !strcmp(argv[1], "syscall")) {
        work(1000);
        if ((argv[1][0] == '_' ? _Fork() : syscall(SYS_fork)) == 0) { work(500000); _exit(0); }
        work(500000);
        wait(NULL);
    } else if (!strcmp(argv[1], "handler")) {
        struct itimerval t = {{0, 3000}, {0, 3000}};
        signal(SIGALRM, handler);
        setitimer(ITIMER_REAL, &t, NULL);
        while (!child && kids < 20) work(100);
        if (child) { work(200000); _exit(0); }
        while (wait(NULL) > 0);
    } else if (!strcmp(argv[1], "closed")) {
        work(1000);
        closefrom(3);
        run_thread();
    } else { /* the file argv[2] in place of each descriptor */
        work(1000);
        int own = open(argv[2], O_RDWR);
        for (int fd = 3; fd < 20000; fd++) if (fd != own && fcntl(fd, F_GETFD) >= 0) dup2(own, fd);
        run_thread();
    }
    return argc == 0;
}
"""


def forks(name, compiler, folder):
    program, own = os.path.join(folder, "forks"), os.path.join(folder, "own")
    subprocess.run([RIFFLE, "cc", "-O1", "-g", "-x", "c", "-", "-o", program, "-lpthread"], input=FORKS, text=True, check=True, timeout=TIMEOUT,
                   env={**os.environ, "RIFFLE_CC": compiler})
    for how in ("_Fork", "syscall"):
        run = Run("load -> pc,value", [program, how])
        equal(f"{name}: {how}, both sides at once", (run.of("work"), run.status, run.adds_up()), (1001000, 0, True))
    run = Run("load -> pc,value", [program, "handler"])
    tap.check(f"{name}: fork in a handler, and the child returns", run.status == 0 and run.adds_up() and run.of("work") >= 20 * 200000,
              f"{run.of('work')} {run.status} {run.details}")
    run = Run("load -> pc,value", [program, "closed"])
    equal(f"{name}: all descriptors closed", (run.of("work"), run.status), (2000, 0))
    with open(own, "wb") as file:
        file.truncate(1 << 26)
    run = Run("load -> pc,value", [program, "taken", own])
    equal(f"{name}: a file of its own in place of the ring", (run.of("work"), run.status, os.stat(own).st_blocks), (2000, 0, 0))


def main():
    for compiler in sys.argv[3:]:
        name = os.path.basename(compiler)
        if not shutil.which(compiler):
            tap.skip(name, "not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            program = build(compiler, folder)
            for case in (tables, signals, threads, processes, killed, without):
                case(name, program)
            forks(name, compiler, folder)
            lost = lossy(name, program)
            of_another_library(name, program, folder)
            for how, flags in LINKED.items():
                if "-fuse-ld" not in how or shutil.which("ld." + how.split("=")[1]):
                    program = build(compiler, folder, *flags, how)
                    for case in (few_tables, signals, processes) if how == "-static" else (few_tables,):
                        case(f"{name} {how}", program)
            print(f"# figure: {lost} of {LOADS} loads lost, by {name}")
    print(f"# figure: {KILLS} kills at any moment per compiler, with pockets")
    tap.end()


main()
