$ printf '1 2\n3 4 7\n0xffffffffffffffff 0\n' > in.txt
$ riffle trace convert in.txt t.rft
$ riffle trace info t.rft
$ riffle trace head t.rft
$ riffle trace head -n 1 in.txt
$ riffle trace convert t.rft -
$ riffle trace convert t.rft back.txt; riffle trace convert back.txt - | cmp - <(riffle trace convert t.rft -)
$ cat t.rft | riffle replay - --format csv
$ riffle trace convert --to text t.rft odd.rft; head -n 1 odd.rft
# Damaged: the whole blocks are used, the status says so.
$ riffle gen uniform --events 300K --keys 1K --seed 1 -o u.rft
$ head -c -200 u.rft > cut.rft; riffle trace info cut.rft
$ riffle replay cut.rft --format csv -n 1
$ riffle trace convert cut.rft saved.rft; riffle trace info saved.rft | grep -E 'events|complete'
$ head -c 1000 u.rft > short.rft; riffle replay short.rft --format csv -n 1
$ head -c 10 u.rft > stub.rft; riffle replay stub.rft --format csv -n 1
$ ls
