/* named.c - a profile by names: each address becomes the function that it lies in.
 *
 * Two builds of a source, for x86-64 and for RV64 say, have no address in common, but functions of the same names. A call pair is then
 * <caller, callee>, a method <callee>. A stub (strlen@plt) is the function that it leads to, and a copy that the compiler made of a
 * function (find_match.constprop.0) is that function. */
#include "judge.h"
#include <stdlib.h>
#include <string.h>

/* The same file in the same place; "[stack]" is none. */
static bool is_same(const struct rf_module *a, const struct rf_module *b)
{
    const char *one = a->build_id != NULL ? a->build_id : "",
               *other = b->build_id != NULL ? b->build_id : "";
    return a->path[0] != '[' && a->start == b->start && strcmp(one, other) == 0 &&
           strcmp(a->path, b->path) == 0;
}

static bool has_files(const struct rf_run *run)
{
    for (size_t i = 0; i < run->n_modules; i++)
        if (run->modules[i].path[0] != '[')
            return true;
    return false;
}

bool cli_named_needed(const struct rf_run *first, const struct rf_run *second)
{
    for (size_t i = 0; i < first->n_modules; i++)
        for (size_t k = 0; k < second->n_modules; k++)
            if (is_same(&first->modules[i], &second->modules[k]))
                return false;
    return has_files(first) && has_files(second);
}

/* A number for the text, by FNV-1a. Another `from` gives another number. */
static uint64_t number_of(const char *text, size_t n, uint64_t from)
{
    uint64_t hash = 0xcbf29ce484222325u ^ from;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return hash;
}

/* A number for the function that an address lies in. Where that has no name, the number is of the module and the place in
 * it, and *is_named becomes false. */
static uint64_t name_of(struct rf_symbols *symbols, uint64_t address, bool *is_named)
{
    struct rf_place_name name;
    rf_symbols_lookup(symbols, address, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &name);
    size_t n = strcspn(name.function, "@");
    const char *clone = strstr(name.function, " [clone"), *dot = strchr(name.function, '.');
    if (clone != NULL && (size_t)(clone - name.function) < n)
        n = (size_t)(clone - name.function);
    if (dot != NULL && dot > name.function && (size_t)(dot - name.function) < n &&
        strchr(name.function, '(') == NULL)
        n = (size_t)(dot - name.function);
    if (n > 0)
        return number_of(name.function, n, 0);
    *is_named = false;
    return number_of(name.path, strlen(name.path), name.link + 1);
}

static rf_status prepare(struct rf_symbols *symbols, const struct rf_profile *profile)
{
    uint64_t *addresses = calloc(2 * profile->n_items + 1, sizeof *addresses);
    if (addresses == NULL)
        return RF_ENOMEM;
    for (size_t i = 0; i < profile->n_items; i++) {
        addresses[2 * i] = profile->items[i].a;
        addresses[2 * i + 1] = profile->items[i].b;
    }
    rf_status status = rf_symbols_prepare(symbols, addresses, 2 * profile->n_items);
    free(addresses);
    return status;
}

static bool is_code(unsigned field)
{
    return field == RF_FIELD_PC || field == RF_FIELD_TARGET;
}

static rf_status refuse(const struct rf_profile *profile, const char *why, struct rf_error *error)
{
    snprintf(error->message, sizeof error->message,
             "'%s': two programs have no addresses in common, and %s", profile->selector, why);
    return RF_EINVAL;
}

/* Feed the profile's items, by the names of their functions. RF_EINVAL: they have none, or most events have none. */
static rf_status feed(struct rf_profiler *profiler, struct rf_symbols *symbols,
                      const struct rf_profile *profile, struct rf_error *error)
{
    struct rf_selector selector;
    rf_status status = rf_profile_selector(profile, &selector);
    if (status != RF_OK || profile->shape != RF_SHAPE_TUPLE ||
        selector.project_a == RF_FIELD_ADDR || selector.project_b == RF_FIELD_ADDR)
        return refuse(profile, "this has no names to compare", error);
    status = prepare(symbols, profile);
    uint64_t all = 0, named = 0; /* events */
    for (size_t i = 0; i < profile->n_items && status == RF_OK; i++) {
        const struct rf_item *item = &profile->items[i];
        bool is_named = true;
        const struct rf_tuple tuple = {
            is_code(selector.project_a) ? name_of(symbols, item->a, &is_named) : item->a,
            is_code(selector.project_b) ? name_of(symbols, item->b, &is_named) : item->b};
        all += item->count;
        named += is_named ? item->count : 0;
        status = rf_profiler_feed(
            profiler, &(struct rf_tuples){&tuple, &item->count, item->count > 0}, error);
    }
    if (status == RF_OK && named < all - named)
        return refuse(profile, "most events of one of them are in functions without names", error);
    return status;
}

rf_status cli_named(struct rf_profile **made, const struct rf_run *run,
                    const struct rf_profile *profile, struct rf_error *error)
{
    struct rf_symbols *symbols = NULL;
    struct rf_profiler *profiler = NULL;
    *made = NULL;
    rf_status status = rf_symbols_open(&symbols, run, NULL, error);
    if (status == RF_OK)
        status = rf_profiler_open(&profiler, "exact", NULL, error);
    if (status == RF_OK)
        status = feed(profiler, symbols, profile, error);
    if (status == RF_OK)
        status = rf_profiler_profile(profiler, made, error);
    rf_profiler_close(profiler);
    rf_symbols_close(symbols);
    return status;
}
