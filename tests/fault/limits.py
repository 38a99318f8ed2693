#!/usr/bin/env python3
"""Little of everything: descriptors, memory, processes, room on the disk, places that may not be written to.

    limits.py RIFFLE

Whatever is short, a command ends by itself, with one sentence where it fails, and a file under its final name is whole: the
old one, a new one, or none. The last line says how many runs that was.
"""
import os
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

RIFFLE = os.path.abspath(sys.argv[1])
MIB = 1 << 20
SOMEBODY = 54321  # a user who has no processes
runs = 0

COMMANDS = [
    ("replay", "replay in.rft -e exact -e multihash -o out.rfp -n 3", "out.rfp"),
    ("replay in pieces", "replay in.rft -j 3 -e exact -o out.rfp -n 3", "out.rfp"),
    ("merge", "merge in.rfp in.rfp -o out.rfp", "out.rfp"),
    ("report", "report in.rfp -n 3", None),
    ("gen", "gen zipf --events 200K --keys 50K -o out.rft", "out.rft"),
    ("convert", "trace convert in.rft out.txt", "out.txt"),
    ("compare", "compare in.rft -e exact -e multihash", None),
    ("mpi", "mpi -e exact -o out.rfp in.rft", "out.rfp"),
]


def run(folder, arguments, limit=None):
    global runs
    runs += 1
    env = {"LC_ALL": "C", "PATH": "/nowhere"}
    return subprocess.run([RIFFLE, *arguments.split()], cwd=folder, env=env, preexec_fn=limit, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)


def set_limit(kind, most):
    return lambda: resource.setrlimit(kind, (most, most))


def is_whole(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return True
    check = {"rfp": "report", "rft": "trace info", "txt": "replay"}[name[-3:]]
    return run(folder, f"{check} {name}").returncode == 0


def complaint(folder, before, output, done):
    """What is wrong with the way this run ended, or None."""
    said = done.stderr.decode()
    if done.returncode not in (0, 1, 3):
        return f"status {done.returncode}: {said!r}"
    if done.returncode != 0 and not re.fullmatch(r"(riffle: [^\n]+\n)+", said):
        return f"no sentence: {said!r}"
    if set(os.listdir(folder)) - before - {output}:
        return f"left behind: {set(os.listdir(folder)) - before - {output}}"
    return None if output is None or is_whole(folder, output) else f"{output} is damaged"


def sweep(folder, title, kind, amounts):
    """All commands under each limit."""
    for name, arguments, output in COMMANDS:
        wrong = []
        for amount in amounts:
            before = set(os.listdir(folder))
            found = complaint(folder, before, output, run(folder, arguments, set_limit(kind, amount)))
            if found:
                wrong.append(f"{amount}: {found}")
            if output and os.path.exists(os.path.join(folder, output)):
                os.remove(os.path.join(folder, output))
        tap.tell(f"{title}: {name}, {len(amounts)} limits", wrong)


def become_nobody(most):
    """The user who runs the tests may be exempt; this one is not. Its processes are those of this test alone."""
    def change():
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(SOMEBODY)
            os.setuid(SOMEBODY)
    return change


def few_processes(folder):
    """As another user, whose only process this is: no thread, then no child can be started."""
    os.chmod(folder, 0o777)
    for name in os.listdir(folder):
        os.chmod(os.path.join(folder, name), 0o644)
    try:
        usable = os.getuid() == 0 and run(folder, "help", become_nobody(64)).returncode == 0
    except (OSError, subprocess.SubprocessError):
        usable = False
    if not usable:
        tap.skip("processes", "not root, or another user cannot start this riffle; fault-calls fails each clone instead")
        return
    for name, arguments, output in COMMANDS:
        wrong = []
        for most in range(1, 5):
            found = complaint(folder, set(os.listdir(folder)), output, run(folder, arguments, become_nobody(most)))
            wrong += [f"{most}: {found}"] if found else []
            if output and os.path.exists(os.path.join(folder, output)):
                os.remove(os.path.join(folder, output))
        tap.tell(f"processes: {name}, 4 limits", wrong)


def least_memory(folder):
    """Below this not even the libraries can be loaded."""
    for mib in range(4, 400, 4):
        if run(folder, "help", set_limit(resource.RLIMIT_AS, mib * MIB)).returncode == 0:
            return mib
    return 400


def places(folder):
    for place in ("/proc/out.rfp", "/dev/null/out.rfp", "nosuch/out.rfp", "."):
        done = run(folder, f"replay in.rft -e exact -o {place}")
        tap.check(f"saving to {place}: one sentence", done.returncode == 1 and done.stderr.count(b"riffle: ") == 1, done)


WRITERS = ["gen uniform --events 300K -o {}.rft", "trace convert in.rft {}.rft", "trace convert in.rft {}.txt",
           "replay in.rft -e exact -o {}.rfp", "replay in.rft -e exact -n 3 --html {}.html", "merge in.rfp in.rfp -o {}.rfp",
           "mpi -e exact -o {}.rfp in.rft", "report in.rfp -n 0 -f csv --report {}.csv"]


def mounted(folder, title, options, sentence):
    """Each writer on a file system of its own, in a namespace of its own: one sentence, and nothing is there."""
    global runs
    place = os.path.join(folder, "small")
    os.makedirs(place, exist_ok=True)
    wrong = []
    for words in WRITERS:
        script = f"mount -t tmpfs -o {options} none {place} && {{ {RIFFLE} {words.format(place + '/out')}; s=$?; ls -A {place} >&2; exit $s; }}"
        runs += 1
        done = subprocess.run(["unshare", "-rm", "sh", "-c", script], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=120)
        if b"unshare" in done.stderr or b"mount" in done.stderr:
            tap.skip(title, "no namespaces here: the fault tests fail each write instead")
            return
        if done.returncode != 1 or not re.fullmatch(rb"riffle: [^\n]*" + sentence + rb"\n", done.stderr):
            wrong.append(f"{words}: {done.returncode} {done.stderr!r}")
    tap.tell(f"{title}: one sentence, and nothing is left, {len(WRITERS)} commands", wrong)


def main():
    with tempfile.TemporaryDirectory() as folder:
        run(folder, "gen zipf --events 200K --keys 50K -o in.rft")
        run(folder, "replay in.rft -e exact -o in.rfp")
        sweep(folder, "descriptors", resource.RLIMIT_NOFILE, range(4, 13))
        least = least_memory(folder)
        sweep(folder, "memory", resource.RLIMIT_AS, [(least + more) * MIB for more in (0, 1, 2, 4, 8, 16, 32)])
        sweep(folder, "size of files", resource.RLIMIT_FSIZE, [0, 1, 4096, 65536, 300000])
        few_processes(folder)
        places(folder)
        mounted(folder, "a full disk", "size=16k", b"No space left on device")
        mounted(folder, "a read-only folder", "ro", b"Read-only file system")
    print(f"# figure: {runs} runs")
    tap.end()


main()
