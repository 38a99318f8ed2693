	.file	"tiny.c"
	.text
.Ltext0:
	.file 0 "/folder" "tiny.c"
	.globl	f
	.type	f, @function
f:
.LFB0:
	.file 1 "/folder"
	.loc 1 3 1
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
	pushq	%rbx
	.cfi_def_cfa_offset 40
	.cfi_offset 3, -40
	subq	$8, %rsp
	.cfi_def_cfa_offset 48
	movl	%edi, %ebp
	.loc 1 3 1
	movq	40(%rsp), %rdi
	call	__tsan_func_entry@PLT
.LBB2:
	.loc 1 5 23
	testl	%ebp, %ebp
	jle	.L11
	leaq	numbers(%rip), %rbx
	movslq	%ebp, %rbp
	leaq	(%rbx,%rbp,4), %r13
.LBE2:
	.loc 1 4 9
	movl	$0, %ebp
.LBB3:
	.loc 1 6 9
	leaq	.L4(%rip), %r12
	jmp	.L10
.L8:
	.loc 1 7 21
	addl	$3, %ebp
.L9:
	.loc 1 5 23 discriminator 2
	addq	$4, %rbx
	cmpq	%r13, %rbx
	je	.L2
.L10:
	.loc 1 6 24
	movq	%rbx, %rdi
	call	__tsan_read4@PLT
	.loc 1 6 9
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
.L7:
	.loc 1 8 21
	leal	0(%rbp,%rbp,4), %ebp
	.loc 1 8 27
	jmp	.L9
.L6:
	.loc 1 9 31
	leaq	4+numbers(%rip), %rdi
	call	__tsan_read4@PLT
	.loc 1 9 21
	subl	4+numbers(%rip), %ebp
	.loc 1 9 36
	jmp	.L9
.L5:
	.loc 1 10 21
	xorl	$77, %ebp
	.loc 1 10 28
	jmp	.L9
.L3:
	.loc 1 11 21
	sall	$2, %ebp
	.loc 1 11 28
	jmp	.L9
.L11:
.LBE3:
	.loc 1 4 9
	movl	$0, %ebp
.L2:
	call	__tsan_func_exit@PLT
	.loc 1 15 1
	movl	%ebp, %eax
	addq	$8, %rsp
	.cfi_def_cfa_offset 40
	popq	%rbx
	.cfi_def_cfa_offset 32
	popq	%rbp
	.cfi_def_cfa_offset 24
	popq	%r12
	.cfi_def_cfa_offset 16
	popq	%r13
	.cfi_def_cfa_offset 8
	ret
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
	.text
	.type	_sub_I_00099_0, @function
_sub_I_00099_0:
.LFB1:
	.cfi_startproc
	.loc 1 15 1
	subq	$8, %rsp
	.cfi_def_cfa_offset 16
	call	__tsan_init@PLT
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
.LFE1:
	.size	_sub_I_00099_0, .-_sub_I_00099_0
	.section	.init_array.00099,"aw"
	.align 8
	.quad	_sub_I_00099_0
	.text
.Letext0:
	.section	.debug_info,"",@progbits
.Ldebug_info0:
	.long	0x55
	.value	0x5
	.byte	0x1
	.byte	0x8
	.long	.Ldebug_abbrev0
	.uleb128 0x1
	.long	.LASF2
	.byte	0x1d
	.long	.LASF0
	.long	.LASF1
	.quad	.Ltext0
	.quad	.Letext0-.Ltext0
	.long	.Ldebug_line0
	.uleb128 0x2
	.long	.LASF3
	.byte	0x1
	.byte	0x1
	.byte	0x5
	.uleb128 0x9
	.byte	0x3
	.quad	numbers
	.uleb128 0x3
	.string	"f"
	.byte	0x1
	.byte	0x2
	.byte	0x5
	.quad	.LFB0
	.quad	.LFE0-.LFB0
	.uleb128 0x1
	.byte	0x9c
	.byte	0
	.section	.debug_abbrev,"",@progbits
.Ldebug_abbrev0:
	.uleb128 0x1
	.uleb128 0x11
	.byte	0x1
	.uleb128 0x25
	.uleb128 0xe
	.uleb128 0x13
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0x1f
	.uleb128 0x1b
	.uleb128 0x1f
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x10
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x2
	.uleb128 0x34
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x2
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0x3
	.uleb128 0x2e
	.byte	0
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7c
	.uleb128 0x19
	.byte	0
	.byte	0
	.byte	0
	.section	.debug_aranges,"",@progbits
	.long	0x2c
	.value	0x2
	.long	.Ldebug_info0
	.byte	0x8
	.byte	0
	.value	0
	.value	0
	.quad	.Ltext0
	.quad	.Letext0-.Ltext0
	.quad	0
	.quad	0
	.section	.debug_line,"",@progbits
.Ldebug_line0:
	.section	.debug_str,"MS",@progbits,1
.LASF2:
.LASF3:
	.string	"numbers"
	.section	.debug_line_str,"MS",@progbits,1
.LASF1:
	.string	"/folder"
.LASF0:
	.string	"/folder"
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
