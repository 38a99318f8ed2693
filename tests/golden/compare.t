# The exact engine is without error, by definition.
$ riffle gen zipf --events 200K --keys 10K --seed 1 > z.txt
$ riffle compare z.txt -e exact --format csv | cut -d, -f2,4-
bits,error,false_pos,false_neg,neutral_pos,neutral_neg,engine
0,0,0,0,0,0,"exact(memory=0, interval=0)"
$ riffle compare z.txt -e exact -e exact --interval 10K --threshold 1% --format csv | cut -d, -f2,4-
bits,error,false_pos,false_neg,neutral_pos,neutral_neg,engine
0,0,0,0,0,0,"exact(memory=0, interval=10K)"
0,0,0,0,0,0,"exact(memory=0, interval=10K)"
$ riffle compare z.txt -e exact | sed -E 's/^ +[0-9]+ +- +[0-9]+\.[0-9] /MEMORY - SPEED /'
200000 events, 9641 distinct tuples; measure interval, threshold 0.1%, interval all

      memory        bits  M tuples/s        error    false_pos    false_neg  neutral_pos  neutral_neg  engine
MEMORY - SPEED           0%           0%           0%           0%           0%  exact

Speed is that of the engine's feed alone, timed on a copy of it, 64 Ki tuples per turn.
$ riffle compare z.txt -e exact --interval 10K --format json | python3 -c '
> import json, sys
> c = json.load(sys.stdin)
> print(c["schema"], c["measure"], c["interval"], c["events"], c["distinct"], c["engines"][0]["error"])'
1 interval 10000 200000 9641 0
# The memory and the speed are there.
$ riffle compare z.txt -e exact --format csv | awk -F, 'NR > 1 { print ($1 > 100000), ($3 > 100000) }'
1 1
# An engine's own interval is everybody's; two of them cannot be had. --interval is for all.
$ riffle compare z.txt -e 'multihash(interval=10K, threshold=1%)' -e exact --threshold 1% --format csv | cut -d, -f4- | tail -n 1
0,0,0,0,0,"exact(memory=0, interval=10K)"
$ riffle compare z.txt -e 'multihash(interval=10K)' -e 'multihash(interval=20K)'
riffle: compare: engine 'multihash(interval=20K)' has intervals of 20K events, not 10K; all must have the same: set --interval
[2]
$ riffle compare z.txt -e 'multihash(interval=10K)' -e exact --interval 20K --format csv | sed 's/.*"\(.*interval=[0-9]*K\).*/\1/'
memory,bits,tuples_per_second,error,false_pos,false_neg,neutral_pos,neutral_neg,engine
multihash(tables=2, counters=5460, interval=20K
exact(memory=0, interval=20K
$ riffle compare z.txt -e multihash --interval 2G
riffle: engine 'multihash': interval must be auto or between 0 and 1G, got '2000000000'
[2]
# A poor engine has an error, and its parts add up to it.
$ riffle compare z.txt -e 'multihash(interval=10K, threshold=1%, counters=16, tables=1)' --threshold 1% --format csv |
> awk -F, 'NR > 1 { d = $4 - $5 - $6 - $7 - $8; print ($4 > 0), (d < 1e-9 && d > -1e-9) }'
1 1
# Interval by interval; the mean of the lines is the error above.
$ riffle compare z.txt -e 'multihash(paper-single, interval=50K, threshold=1%, counters=32)' --threshold 1% --per-interval | cut -d, -f1-6
interval,error,false_pos,false_neg,neutral_pos,neutral_neg
0,1.4429269375971576,1.3414945591827672,0,0.066178103486564513,0.035254274927825895
1,1.3636363636363638,1.3636363636363638,0,0,0
2,1.2470487596236099,1.2410037068719704,0,0.0060450527516395774,0
3,1.3138630201579631,1.3138630201579631,0,0,0
$ riffle compare z.txt -e 'multihash(paper-single, interval=50K, threshold=1%, counters=32)' --threshold 1% --format csv | cut -d, -f4-8
error,false_pos,false_neg,neutral_pos,neutral_neg
1.3418687702537735,1.3149994124622661,0,0.018055789059551023,0.0088135687319564737
$ riffle compare z.txt -e exact -m invariance --per-interval
riffle: compare: --per-interval is for -m interval
[2]

# The overlap of profiles: half of the stream against the whole, and two that have little in common.
$ riffle gen zipf --events 20000 --keys 500 --seed 3 > whole.txt; head -10000 whole.txt > half.txt; riffle gen zipf --events 10000 --keys 500 --seed 4 > other.txt
$ riffle compare whole.txt -m overlap -e exact -e P64 --format csv | cut -d, -f4-
overlap,engine
1,"exact(memory=0, interval=0)"
0.65545037564254649,"P64 (hash=mix, estimate=sum, confidence=95%, memory=256Mi, buffer=100, message-cycles=30, interrupt-cycles=0, counter=31)"
$ for f in whole half other; do riffle replay -e exact -o $f.rfp $f.txt > /dev/null; done; riffle compare -m overlap whole.rfp half.rfp; riffle compare -m overlap whole.rfp other.rfp -f csv; riffle compare -m overlap --top 100% whole.rfp whole.rfp -f json
      overlap  profile
        94.7%  tuples
overlap,profile,first,second
0,"","exact(memory=0, interval=0)","exact(memory=0, interval=0)"
{"schema": 1, "measure": "overlap", "profiles": [
  {"profile": "", "first": "exact(memory=0, interval=0)", "second": "exact(memory=0, interval=0)", "overlap": 1}
]}
$ riffle compare whole.txt -m overlap -e streams
riffle: profiles of different kinds cannot be compared
[1]
$ riffle compare -m overlap whole.rfp half.rfp -e exact
riffle: compare: two saved profiles need no engine and no selector
[2]
$ riffle compare -m interval whole.rfp half.rfp
riffle: interval 0 has 20000 events in one profile and 10000 in the other
[1]
