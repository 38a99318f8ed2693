/* findings.c - what is worth a look in a run: "loads 0 in 98.7% of 21.6 M loads  rank.c:44 spread".
 *
 * These are, by how many events they are: loads of one value in nine cases out of ten; indirect calls of one target;
 * branches that go both ways about as often. A thing is listed only where its bounds say so, too.
 *
 * Nothing that is as it must be: return addresses, stubs of the PLT, the stack protector's secret. What the C library
 * and the dynamic linker do comes after what the program and its other libraries do, since few can change it. */
#include "report/report.h"
#include "view/view.h"
#include <inttypes.h>
#include <riffle/text.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEARCHED = 2000, /* the heaviest instructions that are looked at */
    FINDINGS = 5,
    OF_A_KIND = 3,
    CANDIDATES = 40,
    NAME = 200,
    SENTENCE = 400,
    PLACE = 1000,
};

#define RATHER 0.001 /* that many events per instruction make a thing worth a look */

struct finding {
    uint64_t count;
    bool is_basic;           /* in the C library or the dynamic linker */
    char sentence[SENTENCE]; /* both readable */
    char place[PLACE];
};

struct findings {
    struct finding at[3 * OF_A_KIND + 1]; /* the last has room for one that is not taken */
    size_t n;
};

static bool is_stub(const char *place)
{
    return strstr(place, "@plt") != NULL;
}

/* Two instructions of one line that do the same are told once. */
static bool is_new(const struct findings *findings, const struct finding *finding)
{
    for (size_t i = 0; i < findings->n; i++)
        if (strcmp(findings->at[i].sentence, finding->sentence) == 0 &&
            strcmp(findings->at[i].place, finding->place) == 0)
            return false;
    return true;
}

/* Is it code of the C library or the dynamic linker? */
static bool is_basic(const struct rf_view *view, size_t row)
{
    static const char *const names[] = {"libc.so", "libc-", "ld-linux", "ld-", "libc.musl"};
    const struct rf_view_cell *module = rf_view_cell(view, row, RF_COLUMN_MODULE);
    for (size_t i = 0; module != NULL && i < sizeof names / sizeof *names; i++)
        if (strncmp(module->text, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool add_finding(struct findings *findings, const struct rf_view *view, size_t row,
                        const char *sentence)
{
    struct finding *finding = &findings->at[findings->n];
    finding->count = rf_view_cell(view, row, RF_COLUMN_COUNT)->number;
    finding->is_basic = is_basic(view, row);
    snprintf(finding->sentence, SENTENCE, "%s", sentence);
    rf_report_keep(finding->place, PLACE, rf_view_cell(view, row, RF_COLUMN_PLACE)->text);
    bool good = is_new(findings, finding);
    findings->n += good;
    return good;
}

/* A kind of finding: which rows are one, and what is said of them. */
struct kind {
    const char *selector;
    double low, high; /* the share of the most frequent item must lie in there */
    void (*tell)(char *sentence, size_t size, const struct rf_view *view, size_t row,
                 const char *value); /* what the most frequent item is called; "": nothing */
};

static void tell_share(char *text, size_t size, const struct rf_view *view, size_t row)
{
    rf_report_share(text, size, rf_view_cell(view, row, RF_COLUMN_TOP_SHARE), view->profile->bound);
}

static const char *tell_count(char number[RF_REPORT_NUMBER_MAX], const struct rf_view *view,
                              size_t row)
{
    return rf_report_short(number, rf_view_cell(view, row, RF_COLUMN_COUNT)->number);
}

static void tell_load(char *sentence, size_t size, const struct rf_view *view, size_t row,
                      const char *value)
{
    char share[64], number[RF_REPORT_NUMBER_MAX], text[64], name[NAME];
    tell_share(share, sizeof share, view, row);
    rf_report_cell(text, sizeof text, view, rf_view_column(view, RF_COLUMN_TOP),
                   rf_view_cell(view, row, RF_COLUMN_TOP), false);
    rf_report_keep(name, sizeof name, value);
    bool whole = name[0] == '&'; /* it says all; otherwise it says where the value points */
    snprintf(sentence, size, "loads %s%s%s%s in %s of %s loads", whole ? name : text,
             !whole && name[0] != '\0' ? " (" : "", whole ? "" : name,
             !whole && name[0] != '\0' ? ")" : "", share, tell_count(number, view, row));
}

static void tell_call(char *sentence, size_t size, const struct rf_view *view, size_t row,
                      const char *value)
{
    (void)value;
    char share[64], number[RF_REPORT_NUMBER_MAX], name[NAME];
    const struct rf_view_cell *target = rf_view_cell(view, row, RF_COLUMN_TOP_NAME);
    tell_share(share, sizeof share, view, row);
    rf_report_keep(name, sizeof name, target != NULL ? target->text : "");
    snprintf(sentence, size, "calls %s in %s of %s indirect calls", name, share,
             tell_count(number, view, row));
}

static void tell_branch(char *sentence, size_t size, const struct rf_view *view, size_t row,
                        const char *value)
{
    (void)value;
    char share[64], number[RF_REPORT_NUMBER_MAX];
    tell_share(share, sizeof share, view, row);
    snprintf(sentence, size, "goes both ways: %s in %s of %s",
             rf_view_cell(view, row, RF_COLUMN_TOP_NAME)->text, share,
             tell_count(number, view, row));
}

static const struct kind kinds[] = {
    {"load -> pc,value", 0.90, 1, tell_load},
    {"call indirect==1 -> pc,target", 0.99, 1, tell_call},
    {"branch -> pc,taken", 0.50, 0.70, tell_branch},
};

/* How many instructions there were; the events of all profiles where nobody counted them. */
static uint64_t instructions(const struct rf_run *run)
{
    const struct rf_profile *code = rf_report_counted(run, "insn -> pc");
    uint64_t sum = 0;
    for (size_t i = 0; code == NULL && i < run->n_profiles; i++)
        sum += run->profiles[i]->consumed;
    return code != NULL ? code->consumed : sum;
}

static bool is_worth(const struct kind *kind, const struct rf_view *view, size_t row)
{
    const struct rf_view_cell *top = rf_view_cell(view, row, RF_COLUMN_TOP_SHARE);
    const struct rf_view_cell *count = rf_view_cell(view, row, RF_COLUMN_COUNT);
    const struct rf_view_cell *place = rf_view_cell(view, row, RF_COLUMN_PLACE);
    return top != NULL && !top->is_empty && top->low >= kind->low && top->high <= kind->high &&
           (double)count->number >= RATHER * (double)instructions(view->run) && place != NULL &&
           !is_stub(place->text);
}

/* Every value looks like this that the C library makes up to guard stacks: random, but for a zero in its last byte. A
 * number of the program hardly ever does: small ones, addresses and round floating point numbers have more zeros. */
static bool looks_secret(uint64_t value)
{
    const uint64_t top = value >> 48;
    return (value & 0xff) == 0 && (value & 0xffff00) != 0 && top != 0 && top != 0xffff;
}

static bool is_always(const struct rf_view *view, size_t row, uint64_t value)
{
    const struct rf_view_cell *share = rf_view_cell(view, row, RF_COLUMN_TOP_SHARE);
    return !share->is_empty && share->low >= 1 &&
           rf_view_cell(view, row, RF_COLUMN_TOP)->number == value;
}

/* A guarded function loads the secret when it begins and when it ends, and never anything else. */
static bool is_secret(const struct kind *kind, const struct rf_view *view, size_t row)
{
    const uint64_t value =
        kind->tell == tell_load ? rf_view_cell(view, row, RF_COLUMN_TOP)->number : 0;
    size_t n = 0;
    for (size_t i = 0; looks_secret(value) && n < 2 && i < view->n_rows; i++)
        n += is_always(view, i, value);
    return n >= 2;
}

/* The rows of a view that are worth a look, at most `most`: those of basic libraries last. */
static size_t list_worth(const struct kind *kind, const struct rf_view *view, size_t *rows,
                         size_t most)
{
    size_t n = 0;
    for (int basic = 0; basic <= 1; basic++)
        for (size_t row = 0; row < view->n_rows && n < most; row++)
            if (is_basic(view, row) == (basic == 1) && is_worth(kind, view, row) &&
                !is_secret(kind, view, row))
                rows[n++] = row;
    return n;
}

/* The top value as an address of the program that loaded it. */
static uint64_t as_address(const struct rf_view *view, size_t row)
{
    const uint64_t value = rf_view_cell(view, row, RF_COLUMN_TOP)->number;
    const uint64_t pc = rf_view_cell(view, row, RF_COLUMN_WORD)->number;
    return value >> 48 == 0 ? value + (pc - rf_view_address(pc)) : value;
}

/* Names of what is loaded, all at once. */
static rf_status prepare_values(const struct rf_view *view, const size_t *rows, size_t n,
                                struct rf_symbols *symbols)
{
    uint64_t values[CANDIDATES];
    for (size_t i = 0; i < n; i++)
        values[i] = as_address(view, rows[i]);
    return rf_symbols_prepare(symbols, values, n);
}

/* "&steps", "&table+0x8", "[heap]", ".bss of rank"; "": it is no address of anything that is known. */
static void print_value(const struct rf_place_name *name, char *text, size_t size)
{
    char object[NAME];
    text[0] = '\0';
    snprintf(object, sizeof object, "%s", name->function);
    rf_view_shorten(object);
    if (object[0] != '\0' && name->offset == 0)
        snprintf(text, size, "&%s", object);
    else if (object[0] != '\0')
        snprintf(text, size, "&%s+0x%" PRIx64, object, name->offset);
    else if (name->section[0] != '\0')
        snprintf(text, size, "%s of %s", name->section, name->module);
    else if (name->module[0] == '[')
        snprintf(text, size, "%s", name->module);
}

/* What is loaded, if it is the address of something. False: of code. A return takes that from the stack, and whoever
 * calls a function through memory is told by its calls; there is nothing else to look at. */
static bool name_value(const struct kind *kind, const struct rf_view *view, size_t row,
                       struct rf_symbols *symbols, char *value, size_t size)
{
    struct rf_place_name name;
    value[0] = '\0';
    if (kind->tell != tell_load)
        return true;
    rf_symbols_lookup(symbols, as_address(view, row), RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME,
                      &name);
    print_value(&name, value, size);
    return !name.is_code;
}

static rf_status look_for(struct findings *findings, const struct kind *kind,
                          const struct rf_run *run, const struct rf_report_setup *setup,
                          struct rf_error *error)
{
    struct rf_view view;
    struct rf_view_setup question = setup->view;
    const struct rf_profile *profile = rf_report_counted(run, kind->selector);
    size_t rows[CANDIDATES], found = 0;
    if (profile == NULL)
        return RF_OK;
    question.by = RF_BY_PC;
    question.rows = SEARCHED;
    question.share_min = 0;
    rf_status status = rf_view_open(&view, run, profile, &question, error);
    if (status != RF_OK)
        return status;
    size_t n = list_worth(kind, &view, rows, CANDIDATES);
    if (kind->tell == tell_load)
        status = prepare_values(&view, rows, n, setup->view.symbols);
    for (size_t i = 0; i < n && found < OF_A_KIND && status == RF_OK; i++) {
        char sentence[SENTENCE], value[2 * NAME];
        if (!name_value(kind, &view, rows[i], setup->view.symbols, value, sizeof value))
            continue;
        kind->tell(sentence, sizeof sentence, &view, rows[i], value);
        found += add_finding(findings, &view, rows[i], sentence);
    }
    rf_view_close(&view);
    return status;
}

static int by_count(const void *left, const void *right)
{
    const struct finding *l = left, *r = right;
    if (l->is_basic != r->is_basic)
        return l->is_basic ? 1 : -1;
    return (l->count < r->count) - (l->count > r->count);
}

/* The column of the places: behind the widest sentence that leaves room for its place on the same line. */
static size_t place_column(const struct findings *findings, size_t n, size_t width)
{
    size_t column = 0;
    for (size_t i = 0; i < n; i++) {
        size_t sentence = rf_text_width(findings->at[i].sentence) + 4;
        bool fits = width == 0 || sentence + rf_text_width(findings->at[i].place) <= width;
        column = fits && sentence > column ? sentence : column;
    }
    return column;
}

static void write_finding(FILE *out, const struct finding *finding, size_t column,
                          const struct rf_report_setup *setup)
{
    enum { INDENT = 6 };
    const size_t width = (size_t)setup->width, place = rf_text_width(finding->place);
    size_t used = rf_text_width(finding->sentence) + 2;
    fputs("  ", out);
    if (width > 0 && (used + 2 + place > width || used > column)) {
        rf_report_paragraph(out, setup, INDENT, finding->sentence);
        fprintf(out, "%*s", INDENT, "");
        rf_report_paragraph(out, setup, INDENT, finding->place);
        return;
    }
    size_t gap = width == 0 || column + place <= width ? column - used : 2;
    fprintf(out, "%s%*s%s\n", finding->sentence, (int)gap, "", finding->place);
}

static void write_findings(FILE *out, struct findings *findings,
                           const struct rf_report_setup *setup)
{
    size_t n = findings->n < FINDINGS ? findings->n : FINDINGS;
    qsort(findings->at, findings->n, sizeof *findings->at, by_count);
    size_t column = place_column(findings, n, (size_t)setup->width);
    if (n > 0)
        fprintf(out, "\n%sworth a look%s\n", setup->colour ? "\033[1m" : "",
                setup->colour ? "\033[0m" : "");
    for (size_t i = 0; i < n; i++)
        write_finding(out, &findings->at[i], column, setup);
}

rf_status rf_report_findings(FILE *out, const struct rf_run *run,
                             const struct rf_report_setup *setup, struct rf_error *error)
{
    struct findings findings = {.n = 0};
    rf_status status = RF_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && status == RF_OK; i++)
        status = look_for(&findings, &kinds[i], run, setup, error);
    if (status == RF_OK)
        write_findings(out, &findings, setup);
    return status;
}

rf_status rf_report_each_finding(const struct rf_run *run, const struct rf_report_setup *setup,
                                 rf_report_tell *tell, void *context, struct rf_error *error)
{
    struct findings findings = {.n = 0};
    rf_status status = RF_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && status == RF_OK; i++)
        status = look_for(&findings, &kinds[i], run, setup, error);
    qsort(findings.at, findings.n, sizeof *findings.at, by_count);
    for (size_t i = 0; i < findings.n && status == RF_OK; i++)
        tell(context, findings.at[i].sentence, findings.at[i].place);
    return status;
}
