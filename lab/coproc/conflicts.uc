# conflicts.uc - cache blocks that were thrown out too early: brought in again within the last misses, by set.
#
# The blocks of the last misses are kept in a ring. A miss on one of them is a conflict: not long ago the block was in
# the cache.
#
#     associative array      data array
#     block                                                        the ring: as many as half the array
#     block                  set | address (two halves) | count    the slots: likewise
#
# The profile is of <set, address of the block>.
.let sets = 64          # of the cache
.let patience = 5       # the host is called when 2^5 - 1 conflicts found no room
.let keep = 1           # the host must not clear the ring
.on load, store goto start
.field missed = miss
.field block = addr[37:6]
.field set = addr[log2(64 * sets) - 1 : 6]
.field low = addr[31:0]
.field high = addr[63:32]
.index newest : log2(ASSOC / 2)         # where the next miss goes
.index place : log2(ASSOC / 2)
.index slot : log2(ASSOC / 2)
.index turn : log2(ASSOC / 2)
.index failed : patience                # conflicts that found no room
.base recent = assoc[0 : ASSOC / 2]
.base blocks = assoc[ASSOC / 2 : ASSOC / 2]
.base in_set = data[0 : ASSOC / 2]
.base lows = data[ASSOC / 2 : ASSOC / 2]
.base highs = data[ASSOC : ASSOC / 2]
.base counts = data[ASSOC + ASSOC / 2 : ASSOC / 2]
.slot a = in_set, b = lows, b_high = highs, count = counts
.profile load miss>=1 -> value,addr
.handler fold

start:  if missed == 0 done
        place = match(recent, block); if miss goto put
        clear recent[place]
        recent[newest] = block; newest = newest + 1
        slot = match(blocks, block); if miss goto fresh
        counts[slot]++; done
put:    recent[newest] = block; newest = newest + 1; done

fresh:  v0 = counts[turn]; if not d.zero goto fail
        blocks[turn] = block; in_set[turn] = set
        highs[turn] = high; v2 = low & 0xffffffc0
        lows[turn] = v2
        counts[turn] = 1; turn = turn + 1; done
fail:   turn = turn + 1
        failed++; if not i.full done
        failed = 0; interrupt
