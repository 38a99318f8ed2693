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


def check_odd_names(tap, work, program):
    """Every way to write a name means what it means to Linux."""
    folder = work.path("odd")
    os.makedirs(os.path.join(folder, "sub/deep"))
    with open(os.path.join(folder, "file"), "w") as file:
        file.write("inside\n")
    for name, target in (("link", "sub/../file"), ("folder", "sub/"), ("up", ".."), ("loop", "pool"), ("pool", "loop"),
                         ("dangling", "nowhere"), ("far", os.path.join(folder, "sub")), ("through", "file/x"),
                         ("chain", "folder/../far/deep/../../link"), ("long", "x" * 255), ("root", "/")):
        os.symlink(target, os.path.join(folder, name))
    names = ["file", "file/", "file/.", "file/..", "file/x", "sub", "sub/", "sub/.", "sub/..", "sub/../..", "sub//../file",
             "./file", "link", "link/", "folder", "folder/", "folder/deep", "up", "up/odd/file", "loop", "loop/x", "dangling",
             "dangling/", "far/deep/..", "through", "chain", "chain/", "long", "x" * 255, "x" * 256, "nosuch/..", "root",
             "root/..", "../odd/file", ".", "..", "/", "//", "/..", "/../", "/dev/null", "y" * 4090, ""]
    wrong = []
    for name in names:
        runs = [subprocess.run([*run, program, "look", "sub/deep/../../.", name], capture_output=True, cwd=folder, timeout=60)
                for run in ((work.riffle, "sim", "--functional", "-q", "--"), (work.alone, isa.QEMU))]
        if runs[0].stdout != runs[1].stdout or not runs[0].stdout:
            wrong.append(f"'{name}': {runs[0].stdout.decode()}qemu: {runs[1].stdout.decode()}")
    tap.case(f"{len(names)} ways to write a name as in qemu", not wrong, *wrong)
    for name in ("dangling", "far/new", "file/", "sub/", "new/", "sub/../new", "loop"):
        ours, theirs = (subprocess.run([*run, program, "write", name], capture_output=True, cwd=folder, timeout=60)
                        for run in ((work.riffle, "sim", "--functional", "-q", "--"), (work.alone, isa.QEMU)))
        tap.case(f"writing to {name} as in qemu", ours.stdout == theirs.stdout != b"", ours.stdout, theirs.stdout)


def check_processes(tap, work, program):
    """No spelling leads to a file of a process, riffle's own memory least of all; with a root or without."""
    os.symlink("/proc/self", work.path("me"))
    os.symlink("me/mem", work.path("memory"))
    names = ["/proc/self/mem", "/proc//self/mem", "/proc/./self/mem", "//proc/self/mem", "/proc/thread-self/mem",
             "/proc/self/../self/maps", f"/proc/{os.getpid()}/maps", "/proc/1/mem", "/proc/self/task/../mem", "/proc",
             "/proc/self/root", "/proc/self/root/dev/null", "/proc/self/cwd/me", "/proc/self/fd/0", "/dev/fd/0",
             work.path("me"), work.path("me") + "/mem", work.path("memory"), "me/maps", "../" * 30 + "proc/self/mem"]
    for options in ((), ("--root", "/")):
        found = []
        for name in names if not options else [n for n in names if n != "me/maps"]:
            done = subprocess.run([work.riffle, "sim", "--functional", "-q", *options, "--", program, "read", name],
                                  capture_output=True, cwd=work.folder, timeout=60)
            if done.stdout.count(b": No such file or directory") != 3:
                found.append(f"{name}: {done.stdout}")
        tap.case(f"files of processes are not there {' '.join(options)}", not found, *found)
    proc = os.open("/proc/self", os.O_RDONLY)
    done = subprocess.run([work.riffle, "sim", "--functional", "-q", "--", program, "read", "maps"], capture_output=True,
                          cwd="/proc/self", stdin=proc, timeout=60)
    os.close(proc)
    tap.case("also for who starts among them", done.stdout.count(b": No such file") == 3, done.stdout)
    done = work.sim(program, "read", "/dev/stdin", stdin=b"handed over\n")
    tap.case("standard input has its name", b"open /dev/stdin: ok" in done.stdout and b"handed over" in done.stdout,
             done.stdout)


def check_above(tap, work, root, program):
    """Nothing above the root can be looked at, not even by lstat."""
    inside = os.stat(root).st_ino
    os.symlink("..", os.path.join(root, "sub", "up"))
    for folder, name in (("/", ".."), ("/", "/.."), ("sub", "../.."), ("sub", "up/.."), ("sub", "up/../../.."),
                         ("sub/top", ".."), ("/", "../../"), ("/", "/../."), ("sub", "top")):
        done = work.sim(program, "look", folder, name, options=("--functional", "-q", "--root", root))
        inodes = [int(line.split()[1]) for line in done.stdout.decode().splitlines() if line.startswith("inode")]
        reached = sum(inode == inside for inode in inodes)
        above = sum(inode == os.stat(work.folder).st_ino for inode in inodes)
        tap.case(f"{name} from {folder} ends at the root", above == 0 and reached >= 2, done.stdout)
    done = work.sim(program, "look", "sub", "link", options=("--functional", "-q", "--root", root))
    tap.case("an absolute link behind an open folder starts at the root", b"openat: ok\ninode" in done.stdout
             and done.stdout.count(b"inside") == 1, done.stdout)


def check_moved(tap, work, root, program):
    """A folder that the guest holds while it is moved out of the root is no way out."""
    os.mkdir(os.path.join(root, "held"))
    with subprocess.Popen([work.riffle, "sim", "--functional", "-q", "--root", root, "--", program, "hold", "held", ".."],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        while not holds(process.pid, os.path.join(root, "held")):
            pass
        os.rename(os.path.join(root, "held"), work.path("held"))
        out, _ = process.communicate(b"go\n", timeout=60)
    tap.case("a folder that was moved away leads nowhere", out.count(b"No such file") == 5 and b"inode" not in out, out)


def holds(pid, path):
    try:
        return path in (os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False


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
    check_above(tap, work, root, program)
    check_moved(tap, work, root, program)
    done = work.sim(program, "list", options=("-q", "--root", work.path("nosuch")))
    tap.case("a root that is not there is told", done.returncode == 125 and b"the root" in done.stderr, done.stderr)


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
        tap.case(f"'{wrong}' is no variable", done.returncode == 125 and b"--env must look like" in done.stderr, done.stderr)
    tap.case("it takes the same instructions", runs[0].stderr == runs[1].stderr != b"", *(r.stderr for r in runs))
    tap.case("the exit status is the program's", runs[0].returncode == 2, runs[0].returncode)


def check_limits(tap, work, program):
    done = work.sim(program, "list", options=("--functional", "--details", "-p", "code", "-e", "exact", "--max-instructions", "1000"))
    tap.case("a limit of instructions holds to the instruction", b"riffle: 1000 instructions" in done.stderr
             and b"events      1,000 produced" in done.stderr, done.stderr)
    done = work.sim(program, "list", options=("--details", "-p", "code", "-e", "exact", "--skip", "900", "--max-instructions", "1000"))
    tap.case("what is skipped is not profiled", b"events      100 produced" in done.stderr, done.stderr)


def main():
    isa.require()
    tap = isa.Tap()
    with isa.Work(sys.argv[1], sys.argv[2]) as work:
        program = build(work)
        check_as_qemu(tap, work, program)
        check_odd_names(tap, work, program)
        check_processes(tap, work, program)
        check_root(tap, work, program)
        check_frozen(tap, work, program)
        check_limits(tap, work, program)
    tap.end()


main()
