/* perf.c - samples as `perf script` prints them.
 *
 *     rank     1     0.000001:          1 samples:
 *             401196 spread+0x26 (/tmp/rank)
 *             401203 main+0x3 (/tmp/rank)
 *
 * With stacks, each sample is an entry, since most readers count entries. Without, each instruction of the first profile
 * by pc is one entry with its count as the period. Times are the numbers of the entries, in microseconds: perf has a
 * time, and a profile has none. */
#include "export/export.h"
#include "base/text.h"
#include <inttypes.h>
#include <riffle/report.h>
#include <riffle/text.h>
#include <string.h>

struct perf {
    const struct rf_export *export;
    uint64_t entries;
    char event[RF_EXPORT_NAME_MAX];
    char program[64];
    char text[RF_EXPORT_TEXT_MAX];
};

/* A file stands between parentheses: its own become escapes, as its controls do. */
static void write_path(FILE *out, const char *path)
{
    char piece[RF_TEXT_PIECE];
    for (size_t left = strlen(path), n; left > 0; left -= n, path += n) {
        n = rf_text_piece(piece, path, left);
        if (piece[0] == '(' || piece[0] == ')')
            fprintf(out, "\\x%02x", (unsigned)piece[0]);
        else
            fputs(piece, out);
    }
}

static void write_frame(struct perf *perf, uint64_t word)
{
    struct rf_export_place place;
    FILE *out = perf->export->out;
    rf_export_find_place(perf->export, word, &place);
    fprintf(out, "\t%16" PRIx64 " ", place.address);
    if (place.name.function[0] != '\0') {
        rf_export_function(&place, perf->text);
        fprintf(out, "%s+0x%" PRIx64, perf->text, place.name.offset);
    } else {
        fputs("[unknown]", out);
    }
    fputs(" (", out);
    if (place.name.path[0] != '\0')
        write_path(out, place.name.path);
    else
        fputs("[unknown]", out);
    fputs(")\n", out);
}

static void write_head(struct perf *perf, uint64_t period)
{
    uint64_t time = ++perf->entries;
    fprintf(perf->export->out, "%s     1 %" PRIu64 ".%06u: %10" PRIu64 " %s:\n", perf->program,
            time / 1000000, (unsigned)(time % 1000000), period, perf->event);
}

static rf_status write_stack(void *context, const struct rf_export_stack *stack)
{
    struct perf *perf = context;
    FILE *out = perf->export->out;
    for (uint64_t i = 0; i < stack->samples; i++) {
        write_head(perf, 1);
        for (size_t k = stack->n; k-- > 0;)
            write_frame(perf, stack->words[k]);
        fputc('\n', out);
        if (ferror(out))
            return RF_EIO;
    }
    return RF_OK;
}

static rf_status write_sites(struct perf *perf, const struct rf_profile *profile)
{
    struct rf_export_sites sites;
    rf_status status = rf_export_sites_open(&sites, perf->export, profile);
    if (status != RF_OK)
        return status;
    if (sites.bound != RF_BOUND_EXACT)
        rf_export_tell(perf->export, "perf has no bounds: periods are the counts");
    for (size_t i = 0; i < sites.n && !ferror(perf->export->out); i++) {
        write_head(perf, sites.at[i].count);
        write_frame(perf, sites.at[i].word);
        fputc('\n', perf->export->out);
    }
    rf_export_sites_close(&sites, perf->export);
    return RF_OK;
}

/* The name of what ran, without the blanks that would end it for a reader. */
static void name_program(struct perf *perf)
{
    const char *name = rf_run_note(perf->export->run, RF_NOTE_PROGRAM);
    rf_text_readable(perf->program, sizeof perf->program,
                     name != NULL ? rf_text_last_part(name) : "program");
    for (char *c = perf->program; *c != '\0'; c++)
        if (*c == ' ')
            *c = '_';
}

static rf_status write_profile(struct perf *perf)
{
    const struct rf_run *run = perf->export->run;
    const struct rf_profile *stacks = rf_export_stacks_of(perf->export);
    name_program(perf);
    rf_format(perf->event, sizeof perf->event, "%s", "samples");
    if (stacks != NULL) {
        rf_export_tell_left_out(perf->export, rf_export_is_stacks);
        return rf_export_stacks(perf->export, stacks, write_stack, perf);
    }
    for (size_t i = 0; i < run->n_profiles; i++)
        if (rf_export_is_by_pc(run->profiles[i])) {
            if (run->n_profiles > 1)
                rf_export_tell(perf->export, "only the profile '%s' is written",
                               run->profiles[i]->selector);
            rf_export_event(perf->export, i, perf->event);
            return write_sites(perf, run->profiles[i]);
        }
    return rf_fail(perf->export->error, RF_ENOTSUP,
                   "perf is made of instructions or stacks, and this file has neither; run with -p "
                   "stacks");
}

static rf_status write_perf(const struct rf_export *export, void *state)
{
    struct perf *perf = state;
    perf->export = export;
    return write_profile(perf);
}

const struct rf_export_maker rf_export_perf = {sizeof(struct perf), write_perf};
