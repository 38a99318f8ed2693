# conflicts.uc - cache blocks that were thrown out too early: brought in again within the last misses.
#
# The blocks of the last misses are kept in a ring. A miss on one of them is a conflict: not long ago the block was in
# the cache.
#
#     associative array      data array
#     block                                                        the ring: as many as half the array
#     block                  pc | address (two halves) | count     the slots: likewise
#
# A tuple is <pc, address of the block>. Reports have a second profile of it: which instructions miss in which set.
.let sets = 256 : power 1 .. 65536  # of the cache; those of the core coproc
.let patience = 5 : 1 .. 16         # the host is called when 2^5 - 1 conflicts found no room
.let keep = 1 : 0 .. 1              # the host must not clear the ring
.on load, store goto start
.field pc = pc[31:0]
.field missed = miss
.field block = addr[37:6]
.field low = addr[31:0]
.field high = addr[63:32]
.index newest : log2(ASSOC / 2)         # where the next miss goes
.index place : log2(ASSOC / 2)
.index slot : log2(ASSOC / 2)
.index turn : log2(ASSOC / 2)
.index failed : patience                # conflicts that found no room
.base recent = assoc[0 : ASSOC / 2]
.base blocks = assoc[ASSOC / 2 : ASSOC / 2]
.base pcs = data[0 : ASSOC / 2]
.base lows = data[ASSOC / 2 : ASSOC / 2]
.base highs = data[ASSOC : ASSOC / 2]
.base counts = data[ASSOC + ASSOC / 2 : ASSOC / 2]
.slot a = pcs, b = lows, b_high = highs, count = counts
.profile load,store miss>=1 -> pc,addr
.handler fold

start:  if missed == 0 done
        place = match(recent, block); if miss goto put
        clear recent[place]
        recent[newest] = block; newest = newest + 1
        slot = match(blocks, block); if miss goto fresh
again:  v0 = pcs[slot]
        if v0 == pc goto found
        slot = next(blocks, block); if hit goto again

fresh:  v0 = counts[turn]; if not d.zero goto fail
        blocks[turn] = block; pcs[turn] = pc
        highs[turn] = high; v2 = low & 0xffffffc0
        lows[turn] = v2
        counts[turn] = 1; turn = turn + 1; done
fail:   turn = turn + 1
        failed++; if not i.full done
        failed = 0; interrupt
put:    recent[newest] = block; newest = newest + 1; done
found:  counts[slot]++; done
