#!/usr/bin/env python3
"""counters - what is counted inside the program is what would have been streamed, for every preset.

    counters.py RIFFLE KNOWN LIBRARY

The known program by its k_ functions, since threads and signals meet differently in every run; gzip whole, six
programs with RIFFLE_TEST_LONG=1.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from agree import programs  # noqa: E402
from tap import check, end  # noqa: E402

RIFFLE, KNOWN, LIBRARY = sys.argv[1:4]

# Static as a whole, then those of which a part changes: targets, values, guards.
SELECTORS = ["code", "bias", "load -> pc,size", "store -> pc,width", "branch taken==0 -> pc,target", "alu -> pc",
             "any -> pc", "edges", "calls", "methods", "types", "return -> pc,target", "store -> pc,value",
             "narrow", "load,store size>=16 -> pc,addr", "jump,call indirect==0 -> target"]


def profile(command, *options):
    """The rows of each selector's profile, and whether what was produced came through."""
    lanes = [word for selector in SELECTORS for word in ("-p", selector)]
    with tempfile.TemporaryDirectory() as folder:
        saved = os.path.join(folder, "a.rfp")
        run = subprocess.run([RIFFLE, "run", "-n", "1", "-e", "exact", *lanes, *options, "-o", saved, "--", *command],
                             capture_output=True)
        text = subprocess.run([RIFFLE, "report", saved, "--format", "csv", "-n", "0"],
                              capture_output=True, text=True, check=True).stdout
    tables = [sorted(part.splitlines()[1:]) for part in text.strip().split("\n\n")]
    return tables, b"produced = consumed + lost" in run.stderr


def compare(title, command, *options, selectors=SELECTORS):
    counted, verified = profile(command, *options)
    streamed, _ = profile(command, *options, "--stream")
    check(f"{title}: produced = consumed + lost", verified, counted)
    for selector, left, right in zip(SELECTORS, counted, streamed):
        if selector in selectors:
            differences = sorted(set(left) ^ set(right))[:5]
            check(f"{title}: {selector}: {len(left)} rows", left == right and len(left) > 0, differences)


def main():
    os.environ["PYTHONHASHSEED"] = os.environ["PERL_HASH_SEED"] = "0"
    compare("known", [KNOWN, LIBRARY], "--function", "k_*")
    steady = [s for s in SELECTORS if "value" not in s and "addr" not in s and s != "narrow"]
    with tempfile.TemporaryDirectory() as folder:
        for name, command in programs(folder):
            compare(name, command, selectors=steady)
    end()


main()
