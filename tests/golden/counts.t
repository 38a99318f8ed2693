# The counts are those of sort and uniq.
$ count() { sort | uniq -c | sort -k1,1nr -k2,2 -k3,3 | awk '{ print $2 "," $3 "," $1 "," $1 "," $1 ",exact,tuples" }' | sort; }
> for kind in zipf uniform phases loop; do
>     riffle gen $kind --events 300K --keys 20K --seed 5 > $kind.txt
>     riffle replay $kind.txt --format csv -n 0 | tail -n +2 | sort | cmp - <(count < $kind.txt) && wc -l < $kind.txt
> done
300000
300000
300000
300000
# Heaviest first, ties by a, then b.
$ riffle replay zipf.txt --format csv -n 0 | python3 -c '
> import sys
> rows = [line.strip().split(",") for line in sys.stdin][1:]
> keys = [(-int(r[2]), int(r[0], 16), int(r[1], 16)) for r in rows]
> print(len(rows) > 1000, keys == sorted(keys))'
True True
