#!/usr/bin/env python3
"""claims - lab/README.md has the table that the labs' claims.csv make, and lab/claims finds what breaks their form.

    claims.py ROOT

No verdict is by hand: no claims.py gives one as a word, but for calibrated and not-tried, and those that read what is committed
make the claims.csv that is committed. (Most of multihash's read what was measured, which is not: it renews the rows that follow from
its figures' files, and keeps the others.)"""
import ast
import glob
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

HEADER = "paper,claim,where,verdict,ours,spread,seeds,figure,command\n"
GOOD = "rap,small,5.1,holds,500 nodes,480-520,10,a.svg,lab/rap/run nodes\n"
PAGE = "# Labs\n<!-- lab/claims begins -->\n<!-- lab/claims ends -->\nbehind\n"
WRONG = {
    "a verdict of its own": GOOD.replace("holds", "nearly"),
    "another paper's row": GOOD.replace("rap,", "hps,", 1),
    "no number": GOOD.replace("500 nodes", ""),
    "a figure that is not there": GOOD.replace("a.svg", "b.svg"),
    "no command": GOOD.replace("lab/rap/run nodes", ""),
    "no seeds": GOOD.replace(",10,", ",,"),
    "a column less": "rap,small,5.1,holds,500 nodes,480-520,10,a.svg\n",
}


def claims(root, *arguments):
    return subprocess.run([sys.executable, f"{root}/lab/claims", *arguments], capture_output=True, text=True, check=False)


def make(folder, rows):
    os.makedirs(f"{folder}/rap", exist_ok=True)
    for name, text in (("README.md", PAGE), ("rap/claims.csv", HEADER + rows), ("rap/a.svg", "")):
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.write(text)


def try_small(root, folder):
    make(folder, GOOD)
    stale = claims(root, "--check", folder)
    made = claims(root, folder)
    with open(f"{folder}/README.md", encoding="utf-8") as file:
        text = file.read()
    tap.check("a table that is not made yet is found out", stale.returncode == 1 and "run lab/claims" in stale.stderr, stale)
    tap.check("the table is made between the lines", made.returncode == 0 and "| small | 5.1 | **holds** | 500 nodes; spread: 480-520; "
              "10 seeds | [a](rap/a.svg) | `lab/rap/run nodes` |" in text and text.endswith("behind\n"), text)
    tap.check("and is then right", claims(root, "--check", folder).returncode == 0)
    for what, rows in WRONG.items():
        make(folder, rows)
        done = claims(root, folder)
        tap.check(f"{what} is found out", done.returncode == 1 and "row 1" in done.stderr, done)


def verdicts_by_hand(text):
    """Lines of calls with a verdict as a plain word."""
    return [node.lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)
            for word in node.args if isinstance(word, ast.Constant) and word.value in ("holds", "differs", "fails")]


def try_rules(root):
    tap.check("a verdict by hand is found", verdicts_by_hand("claim('a', 'b', 'holds', 'c')") == [1]
              and not verdicts_by_hand("claim('a', 'b', 'holds' if a else 'fails', 'not-tried')"))
    for path in sorted(glob.glob(f"{root}/lab/*/claims.py")):
        with open(path, encoding="utf-8") as file:
            found = verdicts_by_hand(file.read())
        tap.check(f"{os.path.relpath(path, root)} decides by rule", not found, found)
    kept = glob.glob(f"{root}/lab/*/claims.csv")
    tap.check("each claims.csv has one", kept and all(os.path.exists(path[:-4] + ".py") for path in kept), kept)


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return file.readlines()


def try_again(root, folder):
    """The claims of a lab made anew from its committed files."""
    for name in ("coproc", "hps", "multihash", "rap", "stratified"):
        copy = f"{folder}/{name}"
        without = ("*.svg",) if name == "multihash" else ("*.svg", "claims.csv")
        shutil.copytree(f"{root}/lab/{name}", copy, ignore=shutil.ignore_patterns(*without))
        done = subprocess.run([sys.executable, f"{root}/lab/{name}/claims.py", copy], capture_output=True, text=True, check=False)
        made, kept = (lines_of(f"{place}/claims.csv") for place in (copy, f"{root}/lab/{name}"))
        tap.check(f"lab/{name}/claims.csv is what its files say", done.returncode == 0 and made == kept,
                  done.stderr or [line for line in made if line not in kept])


def main():
    root = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        try_small(root, folder)
    try_rules(root)
    with tempfile.TemporaryDirectory() as folder:
        try_again(root, folder)
    done = claims(root, "--check")
    tap.check("lab/README.md is made of the labs' claims", done.returncode == 0, done.stderr)
    tap.end()


main()
