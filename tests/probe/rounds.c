/* rounds.c - `loop` in the block that sets rcx, 2000 times six rounds, and loops of one round. Exit status 0 if all rounds ran.
 *
 * No library, no loader. A burst may begin at the first round, at any other one, or between. */
__asm__(".globl _start\n"
        "_start:\n"
        "    xor %ebx, %ebx\n"
        "    mov $2000, %ebp\n"
        "1:  mov $6, %ecx\n"
        "2:  inc %ebx\n"
        "    loop 2b\n"
        "    mov $1, %ecx\n"
        "3:  inc %ebx\n"
        "    loop 3b\n"
        "    dec %ebp\n"
        "    jnz 1b\n"
        "    xor %edi, %edi\n"
        "    cmp $14000, %ebx\n"
        "    setne %dil\n"
        "    mov $60, %eax\n"
        "    syscall\n"
        "    .section .note.GNU-stack,\"\",@progbits\n");
