/* intervals.c - a program whose sampling intervals are known to the event. No library, no loader: it begins here.
 *
 * ROUNDS rounds; each has three intervals:
 *
 *     load A; call leaf                           ends with the call
 *     load B; ret (a load, too); forward branch;
 *             jz backwards, never taken           ends with the branch, though it is not taken
 *     store; jnz backwards                        ends with the branch; the last one is not taken
 *
 * bursts.py has the same list. */
__asm__(".globl _start\n"
        "_start:\n"
        "    mov $3000, %ecx\n"
        "    lea place(%rip), %rsi\n"
        "again:\n"
        "    mov (%rsi), %rax\n"
        "    call leaf\n"
        "    test %ecx, %ecx\n"
        "    jnz 1f\n"
        "    nop\n"
        "1:  cmp $-1, %ecx\n"
        "    jz again\n"
        "    mov %rcx, 16(%rsi)\n"
        "    dec %ecx\n"
        "    jnz again\n"
        "    mov $60, %eax\n"
        "    xor %edi, %edi\n"
        "    syscall\n"
        "leaf:\n"
        "    mov 8(%rsi), %rax\n"
        "    ret\n"
        "    .bss\n"
        "place:\n"
        "    .skip 64\n"
        "    .section .note.GNU-stack,\"\",@progbits\n");
