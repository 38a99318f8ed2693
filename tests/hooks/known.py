#!/usr/bin/env python3
"""known - programs compiled by riffle cc: what their hooks tell, held against counts made by hand.

    known.py RIFFLE FOLDER COMPILER...        FOLDER has known.c, library.c and copies.c
"""
import csv
import io
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
from hooked import RIFFLE, TIMEOUT, Run, equal  # noqa: E402

FOLDER = sys.argv[2]
KILLS = 100 if "RIFFLE_TEST_LONG" in os.environ else 1
SEED = int(os.environ.get("RIFFLE_TEST_SEED", "1"))


def build(compiler, folder, **variables):
    """The program and the library, in two steps and in one."""
    environment = {**os.environ, "RIFFLE_CC": compiler, **variables}
    known, library = os.path.join(folder, "known"), os.path.join(folder, "library.so")
    for command in (["-O1", "-g", "-c", f"{FOLDER}/known.c", "-o", known + ".o"],
                    ["-rdynamic", known + ".o", "-o", known, "-lpthread", "-ldl"],
                    ["-O1", "-g", "-fPIC", "-shared", f"{FOLDER}/library.c", "-o", library]):
        subprocess.run([RIFFLE, "cc", *command], env=environment, check=True, timeout=TIMEOUT)
    return known, library


def loads_and_stores(name, known):
    loads, stores = Run("load -> pc", [known, "loads"]), Run("store -> pc", [known, "loads"])
    equal(f"{name}: loads of four widths", loads.of("k_loads"), 4000)
    equal(f"{name}: a load of each modified word", loads.of("k_stores"), 1000)
    equal(f"{name}: stores", stores.of("k_stores"), 2000)
    equal(f"{name}: output and status", (loads.output, loads.status), ("sum loads\n", 3))
    tap.check(f"{name}: produced = consumed + lost", loads.adds_up() and stores.adds_up(), loads.details)
    widths = Run("load -> size", [known, "loads"], "--module", "known")
    sizes = {int(row["size"], 0): int(row["count"]) for row in widths.tuples}
    equal(f"{name}: widths", [sizes.get(1), sizes.get(2)], [1000, 1000])


def told(run, function="k_values"):
    """Values of a function's loads with their counts."""
    of = {}
    for row in run.tuples:
        if row["function"] == function:
            of[int(row["value"], 0)] = of.get(int(row["value"], 0), 0) + int(row["count"])
    return of


def values(name, known):
    run = Run("load -> pc,value", [known, "values"])
    of = told(run)
    equal(f"{name}: values", (of.get(5), of.get(6)), (700, 100))
    equal(f"{name}: values at odd addresses", told(run, "k_packed"), {2: 300, 4: 300, 8: 300, 77: 300})
    if KILLS > 1:
        many = Run("load -> pc,value", [known, "many"])
        equal(f"{name}: more than 2^31 of a word", (told(many, "k_many").get(7), many.of("k_many"), many.adds_up()),
              (2**31 + 1001, 2**31 + 1000 + 2**16, True))
    streamed = Run("load -> pc,value", [known, "values"], "--stream")
    equal(f"{name}: values, each in its place", told(streamed), of)
    hidden = Run("load -> pc,value", [known, "values"], "--no-values")
    tap.check(f"{name}: --no-values", all(int(row["value"], 0) == 0 for row in hidden.tuples) and hidden.tuples, hidden.tuples)
    none = Run("load value==6 -> pc", [known, "values"])
    equal(f"{name}: a condition on the value", none.of("k_values"), 100)


def atomics(name, known):
    loads, stores = Run("load -> pc", [known, "atomics"]), Run("store -> pc", [known, "atomics"])
    # gcc keeps what a compare expects in memory, since it passes its address; clang in a register
    expected = (800, 700) if "clang" in name else (900, 900)
    equal(f"{name}: atomics", (loads.of("k_atomics"), stores.of("k_atomics")), expected)
    equal(f"{name}: atomics do what they must", (loads.output, loads.status), ("sum atomics\n", 3))


def calls(name, known):
    run = Run("call -> pc,target", [known, "calls"], "--module", "known")
    equal(f"{name}: calls", run.of("k_calls"), 600)
    one = Run("call target==k_leaf -> pc,target", [known, "calls"])
    if "the probe is not there" in one.errors:
        tap.skip(f"{name}: calls of one function, by the probe", "this build has none")
    else:
        equal(f"{name}: calls of one function, by the probe", one.of("k_calls"), 600)
    indirect = Run("call indirect==1 -> pc,target", [known, "calls"])
    equal(f"{name}: indirect calls", indirect.of("k_calls"), 300)


def threads(name, known):
    for title, options in (("merged", []), ("streamed", ["--stream"]), ("lossy", ["--stream", "--lossy"])):
        run = Run("load -> pc,value", [known, "threads"], *options)
        tap.check(f"{name}: 64 threads, {title}: produced = consumed + lost", run.adds_up(), run.details)
        if title != "lossy":
            equal(f"{name}: 64 threads, {title}: loads", run.of("k_thread"), 64 * 20000)
        equal(f"{name}: 64 threads, {title}: output", (run.output, run.status), ("sum threads\n", 3))
    run = Run("load -> thread", [known, "threads"], "--module", "known")
    full = [row for row in run.tuples if 20000 <= int(row["count"]) <= 20010]
    equal(f"{name}: loads by thread", len(full), 64)
    whole, few = Run("load -> pc", [known, "crowd"]), Run("load -> pc", [known, "crowd"], "--slots", "4")
    untold = int(f"0{few.note('not-told')}".split(maxsplit=1)[0])
    equal(f"{name}: 64 threads, 4 slots: what is told, and what is not", sum(few.by_function.values()) + untold,
          sum(whole.by_function.values()))
    tap.check(f"{name}: 64 threads, 4 slots: threads that are not followed",
              re.match(r"6[01] processes or threads", few.note("not-followed")), few.details)
    run = Run("load -> pc", [known, "churn"])
    equal(f"{name}: 500 threads that come and go", (run.of("k_thread"), run.adds_up()), (50000, True))
    equal(f"{name}: their number", run.note("threads")[:3], "501")


def signals(name, known):
    run = Run("load -> pc,value", [known, "signals"])
    handled = int(re.search(r"handled (\d+)", run.output).group(1))
    equal(f"{name}: loads of {handled} signal handlers", (run.of("k_handler"), run.of("k_loads")),
          (3 * handled, 200 * 40000))
    run = Run("load -> pc,value", [known, "jumps"])
    equal(f"{name}: handlers that jump out of hooks", (run.of("k_thread"), run.status), (5000, 3))


def processes(name, known, library):
    run = Run("load -> pc", [known, "fork"])
    equal(f"{name}: forked children", (run.of("k_thread"), run.adds_up(), run.output), (60, True, "sum fork\n"))
    equal(f"{name}: their number", run.note("processes")[:1], "6")
    run = Run("load -> pc", [known, "fork"], "--no-follow")
    equal(f"{name}: --no-follow", run.of("k_thread"), 10)
    run = Run("load -> pc", [known, "exec"])
    equal(f"{name}: exec", (run.of("k_thread"), run.adds_up(), run.output), (30, True, "sum child\n"))
    run = Run("load -> pc", [known, "exit"])
    equal(f"{name}: _exit", (run.of("k_thread"), run.status, run.adds_up()), (30, 9, True))
    run = Run("load -> pc", [known, "dlopen", library])
    equal(f"{name}: a library that is opened", (run.of("k_library"), run.adds_up()), (50, True))
    run = Run("load -> pc", [known, "dlopen", library], "--module", "library.so")
    equal(f"{name}: --module", list(run.by_function.items()), [("k_library", 50)])


def bursts(name, known):
    run = Run("load -> pc", [known, "threads"], "--burst", "10", "--frequency", "1/100")
    equal(f"{name}: bursts: told and skipped", run.adds_up(), True)
    all_events = re.search(r"([\d,]+) produced", run.details)
    tap.check(f"{name}: bursts: all events are known", all_events and
              1280000 <= int(all_events.group(1).replace(",", "")) <= 1280200, run.details)
    # Every 8th round loads a 6. At equal distances each second round is told: a quarter of those, or none.
    of = told(Run("load -> pc,value", [known, "values"], "--burst", "1", "--frequency", "1/2"))
    five, six = of.get(5, 0), of.get(6, 0)
    tap.check(f"{name}: bursts: not in step with a loop", 0.06 * (five + six) < six < 0.19 * (five + six), f"{five} and {six}")


def child_of(run):
    with open(f"/proc/{run.pid}/task/{run.pid}/children") as children:
        return int(children.read().split()[0])


def kill_target(known, lines):
    """When it has said so many lines, of a thousand loads each."""
    with tempfile.NamedTemporaryFile(suffix=".rfp") as rows:
        command = [RIFFLE, "run", "-q", "-p", "load -> pc,value", "-o", rows.name, "--", known, "spin"]
        run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        seen = sum(1 for _, line in zip(range(lines), run.stdout))
        os.kill(child_of(run), signal.SIGKILL)
        rest = run.stdout.read().count("1000")
        status = run.wait(TIMEOUT)
        by = Run.report(rows.name, "--by", "function", "-n", "0", "--format", "csv")
        counted = {row["function"]: int(row["count"]) for row in csv.DictReader(io.StringIO(by))}.get("k_thread", 0)
    low = 1000 * (seen + rest)
    return [] if low <= counted <= low + 2000 and status == -signal.SIGKILL else [f"{lines} lines: {(low, counted, status)}"]


def kill_riffle(known, lines):
    run = subprocess.Popen([RIFFLE, "run", "-q", "-p", "load -> pc,value", "-e", "exact", "--", known, "spin"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(lines):
        run.stdout.readline()
    child = child_of(run)
    run.kill()
    alive = sum(1 for _, line in zip(range(2000), run.stdout))
    os.kill(child, signal.SIGKILL)
    run.communicate(timeout=TIMEOUT)
    return [] if alive == 2000 else [f"{lines} lines: {alive} more"]


def killed(name, known):
    dice = random.Random(SEED)
    for title, kill in (("the program is killed: nothing is lost", kill_target),
                        ("riffle is killed: the program outlives it", kill_riffle)):
        wrong = [complaint for _ in range(KILLS) for complaint in kill(known, dice.randint(1, 400))]
        tap.tell(f"{name}: {title}, {KILLS} times", wrong)


EDGES = """
int numbers[1000];
__attribute__((noinline)) int k_edges(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (numbers[i] == 3)
            numbers[i] = 5;
        sum += numbers[i];
    }
    return sum;
}
int main(void)
{
    for (int i = 0; i < 1000; i++)
        numbers[i] = i % 4;
    return k_edges(1000) == 2000 ? 3 : 1;
}
"""


def edges(name, compiler, folder):
    """Blocks that follow each other; one of them runs in every fourth round."""
    source, program = os.path.join(folder, "edges.c"), os.path.join(folder, "edges")
    with open(source, "w", encoding="utf-8") as file:
        file.write(EDGES)
    command = [RIFFLE, "cc", "-O1", "-g", source, "-o", program]
    subprocess.run(command, env={**os.environ, "RIFFLE_CC": compiler, "RIFFLE_CC_BLOCKS": "1"}, check=True)
    run = Run("branch,jump -> pc,target", [program])
    inside = [row for row in run.tuples if row["function"] == "k_edges" and row["callee"] == "k_edges"]
    equal(f"{name}: edges out of a block that runs in every fourth round",
          sum(int(row["count"]) for row in inside if row["line"] == "8"), 250)
    equal(f"{name}: status, and what they add up to", (run.status, run.adds_up()), (3, True))
    tap.check(f"{name}: edges of the loop", sorted(int(row["count"]) for row in inside)[-2] in (749, 750), inside)
    subprocess.run(command, env={**os.environ, "RIFFLE_CC": compiler}, check=True)
    plain = Run("branch -> pc,target", [program])
    tap.check(f"{name}: without RIFFLE_CC_BLOCKS=1 it is told", "RIFFLE_CC_BLOCKS=1" in plain.errors, plain.errors)


SANDBOXED = r"""
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
volatile long table[64];
__attribute__((noinline)) void k_work(void) { for (long i = 0; i < 1000; i++) table[i & 63] = table[i & 7] + i; }
int main(void)
{
    volatile long first = table[0];
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
        return 9;
    k_work();
    return (int)syscall(SYS_exit, first != 0);
}
"""


def sandboxed(name, compiler, folder):
    """A program that gives up all system calls but a few is not killed for those of its hooks."""
    source, program = os.path.join(folder, "sandboxed.c"), os.path.join(folder, "sandboxed")
    with open(source, "w", encoding="utf-8") as file:
        file.write(SANDBOXED)
    subprocess.run([RIFFLE, "cc", "-O1", "-g", source, "-o", program], env={**os.environ, "RIFFLE_CC": compiler}, check=True)
    run = Run("load -> pc,value", [program])
    equal(f"{name}: a program in a sandbox of its own runs to its end", (run.status, run.of("k_work"), run.adds_up()), (0, 1000, True))


def copies(name, compiler, folder):
    """RIFFLE_CC_BURSTS=1: two copies of each function tell the same as one, and compute the same whichever of them runs."""
    known, _ = build(compiler, folder, RIFFLE_CC_BURSTS="1")
    name += ", two copies"
    for case in (loads_and_stores, values, atomics, calls, signals, without_riffle):
        case(name, known)
    run = Run("load -> pc", [known, "threads"])
    equal(f"{name}: 64 threads", (run.of("k_thread"), run.adds_up()), (64 * 20000, True))
    run = Run("load -> pc", [known, "threads"], "--burst", "10", "--frequency", "1/100")
    sampled = int(run.note("sampled").replace(",", "") or 0)
    tap.check(f"{name}: bursts: a hundredth of 1,280,000 loads", 9000 < sampled < 17000 and run.adds_up() and
              "what was skipped was not counted" in run.details, run.details)
    of = told(Run("load -> pc,value", [known, "values"], "--burst", "1", "--frequency", "1/2"))
    five, six = of.get(5, 0), of.get(6, 0)
    tap.check(f"{name}: bursts: not in step with a loop", 0.06 * (five + six) < six < 0.19 * (five + six), f"{five} and {six}")
    plain, program = os.path.join(folder, "plain"), os.path.join(folder, "copies")
    flags = ["-O2", "-g", "-w", f"{FOLDER}/copies.c", "-o"]
    subprocess.run([compiler, *flags, plain], check=True)
    subprocess.run([RIFFLE, "cc", *flags, program], check=True, env={**os.environ, "RIFFLE_CC": compiler, "RIFFLE_CC_BURSTS": "1"})
    expected = subprocess.run([plain], capture_output=True, text=True, timeout=TIMEOUT).stdout
    idle = subprocess.run([program], capture_output=True, text=True, timeout=TIMEOUT).stdout
    equal(f"{name}: the same output, idle", idle, expected)
    for options in ([], ["--burst", "1", "--frequency", "1/2"], ["--burst", "3", "--frequency", "1/5"]):
        run = Run("load -> pc,value", [program], *options)
        equal(f"{name}: the same output, {' '.join(options) or 'all told'}", run.output, expected)


def as_calls(name, compiler, folder):
    """RIFFLE_CC_CALLS=1: hooks that are called tell the same as code in their place."""
    known, _ = build(compiler, folder, RIFFLE_CC_CALLS="1")
    for case in (loads_and_stores, values, calls, threads, signals, bursts, without_riffle):
        case(name + ", called", known)


def without_riffle(name, known):
    run = subprocess.run([known, "loads"], capture_output=True, text=True, timeout=TIMEOUT)
    equal(f"{name}: without riffle", (run.stdout, run.stderr, run.returncode), ("sum loads\n", "", 3))
    run = subprocess.run([known, "threads"], capture_output=True, text=True, timeout=TIMEOUT,
                         env={**os.environ, "RIFFLE_HOOKS": "ring-fd=77\x1fwant=load:v\x1ffollow="})
    equal(f"{name}: with a ring that is not there", (run.stdout, run.stderr, run.returncode), ("sum threads\n", "", 3))


def of_another_version(name, known, folder):
    """A program keeps the hooks that it was linked with. Its note says which layout of the ring they know."""
    other, head = os.path.join(folder, "other"), b"\x07\0\0\0\x04\0\0\0\x01\0\0\0riffle\0\0"
    with open(known, "rb") as file:
        text = file.read()
    at = text.find(head) + len(head)
    with open(other, "wb") as file:
        file.write(text[:at] + b"\x01\0\0\0" + text[at + 4:])
    os.chmod(other, 0o755)
    run = subprocess.run([RIFFLE, "run", "-p", "load -> pc", "--", other, "loads"], capture_output=True, text=True,
                         timeout=TIMEOUT)
    tap.check(f"{name}: hooks of another version are refused", run.returncode == 126 and run.stdout == "" and
              "another version of riffle" in run.stderr, (run.returncode, run.stdout, run.stderr))
    with open(other, "wb") as file:
        file.write(text.replace(b"RffR" + text[at:at + 4], b"RffR\x01\0\0\0"))
    run = Run("load -> pc", [known, "twice", other])
    equal(f"{name}: as children they say so once, and run", (run.output, run.status, run.errors.count("another version of riffle"),
                                                            run.errors.count("\n")), ("sum child\n" * 2 + "sum twice\n", 3, 1, 1))


def without_events(name, compiler, folder):
    """Nothing that is asked for happens: that is an answer, too."""
    source, program = os.path.join(folder, "three.c"), os.path.join(folder, "three")
    with open(source, "w") as file:
        file.write("int main(void) { return 3; }\n")
    subprocess.run([RIFFLE, "cc", "-O1", source, "-o", program], env={**os.environ, "RIFFLE_CC": compiler}, check=True,
                   timeout=TIMEOUT)
    run = Run("load -> pc", [program])
    equal(f"{name}: a program without events", (run.status, run.errors, run.tuples, run.adds_up()), (3, "", [], True))


def others(name, known):
    run = Run("load -> pc", [known, "loads"], "--probe")
    if not shutil.which("valgrind") or "the probe is not there" in run.errors:
        tap.skip(f"{name}: --probe", "it is not there")
    else:
        tap.check(f"{name}: --probe", run.of("k_loads") >= 4000 and len(run.by_function) > 50, run.by_function)
        run = Run("insn -> pc", [known, "values"])
        tap.check(f"{name}: what hooks do not know goes to the probe", "hooks know" in run.errors and
                  run.of("k_values") > 800, run.errors)
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "loads.rft")
        Run("load -> pc,value", [known, "values"], "--record", trace)
        replayed = subprocess.run([RIFFLE, "replay", trace, "-e", "exact", "-n", "0", "--format", "csv"],
                                  capture_output=True, text=True, timeout=TIMEOUT).stdout
        tap.check(f"{name}: --record", ",0x5,700," in replayed, replayed[:500])


def main():
    for compiler in sys.argv[3:]:
        name = os.path.basename(compiler)
        if not shutil.which(compiler):
            tap.skip(name, "not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            known, library = build(compiler, folder)
            for case in (loads_and_stores, values, atomics, calls, threads, signals, bursts, killed,
                         without_riffle, others):
                case(name, known)
            of_another_version(name, known, folder)
            without_events(name, compiler, folder)
            processes(name, known, library)
            edges(name, compiler, folder)
            sandboxed(name, compiler, folder)
            copies(name, compiler, folder)
            as_calls(name, compiler, folder)
    print(f"# figure: {KILLS} kills each of program and riffle per compiler, with hooks")
    tap.end()


main()
