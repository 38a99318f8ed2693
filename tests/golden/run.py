#!/usr/bin/env python3
"""Golden tests: command lines with the output they must have.

    run.py PROGRAM [CASE...]             compare; TAP on stdout
    run.py --record PROGRAM [CASE...]    write what came out into the cases (tools/record-golden)

A case is a file NAME.t:

    # words for the reader
    $ riffle trace info nosuch.rft
    riffle: nosuch.rft: cannot open: No such file or directory
    [1]

`$ ` begins a command for bash, `> ` continues it; what follows is its output, stdout and stderr
together as they come, and its exit status in brackets where that is not 0. Output lines that begin
with `$ `, `> `, `#` or `[` are written with a backslash in front. All commands of a file run in one
empty folder, one after the other, with `riffle`, `make-records` and `make-hostile` on the PATH and pipefail set.
"""
import glob
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SPECIAL = ("$ ", "> ", "#", "[", "\\")
SECONDS = 180  # a case that runs programs takes ten on an idle machine, and machines are not always idle


def escape(line):
    return "\\" + line if line.startswith(SPECIAL) else line


def read_case(path):
    """The file as a list of ('text', lines) and ('run', command lines, expected lines)."""
    parts, text = [], []
    with open(path) as file:
        for line in file.read().split("\n")[:-1]:
            if line.startswith("$ "):
                if text:
                    parts.append(["text", text])
                text = []
                parts.append(["run", [line[2:]], []])
            elif (line + " ").startswith("> ") and parts and parts[-1][0] == "run" and not parts[-1][2]:
                parts[-1][1].append(line[2:])
            elif line.startswith("#") or (not line and (not parts or text)):
                text.append(line)
            elif parts and parts[-1][0] == "run" and not text:
                parts[-1][2].append(line)
            else:
                sys.exit(f"{path}: output without a command: {line}")
    if text:
        parts.append(["text", text])
    return parts


def run(command, program, folder):
    build = os.path.dirname(program)
    env = {"PATH": f"{build}:{build}/tests:{os.environ['PATH']}", "LC_ALL": "C", "HOME": folder,
           "TERM": "dumb"}
    try:
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return [f"[no end after {SECONDS} seconds]"]
    out = done.stdout.decode(errors="backslashreplace")
    lines = [escape(line) for line in out.split("\n")]
    if lines[-1] == "":
        lines.pop()
    return lines + ([f"[{done.returncode}]"] if done.returncode != 0 else [])


def write_case(path, parts):
    with open(path, "w") as file:
        for part in parts:
            if part[0] == "text":
                file.writelines(line + "\n" for line in part[1])
            else:
                lines = ["$ " + part[1][0]] + [("> " + line).rstrip() for line in part[1][1:]]
                file.writelines(line + "\n" for line in lines)
                file.writelines(line + "\n" for line in part[2])


def main():
    arguments = sys.argv[1:]
    record = arguments[:1] == ["--record"]
    if record:
        arguments.pop(0)
    program, cases = os.path.abspath(arguments[0]), arguments[1:]
    cases = cases or sorted(glob.glob(HERE + "/*.t"))
    number = failed = 0
    for path in cases:
        parts = read_case(path)
        name = os.path.basename(path)[:-2]
        with tempfile.TemporaryDirectory() as folder:
            for part in (p for p in parts if p[0] == "run"):
                number += 1
                got = run("\n".join(part[1]), program, folder)
                # A trailing empty line separates cases; it is no output.
                expected = list(part[2])
                tail = []
                while expected and expected[-1] == "" and (not got or got[-1] != ""):
                    tail.append(expected.pop())
                good = got == expected
                if record:
                    part[2] = got + tail
                elif not good:
                    failed += 1
                    print(f"# $ {' '.join(part[1])}")
                    for line in expected:
                        print(f"# expected: {line}")
                    for line in got:
                        print(f"# got:      {line}")
                print(f"{'ok' if good or record else 'not ok'} {number} - {name}: {part[1][0][:60]}")
        if record:
            write_case(path, parts)
    print(f"1..{number}")
    sys.exit(failed > 0 or number == 0)


main()
