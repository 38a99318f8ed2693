#!/usr/bin/env python3
"""hostile - programs that write to the ring of a live run: riffle ends, and prints no nonsense.

    hostile.py RIFFLE HOSTILE INNOCENT

Also programs beside a hostile one of the same run, which writes into their slots; and a limit that a user may have set: the size of files.
"""
import os
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import check, end  # noqa: E402

RIFFLE, HOSTILE, INNOCENT = sys.argv[1:4]
PATIENCE = 60


def attack(how, *options):
    command = [RIFFLE, "run", "--details", "-p", "calls", "-e", "exact", "-n", "3", *options, "--"]
    command += [HOSTILE, how] if how else ["true"]
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PATIENCE)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(command, None, "", f"did not end: {late}")


def check_attacks(folder):
    for how in ("init", "riffle", "slots"):
        run = attack(how)
        check(f"{how}: nobody is waited for who does not have the ring",
              (run.returncode, run.stdout) == (0, "done\n"), run)
    run = attack("lost")
    losses = [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) lost", run.stderr)]
    check("lost: what cannot have been lost was not", run.returncode == 125 and losses != []
          and max(losses) == 0 and "damaged" in run.stderr, run)
    run = attack("modules", "--record", os.path.join(folder, "x.rft"))
    check("modules: one warning", run.returncode == 0 and run.stderr.count("have no names") == 1,
          (run.returncode, run.stderr.count("have no names"), run.stderr[-500:]))
    run = attack("names")
    check("names: nothing that moves the cursor", run.returncode == 0 and "(setuid)" in run.stderr
          and "\033" not in run.stderr and "\x9b" not in run.stderr, run)
    run = attack("scribble")
    check("scribble: it ends, with a sentence where there is damage",
          run.returncode in (0, 125) and run.stdout == "done\n", run)


SLOT = ["cursor", "limit", "head", "tail", "note", "notes", "fill", "page", "chunks", "counters", "table", "noted"]
SHARED = ["magic", "collector", "wanted"]
STREAM = ["cursor", "head", "tail", "page", "chunks"]
SIBLINGS = [  # options, rounds of the innocent one, places
    (["-p", "values"], 60, SLOT + SHARED),
    (["-p", "values", "--stream"], 30, STREAM),
    (["-p", "values", "--stream", "--lossy"], 30, STREAM),
    (["-p", "values", "--burst", "10", "--frequency", "1/20"], 60, STREAM + ["bursts", "wanted"]),
]
HOOKED = [
    (["-p", "values"], 600, SLOT + SHARED),
    (["-p", "values", "--stream", "--lossy"], 100, STREAM),
    (["-p", "values", "--burst", "10", "--frequency", "1/20"], 600, STREAM + ["wanted"]),
]


def check_sibling(hostile, innocent, options, rounds, where):
    """The innocent program prints what it must and ends as it must; riffle at most says that numbers are damaged."""
    expected = subprocess.run([INNOCENT, str(rounds)], capture_output=True, text=True).stdout + "status 0\n"
    command = [RIFFLE, "run", "-q", "-o", "/dev/null", *options, "--", hostile, where, innocent, str(rounds)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PATIENCE)
    except subprocess.TimeoutExpired as late:
        run = subprocess.CompletedProcess(command, None, "", f"did not end: {late}")
    said = [line for line in run.stderr.splitlines() if "damaged" not in line and "makes no sense" not in line]
    check(f"{os.path.basename(innocent)} beside {where}, {' '.join(options)}",
          run.stdout == expected and run.returncode in (0, 125) and said == [], run)


def check_siblings(folder):
    for options, rounds, places in SIBLINGS:
        for where in places:
            check_sibling(HOSTILE, INNOCENT, options, rounds, where)
    here = os.path.dirname(os.path.abspath(__file__))
    made = [os.path.join(folder, name) for name in ("hooked-hostile", "hooked-innocent")]
    for path, name in zip(made, ("hostile.c", "innocent.c")):
        subprocess.run([RIFFLE, "cc", "-O2", "-D_GNU_SOURCE", "-I", os.path.join(here, "../../src"), "-o", path,
                        os.path.join(here, name)], check=True)
    for options, rounds, places in HOOKED:
        for where in places:
            check_sibling(*made, options, rounds, where)


def limited(blocks, *command):
    size = blocks * 1024
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))


def check_limits(folder):
    run = limited(100000, RIFFLE, "run", "-q", "--", "sh", "-c", "/bin/echo a; exec /bin/echo b")
    check("files of 100 MB: fewer slots", (run.returncode, run.stdout) == (0, "a\nb\n"), run)
    run = limited(5000, RIFFLE, "run", "-q", "--", "sh", "-c", "/bin/echo a; exec /bin/echo b")
    check("files of 5 MB: two slots", (run.returncode, run.stdout) == (0, "a\nb\n"), run)
    run = limited(1000, RIFFLE, "run", "-q", "--", "true")
    check("files of 1 MB: a sentence", run.returncode == 125 and "ulimit -f" in run.stderr, run)
    for name in ("big.rft", "big.txt"):
        run = limited(10, RIFFLE, "gen", "zipf", "-N", "1M", "-o", os.path.join(folder, name))
        left = [entry for entry in os.listdir(folder) if entry.startswith("big")]
        check(f"gen -o {name}: a sentence, and nothing is left", run.returncode == 1
              and "too large" in run.stderr and left == [], (run, left))


def annotate(folder, saved, script):
    """The output of report -a when objdump is replaced by the script."""
    fake = os.path.join(folder, "objdump")
    with open(fake, "w") as file:
        file.write(f"#!/bin/sh\n{script}\n")
    os.chmod(fake, 0o755)
    environment = dict(os.environ, PATH=folder + ":" + os.environ["PATH"])
    return subprocess.run([RIFFLE, "report", "-a", "strlen", saved], capture_output=True, text=True,
                          env=environment, timeout=PATIENCE).stdout


def check_objdump(folder):
    saved = os.path.join(folder, "code.rfp")
    attack("", "-q", "-p", "code", "-o", saved)
    said = annotate(folder, saved, "; ".join(f"printf '    113{i}:\\tlimit {flag} '; ulimit -{flag}" for i, flag in enumerate("tvf")))
    check("objdump has limits of time, memory and files", all(words in said for words in ("limit t 20", "limit v 2097152", "limit f 0")),
          said)
    said = annotate(folder, saved, "while :; do printf '    1139:\\tnop\\n'; done")
    functions = said.count("is left out")
    check("objdump has a limit of lines", functions > 0 and said.count("nop") == 100000 * functions,
          (functions, said.count("nop")))


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_attacks(folder)
        check_siblings(folder)
        check_limits(folder)
        check_objdump(folder)
    end()


main()
