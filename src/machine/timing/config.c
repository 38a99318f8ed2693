/* config.c - named cores and the keys that change them. */
#include "machine/timing/config.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
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

static const struct key {
    const char *name;
    size_t offset;
    uint64_t min, max;
} keys[] = {
#define KEY(name, min, max)                                                                        \
    {                                                                                              \
#name, offsetof(struct rf_timing_config, name), min, max                                   \
    }
    KEY(fetch_width, 1, 16),   KEY(decode_width, 1, 16),   KEY(issue_width, 1, 16),
    KEY(commit_width, 1, 16),  KEY(stages, 5, 40),         KEY(rob, 8, 1024),
    KEY(rs, 4, 1024),          KEY(lsq, 2, 1024),          KEY(alu_ports, 1, 16),
    KEY(multiply_ports, 1, 8), KEY(memory_ports, 1, 8),    KEY(fp_ports, 1, 8),
    KEY(multiply, 1, 100),     KEY(divide, 1, 200),        KEY(fp_add, 1, 100),
    KEY(fp_multiply, 1, 100),  KEY(fp_fused, 1, 100),      KEY(fp_divide, 1, 200),
    KEY(l1_hit, 1, 20),        KEY(l2_hit, 1, 100),        KEY(memory, 1, 2000),
    KEY(forward, 1, 20),       KEY(write_buffer, 1, 1024), KEY(mshrs, 1, 64),
    KEY(bus, 1, 200),          KEY(history, 1, 20),        KEY(btb, 16, 65536),
    KEY(ras, 1, 64),           KEY(btb_miss, 0, 20),
#undef KEY
};

static uint64_t *value_of(struct rf_timing_config *config, const struct key *key)
{
    return (uint64_t *)(void *)((char *)config + key->offset);
}

static void set_core(struct rf_timing_config *config, const char *name)
{
    *config = (struct rf_timing_config){
        .fetch_width = 4,
        .decode_width = 4,
        .issue_width = 4,
        .commit_width = 4,
        .stages = 12,
        .rob = 128,
        .rs = 80,
        .lsq = 64,
        .alu_ports = 4,
        .multiply_ports = 1,
        .memory_ports = 2,
        .fp_ports = 2,
        .multiply = 3,
        .divide = 20,
        .fp_add = 3,
        .fp_multiply = 4,
        .fp_fused = 5,
        .fp_divide = 14,
        .l1_hit = 3,
        .l2_hit = 12,
        .memory = 100,
        .forward = 2,
        .write_buffer = 16,
        .mshrs = 16,
        .bus = 8,
        .history = 12,
        .btb = 2048,
        .ras = 16,
        .btb_miss = 2,
        .icache = {.levels = {{32 << 10, 4, 64}}, .n_levels = 1},
        .dcache = {.levels = {{32 << 10, 4, 64}, {1 << 20, 8, 64}}, .n_levels = 2},
    };
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
        return rf_fail(error, RF_EINVAL, "core: %s: %s", key, why.message);
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
        return rf_fail(error, RF_EINVAL, "core: expected key=value, got '%.*s'", (int)n, word);
    const char *value = word + name_n + 1;
    size_t value_n = n - name_n - 1;
    struct rf_cache_level *level = find_cache(config, word, name_n, &cache);
    if (level != NULL)
        return take_cache(level, cache, value, value_n, error);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        uint64_t number;
        if (!rf_text_equal(keys[i].name, word, name_n))
            continue;
        if (rf_units_count(value, value_n, &number) != RF_OK || number < keys[i].min ||
            number > keys[i].max)
            return rf_fail(error, RF_EINVAL, "core: %s must be between %llu and %llu, got '%.*s'",
                           keys[i].name, (unsigned long long)keys[i].min,
                           (unsigned long long)keys[i].max, (int)value_n, value);
        if (keys[i].offset == offsetof(struct rf_timing_config, btb) &&
            (number & (number - 1)) != 0)
            return rf_fail(error, RF_EINVAL, "core: btb must be a power of two, got '%.*s'",
                           (int)value_n, value);
        *value_of(config, &keys[i]) = number;
        return RF_OK;
    }
    return rf_fail(error, RF_EINVAL, "core: no key '%.*s'; 'riffle cores hps' shows them",
                   (int)name_n, word);
}

/* What only all of it together can have wrong. */
static rf_status check(const struct rf_timing_config *config, struct rf_error *error)
{
    uint32_t below = config->dcache.levels[1].line;
    if (config->icache.levels[0].line > below || config->dcache.levels[0].line > below)
        return rf_fail(error, RF_EINVAL, "core: the lines of l2 are shorter than those of %s",
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
    struct rf_timing_config copy = *config;
    size_t n = 0;
#define REST text + (n < size ? n : size), size - (n < size ? n : size)
    n += print_cache("icache", &config->icache.levels[0], REST);
    n += print_cache("dcache", &config->dcache.levels[0], REST);
    n += print_cache("l2", &config->dcache.levels[1], REST);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        n += rf_format(REST, "%s%s=%llu", i > 0 ? "," : "", keys[i].name,
                       (unsigned long long)*value_of(&copy, &keys[i]));
#undef REST
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
