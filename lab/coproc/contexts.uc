# contexts.uc - events by call stack: which loads miss, and which calls are made, in which context.
#
# A context is a number that stands for a whole call stack: 0 at the bottom; a call at pc in context c leads to
# context mix(c, pc), below. Calls are events, too, so that whoever has the profile <pc, context> can find the call
# that made a context, and the call that made that one, to the bottom.
#
#     associative array      data array
#     mix(context, pc)       pc | context | count          and the contexts to return to
#
# A stack that is deeper than a quarter of the data array is cut: what is called beyond belongs to the context there.
# There is one stack; the calls of several threads are mixed up in it.
.let level = 1 : 0 .. 2             # loads are events that miss so many caches; 0: all of them
.let patience = 5 : 1 .. 16         # the host is called when 2^5 - 1 events found no room
.let keep = 1 : 0 .. 1              # the host must not clear the stack
.on call, icall, load goto start
.on return goto back
.field pc = pc[31:0]
.field missed = miss
.field class = opcode
.index depth : 16
.index kind : 4
.index slot : log2(DATA / 4)
.index turn : log2(DATA / 4)
.index failed : patience                # events that found no room
.value context = v7
.base keys = assoc[0 : DATA / 4]
.base pcs = data[0 : DATA / 4]
.base contexts = data[DATA / 4 : DATA / 4]
.base counts = data[DATA / 2 : DATA / 4]
.base stack = data[DATA / 2 + DATA / 4 : DATA / 4]
.const deepest = DATA / 4
.const load = 0
.slot a = pcs, b = contexts, count = counts
.profile frame -> pc,context
.handler fold

start:  if class != load goto mix
        if missed < level done
mix:    v0 = context + pc; kind = class
        v1 = v0 << 8
        v0 = v0 + v1
        v1 = v0 << 16
        v0 = v0 + v1
        v1 = v0 >> 4
        v0 = v0 ^ v1                    # the event, and what a call leads to
        v2 = context; if kind == load goto count
        if depth >= deepest goto deeper
        stack[depth] = context; context = v0; depth++; goto count
deeper: depth++
count:  slot = match(keys, v0); if miss goto fresh
        counts[slot]++; done

fresh:  v3 = counts[turn]; if not d.zero goto fail
        keys[turn] = v0; pcs[turn] = pc
        contexts[turn] = v2
        counts[turn] = 1; turn = turn + 1; done
fail:   turn = turn + 1
        failed++; if not i.full done
        failed = 0; interrupt

back:   if depth == 0 done
        depth--
        if depth >= deepest done
        context = stack[depth]; done
