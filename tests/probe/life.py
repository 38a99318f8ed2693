#!/usr/bin/env python3
"""life - what riffle run does when a process is killed; and that replaying a recording gives the same as the run.

    life.py RIFFLE SPIN WAIT

5 rounds of each kill; 200 with RIFFLE_TEST_LONG=1, or RIFFLE_TEST_KILLS of them. The moments are drawn from RIFFLE_TEST_SEED.
"""
import csv
import io
import os
import random
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import check, end  # noqa: E402

RIFFLE, SPIN, WAIT = sys.argv[1:4]
ROUNDS = int(os.environ.get("RIFFLE_TEST_KILLS", "200" if os.environ.get("RIFFLE_TEST_LONG") else "5"))
SEED = int(os.environ.get("RIFFLE_TEST_SEED", "1"))
PATIENCE = 60  # seconds, on a busy machine
# What they look at changes, so that it is merged with its repeats before it is told.
MERGED = {"load value==0 -> pc", "store value!=0 -> pc"}


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def rounds_of(path):
    """How far spin has come, by its own account."""
    try:
        with open(path, "rb") as counter:
            return struct.unpack("<Q", counter.read(8))[0]
    except (OSError, struct.error):
        return 0


def target_of(riffle):
    """The process that riffle has started."""
    with open(f"/proc/{riffle.pid}/task/{riffle.pid}/children") as children:
        return int(children.read().split()[0])


def has_child(riffle):
    with open(f"/proc/{riffle.pid}/task/{riffle.pid}/children") as children:
        return children.read() != ""


def rows(*command):
    out = subprocess.run([RIFFLE, *command, "--format", "csv", "-n", "0"], capture_output=True,
                         text=True, check=True).stdout
    return [list(csv.DictReader(io.StringIO(part))) for part in out.strip().split("\n\n")]


def hot_places():
    """The addresses of the one load of k_spin, behind its first instruction of two bytes, and of its one store."""
    out = subprocess.run(["nm", SPIN], capture_output=True, text=True, check=True).stdout
    spin = next(int(line.split()[0], 16) for line in out.splitlines() if "k_spin" in line)
    return spin + 2, spin + 12


def start(folder, *options, rounds=None, shell=False):
    counter = os.path.join(folder, "counter")
    program = [SPIN, counter] + ([str(rounds)] if rounds else [])
    if shell:
        program = ["sh", "-c", '"$0" "$1"; exit 5', *program]
    selectors = ["-p", "load -> pc"] if not MERGED.intersection(options) else []
    command = [RIFFLE, "run", "--details", *selectors, "-e", "exact", *options, "--", *program]
    riffle = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return riffle, counter


def kill_target(dice, *options):
    with tempfile.TemporaryDirectory() as folder:
        saved = os.path.join(folder, "spin.rfp")
        riffle, counter = start(folder, "-o", saved, *options)
        if not wait_for(lambda: rounds_of(counter) > 0):
            riffle.kill()
            return "it never started"
        time.sleep(dice.random() * 0.3)
        os.kill(target_of(riffle), signal.SIGKILL)
        _, report = riffle.communicate(timeout=PATIENCE)
        seen = rounds_of(counter)
        places = hot_places()
        counted = sum(int(row["count"]) for row in rows("report", saved)[0]
                      if int(row["pc"], 16) in places)
    if riffle.returncode != -signal.SIGKILL:
        return f"ended with {riffle.returncode}"
    if "by signal 9" not in report:
        return "the report does not say that it was killed"
    # a block of the unrolled loop has at most 16 rounds, and one block was being executed
    if not seen - 16 <= counted <= seen + 16:
        return f"{seen} rounds run, {counted} counted"
    return None


def kill_child(dice, *options):
    """A child of the program, which goes on without it."""
    with tempfile.TemporaryDirectory() as folder:
        saved = os.path.join(folder, "spin.rfp")
        riffle, counter = start(folder, "-o", saved, *options, shell=True)
        if not wait_for(lambda: rounds_of(counter) > 0):
            riffle.kill()
            return "it never started"
        time.sleep(dice.random() * 0.3)
        shell = target_of(riffle)
        with open(f"/proc/{shell}/task/{shell}/children") as children:
            os.kill(int(children.read().split()[0]), signal.SIGKILL)
        _, report = riffle.communicate(timeout=PATIENCE)
        seen = rounds_of(counter)
        places = hot_places()
        counted = sum(int(row["count"]) for row in rows("report", saved)[0]
                      if int(row["pc"], 16) & 0xffffffffffff in places)
    if riffle.returncode != 5:
        return f"ended with {riffle.returncode}: {report}"
    return None if seen - 16 <= counted <= seen + 16 else f"{seen} rounds run, {counted} counted"


def kill_in_bursts(dice, *options):
    """After a kill it is also known what was skipped since the last burst: the counters are in shared memory."""
    with tempfile.TemporaryDirectory() as folder:
        saved = os.path.join(folder, "spin.rfp")
        riffle, counter = start(folder, "-q", "-o", saved, "--function", "k_spin", *options)
        if not wait_for(lambda: rounds_of(counter) > 0):
            riffle.kill()
            return "it never started"
        time.sleep(dice.random() * 0.3)
        os.kill(target_of(riffle), signal.SIGKILL)
        riffle.communicate(timeout=PATIENCE)
        seen = rounds_of(counter)
        text = subprocess.run([RIFFLE, "report", saved, "--details", "-n", "1"], capture_output=True, text=True, check=True).stdout
    sampled, skipped = (int(re.search(rf"^{name}\s+([\d,]+)$", text, re.M).group(1).replace(",", ""))
                        for name in ("sampled", "skipped"))
    # the loop is one block with one load, and one block was being executed: skipped events count at its top, told ones at its end
    if not seen - 1 <= sampled + skipped <= seen + 1:
        return f"{seen} rounds run, {sampled} sampled, {skipped} skipped"
    return None


def kill_collector(dice, *options):
    with tempfile.TemporaryDirectory() as folder:
        riffle, counter = start(folder, *options, rounds=30_000_000)
        if not wait_for(lambda: rounds_of(counter) > 0):
            riffle.kill()
            return "it never started"
        time.sleep(dice.random() * 0.2)
        if rounds_of(counter) == 30_000_000:
            return "over before it could be killed"
        riffle.kill()
        out, words = riffle.communicate(timeout=PATIENCE)  # until the target closes its ends
        if "spun" not in out:
            return f"the target did not run on: {words}"
        if rounds_of(counter) != 30_000_000:
            return f"the target stopped at {rounds_of(counter)}"
        return None if "the collector is gone" in words else f"not a word: '{words}'"


def check_mourning():
    """The collector of a program with many children is killed: one of them says so, and all run on."""
    script = "i=0; while [ $i -lt 12 ]; do (/bin/echo $i) & i=$((i + 1)); done; wait; echo all"
    for options in ([], ["--stream"]):
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            riffle = subprocess.Popen([RIFFLE, "run", "-q", "-p", "code", "-e", "exact", *options, "--", "sh", "-c", f"read x <{pipe}; {script}"],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            with open(pipe, "w") as begin:  # once the shell has opened it
                riffle.kill()
                riffle.wait()
                begin.write("go\n")
            out, words = riffle.communicate(timeout=PATIENCE)
        check(f"the loss of the collector is told once, and all 12 children run on {' '.join(options)}",
              words.count("the collector is gone") == 1 and sorted(out.split()) == sorted([*map(str, range(12)), "all"]), [out, words])


def check_kills():
    dice = random.Random(SEED)
    for i in range(min(ROUNDS, 50)):
        for title, options in (("bursts", ("--burst", "10", "--frequency", "1/1000")),
                               ("the first burst never comes", ("--frequency", "0.0000000001")),
                               ("a second group", ("--frequency", "1/1000", "-p", "store -> pc"))):
            failure = kill_in_bursts(dice, *options)
            check(f"kill -9 of the target in bursts: {title}, {i + 1}", failure is None, failure)
    for title, kill in (("target", kill_target), ("child", kill_child), ("collector", kill_collector)):
        for i in range(ROUNDS):
            # through the ring, through counters, merged: what is always the same, what never is
            options = [["--stream"], [], *(["-p", selector] for selector in sorted(MERGED))][i % 4]
            failure = kill(dice, *options)
            check(f"kill -9 of the {title}, {i + 1}, {' '.join(options)}", failure is None, failure)


def check_record(title, *selectors):
    with tempfile.TemporaryDirectory() as folder:
        saved, trace = os.path.join(folder, "a.rfp"), os.path.join(folder, "a.rft")
        lanes = [word for selector in selectors for word in ("-p", selector, "-e", "exact")]
        command = [RIFFLE, "run", "-q", *lanes, "-o", saved, "--record", trace]
        run = subprocess.run([*command, "--", "/bin/echo", "hello"], capture_output=True, text=True)
        check(f"{title}: output", run.stdout == "hello\n" and run.returncode == 0, run.stderr)
        again = ["-e", "exact"] if len(selectors) == 1 else lanes
        live, replayed = rows("report", saved), rows("replay", trace, *again)
        check(f"{title}: replayed as live", live == replayed and len(live[0]) > 100, len(live[0]))
        modes = [oct(os.stat(path).st_mode & 0o777) for path in (saved, trace)]
        check(f"{title}: only for the owner", modes == ["0o600", "0o600"], modes)


def check_ends():
    def run(*command, options=()):
        return subprocess.run([RIFFLE, "run", "--details", "-e", "exact", *options, "--", *command],
                              capture_output=True, text=True, input="in\n")

    result = run("sh", "-c", "cat; exit 9", options=["-q"])
    check("exit status and streams pass through", (result.returncode, result.stdout, result.stderr)
          == (9, "in\n", ""), result)
    result = run("sh", "-c", "kill -TERM $$", options=["-q"])
    check("so do signals", result.returncode == -signal.SIGTERM, result)
    result = run("/nowhere/at/all", options=["-q"])
    check("a program that is not there", result.returncode == 127, result)
    result = run("sh", "-c", "/bin/echo a; (/bin/echo b); exec /bin/echo c")
    check("forks and execs are followed", "processes   6" in result.stderr
          or "processes   5" in result.stderr, result.stderr)
    check("by id and program", re.search(r"processes +\d: 1 (da)?sh \(\d+\), 2 (da)?sh \(\d+\), .* echo \(\d+\)",
                                         result.stderr) is not None, result.stderr)
    check("and verified", "produced = consumed + lost" in result.stderr, result.stderr)
    result = run("sh", "-c", "/bin/echo a; exec /bin/echo c", options=["--per-process", "-p", "calls"])
    processes = [line.split()[1] for line in result.stderr.splitlines() if line.startswith("process ")]
    check("processes kept apart", processes == [str(i + 1) for i in range(len(processes))]
          and len(processes) in (3, 4) and "produced = consumed + lost" in result.stderr, result.stderr)
    result = run("sh", "-c", "/bin/true | cat; /bin/true; exit 0", options=["--by", "process"])
    listed = re.findall(r"(\d+) ([^ ]+) \(\d+\)", result.stderr)
    rows = re.findall(r"% +[\d,.]+(?: M)? +(\d+)  ([^ \n]+)", result.stderr)
    check("a row per process, numbered and named as in the list", sorted(rows) == sorted(listed)
          and sum(name == "true" for _, name in rows) == 2, result.stderr)
    result = run("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do (:); (:); done; :", options=["--per-process", "-p", "calls"])
    check("the seventeenth process joins the sixteenth, and that is told",
          "processes   19: 1 " in result.stderr
          and "; process 16 is that one and all 3 after it" in result.stderr
          and "\nprocess     16" in result.stderr and "\nprocess     17" not in result.stderr,
          result.stderr)
    result = run("sh", "-c", "exec /bin/echo c", options=["-p", "edges", "-n", "0", "--by", "item"])
    pcs = [int(word, 16) for word in re.findall(r"\b0x[0-9a-f]+", result.stderr)]
    check("code addresses are those of the program, behind exec, too", len(pcs) > 500
          and max(pcs) < 1 << 48, [hex(pc) for pc in pcs if pc >= 1 << 48][:5])
    for form, engine in (("csv", "exact"), ("json", "exact"), ("tree", "rap(key=a)"), ("heat", "rap(key=both)")):
        result = subprocess.run([RIFFLE, "run", "-e", engine, "-p", "edges", "-n", "0", "--format", form, "--",
                                 "sh", "-c", "exec /bin/echo c"], capture_output=True, text=True)
        # A range that covers several programs ends with ..ff and is printed as it is.
        tagged = [word for word in re.findall(r"\b0x[0-9a-f]+", re.sub(r"0x[0-9a-f]+\.\.0x[0-9a-f]*f{12}\b", "", result.stderr))
                  if int(word, 16) >= 1 << 48 and '"from' not in word]
        check(f"the same as {form}", "0x" in result.stderr and not tagged, tagged[:5])
    piped = subprocess.run(["bash", "-c", '"$0" run -p values -n 0 -- sh -c "exit 7" 2>&1 >/dev/null | head -1 >/dev/null;'
                            ' exit ${PIPESTATUS[0]}', RIFFLE], capture_output=True)
    check("whoever stops reading the report does not change the status", piped.returncode == 7, piped)
    result = subprocess.run([RIFFLE, "run", "--", "sh", "-c", "/bin/true; /bin/true; exit 0"], capture_output=True, text=True)
    check("the first screen of a program with children offers to tell them apart", "|process, " in result.stderr, result.stderr)
    result = run("/bin/echo", options=["-p", "load -> thread"])
    check("threads are decimal", re.search(r"%\s+[\d,]+\s+1$", result.stderr, re.M) is not None, result.stderr)
    result = run("/bin/true", options=["--limit", "1000", "-p", "values"])
    check("a limit", "1,000 produced, 1,000 consumed" in result.stderr, result.stderr)


def check_early_ends():
    """SIGTERM to riffle while it starts the program: both are over, and riffle died of it."""
    statuses, left = [], 0
    for i in range(24):
        riffle = subprocess.Popen([RIFFLE, "run", "-q", "--", "sleep", "60"], stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(0.003 * i)
        riffle.send_signal(signal.SIGTERM)
        statuses.append(riffle.wait(timeout=60))
        try:
            os.killpg(riffle.pid, signal.SIGKILL)
            left += 1
        except ProcessLookupError:
            pass
    check("a signal that comes early ends both", (set(statuses), left) == ({-signal.SIGTERM}, 0), (statuses, left))


def check_lossy():
    with tempfile.TemporaryDirectory() as folder:
        lanes = [word for _ in range(12) for word in ("-p", "any -> pc,value")]
        riffle, _ = start(folder, "--lossy", "-n", "1", *lanes, rounds=2_000_000)
        _, report = riffle.communicate(timeout=PATIENCE)
    note = next((line for line in report.splitlines() if line.startswith("stream")), report)
    check("lossy: what is dropped is counted", "produced = consumed + lost" in note
          and " 0 lost" not in note, note)


def check_starvation():
    """The child gets its turn although its parent spins, and always has more events, until the child is done."""
    lanes = [word for selector in ("values", "edges", "calls", "code", "load -> pc,addr", "any -> pc,value")
             for word in ("-p", selector)]
    command = [RIFFLE, "run", "-q", "--threads", "1", "-e", "exact", *lanes, "--", WAIT, "300000"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        check("a parent that spins for its child", run.stdout == "done\n", run)
    except subprocess.TimeoutExpired:
        check("a parent that spins for its child", False, "did not end")


def lag():
    """Seconds from the end of the program to that of the collector."""
    with subprocess.Popen([RIFFLE, "run", "-q", "-o", os.devnull, "-p", "calls", "--", "sleep", "0.3"]) as riffle:
        wait_for(lambda: has_child(riffle))
        program = os.pidfd_open(target_of(riffle))
        select.select([program], [], [], PATIENCE)
        start = time.monotonic()
        riffle.wait(PATIENCE)
        os.close(program)
        return time.monotonic() - start


def check_prompt_end():
    """The collector does not sleep on when the program has ended. The machine may be busy, so some rounds may be late."""
    lags = []
    while len(lags) < 12 and sum(seconds < 0.06 for seconds in lags) < 4:
        lags.append(lag())
    check("the collector ends with the program", sum(seconds < 0.06 for seconds in lags) == 4, lags)


def memories_of(riffle):
    """What shared memory it holds, by name."""
    folder = f"/proc/{riffle.pid}/fd"
    try:
        return {os.path.basename(os.readlink(os.path.join(folder, number)).split()[0]) for number in os.listdir(folder)}
    except OSError:  # one of them was closed meanwhile
        return set()


def check_first_question():
    """Who finds the ring, and so can use control, finds also the memory over which top asks."""
    missing = 0
    for _ in range(5):
        with subprocess.Popen([RIFFLE, "run", "-q", "-p", "calls", "--", "sleep", "60"]) as riffle:
            while "memfd:riffle-ring" not in (held := memories_of(riffle)) and riffle.poll() is None:
                pass
            missing += "memfd:riffle-live" not in held
            riffle.terminate()
    check("top can ask from the first moment", missing == 0, f"{missing} of 5 could not be asked yet")


def main():
    print(f"# seed {SEED}")
    check_first_question()
    check_record("one selector", "values")
    check_record("several", "values", "edges", "calls")
    check_ends()
    check_early_ends()
    check_lossy()
    check_starvation()
    check_prompt_end()
    check_kills()
    check_mourning()
    print(f"# figure: {ROUNDS} kills each of target, child and collector, {3 * min(ROUNDS, 50)} in bursts")
    end()


main()
