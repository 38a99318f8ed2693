# Records, selected: what each engine serves.
$ make-records r.rft; riffle trace info r.rft
$ riffle trace head -n 5 r.rft
$ riffle replay r.rft --format csv -n 3
$ riffle replay r.rft -p edges --format csv
$ riffle replay r.rft -e exact -p values -p edges --format csv -n 1
$ riffle replay r.rft -p 'load value==0 -> pc,addr' -e exact --format csv -p edges -e 'exact(memory=1Mi)' -n 2
$ riffle replay r.rft -p 'store -> value' --format csv --skip 10 --limit 20
$ riffle replay r.rft -p 'load pc in main..main+0x400 -> addr'
$ riffle trace convert r.rft -
$ riffle trace convert -p edges r.rft - | sort | uniq -c
$ riffle trace convert -p values r.rft v.rft; riffle trace info v.rft | grep -E 'kind|selector|events'
$ riffle replay v.rft -n 1 | grep -F -- '->'
$ riffle compare r.rft -p values -e exact --format csv | cut -d, -f1,5-
