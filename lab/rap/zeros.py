"""How likely a load from each hot range of zero loads finds a zero: zeros.py PROFILE TREE, CSV on stdout.

PROFILE holds the zero loads and all loads by address; TREE is the report of its hot ranges. Both counts are bounds, so the
chance has a lower and an upper end."""
import csv
import re
import subprocess
import sys

print("lo,hi,zero_loads_lower,zero_loads_upper,loads_lower,loads_upper,chance_lower_percent,chance_upper_percent")
with open(sys.argv[2]) as tree:
    of_zeros = tree.read().split("profile ")[1] # the first profile
for lo, hi in re.findall(r"%\s+(0x\w+)\.\.(0x\w+)", of_zeros):
    done = subprocess.run(["build/riffle", "query", "--csv", sys.argv[1], f"{lo}..{hi}"], check=True, stdout=subprocess.PIPE,
                          text=True)
    zeros, loads = csv.DictReader(done.stdout.splitlines())
    bounds = [int(row[end]) for row in (zeros, loads) for end in ("lower", "upper")]
    low = 100 * bounds[0] / max(1, bounds[3])
    high = min(100, 100 * bounds[1] / max(1, bounds[2]))
    print(lo, hi, *bounds, f"{low:.1f}", f"{high:.1f}", sep=",")
