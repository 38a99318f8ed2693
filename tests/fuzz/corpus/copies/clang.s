	.text
	.file	"tiny.c"
	.globl	f                               # -- Begin function f
	.p2align	4, 0x90
	.type	f,@function
f:                                      # @f
	.cfi_startproc
# %bb.0:
	pushq	%r15
	.cfi_def_cfa_offset 16
	pushq	%r14
	.cfi_def_cfa_offset 24
	pushq	%r13
	.cfi_def_cfa_offset 32
	pushq	%r12
	.cfi_def_cfa_offset 40
	pushq	%rbx
	.cfi_def_cfa_offset 48
	.cfi_offset %rbx, -48
	.cfi_offset %r12, -40
	.cfi_offset %r13, -32
	.cfi_offset %r14, -24
	.cfi_offset %r15, -16
	movl	%edi, %ebx
	movq	40(%rsp), %rdi
	callq	__tsan_func_entry@PLT
	testl	%ebx, %ebx
	jle	.LBB0_1
# %bb.2:
	movl	%ebx, %r12d
	xorl	%r14d, %r14d
	leaq	numbers(%rip), %rbx
	leaq	.LJTI0_0(%rip), %r13
	leaq	numbers+4(%rip), %r15
	jmp	.LBB0_3
.LBB0_9:                                #   in Loop: Header=BB0_3 Depth=1
	shll	$2, %r14d
	.p2align	4, 0x90
.LBB0_10:                               #   in Loop: Header=BB0_3 Depth=1
	addq	$4, %rbx
	addq	$-1, %r12
	je	.LBB0_11
.LBB0_3:                                # =>This Inner Loop Header: Depth=1
	movq	%rbx, %rdi
	callq	__tsan_read4@PLT
	movl	(%rbx), %eax
	addl	$-1, %eax
	cmpl	$4, %eax
	ja	.LBB0_11
# %bb.4:                                #   in Loop: Header=BB0_3 Depth=1
	movslq	(%r13,%rax,4), %rax
	addq	%r13, %rax
	jmpq	*%rax
.LBB0_5:                                #   in Loop: Header=BB0_3 Depth=1
	addl	$3, %r14d
	jmp	.LBB0_10
.LBB0_6:                                #   in Loop: Header=BB0_3 Depth=1
	leal	(%r14,%r14,4), %r14d
	jmp	.LBB0_10
.LBB0_7:                                #   in Loop: Header=BB0_3 Depth=1
	movq	%r15, %rdi
	callq	__tsan_read4@PLT
	subl	numbers+4(%rip), %r14d
	jmp	.LBB0_10
.LBB0_8:                                #   in Loop: Header=BB0_3 Depth=1
	xorl	$77, %r14d
	jmp	.LBB0_10
.LBB0_1:
	xorl	%r14d, %r14d
.LBB0_11:
	callq	__tsan_func_exit@PLT
	movl	%r14d, %eax
	popq	%rbx
	.cfi_def_cfa_offset 40
	popq	%r12
	.cfi_def_cfa_offset 32
	popq	%r13
	.cfi_def_cfa_offset 24
	popq	%r14
	.cfi_def_cfa_offset 16
	popq	%r15
	.cfi_def_cfa_offset 8
	retq
.Lfunc_end0:
	.size	f, .Lfunc_end0-f
	.cfi_endproc
	.section	.rodata,"a",@progbits
	.p2align	2
.LJTI0_0:
	.long	.LBB0_5-.LJTI0_0
	.long	.LBB0_6-.LJTI0_0
	.long	.LBB0_7-.LJTI0_0
	.long	.LBB0_8-.LJTI0_0
	.long	.LBB0_9-.LJTI0_0
                                        # -- End function
	.text
	.p2align	4, 0x90                         # -- Begin function tsan.module_ctor
	.type	tsan.module_ctor,@function
tsan.module_ctor:                       # @tsan.module_ctor
	.cfi_startproc
# %bb.0:
	pushq	%rax
	.cfi_def_cfa_offset 16
	callq	__tsan_init@PLT
	popq	%rax
	.cfi_def_cfa_offset 8
	retq
.Lfunc_end1:
	.size	tsan.module_ctor, .Lfunc_end1-tsan.module_ctor
	.cfi_endproc
                                        # -- End function
	.type	numbers,@object                 # @numbers
	.bss
	.globl	numbers
	.p2align	4
numbers:
	.zero	36
	.size	numbers, 36

	.section	.init_array.0,"aw",@init_array
	.p2align	3
	.quad	tsan.module_ctor
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
