#!/usr/bin/env python3
"""embed - style and scripts as C texts, and the policy that allows these and nothing else.

    embed.py OUTPUT.c FILE.css FILE.js...

Scripts become one function, in the order given, so that the page has no names of its own outside. The policy names
style and script by their SHA-256; a changed byte is a page that does nothing.
"""
import base64
import hashlib
import os
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def literal(name, text):
    """A C text; pieces are short, because compilers need not take long ones."""
    lines = [f"const char {name}[] ="]
    for line in text.splitlines(keepends=True):
        plain = line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("?", "\\?")
        lines.append(f'    "{plain}"')
    return "\n".join(lines) + ";\n"


def digest(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def main():
    output, paths = sys.argv[1], sys.argv[2:]
    style = "".join(read(path) for path in paths if path.endswith(".css"))
    scripts = [f"/* {os.path.basename(path)} */\n{read(path)}" for path in paths if path.endswith(".js")]
    script = '"use strict";\n(function () {\n' + "\n".join(scripts) + "}());\n"
    for text in (style, script):
        if "</" in text or "<!--" in text:
            sys.exit("embed: style and script must not hold '</' or '<!--'")
    policy = (f"default-src 'none'; script-src 'sha256-{digest(script)}'; style-src 'sha256-{digest(style)}'; "
              "base-uri 'none'; form-action 'none'")
    with open(output, "w", encoding="utf-8") as file:
        file.write("/* Made by tools/embed.py from src/report/html. */\n#include \"report/html/html.h\"\n\n")
        for name, text in (("rf_html_style", style), ("rf_html_script", script), ("rf_html_policy", policy)):
            file.write(literal(name, text))


main()
