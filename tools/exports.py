#!/usr/bin/env python3
"""exports - the functions that the public headers declare, as a version script for the linker.

    exports.py OUTPUT HEADER...      everything else stays inside the shared library
"""
import re
import sys


def declared(text):
    """Names in front of a parameter list; comments and pointers to functions do not count."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^\s*#.*?(?<!\\)$", " ", text, flags=re.S | re.M)
    return re.findall(r"\b(rf_\w+)\s*\((?!\s*\*)", text)


def main():
    names = set()
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as header:
            names.update(declared(header.read()))
    with open(sys.argv[1], "w", encoding="utf-8") as script:
        script.write("{\nglobal:\n")
        script.writelines(f"    {name};\n" for name in sorted(names))
        script.write("local:\n    *;\n};\n")


main()
