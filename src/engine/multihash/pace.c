/* pace.c - interval=auto. pace.h has the idea.
 *
 * In a trial a short rung gets more comparisons than a long one. A trial of all rungs takes about 4 M events;
 * with STAY events between two trials that is a sixth of the run. A longer interval is taken only if it is
 * steadier by MARGIN, since a shorter one reports sooner. */
#include "engine/multihash/pace.h"

static const uint32_t ladder[RF_MULTIHASH_RUNGS] = {10000, 100000, 1000000};
static const uint16_t trials[RF_MULTIHASH_RUNGS] = {30, 6, 2};

#define STAY   UINT64_C(20000000) /* events between two trials */
#define MARGIN 0.02f
#define SMOOTH 0.02f /* weight of the newest change */

double rf_multihash_change(uint64_t before, uint64_t now, uint64_t in_both)
{
    uint64_t either = before + now - in_both;
    return either == 0 ? 0.0 : (double)(either - in_both) / (double)either;
}

uint64_t rf_multihash_pace_longest(void)
{
    return ladder[RF_MULTIHASH_RUNGS - 1];
}

void rf_multihash_pace_begin(struct rf_multihash_pace *pace)
{
    *pace = (struct rf_multihash_pace){.trying = true};
}

uint64_t rf_multihash_pace_length(const struct rf_multihash_pace *pace)
{
    return ladder[pace->rung];
}

static void go_to(struct rf_multihash_pace *pace, unsigned rung)
{
    pace->comparable = rung == pace->rung;
    pace->rung = (uint8_t)rung;
    pace->tried = 0;
}

static unsigned steadiest(const struct rf_multihash_pace *pace)
{
    unsigned best = 0;
    for (unsigned rung = 1; rung < RF_MULTIHASH_RUNGS; rung++)
        if (pace->change[rung] < pace->change[best] - MARGIN)
            best = rung;
    return best;
}

/* On a trial the plain mean of the rung's comparisons, afterwards a moving one. */
static void learn(struct rf_multihash_pace *pace, float change)
{
    if (pace->trying)
        pace->trial += (change - pace->trial) / (float)pace->tried;
    else
        pace->change[pace->rung] += (change - pace->change[pace->rung]) * SMOOTH;
}

/* A trial counts as much as all trials before it together: a single one may meet an odd stretch. */
static void conclude(struct rf_multihash_pace *pace)
{
    float *known = &pace->change[pace->rung];
    *known = pace->rounds == 0 ? pace->trial : (*known + pace->trial) / 2;
    pace->trial = 0;
}

static void begin_trial(struct rf_multihash_pace *pace)
{
    pace->trying = true;
    go_to(pace, 0);
}

static void after_trial(struct rf_multihash_pace *pace)
{
    if (pace->tried < trials[pace->rung])
        return;
    conclude(pace);
    if (pace->rung + 1 < RF_MULTIHASH_RUNGS) {
        go_to(pace, pace->rung + 1u);
        return;
    }
    pace->trying = false;
    pace->rounds = 1;
    pace->stayed = 0;
    go_to(pace, steadiest(pace));
}

void rf_multihash_pace_step(struct rf_multihash_pace *pace, double change)
{
    bool counts = pace->comparable;
    pace->comparable = true;
    pace->stayed += ladder[pace->rung];
    if (counts) {
        pace->tried++;
        learn(pace, (float)change);
    }
    if (pace->trying)
        after_trial(pace);
    else if (pace->stayed >= STAY)
        begin_trial(pace);
}
