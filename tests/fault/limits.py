#!/usr/bin/env python3
"""Little of everything: descriptors, memory, processes, room on the disk, shared memory, places that may not be written to.

    limits.py RIFFLE MAKE-RECORDS SIM.T

Whatever is short, a command ends by itself, with one sentence where it fails, and a file under its final name is whole: the
old one, a new one, or none. attach works on a process that runs beside it, {busy}. run and attach are left out where they do not
work at all: without the probe, or where nobody may trace. The last line says how many runs that was.
"""
import base64
import errno
import os
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import refused  # noqa: E402
import tap  # noqa: E402

RIFFLE, MAKE_RECORDS = (os.path.abspath(path) for path in sys.argv[1:3])
MIB = 1 << 20
SOMEBODY = 54321  # a user who has no processes
MANY = 1 << 20  # events
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
    ("export", "export -q --to callgrind -o out.callgrind code.rfp", "out.callgrind"),
    ("sim", "sim --functional -q -p values -e exact -o out.rfp flip.rv64", "out.rfp"),
    ("run", "run -q -p calls -e exact -o out.rfp -- /bin/echo hello", "out.rfp"),
    ("attach", "attach -q --for 0.05 -o out.rfp {busy}", "out.rfp"),
]
OWN_STATUS = ("sim", "run")  # those that run a program fail with 125, or with 126 where it cannot be run
FIRST = {}  # what export wrote with all it needs


def run(folder, arguments, limit=None):
    global runs
    runs += 1
    env = {"LC_ALL": "C", "PATH": "/usr/bin:/bin" if arguments.startswith("run") else "/nowhere"}
    return subprocess.run([RIFFLE, *arguments.split()], cwd=folder, env=env, preexec_fn=limit, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)


def set_limit(kind, most):
    return lambda: resource.setrlimit(kind, (most, most))


def is_whole(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return True
    if name in FIRST:
        with open(path, "rb") as file:
            return file.read() == FIRST[name]
    check = {"rfp": "report", "rft": "trace info", "txt": "replay"}[name[-3:]]
    return run(folder, f"{check} {name}").returncode == 0


def complaint(folder, before, output, done):
    """What is wrong with the way this run ended, or None."""
    said = done.stderr.decode()
    good = (0, 125, 126) if done.args[1] in OWN_STATUS else (0, 1, 3)
    if done.returncode not in good:
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


def kept_counts(folder, least):
    """Too little memory for all that is counted: what was is saved, and nothing says that it is all."""
    wrong, saved = [], 0
    for words in ("replay many.rft -e exact -o out.rfp -n 1", "replay many.rft -j 8 -e exact -o out.rfp -n 1"):
        for more in (6, 10, 16, 24, 40, 60, 90, 120, 160, 200):
            done = run(folder, words, set_limit(resource.RLIMIT_AS, (least + more) * MIB))
            path, said = os.path.join(folder, "out.rfp"), done.stderr.decode()
            text = run(folder, "report --details out.rfp").stdout.decode() if os.path.exists(path) else ""
            counted = re.search(r"^events +([0-9,]+) produced, ([0-9,]+) consumed, ([0-9,]+) lost$", text, re.M)
            produced, consumed, lost = [int(n.replace(",", "")) for n in counted.groups()] if counted else [0, 0, 0]
            if done.returncode != 0 and "before stands" in said and consumed == 0 and "cannot be written" not in said:
                wrong.append(f"{words}, {more}: nothing stands: {said!r} {text!r}")
            if counted and (produced < MANY or lost > 0) == ("the counts are exact" in text):
                wrong.append(f"{words}, {more}: {counted.group()}, and yet {text!r}")
            if counted and done.returncode == 0 and (consumed, lost) != (MANY, 0):
                wrong.append(f"{words}, {more}: status 0, {text!r}")
            saved += consumed > 0 and lost > 0
            if counted:
                os.remove(path)
    tap.tell("memory: what was counted is saved, and not said to be all", wrong)
    tap.check("and some of it was", saved >= 2, saved)


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


def unmade(folder):
    """Memory that is shared with the program, or that is to hold code for it, cannot be made."""
    if not refused.USABLE:
        tap.skip("shared memory", "not x86-64")
        return
    for name, arguments, _ in COMMANDS:
        if name not in ("run", "attach"):
            continue
        for error in (errno.EPERM, errno.ENOSYS, errno.EMFILE, errno.ENOMEM):
            done = run(folder, arguments, refused.calls({refused.MEMFD_CREATE: error}))
            sentence = rf"riffle: [^\n]*cannot make [^\n]*memory[^\n]*: {os.strerror(error)}\n"
            tap.check(f"no shared memory, {errno.errorcode[error]}: {name} says so, and saves nothing",
                      done.returncode == (125 if name == "run" else 1) and re.fullmatch(sentence, done.stderr.decode())
                      and done.stdout == b"" and not os.path.exists(os.path.join(folder, "out.rfp")), done)


WRITERS = ["gen uniform --events 300K -o {}.rft", "trace convert in.rft {}.rft", "trace convert in.rft {}.txt",
           "replay in.rft -e exact -o {}.rfp", "replay in.rft -e exact -n 3 --html {}.html", "merge in.rfp in.rfp -o {}.rfp",
           "mpi -e exact -o {}.rfp in.rft", "report in.rfp -n 0 -f csv --report {}.csv"]
SMALL = {"export": "export -q --to callgrind -o {}.callgrind code.rfp", "sim": "sim --functional -q -p code -e exact -o {}.rfp flip.rv64",
         "run": "run -q -p values -e exact -o {}.rfp -- /bin/echo hello", "attach": "attach -q --for 0.05 -o {}.rfp {busy}"}


def mounted(folder, title, options, sentence, writers):
    """Each writer on a file system of its own, in a namespace of its own: one sentence, and nothing is there."""
    global runs
    place = os.path.join(folder, "small")
    os.makedirs(place, exist_ok=True)
    wrong = []
    for words in writers:
        script = f"mount -t tmpfs -o {options} none {place} && {{ {RIFFLE} {words.format(place + '/out')}; s=$?; ls -A {place} >&2; exit $s; }}"
        runs += 1
        done = subprocess.run(["unshare", "-m" if os.getuid() == 0 else "-rm", "sh", "-c", script], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=120)
        if b"unshare" in done.stderr or b"mount" in done.stderr:
            tap.skip(title, "no namespaces here: the fault tests fail each write instead")
            return
        if done.returncode != (125 if words.split()[0] in OWN_STATUS else 1) or not re.fullmatch(rb"riffle: [^\n]*" + sentence + rb"\n", done.stderr):
            wrong.append(f"{words}: {done.returncode} {done.stderr!r}")
    tap.tell(f"{title}: one sentence, and nothing is left, {len(writers)} commands", wrong)


def guest(sim_t):
    """The program of the golden tests of sim, made to exit with 0 instead of 3."""
    with open(sim_t) as file:
        lines = re.search(r"flip.rv64 <<END\n((?:> .*\n)*?)> END", file.read()).group(1)
    return base64.b64decode(lines.replace("> ", "")).replace(b"\x0d\x45\x93\x08\xd0\x05", b"\x01\x45\x93\x08\xd0\x05")


def prepare(folder, busy):
    """What the commands read. Those that do not work here are left out."""
    run(folder, "gen zipf --events 200K --keys 50K -o in.rft")
    run(folder, f"gen zipf --events {MANY} --keys 200K -o many.rft")
    run(folder, "replay in.rft -e exact -o in.rfp")
    with open(os.path.join(folder, "flip.rv64"), "wb") as file:
        file.write(guest(sys.argv[3]))
    subprocess.run([MAKE_RECORDS, os.path.join(folder, "records.rft")], check=True)
    run(folder, "replay records.rft -p code -o code.rfp")
    COMMANDS[:] = [(name, words.replace("{busy}", str(busy)), output) for name, words, output in COMMANDS]
    for command in list(COMMANDS):
        name, words, output = command
        done = run(folder, words)
        path = output and os.path.join(folder, output)
        if name == "export" and done.returncode == 0:
            with open(path, "rb") as file:
                FIRST[output] = file.read()
        if path and os.path.exists(path):
            os.remove(path)
        if done.returncode != 0 and name in ("run", "attach"):
            tap.skip(name, done.stderr.decode().strip())
            COMMANDS.remove(command)
        elif done.returncode != 0:
            sys.exit(f"cannot prepare: riffle {words}: {done.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(["sh", "-c", "while :; do :; done"]) as busy:
        try:
            prepare(folder, busy.pid)
            sweep(folder, "descriptors", resource.RLIMIT_NOFILE, range(4, 13))
            least = least_memory(folder)
            sweep(folder, "memory", resource.RLIMIT_AS, [(least + more) * MIB for more in (0, 1, 2, 4, 8, 16, 32)])
            sweep(folder, "size of files", resource.RLIMIT_FSIZE, [0, 1, 4096, 65536, 300000])
            kept_counts(folder, least)
            few_processes(folder)
            unmade(folder)
            places(folder)
            there = {name for name, *_ in COMMANDS if name != "attach" or os.getuid() == 0}  # of a namespace nobody else is traced
            small = [words.replace("{busy}", str(busy.pid)) for name, words in SMALL.items() if name in there]
            mounted(folder, "a full disk", "size=16k", b"No space left on device", WRITERS)
            mounted(folder, "a disk without room for a file", "nr_inodes=1", b"No space left on device", small)
            mounted(folder, "a read-only folder", "ro", b"Read-only file system", WRITERS + small)
            mounted(folder, "a quota of 16 KiB", "usrquota,usrquota_block_hardlimit=16k", b"Disk quota exceeded", WRITERS)
            mounted(folder, "a quota of one file", "usrquota,usrquota_inode_hardlimit=1", b"Disk quota exceeded", small)
        finally:
            busy.kill()
    print(f"# figure: {runs} runs")
    tap.end()


main()
