#!/usr/bin/env python3
"""alone - a profiled program finds the world as it would find it without riffle.

    alone.py RIFFLE ALONE

Signals, limits, umask, descriptors and environment are compared line by line with a native run: in the program
itself, after exec, and after a shell's fork and exec. Only Valgrind's own two variables may differ.
"""
import os
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import check, end, tell  # noqa: E402

RIFFLE, ALONE = sys.argv[1:3]
OWN = ("environment VALGRIND_LIB=", "environment LD_PRELOAD=", "environment _=")


def prepare():
    """An unusual state, so that a reset to the usual one shows, too."""
    os.umask(0o027)
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH, signal.SIGRTMIN + 3])
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(200, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def findings(command):
    with open(os.devnull) as extra:
        os.dup2(extra.fileno(), 57)
        run = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                             preexec_fn=prepare, pass_fds=[57])
        os.close(57)
    lines = [re.sub("^called /proc/[0-9]+/", "called /proc/N/", line) for line in run.stdout.splitlines()
             if not line.startswith(OWN) and " pipe:[" not in line]
    return lines, run


def compare(title, *command):
    native, _ = findings(command)
    probed, run = findings([RIFFLE, "run", "-q", "-p", "calls", "-e", "exact", "--", *command])
    complaints = [f"only natively: {line}" for line in native if line not in probed]
    complaints += [f"only under riffle: {line}" for line in probed if line not in native]
    if len(native) < 80 or run.returncode != 0:
        complaints.append(f"status {run.returncode}, {len(native)} lines natively, {run.stderr}")
    tell(title, complaints)


def check_itself(folder):
    """A program executes its own file again, by each name that the system has for it."""
    names = ("/proc/self/exe", "/proc/thread-self/exe", "/proc/self/../self/exe", "/proc/self/task/../exe")
    for name in names:
        compare(f"becomes itself, {name}", ALONE, name)
    compare("becomes itself, by its number", "sh", "-c", f"exec {ALONE} /proc/$$/exe")
    compare("becomes itself twice", ALONE, "/proc/self/exe", "/proc/self/exe")
    compare("becomes itself by a descriptor", ALONE, "-fd", names[1])
    copy = os.path.join(folder, "copy")
    compare("becomes itself when removed", "sh", "-c", f"cp {ALONE} {copy}; exec {copy} -rm /proc/self/exe")
    run = subprocess.run([RIFFLE, "run", "--details", "-p", "calls", "-e", "exact", "--", ALONE, names[0]], capture_output=True, text=True)
    check("and is profiled", "2 alone (" in run.stderr, run)


def status_of(*command, options=()):
    """The exit status as a shell shows it: of the command alone, and of the command under riffle."""
    native = subprocess.run(command, capture_output=True, text=True)
    probed = subprocess.run([RIFFLE, "run", "-q", *options, "--", *command], capture_output=True, text=True)
    return native, probed


def check_signals():
    for name in ("PIPE", "HUP", "USR1", "XFSZ", "ALRM"):
        signal.signal(getattr(signal, f"SIG{name}"), signal.SIG_DFL)  # nohup and its like ignore some
        native, probed = status_of("sh", "-c", f"kill -{name} $$; exit 3")
        check(f"SIG{name} ends it", native.returncode == probed.returncode
              and native.returncode < 0, (native, probed))
    for options in ([], ["--native"]):
        waiting = subprocess.Popen([RIFFLE, "run", "-q", *options, "--", "sh", "-c", "exit 5"],
                                   preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        try:
            status = waiting.wait(60)
        except subprocess.TimeoutExpired:
            waiting.kill()
            status = "none within a minute"
        check(f"its status is known where SIGCHLD is ignored {options}", status == 5, status)
    writer = subprocess.Popen([RIFFLE, "run", "-q", "-p", "calls", "--", "yes"], stdout=subprocess.PIPE)
    writer.stdout.readline()
    writer.stdout.close()
    check("a writer ends when nobody reads", writer.wait(60) == -signal.SIGPIPE, writer.returncode)


def make(folder, name, content, mode):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(content)
    os.chmod(path, mode)
    return path


def elf(bits, machine, code=b""):
    """A program of one segment. Only the 32-bit x86 program is ever run."""
    head = b"\x7fELF" + bytes([bits // 32, 1, 1]) + bytes(9) + struct.pack("<HHI", 2, machine, 1)
    if bits == 64:
        return head + bytes(64)
    base, size = 0x8048000, 52 + 32 + len(code)
    head += struct.pack("<IIIIHHHHHH", base + 84, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    return head + struct.pack("<IIIIIIII", 1, 0, base, base, size, size, 5, 4096) + code


# mov $1, %eax; mov $7, %ebx; int $0x80
LEAVE_WITH_7 = bytes([0xb8, 1, 0, 0, 0, 0xbb, 7, 0, 0, 0, 0xcd, 0x80])


def check_children(folder):
    """What cannot be profiled runs all the same, and the report names it."""
    program = open("/usr/bin/id", "rb").read()
    children = {"setuid": make(folder, "set-user", program, 0o4755),
                "setgid": make(folder, "set-group", program, 0o2755),
                "32-bit": make(folder, "small", elf(32, 3, LEAVE_WITH_7), 0o755)}
    children["script"] = make(folder, "script", f"#! {children['setuid']} -u\n".encode(), 0o755)
    for kind, path in children.items():
        native, probed = status_of("sh", "-c", f"{path} && {path}; echo $?")
        check(f"a child that is {kind}", (native.stdout, native.returncode, native.stderr)
              == (probed.stdout, probed.returncode, probed.stderr), (native, probed))
        _, probed = status_of("sh", "-c", f"{path}; :", options=["-p", "calls", "-o", folder + "/x.rfp"])
        report = subprocess.run([RIFFLE, "report", "--details", folder + "/x.rfp"], capture_output=True, text=True)
        check(f"a child that is {kind} is named", path + " (" in report.stdout, report)


def check_unreadable(folder):
    """A child need not be readable to be executed. Root first gives up its right to read all files."""
    path = make(folder, "secret", open("/usr/bin/id", "rb").read(), 0o111)
    rights = "-dac_override,-dac_read_search"
    common = ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"] if os.geteuid() == 0 else []
    command = ["sh", "-c", f"{path} -u; {folder}; cat {path}; echo $?"]
    native = subprocess.run(common + command, capture_output=True, text=True)
    for options in ([], ["--no-follow"]):
        probed = subprocess.run([*common, RIFFLE, "run", "-q", *options, "--", *command],
                                capture_output=True, text=True)
        check(f"a child that is unreadable {' '.join(options)}", native.stdout.count("\n") == 2
              and (native.stdout, native.stderr) == (probed.stdout, probed.stderr), (native, probed))


def damaged(folder, program):
    """An x86-64 program with broken fields, each named by its place in the ELF header."""
    def patch(name, at, field):
        content = program[:at] + field + program[at + len(field):]
        return (name, make(folder, name, content, 0o755), "is a damaged program")
    cuts = [(f"cut-{n}", make(folder, f"cut-{n}", program[:n], 0o755), "is a damaged program")
            for n in (5, 20, 200, len(program) // 2)]
    loader = program.replace(b"/lib64/ld-linux", b"/none4/ld-linux")
    return cuts + [patch("type", 16, struct.pack("<H", 1)), patch("headers", 32, struct.pack("<Q", 1 << 40)),
                   patch("size", 54, struct.pack("<H", 3)), patch("none", 56, struct.pack("<H", 0)),
                   patch("empty", 64, bytes(56 * struct.unpack("<H", program[56:58])[0])),
                   ("loader", make(folder, "loader", loader, 0o755), "the loader that it names")]


def check_targets(folder):
    """What cannot be profiled at all gets one sentence of ours and no profile."""
    program = open("/usr/bin/id", "rb").read()
    targets = (("setuid", make(folder, "a", program, 0o4755), "is setuid"),
               ("setgid", make(folder, "b", program, 0o2755), "is setgid"),
               ("32-bit", make(folder, "c", elf(32, 3, LEAVE_WITH_7), 0o755), "is a 32-bit program"),
               ("RISC-V", make(folder, "d", elf(64, 243), 0o755), "'riffle sim' runs"),
               ("ARM", make(folder, "e", elf(64, 183), 0o755), "of another machine"),
               ("a script of nobody", make(folder, "f", b"#! /no/sh -e\n", 0o755), "its interpreter '/no/sh' is no"),
               ("a script of a folder", make(folder, "g", b"#!/usr/bin\n", 0o755), "its interpreter '/usr/bin' is no"),
               *damaged(folder, program))
    for kind, path, sentence in targets:
        saved = os.path.join(folder, "no.rfp")
        run = subprocess.run([RIFFLE, "run", "-o", saved, "--", path], capture_output=True, text=True)
        check(f"a target that is {kind}", run.returncode == 126 and run.stderr.count("\n") == 1
              and sentence in run.stderr and not os.path.exists(saved), run)


def check_own_errors(folder):
    """What riffle cannot do is said before the program starts, and the program is not blamed."""
    for options, sentence in ((["-p", "values", "-e", "exact", "-f", "tree", "--per-process"], "'tree' shows ranges"),
                              (["-p", "miss-values", "--cache", "l9"], "cache: expected"),
                              (["-p", "edges+calls", "-e", "rap"], "'rap' cannot serve several selectors at once"),
                              (["--record", folder], folder + ": ")):
        run = subprocess.run([RIFFLE, "run", *options, "--", "echo", "ran"], capture_output=True, text=True)
        check(f"an error of ours: {sentence}", run.returncode == 125 and not run.stdout and run.stderr.count("\n") == 1
              and sentence in run.stderr, run)


def check_few_files():
    """With too low a limit of open files, riffle says so before the program starts; else the program runs."""
    def limit(soft, hard):
        return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    for soft, hard in [(n, n) for n in range(4, 20)] + [(n, 100) for n in range(4, 12)]:
        run = subprocess.run([RIFFLE, "run", "-q", "-p", "calls", "--", "echo", "ran"], capture_output=True, text=True,
                             close_fds=True, preexec_fn=limit(soft, hard))
        told = run.returncode == 125 and not run.stdout and "files may be open" in run.stderr
        ran = (run.returncode, run.stdout, run.stderr) == (0, "ran\n", "")
        check(f"{soft} files of {hard}", (told and run.stderr.count("\n") == 1) or (ran and soft >= 8), run)


def check_deaths():
    _, run = status_of(ALONE, "crash")
    check("a crash is quiet", (run.returncode, run.stderr) == (-signal.SIGSEGV, ""), run)
    for title, command in (("", [ALONE, "evex"]), (" in a child", ["sh", "-c", f"{ALONE} evex; :"])):
        _, run = status_of(*command)
        check(f"AVX-512{title} is told", "cannot run, AVX-512" in run.stderr
              and "==" not in run.stderr and "vex" not in run.stderr, run)


def main():
    compare("the program itself", ALONE)
    compare("behind exec", ALONE, ALONE)
    compare("behind a shell", "sh", "-c", f"{ALONE}; :")
    compare("behind a shell and exec, twice", "sh", "-c", f"{ALONE} {ALONE} {ALONE}; :")
    compare("behind a shell, by another name", "bash", "-c", f"(exec -a else {ALONE}); exec -a '' {ALONE}")
    check_signals()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        check_itself(folder)
        check_children(folder)
        check_unreadable(folder)
        check_targets(folder)
        check_own_errors(folder)
    check_few_files()
    check_deaths()
    end()


main()
