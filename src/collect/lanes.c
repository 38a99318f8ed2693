/* lanes.c - feed a piece of the stream to the engine of every lane that wants it.
 *
 *     tuples --------------------------+--> [mark --> shared engine]
 *     records --selector--> tuples ----+--> engine                        on a thread of its own, if
 *                                                                         there are any (crew.c)
 *
 * Tuples are handed on in place. Records are selected chunk by chunk into one small buffer that
 * stays in the first-level cache and serves all lanes in turn.
 *
 * A lane whose engine runs out of memory stops alone: it is blind from then on, later events count as lost,
 * and the other lanes go on. When it does there is no memory for the making of its profile either. That is therefore set aside
 * beforehand, and given back just before (aside.c).
 *
 * Memory: two chunks of 16 KiB, what the engines hold and what their threads queue; of address space 64 to 80 bytes per
 * item, or half a megabyte for an engine that does not know how many it has. */
#include "collect/lanes.h"
#include <riffle/engine.h>
#include <riffle/profiler.h>
#include "base/alloc.h"
#include "base/error.h"
#include "collect/aside.h"
#include "collect/crew.h"
#include "collect/notes.h"
#include "collect/share.h"
#include "event/field.h"
#include "profile/bursts.h"
#include "profile/profile.h"
#include <stdbool.h>
#include <string.h>

enum { CHUNK = 1024, SELECTOR_TEXT = 512, STEP = 1024 };

struct lane {
    struct rf_selector selector;
    bool selects;
    struct rf_profiler *profiler; /* NULL: that of `owner` */
    size_t owner;                 /* the lane whose engine it uses; itself as a rule */
    struct rf_share_tally *tally; /* of an owner that others joined; else NULL */
    struct rf_share share;
    bool blind; /* its engine could not go on; `why` says from where on */
    struct rf_error why;
    struct rf_aside aside;    /* memory for its profile */
    struct rf_bursts *bursts; /* NULL: the source tells everything */
    char canonical[SELECTOR_TEXT];
};

struct rf_lanes {
    const struct rf_collect_setup *setup;
    const struct rf_alloc *alloc;
    struct rf_crew *crew; /* NULL: engines work on the caller's thread */
    struct rf_tuple chunk[CHUNK];
    uint64_t counts[CHUNK]; /* of the chunk, where the selector has a weight */
    struct rf_tuple marked[CHUNK];
    struct lane lanes[];
};

static size_t size_of(const struct rf_collect_setup *setup)
{
    return sizeof(struct rf_lanes) + setup->n_lanes * sizeof(struct lane);
}

/* --- opening ---------------------------------------------------------------------------------- */

static rf_status open_profiler(struct rf_lanes *lanes, size_t i, const char *selector,
                               struct rf_error *error)
{
    const struct rf_collect_setup *setup = lanes->setup;
    struct rf_profiler_setup how = {.alloc = lanes->alloc,
                                    .seed = setup->seed,
                                    .interval = setup->interval,
                                    .selector = selector,
                                    .keep_intervals = setup->keep_intervals,
                                    .stop = setup->stop};
    return rf_profiler_open(&lanes->lanes[i].profiler, setup->lanes[i].engine, &how, error);
}

static rf_status bind_selector(const struct rf_collect_setup *setup, struct rf_selector *selector,
                               struct rf_error *error)
{
    if (!selector->unbound)
        return RF_OK;
    if (setup->resolve == NULL)
        return rf_fail(error, RF_EINVAL,
                       "the selector names a symbol, and there is no program to look it up in");
    return rf_selector_bind(selector, setup->resolve, setup->resolve_context, error);
}

/* The mark needs the top byte of <a>, which only values use. */
static bool can_mark(const struct rf_selector *selector)
{
    return rf_field_is(selector->project_a) != RF_FIELD_WORD_VALUE;
}

static rf_status refuse_mark(struct rf_error *error)
{
    return rf_fail(error, RF_EINVAL,
                   "selectors that share an engine cannot have a value as their first field");
}

static rf_status open_selecting(struct rf_lanes *lanes, size_t i, const char *text,
                                struct rf_error *error)
{
    struct lane *lane = &lanes->lanes[i];
    rf_status status = rf_selector_parse(&lane->selector, text, error);
    if (status == RF_OK)
        status = rf_selector_recorded(&lane->selector, error);
    if (status != RF_OK)
        return status;
    rf_selector_print(&lane->selector, lane->canonical, sizeof lane->canonical);
    lane->selects = true;
    if (lanes->setup->lanes[i].joins && !can_mark(&lane->selector))
        return refuse_mark(error);
    if (!lanes->setup->selected)
        status = bind_selector(lanes->setup, &lane->selector, error);
    if (status != RF_OK || lane->owner != i)
        return status;
    return open_profiler(lanes, i, lane->canonical, error);
}

static rf_status open_tally(const struct rf_lanes *lanes, struct lane *owner)
{
    owner->tally = rf_share_tally_new(lanes->setup->keep_intervals, lanes->alloc);
    return owner->tally != NULL ? rf_share_join(owner->tally, &owner->share.tag) : RF_ENOMEM;
}

/* A lane that joins needs an owner with a selector and an engine that counts tuples. */
static rf_status join(struct rf_lanes *lanes, size_t i, struct rf_error *error)
{
    const struct rf_lane *wanted = &lanes->setup->lanes[i];
    if (i == 0 || wanted->selector == NULL || !lanes->lanes[i - 1].selects)
        return rf_fail(error, RF_EINVAL, "only lanes with selectors can share an engine");
    struct lane *lane = &lanes->lanes[i], *owner = &lanes->lanes[lanes->lanes[i - 1].owner];
    if (!can_mark(&owner->selector))
        return refuse_mark(error);
    enum rf_shape shape = rf_engine_shape(rf_profiler_engine(owner->profiler));
    rf_status status = owner->tally == NULL ? open_tally(lanes, owner) : RF_OK;
    if (status == RF_ENOMEM)
        return rf_fail(error, status, "no memory for lanes that share an engine");
    if (status != RF_OK || shape != RF_SHAPE_TUPLE ||
        rf_share_join(owner->tally, &lane->share.tag) != RF_OK)
        return rf_fail(error, RF_EINVAL, "engine '%s' cannot serve several selectors at once",
                       wanted->engine);
    lane->owner = lanes->lanes[i - 1].owner;
    return RF_OK;
}

static rf_status open_lane(struct rf_lanes *lanes, size_t i, struct rf_error *error)
{
    const struct rf_lane *wanted = &lanes->setup->lanes[i];
    struct lane *lane = &lanes->lanes[i];
    *lane = (struct lane){.owner = i};
    lane->share.selector = lane->canonical;
    rf_status status = wanted->joins ? join(lanes, i, error) : RF_OK;
    if (status != RF_OK)
        return status;
    return wanted->selector != NULL ? open_selecting(lanes, i, wanted->selector, error)
                                    : open_profiler(lanes, i, NULL, error);
}

/* Memory for the profile that it will have after `more` tuples; a shared one is dealt out. False: there is none. */
static bool set_aside(const struct rf_alloc *alloc, struct lane *lane, size_t more)
{
    size_t needs = rf_profiler_needs(lane->profiler, more);
    return rf_aside_keep(&lane->aside, alloc, lane->tally != NULL ? 2 * needs : needs);
}

/* A lane that goes blind loses the rest of the step, too. */
static rf_status feed_step(const struct rf_lanes *lanes, struct lane *lane,
                           const struct rf_tuples *step, struct rf_error *error)
{
    rf_status status = RF_OK;
    struct rf_error why = {""};
    bool fits = !lane->blind && set_aside(lanes->alloc, lane, step->n);
    if (!fits)
        rf_profiler_lose_tuples(lane->profiler, step);
    if (lane->blind)
        return RF_OK;
    if (!fits)
        status = rf_notes_refuse_more(rf_profiler_engine(lane->profiler), &why);
    else if (lane->tally != NULL)
        status = rf_share_feed(lane->tally, lane->profiler, step, &why);
    else
        status = rf_profiler_feed(lane->profiler, step, &why);
    lane->blind = status == RF_ENOMEM;
    if (lane->blind)
        lane->why = why;
    return status == RF_OK || lane->blind ? RF_OK : rf_fail(error, status, "%s", why.message);
}

/* Also called on the crew's threads. A call without tuples stands for a gap. */
static rf_status feed_lane(void *context, size_t i, const struct rf_tuples *tuples,
                           struct rf_error *error)
{
    const struct rf_lanes *lanes = context;
    struct lane *lane = &((struct rf_lanes *)context)->lanes[i];
    rf_status status = RF_OK;
    if (tuples->n == 0)
        rf_profiler_gap(lane->profiler);
    for (size_t done = 0; done < tuples->n && status == RF_OK; done += STEP) {
        const struct rf_tuples step = {tuples->tuples + done,
                                       tuples->counts != NULL ? tuples->counts + done : NULL,
                                       tuples->n - done < STEP ? tuples->n - done : STEP};
        status = feed_step(lanes, lane, &step, error);
    }
    return status;
}

static rf_status open_all(struct rf_lanes *lanes, struct rf_error *error)
{
    const struct rf_collect_setup *setup = lanes->setup;
    for (size_t i = 0; i < setup->n_lanes; i++) {
        rf_status status = open_lane(lanes, i, error);
        if (status != RF_OK)
            return status;
    }
    return rf_crew_open(&lanes->crew, setup->threads, setup->n_lanes, feed_lane, lanes,
                        lanes->alloc, error);
}

rf_status rf_lanes_open(struct rf_lanes **opened, const struct rf_collect_setup *setup,
                        struct rf_error *error)
{
    const struct rf_alloc *alloc = rf_alloc_or_standard(setup->alloc);
    struct rf_lanes *lanes = *opened = rf_alloc_zeroed(alloc, size_of(setup));
    if (lanes == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for %zu %s", setup->n_lanes,
                       setup->n_lanes == 1 ? "profile" : "profiles");
    lanes->setup = setup;
    lanes->alloc = alloc;
    rf_status status = open_all(lanes, error);
    if (status != RF_OK) {
        rf_lanes_close(lanes);
        *opened = NULL;
    }
    return status;
}

void rf_lanes_close(struct rf_lanes *lanes)
{
    if (lanes == NULL)
        return;
    rf_crew_close(lanes->crew);
    for (size_t i = 0; i < lanes->setup->n_lanes; i++) {
        rf_profiler_close(lanes->lanes[i].profiler);
        rf_share_tally_free(lanes->lanes[i].tally);
        rf_bursts_close(lanes->lanes[i].bursts);
        rf_aside_give_back(&lanes->lanes[i].aside, lanes->alloc);
    }
    rf_alloc_free(lanes->alloc, lanes, size_of(lanes->setup));
}

/* A lane without a selector counts the values of records; where they have none, what runs. */
static const char *standard_for(uint32_t unknown)
{
    if ((unknown >> RF_FIELD_VALUE & 1) == 0)
        return "values";
    return (unknown >> RF_FIELD_CYCLES & 1) == 0 ? "cycles" : "code";
}

static rf_status select_standard(struct rf_lanes *lanes, size_t i, uint32_t unknown,
                                 struct rf_error *error)
{
    struct lane *lane = &lanes->lanes[i];
    rf_profiler_close(lane->profiler);
    lane->profiler = NULL;
    return open_selecting(lanes, i, standard_for(unknown), error);
}

static rf_status refuse_unknown(const struct lane *lane, uint32_t unknown, struct rf_error *error)
{
    uint32_t missing = lane->selector.fields & unknown;
    if (missing == 0)
        return RF_OK;
    return rf_fail(error, RF_EINVAL, "this stream does not tell '%s', which '%s' needs",
                   rf_field_info((unsigned)__builtin_ctz(missing))->name, lane->canonical);
}

rf_status rf_lanes_begin(struct rf_lanes *lanes, const struct rf_batch *first,
                         struct rf_error *error)
{
    rf_status status = RF_OK;
    bool records = first->records != NULL;
    for (size_t i = 0; !lanes->setup->selected && i < lanes->setup->n_lanes; i++) {
        bool selects = lanes->lanes[i].selects;
        if (selects && !records)
            return rf_fail(error, RF_EINVAL,
                           "the stream is made of tuples; a selector needs records");
        if (!selects && records)
            status = select_standard(lanes, i, first->unknown, error);
        else if (selects)
            status = refuse_unknown(&lanes->lanes[i], first->unknown, error);
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

/* --- feeding ---------------------------------------------------------------------------------- */

static rf_status feed_engine(struct rf_lanes *lanes, size_t i, const struct rf_tuples *tuples,
                             struct rf_error *error)
{
    const struct rf_collect_setup *setup = lanes->setup;
    if (setup->tap != NULL)
        setup->tap(setup->tap_context, i, tuples);
    return lanes->crew != NULL ? rf_crew_feed(lanes->crew, i, tuples, error)
                               : feed_lane(lanes, i, tuples, error);
}

static rf_status feed_marked(struct rf_lanes *lanes, size_t i, const struct rf_tuples *tuples,
                             struct rf_error *error)
{
    struct lane *lane = &lanes->lanes[i];
    for (size_t done = 0; done < tuples->n; done += CHUNK) {
        size_t piece = tuples->n - done < CHUNK ? tuples->n - done : CHUNK;
        const uint64_t *counts = tuples->counts != NULL ? tuples->counts + done : NULL;
        rf_share_mark(lanes->marked, tuples->tuples + done, piece, lane->share.tag);
        lane->share.produced += counts == NULL ? piece : 0;
        for (size_t k = 0; counts != NULL && k < piece; k++)
            lane->share.produced += counts[k];
        const struct rf_tuples marked = {lanes->marked, counts, piece};
        rf_status status = feed_engine(lanes, lane->owner, &marked, error);
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

static rf_status feed(struct rf_lanes *lanes, size_t i, const struct rf_tuples *tuples,
                      struct rf_error *error)
{
    bool shared = lanes->lanes[lanes->lanes[i].owner].tally != NULL;
    return shared ? feed_marked(lanes, i, tuples, error) : feed_engine(lanes, i, tuples, error);
}

/* A source that selects by itself says which lane its tuples are for. */
static bool wants(const struct rf_lanes *lanes, size_t i, uint32_t stream)
{
    return !lanes->setup->selected || lanes->setup->lanes[i].stream == stream;
}

static rf_status feed_tuples(struct rf_lanes *lanes, const struct rf_tuples *tuples,
                             uint32_t stream, struct rf_error *error)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < lanes->setup->n_lanes && status == RF_OK; i++)
        if (wants(lanes, i, stream))
            status = feed(lanes, i, tuples, error);
    return status;
}

/* Select into the chunk. */
static struct rf_tuples take_tuples(struct rf_lanes *lanes, size_t i,
                                    const struct rf_record *records, size_t n)
{
    const struct rf_selector *selector = &lanes->lanes[i].selector;
    struct rf_tuples tuples = {.tuples = lanes->chunk};
    if (selector->weight == RF_FIELD_NONE) {
        tuples.n = rf_selector_run(selector, records, n, lanes->chunk);
        return tuples;
    }
    tuples.counts = lanes->counts;
    tuples.n = rf_selector_weigh(selector, records, n, lanes->chunk, lanes->counts);
    return tuples;
}

static rf_status feed_chunk(struct rf_lanes *lanes, const struct rf_record *records, size_t n,
                            struct rf_error *error)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < lanes->setup->n_lanes && status == RF_OK; i++) {
        struct rf_tuples tuples = take_tuples(lanes, i, records, n);
        if (tuples.n > 0)
            status = feed(lanes, i, &tuples, error);
    }
    return status;
}

/* The bursts of the lane, made when there are any. */
static rf_status get_bursts(struct rf_lanes *lanes, size_t i, struct rf_error *error)
{
    if (lanes->lanes[i].bursts != NULL ||
        rf_bursts_open(&lanes->lanes[i].bursts, lanes->alloc) == RF_OK)
        return RF_OK;
    return rf_fail(error, RF_ENOMEM, "no memory for bursts");
}

/* Records up to `end` of the burst under way: those that the lane takes, and those that its condition leaves out. */
static void count_records(struct rf_lanes *lanes, size_t i, const struct rf_record *records,
                          size_t n)
{
    const struct rf_selector *selector = &lanes->lanes[i].selector;
    for (size_t done = 0, piece; done < n; done += piece) {
        uint64_t of_class = 0;
        piece = n - done < CHUNK ? n - done : CHUNK;
        for (size_t k = 0; k < piece; k++)
            of_class += selector->classes >> records[done + k].kind & 1;
        size_t taken = rf_selector_run(selector, records + done, piece, lanes->chunk);
        rf_bursts_feed(lanes->lanes[i].bursts, lanes->chunk, taken);
        rf_bursts_pass(lanes->lanes[i].bursts, of_class - taken);
    }
}

static void count_events(struct rf_lanes *lanes, size_t i, const struct rf_batch *piece,
                         size_t from, size_t to)
{
    if (piece->records != NULL)
        count_records(lanes, i, piece->records + from, to - from);
    else
        rf_bursts_feed(lanes->lanes[i].bursts, piece->tuples.tuples + from, to - from);
}

static void cut_bursts(struct rf_lanes *lanes, size_t i, const struct rf_batch *piece)
{
    size_t done = 0;
    for (size_t k = 0; k < piece->n_ends; k++) {
        count_events(lanes, i, piece, done, piece->ends[k]);
        rf_bursts_end(lanes->lanes[i].bursts, piece->weights != NULL ? piece->weights[k] : 1);
        done = piece->ends[k];
    }
    count_events(lanes, i, piece, done, piece->n);
}

/* What was skipped of the classes that the lane takes. */
static uint64_t skipped_of(const struct rf_lanes *lanes, size_t i, const struct rf_batch *piece)
{
    uint64_t all = 0;
    if (piece->records == NULL || piece->skips == NULL)
        return piece->skipped;
    for (size_t k = 0; k < (piece->n_ends + 1) * RF_CLASS_COUNT; k++)
        if ((lanes->lanes[i].selector.classes >> k % RF_CLASS_COUNT & 1) != 0)
            all += piece->skips[k];
    return all;
}

rf_status rf_lanes_burst(struct rf_lanes *lanes, const struct rf_batch *batch,
                         struct rf_error *error)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < lanes->setup->n_lanes && status == RF_OK; i++) {
        if (!wants(lanes, i, batch->stream))
            continue;
        if (batch->records != NULL && lanes->lanes[i].selector.weight != RF_FIELD_NONE)
            return rf_fail(error, RF_EINVAL,
                           "a selector with a weight cannot be estimated from bursts");
        status = get_bursts(lanes, i, error);
        if (status != RF_OK)
            break;
        if (batch->uncounted)
            rf_bursts_uncounted(lanes->lanes[i].bursts);
        cut_bursts(lanes, i, batch);
        rf_bursts_skip(lanes->lanes[i].bursts, skipped_of(lanes, i, batch), batch->bursts);
    }
    return status;
}

rf_status rf_lanes_feed(struct rf_lanes *lanes, const struct rf_batch *piece,
                        struct rf_error *error)
{
    rf_status status = RF_OK;
    if (piece->records == NULL)
        return feed_tuples(lanes, &piece->tuples, piece->stream, error);
    for (size_t done = 0; done < piece->n && status == RF_OK; done += CHUNK)
        status = feed_chunk(lanes, piece->records + done,
                            piece->n - done < CHUNK ? piece->n - done : CHUNK, error);
    return status;
}

/* Engines that ignore gaps are not told of them: their threads would get many small parcels. */
static bool minds_gaps(const struct rf_lanes *lanes, size_t i, uint32_t stream)
{
    const struct rf_profiler *profiler = lanes->lanes[i].profiler;
    return profiler != NULL && wants(lanes, i, stream) &&
           rf_engine_minds_gaps(rf_profiler_engine(profiler));
}

bool rf_lanes_mind_gaps(const struct rf_lanes *lanes, uint32_t stream)
{
    for (size_t i = 0; i < lanes->setup->n_lanes; i++)
        if (minds_gaps(lanes, i, stream))
            return true;
    return false;
}

void rf_lanes_gap(struct rf_lanes *lanes, uint32_t stream)
{
    const struct rf_tuples nothing = {NULL, NULL, 0};
    for (size_t i = 0; i < lanes->setup->n_lanes; i++) {
        if (!minds_gaps(lanes, i, stream))
            continue;
        if (lanes->crew != NULL)
            rf_crew_gap(lanes->crew, i, NULL);
        else
            feed_lane(lanes, i, &nothing, NULL);
    }
}

/* Tuples that were fed to an engine are counted before those that were lost. */
void rf_lanes_lose(struct rf_lanes *lanes, uint32_t stream, uint64_t events)
{
    if (lanes->crew != NULL)
        rf_crew_wait(lanes->crew, NULL);
    for (size_t i = 0; i < lanes->setup->n_lanes; i++)
        if (wants(lanes, i, stream)) {
            rf_profiler_lose(lanes->lanes[lanes->lanes[i].owner].profiler, events);
            lanes->lanes[i].share.produced += events;
        }
}

/* --- the end ---------------------------------------------------------------------------------- */

rf_status rf_lanes_wait(struct rf_lanes *lanes, struct rf_error *error)
{
    rf_status status = lanes->crew != NULL ? rf_crew_wait(lanes->crew, error) : RF_OK;
    for (size_t i = 0; status == RF_OK && i < lanes->setup->n_lanes; i++)
        if (lanes->lanes[i].blind)
            status = rf_fail(error, RF_ENOMEM, "%s", lanes->lanes[i].why.message);
    return status;
}

/* The run takes over the profile; on failure the profile is freed. */
static rf_status add_profile(struct rf_run *run, struct rf_profile *profile,
                             const struct lane *lane, const struct lane *owner)
{
    rf_status status = owner->blind ? rf_notes_blindness(run, profile, &owner->why) : RF_OK;
    if (status == RF_OK)
        status = rf_notes_change(run, profile);
    if (status == RF_OK && lane->bursts != NULL)
        status = rf_bursts_scale(lane->bursts, profile);
    if (status == RF_OK)
        status = rf_run_add_profile(run, profile);
    if (status != RF_OK)
        rf_profile_free(profile);
    return status;
}

static rf_status deal_out(const struct rf_lanes *lanes, struct rf_run *run, size_t owner,
                          const struct rf_profile *all)
{
    const struct rf_share_tally *tally = lanes->lanes[owner].tally;
    for (size_t i = owner; i < lanes->setup->n_lanes && lanes->lanes[i].owner == owner; i++) {
        struct rf_profile *part;
        rf_status status = rf_share_take(&part, all, tally, &lanes->lanes[i].share);
        if (status == RF_OK)
            status = add_profile(run, part, &lanes->lanes[i], &lanes->lanes[owner]);
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

static rf_status add_profiles_of(const struct rf_lanes *lanes, size_t i, struct rf_run *run,
                                 struct rf_error *error)
{
    struct rf_profile *profile;
    const struct lane *lane = &lanes->lanes[i];
    if (lane->profiler == NULL)
        return RF_OK;
    rf_status status = rf_profiler_profile(lane->profiler, &profile, error);
    if (status != RF_OK)
        return status;
    if (lane->tally != NULL) {
        status = deal_out(lanes, run, i, profile);
        rf_profile_free(profile);
    } else {
        status = add_profile(run, profile, lane, lane);
    }
    return status == RF_OK ? RF_OK : rf_fail(error, status, "no memory for the profiles");
}

rf_status rf_lanes_add_profiles(const struct rf_lanes *lanes, struct rf_run *run,
                                struct rf_error *error)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < lanes->setup->n_lanes && status == RF_OK; i++)
        status = add_profiles_of(lanes, i, run, error);
    return status;
}

void rf_lanes_make_room(struct rf_lanes *lanes)
{
    for (size_t i = 0; i < lanes->setup->n_lanes; i++)
        rf_aside_give_back(&lanes->lanes[i].aside, lanes->alloc);
}

rf_status rf_lanes_end(struct rf_lanes *lanes, struct rf_run *run, struct rf_error *error)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < lanes->setup->n_lanes && status == RF_OK; i++) {
        status = add_profiles_of(lanes, i, run, error);
        rf_profiler_close(lanes->lanes[i].profiler);
        lanes->lanes[i].profiler = NULL;
    }
    return status;
}
