#!/usr/bin/env python3
"""bursts - hold bursts, and the events inside them, against a list made by hand.

    bursts.py RIFFLE INTERVALS KNOWN LIBRARY PHASES LOOPS

INTERVALS (intervals.c) has three kinds of intervals in turn. With bursts at equal distances it is known which of them
are told, and how often each event is counted. PHASES (phases.c) does one thing, then another. LOOPS (rounds.c)
is `loop` alone.
"""
import csv
import io
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

RIFFLE, INTERVALS, KNOWN, LIBRARY, PHASES, LOOPS = sys.argv[1:7]
ROUNDS = 3000
# What is in an interval of each kind, in the order of a round.
KINDS = [{"load": 1, "call": 1, "store": 1, "insn": 2},
         {"load": 2, "return": 1, "branch": 2, "insn": 6},
         {"store": 1, "branch": 1, "insn": 3}]
EARLY, LATE = 200000, 2000000  # turns of the phases of PHASES
SELECTORS = {"load": "load -> pc,value", "store": "store -> pc,addr", "branch": "branch -> pc,target",
             "call": "call -> pc,target", "return": "return -> pc,target", "insn": "insn -> pc"}
BEFORE, BEHIND = {"insn": 2}, {"insn": 3}  # the first interval, and what follows the last one


def intervals():
    """The events of every interval, and of what follows the last one."""
    rounds = [dict(kind) for _ in range(ROUNDS) for kind in KINDS]
    for kind, n in BEFORE.items():
        rounds[0][kind] += n
    return rounds


def expect(kind, burst, sparsity):
    """How many bursts have ended and how many events were told and skipped, with equal distances."""
    told = skipped = 0
    each = intervals()
    for i, events in enumerate(each):
        if i % (sparsity + burst) >= sparsity:
            told += events.get(kind, 0)
        else:
            skipped += events.get(kind, 0)
    if len(each) % (sparsity + burst) >= sparsity:
        told += BEHIND.get(kind, 0)
    else:
        skipped += BEHIND.get(kind, 0)
    return len(each) // (sparsity + burst), told, skipped


def run(program, selectors, *more):
    """Figures and rows of each selector's profile, and the notes of the run."""
    with tempfile.TemporaryDirectory() as folder:
        saved = os.path.join(folder, "bursts.rfp")
        command = [RIFFLE, "run", "-q", "-e", "exact", "-o", saved, *more]
        for selector in selectors:
            command += ["-p", selector]
        done = subprocess.run([*command, "--", *program], capture_output=True, text=True)
        show = [RIFFLE, "report", saved, "--no-names", "--details"]
        text = subprocess.run([*show, "-n", "1"], capture_output=True, text=True, check=True).stdout
        rows = subprocess.run([*show, "--format", "csv", "-n", "0"], capture_output=True, text=True,
                              check=True).stdout
    head, *parts = text.split("\nprofile ")
    figures = [{name: int(value.replace(",", "")) for name, value
                in re.findall(r"^(bursts|sampled|skipped)\s+([\d,]+)$", part, re.M)} for part in parts]
    tables = [list(csv.DictReader(io.StringIO(part))) for part in rows.strip().split("\n\n")]
    return done, figures, tables, head


def check_counts():
    kinds = list(SELECTORS)
    for burst, frequency, sparsity in ((1, "1/10", 9), (1, "1/100", 99), (2, "1/7", 12), (7, "1/50", 343),
                                       (100, "1/4", 300), (5, "1", 0)):
        _, figures, tables, head = run([INTERVALS], [SELECTORS[k] for k in kinds], "--burst", str(burst),
                                       "--frequency", frequency, "--regular")
        title = f"burst {burst} at {frequency}"
        tap.check(f"{title}: what was told came through", "produced = consumed + lost" in head, head)
        for kind, got, rows in zip(kinds, figures, tables):
            bursts, told, skipped = expect(kind, burst, sparsity)
            wanted = {"bursts": bursts, "sampled": told, "skipped": skipped}
            tap.check(f"{title}: {kind}", got == wanted, f"got {got}, must be {wanted}")


def check_alone():
    """A single class is counted by other code than several classes."""
    for kind, selector in SELECTORS.items():
        _, figures, _, _ = run([INTERVALS], [selector], "--burst", "7", "--frequency", "1/50", "--regular")
        bursts, told, skipped = expect(kind, 7, 343)
        wanted = {"bursts": bursts, "sampled": told, "skipped": skipped}
        tap.check(f"{kind} alone", figures[0] == wanted, f"got {figures[0]}, must be {wanted}")


def check_whole():
    """Frequency 1 is the exhaustive profile; a random distance loses no event."""
    selectors = [SELECTORS[k] for k in ("load", "branch", "insn")]
    _, _, whole, _ = run([INTERVALS], selectors)
    _, _, told, _ = run([INTERVALS], selectors, "--burst", "10", "--frequency", "1")
    tap.check("frequency 1 is the exhaustive profile", whole == told, "rows differ")
    _, figures, _, _ = run([INTERVALS], selectors, "--burst", "3", "--frequency", "1/30", "--seed", "5")
    for figure, rows in zip(figures, whole):
        total = sum(int(row["count"]) for row in rows)
        tap.check("sampled + skipped = produced", figure["sampled"] + figure["skipped"] == total,
                  f"{figure}, must be {total}")


def check_hard():
    """Threads, signals, fork, exec, dlopen: the program works as usual, and at frequency 1 every event is told."""
    done, _, tables, head = run([KNOWN, LIBRARY], ["load -> pc"], "--burst", "3", "--frequency", "1")
    tap.check("known: exit status and output", (done.returncode, done.stdout.split()[-1]) == (42, "done"),
              f"{done.returncode} {done.stdout}")
    tap.check("known: what was told came through", "produced = consumed + lost" in head, head)
    names = subprocess.run(["nm", "-S", KNOWN], capture_output=True, text=True, check=True).stdout
    places = {f[3]: (int(f[0], 16), int(f[0], 16) + int(f[1], 16)) for f in
              (line.split() for line in names.splitlines()) if len(f) == 4}
    for name, loads in (("k_loads", 5001), ("k_strings", 182), ("k_atomics", 302), ("k_thread", 33),
                        ("k_handler", 55), ("k_child", 44), ("k_program", 22), ("k_loop", 1)):
        start, end = places[name]
        got = sum(int(row["count"]) for row in tables[0] if start <= int(row["pc"], 16) < end)
        tap.check(f"known at frequency 1: {name}", got == loads, f"{got} loads, must be {loads}")
    for seed in range(4):
        done, _, _, head = run([KNOWN, LIBRARY], ["load -> pc"], "--burst", "3", "--frequency", "1/20",
                               "--seed", str(seed))
        tap.check(f"known in bursts, seed {seed}: exit status and output",
                  (done.returncode, done.stdout.split()[-1]) == (42, "done"), f"{done.returncode} {done.stdout}")
        tap.check(f"known in bursts, seed {seed}: what was told came through",
                  "produced = consumed + lost" in head, head)


def check_loop():
    """A burst that begins at any round of `loop`, also at the first one in the block that sets rcx, leaves rcx as it is; the events of
    all rounds are told or skipped. In 16,000 intervals, bursts at random distances of few intervals begin at each of them."""
    rounds = 2000 * (6 + 1 + 1)
    for burst, frequency, seed in ((1, "1/2", 0), (1, "1/2", 1), (1, "1/5", 2), (1, "1/20", 3), (3, "1/4", 4), (2, "1/10", 5)):
        command = [RIFFLE, "run", "--details", "-p", "branch -> pc", "--burst", str(burst), "--frequency", frequency, "--seed", str(seed)]
        try:
            done = subprocess.run([*command, "--", LOOPS], capture_output=True, text=True, timeout=100)
            tap.check(f"loop, bursts of {burst}, {frequency}", done.returncode == 0 and f"{rounds:,} produced" in done.stderr,
                      f"{done.returncode} {done.stderr}")
        except subprocess.TimeoutExpired:
            tap.check(f"loop, bursts of {burst}, {frequency}", False, "the program does not end")


def table(*command):
    out = subprocess.run([RIFFLE, *command, "--no-names", "--format", "csv", "-n", "0"], capture_output=True, text=True,
                         check=True).stdout
    return [list(csv.DictReader(io.StringIO(part))) for part in out.strip().split("\n\n")]


def check_record():
    """A recording keeps the gaps: replay gives the same estimates and bounds as the run."""
    for title, selectors, more in (
            ("one selector", ["load -> pc,value"], []), ("records", ["load -> pc,value", "branch -> pc,target"], []),
            ("a condition", ["load pc==0x40100c -> pc"], []), ("streams", ["load -> pc,addr"], ["-e", "streams(min=2)"]),
            ("skip and limit", ["load -> pc,value"], ["--skip", "20", "--limit", "100"]),
            ("misses", ["load,store -> pc,miss"], [])):
        with tempfile.TemporaryDirectory() as folder:
            saved, trace = os.path.join(folder, "a.rfp"), os.path.join(folder, "a.rft")
            lanes = [word for selector in selectors for word in ("-p", selector)]
            engine = [] if more[:1] == ["-e"] else ["-e", "exact"]
            done = subprocess.run([RIFFLE, "run", "-q", *engine, *lanes, *more, "--burst", "4", "--frequency", "1/20",
                                   "-o", saved, "--record", trace, "--", INTERVALS], capture_output=True, text=True)
            if done.returncode != 0:
                tap.check(f"recorded, {title}", False, done.stderr)
                continue
            info = subprocess.run([RIFFLE, "trace", "info", trace], capture_output=True, text=True, check=True).stdout
            again = engine or more
            if "records" in info:
                again = [*again, *lanes]
            live, replayed = table("report", saved), table("replay", trace, *again)
            tap.check(f"recorded, {title}: replayed as live", live == replayed and live[0] != [], f"{live} {replayed}")
            if title == "misses":
                text = subprocess.run([RIFFLE, "report", saved], capture_output=True, text=True, check=True).stdout
                tap.check("misses in bursts: the report warns", "short ones show too many misses" in text, text)
            bounds = live[0][0]
            tap.check(f"recorded, {title}: estimates with bounds", bounds["lower"] != bounds["upper"], bounds)
            other = os.path.join(folder, "b.rft")
            subprocess.run([RIFFLE, "trace", "convert", trace, other], check=True)
            tap.check(f"recorded, {title}: converted", table("replay", other, *again) == live)


def check_conditions():
    """A condition applies to bursts and gaps alike: 3000 of 9000 loads are at this place."""
    place = "load pc==0x40100c -> pc"
    _, figures, tables, _ = run([INTERVALS], [place], "--burst", "3", "--frequency", "1/30", "--regular")
    tap.check("a condition: one of three loads", figures[0] == {"bursts": 100, "sampled": 100, "skipped": 2900},
              figures)
    tap.check("a condition: the estimate", tables[0][0]["count"] == "3000", tables)
    _, figures, tables, _ = run([INTERVALS], [place, "load -> pc"], "--burst", "1", "--frequency", "1/10", "--seed", "3")
    row = next(row for row in tables[1] if row["pc"] == tables[0][0]["pc"])
    tap.check("a condition: the same estimate as among all loads", tables[0][0]["count"] == row["count"], f"{tables}")


def check_window():
    """--skip and --limit count told events: three per burst. Between two bursts are 87 intervals with one load each."""
    _, figures, _, _ = run([INTERVALS], ["load -> pc"], "--burst", "3", "--frequency", "1/30", "--regular", "--limit", "30")
    tap.check("limit: ten bursts of three loads", figures[0] == {"bursts": 10, "sampled": 30, "skipped": 10 * 87},
              figures)
    _, figures, _, _ = run([INTERVALS], ["load -> pc"], "--burst", "3", "--frequency", "1/30", "--regular", "--skip", "270")
    tap.check("skip: the last ten bursts", figures[0] == {"bursts": 10, "sampled": 30, "skipped": 10 * 87},
              figures)


def check_lines():
    """With --limit the report speaks of what it counts, not of the whole run."""
    options = ["run", "-p", "load -> pc", "-e", "exact", "--burst", "3", "--frequency", "1/30", "--limit", "30", "--", INTERVALS]
    text = subprocess.run([RIFFLE, *options], capture_output=True, text=True, check=True).stderr
    tap.check("limit: no line is of the whole run", "events skipped" not in text and "of 3 intervals, 87 intervals apart" in text,
              text)


def check_new():
    """A program that never changes its behaviour counts as new during its first four windows of 64 bursts."""
    _, figures, _, _ = run([INTERVALS], [SELECTORS["branch"]], "--burst", "1", "--frequency", "1/100", "--phases", "1/10",
                           "--regular")
    each = intervals()
    told = sum(events.get("branch", 0) for i, events in enumerate(each)
               if (i % 10 == 9 if i < 2560 else (i - 2560) % 100 == 99))
    everything = sum(events.get("branch", 0) for events in each)
    wanted = {"bursts": 256 + (len(each) - 2560) // 100, "sampled": told, "skipped": everything - told}
    tap.check("what is new is told more", figures[0] == wanted, f"got {figures[0]}, must be {wanted}")


def expect_phases(often, seldom):
    """Of PHASES at equal distances, to the event: calls of early and late that are told, their estimates, and how many bursts.
    Windows of 64 bursts: four are new, the fifth is partly early and partly late and so like neither, the sixth is the first of
    late, new for four."""
    told, weights, position, bursts = [0, 0], [0, 0], 0, 0
    while True:
        sparsity = often if bursts // 64 < 4 or 5 <= bursts // 64 < 9 else seldom
        position += sparsity
        if position >= 2 * (EARLY + LATE):
            break
        if position % 2 == 0:  # a turn is two intervals: one ends with the call, one with the branch
            told[position >= 2 * EARLY] += 1
            weights[position >= 2 * EARLY] += sparsity + 1
        position += 1
        bursts += 1
    return told, [(EARLY + LATE) * weight / sum(weights) for weight in weights], bursts


def check_known_phases():
    """What a phase that was seen costs, and what it is counted as."""
    told, counts, bursts = expect_phases(98, 12498)
    _, figures, tables, _ = run([PHASES], ["call -> target"], "--burst", "1", "--frequency", "1/12499", "--phases", "1/99", "--regular")
    wanted = {"bursts": bursts, "sampled": sum(told), "skipped": EARLY + LATE - sum(told)}
    tap.check("phases: bursts and events to the event", figures[0] == wanted, f"got {figures[0]}, must be {wanted}")
    found = sorted(int(row["count"]) for row in tables[0])
    tap.check("phases: estimates by weight", len(found) == 2 and all(abs(a - b) <= 1 for a, b in zip(found, counts)),
              f"got {found}, must be {counts}")
    tap.check("phases: near the truth", all(abs(a - b) < 0.01 * EARLY for a, b in zip(found, (EARLY, LATE))), str(found))


def check_phases():
    """Each phase is sampled densely when it begins; the bounds hold all the same."""
    truth = sorted((EARLY, LATE))
    for seed in range(1, 4):
        options = ("--burst", "1", "--frequency", "1/10000", "--phases", "1/100", "--seed", str(seed))
        _, figures, tables, _ = run([PHASES], ["call -> target"], *options)
        rows = sorted(tables[0], key=lambda row: int(row["count"]))
        held = [int(row["lower"]) <= count <= int(row["upper"]) for row, count in zip(rows, truth)]
        tap.check(f"phases, seed {seed}: bounds", len(rows) == 2 and all(held), str(rows))
        tap.check(f"phases, seed {seed}: two phases were new", 400 < figures[0]["bursts"] < 1100, str(figures))
        _, again, rows, _ = run([PHASES], ["call -> target"], *options)
        tap.check(f"phases, seed {seed}: the same again", (figures, tables) == (again, rows), f"{figures} {again}")


def check_refused():
    for options, words in ((["--phases", "1/10"], "goes with --burst"),
                           (["--frequency", "1/10", "--phases", "1/100"], "must be at least --frequency"),
                           (["--frequency", "1/10", "--phases", "often"], "must be at least --frequency")):
        done = subprocess.run([RIFFLE, "run", *options, "--", INTERVALS], capture_output=True, text=True)
        tap.check(" ".join(options), done.returncode == 125 and words in done.stderr, f"{done.returncode} {done.stderr}")


check_counts()
check_alone()
check_new()
check_known_phases()
check_phases()
check_refused()
check_record()
check_conditions()
check_window()
check_lines()
check_whole()
check_hard()
check_loop()
tap.end()
