#!/usr/bin/env python3
"""embed - write the table of commands: what each does, and what the help says of it.

    embed.py OUTPUT.c NAME.txt...

The first line of a text says in a few words what the command does. Paragraphs follow, with an empty line between them;
the lines of a paragraph are joined. A paragraph that begins with four spaces stays as it is. What follows the line
"Examples:" is the examples. @FIELDS@ stands for the names of all fields, each with a space before it.
"""
import os
import sys

FIELDS = '"\n#define RF_FIELD(ID, name, classes, meaning, word, late, value, brief) " " #name\n' \
         '#include <riffle/fields.def>\n        "'


def literal(text):
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", '\\n"\n        "')
    return '"' + text.replace("@FIELDS@", FIELDS) + '"'


def joined(text):
    paragraphs = text.strip("\n").split("\n\n")
    return "\n\n".join(p if p.startswith("    ") else p.replace("\n", " ") for p in paragraphs)


def entry(name, path):
    with open(path, encoding="utf-8") as file:
        brief, _, rest = file.read().partition("\n\n")
    text, _, examples = rest.partition("\nExamples:\n")
    shown = literal(examples.rstrip("\n")) if examples else "NULL"
    return f'    {{"{name}", &cli_action_{name}, {literal(brief)},\n' \
           f'        {literal(joined(text))},\n        {shown}}},\n'


def main():
    paths = {os.path.splitext(os.path.basename(path))[0]: path for path in sys.argv[2:]}
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write('/* Made by embed.py from the texts in cli/help. */\n#include "command.h"\n\n')
        out.writelines(f"extern const struct cli_action cli_action_{name};\n" for name in paths)
        out.write("\nconst struct cli_command cli_commands[] = {\n")
        out.writelines(entry(name, path) for name, path in paths.items())
        out.write("    {NULL, NULL, NULL, NULL, NULL},\n};\n")


main()
