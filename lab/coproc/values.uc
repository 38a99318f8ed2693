# values.uc - which value each load mostly has: the full algorithm, with one active value per slot.
#
# Zilles and Sohi, section 4 and the appendix; its flow chart is beside the labels. A slot is
#
#     associative array      data array
#     pc                     active value | total (16 bits) | misses (8) | hits (8)
#
# Choices where the text lost its numbers: the active value is selected anew when less than a fifth of the samples
# since its selection had it (misses > 4 hits); a value that had `retain` hits by then is kept, and the slot is
# turned off; random numbers are 0 to 255; the host is called when `failed` is as large as the number of
# slots, or `dropped` four times that. The slot that is considered moves on also when it stays: one that
# cannot be replaced any more must not keep the others from it.
#
# Departure: of `one_of` samples one is looked at, by chance. A slot that takes 255 samples of a hot load in a row sees
# a moment of the program; one that takes every eighth sees eight times as much of it, for the same price to the host.
# The others end in their first cycle, so that the buffer hardly ever is full.
.let one_of = 8 : power 1 .. 1024           # samples; a power of two, 1: all of them
.let retain = 16 : 0 .. 256                 # hits that are worth keeping
.let quiet = 100000 : 1 .. 1073741824       # loads without an interrupt until the host looks by itself
.let high = 95 : 0 .. 101                   # per cent: above, a load is known well enough
.let low = 10 : 0 .. 101                    # per cent: below, too
.let enough = 64 : 1 .. 65535               # samples that such a judgement needs
.let least = 4 : 0 .. 65535                 # samples: slots with fewer tell too little for the price of recording them
.let worth = 10 : 0 .. 101                  # per cent: above, the upper half of the value is looked at, too
.let times = 4 : 1 .. 65535                 # or so many interrupts found it
.let age = 500000 : 0 .. 1073741824         # loads, give or take half, until masked ones are sampled again; 0: never
.let glance = 80000 : 0 .. 1073741824       # loads for which they are
.let second = 10000 : 0 .. 1073741824       # loads for which upper halves are looked at, at the most
.on load goto start
.field pc = pc[31:0]
.field value = value[31:0]
.field top = value[63:32]
.index slot : log2(ASSOC)
.index turn : log2(ASSOC)               # the slot to be considered next
.index failed : log2(ASSOC)             # replacements that failed, less those that did not
.index dropped : log2(ASSOC) + 2        # replacements
.base pcs = assoc[0 : ASSOC]
.base active = data[0 : ASSOC]
.base counts = data[ASSOC : ASSOC]
# The second pass has its own slots: a load, the lower half that is looked for, the upper half seen with it, how
# often the lower half was seen (16 bits), how often with this upper one (16). The host fills in the first two.
.index left : log2(ASSOC)               # slots that have not seen enough
.index reach : log2(ASSOC)              # slots from the first on that were considered: the host need not read others
.base wanted = assoc[0 : ASSOC / 2]
.base lowers = data[0 : ASSOC / 2]
.base uppers = data[ASSOC / 2 : ASSOC / 2]
.base marks = data[ASSOC : ASSOC / 2]
.const others = one_of - 1
.const fresh_counts = 0x10001           # total 1, misses 0, hits 1
.slot pc = pcs, value = active
.slot hits = counts.b0, misses = counts.b1, total = counts.h1
.slot wanted = wanted, lower = lowers, upper = uppers
.slot seen = marks.h1, same = marks.h0
.profile load -> pc,value
.handler values

start:  v0 = random & others; if not v.zero done        # is it this one's turn?
        slot = match(pcs, pc); if miss goto fresh       # does the pc match a slot?
        counts[slot].h1++; if d.full goto off           # total: its count must stay true
        v0 = active[slot]
        if v0 != value goto differs                     # is the value the active value?
        counts[slot].b0++; if not d.full done           # hits; full: keep their ratio to misses
off:    clear pcs[slot]; done                           # turn the slot off

differs: v1 = ++counts[slot].b1; if d.full goto off     # misses
        v2 = counts[slot].b0
        v3 = v2 << 2
        if v1 <= v3 done                                # is it still invariant enough?
        if v2 >= retain goto off                        # what it learned is worth keeping
        active[slot] = value                            # select the active value anew
        counts[slot].h0 = 1; done                       # hits 1, misses 0

fresh:  v0 = counts[turn].h1; v1 = random & 255; reach++    # consider one slot
        if v1 <= v0 goto fail                           # it knows too much to be replaced
        pcs[turn] = pc; active[turn] = value; failed--
        counts[turn] = fresh_counts; turn = turn + 1
        dropped++; if not i.full done
        interrupt                                       # thrashing
fail:   turn = turn + 1
        failed++; if not i.full done
        interrupt                                       # the slots are full of what is worth knowing

upper:  slot = match(wanted, pc); if miss done
each:   v0 = lowers[slot]
        if v0 == value goto found
        slot = next(wanted, pc); if hit goto each      # another value of the same load
        done
found:  v1 = ++marks[slot].h1
        v2 = uppers[slot]; if v1 == 1 goto first
        if v2 != top goto other
        marks[slot].h0++
count:  if v1 < enough done
        clear wanted[slot]; left--; if not i.zero done
        interrupt                                       # all have seen enough
first:  uppers[slot] = top
        marks[slot].h0 = 1; done
other:  v3 = marks[slot].h0
        v3 = v3 << 2
        if v3 >= v1 goto count
        uppers[slot] = top                              # it was a rare one: take this
        marks[slot].h0 = 1; goto count
