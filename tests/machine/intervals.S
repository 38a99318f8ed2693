# intervals.S - a program whose sampling intervals are known to the event.
#
# ROUNDS rounds; each has three intervals, which end with a call or a backward branch:
#
#     load; call leaf
#     load in leaf; return; forward branch; backward branch, never taken
#     store; backward branch; the last one is not taken
#
# productions.py has the same list.
    .globl _start
_start:
    li      s1, 3000
    lla     s0, place
again:
    ld      a0, 0(s0)
    jal     ra, leaf
    beqz    s1, 1f
    nop
1:  beq     s0, zero, again
    sd      s1, 16(s0)
    addi    s1, s1, -1
    bnez    s1, again
    li      a7, 93
    li      a0, 7
    ecall
leaf:
    ld      a0, 8(s0)
    ret
    .bss
    .balign 8
place:
    .skip 64
