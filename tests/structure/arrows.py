#!/usr/bin/env python3
"""arrows - who may include whom, as doc/ARCHITECTURE.md has it; any other #include is a failure.

    arrows.py ROOT

A folder of src/ without a rule is a failure, too, and so is a public header that no folder owns. The
first case shows, on small trees made for it, that each kind of wrong include is found out.
"""
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

# Which folder a public header belongs to. Those of plain data that everybody speaks are base's.
OWNERS = {
    "alloc": "base", "module": "base", "status": "base", "event": "base", "option": "base", "text": "base",
    "fields": "event", "selector": "event", "trace": "event",
    "engine": "engine", "item": "engine", "rap": "engine",
    "invariance": "profile", "live": "profile", "measure": "profile", "overhead": "profile", "profile": "profile", "profiler": "profile", "range": "profile",
    "attach": "attach",
    "gen": "source", "control": "source", "probe": "source", "source": "source",
    "cache": "cache",
    "collect": "collect",
    "symbol": "symbol",
    "view": "view", "diff": "view",
    "report": "report",
    "export": "export",
    "machine": "machine", "productions": "dise", "coproc": "coproc",
    "riffle": "everything",
}

# What a folder may include besides itself. "profile (public)": its public headers alone.
ARROWS = {
    "base": [],
    "event": ["base"],
    "engine": ["base", "event"],
    "profile": ["base", "event", "engine"],
    "view": ["base", "event", "engine (public)", "profile", "symbol (public)"],
    "report": ["base", "event", "engine (public)", "profile (public)", "view", "symbol (public)"],
    "export": ["base", "event", "engine (public)", "profile (public)", "view", "symbol (public)", "report (public)"],
    "source": ["base", "event"],
    "attach": ["base", "event", "source"],
    "cache": ["base", "event"],
    "symbol": ["base", "event", "engine (public)", "profile (public)"],
    "machine": ["base", "event", "source", "cache"],
    "dise": ["base", "event", "source", "machine"],
    "coproc": ["base", "event", "engine (public)", "cache (public)", "machine"],
    "collect": ["base", "event", "engine", "profile", "source", "cache", "coproc (public)"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    with open(path, encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1), match.group(2)


def sources(folder):
    for top, _, names in os.walk(folder):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.join(top, name)


def owner_of(name):
    """The folder of <riffle/NAME.h>; None where the table lacks it."""
    return OWNERS.get(os.path.splitext(os.path.basename(name))[0])


def allowed(folder, target, public):
    if target == folder:
        return True
    rules = ARROWS.get(folder, [])
    return target in rules or (public and f"{target} (public)" in rules)


def judge(folder, mark, name):
    """What is wrong with one include of a file in `folder`; None when nothing is."""
    if name.startswith("riffle/"):
        owner = owner_of(name)
        if owner is None:
            return f"no folder owns <{name}>; see OWNERS"
        if not allowed(folder, owner, True):
            return f"{folder} must not use {owner}: <{name}>"
        return None if mark == "<" else f'public headers are included with <>: "{name}"'
    target = name.split("/")[0]
    if mark == '"' and target not in ARROWS:
        return f'inner headers are named by their folder: "{name}"'
    if target in ARROWS and "/" in name and mark == '"' and not allowed(folder, target, False):
        return f'{folder} must not use {target}: "{name}"'
    return None


def check_library(root):
    base = os.path.join(root, "src")
    for folder in sorted(os.listdir(base)):
        if not os.path.isdir(os.path.join(base, folder)):
            continue
        if folder not in ARROWS:
            yield f"src/{folder}: no rule for this folder; see ARROWS"
        for path in sources(os.path.join(base, folder)):
            for number, mark, name in includes(path):
                wrong = judge(folder, mark, name)
                if wrong:
                    yield f"{os.path.relpath(path, root)}:{number}: {wrong}"


def check_installed(root):
    """A public header that the build does not install is none."""
    listing = os.path.join(root, "include", "meson.build")
    listed = set()
    if os.path.exists(listing):
        with open(listing, encoding="utf-8") as file:
            listed = set(re.findall(r"'riffle/(\w+\.h)'", file.read()))
    for path in sources(os.path.join(root, "include", "riffle")):
        if listed and os.path.basename(path) not in listed:
            yield f"{os.path.relpath(path, root)}: not in include/meson.build"


def check_public(root):
    for path in sources(os.path.join(root, "include", "riffle")):
        owner = owner_of(path)
        if owner is None:
            yield f"{os.path.relpath(path, root)}: no folder owns it; see OWNERS"
        for number, mark, name in includes(path):
            if mark == '"' or "/" in name and not name.startswith(("riffle/", "sys/")):
                yield f"{os.path.relpath(path, root)}:{number}: public headers use public ones: {name}"
            elif name.startswith("riffle/") and owner not in (None, "everything"):
                wrong = judge(owner, mark, name)
                if wrong:
                    yield f"{os.path.relpath(path, root)}:{number}: {wrong}"


def check_program(root):
    for path in sources(os.path.join(root, "cli")):
        for number, mark, name in includes(path):
            if mark == "<":
                continue
            own = os.path.join(root, "cli", name)
            if name.split("/")[0] in ARROWS or not os.path.exists(own):
                yield f"{os.path.relpath(path, root)}:{number}: the program uses public headers only: {name}"


# The run-time that other people's programs link: what it shares with the collector, how distances are drawn, and no more.
HOOKS_MAY = ("source/ring_layout.h", "source/probe_words.h", "base/spread.h")


def check_hooks(root):
    for path in sources(os.path.join(root, "hooks")):
        for number, mark, name in includes(path):
            own = os.path.exists(os.path.join(root, "hooks", name))
            if (mark == '"' and not own and name not in HOOKS_MAY) or name.startswith("riffle/"):
                yield f"{os.path.relpath(path, root)}:{number}: hooks use the ring's, base/spread.h and libc: {name}"


def check(root):
    return [*check_hooks(root), *check_library(root), *check_public(root), *check_installed(root),
            *check_program(root)]


# Each of these must be found out: file, its text.
WRONG = [
    ("src/base/x.c", '#include "engine/engine.h"'),
    ("src/base/x.c", "#include <riffle/engine.h>"),
    ("src/event/x.c", "#include <riffle/source.h>"),
    ("src/engine/x.c", '#  include "profile/fold.h"'),
    ("src/engine/x.c", '#include "engine.h"'),
    ("src/profile/x.c", "#include <riffle/report.h>"),
    ("src/report/x.c", '#include "symbol/symbol.h"'),
    ("src/report/x.c", '#include "profile/profile.h"'),
    ("src/profile/x.c", '#include "view/view.h"'),
    ("src/report/x.c", "#include <riffle/export.h>"),
    ("src/export/x.c", '#include "report/report.h"'),
    ("src/view/x.c", "#include <riffle/report.h>"),
    ("src/source/x.c", "#include <riffle/engine.h>"),
    ("src/symbol/x.c", '#include "profile/fold.h"'),
    ("src/collect/x.c", "#include <riffle/report.h>"),
    ("src/engine/x.c", "#include <riffle/riffle.h>"),
    ("src/engine/x.c", '#include "riffle/engine.h"'),
    ("src/engine/x.c", "#include <riffle/unheard.h>"),
    ("src/strange/x.c", ""),
    ("include/riffle/event.h", "#include <riffle/source.h>"),
    ("include/riffle/unheard.h", ""),
    ("include/riffle/engine.h", '#include "engine/engine.h"'),
    ("cli/x.c", '#include "engine/engine.h"'),
    ("cli/x.c", '#include "missing.h"'),
    ("hooks/x.c", '#include "source/ring.h"'),
    ("hooks/x.c", '#include "base/hash.h"'),
    ("hooks/x.c", "#include <riffle/status.h>"),
    ("include/meson.build", "files('riffle/alloc.h')"),
]
RIGHT = [
    ("src/engine/x.c", '#include "base/hash.h"\n#include <riffle/item.h>\n#include <string.h>'),
    ("src/symbol/x.c", "#include <riffle/profile.h>\n#include <elfutils/libdwfl.h>"),
    ("include/riffle/riffle.h", "#include <riffle/report.h>"),
    ("hooks/x.c", '#include "source/ring_layout.h"\n#include "base/spread.h"\n#include <stdint.h>'),
    ("cli/main.c", "#include <riffle/riffle.h>\n#include <stdio.h>"),
]


def verdict_of(path, text):
    with tempfile.TemporaryDirectory() as root:
        for folder in ("src/base", "include/riffle", "cli"):
            os.makedirs(os.path.join(root, folder))
        with open(os.path.join(root, "include/riffle/status.h"), "w", encoding="utf-8"):
            pass
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        return check(root)


def self_test():
    for path, text in WRONG:
        if len(verdict_of(path, text)) != 1:
            yield f"not found out: {path}: {text}"
    for path, text in RIGHT:
        for wrong in verdict_of(path, text):
            yield f"found without reason: {wrong}"


def main():
    tap.tell("wrong includes are found out", list(self_test()))
    tap.tell("includes follow the arrows", check(sys.argv[-1]))
    tap.end()


main()
