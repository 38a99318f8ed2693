#!/usr/bin/env python3
"""Many processes, threads and profiles at once: nothing is lost, and every process is accounted for.

    processes.py RIFFLE WORK SOURCE-ROOT

WORK calls step() a thousand times per thread (work.c), so every count is known beforehand. make runs it as often as there
are rules; few slots make sure that each of them is used again and again. With RIFFLE_TEST_LONG there are 300 of them, and
make also builds real C projects: lua, zlib, bzip2 and lz4, from Debian's sources.
"""
import os
import re
import shutil
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
# Package of Debian's sources -> what make is told, and what it makes.
PROJECTS = {"lua5.4": ('lua5.4/src CFLAGS="-O0 -DLUA_COMPAT_5_3" generic', "lua5.4/src/lua"),
            "zlib": ("zlib CFLAGS=-O0 static", "zlib/libz.a"),
            "bzip2": ("bzip2 CFLAGS=-O0 bzip2 bzip2recover", "bzip2/bzip2"),
            "lz4": ("lz4/programs CFLAGS=-O0 lz4", "lz4/programs/lz4")}


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


def sources(folder):
    """Copies of small C projects, from Debian's sources; [] where they cannot be fetched."""
    subprocess.run([os.path.join(ROOT, "lab/workloads/fetch-debian"), "--sources", *PROJECTS], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=600)
    found = [name for name in PROJECTS if os.path.isdir(os.path.join(ROOT, "build/lab/debian", name))]
    for name in found:
        shutil.copytree(os.path.join(ROOT, "build/lab/debian", name), os.path.join(folder, name))
    return found


def real_project(folder):
    """make builds them as it does without us; a compiler, an assembler and a driver per file, archives, linkers."""
    found = sources(folder)
    if not found:
        tap.skip("real C projects", "Debian's sources cannot be fetched")
        return
    if "zlib" in found:
        subprocess.run(["./configure", "--static"], cwd=os.path.join(folder, "zlib"), stdout=subprocess.DEVNULL, check=True)
    with open(os.path.join(folder, "Makefile"), "w") as out:
        out.write(f".PHONY: all {' '.join(found)}\nall: {' '.join(found)}\n")
        for name in found:
            out.write(f"{name}:\n\t$(MAKE) -s -C {PROJECTS[name][0]}\n")
    run, said = profile(folder, ["-p", "calls", "-e", "exact"], ["make", "-j2", "-s"])
    results = [os.path.exists(os.path.join(folder, PROJECTS[name][1])) for name in found]
    print(f"# figure: {', '.join(found)} built: {processes(run)} processes, {saved.notes(run)['stream']}")
    tap.check("C projects are built as without us", all(results), [results, said])
    tap.check("300 processes of theirs, nothing lost, everybody followed", processes(run) >= 300 and is_whole(run),
              [run["notes"], said])


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
