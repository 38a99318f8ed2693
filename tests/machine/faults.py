#!/usr/bin/env python3
"""Programs that do what they must not, and files that are no programs: a clear end, never a crash of ours.

    faults.py RIFFLE ALONE
"""
import os
import random
import subprocess
import sys

import isa

EXIT = "li a0,0\nli a7,93\necall\n"
# rt_sigaction(SIGSEGV, {handler, SA_NODEFER, no mask}, NULL, 8)
HANDLE = "addi sp,sp,-32\nli t0,{}\nsd t0,0(sp)\nli t0,0x40000000\nsd t0,8(sp)\nsd zero,16(sp)\nmv a1,sp\nli a0,11\n" \
         "li a2,0\nli a3,8\nli a7,134\necall\n"
# name, assembly, exit status, what stderr says; None: as qemu-riscv64 has it
CASES = [
    ("an illegal instruction", ".word 0xffffffff", 132, "an illegal instruction at pc 0x"),
    ("a compressed illegal instruction", ".half 0, 0", 132, "an illegal instruction at pc 0x"),
    ("a reserved rounding mode", ".word 0x02c5d553", 132, "an illegal instruction at pc 0x"),
    ("a reserved rounding mode in frm", "csrwi frm,5\nfadd.d fa0,fa1,fa2", 132, "an illegal instruction"),
    ("a reserved rounding mode of an exact conversion", "csrwi frm,7\n.word 0x4205f553", 132, "an illegal"),
    ("a write to a counter", "csrw cycle,a0", 132, "an illegal instruction at pc 0x"),
    ("a supervisor's register", "csrr a0,sstatus", 132, "an illegal instruction at pc 0x"),
    ("a breakpoint", "ebreak", 133, "a breakpoint at pc 0x"),
    ("a compressed breakpoint", "c.ebreak", 133, "a breakpoint at pc 0x"),
    ("a load from nowhere", "li a0,8\nld a1,0(a0)", 139, "a load from the wild address 0x8 at pc 0x"),
    ("a load from far away", "li a0,-8\nld a1,0(a0)", 139, "a load from the wild address 0xfffffffffffffff8"),
    ("a load across the end of the space", "li a0,0xfffffffd\nld a1,0(a0)", 139, "wild address 0xfffffffd"),
    ("a store into code", "la a0,_start\nsd a1,0(a0)", 139, "a store to the wild address 0x"),
    ("a store behind the data", "la a0,end\nlui a1,0x1000\nadd a0,a0,a1\nsb a1,0(a0)", 139, "a store to the wild"),
    ("an atomic that is not aligned", "la a0,data+1\namoadd.w a1,a1,(a0)", 139, "a store to the wild address"),
    ("a reserved load that is not aligned", "la a0,data+4\nlr.d a1,(a0)", 139, "a load from the wild address"),
    ("a jump into data", "la a0,data\njr a0", 139, "no code to execute at pc 0x"),
    ("a jump to nowhere", "jr zero", 139, "no code to execute at pc 0x0"),
    ("a jump far away", "li a0,-2\njr a0", 139, "no code to execute at pc 0xfffffffffffffffe"),
    ("code that runs over its end", "la a0,over\njr a0", 139, "no code to execute at pc 0x"),
    ("an unknown system call", "li a7,9999\necall\naddi a0,a0,38\nli a7,93\necall", 0,
     "system call 9999 is not implemented and returned ENOSYS"),
    ("a kill of itself", "li a1,6\nli a7,129\necall", 134, "ended: signal 6 (Aborted), at pc 0x"),
    ("a return from no signal", "li sp,16\nli a7,139\necall", 139, "no frame at its stack pointer, at pc 0x"),
    ("a handler that is not there", HANDLE.format(0x50) + "ld a0,0(zero)", 139, "no code to execute at pc 0x50"),
    ("a handler without a stack", HANDLE.format(0x10000) + "li sp,64\nld a0,0(zero)", 139, "wild address 0x0 at pc 0x"),
    ("a signal without a stack", HANDLE.format(0x10000) + "li sp,64\nli a0,0\nli a1,11\nli a7,129\necall", 139,
     "no room on the stack for the handler of a signal, at pc 0x"),
    ("system calls with wild buffers", """
        li s0,0
        .macro try number
        li a0,1
        li a1,-4096
        li a2,100
        li a3,-1
        li a4,-1
        li a5,-1
        li a7,\\number
        ecall
        .endm
        try 63
        try 64
        try 65
        try 66
        try 67
        try 68
        try 78
        try 79
        try 80
        try 56
        try 17
        try 98
        try 113
        try 129
        try 131
        try 132
        try 134
        try 135
        try 136
        try 153
        try 160
        try 165
        try 179
        try 214
        try 215
        try 216
        try 222
        try 226
        try 233
        try 261
        try 278
        try 435
        li a0,0
        li a7,93
        ecall""", 0, ""),
    ("brk to the end of the world", "li a0,-1\nli a7,214\necall\nli a0,-4096\nli a7,214\necall\n" + EXIT, 0, ""),
]
SAME_AS_QEMU = [
    ("code that changes itself", """
        la s0,patch
        li a0,0
        li s1,3
    1:  call patch
        lw a1,other
        sw a1,0(s0)
        fence.i
        addi s1,s1,-1
        bnez s1,1b
        la a1,out
        sd a0,0(a1)
        li a0,1
        li a2,8
        li a7,64
        ecall
        li a0,0
        li a7,93
        ecall
        .balign 8
    other: .word 0x06450513
        .balign 8
    patch: .word 0x00150513
        ret""", ("-Wl,-N,--no-warn-rwx-segments",)),
    ("mappings", """
        li s0,0
        .macro call number
        li a7,\\number
        ecall
        .endm
        li a0,0
        li a1,0x5000
        li a2,3
        li a3,0x22
        li a4,-1
        li a5,0
        call 222
        mv s1,a0
        li t0,77
        sd t0,0(s1)
        sd t0,1024(s1)
        mv a0,s1
        li a1,0x5000
        li a2,0x9000
        li a3,1
        li a4,0
        call 216
        mv s1,a0
        ld s2,0(s1)
        add s0,s0,s2
        lui t1,8
        add t1,t1,s1
        ld s2,0(t1)
        add s0,s0,s2
        mv a0,s1
        li a1,0x1000
        li a2,4
        call 233
        ld s2,0(s1)
        slli s0,s0,8
        add s0,s0,s2
        mv a0,s1
        li a1,0x9000
        call 215
        add s0,s0,a0
        mv a0,s1
        addi a0,a0,1
        li a1,0x1000
        call 215
        add s0,s0,a0
        mv a0,s1
        li a1,0x1000
        li a2,1
        call 226
        add s0,s0,a0
        la a1,out
        sd s0,0(a1)
        li a0,1
        li a2,8
        call 64
        li a0,0
        call 93""", ()),
]
TEXT = ".option nopic\n.globl _start\n_start:\n{}\n" + EXIT + ".section .over,\"ax\"\n.option norelax\n.balign 4096\n.space 4094\nover: .half 1\n" \
       ".data\n.balign 4096\ndata: .dword 1,2,3,4\nout: .dword 0\nend:\n"


def check_cases(tap, work):
    for name, code, status, said in CASES:
        program = work.assemble(TEXT.format(code), options=("-Wl,-z,separate-code",))
        for options in (("--functional", "-q"), ("--functional", "-f", "json", "-p", "code"), ("-q",)):
            done = work.sim(program, options=options)
            text = done.stderr.decode()
            tap.case(f"{name} {' '.join(options)}", done.returncode == status and said in text,
                     f"status {done.returncode}, stderr '{text[-300:]}'")


def check_same(tap, work):
    for name, code, options in SAME_AS_QEMU:
        program = work.assemble(TEXT.format(code), options=options)
        ours, theirs = work.sim(program), work.qemu(program)
        tap.case(f"{name} as in qemu", ours.returncode == theirs.returncode == 0 and ours.stdout == theirs.stdout != b"",
                 f"{ours.stdout.hex()} {theirs.stdout.hex()} {ours.stderr.decode()}")


def check_hostile(tap, work):
    """Cut and flipped files: whatever is left of them, riffle ends by itself."""
    program = work.assemble(TEXT.format(EXIT))
    rng = random.Random(1)
    with open(program, "rb") as file:
        whole = file.read()
    files = [whole[:n] for n in (1, 4, 16, 63, 64, 65, 119, 120, 200, 400, len(whole) // 2)]
    for _ in range(400 if isa.LONG else 60):
        flipped = bytearray(whole)
        for _ in range(rng.choice([1, 1, 2, 8])):
            flipped[rng.randrange(min(len(whole), 64 + 56 * 6))] ^= 1 << rng.randrange(8)
        files.append(bytes(flipped))
    wrong = []
    for i, content in enumerate(files):
        path = work.path("hostile.rv64")
        with open(path, "wb") as file:
            file.write(content)
        done = work.sim(path, options=("--functional", "-q", "--max-instructions", "1M"))
        clear = done.returncode in (0, 132, 133, 139) or (done.returncode == 126 and done.stderr.startswith(b"riffle: "))
        if not clear:
            wrong.append(f"file {i}: status {done.returncode}, {done.stderr.decode()[-200:]}")
    tap.case(f"{len(files)} hostile files end clearly", not wrong, *wrong)
    for name, path in (("a folder", work.folder), ("nothing", work.path("nosuch")), ("this machine's own", sys.argv[1])):
        done = work.sim(path)
        tap.case(f"{name} is no program", done.returncode == (127 if name == "nothing" else 126) and done.stderr.startswith(b"riffle: "),
                 done.stderr.decode())


def check_storm(tap, work):
    """System calls with wild arguments, thousands of them: an end of the guest's, and the same on both cores."""
    program = work.path("storm.rv64")
    subprocess.run([isa.GCC, "-O1", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-ffreestanding",
                    "-Wl,--no-relax", "-o", program, os.path.join(isa.HERE, "storm.c")], check=True)
    wrong = []
    for i in range(300 if isa.LONG else 25):
        runs = [work.sim(program, f"{i:08}", options=(*options, "-q", "--max-instructions", "1M"))
                for options in (("--functional",), ())]
        same = runs[0].stderr == runs[1].stderr and runs[0].returncode == runs[1].returncode
        if not same or not (runs[0].returncode == 0 or 129 <= runs[0].returncode <= 192):
            wrong += [f"seed {i:08}:", *(f"{run.returncode} {run.stderr.decode()[-300:]}" for run in runs)]
    tap.case("storms of system calls end clearly, and alike on both cores", not wrong, *wrong)


def make_root(work, name):
    """A root with ways that would lead out of it; the inode of the folder above."""
    root = work.path(f"{name}/root")
    os.makedirs(os.path.join(root, "a/b/c"))
    for link, target in (("a/up", ".."), ("up", "../.."), ("me", "/proc/self"), ("a/b/root", "/"), ("away", work.path(name))):
        os.symlink(target, os.path.join(root, link))
    with open(work.path(f"{name}/sentinel"), "w") as file:
        file.write("untouched")
    return root, str(os.stat(work.path(name)).st_ino)


def check_names(tap, work):
    """Wild names of files: nothing above the root is seen, made, moved or lost."""
    program, wrong, made = work.path("storm.rv64"), [], 0
    for i in range(200 if isa.LONG else 20):
        root, above = make_root(work, f"storm{i}")
        done = work.sim(program, f"{i:08}", above, options=("--functional", "-q", "--root", root, "--max-instructions", "20M"))
        outside = {name: os.path.isfile(work.path(f"storm{i}/{name}")) for name in os.listdir(work.path(f"storm{i}"))}
        with open(work.path(f"storm{i}/sentinel")) as file:
            kept = file.read() == "untouched"
        made += sum(len(folders) + len(files) for _, folders, files in os.walk(root))
        if done.returncode != 0 or not kept or outside != {"root": False, "sentinel": True}:
            wrong.append(f"seed {i:08}: {done.returncode}, {outside}, {done.stderr.decode()[-300:]}")
    tap.case("storms of names stay inside the root", not wrong and made > 0, made, *wrong)


def main():
    isa.require()
    tap = isa.Tap()
    with isa.Work(sys.argv[1], sys.argv[2]) as work:
        check_cases(tap, work)
        check_same(tap, work)
        check_hostile(tap, work)
        check_storm(tap, work)
        check_names(tap, work)
    tap.end()


main()
