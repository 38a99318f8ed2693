# What changed between two runs.
$ riffle help diff
riffle diff - what changed between two saved runs

Usage: riffle diff [OPTION...] OLD NEW

Compares profiles of the same selector, row by row, by what a rebuilt program
keeps: the names of functions, source lines, offsets in functions, values.
Builds may differ, and the program may have another name. Copies that the
compiler made of a function (find_match.constprop.0) count as the function. A
line is found again by its distance from the beginning of its function, so that
lines added above the function do no harm; "lz.c:63, was :58" has moved. A row
is new, gone or changed only where the bounds of both sides leave no doubt; the
others are counted below the table.

A function that is gone, but whose code runs inside others, is "inlined": debug
information (-g) tells how many events and where. Of other functions that shrank
or grew it tells the same.

Ends with status 0; with 1 where --fail-above is given and something grew by
more; with 2 where the files cannot be compared or the answer cannot be written.

Options:
  -f, --format FORM       how to print it: text, csv, json, html (default: text)
  -b, --by WHAT           what a row is: function, line, module, pc, value,
                          target, region, item
  -n, --items N           show the N largest changes; 0: all (default: 20)
      --fail-above SHARE  end with status 1 where something grew by more; 0:
                          never (default: 0)
      --html FILE         also write it into FILE as a page for a browser
      --no-names          do not read the files that ran
  -h, --help              show this help

Examples:
    riffle diff monday.rfp tuesday.rfp
    riffle diff old.rfp new.rfp --by line -n 50 --html diff.html
    riffle diff main.rfp change.rfp --fail-above 5%
$ printf '0x10 1 100\n0x20 2 50\n0x30 3 7\n' | riffle replay - -e exact -o old.rfp > /dev/null
> printf '0x10 1 100\n0x20 2 60\n0x40 4 3\n' | riffle replay - -e exact -o new.rfp > /dev/null
> riffle diff old.rfp new.rfp
events   157 -> 163   +3.8%

        old         new      change           item
         50          60         +10  changed  0x20 0x2
          7           -          -7  gone     0x30 0x3
          -           3          +3  new      0x40 0x4
 1 row is the same or within the bounds
$ riffle diff old.rfp new.rfp -f csv
name,module,kind,old,old_lower,old_upper,new,new_lower,new_upper,inlined,inlined_into,profile
"0x20 0x2","",changed,50,50,50,60,60,60,0,"",""
"0x30 0x3","",gone,7,7,7,0,0,0,0,"",""
"0x40 0x4","",new,0,0,0,3,3,3,0,"",""
"0x10 0x1","",same,100,100,100,100,100,100,0,"",""
$ riffle diff old.rfp new.rfp -f json -n 2
{
  "schema": 1,
  "profiles": [
    {"profile": "", "by": "item", "old_events": 157, "new_events": 163, "rows_found": 4, "rows_same": 1, "rows": [
      {"name": "0x20 0x2", "module": "", "kind": "changed", "old": {"count": 50, "lower": 50, "upper": 50}, "new": {"count": 60, "lower": 60, "upper": 60}},
      {"name": "0x30 0x3", "module": "", "kind": "gone", "old": {"count": 7, "lower": 7, "upper": 7}, "new": {"count": 0, "lower": 0, "upper": 0}}
    ]}
  ]
}
$ riffle diff old.rfp new.rfp --by value -n 1
events   157 -> 163   +3.8%

        old         new      change           value
         50          60         +10  changed  0x2
 2 more changed
 1 row is the same or within the bounds
# The status is the answer; trouble is another one.
$ riffle diff old.rfp new.rfp --fail-above 5% -n 1
events   157 -> 163   +3.8%

        old         new      change           item
         50          60         +10  changed  0x20 0x2
 2 more changed
 1 row is the same or within the bounds
riffle: something grew by 6.4% of all old events, more than 5%
[1]
$ riffle diff old.rfp new.rfp --fail-above 10% -n 1 > /dev/null
$ riffle diff old.rfp new.rfp --fail-above 5
riffle: diff: --fail-above 5 would be 500%; write 5% or 500%
[2]
$ riffle diff old.rfp nosuch.rfp --fail-above 5%
riffle: nosuch.rfp: cannot open: No such file or directory
[2]
$ riffle diff old.rfp new.rfp > /dev/full
riffle: standard output: No space left on device
[2]
$ riffle diff old.rfp new.rfp --by function
riffle: the two files have no profile in common that tells what is asked for
[2]
$ riffle diff old.rfp new.rfp --html nosuch/x.html
riffle: nosuch/x.html: cannot create: No such file or directory
[2]
# A page appears whole or not at all.
$ mkdir pages; (trap '' XFSZ; ulimit -f 8; riffle diff old.rfp new.rfp --html pages/diff.html > pages.out; riffle report old.rfp --html pages/report.html > pages.out; riffle report old.rfp -f html --report pages/kept.html); ls pages; rm -r pages pages.out
riffle: pages/diff.html: cannot write: File too large
riffle: pages/report.html: cannot write: File too large
riffle: pages/kept.html: cannot write: File too large
# Counts with bounds: what they leave in doubt has not changed.
$ for seed in 1 2; do
>   riffle gen zipf --events 100K --seed $seed | riffle replay - -e 'multihash(tables=1, counters=64, threshold=1%)' --interval 10K -o $seed.rfp > /dev/null
> done
> riffle diff 1.rfp 2.rfp -f csv -n 0 | cut -d, -f3 | sort | uniq -c | awk '{print $2, ($1 > 0)}'
kind 1
same 1
# A program that was rebuilt, under another name: what is not its own matches by its file.
$ cat > old.c <<'END'
> __attribute__((noinline)) static unsigned slow(unsigned n) { unsigned s = 0; for (volatile unsigned i = 0; i < n; i++) s += i; return s; }
> __attribute__((noinline)) static unsigned both(unsigned n) { unsigned s = 0; for (volatile unsigned i = 0; i < n; i++) s ^= i; return s; }
> int main(void) { return (int)(slow(50000) + both(10000)) == 1; }
> END
> sed 's/slow/fast/g; s/50000/500/; s/both(10000)/both(20000)/' old.c > new.c
> gcc -O1 -g old.c -o one && gcc -O2 -g new.c -o two
> riffle run -q -p code -o one.rfp -- ./one; riffle run -q -p code -o two.rfp -- ./two
> riffle diff one.rfp two.rfp -f csv -n 0 | grep -E '^"(slow|fast|both)"' | cut -d, -f1-3 | sort
"both","",changed
"fast","",new
"slow","",gone
# A function that was inlined is not gone: where it went is told, and where it came from.
$ sed 's/(noinline)) static unsigned both/(always_inline)) static inline unsigned both/' old.c > inlined.c
> gcc -O1 -g inlined.c -o three; riffle run -q -p code -o three.rfp -- ./three
> riffle diff one.rfp three.rfp -f csv -n 0 | grep '^"both"' | awk -F, '{print $1, $3, $11, ($10 > 0.5 * $4)}'
> riffle diff three.rfp one.rfp -f csv -n 0 | grep '^"both"' | awk -F, '{print $1, $3, $11, ($10 > 0.5 * $7)}'
> riffle diff one.rfp three.rfp | grep -o 'inlined  both  [0-9,]* in main'  | sed 's/[0-9,][0-9,]*/N/'
> riffle diff three.rfp one.rfp | grep -o 'new      both  was inlined: [0-9,]* in main'  | sed 's/[0-9,][0-9,]*/N/'
> riffle diff one.rfp three.rfp -f json | grep '"both"' | grep -o '"kind": "inlined"\|"inlined_into": "main"'
"both" inlined "main" 1
"both" new "main" 1
inlined  both  N in main
new      both  was inlined: N in main
"kind": "inlined"
"inlined_into": "main"
# Functions without names match by their address, and that only within one build.
$ for i in one two; do cp $i $i-bare; strip $i-bare; riffle run -q -p code -o $i-bare.rfp -- ./$i-bare; done
> riffle diff one-bare.rfp two-bare.rfp -f csv -n 0 | grep '^"function at' | grep ',"",' | cut -d, -f3 | sort -u
> riffle diff one-bare.rfp two-bare.rfp | grep -o 'have no name: .*'
> riffle diff one-bare.rfp one-bare.rfp | grep -c 'no name'
gone
new
have no name: addresses match only within one build
0
[1]
# A line is the same line where no function has moved, also if its function has no code of its own in one of the builds.
$ cat > shape.cc <<'END'
> #include <memory>
> struct Shape { virtual ~Shape() = default; virtual int area() const = 0; };
> struct Square : Shape {
>     explicit Square(int n) : side(n) {}
>     int area() const override { return side * side; }
>     int side;
> };
> struct Pair : Shape {
>     Pair(std::unique_ptr<Shape> l, std::unique_ptr<Shape> r) : left(std::move(l)), right(std::move(r)) {}
>     int area() const override { return left->area() + right->area(); }
>     std::unique_ptr<Shape> left, right;
> };
> int main()
> {
>     int sum = 0;
>     for (int i = 0; i < 500; i++)
>         sum += Pair(std::make_unique<Square>(i), std::make_unique<Square>(2)).area();
>     return sum == 1;
> }
> END
> for level in 0 2; do g++ -g -O$level shape.cc -o shape$level && riffle run -q -p code -o shape$level.rfp -- ./shape$level; done
> riffle diff shape0.rfp shape2.rfp --by line -f csv -n 0 | grep -E "(shape.cc|unique_ptr.h).*,(new|gone)," | cut -d, -f1 | sort | uniq -d
$ riffle diff one.rfp two.rfp --fail-above 1% 2>&1 > /dev/null | sed 's/[0-9.]*% of/N% of/'
riffle: something grew by N% of all old events, more than 1%
[1]
$ riffle diff one.rfp two.rfp --by pc -f csv -n 0 | grep -c '^"both+0x0","",same'
1
$ riffle diff one.rfp one.rfp | sed 's/[0-9,]* rows/N rows/; s/[0-9,]* -> [0-9,]*/N -> N/'
instructions   N -> N   +0.0%

 N rows are the same or within the bounds
# Several profiles: each has its name, a table of tools has one heading, and none is left out.
$ printf '0x10 1 100\n' | riffle replay - -e exact -e 'exact(memory=1Mi)' -o pair.rfp > /dev/null
> riffle diff pair.rfp pair.rfp
exact(memory=0, interval=0)
events   100 -> 100   +0.0%

 1 row is the same or within the bounds

exact(memory=1Mi, interval=0)
events   100 -> 100   +0.0%

 1 row is the same or within the bounds
$ riffle diff pair.rfp pair.rfp -f csv
name,module,kind,old,old_lower,old_upper,new,new_lower,new_upper,inlined,inlined_into,profile
"0x10 0x1","",same,100,100,100,100,100,100,0,"",""
"0x10 0x1","",same,100,100,100,100,100,100,0,"",""
$ many=$(seq 70 | sed 's/.*/-e exact(memory=&Mi)/')
> printf '0x10 1 100\n' | riffle replay - $many -o many.rfp > /dev/null
> riffle diff many.rfp many.rfp | grep -c '^events'
70
