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
> END
> riffle replay --from champsim sim -p 'branch,call,return -> pc,target' -p bias -p 'load,store -> pc,addr' -f csv
pc,target,count,lower,upper,bound,profile
0x1004,0x1010,1,1,1,exact,"branch,call,return -> pc,target"
0x1010,0x2000,1,1,1,exact,"branch,call,return -> pc,target"
0x1015,0x1017,1,1,1,exact,"branch,call,return -> pc,target"
0x2000,0x1015,1,1,1,exact,"branch,call,return -> pc,target"

pc,taken,count,lower,upper,bound,profile
0x1004,0x1,1,1,1,exact,"branch -> pc,taken"
0x1015,0x0,1,1,1,exact,"branch -> pc,taken"

pc,addr,count,lower,upper,bound,profile
0x1000,0x8000,1,1,1,exact,"load,store -> pc,addr"
0x1010,0x7ff8,1,1,1,exact,"load,store -> pc,addr"
0x2000,0x7ff8,1,1,1,exact,"load,store -> pc,addr"
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
