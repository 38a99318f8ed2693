	.file	"tiny.c"
	.text
	.p2align 4
	.globl	f
	.type	f, @function
f:
.LFB0:
	.cfi_startproc
	pushq	%r13
	.cfi_def_cfa_offset 16
	.cfi_offset 13, -16
	pushq	%r12
	.cfi_def_cfa_offset 24
	.cfi_offset 12, -24
	pushq	%rbp
	.cfi_def_cfa_offset 32
	.cfi_offset 6, -32
	movslq	%edi, %rbp
	pushq	%rbx
	.cfi_def_cfa_offset 40
	.cfi_offset 3, -40
	subq	$8, %rsp
	.cfi_def_cfa_offset 48
	movq	40(%rsp), %rdi
	call	__tsan_func_entry@PLT
	testl	%ebp, %ebp
	jle	.L11
	leaq	numbers(%rip), %rbx
	leaq	.L4(%rip), %r12
	leaq	(%rbx,%rbp,4), %r13
	xorl	%ebp, %ebp
.L10:
	movq	%rbx, %rdi
	call	__tsan_read4@PLT
	cmpl	$5, (%rbx)
	ja	.L2
	movl	(%rbx), %eax
	movslq	(%r12,%rax,4), %rax
	addq	%r12, %rax
	jmp	*%rax
	.section	.rodata
	.align 4
	.align 4
.L4:
	.long	.L2-.L4
	.long	.L8-.L4
	.long	.L7-.L4
	.long	.L6-.L4
	.long	.L5-.L4
	.long	.L3-.L4
	.text
	.p2align 4,,10
	.p2align 3
.L3:
	sall	$2, %ebp
.L9:
	addq	$4, %rbx
	cmpq	%r13, %rbx
	jne	.L10
.L2:
	call	__tsan_func_exit@PLT
	addq	$8, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 40
	movl	%ebp, %eax
	popq	%rbx
	.cfi_def_cfa_offset 32
	popq	%rbp
	.cfi_def_cfa_offset 24
	popq	%r12
	.cfi_def_cfa_offset 16
	popq	%r13
	.cfi_def_cfa_offset 8
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	.cfi_restore_state
	xorl	$77, %ebp
	jmp	.L9
	.p2align 4,,10
	.p2align 3
.L6:
	leaq	4+numbers(%rip), %rdi
	call	__tsan_read4@PLT
	subl	4+numbers(%rip), %ebp
	jmp	.L9
	.p2align 4,,10
	.p2align 3
.L7:
	leal	0(%rbp,%rbp,4), %ebp
	jmp	.L9
	.p2align 4,,10
	.p2align 3
.L8:
	addl	$3, %ebp
	jmp	.L9
	.p2align 4,,10
	.p2align 3
.L11:
	xorl	%ebp, %ebp
	jmp	.L2
	.cfi_endproc
.LFE0:
	.size	f, .-f
	.globl	numbers
	.bss
	.align 32
	.type	numbers, @object
	.size	numbers, 36
numbers:
	.zero	36
	.section	.text.startup,"ax",@progbits
	.p2align 4
	.type	_sub_I_00099_0, @function
_sub_I_00099_0:
.LFB1:
	.cfi_startproc
	jmp	__tsan_init@PLT
	.cfi_endproc
.LFE1:
	.size	_sub_I_00099_0, .-_sub_I_00099_0
	.section	.init_array.00099,"aw"
	.align 8
	.quad	_sub_I_00099_0
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
