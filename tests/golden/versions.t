# Files of earlier versions stay readable. These were written by riffle before its traces had modules, v2.rft before they had gaps.
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
$ base64 -d > v2.rft <<END
> iVJGVA0KGgoCAAAAQQAAAAEAAAAMAAAAAAAAAAUAAAAAAAAAAAAAAG1ha2UtcmVjb3JkczAuMS4wZLLDTKPRiRa3cmZiAQAAACgA
> AABuAQAAdQAAAAAAAAAAAAAAAAAAAM9dVVFGpp0RREPRaFbGryQotS/9YG4AXQMAggQMFbAlaQwMwzC4NAxsTjlLw0dxI2TvFCml
> NFKMFCOHbXcnuAcga60HDuPXyhAjP7gQGgAgC8hXJeO6izsYNgVIPXSsAdK8NzABOAwcBg5XHOc0Y+GwclpmQxZnYDXgGnAQYAOz
> wEKALF+3cmZi/gAAAAEAAABBAAAAQQAAAAEAAAAoAAAAAAAAACfkOVDYK7/Wl2LoyYt6gQsHAAAAAAAAAAAAAAAAAAAAAPAAAAAA
> AAAA+AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAFtzdGFja10AALdyZmL/AAAAcQAAABAAAAAQAAAAAQAAACgAAAAAAAAA
> /F7LOBaCXVL7AOmrkEuMQEEAAAAAAAAAAAAAAAAAAABXAQAAAAAAALdyZnRlbmQK
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
pc,target,count,lower,upper,bound,profile
0x401010,0x401000,4,4,4,exact,"branch,jump -> pc,target"
0x401010,0x401014,4,4,4,exact,"branch,jump -> pc,target"
$ riffle trace info v2.rft
file      v2.rft
kind      records
format    2, by riffle 0.1.0
command   make-records
events    40
blocks    1
modules   1
bytes     423, 10.57 per event
complete  yes
$ riffle replay v2.rft -p edges --format csv
pc,target,count,lower,upper,bound,function,file,line,module,callee,profile
0x401010,0x401000,4,4,4,exact,,,,,,"branch,jump -> pc,target"
0x401010,0x401014,4,4,4,exact,,,,,,"branch,jump -> pc,target"
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
a,b,count,lower,upper,bound,profile
0x10,0x7,5,5,5,exact,tuples
0x1,0x2,4,4,4,exact,tuples
0x4,0x4,1,1,1,exact,tuples
0x4,0x5,1,1,1,exact,tuples
$ riffle report v1.rfp -n 2
24 loads   8 branches and jumps   32 accesses

load -> pc,value

 loads  count  pc        values  top value  of this load
 33.3%      8  0x401000       4  0                 25.0%
 33.3%      8  0x401004       4  0                 25.0%
 1 more instruction, 33.4%

branch,jump -> pc,target

 branches and jumps  count  pc        targets  top target  of this branch
             100.0%      8  0x401010        2  0x401000             50.0%

branch,jump -> pc,target

 branches and jumps  count  pc        targets  top target  of this branch
             100.0%      8  0x401010        2  0x401000             50.0%
 What is not listed has at most 1 branch.

load,store -> pc,addr

 accesses  count  with inner  from  to
     3.1%      1           8  0     0xffff
     3.1%      1           9  0     0x3ffff
 30 more rows, 93.8%
 What is not listed has at most 31 accesses.
$ riffle report v1.rfp -n 1 --per-interval --format csv
interval,pc,value,count,lower,upper,bound,profile
0,0x401000,0x0,2,2,2,exact,"load -> pc,value"

interval,pc,target,count,lower,upper,bound,profile
0,0x401010,0x401000,4,4,4,exact,"branch,jump -> pc,target"

interval,pc,target,count,lower,upper,bound,profile
0,0x401010,0x401000,4,4,4,exact,"branch,jump -> pc,target"

interval,lo,hi,count,lower,upper,bound,total,profile
0,0x0,0xffff,1,8,32,hard,8,"load,store -> pc,addr"
# They merge with what is written today.
$ riffle replay records.rft -p edges -e exact -o now.rfp >/dev/null; riffle merge v1.rfp now.rfp --format csv -n 1
pc,value,count,lower,upper,bound,profile
0x401000,0x0,2,2,2,exact,"load -> pc,value"

pc,target,count,lower,upper,bound,profile
0x401010,0x401000,8,8,8,exact,"branch,jump -> pc,target"

pc,target,count,lower,upper,bound,intervals,profile
0x401010,0x401000,4,4,4,exact,1,"branch,jump -> pc,target"

lo,hi,count,lower,upper,bound,total,profile
0x0,0xffff,1,8,32,hard,8,"load,store -> pc,addr"
