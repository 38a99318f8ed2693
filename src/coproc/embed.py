#!/usr/bin/env python3
"""embed - write a C file that holds the texts of microprograms.

    embed.py OUTPUT.c PROGRAM.uc...
"""
import os
import sys


def literal(text):
    lines = text.replace("\\", "\\\\").replace('"', '\\"').split("\n")
    return "\n".join(f'        "{line}\\n"' for line in lines[:-1])


def main():
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write("#include <riffle/coproc.h>\n\n"
                  "static const struct rf_coproc_program programs[] = {\n")
        for path in sys.argv[2:]:
            with open(path, encoding="utf-8") as file:
                out.write(f'    {{"{os.path.basename(path)}",\n{literal(file.read())}}},\n')
        out.write("    {0, 0},\n};\n\n"
                  "const struct rf_coproc_program *rf_coproc_programs(void)\n"
                  "{\n    return programs;\n}\n")


main()
