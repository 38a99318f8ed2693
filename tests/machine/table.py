#!/usr/bin/env python3
"""Every instruction of isa.def on edge cases and random values, on the machine and on qemu-riscv64.

    table.py RIFFLE ALONE

For each instruction, rounding mode and immediate there is a loop over a pool of operands that stores what
came out: the result, the flags, memory where it wrote. The bytes of both machines must be the same; where
they are not, the instruction and its operands are named.
"""
import random
import struct
import sys

import isa
import values

OUT, POOL, COUNT, DATA = "s0", "s1", "s2", "s3"
IMMEDIATES = [0, 1, -1, 2047, -2048, 1365]
ROUNDING = [(rm, None) for rm in range(5)] + [(7, frm) for frm in range(5)]
FENCES = {"fence", "fence_i"}
ELSEWHERE = {"ecall": "every program ends by it", "ebreak": "faults.py"}


class Program:
    """Assembly with the list of its cases: label, pool and how many words each operand gives."""

    def __init__(self):
        scale = 4 if isa.LONG else 1
        self.pools = {
            "integers": values.integer_triples(1, 100 * scale),
            "singles": values.fp_triples(values.SINGLE, 2, 300 * scale),
            "doubles": values.fp_triples(values.DOUBLE, 3, 300 * scale),
        }
        self.cases, self.code = [], []

    def case(self, label, pool, words, body):
        self.cases.append((label, pool, words))
        i, n = len(self.cases), len(self.pools[pool])
        self.code += [f"la {POOL},{pool}", f"li {COUNT},{n}", f"case{i}:", *body,
                      f"addi {OUT},{OUT},{8 * words}", f"addi {POOL},{POOL},24", f"addi {COUNT},{COUNT},-1",
                      f"bnez {COUNT},case{i}"]

    def text(self):
        size = sum(8 * words * len(self.pools[pool]) for _, pool, words in self.cases)
        lines = [".option norvc", ".globl _start", "_start:", f"la {OUT},out", f"la {DATA},data+4096",
                 *self.code, "la a1,out", f"sub a2,{OUT},a1", "li a0,1", "li a7,64", "ecall", "sub a0,a0,a2",
                 "snez a0,a0", "li a7,93", "ecall", ".data", ".balign 8"]
        for name, triples in self.pools.items():
            lines.append(f"{name}:")
            lines += [".dword " + ",".join(hex(v) for v in triple) for triple in triples]
        rng = random.Random(4)
        lines += [".balign 4096", "data:", ".dword " + ",".join(str(rng.getrandbits(64)) for _ in range(1024)),
                  ".bss", ".balign 4096", "out:", f".space {size + 8}"]
        return "\n".join(lines) + "\n"


def word(row, **fields):
    return f".word {row.encode(**fields):#x}"


def load_operands(row):
    lines = ["li a0,0x77", "fmv.d.x fa0,a0"]
    for at, letters, register in ((0, "sS", 11), (8, "tT", 12), (16, "R", 13)):
        for letter in letters:
            if letter in row.operands:
                load, file = ("fld", "f") if letter.isupper() else ("ld", "x")
                lines.append(f"{load} {file}{register},{at}({POOL})")
    return lines


def store_result(row):
    first = f"fsd fa0,0({OUT})" if row.has("D") else f"sd a0,0({OUT})"
    return [first, "csrr a3,fflags", f"sd a3,8({OUT})"]


def pool_of(row):
    if not row.has("STR"):
        return "integers"
    source = row.mnemonic.split(".")[-1]
    if row.mnemonic.startswith("fmv.x"):
        return "singles" if source == "w" else "doubles"
    return "singles" if source == "s" else "doubles"


def add_plain(program, row):
    """Registers in, register out: integer and floating point, each rounding mode, each immediate."""
    modes = ROUNDING if row.has("m") else [(0, None)]
    immediates = IMMEDIATES if row.has("j") else [0, 1, 31, 33, 63] if row.has(">") else [0, 1, 31] if row.has("<") \
        else [0, 0x1000, -0x1000, 0x7ffff000, -0x80000000] if row.has("u") else [0]
    for rm, frm in modes:
        for imm in immediates:
            setup = ["csrw fcsr,zero"] + ([f"csrwi frm,{frm}"] if frm is not None else [])
            body = load_operands(row) + setup + [word(row, rm=rm, imm=imm)] + store_result(row)
            program.case(f"{row.mnemonic} rm={rm} frm={frm} imm={imm}", pool_of(row), 2, body)
    if not row.has("D"):
        for rd, rs1, rs2 in ((11, 11, 12), (12, 11, 12), (10, 11, 11), (0, 11, 12)):
            result = [f"sd x{rd},0({OUT})"]
            body = load_operands(row) + [word(row, rm=0, rd=rd, rs1=rs1, rs2=rs2)] + result
            program.case(f"{row.mnemonic} x{rd},{rs1},{rs2}", pool_of(row), 1, body)


def add_memory(program, row):
    place = [f"ld a1,0({POOL})", "andi a1,a1,127", f"add a1,a1,{DATA}", f"ld a2,8({POOL})", "fmv.d.x fa2,a2"]
    for imm in IMMEDIATES:
        if row.kind == "LOAD":
            program.case(f"{row.mnemonic} imm={imm}", "integers", 2,
                         place + [word(row, imm=imm)] + store_result(row))
        else:
            program.case(f"{row.mnemonic} imm={imm}", "integers", 2,
                         place + [word(row, imm=imm), f"ld a0,{imm}(a1)", f"sd a0,0({OUT})",
                                  f"ld a0,{max(imm - 4, -2048)}(a1)", f"sd a0,8({OUT})"])


def add_atomic(program, row):
    place = [f"ld a1,0({POOL})", "andi a1,a1,120", f"add a1,a1,{DATA}", f"ld a2,8({POOL})"]
    result = [f"sd a0,0({OUT})", "ld a0,0(a1)", f"sd a0,8({OUT})"]
    befores = {"": []}
    if row.id.startswith("sc"):
        width = row.mnemonic[-1]
        befores = {" reserved": [f"lr.{width} a4,(a1)"], " alone": [],
                   " elsewhere": ["addi a3,a1,8", f"lr.{width} a4,(a3)"],
                   " twice": [f"lr.{width} a4,(a1)", f"sc.{width} a4,a2,(a1)"]}
    for label, before in befores.items():
        program.case(row.mnemonic + label, "integers", 2, place + before + [word(row)] + result)
    program.case(row.mnemonic + " rd=rs2", "integers", 2,
                 place + [word(row, rd=12), "mv a0,a2"] + result)


def add_branch(program, row):
    """Forwards over an instruction; backwards to one that was jumped over before."""
    body = [f"ld a1,0({POOL})", f"ld a2,8({POOL})", "li a0,0", word(row, imm=8), "addi a0,a0,1",
            "j 3f", "2: addi a0,a0,2", "j 4f", "3:", word(row, imm=-8), "addi a0,a0,4", "4:", f"sd a0,0({OUT})"]
    program.case(row.mnemonic, "integers", 1, body)


def add_jump(program, row):
    if row.id == "jal":
        for rd in (0, 1, 10):
            body = ["li a0,0", "li ra,0", word(row, rd=rd, imm=8), "addi a0,a0,1", "xor a0,a0,ra",
                    f"sd a0,0({OUT})"]
            program.case(f"jal x{rd}", "integers", 1, body)
        return
    for imm in IMMEDIATES:
        for rd, rs1 in ((0, 11), (1, 11), (11, 11), (10, 5)):
            body = ["li a0,0", "li ra,0", f"la x{rs1},9f", f"li a2,{imm}", f"sub x{rs1},x{rs1},a2",
                    word(row, rd=rd, rs1=rs1, imm=imm), "addi a0,a0,1", "9:", "xor a0,a0,ra", "xor a0,a0,a1",
                    f"sd a0,0({OUT})"]
            program.case(f"jalr x{rd},{imm}(x{rs1})", "integers", 1, body)


def add_csr(program, row):
    for csr in (1, 2, 3):
        for rs1 in (11, 0):
            body = [f"ld a1,0({POOL})", f"ld a2,8({POOL})", "csrw fcsr,a2",
                    word(row, csr=csr, rs1=rs1, imm=rs1 + 10), f"sd a0,0({OUT})", "csrr a3,fcsr", f"sd a3,8({OUT})",
                    "csrw fcsr,zero"]
            program.case(f"{row.mnemonic} csr={csr} rs1={rs1}", "integers", 2, body)
    if row.id == "csrrs": # the counters go forward
        for csr in (0xc00, 0xc01, 0xc02):
            body = [word(row, csr=csr, rs1=0, rd=13), word(row, csr=csr, rs1=0, rd=14), "sltu a0,a4,a3",
                    f"sd a0,0({OUT})"]
            program.case(f"csrrs counter {csr:#x}", "integers", 1, body)


def build():
    program = Program()
    for row in isa.rows():
        if row.id in ELSEWHERE:
            continue
        if row.id in FENCES:
            program.case(row.mnemonic, "integers", 1, [word(row), f"sd {POOL},0({OUT})"])
        elif row.kind == "BRANCH":
            add_branch(program, row)
        elif row.kind == "JUMP":
            add_jump(program, row)
        elif row.kind == "ATOMIC" or row.id.startswith("lr_"):
            add_atomic(program, row)
        elif row.kind in ("LOAD", "STORE"):
            add_memory(program, row)
        elif row.has("E"):
            add_csr(program, row)
        else:
            add_plain(program, row)
    return program


def differences(program, ours, theirs):
    """What differs, a list of sentences a case."""
    at = 0
    for label, pool, words in program.cases:
        found = []
        for operands in program.pools[pool]:
            mine, right = ours[at:at + 8 * words], theirs[at:at + 8 * words]
            at += 8 * words
            if mine != right and len(found) < 3:
                numbers = [[f"{v:#x}" for v in struct.unpack(f"<{words}Q", side)]
                           for side in (mine.ljust(8 * words, b"\0"), right.ljust(8 * words, b"\0"))]
                found.append(f"{label} on {[hex(v) for v in operands]}: {numbers[0]}, qemu has {numbers[1]}")
        yield label, found


def main():
    isa.require()
    tap, program = isa.Tap(), build()
    with isa.Work(sys.argv[1], sys.argv[2]) as work:
        path = work.assemble(program.text(), "table")
        theirs, ours = work.qemu(path), work.sim(path)
        tap.case("both end well", ours.returncode == 0 and theirs.returncode == 0, ours.stderr.decode())
        tap.case("they print as much", len(ours.stdout) == len(theirs.stdout) > 1 << 20,
                 f"{len(ours.stdout)} bytes, qemu {len(theirs.stdout)}")
        for label, found in differences(program, ours.stdout, theirs.stdout):
            tap.case(label, not found, *found)
    tap.end()


main()
