#!/usr/bin/env python3
"""System calls of a program with a C library: files as under qemu, a root that nothing leads out of, and
nothing that differs from run to run.

    system.py RIFFLE ALONE
"""
import os
import subprocess
import sys

import isa


def build(work):
    program = work.path("guest.rv64")
    subprocess.run([isa.GCC, "-O1", "-static", "-o", program, os.path.join(isa.HERE, "guest.c")], check=True)
    return program


def check_as_qemu(tap, work, program):
    inside = work.path("plain")
    with open(inside, "w") as file:
        file.write("inside\n")
    for arguments, stdin in ((("read", inside), None), (("read", work.path("nosuch")), None), (("read", work.folder), None),
                             (("write", work.path("new")), None), (("write", work.path("nosuch/new")), None),
                             ((), b"one\ntwo\n" * 5000), ((), b"")):
        ours, theirs = work.sim(program, *arguments, stdin=stdin), work.qemu(program, *arguments, stdin=stdin)
        tap.case(f"{' '.join(arguments[:1]) or 'input'} as in qemu",
                 ours.stdout == theirs.stdout != b"" and ours.returncode == theirs.returncode, ours.stdout, theirs.stdout)


def check_root(tap, work, program):
    root, outside = work.path("root"), work.path("outside")
    os.makedirs(os.path.join(root, "sub"))
    for name, text in ((outside, "secret\n"), (os.path.join(root, "in"), "inside\n")):
        with open(name, "w") as file:
            file.write(text)
    os.symlink(outside, os.path.join(root, "absolute"))
    os.symlink("../outside", os.path.join(root, "relative"))
    os.symlink("/", os.path.join(root, "sub", "top"))
    os.symlink("/in", os.path.join(root, "sub", "link"))
    options = ("--functional", "-q", "--root", root)
    for name in ("/in", "in", "/sub/../in", "/sub/../../in", "/sub/link", "/sub/top/in", "../in"):
        done = work.sim(program, "read", name, options=options)
        tap.case(f"{name} is inside", b"open %s: ok" % name.encode() in done.stdout and b"inside" in done.stdout
                 and b"stat %s: ok" % name.encode() in done.stdout and b"access %s: ok" % name.encode() in done.stdout,
                 done.stdout)
    for name in (outside, "/../outside", "../outside", "absolute", "relative", "/sub/top/../outside", "/proc/self/root"):
        done = work.sim(program, "read", name, options=options)
        tap.case(f"{os.path.basename(name)} by {name.count('/')} parts is out of reach",
                 b"secret" not in done.stdout and b"open %s: No such" % name.encode() in done.stdout
                 and b"stat %s: No such" % name.encode() in done.stdout, done.stdout)
    for name in ("/made", "../made", "sub/top/made"):
        done = work.sim(program, "write", name, options=options)
        tap.case(f"{name} is written inside", done.stdout.count(b": ok") == 15 and not os.path.exists(work.path("made")),
                 done.stdout)
    with open(outside) as file:
        tap.case("what is outside stays as it was", file.read() == "secret\n")
    done = work.sim(program, "list", options=("-q", "--root", work.path("nosuch")))
    tap.case("a root that is not there is told", done.returncode == 1 and b"the root" in done.stderr, done.stderr)


def check_frozen(tap, work, program):
    runs = [subprocess.run([work.riffle, "sim", "--functional", "-p", "code", "-e", "exact", "-n", "1", "-f", "csv", "--",
                            program, "list"], capture_output=True, timeout=60, env=env, cwd=cwd)
            for env, cwd in (({"HOME": "/a"}, "/"), ({"PATH": "/bin", "X": "y" * 1000}, work.folder))]
    tap.case("clock, random numbers and environment are frozen", runs[0].stdout == runs[1].stdout != b""
             and b"home unset, a terminal: 0" in runs[0].stdout and b"1 processor" in runs[0].stdout, *(r.stdout for r in runs))
    tap.case("there is no network, and that is no missing call", b"socket of a name service: Address family not supported" in runs[0].stdout
             and b"not there" not in runs[0].stderr, runs[0].stdout, runs[0].stderr)
    done = work.sim(program, "list", options=("--functional", "-q", "--env", "HOME=/x", "--env", "A="))
    tap.case("a variable of the environment is seen", b"home set" in done.stdout, done.stdout, done.stderr)
    for wrong in ("HOME", "=x", ""):
        done = work.sim(program, "list", options=("-q", "--env", wrong))
        tap.case(f"'{wrong}' is no variable", done.returncode == 2 and b"--env must be" in done.stderr, done.stderr)
    tap.case("it takes the same instructions", runs[0].stderr == runs[1].stderr != b"", *(r.stderr for r in runs))
    tap.case("the exit status is the program's", runs[0].returncode == 2, runs[0].returncode)


def check_limits(tap, work, program):
    done = work.sim(program, "list", options=("--functional", "-p", "code", "-e", "exact", "--max-instructions", "1000"))
    tap.case("a limit of instructions holds to the instruction", b"riffle: 1000 instructions" in done.stderr
             and b"events      1,000 produced" in done.stderr, done.stderr)
    done = work.sim(program, "list", options=("-p", "code", "-e", "exact", "--skip", "900", "--max-instructions", "1000"))
    tap.case("what is skipped is not profiled", b"events      100 produced" in done.stderr, done.stderr)


def main():
    isa.require()
    tap = isa.Tap()
    with isa.Work(sys.argv[1], sys.argv[2]) as work:
        program = build(work)
        check_as_qemu(tap, work, program)
        check_root(tap, work, program)
        check_frozen(tap, work, program)
        check_limits(tap, work, program)
    tap.end()


main()
