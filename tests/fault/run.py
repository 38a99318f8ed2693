#!/usr/bin/env python3
"""Fail every single allocation and every single write of a few small runs, one at a time; or every system call.

    run.py PROGRAM SHIM MAKE-RECORDS SIM.T              allocations and writes, by the preloaded shim.c
    run.py PROGRAM INJECT MAKE-RECORDS SIM.T calls      system calls, by inject.c: errors, a full quota, EINTR, half transfers,
                                                        SIGTERM during the call

For each n from 1 until a run has no n-th call: the program must end by itself with one sentence on
stderr and a status that is not 0, leak nothing, leave the old output files as they were and no temporary
file beside them, or profiles that say what they lack. Where a failure can be done without (a buffer of
stdout), the run must end as if nothing had been: status 0, same output, same files. A call that was interrupted or did half of
its work is made again: such a run must always end as if nothing had been. SIGTERM leaves no temporary file.

A recording that fails beside -o takes no profile with it: that file is then whole or says what failed.
Runs under the probe take their time; every 11th call fails there, and of system calls every 13th in all commands. With
RIFFLE_TEST_LONG each fails once. attach and top allocate thousands of times: n grows by a tenth (long: a two-hundredth).
attach, control and top PID work on a process that runs beside them, {busy} or {run}; top has a terminal of its own, and is
left when it has shown rows. What attach samples differs from time to time, and so do its calls: some of them fail.
"""
import base64
import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time

PROGRAM, SHIM = (os.path.abspath(path) for path in sys.argv[1:3])
CALLS = sys.argv[5:6] == ["calls"]
INPUT = "".join(f"0x{n % 7:x} {n * n % 11} {1 + n % 3}\n" for n in range(60))
OLD = b"what was there before\n"

LONG = "RIFFLE_TEST_LONG" in os.environ

# name, arguments, output files, every how many calls
CASES = [
    ("replay", "replay in.txt -e exact -o out.rfp --format csv -n 0 --interval 50 --per-interval",
     ["out.rfp"], 1),
    ("replay-trace", "replay in.rft -e exact -e multihash -o out.rfp --format json", ["out.rfp"], 1),
    ("replay-records", "replay records.rft -p values -p edges -o out.rfp", ["out.rfp"], 1),
    ("replay-some-records", "replay records.rft -p values --limit 9 -o out.rfp", ["out.rfp"], 1),
    ("replay-shared", "replay records.rft -p values+edges -e exact --interval 9 --per-interval -o out.rfp",
     ["out.rfp"], 1),
    ("convert-records", "trace convert records.rft out.rft", ["out.rft"], 1),
    ("report", "report in.rfp", [], 1),
    ("query", "query in.rfp 0..3", [], 1),
    ("merge", "merge in.rfp in2.rfp -o out.rfp", ["out.rfp"], 1),
    ("gen", "gen zipf --events 300 --keys 50 -o out.rft", ["out.rft"], 1),
    ("convert-to-trace", "trace convert in.txt out.rft", ["out.rft"], 1),
    ("convert-to-text", "trace convert in.rft out.txt", ["out.txt"], 1),
    ("trace-head", "trace head in.rft", [], 1),
    ("compare", "compare in.txt -e exact -e multihash(interval=100) --interval 100", [], 1),
    ("sim", "sim --functional -p values -e exact -o out.rfp flip.rv64", ["out.rfp"], 1),
    ("sim-record", "sim --functional -q -p values -p edges -e exact --record out.rft -o out.rfp flip.rv64",
     ["out.rft", "out.rfp"], 1),
    ("coproc", "coproc values.uc", [], 1),
    ("coproc-words", "coproc --disassemble dependences.uc", [], 1),
    ("replay-coproc", "replay records.rft --coproc values.uc --coproc edges.uc -o out.rfp", ["out.rfp"], 1),
    ("compare-coproc", "compare records.rft -p values -m rms -e exact --coproc values.uc", [], 1),
    ("sim-coproc", "sim --functional --coproc conflicts.uc -o out.rfp flip.rv64", ["out.rfp"], 1),
    ("sim-coproc-timed", "sim --coproc values.uc(size=half) -o out.rfp flip.rv64", ["out.rfp"], 1),
    ("run", "run -q -p calls -e exact -o out.rfp -- /bin/echo hello", ["out.rfp"], 1 if LONG else 11),
    ("run-record", "run -q -p calls -e exact --record out.rft -o out.rfp -- /bin/echo hello",
     ["out.rft", "out.rfp"], 1 if LONG else 11),
]

# The other commands; writes of cc are the compiler's, and what attach writes depends on what it finds.
OTHERS = [
    ("help", "help replay", [], 1),
    ("engines", "engines rap", [], 1),
    ("selectors", "selectors values", [], 1),
    ("cores", "cores hps", [], 1),
    ("cost", "cost", [], 1),
    ("trace-info", "trace info in.rft", [], 1),
    ("report-names", "report run.rfp -n 3", [], 1),
    ("diff", "diff in.rfp in2.rfp", [], 1),
    ("export", "export -q --to callgrind -o out.txt code.rfp", ["out.txt"], 1),
    ("html", "report in.rfp --html out.html", ["out.html"], 1),
    ("replay-pieces", "replay in.rft -j 3 -e exact -o out.rfp", ["out.rfp"], 1),
    ("mpi", "mpi -e exact -o out.rfp in.rft", ["out.rfp"], 1),
    ("cc", "cc -c -o out.o in.c", ["out.o"], 1),
    ("cxx", "cxx -c -o out.o in.c", ["out.o"], 1),
    ("version", "--version", [], 1),
    ("man", "help --man diff", [], 1),
    ("control", "control {run}", [], 1),
    ("control-change", "control {run} frequency=1/50 calls=off", [], 1),
    ("attach", "attach -q --for 0.1 -o out.rfp {busy}", ["out.rfp"], 1),
    ("top", "top {run}", [], 1),
    ("top-program", "top --period 1K -- /bin/sleep 600", [], 1),
]
CALL_STRIDE = 1 if LONG else 13
STRIDES = {"attach": 13 if LONG else 211, "top": 1 if LONG else 31}
NOT_AGAIN = {"export", "html", "attach", "top", "top-program"}
VARYING = {"attach"}  # what it finds differs from time to time
GROWING = {"attach", "top", "top-program"}
# SIGTERM comes during their calls.
ENDED = {"merge", "gen", "convert-to-trace", "convert-to-text", "replay", "replay-pieces", "mpi", "export", "html", "cc"}


def take_terminal(slave):
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)


def on_terminal(command, cwd, env, capture_output, stdin, timeout):
    """As subprocess.run, with a terminal beside the streams: somebody there presses q until it ends."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    modes = termios.tcgetattr(slave)
    process = subprocess.Popen(command, cwd=cwd, env=dict(env, TERM="xterm"), stdin=stdin, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, preexec_fn=lambda: take_terminal(slave))
    begun, seen = time.monotonic(), b""
    end = begun + timeout
    while process.poll() is None and time.monotonic() < end:
        if select.select([master], [], [], 0.05)[0]:
            seen += os.read(master, 1 << 16)
        elif b"%" in seen or CALLS or time.monotonic() > begun + 1: # rows are there
            os.write(master, b"q")
    late = process.poll() is None
    if late:
        process.kill()
    output, words = process.communicate()
    if termios.tcgetattr(slave) != modes:
        words += b"the terminal is not as it was\n"
    os.close(master)
    os.close(slave)
    if late:
        raise subprocess.TimeoutExpired(command, timeout)
    return subprocess.CompletedProcess(command, process.returncode, output, words)


def run(folder, arguments, fault=None):
    """Returns (status, stdout, stderr, report, name of the call that failed)."""
    report = os.path.join(folder, "..", "report")
    env = {"LC_ALL": "C", "PATH": "/usr/bin:/bin" if arguments[0] in ("run", "cc", "cxx", "top") else "/nowhere"}
    command = [PROGRAM, *arguments]
    if fault is not None and CALLS:
        command = [SHIM, fault, report, *command]
    elif fault is not None:
        env |= {"LD_PRELOAD": SHIM, "RIFFLE_FAULT": fault, "RIFFLE_FAULT_REPORT": report}
    if os.path.exists(report):
        os.remove(report)
    start = on_terminal if arguments[0] == "top" else subprocess.run
    try:
        done = start(command, cwd=folder, env=env, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    except subprocess.TimeoutExpired:
        return -1, b"", "no end after 60 seconds", None, None
    text = open(report).read() if os.path.exists(report) else ""
    found = re.match(r"calls (\d+) failed (\d) leaks (\d+) ?(\w*)", text)
    numbers = found and [*map(int, found.groups()[:3])]
    return done.returncode, done.stdout, done.stderr.decode(), numbers, found and found.group(4)


def without_speed(output):
    """compare and sim print how fast they were; that differs from run to run."""
    return re.sub(rb" +\d+\.\d+(?=  | MIPS|\n)", b" S", output)


def guest(sim_t):
    """The program of the golden tests of sim, made to exit with 0 instead of 3."""
    with open(sim_t) as file:
        lines = re.search(r"flip.rv64 <<END\n((?:> .*\n)*?)> END", file.read()).group(1)
    program = base64.b64decode(lines.replace("> ", ""))
    return program.replace(b"\x0d\x45\x93\x08\xd0\x05", b"\x01\x45\x93\x08\xd0\x05")


def prepare(folder, make_records, sim_t):
    with open(os.path.join(folder, "in.txt"), "w") as file:
        file.write(INPUT)
    with open(os.path.join(folder, "flip.rv64"), "wb") as file:
        file.write(guest(sim_t))
    with open(os.path.join(folder, "in.c"), "w") as file:
        file.write("int step(int x) { return x + 1; }\n")
    for arguments in ("trace convert in.txt in.rft", "replay in.txt -e exact -o in.rfp",
                      "replay in.txt -e exact -o in2.rfp"):
        status, _, words, *_ = run(folder, arguments.split())
        if status != 0:
            sys.exit(f"cannot prepare: riffle {arguments}: {words}")
    run(folder, "run -q -p calls -e exact -o run.rfp -- /bin/echo".split())
    subprocess.run([make_records, os.path.join(folder, "records.rft")], check=True)
    run(folder, ["replay", "records.rft", "-p", "load -> pc", "-o", "code.rfp"])


def read(folder, name):
    """What a file holds; of a profile and a trace what was counted, since a run also notes its seconds, and
    names may be missing where memory was."""
    with open(os.path.join(folder, name), "rb") as file:
        content = file.read()
    if content == OLD or not name.endswith((".rfp", ".rft")):
        return content
    command = ["report", name] if name.endswith(".rfp") else ["replay", name, "-e", "exact"]
    status, text, *_ = run(folder, [*command, "--no-names", "--format", "csv", "-n", "0"])
    return text if status == 0 else b"damaged"


def says_what_is_missing(folder, name):
    """A profile of what was counted before the failure: it can be read, and has a note of that."""
    status, text, *_ = run(folder, ["report", "--details", name])
    return status == 0 and re.search(rb"^(blind|incomplete|failure|fault|missing) ", text, re.M) is not None


def sentences(stderr):
    """Some commands always have something to say; how fast they were is left out, and so are shards that mpi names one by one."""
    return {without_speed(line.encode()) for line in stderr.splitlines()
            if line.startswith("riffle: ") and not ("missing: " in line and "no shard could be used" in stderr)}


def judge_files(folder, case, outputs, wanted_files, got):
    status, stdout, stderr, *_ = got
    recording_failed = "out.rft" in stderr and stdout == b"hello\n" # while the program ran
    for name, wanted in zip(outputs, wanted_files):
        found = read(folder, name)
        may_stay = status != 0 and not (recording_failed and name.endswith(".rfp"))
        if found == wanted or (found == OLD and may_stay): # saved, and then the report failed: that is fine
            continue
        if case in VARYING and found not in (OLD, b"damaged"):
            continue
        if got[4] == "access" and found not in (OLD, b"damaged"):
            continue # another folder was taken for the probe, and the program sees that in its environment
        if status != 0 and name.endswith(".rft") and run(folder, ["trace", "info", name])[0] == 0:
            continue # whole, of what was recorded before the failure
        if status == 0 or not says_what_is_missing(folder, name):
            return f"{name}: neither the old file nor whole, status {status}, {stderr!r}"
    return None


def judge(folder, case, before, wanted, got, wanted_files):
    """What is wrong with this run, or None."""
    _, arguments, outputs, _ = case
    status, stdout, stderr, report, _ = got
    if report is None:
        return f"it did not end by itself: status {status} {stderr!r}"
    if report[2] != 0:
        return f"{report[2]} blocks leaked"
    if sorted(os.listdir(folder)) != before:
        return f"files left behind: {sorted(set(os.listdir(folder)) - set(before))}"
    told = stderr[len(wanted[2]):] if stderr.startswith(wanted[2]) else stderr # beside what is always said
    # Names cost nothing but themselves, and what a guest cannot write is its own affair.
    names_may_miss = case[0] == "report-names" or (case[0].startswith("sim") and (got[4] == "write" or "names  " in stderr))
    if status == 0 and without_speed(stdout) != without_speed(wanted[1]) and not names_may_miss:
        return "status 0, yet another output"
    if status == 0 and without_speed(stderr.encode()) != without_speed(wanted[2].encode()) and not names_may_miss:
        if not re.fullmatch(r"(riffle: |==\d+== )[^\n]+\n", told): # done without, with a word of what that costs
            return f"status 0, yet {stderr!r}"
    guest_ended = status == 137 and "the program ended: no memory" in stderr
    not_started = status == 126
    # run and sim have the program's status; a failure of riffle's own is 125 there.
    failures = {"run": (125,), "sim": (125,), "top": (125,), "diff": (2,)}.get(arguments.split()[0], (1, 3))
    if status not in (0, *failures) and not guest_ended and not not_started:
        return f"status {status}"
    if status != 0 and not re.search(r"^riffle: [^\n]+\n\Z", stderr, re.M):
        return f"no sentence: {stderr!r}"
    if status != 0 and len(sentences(stderr) - sentences(wanted[2])) != 1:
        return f"not one sentence: {stderr!r}"
    return judge_files(folder, case[0], outputs, wanted_files, got)


def judge_ended(folder, outputs, wanted_files, before, got):
    """SIGTERM came: nothing is left beside, and a file is the old one or whole, perhaps of what there was until then."""
    if sorted(os.listdir(folder)) != before:
        return f"files left behind: {sorted(set(os.listdir(folder)) ^ set(before))}"
    for name, wanted in zip(outputs, wanted_files):
        found = read(folder, name)
        if found not in (OLD, wanted) and (not name.endswith((".rfp", ".rft")) or found == b"damaged"):
            return f"{name}: neither the old file nor whole"
    return None if got[0] in (0, 128 + 15, 130) else f"status {got[0]}: {got[2]!r}"


# Calls that fail by name, each of them: shared memory that cannot be had, and no more processes or threads.
BY_NAME = {"run": ("memfd_create", "ftruncate", "clone"), "report-names": ("clone", "socketpair", "fcntl", "kill"),
           "replay-pieces": ("clone3",)}


def next_of(case, stride, n):
    """Where a run has thousands of allocations, the first ones more densely than the others."""
    if CALLS or case[0] not in GROWING:
        return n + stride
    return n + max(1 if LONG else 7, n // (200 if LONG else 10))


def first_of(kind):
    """0: every call of that kind, and not one of them."""
    return 0 if kind in ("eintr", "short") else 1


def inject(folder, case, kind):
    """Fail each call of one kind in turn. Returns (number of runs, complaints)."""
    _, arguments, outputs, stride = case
    if CALLS:
        often = {"term": 1 if LONG else 4, **{name: 1 for name in BY_NAME.get(case[0], ())}}
        stride = often.get(kind, STRIDES.get(case[0], CALL_STRIDE))
    arguments = arguments.split()
    wanted = run(folder, arguments)
    if wanted[0] != 0 and case[0] != "attach": # which may not be built, or not be allowed
        return 0, [f"without a fault: status {wanted[0]}: {wanted[2]!r}"]
    wanted_files = [read(folder, name) for name in outputs]
    complaints, runs, n = [], 0, first_of(kind)
    while wanted[0] == 0:
        for name in outputs:
            with open(os.path.join(folder, name), "wb") as file:
                file.write(OLD)
        before = sorted(os.listdir(folder))
        got = run(folder, arguments, f"{kind}:{n}")
        in_child = got[0] == 125 and "cannot start" in got[2] # the report is of riffle, not of its child
        if got[3] is not None and got[3][1] == 0 and not in_child:
            if got[0] != 0 or got[3][2] != 0:
                complaints.append(f"without a fault: status {got[0]}, {got[3][2]} blocks leaked")
            break
        if kind == "term":
            complaint = judge_ended(folder, outputs, wanted_files, before, got)
        else:
            complaint = judge(folder, case, before, wanted, got, wanted_files)
        if complaint is None and kind in ("eintr", "short") and got[0] != 0:
            complaint = f"status {got[0]}: {got[2]!r}"
        if complaint is not None:
            complaints.append(f"{kind} {n} {got[4]}: {complaint}")
        runs, first, n = runs + 1, n == 0, next_of(case, stride, n)
        if first and not LONG:
            break  # every call at once was enough
    for name in outputs:
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))
    return runs, complaints


@contextlib.contextmanager
def beside(folder, case):
    """The case with the number of the process that it works on."""
    name, arguments, *rest = case
    commands = {"{busy}": ["sh", "-c", "while :; do :; done"],
                "{run}": [PROGRAM, "run", "-q", "--frequency", "1/100", "-p", "calls", "--", "sleep", "600"]}
    word = next((word for word in commands if word in arguments), None)
    if word is None:
        yield case
        return
    process = subprocess.Popen(commands[word], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        wait_for_run(folder, process) if word == "{run}" else time.sleep(0.1)
        yield (name, arguments.replace(word, str(process.pid)), *rest)
    finally:
        process.terminate()
        process.wait()


def wait_for_run(folder, process):
    """Until it can be asked."""
    end = time.monotonic() + 60
    while run(folder, ["control", str(process.pid)])[0] != 0 and time.monotonic() < end:
        time.sleep(0.1)


def can_profile(folder):
    return run(folder, ["run", "-q", "--", "/bin/echo"])[0] == 0


def needs_probe(case):
    return case[0].startswith(("run", "top")) or "run.rfp" in case[1] or "{run}" in case[1]


def kinds_of(case):
    if CALLS:
        # A guest that is told of half a write has to make the rest; stdio makes no call again that was interrupted, and
        # ncurses none of its reads.
        again = () if case[0].startswith("sim") else ("short",) if case[0] in NOT_AGAIN else ("eintr", "short")
        ended = ("term",) if case[0] in ENDED else ()
        return ("error", *again, *(("quota",) if case[2] else ()), *ended, *BY_NAME.get(case[0], ()))
    return ("alloc", "write") if case[2] and case[0] not in ("cc", "cxx", "attach") else ("alloc",)


def unnamed(folder, cases):
    """Commands that no case runs."""
    listed = re.findall(r"^  ([a-z]+)  +\S", run(folder, ["help"])[1].decode().split("Commands:")[1], re.M)
    return sorted(set(listed) - {case[1].split()[0] for case in cases}) if listed else ["all"]


def main():
    injected = 0
    cases = CASES + OTHERS
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, "work")
        os.mkdir(folder)
        prepare(folder, os.path.abspath(sys.argv[3]), sys.argv[4])
        if CALLS and run(folder, ["help"], "error:1000000")[3] is None:
            print("1..0 # SKIP nobody may be traced here")
            return
        number, failures = 1, bool(unnamed(folder, cases))
        print(f"{'not ok' if failures else 'ok'} 1 - every command is among them {' '.join(unnamed(folder, cases))}")
        for case in cases:
            for kind in kinds_of(case):
                number += 1
                if needs_probe(case) and not can_profile(folder):
                    print(f"ok {number} - {case[0]} # SKIP this riffle was built without its probe")
                    continue
                with beside(folder, case) as known:
                    runs, complaints = inject(folder, known, kind)
                injected += runs
                if runs == 0 and not CALLS and case[0] != "attach": # which not everybody may
                    complaints.append("nothing could be failed")
                for complaint in complaints[:10]:
                    print(f"# {complaint}")
                print(f"{'not ok' if complaints else 'ok'} {number} - {case[0]}: {kind} fails, "
                      f"{runs} times")
                failures += bool(complaints)
    print(f"# figure: {injected} faults in {len(cases)} commands")
    print(f"1..{number}")
    sys.exit(failures > 0)


main()
