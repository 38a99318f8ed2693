# sampling.uc - simple sampling: every so many loads one is written down, the host is called when the list is full.
#
# What the paper compares its value profiler with (section 4): no summary, no masking, a constant rate and a
# constant overhead. The list is as long as the machine has room for pc, both halves of the value, and a count. A sample
# counts for all loads of its period.
.let period = 1000 : 1 .. 65535     # loads from sample to sample
.on load goto start
.const last = period - 1
.field pc = pc[31:0]
.field low = value[31:0]
.field high = value[63:32]
.index tick : 16                        # loads since the last sample
.index turn : log2(ASSOC / 2)           # the end of the list
.base pcs = data[0 : ASSOC / 2]
.base lows = data[ASSOC / 2 : ASSOC / 2]
.base highs = data[ASSOC : ASSOC / 2]
.base counts = data[ASSOC + ASSOC / 2 : ASSOC / 2]
.slot a = pcs, b = lows, b_high = highs, count = counts
.profile load -> pc,value
.handler fold

start:  tick = tick + 1; if tick < last done
        tick = 0; pcs[turn] = pc
        lows[turn] = low
        highs[turn] = high
        counts[turn] = period; turn = turn + 1; if not i.zero done
        interrupt
