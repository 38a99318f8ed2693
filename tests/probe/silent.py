#!/usr/bin/env python3
"""silent - a program with a known number of stores that write what is there already.

    silent.py RIFFLE SILENT
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

RIFFLE, SILENT = sys.argv[1:3]


def count(function, *more):
    """The number of silent stores and of others, for each instruction of a function."""
    done = subprocess.run([RIFFLE, "run", "-p", "store -> pc,silent", "-e", "exact", "-f", "json", "-n", "0",
                           "--function", function, *more, "--", SILENT], capture_output=True, timeout=120)
    counts = {}
    for item in json.loads(done.stderr)["profiles"][0]["rows"]:
        counts.setdefault(item["pc"], [0, 0])[int(item["silent"], 0)] += item["count"]
    return sorted(counts.values())


def main():
    same = count("write_same")
    # write_other changes `whole` each time; the others change once.
    tap.check("six widths, all but the first silent", same == [[1, 999]] * 5 + [[1000, 0]], same)
    vector = count("write_vector")
    tap.check("both halves of a vector count", vector == [[501, 499]] or vector == [[500, 500]], vector)
    other = count("write_other")
    tap.check("a change in one half is a change", other == [[1000, 0]], other)
    preset = subprocess.run([RIFFLE, "run", "-p", "silent-stores", "-e", "exact", "-f", "json", "-n", "0", "--function",
                             "write_same", "--", SILENT], capture_output=True, timeout=120)
    found = json.loads(preset.stderr)["profiles"][0]
    tap.check("the preset keeps the silent ones", found["consumed"] == 5 * 999, found["consumed"])
    tap.end()


main()
