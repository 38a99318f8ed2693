/* phases.c - a program with two phases: `early` is called 200,000 times, then `late` 2,000,000 times.
 *
 * No library, no loader: each call and each turn of a loop ends an interval, and there are no others. */
__asm__(".globl _start\n"
        "_start:\n"
        "    mov $200000, %ecx\n"
        "1:  call early\n"
        "    dec %ecx\n"
        "    jnz 1b\n"
        "    mov $2000000, %ecx\n"
        "2:  call late\n"
        "    dec %ecx\n"
        "    jnz 2b\n"
        "    mov $60, %eax\n"
        "    xor %edi, %edi\n"
        "    syscall\n"
        "early:\n"
        "    ret\n"
        "late:\n"
        "    ret\n"
        "    .section .note.GNU-stack,\"\",@progbits\n");
