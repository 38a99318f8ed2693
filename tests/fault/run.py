#!/usr/bin/env python3
"""Fail every single allocation and every single write of a few small runs, one at a time.

    run.py PROGRAM SHIM

For each n from 1 until a run has no n-th call: the program must end by itself with one sentence on
stderr and a status that is not 0, leak nothing, leave the old output file as it was and no temporary
file beside it, or a profile that says what it lacks. Where a failure can be done without (a buffer of stdout), the run must end as if
nothing had been: status 0, same output, same file.
"""
import os
import re
import subprocess
import sys
import tempfile

PROGRAM, SHIM = (os.path.abspath(path) for path in sys.argv[1:3])
INPUT = "".join(f"0x{n % 7:x} {n * n % 11} {1 + n % 3}\n" for n in range(60))
OLD = b"what was there before\n"

# name, arguments, output file
CASES = [
    ("replay", "replay in.txt -e exact -o out.rfp --format csv -n 0 --interval 50 --per-interval",
     "out.rfp"),
    ("replay-trace", "replay in.rft -e exact -e multihash -o out.rfp --format json", "out.rfp"),
    ("replay-records", "replay records.rft -p values -p edges -o out.rfp", "out.rfp"),
    ("replay-some-records", "replay records.rft -p values --limit 9 -o out.rfp", "out.rfp"),
    ("convert-records", "trace convert records.rft out.rft", "out.rft"),
    ("report", "report in.rfp", None),
    ("merge", "merge in.rfp in2.rfp -o out.rfp", "out.rfp"),
    ("gen", "gen zipf --events 300 --keys 50 -o out.rft", "out.rft"),
    ("convert-to-trace", "trace convert in.txt out.rft", "out.rft"),
    ("convert-to-text", "trace convert in.rft out.txt", "out.txt"),
    ("trace-head", "trace head in.rft", None),
    ("compare", "compare in.txt -e exact -e multihash(interval=100) --interval 100", None),
]


def run(folder, arguments, fault=None):
    """Returns (status, stdout, stderr, report)."""
    report = os.path.join(folder, "..", "report")
    env = {"LC_ALL": "C", "PATH": "/nowhere"}
    if fault is not None:
        env |= {"LD_PRELOAD": SHIM, "RIFFLE_FAULT": fault, "RIFFLE_FAULT_REPORT": report}
    if os.path.exists(report):
        os.remove(report)
    done = subprocess.run([PROGRAM, *arguments], cwd=folder, env=env, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=60)
    text = open(report).read() if os.path.exists(report) else ""
    found = re.match(r"calls (\d+) failed (\d) leaks (\d+)", text)
    return done.returncode, done.stdout, done.stderr.decode(), found and [*map(int, found.groups())]


def without_speed(output):
    """compare prints how fast engines were; that differs from run to run."""
    return re.sub(rb" +\d+\.\d(?=  )", b" S", output)


def prepare(folder, make_records):
    with open(os.path.join(folder, "in.txt"), "w") as file:
        file.write(INPUT)
    for arguments in ("trace convert in.txt in.rft", "replay in.txt -e exact -o in.rfp",
                      "replay in.txt -e exact -o in2.rfp"):
        status, _, words, _ = run(folder, arguments.split())
        if status != 0:
            sys.exit(f"cannot prepare: riffle {arguments}: {words}")
    subprocess.run([make_records, os.path.join(folder, "records.rft")], check=True)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def says_what_is_missing(folder, output):
    """A profile of what was counted before the failure: it can be read, and has a note of that."""
    status, text, _, _ = run(folder, ["report", output])
    return status == 0 and re.search(rb"^(blind|incomplete|failure) ", text, re.M) is not None


def judge(folder, output, before, wanted, got, wanted_file):
    """What is wrong with this run, or None."""
    status, stdout, stderr, report = got
    path = output and os.path.join(folder, output)
    if report is None:
        return f"it did not end by itself: status {status} {stderr!r}"
    if report[2] != 0:
        return f"{report[2]} blocks leaked"
    if sorted(os.listdir(folder)) != before:
        return f"files left behind: {sorted(set(os.listdir(folder)) - set(before))}"
    if status == 0:
        if without_speed(stdout) != without_speed(wanted) or stderr:
            return "status 0, yet another output"
        if path and read(path) != wanted_file:
            return "status 0, yet another file"
        return None
    if not re.fullmatch(r"riffle: [^\n]+\n", stderr):
        return f"not one sentence: {stderr!r}"
    if status not in (1, 3):
        return f"status {status}"
    if path and read(path) not in (OLD, wanted_file): # saved, and then the report failed: that is fine
        return None if says_what_is_missing(folder, output) else "the output file is neither the old one nor whole"
    return None


def inject(folder, case, kind):
    """Fail each call of one kind in turn. Returns (number of runs, complaints)."""
    _, arguments, output = case
    arguments = arguments.split()
    path = output and os.path.join(folder, output)
    _, wanted, _, _ = run(folder, arguments)
    wanted_file = path and read(path)
    complaints, n = [], 0
    while True:
        n += 1
        if path:
            with open(path, "wb") as file:
                file.write(OLD)
        before = sorted(os.listdir(folder))
        got = run(folder, arguments, f"{kind}:{n}")
        if got[3] is not None and got[3][1] == 0:
            if got[0] != 0 or got[3][2] != 0:
                complaints.append(f"without a fault: status {got[0]}, {got[3][2]} blocks leaked")
            break
        complaint = judge(folder, output, before, wanted, got, wanted_file)
        if complaint is not None:
            complaints.append(f"{kind} {n}: {complaint}")
    if path:
        os.remove(path)
    return n - 1, complaints


def main():
    number = failures = 0
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, "work")
        os.mkdir(folder)
        prepare(folder, os.path.abspath(sys.argv[3]))
        for case in CASES:
            for kind in ("alloc", "write"):
                if kind == "write" and case[2] is None:
                    continue
                number += 1
                runs, complaints = inject(folder, case, kind)
                if runs == 0:
                    complaints.append("nothing could be failed")
                for complaint in complaints[:10]:
                    print(f"# {complaint}")
                print(f"{'not ok' if complaints else 'ok'} {number} - {case[0]}: {kind} fails, "
                      f"{runs} times")
                failures += bool(complaints)
    print(f"1..{number}")
    sys.exit(failures > 0)


main()
