$ riffle engines | cut -d' ' -f1 | grep -x -e exact -e multihash
exact
multihash
$ riffle engines exact | grep -v ^memory
exact - every tuple with its exact count; grows

engine   exact(memory=0, interval=0)

options
  memory         0          ceiling in bytes; 0: none
  interval       0          cut the stream every so many events and start anew; 0: do not
$ riffle engines 'exact(interval=1M)' | grep ^engine
engine   exact(memory=0, interval=1M)
# Every engine can be shown by its name, and says what it holds.
$ for engine in $(riffle engines | cut -d' ' -f1); do riffle engines $engine | grep -c '^memory *[0-9]* bytes'; done | sort -u
1
