# The exact engine is without error, by definition.
$ riffle gen zipf --events 200K --keys 10K --seed 1 > z.txt
$ riffle compare z.txt -e exact --format csv | cut -d, -f2,4-
bits,error,false_pos,false_neg,neutral_pos,neutral_neg,engine
0,0,0,0,0,0,"exact(memory=0, interval=0)"
$ riffle compare z.txt -e exact -e exact --interval 10K --threshold 1% --format csv | cut -d, -f2,4-
bits,error,false_pos,false_neg,neutral_pos,neutral_neg,engine
0,0,0,0,0,0,"exact(memory=0, interval=0)"
0,0,0,0,0,0,"exact(memory=0, interval=0)"
$ riffle compare z.txt -e exact | sed -E 's/^ +[0-9]+ +- +[0-9]+\.[0-9] /MEMORY - SPEED /'
200000 events, 9641 distinct tuples; measure interval, threshold 0.1%, interval all

      memory        bits  M tuples/s        error    false_pos    false_neg  neutral_pos  neutral_neg  engine
MEMORY - SPEED           0%           0%           0%           0%           0%  exact(memory=0, interval=0)

Speed is that of the engine's feed alone, timed on a copy of it, 64 Ki tuples a turn.
$ riffle compare z.txt -e exact --interval 10K --format json | python3 -c '
> import json, sys
> c = json.load(sys.stdin)
> print(c["schema"], c["measure"], c["interval"], c["events"], c["distinct"], c["engines"][0]["error"])'
1 interval 10000 200000 9641 0
# The memory and the speed are there.
$ riffle compare z.txt -e exact --format csv | awk -F, 'NR > 1 { print ($1 > 100000), ($3 > 100000) }'
1 1
# An engine's own interval is everybody's; two of them cannot be had.
$ riffle compare z.txt -e 'multihash(interval=10K, threshold=1%)' -e exact --threshold 1% --format csv | cut -d, -f4- | tail -n 1
0,0,0,0,0,"exact(memory=0, interval=0)"
$ riffle compare z.txt -e 'multihash(interval=10K)' --interval 20K
riffle: compare: engine 'multihash(interval=10K)' cuts every 10K events, not every 20K; all must cut alike
[2]
# A poor engine has an error, and its parts add up to it.
$ riffle compare z.txt -e 'multihash(interval=10K, threshold=1%, counters=16, tables=1)' --threshold 1% --format csv |
> awk -F, 'NR > 1 { d = $4 - $5 - $6 - $7 - $8; print ($4 > 0), (d < 1e-9 && d > -1e-9) }'
1 1
