"""isa - the table of src/machine/isa/isa.def for tests: rows, encodings, and both machines to run code on.

Every test of this folder makes RISC-V programs, runs them under riffle sim and under qemu-riscv64, and
wants the same bytes from both.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "../../src/machine/isa/isa.def")
GCC, QEMU, OBJDUMP = "riscv64-linux-gnu-gcc", "qemu-riscv64", "riscv64-linux-gnu-objdump"
os.environ["COLUMNS"] = "9999"  # reports are not folded, so that a test finds a line whole
LONG = os.environ.get("RIFFLE_TEST_LONG", "") not in ("", "0")

ROW = re.compile(r'^INSN\((\w+), "([^"]+)", (0x[0-9a-f]+), (0x[0-9a-f]+), (\w+), "([^"]*)"\)', re.M)


class Row:
    """One instruction of the table."""

    def __init__(self, match):
        self.id, self.mnemonic, bits, mask, self.kind, self.operands = match.groups()
        self.match, self.mask = int(bits, 16), int(mask, 16)

    def has(self, letters):
        return any(letter in self.operands for letter in letters)

    def encode(self, rd=10, rs1=11, rs2=12, rs3=13, imm=0, rm=7, csr=0):
        """The encoded instruction. Operands that it does not have are ignored."""
        word = self.match
        for letter in self.operands:
            word |= encode_operand(letter, rd, rs1, rs2, rs3, imm, rm, csr)
        return word & 0xffffffff


def encode_operand(letter, rd, rs1, rs2, rs3, imm, rm, csr):
    return {
        "d": rd << 7, "D": rd << 7, "s": rs1 << 15, "S": rs1 << 15, "t": rs2 << 20, "T": rs2 << 20,
        "R": rs3 << 27, "m": rm << 12, "j": (imm & 0xfff) << 20, "o": (imm & 0xfff) << 20,
        "q": (imm >> 5 & 127) << 25 | (imm & 31) << 7,
        "p": (imm >> 12 & 1) << 31 | (imm >> 5 & 63) << 25 | (imm >> 1 & 15) << 8 | (imm >> 11 & 1) << 7,
        "a": (imm >> 20 & 1) << 31 | (imm >> 1 & 1023) << 21 | (imm >> 11 & 1) << 20 | (imm >> 12 & 255) << 12,
        "u": imm & 0xfffff000, ">": (imm & 63) << 20, "<": (imm & 31) << 20,
        "E": csr << 20, "Z": (imm & 31) << 15,
    }.get(letter, 0)


def rows():
    with open(TABLE) as file:
        found = [Row(match) for match in ROW.finditer(file.read())]
    assert len(found) > 150, "isa.def does not read as it used to"
    return found


# ---- running ----

class Work:
    """A folder for one test, and the program under test. `alone` starts qemu, where it sees no other process."""

    def __init__(self, riffle, alone):
        self.riffle, self.alone = os.path.abspath(riffle), os.path.abspath(alone)
        self.folder = tempfile.mkdtemp(prefix="riffle-machine-")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def assemble(self, text, name="a", options=()):
        """A static program without a C library from assembly; its path."""
        source, program = self.path(name + ".S"), self.path(name + ".rv64")
        with open(source, "w") as file:
            file.write(text)
        subprocess.run([GCC, "-nostdlib", "-static", "-march=rv64gc", "-mabi=lp64d", "-fno-pie", "-no-pie",
                        "-Wl,--no-relax", *options, "-o", program, source], check=True)
        return program

    def sim(self, program, *arguments, options=("--functional", "-q"), seconds=60, stdin=None):
        return subprocess.run([self.riffle, "sim", "--details", *options, "--", program, *arguments],
                              capture_output=True, timeout=seconds, input=stdin)

    def qemu(self, program, *arguments, seconds=60, stdin=None):
        return subprocess.run([self.alone, QEMU, program, *arguments], capture_output=True, timeout=seconds, input=stdin)


# ---- TAP ----

class Tap:
    """Numbered results on stdout."""

    def __init__(self):
        self.n = self.failed = 0

    def case(self, name, ok, *words):
        self.n += 1
        self.failed += not ok
        for word in words if not ok else ():
            print(f"# {word}")
        print(f"{'ok' if ok else 'not ok'} {self.n} - {name}", flush=True)

    def end(self):
        print(f"1..{self.n}")
        sys.exit(self.failed > 0 or self.n == 0)


def require(*tools):
    """Skip the test, and say why, when a program that it needs is not installed."""
    for tool in tools or (GCC, QEMU):
        if shutil.which(tool) is None:
            print(f"1..0 # SKIP {tool} is not installed")
            sys.exit(0)
