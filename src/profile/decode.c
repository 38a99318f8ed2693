/* decode.c - a run from the bytes of a .rfp file, which may be anything.
 *
 * Everything is checked before it is used: the checksums, every length against the bytes that are
 * left (an item takes eight at least, so a list cannot claim more than there is), the numbers against
 * each other (check.c). Allocation is bounded by the file: its payload by 1 MiB or 128 times its bytes, the items
 * by eight times the payload. Damage gives RF_EDAMAGED and nothing else. */
#include "profile/file.h"
#include "profile/profile.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include "event/trace.h"
#include <string.h>
#include <zstd.h>

enum {
    ITEM_BYTES_MIN = 8,
    MODULE_BYTES_MIN = 8,
    INTERVAL_BYTES_MIN = 3,
    FIGURE_BYTES_MIN = 9,
};

/* A reader that remembers its first failure and gives zeros after it. */
struct reader {
    const struct rf_alloc *alloc;
    const unsigned char *at, *end;
    rf_status status;
    const char *wrong;
};

static void fail(struct reader *reader, rf_status status, const char *wrong)
{
    if (reader->status != RF_OK)
        return;
    reader->status = status;
    reader->wrong = wrong;
    reader->at = reader->end;
}

static size_t left(const struct reader *reader)
{
    return (size_t)(reader->end - reader->at);
}

static uint64_t get_number(struct reader *reader)
{
    uint64_t number = 0;
    for (unsigned shift = 0; left(reader) > 0; shift += 7) {
        uint64_t bits = *reader->at & 0x7f;
        bool last = (*reader->at++ & 0x80) == 0;
        if (shift == 63 && (bits > 1 || !last))
            break;
        number |= bits << shift;
        if (last)
            return number;
    }
    fail(reader, RF_EDAMAGED, "a number is cut off or too long");
    return 0;
}

static uint64_t get_difference(struct reader *reader, uint64_t from)
{
    uint64_t folded = get_number(reader);
    return from + (folded >> 1 ^ (0 - (folded & 1)));
}

/* How many elements follow, of at least `least` bytes each. */
static size_t get_count(struct reader *reader, size_t least)
{
    uint64_t n = get_number(reader);
    if (n <= left(reader) / least)
        return (size_t)n;
    fail(reader, RF_EDAMAGED, "a list claims more than the file holds");
    return 0;
}

static double get_double(struct reader *reader)
{
    if (left(reader) < 8) {
        fail(reader, RF_EDAMAGED, "a number is cut off or too long");
        return 0;
    }
    uint64_t bits = rf_load64(reader->at);
    double value;
    memcpy(&value, &bits, sizeof value);
    reader->at += 8;
    return value;
}

/* NULL after a failure. */
static char *get_text(struct reader *reader)
{
    size_t n = get_count(reader, 1);
    if (reader->status != RF_OK)
        return NULL;
    if (n > 0 && memchr(reader->at, '\0', n) != NULL) {
        fail(reader, RF_EDAMAGED, "a text has an end inside");
        return NULL;
    }
    char *text = rf_profile_text(reader->alloc, (const char *)reader->at, n);
    if (text == NULL)
        fail(reader, RF_ENOMEM, "no memory for a text");
    else
        reader->at += n;
    return text;
}

static void get_into_text(struct reader *reader, char **place)
{
    char *text = get_text(reader);
    if (text == NULL)
        return;
    rf_profile_free_text(reader->alloc, *place);
    *place = text;
}

/* Zeroed room for n elements; NULL when there is no memory. */
static void *get_room(struct reader *reader, size_t n, size_t element)
{
    void *array = NULL;
    if (reader->status != RF_OK || n == 0)
        return NULL;
    if (!rf_alloc_array(reader->alloc, &array, 0, n, element)) {
        fail(reader, RF_ENOMEM, "no memory for a list");
        return NULL;
    }
    memset(array, 0, n * element);
    return array;
}

static void get_words(struct reader *reader, struct rf_item *items, size_t n)
{
    uint64_t a = 0, b = 0;
    for (size_t i = 0; i < n; i++)
        items[i].a = a = get_difference(reader, a);
    for (size_t i = 0; i < n; i++)
        items[i].b = b = get_difference(reader, b);
    for (size_t i = 0; i < n; i++)
        items[i].a_hi = items[i].a + get_number(reader);
    for (size_t i = 0; i < n; i++)
        items[i].b_hi = items[i].b + get_number(reader);
}

static void get_counts(struct reader *reader, struct rf_item *items, size_t n)
{
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++)
        items[i].count = count = get_difference(reader, count);
    for (size_t i = 0; i < n; i++)
        items[i].lower = get_difference(reader, items[i].count);
    for (size_t i = 0; i < n; i++)
        items[i].upper = get_difference(reader, items[i].count);
    for (size_t i = 0; i < n; i++)
        items[i].intervals = get_number(reader);
}

static void get_items(struct reader *reader, struct rf_profile *profile)
{
    size_t n = get_count(reader, ITEM_BYTES_MIN);
    profile->items = get_room(reader, n, sizeof *profile->items);
    if (profile->items == NULL)
        return;
    profile->n_items = n;
    get_words(reader, profile->items, n);
    get_counts(reader, profile->items, n);
}

/* `used` is how many of the profile's interval_items are taken. */
static size_t get_interval(struct reader *reader, struct rf_profile *profile, size_t used, size_t i)
{
    struct rf_interval *interval = &profile->intervals[i];
    interval->events = get_number(reader);
    interval->absent_upper = get_number(reader);
    interval->first = used;
    interval->n = get_count(reader, ITEM_BYTES_MIN);
    if (interval->n > profile->n_interval_items - used) {
        interval->n = 0;
        fail(reader, RF_EDAMAGED, "an interval has more items than all of them");
    }
    get_words(reader, rf_profile_interval_items(profile, i), interval->n);
    get_counts(reader, rf_profile_interval_items(profile, i), interval->n);
    return used + interval->n;
}

static void get_intervals(struct reader *reader, struct rf_profile *profile)
{
    size_t n = get_count(reader, INTERVAL_BYTES_MIN), items = get_count(reader, ITEM_BYTES_MIN);
    size_t used = 0;
    profile->intervals = get_room(reader, n, sizeof *profile->intervals);
    profile->n_intervals = profile->intervals != NULL ? n : 0;
    profile->interval_items = get_room(reader, items, sizeof *profile->interval_items);
    profile->n_interval_items = profile->interval_items != NULL ? items : 0;
    for (size_t i = 0; i < profile->n_intervals && reader->status == RF_OK; i++)
        used = get_interval(reader, profile, used, i);
    if (reader->status == RF_OK && used != items)
        fail(reader, RF_EDAMAGED, "items of intervals are missing");
}

static void get_figure_name(struct reader *reader, char *name, size_t size)
{
    size_t n = get_count(reader, 1);
    if (n >= size || (n > 0 && memchr(reader->at, '\0', n) != NULL)) {
        fail(reader, RF_EDAMAGED, "the name of a figure is no name");
        return;
    }
    memcpy(name, reader->at, n);
    reader->at += n;
}

static void get_figures(struct reader *reader, struct rf_profile *profile)
{
    size_t n = get_count(reader, FIGURE_BYTES_MIN);
    profile->figures = get_room(reader, n, sizeof *profile->figures);
    profile->n_figures = profile->figures != NULL ? n : 0;
    for (size_t i = 0; i < profile->n_figures && reader->status == RF_OK; i++) {
        get_figure_name(reader, profile->figures[i].name, sizeof profile->figures[i].name);
        profile->figures[i].value = get_double(reader);
    }
}

static uint8_t get_kind(struct reader *reader)
{
    uint64_t kind = get_number(reader);
    return kind < UINT8_MAX ? (uint8_t)kind : UINT8_MAX;
}

static void get_totals(struct reader *reader, struct rf_profile *profile)
{
    get_into_text(reader, &profile->selector);
    get_into_text(reader, &profile->engine);
    profile->seed = get_number(reader);
    profile->shape = get_kind(reader);
    profile->bound = get_kind(reader);
    profile->confidence = get_double(reader);
    profile->produced = get_number(reader);
    profile->consumed = get_number(reader);
    profile->lost = get_number(reader);
    profile->memory = get_number(reader);
    profile->bits = get_number(reader);
    profile->absent_upper = get_number(reader);
    profile->interval_length = get_number(reader);
    profile->n_intervals_seen = get_number(reader);
}

static void get_profile(struct reader *reader, struct rf_run *run)
{
    struct rf_profile *profile = rf_profile_new(reader->alloc);
    if (profile == NULL) {
        fail(reader, RF_ENOMEM, "no memory for a profile");
        return;
    }
    if (rf_run_add_profile(run, profile) != RF_OK) {
        rf_profile_free(profile);
        fail(reader, RF_ENOMEM, "no memory for a profile");
        return;
    }
    get_totals(reader, profile);
    get_figures(reader, profile);
    get_items(reader, profile);
    get_intervals(reader, profile);
    const char *wrong = NULL;
    if (reader->status == RF_OK && rf_profile_check(profile, &wrong) != RF_OK)
        fail(reader, RF_ENOMEM, "no memory to check a profile");
    if (wrong != NULL)
        fail(reader, RF_EDAMAGED, wrong);
}

static void get_note(struct reader *reader, struct rf_run *run)
{
    char *name = get_text(reader), *text = get_text(reader);
    if (name != NULL && text != NULL && rf_run_add_note(run, name, text) != RF_OK)
        fail(reader, RF_ENOMEM, "no memory for a note");
    rf_profile_free_text(reader->alloc, name);
    rf_profile_free_text(reader->alloc, text);
}

static void get_module(struct reader *reader, struct rf_run *run)
{
    struct rf_module module = {.path = get_text(reader)};
    module.build_id = get_text(reader);
    uint64_t process = get_number(reader);
    if (process > UINT32_MAX)
        fail(reader, RF_EDAMAGED, "a process number is too large");
    module.process = (uint32_t)process;
    module.start = get_number(reader);
    module.end = get_number(reader);
    module.offset = get_number(reader);
    module.from_event = get_number(reader);
    module.to_event = get_number(reader);
    if (reader->status == RF_OK && rf_run_add_module(run, &module) != RF_OK)
        fail(reader, RF_ENOMEM, "no memory for a module");
    rf_profile_free_text(reader->alloc, module.path);
    rf_profile_free_text(reader->alloc, module.build_id);
}

static void get_run(struct reader *reader, struct rf_run *run)
{
    get_into_text(reader, &run->command);
    get_into_text(reader, &run->version);
    for (size_t n = get_count(reader, 2); n > 0 && reader->status == RF_OK; n--)
        get_note(reader, run);
    for (size_t n = get_count(reader, MODULE_BYTES_MIN); n > 0 && reader->status == RF_OK; n--)
        get_module(reader, run);
    for (size_t n = get_count(reader, 1); n > 0 && reader->status == RF_OK; n--)
        get_profile(reader, run);
    if (reader->status == RF_OK && left(reader) > 0)
        fail(reader, RF_EDAMAGED, "there are bytes after the end");
}

static rf_status check_header(const unsigned char *file, size_t n, struct rf_error *error)
{
    if (rf_trace_is_magic(file, n) && memcmp(file, rf_rfp_magic, n < 8 ? n : 8) != 0)
        return rf_fail(error, RF_EDAMAGED, "this is a trace; replay makes a profile of it");
    if (n < sizeof rf_rfp_magic || memcmp(file, rf_rfp_magic, sizeof rf_rfp_magic) != 0)
        return rf_fail(error, RF_EDAMAGED, "this is not a riffle profile");
    if (n < RF_RFP_HEADER)
        return rf_fail(error, RF_EDAMAGED, "the file ends within its header");
    if (rf_load64(file + RF_RFP_AT_HEADER_CHECKSUM) != rf_checksum(file, RF_RFP_AT_HEADER_CHECKSUM))
        return rf_fail(error, RF_EDAMAGED, "the header is damaged: its checksum is wrong");
    if (rf_load32(file + RF_RFP_AT_VERSION) != RF_RFP_VERSION)
        return rf_fail(error, RF_EVERSION, "the file has format %u, this program reads format %u",
                       rf_load32(file + RF_RFP_AT_VERSION), (unsigned)RF_RFP_VERSION);
    uint64_t length = rf_load64(file + RF_RFP_AT_LENGTH);
    uint64_t packed = rf_load64(file + RF_RFP_AT_PACKED);
    if (packed != n - RF_RFP_HEADER)
        return rf_fail(error, RF_EDAMAGED, "the file should have %llu bytes and has %zu",
                       (unsigned long long)packed + RF_RFP_HEADER, n);
    if (rf_load64(file + RF_RFP_AT_CHECKSUM) != rf_checksum(file + RF_RFP_HEADER, (size_t)packed))
        return rf_fail(error, RF_EDAMAGED, "the contents are damaged: their checksum is wrong");
    bool likely = length <= RF_RFP_LENGTH_FREE || length / RF_RFP_RATIO_MAX <= packed;
    if (length > RF_RFP_LENGTH_MAX || !likely || length > SIZE_MAX / 2)
        return rf_fail(error, RF_EDAMAGED, "the file claims more than it can hold");
    return RF_OK;
}

static rf_status unpack(struct rf_bytes *payload, const unsigned char *file, size_t n,
                        const struct rf_alloc *alloc, struct rf_error *error)
{
    size_t length = (size_t)rf_load64(file + RF_RFP_AT_LENGTH);
    if (rf_bytes_reserve(payload, alloc, length + 1) != RF_OK)
        return rf_fail(error, RF_ENOMEM, "no memory for the %zu bytes of a profile", length);
    size_t unpacked =
        ZSTD_decompress(payload->bytes, length, file + RF_RFP_HEADER, n - RF_RFP_HEADER);
    if (ZSTD_isError(unpacked) || unpacked != length)
        return rf_fail(error, RF_EDAMAGED, "the contents cannot be unpacked");
    payload->n = length;
    return RF_OK;
}

rf_status rf_run_decode(struct rf_run **decoded, const void *bytes, size_t n,
                        const struct rf_alloc *alloc, struct rf_error *error)
{
    *decoded = NULL;
    alloc = rf_alloc_or_standard(alloc);
    rf_status status = check_header(bytes, n, error);
    if (status != RF_OK)
        return status;
    struct rf_bytes payload = {NULL, 0, 0};
    struct rf_run *run = NULL;
    status = unpack(&payload, bytes, n, alloc, error);
    if (status == RF_OK && rf_run_new(&run, "", alloc) != RF_OK)
        status = rf_fail(error, RF_ENOMEM, "no memory for a run");
    if (status == RF_OK) {
        struct reader reader = {
            .alloc = alloc, .at = payload.bytes, .end = payload.bytes + payload.n};
        get_run(&reader, run);
        status = reader.status;
        if (status == RF_ENOMEM)
            rf_fail(error, status, "no memory for the contents");
        else if (status != RF_OK)
            rf_fail(error, status, "the contents make no sense: %s", reader.wrong);
    }
    rf_bytes_free(&payload, alloc);
    if (status != RF_OK) {
        rf_run_free(run);
        return status;
    }
    *decoded = run;
    return RF_OK;
}
