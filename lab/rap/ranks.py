"""Hot rectangles of `riffle report -f tree` with their ends replaced by ranks, widest first: address spaces are
sparse, a picture of them to scale is empty. Columns: a_lo, a_hi, b_lo, b_hi, share."""
import re
import sys

LINE = re.compile(r"\s*([\d.]+)%\s+[\d.]+%\s+0x(\w+)\.\.0x(\w+) x 0x(\w+)\.\.0x(\w+)")
rows = [[float(m[1])] + [int(m[k], 16) for k in (2, 3, 4, 5)] for m in map(LINE.match, sys.stdin) if m]
rank = [{v: i for i, v in enumerate(sorted({w for r in rows for w in (r[k], r[k + 1] + 1)}))} for k in (1, 3)]
rows.sort(key=lambda r: -(r[2] - r[1]) * (r[4] - r[3] + 1))
for r in rows:
    print(rank[0][r[1]], rank[0][r[2] + 1], rank[1][r[3]], rank[1][r[4] + 1], r[0], sep=",")
