/* pace.h - interval=auto: how long the next interval is to be.
 *
 * The paper (section 5.6.1) finds that different interval lengths suit different programs and leaves
 * the choice open. What makes a length suit is that the candidates of one interval are those of the
 * next, since what was learned in one is used in the next. So the lengths on a short ladder are
 * tried for a few intervals each, and the one whose candidates change least is kept; after a while
 * they are tried again, since programs change.
 *
 *     10K 10K ... | 100K 100K ... | 1M 1M 1M |  the steadiest, for STAY events  | 10K 10K ...
 */
#ifndef RF_ENGINE_MULTIHASH_PACE_H
#define RF_ENGINE_MULTIHASH_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum { RF_MULTIHASH_RUNGS = 3 };

struct rf_multihash_pace {
    uint8_t rung; /* of the ladder, the current interval's */
    bool trying;
    bool comparable; /* the interval before was as long as this one */
    uint16_t tried;  /* intervals on this rung since the trial began */
    uint64_t stayed; /* events since the last trial ended */
    uint8_t rounds;  /* trials that have ended: none, or some */
    float trial;     /* mean change of the rung that is being tried */
    float change[RF_MULTIHASH_RUNGS];
};

/* How much two sets of candidates differ, 0 to 1: those that are in one only, over those in either. */
double rf_multihash_change(uint64_t before, uint64_t now, uint64_t in_both);

uint64_t rf_multihash_pace_longest(void); /* interval there will be */

void rf_multihash_pace_begin(struct rf_multihash_pace *pace);
uint64_t rf_multihash_pace_length(const struct rf_multihash_pace *pace);
/* An interval is over, and its candidates differed this much from those of the one before. */
void rf_multihash_pace_step(struct rf_multihash_pace *pace, double change);

#endif
