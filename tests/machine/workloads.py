#!/usr/bin/env python3
"""The workloads: the same output natively, under qemu and on the machine; the same run twice, the same
bytes; the same hot lines of source natively and simulated.

    workloads.py RIFFLE ALONE FOLDER
"""
import json
import os
import subprocess
import sys

import isa

SIZE = "4" if isa.LONG else "1"
HOT = ["connect", "graph", "join", "lisp", "lz", "regex"]
SHARED_MIN = 4 # of the five hottest lines on either side


def names(folder):
    return sorted(name[:-5] for name in os.listdir(folder) if name.endswith(".rv64"))


def check_outputs(tap, work, folder):
    for name in names(folder):
        native = subprocess.run([os.path.join(folder, name), SIZE], capture_output=True, timeout=60)
        program = os.path.join(folder, name + ".rv64")
        qemu = work.qemu(program, SIZE)
        fast = work.sim(program, SIZE, seconds=300)
        timed = work.sim(program, SIZE, options=("-q",), seconds=300)
        outputs = [run.stdout for run in (native, qemu, fast, timed)]
        ok = len(set(outputs)) == 1 and len(outputs[0]) > 20 and not any(
            run.returncode for run in (native, qemu, fast, timed))
        tap.case(f"{name} prints the same everywhere", ok, *(run.stdout + run.stderr for run in (native, qemu, fast, timed)))


def check_repeats(tap, work, folder):
    """Timed, with values, edges and calls by the default engine, in two folders."""
    program = os.path.join(folder, "lisp.rv64")
    files = []
    for name in ("first", "second"):
        os.mkdir(work.path(name))
        done = subprocess.run([work.riffle, "sim", "-q", "-o", "out.rfp", "--", program, "1"],
                              cwd=work.path(name), capture_output=True, timeout=300)
        with open(os.path.join(work.path(name), "out.rfp"), "rb") as file:
            files.append(file.read())
        tap.case(f"the {name} run ends well", done.returncode == 0, done.stderr)
    tap.case("the same run twice saves the same bytes", files[0] == files[1] and len(files[0]) > 500,
             f"{len(files[0])} and {len(files[1])} bytes")
    out = subprocess.run([work.riffle, "report", "-f", "json", os.path.join(work.path("first"), "out.rfp")],
                         capture_output=True, timeout=60).stdout
    notes = {note["name"]: note["text"] for note in json.loads(out)["notes"]}
    ipc = int(notes["instructions"]) / int(notes["cycles"])
    tap.case("cycles and IPC are noted and agree", abs(ipc - float(notes["ipc"])) < 0.001 and 0.1 < ipc <= 4, notes)


SEEN = ("load -> pc,value", "store -> addr,value", "branch -> pc,target", "jump -> pc,target", "call -> pc,target",
        "return -> pc,target", "alu -> pc,value", "insn -> pc")


def check_records(tap, work, folder):
    """Without timing the steps of whole blocks put down records, with it each instruction by itself: both see the same. The
    limits are such that a run ends within a block."""
    for name, limit in (("lisp", "1"), ("lisp", "64"), ("lisp", "65"), ("lisp", "12345"), ("graph", "300001"), ("lz", "1000003")):
        program = os.path.join(folder, name + ".rv64")
        selectors = SEEN if limit != "1000003" else SEEN[:-1]  # all but instructions, which have a way of their own
        options = [word for selector in selectors for word in ("-p", selector)]
        options += ["-e", "exact", "-f", "csv", "-n", "0", "--no-names", "--max-instructions", limit]
        fast, timed = (work.sim(program, "1", options=(*how, *options)) for how in (("--functional",), ("--core", "hps")))
        rows = len(fast.stderr.splitlines())
        tap.case(f"{name}, {limit} instructions: the same records with and without timing",
                 fast.stderr == timed.stderr and rows > int(limit) ** 0.5, f"{rows} rows", fast.stderr[:500], timed.stderr[:500])


def check_overhead(tap, work, folder):
    """Messages of the sampler at 30 cycles each, over the cycles of this very run."""
    run = work.sim(os.path.join(folder, "lisp.rv64"), "1",
                   options=("-e", "stratified", "-p", "values", "--max-instructions", "3M"))
    facts = dict(line.split(None, 1) for line in run.stderr.decode().splitlines() if " " in line.strip())
    cost, cycles = (int(facts.get(name, "0").replace(",", "")) for name in ("overhead-cycles", "cycles"))
    messages = int(facts.get("messages", "0").replace(",", ""))
    tap.case("the sampler's overhead is of the core's cycles", cost == 30 * messages > 0 and facts["overhead"] ==
             f"{100 * cost / cycles:.2f}% of {cycles:,} cycles of the simulated core", run.stderr[:2000])


def check_timing(tap, work, folder):
    """What is charged to instructions, against what the core counts as a whole."""
    done = work.sim(os.path.join(folder, "lz.rv64"), "1", options=(
        "-p", "mispredicts", "-p", "cycles", "-p", "stalls", "-e", "exact", "-f", "json", "-n", "0"))
    found = json.loads(done.stderr)
    notes = {note["name"]: note["text"] for note in found["notes"]}
    mispredicts, cycles, stalls = found["profiles"]
    tap.case("mispredicts by branch add up", mispredicts["consumed"] == int(notes["mispredicts"]) > 10000, notes)
    tap.case("cycles by instruction add up", abs(cycles["consumed"] - int(notes["cycles"])) < 20, notes)
    tap.case("stalls are a part of the cycles", 0 < stalls["consumed"] < cycles["consumed"], stalls["consumed"])
    counted = {item["pc"]: item["count"] for item in cycles["rows"]}
    tap.case("each stall is at most the cycles there", all(item["count"] <= counted[item["pc"]]
                                                           for item in stalls["rows"]))


def check_stacks(tap, work, folder):
    """Samples of the stack: one root each, as many as the period says; who runs is as often on top as it runs."""
    done = work.sim(os.path.join(folder, "lz.rv64"), "1", options=(
        "--functional", "-p", "stacks=2K", "-p", "code", "-e", "exact", "-f", "json", "-n", "0"))
    frames, code = json.loads(done.stderr)["profiles"]
    samples = sum(item["count"] for item in frames["rows"] if int(item["context"], 0) == 0)
    expected = code["consumed"] / 2000
    tap.case("a sample every 2000 instructions", abs(samples - expected) < 0.03 * expected, samples, expected)
    names = lambda item: item.get("function")
    on_stack = sum(item["count"] for item in frames["rows"] if names(item) == "main")
    tap.case("main is on every stack but at start and end", 0.99 * samples < on_stack <= samples, on_stack, samples)
    parents = {item["context"] for item in frames["rows"]}
    tap.case("contexts make a tree", 1 < len(parents) < len(frames["rows"]), len(parents))


def check_silent(tap, work, folder):
    """Stores that change nothing, and those that do, are all the stores. lz writes its output a second time."""
    done = work.sim(os.path.join(folder, "lz.rv64"), "1", options=(
        "--functional", "-p", "store silent==1 -> pc", "-p", "store silent==0 -> pc", "-p", "store -> pc",
        "-e", "exact", "-f", "json", "-n", "0"))
    silent, other, stores = (profile["consumed"] for profile in json.loads(done.stderr)["profiles"])
    tap.case("silent stores and others are all stores", silent + other == stores and silent > 1000 < other,
             silent, other, stores)


def hot_lines(run, name):
    """Lines of the workload's source by the branches executed in them; the C libraries are not the same."""
    counts = {}
    for item in json.loads(run.stderr)["profiles"][0]["rows"]:
        if os.path.basename(item.get("file", "")) == name + ".c":
            counts[item["line"]] = counts.get(item["line"], 0) + item["count"]
    return sorted(counts, key=lambda key: -counts[key])[:5]


def check_hot_lines(tap, work, folder):
    options = ["-p", "branch -> pc", "-e", "exact", "-f", "json", "-n", "0"]
    for name in HOT:
        native = subprocess.run([work.riffle, "run", *options, "--", os.path.join(folder, name), "1"],
                                capture_output=True, timeout=300)
        if native.returncode != 0:
            print(f"# riffle run cannot profile here: {native.stderr.decode()[-200:]}")
            continue
        simulated = work.sim(os.path.join(folder, name + ".rv64"), "1", options=("--functional", *options))
        theirs, ours = hot_lines(native, name), hot_lines(simulated, name)
        tap.case(f"{name} has the same hot lines natively and simulated", len(set(theirs) & set(ours)) >= SHARED_MIN,
                 theirs, ours)


def main():
    isa.require()
    tap, folder = isa.Tap(), os.path.abspath(sys.argv[3])
    tap.case("there are six workloads", len(names(folder)) >= 6, names(folder))
    with isa.Work(sys.argv[1], sys.argv[2]) as work:
        check_outputs(tap, work, folder)
        check_repeats(tap, work, folder)
        check_records(tap, work, folder)
        check_overhead(tap, work, folder)
        check_timing(tap, work, folder)
        check_stacks(tap, work, folder)
        check_silent(tap, work, folder)
        check_hot_lines(tap, work, folder)
    tap.end()


main()
