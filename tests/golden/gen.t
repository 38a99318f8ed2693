# The same stream for the same seed, everywhere and for ever.
$ riffle gen zipf --events 8 --keys 100 --seed 1
0x40dc8c 0x358cce24
0x4015c0 0xd06dedf3
0x4068a4 0xdb7dbc77
0x40c5d0 0xa020900c
0x407e58 0xc26317b5
0x406b84 0x5faf77a
0x4092fc 0xf5c5ae89
0x404f80 0x3dbb7c97
$ riffle gen uniform --events 5 --keys 100 --seed 1
0x4036cc 0x19f99423
0x408eac 0x3a223083
0x4092fc 0xf5c5ae89
0x4060b8 0xd8d9f0e2
0x409f98 0x79a3457f
$ riffle gen phases --events 5 --keys 3 --phase 2 --seed 1
0x40c5d0 0xa020900c
0x40c5d0 0xa020900c
0x403578 0x651145c7
0x404f80 0x3dbb7c97
0x401668 0x34860f50
$ riffle gen loop --events 5 --seed 1
0x5bf1d0 0x7af6
0x5bf1da 0x27f0
0x5bf1de 0xe75d433ea481bf7f
0x5bf1e9 0x7f005d703bf0
0x5bf1f6 0x7f005b29d8c0
$ for kind in zipf uniform phases loop; do riffle gen $kind --events 200K --seed 7 | md5sum; done
c52b4c276f20fab7fb3632710bc04440  -
22b3917bdb41aa32c375e00e446352c3  -
c52b4c276f20fab7fb3632710bc04440  -
4c33c8ef9558fd0131c8758554d4e85d  -
# A trace holds the same.
$ riffle gen zipf --events 100K --seed 3 -o z.rft; riffle gen zipf --events 100K --seed 3 -o z.txt
$ riffle trace convert z.rft - | cmp - z.txt
$ riffle gen zipf --events 100K --seed 3 --to rft > piped.rft; riffle trace convert piped.rft - | cmp - z.txt
$ ls
piped.rft
z.rft
z.txt
