#!/usr/bin/env python3
"""bytes - counters of each value of a byte: read while the program runs, after kill -9, of threads and of children.

    bytes.py RIFFLE BYTES ASK

Each lap of the program loads every byte once, at one place. So all 256 values have as many events as there were laps, by the
program's own account, up to one for each lap that is under way. 3 kills of each kind; 60 with RIFFLE_TEST_LONG=1.
"""
import csv
import io
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import check, end  # noqa: E402

RIFFLE, BYTES, ASK = sys.argv[1:4]
KILLS = 60 if os.environ.get("RIFFLE_TEST_LONG") else 3
SEED = int(os.environ.get("RIFFLE_TEST_SEED", "1"))
PATIENCE = 60  # seconds, on a busy machine
LOADS = "load -> pc,value"
RUNNERS = {"one": 1, "threads": 2, "forks": 2}


def place():
    """The address of k_lap's load of a byte, behind two instructions of two bytes."""
    out = subprocess.run(["nm", BYTES], capture_output=True, text=True, check=True).stdout
    return next(int(line.split()[0], 16) for line in out.splitlines() if line.endswith(" k_lap")) + 4


LOAD = place()


def laps(path, runners):
    try:
        with open(path, "rb") as file:
            return sum(struct.unpack(f"<{runners}Q", file.read(8 * runners)))
    except (OSError, struct.error):
        return 0


def start(folder, how, wanted=None):
    counter = os.path.join(folder, "laps")
    command = [RIFFLE, "run", "-q", "-p", LOADS, "-o", os.path.join(folder, "a.rfp"), "--", BYTES, counter, how]
    return subprocess.Popen(command + ([str(wanted)] if wanted else [])), counter


def wait_for(condition):
    late = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < late:
        time.sleep(0.01)


def saved(folder):
    """Count by value of that one load."""
    text = subprocess.run([RIFFLE, "report", os.path.join(folder, "a.rfp"), "--format", "csv", "-n", "0"],
                          capture_output=True, text=True, check=True).stdout
    return {int(row["value"], 16): int(row["count"]) for row in csv.DictReader(io.StringIO(text))
            if int(row["pc"], 16) & 0xffffffffffff == LOAD}


def asked(riffle):
    """The same of a run that goes on."""
    out = subprocess.run([ASK, str(riffle.pid), LOADS], capture_output=True, text=True, timeout=PATIENCE).stdout
    return {b: count for a, b, count in (map(int, line.split()) for line in out.splitlines())
            if a & 0xffffffffffff == LOAD}


def differ(counts, low, high):
    """What is wrong about them, as text; None: each of the 256 values has between `low` and `high` events."""
    if set(counts) != set(range(256)):
        return f"{len(counts)} values"
    wrong = {value: count for value, count in counts.items() if not low <= count <= high}
    return f"{wrong} should be {low} to {high}" if wrong else None


def processes_of(riffle):
    """The program that riffle started, and its child."""
    found = []
    pid = riffle.pid
    while True:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = file.read().split()
        if not children:
            return found
        pid = int(children[0])
        found.append(pid)


def check_end(how):
    with tempfile.TemporaryDirectory() as folder:
        riffle, _ = start(folder, how, wanted=5000)
        status = riffle.wait(PATIENCE)
        failure = differ(saved(folder), 5000 * RUNNERS[how], 5000 * RUNNERS[how])
        check(f"{how}: each value is counted to the event", failure is None and status == 0, failure)


def check_live(how):
    runners = RUNNERS[how]
    with tempfile.TemporaryDirectory() as folder:
        riffle, counter = start(folder, how)
        wait_for(lambda: laps(counter, runners) > 1000 and asked(riffle))  # code is told of once per tick
        looks = []
        for _ in range(2):
            before = laps(counter, runners)
            counts = asked(riffle)
            looks.append((min(counts.values(), default=0),
                          differ(counts, before - runners, laps(counter, runners) + runners)))
        check(f"{how}: who asks sees all values", [why for _, why in looks] == [None, None], looks)
        check(f"{how}: and more of them later", looks[0][0] < looks[1][0], looks)
        kill(riffle)
        failure = differ(saved(folder), laps(counter, runners) - runners, laps(counter, runners) + runners)
        check(f"{how}: what was looked at is counted once", failure is None, failure)


def kill(riffle):
    """All processes of the program, the youngest first."""
    for pid in reversed(processes_of(riffle)):
        os.kill(pid, signal.SIGKILL)
    riffle.wait(PATIENCE)


def check_kill(how, dice):
    runners = RUNNERS[how]
    with tempfile.TemporaryDirectory() as folder:
        riffle, counter = start(folder, how)
        wait_for(lambda: laps(counter, runners) > 0)
        time.sleep(dice.random() * 0.3)
        kill(riffle)
        done = laps(counter, runners)
        failure = differ(saved(folder), done - runners, done + runners)
        check(f"{how}: kill -9 after {done} laps", failure is None and done > 0, failure)


def main():
    dice = random.Random(SEED)
    print(f"# seed {SEED}")
    for how in RUNNERS:
        check_end(how)
        check_live(how)
        for _ in range(KILLS):
            check_kill(how, dice)
    end()


main()
