#!/usr/bin/env python3
"""diff - two versions of a source, compared by function and line: what moved is no change, what changed is told.

    diff.py RIFFLE
"""
import csv
import io
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

RIFFLE = os.path.abspath(sys.argv[1])
OLD = """#include <stdlib.h>
static volatile int sink;
__attribute__((noinline)) static void calm(int n)
{
    for (int i = 0; i < n; i++)
        sink += i;
}
static inline int twice(int n)
{
    return 2 * n + sink;
}
__attribute__((noinline)) static void busy(int n)
{
    for (int i = 0; i < n; i++) {
        sink += twice(i);
        sink -= 3;
    }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[argc - 1]);
    calm(5000);
    busy(n);
    return 0;
}
"""
MOVED = 7
NEW = "/* a comment that moves all lines */\n" * MOVED + OLD.replace("sink -= 3;", "sink -= 3 + sink * sink;")


def profile(name, source):
    with open("work.c", "w", encoding="ascii") as file:
        file.write(source)
    subprocess.run(["gcc", "-g", "-O1", "work.c", "-o", name], check=True, timeout=60)
    subprocess.run([RIFFLE, "run", "-q", "-p", "code", "-o", name + ".rfp", "--", "./" + name, "20000"], check=True, timeout=60)


def rows(by):
    text = subprocess.run([RIFFLE, "diff", "old.rfp", "new.rfp", "-b", by, "-f", "csv", "-n", "0"], capture_output=True, text=True,
                          check=True, timeout=60).stdout
    return {row["name"]: row for row in csv.DictReader(io.StringIO(text))}


def line_of(source, text):
    return next(i for i, line in enumerate(source.split("\n"), 1) if text in line)


def check_lines():
    lines = rows("line")
    for text in ("sink += i;", "sink += twice(i);", "return 2 * n + sink;"):
        old, new = line_of(OLD, text), line_of(NEW, text)
        row = lines.get(f"work.c:{new}, was :{old}")
        tap.check(f"{text!r} has moved, and is the same", row is not None and row["kind"] == "same" and int(row["old"]) >= 5000,
                  {name: row for name, row in lines.items() if "work.c" in name})
    changed = lines.get(f"work.c:{line_of(NEW, 'sink * sink')}, was :{line_of(OLD, 'sink -= 3')}")
    tap.check("the line that has changed is told", changed is not None and changed["kind"] == "changed" and
              int(changed["new"]) > int(changed["old"]), changed)
    strange = [name for name, row in lines.items() if "work.c" in name and row["kind"] in ("new", "gone")]
    tap.check("no line is new or gone", not strange, strange)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        profile("old", OLD)
        profile("new", NEW)
        functions = rows("function")
        tap.check("by function: calm is the same, busy has changed",
                  (functions["calm"]["kind"], functions["busy"]["kind"]) == ("same", "changed"), functions["busy"])
        check_lines()
        os.chdir("/")
    tap.end()


main()
