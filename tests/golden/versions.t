# Files of the first versions stay readable. They were written by riffle before its traces had modules.
$ base64 -d > records.rft <<END
> iVJGVA0KGgoBAAAAQQAAAAEAAAAMAAAAAAAAAAUAAAAAAAAAAAAAAG1ha2UtcmVjb3JkczAuMS4w4659ESiruEG3cmZiAQAA
> ACgAAABuAQAAdQAAAAAAAAAAAAAAAAAAAM9dVVFGpp0RREPRaFbGryQotS/9YG4AXQMAggQMFbAlaQwMwzC4NAxsTjlLw0dx
> I2TvFCmlNFKMFCOHbXcnuAcga60HDuPXyhAjP7gQGgAgC8hXJeO6izsYNgVIPXSsAdK8NzABOAwcBg5XHOc0Y+GwclpmQxZn
> YDXgGnAQYAOzwEKALF+3cmZi/wAAAAAAAAAQAAAAEAAAAAEAAAAoAAAAAAAAAPxeyzgWgl1SzUes/kJDgVBBAAAAAAAAAAAA
> AAAAAAAA5gAAAAAAAAC3cmZ0ZW5kCg==
> END
$ base64 -d > tuples.rft <<END
> iVJGVA0KGgoBAAAAWgAAAAAAAAAlAAAAAAAAAAUAAAAAAAAAAAAAAHJpZmZsZSB0cmFjZSBjb252ZXJ0IHQudHh0IHR1cGxl
> cy5yZnQwLjEuMP2rwBsZEi+St3JmYgABAAAFAAAAMgAAADAAAAAAAAAAAAAAAAAAAAALx/a1jP0eJh16CK/Ra9rLKLUv/SAy
> PQEA6AAAAAAbAAAAEAEAEAIAAAAPAwMAAAUCAwIABAAAAwA1CwBjDMALt3JmYv8AAAAAAAAAEAAAABAAAAABAAAABQAAAAAA
> AACjv7PBNSzAh0jPZhztiygtWgAAAAAAAAAAAAAAAAAAALoAAAAAAAAAt3JmdGVuZAo=
> END
$ base64 -d > v1.rfp <<END
> iVJGUA0KGgoBAAAAAAAAAAsHAAAAAAAAAQMAAAAAAACJlYMHmiGlz50bsMB8KJaiKLUv/WALBr0XACbmgEEwi7YNwAgihYQp
> URgyMDwMId61FGiCIZ71yuJKV1zSn1LoAnUYQfDeUD0nyhzT2Znb4QS2VlUee5BGPTKZ/WMjKWsAbABrAHGErfZapgC87uuo
> 3pS2UkzcrQ1nY1Euhjcc0bPVq/DfChRHT+HBfD9zJcbI+fGcEkOjwOLEWW2WH2f6QYsTqxTh1xvNZFlmVFdOw9CXDPn3ofn5
> uSpF71ZPY3iTJ7bX4zeS9T5+XzGMYglDs9or/qURX1vN4vvgqN74oNWcjFlT0EeDiK2WldO465KzPs3yRqW2W9SfHz+YfxRf
> RHXeLAcaMXP2ejAj5q8gqaUOnpl0JN3IRFH6Q1jqq3ETYHZtEoMwE8o0TU65+6Qj6SQcZMQxGNdY8UEr8bNLzu3zT7vhxzAO
> 9CD14MQP4dc+dMYUA3mws/FgJ4Ii4DnlY6sznNJWARI1SZI0q/wU6+0pPu6eN0sjPCXu80ObzK4qv5aTzk1eFZ+LKkWUmkgR
> UoVDBqlCiVOU5K7RV04Zr7V1/ucHdf7u7hwcHR5BVSYu0cEB4cFGJ8PaQAaZBRcI3gEDBDADAlRQTEwXi23Z0vZcRDwXCJG9
> t8Xe2+LZ+7I3xJb2I+mmrvP3k2bNWUs1qli+hFc+H9e03lz5bICdZi2eAPCR8CgeDRYuhEityvctlLvF9NAl+ND5e5NrqEcn
> aagxoUKKoRmRkZEkKRxQgjGUiDwSoPU4zmQsEJFgFBUUlpFCadkO4XhfOmHQdYQUcOEluT6twNZWgy76jDT4cnc2Uwc0Nyty
> CI8+0x4nyNOWWZoGJBlEjAtWMvtBOhW8/SFXlIabtuoYos4Aaai0yw5WZ5NmVCFNFSNOGGRqrH4aZTRX3mUtn9HwV/JDC3/L
> AzjCRz6afBMAlS5Aszf9vY8oFJD1BxkpMsyVkdPztOdfNL15uK6H9Zsq5Y6yd/n95qCMZIPTDh7ULO7IQKI06ZzReBB2P8A/
> mVpgcyM2XoOeaZGCiIYmlhygqhAGqtWFKg==
> END
$ riffle trace info records.rft
file      records.rft
kind      records
format    1, by riffle 0.1.0
command   make-records
events    40
blocks    1
bytes     310, 7.75 per event
complete  yes
$ riffle trace head -n 5 records.rft
load   pc=0x401000 addr=0x7000 width=64 size=8 miss=1
load   pc=0x401004 addr=0x7008 value=0x1 width=64 size=8
load   pc=0x401008 addr=0x7010 value=0x2 width=64 size=8
store  pc=0x40100c addr=0x7000 value=0x3 width=64 size=8
branch pc=0x401010 target=0x401014
$ riffle replay records.rft -p edges --format csv
a,b,count,lower,upper
0x401010,0x401000,4,4,4
0x401010,0x401014,4,4,4
$ riffle trace info tuples.rft
file      tuples.rft
kind      tuples
format    1, by riffle 0.1.0
command   riffle trace convert t.txt tuples.rft
events    5
blocks    1
bytes     266, 53.20 per event
complete  yes
$ riffle replay tuples.rft -e exact --format csv
a,b,count,lower,upper
0x10,0x7,5,5,5
0x1,0x2,4,4,4
0x4,0x4,1,1,1
0x4,0x5,1,1,1
$ riffle report v1.rfp -n 2
command     riffle replay records.rft -p values -p edges -e exact -e 'multihash(interval=10, threshold=10%)' -p addresses -e 'rap(eps=10%, key=b)' --per-interval -o v1.rfp
profile     load -> pc,value
engine      exact, seed 0
memory      14.2 KiB
events      24 produced, 24 consumed, 0 lost
bounds      none needed: the counts are exact
items       12 found, 2 shown

 share  count  pc        value
 8.33%      2  0x401000  0x0
 8.33%      2  0x401000  0x1

profile     branch,jump -> pc,target
engine      exact, seed 0
memory      14.2 KiB
events      8 produced, 8 consumed, 0 lost
bounds      none needed: the counts are exact
items       2 found, 2 shown

  share  count  pc        target
 50.00%      4  0x401010  0x401000
 50.00%      4  0x401010  0x401014

profile     branch,jump -> pc,target
engine      multihash(interval=10, threshold=10%), seed 0
memory      17.0 KiB; as hardware 13.3 KiB of storage
events      8 produced, 8 consumed, 0 lost
intervals   1 of 10 events
bounds      always hold; what is not listed has at most 1
interval    10
candidates-changed 1
promotions  2
entries-replaced 0
items       2 found, 2 shown

  share  count  at least  at most  intervals  pc        target
 50.00%      4         4        4          1  0x401010  0x401000
 50.00%      4         4        4          1  0x401010  0x401014

profile     load,store -> pc,addr
engine      rap(eps=10%, key=b), seed 0
memory      572.1 KiB; as hardware 201.4 KiB of storage
events      32 produced, 32 consumed, 0 lost
bounds      always hold; what is not listed has at most 31
eps-max     0.1
nodes       129
nodes-max   129
nodes-room-max 12,889
splits      32
merges      0
early-merges 0
outside     0
items       32 found, 2 shown

 share  count  with inner  at least  at most  from  to
 3.12%      1           8         8       32  0x0   0xffff
 3.12%      1           9         9       32  0x0   0x3ffff
$ riffle report v1.rfp -n 1 --per-interval --format csv
interval,a,b,count,lower,upper
0,0x401000,0x0,2,2,2

interval,a,b,count,lower,upper
0,0x401010,0x401000,4,4,4

interval,a,b,count,lower,upper
0,0x401010,0x401000,4,4,4

interval,lo,hi,count,total
0,0x0,0xffff,1,8
# They merge with what is written today.
$ riffle replay records.rft -p edges -e 'multihash(interval=10, threshold=10%)' -o now.rfp >/dev/null; riffle merge v1.rfp now.rfp --format csv -n 1
a,b,count,lower,upper
0x401000,0x0,2,2,2

a,b,count,lower,upper
0x401010,0x401000,4,4,4

a,b,count,lower,upper
0x401010,0x401000,8,8,8

lo,hi,count,total
0x0,0xffff,1,8
