#!/usr/bin/env python3
"""limits - programs with hooks that have more of something than the run-time keeps: what is not told is counted.

    limits.py RIFFLE FOLDER COMPILER...        FOLDER has limits.c
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
from hooked import RIFFLE, TIMEOUT, Run, equal  # noqa: E402

FOLDER = sys.argv[2]
PLACES, ROUNDS = 300000, 3  # main has three loads more


def build(compiler, folder, **variables):
    program = os.path.join(folder, "limits")
    subprocess.run([RIFFLE, "cc", "-O1", "-g", f"{FOLDER}/limits.c", "-o", program, "-lpthread"], check=True, timeout=TIMEOUT,
                   env={**os.environ, "RIFFLE_CC": compiler, **variables})
    return program


def untold(run):
    return int(f"0{run.note('not-told')}".split(maxsplit=1)[0])


def places(name, program):
    """A thread keeps 2^18 places. What comes at others is counted and not told."""
    for selector, options in (("load -> pc", []), ("load -> pc,value", []), ("load -> pc,value", ["--stream"])):
        run = Run(selector, [program, "places", str(ROUNDS)], *options)
        title = f"{name}: {PLACES} places, {selector} {' '.join(options)}"
        few = 2**18 - 100 <= run.of("k_places") / ROUNDS <= 2**18
        tap.check(f"{title}: as many as there is room for", few and run.status == 3, run.by_function)
        equal(f"{title}: what is told, and what is not", sum(run.by_function.values()) + untold(run), ROUNDS * PLACES + 3)
        tap.check(f"{title}: counts are exact with a reservation", "the counts of what was told are exact" in run.details, run.details)


def destructors(name, program):
    """What the last destructor of a thread does comes behind the end of its lane: the lane it takes is found again."""
    rounds = 150
    run = Run("load -> pc,value", [program, "destructors", str(rounds)])
    equal(f"{name}: destructors that set their key again: {4 * rounds} threads", (run.of("k_work"), run.note("not-followed"), run.status),
          (4 * rounds * (100 + 4 * 10), "", 3))
    equal(f"{name}: each thread keeps its number", (run.note("threads").split(";")[0], run.adds_up()), (f"{4 * rounds + 1}", True))
    few = Run("load -> pc,value", [program, "destructors", str(rounds)], "--slots", "12")
    equal(f"{name}: the same with 12 slots", (few.of("k_work"), few.note("not-followed"), few.adds_up()),
          (4 * rounds * (100 + 4 * 10), "", True))


def slots(name, program):
    """Each thread has a slot of the ring, as many as are asked for."""
    whole, few = Run("load -> pc", [program, "crowd", "400"], "--slots", "512"), Run("load -> pc", [program, "crowd", "400"])
    equal(f"{name}: 400 threads at once, 512 slots", (whole.of("k_work"), whole.note("not-followed"), whole.note("threads"), whole.adds_up()),
          (40000, "", "401", True))
    followed = few.of("k_work") // 100
    equal(f"{name}: 400 threads at once, 256 slots", (few.of("k_work") % 100, few.note("not-followed"), few.note("threads"), few.adds_up()),
          (0, f"{400 - followed} processes or threads", f"{followed + 1}", True))
    equal(f"{name}: what is told, and what is not", sum(few.by_function.values()) + untold(few), sum(whole.by_function.values()))


LIBRARIES = 150
LOADS_OF_LIBRARIES = LIBRARIES * 50 + LIBRARIES // 10 * 50


def of_libraries(run):
    return sum(int(row["count"]) for row in run.tuples if row["function"] == "k_library")


def libraries(name, program, compiler, folder):
    """Each library has a run-time of its own; the C library has little room for variables of threads of those that are opened."""
    subprocess.run([RIFFLE, "cc", "-O1", "-g", "-fPIC", "-shared", f"{FOLDER}/library.c", "-o", f"{folder}/1.so"],
                   check=True, timeout=TIMEOUT, env={**os.environ, "RIFFLE_CC": compiler})
    for i in range(2, LIBRARIES + 1):
        shutil.copy(f"{folder}/1.so", f"{folder}/{i}.so")
    plain = os.path.join(folder, "plain")
    subprocess.run([compiler, "-O1", "-w", f"{FOLDER}/limits.c", "-o", plain, "-lpthread", "-ldl"], check=True, timeout=TIMEOUT)
    closes = [program, "exec", plain, "closed", "20", folder]
    run = Run("load -> pc", closes)
    equal(f"{name}: threads that end when their library is closed", (of_libraries(run), run.status, run.adds_up()), (20 * 50, 3, True))
    for title, path in (("a program with hooks", program), ("a program without", plain)):
        opens = [path, "libraries", str(LIBRARIES), folder]
        run = subprocess.run(opens, capture_output=True, text=True, timeout=TIMEOUT)
        equal(f"{name}: {LIBRARIES} libraries with hooks, in {title}", (run.returncode, run.stderr), (3, ""))
        run = Run("load -> pc", [program, "exec", *opens])
        equal(f"{name}: {LIBRARIES} libraries with hooks, in {title}, under riffle",
              (of_libraries(run), run.note("not-followed"), run.status, run.adds_up()), (LOADS_OF_LIBRARIES, "", 3, True))


def main():
    for compiler in sys.argv[3:]:
        name = os.path.basename(compiler)
        if not shutil.which(compiler):
            tap.skip(name, "not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            program = build(compiler, folder)
            for case in (places, destructors, slots):
                case(name, program)
            libraries(name, program, compiler, folder)
    tap.end()


main()
