/* config.c - named cores and the keys that change them. */
#include "machine/timing/config.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include <riffle/option.h>
#include <string.h>

static const struct rf_machine_core cores[] = {
    {"hps", "4-way, 12 stages, 128 ROB, 80 RS, 32 KB L1s, 1 MB L2 (Mousa, Krintz)"},
    {"stratified", "4-way, 64 KB L1s, gshare (Sastry, Bodik, Smith)"},
    {"coproc", "4-way, 64-entry window, 64 KB L1s, 1 MB L2 (Zilles, Sohi)"},
    {NULL, NULL},
};

const struct rf_machine_core *rf_machine_cores(void)
{
    return cores;
}

/* Standard values are those of hps. */
#define ROW(field, value, least, most, text)                                                       \
    {                                                                                              \
        .name = #field, .type = RF_OPTION_COUNT, .standard = #value, .brief = text, .min = least,  \
        .max = most, .offset = offsetof(struct rf_timing_config, field)                            \
    }

static const struct rf_option options[] = {
    ROW(fetch_width, 4, 1, 16, "instructions fetched per cycle"),
    ROW(decode_width, 4, 1, 16, "instructions decoded per cycle"),
    ROW(issue_width, 4, 1, 16, "instructions issued per cycle"),
    ROW(commit_width, 4, 1, 16, "instructions committed per cycle"),
    ROW(stages, 12, 5, 40, "of the whole pipeline; fetch to dispatch takes all but four"),
    ROW(rob, 128, 8, 1024, "entries of the reorder buffer"),
    ROW(rs, 80, 4, 1024, "reservation stations"),
    ROW(lsq, 64, 2, 1024, "loads and stores in flight"),
    ROW(alu_ports, 4, 1, 16, "integer operations begun per cycle"),
    ROW(multiply_ports, 1, 1, 8, "multiplications and divisions begun per cycle"),
    ROW(memory_ports, 2, 1, 8, "loads and stores begun per cycle"),
    ROW(fp_ports, 2, 1, 8, "floating-point operations begun per cycle"),
    ROW(multiply, 3, 1, 100, "cycles of a multiplication"),
    ROW(divide, 20, 1, 200, "cycles of a division"),
    ROW(fp_add, 3, 1, 100, "cycles of a floating-point addition"),
    ROW(fp_multiply, 4, 1, 100, "cycles of a floating-point multiplication"),
    ROW(fp_fused, 5, 1, 100, "cycles of a fused multiply-add"),
    ROW(fp_divide, 14, 1, 200, "cycles of a floating-point division"),
    ROW(l1_hit, 3, 1, 20, "cycles of a load that hits the first level"),
    ROW(l2_hit, 12, 1, 100, "cycles of a load that hits the second level"),
    ROW(memory, 100, 1, 2000, "cycles of a load from memory"),
    ROW(forward, 2, 1, 20, "cycles of a load from the store queue"),
    ROW(write_buffer, 16, 1, 1024, "committed stores that wait to be written"),
    ROW(mshrs, 16, 1, 64, "lines on their way at once"),
    ROW(bus, 8, 1, 200, "cycles that a line occupies the bus"),
    ROW(history, 12, 1, 20, "bits of gshare history"),
    ROW(btb, 2048, 16, 65536, "entries of the branch target buffer, a power of two"),
    ROW(ras, 16, 1, 64, "entries of the return address stack"),
    ROW(btb_miss, 2, 0, 20, "cycles until decode finds the target itself"),
    ROW(dise_patterns, 32, 1, 1024, "entries of the pattern table"),
    ROW(dise_replacements, 2048, 1, 65536, "entries of the replacement table, 8 bytes each"),
    ROW(dise_conditionals, 16, 1, 512, "micro-instructions of the conditionals table"),
    ROW(dise_counters, 8, 1, 15, "private counters"),
    ROW(dise_counter_bits, 32, 2, 48, "bits of each"),
    ROW(dise_registers, 16, 1, 16, "private registers that productions may name"),
    ROW(dise_cycles, 1, 0, 20, "cycles for which decode pauses at a replaced instruction"),
    ROW(dise_drain, 8, 0, 1000, "cycles per record when a handlers' buffer is drained"),
    {.type = RF_OPTION_END},
};

#define WHOSE "core: "

static void set_core(struct rf_timing_config *config, const char *name)
{
    *config = (struct rf_timing_config){
        .icache = {.levels = {{32 << 10, 4, 64}}, .n_levels = 1},
        .dcache = {.levels = {{32 << 10, 4, 64}, {1 << 20, 8, 64}}, .n_levels = 2},
    };
    rf_option_set_all(options, config, WHOSE, NULL);
    if (strcmp(name, "hps") == 0)
        return;
    config->icache.levels[0] = config->dcache.levels[0] = (struct rf_cache_level){64 << 10, 4, 64};
    if (strcmp(name, "coproc") == 0) {
        config->rob = 64;
        config->rs = 64;
        config->lsq = 32;
    }
}

static rf_status choose_core(struct rf_timing_config *config, const char *word, size_t n,
                             struct rf_error *error)
{
    for (const struct rf_machine_core *core = cores; core->name != NULL; core++)
        if (rf_text_equal(core->name, word, n)) {
            set_core(config, core->name);
            return RF_OK;
        }
    return rf_fail(error, RF_EINVAL, "no core '%.*s'; there are hps, stratified and coproc", (int)n,
                   word);
}

/* One of the three cache keys, written as the first level of a shape. */
static rf_status take_cache(struct rf_cache_level *level, const char *key, const char *value,
                            size_t n, struct rf_error *error)
{
    char text[64];
    struct rf_cache_shape shape;
    struct rf_error why = {"expected SIZE/WAYS/LINE"};
    if (rf_format(text, sizeof text, "l1=%.*s", (int)n, value) >= sizeof text ||
        rf_cache_parse(&shape, text, &why) != RF_OK || shape.n_levels != 1)
        return rf_fail(error, RF_EINVAL, WHOSE "%s: %s", key, why.message);
    *level = shape.levels[0];
    return RF_OK;
}

static struct rf_cache_level *find_cache(struct rf_timing_config *config, const char *name,
                                         size_t n, const char **key)
{
    struct rf_cache_level *levels[] = {&config->icache.levels[0], &config->dcache.levels[0],
                                       &config->dcache.levels[1]};
    static const char *const names[] = {"icache", "dcache", "l2"};
    for (size_t i = 0; i < 3; i++)
        if (rf_text_equal(names[i], name, n)) {
            *key = names[i];
            return levels[i];
        }
    return NULL;
}

static rf_status take_key(struct rf_timing_config *config, const char *word, size_t n,
                          struct rf_error *error)
{
    size_t name_n = 0;
    const char *cache;
    while (name_n < n && word[name_n] != '=')
        name_n++;
    if (name_n == n)
        return rf_fail(error, RF_EINVAL, WHOSE "expected key=value, got '%.*s'", (int)n, word);
    const char *value = word + name_n + 1;
    size_t value_n = n - name_n - 1;
    struct rf_cache_level *level = find_cache(config, word, name_n, &cache);
    if (level != NULL)
        return take_cache(level, cache, value, value_n, error);
    const struct rf_option *option = rf_option_find(options, word, name_n);
    if (option != NULL)
        return rf_option_set(option, config, value, value_n, WHOSE, error);
    return rf_fail(error, RF_EINVAL, WHOSE "no key '%.*s'; 'riffle cores hps' shows them",
                   (int)name_n, word);
}

/* What only all of it together can have wrong. */
static rf_status check(const struct rf_timing_config *config, struct rf_error *error)
{
    uint32_t below = config->dcache.levels[1].line;
    if ((config->btb & (config->btb - 1)) != 0)
        return rf_fail(error, RF_EINVAL, WHOSE "btb must be a power of two, got '%llu'",
                       (unsigned long long)config->btb);
    if (config->icache.levels[0].line > below || config->dcache.levels[0].line > below)
        return rf_fail(error, RF_EINVAL, WHOSE "the lines of l2 are shorter than those of %s",
                       config->icache.levels[0].line > below ? "icache" : "dcache");
    return RF_OK;
}

rf_status rf_timing_config_parse(struct rf_timing_config *config, const char *text,
                                 struct rf_error *error)
{
    rf_status status = RF_OK;
    set_core(config, "hps");
    for (bool first = true; status == RF_OK && *text != '\0'; first = false) {
        size_t n = 0;
        while (text[n] != '\0' && text[n] != ',')
            n++;
        bool is_name = first && memchr(text, '=', n) == NULL;
        status = is_name ? choose_core(config, text, n, error) : take_key(config, text, n, error);
        text += n + (text[n] == ',');
    }
    return status == RF_OK ? check(config, error) : status;
}

static size_t print_cache(const char *key, const struct rf_cache_level *level, char *text,
                          size_t size)
{
    char bytes[RF_UNITS_MAX];
    rf_units_print_count(bytes, sizeof bytes, level->size);
    return rf_format(text, size, "%s=%s/%u/%u,", key, bytes, level->ways, level->line);
}

size_t rf_timing_config_print(const struct rf_timing_config *config, char *text, size_t size)
{
    size_t n = 0;
    n += print_cache("icache", &config->icache.levels[0], RF_REST(text, size, n));
    n += print_cache("dcache", &config->dcache.levels[0], RF_REST(text, size, n));
    n += print_cache("l2", &config->dcache.levels[1], RF_REST(text, size, n));
    for (const struct rf_option *o = options; o->type != RF_OPTION_END; o++) {
        n += rf_format(RF_REST(text, size, n), "%s%s=", o > options ? "," : "", o->name);
        n += rf_option_print(o, config, RF_REST(text, size, n));
    }
    return n;
}

rf_status rf_machine_core_print(const char *core, char *text, size_t size, struct rf_error *error)
{
    struct rf_timing_config config;
    rf_status status = rf_timing_config_parse(&config, core, error);
    if (status == RF_OK)
        rf_timing_config_print(&config, text, size);
    return status;
}
