#!/usr/bin/env python3
"""check - that tools/check believes nothing but what the run at hand has shown.

    check.py ROOT

A copy of it runs in a small tree of its own, with a build and a `meson` that only pretend.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

GOOD = json.dumps({"name": "riffle / one", "result": "OK", "stdout": "ok 1 - a\nok 2 - b\n"}) + "\n"
BAD = json.dumps({"name": "riffle / one", "result": "FAIL", "stdout": "ok 1 - a\nnot ok 2 - b\n"}) + "\n"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


def verdict(root, old_log, new_log, meson_status, build_status=0):
    """Status and last line of a run over one flavour."""
    with tempfile.TemporaryDirectory() as tree:
        os.mkdir(os.path.join(tree, "tools"))
        for name in ("check", "usage.py"):
            shutil.copy(os.path.join(root, "tools", name), os.path.join(tree, "tools"))
        write(os.path.join(tree, "tools", "build"), f"#!/bin/sh\nexit {build_status}\n")
        log = os.path.join(tree, "build", "meson-logs", "testlog.json")
        if old_log is not None:
            write(log, old_log)
        os.makedirs(os.path.dirname(log), exist_ok=True)
        leave = f"cat > {log} <<'END'\n{new_log}END\n" if new_log is not None else ""
        write(os.path.join(tree, "bin", "meson"), f"#!/bin/sh\n{leave}exit {meson_status}\n")
        env = dict(os.environ, PATH=os.path.join(tree, "bin") + ":" + os.environ["PATH"])
        done = subprocess.run([sys.executable, os.path.join(tree, "tools", "check"), "build"], env=env,
                              capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()[-1]


def main():
    root = sys.argv[1]
    for title, arguments, expected in (
            ("all is well", (None, GOOD, 0), (0, "2 passed, 0 failed")),
            ("a case fails", (None, BAD, 1), (1, "1 passed, 1 failed")),
            ("meson fails and leaves the log of an earlier run", (GOOD, None, 1), (1, "0 passed, 1 failed")),
            ("meson fails, and its log tells no reason", (None, GOOD, 2), (1, "2 passed, 1 failed")),
            ("nothing ran", (GOOD, None, 0), (1, "0 passed, 1 failed")),
            ("the build fails beside an old log", (GOOD, GOOD, 0, 1), (1, "0 passed, 1 failed"))):
        found = verdict(root, *arguments)
        tap.check(title, found == expected, f"got {found}, must be {expected}")
    tap.end()


main()
