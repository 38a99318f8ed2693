#!/usr/bin/env python3
"""reliability - that tools/reliability says why a row fails, and not only that it does.

    reliability.py ROOT

A copy of it runs in a small tree of its own, with a page without rows and a `meson` that only pretends.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

GOOD = {"name": "riffle:unit / newfile", "result": "OK", "returncode": 0, "stdout": "# nothing is wrong\nok 1 - a\n1..1\n"}
BAD = {"name": "riffle:unit / trace", "result": "FAIL", "returncode": 1, "stderr": "last words\n",
       "stdout": "# it was the butler\nnot ok 1 - a\n" + "".join(f"ok {n} - b\n" for n in range(2, 100)) + "1..99\n"}
PAGE = "<!-- made by make reliability -->\n<!-- end -->\n"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


def outcome(root, *tests):
    """Of the row of `newfile`, whose tests end so."""
    with tempfile.TemporaryDirectory() as tree:
        os.mkdir(os.path.join(tree, "tools"))
        for name in ("reliability", "usage.py"):
            shutil.copy(os.path.join(root, "tools", name), os.path.join(tree, "tools"))
        write(os.path.join(tree, "doc", "RELIABILITY.md"), PAGE)
        log = os.path.join(tree, "build", "meson-logs", "testlog.json")
        write(log, "")
        known = json.dumps([{"name": name, "suite": ["riffle:unit"]} for name in ("newfile", "trace", "profile_file")])
        lines = "".join(json.dumps(test) + "\n" for test in tests)
        write(os.path.join(tree, "bin", "meson"),
              f"#!/bin/sh\ncase $1 in\nintrospect) cat <<'END'\n{known}\nEND\n;;\n*) cat > {log} <<'END'\n{lines}END\nesac\n")
        env = dict(os.environ, PATH=os.path.join(tree, "bin") + ":" + os.environ["PATH"])
        done = subprocess.run([sys.executable, os.path.join(tree, "tools", "reliability"), "newfile"], env=env, capture_output=True,
                              text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def main():
    root = sys.argv[1]
    status, said = outcome(root, GOOD, GOOD)
    tap.check("a row that holds: one line", status == 0 and said.count("\n") == 1 and said.startswith("ok  "), said)
    status, said = outcome(root, GOOD, BAD)
    tap.check("a row that fails: which test, its complaint and its end", status == 1 and said.startswith("FAILS  ")
              and all(words in said for words in ("riffle:unit / trace: FAIL, status 1", "it was the butler", "not ok 1 - a",
                                                  "ok 99 - b", "last words")), said)
    tap.check("and no more than that", "nothing is wrong" not in said and "ok 50 - b" not in said and said.count("\n") < 50, said)
    tap.end()


main()
