#!/usr/bin/env python3
"""The co-processor beside the simulated core: what it finds there and in a trace of the same records, and
what it costs.

    coproc.py RIFFLE FOLDER-OF-WORKLOADS
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

RIFFLE, FOLDER = sys.argv[1:3]
PROGRAM = os.path.join(os.path.abspath(FOLDER), "lisp.rv64")


def run(*words):
    done = subprocess.run([RIFFLE, *words], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def sim(*options, program="values.uc", instructions="3M"):
    """The run as a dictionary: its notes, and the figures of its profile."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.rfp")
        code, _, said = run("sim", "--core", "coproc", "-q", "-o", out, "--max-instructions", instructions,
                            *options, *(["--coproc", program] if program else ["-p", "values"]), "--",
                            PROGRAM, "1")
        if code != 0:
            return {"failed": said}
        whole = json.loads(run("report", "-f", "json", "-n", "0", out)[1])
    facts = {note["name"]: note["text"] for note in whole["notes"]}
    facts.update({figure["name"]: figure["value"] for figure in whole["profiles"][0]["figures"]})
    return facts


CACHE = ("--cache", "l1=8Ki/2/64,l2=256Ki/8/64")  # small, so that much misses


def same_as_replay(program):
    """Without timing nothing is dropped: the same records give the same items, wherever they come from. Programs that
    look at misses get those of the same caches."""
    cache = CACHE if program in ("contexts.uc", "conflicts.uc") else ()
    with tempfile.TemporaryDirectory() as folder:
        trace, beside, replayed = (os.path.join(folder, name) for name in ("t.rft", "a.rfp", "b.rfp"))
        run("sim", "--functional", "-q", *cache, "--record", trace, "-o", beside, "--max-instructions", "3M",
            "--coproc", program, "--", PROGRAM, "1")
        run("replay", trace, "--coproc", program, "-o", replayed)
        items = [run("report", "-f", "csv", "-n", "0", path)[1] for path in (beside, replayed)]
        figures = [json.loads(run("report", "-f", "json", "-n", "1", path)[1])["profiles"][0]["figures"]
                   for path in (beside, replayed)]
    wrong = [] if items[0] == items[1] else ["the items differ"]
    wrong += [] if figures[0] == figures[1] else [f"figures {figures}"]
    return wrong + ([] if len(items[0]) > 2000 else [f"only {len(items[0])} bytes of items"])


def cost():
    """The handler's cycles are cycles of the core, and the program does not notice."""
    without, beside = sim(program=None), sim()
    if "failed" in without or "failed" in beside:
        return [str(without), str(beside)]
    more = int(beside["cycles"]) - int(without["cycles"])
    overhead = float(beside["overhead-cycles"])
    wrong = []
    if without["instructions"] != beside["instructions"]:
        wrong.append("the program ran other instructions")
    if not 0.5 * overhead < more < 2 * overhead or overhead < 1000:
        wrong.append(f"{more} cycles more, and an overhead of {overhead}")
    if int(beside["traps"]) < 3:
        wrong.append(f"{beside['traps']} traps")
    return wrong


def end_is_free():
    """Nobody called the host: there is no overhead, though the slots are read when the program is over."""
    facts = sim(program="loads.uc", instructions="20000")
    good = float(facts["overhead-cycles"]) == 0 and float(facts["slots-folded"]) > 0
    return [] if good else [str(facts)]


def looks():
    """Looks of the host by itself are interrupts, too."""
    facts = sim(program="values.uc(quiet=20K)")
    calls, own, traps = float(facts["interrupts"]), float(facts["looks"]), int(facts["traps"])
    return [] if 3 < own <= calls and traps == calls else [str(facts)]


def readable():
    """Words that a program packs are taken apart: stacks of calls, the store that was read from, sets."""
    wrong = []
    for program, wanted in (("contexts.uc", ("with callees", "    main", "      run", "eval")),
                            ("dependences.uc", ("top writer", "lisp.c:178 eval", "top distance")),
                            ("conflicts.uc", ("top addr", "  set  place", "lisp.c:75 car in eval"))):
        page = run("sim", "--functional", *CACHE, "--max-instructions", "3M", "--coproc", program, "-n", "8", "--", PROGRAM,
                   "1")[2]
        wrong += [f"{program}: no '{text}' in {page}" for text in wanted if text not in page]
        wrong += [line for line in page.splitlines() if re.search("[0-9]-[0-9.]*%", line)]
    return wrong


def beside_engines():
    """With engines and without -p there is a first screen; the co-processor's profile is below it."""
    page = run("sim", "--functional", "--max-instructions", "1M", "--coproc", "loads.uc", "-e", "exact", "-n", "3", "--",
               PROGRAM, "1")[2]
    return [] if "worth a look" in page and "Counts are estimates from samples" in page else [page]


def ends():
    """When all is known, overhead stops; what is left is the price of looking again."""
    short, long = (sim(program="values.uc(age=0)", instructions=n) for n in ("6M", "12M"))
    again = sim(program="values.uc(age=100K)", instructions="12M")
    first, second, third = (float(facts["overhead-cycles"]) for facts in (short, long, again))
    wrong = [] if second < 1.25 * first else [f"{first} cycles, then {second}"]
    wrong += [] if third > 1.25 * second else [f"{second} cycles, and {third} with an age"]
    return wrong + ([] if float(long["complete"]) == 1 else ["the profile is not complete"])


def clocks():
    """A slower co-processor drops more."""
    drops = [float(sim(program=f"values.uc(clock={clock})", instructions="2M")["drops"])
             for clock in ("1", "1/4")]
    return [] if 0 < drops[0] < drops[1] else [f"drops {drops}"]


def misfits():
    """Values of another program are no measure of this one."""
    with tempfile.TemporaryDirectory() as folder:
        saved = [os.path.join(folder, name + ".rfp") for name in ("lisp", "graph")]
        for path, options in zip(saved, (("-p", "values", "-e", "exact"), ("--coproc", "values.uc"))):
            program = os.path.join(os.path.dirname(PROGRAM), os.path.basename(path)[:-4] + ".rv64")
            run("sim", "--functional", "-q", "--max-instructions", "100K", *options, "-o", path, "--", program, "1")
        found = [run("compare", "-m", measure, *saved) for measure in ("rms", "invariance", "interval", "overlap")]
    wrong = [str(one) for one in found[:3] if one[0] != 1 or "of different programs" not in one[2] or one[1]]
    return wrong + ([] if found[3][0] == 0 else [str(found[3])])


def main():
    code, _, said = run("sim", "--functional", "-q", "--coproc", "values.uc", "-o", os.devnull,
                        "--max-instructions", "1000", "--", PROGRAM, "1")
    if not os.path.exists(PROGRAM) or "no RISC-V compiler" in said:
        print("1..0 # SKIP no compiler for the simulated core")
        return
    for program in ("edges.uc", "dependences.uc", "values.uc", "loads.uc", "contexts.uc", "conflicts.uc"):
        tap.tell(f"{program} finds the same beside the core and in a trace", same_as_replay(program))
    tap.tell("overhead is cycles of the core", cost())
    tap.tell("reading the slots at the end is no overhead", end_is_free())
    tap.tell("looks of the host are interrupts", looks())
    tap.tell("what programs find is told in names", readable())
    tap.tell("a report with engines shows it, too", beside_engines())
    tap.tell("overhead stops when the profile is complete", ends())
    tap.tell("profiles of two programs are not measured by each other", misfits())
    tap.tell("a slower clock drops more samples", clocks())
    tap.end()


main()
