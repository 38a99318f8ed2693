# Hot data streams: 1 2 3 4 three times, 8 9 twice, and what stands between.
$ for i in 1 2 3; do printf '0x10 1\n0x10 2\n0x20 3\n0x20 4\n0x30 %d\n' $((100 + i)); done > refs; printf '8 8\n9 9\n5 5\n8 8\n9 9\n' >> refs
$ riffle replay -e 'streams(min=2, heat=0)' refs
20 events

 share  heat  times  length  a     b
 60.0%    12      3       4  0x10  1
                             0x10  2
                             0x20  3
                             0x20  4
 20.0%     4      2       2  8     8
                             9     9
 What is not listed has at most 1 event.
$ riffle replay -e 'streams(min=2, heat=0)' -n 1 --format csv refs
stream,length,position,heat,a,b,count,lower,upper,bound,profile
0x8d820c7f616385be,4,0,12,0x10,0x1,3,3,3,exact,tuples
0x8d820c7f616385be,4,1,12,0x10,0x2,3,3,3,exact,tuples
0x8d820c7f616385be,4,2,12,0x20,0x3,3,3,3,exact,tuples
0x8d820c7f616385be,4,3,12,0x20,0x4,3,3,3,exact,tuples
$ riffle replay -e 'streams(min=2, heat=0)' --format json -n 1 refs | grep -A6 '"rows"'
      "by": "item", "rows_found": 6, "rows": [
        {"stream": "0x8d820c7f616385be", "length": 4, "position": 0, "heat": 12, "a": "0x10", "b": "0x1", "count": 3, "lower": 3, "upper": 3, "bound": "exact"},
        {"stream": "0x8d820c7f616385be", "length": 4, "position": 1, "heat": 12, "a": "0x10", "b": "0x2", "count": 3, "lower": 3, "upper": 3, "bound": "exact"},
        {"stream": "0x8d820c7f616385be", "length": 4, "position": 2, "heat": 12, "a": "0x20", "b": "0x3", "count": 3, "lower": 3, "upper": 3, "bound": "exact"},
        {"stream": "0x8d820c7f616385be", "length": 4, "position": 3, "heat": 12, "a": "0x20", "b": "0x4", "count": 3, "lower": 3, "upper": 3, "bound": "exact"}
      ]
    }

# What a gap stands between is no stream.
$ printf '1\n2\ngap\n3\n4\n# a comment\ngap\n1\n2\ngap\ngap\n3\n4\n' | riffle replay -e 'streams(min=2, heat=0)' --format csv -
stream,length,position,heat,a,b,count,lower,upper,bound,profile
0x57a391bcb15a12e6,2,0,4,0x1,0x0,2,2,2,exact,tuples
0x57a391bcb15a12e6,2,1,4,0x2,0x0,2,2,2,exact,tuples
0xaa7082c15656788a,2,0,4,0x3,0x0,2,2,2,exact,tuples
0xaa7082c15656788a,2,1,4,0x4,0x0,2,2,2,exact,tuples
$ printf '1\n2\n3\n4\n1\n2\n3\n4\n' | riffle replay -e 'streams(min=2, heat=0)' --format csv -
stream,length,position,heat,a,b,count,lower,upper,bound,profile
0x104c8c538f081fc1,4,0,8,0x1,0x0,2,2,2,exact,tuples
0x104c8c538f081fc1,4,1,8,0x2,0x0,2,2,2,exact,tuples
0x104c8c538f081fc1,4,2,8,0x3,0x0,2,2,2,exact,tuples
0x104c8c538f081fc1,4,3,8,0x4,0x0,2,2,2,exact,tuples
$ printf '1 2\ngap 3\n' | riffle replay -e exact --format csv -
riffle: standard input: line 2: expected 'a b [count]', numbers of 64 bits, got 'gap 3'
[1]

# Saved, loaded, merged: the same stream of two runs is one stream.
$ riffle replay -e 'streams(min=2, heat=0)' -o one.rfp refs > /dev/null && riffle report -f csv -n 2 one.rfp
stream,length,position,heat,a,b,count,lower,upper,bound,profile
0x8d820c7f616385be,4,0,12,0x10,0x1,3,3,3,exact,tuples
0x8d820c7f616385be,4,1,12,0x10,0x2,3,3,3,exact,tuples
0x8d820c7f616385be,4,2,12,0x20,0x3,3,3,3,exact,tuples
0x8d820c7f616385be,4,3,12,0x20,0x4,3,3,3,exact,tuples
0xddcde816b6430b0f,2,0,4,0x8,0x8,2,2,2,exact,tuples
0xddcde816b6430b0f,2,1,4,0x9,0x9,2,2,2,exact,tuples
$ riffle merge -o both.rfp one.rfp one.rfp && riffle report both.rfp --details | grep -v '^command'
40 events

 share  heat  times  at least  at most  length  a     b
 60.0%    24      6         6        6       4  0x10  1
                                                0x10  2
                                                0x20  3
                                                0x20  4
 20.0%     8      4         4        4       2  8     8
                                                9     9
 What is not listed has at most 2 events.

runs        2

engine      streams(min=2, heat=0%), seed 0
memory      4.0 MiB
events      40 produced, 40 consumed, 0 lost
bounds      always hold; what is not listed has at most 2
coverage-share 0.8
grammars    2
grammar-symbols-max 15
grammar-rules-max 2
$ riffle query one.rfp 0x10..0x1f
streams(min=2, max=100, heat=0%, memory=4Mi, interval=0)
  at least            6   30.00%
  at most            10   50.00%
  of                 20  events

# What it is not: a profile of ranges, or an engine that several selectors share.
$ riffle report -f tree one.rfp
riffle: 'tree' shows ranges (engine rap); this profile has none
[1]
$ riffle replay -e 'streams(min=9, max=3)' refs
riffle: engine 'streams': min must be no more than max
[2]
$ riffle replay -e 'streams(memory=1Ki)' refs
riffle: engine 'streams': memory must be between 16384 and 1Gi, got '1Ki'
[2]

# The order of references is kept by every number of threads.
$ riffle gen loop --keys 300 --events 200000 > loop.txt; for n in 1 3; do riffle replay -e streams -e exact -e 'streams(memory=64Ki)' --threads $n -f csv loop.txt | md5sum; done | uniq | wc -l
1
