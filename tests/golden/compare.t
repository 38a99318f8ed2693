# The exact engine is without error, by definition.
$ riffle gen zipf --events 200K --keys 10K --seed 1 > z.txt
$ riffle compare z.txt -e exact --format csv | cut -d, -f1-3,5-
$ riffle compare z.txt -e exact -e exact --interval 10K --threshold 1% --format csv | cut -d, -f1-3,5-
$ riffle compare z.txt -e exact | sed -E 's/ +[0-9]+\.[0-9] / SPEED /'
$ riffle compare z.txt -e exact --interval 10K --format json | python3 -c '
> import json, sys
> c = json.load(sys.stdin)
> print(c["schema"], c["measure"], c["interval"], c["events"], c["distinct"], c["engines"][0]["error"])'
# An engine's own interval is everybody's; two of them cannot be had.
$ riffle compare z.txt -e 'multihash(interval=10K, threshold=1%)' -e exact --threshold 1% --format csv | cut -d, -f1-3,5- | tail -n 1
$ riffle compare z.txt -e 'multihash(interval=10K)' --interval 20K
