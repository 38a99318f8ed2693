#!/usr/bin/env python3
"""counters - events counted inside the program are the same as events streamed to the collector, for every preset.

    counters.py RIFFLE KNOWN LIBRARY TOTALS

Of the known program the k_ functions are compared, since its threads and signals meet differently in every run. Of gzip
all is compared; with RIFFLE_TEST_LONG=1, of six programs.
"""
import csv
import io
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from agree import programs  # noqa: E402
from tap import check, end  # noqa: E402

RIFFLE, KNOWN, LIBRARY, TOTALS = sys.argv[1:5]

# First selectors that the program counts alone, then selectors whose targets, values or guards are streamed.
SELECTORS = ["code", "bias", "load -> pc,size", "store -> pc,width", "branch taken==0 -> pc,target", "alu -> pc",
             "any -> pc", "edges", "calls", "methods", "types", "return -> pc,target", "store -> pc,value",
             "narrow", "alu -> pc,value", "load,store size>=16 -> pc,addr", "jump,call indirect==0 -> target"]


# Selectors with at most one changing word per class. The probe merges repeats of such words before it tells them.
MERGED = ["values", "load value==0 -> pc", "store -> value,pc", "alu -> pc,value", "types", "return -> pc,target",
          "edges", "any -> pc"]
# Those of them that are the same in every run of a program.
STEADY = ["load value!=0 -> pc", "types", "return -> pc,target", "edges"]


def profile(selectors, command, *options):
    """The rows of each selector's profile, and whether all produced events were consumed."""
    lanes = [word for selector in selectors for word in ("-p", selector)]
    with tempfile.TemporaryDirectory() as folder:
        saved = os.path.join(folder, "a.rfp")
        run = subprocess.run([RIFFLE, "run", "--details", "-n", "1", "-e", "exact", *lanes, *options, "-o", saved, "--", *command],
                             capture_output=True)
        text = subprocess.run([RIFFLE, "report", saved, "--format", "csv", "-n", "0"],
                              capture_output=True, text=True, check=True).stdout
    tables = [sorted(part.splitlines()[1:]) for part in text.strip().split("\n\n")]
    return tables, b"produced = consumed + lost" in run.stderr


def output(selector, command):
    """What the command prints while this is profiled; None: natively."""
    profiled = [] if selector is None else [RIFFLE, "run", "-q", "-o", os.devnull, "-p", f"{selector} -> pc,value", "--"]
    return subprocess.run([*profiled, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def beside_loader(rows):
    """The loader's strcspn looks at bytes behind LD_PRELOAD, where random ones may lie."""
    return [row for row in rows if "ld-linux" not in row]


def compare(title, command, *options, of=SELECTORS, selectors=None):
    counted, verified = profile(of, command, *options)
    streamed, _ = profile(of, command, *options, "--stream")
    check(f"{title}: produced = consumed + lost", verified, counted)
    for selector, left, right in zip(of, counted, streamed):
        if "value!=0" in selector:
            left, right = beside_loader(left), beside_loader(right)
        if selectors is None or selector in selectors:
            differences = sorted(set(left) ^ set(right))[:5]
            check(f"{title}: {selector}: {len(left)} rows", left == right and len(left) > 0, differences)


def totals_of(*options):
    """Of one run, by selector: the events of its profile, and the totals that TOTALS prints for it."""
    with tempfile.TemporaryDirectory() as folder:
        saved = os.path.join(folder, "a.rfp")
        subprocess.run([RIFFLE, "run", "-q", *options, "-o", saved, "--function", "k_*", "--", KNOWN, LIBRARY],
                       capture_output=True)
        lines = subprocess.run([TOTALS, saved], capture_output=True, text=True, check=True).stdout.splitlines()
        shown = subprocess.run([RIFFLE, "report", saved, "--details", "-n", "1"], capture_output=True, text=True).stdout
    found, rows = {}, None
    for line in lines:
        if ";" in line:
            selector, *head = line.split(";")
            rows = {}
            found[selector] = head, rows
        else:
            pc, count = line.split()
            rows[pc] = int(count)
    return found, shown


def exact(selector):
    """The same by a run of its own, streamed."""
    with tempfile.TemporaryDirectory() as folder:
        saved = os.path.join(folder, "a.rfp")
        subprocess.run([RIFFLE, "run", "-q", "--stream", "-e", "exact", "-p", selector, "-o", saved, "--function", "k_*",
                        "--", KNOWN, LIBRARY], capture_output=True)
        text = subprocess.run([RIFFLE, "report", saved, "--format", "csv", "-n", "0"], capture_output=True, text=True).stdout
    return {row["pc"]: int(row["count"]) for row in csv.DictReader(io.StringIO(text))}


def check_companions():
    """A profile whose engine may forget gets exact totals beside it, without being asked; other profiles get none."""
    wanted = {"load -> pc,value": "load -> pc", "store size==8 -> pc,addr": "store size==8 -> pc",
              "branch,jump -> pc,target": "branch,jump -> pc", "call indirect==1 -> pc,target": "call indirect==1 -> pc"}
    without = ["load value==0 -> pc,addr", "store -> addr", "alu -> pc"]
    lanes = [word for selector in [*wanted, *without] for word in ("-p", selector)]
    found, shown = totals_of("-e", "multihash", *lanes)
    check("those that have a pc and something that changes have totals", set(found) == set(wanted), sorted(found))
    check("they are not shown", "profile     load -> pc\n" not in shown, shown)
    for selector, ((own, companion, produced, totals, accounted), rows) in found.items():
        expected = exact(own)
        check(f"{selector}: its totals are exact", (own, companion) == (wanted[selector], "1") and rows == expected,
              sorted(set(rows.items()) ^ set(expected.items()))[:5])
        check(f"{selector}: produced = consumed + lost", produced == totals == accounted == str(sum(rows.values())),
              (produced, totals, accounted))
    found, _ = totals_of("-e", "multihash", "-p", "values", "-p", "load -> pc", "-e", "exact")
    check("totals that were asked for are no companion", found["load -> pc,value"][0][:2] == ["load -> pc", "0"], found)
    for title, options in (("an exact engine", ["-e", "exact"]), ("a cut run", ["--limit", "100"]),
                           ("bursts", ["--frequency", "1/10"])):
        found, _ = totals_of("-p", "values", *options)
        check(f"{title}: no companion", found == {}, found)


def main():
    os.environ["PYTHONHASHSEED"] = os.environ["PERL_HASH_SEED"] = "0"
    os.environ["RIFFLE_CHECK_CODE"] = "1"  # what is wrong about translated code ends the program
    check_companions()
    compare("known", [KNOWN, LIBRARY], "--function", "k_*")
    compare("known, merged", [KNOWN, LIBRARY], "--function", "k_*", of=MERGED)
    steady = [s for s in SELECTORS if "value" not in s and "addr" not in s and s != "narrow"]
    with tempfile.TemporaryDirectory() as folder:
        for name, command in programs(folder):
            compare(name, command, selectors=steady)
            compare(f"{name}, merged", command, of=STEADY)
            check(f"{name}: computes what it does natively", output("alu", command) == output(None, command), name)
    end()


main()
