/* open.c - from "values.uc(size=half, clock=1/2)" to a co-processor with its program loaded. */
#include "coproc/coproc.h"
#include <riffle/selector.h>
#include <riffle/text.h>
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { SOURCE_MAX = 1 << 18, LETS_MAX = 32, TABLE_MAX = 1 << 22 };

static const char *const size_names[] = {"half", "base", "double"};

static const struct {
    const char *name;
    size_t offset;
    uint64_t standard, least, most;
} numbers[] = {
    {"pace", offsetof(struct rf_coproc_options, pace), 0, 0, 1 << 20},
    {"buffer", offsetof(struct rf_coproc_options, buffer), 1024, 16, 1 << 20},
    {"table", offsetof(struct rf_coproc_options, table), 1 << 14, 64, TABLE_MAX},
    {"enter", offsetof(struct rf_coproc_options, enter), 100, 0, 1 << 20},
    {"scan", offsetof(struct rf_coproc_options, scan), 2, 0, 1 << 20},
    {"fold", offsetof(struct rf_coproc_options, fold), 30, 0, 1 << 20},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static uint64_t *number_of(struct rf_coproc_options *options, size_t i)
{
    return (uint64_t *)((char *)options + numbers[i].offset);
}

/* The options in brackets as they are read. */
struct reading {
    struct rf_coproc *coproc;
    struct rf_program_let lets[LETS_MAX];
    size_t n_lets;
    struct rf_error *error;
};

struct word {
    const char *start;
    size_t n;
};

static struct word trim(const char *start, const char *end)
{
    while (start < end && rf_text_is_space(*start))
        start++;
    while (end > start && rf_text_is_space(end[-1]))
        end--;
    return (struct word){start, (size_t)(end - start)};
}

static rf_status refuse(struct reading *reading, struct word name, const char *what)
{
    return rf_fail(reading->error, RF_EINVAL, "co-processor: %.*s must be %s",
                   (int)(name.n < 40 ? name.n : 40), name.start, what);
}

static rf_status set_size(struct reading *reading, struct word name, struct word value)
{
    for (unsigned i = 0; i < 3; i++)
        if (rf_text_equal(size_names[i], value.start, value.n)) {
            reading->coproc->options.size = i;
            return RF_OK;
        }
    return refuse(reading, name, "half, base or double");
}

static rf_status set_clock(struct reading *reading, struct word name, struct word value)
{
    uint64_t divisor = 1;
    bool one = rf_text_equal("1", value.start, value.n);
    bool part = value.n > 2 && value.start[0] == '1' && value.start[1] == '/';
    if ((!one && !part) ||
        (part && rf_units_count(value.start + 2, value.n - 2, &divisor) != RF_OK) || divisor < 1 ||
        divisor > 64)
        return refuse(reading, name, "1, 1/2, 1/4 or another fraction down to 1/64");
    reading->coproc->options.clock = divisor;
    return RF_OK;
}

static rf_status set_number(struct reading *reading, size_t i, struct word name, uint64_t value)
{
    char what[80];
    if (value < numbers[i].least || value > numbers[i].most) {
        rf_format(what, sizeof what, "between %llu and %llu", (unsigned long long)numbers[i].least,
                  (unsigned long long)numbers[i].most);
        return refuse(reading, name, what);
    }
    if (numbers[i].offset == offsetof(struct rf_coproc_options, table) &&
        (value & (value - 1)) != 0)
        return refuse(reading, name, "a power of two");
    *number_of(&reading->coproc->options, i) = value;
    return RF_OK;
}

static rf_status set_let(struct reading *reading, struct word name, uint64_t value)
{
    if (reading->n_lets == LETS_MAX || name.n >= RF_PROGRAM_NAME_MAX || name.n == 0)
        return rf_fail(reading->error, RF_EINVAL,
                       "co-processor: more than %d options, or a name of more than %d characters",
                       LETS_MAX, RF_PROGRAM_NAME_MAX - 1);
    struct rf_program_let *let = &reading->lets[reading->n_lets++];
    *let = (struct rf_program_let){.value = value};
    memcpy(let->name, name.start, name.n);
    return RF_OK;
}

static rf_status set(struct reading *reading, struct word name, struct word value)
{
    uint64_t number;
    if (rf_text_equal("size", name.start, name.n))
        return set_size(reading, name, value);
    if (rf_text_equal("clock", name.start, name.n))
        return set_clock(reading, name, value);
    if (rf_units_count(value.start, value.n, &number) != RF_OK)
        return refuse(reading, name, "a number");
    for (size_t i = 0; i < NUMBERS; i++)
        if (rf_text_equal(numbers[i].name, name.start, name.n))
            return set_number(reading, i, name, number);
    return set_let(reading, name, number);
}

/* name=value, ... up to `end`. */
static rf_status read_options(struct reading *reading, const char *p, const char *end)
{
    rf_status status = RF_OK;
    while (p < end && status == RF_OK) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        const char *stop = comma != NULL ? comma : end;
        const char *equals = memchr(p, '=', (size_t)(stop - p));
        if (equals == NULL)
            return rf_fail(reading->error, RF_EINVAL,
                           "co-processor: options are name=value, got '%.*s'",
                           (int)(stop - p < 40 ? stop - p : 40), p);
        status = set(reading, trim(p, equals), trim(equals + 1, stop));
        p = comma != NULL ? comma + 1 : end;
    }
    return status;
}

/* --- the program -------------------------------------------------------------------------------- */

static rf_status take_source(struct rf_coproc *coproc, const char *text, size_t n,
                             struct rf_error *error)
{
    coproc->source = rf_alloc_get(&coproc->alloc, n + 1);
    if (coproc->source == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for a microprogram of %zu bytes", n);
    coproc->source_bytes = n + 1;
    memcpy(coproc->source, text, n);
    coproc->source[n] = '\0';
    return RF_OK;
}

static rf_status read_file(struct rf_coproc *coproc, const char *path, struct rf_error *error)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return RF_EIO;
    char *text = rf_alloc_get(&coproc->alloc, SOURCE_MAX);
    size_t n = text != NULL ? fread(text, 1, SOURCE_MAX, file) : 0;
    rf_status status = RF_OK;
    if (text == NULL)
        status = rf_fail(error, RF_ENOMEM, "no memory to read '%s'", path);
    else if (ferror(file))
        status = rf_fail(error, RF_EINVAL, "'%s' cannot be read: %s", path, strerror(errno));
    else if (n == SOURCE_MAX || memchr(text, '\0', n) != NULL)
        status =
            rf_fail(error, RF_EINVAL, "'%s' is no microprogram: it is binary or too large", path);
    else
        status = take_source(coproc, text, n, error);
    rf_alloc_free(&coproc->alloc, text, SOURCE_MAX);
    fclose(file);
    return status;
}

/* The file, or the program of that name that comes with the library. */
static rf_status read_source(struct rf_coproc *coproc, const char *path, struct rf_error *error)
{
    rf_status status = read_file(coproc, path, error);
    if (status != RF_EIO)
        return status;
    int why = errno;
    for (const struct rf_coproc_program *p = rf_coproc_programs(); p->name != NULL; p++)
        if (strcmp(p->name, path) == 0)
            return take_source(coproc, p->text, strlen(p->text), error);
    if (strchr(path, '(') != NULL)
        return rf_fail(error, RF_EINVAL, "co-processor: expected FILE or FILE(option=value, ...)");
    return rf_fail(error, RF_EINVAL, "microprogram '%s': %s; 'riffle coproc' lists those there are",
                   path, strerror(why));
}

static rf_status find_kind(struct rf_coproc *coproc, const char *path, struct rf_error *error)
{
    const struct rf_program *program = &coproc->program;
    const char *wanted = program->handler[0] != '\0' ? program->handler : "fold";
    for (unsigned i = 0; rf_host_kinds[i] != NULL; i++)
        if (strcmp(rf_host_kinds[i]->name, wanted) == 0)
            coproc->kind = rf_host_kinds[i];
    if (coproc->kind == NULL)
        return rf_fail(error, RF_EINVAL, "%s: line %u: no handler is called '%s'", path,
                       program->handler_line, wanted);
    return RF_OK;
}

static rf_status assemble(struct reading *reading, const char *path)
{
    struct rf_coproc *coproc = reading->coproc;
    unsigned by = (unsigned)coproc->options.size;
    struct rf_coproc_size size = {.match_words = 128u << by,
                                  .data_words = 256u << by,
                                  .buffer_bytes = (uint32_t)coproc->options.buffer,
                                  .filter_bits = 16384};
    struct rf_error why = {""};
    rf_status status = read_source(coproc, path, reading->error);
    if (status != RF_OK)
        return status;
    status = rf_program_assemble(&coproc->program, coproc->source, &size, reading->lets,
                                 reading->n_lets, &why);
    if (status != RF_OK)
        return rf_fail(reading->error, status, "%s: %s", path, why.message);
    status = find_kind(coproc, path, reading->error);
    return status == RF_OK ? rf_coproc_check(coproc, path, reading->error) : status;
}

static void write_text(struct rf_coproc *coproc, const struct reading *reading, const char *path)
{
    struct rf_coproc_options *o = &coproc->options;
    size_t size = sizeof coproc->text;
    char clock[24] = "1";
    if (o->clock > 1)
        rf_format(clock, sizeof clock, "1/%llu", (unsigned long long)o->clock);
    size_t n =
        rf_format(coproc->text, size, "%s(size=%s, clock=%s", path, size_names[o->size], clock);
    for (size_t i = 0; i < NUMBERS && n < size; i++)
        if (*number_of(o, i) != numbers[i].standard)
            n += rf_format(coproc->text + n, size - n, ", %s=%llu", numbers[i].name,
                           (unsigned long long)*number_of(o, i));
    for (size_t i = 0; i < reading->n_lets && n < size; i++)
        n += rf_format(coproc->text + n, size - n, ", %s=%llu", reading->lets[i].name,
                       (unsigned long long)reading->lets[i].value);
    if (n < size)
        rf_format(coproc->text + n, size - n, ")");
}

rf_status rf_coproc_read(struct rf_coproc *coproc, const char *text, struct rf_error *error)
{
    struct reading reading = {.coproc = coproc, .error = error};
    char path[1024];
    size_t n = strlen(text);
    const char *open = n > 0 && text[n - 1] == ')' ? strrchr(text, '(') : NULL;
    struct word name = trim(text, open != NULL ? open : text + n);
    coproc->options = (struct rf_coproc_options){.size = 1, .clock = 1};
    for (size_t i = 0; i < NUMBERS; i++)
        *number_of(&coproc->options, i) = numbers[i].standard;
    if (name.n == 0 || name.n >= sizeof path)
        return rf_fail(error, RF_EINVAL, "co-processor: expected FILE or FILE(option=value, ...)");
    rf_format(path, sizeof path, "%.*s", (int)name.n, name.start);
    rf_status status = open != NULL ? read_options(&reading, open + 1, text + n - 1) : RF_OK;
    if (status == RF_OK)
        status = assemble(&reading, path);
    if (status == RF_OK)
        write_text(coproc, &reading, path);
    return status;
}

/* --- memory ------------------------------------------------------------------------------------- */

uint32_t rf_coproc_sample_bytes(const struct rf_program *program)
{
    static const uint8_t bits[RF_SAMPLE_COUNT] = {64, 64, 64, 64, 16, 16, 2, 1, 1, 4};
    uint64_t used[RF_SAMPLE_COUNT] = {[RF_SAMPLE_OPCODE] = 15};
    unsigned n = 0;
    for (unsigned i = 0; i < program->n_fields; i++) {
        const struct rf_program_field *field = &program->fields[i];
        if (field->word == RF_SAMPLE_HASH)
            used[field->hash_a] = used[field->hash_b] = UINT64_MAX;
        else
            used[field->word] |= (UINT64_MAX >> (64 - field->bits)) << field->shift;
    }
    for (unsigned i = 0; i < RF_SAMPLE_COUNT; i++)
        n += (unsigned)__builtin_popcountll(used[i] & UINT64_MAX >> (64 - bits[i]));
    return (n + 7) / 8;
}

/* When the handler looks if nobody calls: later, unless it says otherwise, and at first. Soon only where it looks
 * again later: else the profile would be of the program's start. */
static void set_looks(struct rf_coproc *coproc)
{
    uint32_t glance = (uint32_t)rf_program_let(&coproc->program, "glance", 0);
    bool again = rf_program_let(&coproc->program, "age", 0) != 0;
    coproc->quiet = (uint32_t)rf_program_let(&coproc->program, "quiet", 0);
    coproc->look = again && glance != 0 && glance < coproc->quiet ? glance : coproc->quiet;
}

static rf_status open_memory(struct rf_coproc *coproc, uint64_t seed, struct rf_error *error)
{
    const struct rf_alloc *alloc = &coproc->alloc;
    uint32_t entries = 1u << (31 - __builtin_clz((unsigned)coproc->options.table));
    coproc->table_bytes = sizeof *coproc->table + entries * coproc->kind->entry_size;
    coproc->buffer_size =
        (uint32_t)coproc->options.buffer / rf_coproc_sample_bytes(&coproc->program);
    coproc->buffer_size = coproc->buffer_size > 0 ? coproc->buffer_size : 1;
    coproc->window = rf_alloc_get(alloc, sizeof *coproc->window);
    coproc->table = rf_alloc_get(alloc, coproc->table_bytes);
    coproc->buffer = rf_alloc_get(alloc, coproc->buffer_size * sizeof *coproc->buffer);
    if (coproc->window == NULL || coproc->table == NULL || coproc->buffer == NULL ||
        rf_processor_open(&coproc->processor, &coproc->program, seed, alloc) != RF_OK)
        return rf_fail(error, RF_ENOMEM, "no memory for the co-processor");
    memset(coproc->window, 0, sizeof *coproc->window);
    memset(coproc->table, 0, coproc->table_bytes);
    coproc->table->entries = entries;
    coproc->window->entry = RF_WINDOW_AS_DECLARED;
    coproc->filter.bits = coproc->program.size.filter_bits;
    set_looks(coproc);
    return RF_OK;
}

rf_status rf_coproc_open(struct rf_coproc **coproc, const char *text,
                         const struct rf_coproc_setup *setup, struct rf_error *error)
{
    const struct rf_alloc *alloc = rf_alloc_or_standard(setup != NULL ? setup->alloc : NULL);
    *coproc = rf_alloc_get(alloc, sizeof **coproc);
    if (*coproc == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for the co-processor");
    memset(*coproc, 0, sizeof **coproc);
    (*coproc)->alloc = *alloc;
    rf_status status = rf_coproc_read(*coproc, text, error);
    if (status == RF_OK)
        status = open_memory(*coproc, setup != NULL ? setup->seed : 0, error);
    if (status != RF_OK) {
        rf_coproc_close(*coproc);
        *coproc = NULL;
    }
    return status;
}

void rf_coproc_close(struct rf_coproc *coproc)
{
    if (coproc == NULL)
        return;
    struct rf_alloc alloc = coproc->alloc;
    rf_processor_close(coproc->processor);
    rf_alloc_free(&alloc, coproc->window, sizeof *coproc->window);
    rf_alloc_free(&alloc, coproc->table, coproc->table_bytes);
    rf_alloc_free(&alloc, coproc->buffer, coproc->buffer_size * sizeof *coproc->buffer);
    rf_alloc_free(&alloc, coproc->source, coproc->source_bytes);
    rf_alloc_free(&alloc, coproc, sizeof *coproc);
}
