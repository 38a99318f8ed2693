# The co-processor: its programs, its listing, a profile, and what is refused.
$ riffle coproc | cut -d' ' -f1 | grep -e loads -e edges -e contexts -e dependences -e conflicts -e stratified -e multihash1
conflicts.uc
contexts.uc
dependences.uc
edges.uc
loads.uc
multihash1.uc
stratified.uc
$ riffle coproc loads.uc | tail -9

   2  00000002_20400000_00011c16  fresh:  v0 = counts[turn]; v1 = random & 255
   3  04680000_00000000_0000200b          if v0 > v1 goto keep
   4  0000f922_20805884_91280000          pcs[turn] = pc; counts[turn] = 1;
                                          failed--
   5  09010000_00000004_88900000          turn = turn + 1; done
   6  00000000_00000004_88900000  keep:   turn = turn + 1
   7  09130000_00000004_91180000          failed++; if not i.full done
   8  09210000_00000000_00000000          interrupt
$ riffle coproc --disassemble loads.uc
.const c0 = 255
.const c1 = 1
.index slot : 8 = 0
.index turn : 8 = 0
.index failed : 8 = 0
.base pcs = assoc[0 : 256]
.base counts = data[0 : 256]
.field pc = pc[31:0]
.on load goto start
.slot a = pcs, count = counts
.profile load -> pc
.handler fold
start:
    slot = match(pcs, pc); if miss goto fresh
    counts[slot]++; done
fresh:
    v0 = counts[turn]; v1 = random & c0
    if v0 > v1 goto keep
    pcs[turn] = pc; counts[turn] = c1; failed = sat(failed - c1)
    turn = turn + c1; done
keep:
    turn = turn + c1
    failed = sat(failed + c1); if not i.full done
    interrupt
$ riffle coproc --transistors | grep -e total -e array
half,"microcode array",24576,1,162201
half,"associative array",4224,1,46464
half,"data array",8192,1,54067
half,total,,,535023
base,"microcode array",24576,1,162201
base,"associative array",8448,1,92928
base,"data array",16384,1,108134
base,total,,,635554
double,"microcode array",24576,1,162201
double,"associative array",16896,1,185856
double,"data array",32768,1,216268
double,total,,,836616
$ make-records r.rft; riffle replay r.rft --coproc loads.uc --format csv
pc,count,lower,upper,bound,function,file,line,module,profile
0x401000,8,,,estimate,,,,,"load -> pc"
0x401004,8,,,estimate,,,,,"load -> pc"
0x401008,8,,,estimate,,,,,"load -> pc"
$ riffle replay r.rft --coproc edges.uc --format csv
pc,target,count,lower,upper,bound,function,file,line,module,callee,profile
0x401010,0x401000,4,,,estimate,,,,,,"branch -> pc,target"
0x401010,0x401014,4,,,estimate,,,,,,"branch -> pc,target"
$ riffle replay r.rft --coproc dependences.uc --format csv
pc,writer,count,lower,upper,bound,function,file,line,module,callee,profile
0x401004,0x40100c,7,,,estimate,,,,,,"load -> pc,writer"
0x401008,0x40100c,6,,,estimate,,,,,,"load -> pc,writer"
0x401000,0x40100c,5,,,estimate,,,,,,"load -> pc,writer"

pc,distance,count,lower,upper,bound,function,file,line,module,profile
0x401004,0,7,,,estimate,,,,,"load -> pc,distance"
0x401008,1,6,,,estimate,,,,,"load -> pc,distance"
0x401000,2,5,,,estimate,,,,,"load -> pc,distance"
$ riffle replay r.rft --coproc 'conflicts.uc(sets=32)' --format csv
pc,addr,count,lower,upper,bound,function,file,line,module,profile
0x401000,0x7000,3,,,estimate,,,,,"load,store miss>=1 -> pc,addr"

set,pc,count,lower,upper,bound,callee,profile
0,0x401000,3,,,estimate,,"load,store miss>=1 -> set,pc"
$ riffle replay r.rft --coproc loads.uc -n 2 --details
24 samples of 24 loads

 loads  count  pc        place
 33.3%      8  0x401000  0x401000
 33.3%      8  0x401004  0x401004
 1 more row, 33.4%
 Counts are estimates from samples: 24 of 24 events, 0 dropped.
 0 interrupts; 0 cycles of overhead; 100.0% of the events covered.

command     riffle replay r.rft --coproc loads.uc -n 2 --details

profile     load -> pc
engine      loads.uc(size=base, clock=1), seed 0
memory      499.7 KiB; as hardware 9.3 KiB of storage
events      24 produced, 24 consumed, 0 lost
bounds      of the co-processor's samples, not of all events
class-events 24
samples     24
drops       0
masked-events 0
interrupts  0
looks       0
slots-folded 3
overhead-cycles 0
coproc-cycles 63
microinstructions 57
mispredicts 3
overruns    0
covered-share 1
complete    0
sampled-share 1
table-refused 0
$ riffle replay r.rft --coproc loads.uc -p 'load -> pc' --format csv
pc,count,lower,upper,bound,function,file,line,module,profile
0x401000,8,8,8,exact,,,,,"load -> pc"
0x401004,8,8,8,exact,,,,,"load -> pc"
0x401008,8,8,8,exact,,,,,"load -> pc"

pc,count,lower,upper,bound,function,file,line,module,profile
0x401000,8,,,estimate,,,,,"load -> pc"
0x401004,8,,,estimate,,,,,"load -> pc"
0x401008,8,,,estimate,,,,,"load -> pc"
$ printf '.on load goto x\nx: v0 = pcs[v1]; done\n' >wrong.uc; riffle coproc wrong.uc
riffle: wrong.uc: line 2, column 9: no register or field is called 'pcs'
[2]
$ riffle replay r.rft --coproc wrong.uc
riffle: wrong.uc: line 2, column 9: no register or field is called 'pcs'
[2]
$ printf '1 2\n' | riffle replay - --coproc loads.uc
riffle: the stream is made of tuples; a co-processor needs records: run and sim write them with --coproc and --record
[1]
$ riffle compare r.rft -p values -m rms --executions 1 -e exact --coproc 'values.uc(one_of=1)' --format csv | cut -d, -f4-
rms,unseen,covered,engine
0,0,1,"exact(memory=0, interval=0)"
0.21650635094610965,0.75,1,"values.uc(size=base, clock=1, one_of=1)"
# Co-processors and engines in step: the host is called (1000 cycles each) when 4 loads came without an interrupt, and
# knows nothing before. The last point is what compare says without --every.
$ riffle compare r.rft -p values -m rms --executions 1 --every 6 --coproc 'values.uc(quiet=4, one_of=1, least=1, enter=1000, scan=0, fold=0)' \
>     --coproc 'values.uc(one_of=1)' -e exact | sed 's/"\([a-z]*\)[^"]*"/\1/' | cut -d, -f1,2,4-
events,engine,unseen,covered,overhead
6,exact,0,1,
6,values,0.5,1,1000
6,values,1,1,0
12,exact,0,1,
12,values,0.25,1,3000
12,values,1,1,0
18,exact,0,1,
18,values,0.22222222222222221,1,4000
18,values,1,1,0
24,exact,0,1,
24,values,0.25,1,6000
24,values,0.75,1,0
$ for more in '--every 6' '--format csv'; do
>     riffle compare r.rft -p values -m rms --executions 1 --coproc 'values.uc(one_of=1)' $more | tail -n 1 | grep -o '0\.[0-9]*'
> done
0.21650635094610965
0.75
0.21650635094610965
0.75
$ riffle compare r.rft -m invariance --executions 1 --every 5 --skip 5 --limit 30 --coproc values.uc -e exact | grep exact
5,"exact",0,0,1,
10,"exact",0,0,1,
15,"exact",0,0,1,
18,"exact",0,0,1,
$ riffle compare r.rft -m invariance --executions 1 --every 5 --skip 5 --limit 30 -e exact
events,engine,error,unseen,covered,overhead
5,"exact",0,0,1,
10,"exact",0,0,1,
15,"exact",0,0,1,
18,"exact",0,0,1,
$ printf '1 2\n' | riffle compare - -m rms --coproc values.uc --every 4
events,engine,rms,unseen,covered,overhead
riffle: the stream is made of tuples; a co-processor needs records
[1]
$ riffle compare r.rft -m rms --every 4 --coproc values.uc -p 'load pc==main -> pc'
riffle: the selector names a symbol, and there is no program to look it up in
[1]
$ riffle replay r.rft --coproc loads.uc -p 'load pc==main -> pc'
riffle: selector: no symbol is called 'main'
[1]
$ riffle run --coproc loads.uc -p 'load pc==main -> pc' -- true
riffle: run: a name in a selector works with none of misses, bursts, --coproc and --record of several -p; use --function, or the name in 'riffle replay -p' of the record
[125]
$ riffle coproc --disassemble loads.uc | sed 's/^.profile.*/.profile load pc==main -> pc/' >named.uc; riffle coproc named.uc
riffle: named.uc: line 11: microcode cannot look up names of symbols
[2]
$ riffle compare r.rft -m rms --every 4 --coproc values.uc -p 'load -> nothing'
riffle: selector: column 9: no field is called 'nothing'; 'riffle selectors' helps
[2]
$ riffle compare r.rft --every 5 --coproc values.uc
riffle: compare: --every is for -m invariance and -m rms
[2]
$ riffle compare r.rft --per-interval --coproc values.uc
riffle: compare: --coproc does not work with --per-interval
[2]
$ riffle replay r.rft --coproc 'values.uc(quiet=13, age=0, glance=13)' -n 1 | tail -n 2
 Counts are estimates from samples: 24 of 24 events, 0 dropped.
 1 interrupt, 1 of them timed by the host; 102 cycles of overhead; 33.3% of the events covered.
# What went wrong in the machine is told: a program that never ends, a table of the host that is too small.
$ printf '.on load goto x\n.base p = assoc[0 : 4]\n.base c = data[0 : 4]\n.slot a = p, count = c\nx: goto x\n' >loop.uc
$ riffle replay r.rft --coproc loop.uc
riffle: loop.uc: line 5: from here no way leads to 'done' or 'interrupt'
[2]
$ sed 's/^x: .*/x: v0 = v0 - v0; if not v.zero done\n goto x/' loop.uc >never.uc
$ riffle replay r.rft --coproc never.uc | tail -n 1
riffle: never.uc: line 5: a sample did not come to an end in 4096 cycles and was given up
 24 samples ran too long and were given up: the program has a loop.
$ printf '.on load goto x\n.field pc = pc[31:0]\n.base c = data[0 : 4]\n.base p = data[4 : 4]\n.index at : 2\n.slot a = p, count = c\nx: p[at] = pc\n c[at] += 7; done\n' >sevens.uc
$ riffle replay r.rft --coproc sevens.uc
24 samples of 24 events

  share  count  place
 100.0%    168  0x401008
 Counts are estimates from samples: 24 of 24 events, 0 dropped.
 0 interrupts; 0 cycles of overhead; 100.0% of the events covered.
 The counts are 168 in all, more than the samples: the program counts some twice.
$ seq 200 | awk '{printf "I  %x,4\n L %x,8\n", 4198400 + 4 * $1, 28672 + 8 * $1}' >many
$ riffle replay many --from lackey --coproc 'loads.uc(table=64)' | tail -n 1
 The host's table was full and refused 152 slots: table=N makes it larger.
# What does not fit is refused.
$ riffle replay many --from lackey --coproc never.uc
riffle: never.uc: line 5: the program runs for ever: none of the first 64 samples came to an end in 4096 cycles
[1]
$ riffle run --coproc never.uc -- true
riffle: never.uc: line 5: the program runs for ever: none of the first 64 samples came to an end in 4096 cycles
[125]
$ riffle replay many --from lackey --coproc edges.uc
0 samples of 0 branches

 nothing was found
 The stream has none of the events that the program samples: branch -> pc,target.
$ riffle replay many --from lackey --coproc conflicts.uc --cache l1=32Ki/8/64,l2=1Mi/16/64 -n 1 | head -n 3
riffle: conflicts.uc: these caches have 64 sets, the program has 256: 'conflicts.uc(sets=64)' names them right
0 accesses in 200 samples

load,store miss>=1 -> pc,addr
$ riffle replay r.rft --coproc loads.uc -i 10
riffle: -i cuts the streams of engines; a co-processor has no intervals
[2]
$ riffle replay r.rft --coproc loads.uc --thread 1
riffle: --thread is for engines; a co-processor sees all threads
[2]
$ riffle run --coproc loads.uc --per-process -- true
riffle: run: --per-process works with none of --record, --coproc, misses and conditions in bursts
[125]
$ riffle run --coproc contexts.uc --range 1..2 -- true |& sed 's/ *[0-9.]* s$//'
riffle: contexts.uc: which accesses miss is computed for l1=32Ki/8/64,l2=1Mi/16/64; --cache chooses others
true   0 samples of 0 frames

 nothing was found
 The stream has none of the events that the program samples: frame -> pc,context.
riffle: run: contexts.uc(size=base, clock=1) sees nothing outside --range, --function and --module: what it keeps of calls, stores or misses has gaps
riffle: run: nothing was counted in what --function, --module and --range name
$ riffle run --coproc loads.uc -- sh -c 'true; /bin/true; exit 3' |& tail -n 1
riffle: run: a co-processor knows 32 bits of an address: instructions of several processes may fall together under one name; --no-follow watches the first process alone
[3]
$ riffle replay r.rft --coproc 'values.uc(one_of=3)'
riffle: values.uc: line 17, column 6: one_of is a power of two between 1 and 1024, not 3
[2]
# Fields that only co-processors find.
$ for field in writer distance set; do
>     riffle replay r.rft -p "load -> pc,$field"
>     riffle run -p "load $field==3 -> pc" -- true
>     riffle sim -p "load -> $field" -- no-program
>     riffle compare r.rft -p "load -> $field,pc" -e exact
>     riffle trace convert r.rft -p "load -> pc,$field" out.rft
> done |& sort | uniq -c
      5 riffle: selector: no record has a 'distance'; '--coproc dependences.uc' finds it without -p
      5 riffle: selector: no record has a 'set'; '--coproc conflicts.uc' finds it without -p
      5 riffle: selector: no record has a 'writer'; '--coproc dependences.uc' finds it without -p
[2]
$ riffle replay r.rft --coproc 'loads.uc(table=100)'
riffle: co-processor: table must be a power of two
[2]
$ riffle compare r.rft -m rms -p 'load -> pc' --coproc values.uc
riffle: compare: values.uc(size=base, clock=1) counts 'load -> pc,value', and the truth is 'load -> pc'
[2]
$ printf '.on load goto x\n.base p = assoc[0 : 4]\n.base c = data[0 : 4]\n.slot a = p, count = c\n.profile branch -> pc\nx: done\n' >fits.uc; riffle coproc fits.uc
riffle: fits.uc: line 5: the profile is of classes that no .on takes samples of
[2]
$ sed -i -e 's/^.profile.*/.profile load -> pc,distance/' fits.uc; riffle coproc fits.uc
riffle: fits.uc: line 5: the profile has two words of a tuple, and a slot has no 'b'
[2]
$ riffle replay r.rft --coproc 'values.uc(glance=5000000000)'
riffle: values.uc: line 27, column 6: glance is a number between 0 and 1073741824, not 5000000000
[2]
# Saved profiles that do not fit each other. The measures but overlap take the first for the truth.
$ for program in values edges; do riffle replay r.rft --coproc $program.uc -o $program.rfp; done >/dev/null
$ riffle replay r.rft -p values -e exact -o truth.rfp >/dev/null
$ riffle compare -m rms truth.rfp edges.rfp
riffle: compare: the two files have no profile of the same selector
[1]
$ riffle compare -m rms values.rfp truth.rfp
riffle: compare: the first file is the truth, and a co-processor's samples are none; -m overlap takes both alike
[1]
$ riffle compare truth.rfp values.rfp
riffle: compare: a co-processor counts samples; -m rms, -m invariance and -m overlap take them
[1]
$ riffle compare -m rms --executions 1 truth.rfp values.rfp
          rms       unseen      covered  profile
        32.3%        91.7%         100%  load -> pc,value
# All lines fit a screen.
$ for program in '' values.uc loads.uc edges.uc contexts.uc dependences.uc conflicts.uc sampling.uc stratified.uc multihash1.uc; do
>     riffle coproc $program | awk -v p="$program" 'length > 80 {print p, length, $0}'
> done
