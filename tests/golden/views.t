# Rows by everything there is, of a program whose counts are known. Only its own file is counted, so that no library matters.
$ cat > known.c <<'END'
> #include <pthread.h>
> static volatile long table[4] = {42, 42, 42, 7};
> static volatile long sink;
> static long one(long x) { return x + 1; }
> static long two(long x) { return x + 2; }
> long (*volatile steps[2])(long) = {one, two};
> __attribute__((noinline)) static void hot(int n)
> {
>     for (int i = 0; i < n; i++)
>         sink = table[i & 3];
> }
> __attribute__((noinline)) static void turn(int n)
> {
>     for (int i = 0; i < n; i++)
>         sink = steps[i % 10 == 0](i);
> }
> static void *work(void *n)
> {
>     hot((int)(long)n);
>     return 0;
> }
> int main(void)
> {
>     pthread_t thread;
>     pthread_create(&thread, 0, work, (void *)3000L);
>     pthread_join(thread, 0);
>     hot(1000);
>     turn(500);
>     return 0;
> }
> END
> gcc -g -O1 -pthread known.c -o known
$ cat > run <<'END'
> riffle run --module known -e exact "$@" -- ./known 2>&1 | sed -E 's/ +[0-9.]+ s$//; s/^threads .*/threads/; s/0x[0-9a-f]{6,}/ADDRESS/g'
> END
> chmod +x run
$ ./run --by function -n 3
known   38,102 instructions
threads

 instructions   count  function  module
        73.5%  28,010  hot       known
        23.7%   9,012  turn      known
         2.4%     900  one       known
 14 more functions, 0.4%
$ ./run --by line -n 3
known   38,102 instructions
threads

 instructions   count  line            source
        42.0%  16,002  known.c:10      sink = table[i & 3];
        31.5%  12,006  known.c:9       for (int i = 0; i < n; i++)
        19.7%   7,501  known.c:15      sink = steps[i % 10 == 0](i);
         0.2%      61  (no line data)
 14 more lines, 6.6%
$ ./run --by module
known   38,102 instructions
threads

 instructions   count  module
       100.0%  38,102  known
$ ./run --by pc -p values -n 3
known   5,028 loads
threads

 loads  count  values  top value  of this load  place
 79.6%  4,000       2  0x2a              75.0%  known.c:10 hot
  9.9%    500       2  ADDRESS          90.0%  known.c:15 turn
  8.9%    450       1  ADDRESS         100.0%  known.c:4 one
 26 more instructions, 1.6%
$ ./run --by value -n 2
known   5,028 loads
threads

 loads  count  value
 59.7%  3,000  0x2a
 19.9%  1,000  7
 24 more values, 20.4%
$ ./run --by target -p types
known   501 indirect calls
threads

 indirect calls  count  target
          89.8%    450  one
          10.0%     50  two
           0.2%      1  __libc_start_main
$ ./run --by region -p 'load,store -> pc,addr' -n 3
known   10,047 accesses
threads

 accesses  count  region
    44.8%  4,500  sink (.bss of known)
    39.8%  4,000  table (.data of known)
    10.3%  1,034  [stack]
 5 more regions, 5.1%
$ ./run --by thread
known   38,102 instructions
threads

 instructions   count  thread
        55.1%  21,008       2
        44.9%  17,094       1
$ ./run --by process
known   38,102 instructions
threads

 instructions   count  process  program
       100.0%  38,102        1  known
$ ./run --by item -p values -n 2
known   5,028 loads
threads

 loads  count  value  place
 59.7%  3,000  0x2a   known.c:10 hot
 19.9%  1,000  7      known.c:10 hot
 30 more rows, 20.4%
# The questions that have names.
$ ./run -p invariance -n 2
known   5,028 loads
threads

 loads  count  values  top value  of this load  place
 79.6%  4,000       2  0x2a              75.0%  known.c:10 hot
  9.9%    500       2  ADDRESS          90.0%  known.c:15 turn
 27 more instructions, 10.5%
$ ./run -p types
known   501 indirect calls
threads

 indirect calls  count  targets  top target  of this call  place
          99.8%    500        2  one                90.0%  known.c:15 turn
           0.2%      1        -  -                      -  (where the linker said)
$ ./run -p bias -n 2
known   4,508 branches
threads

 branches  count  ways  mostly  of this branch  place
    88.7%  4,000     2  taken            99.9%  known.c:9 hot
    11.1%    500     2  taken            99.8%  known.c:14 turn
 7 more instructions, 0.2%
# The rows for tools have the same numbers and full names.
$ riffle run -q --module known -e exact -p values -p types -o known.rfp -- ./known
$ riffle report known.rfp --format csv -n 1 | sed -E "s|$PWD|HERE|; s/0x1[0-9a-f]{5}/PC/g"
pc,value,count,lower,upper,bound,function,file,line,module,profile
PC,0x2a,3000,3000,3000,exact,hot,HERE/known.c,10,known,"load -> pc,value"

pc,target,count,lower,upper,bound,function,file,line,module,callee,profile
PC,PC,450,450,450,exact,turn,HERE/known.c,15,known,one,"call indirect==1 -> pc,target"
$ riffle report known.rfp --format csv --by function -n 2 | sed -n 1,3p
function,module,count,lower,upper,bound,profile
hot,known,4002,4002,4002,exact,"load -> pc,value"
turn,known,504,504,504,exact,"load -> pc,value"
$ riffle report known.rfp --format csv --by pc -n 1 | sed -E "s|$PWD|HERE|; s/0x1[0-9a-f]{5}/PC/g"
pc,count,lower,upper,bound,values,top_value,top_count,top_lower,top_upper,function,file,line,module,profile
PC,4000,4000,4000,exact,2,0x2a,3000,3000,3000,hot,HERE/known.c,10,known,"load -> pc,value"

pc,count,lower,upper,bound,targets,top_target,top_name,top_count,top_lower,top_upper,function,file,line,module,profile
PC,500,500,500,exact,2,PC,one,450,450,450,turn,HERE/known.c,15,known,"call indirect==1 -> pc,target"
,1,1,1,exact,,,,,,,,,,,"call indirect==1 -> pc,target"
$ riffle report known.rfp --format json --by line -n 1 | grep -A2 '"by"' | sed -E "s|$PWD|HERE|" | head -3
      "by": "line", "rows_found": 10, "rows": [
        {"file": "HERE/known.c", "line": 10, "function": "hot", "module": "known", "count": 4000, "lower": 4000, "upper": 4000, "bound": "exact"},
        {"file": "", "line": null, "function": "", "module": "", "count": 19, "lower": 19, "upper": 19, "bound": "exact"}
# Order, and what is left out.
$ riffle report known.rfp --by function --sort name -n 3 | sed -n '/^load/,/^call/ p'
load -> pc,value

 loads  count  function               module
  0.0%      1  __cxa_finalize@plt     known
  0.1%      5  __do_global_dtors_aux  known
  0.0%      1  _fini                  known
 13 more functions, 99.9%

call indirect==1 -> pc,target
$ ./run -p bias --sort mixed --min-share 5%
known   4,508 branches
threads

 branches  count  ways  mostly  of this branch  place
    11.1%    500     2  taken            99.8%  known.c:14 turn
    88.7%  4,000     2  taken            99.9%  known.c:9 hot
 7 more instructions, 0.2%
$ riffle report known.rfp --by function --min-share 20% | sed -n '/^load/,/^call/ p'
load -> pc,value

 loads  count  function  module
 79.6%  4,002  hot       known
 15 more functions, 20.4%

call indirect==1 -> pc,target
$ riffle report known.rfp --function turn | sed -n '/^call/,$ p'
call indirect==1 -> pc,target

 indirect calls  count  targets  top target  of this call  place
          99.8%    500        2  one                90.0%  known.c:15 turn
# What the run has not is named. After a run it is only said, and the program's own status stays.
$ riffle report known.rfp --module nosuch -n 1
riffle: no module 'nosuch' in this run
[1]
$ riffle report known.rfp --module known --module nosuch -f csv
riffle: no module 'nosuch' in this run
[1]
$ riffle report known.rfp --function nosuch
riffle: no function 'nosuch' in the modules of this run
[1]
$ riffle run -q -p values -p 'load -> thread,pc' --record some.rft -- ./known; riffle replay some.rft -p 'load -> pc' --module nosuch
riffle: no module 'nosuch' in this run
[1]
$ riffle replay some.rft -p 'load -> pc' --thread 9
riffle: no event of thread 9 was found in this run
[1]
$ riffle replay some.rft -p 'load -> thread,pc' -e exact -o some.rfp >/dev/null; riffle report some.rfp --thread 9
riffle: no event of thread 9 was found in this run
[1]
$ riffle report some.rfp --thread 2 --function hot -f csv | sed 1d | cut -d, -f 1 | sort -u
2
$ printf 'int main(void) { return 7; }\n' >seven.c; gcc seven.c -o seven; riffle run -p 'load -> pc' --module nosuch --module seven -- ./seven 2>&1 | grep -c nosuch
1
[7]
$ riffle run -q -o seven.rfp -p 'load -> pc' --module nosuch -- ./seven
riffle: run: no file that was mapped is 'nosuch' of --module
[7]
$ riffle run -p 'load -> pc' --thread 9 -f csv -- ./seven
riffle: no event of thread 9 was found in this run
pc,count,lower,upper,bound,function,file,line,module,profile
[7]
# The stream is what was asked for: totals that a bounded engine gets beside it are not told.
$ for engine in auto exact; do riffle run -p values -e $engine --function hot --details -- ./known 2>&1 | sed -nE 's/^(stream|events) +([0-9,]+ [a-z]+).*/\2/p'; done
4002 events
4,002 produced
4002 events
4,002 produced
# A thread alone; a saved profile must tell threads apart.
$ ./run -p 'load -> pc' --function hot --thread 2 -n 1
known   3,001 loads
threads

  loads  count  place
 100.0%  3,000  known.c:10 hot
 1 more row, 0.0%
$ riffle report known.rfp --thread 2
riffle: 'load -> pc,value' does not tell threads apart; 'insn -> thread,pc' does
[1]
$ riffle report known.rfp --thread 65535
riffle: 'load -> pc,value' does not tell threads apart; 'insn -> thread,pc' does
[1]
$ riffle report known.rfp --thread 65536
riffle: --thread must be at most 65535, got '65536'
[2]
$ riffle run --thread 0 -- true
riffle: run: threads are numbered from 1: there is no --thread 0
[125]
$ riffle report known.rfp --by nonsense
riffle: report: --by must be item, function, line, module, pc, value, target, region, thread, process, stack or caller, got 'nonsense'
[2]
$ riffle report known.rfp --by region
riffle: 'load -> pc,value' cannot be grouped by region: it has no such field
[1]
$ printf '1 2\n' | riffle replay - --by function
riffle: 'a stream of tuples' cannot be grouped by function: it has no such field
[1]
# Into a file, and nothing else anywhere.
$ riffle run --module known -p 'load -> pc' --report report.txt -- ./known; sed -n '1 s/ loads.*/ loads/p' report.txt; stat -c %a report.txt
known   5,028 loads
600
$ riffle report known.rfp --report /nowhere/report.txt
riffle: /nowhere/report.txt: cannot create: No such file or directory
[1]
# The hottest functions with their source.
$ riffle report known.rfp --annotate | sed -E "s|$PWD|HERE|; s/0x[0-9a-f]{6,}/ADDRESS/g" | head -8
hot in HERE/known.c: 79.6% of 5,028 loads

  loads  top value             line  source
                                  7  __attribute__((noinline)) static void hot(int n)
                                  8  {
                                  9      for (int i = 0; i < n; i++)
  79.6%  0x2a (75.0%)            10          sink = table[i & 3];
   0.0%  ADDRESS (50.0%)        11  }
# The totals beside a profile are no ranges, and nobody asked for them.
$ riffle run --module known -p addresses -e 'rap(key=b)' --format tree -- ./known 2>&1 | grep -c 'hot ones inside it'
1
# Branches into one function are one target, and what has no line is one row.
$ riffle run --module known -e exact -p edges --by target -- ./known 2>&1 | grep -c ' hot$'
1
# -n and --min-share hold for the first screen, too.
$ riffle run -q --module known -o screen.rfp -- ./known; riffle report screen.rfp -n 1 | grep -E '%  (hot|turn|one) |more'
        73.5%  hot       known
 16 more functions, 26.5%
 16 more lines, 57.8%
$ riffle report screen.rfp --min-share 20% | grep -E '%  (hot|turn|one) |more'
        73.5%  hot       known
        23.7%  turn      known
 15 more functions, 2.8%
 16 more lines, 26.5%
# What a profile does not know is left out or refused before anything is written.
$ riffle run -q --module known -o mixed.rfp -p values -p stacks=1K -- ./known
$ riffle report mixed.rfp --by stack --format json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["left_out"], [p["selector"] for p in d["profiles"]])'
\['load -> pc,value'] ['frame -> pc,context']
$ riffle report mixed.rfp --by thread --format json
riffle: 'load -> pc,value' cannot be grouped by thread: it has no such field
[1]
$ riffle report mixed.rfp --by thread --format csv
riffle: 'load -> pc,value' cannot be grouped by thread: it has no such field
[1]
$ riffle report mixed.rfp --by value --format csv | grep -c frame
0
[1]
# Ranges and streams have no first screen; they have tables. A function that is not there costs the report nothing.
$ riffle run --module known -e 'rap(key=a)' -- ./known 2>&1 | grep -c 'with inner'
4
$ riffle run --module known --annotate nosuch -- ./known 2>&1 | grep -E '^riffle|%  hot '
riffle: no function 'nosuch' in the modules of this run
        73.5%  hot       known
$ riffle run --cache junk -- ./known
riffle: cache: expected 'l1=SIZE/WAYS/LINE', got 'junk'
[125]
# Of samples of the stack, a line has what was on top.
$ riffle report mixed.rfp --by line -n 1 | sed -n '/frame -> pc,context/,$p' | grep -oE 'known.c:(9|10|14|15)' | sed 's/:.*//'
known.c
# Memory has a name: a file that is mapped, or who mapped it. Misses are asked for by it.
$ cat > regions.c <<'END'
> #include <fcntl.h>
> #include <stdlib.h>
> #include <sys/mman.h>
> enum { BYTES = 1 << 20 };
> static volatile long sum;
> static void walk(const volatile char *from)
> {
>     for (int i = 0; i < BYTES; i += 64)
>         sum += from[i];
> }
> __attribute__((noinline)) static char *get(void)
> {
>     return mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
> }
> int main(void)
> {
>     int data = open("walked.data", O_RDONLY);
>     walk(get());
>     walk(malloc(BYTES));
>     walk(mmap(0, BYTES, PROT_READ, MAP_SHARED, data, 0));
> }
> END
> gcc -g -O0 regions.c -o regions; truncate -s 1M walked.data
$ riffle run --module regions -e exact -p misses --by region -- ./regions 2>&1 | grep -oE ' 16,[0-9]{3} .*' | sed -E 's/ 16,[0-9]+ +//'
\[mapped by get (regions.c:13)]
\[mapped by main (regions.c:19)]
\[file walked.data]
$ riffle run --module regions -e exact -p misses -n 1 -- ./regions 2>&1 | grep walk
 100.0%  49,152     49,152  [mapped by get (regions.c:13)]         33.3%  regions.c:9 walk
# Without lines, stretches of instructions stand for them. What guards the stack is always the same; nobody is told.
$ cat > guarded.c <<'END'
> static volatile long sink;
> __attribute__((noinline)) static void guarded(long i)
> {
>     volatile char room[16];
>     room[i & 15] = 1;
>     sink = room[i & 15];
> }
> int main(void)
> {
>     for (long i = 0; i < 20000; i++)
>         guarded(i);
> }
> END
> gcc -O1 -fstack-protector-all guarded.c -o guarded; strip guarded
$ riffle run -o guarded.rfp -- ./guarded 2>&1 | grep -cE '%  guarded\+0x[0-9a-f]+\.\.0x[0-9a-f]+$'
2
$ riffle report guarded.rfp | sed -n '/worth/,/^$/p' | grep -E '0x[0-9a-f]{8,}'
[1]
# The library that Valgrind puts into a program is not the program's.
$ riffle report guarded.rfp --by module | grep -c vgpreload
0
[1]
# A load whose values all differ comes first. None of its values is listed; the row says what is known of them.
$ printf 'volatile unsigned long x; int main(void) { for (;;) x++; }\n' > endless.c; gcc -g -O1 endless.c -o endless
$ timeout 3 riffle run -e 'auto(ceiling=256Ki)' -p values -n 1 --report endless.txt -- ./endless; sed -nE 's/^ +[0-9.]+% +[0-9.]+ M +[0-9,]+[+]  /P N V+  /p' endless.txt
P N V+  all rare           0.0%  endless.c:1 main
# Loads of a program and its child, by the default engine: the shares are of both together.
$ cat > pair.c <<'END'
> #include <sys/wait.h>
> #include <unistd.h>
> static volatile long sink, cell = 5;
> int main(void)
> {
>     int child = fork() == 0;
>     for (int i = 0; i < (child ? 1000 : 3000); i++)
>         sink = cell;
>     if (!child)
>         wait(0);
>     return 0;
> }
> END
$ gcc -O1 -g pair.c -o pair
$ riffle run --by process -p values --module pair -- ./pair 2>&1 | sed -n '/process  program/,/^$/ p'
 loads  count  process  program
 75.0%  3,020        1  pair
 25.0%  1,009        2  pair
