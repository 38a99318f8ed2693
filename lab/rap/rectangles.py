"""Hot rectangles of `riffle report -f tree` as CSV: code and data addresses, and the share of the rectangle alone."""
import re
import sys

LINE = re.compile(r"\s*([\d.]+)%\s+[\d.]+%\s+(0x\w+)\.\.(0x\w+) x (0x\w+)\.\.(0x\w+)")
print("code_lo,code_hi,data_lo,data_hi,share")
for found in filter(None, map(LINE.match, sys.stdin)):
    print(*found.groups()[1:], found[1], sep=",")
