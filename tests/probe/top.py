#!/usr/bin/env python3
"""top - the live screen, on a terminal of its own: it shows where the program is, obeys keys, and gives the terminal back.

    top.py RIFFLE SPIN
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

RIFFLE, SPIN = sys.argv[1:3]
SECONDS = 60
LEAVE = b"\x1b[?1049l"


class Terminal:
    """A terminal with riffle top on it."""

    def __init__(self, *command, out=None, size=(24, 100), period="20K", path=os.environ["PATH"]):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        self.modes = termios.tcgetattr(self.slave)
        self.seen = b""

        def take():
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

        options = ["--period", period, "--"] if period else []
        self.process = subprocess.Popen([RIFFLE, "top", *options, *command], stdin=self.slave,
                                        stdout=out or self.slave, stderr=self.slave, preexec_fn=take,
                                        env=dict(os.environ, TERM="xterm", PATH=path))

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            self.seen += os.read(self.master, 1 << 16)

    def wait_for(self, text):
        """Until it is somewhere in what came since the last call; False: it never came."""
        end = time.monotonic() + SECONDS
        while text not in self.seen and time.monotonic() < end:
            self.read(0.2)
        good = text in self.seen
        self.last, self.seen = self.seen, b""
        return good

    def press(self, key):
        self.seen = b""
        os.write(self.master, key.encode())

    def end(self):
        """The exit status, with all that was shown in `seen`."""
        end = time.monotonic() + SECONDS
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.1)
        self.read(0.2)
        if self.process.poll() is None:
            self.process.kill()
        return self.process.wait()

    def is_back(self):
        return LEAVE in self.seen and termios.tcgetattr(self.slave) == self.modes

    def close(self):
        os.close(self.master)
        os.close(self.slave)


def worker_of(process):
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
        return int(file.read().split()[0])


def rounds(path):
    try:
        with open(path, "rb") as file:
            return struct.unpack("<Q", file.read(8))[0]
    except (OSError, struct.error):
        return 0


def check_keys(path):
    top = Terminal(SPIN, path, size=(24, 60))
    tap.check("the hottest function is shown", top.wait_for(b"k_spin"), top.last[-500:])
    top.press("s")
    tap.check("s shows stacks", top.wait_for(b"stack"), top.last[-500:])
    top.press("c")
    tap.check("c shows callers", top.wait_for(b"callers"), top.last[-500:])
    top.press("f")
    top.wait_for(b"function")
    top.press("o")
    tap.check("o changes the order", top.wait_for(b"self)"), top.last[-500:])
    top.press("p")
    tap.check("p pauses", top.wait_for(b"paused"), top.last[-500:])
    top.press("q")
    status = top.end()
    tap.check("q ends it, and the terminal is as before", status == 0 and top.is_back(), (status, top.seen[-300:]))
    before = rounds(path)
    time.sleep(0.3)
    tap.check("and the program, too", rounds(path) == before, (before, rounds(path)))
    top.close()


def check_signal(path, name, whom, expected):
    top = Terminal(SPIN, path)
    top.wait_for(b"k_spin")
    os.kill(worker_of(top.process) if whom == "worker" else top.process.pid, name)
    status = top.end()
    tap.check(f"{name.name} to the {whom}: the terminal is as before", status in expected and top.is_back(),
              (status, top.seen[-300:]))
    before = rounds(path)
    time.sleep(0.5)
    tap.check(f"{name.name} to the {whom}: the program ends, too", rounds(path) == before, (before, rounds(path)))
    top.close()


def check_interrupt(path):
    top = Terminal(SPIN, path)
    top.wait_for(b"k_spin")
    top.press("\x03")
    status = top.end()
    tap.check("Ctrl-C: the terminal is as before", status == 0 and top.is_back(), (status, top.seen[-300:]))
    top.close()


def check_ends(path):
    with tempfile.TemporaryFile() as out:
        top = Terminal(SPIN, path, "30000000", out=out)
        tap.check("the last screen stays when the program has ended", top.wait_for(b"ended"), top.last[-500:])
        top.press("q")
        status = top.end()
        out.seek(0)
        tap.check("the status is the program's, and so is the output", (status, out.read()) == (7, b"spun\n"), status)
        tap.check("the terminal is as before", top.is_back(), top.seen[-300:])
        top.close()


def check_crash():
    top = Terminal("sh", "-c", "kill -SEGV $$")
    top.wait_for(b"ended")
    top.press("q")
    status = top.end()
    tap.check("a program that crashes: its status, and the terminal as before", status == 139 and top.is_back(),
              (status, top.seen[-300:]))
    top.close()


def check_idle():
    """Keys are obeyed while nothing happens in the program."""
    top = Terminal("sleep", "300")
    top.wait_for(b"function")
    time.sleep(1)
    top.press("c")
    tap.check("a program that sleeps: keys are obeyed", top.wait_for(b"callers"), top.last[-300:])
    top.press("q")
    status = top.end()
    tap.check("and q ends it", status == 0 and top.is_back(), (status, top.seen[-300:]))
    top.close()


def check_small(path):
    """Whatever the size, it shows something and goes on; a change of the size is seen."""
    for rows, columns in ((1, 1), (2, 10), (5, 20)):
        top = Terminal(SPIN, path, size=(rows, columns))
        top.wait_for(b"s")
        top.press("c")
        time.sleep(0.2)
        top.press("q")
        status = top.end()
        tap.check(f"{columns} columns, {rows} rows: the terminal is as before", status == 0 and top.is_back(),
                  (status, top.seen[-300:]))
        top.close()
    top = Terminal(SPIN, path, size=(10, 30))
    top.wait_for(b"k_spin")
    fcntl.ioctl(top.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 120, 0, 0))
    os.kill(worker_of(top.process), signal.SIGWINCH)
    tap.check("a larger screen is used", top.wait_for(b"p pause"), top.last[-500:])
    top.press("q")
    tap.check("and left as it was", top.end() == 0 and top.is_back(), top.seen[-300:])
    top.close()


def check_hostile(path):
    """A function whose name would clear the screen."""
    program = path + "-hostile"
    with open(SPIN, "rb") as file:
        image = file.read().replace(b"k_spin\0", b"k\x1b[2Jn\0")
    with open(program, "wb") as file:
        file.write(image)
    os.chmod(program, 0o700)
    top = Terminal(program, path)
    tap.check("a name that would clear the screen is shown as text", top.wait_for(b"k\\x1b[2Jn"), top.last[-500:])
    top.press("q")
    tap.check("and the terminal is as before", top.end() == 0 and top.is_back(), top.seen[-300:])
    top.close()


def check_short(path):
    """Programs that end at once, or leave children behind."""
    for command in (["true"], ["sh", "-c", "true & true & wait"], [SPIN, path, "1"]):
        top = Terminal(*command)
        shown = top.wait_for(b"ended")
        top.press("q")
        status = top.end()
        good = shown and top.is_back() and status == (7 if command[0] == SPIN else 0)
        tap.check(f"{os.path.basename(command[0])}: it ends, and the last screen stays", good, (status, top.seen[-300:]))
        top.close()


def check_unbegun(folder):
    """q before the program has begun: a stand-in for Valgrind waits, as the real one does on a busy machine, or fails."""
    fake = os.path.join(folder, "valgrind")
    for script, key_after, expected, sentence in (("exec sleep 60", b"q quit", 0, b""),
                                                  ("exit 1", b"ended", 126, b"the program could not be started")):
        with open(fake, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\n{script}\n")
        os.chmod(fake, 0o700)
        top = Terminal("true", path=folder + ":" + os.environ["PATH"])
        top.wait_for(key_after)
        top.press("q")
        status = top.end()
        tap.check(f"q before the program has begun ({script}): status {expected}", status == expected and top.is_back()
                  and (sentence in top.seen if sentence else b"riffle: " not in top.seen), (status, top.seen[-300:]))
        top.close()
    os.remove(fake)


# ---- a run of somebody else ----

def load_count(profile):
    """How often k_spin's load ran, by the saved profile."""
    text = subprocess.run([RIFFLE, "report", profile, "-b", "function", "-f", "csv"], capture_output=True, text=True,
                          timeout=SECONDS).stdout
    return re.findall(r"^k_spin,.*$", text, re.M)


def start_run(folder, name, *program):
    return subprocess.Popen([RIFFLE, "run", "-q", "-p", "code", "-p", "stacks=20K", "-p", "values",
                             "-o", os.path.join(folder, name), "--", *program], stdout=subprocess.DEVNULL)


def check_watch(folder, path):
    """riffle top PID: it shows what a run counts, also what only counters know, and leaves it alone."""
    run = start_run(folder, "watched.rfp", SPIN, path)
    time.sleep(0.5)
    top = Terminal(str(run.pid), period=None)
    tap.check("a run: its hottest function is shown", top.wait_for(b"k_spin"), top.last[-500:])
    tap.check("and how fast it goes", re.search(rb"[1-9]\d*\.\d M instructions", top.last), top.last[-500:])
    for key, text in (("s", b"with callees"), ("v", b"load -> pc,value"), ("t", b"no profile of this run tells that"),
                      ("f", b"insn -> pc")):
        top.press(key)
        tap.check(f"{key} shows what it says", top.wait_for(text), top.last[-500:])
    top.press("q")
    tap.check("q leaves the screen", top.end() == 0 and top.is_back(), top.seen[-300:])
    top.close()
    tap.check("and the run alone", run.poll() is None, run.poll())
    top = Terminal(str(run.pid), period=None)
    top.wait_for(b"k_spin")
    run.terminate()
    tap.check("when the run is over, the last screen stays", top.wait_for(b"ended"), top.last[-500:])
    top.press("q")
    tap.check("until q", top.end() == 0 and top.is_back(), top.seen[-300:])
    top.close()
    run.wait(SECONDS)


def check_watch_counts(folder, path):
    """A run that is asked counts what one counts that nobody asks."""
    run = start_run(folder, "asked.rfp", SPIN, path, "60000000")
    time.sleep(0.5)
    top = Terminal(str(run.pid), period=None)
    top.wait_for(b"k_spin")
    status = run.wait(SECONDS)
    top.press("q")
    top.end()
    top.close()
    start_run(folder, "alone.rfp", SPIN, path, "60000000").wait(SECONDS)
    asked, alone = load_count(os.path.join(folder, "asked.rfp")), load_count(os.path.join(folder, "alone.rfp"))
    tap.check("a run that is asked has the counts and the status of one that nobody asks",
              asked == alone and len(asked) > 0 and status == 7, (asked, alone, status))


def check_watch_idle(folder):
    """A program that waits tells no events; its run answers all the same. Its own number will do, too."""
    run = start_run(folder, "idle.rfp", "sleep", "300")
    time.sleep(1)
    child = worker_of(run)
    top = Terminal(str(child), period=None)
    tap.check("a run that waits answers", top.wait_for(b"instructions"), top.last[-500:])
    run.kill()
    tap.check("a run that is killed has ended", top.wait_for(b"ended"), top.last[-500:])
    top.press("q")
    tap.check("and the terminal is as before", top.end() == 0 and top.is_back(), top.seen[-300:])
    top.close()
    run.wait()
    try:
        os.kill(child, signal.SIGKILL)
    except ProcessLookupError:
        pass


def check_refusals():
    for pid, text in ((os.getpid(), "neither riffle run nor profiled by it"), (999999999, "there is no process")):
        done = subprocess.run([RIFFLE, "top", str(pid)], capture_output=True, text=True, timeout=SECONDS)
        tap.check(f"'{text}' is told", done.returncode != 0 and text in done.stderr, done)
    done = subprocess.run([RIFFLE, "top", "--", SPIN, "x"], capture_output=True, text=True, start_new_session=True,
                          stdin=subprocess.DEVNULL, timeout=SECONDS)
    tap.check("without a terminal it says so", done.returncode == 125 and re.search("no terminal", done.stderr), (done.returncode, done.stderr))
    for program, status, text in (("no-such-program", 127, "no such program"), ("/", 126, "is a folder"), ("/etc/passwd", 126, "may not be executed")):
        done = subprocess.run([RIFFLE, "top", "--", program], capture_output=True, text=True, timeout=SECONDS)
        tap.check(f"a program that cannot be run is told: {text}", done.returncode == status and text in done.stderr, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "count")
        check_keys(path)
        check_interrupt(path)
        check_signal(path, signal.SIGTERM, "guardian", (0,))
        check_signal(path, signal.SIGHUP, "guardian", (0,))
        check_signal(path, signal.SIGINT, "guardian", (0,))
        check_signal(path, signal.SIGQUIT, "guardian", (0,))
        check_signal(path, signal.SIGKILL, "worker", (125,))
        check_ends(path)
        check_crash()
        check_idle()
        check_small(path)
        check_hostile(path)
        check_short(path)
        check_unbegun(folder)
        check_watch(folder, path)
        check_watch_counts(folder, path)
        check_watch_idle(folder)
        check_refusals()
    tap.end()


main()
