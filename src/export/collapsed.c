/* collapsed.c - one line per stack, as flamegraph.pl reads it: "main;rank_pages;spread 124".
 *
 * The format has no quotes: a semicolon in a name becomes a colon. */
#include "export/export.h"

struct collapsed {
    const struct rf_export *export;
    char text[RF_EXPORT_TEXT_MAX];
};

static void write_name(struct collapsed *collapsed, uint64_t word)
{
    struct rf_export_place place;
    rf_export_find_place(collapsed->export, word, &place);
    rf_export_function(&place, collapsed->text);
    for (char *c = collapsed->text; *c != '\0'; c++)
        if (*c == ';')
            *c = ':';
    fputs(collapsed->text, collapsed->export->out);
}

static rf_status write_stack(void *context, const struct rf_export_stack *stack)
{
    struct collapsed *collapsed = context;
    FILE *out = collapsed->export->out;
    for (size_t i = 0; i < stack->n; i++) {
        if (i > 0)
            fputc(';', out);
        write_name(collapsed, stack->words[i]);
    }
    fprintf(out, " %llu\n", (unsigned long long)stack->samples);
    return ferror(out) ? RF_EIO : RF_OK;
}

static rf_status write_collapsed(const struct rf_export *export, void *state)
{
    struct collapsed *collapsed = state;
    collapsed->export = export;
    const struct rf_profile *profile = rf_export_only_stacks(export, "collapsed");
    return profile != NULL ? rf_export_stacks(export, profile, write_stack, collapsed) : RF_ENOTSUP;
}

const struct rf_export_maker rf_export_collapsed = {sizeof(struct collapsed), write_collapsed};
