#!/usr/bin/env python3
"""symbols - base and engine call nothing but each other and four functions that compilers know.

    symbols.py LIBRARY.a 'NM'

Reads the undefined symbols of every object of src/base and src/engine in the library. alloc.c is the
one exception: the standard allocator is malloc. Only a plain build can be judged; sanitizers add calls.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

# Ours, the four, and what compilers bring along: bcmp (clang's memcmp for equality), division of 128
# bits, the kind of CPU.
ALLOWED = re.compile(r"^(rf_\w+|memcpy|memset|memmove|memcmp|bcmp|_GLOBAL_OFFSET_TABLE_"
                     r"|__u(div|mod)ti3|__cpu_model|__cpu_features2|__cpu_indicator_init)$")
JUDGED = re.compile(r"src_(base|engine)_\w+\.c\.o")
EXEMPT = ("src_base_alloc.c.o",)


def undefined(listing):
    """Pairs of object and symbol from `nm -u -A`: path/member.o:    U name."""
    for line in listing.splitlines():
        match = re.match(r"^(.*?\.o):\s+[Uw] (\S+)$", line)
        if match:
            yield re.split(r"[/:]", match.group(1))[-1], match.group(2).split("@")[0]


def forbidden(listing):
    return [f"{name} calls {symbol}" for name, symbol in undefined(listing)
            if JUDGED.fullmatch(name) and name not in EXEMPT and not ALLOWED.match(symbol)]


SAMPLE = """
build/x.a:src_base_text.c.o:                 U rf_text_length
build/x.a:src_engine_exact.c.o:                 U memset
build/x.p/src_engine_exact.c.o:                 U malloc@GLIBC_2.2.5
build/x.a:src_base_units.c.o:                 U strlen
build/x.a:src_base_alloc.c.o:                 U realloc
build/x.a:src_profile_file.c.o:                 U open
"""


def main():
    library, nm = sys.argv[1:3]
    found = forbidden(SAMPLE)
    expected = ["src_engine_exact.c.o calls malloc", "src_base_units.c.o calls strlen"]
    tap.tell("forbidden calls are found out", [] if found == expected else [str(found)])
    listing = subprocess.run([nm, "-u", "-A", library], text=True, capture_output=True,
                             check=True).stdout
    judged = {name for name, _ in undefined(listing) if JUDGED.fullmatch(name)}
    tap.tell("the objects of base and engine are there",
             [] if len(judged) >= 6 else [f"only {sorted(judged)}"])
    tap.tell("base and engine call no libc", forbidden(listing))
    tap.end()


main()
