"""Are all hot ranges found? Rows of program,kind,eps,hot,same,inside,wider: of the ranges that an exact count finds hot,
in the tree's steps of four, how many the tree tells, how many it tells narrower (the same events on less), and how many
only wider or not at all.

    found.py NAME KIND TRACE EVENTS KEY BITS EPS...     from riffle replay: an exact profile, and a tree of each EPS"""
import collections
import re
import subprocess
import sys

HOT = 0.1
TOLD = re.compile(r"^\s*[\d.]+%\s+[\d.]+%\s+(0x\w+)\.\.(0x\w+)", re.M)


def replay(trace, events, *options):
    return subprocess.run(["build/riffle", "replay", trace, "--limit", events, "--no-names", *options], stdout=subprocess.PIPE, text=True, check=True).stdout


def exact_counts(trace, events, key):
    """key: a or b, the first or the second word of a tuple."""
    counts = collections.Counter()
    rows = iter(replay(trace, events, "-e", "exact", "-f", "csv", "-n", "0").splitlines())
    next(rows)
    for row in rows:
        first, second, count = row.split(",", 3)[:3]
        counts[int(second if key == "b" else first, 16)] += int(count)
    return counts


def hot_ranges(counts, bits):
    """From single events upwards: a range is hot by what it holds beside hot ranges inside it."""
    least = HOT * sum(counts.values())
    found = []
    for step in range(0, bits + 1, 2):
        for at in [at for at, count in counts.items() if count > least]:
            found.append((at << step, ((at + 1) << step) - 1))
            counts[at] = 0
        above = collections.Counter()
        for at, count in counts.items():
            above[at >> 2] += count
        counts = above
    return found


def within(inner, outer):
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def told_inside(one, hot, told):
    """By a range that lies in this one, and in no hot range inside it."""
    deeper = [other for other in hot if other != one and within(other, one)]
    return any(within(range_told, one) and not any(within(range_told, other) for other in deeper) for range_told in told)


def main():
    name, kind, trace, events, key, bits, *all_eps = sys.argv[1:]
    hot = hot_ranges(exact_counts(trace, events, key), int(bits))
    for eps in all_eps:
        text = replay(trace, events, "-e", f"rap(paper, key={key}, bits={bits}, eps={eps}%)", "-f", "tree", "--hot", f"{100 * HOT:g}%")
        told = [(int(lo, 16), int(hi, 16)) for lo, hi in TOLD.findall(text)]
        same = sum(one in told for one in hot)
        inside = sum(one not in told and told_inside(one, hot, told) for one in hot)
        print(name, kind, eps, events, len(hot), same, inside, len(hot) - same - inside, sep=",")


main()
