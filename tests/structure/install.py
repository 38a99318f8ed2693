#!/usr/bin/env python3
"""install - what is installed is enough to embed the library, and shows no more than its headers.

    install.py BUILD EXAMPLE.c 'C COMPILER' ['C++ COMPILER']

Installs into an empty folder, builds the example with what pkg-config says there, runs it; as C++,
too. Every public function is in the shared library, and nothing else is visible.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

HELLO = """#include <riffle/riffle.h>
int main() { rf_engine_info info; return rf_engine_list(0, &info); }
"""


def run(command, **more):
    done = subprocess.run(command, text=True, capture_output=True, check=False, **more)
    return done.returncode, done.stdout, done.stderr


def find(root, pattern):
    for top, _, names in os.walk(root):
        for name in names:
            if re.fullmatch(pattern, name):
                return os.path.join(top, name)
    return None


def pkg_config(root):
    folder = os.path.dirname(find(root, r"riffle\.pc"))
    env = dict(os.environ, PKG_CONFIG_LIBDIR=folder, PKG_CONFIG_SYSROOT_DIR=root)
    code, out, errors = run(["pkg-config", "--cflags", "--libs", "riffle"], env=env)
    return out.split() if code == 0 else [f"-pkg-config-failed:{errors}"]


def build_and_run(root, compiler, source, flags):
    program = os.path.join(root, "program")
    code, _, errors = run([*compiler.split(), source, "-o", program, *flags])
    if code != 0:
        return code, errors
    env = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(find(root, r"libriffle\.so")))
    code, out, errors = run([program], env=env)
    return code, out + errors


def declared(root):
    names = set()
    folder = os.path.dirname(find(root, r"riffle\.h"))
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as header:
            text = re.sub(r"/\*.*?\*/", "", header.read(), flags=re.S)
        names.update(re.findall(r"\b(rf_\w+)\s*\((?!\s*\*)", text))
    return names


def exported(root):
    _, out, _ = run(["nm", "-D", "--defined-only", find(root, r"libriffle\.so")])
    return {line.split()[-1].split("@")[0] for line in out.splitlines()}


def main():
    build, example, compilers = sys.argv[1], sys.argv[2], sys.argv[3:]
    with tempfile.TemporaryDirectory() as root:
        code, out, errors = run(["meson", "install", "-C", build, "--no-rebuild", "--quiet",
                                 "--destdir", root])
        tap.tell("it can be installed", [out + errors] if code != 0 else [])
        flags = pkg_config(root)
        code, out = build_and_run(root, compilers[0], example, flags)
        good = code == 0 and "200000 walks, 505 chains" in out
        tap.tell("the example builds by pkg-config and runs", [] if good else [out])
        if len(compilers) > 1:
            hello = os.path.join(root, "hello.cc")
            with open(hello, "w", encoding="utf-8") as file:
                file.write(HELLO)
            code, out = build_and_run(root, compilers[1], hello, flags)
            tap.tell("C++ can use it", [] if code == 0 else [out])
        else:
            tap.skip("C++ can use it", "no compiler")
        wanted, seen = declared(root), exported(root)
        tap.tell("the library shows what its headers declare and nothing else",
                 [f"hidden: {name}" for name in sorted(wanted - seen)] +
                 [f"visible: {name}" for name in sorted(seen - wanted)] +
                 ([] if len(wanted) > 30 else [f"only {len(wanted)} declared"]))
    tap.end()


main()
