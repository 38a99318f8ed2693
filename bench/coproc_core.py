#!/usr/bin/env python3
"""coproc-core - what is left of the simulated core's speed with a co-processor beside it, on the workloads.

    bench-coproc-core [SIZE [NAME...]]       of the workloads (4; all of them); BENCH_ROUNDS rounds (3)

With and without it take turns, round after round; each is judged by its best round, in CPU time of its process, its
start included. Timing runs the first TIMED instructions of each. PROGRAM is another microprogram than values.uc.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RIFFLE = os.path.join(HERE, "..", "riffle")
WORKLOADS = os.path.join(HERE, "..", "lab", "workloads")
TIMED = 10_000_000


def run(command):
    """CPU time of one run, and the instructions that it says it executed."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 124):
        sys.exit(f"bench-coproc-core: {command} ended with {child.returncode}: {said}")
    return usage.ru_utime + usage.ru_stime, said


def speeds(program, rounds):
    """MIPS by contender."""
    beside = ["--coproc", os.environ.get("PROGRAM", "values.uc"), "-o", os.devnull]
    functional = [RIFFLE, "sim", "-q", "--functional"]
    timed = [RIFFLE, "sim", "-q", "--core", "coproc", "--max-instructions", str(TIMED)]
    whole = [RIFFLE, "sim", "--functional", "-n", "1", "-e", "exact", "-p", "call -> pc", "--"] + program
    instructions = int(re.search(r"(\d+) instructions", run(whole)[1]).group(1))
    contenders = {"functional": (functional, instructions), "functional+": (functional + beside, instructions),
                  "timed": (timed, min(TIMED, instructions)), "timed+": (timed + beside, min(TIMED, instructions))}
    best = dict.fromkeys(contenders, 0.0)
    for _ in range(rounds):
        for name, (command, n) in contenders.items():
            best[name] = max(best[name], n / run(command + ["--"] + program)[0] / 1e6)
    return best


def main():
    names = sorted(name for name in os.listdir(WORKLOADS) if name.endswith(".rv64")) if os.path.isdir(WORKLOADS) else []
    if not names:
        print("skipped: needs riscv64-linux-gnu-gcc")
        return
    size = sys.argv[1] if len(sys.argv) > 1 else "4"
    rounds = int(os.environ.get("BENCH_ROUNDS", "3"))
    print(f"workloads of size {size}, best of {rounds} rounds; MIPS of CPU time alone and with a co-processor, share kept")
    print(f"{'':10}{'functional':>11}{'with':>8}{'kept':>8}{'timed':>10}{'with':>8}{'kept':>8}")
    for name in names:
        if len(sys.argv) > 2 and name[:-5] not in sys.argv[2:]:
            continue
        best = speeds([os.path.join(WORKLOADS, name), size], rounds)
        print(f"{name[:-5]:10}{best['functional']:11.0f}{best['functional+']:8.0f}"
              f"{best['functional+'] / best['functional']:8.1%}{best['timed']:10.1f}{best['timed+']:8.1f}"
              f"{best['timed+'] / best['timed']:8.1%}", flush=True)


main()
