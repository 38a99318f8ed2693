#!/usr/bin/env python3
"""debian - programs that others wrote, built by their own makefiles with CC="riffle cc": as without?

    tests/hooks/debian.py [NAME...]        from the top; fetches sources through apt (lab/workloads/fetch-debian)

minigzip (zlib's configure), lua (make), sqlite3's shell (autoconf, libtool), minisat (C++, make). Each is built twice with
the flags that its makefile has: by cc and by riffle cc. The outputs must be equal, produced must equal consumed plus lost.
The loads that hooks tell are printed beside those of the probe in the plain program, in the program's own files: the probe
also sees spilled registers, returns and constants. Not part of `make check`: it needs sources. A few minutes.
"""
import csv
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
RIFFLE = os.environ.get("RIFFLE", os.path.join(TOP, "build", "riffle"))
SOURCES = os.path.join(TOP, "build", "lab", "debian")
INPUTS = os.path.join(TOP, "lab", "workloads", "inputs")
TEXT = "/usr/share/common-licenses/GPL-3"  # every Debian has it
# name: source package, commands that build it, the program, its arguments, standard input
PROGRAMS = {
    "minigzip": ("zlib", ["./configure --static", "make -j2 minigzip"], "minigzip", ["-9"], TEXT),
    "lua": ("lua5.4", ['make -j2 -C src CC="$CC -std=gnu99" linux'], "src/lua", [f"{INPUTS}/work.lua"], None),
    "sqlite3": ("sqlite3", ["./configure --disable-tcl --disable-readline", "make -j2 sqlite3"], "sqlite3",
                [":memory:"], f"{INPUTS}/work.sql"),
    "minisat": ("minisat2", ['make -j2 CXX="$CXX" MINISAT_CXXFLAGS="-O2 -fpermissive -w" build/release/bin/minisat_core'],
                "build/release/bin/minisat_core", ["-verb=0", "pigeons.cnf"], None),
}


def build(name, folder, by_riffle):
    package, commands = PROGRAMS[name][:2]
    place = os.path.join(folder, f"{name}-{'hooks' if by_riffle else 'plain'}")
    shutil.copytree(os.path.join(SOURCES, package), place, symlinks=True)
    compilers = {"CC": f"{RIFFLE} cc", "CXX": f"{RIFFLE} c++"} if by_riffle else {"CC": "cc", "CXX": "c++"}
    for command in commands:
        run = subprocess.run(["sh", "-c", command], cwd=place, env={**os.environ, **compilers}, capture_output=True,
                             text=True, timeout=1800)
        if run.returncode != 0:
            return None, (run.stdout + run.stderr)[-1500:]
    return place, ""


def start(name, place, before=()):
    _, _, program, arguments, stdin = PROGRAMS[name]
    with open(stdin or os.devnull, "rb") as file:
        run = subprocess.run([*before, os.path.join(place, program), *arguments], cwd=place, stdin=file,
                             capture_output=True, timeout=1800)
    return run.returncode, hashlib.sha256(run.stdout).hexdigest(), run.stderr.decode(errors="replace")


def loads(name, place, *options):
    """Loads of the program's own files; whether all came through."""
    with tempfile.NamedTemporaryFile(suffix=".rfp") as rows:
        status, output, _ = start(name, place, [RIFFLE, "run", "-q", "-p", "load -> pc", "-o", rows.name, *options, "--"])
        report = lambda *how: subprocess.run([RIFFLE, "report", rows.name, *how], capture_output=True,  # noqa: E731
                                             text=True).stdout
        own = sum(int(row["count"]) for row in csv.DictReader(io.StringIO(
            report("--by", "module", "-n", "0", "--format", "csv"))) if place in row.get("module", "") or
            row.get("module", "") == os.path.basename(PROGRAMS[name][2]))
        return status, output, own, "produced = consumed + lost" in report("--details", "-n", "1")


def write_pigeons(place, holes=6):
    """One pigeon more than there are holes: takes a search to find out that it does not work."""
    def at(pigeon, hole):
        return pigeon * holes + hole + 1
    clauses = [[at(p, h) for h in range(holes)] for p in range(holes + 1)]
    clauses += [[-at(p, h), -at(q, h)] for h in range(holes) for p in range(holes + 1) for q in range(p)]
    with open(os.path.join(place, "pigeons.cnf"), "w") as file:
        print(f"p cnf {holes * (holes + 1)} {len(clauses)}", file=file)
        for clause in clauses:
            print(*clause, 0, file=file)


def check(name, folder):
    places = []
    for by_riffle in (False, True):
        place, why = build(name, folder, by_riffle)
        tap.check(f"{name}: builds {'by riffle cc' if by_riffle else 'as it is'}", place is not None, why)
        if place is None:
            return
        write_pigeons(place)
        places.append(place)
    plain, hooked = places
    natively, idle = start(name, plain)[:2], start(name, hooked)[:2]
    tap.check(f"{name}: the same output with idle hooks", idle == natively, (idle, natively))
    status, output, told, adds_up = loads(name, hooked)
    tap.check(f"{name}: the same output while it is profiled", (status, output) == natively, (status, output))
    tap.check(f"{name}: produced = consumed + lost, {told:,} loads", adds_up and told > 0, told)
    if shutil.which("valgrind"):
        _, _, seen, _ = loads(name, plain)
        print(f"# {name}: hooks told {told:,} loads, the probe {seen:,} in the plain program ({told / max(seen, 1):.2f})",
              flush=True)
        tap.check(f"{name}: no more loads than the probe sees", told <= seen * 1.02, (told, seen))


def main():
    names = sys.argv[1:] or list(PROGRAMS)
    packages = [PROGRAMS[name][0] for name in names]
    missing = [package for package in packages if not os.path.isdir(os.path.join(SOURCES, package))]
    if missing:
        subprocess.run([os.path.join(TOP, "lab", "workloads", "fetch-debian"), "--sources", *missing], check=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            check(name, folder)
    tap.end()


main()
