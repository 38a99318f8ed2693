# Ranges as a tree, as a heat map, asked for.
$ riffle gen loop -N 200K --seed 1 -o loop.rft
$ riffle replay loop.rft -e 'rap(key=b, eps=2%)' -f tree --hot 10%
command     riffle replay loop.rft -e 'rap(key=b, eps=2%)' -f tree --hot 10%
engine      rap(eps=2%, key=b)
events      200000
hot         6 of 3939 ranges, each above 10% without hot ones inside it

  share  with inner
 11.11%      70.44%  0x0..0xffffffff
 15.36%      59.33%    0x0..0xfffffff
 23.31%      43.97%      0x0..0xffff
 20.66%      20.66%        0x0..0xff
 14.06%      25.57%  0x7f0000000000..0x7f00ffffffff
 11.51%      11.51%    0x7f0080000000..0x7f00bfffffff
$ riffle replay loop.rft -e 'rap(key=b, eps=2%)' -f csv -n 3
lo,hi,count,lower,upper,bound,total,profile
0x85a0,0x85a0,8145,8145,8209,hard,8145,tuples
0x7f00a5d42d70,0x7f00a5d42d70,8136,8136,8180,hard,8136,tuples
0x2a,0x2a,4770,4770,4831,hard,4770,tuples
$ riffle replay loop.rft -e 'rap(key=both, eps=2%)' -f heat --hot 8%
command     riffle replay loop.rft -e 'rap(key=both, eps=2%)' -f heat --hot 8%
engine      rap(eps=2%, key=both)
events      200000
hot         11 of 4255 ranges, each above 8% without hot ones inside it

          A   B   C   D   E   F   G   H   I   J   K
  8.91%  %%                                           0x0..0xffffffffffffffff
  9.88%      @@                                       0x0..0xffffffff
 10.66%                                      @@       0x0..0x7fffffff
 18.27%          ##                              @@   0x0..0x1fffffff
  8.00%                                  ##           0x0..0x7ffffff
  9.56%              @@                               0x400000..0x7fffff
  8.37%                      %%                       0x4c0000..0x4cffff
  8.13%                          ##                   0x4ca000..0x4cbfff
  8.01%                  ##                           0x4e0000..0x4fffff
 10.21%                              @@               0x4ea000..0x4ea7ff

   A  0x0..0xffffffffffffffff
   B  0x0..0xffffffff
   C  0x0..0x1fffffff
   D  0x0..0x3fffff
   E  0x0..0x1ffff
   F  0x0..0xffff
   G  0x0..0x1fff
   H  0x0..0x7ff
   I  0x8000000..0xfffffff
   J  0x7f0000000000..0x7f007fffffff
   K  0x7f00a0000000..0x7f00bfffffff

  @@ is 10.66%
$ riffle replay loop.rft -e 'rap(key=b, eps=2%)' -o loads.rfp
200,000 events

 share  count  with inner  from            to
  4.1%  8,145       8,145  0x85a0          0x85a0
  4.1%  8,136       8,136  0x7f00a5d42d70  0x7f00a5d42d70
  2.4%  4,770       4,770  0x2a            0x2a
  2.3%  4,581       4,581  0x7f00a2272bd0  0x7f00a2272bd0
  2.3%  4,510       4,510  0x7f00bb5c5590  0x7f00bb5c5590
  1.2%  2,479       2,479  0xfc            0xfc
  1.2%  2,435       2,435  0x4d            0x4d
  1.2%  2,387       2,387  0xe             0xe
  1.1%  2,261       2,261  0x5a32          0x5a32
  1.1%  2,238       2,238  0x671           0x671
  1.1%  2,226       2,226  0x6512          0x6512
  1.0%  2,076       2,076  0x4a747c41      0x4a747c41
  1.0%  2,066       2,066  0x7f00fd8258b0  0x7f00fd8258b0
  1.0%  1,983       1,983  0x7f003cda0990  0x7f003cda0990
  1.0%  1,981       1,981  0x11022289      0x11022289
  1.0%  1,980       1,980  0x98b105e0      0x98b105e0
  1.0%  1,888       1,888  0x7f0055852e40  0x7f0055852e40
  0.9%  1,858       1,858  0x7f001c6c3050  0x7f001c6c3050
  0.8%  1,630       1,630  0xc9            0xc9
  0.8%  1,620       1,620  0x6f            0x6f
 3,916 more rows, 69.4%
 What is not listed has at most 1,322 events.
$ riffle query loads.rfp 0..255
rap(eps=2%, b=4, bits=64, key=b, q=2, first_merge=1Ki, buffer=0, nodes=0, ends=2, cache=4Ki)
  at least        41315   20.66%
  at most         41372   20.69%
  of             200000  events
$ riffle query loads.rfp 0..0xff --csv
a_lo,a_hi,b_lo,b_hi,lower,upper,events
0x0,0xffffffffffffffff,0x0,0xff,41315,41372,200000
$ riffle query loads.rfp 0..0xffffffffffffffff --csv | tail -1 | cut -d, -f5-
200000,200000,200000
$ riffle query loads.rfp 9..8
riffle: the range '9..8' ends before it begins
[2]
$ riffle query loads.rfp 12
riffle: a range is LOW..HIGH, both ends included, got '12'
[2]
$ riffle query loads.rfp nowhere..9
riffle: 'nowhere' is neither a number nor a function that ran
[1]
$ riffle replay loop.rft -f tree
riffle: 'tree' shows ranges (engine rap); this profile has none
[1]
# A page has ranges of what else would be grouped by instruction, too.
$ make-records some.rft; riffle replay some.rft -p values -e 'rap(key=b)' --html page.html > /dev/null && grep -c '"title":"range tree"' page.html
1
