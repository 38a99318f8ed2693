# Saved, read back, added up.
$ printf '1 2 30\n3 4 10\n' > a.txt; printf '1 2 5\n5 6 20\n' > b.txt
$ riffle replay a.txt -o a.rfp --format csv
a,b,count,lower,upper,bound,profile
0x1,0x2,30,30,30,exact,tuples
0x3,0x4,10,10,10,exact,tuples
$ riffle report a.rfp --format csv
a,b,count,lower,upper,bound,profile
0x1,0x2,30,30,30,exact,tuples
0x3,0x4,10,10,10,exact,tuples
$ riffle replay b.txt -o b.rfp > b.report; riffle report b.rfp | cmp - b.report
$ riffle merge a.rfp b.rfp -o sum.rfp; riffle report sum.rfp --format csv
a,b,count,lower,upper,bound,profile
0x1,0x2,35,35,35,exact,tuples
0x5,0x6,20,20,20,exact,tuples
0x3,0x4,10,10,10,exact,tuples
$ riffle merge a.rfp b.rfp --format csv
a,b,count,lower,upper,bound,profile
0x1,0x2,35,35,35,exact,tuples
0x5,0x6,20,20,20,exact,tuples
0x3,0x4,10,10,10,exact,tuples
$ cat a.txt b.txt | riffle replay - --format csv
a,b,count,lower,upper,bound,profile
0x1,0x2,35,35,35,exact,tuples
0x5,0x6,20,20,20,exact,tuples
0x3,0x4,10,10,10,exact,tuples
# The file is private and there is nothing beside it.
$ stat -c %a sum.rfp; ls
600
a.rfp
a.txt
b.report
b.rfp
b.txt
sum.rfp
# Not profiles.
$ riffle report a.txt
riffle: a.txt: this is not a riffle profile
[1]
$ head -c 40 a.rfp > cut.rfp; riffle report cut.rfp
riffle: cut.rfp: the file ends within its header
[1]
$ riffle merge a.rfp cut.rfp -o no.rfp; ls no.rfp
riffle: cut.rfp: the file ends within its header
ls: cannot access 'no.rfp': No such file or directory
[2]
# Intervals that were not kept.
$ riffle gen uniform --events 1K | riffle replay - -i 100 -o cut.rfp -n 1 > /dev/null; riffle report cut.rfp --per-interval > /dev/null
riffle: this profile was made without its intervals; give --per-interval to run, sim or replay, too
[1]
# Profiles of different seeds add up: what is merged are counts and bounds.
$ riffle gen zipf --events 1K --keys 10 > in.txt; riffle replay in.txt --seed 1 -o one.rfp > /dev/null; riffle replay in.txt --seed 2 -o two.rfp > /dev/null
> riffle merge one.rfp two.rfp --details | grep -c ^engine; riffle merge one.rfp two.rfp --details | grep ^events
1
events      2,000 produced, 2,000 consumed, 0 lost
