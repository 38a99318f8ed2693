# dependences.uc - which store each load reads from, and how many stores lie between them.
#
# The last stores are kept in a ring, by address; a load that finds its address there depends on that store. How far
# back in the ring it was is the distance.
#
#     associative array      data array
#     address                pc of the store                       the ring: as many stores as half the array
#     pc of the load         pc of the store | distance | count    the slots: likewise
#
# An address is that of four bytes: a load that reads other bytes of them than were stored seems to depend, and a
# longer access is seen by its first four. Of 1, 4 and 8 bytes, four are closest on most workloads; on regex one
# is. The distance is a power of two: 0 is the last store, 1 the one before, 2 the two before these, 3 the next
# four, and so on. A tuple is <pc of the load, distance in the upper half and pc of the store in the lower>; reports
# have two profiles of it: which stores a load reads from, and how far back.
.let patience = 5 : 1 .. 16         # the host is called when 2^5 - 1 loads found no room
.let grain = 2 : 0 .. 12            # of addresses: 2^2 bytes
.let keep = 1 : 0 .. 1              # the host must not clear the ring
.on store goto store
.on load goto load
.field pc = pc[31:0]
.field word = addr[grain + 31 : grain]
.index newest : log2(ASSOC / 2)         # where the next store goes
.index place : log2(ASSOC / 2)
.index back : log2(ASSOC / 2)           # stores since
.index bits : 4
.index slot : log2(ASSOC / 2)
.index turn : log2(ASSOC / 2)
.index failed : patience                # loads that found no room
.base words = assoc[0 : ASSOC / 2]
.base loads = assoc[ASSOC / 2 : ASSOC / 2]
.base writers = data[0 : ASSOC / 2]
.base stores = data[ASSOC / 2 : ASSOC / 2]
.base distances = data[ASSOC : ASSOC / 2]
.base counts = data[ASSOC + ASSOC / 2 : ASSOC / 2]
.slot a = loads, b = stores, b_high = distances, count = counts
.profile load -> pc,writer
.handler fold

store:  place = match(words, word); if miss goto put
        clear words[place]                              # a later store hides it
put:    words[newest] = word; writers[newest] = pc; newest = newest + 1; done

load:   place = match(words, word); if miss done
        v0 = writers[place]; back = newest - place
        back = back - 1
        v1 = back; bits = 0; if v.zero goto look
shift:  v1 = v1 >> 1; bits++; if not v.zero goto shift

look:   slot = match(loads, pc); if miss goto fresh
again:  v1 = stores[slot]
        v2 = distances[slot]; if v1 != v0 goto other
        if v2 == bits goto found
other:  slot = next(loads, pc); if hit goto again

fresh:  v2 = counts[turn]; if not d.zero goto fail
        loads[turn] = pc; stores[turn] = v0
        distances[turn] = bits
        counts[turn] = 1; turn = turn + 1; done
fail:   turn = turn + 1
        failed++; if not i.full done
        failed = 0; interrupt
found:  counts[slot]++; done
