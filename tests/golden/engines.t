$ riffle engines | cut -d' ' -f1 | grep -x -e exact -e multihash
exact
multihash
$ riffle engines exact | grep -v ^memory
exact - every tuple with its exact count; grows

engine   exact(memory=0, interval=0)
merging  states and profiles: counts add up, as of one run over everything

options
  memory           0         ceiling in bytes; 0: none
  interval         0         cut the stream after every N events and start anew; 0: do not
$ riffle engines 'exact(interval=1M)' | grep ^engine
engine   exact(memory=0, interval=1M)
# Every engine can be shown by its name, and says what it holds.
$ for engine in $(riffle engines | cut -d' ' -f1); do riffle engines $engine | grep -c '^memory *[0-9]* bytes'; done | sort -u
1
# Selectors: the names there are; one in full.
$ riffle selectors
values        load -> pc,value               what each load loads
edges         branch,jump -> pc,target       which way branches and jumps go
calls         call -> pc,target              who calls whom
call-pairs    call -> pc,target              the same: hot call pairs
methods       call -> target                 how often each function is called
addresses     load,store -> pc,addr          what memory each access touches
streams       load,store -> pc,addr          sequences of accesses that repeat, by their engine
code          insn -> pc                     which instructions are executed
invariance    load -> pc,value               which loads load one value
bias          branch -> pc,taken             how often each branch is taken
zero-loads    load value==0 -> pc,addr       where loads find zero
narrow        alu width<=16 -> pc            results that would fit 16 bits
misses        load miss>=1 -> pc,addr        which loads miss the first cache, and in which data
miss-values   load miss>=1 -> pc,value       what is loaded by misses of the first cache
types         call indirect==1 -> pc,target  what indirect calls reach: receivers' types
silent-stores store silent==1 -> pc,addr     stores that write what is there already
stacks        frame -> pc,context            who called what runs, by samples of the call stack
mispredicts   branch,jump,call,return mispredicted==1 -> pc,target
                                             which branches the core guesses wrong
cycles        insn -> pc * cycles            where the core spends its cycles
stalls        insn cycles>=2 -> pc * cycles  which instructions the core waits for

fields:
pc            any                            address of the instruction
addr          load,store                     address that is read or written
value         load,store,alu                 what is loaded, stored or computed
target        branch,jump,call,return        where control goes
width         load,store,alu                 bits of the access; of a result, its significant bits
size          load,store                     bytes of the access
thread        any                            number of the thread
miss          load,store                     cache levels missed: 0, 1 or 2
taken         branch                         1: the branch is taken
indirect      jump,call                      1: through a register or memory
mispredicted  branch,jump,call,return        1: the core guessed wrong where it goes (timed sim)
cycles        insn                           cycles that the core spent on it alone (timed sim)
silent        store                          1: it writes what is there already
context       frame                          which frames called this one
writer        load                           the store that wrote it (--coproc dependences.uc)
distance      load                           stores since then (--coproc dependences.uc)
set           load,store                     set of the cache (--coproc conflicts.uc)
$ riffle selectors types
call indirect==1 -> pc,target
$ riffle selectors 'load  value == 0 pc in main..main+64 -> addr'
load value==0 pc in main..main+64 -> addr
$ riffle selectors 'load -> pcc'
riffle: selector: column 9: no field is called 'pcc'; did you mean 'pc'?
[2]
$ riffle selectors nonsense
riffle: selector: column 1: no preset is called 'nonsense'; 'riffle selectors' helps
[2]
