/* library.c - what known.c loads and unloads three times: 7 loads, a return. */
void k_library(void *memory);
__asm__(".text\n.globl k_library\n.type k_library,@function\nk_library:\n"
        "mov $7, %ecx\n 1: mov (%rdi), %rax\n dec %ecx\n jnz 1b\n ret\n"
        ".size k_library,.-k_library\n");
