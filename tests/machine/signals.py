#!/usr/bin/env python3
"""Signals that a program sends itself or earns: the same words and the same end as under qemu, on both cores; and
a clear end for what would need a second thread.

    signals.py RIFFLE ALONE
"""
import os
import subprocess
import sys

import isa

OURS = (("--functional", "-q"), ("--functional", "-f", "csv", "-p", "code"), ("-q",))
HANDLED = ["raise", "fault", "repair", "block", "flags", "overflow"]
# arguments, signal that it ends by, its name
DEADLY = [(("abort",), 6, "Aborted"), (("caught-abort",), 6, "Aborted"), (("die", "15"), 15, "Terminated"),
          (("die", "9"), 9, "Killed"), (("die-by-raise", "11"), 11, "Segmentation fault"),
          (("die-by-raise", "8"), 8, "Floating point exception")]
# arguments, exit status, what stderr says
ALONE = [(("thread",), 159, "the program ended: it started a thread, and the simulated machine has but one, at pc 0x"),
         (("wait",), 137, "the program ended: it waits for another thread, and there is none (futex), at pc 0x"),
         (("fork",), 7, "system call 220 is not implemented and returned ENOSYS")]


def build(work):
    program = work.path("signals.rv64")
    subprocess.run([isa.GCC, "-O1", "-static", "-pthread", "-o", program, os.path.join(isa.HERE, "signals.c"), "-lm"],
                   check=True)
    return program


def check_handled(tap, work, program):
    for what in HANDLED:
        theirs = work.qemu(program, what)
        for options in OURS:
            ours = work.sim(program, what, options=options)
            tap.case(f"{what} {' '.join(options)} as in qemu",
                     ours.stdout == theirs.stdout != b"" and ours.returncode == theirs.returncode == 7,
                     theirs.stdout.decode(), ours.stdout.decode(), ours.stderr.decode()[-300:])


def check_deadly(tap, work, program):
    for arguments, number, name in DEADLY:
        theirs = work.qemu(program, *arguments)
        for options in OURS:
            ours = work.sim(program, *arguments, options=options)
            said = f"the program ended: signal {number} ({name}), at pc 0x"
            tap.case(f"{' '.join(arguments)} {' '.join(options)} ends as in qemu",
                     ours.returncode == 128 + number == 128 - theirs.returncode and ours.stdout == theirs.stdout
                     and said in ours.stderr.decode(),
                     f"{ours.returncode} and {theirs.returncode}, {ours.stdout} and {theirs.stdout}", ours.stderr)


def check_alone(tap, work, program):
    for arguments, status, said in ALONE:
        for options in OURS:
            done = work.sim(program, *arguments, options=options)
            tap.case(f"{arguments[0]} {' '.join(options)} ends clearly",
                     done.returncode == status and said in done.stderr.decode(), done.returncode, done.stderr)


def check_closed_pipe(tap, work, program):
    """Who writes into a pipe that nobody reads ends by SIGPIPE, and is reported on all the same."""
    with subprocess.Popen([work.riffle, "sim", "--functional", "-p", "calls", "--", program, "pour"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(100)
        process.stdout.close()
        said = process.stderr.read().decode()
        status = process.wait(timeout=60)
    tap.case("a pipe that nobody reads ends it", status == 141 and "signal 13 (Broken pipe)" in said
             and " calls " in said, status, said[-500:])


def check_counts(tap, work, program):
    """Handlers, frames and returns take the same instructions whether anybody looks or not."""
    words = [work.sim(program, "fault", options=options).stderr.split(b"riffle: ")[-1].split(b" instructions")[0]
             for options in (("--functional", "-p", "code"), ("-p", "code"), ("-p", "code", "--skip", "1M"))]
    tap.case("a fault takes the same instructions on both cores", len(set(words)) == 1 and int(words[0]) > 1000, words)


# Each access calls the host.
CALLS = """.on load, store goto start
.field pc = pc[31:0]
.index slot : 8
.base pcs = assoc[0 : 256]
.base counts = data[0 : 256]
.slot a = pcs, count = counts
.profile load,store -> pc
start:  slot = free(pcs)
        pcs[slot] = pc; counts[slot] = 1; interrupt
"""


def check_interrupts(tap, work, program):
    """A fault right behind an interrupt of the co-processor is the program's, not that of the host's handler."""
    microcode = work.path("calls.uc")
    with open(microcode, "w") as file:
        file.write(CALLS)
    for what in ("fault", "repair"):
        plain = work.sim(program, what)
        for options in (("--functional",), ("--functional", "-p", "stacks"), ("-p", "silent-stores")):
            ours = work.sim(program, what, options=(*options, "--coproc", microcode))
            if "no RISC-V compiler was found" in ours.stderr.decode():
                print("# the handlers of the co-processor are not there: faults behind its interrupts are not tried")
                return
            tap.case(f"{what} {' '.join(options)} beside a co-processor", ours.stdout == plain.stdout != b""
                     and ours.returncode == 7, ours.stdout.decode(), ours.stderr.decode()[-300:])


# The status is 1 for each of munmap, mprotect and mmap that may touch the memory above the stack.
REACH = """
.globl _start
_start: li s0, 0
        li s1, 0xf0000000
        li s2, 0x2000000
        mv a0, s1
        mv a1, s2
        li a7, 215
        ecall
        seqz a0, a0
        add s0, s0, a0
        mv a0, s1
        li a1, 4096
        li a2, 0
        li a7, 226
        ecall
        seqz a0, a0
        add s0, s0, a0
        mv a0, s1
        mv a1, s2
        li a2, 3
        li a3, 0x32
        li a4, -1
        li a5, 0
        li a7, 222
        ecall
        sgtz a0, a0
        add s0, s0, a0
        li t0, 1000
again:  ld t1, 0(sp)
        addi t0, t0, -1
        bnez t0, again
        mv a0, s0
        li a7, 93
        ecall
"""


def check_reach(tap, work):
    """The memory of the co-processor's handler is not the program's to give back."""
    program = work.assemble(REACH, "reach")
    microcode = work.path("calls.uc")
    for options in (("--functional",), ("--functional", "--coproc", microcode), ("--coproc", microcode)):
        done = work.sim(program, options=options)
        tap.case(f"nothing above the stack is unmapped {options[0]}", done.returncode in (0, 125)
                 and (done.returncode == 0 or b"no RISC-V compiler was found" in done.stderr), done.returncode,
                 done.stderr[-300:])


def check_strangers(tap, work, program):
    """A process that the guest names is out of its reach: in qemu by the namespace, in the machine always."""
    fenced = subprocess.run([work.alone, "--is-there"], check=False).returncode == 0
    if not fenced:
        print("# no pid namespace may be made here: qemu is not tried")
    for name, run in (("sim", work.sim), ("qemu", work.qemu))[:1 + fenced]:
        with subprocess.Popen(["sleep", "60"]) as stranger: # ours, so that nothing else is hit where the fence fails
            done = run(program, "kill", str(stranger.pid))
            alive = stranger.poll() is None
            stranger.kill()
        tap.case(f"{name} reaches no other process", alive and done.stdout == b"sent: -1\n", done.stdout, done.stderr)


def main():
    isa.require()
    tap = isa.Tap()
    with isa.Work(sys.argv[1], sys.argv[2]) as work:
        program = build(work)
        check_handled(tap, work, program)
        check_deadly(tap, work, program)
        check_alone(tap, work, program)
        check_closed_pipe(tap, work, program)
        check_counts(tap, work, program)
        check_interrupts(tap, work, program)
        check_reach(tap, work)
        check_strangers(tap, work, program)
    tap.end()


main()
