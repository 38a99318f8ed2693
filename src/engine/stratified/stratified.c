/* stratified.c - the engines of the sampler algebra: their text, their options, their descriptors.
 *
 * Sastry, Bodik, Smith, "Rapid Profiling via Stratified Sampling".
 *
 *     P256   R256   CR256   H[P256]2048   H[CR256]2048 A16   A4096   (hash=paper, confidence=99%)
 *     tagged(ways=2, entries=2048, tag=2, hit=8, miss=3) A16
 *
 * Where things are: part.h what a part is; sampler.c P, R, D, C; splitter.c H; associative.c A; tagged.c; chain.c
 * puts them together; notation.c reads them; compressor.c feeds them and turns messages into items;
 * estimate.h says how sure those are; stratum.h is the hash. Options after the notation are about the
 * software and the hash, not about the parts.
 *
 * Guarantee: only the length of streams always holds (see sampler.c). Items carry a confidence interval.
 * Cannot: merge exactly as if both had been one stream. Counters are added up, and may be above their rate until
 * their next event. */
#include "engine/stratified/compressor.h"
#include "base/error.h"
#include "base/text.h"

typedef struct rf_compressor_config config;

/* clang-format off */
#define SOFTWARE_OPTIONS                                                                            \
    {.name = "hash", .type = RF_OPTION_CHOICE, .standard = "mix", .choices = "mix|paper",            \
     .brief = "of the splitter: two multiplications, or the paper's byte tables",                   \
     .offset = offsetof(config, hash)},                                                             \
    {.name = "estimate", .type = RF_OPTION_CHOICE, .standard = "sum", .choices = "sum|share",        \
     .brief = "a tuple's count: the sum of its messages, or its share of its substream's length",   \
     .offset = offsetof(config, estimate)},                                                         \
    {.name = "confidence", .type = RF_OPTION_CHOICE, .standard = "95%",                              \
     .choices = RF_CONFIDENCE_CHOICES, .brief = "of the interval around each count",                \
     .offset = offsetof(config, confidence)},                                                       \
    {.name = "memory", .type = RF_OPTION_COUNT, .standard = "256Mi",                                 \
     .brief = "ceiling of the software behind the messages in bytes; 0: none",                      \
     .offset = offsetof(config, memory)},                                                           \
    {.name = "buffer", .type = RF_OPTION_COUNT, .standard = "100", .min = 1, .max = 1e9,             \
     .brief = "messages per interrupt", .offset = offsetof(config, buffer)},                         \
    {.name = "message-cycles", .type = RF_OPTION_COUNT, .standard = "30", .min = 0, .max = 1e9,      \
     .brief = "what software needs for a message, in cycles",                                       \
     .offset = offsetof(config, message_cycles)},                                                   \
    {.name = "interrupt-cycles", .type = RF_OPTION_COUNT, .standard = "0", .min = 0, .max = 1e9,     \
     .brief = "fixed cost of an interrupt on top, in cycles; measured once as 214",                 \
     .offset = offsetof(config, interrupt_cycles)},                                                 \
    {.name = "counter", .type = RF_OPTION_COUNT, .standard = "31", .min = 1, .max = 31,              \
     .brief = "bits of a counter of a table A; a count past them goes out",                         \
     .offset = offsetof(config, counter)},                                                          \
    {.type = RF_OPTION_END}

static const struct rf_option stratified_options[] = {SOFTWARE_OPTIONS};

static const struct rf_option tagged_options[] = {
    {.name = "ways", .type = RF_OPTION_COUNT, .standard = "2", .min = 1, .max = RF_TAGGED_WAYS_MAX,
     .brief = "entries per set", .offset = offsetof(config, tagged.ways)},
    {.name = "entries", .type = RF_OPTION_COUNT, .standard = "2048", .min = 2, .max = 1 << 22,
     .brief = "of the table", .offset = offsetof(config, tagged.entries)},
    {.name = "tag", .type = RF_OPTION_COUNT, .standard = "2", .min = 1, .max = RF_TAGGED_TAG_MAX,
     .brief = "bits of the tag", .offset = offsetof(config, tagged.tag)},
    {.name = "hit", .type = RF_OPTION_COUNT, .standard = "8", .min = 2, .max = RF_TAGGED_HIT_MAX,
     .brief = "bits of the hit counter: full at 2^hit", .offset = offsetof(config, tagged.hit)},
    {.name = "miss", .type = RF_OPTION_COUNT, .standard = "3", .min = 1, .max = RF_TAGGED_MISS_MAX,
     .brief = "bits of the miss counter", .offset = offsetof(config, tagged.miss)},
    {.name = "evict", .type = RF_OPTION_COUNT, .standard = "64", .min = 1, .max = 1 << RF_TAGGED_HIT_MAX,
     .brief = "hits that are enough to be reported when evicted",
     .offset = offsetof(config, tagged.evict)},
    {.name = "replace", .type = RF_OPTION_COUNT, .standard = "7", .min = 1, .max = (1 << RF_TAGGED_MISS_MAX) - 1,
     .brief = "misses that are too many to wait any longer",
     .offset = offsetof(config, tagged.replace)},
    {.name = "drop", .type = RF_OPTION_SWITCH, .standard = "no",
     .brief = "counts of an entry that changes its tuple are dropped; the paper advises against it",
     .offset = offsetof(config, tagged.drop)},
    SOFTWARE_OPTIONS
};
/* clang-format on */

static rf_status parse_stratified(void *memory, const char *text, struct rf_error *error)
{
    config *c = memory;
    struct rf_error why;
    const char *p = text;
    rf_status status = rf_notation_parse(&c->notation, &p, false, &why);
    if (status != RF_OK)
        return rf_fail(error, status, "engine '%s': %s", text, why.message);
    status = rf_engine_read_options(&rf_stratified, c, &p, error);
    return status != RF_OK ? status : rf_engine_read_nothing(&rf_stratified, p, error);
}

static bool is_power_of_two(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

/* The tables learn how wide their counters are. */
static void set_width(config *c)
{
    for (uint32_t i = 0; i < c->notation.n_specs; i++)
        if (c->notation.specs[i].kind == RF_PART_TABLE)
            c->notation.specs[i].width = (uint32_t)c->counter;
}

/* `stratified` without a notation is the paper's choice. */
static rf_status check_stratified(void *memory, struct rf_error *error)
{
    config *c = memory;
    const char *standard = "H[P256]2048";
    set_width(c);
    return c->notation.n_specs > 0 ? RF_OK
                                   : rf_notation_parse(&c->notation, &standard, false, error);
}

static rf_status check_tagged(void *memory, struct rf_error *error)
{
    config *c = memory;
    const struct rf_tagged_setup *t = &c->tagged;
    set_width(c);
    if (!is_power_of_two(t->entries) || !is_power_of_two(t->ways) || t->entries / t->ways < 2)
        return rf_fail(
            error, RF_EINVAL,
            "engine 'tagged': sets are found by the bits of a hash, so entries and ways must be "
            "powers of two and make two sets at least, got %llu and %llu",
            (unsigned long long)t->entries, (unsigned long long)t->ways);
    if (t->miss >= t->hit)
        return rf_fail(error, RF_EINVAL,
                       "engine 'tagged': misses become hits (E6), so miss must be less than hit");
    if (t->evict > UINT64_C(1) << t->hit)
        return rf_fail(error, RF_EINVAL,
                       "engine 'tagged': a hit counter of %llu bits never counts evict=%llu hits",
                       (unsigned long long)t->hit, (unsigned long long)t->evict);
    if (t->replace >> t->miss != 0)
        return rf_fail(
            error, RF_EINVAL,
            "engine 'tagged': a miss counter of %llu bits never counts replace=%llu misses",
            (unsigned long long)t->miss, (unsigned long long)t->replace);
    return RF_OK;
}

static bool claims_tagged(const char *text)
{
    size_t n = 0;
    while (rf_text_is_word(text[n]))
        n++;
    return rf_text_equal("tagged", text, n);
}

static rf_status parse_tagged(void *memory, const char *text, struct rf_error *error)
{
    config *c = memory;
    struct rf_error why;
    c->notation.n_specs = 1;
    c->notation.specs[0] = (struct rf_part_spec){.kind = RF_PART_TAGGED};
    const char *p = text + 6;
    rf_status status = rf_engine_read_options(&rf_tagged, c, &p, error);
    if (status != RF_OK)
        return status;
    status = rf_notation_parse(&c->notation, &p, true, &why);
    if (status != RF_OK)
        return rf_fail(error, status, "engine 'tagged', behind it: %s", why.message);
    return rf_engine_read_nothing(&rf_tagged, p, error);
}

static size_t print_stratified(const void *memory, char *text, size_t size)
{
    const config *c = memory;
    size_t n = rf_notation_print(&c->notation, 0, text, size);
    n += rf_format(RF_REST(text, size, n), " ");
    return n + rf_engine_print_options(&rf_stratified, c, RF_REST(text, size, n));
}

static size_t print_tagged(const void *memory, char *text, size_t size)
{
    const config *c = memory;
    size_t n = rf_format(text, size, "tagged");
    n += rf_engine_print_options(&rf_tagged, c, RF_REST(text, size, n));
    if (c->notation.n_specs == 1)
        return n;
    n += rf_format(RF_REST(text, size, n), " ");
    return n + rf_notation_print(&c->notation, 1, RF_REST(text, size, n));
}

/* The two engines differ only in their text. */
#define ENGINE(which, its_claims, text)                                                            \
    const struct rf_engine_ops rf_##which = {                                                      \
        .name = #which,                                                                            \
        .brief = text,                                                                             \
        .options = which##_options,                                                                \
        .claims = its_claims,                                                                      \
        .parse = parse_##which,                                                                    \
        .print = print_##which,                                                                    \
        .check = check_##which,                                                                    \
        .config_size = sizeof(config),                                                             \
        .grows = true,                                                                             \
        .state_size = rf_compressor_size,                                                          \
        .init = rf_compressor_init,                                                                \
        .release = rf_compressor_release,                                                          \
        .feed = rf_compressor_feed,                                                                \
        .feed_counted = rf_compressor_feed_counted,                                                \
        .end_interval = rf_compressor_end_interval,                                                \
        .merging = "states and profiles: samples, estimates and their intervals add up",           \
        .merge = rf_compressor_merge,                                                              \
        .report = rf_compressor_report,                                                            \
        .memory = rf_compressor_memory,                                                            \
        .bits = rf_compressor_bits,                                                                \
    }

ENGINE(stratified, rf_notation_claims, "the sampler algebra: H[P256]2048, CR256, R256 A16; grows");
ENGINE(tagged, claims_tagged, "stratified counters with partial tags, behind them A16 say; grows");

_Static_assert(sizeof(config) <= RF_ENGINE_CONFIG_MAX, "the wrapper has room for it");
