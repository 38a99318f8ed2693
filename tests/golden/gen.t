# The same stream for the same seed, everywhere and for ever.
$ riffle gen zipf --events 8 --keys 100 --seed 1
$ riffle gen uniform --events 5 --keys 100 --seed 1
$ riffle gen phases --events 5 --keys 3 --phase 2 --seed 1
$ riffle gen loop --events 5 --seed 1
$ for kind in zipf uniform phases loop; do riffle gen $kind --events 200K --seed 7 | md5sum; done
# A trace holds the same.
$ riffle gen zipf --events 100K --seed 3 -o z.rft; riffle gen zipf --events 100K --seed 3 -o z.txt
$ riffle trace convert z.rft - | cmp - z.txt
$ riffle gen zipf --events 100K --seed 3 --to rft > piped.rft; riffle trace convert piped.rft - | cmp - z.txt
$ ls
