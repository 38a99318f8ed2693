#!/usr/bin/env python3
"""Random instruction sequences on the machine and on qemu-riscv64: the same registers and memory after each.

    sequences.py RIFFLE ALONE [SEED]

A program has many sequences of random instructions, full and compressed, with forward branches and memory
accesses around a base, aligned or not. Behind each sequence all registers, flags and part of memory are
written out. About ten seconds of programs; ten minutes with RIFFLE_TEST_LONG.
"""
import random
import struct
import sys
import time

import isa
import values

OUT, BASE, SP, TEMPORARY = 3, 4, 2, 1 # registers that no sequence may write, but for the last
WRITABLE = [0] + list(range(5, 32))
SEQUENCES, LENGTH, WORDS = 60, 50, 31 + 32 + 1 + 64
SKIPPED = {"ecall", "ebreak", "fence_i", "jal", "jalr", "csrrw", "csrrs", "csrrc", "csrrwi", "csrrsi", "csrrci"}


class Sequence:
    """Groups of instructions that a branch may jump over but not into."""

    def __init__(self, rng, table):
        self.rng, self.table = rng, table
        self.by_id = {row.id: row for row in table}
        self.groups = [self.group() for _ in range(LENGTH)]

    def group(self):
        rng = self.rng
        if rng.randrange(3) == 0:
            return self.compressed()
        row = rng.choice(self.table)
        fields = dict(rd=rng.choice(WRITABLE), rs1=rng.randrange(32), rs2=rng.randrange(32), rs3=rng.randrange(32),
                      rm=rng.choice([0, 1, 2, 3, 4, 7]), imm=rng.randrange(-2048, 2048))
        if row.has("D"):
            fields["rd"] = rng.randrange(32)
        if row.id in SKIPPED or row.has("u"):
            return [self.by_id["addi"].encode(**fields)]
        if row.kind == "ATOMIC" or row.id.startswith("lr_"):
            return self.atomic(row, fields)
        if row.kind in ("LOAD", "STORE"):
            fields["rs1"] = BASE
        if row.kind == "BRANCH":
            return [(row, fields, rng.randrange(1, 6))]
        return [row.encode(**fields)]

    def atomic(self, row, fields):
        place = self.by_id["addi"].encode(rd=TEMPORARY, rs1=BASE, imm=8 * self.rng.randrange(-32, 32))
        fields["rs1"] = TEMPORARY
        if fields["rs2"] == TEMPORARY: # an address of the program, which is the same, but is no use
            fields["rs2"] = 5
        before = []
        if row.id.startswith("sc_"):
            before = [self.by_id["lr_" + row.id[-1]].encode(rd=6, rs1=TEMPORARY)]
        return [place, *before, row.encode(**fields)]

    def compressed(self):
        """One of the compressed instructions, as ("half", bits); those on memory with their base set first."""
        rng = self.rng
        short, full, any5, imm6 = rng.randrange(8), rng.choice(WRITABLE[1:]), rng.randrange(32), rng.randrange(64)
        high, low = (imm6 >> 5) << 12, (imm6 & 31) << 2
        arithmetic = [0x8001 | short << 7 | high | low, 0x8401 | short << 7 | high | low,
                      0x8801 | short << 7 | high | low,
                      *(0x8c01 | short << 7 | k << 5 | rng.randrange(8) << 2 for k in range(4)),
                      0x9c01 | short << 7 | rng.randrange(8) << 2, 0x9c21 | short << 7 | rng.randrange(8) << 2]
        kind = rng.randrange(9)
        if kind == 0:
            return [("half", 0x0001 | full << 7 | high | low)]                       # c.addi
        if kind == 1:
            return [("half", 0x2001 | full << 7 | high | low)]                       # c.addiw
        if kind == 2:
            return [("half", rng.choice([0x4001, 0x6001]) | full << 7 | high | (low or 4))] # c.li, c.lui
        if kind == 3:
            return [("half", rng.choice(arithmetic))]
        if kind == 4:
            return [("half", 0x0002 | full << 7 | high | low)]                       # c.slli
        if kind == 5:
            return [("half", rng.choice([0x8002, 0x9002]) | full << 7 | rng.randrange(1, 32) << 2)] # c.mv, c.add
        if kind == 6:
            return [("half", 0x0000 | rng.randrange(1, 256) << 5 | short << 2)]      # c.addi4spn
        if kind == 7: # around sp, which is the base
            row = rng.choice([0x2002, 0x4002, 0x6002, 0xa002, 0xc002, 0xe002])
            return [("half", row | (rng.randrange(32) << 2 | full << 7 | high if row < 0x8000
                                    else rng.randrange(64) << 7 | any5 << 2))]
        place = self.by_id["addi"].encode(rd=9, rs1=BASE, imm=rng.randrange(-64, 64))
        row = rng.choice([0x2000, 0x4000, 0x6000, 0xa000, 0xc000, 0xe000])
        return [place, ("half", row | rng.randrange(8) << 10 | 1 << 7 | rng.randrange(4) << 5 | short << 2)]

    def text(self, name):
        """Lines of assembly; a branch goes to the start of a group behind it."""
        lines = []
        for i, group in enumerate(self.groups):
            lines.append(f"{name}_{i}:")
            for insn in group:
                if isinstance(insn, int):
                    lines.append(f".word {insn:#x}")
                elif insn[0] == "half":
                    lines.append(f".half {insn[1]:#x}")
                else:
                    row, fields, over = insn
                    target = min(i + over, LENGTH)
                    lines.append(f"{row.mnemonic} x{fields['rs1']},x{fields['rs2']},{name}_{target}")
        lines.append(f"{name}_{LENGTH}:")
        return lines


def registers(rng):
    """What the registers hold before a sequence: 31 integer, 32 floating point."""
    integers = [rng.choice(values.INTEGERS) if rng.randrange(3) == 0 else rng.getrandbits(64) for _ in range(31)]
    floats = [values.box(values.SINGLE.any(rng)) if rng.randrange(2) else values.DOUBLE.any(rng) for _ in range(32)]
    return integers + floats


def program_text(seed):
    rng, table = random.Random(seed), isa.rows()
    lines = [".globl _start", "_start:", f"la x{OUT},out", f"la x{BASE},data+4096", f"mv x{SP},x{BASE}"]
    data = []
    for k in range(SEQUENCES):
        data += [f"start{k}:", ".dword " + ",".join(hex(v) for v in registers(rng))]
        lines += [f"la x5,start{k}"]
        lines += [f"fld f{i},{8 * (31 + i)}(x5)" for i in range(32)]
        lines += [f"ld x{i},{8 * (i - 1)}(x5)" for i in range(6, 32)]
        lines += [f"ld x1,{8 * 4}(x5)", "ld x5,32(x5)", f"csrwi fcsr,{rng.randrange(32)}", f"csrwi frm,{rng.randrange(5)}"]
        lines += Sequence(rng, table).text(f"s{k}")
        lines += [f"sd x{i},{8 * (i - 1)}(x{OUT})" for i in range(1, 32) if i not in (OUT, BASE)]
        lines += [f"fsd f{i},{8 * (31 + i)}(x{OUT})" for i in range(32)]
        lines += ["csrr x5,fcsr", f"sd x5,{8 * 63}(x{OUT})"]
        for i in range(64):
            lines += [f"ld x5,{64 * i - 2048}(x{BASE})", f"sd x5,{8 * (64 + i)}(x{OUT})"]
        lines += [f"addi x{OUT},x{OUT},{8 * WORDS}"]
    size = 8 * WORDS * SEQUENCES
    lines += ["la a1,out", f"li a2,{size}", "li a0,1", "li a7,64", "ecall", "li a0,0", "li a7,93", "ecall",
              ".data", ".balign 8", *data, ".balign 4096", "data:",
              ".dword " + ",".join(str(rng.getrandbits(64)) for _ in range(1024)), ".bss", ".balign 4096", "out:",
              f".space {size}"]
    return "\n".join(lines) + "\n"


def first_difference(ours, theirs):
    for at in range(0, max(len(ours), len(theirs)), 8):
        if ours[at:at + 8] != theirs[at:at + 8]:
            word = at // 8 % WORDS
            what = f"x{word + 1}" if word < 31 else f"f{word - 31}" if word < 63 else \
                "fcsr" if word == 63 else f"memory {64 * (word - 64) - 2048}"
            sides = [f"{struct.unpack('<Q', side[at:at + 8].ljust(8, bytes(1)))[0]:#x}" for side in (ours, theirs)]
            return f"sequence {at // 8 // WORDS}: {what} is {sides[0]}, qemu has {sides[1]}"
    return None


def main():
    isa.require()
    tap, start = isa.Tap(), time.monotonic()
    seconds = 600 if isa.LONG else 10
    seeds = [int(sys.argv[3])] if len(sys.argv) > 3 else range(1, 100000)
    with isa.Work(sys.argv[1], sys.argv[2]) as work:
        for seed in seeds:
            path = work.assemble(program_text(seed), "sequences")
            theirs, ours = work.qemu(path), work.sim(path)
            said = first_difference(ours.stdout, theirs.stdout)
            ok = said is None and ours.returncode == theirs.returncode == 0 and len(ours.stdout) > 0
            tap.case(f"seed {seed}", ok, said or ours.stderr.decode() or f"status {ours.returncode}, {theirs.returncode}")
            if time.monotonic() - start > seconds:
                break
    tap.end()


main()
