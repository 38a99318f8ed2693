#!/usr/bin/env python3
"""claims - lab/README.md has the table that the labs' claims.csv make, and lab/claims finds what breaks their form.

    claims.py ROOT
"""
import os
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


def main():
    root = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        try_small(root, folder)
    done = claims(root, "--check")
    tap.check("lab/README.md is made of the labs' claims", done.returncode == 0, done.stderr)
    tap.end()


main()
