#!/usr/bin/env python3
"""derived - random programs, whose events are the same to the last one whether words are derived from others or streamed.

    derived.py RIFFLE

Each program is a loop of random loads, stores and integer operations on data of its own, without any library: all of its
runs are equal. They are chained, so that words follow from others as often as in real programs; how many did is printed, and
must be a tenth of all events. 6 programs; 100 with RIFFLE_TEST_LONG=1. RIFFLE_TEST_SEED is the first one's seed.
"""
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import check, end, tell  # noqa: E402

RIFFLE = sys.argv[1]
PROGRAMS = 100 if os.environ.get("RIFFLE_TEST_LONG") else 6
SEED = int(os.environ.get("RIFFLE_TEST_SEED", "1"))
LAPS, OPERATIONS = 40, 150

# One changing word per class, so that all are merged; the second set has addresses instead of values.
SETS = [["load -> pc,value", "store -> pc,value", "alu -> pc,value", "branch,jump,call,return -> pc,target"],
        ["load,store -> pc,addr", "alu -> pc,value"]]

# rdi: the data; rbp: 0 to 63, from the lap; r12: the laps
REGISTERS = "rax rbx rcx rdx rsi r8 r9 r10 r11".split()
SUFFIX = {8: "b", 16: "w", 32: "l", 64: "q"}


def named(register, bits):
    if register[1:].isdigit():
        return "%" + register + {8: "b", 16: "w", 32: "d", 64: ""}[bits]
    short = register[1:]
    low = short[0] + "l" if short[1] == "x" else short + "l"
    return "%" + {8: low, 16: short, 32: "e" + short, 64: register}[bits]


class Program:
    """Most operations go on with the register of the one before."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.register = "rax"

    def one(self, *choices):
        return self.random.choice(choices)

    def next_register(self):
        if self.random.random() < 0.3:
            self.register = self.random.choice(REGISTERS)
        return self.register

    def number(self, bits):
        value = self.one(0, 1, -1, 2, 7, 15, 127, -128, 255, 0x7fff, -0x8000, 0x7fffffff, -0x80000000,
                         self.random.randrange(-1 << 31, 1 << 31))
        return f"${value if bits == 64 else value & (1 << bits) - 1}"

    def memory(self):
        return self.one(f"{self.random.randrange(200)}(%rdi)",
                        f"{self.random.randrange(64)}(%rdi,%rbp,{self.one(1, 2, 4, 8)})")

    def arithmetic(self, bits, register):
        name = self.one("add", "add", "sub", "and", "xor", "or", "adc")
        other = self.one(self.number(bits), self.number(bits), named(self.random.choice(REGISTERS), bits))
        return f"{name}{SUFFIX[bits]} {other}, {self.one(register, register, self.memory())}"

    def shift(self, bits, register):
        return f"{self.one('shl', 'shr', 'sar', 'rol')}{SUFFIX[bits]} ${self.random.randrange(bits)}, {register}"

    def alone(self, bits, register):
        return f"{self.one('neg', 'not', 'inc', 'dec')}{SUFFIX[bits]} {self.one(register, self.memory())}"

    def load(self, bits, register):
        return f"mov{SUFFIX[bits]} {self.memory()}, {register}"

    def store(self, bits, register):
        return f"mov{SUFFIX[bits]} {register}, {self.memory()}"

    def widen_load(self):
        narrow, wide = self.one((8, 32), (8, 64), (16, 32), (16, 64))
        return f"mov{self.one('s', 'z', 'z')}{SUFFIX[narrow]}{SUFFIX[wide]} {self.memory()}, {named(self.register, wide)}"

    def sum(self, bits, register):
        return f"{self.one('add', 'sub')}{SUFFIX[bits]} {self.number(bits)}, {register}"

    def widen(self, _, __):
        narrow, wide = self.one((8, 16), (8, 32), (8, 64), (16, 32), (16, 64), (32, 64))
        if narrow == 32:
            return f"movslq {self.one(named(self.register, 32), self.memory())}, %{self.register}"
        source = self.one(named(self.register, narrow), self.memory())
        return f"mov{self.one('s', 'z')}{SUFFIX[narrow]}{SUFFIX[wide]} {source}, {named(self.register, wide)}"

    def address(self, _, __):
        return f"leaq {self.random.randrange(-500, 500)}(,%{self.register},{self.one(1, 2, 4, 8)}), %{self.register}"

    def product(self, bits, _):
        bits = max(bits, 16)
        register = named(self.register, bits)
        return f"imul{SUFFIX[bits]} {self.number(bits)}, {self.one(register, self.memory())}, {register}"

    def exchange(self, bits, register):
        return f"{self.one('xadd', 'xchg')}{SUFFIX[bits]} {register}, {self.memory()}"

    def stack(self, _, __):
        return f"push %{self.register}; addq {self.number(8)}, (%rsp); pop %{self.register}"

    def choose(self, bits, register):
        return f"test{SUFFIX[bits]} {register}, {register}; cmov{self.one('z', 'ns', 'p')}q %rbp, %{self.register}"

    def chain(self):
        """What derive.c puts into one formula: from a load by a few steps of any width to a store of all of it."""
        self.next_register()
        bits = self.one(32, 64)
        steps = [self.one(self.widen_load(), self.load(bits, named(self.register, bits)))]
        for _ in range(self.random.randrange(1, 4)):
            bits = self.one(8, 16, 32, 32, 32, 64, 64)
            steps.append(self.one(self.sum, self.sum, self.sum, self.shift, self.product)(bits, named(self.register, bits)))
        return "; ".join([*steps, f"movq %{self.register}, {self.memory()}"])

    def operation(self):
        if self.random.random() < 0.3:
            return self.chain()
        bits = self.one(8, 16, 32, 64)
        register = named(self.next_register(), bits)
        how = self.one(*[self.arithmetic] * 4, *[self.load] * 3, *[self.store] * 3, self.shift, self.alone, self.widen, self.widen,
                       self.address, self.product, self.exchange, self.stack, self.choose)
        return how(bits, register)

    def text(self):
        lines = [".globl _start", ".data", "data:",
                 *(f".quad {self.random.getrandbits(64):#x}" for _ in range(128)), ".text",
                 "f: addq $1, %rax; movsbl 3(%rdi), %ebx; ret",
                 f"_start: lea data(%rip), %rdi; mov ${LAPS}, %r12d",
                 *(f"movabs ${self.random.getrandbits(64):#x}, %{register}" for register in REGISTERS),
                 "1: mov %r12d, %ebp; and $63, %ebp"]
        for _ in range(OPERATIONS):
            lines.append(self.operation())
            if self.random.random() < 0.03:
                lines.append("call f")
            if self.random.random() < 0.06:
                lines.append(f"j{self.one('z', 'c', 's', 'o', 'p')} 2f; {self.operation()}; 2:")
        return "\n".join([*lines, "dec %r12d; jnz 1b", "mov $60, %eax; xor %edi, %edi; syscall", ""])


def build(seed, folder):
    source, program = os.path.join(folder, "random.s"), os.path.join(folder, "random")
    with open(source, "w") as out:
        out.write(Program(seed).text())
    subprocess.run(["gcc", "-nostdlib", "-static", "-no-pie", source, "-o", program], check=True)
    return program


def profile(selectors, program, folder, *options):
    """The rows, all events, and how many of them were derived."""
    saved = os.path.join(folder, "a.rfp")
    lanes = [word for selector in selectors for word in ("-p", selector)]
    run = subprocess.run([RIFFLE, "run", "--details", "-n", "1", "-e", "exact", *lanes, *options, "-o", saved, "--", program],
                         capture_output=True, text=True, check=True)
    rows = subprocess.run([RIFFLE, "report", saved, "-f", "csv", "-n", "0"], capture_output=True, text=True, check=True).stdout
    if "produced = consumed + lost" not in run.stderr:
        return [run.stderr], 0, 0
    derived = re.search(r"^derived +(\d+)", run.stderr, re.M)
    events = re.search(r"^stream +(\d+)", run.stderr, re.M)
    return sorted(rows.splitlines()), int(events[1]), int(derived[1]) if derived else 0


def main():
    all_events = all_derived = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(SEED, SEED + PROGRAMS):
            program = build(seed, folder)
            complaints = []
            for selectors in SETS:
                told, events, derived = profile(selectors, program, folder)
                streamed, n_streamed, none = profile(selectors, program, folder, "--stream")
                others = sorted(set(told) ^ set(streamed))
                if told != streamed or events != n_streamed or none != 0:
                    complaints.append(f"{selectors}: {events} events, {n_streamed} streamed, {none} derived there; {others[:6]}")
                all_events += events
                all_derived += derived
            tell(f"seed {seed}: derived words are as streamed", complaints)
    check("a tenth of all events was derived", all_derived > all_events / 10, f"{all_derived} of {all_events}")
    print(f"# {all_derived} of {all_events} events were derived")
    end()


main()
