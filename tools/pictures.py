#!/usr/bin/env python3
"""pictures - the pictures of doc/, made again from the programs they show.

    tools/pictures.py [BUILD]        writes doc/pictures/*.png; needs chromium-headless-shell

Programs run from their own folder, so that no path of this machine gets into a picture.
"""
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "browser"))
import devtools  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build"))
OUT = os.path.join(ROOT, "doc", "pictures")


def riffle(folder, *arguments):
    environment = dict(os.environ, PATH=BUILD + os.pathsep + os.environ["PATH"])
    subprocess.run(["riffle", *arguments], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def shoot(browser, folder, page, name, panel=None, group="", theme="light", act=None):
    browser.theme(theme)
    browser.open(os.path.join(folder, page))
    if panel:
        browser.panel(panel, group)
    if act:
        browser.run(act)
        browser.settle()
    browser.shoot(os.path.join(OUT, name + ".png"))


def main():
    os.makedirs(OUT, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for program in ("examples/rank", "lab/workloads/lz", "lab/workloads/lisp"):
            shutil.copy(os.path.join(BUILD, program), folder)
        riffle(folder, "run", "--html", "rank.html", "--", "./rank")
        riffle(folder, "run", "-p", "load -> pc,addr", "-e", "rap(key=both)", "--html", "lz.html", "--", "./lz", "1")
        riffle(folder, "run", "-p", "stacks=2K", "--html", "flame.html", "--", "./lz", "1")
        for level in ("1", "2"):
            subprocess.run(["gcc", "-g", "-O" + level, "-I" + os.path.join(ROOT, "lab", "workloads"), "-o",
                            os.path.join(folder, "lz-O" + level), os.path.join(ROOT, "lab", "workloads", "lz.c")], check=True)
            riffle(folder, "run", "-q", "-o", level + ".rfp", "--", "./lz-O" + level, "1")
        riffle(folder, "diff", "1.rfp", "2.rfp", "--html", "diff.html")
        with devtools.Browser(devtools.find(), os.path.join(folder, "browser"), size=(1080, 680)) as browser:
            shoot(browser, folder, "rank.html", "report")
            shoot(browser, folder, "rank.html", "report-dark", theme="dark")
            shoot(browser, folder, "lz.html", "heat", "heat map")
            shoot(browser, folder, "lz.html", "heat-dark", "heat map", theme="dark")
            shoot(browser, folder, "flame.html", "flame", "stacks")
            shoot(browser, folder, "diff.html", "diff", "functions that changed")
            shoot(browser, folder, "lz.html", "ranges", "range tree",
                  act="document.querySelector('.info').scrollIntoView({block: 'end'})")


main()
