#!/usr/bin/env python3
"""Many processes, threads and profiles at once: nothing is lost, and every process is accounted for.

    processes.py RIFFLE WORK SOURCE-ROOT

WORK calls step() a thousand times per thread (work.c), so every count is known beforehand. make runs it as often as there
are rules; few slots make sure that each of them is used again and again. With RIFFLE_TEST_LONG there are 300 of them, and
make also compiles a real C project: the folders base and event of this library.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import saved  # noqa: E402
import tap  # noqa: E402

RIFFLE, WORK, ROOT = (os.path.abspath(path) for path in sys.argv[1:4])
LONG = "RIFFLE_TEST_LONG" in os.environ
STEPS = 1000
STEP = "call target==step -> target"


def profile(folder, options, command, limit=1800):
    """Returns the saved run as JSON, and what was said."""
    path = os.path.join(folder, "out.rfp")
    done = subprocess.run([RIFFLE, "run", "-q", "-o", path, *options, "--", *command], cwd=folder, timeout=limit,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        tap.check(f"{' '.join(command[:3])} ends with 0", False, done.stdout.decode())
    return saved.report(RIFFLE, path), done.stdout.decode()


def processes(run):
    found = re.match(r"(\d+):", saved.notes(run).get("processes", "1:"))
    return int(found.group(1))


def is_whole(run):
    """Nothing lost, nobody left out."""
    return "not-followed" not in saved.notes(run) and " 0 lost on the way; produced = consumed + lost" in saved.notes(run)["stream"]


def write_makefile(folder, n):
    with open(os.path.join(folder, "Makefile"), "w") as out:
        names = " ".join(f"w{i}" for i in range(n))
        out.write(f"all: {names}\n.PHONY: all {names}\n{names}:\n\t@{WORK}\n")


def many_processes(folder):
    n, slots = (300, 8) if LONG else (24, 4)
    seen = {}
    for rules in (1, 2, n):
        write_makefile(folder, rules)
        run, said = profile(folder, ["-p", STEP, "-e", "exact", "--slots", str(slots)], ["make", "-j2", "-s", "all"])
        steps = run["profiles"][0]["consumed"]
        tap.check(f"{rules} processes under make: all their calls, nothing lost", steps == rules * STEPS and is_whole(run),
                  [steps, run["notes"], said])
        seen[rules] = processes(run)
    each = seen[2] - seen[1]
    print(f"# figure: {n} programs under make, {seen[n]} processes, {slots} slots, 64 threads, 100 profiles")
    tap.check("every process is accounted for", each > 0 and seen[n] == seen[1] + (n - 1) * each, seen)


def too_few_slots(folder):
    write_makefile(folder, 2)
    run, said = profile(folder, ["-p", STEP, "-e", "exact", "--slots", "1"], ["make", "-j2", "-s", "all"])
    tap.check("processes that find no slot run unprofiled, and are counted", "not-followed" in saved.notes(run),
              [run["notes"], said])


def many_threads(folder):
    run, said = profile(folder, ["-p", STEP, "-e", "exact"], [WORK, "64"])
    tap.check("64 threads: all their calls", run["profiles"][0]["consumed"] == 64 * STEPS and is_whole(run),
              [run["profiles"][0]["consumed"], run["notes"], said])


def many_profiles(folder):
    selectors = [f"call target==step pc>={i} -> pc,target" for i in range(1, 26)]
    engines = ["exact", "multihash", "rap(eps=5%)", "stratified"]
    options = [word for selector in selectors for word in ["-p", selector, *(w for e in engines for w in ("-e", e))]]
    run, said = profile(folder, options, [WORK, "4"])
    consumed = {profile["consumed"] for profile in run["profiles"] if "companion" not in str(profile)}
    tap.check("100 profiles at once: each has all events", len(run["profiles"]) >= 100 and consumed == {4 * STEPS},
              [len(run["profiles"]), consumed, said])


def real_project(folder):
    """One compiler, assembler and driver per file, and the linker at the end."""
    files = sorted(glob.glob(os.path.join(ROOT, "src/base/*.c")) + glob.glob(os.path.join(ROOT, "src/event/*.c")))
    objects = [f"{i}.o" for i in range(len(files))]
    with open(os.path.join(folder, "Makefile"), "w") as out:
        out.write(f"all.a: {' '.join(objects)}\n\tar rcs $@ $^\n")
        for name, path in zip(objects, files):
            out.write(f"{name}: {path}\n\tgcc -D_GNU_SOURCE -O0 -I{ROOT}/src -I{ROOT}/include -c -o $@ $<\n")
    run, said = profile(folder, ["-p", "calls", "-e", "exact"], ["make", "-j2", "-s"])
    print(f"# figure: {len(files)} files compiled: {processes(run)} processes, {saved.notes(run)['stream']}")
    tap.check("a C project is built as without us", os.path.exists(os.path.join(folder, "all.a")), said)
    tap.check("its processes: gcc, cc1, as and what starts them for each file, nothing lost",
              processes(run) >= 3 * len(files) and is_whole(run), [run["notes"], said])


def main():
    with tempfile.TemporaryDirectory() as folder:
        many_processes(folder)
        too_few_slots(folder)
        many_threads(folder)
        many_profiles(folder)
        if LONG:
            real_project(folder)
    tap.end()


main()
