#!/usr/bin/env python3
"""bytes - a file as an array of C.

    bytes.py INPUT OUTPUT NAME
"""
import sys

with open(sys.argv[1], "rb") as file:
    content = file.read()
rows = [content[i:i + 16] for i in range(0, len(content), 16)]
with open(sys.argv[2], "w", encoding="utf-8") as output:
    output.write('#include "dise/blob.h"\n\n')
    output.write(f"const unsigned char {sys.argv[3]}[] = {{\n")
    output.writelines("    " + " ".join(f"{byte}," for byte in row) + "\n" for row in rows)
    output.write(f"}};\nconst size_t {sys.argv[3]}_size = {len(content)};\n")
