#!/usr/bin/env python3
"""What doc/SECURITY.md says of files, rings and values, line by line.

    security.py RIFFLE NM [WORK]

WORK (tests/scale/work.c) runs under riffle run; without it, where there is no probe, that part is left out.
"""
import errno
import fcntl
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import refused  # noqa: E402
import tap  # noqa: E402

RIFFLE, NM = (os.path.abspath(path) for path in sys.argv[1:3])
WORK = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None
NOBODY = 65534
F_GET_SEALS, F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW = 1034, 1, 2, 4


def run(folder, *arguments):
    return subprocess.run([RIFFLE, *arguments], cwd=folder, preexec_fn=lambda: os.umask(0), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)


def mode_of(folder, name):
    return oct(stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode))


def check_modes(folder):
    run(folder, "gen", "zipf", "--events", "1K", "-o", "a.rft")
    run(folder, "replay", "a.rft", "-o", "a.rfp")
    run(folder, "merge", "a.rfp", "a.rfp", "-o", "b.rfp")
    run(folder, "trace", "convert", "a.rft", "b.rft")
    run(folder, "trace", "convert", "a.rft", "b.txt")
    run(folder, "gen", "zipf", "--events", "1K", "-o", "a.txt")
    names = ["a.rft", "a.rfp", "b.rfp", "b.rft", "b.txt", "a.txt"]
    if WORK:
        run(folder, "run", "-q", "-p", "calls", "-o", "c.rfp", "--record", "c.rft", "--", WORK)
        names += ["c.rfp", "c.rft"]
    modes = {name: mode_of(folder, name) for name in names}
    tap.check("profiles, traces and traces as text have the mode 0600, with a umask of 0", set(modes.values()) == {"0o600"}, modes)


def check_fence(folder):
    """Where the system has no filter of system calls, names are read under limits alone, and --details says so."""
    if not (WORK and refused.USABLE):
        tap.skip("fence", "no probe here, or not x86-64")
        return
    none = {refused.PRCTL: errno.EINVAL, refused.SECCOMP: errno.ENOSYS}
    for title, limit, expected in (("with", None, 0), ("without", refused.calls(none), 1)):
        done = subprocess.run([RIFFLE, "report", "c.rfp", "--details"], cwd=folder, preexec_fn=limit, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        said = len([line for line in done.stdout.splitlines() if line.startswith(b"fence ") and b"none" in line])
        tap.check(f"names are read {title} seccomp, and --details says where there is no fence",
                  done.returncode == 0 and b" step " in done.stdout and said == expected, done)


INTRUDER = r"""#!/bin/sh
# objdump as a file that has taken it over would have it. No command but of the shell itself: it could start none.
say() { printf '    11%s:\t%s\n' "$1" "$2"; }
while read -r name value; do
    case $name in NoNewPrivs:) say 30 "privileges $value";; Seccomp:) say 31 "filter $value";; esac
done < /proc/self/status
say 32 "secret <$SECRET>"
{ echo broken > FOLDER/written; } 2>/dev/null && say 33 "it writes"
{ : >> FOLDER/a.rft; } 2>/dev/null && say 34 "it opens for writing"
kill -0 VICTIM 2>/dev/null && say 35 "it sends signals"
{ echo x >&7; } 2>/dev/null && say 36 "it has a descriptor"
say 37 "it gets to its end"
$(say 38 "it starts processes")
"""


def check_objdump(folder):
    """A stand-in for objdump, first in PATH, tries what the real one must not do for a hostile file."""
    if not (WORK and refused.USABLE):
        tap.skip("objdump", "no probe here, or not x86-64")
        return
    tools = os.path.join(folder, "tools")
    os.mkdir(tools)
    fake, secret = os.path.join(tools, "objdump"), {"SECRET": "leaked", "PATH": tools + ":" + os.environ["PATH"]}
    with open(fake, "w") as file:
        file.write(INTRUDER.replace("FOLDER", folder).replace("VICTIM", str(os.getpid())))
    os.chmod(fake, 0o700)
    run(folder, "run", "-q", "-p", "code", "-o", "code.rfp", "--", WORK)
    reader, writer = os.pipe()
    os.dup2(writer, 7)
    done = subprocess.run([RIFFLE, "report", "-a", "strlen", "code.rfp"], cwd=folder, env=dict(os.environ, **secret), pass_fds=[7],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    for descriptor in (reader, writer, 7):
        os.close(descriptor)
    said = re.findall(rb"(privileges \d|filter \d|secret <.*>|it [a-z ]+)", done.stdout)
    tap.check("objdump is fenced in: no rights, no environment, no descriptor, no file, no signal, no process",
              set(said) == {b"privileges 1", b"filter 2", b"secret <>", b"it gets to its end"}
              and not os.path.exists(os.path.join(folder, "written")), (said, done))
    os.remove(fake)
    done = run(folder, "report", "-a", "strlen", "code.rfp")
    if shutil.which("objdump"):
        tap.check("and the real one does its work there", b"\tret" in done.stdout or b" ret" in done.stdout, done)


def check_links(folder):
    victim, link = (os.path.join(folder, name) for name in ("victim", "link.rfp"))
    with open(victim, "w") as file:
        file.write("mine")
    os.symlink(victim, link)
    run(folder, "replay", "a.rft", "-o", "link.rfp")
    with open(victim) as file:
        kept = file.read() == "mine"
    tap.check("a link in the place of the output does not lead to another file", kept and not os.path.islink(link), os.listdir(folder))


def check_descriptors(folder):
    """A stand-in for /dev/stdout, because what replaces a link would replace that."""
    link = os.path.join(folder, "stdout")
    os.symlink("/proc/self/fd/1", link)
    for words in (["report", "a.rfp", "-f", "csv", "--report"], ["merge", "a.rfp", "-o"], ["gen", "zipf", "--events", "10", "-o"],
                  ["trace", "convert", "a.rft"]):
        with open(os.path.join(folder, "log"), "w") as log:
            log.write("before\n")
            log.flush()
            subprocess.run([RIFFLE, *words, link], cwd=folder, stdout=log, check=True)
        with open(os.path.join(folder, "log"), "rb") as log:
            text = log.read()
        tap.check(f"{words[0]} writes to a descriptor by its name, behind what is there",
                  os.path.islink(link) and text.startswith(b"before\n") and len(text) > 20, text[:80])


def check_ended(folder):
    """Export stops at a sentence that nobody reads, its file half-way."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b"x" * 512)
    except BlockingIOError:
        os.set_blocking(writer, True)
    before = set(os.listdir(folder))
    process = subprocess.Popen([RIFFLE, "export", "--to", "callgrind", "-o", "ended", "a.rfp"], cwd=folder, stderr=writer)
    end = time.monotonic() + 60
    while set(os.listdir(folder)) == before and time.monotonic() < end:
        time.sleep(0.01)
    made = set(os.listdir(folder)) - before
    process.terminate()
    status = process.wait(60)
    tap.check("a signal leaves nothing of a file that is not whole", made and status == -signal.SIGTERM and
              set(os.listdir(folder)) == before, (made, status, os.listdir(folder)))
    os.close(reader)
    os.close(writer)


def check_killed(folder):
    """A trace has no name until it is whole; text has one, which every signal but SIGKILL removes, also a second one."""
    before = set(os.listdir(folder))
    for name, signals in (("killed.rft", [signal.SIGKILL]), ("killed.txt", [signal.SIGHUP]),
                          ("killed.txt", [signal.SIGTERM, signal.SIGTERM])):
        process = subprocess.Popen([RIFFLE, "gen", "zipf", "--events", "100G", "-o", name], cwd=folder, stderr=subprocess.DEVNULL,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))  # nohup ignores it
        time.sleep(0.5)
        for number in signals:
            process.send_signal(number)
        process.wait(60)
        tap.check(f"gen -o {name}, {len(signals)} times {signals[0].name}: nothing is left", set(os.listdir(folder)) == before,
                  (set(os.listdir(folder)) - before, process.returncode))


def check_replaced(folder):
    """A page that replaces one of ours has the mode of that; profiles are for their owner alone all the same."""
    for name, words, kept in (("new.html", ["report", "a.rfp", "--html"], "0o600"), ("old.html", ["report", "a.rfp", "--html"], "0o644"),
                              ("old.csv", ["report", "a.rfp", "-f", "csv", "--report"], "0o640"),
                              ("old.rfp", ["merge", "a.rfp", "a.rfp", "-o"], "0o600"), ("old.rft", ["trace", "convert", "a.rft"], "0o600"),
                              ("old.txt", ["trace", "convert", "a.rft"], "0o604")):
        path = os.path.join(folder, name)
        if name.startswith("old"):
            with open(path, "w") as file:
                file.write("old")
            os.chmod(path, int(kept, 8) if kept != "0o600" else 0o644)
        done = run(folder, *words, name)
        tap.check(f"{name}: its mode is {kept}", done.returncode == 0 and os.path.getsize(path) > 3 and mode_of(folder, name) == kept,
                  (mode_of(folder, name), done))
    if os.getuid() == 0:
        path = os.path.join(folder, "strange.html")
        with open(path, "w") as file:
            file.write("old")
        os.chmod(path, 0o666)
        os.chown(path, NOBODY, NOBODY)
        run(folder, "report", "a.rfp", "--html", "strange.html")
        tap.check("somebody else's file does not say who may read ours", mode_of(folder, "strange.html") == "0o600"
                  and os.stat(path).st_uid == 0, os.stat(path))


def ring_of(pid):
    """The path of the ring among a process's descriptors."""
    for name in os.listdir(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{name}"
        try:
            if "riffle-ring" in os.readlink(path):
                return path
        except OSError:
            continue
    return None


def opened_by_nobody(path):
    """What another user gets when opening it."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.open(path, os.O_RDWR)
            os._exit(0)
        except OSError as failure:
            os._exit(failure.errno)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def resized(fd, size):
    try:
        os.ftruncate(fd, size)
        return 0
    except OSError as failure:
        return failure.errno


def check_ring(folder):
    riffle = subprocess.Popen([RIFFLE, "run", "-q", "-p", "calls", "--", "sleep", "60"], cwd=folder, stdin=subprocess.DEVNULL)
    path, until = None, time.monotonic() + 30
    while path is None and time.monotonic() < until:
        path = ring_of(riffle.pid)
        time.sleep(0.05)
    fd = os.open(path, os.O_RDWR)
    seals, size = fcntl.fcntl(fd, F_GET_SEALS), os.fstat(fd).st_size
    tap.check("the ring is sealed: nobody makes it larger or smaller, or takes the seal off",
              seals & 7 == F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW and resized(fd, 4096) == errno.EPERM
              and resized(fd, size + 4096) == errno.EPERM, [seals, size])
    tap.check("the ring has no name in the file system", "memfd:" in os.readlink(path), os.readlink(path))
    os.close(fd)
    if os.getuid() == 0:
        tap.check("another user cannot open it", opened_by_nobody(path) in (errno.EACCES, errno.ENOENT), opened_by_nobody(path))
    riffle.terminate()
    riffle.wait(timeout=120)


def check_symbols():
    """What the program could call."""
    for part in (RIFFLE, os.path.join(os.path.dirname(RIFFLE), "libriffle.so")):
        out = subprocess.run([NM, "-D", "--undefined-only", part], stdout=subprocess.PIPE, check=True).stdout.decode()
        names = {line.split()[-1].split("@")[0] for line in out.splitlines()}
        bad = names & {"system", "popen", "socket", "connect", "getaddrinfo", "gethostbyname", "inet_pton", "setuid", "seteuid",
                       "setresuid", "mktemp", "tmpnam", "gets"}
        tap.check(f"{os.path.basename(part)}: no shell, no network, no change of user", len(names) > 50 and not bad, bad)
        tap.check("it is not setuid", not os.stat(part).st_mode & (stat.S_ISUID | stat.S_ISGID))


def check_values(folder):
    run(folder, "run", "-q", "--no-values", "-p", "load -> pc,value", "-e", "exact", "-o", "none.rfp", "--", WORK)
    out = run(folder, "report", "none.rfp", "--format", "csv", "-n", "0", "--no-names").stdout.decode().splitlines()
    column = out[0].split(",").index("value")
    values = {line.split(",")[column] for line in out[1:]}
    tap.check("--no-values: no value of the program is in the file", len(out) > 10 and values <= {"0x0", "0"}, sorted(values)[:5])
    run(folder, "run", "-q", "-p", "load -> pc,addr", "-p", "store -> pc", "--record", "words.rft", "--", WORK)
    head = run(folder, "trace", "head", "words.rft").stdout
    tap.check("-p without value: none is in a trace of records", b" addr=" in head and b"value=" not in head, head[:300])
    run(folder, "run", "-q", "-p", "load -> pc,value", "-p", "store -> pc", "--record", "full.rft", "--", WORK)
    before = run(folder, "trace", "head", "-n", "0", "full.rft").stdout
    run(folder, "trace", "convert", "-p", "load -> pc", "full.rft", "redacted.rft")
    after = run(folder, "trace", "head", "-n", "0", "redacted.rft").stdout.splitlines()
    tap.check("trace convert -p without value: a trace loses those that it has", b" value=0x" in before and len(after) > 1000
              and {line.split()[1] for line in after} == {b"0x0"}, [before[:300], after[:3]])


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_modes(folder)
        check_fence(folder)
        check_objdump(folder)
        check_links(folder)
        check_descriptors(folder)
        check_ended(folder)
        check_killed(folder)
        check_replaced(folder)
        check_symbols()
        if WORK:
            check_ring(folder)
            check_values(folder)
    tap.end()


main()
