# stratified.uc - stratified sampling, H[P]: of each part of the stream, every so many-th event.
#
# Sastry, Bodik, Smith, "Rapid Profiling via Stratified Sampling", section 3. Tuples <pc, value> of loads are split by
# the papers' hash into as many parts as half the data array has words; each has a counter, and the event that
# makes it reach `rate` goes into a buffer as a message that stands for all of them. A full buffer calls the host. The
# messages are those of the engine `H[P16]256 (hash=paper)`, one by one.
.let rate = 16 : 1 .. 65535
.let seed = 0
.let keep = 1 : 0 .. 1              # the host must not clear the counters
.let estimate = 1 : 0 .. 1          # a message stands for other tuples, too
.on load goto start
.field pc = pc[31:0]
.field low = value[31:0]
.field high = value[63:32]
.field stratum = hash(pc, value, seed) : log2(DATA / 2)
.index at : log2(DATA / 2)
.index message : log2(DATA / 8)
.base counters = data[0 : DATA / 2]
.base pcs = data[DATA / 2 : DATA / 8]
.base lows = data[DATA / 2 + DATA / 8 : DATA / 8]
.base highs = data[DATA / 2 + DATA / 4 : DATA / 8]
.base counts = data[DATA / 2 + DATA / 4 + DATA / 8 : DATA / 8]
.slot a = pcs, b = lows, b_high = highs, count = counts
.profile load -> pc,value
.handler fold

start:  at = stratum
        v0 = ++counters[at]
        if v0 < rate done
        counters[at] = 0
        pcs[message] = pc
        lows[message] = low
        highs[message] = high
        counts[message] = rate; message = message + 1; if not i.zero done
        interrupt                       # the buffer is full
