#!/usr/bin/env python3
"""prefixes - a name says which folder it belongs to: no two folders of src/ share a prefix or a struct.

    prefixes.py ROOT

A prefix is the first word behind rf_ of a function, behind RF_ of an enumerator, as the headers inside
src/ declare them. The first case shows on a small sample that each kind of clash is found out.
"""
import collections
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

COMMENT = re.compile(r"/\*.*?\*/", re.S)
FUNCTION = re.compile(r"^[A-Za-z_][\w \*]*?\b(rf_[a-z0-9]+_)\w*\(", re.M)
STRUCT = re.compile(r"^(struct rf_\w+) \{", re.M)
ENUM = re.compile(r"\benum\s*\w*\s*\{(.*?)\}", re.S)
ENUMERATOR = re.compile(r"(?:^|,)\s*(RF_[A-Z0-9]+_)\w*")


def names(text):
    """What a header declares: prefixes of functions and enumerators, and structs."""
    text = COMMENT.sub("", text)
    found = set(FUNCTION.findall(text)) | set(STRUCT.findall(text))
    for body in ENUM.findall(text):
        found |= set(ENUMERATOR.findall(body))
    return found


def clashes(headers):
    """`headers`: pairs of folder and text."""
    owners = collections.defaultdict(set)
    for folder, text in headers:
        for name in names(text):
            owners[name].add(folder)
    return [f"{name} is used by {' and '.join(sorted(folders))}"
            for name, folders in sorted(owners.items()) if len(folders) > 1]


SAMPLE = [
    ("symbol", "void rf_table_sort(struct rf_file *file);\nstruct rf_table {\n"),
    ("report", "void rf_table_close(int x);\nstruct rf_table {\nenum { RF_WORD_MAX = 9 };\n"),
    ("source", "enum rf_word {\n    RF_WORD_PC,\n};\nvoid rf_ring_read(void);\n"),
    ("probe", "/* rf_ring_write() */ static inline int x(void) { return rf_ring_bell(); }\n"),
]


def main():
    found = clashes(SAMPLE)
    expected = ["RF_WORD_ is used by report and source", "rf_table_ is used by report and symbol",
                "struct rf_table is used by report and symbol"]
    tap.tell("clashes are found out", [] if found == expected else found)
    headers = []
    top = os.path.join(sys.argv[1], "src")
    for path in sorted(glob.glob(os.path.join(top, "**", "*.h"), recursive=True)):
        with open(path, encoding="utf-8") as header:
            headers.append((os.path.relpath(path, top).split(os.sep)[0], header.read()))
    tap.tell("the headers are there", [] if len(headers) > 40 else [f"only {len(headers)}"])
    tap.tell("no two folders share a prefix or a struct", clashes(headers))
    tap.end()


main()
