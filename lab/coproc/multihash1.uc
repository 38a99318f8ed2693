# multihash1.uc - the tuples above a threshold, interval by interval, with one hash table.
#
# Narayanasamy, Sherwood, Sair, Calder, Varghese, "Catching Accurate Profiles in Hardware", section 5, with resetting
# and retaining. A load's <pc, value> that is not in the accumulator counts in a table of counters; at the threshold
# it goes into the accumulator. At the end of an interval the host is called, and takes the entries at or
# above the threshold. These stay, with a count of 0, to be replaced when there is no room; all else is cleared when
# the next interval begins. The candidates are those of the engine
#
#     multihash(paper-single, counters=256, accumulator=64, interval=10K, threshold=2%)
#
#     associative array      data array
#     hash of the tuple      pc | value (two halves) | count       the accumulator
#     state                                                        1 a candidate, 2 one of the interval before
#                            counters                              half of the array
.let interval = 10000 : 1 .. 4294967295
.let threshold = 200 : 1 .. 4294967295
.let least = threshold  # smaller counts are not the host's business
.let seed = 0xe220a8397b1dcdaf
.let keep = 1 : 0 .. 1
.let estimate = 1 : 0 .. 1          # counters are shared with other tuples
.on load goto start
.field pc = pc[31:0]
.field low = value[31:0]
.field high = value[63:32]
.field key = hash(pc, value, 1) : 32
.field counter = hash(pc, value, seed) : log2(DATA / 2)
.index at : log2(DATA / 2)
.index slot : log2(DATA / 8)
.index from : log2(DATA / 8)
.index to : log2(DATA / 8) + 1
.value events = v7
.base keys = assoc[0 : DATA / 8]
.base states = assoc[DATA / 8 : DATA / 8]
.base counters = data[0 : DATA / 2]
.base pcs = data[DATA / 2 : DATA / 8]
.base lows = data[DATA / 2 + DATA / 8 : DATA / 8]
.base highs = data[DATA / 2 + DATA / 4 : DATA / 8]
.base counts = data[DATA / 2 + DATA / 4 + DATA / 8 : DATA / 8]
.const entries = DATA / 8
.target again_from_start = begin
.slot a = pcs, b = lows, b_high = highs, count = counts
.profile load -> pc,value
.handler fold

start:  if events == interval goto sweep
begin:  events = events + 1; slot = match(keys, key); if miss goto absent
again:  v0 = pcs[slot]
        v1 = lows[slot]; if v0 != pc goto other
        v2 = highs[slot]; if v1 != low goto other
        if v2 != high goto other
        v0 = ++counts[slot]
        if v0 < threshold goto end
        states[slot] = 1                # a candidate again
end:    if events != interval done
        interrupt
other:  slot = next(keys, key); if hit goto again

absent: at = counter
        v0 = ++counters[at]
        if v0 < threshold goto end
        slot = free(keys); if hit goto put
        slot = match(states, 2); if miss goto end       # no room
put:    keys[slot] = key; pcs[slot] = pc
        states[slot] = 1; lows[slot] = low
        highs[slot] = high
        counts[slot] = v0
        counters[at] = 0; goto end

sweep:  events = 0; from = match(states, 1); to = 0; if miss goto rest
move:   v0 = keys[from]; v1 = pcs[from]
        v2 = lows[from]; clear keys[from]
        v3 = highs[from]; clear states[from]
        keys[to] = v0; pcs[to] = v1
        states[to] = 2; lows[to] = v2
        highs[to] = v3
        counts[to] = 0; to++; from = match(states, 1); if hit goto move
rest:   if to == entries goto zero
        clear keys[to]
        clear states[to]
        counts[to] = 0; to++; goto rest
zero:   at = 0
clean:  counters[at] = 0; at = at + 1; if not i.zero goto clean
        goto again_from_start
