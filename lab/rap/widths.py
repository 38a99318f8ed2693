"""Figure 11 from `riffle report -f tree`: for each profile the share of hot ranges of at most 2^x values."""
import re
import sys

NAMES = {"load -> value": "loads", "load miss>=1 -> value": "L1 misses", "load miss>=2 -> value": "L2 misses"}
program, profiles, current = sys.argv[1], {}, None
for line in sys.stdin:
    if line.startswith("profile"):
        current = profiles.setdefault(NAMES[line.split(None, 1)[1].strip()], [])
    hot = re.match(r"\s*([\d.]+)%\s+[\d.]+%\s+0x([0-9a-f]+)\.\.0x([0-9a-f]+)", line)
    if hot:
        width = int(hot[3], 16) - int(hot[2], 16) + 1
        current.append((width.bit_length() - 1, float(hot[1])))
for name, ranges in profiles.items():
    for bits in range(0, 65, 2):
        print(program, name, bits, f"{sum(share for width, share in ranges if width <= bits):.2f}", sep=",")
