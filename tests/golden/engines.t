$ riffle engines | cut -d' ' -f1 | grep -x -e exact -e multihash
$ riffle engines exact
$ riffle engines 'exact(interval=1M)' | sed -n 3p
