#!/usr/bin/env python3
"""strangers - no test, benchmark, lab or tool may touch what belongs to somebody else on the machine.

    strangers.py ROOT

A process number in a source is somebody else's process on another machine, and so is every process that is chosen by
its name. A fixed name in a shared folder is somebody else's file when two people test at once, and a fixed port is
somebody else's port. A home folder of a fixed name is made by the first program that saves its settings there.
Temporary files have names from mkstemp, mkdtemp or mktemp; ports are 0, so that the system chooses one. The sources are
read as text; the first case shows that what is forbidden is found.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

FOLDERS = ("tests", "bench", "lab", "examples", "tools")
# Signal 0 only asks.
FORBIDDEN = [
    (re.compile(r"\b(?:kill|killpg|tkill|tgkill|pidfd_open|sigqueue|ptrace)\s*\(\s*\(?-?\d+\b(?!\s*,\s*0\s*\))"),
     "sends a signal to a number"),
    (re.compile(r"(?:^|[\s;&|(`])kill\s+(?:-[\w-]+\s+)*-?\d{2,}\b"), "sends a signal to a number"),
    (re.compile(r"\b(?:pkill|killall|killall5|skill|fuser\s+-k)\b"), "chooses processes by name"),
    (re.compile(r"\bsysctl\s+-w\b|>\s*/(?:proc|sys)/"), "changes a setting of the system"),
    (re.compile(r"(?<![\w.$}])/(?:var/tmp|tmp|dev/shm)/(?![\w.-]*XXXXXX)[\w.-]"),
     "has a fixed name in a shared folder"),
    (re.compile(r"\bHOME=['\"]/\w"), "has a home outside of its own folder"),
    (re.compile(r"\bhtons\s*\(\s*[1-9]"
                r"|\b(?:bind|connect|create_server|create_connection)\s*\(\s*\(?[^()]*,\s*[1-9]\d+\s*\)"
                r"|(?:localhost|127\.0\.0\.1|\[::1\]):[1-9]|--port[ =][1-9]"), "has a fixed port"),
]
FOUND = ["kill(4711, SIGTERM);", "os.kill(4711, 9)", "killpg( 12 , 9)", "kill(-1, SIGKILL)", "kill -TERM 4711",
         "; kill -9 -- 4711", "pkill sleep", "sysctl -w kernel.pid_max=10", "echo 1 > /proc/sys/x",
         'open("/tmp/out.rfp")', "> /var/tmp/log", "cat /dev/shm/ring",
         'dict(os.environ, HOME="/nowhere")', "HOME='/root' make",
         "htons(8080)", 'server.bind(("", 8080))', "http://localhost:8000/", "serve --port=8080"]
ALLOWED = ["kill(getpid(), SIGTERM);", "kill(0, 0);", "kill(NOBODY, SIGTERM)", "kill -TERM $$", "process.kill()",
           "kill -INT $(cat pid)", "a kill of 60 rounds", 'char path[] = "/tmp/riffle-text-XXXXXX"', "$folder/tmp/a",
           'server.bind(("", 0))', "htons(port)", "HOME=folder", 'HOME="$folder/home"',
           "connect(fd, address, sizeof *address)", "the folder /tmp is shared"]


def complaints(text):
    return [what for pattern, what in FORBIDDEN if pattern.search(text)]


def sources(root):
    own = os.path.abspath(__file__)
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(root, folder)):
            if "corpus" in path.split(os.sep) or "inputs" in path.split(os.sep):
                continue
            yield from (os.path.join(path, name) for name in names if os.path.join(path, name) != own)


def complain(path, root):
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            for what in complaints(line) if len(line) < 1000 else ():
                yield f"{os.path.relpath(path, root)}:{number}: {what}: {line.strip()}"


def main():
    root = os.path.abspath(sys.argv[1])
    wrong = [f"not found: {text}" for text in FOUND if not complaints(text)]
    wrong += [f"wrongly found: {text}" for text in ALLOWED if complaints(text)]
    tap.tell("what is forbidden is found, and nothing else", wrong)
    paths = list(sources(root))
    tap.check("there are sources", len(paths) > 100, len(paths))
    tap.tell("no source touches what is somebody else's", [words for path in paths for words in complain(path, root)])
    tap.end()


main()
