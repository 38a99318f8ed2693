#!/usr/bin/env python3
"""bytes - the handlers' code as an array of C.

    bytes.py INPUT OUTPUT
"""
import sys

with open(sys.argv[1], "rb") as file:
    content = file.read()
rows = [content[i:i + 16] for i in range(0, len(content), 16)]
with open(sys.argv[2], "w", encoding="utf-8") as output:
    output.write('#include "coproc/guest/blob.h"\n\n')
    output.write("const unsigned char rf_coproc_blob[] = {\n")
    output.writelines("    " + " ".join(f"{byte}," for byte in row) + "\n" for row in rows)
    output.write(f"}};\nconst size_t rf_coproc_blob_size = {len(content)};\n")
