#!/usr/bin/env python3
"""stacks - samples of the call stack of a program whose stacks are known.

    stacks.py RIFFLE STACKS
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

RIFFLE, STACKS = sys.argv[1:3]
MASK = (1 << 64) - 1


def below(context, pc):
    """The context of what is called from this frame, as include/riffle/event.h has it."""
    x = (context * 0x9e3779b97f4a7c15 + pc) & MASK
    x = ((x ^ x >> 30) * 0xbf58476d1ce4e5b9) & MASK
    x = ((x ^ x >> 27) * 0x94d049bb133111eb) & MASK
    return (x ^ x >> 31) or 1


def sample(*more, program=(STACKS,)):
    """Counts with callees, by the chain of functions from the outermost on, and the number of samples."""
    done = subprocess.run([RIFFLE, "run", "-f", "json", "-n", "0", *more, "--", *program],
                          capture_output=True, timeout=120)
    items = json.loads(done.stderr)["profiles"][0]["rows"]
    children, counts = {}, {}
    for item in items:
        children.setdefault(int(item["context"], 0), []).append(item)

    def walk(context, chain):
        for item in children.get(context, []):
            name = item.get("function") or "?"
            counts[chain + (name,)] = counts.get(chain + (name,), 0) + item["count"]
            walk(below(context, int(item["pc"], 0)), chain + (name,))

    walk(0, ())
    reached = sum(counts.values())
    return counts, sum(item["count"] for item in children.get(0, [])), reached == sum(i["count"] for i in items)


def ending(counts, *chain):
    """The sum of all stacks that end with these functions."""
    return sum(n for key, n in counts.items() if key[-len(chain):] == chain)


def within(found, share, of):
    return abs(found - share * of) <= 4 * (of * share * (1 - share)) ** 0.5 + 2


def main():
    counts, samples, is_tree = sample("-p", "stacks=20K")
    tap.check("there are samples, and every frame hangs in the tree", is_tree and samples > 1000, samples)
    through_a, through_b = ending(counts, "main", "a", "leaf"), ending(counts, "main", "b", "leaf")
    tap.check("nearly all of it is in leaf", through_a + through_b > 0.97 * samples, counts)
    tap.check("three quarters of it by way of a", within(through_a, 0.75, through_a + through_b), (through_a, through_b))
    tap.check("leaf has no other callers", ending(counts, "leaf") == through_a + through_b, counts)
    again, _, _ = sample("-p", "stacks=20K")
    tap.check("the same program gives the same samples", again == counts)
    tenth, fewer, _ = sample("-p", "stacks=200K")
    tap.check("a longer period gives fewer samples", 0.8 * samples < 10 * fewer < 1.25 * samples, (samples, fewer))

    counts, samples, _ = sample("-p", "stacks=20K", program=(STACKS, "more"))
    deep = ending(counts, *(["main"] + ["down"] * 21 + ["leaf"]))
    tap.check("recursion is followed to its end", within(deep, 0.5, samples) or deep > 0.45 * samples, (deep, samples))
    tap.check("a thread has a stack of its own", ending(counts, "work", "a", "leaf") > 0.4 * samples, counts)

    counts, samples, _ = sample("-p", "stacks=2K", program=(STACKS, "long", "short"))
    exact = json.loads(subprocess.run([RIFFLE, "run", "-p", "code", "--by", "function", "-f", "json", "-n", "0", "--",
                                       STACKS, "long", "short"], capture_output=True, timeout=120).stderr)["profiles"][0]
    for name in ("straight", "branchy"):
        share = sum(row["count"] for row in exact["rows"] if row["function"] == name) / exact["consumed"]
        found = ending(counts, "main", name)
        tap.check(f"{name} is sampled as often as it runs", share > 0.2 and within(found, share, samples),
                  (found, samples, share))

    often = subprocess.run([RIFFLE, "run", "-q", "-p", "stacks=100", "--", STACKS, "more"], capture_output=True, timeout=120)
    tap.check("samples fill a batch though no path comes between them", (often.returncode, often.stderr) == (0, b""),
              (often.returncode, often.stderr))
    page = subprocess.run([RIFFLE, "run", "-p", "stacks=20K", "--annotate", "leaf", "--", STACKS],
                          capture_output=True, text=True, timeout=120).stderr
    tap.check("contexts are not shown beside the source", "leaf in " in page and "%" in page and "context" not in page, page)

    refused = subprocess.run([RIFFLE, "run", "-p", "stacks", "--frequency", "1/10", "--", STACKS], capture_output=True)
    tap.check("stacks in bursts are refused", refused.returncode == 125 and b"stacks" in refused.stderr, refused.stderr)
    tap.end()


main()
