#!/usr/bin/env python3
"""machine - instructions a second of the simulated core beside qemu-riscv64 (a JIT), on the workloads.

    bench-machine [SIZE [NAME...]]       of the workloads (8; all of them); BENCH_ROUNDS rounds (3)

The three take turns, round after round; each is judged by its best round, in CPU time of its process, its
start included. Timing runs the first TIMED instructions of each, in full detail.
"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RIFFLE = os.path.join(HERE, "..", "riffle")
WORKLOADS = os.path.join(HERE, "..", "lab", "workloads")
TIMED = 20_000_000


def seconds(command):
    """User and system time of one run."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"bench-machine: {command} ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime


def count(program):
    """Instructions that the program executes."""
    done = subprocess.run([RIFFLE, "sim", "--functional", "--details", "-n", "1", "-e", "exact", "-p", "call -> pc", "--"] + program,
                          capture_output=True, text=True, check=True)
    return int(re.search(r"(\d+) instructions", done.stderr).group(1))


def measure(program, instructions, rounds):
    timed = min(TIMED, instructions)
    sim = [RIFFLE, "sim", "-q"]
    contenders = {
        "qemu": (["qemu-riscv64"] + program, instructions),
        "functional": (sim + ["--functional", "--"] + program, instructions),
        "timing": (sim + ["--max-instructions", str(timed), "--"] + program, timed),
    }
    best = dict.fromkeys(contenders, 0.0)
    for _ in range(rounds):
        for name, (command, n) in contenders.items():
            best[name] = max(best[name], n / seconds(command) / 1e6)
    return best


def main():
    names = sorted(name for name in os.listdir(WORKLOADS) if name.endswith(".rv64")) if os.path.isdir(WORKLOADS) else []
    if shutil.which("qemu-riscv64") is None or not names:
        print("skipped: needs riscv64-linux-gnu-gcc and qemu-riscv64")
        return
    size = sys.argv[1] if len(sys.argv) > 1 else "8"
    rounds = int(os.environ.get("BENCH_ROUNDS", "3"))
    print(f"workloads of size {size}, best of {rounds} rounds; MIPS of CPU time, ratio to qemu-riscv64")
    print(f"{'':10}{'M instr.':>9}{'qemu':>8}{'functional':>12}{'':7}{'timing':>8}")
    for name in names:
        if len(sys.argv) > 2 and name[:-5] not in sys.argv[2:]:
            continue
        program = [os.path.join(WORKLOADS, name), size]
        instructions = count(program)
        best = measure(program, instructions, rounds)
        print(f"{name[:-5]:10}{instructions / 1e6:9.1f}{best['qemu']:8.0f}"
              f"{best['functional']:12.0f}{best['functional'] / best['qemu']:7.3f}"
              f"{best['timing']:8.1f}{best['timing'] / best['qemu']:7.3f}", flush=True)


main()
