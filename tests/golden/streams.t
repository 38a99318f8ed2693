# Records, selected: what each engine serves.
$ make-records r.rft; riffle trace info r.rft | sed 's/^bytes .*/bytes/'
file      r.rft
kind      records
format    3, by riffle 0.1.0
command   make-records
events    40
blocks    1
modules   1
bytes
complete  yes
$ riffle trace head -n 5 r.rft
load   pc=0x401000 addr=0x7000 width=64 size=8 miss=1
load   pc=0x401004 addr=0x7008 value=0x1 width=64 size=8
load   pc=0x401008 addr=0x7010 value=0x2 width=64 size=8
store  pc=0x40100c addr=0x7000 value=0x3 width=64 size=8
branch pc=0x401010 target=0x401014
$ riffle replay r.rft --format csv -n 3
pc,value,count,lower,upper,bound,function,file,line,module,profile
0x401000,0x0,2,2,2,exact,,,,,"load -> pc,value"
0x401000,0x1,2,2,2,exact,,,,,"load -> pc,value"
0x401000,0x2,2,2,2,exact,,,,,"load -> pc,value"
$ riffle replay r.rft -p 'load,store size==8 -> size' --format csv
size,count,lower,upper,bound,profile
0x8,32,32,32,exact,"load,store size==8 -> size"
$ riffle replay r.rft -p edges --format csv
pc,target,count,lower,upper,bound,function,file,line,module,callee,profile
0x401010,0x401000,4,4,4,exact,,,,,,"branch,jump -> pc,target"
0x401010,0x401014,4,4,4,exact,,,,,,"branch,jump -> pc,target"
$ riffle replay r.rft -e exact -p values -p edges --format csv -n 1
pc,value,count,lower,upper,bound,function,file,line,module,profile
0x401000,0x0,2,2,2,exact,,,,,"load -> pc,value"

pc,target,count,lower,upper,bound,function,file,line,module,callee,profile
0x401010,0x401000,4,4,4,exact,,,,,,"branch,jump -> pc,target"
$ riffle replay r.rft -p 'load value==0 -> pc,addr' -e exact --format csv -p edges -e 'exact(memory=1Mi)' -n 2
pc,addr,count,lower,upper,bound,function,file,line,module,profile
0x401000,0x7000,1,1,1,exact,,,,,"load value==0 -> pc,addr"
0x401000,0x7010,1,1,1,exact,,,,,"load value==0 -> pc,addr"

pc,target,count,lower,upper,bound,function,file,line,module,callee,profile
0x401010,0x401000,4,4,4,exact,,,,,,"branch,jump -> pc,target"
0x401010,0x401014,4,4,4,exact,,,,,,"branch,jump -> pc,target"
$ riffle replay r.rft -p 'store -> value' --format csv --skip 10 --limit 20
value,count,lower,upper,bound,profile
0x0,1,1,1,exact,"store -> value"
0x1,1,1,1,exact,"store -> value"
0x2,1,1,1,exact,"store -> value"
0x3,1,1,1,exact,"store -> value"
$ riffle replay r.rft -p 'load pc in main..main+0x400 -> addr'
riffle: selector: no symbol is called 'main'
[1]
$ riffle trace convert r.rft -
riffle: records have no form as text; say with -p what of them
[1]
$ riffle trace convert -p edges r.rft - | sort | uniq -c
      4 0x401010 0x401000
      4 0x401010 0x401014
$ riffle trace convert -p values r.rft v.rft; riffle trace info v.rft | grep -E 'kind|selector|events'
kind      tuples
selector  load -> pc,value
events    24
$ riffle replay v.rft -n 1 --details | grep -F -- '->'
profile     load -> pc,value
$ riffle compare r.rft -p values -e exact --format csv | cut -d, -f4-
error,false_pos,false_neg,neutral_pos,neutral_neg,engine
0,0,0,0,0,"exact(memory=0, interval=0)"
