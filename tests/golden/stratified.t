# Every form of the sampler algebra on a text stream: the three heaviest tuples it found.
$ riffle gen loop --events 100K --seed 1 > loop.txt
$ for engine in P256 R256 D256 CR256 'H[P256]2048' 'H[R256]2048' 'H[CR256]2048' 'P256 A16' 'R256 A16' \
>     'CR256 A16' 'H[P256]2048 A16' 'H[R256]2048 A16' 'H[CR256]2048 A16' tagged 'tagged A16' \
>     'tagged(ways=2, entries=2048, tag=2, hit=8, miss=3) A16' 'H[P64 A4]64 A16' 'H[H[P8]4]16' A64; do
>     echo "$engine"
>     riffle replay loop.txt -e "$engine" --format csv | sed -n 2,4p
> done
P256
0x4cba35,0x7f00a5d42d70,8448,5763,11646,confidence,tuples
0x4cba43,0x85a0,5632,3446,8393,confidence,tuples
0x4cba7c,0x7f00bb5c5590,4608,2639,7178,confidence,tuples
R256
0x4cba43,0x85a0,6912,4442,10050,confidence,tuples
0x4cba35,0x7f00a5d42d70,5888,3620,8829,confidence,tuples
0x4cba89,0x2a,4608,2621,7279,confidence,tuples
D256
0x4cba43,0x85a0,8192,5489,11557,confidence,tuples
0x4cba35,0x7f00a5d42d70,5632,3418,8522,confidence,tuples
0x4cba7c,0x7f00bb5c5590,4096,2233,6648,confidence,tuples
CR256
0x4cba43,0x85a0,7998,4433,12334,confidence,tuples
0x4cba35,0x7f00a5d42d70,4106,3093,10159,confidence,tuples
0x4657bd,0x64f69219c27fac00,3985,461,4806,confidence,tuples
H[P256]2048
0x4cba35,0x7f00a5d42d70,6400,5165,6650,confidence,tuples
0x4cba43,0x85a0,6400,5137,6614,confidence,tuples
0x4cba69,0x7f00a2272bd0,3584,2406,3751,confidence,tuples
H[R256]2048
0x4cba43,0x85a0,7680,5067,10957,confidence,tuples
0x4cba35,0x7f00a5d42d70,5888,3620,8829,confidence,tuples
0x4cba89,0x2a,4352,2426,6964,confidence,tuples
H[CR256]2048
0x4cba43,0x85a0,6141,4786,6614,confidence,tuples
0x4cba35,0x7f00a5d42d70,5680,4051,6620,confidence,tuples
0x4cba89,0x2a,3585,2126,3781,confidence,tuples
P256 A16
0x4cba35,0x7f00a5d42d70,8448,5763,11646,confidence,tuples
0x4cba43,0x85a0,5632,3446,8393,confidence,tuples
0x4cba7c,0x7f00bb5c5590,4608,2639,7178,confidence,tuples
R256 A16
0x4cba43,0x85a0,6912,4442,10050,confidence,tuples
0x4cba35,0x7f00a5d42d70,5888,3620,8829,confidence,tuples
0x4cba89,0x2a,4608,2621,7279,confidence,tuples
CR256 A16
0x4cba43,0x85a0,7998,4433,12334,confidence,tuples
0x4cba35,0x7f00a5d42d70,4106,3093,10159,confidence,tuples
0x4657bd,0x64f69219c27fac00,3985,461,4806,confidence,tuples
H[P256]2048 A16
0x4cba35,0x7f00a5d42d70,6400,5165,6650,confidence,tuples
0x4cba43,0x85a0,6400,5137,6614,confidence,tuples
0x4cba69,0x7f00a2272bd0,3584,2406,3751,confidence,tuples
H[R256]2048 A16
0x4cba43,0x85a0,7680,5067,10957,confidence,tuples
0x4cba35,0x7f00a5d42d70,5888,3620,8829,confidence,tuples
0x4cba89,0x2a,4352,2426,6964,confidence,tuples
H[CR256]2048 A16
0x4cba43,0x85a0,6141,4786,6614,confidence,tuples
0x4cba35,0x7f00a5d42d70,5680,4051,6620,confidence,tuples
0x4cba89,0x2a,3585,2126,3781,confidence,tuples
tagged
0x4cba35,0x7f00a5d42d70,6400,4542,6663,confidence,tuples
0x4cba43,0x85a0,6400,4510,6615,confidence,tuples
0x4cba69,0x7f00a2272bd0,3712,2125,3779,confidence,tuples
tagged A16
0x4cba35,0x7f00a5d42d70,6400,4542,6663,confidence,tuples
0x4cba43,0x85a0,6400,4510,6615,confidence,tuples
0x4cba69,0x7f00a2272bd0,3712,2125,3779,confidence,tuples
tagged(ways=2, entries=2048, tag=2, hit=8, miss=3) A16
0x4cba35,0x7f00a5d42d70,6400,4542,6663,confidence,tuples
0x4cba43,0x85a0,6400,4510,6615,confidence,tuples
0x4cba69,0x7f00a2272bd0,3712,2125,3779,confidence,tuples
H[P64 A4]64 A16
0x4cba35,0x7f00a5d42d70,6976,6232,7501,confidence,tuples
0x4cba43,0x85a0,6208,5552,6617,confidence,tuples
0x4cba89,0x2a,4032,3319,4633,confidence,tuples
H[H[P8]4]16
0x4cba35,0x7f00a5d42d70,6704,6388,7021,confidence,tuples
0x4cba43,0x85a0,6680,6410,6949,confidence,tuples
0x4cba89,0x2a,3800,3510,4098,confidence,tuples
A64
0x4cba35,0x7f00a5d42d70,6600,6600,6600,exact,tuples
0x4cba43,0x85a0,6600,6600,6600,exact,tuples
0x4cba89,0x2a,3780,3780,3780,exact,tuples
# What makes no sense is refused with the reason.
$ riffle replay loop.txt -e 'H[P256]1000'
riffle: engine 'H[P256]1000': column 12: H splits by the bits of a hash, so the number of substreams must be a power of two, got 1000
[2]
$ riffle replay loop.txt -e 'P256 R4'
riffle: engine 'P256 R4': column 6: R would sample messages, not events: behind a part only a table A can stand
[2]
$ riffle replay loop.txt -e 'CH[P256]2048'
riffle: engine 'CH[P256]2048': column 2: C counts what enters one sampler, so P, R or D must follow it; a counter in every substream is written H[CR256]2048
[2]
# Error of the invariance of values, and its curve.
$ riffle compare loop.txt -m invariance -e exact -e 'H[P16]2048' -e R16 --format csv | cut -d, -f2,4-6
bits,error,unseen,covered
0,0,0,0.58072999999999997
8192,0.0021812252546894078,0,0.58072999999999997
32,0.01452076056892755,0,0.58072999999999997
$ riffle compare loop.txt -m invariance -e exact -e 'H[P16]2048' --every 40K | cut -d, -f1-3
events,engine,error
40000,"exact",0
40000,"H[P16]2048",0.0039151972697322015
80000,"exact",0
80000,"H[P16]2048",0.0025963956581599077
100000,"exact",0
100000,"H[P16]2048",0.0021812252546894078
$ riffle compare loop.txt -e exact --every 40K
riffle: compare: --every is for -m invariance and -m rms
[2]
# Two selectors through one engine: the counts are those of two engines.
$ make-records records.rft
$ riffle replay records.rft -p values+edges --format csv > shared.csv
$ riffle replay records.rft -p values -p edges --format csv > apart.csv
$ cmp shared.csv apart.csv && wc -l < apart.csv
17
$ riffle replay records.rft -p values+edges -e rap
riffle: engine 'rap' cannot serve several selectors at once
[1]
$ riffle replay records.rft -p values+nonsense
riffle: selector: column 8: no preset is called 'nonsense'; 'riffle selectors' helps
[2]
