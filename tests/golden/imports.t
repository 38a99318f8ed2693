# Streams of other programs, as records.
$ cat > lackey <<'END'
> ==42== Lackey, an example Valgrind tool
> I  04001090,3
>  L 1ffeffe7e0,8
> I  04001093,5
>  S 1ffeffe7d8,8
> I  04001090,3
>  M 1ffeffe7e0,4
> END
> riffle replay lackey -p code -p addresses -f csv
pc,count,lower,upper,bound,profile
0x4001090,2,2,2,exact,"insn -> pc"
0x4001093,1,1,1,exact,"insn -> pc"

pc,addr,count,lower,upper,bound,profile
0x4001090,0x1ffeffe7e0,3,3,3,exact,"load,store -> pc,addr"
0x4001093,0x1ffeffe7d8,1,1,1,exact,"load,store -> pc,addr"
# It has no values: nothing is made up.
$ riffle replay lackey -f csv
pc,count,lower,upper,bound,profile
0x4001090,2,2,2,exact,"insn -> pc"
0x4001093,1,1,1,exact,"insn -> pc"
$ riffle replay lackey -p values
riffle: this stream does not tell 'value', which 'load -> pc,value' needs
[1]
$ riffle replay lackey -p code -p silent-stores
riffle: this stream does not tell 'silent', which 'store silent==1 -> pc,addr' needs
[1]
$ printf 'I  04001090,3\n L xyz,8\n' | riffle replay - -p code -f csv
riffle: standard input: line 2: expected a line of lackey, such as ' L 1ffe,8', got ' L xyz,8'
[1]
$ printf 'I  04001090,3\n L 12,0\n' | riffle replay - -p code -f csv -n 1
riffle: standard input: line 2: expected a line of lackey, such as ' L 1ffe,8', got ' L 12,0'
[1]
$ valgrind --tool=lackey --trace-mem=yes true > real 2>&1; riffle replay real -p code -p 'load,store -> pc' -f csv -n 0 |
>   awk -F, '/insn/ {i += $2} /load/ {m += $2} END {print i, m}' > counted
> awk '/^I/ {i++} /^ [LS]/ {m++} /^ M/ {m += 2} END {print i, m}' real | cmp - counted && echo same
same
# drmemtrace: a branch goes where its thread is next, whatever other threads do in between.
$ cat > view <<'END'
> Output format:
> <--record#-> <--instr#->: <---tid---> <record details>
> ------------------------------------------------------------
>            1           0:     3264360 <marker: version 3>
>            2           1:     3264360 ifetch       3 byte(s) @ 0x7107 non-branch
>            3           1:     3264360 write        8 byte(s) @ 0xab8 by PC 0x7107
>            4           2:     3264360 ifetch       2 byte(s) @ 0x710a conditional jump
>            5           3:     3264361 ifetch       2 byte(s) @ 0x9000 conditional jump
>            6           4:     3264360 ifetch       5 byte(s) @ 0x7120 indirect call
>            7           5:     3264361 ifetch       5 byte(s) @ 0x9002 non-branch
>            8           6:     3264360 ifetch       1 byte(s) @ 0x7300 return
>            9           6:     3264360 read         8 byte(s) @ 0xab0 by PC 0x7300
>           10           7:     3264360 ifetch       4 byte(s) @ 0x7125 non-branch
> END
> riffle replay view -p 'branch,call,return -> pc,target' -p bias -p types -p 'load,store -> thread,addr' -f csv
pc,target,count,lower,upper,bound,profile
0x710a,0x7120,1,1,1,exact,"branch,call,return -> pc,target"
0x7120,0x7300,1,1,1,exact,"branch,call,return -> pc,target"
0x7300,0x7125,1,1,1,exact,"branch,call,return -> pc,target"
0x9000,0x9002,1,1,1,exact,"branch,call,return -> pc,target"

pc,taken,count,lower,upper,bound,profile
0x710a,0x1,1,1,1,exact,"branch -> pc,taken"
0x9000,0x0,1,1,1,exact,"branch -> pc,taken"

pc,target,count,lower,upper,bound,profile
0x7120,0x7300,1,1,1,exact,"call indirect==1 -> pc,target"

thread,addr,thread_name,count,lower,upper,bound,profile
1,0xab0,,1,1,1,exact,"load,store -> thread,addr"
1,0xab8,,1,1,1,exact,"load,store -> thread,addr"
# As it is printed where the trace has the instructions' bytes: mnemonics, long instructions in two lines, directions and
# targets where the trace knows them, signals between a branch and where it goes, the numbers of threads of older and newer versions.
$ cat > view2 <<'END'
> Output format:
> <--record#-> <--instr#->: <---tid---> <record details>
> ------------------------------------------------------------
>            1           0:        7001 <marker: version 5>
>            2           0:        7001 <marker: filetype 0xe40>
>            3           0:        7001 <marker: timestamp 13312570674112282>
>            4           0:        7001 <marker: tid 7001 on core 3>
>            5           1:        7001 ifetch       6 byte(s) @ 0x0000000000401000 0f 84 5b 01 00 00    jz     $0x0000000000401161 (untaken)
>            6           2:        7001 ifetch       8 byte(s) @ 0x0000000000401006 48 8b 04 25 00 20 40 mov    0x00402000[8byte] -> %rax
>            6           2:        7001                                             00
>            7           2:        7001 read         8 byte(s) @ 0x0000000000402000 by PC 0x0000000000401006
>            8           3:        7001 ifetch       2 byte(s) @ 0x000000000040100e 75 f0                jnz    $0x0000000000401000 (taken)
>            9           3:        7001 <marker: kernel xfer from 0x401000 to handler>
> ------------------------------------------------------------
>           10           4:        7001 ifetch       1 byte(s) @ 0x0000000000409000 c3                   ret    %rsp (%rsp)[8byte] -> %rsp (target 0x409100)
>           11           4:        7001 read         8 byte(s) @ 0x00007ffe00000010 by PC 0x0000000000409000
>           12           5:        7001 ifetch       2 byte(s) @ 0x0000000000409100 0f 05                syscall  -> %rcx %r11
>           13           5:        7001 <marker: syscall xfer from 0x409102>
>           14           6:        7001 ifetch       5 byte(s) @ 0x0000000000401000 e8 da 01 00 00       call   $0x00000000004011df %rsp -> %rsp 0xfffffff8(%rsp)[8byte]
>           15           6:        7001 write        8 byte(s) @ 0x00007ffe00000008 by PC 0x0000000000401000
>           16           7:        7001 ifetch       6 byte(s) @ 0x00000000004011df ff 15 00 10 00 00    call   <rel> 0x00000000004021e5[8byte] %rsp -> %rsp 0xfffffff8(%rsp)[8byte] (target 0x405000)
>           17           8:        7001 ifetch       4 byte(s) @ 0x0000000000405000 0f 18 0a             prefetcht0 (%rdx)[1byte]
>           18           8:        7001 pref-r-L1    1 byte(s) @ 0x0000000000405800 by PC 0x0000000000405000
>           19           9:        7001 ifetch       3 byte(s) @ 0x0000000000405004 f2 ff e0             bnd jmp %rax
>           20          10:        7001 ifetch       5 byte(s) @ 0x0000000000406000 e9 fb 0f 00 00       jmp    $0x0000000000407000
>           21          11:        7001 ifetch       1 byte(s) @ 0x0000000000407000 90                   nop
>           22          11:        7001 <thread 7001 exited>
> View tool results:
>              11 : total instructions
> END
> riffle replay view2 -p code -p 'branch,jump,call,return -> pc,target' -p bias -p 'call,jump indirect==1 -> pc,target' -p 'load,store -> pc,addr' -f csv | cut -d, -f1-3
pc,count,lower
0x401000,2,2
0x401006,1,1
0x40100e,1,1
0x4011df,1,1
0x405000,1,1
0x405004,1,1
0x406000,1,1
0x407000,1,1
0x409000,1,1
0x409100,1,1

pc,target,count
0x401000,0x401006,1
0x401000,0x4011df,1
0x40100e,0x401000,1
0x4011df,0x405000,1
0x405004,0x406000,1
0x406000,0x407000,1
0x409000,0x409100,1

pc,taken,count
0x401000,0x0,1
0x40100e,0x1,1

pc,target,count
0x4011df,0x405000,1
0x405004,0x406000,1

pc,addr,count
0x401000,0x7ffe00000008,1
0x401006,0x402000,1
0x409000,0x7ffe00000010,1
$ cat > view3 <<'END'
> Output format:
> <record#>: T<tid> <record details>
> ------------------------------------------------------------
>         1: T7001 <marker: version 4>
>         2: T7001 ifetch       4 byte(s) @ 0x0000000000400510 340001a0   cbz    $0x0000000000400544 %w0
>         3: T7002 ifetch       4 byte(s) @ 0x0000000000400600 54000041   b.ne   $0x0000000000400608
>         4: T7001 ifetch       4 byte(s) @ 0x0000000000400544 94000002   bl     $0x000000000040054c -> %x30
>         5: T7001 ifetch       4 byte(s) @ 0x000000000040054c d63f0060   blr    %x3 -> %x30
>         6: T7002 ifetch       4 byte(s) @ 0x0000000000400604 d65f03c0   ret    %x30
>         7: T7001 ifetch       4 byte(s) @ 0x0000000000400700 d503201f   nop
>        10: W1.T7002 ifetch       4 byte(s) @ 0x0000000000400800 d503201f   nop
> END
> riffle replay view3 -p 'branch,jump,call,return -> pc,target' -p bias -p types -p 'insn -> thread' -f csv | cut -d, -f1-3
pc,target,count
0x400510,0x400544,1
0x400544,0x40054c,1
0x40054c,0x400700,1
0x400600,0x400604,1

pc,taken,count
0x400510,0x1,1
0x400600,0x0,1

pc,target,count
0x40054c,0x400700,1

thread,thread_name,count
1,,4
2,,2
3,,1
$ head -6 view | sed 's/write .*/scribble/' | riffle replay - -p code -f csv
riffle: standard input: line 6: expected ifetch, read, write or a marker, got '           3           1:     3264360 scribble'
[1]
# perf script: samples, stacks, branches.
$ cat > script <<'END'
> gzip  4242/4243 [001] 12.345678:     100003 cycles:u:  55d0a1 deflate+0x21 (/usr/bin/gzip)
> my program  4242 12.345679:     50000 cycles:u:
> 	          55d0a1 deflate+0x21 (/usr/bin/gzip)
> 	          55c001 main+0x51 (/usr/bin/gzip)
>
> gzip  4242 12.345680:  1 branches:u:  0x55d0a1/0x55d100/P/-/-/0  0x55d000/0x55d090/M/-/-/3/COND 0x55c005/0x55d000/P/-/-/1/CALL
> END
> riffle replay --from perf script -p code -p cycles -p edges -p calls -p 'frame -> pc' -p mispredicts -f csv
pc,count,lower,upper,bound,profile
0x55d0a1,2,2,2,exact,"insn -> pc"

pc,count,lower,upper,bound,profile
0x55d0a1,150003,150003,150003,exact,"insn -> pc * cycles"

pc,target,count,lower,upper,bound,profile
0x55d000,0x55d090,1,1,1,exact,"branch,jump -> pc,target"
0x55d0a1,0x55d100,1,1,1,exact,"branch,jump -> pc,target"

pc,target,count,lower,upper,bound,profile
0x55c005,0x55d000,1,1,1,exact,"call -> pc,target"

pc,count,lower,upper,bound,profile
0x55c001,1,1,1,exact,"frame -> pc"
0x55d0a1,1,1,1,exact,"frame -> pc"

pc,target,count,lower,upper,bound,profile
0x55d000,0x55d090,1,1,1,exact,"branch,jump,call,return mispredicted==1 -> pc,target"
$ printf 'gzip 1 1.000001: 5 cycles:u:\n\t12g f (x)\n' | riffle replay --from perf - -p code
riffle: standard input: line 2: expected a frame of a stack, 'address name (file)', got '.12g f (x)'
[1]
$ printf 'no time here\n' | riffle replay --from perf - -p code
riffle: standard input: line 1: expected a sample of perf script, 'command tid time: period event:', got 'no time here'
[1]
# What riffle itself writes for perf, read again.
$ printf '\tx\n' > nothing; riffle replay script --from perf -p stacks -o s.rfp > /dev/null && riffle export -q --to perf s.rfp | tee t | riffle replay --from perf - -p stacks -o t.rfp > /dev/null
> riffle export -q --to collapsed s.rfp > s.txt; riffle export -q --to collapsed t.rfp | cmp - s.txt && cat s.txt
0x55c001;0x55d0a1 1
# ChampSim: 64 bytes per instruction, no mark.
$ python3 - <<'END' > sim
> import struct, sys
> def insn(ip, branch=0, taken=0, dst=(0, 0), src=(0, 0, 0, 0), dm=(0, 0), sm=(0, 0, 0, 0)):
>     sys.stdout.buffer.write(struct.pack("<QBB2B4B2Q4Q", ip, branch, taken, *dst, *src, *dm, *sm))
> insn(0x1000, sm=(0x8000, 0, 0, 0))
> insn(0x1004, 1, 1, (26, 0), (26, 25, 0, 0))
> insn(0x1010, 1, 1, (26, 6), (26, 6, 0, 0), dm=(0x7ff8, 0))
> insn(0x2000, 1, 1, (26, 6), (6, 0, 0, 0), sm=(0x7ff8, 0, 0, 0))
> insn(0x1015, 1, 0, (26, 0), (26, 25, 0, 0))
> insn(0x1017)
> insn(0x1020, 0, 0, (26, 6), (26, 6, 0, 0), dm=(0x7ff8, 0), sm=(0x9000, 0, 0, 0))
> insn(0x3000, 0, 0, (26, 6), (6, 0, 0, 0), sm=(0x7ff8, 0, 0, 0))
> insn(0x1026)
> END
> riffle replay --from champsim sim -p 'branch,call,return -> pc,target' -p bias -p 'load,store -> pc,addr' -f csv
pc,target,count,lower,upper,bound,profile
0x1004,0x1010,1,1,1,exact,"branch,call,return -> pc,target"
0x1010,0x2000,1,1,1,exact,"branch,call,return -> pc,target"
0x1015,0x1017,1,1,1,exact,"branch,call,return -> pc,target"
0x1020,0x3000,1,1,1,exact,"branch,call,return -> pc,target"
0x2000,0x1015,1,1,1,exact,"branch,call,return -> pc,target"
0x3000,0x1026,1,1,1,exact,"branch,call,return -> pc,target"

pc,taken,count,lower,upper,bound,profile
0x1004,0x1,1,1,1,exact,"branch -> pc,taken"
0x1015,0x0,1,1,1,exact,"branch -> pc,taken"

pc,addr,count,lower,upper,bound,profile
0x1000,0x8000,1,1,1,exact,"load,store -> pc,addr"
0x1010,0x7ff8,1,1,1,exact,"load,store -> pc,addr"
0x1020,0x7ff8,1,1,1,exact,"load,store -> pc,addr"
0x1020,0x9000,1,1,1,exact,"load,store -> pc,addr"
0x2000,0x7ff8,1,1,1,exact,"load,store -> pc,addr"
0x3000,0x7ff8,1,1,1,exact,"load,store -> pc,addr"
# Tracers of Pin today set is_branch for jumps alone; by its registers a call is a call. One that loads its target is indirect.
$ riffle replay --from champsim sim -p types -f csv
pc,target,count,lower,upper,bound,profile
0x1020,0x3000,1,1,1,exact,"call indirect==1 -> pc,target"
$ head -c 100 sim | riffle replay --from champsim - -p code -f csv
pc,count,lower,upper,bound,profile
0x1000,1,1,1,exact,"insn -> pc"
riffle: standard input: offset 64: it ends in the middle of an entry of 64 bytes
[3]
$ (head -c 64 sim; printf 'aaaaaaaa\7%055d' 0) | riffle replay --from champsim - -p code -f csv
riffle: standard input: offset 64: an instruction of ChampSim says 0 or 1 for 'branch' and 'taken'
[1]
$ riffle replay --from nosuch sim
riffle: replay: --from must be trace, lackey, drmemtrace, champsim, perf or text, got 'nosuch'
[2]
# Names of a file that the user says is there: where it was linked to, and where Valgrind puts it.
$ printf 'int main(void)\n{\n    return 0;\n}\n' > fixed.c
> gcc -g -no-pie fixed.c -o fixed && gcc -g -pie -fPIE fixed.c -o moved
> at() { printf '0x%x' $((0x$(nm "$1" | awk '$3 == "main" {print $1}') + $2)); }
> printf 'p 1 0.000001: 3 cycles: %s\n\n' "$(at fixed 4)" | riffle replay --from perf - -p cycles --map fixed -b function -f csv | cut -d, -f1-3
> printf 'p 1 0.000001: 3 cycles: %s\n\n' "$(at moved 0x108004)" | riffle replay --from perf - -p cycles --map moved@0x108000 -b line | tail -2
> printf 'p 1 0.000001: 3 cycles: %s\n\n' "$(at moved 0x108004)" | riffle replay --from perf - -p cycles --map fixed.c
function,module,count
main,fixed,3
 cycles  count  line       source
 100.0%      3  fixed.c:3  return 0;
riffle: --map: 'fixed.c' is no 64-bit ELF file with code
[2]
