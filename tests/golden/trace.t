$ printf '1 2\n3 4 7\n0xffffffffffffffff 0\n' > in.txt
$ riffle trace convert in.txt t.rft
$ riffle trace info t.rft | sed 's/^bytes .*/bytes/'
file      t.rft
kind      tuples
format    3, by riffle 0.1.0
command   riffle trace convert in.txt t.rft
events    3
blocks    1
bytes
complete  yes
$ riffle trace head t.rft
0x1 0x2
0x3 0x4 7
0xffffffffffffffff 0x0
$ riffle trace head -n 1 in.txt
0x1 0x2
$ riffle trace convert t.rft -
0x1 0x2
0x3 0x4 7
0xffffffffffffffff 0x0
$ riffle trace convert t.rft back.txt; riffle trace convert back.txt - | cmp - <(riffle trace convert t.rft -)
$ cat t.rft | riffle replay - --format csv
a,b,count,lower,upper,bound,profile
0x3,0x4,7,7,7,exact,tuples
0x1,0x2,1,1,1,exact,tuples
0xffffffffffffffff,0x0,1,1,1,exact,tuples
$ riffle trace convert --to text t.rft odd.rft; head -n 1 odd.rft
0x1 0x2
# Damaged: the whole blocks are used, the status says so.
$ riffle gen uniform --events 300K --keys 1K --seed 1 -o u.rft
$ head -c -200 u.rft > cut.rft; riffle trace info cut.rft |& sed -E 's/^bytes .*/bytes/; s/ [0-9]+ bytes/ N bytes/'
file      cut.rft
kind      tuples
format    3, by riffle 0.1.0
command   riffle gen uniform --events 300K --keys 1K --seed 1 -o u.rft
events    262144
blocks    4
bytes
complete  no
riffle: cut.rft: damaged: N bytes belong to no whole block, it has no index: cut off behind event 262144 or damaged there
[3]
$ riffle replay cut.rft --format csv -n 1 |& sed -E 's/ [0-9]+ bytes/ N bytes/'
a,b,count,lower,upper,bound,profile
0x401c80,0x9b116721,312,312,312,exact,tuples
riffle: cut.rft: damaged: N bytes belong to no whole block, it has no index: cut off behind event 262144 or damaged there
[3]
$ riffle trace convert cut.rft saved.rft |& sed -E 's/ [0-9]+ bytes/ N bytes/'; riffle trace info saved.rft | grep -E 'events|complete'
riffle: cut.rft: damaged: N bytes belong to no whole block, it has no index: cut off behind event 262144 or damaged there
events    262144
complete  yes
$ head -c 1000 u.rft > short.rft; riffle replay short.rft --format csv -n 1 |& sed -E 's/ [0-9]+ bytes/ N bytes/'
a,b,count,lower,upper,bound,profile
riffle: short.rft: damaged: N bytes belong to no whole block, it has no index: cut off behind event 0 or damaged there
[3]
$ head -c 10 u.rft > stub.rft; riffle replay stub.rft --format csv -n 1
a,b,count,lower,upper,bound,profile
riffle: stub.rft: damaged: the header is damaged, 10 bytes belong to no whole block, it has no index: cut off behind event 0 or damaged there
[3]
$ ls
back.txt
cut.rft
in.txt
odd.rft
saved.rft
short.rft
stub.rft
t.rft
u.rft
