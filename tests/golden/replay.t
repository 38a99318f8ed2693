# Text streams: decimal, hexadecimal, counts, comments.
$ cat > in.txt <<END
> # a b [count]
> 1 2
> 0x1 0x2
> 3 4 5    # five of them
>
> 18446744073709551615 0
> 7
> END
$ riffle replay in.txt --details | grep -v ^memory
9 events

 share  count  a                   b
 55.6%      5  3                   4
 22.2%      2  1                   2
 11.1%      1  7                   0
 11.1%      1  0xffffffffffffffff  0

command     riffle replay in.txt --details

engine      exact, seed 0
events      9 produced, 9 consumed, 0 lost
bounds      none needed: the counts are exact
$ riffle replay in.txt --format csv
a,b,count,lower,upper,bound,profile
0x3,0x4,5,5,5,exact,tuples
0x1,0x2,2,2,2,exact,tuples
0x7,0x0,1,1,1,exact,tuples
0xffffffffffffffff,0x0,1,1,1,exact,tuples
$ riffle replay - --format csv < in.txt | cmp - <(riffle replay in.txt --format csv)
$ riffle replay in.txt --format json | python3 -c 'import json, sys; run = json.load(sys.stdin); print(run["schema"])'
2
$ riffle replay in.txt --format csv -n 1
a,b,count,lower,upper,bound,profile
0x3,0x4,5,5,5,exact,tuples
$ riffle replay in.txt --format csv -n 0 | tail -n 1
0xffffffffffffffff,0x0,1,1,1,exact,tuples
# Skip and limit count events, also inside a line with a count.
$ riffle replay in.txt --format csv --skip 3 --limit 3
a,b,count,lower,upper,bound,profile
0x3,0x4,3,3,3,exact,tuples
$ riffle replay in.txt --format csv --limit 4
a,b,count,lower,upper,bound,profile
0x1,0x2,2,2,2,exact,tuples
0x3,0x4,2,2,2,exact,tuples
$ riffle replay in.txt --format csv --skip 100
a,b,count,lower,upper,bound,profile
# Intervals.
$ riffle replay in.txt --format csv --interval 4 --per-interval
interval,a,b,count,lower,upper,bound,profile
0,0x1,0x2,2,2,2,exact,tuples
0,0x3,0x4,2,2,2,exact,tuples
1,0x3,0x4,3,3,3,exact,tuples
1,0xffffffffffffffff,0x0,1,1,1,exact,tuples
2,0x7,0x0,1,1,1,exact,tuples
$ riffle replay in.txt --format csv --interval 4
a,b,count,lower,upper,bound,intervals,profile
0x3,0x4,5,5,5,exact,2,tuples
0x1,0x2,2,2,2,exact,1,tuples
0x7,0x0,1,1,1,exact,1,tuples
0xffffffffffffffff,0x0,1,1,1,exact,1,tuples
# Several engines, one pass.
$ riffle replay in.txt -e exact -e 'exact(memory=1Mi)' --format csv -n 1
a,b,count,lower,upper,bound,profile
0x3,0x4,5,5,5,exact,tuples

a,b,count,lower,upper,bound,profile
0x3,0x4,5,5,5,exact,tuples
# Nothing in, nothing out.
$ riffle replay - --format csv < /dev/null
a,b,count,lower,upper,bound,profile
# Less than an interval: the engine may have missed what a person looks for, and says what helps.
$ riffle gen uniform --events 1K | riffle replay - -e multihash --details | grep ^intervals
intervals   1 of 1,000,000 events, not full: -e exact or a smaller --interval finds more
$ riffle gen uniform --events 1M | riffle replay - -e multihash --details | grep ^intervals
intervals   1 of 1,000,000 events
$ riffle gen uniform --events 1K | riffle replay - -i 1M --details | grep ^intervals
intervals   1 of 1,000,000 events
# Ctrl-C while waiting for more: what is there so far, and the status of an interrupted program.
$ mkfifo pipe; (exec 3> pipe; printf '1 2\n3 4\n5 ' >&3; sleep 0.7; kill -INT $(cat pid); sleep 0.1) & sh -c 'echo $$ > pid; exec riffle replay pipe --format csv'
a,b,count,lower,upper,bound,profile
0x1,0x2,1,1,1,exact,tuples
0x3,0x4,1,1,1,exact,tuples
riffle: stopped after 2 events
[130]
# On a terminal a progress line appears after two seconds and is gone in the end; not before.
$ script -qec "(echo 1 2; sleep 2.2; echo 1 2; sleep 0.1; echo 1 2) | riffle replay - --format csv" /dev/null > long.txt
> grep -ao 'M events' long.txt | sort -u; tr '\r' '\n' < long.txt | grep -a , | cat -v | tail -n 2
M events
^[[Ka,b,count,lower,upper,bound,profile
0x1,0x2,3,3,3,exact,tuples
$ script -qec "(echo 1 2; sleep 0.3; echo 1 2; sleep 0.1; echo 1 2) | riffle replay - --format csv" /dev/null | cat -v
a,b,count,lower,upper,bound,profile^M
0x1,0x2,3,3,3,exact,tuples^M
# A program that is run writes to the same terminal: there is no such line in front of what it prints.
$ echo '$| = 1; print "text"; my $end = time + 4; 1 while time < $end; print " goes on\n"' > slow.pl
> script -qec "riffle run -q -p code -- perl slow.pl" /dev/null | cat -v
text goes on^M
# What is being done appears, too, where there are no events to count: here, reading a file that comes late.
$ printf '1 2\n1 2\n3 4\n' | riffle replay - -e exact -o late.rfp > /dev/null; mkfifo slow.rfp; (sleep 4; cat late.rfp) > slow.rfp &
> script -qec "riffle report slow.rfp --format csv" /dev/null > late.txt; grep -ao 'reading slow.rfp, 2 s' late.txt | head -n 1; tr '\r' '\n' < late.txt | grep -a , | cat -v | tail -n 3
reading slow.rfp, 2 s
^[[Ka,b,count,lower,upper,bound,profile
0x1,0x2,2,2,2,exact,tuples
0x3,0x4,1,1,1,exact,tuples
# An engine serves the selector before it; a selector without one gets the next engine.
$ make-records few.rft
$ riffle replay few.rft -p values -p edges -e 'exact(memory=1Mi)' -p calls --details | grep -E '^(profile|engine)'
profile     load -> pc,value
engine      exact(memory=1Mi), seed 0
profile     branch,jump -> pc,target
engine      exact(memory=1Mi), seed 0
profile     call -> pc,target
engine      exact, seed 0
$ riffle replay few.rft -e multihash -p values -p edges -e 'exact(memory=1Mi)' --details | grep -E '^(profile|engine)'
profile     load -> pc,value
engine      multihash, seed 0
profile     branch,jump -> pc,target
engine      exact(memory=1Mi), seed 0
# auto: exact while it fits, then multihash, and a note of where that was; the bounds are of the whole.
$ riffle gen zipf -N 40K -k 5000 --seed 3 > zipf.txt
$ riffle replay zipf.txt -e auto -n 2 --details | grep -E '^(bounded|bounds)| more '
 4,102 more rows, 83.6%
bounds      none needed: the counts are exact
$ riffle replay zipf.txt -e 'auto(ceiling=200Ki, interval=10K, threshold=1%)' -o two.rfp -n 2 --details | grep -vE '^(command|candidates|memory)'
40,000 events

      share  count  at least  at most  intervals  a         b
 10.7-11.0%  4,363     4,314    4,363          5  0x40909c  0x4cfdd18b
   5.2-5.6%  2,139     2,090    2,201          4  0x40792c  0x1a9139b9
 2,046 more rows, 30.5%
 Ranges hold always; what is not listed has at most 338 events.

            -n 2 --details
bounded     exact up to event 8789, where its memory was full; multihash from there on

engine      auto(ceiling=200Ki, interval=10K, threshold=1%), seed 0
events      40,000 produced, 40,000 consumed, 0 lost
intervals   5 of 10,000 events
bounds      always hold; what is not listed has at most 338
interval    10,000
promotions  43
entries-replaced 0
exact-until 8,789
$ riffle replay zipf.txt -e exact -n 2 | tail -3
 10.9%  4,363  0x40909c  0x4cfdd18b
  5.5%  2,201  0x40792c  0x1a9139b9
 4,102 more rows, 83.6%
# Saved and merged profiles keep it.
$ riffle merge two.rfp two.rfp -o sum.rfp && riffle report sum.rfp -n 1 --details | grep -E '^(bounded|bounds|exact-until|events)'
bounded     exact up to event 8789, where its memory was full; multihash from there on
events      80,000 produced, 80,000 consumed, 0 lost
bounds      always hold; what is not listed has at most 676
exact-until 8,789
# Each interval has a heading; one empty line stands before it.
$ printf '0x10 1 3\n0x20 2 1\n' | riffle replay - -e exact --interval 2 --per-interval
4 events

interval 0, 2 events
  share  count  a     b
 100.0%      2  0x10  1

interval 1, 2 events
 share  count  a     b
 50.0%      1  0x10  1
 50.0%      1  0x20  2
