/* compressor.c - feeding a chain of parts, and making a profile of its messages.
 *
 * Sastry, Bodik, Smith, sections 2.2, 3.5 and 5.3.2.
 *
 *     block:  state | cells of the chain | hash tables | scratch: held messages | scratch: strata
 *
 * Feeding goes through one of three loops. The general one hands every event to the chain. A chain that
 * begins with H[P r]n, the paper's choice, and one that begins with a tagged table have loops of their own
 * that hash a whole batch first; what happens is the same, event for event.
 *
 * `buffer` messages make an interrupt. Software adds up its messages (tally.h). For a report it also reads what
 * tables A still hold, so that nothing of theirs is lost. Counts in samplers belong to no tuple and are reported
 * as held. A cut empties what software knows; hardware keeps its counters.
 *
 * Memory: the cells that each part states. Software: 32 bytes per slot, which are 51 to 102 bytes per distinct
 * tuple that was ever in a message, up to `memory`. Past that feeding fails, and what was counted stands. */
#include "engine/stratified/compressor.h"
#include "engine/stratified/estimate.h"
#include "engine/stratified/tally.h"
#include "base/error.h"
#include <string.h>

const struct rf_confidence rf_confidences[] = {
    {0.9, 1.6448536269514722},
    {0.95, 1.959963984540054},
    {0.99, 2.5758293035489004},
    {0.999, 3.2905267314918945},
};

/* What the samples of this compressor are worth; see estimate.h. */
struct sampling {
    bool lossless;
    bool length_known;
    double rate, spread;
};

/* One substream at the time of a report. */
struct stratum {
    uint64_t samples, length;
};

struct state {
    struct rf_compressor_config config;
    struct rf_part parts[RF_PARTS_MAX];
    struct rf_chain chain;
    struct sampling sampling;
    void (*piece)(struct state *state, const struct rf_tuple *tuples, size_t n);
    char *cell;
    struct rf_tally software;
    struct rf_tally held;   /* scratch of a report */
    struct stratum *strata; /* scratch of a report */
    uint32_t n_strata;
    uint64_t events; /* since the last cut */
    uint64_t messages, counts_out;
    rf_compressor_listener *listener;
    void *listener_context;
};

static uint32_t count_strata(const struct rf_compressor_config *config)
{
    const struct rf_part_spec *first = &config->notation.specs[0];
    if (first->kind == RF_PART_SPLITTER)
        return first->n;
    if (first->kind == RF_PART_TAGGED)
        return (uint32_t)(config->tagged.entries / config->tagged.ways);
    return 1;
}

static uint32_t count_hashes(const struct rf_compressor_config *config)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < config->notation.n_specs; i++)
        n += config->notation.specs[i].kind == RF_PART_SPLITTER ||
             config->notation.specs[i].kind == RF_PART_TAGGED;
    return config->hash == RF_STRATUM_PAPER ? n : 0;
}

/* Entries of all tables A together. */
static size_t count_entries(const struct rf_part_spec *specs, uint32_t n)
{
    size_t sum = 0;
    for (uint32_t i = 0; i < n; i += 1 + specs[i].inside) {
        size_t inside = count_entries(specs + i + 1, specs[i].inside);
        sum += specs[i].kind == RF_PART_SPLITTER ? specs[i].n * inside : inside;
        sum += specs[i].kind == RF_PART_TABLE ? specs[i].n : 0;
    }
    return sum;
}

/* Where everything is in the block. */
struct layout {
    size_t cell, papers, held, strata, size;
    unsigned held_bits;
};

static size_t place(size_t *end, size_t size)
{
    size_t start = *end;
    *end = (start + size + 63) & ~(size_t)63;
    return start;
}

static struct layout lay_out(const struct rf_compressor_config *config)
{
    const struct rf_notation *notation = &config->notation;
    struct layout layout = {.held_bits =
                                rf_tally_bits(count_entries(notation->specs, notation->n_specs))};
    size_t *end = &layout.size;
    place(end, sizeof(struct state));
    layout.cell = place(end, rf_chain_size(notation->specs, notation->n_specs, &config->tagged));
    layout.papers = place(end, count_hashes(config) * sizeof(struct rf_hash_paper));
    layout.held = place(end, sizeof(struct rf_message) << layout.held_bits);
    layout.strata = place(end, count_strata(config) * sizeof(struct stratum));
    return layout;
}

size_t rf_compressor_size(const void *config)
{
    return lay_out(config).size;
}

uint64_t rf_compressor_bits(const void *memory)
{
    const struct rf_compressor_config *config = memory;
    return rf_chain_bits(config->notation.specs, config->notation.n_specs, &config->tagged);
}

/* The spread is the mean square of the lengths between samples over the square of their mean. R: 2, since they
 * are geometric. D: 4/3, since they are even over 1..2r. Tagged counts vary at most as those of R. */
static struct sampling sampling_of(const struct rf_compressor_config *config)
{
    bool counted = false, share = config->estimate == RF_ESTIMATE_SHARE;
    for (uint32_t i = 0; i < config->notation.n_specs; i++) {
        const struct rf_part_spec *spec = &config->notation.specs[i];
        switch (spec->kind) {
        case RF_PART_COUNTER:
            counted = true;
            break;
        case RF_PART_PERIODIC:
            return (struct sampling){spec->n == 1, true, spec->n, 1};
        case RF_PART_RANDOM:
            return (struct sampling){spec->n == 1, counted, spec->n, share ? 1 : 2};
        case RF_PART_COUNTDOWN:
            return (struct sampling){false, counted, spec->n, share ? 1 : 4.0 / 3};
        case RF_PART_TAGGED:
            return (struct sampling){false, true, (double)(UINT64_C(1) << config->tagged.hit), 2};
        default:
            break;
        }
    }
    return (struct sampling){.lossless = true};
}

static void post(struct state *state, const struct rf_message *message)
{
    state->messages++;
    state->counts_out += message->count;
    rf_tally_add(&state->software, message);
    if (state->listener != NULL)
        state->listener(state->listener_context, message);
}

/* A message that came `times` times. */
static void post_run(void *context, const struct rf_part_run *run)
{
    struct state *state = context;
    const struct rf_message *message = &run->message;
    const struct rf_message sum = {message->tuple, run->times * message->count,
                                   run->times * message->samples};
    state->messages += run->times;
    state->counts_out += sum.count;
    rf_tally_add(&state->software, &sum);
    for (uint64_t i = 0; state->listener != NULL && i < run->times; i++)
        state->listener(state->listener_context, message);
}

static void feed_general(struct state *state, const struct rf_tuple *tuples, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct rf_message message = {tuples[i], 1, 1};
        if (rf_chain_take(state->chain.first, state->cell, &message))
            post(state, &message);
    }
}

/* A sample of H[P r]n goes through what is behind it. */
static void sample(struct state *state, struct rf_tuple tuple, uint64_t count)
{
    struct rf_message message = {tuple, count, 1};
    if (rf_chain_take(state->chain.first->next, state->cell, &message))
        post(state, &message);
}

static void feed_split_periodic(struct state *state, const struct rf_tuple *tuples, size_t n)
{
    const struct rf_part *split = state->chain.first;
    uint32_t *counters = (uint32_t *)state->cell;
    uint32_t index[RF_PART_BATCH], rate = split->inside.first->n;
    split->stratum.batch(&split->stratum, tuples, n, index);
    for (size_t i = 0; i < n; i++) {
        uint32_t counter = counters[index[i]] + 1;
        if (__builtin_expect(counter >= rate, 0)) {
            counter -= rate;
            sample(state, tuples[i], rate);
        }
        counters[index[i]] = counter;
    }
}

static void feed_tagged(struct state *state, const struct rf_tuple *tuples, size_t n)
{
    const struct rf_part *tagged = state->chain.first;
    struct rf_message out[RF_PART_BATCH];
    n = rf_tagged_take_batch(tagged, state->cell, tuples, n, out);
    for (size_t i = 0; i < n; i++)
        if (rf_chain_take(tagged->next, state->cell, &out[i]))
            post(state, &out[i]);
}

static void choose_loop(struct state *state)
{
    const struct rf_part *first = state->chain.first, *inside = first->inside.first;
    state->piece = feed_general;
    if (first->ops == &rf_part_splitter && inside->ops == &rf_part_periodic && inside->next == NULL)
        state->piece = feed_split_periodic;
    if (first->ops == &rf_part_tagged)
        state->piece = feed_tagged;
}

rf_status rf_compressor_init(void *memory, const void *config, const struct rf_engine_env *env,
                             struct rf_error *error)
{
    struct state *state = memory;
    state->config = *(const struct rf_compressor_config *)config;
    const struct rf_notation *notation = &state->config.notation;
    struct layout layout = lay_out(&state->config);
    char *block = memory;
    struct rf_chain_setup setup = {notation->specs, notation->n_specs, &state->config.tagged,
                                   (enum rf_stratum_kind)state->config.hash, env->seed};
    rf_chain_build(&state->chain, state->parts, (struct rf_hash_paper *)(block + layout.papers),
                   &setup);
    state->cell = block + layout.cell;
    rf_chain_start(&state->chain, state->cell);
    state->held = (struct rf_tally){.slots = (struct rf_message *)(block + layout.held),
                                    .bits = layout.held_bits,
                                    .key = rf_hash_secret(block + layout.held)};
    state->strata = (struct stratum *)(block + layout.strata);
    state->n_strata = count_strata(&state->config);
    state->sampling = sampling_of(&state->config);
    choose_loop(state);
    rf_status status = rf_tally_init(&state->software, env->alloc, state->config.memory);
    if (status != RF_OK)
        return rf_fail(error, status, "no memory for the software behind the messages");
    return RF_OK;
}

void rf_compressor_release(void *memory)
{
    rf_tally_release(&((struct state *)memory)->software);
}

void rf_compressor_listen(void *memory, rf_compressor_listener *listener, void *context)
{
    struct state *state = memory;
    state->listener = listener;
    state->listener_context = context;
}

rf_status rf_compressor_feed(void *memory, const struct rf_tuple *tuples, size_t n,
                             size_t *consumed)
{
    struct state *state = memory;
    for (size_t done = 0; done < n;) {
        size_t piece = n - done < RF_PART_BATCH ? n - done : RF_PART_BATCH;
        rf_status status = rf_tally_reserve(&state->software, piece);
        if (status != RF_OK) {
            *consumed = done;
            return status;
        }
        state->piece(state, tuples + done, piece);
        state->events += piece;
        done += piece;
    }
    return RF_OK;
}

/* How many tuples one event can push out of the chain: each table A may send out another one with it. */
static size_t most_tuples_out(const struct rf_compressor_config *config)
{
    size_t most = 1;
    for (uint32_t i = 0; i < config->notation.n_specs; i++)
        most <<= config->notation.specs[i].kind == RF_PART_TABLE;
    return most;
}

rf_status rf_compressor_feed_counted(void *memory, struct rf_tuple tuple, uint64_t count)
{
    struct state *state = memory;
    const struct rf_part_run run = {{tuple, 1, 1}, count};
    const struct rf_way way = {
        .next = state->chain.first, .cell = state->cell, .end = post_run, .context = state};
    rf_status status = rf_tally_reserve(&state->software, most_tuples_out(&state->config));
    if (status != RF_OK)
        return status;
    rf_chain_take_run(&way, &run);
    state->events += count;
    return RF_OK;
}

static void hold(void *context, const struct rf_message *message)
{
    rf_tally_add(context, message);
}

/* Messages that end in a table are sent when it is emptied. */
static void send(void *context, const struct rf_message *message)
{
    struct state *state = context;
    state->messages++;
    state->counts_out += message->count;
}

void rf_compressor_end_interval(void *memory)
{
    struct state *state = memory;
    rf_chain_visit(&state->chain, state->cell, send, state);
    rf_chain_forget(&state->chain, state->cell);
    rf_tally_clear(&state->software);
    state->events = 0;
}

static void send_on(void *context, const struct rf_message *message)
{
    struct state *state = context;
    send(state, message);
    rf_tally_add(&state->software, message);
}

rf_status rf_compressor_merge(void *memory, const void *other_memory, struct rf_error *error)
{
    struct state *state = memory;
    const struct state *other = other_memory;
    const struct rf_tally *theirs = &other->software;
    size_t most =
        theirs->used + count_entries(other->config.notation.specs, other->config.notation.n_specs);
    rf_status status = rf_tally_reserve(&state->software, most);
    if (status != RF_OK)
        return rf_fail(error, status, "no memory to merge %zu tuples", most);
    for (size_t i = 0; i < rf_tally_slots(theirs); i++)
        if (theirs->slots[i].count != 0)
            rf_tally_add(&state->software, &theirs->slots[i]);
    state->events += other->events;
    state->messages += other->messages;
    state->counts_out += other->counts_out;
    rf_chain_visit(&other->chain, other->cell, send_on, state);
    rf_chain_merge(&state->chain, state->cell, other->cell);
    return RF_OK;
}

static struct stratum *stratum_of(const struct state *state, struct rf_tuple t)
{
    return &state->strata[state->n_strata > 1 ? rf_stratum_of(&state->chain.first->stratum, t) : 0];
}

static void add_to_stratum(const struct state *state, const struct rf_message *message)
{
    struct stratum *stratum = stratum_of(state, message->tuple);
    stratum->samples += message->samples;
    stratum->length += message->count;
}

static uint64_t pending_of(const struct state *state, uint32_t i)
{
    const struct rf_part *first = state->chain.first;
    if (first->ops->pending_of != NULL)
        return first->ops->pending_of(first, state->cell + first->offset, i);
    return rf_chain_pending(&state->chain, state->cell);
}

/* Fill the scratch: what tables hold, how many samples each substream has and how long it was. */
static void take_stock(const struct state *state, struct rf_tally *held)
{
    *held = state->held;
    rf_tally_clear(held);
    rf_chain_visit(&state->chain, state->cell, hold, held);
    for (uint32_t i = 0; i < state->n_strata; i++)
        state->strata[i] = (struct stratum){0, pending_of(state, i)};
    for (size_t i = 0; i < rf_tally_slots(&state->software); i++)
        if (state->software.slots[i].count != 0)
            add_to_stratum(state, &state->software.slots[i]);
    for (size_t i = 0; i < rf_tally_slots(held); i++)
        if (held->slots[i].count != 0)
            add_to_stratum(state, &held->slots[i]);
}

static double z_of(const struct state *state)
{
    return rf_confidences[state->config.confidence].z;
}

static struct rf_estimate estimate_of(const struct state *state, const struct rf_message *total)
{
    const struct sampling *sampling = &state->sampling;
    if (!sampling->length_known)
        return rf_estimate_binomial((double)total->samples, sampling->rate, z_of(state));
    const struct stratum *stratum = stratum_of(state, total->tuple);
    struct rf_estimate estimate =
        rf_estimate_share((double)total->samples, (double)stratum->samples, (double)stratum->length,
                          sampling->spread, z_of(state));
    if (state->config.estimate == RF_ESTIMATE_SUM)
        estimate.count = (double)total->count;
    return estimate;
}

/* Count, lower and upper of a sampled tuple. It was seen once at least, and no more often than there are events: a sample
 * that stands for 256 may be of a stream of ten. */
static void estimate_item(const struct state *state, const struct rf_message *total,
                          struct rf_item *item)
{
    struct rf_estimate estimate = estimate_of(state, total);
    item->count = (uint64_t)(estimate.count + 0.5);
    if (item->count > state->events)
        item->count = state->events;
    item->lower = estimate.lower > 1 ? (uint64_t)estimate.lower : 1;
    item->upper = (uint64_t)(estimate.upper + 0.999999);
    if (item->lower > item->count)
        item->lower = item->count;
    if (item->upper < item->count)
        item->upper = item->count;
}

static rf_status report_item(const struct state *state, const struct rf_message *total,
                             const struct rf_sink *sink)
{
    struct rf_item item = rf_item_of_tuple(total->tuple, total->count);
    if (!state->sampling.lossless)
        estimate_item(state, total, &item);
    return sink->item(sink->context, &item);
}

/* Where software knows the tuple of a held message, the two are one item. */
static rf_status report_items(const struct state *state, struct rf_tally *held,
                              const struct rf_sink *sink)
{
    for (size_t i = 0; i < rf_tally_slots(&state->software); i++) {
        struct rf_message total = state->software.slots[i];
        if (total.count == 0)
            continue;
        struct rf_message *more = rf_tally_find(held, total.tuple);
        if (more != NULL) {
            total.count += more->count;
            total.samples += more->samples;
            more->samples = 0;
        }
        rf_status status = report_item(state, &total, sink);
        if (status != RF_OK)
            return status;
    }
    for (size_t i = 0; i < rf_tally_slots(held); i++)
        if (held->slots[i].samples != 0) {
            rf_status status = report_item(state, &held->slots[i], sink);
            if (status != RF_OK)
                return status;
        }
    return RF_OK;
}

static void count_held(void *context, const struct rf_message *message)
{
    *(uint64_t *)context += message->count;
}

static rf_status report_figures(const struct state *state, const struct rf_sink *sink)
{
    const struct rf_compressor_config *config = &state->config;
    uint64_t held = rf_chain_pending(&state->chain, state->cell);
    rf_chain_visit(&state->chain, state->cell, count_held, &held);
    uint64_t interrupts = state->messages / config->buffer;
    const struct rf_figure figures[] = {
        {"messages", (double)state->messages},
        {"interrupts", (double)interrupts},
        {"counts-out", (double)state->counts_out},
        {"counts-held", (double)held},
        {"overhead-cycles", (double)(state->messages * config->message_cycles +
                                     interrupts * config->interrupt_cycles)},
        {"software-bytes", (double)state->software.peak},
    };
    return rf_engine_report_figures(sink, figures, sizeof figures / sizeof *figures);
}

/* The most events that a tuple without any sample can have had. */
static uint64_t absent_upper(const struct state *state)
{
    double z = z_of(state), most = 0;
    if (state->sampling.lossless)
        return 0;
    if (!state->sampling.length_known)
        return (uint64_t)rf_estimate_binomial(0, state->sampling.rate, z).upper + 1;
    for (uint32_t i = 0; i < state->n_strata; i++) {
        const struct stratum *stratum = &state->strata[i];
        double samples = (double)stratum->samples / state->sampling.spread;
        double upper = (double)stratum->length * z * z / (samples + z * z);
        most = upper > most ? upper : most;
    }
    return (uint64_t)most + 1;
}

rf_status rf_compressor_report(const void *memory, const struct rf_sink *sink)
{
    const struct state *state = memory;
    struct rf_tally held;
    take_stock(state, &held);
    rf_status status = report_items(state, &held, sink);
    if (status == RF_OK)
        status = report_figures(state, sink);
    if (status != RF_OK)
        return status;
    bool lossless = state->sampling.lossless;
    struct rf_summary summary = {
        .events = state->events,
        .absent_upper = absent_upper(state),
        .confidence = lossless ? 0 : rf_confidences[state->config.confidence].share,
        .shape = RF_SHAPE_TUPLE,
        .bound = lossless ? RF_BOUND_EXACT : RF_BOUND_CONFIDENCE,
    };
    return sink->end(sink->context, &summary);
}

size_t rf_compressor_memory(const void *memory)
{
    const struct state *state = memory;
    return rf_compressor_size(&state->config) + state->software.peak;
}
