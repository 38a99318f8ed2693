# A program of 21 instructions as it lies on the disk: 100 calls of a function that flips a word, hello,
# exit status 3. No compiler for it is needed here.
$ base64 -d > flip.rv64 <<END
> f0VMRgIBAQAAAAAAAAAAAAIA8wABAAAAsAABAAAAAABAAAAAAAAAAAAAAAAAAAAABQAAAEAAOAABAAAAAAAAAAEAAAAHAAAA
> sAAAAAAAAACwAAEAAAAAALAAAQAAAAAASAAAAAAAAABIAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
> AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAATBEAGlwQAAJOEBATvAGACfRRt/AVFlwUAAJOFZQIZRpMIAARzAAAA
> DUWTCNAFcwAAAIhABQUFiYjAgoBoZWxsbwoBAAAAAAA=
> END
# Its output comes through, and its exit status.
$ riffle sim -q flip.rv64
hello
[3]
# Every form that run has; nothing but this host's speed differs from run to run.
$ riffle sim --functional -e exact flip.rv64 2>&1 | sed 's/[0-9.]* MIPS/N MIPS/'
hello
flip.rv64   812 instructions   100 loads

 instructions  function    module
       100.0%  (no names)  flip.rv64

 instructions  place
        61.6%  flip.rv64+0x100e2..0x100ea
        36.9%  flip.rv64+0x100bc..0x100c2
         1.1%  flip.rv64+0x100c4..0x100de
         0.4%  flip.rv64+0x100b0..0x100b8

More: --by function|line|module|pc, --annotate; -p invariance|types|bias
      Save the run with -o FILE, and ask again with riffle report FILE.
riffle: 812 instructions, N MIPS
[3]
# Cycles come with a core.
$ riffle sim -f json -p code -e exact flip.rv64 2>&1 >/dev/null | grep -c -E '"(core|cycles|ipc|stalls|mispredicts)"'
5
[3]
# What the core waits for is counted in stall cycles.
$ riffle sim -p stalls -n 1 flip.rv64 2>&1 >/dev/null | grep stall
flip.rv64   392 stall cycles
stalls      icache 26.4%, mispredict 18.7%, fetch 0.2%
 stall cycles  count  place
[3]
$ riffle sim -p cycles -n 1 flip.rv64 2>&1 >/dev/null | grep -c stall.cycles
0
[1]
# What is not in the program is named.
$ riffle sim -p code -f csv --module nosuch flip.rv64
hello
riffle: no module 'nosuch' in this run
pc,count,lower,upper,bound,function,file,line,module,profile
[3]
$ riffle sim -p code -f csv --thread 9 flip.rv64
hello
riffle: no event of thread 9 was found in this run
pc,count,lower,upper,bound,function,file,line,module,profile
[3]
$ riffle sim -p code -f csv --function nosuch flip.rv64
hello
riffle: no function 'nosuch' in the modules of this run
pc,count,lower,upper,bound,function,file,line,module,profile
[3]
# Saved and read again, the same twice.
$ riffle sim -q -e exact -o out.rfp flip.rv64; mv out.rfp first.rfp; riffle sim -q -e exact -o out.rfp flip.rv64; cmp first.rfp out.rfp && echo same
hello
hello
same
$ riffle report -f csv -n 2 --no-names out.rfp
pc,count,lower,upper,bound,profile
0x100bc,100,100,100,exact,"insn -> pc"
0x100c0,100,100,100,exact,"insn -> pc"

pc,value,count,lower,upper,bound,profile
0x100e2,0x0,50,50,50,exact,"load -> pc,value"
0x100e2,0x1,50,50,50,exact,"load -> pc,value"

pc,target,count,lower,upper,bound,profile

pc,taken,count,lower,upper,bound,profile
0x100c2,0x1,99,99,99,exact,"branch -> pc,taken"
0x100c2,0x0,1,1,1,exact,"branch -> pc,taken"
# Sizes in bytes: each call loads and stores a word.
$ riffle sim --functional -q -p 'load,store -> pc,size' -e exact -o size.rfp flip.rv64; riffle report -f csv --no-names size.rfp
hello
pc,size,count,lower,upper,bound,profile
0x100e2,0x4,100,100,100,exact,"load,store -> pc,size"
0x100e8,0x4,100,100,100,exact,"load,store -> pc,size"
# Only part of it.
$ riffle sim --functional -p code -e exact --skip 10 --max-instructions 30 -f csv flip.rv64
pc,count,lower,upper,bound,function,file,line,module,profile
0x100bc,3,3,3,exact,,,,flip.rv64,"insn -> pc"
0x100c2,3,3,3,exact,,,,flip.rv64,"insn -> pc"
0x100e2,3,3,3,exact,,,,flip.rv64,"insn -> pc"
0x100e4,3,3,3,exact,,,,flip.rv64,"insn -> pc"
0x100c0,2,2,2,exact,,,,flip.rv64,"insn -> pc"
0x100e6,2,2,2,exact,,,,flip.rv64,"insn -> pc"
0x100e8,2,2,2,exact,,,,flip.rv64,"insn -> pc"
0x100ea,2,2,2,exact,,,,flip.rv64,"insn -> pc"
# Cores by name; what differs behind it.
$ riffle sim -q --core hps,rob=64 flip.rv64
hello
[3]
$ riffle sim --core nosuch flip.rv64
riffle: no core 'nosuch'; there are hps, stratified and coproc
[125]
$ riffle sim --core hps,rob=x flip.rv64
riffle: core: rob must be a number such as 2048 or 1M, got 'x'
[125]
$ riffle sim --core hps,icache=32Ki flip.rv64
riffle: core: icache: cache l1: expected SIZE/WAYS/LINE, got '32Ki'
[125]
$ riffle sim --core hps,icache=32Ki/4/128 flip.rv64
riffle: core: the lines of l2 are shorter than those of icache
[125]
$ riffle sim --core hps,nosuch=1 flip.rv64
riffle: core: no key 'nosuch'; 'riffle cores hps' shows them
[125]
$ riffle sim --functional -q --core nosuch flip.rv64
riffle: no core 'nosuch'; there are hps, stratified and coproc
[125]
$ riffle cores
hps          4-way, 12 stages, 128 ROB, 80 RS, 32 KB L1s, 1 MB L2 (Mousa, Krintz)
stratified   4-way, 64 KB L1s, gshare (Sastry, Bodik, Smith)
coproc       4-way, 64-entry window, 64 KB L1s, 1 MB L2 (Zilles, Sohi)
$ riffle cores coproc,rob=100,l2=2Mi/8/64
icache           64Ki/4/64
dcache           64Ki/4/64
l2               2Mi/8/64
fetch_width      4
decode_width     4
issue_width      4
commit_width     4
stages           12
rob              100
rs               64
lsq              32
alu_ports        4
multiply_ports   1
memory_ports     2
fp_ports         2
multiply         3
divide           20
fp_add           3
fp_multiply      4
fp_fused         5
fp_divide        14
l1_hit           3
l2_hit           12
memory           100
forward          2
write_buffer     16
mshrs            16
bus              8
history          12
btb              2Ki
ras              16
btb_miss         2
dise_patterns    32
dise_replacements 2Ki
dise_conditionals 16
dise_counters    8
dise_counter_bits 32
dise_registers   16
dise_cycles      1
dise_drain       8
$ riffle cores nosuch
riffle: no core 'nosuch'; there are hps, stratified and coproc
[2]
# Misses: of the timed core's caches, or of --cache beside the functional one. The word's line is missed once.
$ riffle sim -p 'load miss>=1 -> pc,value' -e exact -f csv flip.rv64
hello
pc,value,count,lower,upper,bound,function,file,line,module,profile
0x100e2,0x0,1,1,1,exact,,,,flip.rv64,"load miss>=1 -> pc,value"
[3]
$ riffle sim --functional -p 'load miss>=1 -> pc,value' -e exact -f csv flip.rv64
hello
pc,value,count,lower,upper,bound,function,file,line,module,profile
0x100e2,0x0,1,1,1,exact,,,,flip.rv64,"load miss>=1 -> pc,value"
[3]
$ riffle sim --functional -p 'load miss==1 -> pc' -p 'load miss==2 -> pc' -e exact --cache l1=4Ki/2/64 -f csv flip.rv64
hello
pc,count,lower,upper,bound,function,file,line,module,profile
0x100e2,1,1,1,exact,,,,flip.rv64,"load miss==1 -> pc"

pc,count,lower,upper,bound,function,file,line,module,profile
[3]
$ riffle sim --cache l1=4Ki/2/64 flip.rv64
riffle: sim: --cache goes with --functional; the caches of a timed core are part of it: --core hps,dcache=16Ki/2/64
[125]
$ riffle sim --functional --cache l1=3 -p 'load miss>=1 -> pc' flip.rv64
riffle: cache l1: expected SIZE/WAYS/LINE, got '3'
[125]
# What is no program.
$ riffle sim nosuch.rv64
riffle: nosuch.rv64: cannot open: No such file or directory
[127]
$ riffle sim /bin/sh
riffle: /bin/sh: not a 64-bit RISC-V program
[126]
$ head -c 100 flip.rv64 > cut.rv64; riffle sim cut.rv64
riffle: cut.rv64: its program headers are damaged
[126]
$ mkfifo pipe; riffle sim pipe
riffle: pipe: not a file with a program in it
[126]
$ echo hello > text; riffle sim text
riffle: text: not an ELF file
[126]
$ riffle sim --root nosuch flip.rv64
riffle: the root nosuch: No such file or directory
[125]
$ riffle sim
riffle: sim: needs PROGRAM [ARGUMENT...]; see 'riffle help sim'
[125]
# A recorded stream has the places of the program; a symbol that it lacks is named.
$ riffle sim -q --functional -p values --record flip.rft flip.rv64; riffle replay flip.rft -n 1 | tail -n 1
hello
 100.0%    100       2  0                 50.0%  flip.rv64+0x100e2
$ riffle sim -q -p 'load pc>=main -> pc' -o flip.rfp flip.rv64
riffle: selector: no symbol is called 'main'
[125]

# What a program may touch is said where it is run.
$ riffle help sim | sed -n '/^Without --root/,/^$/p' | grep .
Without --root the program may read, write, make and remove every file that
riffle may, under the same names. With it, nothing outside that folder can be
read, changed or looked at. Files of processes (/proc) are out of reach either
way, riffle's own memory with them.
# Who calls what. A program of four functions: _start calls often and seldom 100 times each, and these call leaf, which runs 90
# rounds for one and 30 for the other. Samples of the stack come after every 100 instructions, at the same places in each run.
$ base64 -d > calls.rv64 <<END
> f0VMRgIBAQAAAAAAAAAAAAIA8wABAAAAeAABAAAAAABAAAAAAAAAAJgBAAAAAAAABQAAAEAAOAABAEAABQAEAAEAAAAHAAAAeAAA
> AAAAAAB4AAEAAAAAAHgAAQAAAAAASgAAAAAAAABKAAAAAAAAAAIAAAAAAAAAEwRABpcAAADngOABlwAAAOeAgAJ9FH30AUWTCNAF
> cwAAAIaEEwWgBZcAAADngMABpoCCgIaEeUWXAAAA54DAAKaAgoB9FX39goAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
> AAAAAwABAHgAAQAAAAAAAAAAAAAAAAABAAAAEgABALwAAQAAAAAABgAAAAAAAAAGAAAAEgABAJoAAQAAAAAAEgAAAAAAAAAMAAAA
> EgABAHgAAQAAAAAAIgAAAAAAAAATAAAAEgABAKwAAQAAAAAAEAAAAAAAAAAAbGVhZgBvZnRlbgBfc3RhcnQAc2VsZG9tAAAuc3lt
> dGFiAC5zdHJ0YWIALnNoc3RydGFiAC50ZXh0AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
> AAAAAAAAAAAAAAAAAAAAAAAAAAAAABsAAAABAAAABwAAAAAAAAB4AAEAAAAAAHgAAAAAAAAASgAAAAAAAAAAAAAAAAAAAAIAAAAA
> AAAAAAAAAAAAAAABAAAAAgAAAAAAAAAAAAAAAAAAAAAAAADIAAAAAAAAAJAAAAAAAAAAAwAAAAIAAAAIAAAAAAAAABgAAAAAAAAA
> CQAAAAMAAAAAAAAAAAAAAAAAAAAAAAAAWAEAAAAAAAAaAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAABEAAAADAAAAAAAA
> AAAAAAAAAAAAAAAAAHIBAAAAAAAAIQAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAA=
> END
$ riffle sim --functional -q -p stacks=100 -o calls.rfp calls.rv64; riffle report calls.rfp --by stack
calls.rv64   256 samples of the stack

 with callees            self  samples  module      function
  100.0% -1.6      2.0% +-2.0      256  calls.rv64  _start
  73.4% +-5.5      3.5% +-2.5      188  calls.rv64    often
  69.9% +-5.9     69.9% +-5.9      179  calls.rv64      leaf
  24.6% +-5.5  1.6% +2.7 -1.2       63  calls.rv64    seldom
  23.0% +-5.5     23.0% +-5.5       59  calls.rv64      leaf
$ riffle report calls.rfp --by caller --function leaf
calls.rv64   256 samples of the stack

 through here  samples  module      function, and who calls it
  93.0% +-3.3      238  calls.rv64  leaf
  69.9% +-5.9      179  calls.rv64    often
  69.9% +-5.9      179  calls.rv64      _start
  23.0% +-5.5       59  calls.rv64    seldom
  23.0% +-5.5       59  calls.rv64      _start
$ riffle report calls.rfp --by caller -n 3
calls.rv64   256 samples of the stack

 through here  samples  module      function, and who calls it
  100.0% -1.6      256  calls.rv64  _start
  93.0% +-3.3      238  calls.rv64  leaf
  73.4% +-5.5      188  calls.rv64  often
$ riffle report calls.rfp --by caller --function leaf --format csv -n 0
function,module,count,lower,upper,bound,depth,profile
leaf,calls.rv64,238,228,245,confidence,0,"frame -> pc,context"
often,calls.rv64,179,163,193,confidence,1,"frame -> pc,context"
_start,calls.rv64,179,163,193,confidence,2,"frame -> pc,context"
seldom,calls.rv64,59,46,74,confidence,1,"frame -> pc,context"
_start,calls.rv64,59,46,74,confidence,2,"frame -> pc,context"
$ riffle report calls.rfp --by function
calls.rv64   256 samples of the stack

 with callees            self  samples  function  module
  100.0% -1.6      2.0% +-2.0      256  _start    calls.rv64
  93.0% +-3.3     93.0% +-3.3      238  leaf      calls.rv64
  73.4% +-5.5      3.5% +-2.5      188  often     calls.rv64
  24.6% +-5.5  1.6% +2.7 -1.2       63  seldom    calls.rv64
