"""hooked - runs of programs that have hooks, for the tests beside it.

    run = Run("load -> pc", [program, "loads"])         riffle is the test's first argument
    equal("loads", run.of("k_loads"), 4000)
"""
import csv
import io
import os
import re
import subprocess
import sys
import tempfile

import tap

RIFFLE = os.path.abspath(sys.argv[1])
TIMEOUT = 120


class Run:
    """One run under riffle: rows by function as {name: count}, the details, what the program did."""

    def __init__(self, selector, command, *options):
        rows = tempfile.NamedTemporaryFile(suffix=".rfp")
        self.run = subprocess.run(
            [RIFFLE, "run", "-p", selector, "-e", "exact", "-o", rows.name, "-q", *options, "--", *command],
            capture_output=True, text=True, timeout=TIMEOUT)
        self.output, self.status, self.errors = self.run.stdout, self.run.returncode, self.run.stderr
        self.details = self.report(rows.name, "--details", "-n", "1")
        self.by_function = {}
        for row in csv.DictReader(io.StringIO(self.report(rows.name, "--by", "function", "-n", "0",
                                                          "--format", "csv"))):
            self.by_function[row["function"]] = int(row["count"])
        self.tuples = [row for row in csv.DictReader(io.StringIO(
            self.report(rows.name, "-n", "0", "--format", "csv")))]
        rows.close()

    @staticmethod
    def report(path, *options):
        return subprocess.run([RIFFLE, "report", path, *options], capture_output=True, text=True,
                              timeout=TIMEOUT).stdout

    def of(self, function):
        return self.by_function.get(function, 0)

    def adds_up(self):
        return "produced = consumed + lost" in self.details

    def note(self, name):
        found = re.search(rf"^{name} +(.*)$", self.details, re.M)
        return found.group(1) if found else ""


def equal(title, got, expected):
    tap.check(title, got == expected, f"counted {got}, must be {expected}")
