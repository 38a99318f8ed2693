#!/usr/bin/env python3
"""threads - the numbers of threads are the same in equal runs, whichever thread the system lets run first.

    threads.py RIFFLE THREADS

Thread 1 is the program's; 2 to 9 are made by it; 10 is its child, before and after exec; 11 and 12 are made after the fork.
Each calls k_step as often as threads.c says. 10 runs; 200 with RIFFLE_TEST_LONG=1.
"""
import csv
import io
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import check, end  # noqa: E402

RIFFLE, THREADS = sys.argv[1:3]
RUNS = 200 if os.environ.get("RIFFLE_TEST_LONG") else 10
CALLS = {**{n + 1: 10 * n for n in range(1, 9)}, 10: 90 + 100, 11: 110, 12: 120}


def calls():
    """How often each thread calls k_step."""
    command = [RIFFLE, "run", "-p", "call target==k_step -> thread", "-f", "csv", "--", THREADS]
    out = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
    return {int(row["thread"]): int(row["count"]) for row in csv.DictReader(io.StringIO(out.stderr))}


others = [table for table in (calls() for _ in range(RUNS)) if table != CALLS]
check(f"threads have the numbers of their making in each of {RUNS} runs", not others, others)
end()
