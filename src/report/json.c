/* json.c - the whole run as one JSON object: where it came from, totals, items.
 *
 * "schema": 1 changes only when a reader of the old one would go wrong; new members may come. Words
 * are texts, threads in decimal and all others in hex, since many readers keep numbers as doubles; counts are plain numbers in full.
 * Texts may hold any bytes (a command line does): what is no UTF-8 becomes U+FFFD. */
#include "report/place.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A double in the fewest digits, 15 to 17, that read back as the same number, with a point in every locale. */
static void write_double(FILE *out, double value)
{
    char text[40];
    if (!isfinite(value)) {
        fputs("null", out);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        double back;
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (sscanf(text, "%lf", &back) == 1 && memcmp(&back, &value, sizeof back) == 0)
            break;
    }
    char *comma = strchr(text, ',');
    if (comma != NULL)
        *comma = '.';
    fputs(text, out);
}

static void write_member(FILE *out, const char *indent, const char *name, const char *text)
{
    fprintf(out, "%s\"%s\": ", indent, name);
    rf_write_json(out, text);
    fputs(",\n", out);
}

static void write_number(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, "      \"%s\": %" PRIu64 ",\n", name, value);
}

static void write_word(FILE *out, const char *name, const char *column, uint64_t word,
                       const char *behind)
{
    char text[RF_REPORT_NUMBER_MAX];
    rf_report_word(text, sizeof text, column, word);
    fprintf(out, "\"%s\": \"%s\"%s", name, text, behind);
}

static void write_box(FILE *out, unsigned shape, const struct rf_columns *columns,
                      const struct rf_item *whole)
{
    const char *a = columns->a.name, *b = columns->b.name;
    const struct rf_item item =
        rf_shape_has_tuples(shape) ? *whole : rf_report_item(columns, whole);
    if (shape == RF_SHAPE_STREAM)
        fprintf(out,
                "\"stream\": \"0x%" PRIx64 "\", \"length\": %" PRIu32 ", \"position\": %" PRIu32
                ", ",
                item.a_hi, rf_stream_length(&item), rf_stream_position(&item));
    if (shape == RF_SHAPE_RANGE_A || shape == RF_SHAPE_RANGE_B) {
        bool of_a = shape == RF_SHAPE_RANGE_A;
        write_word(out, "lo", of_a ? a : b, of_a ? item.a : item.b, ", ");
        write_word(out, "hi", of_a ? a : b, of_a ? item.a_hi : item.b_hi, "");
        return;
    }
    bool tuples = rf_shape_has_tuples(shape);
    write_word(out, tuples ? "a" : "a_lo", a, item.a, ", ");
    if (!tuples)
        write_word(out, "a_hi", a, item.a_hi, ", ");
    write_word(out, tuples ? "b" : "b_lo", b, item.b, tuples ? "" : ", ");
    if (!tuples)
        write_word(out, "b_hi", b, item.b_hi, "");
}

/* ", "symbol": {"a": {"module": ..., "function": ..., "offset": ..., "file": ..., "line": ...}}" */
static void write_name(FILE *out, const char *word, struct rf_symbols *symbols, uint64_t address)
{
    struct rf_place_name name;
    rf_symbols_lookup(symbols, address, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &name);
    fprintf(out, "\"%s\": {\"module\": ", word);
    rf_write_json(out, name.module);
    fputs(", \"function\": ", out);
    rf_write_json(out, name.function);
    fprintf(out, ", \"offset\": \"0x%" PRIx64 "\", \"file\": ", name.offset);
    rf_write_json(out, name.file);
    fprintf(out, ", \"line\": %" PRIu32 "}", name.line);
}

static void write_symbol(FILE *out, const struct rf_places *places, const struct rf_item *item)
{
    if (!rf_places_any(places) || !rf_shape_has_tuples(places->profile->shape))
        return;
    fputs(", \"symbol\": {", out);
    if (places->a != RF_MEANS_NUMBER)
        write_name(out, "a", places->symbols, item->a);
    if (places->a != RF_MEANS_NUMBER && places->b != RF_MEANS_NUMBER)
        fputs(", ", out);
    if (places->b != RF_MEANS_NUMBER)
        write_name(out, "b", places->symbols, item->b);
    fputc('}', out);
}

static void write_item(FILE *out, const struct rf_report_table *table,
                       const struct rf_places *places, size_t i)
{
    const struct rf_item *item = &table->items[i];
    fputc('{', out);
    write_box(out, table->profile->shape, &places->columns, item);
    fprintf(out, ", \"count\": %" PRIu64 ", \"lower\": %" PRIu64 ", \"upper\": %" PRIu64,
            item->count, item->lower, item->upper);
    if (table->totals != NULL)
        fprintf(out, ", \"total\": %" PRIu64, table->totals[i]);
    if (item->intervals > 0)
        fprintf(out, ", \"intervals\": %" PRIu64, item->intervals);
    write_symbol(out, places, item);
    fputc('}', out);
}

static rf_status write_items(FILE *out, const struct rf_profile *profile,
                             const struct rf_report_setup *setup, size_t i, const char *indent)
{
    struct rf_report_table table;
    rf_status status = rf_report_table_open(&table, profile, setup, i);
    if (status != RF_OK)
        return status;
    struct rf_places places;
    rf_places_open(&places, profile, setup);
    status = rf_places_prepare(&places, &table);
    fputs("\"items\": [", out);
    for (size_t k = 0; k < table.shown && !ferror(out); k++) {
        fprintf(out, "%s\n%s  ", k > 0 ? "," : "", indent);
        write_item(out, &table, &places, k);
    }
    fprintf(out, "%s%s]", table.shown > 0 ? "\n" : "", table.shown > 0 ? indent : "");
    rf_places_close(&places);
    rf_report_table_close(&table);
    return status;
}

static rf_status write_intervals(FILE *out, const struct rf_profile *profile,
                                 const struct rf_report_setup *setup)
{
    rf_status status = RF_OK;
    fputs(",\n      \"intervals\": [", out);
    for (size_t i = 0; i < profile->n_intervals && status == RF_OK && !ferror(out); i++) {
        const struct rf_interval *interval = &profile->intervals[i];
        fprintf(out,
                "%s\n        {\"interval\": %zu, \"events\": %" PRIu64
                ", \"absent_upper\": %" PRIu64 ", \"items_found\": %zu, ",
                i > 0 ? "," : "", i, interval->events, interval->absent_upper, interval->n);
        status = write_items(out, profile, setup, i, "        ");
        fputc('}', out);
    }
    fprintf(out, "%s]", profile->n_intervals > 0 ? "\n      " : "");
    return status;
}

static void write_figures(FILE *out, const struct rf_profile *profile)
{
    fputs("      \"figures\": [", out);
    for (size_t i = 0; i < profile->n_figures; i++) {
        fprintf(out, "%s{\"name\": ", i > 0 ? ", " : "");
        rf_write_json(out, profile->figures[i].name);
        fputs(", \"value\": ", out);
        write_double(out, profile->figures[i].value);
        fputc('}', out);
    }
    fputs("],\n", out);
}

static void write_totals(FILE *out, const struct rf_profile *profile)
{
    write_member(out, "      ", "selector", profile->selector);
    write_member(out, "      ", "engine", profile->engine);
    write_number(out, "seed", profile->seed);
    write_member(out, "      ", "shape", rf_report_shape(profile->shape));
    write_member(out, "      ", "bound", rf_report_bound(profile->bound));
    if (profile->bound == RF_BOUND_CONFIDENCE) {
        fputs("      \"confidence\": ", out);
        write_double(out, profile->confidence);
        fputs(",\n", out);
    }
    write_number(out, "produced", profile->produced);
    write_number(out, "consumed", profile->consumed);
    write_number(out, "lost", profile->lost);
    write_number(out, "memory_bytes", profile->memory);
    write_number(out, "hardware_bits", profile->bits);
    write_number(out, "absent_upper", profile->absent_upper);
    write_number(out, "interval_length", profile->interval_length);
    write_number(out, "intervals_seen", profile->n_intervals_seen);
    write_figures(out, profile);
    write_number(out, "items_found", profile->n_items);
}

static rf_status write_profile(FILE *out, const struct rf_profile *profile,
                               const struct rf_report_setup *setup)
{
    struct rf_report_setup whole = *setup;
    whole.per_interval = 0;
    fputs("    {\n", out);
    write_totals(out, profile);
    fputs("      ", out);
    rf_status status = write_items(out, profile, &whole, 0, "      ");
    if (status == RF_OK && setup->per_interval)
        status = write_intervals(out, profile, setup);
    fputs("\n    }", out);
    return status;
}

static void write_notes(FILE *out, const struct rf_run *run)
{
    fputs("  \"notes\": [", out);
    for (size_t i = 0; i < run->n_notes; i++) {
        fprintf(out, "%s\n    {\"name\": ", i > 0 ? "," : "");
        rf_write_json(out, run->notes[i].name);
        fputs(", \"text\": ", out);
        rf_write_json(out, run->notes[i].text);
        fputc('}', out);
    }
    fprintf(out, "%s],\n", run->n_notes > 0 ? "\n  " : "");
}

static void write_modules(FILE *out, const struct rf_run *run)
{
    fputs("  \"modules\": [", out);
    for (size_t i = 0; i < run->n_modules; i++) {
        const struct rf_module *module = &run->modules[i];
        fprintf(out, "%s\n    {\"path\": ", i > 0 ? "," : "");
        rf_write_json(out, module->path);
        fputs(", \"build_id\": ", out);
        rf_write_json(out, module->build_id);
        fprintf(out,
                ", \"process\": %" PRIu32 ", \"start\": \"0x%" PRIx64 "\", \"end\": \"0x%" PRIx64
                "\", \"offset\": \"0x%" PRIx64 "\", \"from_event\": %" PRIu64
                ", \"to_event\": %" PRIu64 "}",
                module->process, rf_report_address(module->start), rf_report_address(module->end),
                module->offset, module->from_event, module->to_event);
    }
    fprintf(out, "%s],\n", run->n_modules > 0 ? "\n  " : "");
}

static rf_status check_intervals(const struct rf_run *run, const struct rf_report_setup *setup)
{
    size_t n;
    for (size_t i = 0; i < run->n_profiles; i++) {
        rf_status status = rf_report_table_count(run->profiles[i], setup, &n);
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

static rf_status write_run(FILE *out, const struct rf_run *run, const struct rf_report_setup *setup)
{
    rf_status status = check_intervals(run, setup);
    if (status != RF_OK)
        return status;
    fputs("{\n  \"schema\": 1,\n", out);
    write_member(out, "  ", "riffle", run->version);
    write_member(out, "  ", "command", run->command);
    write_notes(out, run);
    write_modules(out, run);
    fputs("  \"profiles\": [", out);
    for (size_t i = 0; i < run->n_profiles && status == RF_OK; i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        status = write_profile(out, run->profiles[i], setup);
    }
    fprintf(out, "%s]\n}\n", run->n_profiles > 0 ? "\n  " : "");
    rf_status end = rf_report_end(out);
    return status != RF_OK ? status : end;
}

const struct rf_report_form rf_report_json = {
    .name = "json",
    .brief = "the whole run as one object, \"schema\": 1",
    .write = write_run,
};
