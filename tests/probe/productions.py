#!/usr/bin/env python3
"""productions - run productions natively, and compare what they tell with lists made by hand.

    productions.py RIFFLE INTERVALS FOLDER WORKLOADS KNOWN LIBRARY

INTERVALS, KNOWN and LIBRARY are as in bursts.py, FOLDER has the files of lab/hps, WORKLOADS programs of lab/workloads, native and
for the simulated core.
"""
import collections
import csv
import io
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

RIFFLE, INTERVALS, FOLDER, WORKLOADS, KNOWN, LIBRARY = sys.argv[1:7]
ROUNDS = 3000
# With it, which `meson test` sets, malloc and free fill the 64 MiB of lisp byte by byte, each in one interval. Where a burst meets
# one of those, the profile has 67 million addresses.
os.environ.pop("MALLOC_PERTURB_", None)
# Per interval of a round: loads and stores, calls, events (all three).
KINDS = [{"mem": 2, "call": 1}, {"mem": 2, "call": 0}, {"mem": 1, "call": 0}]


def run(*options, program=None, status=0):
    """What was told and skipped per profile, and what riffle said."""
    with tempfile.TemporaryDirectory() as folder:
        saved = os.path.join(folder, "run.rfp")
        done = subprocess.run([RIFFLE, "run", "-q", "-o", saved, *options, "--", *(program or [INTERVALS])],
                              capture_output=True, text=True)
        if done.returncode != status:
            return None, done.stderr
        text = subprocess.run([RIFFLE, "report", saved, "--details", "-n", "0"], capture_output=True, text=True,
                              check=True).stdout
    figures = [tuple(int(re.search(rf"^{name}\s+([\d,]+)$", part, re.M).group(1).replace(",", ""))
                     for name in ("bursts", "sampled", "skipped")) if "\nsampled " in part
               else int(re.search(r"^events\s+([\d,]+)", part, re.M).group(1).replace(",", ""))
               for part in text.split("\nprofile ")[1:]]
    return figures, done.stderr + text


def lab(name):
    return ["--productions", os.path.join(FOLDER, name + ".hps")]


def expect(of, burst, sparsity):
    told = skipped = 0
    for i in range(3 * ROUNDS):
        n = KINDS[i % 3].get(of, 1)
        if i % (burst + sparsity) >= sparsity:
            told += n
        else:
            skipped += n
    return 3 * ROUNDS // (burst + sparsity), told, skipped


def check_lab():
    for name, of in (("hot-call-pair", "call"), ("hot-data-stream", "mem"), ("hot-method", "all")):
        for burst, sparsity in ((1, 99), (7, 43)):
            got, text = run(*lab(name), "--set", f"sampleFreq=max-{sparsity}",
                            "--set", f"burstLength=max-{burst - 1}")
            wanted = [expect(of, burst, sparsity)]
            tap.check(f"{name}: burst {burst}, {sparsity} apart", got == wanted, f"{got}, must be {wanted}; {text}")
        got, text = run(*lab(name), "--set", "sampleFreq=max")
        wanted = [sum(KINDS[i % 3].get(of, 1) for i in range(3 * ROUNDS))]
        tap.check(f"{name}: at frequency 1 all is told", got == wanted, f"{got}, must be {wanted}; {text}")
    got, text = run(*lab("hot-call-pair"), *lab("hot-data-stream"), "--set", "sampleFreq=max-99")
    wanted = [expect("call", 1, 99), expect("mem", 1, 99)]
    tap.check("two files at once", got == wanted, f"{got}, must be {wanted}; {text}")


FILES = (("hot-call-pair", "call"), ("hot-data-stream", "mem"), ("hot-method", "all"))


def check_several():
    """Files with bursts of their own: each finds the same as when it runs alone."""
    for each in (((1, 99), (7, 43), (1, 9)),      # now and then two at once
                 ((1, 99), (100, 0), (1, 9)),     # one of them always
                 ((3, 4), (5, 6), (2, 9)),        # mostly some of them
                 ((1, 99), (1, 99), (50, 950)),   # two share
                 ((1, 8999), (9000, 9000), (1, 4000))):
        words = [word for (name, _), (burst, sparsity) in zip(FILES, each) for word in
                 (*lab(name), "--set", f"{name}.sampleFreq=max-{sparsity}", "--set", f"{name}.burstLength=max-{burst - 1}")]
        # --set changes the files before it, so it stands behind all files
        files = [w for i in range(0, len(words), 6) for w in words[i:i + 2]]
        sets = [w for i in range(0, len(words), 6) for w in words[i + 2:i + 6]]
        got, text = run(*files, *sets)
        wanted = [expect(of, *bursts) for (_, of), bursts in zip(FILES, each)]
        if each[1] == (100, 0):  # never over
            wanted[1] = (0, wanted[1][1], 0)
        tap.check(f"bursts of their own: {each}", got == wanted, f"{got}, must be {wanted}; {text}")


def with_text(text, *options, **program):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "own.hps")
        with open(path, "w") as file:
            file.write(text)
        return run("--productions", path, *options, **program)


OWN = """
register far = max - 9
counter_1 = far
P1: T.OPCLASS == return && !overflow_1 => null, inc_1;
P2: T.OPCLASS == return && overflow_1 => null, set_1(far);
P3: T.OPCLASS == mem_op && T.PC {pc} && overflow_1 => R, null
R: call(DataStream_handler) T.INSN
"""


def check_own():
    """Intervals that end with returns: each has 5 accesses, one of them by leaf's first instruction."""
    names = subprocess.run(["nm", INTERVALS], capture_output=True, text=True, check=True).stdout
    leaf = int(re.search(r"^(\w+) . leaf$", names, re.M).group(1), 16)
    got, text = with_text(OWN.format(pc=f"== {leaf}"))
    tap.check("intervals and places of one's own", got == [(300, 300, 2700)], f"{got} {text}")
    got, text = with_text(OWN.format(pc=">= 0"))
    # an interval has: store, load, call's store, load, ret's load. The first has no store; one store follows the last
    tap.check("without a place", got == [(300, 1500, 13500)], f"{got} {text}")


OTHERS = """
register long = max - 29
register far = max - 9
counter_1 = long
P1: T.OPCLASS == return && !overflow_1 => null, inc_1;
P2: T.OPCLASS == return && overflow_1 => null, set_1(far);
P3: T.OPCLASS == load && overflow_1 => R, null
R: call(DataStream_handler) T.INSN
"""
ONCE = """
register far = max - 99
register never = 0
counter_1 = far
P1: T.OPCLASS == return && !overflow_1 => null, inc_1;
P2: T.OPCLASS == return && overflow_1 => null, set_1(never);
P3: T.OPCLASS == load && overflow_1 => R, null
R: call(DataStream_handler) T.INSN
"""
AFTER = """
register far = max - 99
counter_1 = far
P1: T.OPCLASS == return && !overflow_1 => null, inc_1;
P3: T.OPCLASS == load && overflow_1 => R, null
R: call(DataStream_handler) T.INSN
"""


def check_forms():
    """A round has three loads (A, B, the return's) and one return; the interval ends behind the return's load."""
    got, text = with_text(OTHERS)
    # after 29 intervals, then after 9 of every 10: intervals 29, 39, ... 2999
    tap.check("another distance before the first burst", got == [(298, 894, 9000 - 894)], f"{got} {text}")
    got, text = with_text(ONCE)
    tap.check("one burst", got == [(1, 3, 8997)], f"{got} {text}")
    got, text = with_text(AFTER)
    tap.check("everything but the beginning", got == [(0, 8703, 297)], f"{got} {text}")
    got, text = with_text(OTHERS, *lab("hot-call-pair"), *lab("hot-method"), "--set", "hot-method.sampleFreq=max-9", "--set",
                          "hot-call-pair.sampleFreq=max-99")
    wanted = [(298, 894, 9000 - 894), expect("call", 1, 99), expect("all", 1, 9)]
    tap.check("intervals of their own in each file", got == wanted, f"{got}, must be {wanted}; {text}")


def named(pattern, handler="CallPair_handler"):
    return f"P1: {pattern} => R, null\nR: call({handler}) T.INSN\n"


def run_files(texts, *options, **program):
    """Each text is a file of its own; all run at once."""
    with tempfile.TemporaryDirectory() as folder:
        words = []
        for i, text in enumerate(texts):
            words += ["--productions", os.path.join(folder, f"own{i}.hps")]
            with open(words[-1], "w") as file:
                file.write(text)
        return run(*words, *options, **program)


def check_names():
    """Functions by name, in a program with libraries, threads and children; known.py has their counts."""
    cases = (("direct calls of a function", named("T.OPCLASS == proc_call && T.Target == k_leaf"), 100),
             ("in quotes", named('T.OPCLASS == proc_call && T.Target == "k_leaf"'), 100),
             ("its first instruction", named("T.OPCLASS == return && T.PC == k_leaf"), 300),
             ("a place in it", named("T.OPCLASS == load && T.PC == k_loads + 5", "DataStream_handler"), 1000),
             ("a range in it", named("T.OPCLASS == load && T.PC >= k_loads && T.PC < k_loads + 4096", "DataStream_handler"), 5001))
    got, said = run_files([text for _, text, _ in cases], program=[KNOWN, LIBRARY], status=42)
    for i, (title, _, wanted) in enumerate(cases):
        tap.check(f"names: {title}", got is not None and got[i] == wanted, f"{got}, must be {wanted}; {said}")
    tap.check("names: no warning", "no file that was mapped" not in said, said)
    got, said = with_text(named("T.OPCLASS == proc_call && T.Target == k_nobody"), program=[KNOWN, LIBRARY], status=42)
    tap.check("names: another one", got == [0] and "no file that was mapped has the function 'k_nobody'" in said, f"{got} {said}")
    got, said = with_text(named("T.OPCLASS == load && T.PC >= k_loads", "DataStream_handler"))
    tap.check("names: an order is refused", got is None and "own.hps:1:1: the probe cannot order functions" in said, said)


def check_known():
    """Threads, signals, fork, exec: nothing is told twice or lost, with three clocks."""
    files = [*lab("hot-call-pair"), *lab("hot-data-stream"), *lab("hot-method")]
    sets = ["--set", "hot-data-stream.sampleFreq=max-7", "--set", "hot-data-stream.burstLength=max-2",
            "--set", "hot-method.sampleFreq=max-30"]
    whole, text = run(*files, "--set", "sampleFreq=max", program=[KNOWN, LIBRARY], status=42)
    parts, more = run(*files, *sets, program=[KNOWN, LIBRARY], status=42)
    sums = [sampled + skipped for _, sampled, skipped in parts] if parts else None
    # threads that wait for each other do a little more or less from run to run, and so does the loader
    tap.check("known: sampled + skipped is what there is",
              sums is not None and all(abs(a - b) <= 0.03 * b for a, b in zip(sums, whole)), f"{sums} {whole} {text} {more}")
    tap.check("known: each has its share", parts is not None and all(
        0.5 < sampled / (sampled + skipped) * part < 2 for (_, sampled, skipped), part in zip(parts, (100, 10 / 3, 31))),
              f"{parts}")


def check_beats():
    """Every third interval calls leaf; the others are rounds of loops. Distances that are drawn from the file's max ~ n hold the
    truth, and equal ones come with a warning."""
    trials = 1000 if os.environ.get("RIFFLE_TEST_LONG") else 20
    held = told = 0
    for seed in range(trials):
        with tempfile.TemporaryDirectory() as folder:
            saved = os.path.join(folder, "run.rfp")
            subprocess.run([RIFFLE, "run", "-q", "-o", saved, *lab("hot-method"), "--set", "sampleFreq=max~14", "--seed", str(seed),
                            "--", INTERVALS], capture_output=True, check=True)
            text = subprocess.run([RIFFLE, "report", saved, "--format", "csv", "-n", "0"], capture_output=True, text=True,
                                  check=True).stdout
        rows = sorted((int(row["count"]), int(row["lower"]), int(row["upper"])) for row in csv.DictReader(io.StringIO(text)))
        for truth, (_, low, high) in zip((ROUNDS, 2 * ROUNDS), rows):
            held += low <= truth <= high
            told += 1
    tap.check("random distances: bounds hold the truth as often as they say", told == 2 * trials and held >= 0.87 * told,
              f"{held} of {told}")
    for title, options, warned in (("of a file", ["--set", "sampleFreq=max-98"], True), ("of a file, random", [], False)):
        done = subprocess.run([RIFFLE, "run", *lab("hot-method"), *options, "--", INTERVALS], capture_output=True, text=True)
        tap.check(f"equal distances {title}: a warning", ("a loop in step with them" in done.stderr) == warned, done.stderr)
    for frequency, warned in (("0.9", True), ("1/3", True), ("1/4", False), ("1", False)):
        done = subprocess.run([RIFFLE, "run", "-p", "calls", "--burst", "100", "--frequency", frequency, "--", INTERVALS],
                              capture_output=True, text=True)
        tap.check(f"bursts of 100, frequency {frequency}: {'a' if warned else 'no'} warning",
                  ("close to each other: a loop in step" in done.stderr) == warned, done.stderr)


def gray_code(n):
    """Seven flags go through n states, one of them changes at a time."""
    states = [i ^ i >> 1 for i in range(n + 1)]
    text = "register set = max\nregister unset = 0\n"
    for state, after in zip(states, states[1:]):
        flags = " && ".join(("" if state >> bit & 1 else "!") + f"overflow_{bit}" for bit in range(7))
        bit = (state ^ after).bit_length() - 1
        text += f"T.OPCLASS == proc_call && {flags} => null, set_{bit}({'set' if after >> bit & 1 else 'unset'})\n"
    return text + "P: T.OPCLASS == proc_call && overflow_7 => call(CallPair_handler) T.INSN, null\n"


def check_refusals():
    for title, text, says in (
            ("a register of RV64", "P1: T.OPCLASS == load && T.RS == a0 => R, null\nR: call(DataStream_handler) T.INSN\n",
             "own.hps:1:26: T.RS is an operand of RV64, which instructions of x86-64 do not have; riffle sim can match it"),
            ("an opcode of RV64", "P1: T.OPCLASS == load && T.OPCODE == lbu => R, null\nR: call(DataStream_handler) T.INSN\n",
             "own.hps:1:38: expected an instruction of x86-64, such as movzx, or the bytes of its opcode, such as 0x0fb6, got 'lbu'"),
            ("loads that end intervals", "P1: T.OPCLASS == load && !overflow_1 => null, inc_1;\n"
             "P2: T.OPCLASS == load && overflow_1 => R, null\nR: call(DataStream_handler) T.INSN\n",
             "own.hps:1:1: the probe cannot count anything but"),
            ("a handler on another class", "\n P1: T.OPCLASS == load => call(CallPair_handler) T.INSN, null\n",
             "own.hps:2:2: CallPair_handler is for calls, returns, jumps and branches"),
            ("a value beyond a counter", "register f = 8589934592\ncounter_1 = f\n"
             "P1: T.OPCLASS == proc_call && overflow_1 => R, set_1(f);\nR: call(CallPair_handler) T.INSN\n",
             "own.hps:1:10: 'f' is 8589934592, and counters have 32 bits"),
            ("no handler", "P1: T.OPCLASS == proc_call => null, inc_1;\n", "own.hps:1:1: no production calls a handler"),
            ("other controls for other instructions", "register n = max - 3\ncounter_1 = n\n"
             "P1: T.OPCLASS == proc_call && !overflow_1 => null, inc_1;\n"
             "P2: T.OPCLASS == return && !overflow_1 => null, dec_1;\n"
             "P3: T.OPCLASS == proc_call && overflow_1 => R, set_1(n);\nR: call(CallPair_handler) T.INSN\n",
             "own.hps:4:1: the probe cannot run another control"),
            ("distances by turns", "register a = max - 3\nregister b = max - 5\nregister set = max\nregister unset = 0\n"
             "counter_1 = a\n"
             "P1: T.OPCLASS == proc_call && !overflow_1 => null, inc_1;\n"
             "P2: T.OPCLASS == proc_call && overflow_1 && !overflow_2 => R, set_1(b), set_2(set);\n"
             "P3: T.OPCLASS == proc_call && overflow_1 && overflow_2 => R, set_1(a), set_2(unset);\n"
             "R: call(CallPair_handler) T.INSN\n",
             "own.hps:6:1: the probe needs bursts of one length"),
            ("65 patterns", "".join(f"P{i}: T.OPCLASS == proc_call && T.PC == {2 * i} => call(CallPair_handler) T.INSN, null\n"
                                    for i in range(65)), "own.hps:65:1: the productions have more than 64 patterns"),
            ("17 functions", "".join(f"P{i}: T.OPCLASS == proc_call && T.PC == f{i} => call(CallPair_handler) T.INSN, null\n"
                                     for i in range(17)), "own.hps:17:40: more than 16 functions by name, too many for the probe"),
            ("a byte 0", "P1: T.OPCLASS == proc_call\0 => null, null\n", "own.hps:1:27: expected '=>', '&&' or '||', got a byte 0"),
            ("66 states", gray_code(66), "own.hps:3:1: the probe cannot run counters that have more than 64 states"),
    ):
        got, said = with_text(text)
        tap.check(f"refused: {title}", got is None and says in said and "Traceback" not in said, f"{got} {said}")
    read, write = os.pipe()
    os.write(write, named("T.OPCLASS == proc_call").encode())
    os.close(write)
    done = subprocess.run([RIFFLE, "run", "--productions", f"/dev/fd/{read}", "--", INTERVALS], capture_output=True, text=True,
                          pass_fds=[read])
    tap.check("read from a pipe", done.returncode == 0 and f"{ROUNDS:,} calls" in done.stderr, done.stderr)
    got, said = run("--productions", FOLDER)
    tap.check("refused: a folder", got is None and "cannot read: Is a directory" in said, f"{got} {said}")
    got, said = run(*lab("hot-call-pair"), "--burst", "3")
    tap.check("refused: --burst beside --productions", got is None and "--set" in said, f"{got} {said}")


def pairs(command, program):
    """All calls by the names of caller and callee. Natively a call into a library goes through a stub."""
    with tempfile.TemporaryDirectory() as folder:
        saved = os.path.join(folder, "run.rfp")
        subprocess.run([RIFFLE, command, "-q", "-o", saved, *lab("hot-call-pair"), "--set", "sampleFreq=max",
                        "--", program, "1"], capture_output=True, check=True)
        text = subprocess.run([RIFFLE, "report", saved, "--format", "csv", "-n", "0"], capture_output=True, text=True,
                              check=True).stdout
    counts = collections.Counter()
    for row in csv.DictReader(io.StringIO(text)):
        names = [re.sub(r"@plt.*", "", row[name]) for name in ("function", "callee")]
        counts[tuple(names)] += int(row["count"])
    return counts


def check_compared():
    """The same in one command. What has no names cannot be compared."""
    native, guest = (os.path.join(WORKLOADS, name) for name in ("lisp", "lisp.rv64"))
    if not os.path.exists(guest):
        tap.skip("riffle compare of the core and natively", "no compiler for RV64")
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, wanted in (("hot-call-pair", None), ("hot-data-stream", "has no names to compare")):
            saved = [os.path.join(folder, side) for side in ("sim.rfp", "run.rfp")]
            for command, path, program in (("sim", saved[0], guest), ("run", saved[1], native)):
                subprocess.run([RIFFLE, command, "-q", "-o", path, *lab(name), "--set", "sampleFreq=max~9" if wanted else
                                "sampleFreq=max", "--", program, "1"], capture_output=True, check=True)
            done = subprocess.run([RIFFLE, "compare", "-m", "overlap", "-f", "csv", *saved], capture_output=True, text=True)
            if wanted:
                tap.check(f"{name}: addresses of two programs are refused", done.returncode != 0 and wanted in done.stderr,
                          done.stdout + done.stderr)
            else:
                overlap = float(done.stdout.splitlines()[1].split(",")[0]) if done.returncode == 0 else 0
                tap.check(f"{name}: riffle compare -m overlap of sim and run is over 95%", overlap > 0.95, done.stdout + done.stderr)


def check_all_compared():
    """Programs whose calls are their own, and one without names."""
    guests = [os.path.join(WORKLOADS, name + ".rv64") for name in ("connect", "graph", "lz")]
    if not all(map(os.path.exists, guests)):
        tap.skip("riffle compare of three programs", "no compiler for RV64")
        return
    with tempfile.TemporaryDirectory() as folder:
        sim, native, bare = (os.path.join(folder, side) for side in ("sim.rfp", "run.rfp", "bare"))
        for guest in guests:
            for command, path, program in (("sim", sim, guest), ("run", native, guest[:-5])):
                subprocess.run([RIFFLE, command, "-q", "-o", path, *lab("hot-call-pair"), "--set", "sampleFreq=max", "--",
                                program, "1"], capture_output=True, check=True)
            done = subprocess.run([RIFFLE, "compare", "-m", "overlap", "-f", "csv", sim, native], capture_output=True, text=True)
            overlap = float(done.stdout.splitlines()[1].split(",")[0]) if done.returncode == 0 else 0
            tap.check(f"{os.path.basename(guest)}: sim and run overlap by more than 95%", overlap > 0.95, done.stdout + done.stderr)
        subprocess.run(["strip", "-o", bare, guests[0][:-5]], check=True)
        subprocess.run([RIFFLE, "run", "-q", "-o", native, *lab("hot-call-pair"), "--", bare, "1"], capture_output=True, check=True)
        done = subprocess.run([RIFFLE, "compare", "-m", "overlap", sim, native], capture_output=True, text=True)
        tap.check("a program without names is refused", done.returncode != 0 and "functions without names" in done.stderr,
                  done.stdout + done.stderr)


def check_both():
    """One source has the same call pairs in the core and natively, but for its start and calls inside the library."""
    native, guest = (os.path.join(WORKLOADS, name) for name in ("lisp", "lisp.rv64"))
    if not os.path.exists(guest):
        tap.skip("call pairs in the core and natively", "no compiler for RV64")
        return
    ours, theirs = pairs("run", native), pairs("sim", guest)
    overlap = sum(min(ours[pair] / sum(ours.values()), theirs[pair] / sum(theirs.values())) for pair in ours)
    tap.check("call pairs in the core and natively overlap by more than 95%", overlap > 0.95,
              f"{overlap}: {ours.most_common(5)} {theirs.most_common(5)}")
    tap.check("calls of eval by itself are the same to the last", ours["eval", "eval"] == theirs["eval", "eval"] > 0,
              f"{ours.most_common(5)} {theirs.most_common(5)}")


def check_opcodes():
    """T.OPCODE is an instruction of x86-64, by name or by its bytes."""
    for of, opcode, each in (("mem_op", "== mov", 3), ("mem_op", "!= mov", 2), ("mem_op", "== 0x8b", 2), ("mem_op", "== 0x89", 1),
                             ("load", "== ret", 1), ("branch", "== jne", 2), ("branch", "== je", 1), ("branch", "!= je", 2)):
        handler = "HotMethod" if of == "branch" else "DataStream"
        got, text = with_text(f"T.OPCLASS == {of} && T.OPCODE {opcode} => call({handler}_handler) T.INSN, null")
        tap.check(f"{of}, T.OPCODE {opcode}", got == [each * ROUNDS], f"{got}, must be {each * ROUNDS}; {text}")
    got, text = with_text(OWN.format(pc=">= 0 && T.OPCODE == mov"))
    tap.check("an opcode in bursts", got == [(300, 900, 8100)], f"{got} {text}")


def loads_by_place(folder, program, *options):
    """How often each load of the program's own code was there, one dictionary per profile."""
    saved = os.path.join(folder, "loads.rfp")
    subprocess.run([RIFFLE, "run", "-q", "-o", saved, "-e", "exact", *options, "--", program, "1"], capture_output=True, check=True)
    text = subprocess.run([RIFFLE, "report", saved, "-f", "csv", "-n", "0"], capture_output=True, text=True, check=True).stdout
    found = []
    for part in text.split("\n\n"):
        counts = collections.Counter()
        for row in csv.DictReader(io.StringIO(part)):
            if row["module"] == os.path.basename(program):
                counts[int(row["pc"], 0)] += int(row["count"])
        found.append(counts)
    return found


def check_disassembled():
    """Of a compiled program: the loads of an opcode are those that objdump calls so."""
    program = os.path.join(WORKLOADS, "lisp")
    opcodes = ("mov", "movzx", "movsxd", "cmp", "add", "pop", "ret", "jmp")
    text = subprocess.run(["objdump", "-d", "-M", "intel", "--no-show-raw-insn", program], capture_output=True, text=True,
                          check=True).stdout
    names = {int(at, 16): name for at, name in re.findall(r"^ +(\w+):\t(?:bnd |notrack |rep |lock )*(\w+)", text, re.M)}
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for opcode in opcodes:
            files += ["--productions", os.path.join(folder, opcode + ".hps")]
            with open(files[-1], "w") as file:
                file.write(f"T.OPCLASS == load && T.OPCODE == {opcode} => call(DataStream_handler) T.INSN, null\n")
        whole, = loads_by_place(folder, program, "-p", "load -> pc")
        parts = loads_by_place(folder, program, *files)
    first = min(whole)
    base = next(first - at for at in names if (first - at) % 4096 == 0 and all(pc - first + at in names for pc in whole))
    for opcode, part in zip(opcodes, parts):
        wanted = {pc: n for pc, n in whole.items() if names.get(pc - base) == opcode}
        tap.check(f"loads of {opcode} in a program", part == wanted, f"{len(part)} places, must be {len(wanted)}")
    told = sum(sum(part.values()) for part in parts)
    tap.check("these are most loads", 0.9 * sum(whole.values()) < told < sum(whole.values()), f"{told} of {sum(whole.values())}")


check_lab()
check_opcodes()
check_disassembled()
check_several()
check_own()
check_forms()
check_names()
check_known()
check_beats()
check_refusals()
check_both()
check_compared()
check_all_compared()
tap.end()
