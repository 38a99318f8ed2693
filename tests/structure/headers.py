#!/usr/bin/env python3
"""headers - every public header compiles alone and twice, as strict C11 and as C++.

    headers.py INCLUDE 'C COMPILER' ['C++ COMPILER']

Without a C++ compiler that half is skipped with a word. The first case shows that a header which
does not stand alone is found out.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-fsyntax-only"]
C = ["-x", "c", "-std=c11", *WARNINGS]
CPP = ["-x", "c++", "-std=c++11", *WARNINGS]


def complaint(compiler, flags, include, header):
    """What the compiler says; empty when it is content."""
    text = f"#include <{header}>\n#include <{header}>\nint main(void);\nint main(void) {{ return 0; }}\n"
    if flags is CPP:
        text = text.replace("(void)", "()").replace("int main();\n", "")
    done = subprocess.run([*compiler.split(), *flags, "-I", include, "-"], input=text, text=True,
                          capture_output=True, check=False)
    return done.stderr if done.returncode != 0 else ""


def self_test(compiler):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("alone.h", "size_t lonely(void);\n"), ("twice.h", "struct twice { int x; };\n")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
            if not complaint(compiler, C, folder, name):
                yield f"not found out: {text}"


def main():
    include, compilers = sys.argv[1], sys.argv[2:]
    headers = ["riffle/" + name for name in sorted(os.listdir(os.path.join(include, "riffle")))]
    tap.tell("headers that lean on others are found out", list(self_test(compilers[0])))
    tap.check("there are headers", headers)
    for number, (title, flags) in enumerate((("C11", C), ("C++", CPP))):
        if number >= len(compilers):
            tap.skip(f"every header alone as {title}", "no compiler")
            continue
        found = [complaint(compilers[number], flags, include, header) for header in headers]
        tap.tell(f"every header alone as {title}", [text for text in found if text])
    tap.end()


main()
