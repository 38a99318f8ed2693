#!/usr/bin/env python3
"""bytes - code of handlers as an array of C, rf_FOLDER_blob, which FOLDER/guest/blob.h declares.

    bytes.py OUTPUT FOLDER [INPUT]      without INPUT: there was no compiler for the simulated core, so it is empty
"""
import sys

content = b""
if len(sys.argv) > 3:
    with open(sys.argv[3], "rb") as file:
        content = file.read()
name = f"rf_{sys.argv[2]}_blob"
rows = [content[i:i + 16] for i in range(0, len(content), 16)] or [b"\0"]
with open(sys.argv[1], "w", encoding="utf-8") as output:
    output.write(f'#include "{sys.argv[2]}/guest/blob.h"\n\nconst unsigned char {name}[] = {{\n')
    output.writelines("    " + " ".join(f"{byte}," for byte in row) + "\n" for row in rows)
    output.write(f"}};\nconst size_t {name}_size = {len(content)};\n")
