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
$ riffle replay in.txt
$ riffle replay in.txt --format csv
$ riffle replay - --format csv < in.txt | cmp - <(riffle replay in.txt --format csv)
$ riffle replay in.txt --format json | python3 -c 'import json, sys; run = json.load(sys.stdin); print(run["schema"])'
$ riffle replay in.txt --format csv -n 1
$ riffle replay in.txt --format csv -n 0 | tail -n 1
# Skip and limit count events, also inside a line with a count.
$ riffle replay in.txt --format csv --skip 3 --limit 3
$ riffle replay in.txt --format csv --limit 4
$ riffle replay in.txt --format csv --skip 100
# Intervals.
$ riffle replay in.txt --format csv --interval 4 --per-interval
$ riffle replay in.txt --format csv --interval 4
# Several engines, one pass.
$ riffle replay in.txt -e exact -e 'exact(memory=1Mi)' --format csv -n 1
# Nothing in, nothing out.
$ riffle replay - --format csv < /dev/null
