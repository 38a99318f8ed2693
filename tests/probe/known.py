#!/usr/bin/env python3
"""known - compare the probe's counts with counts made by hand, by class and by function.

    known.py RIFFLE KNOWN LIBRARY
"""
import csv
import io
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

RIFFLE, KNOWN, LIBRARY = sys.argv[1:4]
CLASSES = ["load", "store", "branch", "jump", "call", "return", "alu", "insn"]

# function: loads, stores, branches, jumps, calls, returns, alu results, instructions
EXPECTED = {
    # 5 per round, and the address that ret loads
    "k_loads": (5001, 0, 1000, 0, 0, 1, 5000, 11002),
    "k_stores": (301, 2100, 300, 0, 0, 1, 300, 3002),
    "k_modify": (601, 600, 200, 0, 0, 1, 800, 1002),
    # movsb 100, scasb 20, cmpsb 2 * 30, pop, ret; movsb 100, stosq 50, two movb, push
    "k_strings": (182, 153, 0, 0, 0, 1, 4, 25),
    # each atomic loads; the three that always write store, and the compare-and-swap that succeeds
    "k_atomics": (302, 203, 50, 0, 0, 1, 200, 806),
    "k_leaf": (300, 0, 0, 0, 0, 300, 0, 300),
    # 2 loads per round (mov, call through memory) and 4 at the end; 3 calls push per round, 4 stores before the loop
    "k_calls": (204, 304, 100, 0, 300, 1, 101, 610),
    "k_jumps": (1, 0, 128, 128, 0, 1, 65, 64 * 6 + 32 + 3),
    "k_loop": (1, 0, 41, 0, 0, 1, 0, 83),
    "k_x87": (61, 60, 30, 0, 0, 1, 30, 182),
    # one of 256 bits and 2 masked ones; the same for stores
    "k_avx": (61, 60, 20, 0, 0, 1, 20, 126),
    "k_thread": (33, 0, 30, 0, 0, 3, 30, 96),
    "k_later": (22, 0, 20, 0, 0, 2, 20, 64),
    "k_handler": (55, 0, 50, 0, 0, 5, 50, 160),
    "k_child": (44, 0, 40, 0, 0, 4, 40, 128),
    "k_program": (22, 0, 20, 0, 0, 2, 20, 64),
    "k_alu": (1, 32, 16, 0, 0, 1, 64, 16 * 9 + 2),
    # per round mov, incl and pop load, two movs, incl and push store, 31 compute; push, pop and ret around them
    "k_derived": (64 * 3 + 2, 64 * 4 + 1, 64, 0, 0, 1, 64 * 31, 64 * 52 + 6),
}


def check(title, got, expected):
    tap.check(title, got == expected, f"counted {got}, must be {expected}")


def functions():
    """Name, first and last address of every k_ function."""
    out = subprocess.run(["nm", "-S", KNOWN], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[3].startswith("k_"):
            start = int(fields[0], 16)
            yield fields[3], start, start + int(fields[1], 16)


def profile(selectors, *more):
    """One run of the program; the rows of every selector's profile, and what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        saved = os.path.join(folder, "known.rfp")
        command = [RIFFLE, "run", "-q", "-e", "exact", "-o", saved, *more]
        for selector in selectors:
            command += ["-p", selector]
        run = subprocess.run([*command, "--", KNOWN, LIBRARY], capture_output=True, text=True)
        text = subprocess.run([RIFFLE, "report", saved, "--no-names", "--format", "csv", "-n", "0"],
                              capture_output=True, text=True, check=True).stdout
        notes = subprocess.run([RIFFLE, "report", saved, "--details", "-n", "1"],
                               capture_output=True, text=True, check=True).stdout
    tables = [list(csv.DictReader(io.StringIO(part))) for part in text.strip().split("\n\n")]
    return run, tables, notes


def second(row):
    """The second word of each row, beside the pc."""
    return list(row.values())[1]


def counts_in(rows, ranges):
    counts = {name: 0 for name, _, _ in ranges}
    for row in rows:
        pc = int(row["pc"], 16)
        for name, start, end in ranges:
            if start <= pc < end:
                counts[name] += int(row["count"])
    return counts


def check_classes(ranges):
    run, tables, notes = profile([f"{kind} -> pc,value" if kind in ("load", "store", "alu")
                                  else f"{kind} -> pc" if kind == "insn"
                                  else f"{kind} -> pc,target" for kind in CLASSES])
    check("exit status and output are the program's", (run.returncode, run.stdout.split()[-1]),
          (42, "done"))
    check("produced = consumed + lost", "produced = consumed + lost" in notes, True)
    check("there is a profile for every class", len(tables), len(CLASSES))
    for i, kind in enumerate(CLASSES):
        counts = counts_in(tables[i], ranges)
        for name, expected in EXPECTED.items():
            wanted = 0 if name == "k_avx" and "avx" not in run.stdout else expected[i]
            if wanted is not None:
                check(f"{name}: {kind}", counts[name], wanted)
    return tables


def check_values(tables, ranges):
    """The values, constants and targets themselves, not only their number."""
    of = {name: (start, end) for name, start, end in ranges}

    def values(table, name):
        start, end = of[name]
        return sorted({int(second(row), 16) for row in tables[table]
                       if start <= int(row["pc"], 16) < end})

    check("constant stores are told with their value", values(1, "k_stores")[:5], [0, 1, 2, 3, 4])
    check("results are told", values(6, "k_alu"), list(range(16)) + [1 << 40])
    leaf = of["k_leaf"][0]
    check("calls reach the leaf, direct or not", values(4, "k_calls"), [leaf])


def check_widths(ranges):
    _, tables, notes = profile(["load -> pc,width", "load value==0 -> pc", "branch taken==1 -> pc",
                            "alu width<=16 -> pc", "load -> pc,thread", "load -> pc,size",
                            "load,store size>=16 -> size", "load pc in k_thread..k_thread+13 -> thread"])
    starts = {name: (start, end) for name, start, end in ranges}
    start, end = starts["k_loads"]
    widths = sorted(int(second(row), 16) for row in tables[0] if start <= int(row["pc"], 16) < end)
    check("widths of loads", widths, [8, 16, 32, 64, 64, 128])
    sizes = sorted(int(second(row), 16) for row in tables[5] if start <= int(row["pc"], 16) < end)
    check("sizes of loads", sizes, [1, 2, 4, 8, 8, 16])
    check("conditions on sizes", min(int(row["size"], 16) for row in tables[6]), 16)
    check("conditions on values", counts_in(tables[1], ranges)["k_loads"], 5000)
    check("taken branches", counts_in(tables[2], ranges)["k_jumps"], 32 + 63)
    check("narrow results", counts_in(tables[3], ranges)["k_alu"], 48)
    start, end = starts["k_thread"]
    threads = {second(row) for row in tables[4] if start <= int(row["pc"], 16) < end}
    check("three threads have three numbers", threads, {"2", "3", "4"})
    start, end = starts["k_later"]
    threads = {second(row) for row in tables[4] if start <= int(row["pc"], 16) < end}
    check("who comes later has a number of its own", threads, {"5", "6"})
    check("a name in a selector", {row["thread"]: row["count"] for row in tables[7]}, {"2": "11", "3": "11", "4": "11"})
    check("threads are named in their column", re.search(r"33\.[34]% +11 +2 +worker$", notes, re.M) is not None, True)
    check("threads are named", "threads     10; 2 worker, 3 worker, 4 worker" in notes, True)


def check_places():
    _, tables, notes = profile(["load -> pc"], "--function", "k_library")
    check("a library that comes and goes", sum(int(row["count"]) for row in tables[0]), 24)
    _, tables, _ = profile(["load -> pc"], "--module", os.path.basename(LIBRARY))
    check("only that library's instructions", sum(int(row["count"]) for row in tables[0]) >= 24, True)
    _, tables, _ = profile(["load -> pc,value"], "--function", "k_loads", "--no-values")
    check("no values: all read as 0", {second(row) for row in tables[0]}, {"0x0"})
    check("no values: still counted", sum(int(row["count"]) for row in tables[0]), 5001)
    _, tables, _ = profile(["load -> pc"], "--function", "k_child", "--no-follow")
    check("children left alone", tables[0], [])


def main():
    ranges = list(functions())
    tables = check_classes(ranges)
    check_values(tables, ranges)
    check_widths(ranges)
    check_places()
    tap.end()


main()
