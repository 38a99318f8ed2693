#!/usr/bin/env python3
"""Many profiles merged: the sum is right, and memory does not grow with their number.

    merge.py RIFFLE

A hundred runs of different commands are saved, and merged ten at a time, a hundred at a time and, each of them ten times
over, a thousand at a time. Peak memory is what the system reports of the process.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import saved  # noqa: E402
import tap  # noqa: E402

RIFFLE = os.path.abspath(sys.argv[1])
EVENTS, KEYS, RUNS = 20000, 2000, 100
ENGINES = ["exact", "multihash(interval=5K, threshold=1%)", "rap(eps=5%)", "H[P16]64 A16"]


def save_runs(folder):
    with open(os.path.join(folder, "stream.txt"), "w") as out:
        subprocess.run([RIFFLE, "gen", "zipf", "--events", str(EVENTS), "--keys", str(KEYS)], stdout=out, check=True)
    engines = [word for engine in ENGINES for word in ("-e", engine)]
    for i in range(RUNS):
        subprocess.run([RIFFLE, "replay", "stream.txt", *engines, "-o", f"run-{i}.rfp"], cwd=folder,
                       stdout=subprocess.DEVNULL, check=True)


def merge(folder, n):
    """Returns the peak in KiB of a merge of n runs."""
    files = [f"run-{i % RUNS}.rfp" for i in range(n)]
    child = subprocess.Popen([RIFFLE, "merge", "-o", f"sum-{n}.rfp", *files], cwd=folder)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    tap.check(f"{n} profiles merge", status == 0, status)
    return usage.ru_maxrss


def main():
    with tempfile.TemporaryDirectory() as folder:
        save_runs(folder)
        peaks = {n: merge(folder, n) for n in (10, 100, 1000)}
        for n, peak in peaks.items():
            print(f"# figure: {n} profiles: peak {peak} KiB, file {os.path.getsize(os.path.join(folder, f'sum-{n}.rfp'))} bytes")
        tap.check("memory does not grow with their number", peaks[1000] <= peaks[10] * 1.02 + 512, peaks)
        once, many = (saved.report(RIFFLE, os.path.join(folder, name)) for name in ("run-0.rfp", "sum-1000.rfp"))
        tap.check("neither do the commands that it names", len(many["command"]) < 1100 and "and others" in many["command"],
                  many["command"])
        tap.check("it says how many runs it is of", saved.notes(many).get("runs") == "1000", saved.notes(many))
        first, last = (saved.counts(next(p for p in run["profiles"] if p["engine"].startswith("exact"))) for run in (once, many))
        tap.check("exact counts are a thousand times those of one",
                  len(first) > 1000 and last == {key: 1000 * count for key, count in first.items()}, len(first))
        tap.check("events of every engine add up",
                  all(p["consumed"] == 1000 * EVENTS for p in many["profiles"]), [p["consumed"] for p in many["profiles"]])
    tap.end()


main()
