# One sentence on stderr, a status that says what kind of failure it was.
$ riffle
$ riffle repaly x
$ riffle xyzzyxyzzy
$ riffle --colour
$ riffle replay
$ riffle replay a b
$ riffle replay --fromat csv x
$ riffle replay --zzzzzzzz x
$ riffle replay -Z x
$ riffle replay --format
$ riffle replay --format xml x
$ riffle replay --per-interval=yes x
$ riffle replay --interval ten x
$ riffle compare --threshold lots x
$ riffle replay nosuch.txt
$ riffle replay nosuch.rft -o out.rfp
$ ls
$ riffle help repaly
$ riffle trace inof x
$ riffle trace info
$ riffle trace info a b
$ riffle trace convert x
$ riffle gen zapf
$ riffle engines exat
$ riffle engines 'exact(memroy=1)'
$ riffle compare nosuch.txt
$ riffle compare nosuch.txt -e exat
$ riffle report nosuch.rfp
$ riffle merge nosuch.rfp
# A bad line is named by its number; nothing is reported.
$ printf '1 2\n3 4\nfive 6\n' | riffle replay - --format csv
$ echo 1 2 | riffle replay - -e 'multihash(tables=x)'
# A selector needs records.
$ echo 1 2 | riffle replay - -p values
$ riffle replay nosuch.rft -p 'lod -> pc'
$ echo 1 2 > tuples.txt; riffle replay tuples.txt -p 'lod -> pc'
# A full disk on stdout.
$ riffle gen uniform --events 10 > /dev/full
$ echo 1 2 | riffle replay - > /dev/full
$ echo 1 2 | riffle replay - --format csv > /dev/full
# A memory ceiling: what was counted before stands and is printed.
$ riffle gen uniform --events 5000 --keys 5000 --seed 1 | riffle replay - -e 'exact(memory=100Ki)' --format csv -n 3
# A closed pipe is quiet.
$ riffle gen uniform --events 1M | head -n 2
$ riffle gen uniform --events 1K | riffle replay - -n 0 --format csv | head -n 2
