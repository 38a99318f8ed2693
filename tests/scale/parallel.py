#!/usr/bin/env python3
"""A trace read in pieces at once (replay -j) against the same trace read in one.

    parallel.py RIFFLE

Exact counts are equal for every number of pieces, the same number gives the same bytes, and the bounds of the other engines
hold. A damaged trace, a pipe and text are read in one piece, with a word about that.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import saved  # noqa: E402
import tap  # noqa: E402

RIFFLE = os.path.abspath(sys.argv[1])
ENGINES = ["exact", "exact(interval=1K)", "multihash(interval=10K, threshold=1%)", "rap(eps=5%)", "H[P16]64 A16",
           "streams", "auto(ceiling=100Ki)"]
JOBS = [2, 3, 7, 64]


def riffle(folder, *arguments, stdin=None):
    return subprocess.run([RIFFLE, *arguments], cwd=folder, stdin=stdin or subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def replay(folder, trace, jobs, engine, *more):
    """What was found, as JSON with all items."""
    done = riffle(folder, "replay", trace, "-j", str(jobs), "-e", engine, "--format", "json", "-n", "0", *more)
    if done.returncode != 0:
        tap.check(f"replay -j {jobs} -e {engine}", False, done.stderr.decode())
        return None
    return json.loads(done.stdout)["profiles"][0]


def holds(profile, truth):
    """Bounds of all tuples, listed or not."""
    listed, absent = saved.rows(profile), (0, 0, profile["absent_upper"])
    return all(listed.get(key, absent)[1] <= count <= listed.get(key, absent)[2] for key, count in truth.items())


def check_engine(folder, engine, truth):
    wrong = []
    for jobs in JOBS:
        profile = replay(folder, "zipf.rft", jobs, engine)
        if profile["consumed"] != sum(truth.values()):
            wrong.append(f"-j {jobs}: {profile['consumed']} events")
        if engine.startswith("exact") and saved.counts(profile) != truth:
            wrong.append(f"-j {jobs}: other counts")
        if engine.startswith(("multihash", "auto")) and not holds(profile, truth):
            wrong.append(f"-j {jobs}: bounds do not hold")
    tap.tell(f"{engine} in {', '.join(map(str, JOBS))} pieces", wrong)


def check_bytes(folder):
    for jobs in JOBS:
        engines = [word for engine in ENGINES for word in ("-e", engine)]
        for _ in range(3):
            riffle(folder, "replay", "zipf.rft", "-j", str(jobs), *engines, "-o", "out.rfp")
            with open(os.path.join(folder, "out.rfp"), "rb") as file:
                seen = {file.read()} if _ == 0 else seen | {file.read()}
        tap.check(f"-j {jobs} three times: the same bytes", len(seen) == 1, [len(b) for b in seen])


def check_records(folder):
    one, many = (riffle(folder, "replay", "records.rft", "-j", jobs, "-p", "load -> pc,addr", "-p", "store -> addr", "-e", "exact", "--format",
                        "csv", "-n", "0") for jobs in ("1", "5"))
    tap.check("records and selectors", one.returncode == 0 and one.stdout == many.stdout and len(one.stdout) > 100,
              many.stderr.decode())


def check_one_piece(folder):
    with open(os.path.join(folder, "zipf.rft"), "rb") as file:
        whole = file.read()
    with open(os.path.join(folder, "cut.rft"), "wb") as file:
        file.write(whole[:len(whole) * 2 // 3])
    one, cut = (riffle(folder, "replay", "cut.rft", "-j", jobs, "-e", "exact", "--format", "csv", "-n", "0")
                for jobs in ("1", "4"))
    tap.check("a trace that was cut off is read in one piece", one.stdout == cut.stdout and one.returncode == cut.returncode
              and b"it is read in one piece" in cut.stderr, cut.stderr.decode())
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 0xff
    with open(os.path.join(folder, "bad.rft"), "wb") as file:
        file.write(damaged)
    one, bad = (riffle(folder, "replay", "bad.rft", "-j", jobs, "-e", "exact", "--format", "csv", "-n", "0")
                for jobs in ("1", "4"))
    tap.check("a damaged block costs the same in pieces", one.stdout == bad.stdout and one.returncode == bad.returncode != 0,
              [one.stderr.decode(), bad.stderr.decode()])
    refused = riffle(folder, "replay", "zipf.rft", "-j", "2", "--skip", "5")
    tap.check("--skip is refused", refused.returncode == 2 and b"--jobs goes with none of" in refused.stderr, refused.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        riffle(folder, "gen", "zipf", "--events", "500K", "--keys", "5000", "-o", "zipf.rft")
        with open(os.path.join(folder, "loads.txt"), "w") as out: # as Valgrind's lackey prints them
            for i in range(200000):
                out.write(f"I  {0x401000 + 4 * (i % 50):08x},4\n {'SL'[i % 3 > 0]} {0x7000 + 8 * (i * i % 1009):08x},8\n")
        riffle(folder, "trace", "convert", "loads.txt", "records.rft")
        truth = saved.counts(replay(folder, "zipf.rft", 1, "exact"))
        for engine in ENGINES:
            check_engine(folder, engine, truth)
        check_bytes(folder)
        check_records(folder)
        check_one_piece(folder)
    print(f"# figure: {len(ENGINES)} engines, {', '.join(map(str, JOBS))} pieces, 500,000 events")
    tap.end()


main()
