#!/usr/bin/env python3
"""control - change bursts while the program runs.

    control.py RIFFLE SPIN LAB

SPIN (spin.c) makes one load and one store per interval and says in a file how far it came. LAB has the files of lab/hps.
"""
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

RIFFLE, SPIN, LAB = sys.argv[1:4]
STEP = 3000000  # rounds: a tenth of a second or so
LAG = 100000


def control(*words):
    done = subprocess.run([RIFFLE, "control", *map(str, words)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def rounds(path):
    try:
        with open(path, "rb") as file:
            return struct.unpack("<Q", file.read(8))[0]
    except (OSError, struct.error):
        return 0


def wait_for(path, least):
    end = time.monotonic() + 120
    while rounds(path) < least and time.monotonic() < end:
        time.sleep(0.01)
    return rounds(path)


def figures(saved):
    text = subprocess.run([RIFFLE, "report", saved, "--details", "-n", "1"], capture_output=True, text=True, check=True).stdout
    return [{name: int(value.replace(",", "")) for name, value
             in re.findall(r"^(bursts|sampled|skipped)\s+([\d,]+)$", part, re.M)}
            for part in text.split("\nprofile ")[1:]]


def check_change():
    with tempfile.TemporaryDirectory() as folder:
        path, saved = os.path.join(folder, "count"), os.path.join(folder, "run.rfp")
        run = subprocess.Popen([RIFFLE, "run", "-q", "-o", saved, "--burst", "1", "--frequency", "1/1000",
                                "--regular", "-p", "load -> pc", "-p", "store -> pc", "--", SPIN, path],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        first = wait_for(path, STEP)
        status, text = control(run.pid)
        tap.check("the state is shown", status == 0 and "1/1000" in text and "on         load -> pc" in text, text)
        status, text = control(run.pid, "frequency=1/10", "store -> pc=off")
        changed = rounds(path)
        tap.check("a frequency is changed", status == 0, text)
        status, text = control(run.pid)
        tap.check("the new state is shown", "1/10\n" in text and "off        store -> pc" in text, text)
        second = wait_for(path, rounds(path) + STEP)
        status, text = control(run.pid, "burst=7")
        tap.check("a burst is changed, the frequency stays", "1/10\n" in control(run.pid)[1], text)
        third = wait_for(path, rounds(path) + STEP)
        # What is in the ring when a profile is switched off is left out. So bursts become rare first, and the ring empties.
        tap.check("bursts become rare", control(run.pid, "frequency=1/100000")[0] == 0)
        slowed = rounds(path)
        wait_for(path, slowed + STEP)
        time.sleep(0.3)
        tap.check("all profiles off", control(run.pid, "load -> pc=off")[0] == 0)
        time.sleep(0.3)
        paused = rounds(path)
        last = wait_for(path, paused + STEP)
        tap.check("what it does not know is refused", control(run.pid, "speed=3")[0] == 2)
        run.send_signal(signal.SIGTERM)
        run.wait()
        loads, stores = figures(saved)
        text = subprocess.run([RIFFLE, "report", saved], capture_output=True, text=True, check=True).stdout
        tap.check("the report says that bursts were changed",
                  "changed by riffle control, 4 times; off: load -> pc; store -> pc" in text, text)
        tap.check("the report says to what they were changed", "in the end of 7 intervals, 699993 intervals apart" in text, text)
    # The change came between first and changed, the end between third and slowed. How far apart these are depends on
    # the machine. What began by the old rule ends by the old rule, within LAG rounds.
    least = (third - changed - LAG) / 10
    most = first / 1000 + (slowed - first + LAG) / 10 + (paused - slowed + LAG) / 90000
    tap.check("loads are told as often as was said", least < loads["sampled"] < most,
              f"{loads}, between {least} and {most}; rounds {first} {changed} {second} {third} {slowed} {paused} {last}")
    tap.check("stores that are off are skipped", stores["sampled"] < (changed + LAG) / 900, stores)
    tap.check("bursts are shorter and longer", loads["bursts"] < loads["sampled"], loads)


def check_several():
    """Profiles with bursts of their own: one of them is changed, the other stays."""
    with tempfile.TemporaryDirectory() as folder:
        path, saved = os.path.join(folder, "count"), os.path.join(folder, "run.rfp")
        run = subprocess.Popen([RIFFLE, "run", "-q", "-o", saved, "--productions", f"{LAB}/hot-data-stream.hps",
                                "--productions", f"{LAB}/hot-method.hps", "--set", "hot-data-stream.sampleFreq=max-999",
                                "--set", "hot-method.sampleFreq=max-99999", "--", SPIN, path],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        first = wait_for(path, STEP)
        _, text = control(run.pid)
        states = re.findall(r"burst +(\d+)\nfrequency +(\S+)\non +(.*)", text)
        tap.check("both are shown", [state[:2] for state in states] == [("1", "1/1000"), ("1", "1/100000")], text)
        status, text = control(run.pid, f"{states[1][2]}.frequency=1/10")
        changed = rounds(path)
        tap.check("one is changed", status == 0 and "1/1000\n" in control(run.pid)[1] and "1/10\n" in control(run.pid)[1], text)
        second = wait_for(path, rounds(path) + STEP)
        tap.check("one of them off", control(run.pid, f"{states[1][2]}=off")[0] == 0)
        time.sleep(0.3)
        paused = rounds(path)
        last = wait_for(path, paused + STEP)
        run.send_signal(signal.SIGTERM)
        run.wait()
        ended = rounds(path)
        loads, branches = figures(saved)
    told = f"{loads} {branches}; rounds {first} {changed} {second} {paused} {last} {ended}"
    tap.check("one goes on as before", 2 * last / 1100 < loads["sampled"] < 2 * (ended + LAG) / 900, told)
    # What was in the ring when the profile was switched off is left out; how much that is depends on the machine. So the
    # number of bursts is checked, and of the events only that there are some.
    tap.check("the other follows", (second - changed - LAG) / 10 < branches["bursts"]
              and 0 < branches["sampled"] < first / 90000 + (paused - first + LAG) / 10, told)


def check_refusals():
    status, text = control(2 ** 22 + 1)
    tap.check("no such process", status != 0 and "there is no process" in text, text)
    status, text = control(os.getpid())
    tap.check("a process that is not profiled", status != 0 and "neither riffle run nor profiled" in text, text)
    status, text = control("nobody")
    tap.check("no number", status == 2 and "is not a process number" in text, text)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "count")
        run = subprocess.Popen([RIFFLE, "run", "-q", "-p", "branch -> pc", "--", SPIN, path],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(path, 1)
        status, text = control(run.pid, "frequency=1/2")
        tap.check("a run without bursts", status != 0 and "not profiled in bursts" in text, text)
        run.send_signal(signal.SIGTERM)
        run.wait()


def check_close():
    """Bursts that are made to come too close to each other: the report warns of what they are in the end."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "count")
        run = subprocess.Popen([RIFFLE, "run", "-p", "branch -> pc", "--frequency", "1/1000", "--", SPIN, path],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_for(path, 1)
        status, text = control(run.pid, "burst=5", "frequency=1/3")
        run.send_signal(signal.SIGTERM)
        _, said = run.communicate()
        tap.check("bursts became close: a warning", status == 0 and "close to each other: a loop in step" in said, text + said)


check_change()
check_several()
check_close()
check_refusals()
tap.end()
