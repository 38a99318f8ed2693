#!/usr/bin/env python3
"""steps - a signal at each instruction of hooks: handlers that jump out of them, and handlers that have hooks themselves.

    steps.py RIFFLE FOLDER COMPILER...        FOLDER has steps.c and stepped.c
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
from hooked import RIFFLE, TIMEOUT, Run, equal  # noqa: E402

FOLDER = sys.argv[2]
WAYS = (("code in place", {}), ("called", {"RIFFLE_CC_CALLS": "1"}), ("two copies", {"RIFFLE_CC_BURSTS": "1"}))
# What is asked for, how, and whether handlers have a stack of their own.
CASES = (("load -> pc,value", [], []), ("load -> pc,value", [], ["apart"]), ("load -> pc,value", ["--stream"], []),
         ("load -> pc,addr", [], ["apart"]), ("load -> pc", [], []))


def build(compiler, folder, variables):
    program, plain, hooked = (os.path.join(folder, name) for name in ("steps", "steps.o", "stepped.o"))
    environment = {**os.environ, "RIFFLE_CC": compiler, **variables}
    for command in ([compiler, "-O1", "-mno-red-zone", "-c", f"{FOLDER}/steps.c", "-o", plain],
                    [RIFFLE, "cc", "-O1", "-g", "-c", f"{FOLDER}/stepped.c", "-o", hooked],
                    [RIFFLE, "cc", plain, hooked, "-o", program]):
        subprocess.run(command, env=environment, check=True, timeout=TIMEOUT)
    return program


def times(run):
    """How often a handler did something, which the program prints. None: it did not come that far."""
    return int(run.output) if run.status == 3 and run.output.strip().isdigit() else None


def jumps(name, program, selector, options, more):
    run = Run(selector, [program, "jump", *more], *options)
    n = times(run)
    equal(f"{name}: jumps out of {n} instructions", (run.of("s_after"), n is not None and n > 50), (10 * ((n or 0) + 1), True))
    if more:
        return
    run = Run(selector, [program, "first"], *options)
    n = times(run)
    equal(f"{name}: jumps out of {n} instructions at new places", (run.of("s_after"), n is not None and n > 10), (10 * (n or 0), True))


def handlers(name, program, selector, options, more):
    for what, works in (("handle", 4), ("new", 2)):
        run = Run(selector, [program, what, *more], *options)
        n = times(run)
        equal(f"{name}: handlers with hooks at {n} instructions, {what}", (run.of("s_handle"), run.of("s_work"), run.adds_up()),
              (3 * ((n or 0) + (what == "handle")), works, True))


def bursts(name, program):
    """Half of the rounds are told, whatever was jumped out of."""
    run = Run("load -> pc,value", [program, "bursts"], "--burst", "1", "--frequency", "1/2")
    told = int(run.note("sampled").replace(",", "") or 0)
    tap.check(f"{name}: bursts behind {times(run)} jumps", (times(run) or 0) > 20 and 4000 < told < 7000, (times(run), told, run.by_function))


def main():
    for compiler in sys.argv[3:]:
        if not shutil.which(compiler):
            tap.skip(compiler, "not installed")
            continue
        for way, variables in WAYS:
            with tempfile.TemporaryDirectory() as folder:
                program = build(compiler, folder, variables)
                for selector, options, more in CASES if compiler == sys.argv[3] else CASES[:1]:
                    name = " ".join([f"{compiler}, {way}, {selector}", *options, *more])
                    jumps(name, program, selector, options, more)
                    handlers(name, program, selector, options, more)
                bursts(f"{compiler}, {way}", program)
    tap.end()


main()
