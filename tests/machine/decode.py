#!/usr/bin/env python3
"""The decoder against binutils: every compressed encoding, and every row of isa.def with random operands.

    decode.py DISASSEMBLE

A compressed instruction and the full one that we say it stands for must read the same in objdump, and we
must call illegal what objdump cannot read. Full instructions must print as objdump prints them.
"""
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

import isa

LINE = re.compile(r"^\s*([0-9a-f]+):\s+[0-9a-f]+\s+(.*)$")
# objdump has other names for some of what a compressed one stands for.
SAME = [(re.compile(r"^mv (\w+),(\w+)$"), r"add \1,zero,\2"), (re.compile(r"^li (\w+),(.*)$"), r"addi \1,zero,\2"),
        (re.compile(r"^(?:c\.)?nop.*$"), "addi zero,zero,0"), (re.compile(r"^ret$"), "jr ra"),
        (re.compile(r"^sext\.w (\w+),(\w+)$"), r"addiw \1,\2,0"), (re.compile(r"^neg (\w+),(\w+)$"), r"sub \1,zero,\2"),
        (re.compile(r"^add (\w+),\1,0$"), r"add \1,zero,\1"), (re.compile(r"^zext\.b (\w+),(\w+)$"), r"andi \1,\2,255"), (re.compile(r"^not (\w+),(\w+)$"), r"xori \1,\2,-1")]

EXACT = {"fcvt.d.w", "fcvt.d.wu", "fcvt.d.s"} # objdump knows their rounding mode as 0 alone, and does not say it


def objdump(data, options=()):
    """Texts by address."""
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(data)
        file.flush()
        out = subprocess.run([isa.OBJDUMP, "-D", "-z", "-b", "binary", "-m", "riscv:rv64", *options, file.name],
                             capture_output=True, text=True, check=True).stdout
    texts = {}
    for line in out.split("\n"):
        match = LINE.match(line)
        if match:
            texts[int(match.group(1), 16)] = match.group(2).split("#")[0].split("<")[0].strip().replace("\t", " ")
    return texts


def canonical(text):
    for pattern, name in SAME:
        text = pattern.sub(name, text)
    match = re.match(r"^addi (\w+),zero,(-?\d+)$", text)
    return f"addi {match.group(1)},zero,{int(match.group(2))}" if match else text


def is_unreadable(text):
    return text.startswith((".2byte", ".4byte", ".short", ".word", "unimp", "c.unimp", "0x", ".insn"))


def is_hint(full):
    """It computes into x0, or shifts by nothing: objdump has names of its own for these."""
    computes = full & 0x7f in (0x13, 0x33, 0x1b, 0x3b, 0x37)
    return computes and (full >> 7 & 31 == 0 or (full & 0x307f == 0x1013 and full >> 20 & 63 == 0))


def compare_halves(tap, tool):
    out = subprocess.run([tool, "halves"], capture_output=True, text=True, check=True).stdout
    pairs = [(int(line.split()[0], 16), int(line.split()[1], 16)) for line in out.splitlines()]
    # Each stands alone in eight bytes, so that what is unreadable takes nothing with it; both at the same
    # address, so that targets are the same.
    halves = objdump(b"".join(struct.pack("<HHI", half, 1, 0x00010001) for half, _ in pairs))
    fulls = objdump(b"".join(struct.pack("<II", full or 1, 0x00010001) for _, full in pairs))
    wrong, illegal = [], 0
    for i, (half, full) in enumerate(pairs):
        theirs, ours = canonical(halves.get(8 * i, "")), canonical(fulls.get(8 * i, ""))
        illegal += full == 0
        if half == 0x6101: # c.addi16sp of nothing: reserved, says the manual; objdump reads it
            wrong += [] if full == 0 else ["0x6101 is reserved"]
            continue
        if is_hint(full) and not is_unreadable(theirs):
            continue
        if is_unreadable(theirs) != (full == 0) or (full != 0 and theirs != ours):
            wrong.append(f"{half:#06x} is '{theirs}', we say '{ours if full else 'illegal'}'")
    tap.case("every compressed encoding stands for what objdump reads", not wrong, *wrong[:20], f"{len(wrong)} in all")
    tap.case("there are legal and illegal ones", 0 < illegal < len(pairs) // 4, f"{illegal} of {len(pairs)}")


def compare_words(tap, tool):
    rng = random.Random(1)
    words, labels = [], []
    for row in isa.rows():
        for _ in range(40):
            fields = dict(rd=rng.randrange(32), rs1=rng.randrange(32), rs2=rng.randrange(32), rs3=rng.randrange(32),
                          rm=0 if row.mnemonic in EXACT else rng.choice([0, 1, 2, 3, 4, 7]),
                          imm=rng.getrandbits(32) & ~1, csr=0x7c0)
            words.append(row.encode(**fields) | (0x0ff00000 if row.id == "fence" else 0))
            labels.append(row.mnemonic)
    data = struct.pack(f"<{len(words)}I", *words)
    theirs = objdump(data, ("-M", "no-aliases"))
    ours = subprocess.run([tool, "words"], input=data, capture_output=True, check=True).stdout.decode().splitlines()
    wrong = {}
    for i, (mine, label) in enumerate(zip(ours, labels)):
        right = re.sub(r"\((\w+)\)", r"(\1)", theirs[4 * i])
        mine = mine.replace("0(", "(") if label.split(".")[0] in ("lr", "sc") or label.startswith("amo") else mine
        if label == "fence":
            right = right.split()[0]
        if label in EXACT:
            mine = mine.removesuffix(",rne")
        if mine != right:
            wrong.setdefault(label, f"{words[i]:#010x} is '{right}', we print '{mine}'")
    for label in dict.fromkeys(labels):
        tap.case(f"prints {label}", label not in wrong, wrong.get(label))


def main():
    isa.require(isa.OBJDUMP)
    tap, tool = isa.Tap(), os.path.abspath(sys.argv[1])
    compare_halves(tap, tool)
    compare_words(tap, tool)
    tap.end()


main()
