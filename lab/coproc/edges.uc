# edges.uc - where control goes: how often each branch was taken and not taken, and the targets of indirect jumps.
#
# A slot is an edge <pc, target>. A branch has at most two, one for each outcome; an indirect jump or call has one
# for every target, and they are found one after the other.
#
#     associative array      data array
#     pc                     target | count
.let patience = 5 : 1 .. 16         # the host is called when 2^5 - 1 edges found no room
.on branch, ijump, icall goto start
.field pc = pc[31:0]
.field to = target[31:0]
.index slot : log2(ASSOC)
.index turn : log2(ASSOC)               # the slot to be considered next
.index failed : patience                # edges that found no room
.base pcs = assoc[0 : ASSOC]
.base targets = data[0 : ASSOC]
.base counts = data[ASSOC : ASSOC]
.slot a = pcs, b = targets, count = counts
.profile branch -> pc,target
.handler fold

start:  slot = match(pcs, pc); if miss goto fresh
again:  v0 = targets[slot]
        if v0 == to goto found
        slot = next(pcs, pc); if hit goto again

fresh:  v0 = counts[turn]; if not d.zero goto fail
        pcs[turn] = pc; targets[turn] = to
        counts[turn] = 1; turn = turn + 1; done
fail:   turn = turn + 1
        failed++; if not i.full done
        interrupt                       # the host adds up the counts and clears them
found:  counts[slot]++; done
