/* forms.c - the forms there are, and the words they share. */
#include "report/report.h"
#include <inttypes.h>
#include <riffle/text.h>
#include <string.h>

static const struct rf_report_form *const forms[] = {
    &rf_report_text, &rf_report_csv, &rf_report_json, &rf_report_tree, &rf_report_heat, NULL};

const struct rf_report_form *const *rf_report_forms(void)
{
    return forms;
}

const struct rf_report_form *rf_report_find(const char *name)
{
    for (size_t i = 0; forms[i] != NULL; i++)
        if (strcmp(forms[i]->name, name) == 0)
            return forms[i];
    return NULL;
}

rf_status rf_report_profiles(FILE *out, const struct rf_run *run,
                             const struct rf_report_setup *setup, rf_report_profile *write)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < run->n_profiles && status == RF_OK; i++) {
        if (i > 0)
            fputc('\n', out);
        status = write(out, run, run->profiles[i], setup);
    }
    return status;
}

rf_status rf_report_end(FILE *out)
{
    return fflush(out) != 0 || ferror(out) ? RF_EIO : RF_OK;
}

const char *rf_report_shape(unsigned shape)
{
    static const char *const names[] = {"tuple", "range-a", "range-b", "rectangle", "stream"};
    return shape < sizeof names / sizeof *names ? names[shape] : "unknown";
}

const char *rf_report_bound(unsigned bound)
{
    static const char *const names[] = {"exact", "hard", "confidence"};
    return bound < sizeof names / sizeof *names ? names[bound] : "unknown";
}

/* Programs started by exec are told apart by a number in the upper bits of code addresses. */
uint64_t rf_report_address(uint64_t word)
{
    enum { SPACE_SHIFT = 48, SPACES_MAX = 255 };
    uint64_t space = word >> SPACE_SHIFT;
    return space <= SPACES_MAX ? word & ((UINT64_C(1) << SPACE_SHIFT) - 1) : word;
}

void rf_report_cut(char *text, size_t columns)
{
    static const char mark[] = "...";
    const size_t n = sizeof mark - 1;
    if (rf_text_width(text) <= columns)
        return;
    char *end = text;
    for (size_t left = columns > n ? columns - n : 0; left > 0; left--)
        end += rf_text_next(end, strlen(end)).length;
    memcpy(end, mark, sizeof mark);
}

static bool is_code(const char *column)
{
    return strcmp(column, "pc") == 0 || strcmp(column, "target") == 0;
}

size_t rf_report_word(char *text, size_t size, const char *column, uint64_t word)
{
    bool decimal = strcmp(column, "thread") == 0;
    word = is_code(column) ? rf_report_address(word) : word;
    return (size_t)snprintf(text, size, decimal ? "%" PRIu64 : "0x%" PRIx64, word);
}

/* Of a range inside one program. */
static void untag(const char *column, uint64_t *lo, uint64_t *hi)
{
    if (!is_code(column) || *lo - rf_report_address(*lo) != *hi - rf_report_address(*hi))
        return;
    *lo = rf_report_address(*lo);
    *hi = rf_report_address(*hi);
}

size_t rf_report_range(char *text, size_t size, const char *column, uint64_t lo, uint64_t hi)
{
    bool decimal = strcmp(column, "thread") == 0;
    untag(column, &lo, &hi);
    return (size_t)snprintf(
        text, size, decimal ? "%" PRIu64 "..%" PRIu64 : "0x%" PRIx64 "..0x%" PRIx64, lo, hi);
}

struct rf_item rf_report_item(const struct rf_columns *columns, const struct rf_item *item)
{
    struct rf_item shown = *item;
    untag(columns->a.name, &shown.a, &shown.a_hi);
    untag(columns->b.name, &shown.b, &shown.b_hi);
    return shown;
}
