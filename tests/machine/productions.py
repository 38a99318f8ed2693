#!/usr/bin/env python3
"""Productions in the decode stage: bursts and the events inside them to the event, on a program that is known by hand
(intervals.S); at frequency 1 the exhaustive profile; and what the program itself does is left alone.

    productions.py RIFFLE ALONE PRODUCTIONS WORKLOADS
"""
import csv
import io
import os
import re
import subprocess
import sys

import isa

PRODUCTIONS, WORKLOADS = sys.argv[3:5]
ROUNDS = 3000
# Events of each interval of a round, per kind of profile.
ROUND = {"hot-call-pair": (1, 0, 0), "hot-method": (1, 1, 1), "hot-data-stream": (1, 1, 1)}
CORES = (("--core", "hps"), ("--functional",))


def build(work):
    program = work.path("intervals.rv64")
    subprocess.run([isa.GCC, "-static", "-nostdlib", "-o", program, os.path.join(isa.HERE, "intervals.S")], check=True)
    return program


def options_of(profile, burst, between):
    return ["--productions", os.path.join(PRODUCTIONS, profile + ".hps"), "--set", f"sampleFreq=max-{between}",
            "--set", f"burstLength=max-{burst - 1}", "-e", "exact", "--details"]


def expected(profile, burst, between):
    """Bursts begun, events sampled and skipped."""
    events = [ROUND[profile][i % 3] for i in range(3 * ROUNDS)]
    told = sum(n for i, n in enumerate(events) if i % (burst + between) >= between)
    bursts = sum(1 for i in range(len(events) + 1) if i % (burst + between) == between) if between > 0 else 1
    return bursts, told, sum(events) - told


def notes(text):
    found = re.search(r"^(?:hot|dise)\S+ +(\d+) bursts with (\d+) of (\d+) intervals; (\d+) events sampled, (\d+) skipped",
                      text, re.M)
    return tuple(int(word) for word in found.groups()) if found else None


def words(row):
    """The columns of a row before its count."""
    return tuple(row.values())[:list(row).index("count")]


def rows(text):
    return [(*words(row), row["count"]) for row in csv.DictReader(io.StringIO(text))]


def check_known(tap, work, program):
    for core in CORES:
        for profile in ROUND:
            for burst, between in ((1, 9), (1, 99), (2, 12), (7, 343), (100, 300), (1, 0), (5, 0)):
                done = work.sim(program, options=[*core, *options_of(profile, burst, between)])
                bursts, told, skipped = expected(profile, burst, between)
                got = notes(done.stderr.decode())
                # Events that end no interval, behind the last one: none. Intervals in bursts are those told.
                inside = sum(1 for i in range(3 * ROUNDS) if i % (burst + between) >= between)
                tap.case(f"{profile} {core[-1]}: bursts of {burst}, {between} between them",
                         got == (bursts, inside, 3 * ROUNDS, told, skipped) and done.returncode == 7,
                         f"got {got}", f"must be {(bursts, inside, 3 * ROUNDS, told, skipped)}",
                         done.stderr.decode()[-300:])


def exhaustive(work, program, arguments, selector, core):
    done = work.sim(program, *arguments, options=[*core, "-p", selector, "-e", "exact", "-f", "csv", "-n", "0"])
    return done, rows(done.stderr.decode())


def check_whole(tap, work, program):
    """Frequency 1 is the exhaustive profile."""
    cases = [("hot-call-pair", "calls", program, ()), ("hot-data-stream", "addresses", program, ()),
             ("hot-call-pair", "calls", os.path.join(WORKLOADS, "lisp.rv64"), ("1",)),
             ("hot-call-pair", "calls", os.path.join(WORKLOADS, "regex.rv64"), ("1",))]
    for profile, selector, what, arguments in cases:
        for core in CORES if what == program else CORES[1:]:
            plain, wanted = exhaustive(work, what, arguments, selector, core)
            done = work.sim(what, *arguments, options=[*core, *options_of(profile, 3, 0), "-f", "csv", "-n", "0"])
            tap.case(f"{profile} of {os.path.basename(what)} at frequency 1 {core[-1]}",
                     sorted(rows(done.stderr.decode())) == sorted(wanted) != []
                     and (done.stdout, done.returncode) == (plain.stdout, plain.returncode),
                     f"{len(wanted)} rows, {done.stderr.decode()[:300]}")


def instructions(text):
    return int(re.search(r"^instructions +([\d,]+)", text, re.M).group(1).replace(",", ""))


def cycles(text):
    return int(re.search(r"^cycles +([\d,]+)", text, re.M).group(1).replace(",", ""))


def check_overhead(tap, work):
    """The program runs the same instructions, and only sampled events cost cycles."""
    lisp = os.path.join(WORKLOADS, "lisp.rv64")
    plain = work.sim(lisp, "1", options=["-p", "calls"]).stderr.decode()
    often = work.sim(lisp, "1", options=options_of("hot-call-pair", 1, 99)).stderr.decode()
    never = work.sim(lisp, "1", options=options_of("hot-call-pair", 1, 2**32)).stderr.decode()
    tap.case("the program's instructions are its own",
             instructions(plain) == instructions(often) == instructions(never), often[:300])
    tap.case("counters cost nothing", cycles(plain) == cycles(never), f"{cycles(plain)} {cycles(never)}")
    share = cycles(often) / cycles(plain) - 1
    tap.case("a burst in 100 intervals costs little, and something", 0.001 < share < 0.03, f"{100 * share:.2f}%")


def check_changes(tap, work, program):
    """Another frequency from some instruction on: 10 instructions and three intervals per round."""
    done = work.sim(program, options=["--functional", *options_of("hot-method", 1, 9), "--set",
                                      "sampleFreq=max-99@10000"])
    _, inside, _, _, _ = notes(done.stderr.decode())
    tap.case("the frequency changes on the way", 300 + 59 <= inside <= 300 + 61, f"{inside} intervals in bursts")


def check_phases(tap, work, program):
    """A program that does the same all the time is new for four windows of 64 bursts. The burst behind them is at the
    distance that was set before."""
    options = ["--functional", *options_of("hot-method", 1, 99), "--set", "sampleFreq=max-9@new"]
    done = work.sim(program, options=options)
    _, inside, _, _, _ = notes(done.stderr.decode())
    wanted = 4 * 64 + 1 + (3 * ROUNDS - (4 * 64 + 1) * 10) // 100
    tap.case("what is new is sampled more", inside == wanted, f"{inside} intervals in bursts, not {wanted}")
    tap.case("the phases are counted", "skipped; 1 phases" in done.stderr.decode(), done.stderr.decode()[:300])
    lz = os.path.join(WORKLOADS, "lz.rv64")
    first, second = (work.sim(lz, "1", options=["-n", "0", "-f", "csv", *options]) for _ in range(2))
    tap.case("the same run twice finds the same phases", first.stderr == second.stderr, "")


def check_always_new(tap, work, program):
    """At frequency 1 while it is new, each interval is a burst. What is new ends all the same, behind four windows of 64."""
    for title, options in (("@new", ["--productions", os.path.join(PRODUCTIONS, "hot-method.hps"), "--set", "sampleFreq=max-99",
                                     "--set", "sampleFreq=max@new"]),
                           ("--phases", ["-p", "methods", "--burst", "1", "--frequency", "1/100", "--phases", "1", "--regular"])):
        text = work.sim(program, options=["--functional", "--details", *options]).stderr.decode()
        inside, every = (int(word) for word in re.search(r"bursts with (\d+) of (\d+) intervals", text).groups())
        wanted = 4 * 64 + 1 + (every - (4 * 64 + 1)) // 100
        tap.case(f"{title} with frequency 1 is over some time", inside == wanted, f"{inside} intervals in bursts, not {wanted}")


IN_STEP = "at equal distances: a loop in step with them is counted wrongly"


def check_beats(tap, work, program):
    """The program is a loop of three intervals. Bursts that are 99 from each other meet the same one each time, and a warning says so.
    Random ones meet all of them, and their bounds hold the truth."""
    equal = work.sim(program, options=["--functional", "--productions", os.path.join(PRODUCTIONS, "hot-method.hps"), "--set",
                                       "sampleFreq=max-98"])
    tap.case("equal distances: one of three, and a warning", b"100.0%" in equal.stderr and IN_STEP.encode() in equal.stderr,
             equal.stderr.decode()[:900])
    trials = 1000 if os.environ.get("RIFFLE_TEST_LONG") else 60
    held = told = 0
    for seed in range(trials):
        found = counts(work, program, "--set", "sampleFreq=max~14", "--seed", str(seed))
        for truth, (_, low, high) in zip((ROUNDS, 2 * ROUNDS), sorted(found.values())):  # calls of leaf, rounds of again
            held += low <= truth <= high
            told += 1
    tap.case("random distances: bounds hold the truth as often as they say", told == 2 * trials and held >= 0.9 * told,
             f"{held} of {told}")
    for options in (["--productions", os.path.join(PRODUCTIONS, "hot-method.hps")], ["-p", "calls", "--frequency", "1/10"]):
        text = work.sim(program, options=["--functional", *options]).stderr.decode()
        tap.case(f"{options[0]}: no warning where distances are random", IN_STEP not in text, text[:600])
    for frequency, warned in (("0.9", True), ("1/3", True), ("1/4", False), ("1", False)):
        text = work.sim(program, options=["--functional", "-p", "methods", "--burst", "100", "--frequency", frequency]).stderr.decode()
        tap.case(f"bursts of 100, frequency {frequency}: {'a' if warned else 'no'} warning",
                 ("close to each other: a loop in step" in text) == warned, text[:600])


def counts(work, program, *options):
    """What each item is counted as, with its bounds."""
    done = work.sim(program, "1", options=["--functional", "--productions", os.path.join(PRODUCTIONS, "hot-method.hps"), *options,
                                           "-e", "exact", "-f", "csv", "-n", "0"])
    return {words(row): tuple(int(row[name]) for name in ("count", "lower", "upper"))
            for row in csv.DictReader(io.StringIO(done.stderr.decode()))}


def check_weights(tap, work):
    """The first 4 million instructions have a hundred times as many bursts as the rest. Each burst counts for its own part."""
    for name in ("lz", "regex"):
        program = os.path.join(WORKLOADS, name + ".rv64")
        truth = counts(work, program, "--set", "sampleFreq=max")
        got = counts(work, program, "--set", "sampleFreq=max-9", "--set", "sampleFreq=max-999@4M")
        hot = sorted(got, key=got.get, reverse=True)[:20]
        held = sum(got[item][1] <= truth[item][0] <= got[item][2] for item in hot)
        tap.case(f"{name}: estimates of two frequencies at once", held >= 17, f"{held} of {len(hot)} intervals hold the truth")


def check_together(tap, work, program):
    """Three profiles at once, each with bursts of its own."""
    alone = {}
    for i, profile in enumerate(ROUND):
        alone[profile] = notes(work.sim(program, options=options_of(profile, i + 1, 40 + i)).stderr.decode())
    together = []
    for i, profile in enumerate(ROUND):
        together += ["--productions", os.path.join(PRODUCTIONS, profile + ".hps"), "--set",
                     f"{profile}.sampleFreq=max-{40 + i}", "--set", f"{profile}.burstLength=max-{i}"]
    said = work.sim(program, options=[*together, "-e", "exact"]).stderr.decode()
    for profile, wanted in alone.items():
        got = notes("\n".join(line for line in said.splitlines() if line.startswith(profile)))
        tap.case(f"{profile} with the others is as alone", got == wanted is not None, f"{got}, must be {wanted}")


def check_plain(tap, work, program):
    """DISE with checks in its sequences samples the same events as HPS. Each check costs cycles."""
    for hps, dise in (("hot-call-pair", "dise-call-pair"), ("hot-method", "dise-method"),
                      ("hot-data-stream", "dise-data-stream")):
        for burst, between in ((1, 99), (3, 20)):
            ours = work.sim(program, options=[*options_of(hps, burst, between), "-n", "0"]).stderr.decode()
            plain = work.sim(program, options=["--productions", os.path.join(PRODUCTIONS, dise + ".hps"), "--set",
                                               f"left={between}", "--set", f"now={between}", "--set", f"next={burst}",
                                               "-n", "0"]).stderr.decode()
            tap.case(f"{dise}: bursts of {burst}, {between} between them, the events of {hps}",
                     notes(ours)[3:] == notes(plain)[3:] and notes(ours)[3] > 0, f"{notes(ours)}, {notes(plain)}")
            tap.case(f"{dise} costs more than {hps}", cycles(plain) > cycles(ours), f"{cycles(plain)} {cycles(ours)}")
    basic = work.sim(program, options=["--productions", os.path.join(PRODUCTIONS, "dise-basic.hps")]).stderr.decode()
    tap.case("counting alone is replaced at every event, and told to nobody",
             re.search(r"^expansions +9,000$", basic, re.M) is not None and "traps" not in basic, basic[:600])


def check_software(tap, work):
    """Tracing by software alone: the program behaves as before, and about as many events are sampled. The C library is not
    instrumented."""
    source = os.path.join(os.path.dirname(PRODUCTIONS), "workloads", "lisp.c")
    plain = work.sim(os.path.join(WORKLOADS, "lisp.rv64"), "1")
    for profile, hps in (("methods", "hot-method"), ("references", "hot-data-stream")):
        program = work.path(profile + ".rv64")
        subprocess.run([sys.executable, os.path.join(PRODUCTIONS, "bursty.py"), source, program, "--profile", profile],
                       check=True)
        done = work.sim(program, "1")
        wanted = notes(work.sim(os.path.join(WORKLOADS, "lisp.rv64"), "1", options=["--functional", "-n", "1",
                                *options_of(hps, 1, 99)]).stderr.decode())
        records = int(re.search(rb"^bursty: (\d+) records$", done.stderr, re.M).group(1))
        tap.case(f"{profile} by software alone", (done.stdout, done.returncode) == (plain.stdout, plain.returncode)
                 and 0.8 < records / wanted[3] < 1.2, f"{records} records, {wanted[3]} by {hps}", done.stderr[-300:])


def check_short(tap, work, program):
    """--burst and --frequency do the same as the files of the lab: the same cycles, events and bounds."""
    for selector, hps in (("calls", "hot-call-pair"), ("addresses", "hot-data-stream")):
        for burst, frequency, between in ((1, "1/100", 99), (10, "1/50", 490), (5, "1", 0)):
            short = work.sim(program, options=["-p", selector, "--burst", str(burst), "--frequency", frequency, "--regular",
                                               "-n", "0"])
            whole = work.sim(program, options=[*options_of(hps, burst, between), "-n", "0"])
            names = r"(?m)^(command|calls|addresses|bursts|hot-[a-z-]*) .*(\n {12}.*)*$|^riffle: .*MIPS$"  # long ones are folded
            one, other = (re.sub(names, "", done.stderr.decode()) for done in (short, whole))
            tap.case(f"-p {selector} --burst {burst} --frequency {frequency} is {hps}", one == other and "cycles" in one,
                     f"{one[:900]} {other[:900]}")
    short = work.sim(program, options=["-p", "calls", "--burst", "1", "--frequency", "1/100", "--phases", "1/10", "--regular"])
    whole = work.sim(program, options=[*options_of("hot-call-pair", 1, 99), "--set", "sampleFreq=max-9@new"])
    tap.case("--phases is sampleFreq=...@new", cycles(short.stderr.decode()) == cycles(whole.stderr.decode())
             and "; 1 phases" in short.stderr.decode(), short.stderr.decode()[:600])
    done = work.sim(program, options=["--phases", "1/10"])
    tap.case("--phases alone is refused", b"goes with --burst" in done.stderr, done.stderr.decode()[:300])
    text = work.sim(program, options=["-p", "streams", "--burst", "50", "--frequency", "1/5"]).stderr.decode()
    tap.case("-p streams keeps its engine", "engine      streams" in text, text[:600])
    text = work.sim(program, options=["--frequency", "1/10"]).stderr.decode()
    tap.case("without -p it is calls", "profile     call -> pc,target" in text and "sampled" in text, text[:600])


def check_names(tap, work, program):
    """T.Target == name is that address; what is no name, or several, is refused with its place."""
    lisp = os.path.join(WORKLOADS, "lisp.rv64")
    names = subprocess.run(["nm", lisp], capture_output=True, text=True, check=True).stdout
    address = next(int(line.split()[0], 16) for line in names.splitlines() if line.endswith(" eval"))
    texts = []
    for place in ("eval", str(address), '"eval"'):
        path = work.path("named.hps")
        with open(path, "w") as file:
            file.write(f"P1: T.OPCLASS == proc_call && T.Target == {place} => R, null\nR: call(CallPair_handler) T.INSN\n")
        text = work.sim(lisp, "1", options=["--functional", "--productions", path, "--format", "csv", "-n", "0"]).stderr.decode()
        texts.append(text)
    tap.case("a function by name is its address", texts[0] == texts[1] == texts[2] and texts[0].count("\n") > 3, texts[0][:500],
             texts[1][:500])
    for place, said in (("nowhere", ":1:46: the program has no function 'nowhere'"),
                        ("eval + nothing", ":1:53: expected a number")):
        with open(path, "w") as file:
            file.write(f"P1: T.OPCLASS == proc_call && T.Target == {place} => R, null\nR: call(CallPair_handler) T.INSN\n")
        done = work.sim(lisp, "1", options=["--productions", path])
        tap.case(f"'{place}' is refused", done.returncode != 0 and said.split(":", 3)[3] in done.stderr.decode() and
                 "named.hps:1:" in done.stderr.decode(), done.stderr.decode())


def check_refused(tap, work, program):
    call_pair = ["--productions", os.path.join(PRODUCTIONS, "hot-call-pair.hps")]
    for title, options, said in (
            ("a table too small", ["--core", "hps,dise_patterns=6", *call_pair],
             "hot-call-pair.hps:5:1: the productions need 7 entries of the pattern table, the core has 6"),
            ("two files too large", ["--core", "hps,dise_counters=3", *call_pair, "--productions",
                                     os.path.join(PRODUCTIONS, "hot-method.hps")],
             "sampling.hps:34:1: the productions need 4 counters, the core has 3"),
            ("a value beyond a counter", [*call_pair, "--set", "sampleFreq=8589934592"],
             "sampling.hps:31:10: 'sampleFreq' is 8589934592, and counters have 32 bits"),
            ("a value below a counter", [*call_pair, "--set", "sampleFreq=max-4294967297@10"], "'sampleFreq' is max - 4294967297, and counters have 32 bits"),
            ("-p beside productions", [*call_pair, "-p", "calls"], "leave out -p"),
            ("--burst beside productions", [*call_pair, "--burst", "1"], "change that with --set"),
            ("a profile without a handler in bursts", ["-p", "values", "--burst", "1"],
             "the core has handlers for calls, methods and addresses only"),
            ("an unknown register", [*call_pair, "--set", "x=1"], "no register 'x' in these productions"),
            ("--set alone", ["--set", "x=1"], "--set goes with --productions"),
            ("no such file", ["--productions", "/nowhere"], "/nowhere: cannot read: No such file or directory")):
        done = work.sim(program, options=options)
        tap.case(f"{title} is refused", done.returncode != 0 and said in done.stderr.decode(), done.stderr.decode())


ATOMICS = """
.globl _start
_start: lla a0, place
    li t1, 100
1:  amoadd.d t0, t1, (a0)
    lr.d t2, (a0)
    sc.d t3, t2, (a0)
    ld t4, 8(a0)
    addi t1, t1, -1
    bnez t1, 1b
    li a0, 7
    li a7, 93
    ecall
.bss
.align 3
place: .skip 16
"""
ALL_BUT_ONE = """
P1: T.OPCLASS == mem_op => R, null
P2: T.OPCLASS == mem_op && T.OPCODE == ld => T.INSN, null
R: call(DataStream_handler) T.INSN
"""


def with_text(work, text):
    path = work.path("own.hps")
    with open(path, "w") as file:
        file.write(text)
    return ["--productions", path]


def check_events(tap, work, program):
    """An event is the same for a selector, whoever tells it."""
    source, atomics = work.path("atomics.S"), work.path("atomics.rv64")
    with open(source, "w") as file:
        file.write(ATOMICS)
    subprocess.run([isa.GCC, "-static", "-nostdlib", "-o", atomics, source], check=True)
    plain, wanted = exhaustive(work, atomics, (), "addresses", ("--functional",))
    done = work.sim(atomics, options=["--functional", *options_of("hot-data-stream", 1, 0), "-f", "csv", "-n", "0"])
    tap.case("an atomic is a load and a store, lr and sc are one of them",
             sorted(rows(done.stderr.decode())) == sorted(wanted) and sum(int(row[-1]) for row in wanted) == 500, wanted,
             done.stderr.decode()[:500])
    text = work.sim(atomics, options=["--functional", "--details", *with_text(work, ALL_BUT_ONE)]).stderr.decode()
    tap.case("what a more specific production lets pass is no event", "; 400 events sampled, 0 skipped" in text, text[:900])
    text = work.sim(program, options=["--functional", "--details", "-p", "methods", "--frequency", "1/10"]).stderr.decode()
    told, skipped = (int(word) for word in re.search(r"(\d+) events sampled, (\d+) skipped", text).groups())
    tap.case("-p methods is calls, in bursts as natively", told + skipped == ROUNDS and "profile     call -> target" in text, text[:900])
    text = work.sim(program, options=["--functional", "--details", *options_of("hot-method", 1, 9)]).stderr.decode()
    tap.case("hot-method.hps says what it counts", "branch,jump,call -> target" in text or "call,branch,jump -> target" in text
             or "branch,call,jump -> target" in text, text[:900])
    for title, text, said in (
            ("a handler for calls on loads", "\n P1: T.OPCLASS == load => call(CallPair_handler) T.INSN, null\n",
             "own.hps:2:2: CallPair_handler is for calls, returns, jumps and branches"),
            ("a handler for loads on anything", "P1: T.PC == 4 => call(DataStream_handler) T.INSN, null\n",
             "own.hps:1:1: DataStream_handler is for loads and stores"),
            ("an empty file", "# nothing\n", "own.hps:1:1: there is no production in it")):
        done = work.sim(program, options=with_text(work, text))
        tap.case(f"{title} is refused", done.returncode != 0 and said in done.stderr.decode(), done.stderr.decode()[:500])


def main():
    isa.require(isa.GCC)
    tap = isa.Tap()
    with isa.Work(sys.argv[1], sys.argv[2]) as work:
        program = build(work)
        check_known(tap, work, program)
        check_whole(tap, work, program)
        check_overhead(tap, work)
        check_changes(tap, work, program)
        check_phases(tap, work, program)
        check_always_new(tap, work, program)
        check_beats(tap, work, program)
        check_weights(tap, work)
        check_together(tap, work, program)
        check_plain(tap, work, program)
        check_software(tap, work)
        check_short(tap, work, program)
        check_events(tap, work, program)
        check_names(tap, work, program)
        check_refused(tap, work, program)
    tap.end()


main()
