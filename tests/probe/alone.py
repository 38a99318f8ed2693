#!/usr/bin/env python3
"""alone - a profiled program finds the world as it would find it without riffle.

    alone.py RIFFLE ALONE

Signals, limits, umask, descriptors and environment are compared line by line with a native run: of the program
itself, behind exec, behind a shell's fork and exec. Valgrind's own two variables are the one exception.
"""
import os
import resource
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import check, end, tell  # noqa: E402

RIFFLE, ALONE = sys.argv[1:3]
OWN = ("environment VALGRIND_LIB=", "environment LD_PRELOAD=", "environment _=")


def prepare():
    """A state that is not the usual one, so that a reset shows, too."""
    os.umask(0o027)
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
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
    lines = [line for line in run.stdout.splitlines()
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


def status_of(*command, options=()):
    """Exit status as a shell would say it, of the command alone and under riffle."""
    native = subprocess.run(command, capture_output=True, text=True)
    probed = subprocess.run([RIFFLE, "run", "-q", *options, "--", *command], capture_output=True, text=True)
    return native, probed


def check_signals():
    for name in ("PIPE", "HUP", "USR1", "XFSZ", "ALRM"):
        native, probed = status_of("sh", "-c", f"kill -{name} $$; exit 3")
        check(f"SIG{name} ends it", native.returncode == probed.returncode
              and native.returncode < 0, (native, probed))
    writer = subprocess.Popen([RIFFLE, "run", "-q", "-p", "calls", "--", "yes"], stdout=subprocess.PIPE)
    writer.stdout.readline()
    writer.stdout.close()
    check("a writer ends when nobody reads", writer.wait(60) == -signal.SIGPIPE, writer.returncode)


def main():
    compare("the program itself", ALONE)
    compare("behind exec", ALONE, ALONE)
    compare("behind a shell", "sh", "-c", f"{ALONE}; :")
    compare("behind a shell and exec, twice", "sh", "-c", f"{ALONE} {ALONE} {ALONE}; :")
    check_signals()
    end()


main()
