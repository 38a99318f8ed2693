#!/usr/bin/env python3
"""bursty - bursty tracing by software alone, as Arnold and Ryder and Hirzel and Chilimbi do it: a program for the simulated
core whose functions are there twice, once with checks alone, once with checks and profiling.

    bursty.py SOURCE.c OUTPUT [--profile calls|methods|references|none] [--between S] [--burst B] [--control]

    checking copy                         instrumented copy
      entry, backward branch:               the same, and
        lw, addi, sw, blez -> stub            a record of each call (or entry, or load and store)
                                ^  |
         not in a burst --------+  +--> in a burst: the instrumented copy at the same place

A check counts down in memory, S events; then B events run in the instrumented copy. The program's own functions are
treated; its C library is as it was. Three temporary registers are kept from the compiler (t4 to t6), so that checks need
not save any; --control makes the program with those kept and nothing else, which is what to compare with.
A record is where it was made and a word: the callee, or the address accessed. The buffer goes round.
"""
import argparse
import os
import re
import subprocess
import tempfile

GCC = "riscv64-linux-gnu-gcc"
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-O2", "-ffp-contract=off", "-fno-reorder-blocks-and-partition",
         "-fno-asynchronous-unwind-tables", "-ffixed-t4", "-ffixed-t5", "-ffixed-t6"]
BRANCH = re.compile(r"^\t(b\w+|j)\t(?:.*,)?(\.L\w+)$")
CALL = re.compile(r"^\tcall\t([\w.]+)(@plt)?$")
INDIRECT = re.compile(r"^\tjalr\t(?:(?:ra,)?(?:0\()?(\w+)\)?)$")
ACCESS = re.compile(r"^\t(?:f?[ls][bhwd]u?)\t\w+,(-?\w*(?:%lo\([^)]*\)(?:\([^)]*\))?)?)\((\w+)\)$")
LABEL = re.compile(r"^(\.L\w+):")
DROPPED = (".cfi", ".loc", ".globl", ".type", ".size", ".align", ".local")

RUNTIME = """
    .option norvc
    .bss
    .balign 8
bursty_buffer: .skip 16 * 1024
bursty_n:      .skip 8
bursty_saved:  .skip 16
    .section .sdata, "aw"
    .balign 8
    .globl bursty_left
bursty_left:   .word {between}    # events to the next burst; 1 in a burst
bursty_burst:  .word 0            # events left of the burst; 0: none
    .text
# An event, and bursty_left is 0. Goes back to t5 for the instrumented copy, 4 behind it for the other one.
    .globl bursty_event
bursty_event:
    lw      t6, bursty_burst
    bgtz    t6, 1f
    li      t6, {burst}
    sw      t6, bursty_burst, t4
    li      t6, 1
    sw      t6, bursty_left, t4
    jr      t5
1:  addi    t6, t6, -1
    sw      t6, bursty_burst, t4
    blez    t6, 2f
    li      t6, 1
    sw      t6, bursty_left, t4
    jr      t5
2:  li      t6, {between}
    sw      t6, bursty_left, t4
    jalr    zero, 4(t5)
# A record: t5 says where, t6 what.
    .globl bursty_record
bursty_record:
    sd      t0, bursty_saved, t4
    sd      t1, bursty_saved+8, t4
    ld      t1, bursty_n
    lla     t0, bursty_buffer
    andi    t4, t1, 1023
    slli    t4, t4, 4
    add     t0, t0, t4
    sd      t5, 0(t0)
    sd      t6, 8(t0)
    addi    t1, t1, 1
    sd      t1, bursty_n, t4
    ld      t1, bursty_saved+8
    ld      t0, bursty_saved
    jr      t5
    .globl bursty_records
bursty_records:
    ld      a0, bursty_n
    ret
"""
SAY = """
#include <stdio.h>
long bursty_records(void);
__attribute__((destructor)) static void say(void)
{
    fprintf(stderr, "bursty: %ld records\\n", bursty_records());
}
"""


class Function:
    """One function of the assembly, and its two copies."""

    def __init__(self, name, lines, profile):
        self.name, self.lines, self.profile = name, lines, profile
        self.labels = {match.group(1) for match in map(LABEL.match, lines) if match}
        self.points = 0

    def check(self, point, copy):
        """Count an event; `copy` is "" or "_i". A frame that returns into the instrumented copy behind the end of the
        burst leaves it here."""
        place = f"{self.name}_{point}"
        leave = [f"\tbgtz\tt6,.Lat_{place}", f"\tj\t.Lstub_{place}"] if copy else [f"\tblez\tt6,.Lstub_{place}"]
        return ["\tlw\tt6,bursty_left", "\taddi\tt6,t6,-1", "\tsw\tt6,bursty_left,t4", *leave, f".Lat_{place}{copy}:"]

    def stub(self, point):
        return [f".Lstub_{self.name}_{point}:", "\t.option push", "\t.option norvc", "\tjal\tt5,bursty_event",
                f"\tj\t.Lat_{self.name}_{point}_i", f"\tj\t.Lat_{self.name}_{point}", "\t.option pop"]

    def record(self, line):
        """What the instrumented copy does in front of the line, for the profile."""
        access, call, indirect = ACCESS.match(line), CALL.match(line), INDIRECT.match(line)
        if self.profile == "references" and access:
            return [f"\taddi\tt6,{access.group(2)},{access.group(1) or 0}", "\tjal\tt5,bursty_record"]
        if self.profile == "calls" and call:
            return [f"\tlla\tt6,{call.group(1)}", "\tjal\tt5,bursty_record"]
        if self.profile == "calls" and indirect:
            return [f"\tmv\tt6,{indirect.group(1)}", "\tjal\tt5,bursty_record"]
        return []

    def record_event(self, label):
        return [f"\tlla\tt6,{label}", "\tjal\tt5,bursty_record"] if self.profile == "methods" else []

    def rename(self, line):
        return re.sub(r"\.L\w+", lambda m: m.group(0) + "_i" if m.group(0) in self.labels else m.group(0), line)

    def copy(self, instrumented):
        """The body with checks. Points are numbered alike in both copies."""
        suffix = "_i" if instrumented else ""
        out = self.check(0, suffix) + (self.record_event(self.name) if instrumented else [])
        seen, point = set(), 0
        for line in self.lines:
            if instrumented and line.strip().startswith(DROPPED):
                continue
            label, branch = LABEL.match(line), BRANCH.match(line)
            if label:
                seen.add(label.group(1))
            if branch and branch.group(2) in seen:
                point += 1
                out += self.check(point, suffix)
                if instrumented:
                    out += self.record_event(branch.group(2))
            if instrumented:
                out += self.record(line)
                line = self.rename(line)
            out.append(line)
        self.points = point + 1
        return out

    def both(self):
        out = self.copy(False) + self.copy(True)
        for point in range(self.points):
            out += self.stub(point)
        return out


def treat(text, profile):
    """The assembly with every function twice."""
    out, lines = [], text.splitlines()
    i = 0
    while i < len(lines):
        name = re.match(r"^\t\.type\t([\w.]+), @function$", lines[i])
        out.append(lines[i])
        i += 1
        if not name:
            continue
        end = next(k for k in range(i, len(lines)) if lines[k].startswith(f"\t.size\t{name.group(1)},"))
        start = next(k for k in range(i, end) if lines[k] == f"{name.group(1)}:")
        out += lines[i:start + 1]
        out += Function(name.group(1), lines[start + 1:end], profile).both()
        i = end
    return "\n".join(out) + "\n"


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    words.add_argument("source")
    words.add_argument("output")
    words.add_argument("--profile", choices=["calls", "methods", "references", "none"], default="calls")
    words.add_argument("--between", type=int, default=99)
    words.add_argument("--burst", type=int, default=1)
    words.add_argument("--control", action="store_true")
    asked = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        assembly = os.path.join(folder, "program.s")
        subprocess.run([GCC, *FLAGS, "-I", os.path.dirname(asked.source) or ".", "-S", "-o", assembly, asked.source],
                       check=True)
        files = [assembly]
        if not asked.control:
            with open(assembly, encoding="utf-8") as file:
                text = treat(file.read(), asked.profile)
            with open(assembly, "w", encoding="utf-8") as file:
                file.write(text)
            for name, content in (("runtime.s", RUNTIME.format(between=asked.between, burst=asked.burst)),
                                  ("say.c", SAY)):
                files.append(os.path.join(folder, name))
                with open(files[-1], "w", encoding="utf-8") as file:
                    file.write(content)
        subprocess.run([GCC, "-O2", "-static", "-o", asked.output, *files, "-lm"], check=True)


main()
