# loads.uc - which loads run most often, with a counter for as many as fit.
#
# doc/COPROC.md develops this program step by step.
.on load goto start
.field pc = pc[31:0]
.index slot : log2(ASSOC)               # where a pc was found
.index turn : log2(ASSOC)               # whose turn it is to make room
.index failed : log2(ASSOC)             # loads that found no room, less those that did
.base pcs = assoc[0 : ASSOC]
.base counts = data[0 : ASSOC]
.slot a = pcs, count = counts
.profile load -> pc
.handler fold

start:  slot = match(pcs, pc); if miss goto fresh
        counts[slot]++; done

fresh:  v0 = counts[turn]; v1 = random & 255
        if v0 > v1 goto keep            # it was seen often enough to stay
        pcs[turn] = pc; counts[turn] = 1; failed--
        turn = turn + 1; done
keep:   turn = turn + 1
        failed++; if not i.full done
        interrupt                       # the host adds up the counters and clears them
