# A program with a hot value in a known line; the source is in this folder.
$ cat > hot.c <<'END'
> #include <stdio.h>
> static volatile int table[4] = {42, 42, 42, 7};
> static volatile int sink;
> __attribute__((noinline)) static void hot(int n)
> {
>     for (int i = 0; i < n; i++)
>         sink = table[i % 4];
> }
> int main(void)
> {
>     hot(100000);
>     puts("done");
>     return 0;
> }
> END
> gcc -g -O1 hot.c -o hot && riffle run -q -e exact -p values -p calls -p 'load -> addr' -o hot.rfp -- ./hot
done
# The right value at the right line.
$ riffle report hot.rfp -n 1 | sed -n '/^load -> pc,value/,/^call/ { /more/ d; /^ / p }' | sed -E 's/^ *[0-9]+\.[0-9]+%/ S%/'
 loads    count  values  top value  of this load  place
 S%  100,000       2  0x2a              75.0%  hot.c:7 hot
# Which data.
$ riffle report hot.rfp --by region -n 1 | sed -n '/table/ s/^ *[^ ]* *//p'
100,000  table (.data of hot)
# Ranges that begin in the data of a file and end behind them have its name, too.
$ riffle run -q -p 'load,store -> addr' -e 'rap(key=a)' -o ranges.rfp -- ./hot
done
$ riffle report ranges.rfp --format tree --hot 0.1% | grep -cE ' 0x40[0-9a-f]{5}[.][.]0x40[0-9a-f]{5}$'
0
[1]
# What a file maps in front of its code belongs to it.
$ riffle run -p 'load -> addr' --by region -n 0 -- ./hot 2>&1 | grep -c 'dynstr of libc'
1
# Its source.
$ riffle report hot.rfp --annotate hot | sed -E "s|$PWD|HERE|; s/[0-9.]+% of [0-9,]+ loads.*/S of N loads/; s/^ +[0-9]+\.[0-9]+%/  S%/; s/0x1[0-9a-f]{5}/RETURN/"
hot in HERE/hot.c: S of N loads

  loads  top value              line  source
                                   4  __attribute__((noinline)) static void hot(int n)
                                   5  {
                                   6      for (int i = 0; i < n; i++)
  S%  0x2a (75.0%)              7          sink = table[i % 4];
  S%  RETURN (100.0%)         8  }

# A line with calls.
$ riffle report hot.rfp --annotate main | grep -c 'puts("done")'
1
$ riffle report hot.rfp --annotate hott
riffle: no function 'hott' ran; did you mean 'hot'?
[1]
$ riffle report hot.rfp --no-names -n 1 | grep -c hot.c
0
[1]
# A recorded stream has the same names, as has a part of it, and what is made of it.
$ riffle run -q -p values --record hot.rft -- ./hot
done
$ riffle replay hot.rft -n 1 | sed -n '/hot.c/ { s/^ *[0-9]*\.[0-9]*%/S%/; p }'
S%  100,000       2  0x2a              75.0%  hot.c:7 hot
$ riffle replay hot.rft --skip 20K --limit 90K -n 1 | sed -n 's/.*0x2a *//p'
75.0%  hot.c:7 hot
$ riffle trace convert hot.rft - --to rft | riffle replay - -n 1 | sed -n 's/.*0x2a *//p'
75.0%  hot.c:7 hot
$ riffle replay hot.rft -n 1 -a hot | grep -c 'sink = table'
1
# Names in selectors: of a recorded program.
$ riffle run -q -p values -p calls --record all.rft -- ./hot
done
$ riffle replay all.rft -p 'load pc in hot..hot+0x40 value==7 -> value' --format csv
value,count,lower,upper,bound,profile
0x7,25000,25000,25000,exact,"load pc in hot..hot+64 value==7 -> value"
$ riffle replay all.rft -p 'load pc==hott -> value'
riffle: selector: no symbol is called 'hott'
[1]
# Of a running one: what is mapped later counts from then on.
$ riffle run -p 'load pc in hot..hot+0x40 value==7 -> value' -e exact --format csv -- ./hot
done
value,count,lower,upper,bound,profile
0x7,25000,25000,25000,exact,"load pc in hot..hot+64 value==7 -> value"
$ riffle run -q -p 'load pc==hott -> value' -e exact -- ./hot
done
riffle: run: no file that was mapped has what a selector names: hott
$ riffle run -q -p 'load pc>=hot miss>=1 -> value' -- ./hot
riffle: run: a name in a selector works with none of misses, bursts, --coproc and --record of several -p; use --function, or the name in 'riffle replay -p' of the record
[125]
# A call of malloc goes to malloc@plt, to malloc in libc or to both; of the jumps behind it one more kind.
$ printf '#include <stdlib.h>\nvoid *kept[100];\nint main(void) { for (int i = 0; i < 100; i++) kept[i] = malloc(5); return 0; }\n' >get.c; gcc -O0 get.c -o get
$ riffle run -q -p calls -p edges --record get.rft -- ./get
$ riffle replay get.rft -p 'call target==malloc -> target' -n 1 --no-names --format csv | sed 1d | cut -d, -f2
100
$ riffle run -p 'call target==malloc -> target' -e exact --format csv -n 1 -- ./get 2>&1 | sed 1d | cut -d, -f2
100
$ printf '1 2\n' | riffle replay - -p 'load pc>=hot -> value'
riffle: the selector names a symbol, and there is no program to look it up in
[1]
# Without the source: the disassembly.
$ mv hot.c away.c; riffle report hot.rfp --annotate hot | sed -n 's/.*\(0x2a (75.0%)\).* mov .*/\1/p; s/.*\(address  instruction\)/\1/p'
address  instruction
0x2a (75.0%)
# Without the program: addresses, and a sentence.
$ mv hot gone; COLUMNS=9999 riffle report hot.rfp -n 1 | sed -E "s|$PWD|HERE|" | grep '^names'
names       HERE/hot: it cannot be opened: No such file or directory; its places are shown as addresses
# With another program in its place: the same.
$ gcc -g -O0 away.c -o hot; COLUMNS=9999 riffle report hot.rfp -n 1 | sed -E "s|$PWD|HERE|; s/[0-9a-f]{40}/ID/g" | grep '^names'
names       HERE/hot: it is not the file that ran: its build id is ID, that of the run is ID; its places are shown as addresses
# One rule for names: --function, --annotate and query take every spelling; of several functions the hot one comes first.
$ cat > geo.cc <<'END'
> #include <string.h>
> namespace geo {
> static volatile long data[4] = {1, 2, 3, 4};
> struct Shape { int side; __attribute__((noinline)) long area(int scale) const; };
> long Shape::area(int scale) const { long s = 0; for (int i = 0; i < 100; i++) s += data[i & 3]; return s * scale * side; }
> template <typename T> __attribute__((noinline)) T most(T a, T b) { T s = 0; for (int i = 0; i < 50; i++) s += data[i & 3]; return a > b ? s : b; }
> }
> static char left[600], right[600];
> int main(int argc, char **) { geo::Shape shape = {argc}; long s = shape.area(2) + geo::most<long>(argc, 3);
>   for (int i = 0; i < 500; i++) s += memcmp(left, right, 500 + argc); return s == 0; }
> END
> g++ -g -O1 -fno-builtin geo.cc -o geo
$ for name in 'geo::Shape::area(int) const' area _ZNK3geo5Shape4areaEi 'geo::*' geo::most; do
>   riffle run -q -e exact -p 'load -> pc' --function "$name" -o one.rfp -- ./geo
>   echo "$name $(riffle report one.rfp | sed -n '1 s/^geo *\(.*\) loads.*/\1/p') $(riffle report one.rfp --full-names -a "$name" | sed -n 's/ in .*:.* of .*//p' | tr '\n' ' ')"
> done
geo::Shape::area(int) const 102 geo::Shape::area(int) const 
area 102 geo::Shape::area(int) const 
_ZNK3geo5Shape4areaEi 102 geo::Shape::area(int) const 
geo::* 153 geo::Shape::area(int) const geo::most<long>(long, long) 
geo::most 51 geo::most<long>(long, long) 
$ riffle run -q -e exact -p 'load -> pc' -o geo.rfp -- ./geo; riffle report geo.rfp -a memcmp | head -1 | sed -E 's/^(__memcmp)_[a-z0-9_]* in .*/\1_... first/'
__memcmp_... first
# A saved profile takes the same spellings.
$ for name in 'geo::Shape::area(int) const' area _ZNK3geo5Shape4areaEi 'geo::*' geo::most; do
>   echo "$name $(riffle report geo.rfp --function "$name" --by function -f csv | sed '1d; s/,[^,]*,/ /; s/,.*//' | tr '\n' ' ')"
> done
geo::Shape::area(int) const geo::Shape::area 102 
area geo::Shape::area 102 
_ZNK3geo5Shape4areaEi geo::Shape::area 102 
geo::* geo::Shape::area 102 geo::most<long> 51 
geo::most geo::most<long> 51 
# Copies that the compiler makes, lambdas, and what runs before main, are found by run as by report.
$ cat > clone.cc <<'END'
> static volatile long data[4];
> namespace geo { struct Box { long side; __attribute__((noinline)) long get(int n) const { return side + data[n & 3]; } }; }
> int main(int argc, char **) { long s = 0; geo::Box box = {argc};
>   auto add = [&](int n) __attribute__((noinline)) { s += data[n & 3]; };
>   for (int i = 0; i < 100; i++) { s += box.get(i); add(i); }
>   return s == 1; }
> END
> g++ -O2 clone.cc -o clone; nm clone | grep -c isra; riffle run -q -e exact -p 'load -> pc' -p 'call -> pc' -o clone.rfp -- ./clone
2
$ for name in 'geo::Box::get(int) const' _ZNK3geo3Box3getEi 'main::{lambda(int)#1}::operator()'; do
>   echo "$name"; riffle run -e exact -p 'load -> pc' -p 'call -> pc' --function "$name" --by function -f csv --report run.csv -- ./clone
>   riffle report clone.rfp --function "$name" --by function -f csv | diff - run.csv && grep -c ',exact,' run.csv
> done
geo::Box::get(int) const
1
_ZNK3geo3Box3getEi
1
main::{lambda(int)#1}::operator()
1
$ riffle run -e exact -p 'call -> pc' --function _start --module clone --by function -f csv --report - -- ./clone | cut -d, -f 1-3
function,module,count
_start,clone,1
# Overloads: with parameters one of them, without them all, which is said; the same for run, report, annotate, selectors and query.
$ cat > over.cc <<'END'
> static volatile long data[4];
> struct Box { __attribute__((noinline)) long over(int n) const { return data[n & 3]; } };
> __attribute__((noinline)) long over(int n) { long s = 0; for (int i = 0; i < 10; i++) s += data[n & 3]; return s; }
> __attribute__((noinline)) long over(double x) { long s = 0; for (int i = 0; i < 20; i++) s += data[(int)x & 3]; return s; }
> int main(int argc, char **) { Box box; return over(argc) + over(argc + 0.5) + box.over(argc) == 1; }
> END
> g++ -g -O1 over.cc -o over; riffle run -q -e exact -p 'load -> pc' -p calls -o over.rfp -- ./over; riffle run -q -p calls -p 'load -> pc' --record over.rft -- ./over
$ for name in 'over(int)' 'over(double)' _Z4overd 'Box::over(int) const' ::over over 'over(char)'; do
>   echo "$name: run $(riffle run -e exact -p 'load pc>0 -> pc' --function "$name" -f csv --report - -- ./over 2>said | awk -F, 'NR > 1 { n += $2 } END { print n+0 }')" \
>     "report $(riffle report over.rfp --function "$name" --by function -f csv 2>&1 | awk -F, '/load/ { n += $3 } END { print n+0 }')" \
>     "annotate $(riffle report over.rfp --full-names -a "$name" 2>&1 | sed -n 's/ in .*: .*//p' | tr '\n' ';')"
>   cat said
> done
over(int): run 11 report 11 annotate over(int);
over(double): run 21 report 21 annotate over(double);
_Z4overd: run 21 report 21 annotate over(double);
Box::over(int) const: run 2 report 2 annotate Box::over(int) const;
::over: run 32 report 32 annotate over(double);over(int);
riffle: '::over' means 2 functions, and all are counted: over(int), over(double)
over: run 34 report 34 annotate over(double);over(int);Box::over(int) const;
riffle: 'over' means 3 functions, and all are counted: over(int), over(double), Box::over(int) const
over(char): run 0 report 0 annotate 
riffle: run: no file that was mapped has the function 'over(char)' of --function
# A head shows what reports show elsewhere: parameters where they tell functions apart, arguments of templates the same.
$ for name in 'over(int)' over; do echo $(riffle report over.rfp -a "$name" 2>/dev/null | sed -n 's/ in .*: .*/;/p'); done
over;
over(double); over(int); Box::over;
$ riffle report geo.rfp -a 'geo::*' | sed -n 's/ in .*:.* of .*//p'
geo::Shape::area
geo::most<long>
$ cat > heads.cc <<'END'
> static volatile long data[4];
> template <typename T, typename U> struct pair_of_types { T t; U u; };
> template <typename T> __attribute__((noinline)) long sum_of_numbers(T, int n) { long s = 0; for (int i = 0; i < n; i++) s += data[i & 3]; return s; }
> int main() { return sum_of_numbers(pair_of_types<long, pair_of_types<char, char>>(), 50) + sum_of_numbers(1.5, 100) == 1; }
> END
> g++ -g -O1 heads.cc -o heads; riffle run -q -e exact -p 'load -> pc' --module heads -o heads.rfp -- ./heads
$ for more in '-a sum_of_numbers' '-a sum_of_numbers<double>' '-a sum_of_numbers --full-names'; do COLUMNS=300 riffle report heads.rfp $more | sed -n 's/ in .*:.* of .*//p'; done
sum_of_numbers<double>
sum_of_numbers<pair_of_types<..> >
sum_of_numbers<..>
sum_of_numbers<double>(double, int)
sum_of_numbers<pair_of_types<long, pair_of_types<char, char> > >(pair_of_types<long, pair_of_types<char, char> >, int)
$ riffle report over.rfp --function over -n 1 2>&1 >/dev/null
riffle: 'over' means 3 functions, and all are shown: over(int), over(double), Box::over(int) const
$ riffle report over.rfp -a 'over(char)'; riffle report over.rfp --function 'over(char)'
riffle: no function 'over(char)' in the modules of this run
riffle: no function 'over(char)' in the modules of this run
[1]
$ for name in 'over(int)' over ::over; do riffle run -e exact -p "call target=='$name' -> target" --full-names -f csv --report - -- ./over | cut -d, -f 2,6; done
count,profile
1,"call target=='over(int)' -> target"
riffle: 'over' means 3 functions, and all are counted: over(int), over(double), Box::over(int) const
count,profile
1,"call target==over -> target"
1,"call target==over -> target"
1,"call target==over -> target"
riffle: '::over' means 2 functions, and all are counted: over(int), over(double)
count,profile
1,"call target==::over -> target"
1,"call target==::over -> target"
$ riffle replay over.rft -p "call target=='over(double)' -> target" -f csv | cut -d, -f 2,6
count,profile
1,"call target=='over(double)' -> target"
$ riffle query over.rfp 'over(double)..over(double)+0x40' | awk '/at least/ { print ($3 >= 21) }' | head -1; riffle query over.rfp over..over 2>&1 | head -1
1
riffle: 'over' means 3 functions, and the first is taken: over(int), over(double), Box::over(int) const
# A star behind a type is a pointer, and operator* is that operator: neither stands for any text.
$ cat > star.cc <<'END'
> static volatile long data[4];
> struct Box { long side; __attribute__((noinline)) long operator*(int n) const { return data[n & 3]; }
>   __attribute__((noinline)) long operator+(int n) const { return data[n & 3] + data[1]; } };
> __attribute__((noinline)) long over(int n) { long s = 0; for (int i = 0; i < 10; i++) s += data[n & 3]; return s; }
> __attribute__((noinline)) long over(int *n) { long s = 0; for (int i = 0; i < 20; i++) s += data[i & 3]; return s + *n; }
> __attribute__((noinline)) long over(int n, long *m) { long s = 0; for (int i = 0; i < 40; i++) s += data[n & 3]; return s + *m; }
> int main(int argc, char **) { long m = 1; Box box = {1}; return over(argc) + over(&argc) + over(argc, &m) + box * argc + (box + argc) == 1; }
> END
> g++ -g -O1 star.cc -o star; riffle run -q -e exact -p 'load -> pc' -o star.rfp -- ./star
$ for name in 'over(int*)' _Z4overPi 'over (int, long*)' 'over(*)' 'Box::operator*' _ZNK3BoxmlEi 'Box::operator?*'; do
>   echo "$name: run $(riffle run -e exact -p 'load -> pc' --function "$name" -f csv --report - -- ./star 2>&1 | awk -F, 'NR > 1 { n += $2 } END { print n+0 }')" \
>     "report $(riffle report star.rfp --function "$name" --by function -f csv 2>&1 | awk -F, '/load/ { n += $3 } END { print n+0 }')" \
>     "annotate $(riffle report star.rfp --full-names -a "$name" 2>&1 | sed -n 's/ in .*: .*//p' | tr '\n' ';')"
> done
over(int*): run 22 report 22 annotate over(int*);
_Z4overPi: run 22 report 22 annotate over(int*);
over (int, long*): run 42 report 42 annotate over(int, long*);
over(*): run 75 report 75 annotate over(int, long*);over(int*);over(int);
Box::operator*: run 2 report 2 annotate Box::operator*(int) const;
_ZNK3BoxmlEi: run 2 report 2 annotate Box::operator*(int) const;
Box::operator?*: run 5 report 5 annotate Box::operator+(int) const;Box::operator*(int) const;
# Stubs have names in reports, not in the probe.
$ riffle run --function malloc@plt -- ./get
riffle: run: --function 'malloc@plt': stubs cannot be chosen while the program runs; 'riffle report --function' of a saved profile can choose them
[125]
# A function with code of its own and an inlined copy: --annotate shows both, and together they are what --function takes.
$ cat > both.c <<'END'
> static volatile int x;
> static inline __attribute__((always_inline)) int both(int i) { return x + i; }
> int (*volatile far)(int) = both;
> int main(void) { int s = 0; for (int i = 0; i < 30; i++) s += both(i); for (int i = 0; i < 7; i++) s += far(i); return s == 1; }
> END
> gcc -g -O1 both.c -o both; riffle run -q -p 'load -> pc' -e exact --module both -o both.rfp -- ./both
$ riffle report both.rfp -a both | sed -n 's/ in .*: .*//p'; riffle report both.rfp --function both --by function -f csv | awk -F, '/load/ { n += $3 } END { print n }'
both (inlined)
both
44
# A call cannot go to what was inlined everywhere: both ways of reading say so.
$ printf 'static volatile int x;\nstatic inline __attribute__((always_inline)) int tiny(int i) { return x + i; }\nint main(void) { int s = 0; for (int i = 0; i < 9; i++) s += tiny(i); return s == 1; }\n' > tiny.c; gcc -g -O1 tiny.c -o tiny
$ riffle run -q -p 'call target==tiny -> pc' -- ./tiny; riffle run -q -p calls -p 'load -> pc' --record tiny.rft -- ./tiny; riffle replay tiny.rft -p 'call target==tiny -> pc'
riffle: run: no file that was mapped has what a selector names: tiny
riffle: 'tiny' was inlined wherever it was called, so no call goes to it; 'insn pc==tiny -> pc' counts where its copies begin
riffle: 'tiny' was inlined wherever it was called, so no call goes to it; 'insn pc==tiny -> pc' counts where its copies begin
riffle: selector: no symbol is called 'tiny'
[1]
# Statuses: the program's own, whatever it is; 125 where riffle failed, beside any status of the program.
$ for status in 0 2 125; do riffle run -q -- sh -c "exit $status"; echo "$status is $?"; done
0 is 0
2 is 2
125 is 125
$ riffle run -q -o /dev/full -- sh -c 'exit 3'
riffle: /dev/full: cannot write: No space left on device
[125]
$ riffle run -q -o /dev/full -- sh -c 'kill $$'
riffle: /dev/full: cannot write: No space left on device
[125]
$ riffle run -x
riffle: run: no option '-x'; see 'riffle help run'
[125]
$ riffle run -q ./nosuch
riffle: run: './nosuch': no such program
[127]
$ riffle run -q .
riffle: run: '.': no such program
[127]
# The seed of run is another one in every run; the report has it, and with it a run can be repeated.
$ seed_of() { riffle report "$1" --details | sed -n 's/.*, seed //p'; }; run_it() { riffle run -q -p calls -e multihash -o "$@" -- ./hot > /dev/null; }
> run_it one.rfp; run_it two.rfp; [ "$(seed_of one.rfp)" != "$(seed_of two.rfp)" ] && echo differ
> run_it two.rfp --seed "$(seed_of one.rfp)"; [ "$(seed_of one.rfp)" = "$(seed_of two.rfp)" ] && echo same
differ
same
# A dynamic one may map any file while it runs: a function that none of them has is told when it is over.
$ riffle run -q --function hott -- ./hot > /dev/null
riffle: run: no file that was mapped has the function 'hott' of --function; did you mean 'hot'?
[125]
# A saved profile refuses such a name. A function that was inlined is one that it has.
$ cat > inner.c <<'END'
> volatile int table[1000];
> static inline __attribute__((always_inline)) int inner(int i) { return table[i % 1000] + i; }
> int main(void) { int sum = 0; for (int i = 0; i < 9000; i++) sum += inner(i); return sum == 1; }
> END
> gcc -g -O1 inner.c -o inner; riffle run -q -p 'load -> pc' -e exact -o inner.rfp -- ./inner
$ riffle report inner.rfp --function inne
riffle: no function 'inne' in the modules of this run
[1]
$ riffle report inner.rfp --function data_start 2>&1 | grep -c "did you mean 'data_start'"
0
[1]
$ riffle report inner.rfp --function fnord -f csv; riffle report inner.rfp --function inner -f csv | cut -d, -f 2,6
riffle: no function 'fnord' in the modules of this run
count,function
9000,main
# So have --annotate, run, a static program before it runs, and selectors, for which it begins where each copy begins.
$ riffle report inner.rfp --annotate inner | sed -E "s|$PWD|HERE|; s/[0-9.]+% of [0-9,]+ loads/S of N loads/; s/^ +[0-9.]+%/   S%/"
inner (inlined) in HERE/inner.c: S of N loads

  loads      line  source
   S%         2  static inline __attribute__((always_inline)) int inner(int i) { return table[i...
$ gcc -g -O1 -static inner.c -o still
$ for program in ./inner ./still; do
>   riffle run -p 'load -> pc' -e exact --function inner -f csv --report - -- $program | cut -d, -f 2,6
>   riffle run -p 'load -> pc' -e exact -a inner --report - -- $program | sed -n '1 s/ in .*//p'
>   riffle run -p 'insn pc==inner -> pc' -e exact -f csv --report - -- $program | cut -d, -f 2,6
> done
count,function
9000,main
inner (inlined)
count,function
9000,main
count,function
9000,main
inner (inlined)
count,function
9000,main
$ riffle run --function innre -- ./still
riffle: ./still has no function 'innre'
[125]
# Every spelling means an inlined function, too, and --annotate adds up its copies.
$ cat > twice.cc <<'END'
> namespace geo { volatile long data[4];
> struct Shape { inline __attribute__((always_inline)) long area(int n) const { long t = 0; for (int i = 0; i < n; i++) t += data[i & 3]; return t; } };
> template <typename T> inline __attribute__((always_inline)) T most(T a) { return data[0] > a ? a : 1; } }
> int main(void) { geo::Shape s; return s.area(100) + s.area(20) + geo::most<long>(1) == 0; }
> END
> g++ -g -O1 twice.cc -o twice
$ for name in _ZNK3geo5Shape4areaEi 'geo::Shape::area(int) const' most; do
>   riffle run -q -e exact -p 'load -> pc' --function "$name" -o one.rfp -- ./twice; riffle report one.rfp --full-names -a "$name" | sed -n '1 s/ in .*:/:/p'
> done
geo::Shape::area(int) const (inlined): 100.0% of 120 loads
geo::Shape::area(int) const (inlined): 100.0% of 120 loads
geo::most<long>(long) (inlined): 100.0% of 1 load
# Functions whose short names are alike show what tells them apart: arguments, or else parameters.
$ cat > alike.cc <<'END'
> volatile long data[8];
> template <typename T> struct Parser { __attribute__((noinline)) void read(T n) { for (T i = 0; i < n; i++) data[0] += i; } };
> __attribute__((noinline)) void scale(int n) { for (int i = 0; i < n; i++) data[1] += i; }
> __attribute__((noinline)) void scale(long n) { for (long i = 0; i < n; i++) data[2] += i; }
> int main(void) { Parser<unsigned short>().read(400); Parser<unsigned int>().read(300); scale(200); scale(100L); }
> END
> g++ -g -O1 alike.cc -o alike && riffle run -q -p 'store -> pc' --module alike -o alike.rfp -- ./alike
$ riffle report alike.rfp --by function -n 4 | sed -n 's/^ *[0-9.]*% *//p'
400  Parser<unsigned short>::read  alike
300  Parser<unsigned int>::read    alike
200  scale(int)                    alike
100  scale(long)                   alike
$ riffle report alike.rfp --by function -n 1 | sed -n 's/^ *[0-9.]*% *//p'
400  Parser<..>::read  alike
# Where no file has the function, there is no report of zeros.
$ riffle run --function hott -- ./gone
done
riffle: run: no file that was mapped has the function 'hott' of --function; did you mean 'hot'?
[125]
# A static program tells before it runs that it has no such function.
$ g++ -g -O1 -static geo.cc -o alone; riffle run --function geo::Shape::aera -- ./alone; riffle run -q -a nosuchthing -- ./alone
riffle: ./alone has no function 'geo::Shape::aera'
riffle: ./alone has no function 'nosuchthing'
[125]
$ riffle run -q --function area -p values -- ./alone
# Without build ids a checksum of the code tells builds and programs apart. --any-build merges them all the same.
$ gcc -O0 -Wl,--build-id=none get.c -o get; gcc -O2 -Wl,--build-id=none get.c -o got; for i in get get got; do riffle run -q -p calls -e exact -o $i$((++n)).rfp -- ./$i; done
$ riffle merge get1.rfp get2.rfp -o all.rfp
$ riffle merge get1.rfp got3.rfp -o all.rfp 2>&1 | sed -E "s|$PWD|HERE|g; s/0x[0-9a-f]+/ADDRESS/"; riffle merge --any-build get1.rfp got3.rfp -o all.rfp
riffle: got3.rfp: at ADDRESS there is HERE/get in one and HERE/got in the other: their addresses cannot be compared; --any-build merges them
# Who calls what, and how much of it: samples of the stack. Only the shape is certain.
$ cat > calls.c <<'END'
> static volatile unsigned sum;
> __attribute__((noinline)) static void leaf(unsigned n) { for (unsigned i = 0; i < n; i++) sum += i; }
> __attribute__((noinline)) static void often(void) { leaf(9000); sum++; }
> __attribute__((noinline)) static void seldom(void) { leaf(3000); sum++; }
> int main(void) { for (int i = 0; i < 500; i++) { often(); seldom(); } return 0; }
> END
> gcc -g -O1 calls.c -o calls && riffle run -q -p stacks=20K -o calls.rfp -- ./calls
$ riffle report calls.rfp --by stack --function main -n 5 | sed -E 's/^ +[0-9.]+%( [-+]+[0-9.]+)* +[0-9.]+%( [-+]+[0-9.]+)* +[0-9,]+/ S S N/; s/ +self/ self/; /samples of the stack/ d; /more/ d'

 with callees self  samples  module  function
 S S N  calls   main
 S S N  calls     often
 S S N  calls       leaf
 S S N  calls     seldom
 S S N  calls       leaf
$ riffle report calls.rfp --by caller --function leaf -n 5 | sed -E 's/^ +[0-9.]+%( [-+]+[0-9.]+)* +[0-9,]+/ S N/; /samples of the stack/ d; /more/ d'

 through here  samples  module     function, and who calls it
 S N  calls      leaf
 S N  calls        often
 S N  calls          main
 S N  libc.so.6        __libc_start_call_main
 S N  libc.so.6          __libc_start_main
$ riffle report calls.rfp --by function --function leaf | sed -E 's/^ +[0-9.]+%( [-+]+[0-9.]+)* +[0-9.]+%( [-+]+[0-9.]+)* +[0-9,]+/ S S N/; s/ +self/ self/; /samples of the stack/ d'

 with callees self  samples  function  module
 S S N  leaf      calls
$ riffle report calls.rfp --by target 2>&1 | tail -1
riffle: 'frame -> pc,context' cannot be grouped by target: it has no such field
[1]
$ riffle report hot.rfp --by stack 2>&1 | tail -1
riffle: 'load -> pc,value' cannot be grouped by stack: it has no such field
[1]
# Valgrind ends a program whose debug information it cannot read, as that of clang for two files. One sentence says so, and nothing is saved. Only
# --function needs it.
$ printf 'int other(int x) { return x * 3; }\n' > other.c; printf 'int other(int x); int main(void) { return other(1); }\n' > main.c
> clang -gdwarf-5 main.c other.c -o five; clang -gdwarf-4 main.c other.c -o four; riffle run -q -o four.rfp -- ./four
[3]
$ riffle run -q -o five.rfp --function other -- ./five 2>&1 | sed "s|$PWD|HERE|"; ls five.rfp 2>&1 | grep -c 'No such'; riffle run -q --function other -- ./five 2>/dev/null
riffle: run: Valgrind cannot read the debug information of HERE/five and gave up, as it does with DWARF 5 of clang: build with -gdwarf-4, or strip -g
1
[126]
# A stripped program has no names, but tells where its functions begin: the counts are the same, function by function.
$ cat > parts.c <<'END'
> __attribute__((noinline)) static int inner(int n) { int s = 0; for (volatile int i = 0; i < n; i++) s += i; return s; }
> __attribute__((noinline)) static int outer(int n) { int s = 0; for (int i = 0; i < n; i++) s += inner(10); return s; }
> int main(void) { return (outer(100) + inner(1000)) & 1; }
> END
> gcc -O1 parts.c -o parts; cp parts bare; strip bare; for i in parts bare; do riffle run -q --module $i -p code -o $i.rfp -- ./$i; done
$ riffle report parts.rfp --by function -n 2 | tail -n +3
 instructions   count  function  module
        96.1%  16,707  inner     parts
         3.5%     613  outer     parts
 9 more functions, 0.4%
$ riffle report bare.rfp --by function -n 2 | tail -n +3 | sed "s/0x$(nm parts | sed -n 's/^0*\([0-9a-f]*\) t inner$/\1/p')/INNER/; s/0x$(nm parts | sed -n 's/^0*\([0-9a-f]*\) t outer$/\1/p')/OUTER/"
 instructions   count  function            module
        96.1%  16,707  function at INNER  bare
         3.5%     613  function at OUTER  bare
 4 more functions, 0.4%
$ riffle report bare.rfp --by line -n 1 | tail -n +3; name=$(riffle report bare.rfp --by function -n 1 -f csv | sed -n 's/^"\(.*\)",bare.*/\1/p')
> riffle report bare.rfp --by function --function "$name" | grep -c 'function at'; riffle report bare.rfp --annotate "$name" | grep -c ret
 instructions   count  line
       100.0%  17,381  (no line data)
1
1
$ second=$(objdump -d parts | grep -A2 '<inner>:' | sed -n '3s/^ *\([0-9a-f]*\):.*/\1/p'); riffle export -q --to callgrind bare.rfp | grep -c "^fn=.*+0x$second$"
0
[1]
